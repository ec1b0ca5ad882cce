// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {

/// Weights of an affine map, {out, in} and {out}.
struct LinearPart {
  std::int64_t out = 0, in = 0;
  std::vector<float> weight, bias;
  int layer = -1;  ///< the term of the linear layer that these are, or are columns of
};

struct NormPart {
  std::vector<float> weight, bias;
  float eps = 0;
  bool rms = false;

  bool operator==(const NormPart&) const = default;
};

/// The attributes and weights of the ops TransformerBlock and WindowAttention (docs/ops.md).
struct Block {
  std::int64_t heads = 0, head_dim = 0;
  double scale = 0;
  NormPart norm1, norm2;
  LinearPart qkv, proj, fc1, fc2;
  bool parallel = false;                                             ///< attention and MLP read the same rows
  std::optional<NormPart> q_norm, k_norm, attention_norm, mlp_norm;  ///< of q and k {head_dim}, or {heads * head_dim}
  std::string activation;
  bool gated = false;
  std::shared_ptr<const Rotation> rotation;  ///< of all rows; null: none. Blocks share one, or few
  // Attention in windows, in one of all rows where there is a bias or there are relative positions:
  std::int64_t windows = 0;                   ///< 0: attention over all rows
  Integers window_rows;                       ///< {windows, tokens}: rows of the stream, -1 for padding
  std::shared_ptr<const PairBias> pair_bias;  ///< of the rows of the window; null: none
  std::shared_ptr<const RelativePositions> relative_positions;  ///< null: none

  /// True when each head of q and k has its own norm.
  bool normPerHead() const { return q_norm && std::ssize(q_norm->weight) != head_dim; }
  /// True when attention knows the place of each row, so that rows cannot merge.
  bool fixesPlaces() const { return windows > 0; }
};

/// The attributes and weights of the op PatchEmbed.
struct Embedding : PatchGrid {
  std::int64_t special = 0;
  Tensor weight;  ///< {d, C, kh, kw}
  std::optional<NormPart> norm;
  std::vector<float> bias;      ///< {d}, added before the norm; empty without one
  std::vector<float> position;  ///< {N, d}; without a norm, the convolution's bias is folded in
  std::vector<float> specials;  ///< {E, d}
};

/// Learned rows that join in front of all tokens before a block, {rows, dim}.
struct LateTokens {
  std::size_t block = 0;
  std::int64_t rows = 0;
  std::vector<float> values;
  std::int64_t replaced = 0;  ///< 0, or all special tokens, whose place they take (a camera token)
  const Node* node = nullptr;
};

/// Positions that are added to all tokens again before a block, {tokens, dim}.
struct LaterPositions {
  std::size_t block = 0;
  std::vector<float> values;
};

/// A tensor of the full grid that is added to the tokens before a block, and is no function of single tokens: what an
/// adapter or a convolution makes of them. Its rows are those of the patches at least.
struct Interaction {
  std::size_t block = 0;
  int sum = -1;    ///< the term that the block reads
  int value = -1;  ///< of the graph
};

/// Consecutive blocks: streams[i] is the term that block i reads, streams.back() the result of the last one.
struct BlockChain {
  std::vector<Block> blocks;
  std::vector<int> streams;
  std::vector<Interaction> interactions;  ///< by block; added to streams[block] before all else
  std::vector<LateTokens> late;           ///< by block; their block reads streams[block] with these rows in front
  std::vector<LaterPositions> positions;  ///< by block; added to streams[block], before late rows join
  /// Why the walk ended, when the next part still looked like a block; otherwise empty.
  std::string obstacle;
  bool half_a_block = false;  ///< ended after attention, without an MLP
};

/// The encoder of a plain ViT.
struct Trunk {
  Embedding embedding;
  std::optional<NormPart> pre_norm;
  BlockChain chain;
  std::int64_t dim = 0;
};

/// Follows the residual stream from `stream` on.
BlockChain followBlocks(const std::vector<Term>& terms, int stream);

/// Throws mpm::Error naming the first node that does not fit.
Trunk recogniseTrunk(const Graph& graph, const Interpretation& found);

/// Terms that read each term.
std::vector<std::vector<int>> usersOf(const std::vector<Term>& terms);

inline NormPart normPart(const Term& norm) { return {*norm.weight.floats, *norm.bias.floats, norm.eps, norm.rms}; }

/// The affine map of a kLinear term, or of columns picked from one; nullopt when `term` is something else.
std::optional<LinearPart> linearPart(const std::vector<Term>& terms, int term);

/// A head that scores every patch for every class and reads patches only. It can run on merged rows.
struct SegmentationHead {
  std::int64_t classes = 0;
  int scores = -1;    ///< linear head: the term of the scores, with the rows of the encoder
  bool mask = false;  ///< Segmenter's mask transformer; the fields below
  int tokens = -1;    ///< term to which the class embeddings are appended, with the rows of the encoder
  std::vector<float> class_embeddings;  ///< {classes, d}
  std::vector<Block> blocks;
  NormPart norm, mask_norm;
  LinearPart proj_patch, proj_classes;  ///< without bias
};

/// Recognises one of Segmenter's two heads before `output`: a map {1, classes, h, w}, resized or not, argmax or not.
std::optional<SegmentationHead> recogniseHead(const Interpretation& found, const Trunk& trunk, int output);

}  // namespace mpm::onnx_graph
