// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/options.hpp"

namespace mpm {

/// Order of the colour channels of the network input.
enum class ChannelOrder { kRgb, kBgr };

/// "RGB", "BGR".
MPM_API std::string toString(ChannelOrder order);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API ChannelOrder parseChannelOrder(const std::string& text);

/// The head of a model: how its graph uses the tokens of the encoder.
enum class HeadKind {
  kMaskTransformer,  ///< segmentation: the mask transformer of Segmenter
  kLinear,           ///< segmentation: linear layers on each token, one or an MLP
  kClassifier,       ///< one row of class scores per image
  kFeatures,         ///< the tokens themselves
  kOther,            ///< any other head, kept as it is in the graph
  /// Segmentation: learned queries, each with class scores and a mask (EoMT). The net has both outputs; an Estimator
  /// makes labels or segments of them.
  kMaskQueries,
  /// Objects: queries, each with class scores, a box and possibly a mask, as RF-DETR has them.
  kBoxQueries,
};

/// "mask_transformer", "linear", "classifier", "features", "other", "mask_queries", "box_queries".
MPM_API std::string toString(HeadKind head);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API HeadKind parseHeadKind(const std::string& text);

/// The kind of result that a model gives for an image.
enum class Task {
  kSemantic,  ///< the class of each pixel
  kPanoptic,  ///< segments that cover the image, each of a class
  kInstance,  ///< single objects, each of a class
  kDepth,     ///< the depth of each pixel
  kBoxes,     ///< single objects, each of a class and with a box
};

/// "semantic", "panoptic", "instance", "depth", "boxes".
MPM_API std::string toString(Task task);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API Task parseTask(const std::string& text);

/// True for the tasks whose results are segments: Estimate::segments and ids.
constexpr bool givesSegments(std::optional<Task> task) {
  return task == Task::kPanoptic || task == Task::kInstance || task == Task::kBoxes;
}

/// The unit of the values of a depth map.
enum class DepthUnit {
  kMetre,     ///< distance in m
  kRelative,  ///< no unit; whether a larger value is farther is not known
  kInverse,   ///< no unit, a larger value is nearer: inverse distance (MiDaS, DPT, Depth Anything)
};

/// "metre", "relative", "inverse".
MPM_API std::string toString(DepthUnit unit);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API DepthUnit parseDepthUnit(const std::string& text);

/// A class that a model predicts.
struct ClassInfo {
  std::string name;                                  ///< as programs print it
  std::optional<std::array<std::uint8_t, 3>> rgb{};  ///< colour in pictures; nullopt: programs choose one
  bool thing = true;  ///< its segments are single objects, as cars are; false for stuff, as the sky is
};

/// How labels of patches become labels of pixels.
enum class Refine {
  kNone,    ///< scores are resized
  kGuided,  ///< edges follow those of the picture: a guided filter of the class probabilities
};

/// "none", "guided".
MPM_API std::string toString(Refine refine);
/// The inverse of toString(); throws mpm::Error for any other text.
MPM_API Refine parseRefine(const std::string& text);

/// How to prepare an image for the net, and what its labels mean: the facts that an ONNX graph lacks. They come from
/// MODEL.json beside MODEL.onnx, and a converted file carries them in its metadata.
struct ModelFacts {
  std::string name;                            ///< of the model, for people
  ChannelOrder channels = ChannelOrder::kRgb;  ///< of the network input
  /// Mean and standard deviation of pixel values 0..1, in the order of `channels`. Network input: (value - mean) /
  /// deviation.
  std::array<float, 3> mean = {0.5f, 0.5f, 0.5f};
  std::array<float, 3> deviation = {0.5f, 0.5f, 0.5f};  ///< see `mean`
  bool assumed = true;                                  ///< nothing says mean and std: they are the defaults above
  std::vector<ClassInfo> classes;                       ///< empty: the JSON names no classes
  int ignore = 255;                                     ///< label of pixels that belong to no class
  std::optional<Task> task = {};                        ///< nullopt: the JSON leaves it to the converter
  DepthUnit depth = DepthUnit::kRelative;               ///< of a model that estimates depth
  Refine refine = Refine::kNone;                        ///< of its labels, unless EstimatorOptions say otherwise
  /// How a taught model did on pictures that its training did not see: for each true class the pixels that got each
  /// class. Empty: not known.
  std::vector<std::vector<std::int64_t>> cross_validation = {};
};

/// The facts that the converter found in a model.
struct ModelInfo {
  ModelFacts facts;                  ///< what its JSON file says
  bool converted = false;            ///< the file holds ai.mpm ops already
  int blocks = 0;                    ///< of the encoder
  int dim = 0;                       ///< width of a token
  int heads = 0;                     ///< attention heads of a block
  Size2 patch;                       ///< px
  int special_tokens = 0;            ///< class, distillation and register tokens before the image tokens
  Size2 input;                       ///< network input, px
  int image_channels = 3;            ///< of the network input; an Estimator takes models of 3
  Size2 grid;                        ///< image tokens
  HeadKind head = HeadKind::kOther;  ///< what stands behind the encoder
  int classes = 0;                   ///< 0: the head has no classes
  /// ModelFacts::task, or what the converter found: kSemantic for a net that gives labels or mask queries, kDepth for
  /// one map of one channel whose name says depth, kInstance or kBoxes for box queries with or without masks. nullopt:
  /// none of the tasks (classifiers, features).
  std::optional<Task> task = {};
  /// How a converted file merges tokens; for a plain ViT what ConvertOptions select.
  Reduction reduction = {.method = ReductionMethod::kNone};
  Precision precision = Precision::kFp32;  ///< of its products
  int opset = 0;                           ///< of the default ONNX domain
  std::int64_t parameters = 0;             ///< number of weights
  /// Names of the outputs of the head: "labels", or the names in the original graph. Every net also has the outputs
  /// "merge_map" and "token_counts".
  std::vector<std::string> outputs;
  bool scores = false;  ///< the net also has the output "scores", by ConvertOptions::scores

  /// Blocks where tokens merge by `reduction`, one for each merging step.
  MPM_API Schedule schedule() const;
  /// Image tokens before any merging (N).
  int tokens() const { return grid.height * grid.width; }
  /// True for the heads kMaskTransformer and kLinear: the net gives a class for each pixel.
  bool hasPixelClasses() const { return head == HeadKind::kMaskTransformer || head == HeadKind::kLinear; }
  /// True when an Estimator can give a class for each pixel.
  bool givesLabels() const { return can(Task::kSemantic); }
  /// True when the classes of the head are those of its results: names in a JSON must be as many.
  bool hasClasses() const { return givesLabels() || head == HeadKind::kClassifier || head == HeadKind::kBoxQueries; }
  /// True when an Estimator can do this task. With the head kOther `task` must say so: a map of depths or of classes
  /// looks like any other map.
  MPM_API bool can(Task wanted) const;
};

}  // namespace mpm
