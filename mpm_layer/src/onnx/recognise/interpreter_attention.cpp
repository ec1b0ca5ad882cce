// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "onnx/fold/fold.h"
#include "onnx/recognise/interpreter.h"

namespace mpm::onnx_graph {
namespace {

constexpr const char* kWindowed =
    "attention among all tokens or in fixed windows (not a hierarchical or windowed backbone, such as Swin)";

std::vector<std::size_t> lastTwoSwapped(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) order[axis] = axis;
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

/// Where each letter of `to` is in `from`.
std::vector<std::size_t> axesOf(const std::string& from, const std::string& to) {
  std::vector<std::size_t> result;
  for (const char letter : to) result.push_back(from.find(letter));
  return result;
}

/// The view with a factor per head besides its own; empty: none.
HeadView timesHeads(HeadView view, const std::vector<float>& factors) {
  if (factors.empty()) return view;
  view.column_scale.resize(view.column.size(), 1.0f);
  const std::size_t width = view.column.size() / factors.size();
  for (std::size_t i = 0; i < view.column.size(); ++i) view.column_scale[i] *= factors[i / width];
  return view;
}

}  // namespace

Meaning Interpreter::matMul(const Node& node) {
  const Tensor* query = graph_.constant(node.inputs[0]);
  const Cells* keys = query ? cellsOf(node.inputs[1], node) : nullptr;
  if (keys && query->shape.size() == 2 && query->isFloat() && keys->shape.size() > 2) {
    const std::int64_t out = query->shape[0];
    const auto turned = lastTwoSwapped(keys->shape.size());
    const Meaning result =
        linear(node, Algebra::permuted(*keys, turned), *query, Tensor::of({out}, std::vector<float>(out, 0.0f)));
    const Cells* cells = std::get_if<Cells>(&result);
    return cells ? Algebra::permuted(*cells, turned) : result;
  }
  if (keys && query->shape.size() == keys->shape.size() && query->shape.size() > 2)
    return Scores{{}, Algebra::permuted(*keys, lastTwoSwapped(keys->shape.size())), *query, shapeOf(node)};
  if (query || graph_.constant(node.inputs[1]))
    return foreign(node, "a MatMul with a constant that is not a matrix of weights on the right");
  Cells* right = cellsOf(node.inputs[1], node);
  if (const Scores* scores = as<Scores>(node.inputs[0]); scores && scores->softmax && !scores->turned && right)
    return context(node, *scores, *right);
  const Cells* left = cellsOf(node.inputs[0], node);
  if (const Scores* scores = as<Scores>(node.inputs[1]); scores && scores->turned && left) {  // v^T p^T
    const auto turned = lastTwoSwapped(left->shape.size());
    const Meaning result = context(node, *scores, Algebra::permuted(*left, turned));
    const Cells* cells = std::get_if<Cells>(&result);
    return cells ? Algebra::permuted(*cells, turned) : result;
  }
  right = as<Cells>(node.inputs[1]);
  if (!left || !right) return foreign(node, "a MatMul of something else than tokens", "q k^T or softmax(q k^T) v");
  return scoresOf(node, *left, Algebra::permuted(*right, lastTwoSwapped(right->shape.size())), shapeOf(node));
}

Meaning Interpreter::scoresOf(const Node& node, Cells q, Cells k, Shape shape) const {
  const std::int64_t tokens = algebra_.at(q.term).rows;
  const std::int64_t queries = q.shape[q.shape.size() - 2], keys = k.shape[k.shape.size() - 2];
  const auto heads = [](const Cells& cells) { return Shape(cells.shape.begin(), cells.shape.end() - 2); };
  auto same_q = Algebra::forHeads(q, heads(k)), same_k = Algebra::forHeads(k, heads(q));
  if (same_q && elements(same_q->shape) > elements(q.shape)) q = *same_q;
  if (same_k && elements(same_k->shape) > elements(k.shape)) k = *same_k;
  if (heads(q) != heads(k)) {
    return foreign(node, "q and k of shapes " + toString(q.shape) + " and " + toString(k.shape),
                   "as many heads in k as in q, or one for all");
  }
  const bool several = elements(heads(q)) > 1;
  if (several &&
      (queries != keys || queries < 1 || tokens % queries != 0 || elements(heads(q)) % (tokens / queries) != 0)) {
    return foreign(node,
                   "attention of " + std::to_string(queries) + " to " + std::to_string(keys) + " of " +
                       std::to_string(tokens) + " tokens",
                   kWindowed);
  }
  return Scores{std::move(q), std::move(k), std::nullopt, std::move(shape)};
}

/// The op of opset 23: q, k, v as {1, heads, tokens, head_dim}, or {1, tokens, heads * head_dim}.
Meaning Interpreter::attentionOp(const Node& node) {
  std::vector<Cells> parts;
  const std::int64_t heads = node.integer("q_num_heads", 0);
  for (std::size_t i = 0; i < 3; ++i) {
    const Cells* cells = cellsOf(node.input(i), node);
    if (!cells) return foreign(node, "attention over something else than tokens");
    parts.push_back(*cells);
    if (cells->shape.size() != 3) continue;
    const std::int64_t own = i == 0 ? heads : node.integer("kv_num_heads", heads);
    if (own < 1 || cells->shape[2] % own != 0)
      return foreign(node, "features that are not those of the heads", "q_num_heads and kv_num_heads");
    parts.back().shape = {cells->shape[0], cells->shape[1], own, cells->shape[2] / own};
    parts.back() = Algebra::permuted(parts.back(), {0, 2, 1, 3});
  }
  for (Cells& part : parts) {  // heads of q that are neighbours share a head of k and v
    const Shape &q = parts[0].shape, own = part.shape;
    if (own.size() != 4 || q.size() != 4 || own[1] < 1 || q[1] % own[1] != 0 || own[1] == q[1]) continue;
    part.shape = {own[0] * own[1], 1, own[2], own[3]};
    const auto shared_heads = Algebra::forHeads(part, {own[0] * own[1], q[1] / own[1]});
    if (!shared_heads) return foreign(node, "too many heads", "fewer");
    part = *shared_heads;
    part.shape = {own[0], q[1], own[2], own[3]};
  }
  for (const Cells& part : parts) {
    if (part.shape != parts[0].shape || part.shape.size() != 4)
      return foreign(node, "q, k and v of different shapes", "equal shapes");
  }
  const Tensor* bias = graph_.constant(node.input(3));
  const PositionLogits* positions = node.input(3) < 0 ? nullptr : as<PositionLogits>(node.input(3));
  for (std::size_t i = bias || positions ? 4 : 3; i < node.inputs.size(); ++i)
    if (node.inputs[i] >= 0) return foreign(node, "attention with a mask or a cache", "softmax(scale q k^T) v");
  if (bias && !bias->isFloat()) return foreign(node, "attention with a mask", "softmax(scale q k^T + bias) v");
  if (node.integer("is_causal", 0) != 0 || node.number("softcap", 0) != 0)
    return foreign(node, "causal or capped attention", "softmax(scale q k^T) v");
  const double width = static_cast<double>(parts[0].shape[3]);
  Shape shape = parts[0].shape;
  shape[3] = shape[2];
  Meaning scores = scoresOf(node, parts[0], parts[1], shape);
  if (!std::holds_alternative<Scores>(scores)) return scores;
  std::get<Scores>(scores).scale =
      node.attribute("scale") ? static_cast<double>(node.number("scale", 1)) : 1 / std::sqrt(width);
  if (bias) scores = biased(node, std::get<Scores>(scores), *bias, 1);
  if (positions) scores = positioned(node, std::get<Scores>(scores), *positions);
  if (!std::holds_alternative<Scores>(scores)) return scores;
  std::get<Scores>(scores).softmax = true;
  Meaning result = context(node, std::get<Scores>(scores), parts[2]);
  Cells* cells = std::get_if<Cells>(&result);
  if (cells && shapeOf(node).size() == 3) {
    *cells = Algebra::permuted(*cells, {0, 2, 1, 3});
    cells->shape = shapeOf(node);
  }
  return result;
}

Meaning Interpreter::einsum(const Node& node) {
  const auto refusal = foreign(node, "Einsum '" + node.text("equation", "") + "'", "q k^T or softmax(q k^T) v");
  const Shape &of_a = *graph_.shape(node.inputs[0]), &of_b = *graph_.shape(node.inputs[1]);
  const auto equation = plainEquation(node, of_a.size(), of_b.size());
  if (!equation) return refusal;
  for (const std::size_t weights : {1, 0})
    if (auto result = einsumWithWeights(node, *equation, weights)) return *result;
  const Tensor* constant = graph_.constant(node.inputs[1]);
  const Cells* rows = constant ? cellsOf(node.inputs[0], node) : nullptr;
  if (auto products =
          rows ? rowProducts(*rows, *constant, equation->of[0], equation->of[1], equation->made) : std::nullopt) {
    const Shape shape = products->shape;
    return PositionLogits{{std::move(*products)}, shape};
  }
  // The axes of the batch and the heads, of the rows and columns of the result, and the one that is summed.
  std::string batch, row, column, summed, other;
  const std::string &a = equation->of[0], &b = equation->of[1], &c = equation->made;
  for (const char letter : c + a + b) {
    const auto in = [letter](const std::string& part) { return part.find(letter) != std::string::npos; };
    if (in(batch + row + column + summed + other)) continue;
    const bool both = in(a) && in(b), fits = both ? of_a[a.find(letter)] == of_b[b.find(letter)] : in(c);
    (!fits ? other : !both ? in(a) ? row : column : in(c) ? batch : summed) += letter;
  }
  if (row.size() != 1 || column.size() != 1 || summed.size() != 1 || !other.empty()) return refusal;
  for (const std::size_t first : {0, 1}) {  // which operand has q, or the weights of attention
    const std::string &of_first = equation->of[first], &of_other = equation->of[1 - first];
    if (first == 1) std::swap(row, column);
    const Scores* scores = as<Scores>(node.inputs[first]);
    const bool attends = scores && scores->softmax && !scores->turned && of_first == batch + row + summed;
    if (!attends && c != batch + row + column) continue;
    Cells* right = cellsOf(node.inputs[1 - first], node);
    const Cells* left = attends ? nullptr : cellsOf(node.inputs[first], node);
    right = as<Cells>(node.inputs[1 - first]);
    if (!right || (!attends && !left)) continue;
    const Cells turned = Algebra::permuted(*right, axesOf(of_other, batch + column + summed));
    if (attends) {
      Meaning result = context(node, *scores, Algebra::permuted(turned, lastTwoSwapped(turned.shape.size())));
      Cells* cells = std::get_if<Cells>(&result);
      return cells ? Algebra::permuted(*cells, axesOf(batch + row + column, c)) : result;
    }
    const Cells q = Algebra::permuted(*left, axesOf(of_first, batch + row + summed));
    Shape shape = q.shape;
    shape.back() = turned.shape[turned.shape.size() - 2];
    return scoresOf(node, q, turned, shape);
  }
  return refusal;
}

/// An Einsum of tokens and constant weights as a linear layer: operand `weights` shares the axes that are summed with
/// the tokens, and no other. nullopt for any other Einsum.
std::optional<Meaning> Interpreter::einsumWithWeights(const Node& node, const Equation& equation, std::size_t weights) {
  const Tensor* constant = graph_.constant(node.inputs[weights]);
  const Cells* tokens = constant && constant->isFloat() ? cellsOf(node.inputs[1 - weights], node) : nullptr;
  if (!tokens) return std::nullopt;
  const std::string &a = equation.of[1 - weights], &b = equation.of[weights], &c = equation.made;
  std::string kept, summed, own;
  for (const char letter : a) (c.find(letter) != std::string::npos ? kept : summed) += letter;
  for (const char letter : b)
    if (summed.find(letter) == std::string::npos) own += letter;
  const auto inResult = [&](char letter) { return c.find(letter) != std::string::npos; };
  const bool sums_all = std::ranges::all_of(summed, [&](char letter) {
    const std::size_t at = b.find(letter);
    return at != std::string::npos && constant->shape[at] == tokens->shape[a.find(letter)];
  });
  const auto isKept = [&](char letter) { return kept.find(letter) != std::string::npos; };
  if (kept.empty() || summed.empty() || !sums_all || !std::ranges::all_of(own, inResult) ||
      std::ranges::any_of(own, isKept))
    return std::nullopt;
  Cells rows = Algebra::permuted(*tokens, axesOf(a, kept + summed));
  Shape made(rows.shape.begin(), rows.shape.begin() + std::ssize(kept)), lead = made;
  Integers stride = strides(constant->shape), sides, steps;
  for (const char letter : own + summed) {
    sides.push_back(constant->shape[b.find(letter)]);
    steps.push_back(stride[b.find(letter)]);
  }
  const std::int64_t in = elementsFrom(rows.shape, kept.size()), out = constant->size() / in;
  rows.shape = lead;
  rows.shape.push_back(in);
  made.insert(made.end(), sides.begin(), sides.begin() + std::ssize(own));
  Meaning result = linear(node, std::move(rows), constant->picked({out, in}, strided(sides, steps)),
                          Tensor::of({out}, std::vector<float>(out, 0.0f)));
  Cells* cells = std::get_if<Cells>(&result);
  if (!cells) return std::nullopt;
  cells->shape = made;
  return Algebra::permuted(*cells, axesOf(kept + own, c));
}

Meaning Interpreter::scoresArithmetic(const Node& node, const Scores& scores, const Tensor& constant) {
  if (scores.softmax) return foreign(node, "attention weights plus or times a constant", "softmax(scale q k^T) v");
  const auto number = constant.uniform();
  if (node.op == "Add" || node.op == "Sub") {
    if (number && std::abs(*number) < 1e4) {  // the same for all keys, and fp32 rounds no logit away
      Scores shifted = scores;
      shifted.shifted = scores.shifted || *number != 0;
      return shifted;
    }
    if (number) return foreign(node, "a huge number added to attention logits (mask)", "softmax(scale q k^T) v");
    return biased(node, scores, constant, node.op == "Add" ? 1 : -1);
  }
  Scores result = scores;
  if (!number) {
    // A factor per head, the same for all queries and keys.
    const Shape& shape = scores.shape;
    const std::size_t rank = shape.size(), own = constant.shape.size();
    const bool per_head = own >= 3 && own <= rank && constant.shape[own - 1] == 1 && constant.shape[own - 2] == 1;
    if (!per_head || scores.bias || !scores.positions.empty() || scores.query)
      return foreign(node, "attention logits times a constant matrix (mask)", "softmax(scale q k^T) v");
    Shape heads = shape;  // {.., heads, 1, 1}
    heads[rank - 1] = heads[rank - 2] = 1;
    std::vector<float> factors = constant.broadcastTo(heads);
    for (std::size_t h = 0; h < factors.size(); ++h) {
      if (node.op == "Div") factors[h] = 1 / factors[h];
      if (!scores.head_scale.empty()) factors[h] *= scores.head_scale[h];
    }
    result.head_scale = std::move(factors);
    return result;
  }
  const double factor = node.op == "Mul" ? *number : 1 / *number;
  result.scale *= factor;
  if (result.bias) result.bias = scaled(*result.bias, factor);
  for (RowProducts& part : result.positions) part.rows.scale *= factor;
  return result;
}

/// Logits plus factor * constant.
Meaning Interpreter::biased(const Node& node, Scores scores, const Tensor& constant, double factor) {
  const std::size_t rank = scores.shape.size();
  const std::int64_t queries = scores.shape[rank - 2], keys = scores.shape[rank - 1];
  const std::int64_t count = elements(scores.shape, Algebra::kMaxCells);
  if (scores.query || queries != keys || keys != algebra_.at(scores.k.term).rows || constant.shape.size() > rank)
    return foreign(node, "a constant added to logits that are not of all tokens to all tokens", kWindowed);
  scores.bias =
      pair_biases_.make(constant.broadcastTo(scores.shape), count / (queries * keys), keys, factor, scores.bias.get());
  return scores;
}

/// Logits plus products of q with constants.
Meaning Interpreter::positioned(const Node& node, Scores scores, const PositionLogits& logits) const {
  auto parts = broadcastParts(logits, scores.shape);
  if (scores.query || scores.softmax || !parts) {
    return foreign(node, "products of tokens and constants added to something else than logits",
                   "relative positions of rows and of columns");
  }
  scores.positions.insert(scores.positions.end(), parts->begin(), parts->end());
  return scores;
}

Meaning Interpreter::softmax(const Node& node) {
  const Scores* scores = as<Scores>(node.inputs[0]);
  if (!scores || scores->softmax) return foreign(node, "a Softmax of something else than q k^T");
  // Before opset 13 the default is 1, and every axis from there on is taken together.
  const std::int64_t axis = node.integer("axis", graph_.opset < 13 ? 1 : -1);
  const bool of_keys = scores->shape.back() == scores->k.shape[scores->k.shape.size() - 2];
  if (!of_keys || (axis != -1 && axis != std::ssize(scores->shape) - 1))
    return foreign(node, "a Softmax over another axis than the last");
  Scores result = *scores;
  result.softmax = true;
  return result;
}

/// Exporters guard the softmax of a masked row: Where(IsNaN(p), 0, p). Without a mask it never applies.
Meaning Interpreter::where(const Node& node) {
  const Scores* scores = as<Scores>(node.input(2));
  const Tensor* zero = graph_.constant(node.input(1));
  const Node* condition = graph_.producer(node.input(0));
  if (scores && scores->softmax && zero && zero->uniform() == 0.0 && condition && condition->op == "IsNaN" &&
      condition->inputs[0] == node.inputs[2])
    return *scores;
  return foreign(node, "a choice between tensors (mask)");
}

/// Attention pooling: one learned query per head.
Meaning Interpreter::pooledContext(const Node& node, const Scores& scores, const Cells& v) {
  const auto k_view = algebra_.heads(scores.k), v_view = algebra_.heads(v);
  const std::int64_t width = v.shape.back(), cols = scores.query->size();
  if (!k_view || !v_view || k_view->windows != 1 || !k_view->column_scale.empty() || !v_view->column_scale.empty() ||
      scores.query->shape[scores.query->shape.size() - 2] != 1 || std::ssize(k_view->column) != cols ||
      k_view->layout() != v_view->layout() || k_view->rotation || v_view->rotation)
    return foreign(node, "attention pooling that is not one learned query over all tokens", kWindowed);
  Term term = termOf(TermKind::kAttentionPool, {k_view->term, v_view->term}, 1, cols, node);
  term.heads = cols / width;
  term.weight = scores.query->reshaped({cols});
  term.k = *k_view;
  term.v = *v_view;
  term.scale = scores.scale * k_view->scale;
  return Cells{algebra_.add(std::move(term)), shapeOf(node), nullptr, nullptr, 1};
}

Meaning Interpreter::context(const Node& node, const Scores& scores, const Cells& given) {
  if (scores.query) return pooledContext(node, scores, given);
  const Cells v = Algebra::forHeads(given, Shape(scores.q.shape.begin(), scores.q.shape.end() - 2)).value_or(given);
  const auto q_view = algebra_.heads(scores.q), k_view = algebra_.heads(scores.k), v_view = algebra_.heads(v);
  const auto noRotation = [](const auto& view, const Cells& cells) { return !view && cells.blend; };
  if (noRotation(q_view, scores.q) || noRotation(k_view, scores.k) || noRotation(v_view, v)) {
    return foreign(node, "q, k or v times a constant that differs from token to token (mask)",
                   "rotary positions on q and k at most");
  }
  if (!q_view || !k_view || !v_view) {
    const std::int64_t keys = scores.k.shape[scores.k.shape.size() - 2], rows = algebra_.at(v.term).rows;
    if (keys != rows) {
      return foreign(node, "attention to " + std::to_string(keys) + " of " + std::to_string(rows) + " tokens",
                     kWindowed);
    }
    return foreign(node, "heads or tokens of attention out of order", kWindowed);
  }
  if (q_view->layout() != k_view->layout() || v_view->layout() != k_view->layout())
    return foreign(node, "q, k and v of different sizes or in different orders of tokens", "one size and one order");
  const std::int64_t width = v_view->width, tokens = v_view->tokens, windows = v_view->windows;
  const auto heads = std::ssize(v_view->column) / width;
  if (windows != 1 && !scores.head_scale.empty())
    return foreign(node, "a factor per head or window on the logits of windows", "one factor for all");
  if (v_view->rotation || q_view->rotation != k_view->rotation || q_view->order != k_view->order)
    return foreign(node, "rotary positions on v, or other ones on q than on k", "the same on q and k");
  Term term =
      termOf(TermKind::kAttention, {q_view->term, k_view->term, v_view->term}, windows * tokens, heads * width, node);
  term.heads = heads;
  term.q = timesHeads(*q_view, scores.head_scale);
  term.k = *k_view;
  term.v = *v_view;
  term.scale = scores.scale * q_view->scale * k_view->scale;
  term.pair_bias = pair_biases_.reordered(scores.bias, q_view->row_of);
  if (!scores.positions.empty()) {
    auto positions = relativePositions(scores.positions, scores.q);
    if (!positions || !term.q.column_scale.empty() || term.q.rotation) {
      return foreign(node, "products of tokens and constants added to logits",
                     "relative positions of rows and of columns, of q as it is before its scale");
    }
    term.relative_positions = shared(std::move(*positions));
  }
  // Rows of the term are {heads, head_dim}; the graph has the heads in front of the tokens.
  Cells by_token = algebra_.cells({-1, {windows * tokens}, q_view->row_of}, algebra_.add(std::move(term)));
  by_token.shape = {windows, tokens, heads, width};
  Cells result = Algebra::permuted(by_token, {0, 2, 1, 3});
  result.shape = v.shape;
  return result;
}

Meaning Interpreter::product(const Node& node, const Scores& scores) {
  if (scores.query) return foreign(node, "a constant times tokens", "a softmax over the keys");
  if (scores.bias || !scores.positions.empty() || !scores.head_scale.empty() || scores.shifted)
    return foreign(node, "q k^T plus or times a constant", "a softmax over the keys");
  Cells left = scores.q, right = scores.k;
  const auto a = algebra_.rows(left, node), b = algebra_.rows(right, node);
  const bool one = elementsBefore(scores.shape, scores.shape.size() - 2) == 1;
  if (!a || !b || !one) return foreign(node, "q k^T used for something else than attention", "a softmax over the keys");
  const RowView rows = algebra_.arranged(*a, node), others = algebra_.arranged(*b, node);
  Term term = termOf(TermKind::kProduct, {rows.term, others.term}, algebra_.at(rows.term).rows,
                     algebra_.at(others.term).rows, node);
  term.scale = scores.scale;
  return Cells{algebra_.add(std::move(term)), scores.shape, nullptr, nullptr, 1};
}

}  // namespace mpm::onnx_graph
