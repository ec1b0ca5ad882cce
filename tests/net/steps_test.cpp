// SPDX-License-Identifier: Apache-2.0
// What stands before the net, and how long its stages take.
#include "mpm/read_net.hpp"
#include "net/image_net.h"
#include "net/inspect.h"
#include "support/pictures.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const ModelFacts kDeit{
    .name = "deit", .mean = {0.485f, 0.456f, 0.406f}, .deviation = {0.229f, 0.224f, 0.225f}, .classes = {}};

TEST(Normalise, IsTheFormulaOnPlanesInTheOrderOfTheNet) {
  const cv::Mat image = test::noisePicture(40, 30)(cv::Rect(3, 2, 21, 35));  // rows that are not contiguous
  for (const ChannelOrder channels : {ChannelOrder::kRgb, ChannelOrder::kBgr}) {
    ModelFacts facts = kDeit;
    facts.channels = channels;
    cv::Mat planes;
    normalise(image, pixelValues(facts), planes, Serial());
    ASSERT_EQ(planes.dims, 4);
    for (int c = 0; c < 3; ++c) {
      for (int y = 0; y < image.rows; ++y) {
        for (int x = 0; x < image.cols; ++x) {
          const int from = channels == ChannelOrder::kRgb ? 2 - c : c;
          const double expected = (image.at<cv::Vec3b>(y, x)[from] / 255.0 - facts.mean[c]) / facts.deviation[c];
          ASSERT_NEAR((planes.ptr<float>(0, c, y)[x]), expected, 1e-6)
              << toString(channels) << " " << c << " " << y << " " << x;
        }
      }
    }
  }
}

TEST(Normalise, ReusesItsMemory) {
  cv::Mat planes;
  normalise(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(1)), pixelValues(kDeit), planes, Serial());
  const auto* before = planes.data;
  normalise(cv::Mat(8, 8, CV_8UC3, cv::Scalar::all(2)), pixelValues(kDeit), planes, Serial());
  EXPECT_EQ(planes.data, before);
}

TEST(Normalise, RefusesFactsThatMakeNoSense) {
  ModelFacts facts = kDeit;
  facts.deviation[1] = 0;
  EXPECT_MPM_ERROR(pixelValues(facts), "std must be positive");
}

TEST(StageOfLayer, GoesByThePartBeforeTheSlash) {
  const std::pair<double StageTimes::*, std::vector<const char*>> stages[] = {
      {&StageTimes::backbone, {"backbone/block0", "onnx_node!backbone/block0"}},
      {&StageTimes::merge, {"merge/before_block2", "merge_map", "onnx_node_output_0!merge/before_block2"}},
      {&StageTimes::restore, {"restore/scores", "scores"}},
      {&StageTimes::head, {"head/block0", "labels", "logits"}}};
  for (const auto& [stage, layers] : stages)
    for (const char* layer : layers) EXPECT_EQ(stageOfLayer(layer), stage) << layer;
}

TEST(BlockOfLayer, IsThatOfTheBlockOrOfTheMergingThere) {
  for (const char* layer :
       {"backbone/block12", "onnx_node!backbone/block12/attention", "merge/before_block12", "merge/in_block12",
        "merge/before_block12/rotary", "onnx_node_output_0!merge/before_block12/policy/scores"})
    EXPECT_EQ(blockOfLayer(layer), 12u) << layer;
  for (const char* layer : {"backbone/norm", "backbone/patch_embed", "head/block0", "merge_map", "backbone/block"})
    EXPECT_EQ(blockOfLayer(layer), std::nullopt) << layer;
}

TEST(ForwardTimes, SpreadTheProfile) {
  const StageTimes times = forwardTimes({"backbone/patch_embed", "backbone/block0", "backbone/block1/attention",
                                         "merge/in_block1", "backbone/block1", "restore/scores", "head/block0"},
                                        {1, 2, 4, 8, 16, 32, 64}, 199);
  EXPECT_DOUBLE_EQ(times.total, 199);
  EXPECT_DOUBLE_EQ(times.backbone, 23);
  EXPECT_DOUBLE_EQ(times.merge, 8);
  EXPECT_DOUBLE_EQ(times.restore, 32);
  EXPECT_DOUBLE_EQ(times.head, 64);
  EXPECT_EQ(times.blocks, (std::vector<double>{2, 28}));
  EXPECT_TRUE(forwardTimes({"backbone/block0"}, {}, 99).blocks.empty());
}

TEST(ForwardTimes, AreMillisecondsOfTheProfile) {
  cv::dnn::Net net = readNet(std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx").net;
  net.setInput(cv::dnn::blobFromImage(cv::Mat(32, 64, CV_8UC3, cv::Scalar::all(9))));
  net.forward();
  std::vector<double> layers;
  const double ms = static_cast<double>(net.getPerfProfile(layers)) * 1e3 / cv::getTickFrequency();
  const StageTimes times = forwardTimes(net, 99);
  EXPECT_NEAR(times.backbone + times.merge + times.restore + times.head, ms, 1e-3 * ms);
}

TEST(ForwardTimes, AreAllBackboneWithoutAProfile) {
  for (const std::vector<double>& profile : {std::vector<double>{}, {0, 0}, {1, 2, 3}}) {
    const StageTimes times = forwardTimes({"backbone/a", "head/b"}, profile, 5);
    EXPECT_DOUBLE_EQ(times.backbone, 5);
    EXPECT_DOUBLE_EQ(times.head, 0);
  }
}

}  // namespace
}  // namespace mpm
