// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include <fstream>
#include <opencv2/dnn.hpp>

#include "mpm/convert.hpp"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kDepthData = MPM_TEST_DATA_DIR;
const std::string kDpt = kDepthData + "/hf_dpt_depth_ts17.onnx";  // input 32x32, output {1, 32, 32}, 4 blocks
const std::string kOwnDpt = kDepthData + "/dpt_ts16.onnx";        // input 32x64, output {1, 1, 8, 16}

EstimatorOptions depthWith(const Schedule& schedule) { return {.read = {.convert = {.reduce = mpmBefore(schedule)}}}; }

// The protocol with OpenCV alone.
cv::Mat plainDepth(const std::string& model, const Schedule& schedule, const cv::Mat& image) {
  LoadedNet loaded = readNet(model, {.convert = {.reduce = mpmBefore(schedule)}});
  const cv::Size input(loaded.info.input.width, loaded.info.input.height);
  cv::Mat resized, result;
  cv::resize(image, resized, input, 0, 0, cv::INTER_LINEAR);
  loaded.net.setInput(cv::dnn::blobFromImage(resized, 1 / 127.5, {}, cv::Scalar::all(127.5), true));
  const cv::Mat map = loaded.net.forward(loaded.info.outputs[0]);
  const cv::Mat depth(map.size[map.dims - 2], map.size[map.dims - 1], CV_32F, const_cast<float*>(map.ptr<float>()));
  cv::resize(depth, result, image.size(), 0, 0, cv::INTER_LINEAR);
  return result;
}

TEST(Depth, GivesTheMapOfTheNetAtTheSizeOfTheImage) {
  for (const std::string& model : {kDpt, kOwnDpt})
    for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
      Estimator estimator(model, depthWith(schedule));
      EXPECT_EQ(estimator.model().task, Task::kDepth) << "because of the name of the output";
      EXPECT_EQ(estimator.model().facts.depth, DepthUnit::kRelative);
      for (const cv::Size size : {cv::Size(32, 32), cv::Size(97, 61), cv::Size(1, 1)}) {
        const cv::Mat image = test::noisePicture(size.height, size.width, 5);
        const Estimate result = estimator.estimate(image);
        ASSERT_EQ(result.depth.type(), CV_32F);
        ASSERT_EQ(result.depth.size(), size);
        const cv::Mat expected = plainDepth(model, schedule, image);
        cv::Scalar mean, deviation;
        cv::meanStdDev(expected, mean, deviation);
        EXPECT_LE(cv::norm(result.depth, expected, cv::NORM_INF), 1e-4 * (1 + deviation[0]));
        EXPECT_EQ(result.tokens.size(), schedule.size() + 1);
        EXPECT_EQ(result.cluster_of_token.size(), schedule.size());
        EXPECT_EQ(result.grid, estimator.model().grid);
        EXPECT_GT(result.ms.total, 0);
      }
    }
}

TEST(Depth, ResultsDoNotShareMemoryWithTheNextImage) {
  Estimator estimator(kDpt, depthWith({1}));
  const Estimate first = estimator.estimate(test::noisePicture(32, 32, 5));
  const cv::Mat before = first.depth.clone();
  estimator.estimate(cv::Mat(32, 32, CV_8UC3, cv::Scalar::all(90)));
  EXPECT_EQ(cv::norm(first.depth, before, cv::NORM_INF), 0);
}

TEST(Depth, TakesTheTaskAndTheUnitFromTheJson) {
  const test::TemporaryFolder folder;
  const std::string model = folder / "m.onnx", converted = folder / "converted.onnx";
  fs::copy_file(kDpt, model);
  std::ofstream(folder / "m.json") << R"({"task": "depth", "depth": "metre"})";
  EXPECT_EQ(Estimator(model).model().facts.depth, DepthUnit::kMetre);
  convertFile(model, converted, {.reduce = mpmBefore({1})});
  Estimator estimator(converted);
  EXPECT_EQ(estimator.model().task, Task::kDepth);
  EXPECT_EQ(estimator.model().facts.depth, DepthUnit::kMetre);
  EXPECT_EQ(estimator.estimate(test::noisePicture(32, 32, 5)).tokens.size(), 2u);
}

}  // namespace
}  // namespace mpm
