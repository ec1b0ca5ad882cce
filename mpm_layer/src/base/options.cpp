// SPDX-License-Identifier: Apache-2.0
#include "mpm/options.hpp"

#include <cmath>
#include <tuple>
#include <utility>

#include "base/number_text.h"
#include "base/reduction_defaults.h"
#include "base/size_text.h"
#include "mpm/error.hpp"
#include "mpm/model_info.hpp"

namespace mpm {
namespace {

template <class T>
using Word = std::pair<T, const char*>;

constexpr Word<Attention> kAttentions[] = {{Attention::kPlain, "plain"}, {Attention::kProportional, "proportional"}};
constexpr Word<MergedPositions> kMergedPositions[] = {
    {MergedPositions::kMean, "mean"}, {MergedPositions::kCentroid, "centroid"}, {MergedPositions::kFirst, "first"}};
constexpr Word<Output> kOutputs[] = {{Output::kLabels, "labels"}, {Output::kLogits, "logits"}};
constexpr Word<Precision> kPrecisions[] = {{Precision::kFp32, "fp32"},
                                           {Precision::kBf16, "bf16"},
                                           {Precision::kTf32, "tf32"},
                                           {Precision::kFp16, "fp16"},
                                           {Precision::kInt8, "int8"}};
constexpr Word<ChannelOrder> kChannelOrders[] = {{ChannelOrder::kRgb, "RGB"}, {ChannelOrder::kBgr, "BGR"}};
constexpr Word<HeadKind> kHeadKinds[] = {{HeadKind::kMaskTransformer, "mask_transformer"},
                                         {HeadKind::kLinear, "linear"},
                                         {HeadKind::kClassifier, "classifier"},
                                         {HeadKind::kFeatures, "features"},
                                         {HeadKind::kOther, "other"},
                                         {HeadKind::kMaskQueries, "mask_queries"},
                                         {HeadKind::kBoxQueries, "box_queries"}};
constexpr Word<Refine> kRefines[] = {{Refine::kNone, "none"}, {Refine::kGuided, "guided"}};
constexpr Word<Task> kTasks[] = {{Task::kSemantic, "semantic"},
                                 {Task::kPanoptic, "panoptic"},
                                 {Task::kInstance, "instance"},
                                 {Task::kDepth, "depth"},
                                 {Task::kBoxes, "boxes"}};
constexpr Word<DepthUnit> kDepthUnits[] = {
    {DepthUnit::kMetre, "metre"}, {DepthUnit::kRelative, "relative"}, {DepthUnit::kInverse, "inverse"}};

template <class T, std::size_t N>
std::string wordOf(const Word<T> (&words)[N], T value) {
  for (const auto& [known, word] : words)
    if (known == value) return word;
  return {};
}

/// `what` names the setting in the error.
template <class T, std::size_t N>
T valueOf(const Word<T> (&words)[N], const std::string& text, const std::string& what) {
  std::string all;
  for (const auto& [value, word] : words) {
    if (text == word) return value;
    all += (all.empty() ? "" : value == words[N - 1].first ? " or " : ", ") + std::string(word);
  }
  throw Error(what + " '" + text + "' is not " + all);
}

}  // namespace

std::string toString(Attention attention) { return wordOf(kAttentions, attention); }
std::string toString(MergedPositions positions) { return wordOf(kMergedPositions, positions); }
std::string toString(Output output) { return wordOf(kOutputs, output); }
std::string toString(Precision precision) { return wordOf(kPrecisions, precision); }
std::string toString(ChannelOrder order) { return wordOf(kChannelOrders, order); }
std::string toString(HeadKind head) { return wordOf(kHeadKinds, head); }
std::string toString(Refine refine) { return wordOf(kRefines, refine); }
std::string toString(Task task) { return wordOf(kTasks, task); }
std::string toString(DepthUnit unit) { return wordOf(kDepthUnits, unit); }

Attention parseAttention(const std::string& text) { return valueOf(kAttentions, text, "attention"); }
MergedPositions parseMergedPositions(const std::string& text) {
  return valueOf(kMergedPositions, text, "merged positions");
}
Output parseOutput(const std::string& text) { return valueOf(kOutputs, text, "output"); }
Precision parsePrecision(const std::string& text) { return valueOf(kPrecisions, text, "precision"); }
ChannelOrder parseChannelOrder(const std::string& text) { return valueOf(kChannelOrders, text, "channel order"); }
HeadKind parseHeadKind(const std::string& text) { return valueOf(kHeadKinds, text, "head"); }
Refine parseRefine(const std::string& text) { return valueOf(kRefines, text, "refinement"); }
Task parseTask(const std::string& text) { return valueOf(kTasks, text, "task"); }
DepthUnit parseDepthUnit(const std::string& text) { return valueOf(kDepthUnits, text, "depth"); }

DeviceSpec parseDeviceSpec(const std::string& text) {
  using Kind = DeviceSpec::Kind;
  if (text == "cpu") return {Kind::kCpu};
  if (text == "auto") return {Kind::kAuto};
  if (text == "cuda") return {Kind::kCuda};
  const auto index = text.starts_with("cuda:") ? readNumber<int>(text.substr(5)) : std::nullopt;
  if (index && *index >= 0) return {Kind::kCuda, *index};
  throw Error("device '" + text + "': expected cpu, cuda, cuda:1 (a GPU by its index) or auto");
}

std::string toString(Size2 size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

std::string sizeText(Size2 size, const std::string& unit) {
  return std::to_string(size.width) + " x " + std::to_string(size.height) + " " + unit + " (width x height)";
}

Size2 parseSize(const std::string& text) {
  const auto sides = readNumbers(text, 'x');
  if (!sides || sides->first < 1 || sides->second < 1)
    throw Error("'" + text + "' is not a size: write HEIGHTxWIDTH in pixels, for example 448x640");
  return {sides->first, sides->second};
}

Schedule parseSchedule(const std::string& text) {
  return text == "none" ? Schedule() : parseBlocks(text, "schedule '" + text + "'");
}

std::string toString(const Schedule& schedule) {
  if (schedule.empty()) return "none";
  std::string text;
  for (const int block : schedule) text += (text.empty() ? "" : ",") + std::to_string(block);
  return text;
}

void ConvertOptions::validate() const {
  if (reduce) reduce->validate();
  if (input_size && (input_size->height < 1 || input_size->width < 1))
    throw Error("input size " + toString(*input_size) + kHeightFirst + ": both sides must be positive");
  if (mean.has_value() != deviation.has_value()) throw Error("mean and std are given together, or none of them");
  for (int c = 0; mean && c < 3; ++c) {
    if (!std::isfinite((*mean)[c]) || !std::isfinite((*deviation)[c]) || (*deviation)[c] <= 0)
      throw Error("mean and std are three numbers each, for pixel values 0 to 1, and std is positive");
  }
}

ConvertOptions ReadOptions::convert() const {
  ConvertOptions options;
  auto& [of_reduce, of_input_size, of_mean, of_deviation, of_precision, of_output, of_scores] = options;  // all of them
  std::tie(of_reduce, of_input_size, of_mean, of_deviation, of_precision, of_output, of_scores) =
      std::tie(reduce, input_size, mean, deviation, precision, output, scores);
  return options;
}

void ReadOptions::validate() const {
  convert().validate();
  parseDeviceSpec(device);
  if (rule && (!reduce || reduce->method != ReductionMethod::kRule)) {
    throw Error("a rule is for the reduction 'rule', not for '" +
                (reduce ? toString(*reduce) : std::string("the one of the model")) + "'");
  }
}

}  // namespace mpm
