// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/algebra.h"

#include <algorithm>
#include <numeric>

#include "onnx/recognise/positions.h"

namespace mpm::onnx_graph {
namespace {

/// Rows and columns of a matrix of cells, when every row takes the same columns of one row of the term, or none.
bool readPattern(const Cells& cells, std::int64_t rows, std::int64_t cols, std::int64_t term_cols, Integers& row_of,
                 Integers& col_of) {
  row_of.assign(rows, -1);
  col_of.clear();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t j = 0; j < cols; ++j) {
      const std::int64_t id = cells.id(static_cast<std::size_t>(r * cols + j));
      if (j == 0 && id >= 0) row_of[r] = id / term_cols;
      if ((id < 0) != (row_of[r] < 0)) return false;
      if (id < 0) continue;
      if (std::ssize(col_of) == j) col_of.push_back(id % term_cols);  // the first row that is not constant
      if (id != row_of[r] * term_cols + col_of[j]) return false;
    }
  }
  return !col_of.empty();
}

}  // namespace

int Algebra::add(Term term) {
  if (term.kind == TermKind::kArrange) {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const Term& other = terms[i];
      if (other.kind == TermKind::kArrange && other.inputs == term.inputs && other.row_of == term.row_of &&
          other.col_of == term.col_of && other.scale == term.scale && other.offset == term.offset)
        return static_cast<int>(i);
    }
  }
  terms.push_back(std::move(term));
  return static_cast<int>(terms.size()) - 1;
}

std::optional<RowView> Algebra::rows(Cells& cells, const Node& node) {
  if (cells.shape.empty() || cells.blend) return std::nullopt;
  const std::int64_t cols = cells.shape.back();
  const std::int64_t count = elementsBefore(cells.shape, cells.shape.size() - 1);
  if (cols < 1 || count < 1) return std::nullopt;
  const std::int64_t term_rows = at(cells.term).rows, term_cols = at(cells.term).cols;
  RowView view{cells.term, Shape(cells.shape.begin(), cells.shape.end() - 1), {}};
  const bool plain = !cells.offset && cells.scale == 1;
  if (plain && !cells.ids) return cols == term_cols ? std::optional(view) : std::nullopt;
  Integers col_of;
  if (!readPattern(cells, count, cols, term_cols, view.row_of, col_of)) return std::nullopt;
  const bool constant_rows = std::ranges::find(view.row_of, -1) != view.row_of.end();
  if (plain && !constant_rows && cols == term_cols && isCounting(col_of)) {
    if (count == term_rows && isCounting(view.row_of)) view.row_of.clear();
    return view;
  }
  // Constant rows first, then those of the input in its order: a model may join special tokens behind the patches.
  Integers source(view.row_of.size());
  std::iota(source.begin(), source.end(), std::int64_t{0});
  std::ranges::stable_sort(source, [&](std::int64_t a, std::int64_t b) { return view.row_of[a] < view.row_of[b]; });
  Term term = termOf(TermKind::kArrange, {cells.term}, count, cols, node);
  term.col_of = std::move(col_of);
  term.scale = cells.scale;
  RowView result{-1, view.lead, Integers(source.size())};
  for (std::size_t row = 0; row < source.size(); ++row) {
    const auto from = static_cast<std::size_t>(source[row]);
    term.row_of.push_back(view.row_of[from]);
    result.row_of[from] = static_cast<std::int64_t>(row);
    if (!cells.offset) continue;
    const auto values = cells.offset->begin() + source[row] * cols;
    term.offset.insert(term.offset.end(), values, values + cols);
  }
  if (isCounting(result.row_of)) result.row_of.clear();
  result.term = add(std::move(term));
  const Shape shape = cells.shape;
  cells = this->cells(result, result.term);
  cells.shape = shape;
  return result;
}

RowView Algebra::arranged(const RowView& view, const Node& node) {
  if (view.whole()) return view;
  const auto rows = std::ssize(view.row_of);
  Term term = termOf(TermKind::kArrange, {view.term}, rows, at(view.term).cols, node);
  term.row_of = view.row_of;
  term.col_of.resize(term.cols);
  std::iota(term.col_of.begin(), term.col_of.end(), std::int64_t{0});
  return {add(std::move(term)), view.lead, {}};
}

std::optional<HeadView> Algebra::heads(const Cells& cells) {
  if (cells.shape.size() < 2) return std::nullopt;
  const Term& term = at(cells.term);
  const std::int64_t width = cells.shape.back(), tokens = cells.shape[cells.shape.size() - 2];
  const std::int64_t count = elementsBefore(cells.shape, cells.shape.size() - 2);
  if (width < 1 || count < 1 || tokens < 1 || cells.scale == 0) return std::nullopt;
  const std::int64_t windows = term.rows / tokens, heads_count = count / std::max<std::int64_t>(windows, 1);
  if (windows * tokens != term.rows || windows * heads_count != count || (windows != 1 && cells.blend))
    return std::nullopt;
  const std::optional<Cells> unscaled = cells.blend ? withoutFactors(cells) : std::nullopt;
  if (unscaled) {
    auto view = heads(*unscaled);
    if (!view) return std::nullopt;
    // Every token has the same factors, and none of them is zero.
    const Blend& blend = *cells.blend;
    const auto area = static_cast<std::size_t>(tokens * width), side = static_cast<std::size_t>(width);
    for (std::size_t i = 0; i < blend.size(); ++i) {
      const float first = blend[i / area * area + i % side].factor;
      if (blend[i].factor != first || first == 0) return std::nullopt;
      if (i % area < side) view->column_scale.push_back(first);
    }
    // An offset is in units of the cells, behind the factor.
    for (std::size_t i = 0; i < view->offset.size(); ++i) view->offset[i] /= view->column_scale[i];
    return view;
  }
  if (cells.blend) {
    auto rotated = rotatedHeads(cells, term);
    if (!rotated) return std::nullopt;
    const auto equal =
        std::ranges::find_if(rotations_, [&](const auto& known) { return areNear(*known, *rotated->rotation); });
    if (equal == rotations_.end())
      rotations_.push_back(rotated->rotation);
    else
      rotated->rotation = *equal;
    rotated->tokens = tokens;
    rotated->width = width;
    return rotated;
  }
  HeadView view;
  view.term = cells.term;
  view.scale = cells.scale;
  view.windows = windows;
  view.tokens = tokens;
  view.width = width;
  const auto offset = [&](std::size_t i) { return cells.offset ? (*cells.offset)[i] : 0.0f; };
  for (std::int64_t w = 0; w < windows; ++w) {
    for (std::int64_t t = 0; t < tokens; ++t)
      view.row_of.push_back(cells.id((w * heads_count * tokens + t) * width) / term.cols);
  }
  const auto& row_of = view.row_of;
  for (std::int64_t j = 0; j < heads_count * width; ++j) {
    const auto first = static_cast<std::size_t>(j / width * tokens * width + j % width);
    const std::int64_t id = cells.id(first);
    if (id < 0 || id / term.cols != row_of[0]) return std::nullopt;
    view.column.push_back(id % term.cols);
    view.offset.push_back(static_cast<float>(static_cast<double>(offset(first)) / cells.scale));
  }
  for (std::int64_t h = 0; h < count; ++h) {
    const std::int64_t window = h / heads_count, head = h % heads_count;
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::int64_t row = row_of[window * tokens + t];
      for (std::int64_t j = 0; j < width; ++j) {
        const auto i = static_cast<std::size_t>((h * tokens + t) * width + j);
        const auto first = static_cast<std::size_t>(head * tokens * width + j);
        if (cells.id(i) != row * term.cols + view.column[head * width + j] || offset(i) != offset(first))
          return std::nullopt;
      }
    }
  }
  Integers sorted = row_of;
  std::ranges::sort(sorted);
  if (!isCounting(sorted)) return std::nullopt;
  if (isCounting(row_of)) view.row_of.clear();
  return view;
}

Cells Algebra::cells(const RowView& view, int term) const {
  const std::int64_t cols = at(term).cols;
  Cells result{term, view.lead, nullptr, nullptr, 1};
  result.shape.push_back(cols);
  if (view.whole()) return result;
  std::vector<std::int32_t> ids;
  ids.reserve(elements(result.shape, kMaxCells));
  for (const std::int64_t row : view.row_of) {
    for (std::int64_t j = 0; j < cols; ++j) ids.push_back(static_cast<std::int32_t>(row * cols + j));
  }
  result.ids = shared(std::move(ids));
  return result;
}

std::optional<Cells> Algebra::forHeads(const Cells& cells, const Shape& lead) {
  const std::size_t rank = cells.shape.size();
  if (rank < 2 || lead.size() + 2 < rank) return std::nullopt;
  Shape target = lead;
  target.insert(target.end(), cells.shape.end() - 2, cells.shape.end());
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    const std::int64_t own = cells.shape[axis];
    if (own != 1 && own != target[target.size() - rank + axis]) return std::nullopt;
  }
  if (target == cells.shape) return cells;
  elements(target, kMaxCells);
  return rearranged(cells, target, broadcastIndices(cells.shape, target));
}

Cells Algebra::permuted(const Cells& cells, const std::vector<std::size_t>& order) {
  const std::size_t rank = cells.shape.size();
  const Shape stride = strides(cells.shape);
  Shape step(rank), shape(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    shape[axis] = cells.shape[order[axis]];
    step[axis] = stride[order[axis]];
  }
  elements(shape, kMaxCells);
  return rearranged(cells, shape, strided(shape, step));
}

Cells Algebra::rearranged(const Cells& cells, const Shape& shape, const Integers& source) {
  std::vector<std::int32_t> ids(source.size(), -1);
  std::vector<float> offset(cells.offset ? source.size() : 0);
  Blend blend(cells.blend ? source.size() : 0);
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] < 0) continue;
    ids[i] = cells.id(source[i]);
    if (cells.offset) offset[i] = (*cells.offset)[source[i]];
    if (cells.blend) blend[i] = (*cells.blend)[source[i]];
  }
  Cells result{cells.term, shape, shared(std::move(ids)), nullptr, cells.scale};
  if (cells.offset) result.offset = shared(std::move(offset));
  if (cells.blend) result.blend = shared(std::move(blend));
  return result;
}

}  // namespace mpm::onnx_graph
