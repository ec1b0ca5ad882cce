// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/model_settings.h"

#include <gtest/gtest.h>

#include "mpm/convert.hpp"

namespace mpm::monitor::test {
namespace {

const std::string kModel = MPM_TEST_DATA_DIR "/segmenter_mask_ts17.onnx";  // 32x64 px

// Of a model of this task, as far as `by` can tell.
std::string settings(const EstimatorOptions& options, std::optional<Task> task = Task::kSemantic,
                     HeadKind head = HeadKind::kMaskTransformer, Refine refine = Refine::kNone) {
  ModelInfo info = readModelInfo(kModel, options.convert());
  info.task = task;
  info.head = head;
  info.facts.refine = refine;
  return settingsOf(kModel, info, options);
}

TEST(ModelSettings, SayWhatTheModelDoesNotDoWithoutThem) {
  EXPECT_EQ(settings({}), "");
  EXPECT_EQ(settings({.input_size = Size2{32, 64}, .refine = Refine::kNone}), "");
  EXPECT_EQ(settings({.input_size = Size2{64, 32}}), "input-size=64x32") << "has as many tokens";
  EXPECT_EQ(settings({.refine = Refine::kGuided}), "refine=guided");
  const auto guided = [](const EstimatorOptions& options) {
    return settings(options, Task::kSemantic, HeadKind::kLinear, Refine::kGuided);
  };
  EXPECT_EQ(guided({}), "") << "by its JSON file";
  EXPECT_EQ(guided({.refine = Refine::kGuided}), "");
  EXPECT_EQ(guided({.refine = Refine::kNone}), "refine=none");
}

TEST(ModelSettings, AreThoseOfItsTask) {
  const EstimatorOptions all = {
      .input_size = Size2{64, 32}, .min_score = 0.25, .min_overlap = 0.5, .refine = Refine::kGuided};
  EXPECT_EQ(settings(all), "input-size=64x32:refine=guided");
  const auto of = [](Task task, HeadKind head) {
    return [=](const EstimatorOptions& options) { return settings(options, task, head); };
  };
  const auto panoptic = of(Task::kPanoptic, HeadKind::kMaskQueries);
  EXPECT_EQ(panoptic(all), "input-size=64x32:min-score=0.25:min-overlap=0.5");
  EXPECT_EQ(panoptic({.min_score = 0.8, .min_overlap = 0.8}), "");
  EXPECT_EQ(panoptic({.min_score = 0.5}), "min-score=0.5");
  const auto instances = of(Task::kInstance, HeadKind::kMaskQueries), boxes = of(Task::kBoxes, HeadKind::kBoxQueries);
  EXPECT_EQ(instances(all), "input-size=64x32:min-score=0.25");
  EXPECT_EQ(boxes(all), "input-size=64x32:min-score=0.25");
  EXPECT_EQ(boxes({.min_score = 0.8}), "min-score=0.8");
  EXPECT_EQ(boxes({.min_score = 0.5}), "");
  EXPECT_EQ(of(Task::kDepth, HeadKind::kOther)(all), "input-size=64x32");
}

}  // namespace
}  // namespace mpm::monitor::test
