// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "onnx/model/graph.h"

namespace mpm::onnx_graph {

enum class TermKind {
  kPatches,     ///< the strided convolution over the image: {N, d}
  kArrange,     ///< rows and columns of another term picked, scaled, a constant added, constant rows put between
  kNorm,        ///< LayerNorm or RMSNorm over the columns
  kLinear,      ///< x W^T + b
  kActivation,  ///< elementwise, by name
  kL2Norm,      ///< rows divided by their length
  kScale,       ///< columns times constants (LayerScale)
  kAdd,
  kMultiply,
  kHeadNorm,       ///< LayerNorm over groups of columns (qk-norm)
  kAttention,      ///< softmax(scale q k^T) v in each window, columns head-major
  kAttentionPool,  ///< the same with one constant q, in `weight`: {1, heads * head_dim}
  kProduct,        ///< scale a b^T: {rows of a, rows of b}
  kMean,           ///< mean over the rows `row_of`: {1, d}
  kOutside,        ///< rows of zeros, then `value`, which is no function of single tokens; second input of a kAdd only
};

/// How patches lie in the image.
struct PatchGrid {
  std::int64_t stride_h = 0, stride_w = 0, pad_h = 0, pad_w = 0, grid_h = 0, grid_w = 0;
  bool corrects_border = false;  ///< positions hold a correction of patches that reach over the border

  std::int64_t patches() const { return grid_h * grid_w; }
};

/// Rotary positions. In every head, column j < pairs becomes cos * column j - sin * column pairs + j, and column
/// pairs + j becomes sin * column j + cos * column pairs + j. Columns from 2 * pairs on stay.
struct Rotation {
  std::int64_t tables = 0;  ///< 1, or the number of heads
  std::int64_t rows = 0;
  std::int64_t pairs = 0;
  std::vector<float> cosine, sine;  ///< {tables, rows, pairs}
};

/// A constant that attention adds to its logits (relative positions): table[head * entries + e] for query i and key j,
/// with e = index[i * tokens + j], or e = i * tokens + j without an index.
struct PairBias {
  std::int64_t heads = 0, tokens = 0, entries = 0;
  std::vector<float> table;                                 ///< {heads, entries}
  std::shared_ptr<const std::vector<std::uint16_t>> index;  ///< {tokens, tokens}; blocks share one, or few

  std::size_t entry(std::size_t pair) const { return index ? (*index)[pair] : pair; }
};

/// Positions that depend on the query: what the op WindowAttention of docs/ops.md calls `relative_positions`.
struct RelativePositions {
  std::int64_t height = 0, width = 0;
  std::vector<float> rows, columns;  ///< {2 height - 1, head_dim}, {2 width - 1, head_dim}
};

/// Position of an attention operand in the columns of a term: head-major, {heads * head_dim} entries each.
struct HeadView {
  int term = -1;
  std::int64_t windows = 1, tokens = 0;  ///< each window has the same number of tokens
  std::int64_t width = 0;                ///< columns of a head
  Integers row_of;                       ///< row of each token, window by window; empty: in the order of the term
  Integers column;
  std::vector<float> offset;  ///< added to the column, before the scales
  double scale = 1;
  std::vector<float> column_scale;           ///< of each column besides `scale` (a scale per head); empty: ones
  std::shared_ptr<const Rotation> rotation;  ///< null: none. `column` is in its order, so the order of q is that of k
  Integers order;                            ///< with a rotation: place in the graph of each column of a head

  /// q, k and v of an attention have the same.
  auto layout() const { return std::tuple(windows, tokens, width, column.size(), row_of); }
};

/// A matrix {rows, cols}, one row per token, with the operation that produces it. All reshaping, transposing and
/// slicing of the graph is expressed as the order of rows and columns.
struct Term {
  TermKind kind = TermKind::kPatches;
  std::vector<int> inputs;  ///< terms
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  const Node* node = nullptr;  ///< for messages

  Tensor weight, bias;  ///< kPatches {d, C, kh, kw}, kLinear {out, in}, kNorm, kHeadNorm, kScale {d}
  float eps = 0;
  bool rms = false;  ///< kNorm, kHeadNorm: the mean is not subtracted
  std::string activation;
  double scale = 1;  ///< kArrange, kAttention, kProduct
  /// kArrange: row of the input, -1 for a constant row, in rising order where Algebra::rows() made the term; kMean: the
  /// rows.
  Integers row_of;
  Integers col_of;                            ///< kArrange: column of the input
  std::vector<float> offset;                  ///< kArrange: {rows, cols}, or empty
  Integers group_of;                          ///< kHeadNorm: group of each column, -1 when in none
  Integers position_of;                       ///< kHeadNorm: place of each column in its group
  int value = -1;                             ///< kOutside: of the graph
  std::int64_t zeros = 0;                     ///< kOutside: rows of zeros
  std::int64_t heads = 0;                     ///< kAttention, kAttentionPool
  HeadView q, k, v;                           ///< kAttention, kAttentionPool
  std::shared_ptr<const PairBias> pair_bias;  ///< kAttention: of the tokens in the order of its rows; null: none
  std::shared_ptr<const RelativePositions> relative_positions;  ///< kAttention: of the tokens in the order of q.row_of
  PatchGrid grid;                                               ///< kPatches
};

/// A term without weights. `node` is for messages.
inline Term termOf(TermKind kind, std::vector<int> inputs, std::int64_t rows, std::int64_t cols, const Node& node) {
  Term term;
  term.kind = kind;
  term.inputs = std::move(inputs);
  term.rows = rows;
  term.cols = cols;
  term.node = &node;
  return term;
}

/// A division by the length of rows as the RMSNorm that does the same: the length is the root of `width` times the mean
/// square. A limit of the length becomes an eps; both only prevent a division by zero.
inline Term asNorm(Term l2, std::int64_t width) {
  const auto scale = 1 / std::sqrt(static_cast<float>(width));
  l2.kind = TermKind::kNorm;
  l2.rms = true;
  l2.eps = std::max(l2.eps * l2.eps, 1e-24f) / static_cast<float>(width);
  l2.weight = Tensor::of({width}, std::vector<float>(width, scale));
  l2.bias = Tensor::of({width}, std::vector<float>(width, 0.0f));
  return l2;
}

template <class T>
std::shared_ptr<const T> shared(T value) {
  return std::make_shared<const T>(std::move(value));
}

/// True for first, first + 1, first + 2, ...
inline bool isCounting(std::span<const std::int64_t> values, std::int64_t first = 0) {
  return std::ranges::all_of(values, [&](std::int64_t value) { return value == first++; });
}

/// True for `front` numbers below 0 (constant rows), then first, first + 1, ...
inline bool countsBehind(std::span<const std::int64_t> rows, std::int64_t front, std::int64_t first = 0) {
  const auto isConstant = [](std::int64_t row) { return row < 0; };
  return std::all_of(rows.begin(), rows.begin() + front, isConstant) && isCounting(rows.subspan(front), first);
}

inline bool isZero(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return value == 0; });
}

/// The sides that are longer than 1.
inline Shape withoutOnes(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

/// A tensor whose elements are pixels of the image {C, H, W}, each channel times `scale` plus `offset` (a normalisation
/// that the graph does itself).
struct ImageCells {
  std::vector<float> scale, offset;  ///< {C}
  Shape shape;
  std::shared_ptr<const std::vector<std::int32_t>> ids = {};  ///< the pixel of each element; null: 0, 1, 2, ...

  std::int64_t id(std::int64_t i) const { return ids ? (*ids)[static_cast<std::size_t>(i)] : i; }
};

/// Rotary positions change an element to factor * term[id] + other_factor * term[other].
struct BlendedElement {
  float factor = 0, other_factor = 0;
  std::int32_t other = -1;  ///< -1 for none

  bool operator==(const BlendedElement&) const = default;
};
using Blend = std::vector<BlendedElement>;

/// A tensor whose elements are elements of one term, or constants: scale * term[id] + offset. With a blend, scale
/// multiplies both of its products.
struct Cells {
  int term = -1;
  Shape shape;
  std::shared_ptr<const std::vector<std::int32_t>> ids;  ///< row * cols + column, -1 for none; null: 0, 1, 2, ...
  std::shared_ptr<const std::vector<float>> offset;      ///< null: zeros
  double scale = 1;
  std::shared_ptr<const Blend> blend = {};  ///< null: each element is one of the term

  std::int32_t id(std::size_t i) const { return ids ? (*ids)[i] : static_cast<std::int32_t>(i); }
  /// True when the elements are those of the term, each times `scale` at most.
  bool unchanged() const { return !offset && !blend; }
};

/// Products of rows with constant vectors: element x is row x . row_step of the cells times vector x . vector_step.
struct RowProducts {
  Cells rows;                          ///< {.., columns}
  Tensor vectors;                      ///< {.., columns}
  Shape shape, row_step, vector_step;  ///< per axis of the elements
};

/// Such products, or a sum of them: positions that depend on the query, before they join the logits of attention.
struct PositionLogits {
  std::vector<RowProducts> parts;
  Shape shape;  ///< of the tensor; the elements of each part are in its order
};

/// scale * q k^T + bias + positions, with or without a softmax of its rows.
struct Scores {
  Cells q, k;                   ///< {.., rows, columns} both
  std::optional<Tensor> query;  ///< instead of q, when that does not depend on the image
  Shape shape;                  ///< {.., rows of q, rows of k}, or the same elements in another shape
  double scale = 1;
  std::vector<float> head_scale = {};  ///< of each head besides `scale`; empty: ones
  bool softmax = false;
  bool turned = false;                        ///< behind the softmax, keys came in front of queries
  bool shifted = false;                       ///< one number was added to all, which a softmax does not see
  std::shared_ptr<const PairBias> bias = {};  ///< added after the scale, of the tokens in the graph's order; null: none
  std::vector<RowProducts> positions = {};    ///< added after the scale
};

/// A map {1, C, h, w} of cells after a bilinear resize (half-pixel centres) and, perhaps, the argmax over its channels.
struct ClassMap {
  Cells cells;
  Shape shape;
  bool argmax = false;
};

/// A value that this algebra cannot express: the node that produced it, and why.
struct Foreign {
  const Node* node = nullptr;
  std::string found, expected;
};

using Meaning = std::variant<std::monostate, ImageCells, Cells, PositionLogits, Scores, ClassMap, Foreign>;

/// The meaning of the values of a graph, as token matrices.
struct Interpretation {
  std::vector<Term> terms;
  std::vector<Meaning> meaning;  ///< per value of the graph; monostate for constants

  template <typename T>
  const T* as(int value) const {
    return value < 0 ? nullptr : std::get_if<T>(&meaning[value]);
  }
};

/// Runs a canonical graph on symbols instead of numbers. Never throws for a node it does not know: its result is
/// Foreign.
Interpretation interpret(const Graph& graph);

}  // namespace mpm::onnx_graph
