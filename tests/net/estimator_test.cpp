// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include <cmath>
#include <fstream>

#include "mpm/convert.hpp"
#include "mpm/head_trainer.hpp"
#include "mpm/reuse.hpp"
#include "support/pictures.h"
#include "support/plain_net.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kEstimatorData = MPM_TEST_DATA_DIR;
const std::string kOfLabels = kEstimatorData + "/segmenter_linear_ts12.onnx";  // 3 blocks
const std::string kOfQueries = kEstimatorData + "/hf_eomt_ts17.onnx";          // 4 blocks, 4 classes
const std::string kOfDepth = kEstimatorData + "/hf_dpt_depth_ts17.onnx";  // input 32x32, output {1, 32, 32}, 4 blocks
const std::string kOfScores = kEstimatorData + "/timm_vit_ts17.onnx";     // a classifier

EstimatorOptions mergingOptions(std::optional<Task> task = {}) {
  return {.reduce = mpmBefore({1, 2}), .task = task, .inspect = true};
}

void expectSimilarities(const RunReport& report) {
  ASSERT_EQ(report.pair_similarity.size(), 2u);
  const std::vector<float>& last = report.pair_similarity.back();
  EXPECT_EQ(static_cast<int>(last.size()), report.grid.height * report.grid.width);
  EXPECT_TRUE(std::any_of(last.begin(), last.end(), [](float one) { return !std::isnan(one); }));
}

TEST(Estimator, FillsWhatTheTaskGives) {
  const cv::Mat image = test::noisePicture(45, 61);
  const Estimate depth = Estimator(kOfDepth, mergingOptions()).estimate(image);
  EXPECT_EQ(depth.task, Task::kDepth);
  EXPECT_EQ(depth.depth.size(), image.size());
  EXPECT_LT(depth.depth_range.min, depth.depth_range.max);
  EXPECT_TRUE(depth.labels.empty() && depth.ids.empty());
  expectSimilarities(depth);

  EstimatorOptions options = mergingOptions(Task::kPanoptic);
  options.min_score = 0.2;
  options.min_overlap = 0.1;
  const Estimate alone = Estimator(kOfQueries, options).estimate(image);
  EXPECT_TRUE(alone.labels.empty() && alone.depth.empty());
  ASSERT_GT(alone.segments.size(), 0u);
  options.labels = true;
  const Estimate found = Estimator(kOfQueries, options).estimate(image);
  EXPECT_EQ(cv::norm(found.ids, alone.ids, cv::NORM_INF), 0);
  const Estimate semantic = Estimator(kOfQueries, mergingOptions()).estimate(image);
  EXPECT_EQ(cv::norm(found.labels, semantic.labels, cv::NORM_INF), 0);
  EXPECT_TRUE(semantic.ids.empty());
  expectSimilarities(found);

  const Estimate tokens = Estimator(kOfScores, mergingOptions()).estimate(image);
  EXPECT_EQ(tokens.task, std::nullopt);
  EXPECT_TRUE(tokens.labels.empty());
  EXPECT_EQ(tokens.tokens.size(), 3u);
}

// The oracle: the rows of the last block, taken by the merge map.
TEST(Estimator, FeaturesAreTheRowsOfTheLastBlock) {
  for (const auto& [model, reduce] : {std::pair(kOfLabels, kFullModel),
                                      {kOfLabels, mpmBefore({1})},
                                      {kOfQueries, mpmBefore({1})}}) {  // which join the special tokens between blocks
    Estimator estimator(model, {.reduce = reduce, .features = true});
    const ModelInfo& info = estimator.model();
    const cv::Mat image = test::noisePicture(45, 61);
    const Estimate estimate = estimator.estimate(image);
    ASSERT_EQ(estimate.features.size(), cv::Size(info.dim, info.tokens()));
    if (model == kOfLabels) {
      HeadTrainer trainer(model, reduce);
      EXPECT_EQ(cv::norm(estimate.features, trainer.tokens(image), cv::NORM_INF), 0);
      const std::string block = "backbone/block" + std::to_string(info.blocks - 1);
      cv::Mat input;
      cv::resize(image, input, {info.input.width, info.input.height}, 0, 0, cv::INTER_LINEAR);
      const cv::Mat rows = test::forwardPlain(readNet(model, {.reduce = reduce, .outputs = {block}}).net, input, block);
      for (int i = 0; i < info.tokens(); ++i) {
        const int row = reduce == kFullModel ? i : estimate.cluster_of_token.back()[i];
        const cv::Mat expected(1, info.dim, CV_32F, const_cast<float*>(rows.ptr<float>(0, info.special_tokens + row)));
        EXPECT_LE(cv::norm(estimate.features.row(i), expected, cv::NORM_INF), 1e-3) << i;
      }
    }
    if (reduce == kFullModel) continue;
    const std::vector<int>& clusters = estimate.cluster_of_token.back();
    for (int i = 1; i < estimate.features.rows; ++i) {
      const auto first = std::find(clusters.begin(), clusters.end(), clusters[i]);
      EXPECT_EQ(cv::norm(estimate.features.row(i), estimate.features.row(static_cast<int>(first - clusters.begin()))),
                0);
    }
    EXPECT_TRUE(Estimator(kOfLabels).estimate(image).features.empty());
  }
}

TEST(Estimator, FeaturesOfReusedRowsAreThoseOfTheFrame) {
  EstimatorOptions options{.reduce = kFullModel, .features = true};
  Estimator full(kOfLabels, options);
  options.reuse = parseReuse("threshold=0");
  Estimator reusing(kOfLabels, options);
  cv::Mat image = test::noisePicture(45, 61);
  for (int frame = 0; frame < 3; ++frame) {  // whole, changed in one corner, unchanged
    if (frame == 1) image(cv::Rect(0, 0, 16, 16)) = cv::Scalar(250, 10, 10);
    const cv::Mat features = reusing.estimate(image, frame).features;
    EXPECT_EQ(features.size(), full.estimate(image).features.size());
    EXPECT_LE(cv::norm(features, full.estimate(image).features, cv::NORM_RELATIVE | cv::NORM_L2), frame == 0 ? 0 : 0.2);
  }
}

TEST(Estimator, ThatWasMovedFromSaysSo) {
  Estimator first(kOfDepth);
  Estimator second(std::move(first));
  for (const auto& use :
       std::vector<std::function<void()>>{[&] { first.estimate(test::noisePicture(45, 61)); }, [&] { first.reset(); },
                                          [&] { first.model(); }, [&] { first.task(); }})
    EXPECT_MPM_ERROR(use(), "this Estimator was moved from");
  first = std::move(second);
  EXPECT_EQ(first.estimate(test::noisePicture(45, 61)).depth.size(), test::noisePicture(45, 61).size());
}

TEST(Estimator, ThreadsAreThoseOfBeforeAtItsEnd) {
  const int before = cv::getNumThreads();
  cv::setNumThreads(2);
  {
    const Estimator one(kOfDepth, {.threads = 1});
    EXPECT_EQ(cv::getNumThreads(), 1);
  }
  EXPECT_EQ(cv::getNumThreads(), 2);
  EXPECT_THROW(Estimator("/no/such/model.onnx", {.threads = 1}), Error);
  EXPECT_EQ(cv::getNumThreads(), 2);
  {
    const Estimator one(kOfDepth, {.threads = 1});
    cv::setNumThreads(2);
  }
  EXPECT_EQ(cv::getNumThreads(), 2) << "the program chose it meanwhile";
  auto bound = std::make_unique<Estimator>(kOfDepth, EstimatorOptions{.threads = 1});
  bound = std::make_unique<Estimator>(kOfDepth, EstimatorOptions{.threads = 1});
  EXPECT_EQ(cv::getNumThreads(), 1) << "the end of the first came after the begin of the second";
  { const Estimator inner(kOfDepth, {.threads = 2}); }
  EXPECT_EQ(cv::getNumThreads(), 1) << "of the one that is left";
  bound.reset();
  EXPECT_EQ(cv::getNumThreads(), 2);
  cv::setNumThreads(before);
}

TEST(Estimator, RefusesWhatTheModelOrTheOptionsLack) {
  EXPECT_MPM_ERROR(Estimator(kOfDepth, {.scores = true}), "no probabilities of classes");
  EXPECT_MPM_ERROR(Estimator(kOfScores, mergingOptions(Task::kSemantic)),
                   "does not segment (its head is 'classifier'): without a task it gives the outputs of the net");
  EXPECT_MPM_ERROR(Estimator(kOfLabels, mergingOptions(Task::kDepth)),
                   "does not estimate depth (its task is 'semantic', its head is 'linear'): it can do 'semantic'");
  EXPECT_MPM_ERROR(Estimator(kOfQueries, mergingOptions(Task::kDepth)), "it can do 'semantic', 'panoptic', 'instance'");
  EXPECT_MPM_ERROR(Estimator(kOfScores, mergingOptions(Task::kDepth)), "its task is 'none', its head is 'classifier'");
  EXPECT_MPM_ERROR(Estimator(kOfLabels, mergingOptions(Task::kInstance)),
                   "gives no segments (its head is 'linear', but they need 'mask_queries')");
  EXPECT_MPM_ERROR(Estimator(kOfQueries, {.min_score = 2}), "shares, 0 to 1");
  EXPECT_MPM_ERROR(Estimator(kOfQueries, {.min_overlap = -1}), "shares, 0 to 1");
  EXPECT_MPM_ERROR(Estimator(kOfQueries, {.threads = -1}), "threads must not be negative");
  EXPECT_MPM_ERROR(Estimator(kOfScores, {.fit = Fit::kWindow}), "gives no labels");
  EXPECT_MPM_ERROR(Estimator(kOfLabels, {.fit = Fit::kWindow, .features = true}), "not of sliding windows");
  EXPECT_MPM_ERROR(Estimator(kOfLabels, {.short_side = -1}), "shorter side must not be negative");
  EXPECT_MPM_ERROR(Estimator(kOfScores, {.window_stride = -5}), "distance of windows must not be negative");
  Estimator reusing(kOfLabels, {.reuse = {.on = true}});
  EXPECT_MPM_ERROR(reusing.estimate(test::noisePicture(32, 32, 5), std::nan("")), "a finite number of seconds");
}

const std::string kOwnDpt = kEstimatorData + "/dpt_ts16.onnx";  // input 32x64, output {1, 1, 8, 16}

EstimatorOptions depthWith(const Schedule& schedule) { return {.reduce = mpmBefore(schedule)}; }

// The protocol with OpenCV alone.
cv::Mat plainDepth(const std::string& model, const Schedule& schedule, const cv::Mat& image) {
  const LoadedNet loaded = readNet(model, {.reduce = mpmBefore(schedule)});
  const cv::Size input(loaded.info.input.width, loaded.info.input.height);
  cv::Mat resized, result;
  cv::resize(image, resized, input, 0, 0, cv::INTER_LINEAR);
  const cv::Mat map = test::forwardPlain(loaded.net, resized, loaded.info.outputs[0]);
  const cv::Mat depth(map.size[map.dims - 2], map.size[map.dims - 1], CV_32F, const_cast<float*>(map.ptr<float>()));
  cv::resize(depth, result, image.size(), 0, 0, cv::INTER_LINEAR);
  return result;
}

TEST(Depth, GivesTheMapOfTheNetAtTheSizeOfTheImage) {
  for (const std::string& model : {kOfDepth, kOwnDpt}) {
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
        EXPECT_LE(cv::norm(result.depth, expected, cv::NORM_INF), 1e-5 * cv::norm(expected, cv::NORM_INF));
        EXPECT_EQ(result.tokens.size(), schedule.size() + 1);
        EXPECT_EQ(result.cluster_of_token.size(), schedule.size());
        EXPECT_EQ(result.grid, estimator.model().grid);
        EXPECT_GT(result.ms.total, 0);
      }
    }
  }
}

TEST(Depth, ResultsDoNotShareMemoryWithTheNextImage) {
  Estimator estimator(kOfDepth, depthWith({1}));
  const Estimate first = estimator.estimate(test::noisePicture(32, 32, 5));
  const cv::Mat before = first.depth.clone();
  estimator.estimate(cv::Mat(32, 32, CV_8UC3, cv::Scalar::all(90)));
  EXPECT_EQ(cv::norm(first.depth, before, cv::NORM_INF), 0);
}

TEST(Depth, ARangeIsOfNumbersOnly) {
  std::vector<float> depths = {5, 1, 2, 3};
  const DepthRange range = depthRange(cv::Mat(depths));
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.median, 2.5);
  EXPECT_EQ(range.max, 5);
  depths[1] = std::nanf("");
  EXPECT_MPM_ERROR(depthRange(cv::Mat(depths)), "holds a NaN");
}

TEST(Depth, TakesTheTaskAndTheUnitFromTheJson) {
  const test::TemporaryFolder folder;
  const std::string model = folder / "m.onnx", converted = folder / "converted.onnx";
  fs::copy_file(kOfDepth, model);
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
