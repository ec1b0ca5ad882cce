// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/pair_bias.h"

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
  for (std::int64_t pair = 0; pair < dense.entries; ++pair) {
    for (std::int64_t h = 0; h < dense.heads; ++h) result.push_back(dense.table[h * dense.entries + pair]);
  }
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
  for (std::size_t h = 0; h < heads; ++h) {
    for (const std::size_t pair : first) table.push_back(by_pair[pair * heads + h]);
  }
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

}  // namespace mpm::onnx_graph
