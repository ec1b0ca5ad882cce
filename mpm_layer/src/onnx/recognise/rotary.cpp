// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/positions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <utility>

namespace mpm::onnx_graph {
namespace {

struct Product {
  std::int32_t id = -1;
  double factor = 0;
};

/// The products whose sum element i is. Both ids may be -1.
std::array<Product, 2> productsOf(const Cells& cells, std::size_t i) {
  if (!cells.blend) return {Product{cells.id(i), cells.scale}, Product{}};
  const BlendedElement& one = (*cells.blend)[i];
  return {Product{cells.id(i), cells.scale * static_cast<double>(one.factor)},
          Product{one.other, cells.scale * static_cast<double>(one.other_factor)}};
}

/// The row of the term at each token of cells {.., tokens, head_dim}; nullopt when they are not all of its rows once.
std::optional<Integers> rowsOf(const Cells& cells, const Term& term) {
  const std::int64_t width = cells.shape.back(), tokens = cells.shape[cells.shape.size() - 2];
  Integers rows;
  for (std::int64_t t = 0; t < tokens; ++t) rows.push_back(cells.id(static_cast<std::size_t>(t * width)) / term.cols);
  Integers sorted = rows;
  std::ranges::sort(sorted);
  return isCounting(sorted) && tokens == term.rows ? std::optional(rows) : std::nullopt;
}

/// The blend of one head, as a sparse matrix per token. `row_of`: the row of the term at each token.
class HeadBlend {
 public:
  HeadBlend(const Cells& cells, const Term& term, const Integers& row_of, std::int64_t head)
      : cells_(cells), term_(term), row_of_(row_of), first_(static_cast<std::size_t>(head * tokens_ * width_)) {
    findLength();
  }

  /// What the head is multiplied by besides the rotation.
  double length() const { return length_; }

  /// The one or two columns of the term that column j reads, in every token of its own row, in rising order; else
  /// nullopt.
  std::optional<Integers> columns(std::int64_t j) const {
    Integers result;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const std::size_t i = at(t, j);
      if (cells_.offset && (*cells_.offset)[i] != 0) return std::nullopt;
      for (const std::int32_t id : {cells_.id(i), (*cells_.blend)[i].other}) {
        if (id < 0) continue;
        if (id / term_.cols != row_of_[t]) return std::nullopt;
        if (std::ranges::find(result, id % term_.cols) == result.end()) result.push_back(id % term_.cols);
      }
      if (result.size() > 2) return std::nullopt;
    }
    std::ranges::sort(result);
    return result.empty() ? std::nullopt : std::optional(result);
  }

  /// The factor of a column of the term in column j, in units of length().
  double factor(std::int64_t t, std::int64_t j, std::int64_t column) const {
    const std::size_t i = at(t, j);
    const BlendedElement& one = (*cells_.blend)[i];
    const std::int64_t id = row_of_[t] * term_.cols + column;
    double sum = 0;
    if (cells_.id(i) == id) sum += static_cast<double>(one.factor);
    if (one.other == id) sum += static_cast<double>(one.other_factor);
    return sum / length_;
  }

  bool isCopy(std::int64_t j, std::int64_t column) const {
    for (std::int64_t t = 0; t < tokens_; ++t)
      if (std::abs(factor(t, j, column) - 1) > 1e-6) return false;
    return true;
  }

  /// Columns j and k as the rotation of two columns: `columns` in that order, and its cosine and sine per row of the
  /// term, `step` apart.
  bool rotation(std::int64_t j, std::int64_t k, Integers& columns, float* cosine, float* sine,
                std::int64_t step) const {
    constexpr double kClose = 1e-4;
    const double determinant =
        factor(0, j, columns[0]) * factor(0, k, columns[1]) - factor(0, j, columns[1]) * factor(0, k, columns[0]);
    if (determinant < 0) std::swap(columns[0], columns[1]);
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const double c = factor(t, j, columns[0]), s = factor(t, k, columns[0]);
      const bool rotates = std::abs(factor(t, k, columns[1]) - c) < kClose &&
                           std::abs(factor(t, j, columns[1]) + s) < kClose && std::abs(c * c + s * s - 1) < 1e-2;
      if (!rotates) return false;
      cosine[row_of_[t] * step] = static_cast<float>(c);
      sine[row_of_[t] * step] = static_cast<float>(s);
    }
    return true;
  }

 private:
  std::size_t at(std::int64_t t, std::int64_t j) const { return first_ + static_cast<std::size_t>(t * width_ + j); }

  /// A column of its own factor has the length of all; of rotated pairs it is the mean length of their two factors.
  void findLength() {
    double squares = 0;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      for (std::int64_t j = 0; j < width_; ++j) {
        const BlendedElement& one = (*cells_.blend)[at(t, j)];
        const auto own = static_cast<double>(one.factor), other = static_cast<double>(one.other_factor);
        if (other == 0 && own != 0) {
          length_ = std::abs(own);
          return;
        }
        squares += own * own + other * other;
      }
    }
    const double length = std::sqrt(squares / static_cast<double>(tokens_ * width_));
    if (std::abs(length - 1) > 1e-6 && length > 0) length_ = length;  // else the rounding of the table
  }

  const Cells& cells_;
  const Term& term_;
  const Integers& row_of_;
  double length_ = 1;
  std::int64_t width_ = cells_.shape.back(), tokens_ = cells_.shape[cells_.shape.size() - 2];
  std::size_t first_;
};

/// Keeps one table when all heads have the same.
void shareTable(Rotation& rotation) {
  const auto size = static_cast<std::size_t>(rotation.rows * rotation.pairs);
  for (std::vector<float>* table : {&rotation.cosine, &rotation.sine}) {
    for (std::size_t i = size; i < table->size(); ++i)
      if ((*table)[i] != (*table)[i % size]) return;
  }
  rotation.tables = 1;
  rotation.cosine.resize(size);
  rotation.sine.resize(size);
}

constexpr double kClose = 1e-3;

/// The angle of the first patch, and what a patch further down or to the right adds to it.
struct Steps {
  double first = 0, down = 0, right = 0;

  template <typename T>
  double at(T y, T x) const {
    return first + down * static_cast<double>(y) + right * static_cast<double>(x);
  }
};

/// The steps of a pair of columns; nullopt when the angles of the grid have other ones.
std::optional<Steps> stepsOf(const Rotation& rotation, const Shape& grid, std::int64_t table, std::int64_t pair) {
  using Complex = std::complex<double>;
  const std::int64_t first = (table + 1) * rotation.rows - grid[0] * grid[1];
  const auto at = [&](std::int64_t y, std::int64_t x) {
    const auto i = static_cast<std::size_t>((first + y * grid[1] + x) * rotation.pairs + pair);
    return Complex(static_cast<double>(rotation.cosine[i]), static_cast<double>(rotation.sine[i]));
  };
  const Complex start = at(0, 0);
  const Steps steps{std::arg(start), grid[0] > 1 ? std::arg(at(1, 0) * std::conj(start)) : 0,
                    grid[1] > 1 ? std::arg(at(0, 1) * std::conj(start)) : 0};
  for (std::int64_t y = 0; y < grid[0]; ++y) {
    for (std::int64_t x = 0; x < grid[1]; ++x)
      if (std::abs(at(y, x) - std::polar(1.0, steps.at(y, x))) > kClose) return std::nullopt;
  }
  return steps;
}

}  // namespace

bool areNear(const Rotation& a, const Rotation& b) {
  const auto near = [](const std::vector<float>& x, const std::vector<float>& y) {
    return std::ranges::equal(x, y, [](float one, float other) { return std::abs(one - other) < 1e-6F; });
  };
  return a.tables == b.tables && a.rows == b.rows && a.pairs == b.pairs && near(a.cosine, b.cosine) &&
         near(a.sine, b.sine);
}

Cells blended(const Cells& cells) {
  Cells result = cells;
  Blend blend(static_cast<std::size_t>(elements(cells.shape)));
  for (std::size_t i = 0; i < blend.size(); ++i) {
    const auto products = productsOf(cells, i);
    blend[i] = {static_cast<float>(products[0].factor), static_cast<float>(products[1].factor), products[1].id};
  }
  result.blend = shared(std::move(blend));
  result.scale = 1;
  return result;
}

Cells timesEach(const Cells& cells, const std::vector<float>& factors) {
  Cells result = blended(cells);
  Blend blend = *result.blend;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    blend[i].factor *= factors[i];
    blend[i].other_factor *= factors[i];
  }
  result.blend = shared(std::move(blend));
  if (cells.offset) {
    std::vector<float> offset = *cells.offset;
    for (std::size_t i = 0; i < factors.size(); ++i) offset[i] *= factors[i];
    result.offset = shared(std::move(offset));
  }
  return result;
}

std::optional<Cells> withoutFactors(const Cells& cells) {
  const auto isSum = [](const BlendedElement& one) { return one.other >= 0; };
  if (std::ranges::any_of(*cells.blend, isSum)) return std::nullopt;
  Cells result = cells;
  result.blend = nullptr;
  return result;
}

std::optional<Cells> blendedSum(const Cells& left, const Cells& right, double sign) {
  const auto count = static_cast<std::size_t>(elements(left.shape));
  std::vector<std::int32_t> ids(count, -1);
  Blend blend(count);
  std::vector<float> offset(left.offset || right.offset ? count : 0);
  for (std::size_t i = 0; i < count; ++i) {
    auto sum = productsOf(left, i);
    for (const Product& product : productsOf(right, i)) {
      if (product.id < 0) continue;
      Product& place = sum[0].id < 0 || sum[0].id == product.id ? sum[0] : sum[1];
      if (place.id >= 0 && place.id != product.id) return std::nullopt;
      place = {product.id, (place.id < 0 ? 0 : place.factor) + sign * product.factor};
    }
    ids[i] = sum[0].id;
    blend[i] = {static_cast<float>(sum[0].factor), static_cast<float>(sum[1].factor), sum[1].id};
    if (left.offset) offset[i] += (*left.offset)[i];
    if (right.offset) offset[i] += static_cast<float>(sign) * (*right.offset)[i];
  }
  Cells result{left.term, left.shape, shared(std::move(ids)), nullptr, 1};
  if (!offset.empty()) result.offset = shared(std::move(offset));
  result.blend = shared(std::move(blend));
  return result;
}

std::optional<HeadView> rotatedHeads(const Cells& cells, const Term& term) {
  const std::int64_t width = cells.shape.back(), tokens = cells.shape[cells.shape.size() - 2];
  const std::int64_t heads = elements(cells.shape) / (width * tokens);
  const auto row_of = rowsOf(cells, term);
  if (!row_of) return std::nullopt;
  HeadView view;
  view.term = cells.term;
  view.scale = cells.scale;
  if (!isCounting(*row_of)) view.row_of = *row_of;
  Rotation rotation{heads, tokens, 0, {}, {}};
  for (std::int64_t h = 0; h < heads; ++h) {
    const HeadBlend head(cells, term, *row_of, h);
    view.column_scale.insert(view.column_scale.end(), width, static_cast<float>(head.length()));
    std::vector<Integers> columns;
    for (std::int64_t j = 0; j < width; ++j) {
      const auto read = head.columns(j);
      if (!read) return std::nullopt;
      columns.push_back(*read);
    }
    Integers first, second, kept;
    std::vector<bool> paired(width, false);
    for (std::int64_t j = 0; j < width; ++j) {
      const Integers& own = columns[j];
      if (own.size() == 1) {
        if (!head.isCopy(j, own[0])) return std::nullopt;
        kept.push_back(j);
      } else if (!paired[j]) {
        std::int64_t partner = j + 1;
        while (partner < width && columns[partner] != own) ++partner;
        if (partner == width || paired[partner]) return std::nullopt;
        paired[partner] = true;
        first.push_back(j);
        second.push_back(partner);
      }
    }
    const auto pairs = std::ssize(first);
    Integers order = first;
    order.insert(order.end(), second.begin(), second.end());
    order.insert(order.end(), kept.begin(), kept.end());
    if (h > 0 && (view.order != order || rotation.pairs != pairs)) return std::nullopt;
    view.order = order;
    rotation.pairs = pairs;
    rotation.cosine.resize((h + 1) * tokens * pairs);
    rotation.sine.resize(rotation.cosine.size());
    for (std::int64_t p = 0; p < pairs; ++p) {
      Integers both = columns[first[p]];
      const std::int64_t at = h * tokens * pairs + p;
      if (!head.rotation(first[p], second[p], both, &rotation.cosine[at], &rotation.sine[at], pairs))
        return std::nullopt;
      columns[first[p]] = {both[0]};
      columns[second[p]] = {both[1]};
    }
    for (const std::int64_t j : order) view.column.push_back(columns[j][0]);
  }
  view.offset.assign(view.column.size(), 0.0f);
  if (std::ranges::adjacent_find(view.column_scale, std::not_equal_to()) == view.column_scale.end()) {
    view.scale *= static_cast<double>(view.column_scale.front());
    view.column_scale.clear();
  }
  shareTable(rotation);
  view.rotation = shared(std::move(rotation));
  return view;
}

std::optional<std::vector<float>> anglesOf(const Rotation& rotation, const Shape& grid) {
  std::vector<float> angles(rotation.tables * grid[0] * grid[1] * rotation.pairs);
  for (std::int64_t t = 0; t < rotation.tables; ++t) {
    for (std::int64_t pair = 0; pair < rotation.pairs; ++pair) {
      const auto steps = stepsOf(rotation, grid, t, pair);
      if (!steps) return std::nullopt;
      for (std::int64_t i = 0; i < grid[0] * grid[1]; ++i) {
        const auto to = static_cast<std::size_t>((t * grid[0] * grid[1] + i) * rotation.pairs + pair);
        angles[to] = static_cast<float>(steps->at(i / grid[1], i % grid[1]));
      }
    }
  }
  return angles;
}

std::optional<Rotation> resizedRotation(const Rotation& rotation, const Shape& from, const Shape& to) {
  constexpr std::int64_t kShortestSide = 5;  // with fewer patches a step may be more than half a turn
  if (from[0] < kShortestSide || from[1] < kShortestSide) return std::nullopt;
  Rotation result{rotation.tables, to[0] * to[1], rotation.pairs, {}, {}};
  const auto count = static_cast<std::size_t>(result.tables * result.rows * result.pairs);
  result.cosine.resize(count);
  result.sine.resize(count);
  for (std::int64_t t = 0; t < rotation.tables; ++t) {
    for (std::int64_t pair = 0; pair < rotation.pairs; ++pair) {
      const auto steps = stepsOf(rotation, from, t, pair);
      const auto centre = [](std::int64_t side) { return static_cast<double>(side - 1) / 2; };
      if (!steps || std::abs(std::polar(1.0, steps->at(centre(from[0]), centre(from[1]))) - 1.0) > kClose)
        return std::nullopt;
      const double down = steps->down * static_cast<double>(from[0]) / static_cast<double>(to[0]);
      const double right = steps->right * static_cast<double>(from[1]) / static_cast<double>(to[1]);
      for (std::int64_t i = 0; i < result.rows; ++i) {
        const double y = static_cast<double>(i / to[1]) - centre(to[0]);
        const double x = static_cast<double>(i % to[1]) - centre(to[1]);
        const auto index = static_cast<std::size_t>((t * result.rows + i) * result.pairs + pair);
        result.cosine[index] = static_cast<float>(std::cos(down * y + right * x));
        result.sine[index] = static_cast<float>(std::sin(down * y + right * x));
      }
    }
  }
  return result;
}

}  // namespace mpm::onnx_graph
