// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::monitor::test {

inline const std::string kModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";  // 3 blocks, 4 classes
inline const std::string kOther = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";

}  // namespace mpm::monitor::test
