// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::cli {

/// Writes Segmenter's network (Strudel et al., 2021) for 512x512 and 150 classes with patches of 16 pixels and random
/// weights: an encoder of 12 blocks and a mask transformer of 2, `dim` wide. 192 is Seg-T, 384 is Seg-S. The network is
/// in segmenter.onnxtxt.
void writeRandomSegmenter(const std::string& path, int dim);

}  // namespace mpm::cli
