// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {

/// Cells whose last axis is a whole row of a term: which row is at each position.
struct RowView {
  int term = -1;
  Shape lead;       ///< the shape without its last axis
  Integers row_of;  ///< empty: every row of the term, in order

  bool whole() const { return row_of.empty(); }
};

/// The terms so far, and the conversion of cells to rows, to heads and back. Arranged terms are created as needed,
/// equal ones only once.
class Algebra {
 public:
  static constexpr std::int64_t kMaxCells = std::int64_t{1} << 27;

  std::vector<Term> terms;

  int add(Term term);
  const Term& at(int term) const { return terms[term]; }

  /// Cells as rows of a term. If a new arranged term is needed, `cells` is rewritten to it; its rows are constant ones
  /// first, then those of the input in its order. nullopt when the last axis is not a row of tokens.
  std::optional<RowView> rows(Cells& cells, const Node& node);
  /// Rows of `view` as a separate term.
  RowView arranged(const RowView& view, const Node& node);
  /// Cells {.., tokens, head_dim} as the heads of one or more windows, one window behind the other: the same columns
  /// for every token and every token once; else nullopt.
  std::optional<HeadView> heads(const Cells& cells);
  /// Cells of `term` (with the rows of view.term) in the places of the view's rows.
  Cells cells(const RowView& view, int term) const;
  /// Cells {.., tokens, head_dim} for the heads `lead`, to which those in front broadcast: one head of keys may serve
  /// several heads of queries. nullopt when they do not.
  static std::optional<Cells> forHeads(const Cells& cells, const Shape& lead);
  /// Cells transposed.
  static Cells permuted(const Cells& cells, const std::vector<std::size_t>& order);
  /// Cells of this shape: those with the indices `source`, and zeros where that is -1.
  static Cells rearranged(const Cells& cells, const Shape& shape, const Integers& source);

 private:
  std::vector<std::shared_ptr<const Rotation>> rotations_;  ///< all blocks have the same one, or few
};

}  // namespace mpm::onnx_graph
