// SPDX-License-Identifier: Apache-2.0
#include "mpm/head_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <opencv2/core.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/atomic_file.h"
#include "base/blank_text.h"
#include "base/hash.h"
#include "base/json_file.h"
#include "base/number_text.h"
#include "base/training.h"
#include "kernels/elementwise.h"
#include "kernels/head_gradient.h"
#include "kernels/resample.h"
#include "mpm/convert.hpp"
#include "net/image_net.h"
#include "onnx/converter.h"
#include "onnx/model/model_info_json.h"

namespace mpm {
namespace {

// It says which ONNX file it was written with. A kill between the two files leaves it alone.
bool isOfTaughtModel(const std::string& json) {
  try {
    return readJsonFile(json).has("onnx_id");
  } catch (const Error&) {
    return false;
  }
}

ImageNet encoderOf(const std::string& model, const Reduction& reduce) {
  onnx_graph::requireTokenHeadFits(model);
  EstimatorOptions options;
  options.reduce = reduce;
  return {model, options,
          [](onnx::GraphProto& graph, const ModelInfo& info) { return std::vector{restoreLastTokens(graph, info)}; }};
}

// [first, last) of the pixels of a label map that each cell of an axis stands for: those with their centre in the cell;
// where there is none, because pixels are larger than cells, the one that the centre of the cell lies in.
std::vector<cv::Range> pixelsOfCells(int pixels, int cells) {
  std::vector<cv::Range> ranges;
  const auto firstBehind = [&](std::int64_t edge) {  // whose centre is not before the begin of this cell
    return static_cast<int>((2 * edge * pixels + cells - 1) / (2 * cells));
  };
  for (int cell = 0; cell < cells; ++cell) {
    cv::Range& range = ranges.emplace_back(firstBehind(cell), firstBehind(cell + 1));
    if (range.empty()) range.start = static_cast<int>((2 * std::int64_t{cell} + 1) * pixels / (2 * cells));
    range.end = std::max(range.end, range.start + 1);
  }
  return ranges;
}

// The class with most labelled pixels in each cell (LabelledTokens::cells).
cv::Mat cellsOf(const cv::Mat& labels, Size2 grid, int classes, int ignore) {
  const auto rows = pixelsOfCells(labels.rows, grid.height * LabelledTokens::kCellsPerPatch),
             columns = pixelsOfCells(labels.cols, grid.width * LabelledTokens::kCellsPerPatch);
  cv::Mat cells(static_cast<int>(rows.size()), static_cast<int>(columns.size()), CV_8U);
  std::vector<int> pixels(classes);
  for (int row = 0; row < cells.rows; ++row) {
    for (int column = 0; column < cells.cols; ++column) {
      std::ranges::fill(pixels, 0);
      for (int y = rows[row].start; y < rows[row].end; ++y) {
        for (int x = columns[column].start; x < columns[column].end; ++x)
          if (const int label = labels.at<uchar>(y, x); label != ignore) ++pixels[label];
      }
      const auto best = std::ranges::max_element(pixels);
      cells.at<uchar>(row, column) = *best > 0 ? static_cast<uchar>(best - pixels.begin()) : LabelledTokens::kNoClass;
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

// Throws where the head is not one for tokens of this width, or has other weights than its sizes say.
void requireHead(const TokenHead& head, int dim, std::size_t classes) {
  const std::string sizes = std::to_string(head.dim) + " features, " + std::to_string(head.hidden) + " hidden, " +
                            std::to_string(head.classes) + " classes";
  if (head.dim != dim || head.hidden < 1 || head.classes != static_cast<int>(classes)) {
    throw Error("the head has " + sizes + ", expected " + std::to_string(dim) + " features and " +
                std::to_string(classes) + " classes");
  }
  const HeadShape shape{head.dim, head.hidden, head.classes};
  const std::pair<const std::vector<float>*, std::size_t> parts[] = {
      {&head.norm_weight, shape.normBias()},
      {&head.norm_bias, shape.hiddenWeight() - shape.normBias()},
      {&head.hidden_weight, shape.hiddenBias() - shape.hiddenWeight()},
      {&head.hidden_bias, shape.scoreWeight() - shape.hiddenBias()},
      {&head.score_weight, shape.scoreBias() - shape.scoreWeight()},
      {&head.score_bias, shape.size() - shape.scoreBias()}};
  for (const auto& [weights, size] : parts) {
    if (weights->size() != size) {
      throw Error("the head has " + sizes + ", but one of its parts has " + std::to_string(weights->size()) +
                  " weights in place of " + std::to_string(size));
    }
    if (!std::all_of(weights->begin(), weights->end(), [](float weight) { return std::isfinite(weight); }))
      throw Error("the head has a weight that is not a number");
  }
}

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

// Tokens {N, dim}, which may be a part of a larger matrix, as a LayerNorm without weights leaves them.
cv::Mat normalisedTokens(const cv::Mat& given) {
  const cv::Mat tokens = given.isContinuous() ? given : given.clone();
  cv::Mat units(tokens.size(), CV_32F);
  const std::vector<float> ones(tokens.cols, 1.0f), zeros(ones.size());
  norm({tokens.ptr<float>(), tokens.rows, tokens.cols}, {ones.data(), zeros.data(), TokenHead::kNormEps},
       {units.ptr<float>(), units.rows, units.cols});
  return units;
}

// A training of the head on these pictures: the loss of any of them, and steps.
class Training {
 public:
  // `class_weights`: of the loss, one per class.
  Training(const std::vector<const LabelledTokens*>& pictures, Size2 grid, const std::vector<float>& class_weights,
           const HeadTrainingOptions& options, const Parallel& parallel)
      : pictures_(pictures),
        parallel_(parallel),
        shape_{pictures.front()->tokens.cols, options.start != nullptr ? options.start->hidden : options.hidden,
               static_cast<int>(class_weights.size())},
        weights_(options.start != nullptr ? flatWeights(*options.start) : firstWeights(shape_, options.seed)),
        gradient_(shape_.size()),
        loss_of_(shape_, bilinearAxis(grid.height, grid.height * LabelledTokens::kCellsPerPatch),
                 bilinearAxis(grid.width, grid.width * LabelledTokens::kCellsPerPatch), class_weights) {
    for (const LabelledTokens* picture : pictures) {
      units_.push_back(normalisedTokens(picture->tokens));
      cells_.push_back(picture->cells.isContinuous() ? picture->cells : picture->cells.clone());
    }
  }

  // The loss of these pictures, and its gradient. NaN where no cell has a class.
  double lossOf(const std::vector<std::size_t>& pictures) {
    std::vector<LabelledRows> rows;
    for (const std::size_t picture : pictures) {
      const cv::Mat& tokens = units_[picture];
      rows.push_back({{tokens.ptr<float>(), tokens.rows, tokens.cols}, cells_[picture].ptr()});
    }
    return loss_of_(weights_.data(), rows, gradient_.data(), parallel_);
  }

  // The mean of the losses of all pictures, `batch` of them at a time.
  double lossOfAll(std::size_t batch) {
    double sum = 0;
    int count = 0;
    for (std::size_t first = 0; first < pictures_.size(); first += batch) {
      std::vector<std::size_t> some(std::min(batch, pictures_.size() - first));
      std::iota(some.begin(), some.end(), first);
      const double loss = lossOf(some);
      const auto labelled = [&](std::size_t picture) {
        return cv::countNonZero(cells_[picture] != LabelledTokens::kNoClass) > 0;
      };
      if (std::none_of(some.begin(), some.end(), labelled)) continue;
      sum += loss;
      ++count;
    }
    return sum / count;
  }

  TokenHead run(const HeadTrainingOptions& options) {
    const auto batch_size = std::min(pictures_.size(), static_cast<std::size_t>(options.batch));
    const double before = lossOfAll(batch_size);
    AdamW adam(decaysOf(shape_), options.weight_decay);
    const LearningRate rate{options.learning_rate, options.steps / 20, options.steps, 0.01};
    Rounds rounds(pictures_.size());
    std::vector<std::size_t> batch(batch_size);
    for (int i = 0; i < options.steps; ++i) {
      Random random(options.seed, 1000 + static_cast<std::uint64_t>(i));
      for (std::size_t& picture : batch) picture = rounds.next(random);
      // A batch without a label teaches nothing.
      if (std::isfinite(lossOf(batch))) adam.step(weights_.data(), gradient_.data(), rate.at(i));
      if (options.step && !options.step()) break;
    }
    requireBetter(before, lossOfAll(batch_size));
    return headOf(shape_, weights_);
  }

 private:
  // A head that gives all classes the same probability has the loss log(classes). One that is worse than that and worse
  // than it was before has learned nothing, whatever its weights are. Half of it more is allowed: the first few steps
  // may take a detour.
  void requireBetter(double before, double after) const {
    const bool finite =
        std::all_of(weights_.begin(), weights_.end(), [](float weight) { return std::isfinite(weight); });
    const double most = 1.5 * std::max(before, std::log(static_cast<double>(shape_.classes)));
    if (finite && after <= most) return;
    throw Error("training diverged: its loss went from " + numberText(before) + " to " +
                (finite && std::isfinite(after) ? numberText(after) : "no number") +
                "; choose a smaller learning rate");
  }

  const std::vector<const LabelledTokens*>& pictures_;
  const Parallel& parallel_;
  HeadShape shape_;
  std::vector<cv::Mat> units_, cells_;
  std::vector<float> weights_, gradient_;
  HeadGradient loss_of_;
};

}  // namespace

void HeadTrainingOptions::validate() const {
  if (hidden < 1 || steps < 1 || batch < 1) throw Error("the width, steps and batch of a training must be at least 1");
  if (constexpr int kMost = 65536; hidden > kMost) {
    throw Error("the width of a head to train must be at most " + std::to_string(kMost) + ", got " +
                std::to_string(hidden));
  }
  if (!(learning_rate > 0) || !(weight_decay >= 0) || !std::isfinite(learning_rate) || !std::isfinite(weight_decay))
    throw Error("the learning rate of a training must be positive, and its weight decay not negative");
}

struct HeadTrainer::Impl {
  Impl(const std::string& model, const Reduction& reduce)
      : net(encoderOf(model, reduce)), classes(net.info().facts.classes), ignore(net.info().facts.ignore) {}

  Size2 grid() const { return net.info().grid; }

  void requireTokens(const cv::Mat& tokens) const {
    if (tokens.type() != CV_32F || tokens.dims != 2 || tokens.rows != net.info().tokens() ||
        tokens.cols != net.info().dim)
      throw Error("the tokens are not those of a picture from this encoder");
    if (!cv::checkRange(tokens)) throw Error("the tokens of a picture have a value that is not a number");
  }

  // Throws where `picture` is not what label() gives with the classes that are set now.
  void requireLabelled(const LabelledTokens* picture) const {
    if (picture == nullptr) throw Error("a picture to train on is missing (a null pointer)");
    requireTokens(picture->tokens);
    const cv::Mat& cells = picture->cells;
    const cv::Size size(grid().width * LabelledTokens::kCellsPerPatch, grid().height * LabelledTokens::kCellsPerPatch);
    if (cells.type() != CV_8U || cells.size() != size)
      throw Error("the cells of a picture are not those of this encoder: make them with label()");
    if (picture->pixels.size() != classes.size()) {
      throw Error("a picture was labelled with " + std::to_string(picture->pixels.size()) +
                  " classes, but now there are " + std::to_string(classes.size()) + ": label it again");
    }
    for (int y = 0; y < cells.rows; ++y) {
      for (int x = 0; x < cells.cols; ++x) {
        if (const int label = cells.at<uchar>(y, x);
            label != LabelledTokens::kNoClass && label >= static_cast<int>(classes.size())) {
          throw Error("a picture has a cell of class " + std::to_string(label) + ", but there are " +
                      std::to_string(classes.size()) + " classes");
        }
      }
    }
  }

  // {N, classes}
  std::vector<float> scores(const TokenHead& head, const cv::Mat& tokens) const {
    requireTokens(tokens);
    requireHead(head, net.info().dim, static_cast<std::size_t>(std::clamp(head.classes, 1, 255)));
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

HeadTrainer::Impl& HeadTrainer::impl() const {
  if (!impl_) throw Error("this HeadTrainer was moved from");
  return *impl_;
}

const ModelInfo& HeadTrainer::model() const { return impl().net.info(); }

void HeadTrainer::setClasses(const std::vector<ClassInfo>& classes, int ignore) {
  if (classes.size() < 2) throw Error("fewer than two classes: a model tells at least two apart");
  if (classes.size() > LabelledTokens::kNoClass)
    throw Error(std::to_string(classes.size()) + " classes: a head has at most 255");
  if (ignore < 0 || ignore > 255) throw Error("label " + std::to_string(ignore) + " to ignore: expected 0 to 255");
  std::set<std::string> names;
  for (const ClassInfo& one : classes) {
    if (isBlank(one.name) || !names.insert(one.name).second)
      throw Error(isBlank(one.name) ? "a class has no name" : "two classes have the name '" + one.name + "'");
  }
  impl().classes = classes;
  impl().ignore = ignore;
}

cv::Mat HeadTrainer::tokens(const cv::Mat& image) {
  if (image.empty() || image.type() != CV_8UC3) throw Error("an image to encode must be CV_8UC3 and not empty");
  return withOurErrors([&] {
    RunReport report;
    impl().net.run(image, report);
    return impl().net.tokensOf(0);
  });
}

LabelledTokens HeadTrainer::label(const cv::Mat& tokens, const cv::Mat& labels) const {
  if (!tokens.empty()) impl().requireTokens(tokens);
  if (labels.empty() || labels.type() != CV_8U) throw Error("a label map must be CV_8U and not empty");
  const auto classes = static_cast<int>(impl().classes.size());
  std::vector<double> pixels(impl().classes.size());
  for (int y = 0; y < labels.rows; ++y) {
    for (int x = 0; x < labels.cols; ++x) {
      if (const int label = labels.at<uchar>(y, x); label != impl().ignore) {
        if (label >= classes) {
          throw Error("a label map holds label " + std::to_string(label) + ", but there are " +
                      std::to_string(classes) + " classes");
        }
        ++pixels[label];
      }
    }
  }
  return {tokens, cellsOf(labels, impl().grid(), classes, impl().ignore), pixels};
}

TokenHead HeadTrainer::train(const std::vector<const LabelledTokens*>& pictures,
                             const HeadTrainingOptions& options) const {
  options.validate();
  std::vector<double> pixels(impl().classes.size());
  for (const LabelledTokens* picture : pictures) {
    impl().requireLabelled(picture);
    std::transform(pixels.begin(), pixels.end(), picture->pixels.begin(), pixels.begin(), std::plus<>());
  }
  if (std::none_of(pixels.begin(), pixels.end(), [](double count) { return count > 0; }))
    throw Error("no pixel is labelled");
  if (options.start != nullptr) requireHead(*options.start, model().dim, impl().classes.size());
  return withOurErrors([&] {
    return Training(pictures, impl().grid(), balancedWeights(pixels, 0.5), options, impl().net.parallel()).run(options);
  });
}

cv::Mat HeadTrainer::predict(const TokenHead& head, const cv::Mat& tokens) const {
  const std::vector<float> scores = impl().scores(head, tokens);
  const Size2 grid = impl().grid(), size = model().input;
  cv::Mat labels(size.height, size.width, CV_8U);
  resizeArgmax<unsigned char>({scores.data(), tokens.rows, head.classes}, bilinearAxis(grid.height, size.height),
                              bilinearAxis(grid.width, size.width), {labels.ptr(), labels.rows, labels.cols},
                              impl().net.parallel());
  return labels;
}

cv::Mat HeadTrainer::margins(const TokenHead& head, const cv::Mat& tokens) const {
  const std::vector<float> scores = impl().scores(head, tokens);
  cv::Mat margins(impl().grid().height, impl().grid().width, CV_32F);
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

void HeadTrainer::requireOutput(const std::string& path) const {
  if (!path.ends_with(".onnx")) throw Error("the new model is '" + path + "'; its name must end in .onnx");
  const std::string json = factsFile(path);
  for (const std::string& file : modelFiles(impl().net.path())) {
    if (sameFile(file, path) || sameFile(file, json))
      throw Error("the new model would replace '" + file + "', which it is made from: name another file");
  }
  std::error_code unseen;
  if (!std::filesystem::exists(path, unseen) && std::filesystem::exists(json, unseen) && !isOfTaughtModel(json))
    throw Error("the new model would replace '" + json + "', which is there and of no model: name another file");
  for (const std::string& file : {path, json}) const AtomicFile attempt(file);
}

void HeadTrainer::write(const std::string& path, const TokenHead& head, const std::string& taught) const {
  requireOutput(path);
  const std::string& encoder = impl().net.path();
  requireHead(head, model().dim, impl().classes.size());
  ModelFacts facts = model().facts;
  facts.name = std::filesystem::path(path).stem().string();
  facts.classes = impl().classes;
  facts.ignore = impl().ignore;
  auto json = onnx_graph::factsJson(facts, model().input);
  json["refine"] = toString(Refine::kGuided);  // a few pictures teach classes, and no fine edges
  Reduction reduce = model().reduction;
  if (!reduce.policy.empty()) reduce.policy = std::filesystem::absolute(reduce.policy).string();  // not by the JSON
  json["reduce"] = toString(reduce);
  onnx_graph::naming(path, [&] {
    try {
      if (!taught.empty()) json["taught"] = JsonValue(taught, "what was taught").json();
      json.dump();
    } catch (const Json::exception& error) {
      throw Error(std::string("its name or its classes are no UTF-8 text: ") + error.what());
    }
    const std::string bytes = onnx_graph::withTokenHead(encoder, head);
    onnx_graph::requireReadable(bytes, json, path);
    onnx_graph::writeModel(path, bytes, std::move(json));
  });
}

}  // namespace mpm
