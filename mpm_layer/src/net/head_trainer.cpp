// SPDX-License-Identifier: Apache-2.0
#include "mpm/head_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "base/training.h"
#include "kernels/elementwise.h"
#include "kernels/head_gradient.h"
#include "kernels/resample.h"
#include "net/image_net.h"
#include "onnx/converter.h"
#include "onnx/model/model_info_json.h"

namespace mpm {
namespace {

ImageNet encoderOf(const std::string& model, const Reduction& reduce) {
  onnx_graph::requireTokenHeadFits(model);
  EstimatorOptions options;
  options.read.convert.reduce = reduce;
  return {model, options,
          [](onnx::GraphProto& graph, const ModelInfo& info) { return std::vector{restoreLastTokens(graph, info)}; }};
}

// The class with most labelled pixels in each cell.
cv::Mat cellsOf(const cv::Mat& labels, Size2 grid, int classes, int ignore) {
  const Size2 size{grid.height * LabelledTokens::kCellsPerPatch, grid.width * LabelledTokens::kCellsPerPatch};
  std::vector<int> pixels(size.width * classes);
  cv::Mat cells(size.height, size.width, CV_8U, cv::Scalar(LabelledTokens::kNoClass));
  for (int row = 0; row < size.height; ++row) {
    std::fill(pixels.begin(), pixels.end(), 0);
    const int from = row * labels.rows / size.height, to = std::max(from + 1, (row + 1) * labels.rows / size.height);
    for (int y = from; y < to; ++y)
      for (int x = 0; x < labels.cols; ++x)
        if (const int label = labels.at<uchar>(y, x); label != ignore)
          ++pixels[static_cast<std::int64_t>(x) * size.width / labels.cols * classes + label];
    for (int column = 0; column < size.width; ++column) {
      const auto first = pixels.begin() + column * classes, best = std::max_element(first, first + classes);
      if (*best > 0) cells.at<uchar>(row, column) = static_cast<uchar>(best - first);
    }
  }
  return cells;
}

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

// The weights of a head in one array, as the kernels take them, and back.
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

// Tokens {N, dim} as a LayerNorm without weights leaves them.
cv::Mat normalisedTokens(const cv::Mat& tokens) {
  CV_Assert(tokens.type() == CV_32F && tokens.isContinuous());
  cv::Mat units(tokens.size(), CV_32F);
  const std::vector<float> ones(tokens.cols, 1.0f), zeros(ones.size());
  norm({tokens.ptr<float>(), tokens.rows, tokens.cols}, {ones.data(), zeros.data(), TokenHead::kNormEps},
       {units.ptr<float>(), units.rows, units.cols});
  return units;
}

// HeadTrainer::train() for pictures of one grid. `class_weights`: of the loss, one per class.
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

}  // namespace

void HeadTrainingOptions::validate() const {
  if (hidden < 1 || steps < 1 || batch < 1) throw Error("the width, steps and batch of a training must be at least 1");
  if (!(learning_rate > 0) || !(weight_decay >= 0))
    throw Error("the learning rate of a training must be positive, and its weight decay not negative");
}

struct HeadTrainer::Impl {
  Impl(const std::string& model, const Reduction& reduce)
      : net(encoderOf(model, reduce)), classes(net.info().facts.classes), ignore(net.info().facts.ignore) {}

  Size2 grid() const { return net.info().grid; }

  // {N, classes}
  std::vector<float> scores(const TokenHead& head, const cv::Mat& tokens) const {
    if (tokens.type() != CV_32F || tokens.rows != net.info().tokens() || tokens.cols != head.dim)
      throw Error("the tokens are not those of a picture from this encoder");
    std::vector<float> values(static_cast<std::size_t>(tokens.rows) * head.classes);
    const cv::Mat units = normalisedTokens(tokens);
    headScores({head.dim, head.hidden, head.classes}, flatWeights(head).data(),
               {units.ptr<float>(), units.rows, units.cols}, {values.data(), units.rows, head.classes}, net.parallel());
    return values;
  }

  ImageNet net;
  std::vector<ClassInfo> classes;
  int ignore;
};

HeadTrainer::HeadTrainer(const std::string& model, const Reduction& reduce)
    : impl_(withOurErrors([&] { return std::make_unique<Impl>(model, reduce); })) {}
HeadTrainer::~HeadTrainer() = default;
HeadTrainer::HeadTrainer(HeadTrainer&&) noexcept = default;
HeadTrainer& HeadTrainer::operator=(HeadTrainer&&) noexcept = default;

const ModelInfo& HeadTrainer::model() const { return impl_->net.info(); }

void HeadTrainer::setClasses(const std::vector<ClassInfo>& classes, int ignore) {
  if (classes.size() < 2) throw Error("fewer than two classes: a model tells at least two apart");
  if (classes.size() > LabelledTokens::kNoClass)
    throw Error(std::to_string(classes.size()) + " classes: a head has at most 255");
  impl_->classes = classes;
  impl_->ignore = ignore;
}

cv::Mat HeadTrainer::tokens(const cv::Mat& image) {
  if (image.empty() || image.type() != CV_8UC3) throw Error("an image to encode must be CV_8UC3 and not empty");
  return withOurErrors([&] {
    RunReport report;
    impl_->net.run(image, report);
    return impl_->net.tokensOf(0);
  });
}

LabelledTokens HeadTrainer::label(const cv::Mat& tokens, const cv::Mat& labels) const {
  if (labels.empty() || labels.type() != CV_8U) throw Error("a label map must be CV_8U and not empty");
  const auto classes = static_cast<int>(impl_->classes.size());
  std::vector<double> pixels(impl_->classes.size());
  for (int y = 0; y < labels.rows; ++y)
    for (int x = 0; x < labels.cols; ++x)
      if (const int label = labels.at<uchar>(y, x); label != impl_->ignore) {
        if (label >= classes)
          throw Error("a label map holds label " + std::to_string(label) + ", but there are " +
                      std::to_string(classes) + " classes");
        ++pixels[label];
      }
  return {tokens, cellsOf(labels, impl_->grid(), classes, impl_->ignore), pixels};
}

TokenHead HeadTrainer::train(const std::vector<const LabelledTokens*>& pictures,
                             const HeadTrainingOptions& options) const {
  std::vector<double> pixels(impl_->classes.size());
  for (const LabelledTokens* picture : pictures)
    std::transform(pixels.begin(), pixels.end(), picture->pixels.begin(), pixels.begin(), std::plus<>());
  if (std::none_of(pixels.begin(), pixels.end(), [](double count) { return count > 0; }))
    throw Error("no pixel is labelled");
  return withOurErrors(
      [&] { return trainHead(pictures, impl_->grid(), balancedWeights(pixels, 0.5), options, impl_->net.parallel()); });
}

cv::Mat HeadTrainer::predict(const TokenHead& head, const cv::Mat& tokens) const {
  const std::vector<float> scores = impl_->scores(head, tokens);
  const Size2 grid = impl_->grid(), size = model().input;
  cv::Mat labels(size.height, size.width, CV_8U);
  resizeArgmax<unsigned char>({scores.data(), tokens.rows, head.classes}, bilinearAxis(grid.height, size.height),
                              bilinearAxis(grid.width, size.width), {labels.ptr(), labels.rows, labels.cols},
                              impl_->net.parallel());
  return labels;
}

cv::Mat HeadTrainer::margins(const TokenHead& head, const cv::Mat& tokens) const {
  const std::vector<float> scores = impl_->scores(head, tokens);
  cv::Mat margins(impl_->grid().height, impl_->grid().width, CV_32F);
  for (int i = 0; i < tokens.rows; ++i) {
    const float* const row = scores.data() + static_cast<std::ptrdiff_t>(i) * head.classes;
    float best = -std::numeric_limits<float>::infinity(), second = best, sum = 0;
    for (int c = 0; c < head.classes; ++c) {
      second = std::max(second, std::min(best, row[c]));
      best = std::max(best, row[c]);
    }
    for (int c = 0; c < head.classes; ++c) sum += std::exp(row[c] - best);
    margins.ptr<float>()[i] = (1 - std::exp(second - best)) / sum;
  }
  return margins;
}

void HeadTrainer::write(const std::string& path, const TokenHead& head, const std::string& taught) const {
  if (!path.ends_with(".onnx")) throw Error("the new model is '" + path + "'; its name must end in .onnx");
  ModelFacts facts = model().facts;
  facts.name = std::filesystem::path(path).stem().string();
  facts.classes = impl_->classes;
  facts.ignore = impl_->ignore;
  auto json = onnx_graph::factsJson(facts, model().input);
  json["refine"] = toString(Refine::kGuided);  // a few pictures teach classes, and no fine edges
  Reduction reduce = model().reduction;
  if (!reduce.policy.empty()) reduce.policy = std::filesystem::absolute(reduce.policy).string();  // not by the JSON
  json["reduce"] = toString(reduce);
  if (!taught.empty()) json["taught"] = Json::parse(taught);
  onnx_graph::writeModel(path, onnx_graph::withTokenHead(impl_->net.path(), head), std::move(json));
}

}  // namespace mpm
