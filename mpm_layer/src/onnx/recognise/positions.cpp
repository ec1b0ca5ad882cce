// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/positions.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace mpm::onnx_graph {
namespace {

/// {heads, pairs} -> {pairs, heads}: the values of a pair side by side.
std::vector<float> byPair(const PairBias& dense) {
  std::vector<float> result;
  result.reserve(dense.table.size());
  for (std::int64_t pair = 0; pair < dense.entries; ++pair)
    for (std::int64_t h = 0; h < dense.heads; ++h) result.push_back(dense.table[h * dense.entries + pair]);
  return result;
}

/// The table {heads, entries} that `index` gives; empty when pairs of one entry differ.
std::vector<float> tableOf(const std::vector<float>& by_pair, std::size_t heads,
                           const std::vector<std::uint16_t>& index) {
  const std::size_t entries = std::size_t{1} + *std::ranges::max_element(index);
  std::vector<std::size_t> first(entries, index.size());
  for (std::size_t pair = 0; pair < index.size(); ++pair) {
    std::size_t& known = first[index[pair]];
    known = std::min(known, pair);
    if (std::memcmp(&by_pair[known * heads], &by_pair[pair * heads], heads * sizeof(float)) != 0) return {};
  }
  std::vector<float> table;
  for (std::size_t h = 0; h < heads; ++h)
    for (const std::size_t pair : first) table.push_back(by_pair[pair * heads + h]);
  return table;
}

/// Numbers equal pairs in the order of their first appearance; empty when there are too many different ones.
std::vector<std::uint16_t> indexOf(const std::vector<float>& by_pair, std::size_t heads, std::size_t max_entries) {
  std::unordered_map<std::string_view, std::uint16_t> entries;
  std::vector<std::uint16_t> index;
  for (std::size_t pair = 0; pair < by_pair.size() / heads; ++pair) {
    const std::string_view bytes(reinterpret_cast<const char*>(&by_pair[pair * heads]), heads * sizeof(float));
    index.push_back(entries.emplace(bytes, static_cast<std::uint16_t>(entries.size())).first->second);
    if (entries.size() > max_entries) return {};
  }
  return index;
}

/// For each letter of `to`, the distance of neighbours in a tensor with an axis for each letter of `of`, of the sides
/// `shape`; 0 for letters that it does not have.
Shape stepsIn(const std::string& of, const Shape& shape, const std::string& to) {
  Shape steps(to.size(), 0);
  std::int64_t step = 1;
  for (std::size_t axis = of.size(); axis-- > 0; step *= shape[axis]) {
    if (const std::size_t found = to.find(of[axis]); found != std::string::npos) steps[found] = step;
  }
  return steps;
}

/// The products along the axes of `to`, to which `shape` broadcasts, that are longer than 1 in `shape`.
RowProducts alongAxes(const RowProducts& part, const Shape& shape, const Shape& to) {
  RowProducts result{part.rows, part.vectors, to, Shape(to.size(), 0), Shape(to.size(), 0)};
  std::size_t own = part.shape.size();
  for (std::size_t axis = shape.size(), target = to.size(); axis-- > 0;) {
    --target;
    if (shape[axis] == 1) continue;
    while (part.shape[--own] == 1) continue;
    result.row_step[target] = part.row_step[own];
    result.vector_step[target] = part.vector_step[own];
  }
  return result;
}

bool sameRows(const Cells& a, const Cells& b) {
  if (a.term != b.term || !a.unchanged() || !b.unchanged() || a.shape.back() != b.shape.back()) return false;
  const std::int64_t count = elements(a.shape);
  if (count != elements(b.shape)) return false;
  if (a.ids == b.ids) return true;
  for (std::int64_t i = 0; i < count; ++i)
    if (a.id(i) != b.id(i)) return false;
  return true;
}

/// Adds factor * vectors[i * query_step + j * key_step] to table[i - j + side - 1], for all i and j below `side`; false
/// when it depends on more than i - j.
bool addDistances(const Tensor& vectors, std::int64_t query_step, std::int64_t key_step, std::int64_t side,
                  double factor, std::vector<float>& table) {
  const std::int64_t columns = vectors.shape.back();
  const auto vector = [&](std::int64_t i, std::int64_t j) {
    return vectors.floats->data() + (i * query_step + j * key_step) * columns;
  };
  table.resize((2 * side - 1) * columns);
  for (std::int64_t i = 0; i < side; ++i) {
    for (std::int64_t j = 0; j < side; ++j) {
      const float* const values = vector(i, j);
      const std::int64_t nearer = std::min(i, j);
      if (nearer > 0) {
        if (!std::equal(values, values + columns, vector(i - nearer, j - nearer))) return false;
        continue;
      }
      float* const to = table.data() + (i - j + side - 1) * columns;
      for (std::int64_t c = 0; c < columns; ++c)
        to[c] = static_cast<float>(static_cast<double>(to[c]) + factor * static_cast<double>(values[c]));
    }
  }
  return true;
}

}  // namespace

std::shared_ptr<const PairBias> PairBiases::make(std::span<const float> values, std::int64_t heads, std::int64_t tokens,
                                                 double factor, const PairBias* to) {
  PairBias bias{heads, tokens, tokens * tokens, {values.begin(), values.end()}, nullptr};
  for (std::size_t i = 0; i < bias.table.size(); ++i) {
    double value = static_cast<double>(bias.table[i]) * factor;
    const std::size_t pairs = static_cast<std::size_t>(bias.entries), head = i / pairs;
    if (to)
      value += static_cast<double>(to->table[head * static_cast<std::size_t>(to->entries) + to->entry(i % pairs)]);
    bias.table[i] = static_cast<float>(value);
  }
  const std::vector<float> by_pair = byPair(bias);
  const auto rows = static_cast<std::size_t>(heads);
  std::vector<float> table;
  Index index;
  for (const Index& known : indices_) {
    if (known->size() * rows != by_pair.size() || (table = tableOf(by_pair, rows, *known)).empty()) continue;
    index = known;
    break;
  }
  if (!index) {
    // Smaller than all pairs: heads x entries + pairs < heads x pairs.
    const std::size_t saved = static_cast<std::size_t>((heads - 1) * bias.entries / heads);
    const std::size_t limit = std::min<std::size_t>(saved, std::numeric_limits<std::uint16_t>::max());
    std::vector<std::uint16_t> made = indexOf(by_pair, rows, limit);
    if (made.empty()) return shared(std::move(bias));
    table = tableOf(by_pair, rows, made);
    index = shared(std::move(made));
    indices_.push_back(index);
  }
  bias.entries = static_cast<std::int64_t>(table.size() / rows);
  bias.table = std::move(table);
  bias.index = std::move(index);
  return shared(std::move(bias));
}

std::shared_ptr<const PairBias> PairBiases::reordered(std::shared_ptr<const PairBias> bias, const Integers& row_of) {
  if (!bias || row_of.empty()) return bias;
  const auto pairs = static_cast<std::size_t>(bias->tokens * bias->tokens);
  std::vector<float> values(static_cast<std::size_t>(bias->heads) * pairs);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t pair = i % pairs, head = i / pairs, tokens = row_of.size();
    const auto row = static_cast<std::size_t>(row_of[pair / tokens] * bias->tokens + row_of[pair % tokens]);
    values[head * pairs + row] = bias->table[head * static_cast<std::size_t>(bias->entries) + bias->entry(pair)];
  }
  return make(values, bias->heads, bias->tokens, 1, nullptr);
}

std::shared_ptr<const PairBias> scaled(const PairBias& bias, double factor) {
  PairBias result = bias;
  for (float& value : result.table) value = static_cast<float>(static_cast<double>(value) * factor);
  return shared(std::move(result));
}

std::optional<RowProducts> rowProducts(const Cells& cells, const Tensor& constant, const std::string& a,
                                       const std::string& b, const std::string& c) {
  if (!constant.isFloat() || a.empty() || b.empty() || a.back() != b.back()) return std::nullopt;
  const std::string rows = a.substr(0, a.size() - 1), vectors = b.substr(0, b.size() - 1);
  const auto within = [](const std::string& letters, const std::string& of) {
    return letters.find_first_not_of(of) == std::string::npos;
  };
  if (!within(rows + vectors, c) || !within(c, rows + vectors)) return std::nullopt;
  RowProducts result{cells, constant, {}, stepsIn(rows, cells.shape, c), stepsIn(vectors, constant.shape, c)};
  for (const char letter : c) {
    const std::size_t axis = rows.find(letter);
    result.shape.push_back(axis != std::string::npos ? cells.shape[axis] : constant.shape[vectors.find(letter)]);
  }
  return result;
}

std::optional<std::vector<RowProducts>> broadcastParts(const PositionLogits& logits, const Shape& to) {
  if (logits.shape.size() > to.size()) return std::nullopt;
  std::vector<RowProducts> result;
  for (const RowProducts& part : logits.parts) {
    if (withoutOnes(part.shape) == withoutOnes(logits.shape))
      result.push_back(alongAxes(part, logits.shape, to));
    else if (logits.shape == to)
      result.push_back(part);
    else
      return std::nullopt;
  }
  return result;
}

std::optional<RelativePositions> relativePositions(const std::vector<RowProducts>& parts, const Cells& q) {
  const std::int64_t tokens = q.shape[q.shape.size() - 2];
  RelativePositions result;
  for (const RowProducts& part : parts) {
    const std::size_t rank = part.shape.size();
    if (rank < 4 || !sameRows(part.rows, q)) return std::nullopt;
    // The last axes are row and column of the query, row and column of the key.
    const std::size_t query_row = rank - 4, query_column = rank - 3, key_row = rank - 2, key_column = rank - 1;
    const std::int64_t height = part.shape[key_row], width = part.shape[key_column];
    if (height * width != tokens || part.shape[query_row] != height || part.shape[query_column] != width ||
        (result.height > 0 && result.height != height))
      return std::nullopt;
    result.height = height;
    result.width = width;
    std::int64_t row = 1;
    for (std::size_t axis = key_row; axis-- > 0; row *= part.shape[axis]) {
      if (part.shape[axis] > 1 && part.row_step[axis] != row) return std::nullopt;
      if (axis < query_row && part.vector_step[axis] != 0) return std::nullopt;
    }
    if (row * part.rows.shape.back() != elements(q.shape) || part.row_step[key_row] != 0 ||
        part.row_step[key_column] != 0)
      return std::nullopt;
    const Shape& step = part.vector_step;
    const bool of_rows = step[query_column] == 0 && step[key_column] == 0,
               of_columns = step[query_row] == 0 && step[key_row] == 0;
    const bool added =
        of_rows ? addDistances(part.vectors, step[query_row], step[key_row], height, part.rows.scale, result.rows)
                : of_columns && addDistances(part.vectors, step[query_column], step[key_column], width, part.rows.scale,
                                             result.columns);
    if (!added) return std::nullopt;
  }
  const std::int64_t columns = q.shape.back();
  result.rows.resize((2 * result.height - 1) * columns);
  result.columns.resize((2 * result.width - 1) * columns);
  return result;
}

}  // namespace mpm::onnx_graph
