// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <opencv2/dnn.hpp>

#include "mpm/build_info.hpp"
#include "mpm/mpm.hpp"
#include "support/data_path.h"

namespace mpm::test {

/// Smooth colours with some noise, a different image per seed and place in the batch.
inline cv::Mat images(Size2 size, int batch, unsigned seed) {
  cv::Mat blob({batch, 3, size.height, size.width}, CV_32F);
  cv::RNG random(seed);
  for (int b = 0; b < batch; ++b) {
    for (int c = 0; c < 3; ++c) {
      const double fx = random.uniform(0.05, 0.3), fy = random.uniform(0.05, 0.3), phase = random.uniform(0.0, 6.0);
      for (int y = 0; y < size.height; ++y) {
        for (int x = 0; x < size.width; ++x)
          blob.ptr<float>(b, c, y)[x] = static_cast<float>(std::sin(fx * x + fy * y + phase) + random.gaussian(0.1));
      }
    }
  }
  return blob;
}

/// A net and what to ask of it.
struct Asked {
  cv::dnn::Net net;
  ModelInfo info;
  std::vector<cv::String> names;

  /// `file`: an absolute path, or a file of tests/data.
  Asked(const std::string& file, ReadOptions options) {
    options.scores = true;
    auto loaded = readNet(std::filesystem::path(dataPath(".")) / file, options);
    net = std::move(loaded.net);
    info = std::move(loaded.info);
    names.assign(options.outputs.begin(), options.outputs.end());
    if (!names.empty()) return;
    names = {"merge_map", "token_counts"};
    names.insert(names.end(), info.outputs.begin(), info.outputs.end());
    if (info.hasPixelClasses()) names.push_back("scores");
  }
  /// In the order of `names`.
  std::vector<cv::Mat> run(const cv::Mat& input) {
    net.setInput(input);
    std::vector<cv::Mat> blobs, copies;
    net.forward(blobs, names);
    for (const cv::Mat& blob : blobs) copies.push_back(blob.clone());
    return copies;
  }
};

/// The same maps and counts, labels equal but for `wrong_share` of them, other numbers within `tolerance` of their
/// size.
inline void expectAlike(const Asked& asked, const std::vector<cv::Mat>& found, const std::vector<cv::Mat>& expected,
                        double tolerance = 1e-4, double wrong_share = 1e-3) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(asked.names[i]);
    ASSERT_EQ(std::vector<int>(found[i].size.p, found[i].size.p + found[i].dims),
              std::vector<int>(expected[i].size.p, expected[i].size.p + expected[i].dims));
    const float *a = found[i].ptr<float>(), *b = expected[i].ptr<float>();
    std::size_t differ = 0;
    float most = 0, largest = 0;
    for (std::size_t k = 0; k < found[i].total(); ++k) {
      ASSERT_TRUE(std::isfinite(a[k])) << "at " << k;
      differ += a[k] != b[k] ? 1 : 0;
      most = std::max(most, std::abs(a[k] - b[k]));
      largest = std::max(largest, std::abs(b[k]));
    }
    if (asked.names[i] == "merge_map" || asked.names[i] == "token_counts")
      EXPECT_EQ(differ, 0u);
    else if (asked.names[i] == "labels" && asked.info.hasPixelClasses())
      EXPECT_LE(static_cast<double>(differ), wrong_share * static_cast<double>(found[i].total()));
    else
      EXPECT_LE(most, tolerance * static_cast<double>(largest));
  }
}

class DeviceNetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const BuildInfo build = buildInfo();
    if (!build.cuda_devices.empty()) return;
    ASSERT_EQ(std::getenv("MPM_REQUIRE_GPU"), nullptr) << build.cuda_problem;
    GTEST_SKIP() << build.cuda_problem;
  }
};

}  // namespace mpm::test
