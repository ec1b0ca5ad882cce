// SPDX-License-Identifier: Apache-2.0
#include "train/learner.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "evaluation/confusion_matrix.h"
#include "mpm/error.hpp"
#include "support/throws_with.h"
#include "train/shapes.h"

namespace mpm::train {
namespace {

constexpr Size2 kInputSize = {64, 96};
constexpr int kClasses = 3, kIgnore = 255;

LearnerOptions tiny() {
  LearnerOptions options;
  options.network.dim = 64;
  options.network.blocks = 2;
  options.network.decoder_blocks = 1;
  options.network.classes = kClasses;
  options.network.input = kInputSize;
  options.average = 0.95;
  options.threads = 1;  // two that wait for each other on a busy machine are slower than one
  return options;
}

Learner learner(const LearnerOptions& options, std::uint64_t seed = 1) {
  return Learner(options, initialWeights(options.network, seed));
}

StepReport stepOn(Learner& learner, int step, double lr, int batch = 8) {
  const auto [images, labels] = test::shapeBatch(step * batch, batch, kInputSize);
  return learner.step(images, labels, step, 1, lr);
}

double meanIou(Learner& learner, int first, int count) {
  const auto [images, labels] = test::shapeBatch(first, count, kInputSize);
  const cv::Mat predicted = learner.predict(images);
  evaluation::ConfusionMatrix matrix(kClasses, kIgnore);
  const auto flat = [](const cv::Mat& mat) { return cv::Mat(1, static_cast<int>(mat.total()), CV_8U, mat.data); };
  matrix.add(flat(labels), flat(predicted));
  return matrix.meanIou();
}

class LearnerWith : public testing::TestWithParam<OptimizerKind> {};

INSTANTIATE_TEST_SUITE_P(Optimizers, LearnerWith, testing::Values(OptimizerKind::kAdamW, OptimizerKind::kMuon));

TEST_P(LearnerWith, LearnsFromScratch) {
  LearnerOptions options = tiny();
  options.optimizer = GetParam();
  Learner net = learner(options);
  const double before = meanIou(net, 100000, 16);
  double first = 0, last = 0;
  constexpr int kSteps = 240;
  for (int step = 0; step < kSteps; ++step) {
    const StepReport report = stepOn(net, step, 2e-3 * std::min(1., (step + 1) / 40.));
    (step < 10 ? first : step >= kSteps - 10 ? last : first) += step < 10 || step >= kSteps - 10 ? report.loss / 10 : 0;
  }
  const double after = meanIou(net, 100000, 16);
  RecordProperty("loss", std::to_string(first) + " -> " + std::to_string(last));
  EXPECT_LT(last, 0.6 * first);
  EXPECT_GT(after, before + 0.15);
  EXPECT_GT(after, 0.5) << "on shapes that it never saw";
}

// One step of AdamW, written out per element; the gradient is read back from the first moment.
TEST(Learner, AStepIsThatOfAdamW) {
  LearnerOptions options = tiny();
  options.clip = 0;
  options.weight_decay = 0.3;
  Learner net = learner(options);
  const TensorMap before = net.state();
  constexpr double kRate = 0.01;
  const StepReport report = stepOn(net, 0, kRate, 2);
  const TensorMap after = net.state();
  double squares = 0;
  for (const Parameter& parameter : parameters(options.network)) {
    const auto& w = before.at(parameter.name).values;
    const auto& updated = after.at(parameter.name).values;
    const auto& average = after.at("average." + parameter.name).values;
    const auto& mean = after.at("adam.mean." + parameter.name).values;
    const auto& square = after.at("adam.square." + parameter.name).values;
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double gradient = mean[i] / (1 - options.beta1);
      squares += gradient * gradient;
      ASSERT_NEAR(square[i], (1 - options.beta2) * gradient * gradient, 1e-9 + 1e-5 * square[i]);
      const double decayed = w[i] * (parameter.decays ? 1 - kRate * options.weight_decay : 1);
      const double expected = decayed - kRate * gradient / (std::abs(gradient) + 1e-8);
      // Where the gradient is about as small as AdamW's 1e-8, float32 moments say little.
      ASSERT_NEAR(updated[i], expected, std::abs(gradient) > 1e-6 ? 1e-5 : 1.1 * kRate) << parameter.name << " " << i;
      const double decay = std::min(options.average, 2. / 11);
      ASSERT_NEAR(average[i], decay * w[i] + (1 - decay) * updated[i], 1e-6) << parameter.name << " " << i;
    }
  }
  EXPECT_NEAR(report.gradient_norm, std::sqrt(squares), 1e-4 * report.gradient_norm);
}

// What a matrix that Muon moves gains in one step, undone of decay and scale, {rows, cols}; and its gradient. `part` of
// `parts` equal blocks of rows.
std::pair<cv::Mat, cv::Mat> muonStep(const LearnerOptions& options, const TensorMap& before, const TensorMap& after,
                                     const std::string& name, int part, int parts, double rate) {
  const HostTensor &w = before.at(name), &updated = after.at(name), &mean = after.at("adam.mean." + name);
  const int rows = static_cast<int>(w.shape[0]) / parts, cols = static_cast<int>(w.shape[1]);
  cv::Mat step(rows, cols, CV_64F), gradient(rows, cols, CV_64F);
  for (int i = 0; i < rows * cols; ++i) {
    const auto at = static_cast<std::size_t>(part * rows * cols + i);
    step.at<double>(i / cols, i % cols) = (w.values[at] * (1 - rate * options.weight_decay) - updated.values[at]) /
                                          (rate * 0.2 * std::sqrt(std::max(rows, cols)));
    gradient.at<double>(i / cols, i % cols) = mean.values[at] / (1 - options.momentum);
  }
  return {step, gradient};
}

// The first step along U S V' is U f(S) V' with f(S) near 1: checked against a singular value decomposition of
// OpenCV's.
TEST(Learner, AStepOfMuonHasSingularValuesNearOne) {
  LearnerOptions options = tiny();
  options.optimizer = OptimizerKind::kMuon;
  options.clip = 0;
  Learner net = learner(options);
  const TensorMap before = net.state();
  constexpr double kRate = 0.01;
  stepOn(net, 0, kRate, 8);
  const TensorMap after = net.state();
  const struct {
    const char* name;
    int parts;
  } matrices[] = {{"encoder.blocks.0.attn.qkv.weight", 3},
                  {"encoder.blocks.1.attn.proj.weight", 1},
                  {"encoder.blocks.1.mlp.fc1.weight", 1},
                  {"decoder.blocks.0.mlp.fc2.weight", 1}};
  for (const auto& [name, parts] : matrices)
    for (int part = 0; part < parts; ++part) {
      const auto [step, gradient] = muonStep(options, before, after, name, part, parts, kRate);
      const cv::SVD svd(gradient);
      const cv::Mat seen = svd.u.t() * step * svd.vt.t();
      const double norm = cv::norm(gradient);
      int strong = 0;
      for (int i = 0; i < seen.rows; ++i)
        for (int j = 0; j < seen.cols; ++j) {
          const double value = seen.at<double>(i, j);
          if (svd.w.at<double>(i) < 0.005 * norm || svd.w.at<double>(j) < 0.005 * norm) continue;
          if (i == j) {
            ++strong;
            ASSERT_GT(value, 0.6) << name << " " << part;
            ASSERT_LT(value, 1.3) << name << " " << part;
          } else {
            ASSERT_NEAR(value, 0, 0.01) << name << " " << part;
          }
        }
      EXPECT_GE(strong, 3) << name << " " << part;
    }
  // What is no matrix of a block moves as under AdamW, by the rate wherever the gradient is not tiny.
  const auto& bias = after.at("encoder.blocks.0.attn.proj.bias").values;
  const auto& slope = after.at("adam.mean.encoder.blocks.0.attn.proj.bias").values;
  for (std::size_t i = 0; i < bias.size(); ++i) {
    if (std::abs(slope[i]) < 1e-6) continue;
    const double expected = before.at("encoder.blocks.0.attn.proj.bias").values[i] - std::copysign(kRate, slope[i]);
    ASSERT_NEAR(bias[i], expected, 1e-5);
  }
}

// The derivative of the loss along a direction, by central differences.
TEST(Learner, GradientIsTheDerivativeOfTheLoss) {
  LearnerOptions options = tiny();
  options.clip = 0;
  options.label_smoothing = 0.1;
  options.class_weights = {0.5f, 1, 2};
  const TensorMap weights = initialWeights(options.network, 4);
  const auto lossAt = [&](const TensorMap& at, TensorMap* state = nullptr) {
    Learner net(options, at);
    const double loss = stepOn(net, 0, 0, 2).loss;
    if (state) *state = net.state();
    return loss;
  };
  TensorMap state;
  lossAt(weights, &state);
  for (const char* name : {"encoder.patch_embed.proj.weight", "encoder.pos_embed", "encoder.blocks.1.attn.qkv.weight",
                           "decoder.cls_emb", "decoder.proj_classes", "decoder.mask_norm.weight"}) {
    const auto& mean = state.at("adam.mean." + std::string(name)).values;
    double norm = 0;
    for (const float value : mean) norm += value * value;
    norm = std::sqrt(norm);
    ASSERT_GT(norm, 0) << name;
    const double width = 1e-3;
    TensorMap above = weights, below = weights;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      above.at(name).values[i] += static_cast<float>(width * mean[i] / norm);
      below.at(name).values[i] -= static_cast<float>(width * mean[i] / norm);
    }
    const double slope = (lossAt(above) - lossAt(below)) / (2 * width);
    EXPECT_NEAR(slope, norm / (1 - options.beta1), 0.02 * slope) << name;
  }
}

TEST_P(LearnerWith, StateIsAllThatTheNextStepsDependOn) {
  LearnerOptions options = tiny();
  options.optimizer = GetParam();
  options.drop_path = 0.2;
  Learner net = learner(options);
  for (int step = 0; step < 3; ++step) stepOn(net, step, 1e-3, 4);
  Learner other = learner(options, 99);
  other.setState(net.state());
  for (int step = 3; step < 6; ++step) {
    const StepReport a = stepOn(net, step, 1e-3, 4), b = stepOn(other, step, 1e-3, 4);
    EXPECT_EQ(a.loss, b.loss) << step;
    EXPECT_EQ(a.gradient_norm, b.gradient_norm) << step;
  }
}

TEST(Learner, ClipsTheGradient) {
  LearnerOptions options = tiny();
  options.clip = 0.01;
  Learner net = learner(options);
  const StepReport report = stepOn(net, 0, 1e-3, 2);
  EXPECT_GT(report.gradient_norm, options.clip);
  double squares = 0;
  for (const auto& [name, tensor] : net.state())
    if (name.starts_with("adam.mean."))
      for (const float value : tensor.values) squares += value * value;
  EXPECT_NEAR(std::sqrt(squares) / (1 - options.beta1), options.clip, 1e-4 * options.clip);
}

TEST(Learner, IgnoredPixelsTeachNothing) {
  LearnerOptions options = tiny();
  options.label_smoothing = 0.1;
  options.class_weights = {1, 2, 3};
  Learner net = learner(options);
  const auto [images, labels] = test::shapeBatch(0, 2, kInputSize);
  const StepReport all = net.step(images, cv::Mat(3, labels.size.p, CV_8U, cv::Scalar(kIgnore)), 0, 1, 0);
  EXPECT_EQ(all.loss, 0);
  EXPECT_EQ(all.gradient_norm, 0);

  // What is ignored may be painted over in the truth without any effect, and the rest counts as before.
  cv::Mat half = labels.clone();
  half.reshape(1, static_cast<int>(half.total())).rowRange(0, static_cast<int>(half.total() / 2)).setTo(kIgnore);
  const double loss = net.step(images, half, 0, 1, 0).loss;
  EXPECT_GT(loss, 0.1);
}

// Only the pixels of odd rows and even columns are no `ignore`: of squares of 2 x 2, those are seen in one step of
// four.
TEST(Learner, EveryPixelOfASquareHasItsStep) {
  LearnerOptions options = tiny();
  options.label_stride = 2;
  Learner net = learner(options);
  auto [images, labels] = test::shapeBatch(0, 2, kInputSize);
  for (int b = 0; b < 2; ++b)
    for (int y = 0; y < kInputSize.height; ++y)
      for (int x = 0; x < kInputSize.width; ++x)
        if (y % 2 == 0 || x % 2 == 1) labels.at<uchar>(b, y, x) = kIgnore;
  for (int step = 0; step < 8; ++step) {
    const double loss = net.step(images, labels, step, 1, 0).loss;
    EXPECT_EQ(loss > 0.1, step % 4 == 2) << step << ": " << loss;
    EXPECT_EQ(loss == 0, step % 4 != 2) << step << ": " << loss;
  }
}

TEST(Learner, Bf16ComesClose) {
  LearnerOptions options = tiny();
  Learner full = learner(options);
  options.precision = MatmulPrecision::kBf16;
  Learner half = learner(options);
  for (int step = 0; step < 3; ++step)
    EXPECT_NEAR(stepOn(full, step, 1e-4, 2).loss, stepOn(half, step, 1e-4, 2).loss, 0.05);
}

TEST(Learner, NamesWhatIsMissing) {
  LearnerOptions options = tiny();
  TensorMap weights = initialWeights(options.network, 1);
  weights.erase("encoder.norm.weight");
  EXPECT_MPM_ERROR(Learner(options, weights), "encoder.norm.weight");
  options.device = "tpu";
  EXPECT_MPM_ERROR(learner(options), "tpu");
  if (!cudaIsAvailable()) {
    options.device = "cuda";
    EXPECT_MPM_ERROR(learner(options), "--device cpu");
  }
}

TEST(Learner, StopsWhenTheLossIsNoNumber) {
  const LearnerOptions options = tiny();
  TensorMap weights = initialWeights(options.network, 1);
  weights.at("encoder.norm.weight").values[0] = std::numeric_limits<float>::quiet_NaN();
  Learner net(options, weights);
  EXPECT_MPM_ERROR(stepOn(net, 7, 1e-3, 1), "step 7");
}

}  // namespace
}  // namespace mpm::train
