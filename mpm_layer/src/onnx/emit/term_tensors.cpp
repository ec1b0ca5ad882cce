// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "onnx/emit/emitter.h"

namespace mpm::onnx_graph {
namespace {

constexpr int kMaxDepth = 64;  // layers between the encoder and an output; more could exhaust the stack

/// The first of the rows of their term that `cells` are, whole and in order; -1 when they are something else.
std::int64_t firstOfRows(const Interpretation& found, const Cells& cells) {
  const std::int64_t cols = found.terms[cells.term].cols, count = elements(cells.shape);
  if (!cells.unchanged() || count < cols || count % cols != 0) return -1;
  const std::int64_t first = cells.id(0);
  if (first < 0 || first % cols != 0) return -1;
  for (std::int64_t i = 1; i < count; ++i)
    if (cells.id(i) != first + i) return -1;
  return first / cols;
}

}  // namespace

std::int64_t singleRow(const Interpretation& found, const Cells& cells) {
  const bool one = elements(cells.shape) == found.terms[cells.term].cols;
  return one ? firstOfRows(found, cells) : -1;
}

bool rowsFrom(const Interpretation& found, const Cells& cells, std::int64_t first) {
  const Term& term = found.terms[cells.term];
  return cells.scale == 1 && !cells.shape.empty() && cells.shape.back() == term.cols &&
         elements(cells.shape) == (term.rows - first) * term.cols && firstOfRows(found, cells) == first;
}

std::string Emitter::nameOf(int term, const std::string& prefix) {
  const Node* node = at(term).node;
  return net_.unique(prefix + (node ? baseName(node->name) : "term"));
}

std::optional<Emitter::Tokens> Emitter::tokens(int index, int depth) {
  if (const auto known = tokens_.find(index); known != tokens_.end()) return known->second;
  if (depth > kMaxDepth) return std::nullopt;
  const Term& term = at(index);
  if (term.kind == TermKind::kNorm) {
    auto in = tokens(term.inputs[0], depth + 1);
    if (!in) return std::nullopt;
    const bool last = term.inputs[0] == trunk_.chain.streams.back();
    const std::string name = last ? net_.unique("backbone/norm") : nameOf(index, "head/");
    in->name = head_nodes_.norm({in->name, in->state}, normPart(term), name, in->special);
    return tokens_[index] = *in;
  }
  const bool activated = term.kind == TermKind::kActivation;
  const auto part = linearPart(found_.terms, activated ? term.inputs[0] : index);
  auto in = part ? tokens(at(part->layer).inputs[0], depth + 1) : std::nullopt;
  if (!in) return std::nullopt;
  const std::string name = nameOf(index, "head/");
  in->name = head_nodes_.linear({in->name, in->state}, *part, name, in->special);
  if (activated) net_.set(name, {"activation", term.activation});
  return tokens_[index] = *in;
}

/// The affine map of the columns of `view`, rows of {heads * head_dim, d}; nullopt when it has none.
static std::optional<LinearPart> projection(const std::vector<Term>& terms, const HeadView& view) {
  const auto columns = linearPart(terms, view.term);
  if (!columns) return std::nullopt;
  LinearPart part{std::ssize(view.column), columns->in, {}, {}, columns->layer};
  for (std::size_t i = 0; i < view.column.size(); ++i) {
    const auto row = columns->weight.begin() + view.column[i] * part.in;
    part.weight.insert(part.weight.end(), row, row + part.in);
    part.bias.push_back(columns->bias[view.column[i]] + view.offset[i]);
  }
  return part;
}

std::optional<std::string> Emitter::attentionPool(const Term& term, const std::string& name, int depth) {
  auto keys = projection(found_.terms, term.k);
  const auto values = projection(found_.terms, term.v);
  if (!keys || !values || at(keys->layer).inputs[0] != at(values->layer).inputs[0]) return std::nullopt;
  const auto in = tokens(at(keys->layer).inputs[0], depth + 1);
  if (!in) return std::nullopt;
  const auto append = [&](std::vector<float>& to, const std::vector<float>& from) {
    for (const float value : from) to.push_back(static_cast<float>(static_cast<double>(value) * term.v.scale));
  };
  append(keys->weight, values->weight);
  append(keys->bias, values->bias);
  return net_.op("AttentionPool",
                 {in->name, in->state, net_.weights(name + ".query", {1, term.cols}, *term.weight.floats),
                  net_.weights(name + ".kv.weight", {2 * term.cols, keys->in}, keys->weight),
                  net_.weights(name + ".kv.bias", {1, 2 * term.cols}, keys->bias)},
                 {name},
                 {{"special_tokens", in->special}, {"heads", term.heads}, {"scale", static_cast<float>(term.scale)}});
}

std::optional<std::string> Emitter::pooled(int index, std::int64_t row, double scale, const std::string& wanted,
                                           int depth) {
  const std::pair key(index, row);
  if (const auto known = pooled_.find(key); known != pooled_.end() && scale == 1 && wanted.empty())
    return known->second;
  auto made = makePooled(index, row, scale, wanted, depth);
  if (made && scale == 1) pooled_.emplace(key, *made);
  return made;
}

std::optional<std::string> Emitter::makePooled(int index, std::int64_t row, double scale, const std::string& wanted,
                                               int depth) {
  const Term& term = at(index);
  if (depth > kMaxDepth) return std::nullopt;
  const auto inner = [&](int input, std::int64_t at_row, double factor) {
    return pooled(input, at_row, factor, "", depth + 1);
  };
  const auto name = [&] { return wanted.empty() ? nameOf(index, "head/") : wanted; };
  if (const auto stream = tokens_.find(index);
      stream != tokens_.end() && scale == 1 && row < stream->second.special &&
      std::ranges::find(trunk_.chain.streams, index) != trunk_.chain.streams.end()) {
    return net_.op("PoolTokens", {stream->second.name, stream->second.state},
                   {wanted.empty() ? net_.unique("head/pool_token" + std::to_string(row)) : wanted},
                   {{"special_tokens", stream->second.special}, {"mode", std::string("token")}, {"index", row}});
  }
  switch (term.kind) {
    case TermKind::kNorm:
    case TermKind::kActivation:
    case TermKind::kLinear: {
      const auto in = scale == 1 || term.kind == TermKind::kLinear ? inner(term.inputs[0], row, 1) : std::nullopt;
      if (!in) return std::nullopt;
      if (term.kind == TermKind::kNorm) return head_nodes_.norm({*in}, normPart(term), name(), 0);
      if (term.kind == TermKind::kActivation)
        return net_.op("HeadActivate", {*in}, {name()}, {{"activation", term.activation}});
      LinearPart part{term.cols, term.weight.shape[1], *term.weight.floats, *term.bias.floats};
      for (float& value : part.weight) value = static_cast<float>(static_cast<double>(value) * scale);
      for (float& value : part.bias) value = static_cast<float>(static_cast<double>(value) * scale);
      return head_nodes_.linear({*in}, part, name(), 0, 1);
    }
    case TermKind::kAttentionPool:
      return scale == 1 ? attentionPool(term, name(), depth) : std::nullopt;
    case TermKind::kArrange: {
      if (term.cols != at(term.inputs[0]).cols || !term.offset.empty() || !isCounting(term.col_of)) return std::nullopt;
      const std::int64_t from = term.row_of[row];
      return from < 0 ? std::nullopt : pooled(term.inputs[0], from, scale * term.scale, wanted, depth + 1);
    }
    case TermKind::kAdd: {
      const auto a = inner(term.inputs[0], row, scale);
      const auto b = a ? inner(term.inputs[1], row, scale) : std::nullopt;
      if (!b) return std::nullopt;
      return net_.stock("Add", {*a, *b}, {name()});
    }
    case TermKind::kMean: {
      const std::int64_t special = specialOf(at(term.inputs[0]));
      const auto in = scale == 1 ? tokens(term.inputs[0], depth + 1) : std::nullopt;
      if (!in || std::ssize(term.row_of) != patches() || special < 0 || !isCounting(term.row_of, special))
        return std::nullopt;
      return net_.op("PoolTokens", {in->name, in->state}, {name()},
                     {{"special_tokens", in->special}, {"mode", std::string("mean")}, {"index", std::int64_t{0}}});
    }
    default:
      return std::nullopt;
  }
}

/// Several special rows, such as the queries of EoMT. A layer of such rows alone is cheaper on the rows than on all
/// tokens, so only the stream and its norm are read here.
std::optional<std::string> Emitter::specialRows(const Cells& cells, const std::string& name) {
  const Term& term = at(cells.term);
  const std::int64_t first = firstOfRows(found_, cells), count = elements(cells.shape) / term.cols;
  if (first < 0 || first + count > specialOf(term) || cells.scale != 1) return std::nullopt;
  const auto in = term.kind == TermKind::kNorm || tokens_.contains(cells.term) ? tokens(cells.term) : std::nullopt;
  if (!in) return std::nullopt;
  const Shape expected{1, count, term.cols};
  const bool reshaped = cells.shape != expected;
  const std::string rows = reshaped ? net_.unique(name + ".rows") : name;
  net_.op("PoolTokens", {in->name, in->state}, {rows},
          {{"special_tokens", in->special}, {"mode", std::string("range")}, {"index", first}, {"count", count}});
  return reshaped ? head_nodes_.reshape(rows, expected, cells.shape, name) : rows;
}

/// All tokens in the order of the graph, where special tokens stand behind the patches. Ours stand in front.
std::optional<std::string> Emitter::rowsInOrder(const Cells& cells, const std::string& name) {
  const Term& term = at(cells.term);
  const std::int64_t special = specialOf(term);
  const Shape expected{1, term.rows, term.cols};
  if (special == 0 || !cells.unchanged() || cells.scale != 1 || cells.shape.empty() ||
      cells.shape.back() != term.cols || elements(cells.shape) != elements(expected) || retargeted_)
    return std::nullopt;
  Integers rows;
  for (std::int64_t i = 0; i < elements(expected); ++i) {
    if (i % term.cols == 0) rows.push_back(cells.id(i) / term.cols);
    if (cells.id(i) != rows.back() * term.cols + i % term.cols) return std::nullopt;
  }
  const auto first = std::ranges::find(rows, special);
  const bool behind = first != rows.end() && std::distance(first, rows.end()) >= patches() &&
                      isCounting({first, first + patches()}, special);
  const std::set<std::int64_t> each(rows.begin(), rows.end());
  const auto in = behind && std::ssize(each) == term.rows ? tokens(cells.term) : std::nullopt;
  if (!in) return std::nullopt;
  const std::string restored =
      net_.op("RestoreTokens", {in->name, in->state}, {net_.unique("restore/" + baseName(name))},
              {{"special_tokens", in->special}, {"keep_special", std::int64_t{1}}});
  const bool reshaped = cells.shape != expected;
  const std::string taken = reshaped ? net_.unique("restore/" + baseName(name) + ".rows") : name;
  head_nodes_.take(restored, {rows.begin(), rows.end()}, 1, taken);
  return reshaped ? head_nodes_.reshape(taken, expected, cells.shape, name) : taken;
}

void Emitter::findOutside() {
  outside_.assign(found_.terms.size(), false);
  for (std::size_t i = 0; i < outside_.size(); ++i) {
    const std::vector<int>& inputs = found_.terms[i].inputs;
    outside_[i] = !tokens_.contains(static_cast<int>(i)) &&
                  (found_.terms[i].kind == TermKind::kOutside ||
                   std::ranges::any_of(inputs, [&](int input) { return outside_[input]; }));
  }
}

std::optional<std::string> Emitter::ofTokens(int value, const std::function<std::string()>& name) {
  const Cells* cells = found_.as<Cells>(value);
  return cells && !outside_[cells->term] ? plain(*cells, name()) : std::nullopt;
}

std::optional<std::string> Emitter::plain(const Cells& cells, const std::string& name) {
  const Term& term = at(cells.term);
  if (const std::int64_t row = singleRow(found_, cells); row >= 0 && (term.rows == 1 || row < specialOf(term))) {
    const bool reshaped = cells.shape != Shape{1, term.cols};
    const auto made = pooled(cells.term, row, cells.scale, reshaped ? "" : name);
    if (!made || !reshaped) return made;
    return head_nodes_.reshape(*made, {1, term.cols}, cells.shape, name);
  }
  const std::int64_t special = specialOf(term);
  if (special < 0) return std::nullopt;
  const bool all = rowsFrom(found_, cells, 0), image_only = !all && rowsFrom(found_, cells, special);
  if (!all && !image_only) {
    auto some = specialRows(cells, name);
    return some ? some : rowsInOrder(cells, name);
  }
  const Shape expected{1, all ? term.rows : patches(), term.cols};
  const bool reshaped = cells.shape != expected;
  if (reshaped && retargeted_) return std::nullopt;
  const auto in = tokens(cells.term);
  if (!in) return std::nullopt;
  const std::string restored = reshaped ? net_.unique("restore/" + baseName(name)) : name;
  net_.op("RestoreTokens", {in->name, in->state}, {restored},
          {{"special_tokens", in->special}, {"keep_special", std::int64_t{all && special > 0 ? 1 : 0}}});
  return reshaped ? head_nodes_.reshape(restored, expected, cells.shape, name) : restored;
}

}  // namespace mpm::onnx_graph
