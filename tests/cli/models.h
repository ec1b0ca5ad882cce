// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/imgcodecs.hpp>
#include <string>

#include "support/pictures.h"

namespace mpm::test {

inline const std::string kData = MPM_TEST_DATA_DIR;
/// Input 32x64, patch 8, 3 blocks, 4 classes.
inline const std::string kSegmenter = kData + "/segmenter_mask_ts17.onnx";
inline const std::string kDepthModel = kData + "/hf_dpt_depth_ts17.onnx";  // input 32x32, 4 blocks
inline const std::string kEomt = kData + "/hf_eomt_ts17.onnx";             // input 32x32, 4 blocks, 4 classes
inline const std::string kClassifier = kData + "/timm_vit_ts17.onnx";

/// Writes a picture of smooth colours.
inline void writeImage(const std::string& path, int height, int width, int seed = 1) {
  cv::imwrite(path, smoothPicture(height, width, seed));
}

}  // namespace mpm::test
