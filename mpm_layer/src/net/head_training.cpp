// SPDX-License-Identifier: Apache-2.0
#include "net/head_training.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "base/training.h"
#include "kernels/elementwise.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

// Random matrices, ones and zeros.
std::vector<float> firstWeights(const HeadShape& shape, std::uint64_t seed) {
  std::vector<float> weights(shape.size());
  std::fill_n(weights.begin(), shape.dim, 1.0f);
  const auto draw = [&](std::size_t from, std::size_t to, int in, std::uint64_t stream) {
    Random random(seed, stream);
    const double deviation = 1 / std::sqrt(static_cast<double>(in));
    for (std::size_t i = from; i < to; ++i) weights[i] = static_cast<float>(deviation * random.normal());
  };
  draw(shape.hiddenWeight(), shape.hiddenBias(), shape.dim, 2);
  draw(shape.scoreWeight(), shape.scoreBias(), shape.hidden, 4);
  return weights;
}

std::vector<bool> decaysOf(const HeadShape& shape) {
  std::vector<bool> decays(shape.size());
  const auto begin = decays.begin();
  std::fill(begin + shape.hiddenWeight(), begin + shape.hiddenBias(), true);
  std::fill(begin + shape.scoreWeight(), begin + shape.scoreBias(), true);
  return decays;
}

// Every picture once per round, in a new order.
class Rounds {
 public:
  explicit Rounds(std::size_t pictures) : order_(pictures), next_(pictures) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  std::size_t next(Random& random) {
    if (next_ == order_.size()) {
      for (std::size_t i = order_.size() - 1; i > 0; --i)
        std::swap(order_[i], order_[random.below(static_cast<int>(i + 1))]);
      next_ = 0;
    }
    return order_[next_++];
  }

 private:
  std::vector<std::size_t> order_;
  std::size_t next_;
};

}  // namespace

AdamW::AdamW(std::vector<bool> decays, double weight_decay)
    : decays_(std::move(decays)), weight_decay_(weight_decay), mean_(decays_.size()), square_(decays_.size()) {}

void AdamW::step(float* weights, const float* gradient, double learning_rate) {
  ++steps_;
  constexpr auto kKeep1 = static_cast<float>(kBeta1), kKeep2 = static_cast<float>(kBeta2);
  constexpr auto kTiny = static_cast<float>(kEpsilon);
  const auto unbias1 = static_cast<float>(1 / (1 - std::pow(kBeta1, steps_))),
             unbias2 = static_cast<float>(1 / (1 - std::pow(kBeta2, steps_))), rate = static_cast<float>(learning_rate),
             decay = static_cast<float>(1 - learning_rate * weight_decay_);
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    mean_[i] = kKeep1 * mean_[i] + (1 - kKeep1) * gradient[i];
    square_[i] = kKeep2 * square_[i] + (1 - kKeep2) * gradient[i] * gradient[i];
    const float direction = mean_[i] * unbias1 / (std::sqrt(square_[i] * unbias2) + kTiny);
    weights[i] = weights[i] * (decays_[i] ? decay : 1) - rate * direction;
  }
}

std::vector<float> flatWeights(const TokenHead& head) {
  std::vector<float> flat;
  for (const auto* part : {&head.norm_weight, &head.norm_bias, &head.hidden_weight, &head.hidden_bias,
                           &head.score_weight, &head.score_bias})
    flat.insert(flat.end(), part->begin(), part->end());
  return flat;
}

TokenHead headOf(const HeadShape& shape, const std::vector<float>& weights) {
  const auto part = [&](std::size_t from, std::size_t to) {
    return std::vector<float>(weights.begin() + from, weights.begin() + to);
  };
  return {shape.dim,
          shape.hidden,
          shape.classes,
          part(0, shape.normBias()),
          part(shape.normBias(), shape.hiddenWeight()),
          part(shape.hiddenWeight(), shape.hiddenBias()),
          part(shape.hiddenBias(), shape.scoreWeight()),
          part(shape.scoreWeight(), shape.scoreBias()),
          part(shape.scoreBias(), shape.size())};
}

cv::Mat normalisedTokens(const cv::Mat& tokens) {
  CV_Assert(tokens.type() == CV_32F && tokens.isContinuous());
  cv::Mat units(tokens.size(), CV_32F);
  const std::vector<float> ones(tokens.cols, 1.0f), zeros(ones.size());
  norm({tokens.ptr<float>(), tokens.rows, tokens.cols}, {ones.data(), zeros.data(), TokenHead::kNormEps},
       {units.ptr<float>(), units.rows, units.cols});
  return units;
}

TokenHead trainHead(const std::vector<const LabelledTokens*>& pictures, Size2 grid,
                    const std::vector<float>& class_weights, const HeadTrainingOptions& options,
                    const Parallel& parallel) {
  options.validate();
  HeadShape shape{pictures.front()->tokens.cols, options.hidden, static_cast<int>(class_weights.size())};
  if (options.start != nullptr) {
    if (options.start->dim != shape.dim || options.start->classes != shape.classes)
      throw Error("training cannot go on from a head of another width or with other classes");
    shape.hidden = options.start->hidden;
  }
  std::vector<cv::Mat> units;
  for (const LabelledTokens* picture : pictures) units.push_back(normalisedTokens(picture->tokens));
  std::vector<float> weights =
                         options.start != nullptr ? flatWeights(*options.start) : firstWeights(shape, options.seed),
                     gradient(shape.size());
  HeadGradient lossOf(shape, bilinearAxis(grid.height, grid.height * LabelledTokens::kCellsPerPatch),
                      bilinearAxis(grid.width, grid.width * LabelledTokens::kCellsPerPatch), class_weights);
  AdamW adam(decaysOf(shape), options.weight_decay);
  const LearningRate rate{options.learning_rate, options.steps / 20, options.steps, 0.01};
  Rounds rounds(pictures.size());
  std::vector<LabelledRows> batch(std::min(pictures.size(), static_cast<std::size_t>(options.batch)));
  for (int i = 0; i < options.steps; ++i) {
    Random random(options.seed, 1000 + static_cast<std::uint64_t>(i));
    for (LabelledRows& rows : batch) {
      const std::size_t picture = rounds.next(random);
      const cv::Mat& tokens = units[picture];
      rows = {{tokens.ptr<float>(), tokens.rows, tokens.cols}, pictures[picture]->cells.ptr()};
    }
    // A batch without a label teaches nothing.
    if (std::isfinite(lossOf(weights.data(), batch, gradient.data(), parallel)))
      adam.step(weights.data(), gradient.data(), rate.at(i));
    if (options.step && !options.step()) break;
  }
  if (!std::all_of(weights.begin(), weights.end(), [](float weight) { return std::isfinite(weight); }))
    throw Error("training failed: a weight is not a number");
  return headOf(shape, weights);
}

}  // namespace mpm
