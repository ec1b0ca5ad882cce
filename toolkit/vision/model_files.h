// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::vision {

/// Path of the model to use when the user names none: the value of the environment variable MPM_MODEL, else the street
/// model of this installation or build tree (share/mpm/models/outdoor_vit_t16.onnx). Empty when neither exists. Does
/// not check that the file of MPM_MODEL exists.
std::string defaultModel();

/// 16 hexadecimal digits for what all files of the model hold (mpm::modelFiles): the same for the same bytes wherever
/// they lie, another one after a training or an edit of the JSON. 64 bits (base/hash.h): it tells versions of one
/// model apart and is no protection against deliberate deception. Throws mpm::Error naming the file that cannot be
/// read; a JSON that does not exist is no error.
std::string modelDigest(const std::string& onnx_path);

/// Throws mpm::Error that names both where `path` is the JSON of a model, MODEL.json beside MODEL.onnx: with another
/// content there, the model would lose the names of its classes.
void requireNotOfModel(const std::string& path);

}  // namespace mpm::vision
