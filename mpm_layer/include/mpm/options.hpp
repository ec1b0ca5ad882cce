// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "mpm_layer needs C++20: compile with -std=c++20"
#endif

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpm/export.hpp"

namespace mpm {

/// Encoder blocks, 0-based and strictly increasing; Mutual Pair Merging runs before each of them. Empty: no merging.
using Schedule = std::vector<int>;

/// The schedule of the paper. Used for a plain ViT if the caller gives none; blocks that the ViT does not have are left
/// out.
inline const Schedule kDefaultSchedule = {2, 5};

/// "2,5" -> {2, 5}; "0-3" -> {0, 1, 2, 3}; "none" -> {}. Throws mpm::Error for any other text.
MPM_API Schedule parseSchedule(const std::string& text);

/// {2, 5} -> "2,5"; {} -> "none".
MPM_API std::string toString(const Schedule& schedule);

/// How attention weighs merged tokens. kPlain is the paper. kProportional adds log(cluster size) to the attention logit
/// of each key, so that a merged token weighs as much as its members together.
enum class Attention { kPlain, kProportional };

/// "plain", "proportional".
MPM_API std::string toString(Attention attention);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API Attention parseAttention(const std::string& text);

/// The rotary position of a merged token: the mean of its members' cosines and sines (shorter than 1), the angle of
/// their mean place in the image, or the position of the first of them in raster order.
enum class MergedPositions { kMean, kCentroid, kFirst };

/// "mean", "centroid", "first".
MPM_API std::string toString(MergedPositions positions);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API MergedPositions parseMergedPositions(const std::string& text);

/// Methods of token reduction (docs/reduction.md).
enum class ReductionMethod {
  kNone,     ///< the full model
  kMpm,      ///< Mutual Pair Merging: all mutual pairs, before a few blocks (the paper)
  kGradual,  ///< the most similar mutual pairs, inside many blocks
  kTome,     ///< Token Merging: even tokens merge into odd ones, inside every block
  kAlgm,     ///< Adaptive Local-then-Global Merging: 2x2 windows in one block, even and odd tokens in a later one
  kCts,      ///< Content-aware Token Sharing: a policy network chooses 2x2 windows that share a token from the start
  kRule,     ///< as ReadOptions::rule decides, before or inside a few blocks; for experiments, on the CPU
};

/// How many tokens merge, which ones and where: what --reduce says. "Inside" a block is between its attention and its
/// MLP. Fields that the method does not use stay empty. `count` and `share` count for each block anew.
struct Reduction {
  ReductionMethod method = ReductionMethod::kMpm;  ///< which tokens merge
  /// The blocks where tokens merge, strictly increasing. kAlgm needs two of them. kCts merges before block 0 and has no
  /// choice. nullopt: 2,5 for kMpm and kRule; 0-7 for kGradual; all for kTome; for kAlgm 0,4, or 0,6 in a model of 24
  /// blocks or more. Blocks that the model does not have are left out of 2,5 and of 0-7.
  std::optional<Schedule> blocks = {};
  std::optional<int> count = {};  ///< kGradual, kTome: merges at most so many pairs
  /// kGradual, kTome: the number of tokens to merge, as a share of the tokens at the input; nullopt for kTome without
  /// `count`: 0.04. kCts: the share of the windows that become one token; nullopt: 0.4. More than 0, at most 1.
  std::optional<double> share = {};
  /// kGradual: merges only pairs with at least this cosine similarity, -1..1. Without `count`, `share` and
  /// `similarity`, `share` is 0.073. kAlgm: the same for windows; its key is "threshold", and nullopt means 0.88.
  std::optional<double> similarity = {};
  /// nullopt: kProportional for kGradual and kTome, else kPlain.
  std::optional<Attention> attention = {};
  std::optional<MergedPositions> positions = {};  ///< nullopt: kMean. Other values need a model with rotary positions
  /// kCts: the path of the policy network, an ONNX file {1, C, H, W} -> {1, 1, grid height / 2, grid width / 2}. It
  /// becomes a part of the converted model, so a converted file does not need it.
  std::string policy = {};
  /// True: a mask transformer or linear head runs on the restored grid, as in the papers. False: it runs on merged
  /// rows, which gives the same labels in less time (docs/reduction.md). Other heads always run on the restored grid.
  bool head_restored = false;
  bool plain_mean = false;    ///< kRule: a merged row is the plain mean of its rows, else the mean by their sizes
  bool inside = false;        ///< kRule: merges inside its blocks, else before them
  std::string function = {};  ///< kRule: what to call the function in results and errors

  /// Throws mpm::Error for a field that the method lacks or a value out of range.
  MPM_API void validate() const;
  friend bool operator==(const Reduction&, const Reduction&) = default;
};

inline const Reduction kFullModel{.method = ReductionMethod::kNone};  ///< No token is merged.

/// Mutual Pair Merging before these blocks, with this attention if it is given. No blocks: kFullModel.
MPM_API Reduction mpmBefore(const Schedule& blocks, std::optional<Attention> attention = {});

/// "gradual:blocks=0-7:count=48" and so on: a method, then its keys (docs/reduction.md). Throws mpm::Error, which names
/// the key or the value, for any other text.
MPM_API Reduction parseReduction(const std::string& spec);

/// The inverse of parseReduction(), which refuses a kRule without a `function`.
MPM_API std::string toString(const Reduction& reduction);

/// The output of a net with a segmentation head, beside the merge maps.
enum class Output {
  kLabels,  ///< "labels" {B, 1, H, W}: the class of each pixel, at the size of the network input
  kLogits,  ///< the output of the original graph, under its own name and with its own shape {B, classes, h, w}
};

/// "labels", "logits".
MPM_API std::string toString(Output output);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API Output parseOutput(const std::string& text);

/// Number format of the operands of matrix products. Similarities, reductions and the residual stream are fp32 in all
/// of them. A CPU has kFp32, kInt8, with AVX512-BF16 or AMX kBf16 (computed in fp32 where that is faster), with the
/// fp16 arithmetic of Arm 8.2 kFp16; a GPU has all but kInt8. kInt8 is for linear layers, attention, wide convolutions:
/// weights have a scale per output channel, activations one per token. On Arm without SDOT it is no faster than kFp32.
enum class Precision { kFp32, kBf16, kTf32, kFp16, kInt8 };

/// "fp32", "bf16", "tf32", "fp16", "int8".
MPM_API std::string toString(Precision precision);
/// The inverse of toString(). Throws mpm::Error for any other text.
MPM_API Precision parsePrecision(const std::string& text);

/// Height and width, in pixels or in tokens.
struct Size2 {
  int height = 0;  ///< rows
  int width = 0;   ///< columns
  friend bool operator==(const Size2&, const Size2&) = default;
};

/// How a plain ViT is converted. A converted file keeps the options that it was made with. To ask such a file for
/// another reduction, input size, precision or output is an error; the defaults here ask for nothing.
struct ConvertOptions {
  /// nullopt: for a converted file its own reduction. For a plain ViT the "reduce" of the JSON beside it, else kMpm;
  /// but kNone where the model's tokens cannot merge, and for HeadKind::kOther without a task, whose output may be
  /// anything.
  std::optional<Reduction> reduce = {};
  /// Network input in px, multiples of the patch. nullopt: the size in the graph, else the one in the JSON beside it.
  std::optional<Size2> input_size = {};
  std::optional<std::array<float, 3>> mean = {};       ///< ModelFacts::mean instead of the JSON's; with `deviation`
  std::optional<std::array<float, 3>> deviation = {};  ///< the same of ModelFacts::deviation; with `mean`
  std::optional<Precision> precision = {};             ///< of its products; nullopt: kFp32, of a converted file its own
  Output output = Output::kLabels;                     ///< of a segmentation net
  /// Adds the output "scores" {B, N, classes} to a segmentation net: the class scores of each patch, in raster order.
  bool scores = false;

  /// Returns these options with another reduction.
  ConvertOptions with(const Reduction& reduction) const {
    ConvertOptions options = *this;
    options.reduce = reduction;
    return options;
  }
  /// Throws mpm::Error for a reduction that is not valid, a size that is not positive, a mean without a std or a std
  /// without a mean, and values of them that are out of range.
  MPM_API void validate() const;
};

/// One image at one merging step, as a MergeFunction sees it. The spans end with the call.
struct RuleInput {
  std::span<const float> rows;        ///< {N, dim}: the image tokens that are left
  std::span<const float> sizes;       ///< {N}: the patches in each of them
  std::span<const float> keys = {};   ///< {N, key width}: mean keys of the block's attention; empty before a block
  std::span<const int> row_of_patch;  ///< {grid height * grid width}: the row that each patch is in
  std::span<const float> image;       ///< {channels, image_size}: the network input, normalised
  Size2 grid;                         ///< patches
  Size2 image_size;                   ///< px
  int block = 0;                      ///< before or inside which rows merge, from 0
};

/// Decides which rows of one image merge (ReductionMethod::kRule). Returns N numbers, one per row: rows with the same
/// number merge into one row. The merged rows stand in the order of their first members. Called on the thread of
/// forward() or estimate(), whose caller gets its exceptions.
using MergeFunction = std::function<std::vector<std::int64_t>(const RuleInput& input)>;

/// How a model is read: converted first if it is a plain ViT, then placed on a device.
struct ReadOptions {
  std::optional<Reduction> reduce = {};                ///< as ConvertOptions::reduce
  std::optional<Size2> input_size = {};                ///< as ConvertOptions::input_size
  std::optional<std::array<float, 3>> mean = {};       ///< as ConvertOptions::mean
  std::optional<std::array<float, 3>> deviation = {};  ///< as ConvertOptions::deviation
  std::optional<Precision> precision = {};             ///< as ConvertOptions::precision
  Output output = Output::kLabels;                     ///< as ConvertOptions::output
  bool scores = false;                                 ///< as ConvertOptions::scores
  /// "cpu", "cuda" (the first GPU), "cuda:1" (a GPU by its index) or "auto" (the first GPU if there is one, else the
  /// CPU).
  std::string device = "cpu";
  /// On a GPU each layer waits until its work is done. The net is slower, but forwardTimes() and headTimes() know where
  /// its time goes, as they always do on the CPU.
  bool measure_layers = false;
  /// The outputs of the net, in this order: values that the converted net computes, by the names in docs/ops.md, such
  /// as "merge_map" or "backbone/block1". What they do not need is not computed. Empty: the outputs of the model.
  std::vector<std::string> outputs = {};
  MergeFunction rule = {};  ///< needs `reduce` with kRule, which needs it

  /// Returns the options of the conversion alone.
  MPM_API ConvertOptions convert() const;
  /// Throws mpm::Error where ConvertOptions::validate() does, for a device that is none of these words and for a rule
  /// without kRule. readNet() checks that this machine has the device.
  MPM_API void validate() const;
};

}  // namespace mpm
