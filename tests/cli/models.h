// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/imgcodecs.hpp>

#include "support/pictures.h"
#include "support/temporary_folder.h"

namespace mpm::test {

inline const std::string kData = MPM_TEST_DATA_DIR;
/// Input 32x64, patch 8, 3 blocks, 4 classes.
inline const std::string kSegmenter = kData + "/segmenter_mask_ts17.onnx";
inline const std::string kDepthModel = kData + "/hf_dpt_depth_ts17.onnx";  // input 32x32, 4 blocks
inline const std::string kEomt = kData + "/hf_eomt_ts17.onnx";             // input 32x32, 4 blocks, 4 classes
inline const std::string kObjects =
    kData + "/hf_rf_detr_seg_dynamo18.onnx";  // input 32x32, boxes, 4 classes, masks 8x8
inline const std::string kClassifier = kData + "/timm_vit_ts17.onnx";

/// Writes a picture of smooth colours.
inline void writeImage(const std::string& path, int height, int width, int seed = 1) {
  cv::imwrite(path, smoothPicture(height, width, seed));
}

/// Pictures images/street_0.png, images/street_1.png ... and, in the folder `labels`, maps of four random classes.
inline void writeLabelledImages(const TemporaryFolder& folder, int count) {
  for (const char* name : {"images", "labels"}) fs::create_directory(folder / name);
  for (int i = 0; i < count; ++i) {
    const std::string name = "/street_" + std::to_string(i) + ".png";
    writeImage(folder / ("images" + name), 40, 70, i);
    cv::Mat labels(40, 70, CV_8U);
    cv::RNG(static_cast<unsigned>(i)).fill(labels, cv::RNG::UNIFORM, 0, 4);
    cv::imwrite(folder / ("labels" + name), labels);
  }
}

}  // namespace mpm::test
