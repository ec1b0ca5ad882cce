// SPDX-License-Identifier: Apache-2.0
#include "mpm/head_trainer.hpp"

#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>

#include "base/json_file.h"
#include "base/training.h"
#include "mpm/convert.hpp"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kModel = std::string(MPM_TEST_DATA_DIR) + "/timm_vit_ts17.onnx";
const std::vector<ClassInfo> kClasses = {{"left", {{200, 0, 0}}}, {"right"}, {"never"}};

// Dark on the left, bright on the right, with noise of its own.
cv::Mat picture(int seed) {
  cv::Mat image(96, 96, CV_8UC3);
  cv::RNG(static_cast<std::uint64_t>(seed)).fill(image, cv::RNG::UNIFORM, 0, 60);
  image.colRange(48, 96) += cv::Scalar(150, 170, 190);
  return image;
}

cv::Mat halves() {
  cv::Mat labels(96, 96, CV_8U, cv::Scalar(0));
  labels.colRange(48, 96).setTo(1);
  return labels;
}

bool same(const TokenHead& a, const TokenHead& b) {
  return a.norm_weight == b.norm_weight && a.norm_bias == b.norm_bias && a.hidden_weight == b.hidden_weight &&
         a.hidden_bias == b.hidden_bias && a.score_weight == b.score_weight && a.score_bias == b.score_bias;
}

class HeadTrainerTest : public test::InFolder {
 protected:
  void SetUp() override {
    trainer_.setClasses(kClasses);
    for (int i = 0; i < 3; ++i) pictures_.push_back(trainer_.label(trainer_.tokens(picture(i)), halves()));
    for (const LabelledTokens& one : pictures_) all_.push_back(&one);
  }

  HeadTrainer trainer_{kModel};
  std::vector<LabelledTokens> pictures_;
  std::vector<const LabelledTokens*> all_;
};

TEST_F(HeadTrainerTest, TellsPicturesApartThatItHasNotSeen) {
  int steps = 0;
  const TokenHead head = trainer_.train(all_, {.steps = 60, .step = [&] { return ++steps > 0; }});
  EXPECT_EQ(steps, 60);
  const cv::Mat found = trainer_.predict(head, trainer_.tokens(picture(9)));
  EXPECT_EQ(found.size(), cv::Size(trainer_.model().input.width, trainer_.model().input.height));
  const int half = found.cols / 2;
  EXPECT_GT(cv::countNonZero(found.colRange(0, half) == 0), found.rows * half * 9 / 10);
  EXPECT_GT(cv::countNonZero(found.colRange(half, found.cols) == 1), found.rows * half * 9 / 10);
}

TEST_F(HeadTrainerTest, TokensAreThoseOfTheLastBlock) {
  const std::string block = "backbone/block" + std::to_string(trainer_.model().blocks - 1);
  LoadedNet loaded = readNet(kModel, {.convert = {.reduce = kFullModel}, .outputs = {block, "merge_map"}});
  const ModelInfo& info = trainer_.model();
  const cv::Mat grey(info.input.height, info.input.width, CV_8UC3, cv::Scalar(51, 51, 51));
  const int shape[] = {1, 3, info.input.height, info.input.width};
  cv::Mat planes(4, shape, CV_32F);
  for (int c = 0; c < 3; ++c)
    cv::Mat(info.input.height, info.input.width, CV_32F, planes.ptr<float>(0, c))
        .setTo((0.2f - info.facts.mean[c]) / info.facts.deviation[c]);
  loaded.net.setInput(planes);
  const cv::Mat rows = loaded.net.forward(block), tokens = trainer_.tokens(grey);
  ASSERT_EQ(tokens.size(), cv::Size(info.dim, info.tokens()));
  EXPECT_LE(
      cv::norm(tokens,
               cv::Mat(tokens.rows, tokens.cols, CV_32F, const_cast<float*>(rows.ptr<float>(0, info.special_tokens))),
               cv::NORM_INF),
      1e-4);
}

TEST_F(HeadTrainerTest, MergedTokensAreThoseOfTheirCluster) {
  HeadTrainer merging(kModel, mpmBefore({1}));
  const cv::Mat tokens = merging.tokens(cv::Mat(96, 96, CV_8UC3, cv::Scalar(90, 90, 90)));
  EXPECT_EQ(tokens.rows, merging.model().tokens());
  EXPECT_TRUE(cv::checkRange(tokens));
}

TEST_F(HeadTrainerTest, IsTheSameForAnyNumberOfThreads) {
  const int before = cv::getNumThreads();
  cv::setNumThreads(1);
  const TokenHead alone = trainer_.train(all_, {.steps = 5});
  cv::setNumThreads(3);
  EXPECT_TRUE(same(alone, trainer_.train(all_, {.steps = 5})));
  EXPECT_FALSE(same(alone, trainer_.train(all_, {.steps = 5, .seed = 2})));
  cv::setNumThreads(before);
}

TEST_F(HeadTrainerTest, GoesOnFromAHeadAndStopsWhenAsked) {
  int steps = 0;
  const TokenHead first = trainer_.train(all_, {.steps = 50, .step = [&] { return ++steps < 3; }});
  EXPECT_EQ(steps, 3);
  const TokenHead next = trainer_.train(all_, {.steps = 1, .learning_rate = 1e-9, .weight_decay = 0, .start = &first});
  for (std::size_t i = 0; i < first.hidden_weight.size(); ++i)
    EXPECT_NEAR(next.hidden_weight[i], first.hidden_weight[i], 1e-6);
}

TEST_F(HeadTrainerTest, WritesAModelThatPredictsTheSame) {
  const TokenHead head = trainer_.train(all_, {.steps = 40});
  const std::string path = folder_ / "new.onnx";
  trainer_.write(path, head, R"({"pictures": 3})");
  const ModelInfo info = readModelInfo(path);
  EXPECT_EQ(info.facts.name, "new");
  ASSERT_EQ(info.facts.classes.size(), 3U);
  EXPECT_EQ(info.facts.classes[1].name, "right");
  EXPECT_EQ(info.facts.refine, Refine::kGuided);
  EXPECT_EQ(info.reduction, kFullModel);
  EXPECT_EQ(readJsonFile(folder_ / "new.json").at("taught").at("pictures").integer(0, 9), 3);
  cv::Mat image = picture(5);
  cv::resize(image, image, {info.input.width, info.input.height});
  Estimator estimator(path, {.refine = Refine::kNone});
  const cv::Mat found = estimator.estimate(image).labels, expected = trainer_.predict(head, trainer_.tokens(image));
  EXPECT_LE(cv::countNonZero(found != expected), static_cast<int>(found.total()) / 500);
}

TEST_F(HeadTrainerTest, MarginsAreSmallWhereClassesMeet) {
  const TokenHead head = trainer_.train(all_, {.steps = 60});
  const cv::Mat margins = trainer_.margins(head, pictures_[0].tokens);
  EXPECT_EQ(margins.size(), cv::Size(trainer_.model().grid.width, trainer_.model().grid.height));
  double least = 0, most = 0;
  cv::minMaxLoc(margins, &least, &most);
  EXPECT_GE(least, 0);
  EXPECT_LE(most, 1);
  EXPECT_GT(most, 0.9);
}

TEST_F(HeadTrainerTest, AThinStrokeIsTheClassOfItsCells) {
  cv::Mat labels(96, 96, CV_8U, cv::Scalar(255));
  labels.row(40).setTo(1);
  const LabelledTokens one = trainer_.label(pictures_[0].tokens, labels);
  EXPECT_EQ(one.pixels, (std::vector<double>{0, 96, 0}));
  EXPECT_EQ(cv::countNonZero(one.cells == 1), one.cells.cols);
  EXPECT_EQ(cv::countNonZero(one.cells == LabelledTokens::kNoClass), (one.cells.rows - 1) * one.cells.cols);
}

TEST_F(HeadTrainerTest, RefusesWhatMakesNoSense) {
  EXPECT_MPM_ERROR(HeadTrainer(folder_ / "none.onnx"), "none.onnx");
  EXPECT_MPM_ERROR(trainer_.setClasses({{"one"}}), "fewer than two classes");
  EXPECT_MPM_ERROR(trainer_.setClasses(std::vector<ClassInfo>(256)), "256 classes: a head has at most 255");
  for (const cv::Mat& image : {cv::Mat(), cv::Mat(0, 9, CV_8UC3), cv::Mat(9, 9, CV_8UC1, cv::Scalar(0))})
    EXPECT_MPM_ERROR(trainer_.tokens(image), "an image to encode must be CV_8UC3 and not empty");
  const cv::Mat tokens = pictures_[0].tokens;
  EXPECT_MPM_ERROR(trainer_.label(tokens, cv::Mat(9, 9, CV_8U, cv::Scalar(3))), "label 3");
  for (const cv::Mat& labels : {cv::Mat(), cv::Mat(9, 9, CV_16U, cv::Scalar(0))})
    EXPECT_MPM_ERROR(trainer_.label(tokens, labels), "CV_8U and not empty");
  EXPECT_MPM_ERROR(trainer_.train({}), "no pixel is labelled");
  const LabelledTokens none = trainer_.label(tokens, cv::Mat(9, 9, CV_8U, cv::Scalar(255)));
  EXPECT_MPM_ERROR(trainer_.train({&none}), "no pixel is labelled");
  for (const HeadTrainingOptions& options : {HeadTrainingOptions{.hidden = 0}, {.steps = 0}, {.batch = 0}})
    EXPECT_MPM_ERROR(trainer_.train(all_, options), "must be at least 1");
  for (const HeadTrainingOptions& options : {HeadTrainingOptions{.learning_rate = 0}, {.weight_decay = -1}})
    EXPECT_MPM_ERROR(trainer_.train(all_, options), "must be positive, and its weight decay not negative");
  const TokenHead right = trainer_.train(all_, {.hidden = 4, .steps = 1});
  for (int TokenHead::*const part : {&TokenHead::dim, &TokenHead::classes}) {
    TokenHead other = right;
    ++(other.*part);
    EXPECT_MPM_ERROR(trainer_.train(all_, {.steps = 1, .start = &other}), "another width or with other classes");
  }
  EXPECT_MPM_ERROR(trainer_.write("x.pb", {}), "end in .onnx");
  cv::Mat doubles;
  tokens.convertTo(doubles, CV_64F);
  for (const cv::Mat& other : {doubles, tokens.rowRange(1, tokens.rows), tokens.colRange(1, tokens.cols).clone()})
    EXPECT_MPM_ERROR(trainer_.predict(right, other), "not those of a picture");
}

// The algorithm as its paper writes it down, element by element.
TEST(AdamW, StepsAreThoseOfDoubleLoops) {
  std::vector<float> weights = {1, -2, 0.5f, 3};
  std::vector<double> expected(weights.begin(), weights.end()), mean(4), square(4);
  AdamW adam({true, false, true, false}, 0.05);
  for (int step = 1; step <= 30; ++step) {
    std::vector<float> gradient(4);
    for (int i = 0; i < 4; ++i) {
      gradient[i] = static_cast<float>((step * 7 + i * 3) % 11 - 4) * 0.1f;
      mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
      square[i] = 0.98 * square[i] + 0.02 * gradient[i] * gradient[i];
      if (i % 2 == 0) expected[i] -= 5e-3 * 0.05 * expected[i];
      expected[i] -=
          5e-3 * (mean[i] / (1 - std::pow(0.9, step))) / (std::sqrt(square[i] / (1 - std::pow(0.98, step))) + 1e-8);
    }
    adam.step(weights.data(), gradient.data(), 5e-3);
  }
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(weights[i], expected[i], 2e-6) << i;
}

}  // namespace
}  // namespace mpm
