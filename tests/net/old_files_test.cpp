// SPDX-License-Identifier: Apache-2.0
// Converted files as the converter wrote them before `scores` was optional and logits kept the name in the graph
// (tests/data/README.md).
#include <gtest/gtest.h>

#include <fstream>
#include <opencv2/imgproc.hpp>

#include "mpm/mpm.hpp"
#include "support/data_path.h"

namespace mpm::test {
namespace {

struct OldFile {
  std::string converted, plain;
  Schedule schedule;
  std::string output;
  Output kind;
};

class OldFiles : public ::testing::TestWithParam<OldFile> {
 protected:
  static cv::Mat picture(cv::Size size) {
    cv::Mat small(7, 9, CV_8UC3), image;
    cv::RNG(5).fill(small, cv::RNG::UNIFORM, 0, 256);
    cv::resize(small, image, size, 0, 0, cv::INTER_CUBIC);
    return image;
  }
  static std::vector<cv::Mat> run(cv::dnn::Net net, const std::string& output) {
    net.setInput(cv::dnn::blobFromImage(picture({64, 32}), 1 / 127.5, {}, cv::Scalar::all(127.5), true));
    std::vector<cv::Mat> blobs, copies;
    net.forward(blobs, std::vector<cv::String>{output, "scores", "merge_map", "token_counts"});
    for (const cv::Mat& blob : blobs) copies.push_back(blob.clone());
    return copies;
  }
  static void expectEqual(const std::vector<cv::Mat>& found, const std::vector<cv::Mat>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(cv::norm(found[i], expected[i], cv::NORM_INF), 0) << i;
  }

  const std::string old_ = dataPath(GetParam().converted), plain_ = dataPath(GetParam().plain);
};

TEST_P(OldFiles, GiveWhatAFreshConversionGives) {
  auto fresh =
      readNet(plain_, {.convert = {.schedule = GetParam().schedule, .output = GetParam().kind, .scores = true}});
  const std::vector<cv::Mat> expected = run(fresh.net, fresh.info.outputs[0]);
  ASSERT_LT(expected[3].ptr<float>()[1], expected[3].ptr<float>()[0]) << "nothing was merged";
  auto old = readNet(old_, {.convert = {.output = GetParam().kind, .scores = true}});
  EXPECT_EQ(old.info.outputs, std::vector<std::string>{GetParam().output});
  EXPECT_EQ(old.info.schedule, GetParam().schedule);
  EXPECT_EQ(old.info.head, fresh.info.head);
  expectEqual(run(old.net, GetParam().output), expected);
  registerLayers();
  expectEqual(run(cv::dnn::readNetFromONNX(old_), GetParam().output), expected);
}

TEST_P(OldFiles, SegmentAsAFreshConversionDoes) {
  for (const Fit fit : {Fit::kResize, Fit::kWindow})
    for (const cv::Size size : {cv::Size(64, 32), cv::Size(150, 90)}) {
      const SegmenterOptions options{.fit = fit, .inspect = fit == Fit::kResize};
      SegmenterOptions fresh = options;
      fresh.read.convert.schedule = GetParam().schedule;
      const Segmentation expected = Segmenter(plain_, fresh).segment(picture(size));
      const Segmentation found = Segmenter(old_, options).segment(picture(size));
      EXPECT_EQ(cv::countNonZero(found.labels != expected.labels), 0);
      EXPECT_EQ(found.cluster_of_token, expected.cluster_of_token);
      EXPECT_EQ(found.tokens, expected.tokens);
      EXPECT_EQ(found.token_score, expected.token_score);
    }
}

TEST_P(OldFiles, PassThroughTheConverterAsTheyAre) {
  std::ifstream file(old_, std::ios::binary);
  EXPECT_EQ(convertModel(old_).bytes, std::string(std::istreambuf_iterator<char>(file), {}));
}

INSTANTIATE_TEST_SUITE_P(
    Converted, OldFiles,
    ::testing::Values(OldFile{"old/labels.onnx", "segmenter_mask_ts17.onnx", {1}, "labels", Output::kLabels},
                      OldFile{"old/logits.onnx", "segmenter_linear_ts12.onnx", {2}, "logits", Output::kLogits}),
    [](const auto& tested) { return tested.param.output; });

}  // namespace
}  // namespace mpm::test
