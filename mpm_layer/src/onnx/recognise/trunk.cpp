// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/trunk.h"

#include <algorithm>
#include <set>

#include "onnx/model/data_movement.h"

namespace mpm::onnx_graph {
namespace {

/// The image's tokens as an arrangement of the patches: specials in front, then every patch in raster order.
std::optional<Embedding> embeddingOf(const std::vector<Term>& terms, int index) {
  const auto at = [&](int i) -> const Term& { return terms[i]; };
  const Term& term = at(index);
  const bool bare = term.kind == TermKind::kPatches;
  if (!bare && term.kind != TermKind::kArrange) return std::nullopt;
  int base = bare ? index : term.inputs[0];
  std::optional<NormPart> norm;
  if (at(base).kind == TermKind::kNorm) {
    norm = normPart(at(base));
    base = at(base).inputs[0];
  }
  if (at(base).kind != TermKind::kPatches) return std::nullopt;
  const Term& patches = at(base);
  const std::int64_t dim = patches.cols;
  Embedding result{patches.grid, term.rows - patches.rows, patches.weight, std::move(norm), {}, {}, {}};
  if (result.special < 0 || term.cols != dim) return std::nullopt;
  if (!bare && (term.scale != 1 || !countsBehind(term.row_of, result.special) || !isCounting(term.col_of)))
    return std::nullopt;
  std::vector<float> offset = term.offset;
  offset.resize(term.rows * dim, 0.0f);
  result.specials.assign(offset.begin(), offset.begin() + result.special * dim);
  result.position.assign(offset.begin() + result.special * dim, offset.end());
  if (result.norm) result.bias = *patches.bias.floats;
  for (std::size_t i = 0; i < result.position.size() && !result.norm; ++i)
    result.position[i] += (*patches.bias.floats)[i % static_cast<std::size_t>(dim)];
  return result;
}

bool readBy(const std::vector<Term>& terms, const std::vector<int>& users, TermKind kind) {
  return std::ranges::any_of(users, [&](int user) { return terms[user].kind == kind; });
}

/// The start of a residual stream that contains patches but is not an embedding.
const Node* oddEmbedding(const std::vector<Term>& terms, const std::vector<std::vector<int>>& users) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].kind == TermKind::kArrange && terms[terms[i].inputs[0]].kind == TermKind::kPatches &&
        readBy(terms, users[i], TermKind::kAdd) && readBy(terms, users[i], TermKind::kNorm) &&
        !embeddingOf(terms, static_cast<int>(i)))
      return terms[i].node;
  }
  return nullptr;
}

/// True for a product of two tensors that may both depend on the image, as in attention.
bool isProduct(const Graph& graph, const Node& node) {
  const bool product = node.op == "MatMul" || node.op == "Einsum" || node.op == "Attention";
  return product && node.domain.empty() && !graph.constant(node.input(0)) && !graph.constant(node.input(1));
}

/// Number of convolutions before attention that shrink the image or read neighbours. More than the patch embedding
/// means that the backbone is not a plain ViT. Convolutions after all attention belong to the head. Without attention,
/// all count.
int spatialConvolutions(const Graph& graph) {
  const bool attends = std::ranges::any_of(graph.nodes, [&](const Node& node) { return isProduct(graph, node); });
  std::set<int> attended;  // tensors that attention depends on
  int count = 0;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool ahead = std::ranges::any_of(node->outputs, [&](int output) { return attended.contains(output); });
    if (ahead || isProduct(graph, *node)) attended.insert(node->inputs.begin(), node->inputs.end());
    attended.erase(-1);  // left out
    if (!node->domain.empty() || node->op != "Conv" || (attends && !ahead)) continue;
    const Tensor* weight = graph.constant(node->input(1));
    if (weight && weight->shape.size() == 4 && (weight->shape[2] > 1 || weight->shape[3] > 1)) ++count;
  }
  return count;
}

/// The first node that reads recognised values and is not recognised itself.
const Foreign* firstForeign(const Graph& graph, const Interpretation& found) {
  for (const Node& node : graph.nodes) {
    for (const int output : node.outputs)
      if (const Foreign* foreign = found.as<Foreign>(output)) return foreign;
  }
  return nullptr;
}

/// True when `node` and a Softmax meet with nothing but elementwise steps and moved data between them.
bool meetsSoftmax(const Graph& graph, const Node& node) {
  const auto passes = [](const Node& step) {
    const bool elementwise = isOneOf(step.op, {"Add", "Sub", "Mul", "Div", "Where", "IsNaN", "Pow", "Clip"});
    return step.domain.empty() && (elementwise || movesData(step));
  };
  const auto isSoftmax = [](const Node& step) { return step.domain.empty() && step.op == "Softmax"; };
  // From the values `from` on: to nodes behind that read them, or to nodes in front that make them.
  const auto leadsThere = [&](auto begin, auto end, const std::vector<int>& from, auto in, auto out) {
    std::set<int> reached(from.begin(), from.end());
    for (auto step = begin; step != end; ++step) {
      const std::vector<int>&touched = (*step).*in, &next = (*step).*out;
      if (std::ranges::none_of(touched, [&](int value) { return reached.contains(value); })) continue;
      if (isSoftmax(*step)) return true;
      if (passes(*step)) reached.insert(next.begin(), next.end());
    }
    return false;
  };
  return leadsThere(graph.nodes.begin(), graph.nodes.end(), node.outputs, &Node::inputs, &Node::outputs) ||
         leadsThere(graph.nodes.rbegin(), graph.nodes.rend(), node.inputs, &Node::outputs, &Node::inputs);
}

/// True for a constant, and for what convolutions and the like make of the image or of tokens, also where the features
/// of several blocks are joined: what a decoder, such as that of RF-DETR, reads.
bool isOfMaps(const Graph& graph, const Interpretation& found, int value) {
  if (value < 0 || graph.constant(value)) return true;
  const Foreign* foreign = found.as<Foreign>(value);
  return foreign && isOneOf(foreign->node->op, {"Concat", "Conv", "ConvTranspose", "GridSample", "MaxPool", "Resize"});
}

/// True when the graph contains an unknown kind of attention. Other products of tokens, such as that of queries and
/// pixels, belong to the head, and so does attention to maps alone, as in Mask2Former.
bool attendsOtherwise(const Graph& graph, const Interpretation& found) {
  return std::ranges::any_of(graph.nodes, [&](const Node& node) {
    const auto of_maps = [&](int value) { return isOfMaps(graph, found, value); };
    if (std::ranges::all_of(node.inputs, of_maps)) return false;
    const Scores* scores = found.as<Scores>(node.input(0));
    if (scores && scores->query) return false;  // learned queries pool tokens, no block does that
    return isProduct(graph, node) && found.as<Foreign>(node.outputs[0]) &&
           (node.op == "Attention" || meetsSoftmax(graph, node));
  });
}

[[noreturn]] void refuseTrunk(const Graph& graph, const Interpretation& found, const std::string& otherwise) {
  const Foreign* foreign = firstForeign(graph, found);
  if (!foreign) throw Error(otherwise);
  std::string expected = foreign->expected;
  if (spatialConvolutions(graph) > 1 && expected.find("windowed") == std::string::npos) {
    expected =
        "a plain ViT (this is a hierarchical or convolutional backbone: " + std::to_string(spatialConvolutions(graph)) +
        " convolutions look beyond one patch)";
  }
  refuse(*foreign->node, foreign->found, expected);
}

/// Rotary positions are of the patches: those of special tokens rotate by no angle.
void requireUnrotatedSpecials(const Trunk& trunk) {
  for (const Block& block : trunk.chain.blocks) {
    if (!block.rotation) continue;
    const Rotation& rotation = *block.rotation;
    for (std::int64_t i = 0; i < std::ssize(rotation.cosine); ++i) {
      const bool special = i / rotation.pairs % rotation.rows < trunk.embedding.special;
      if (special && (rotation.cosine[i] != 1 || rotation.sine[i] != 0))
        throw Error("found rotary positions on special tokens, expected them on patches only");
    }
  }
}

/// Rows that take the place of others take that of all special tokens, and of no patch.
void requireAllReplaced(const Trunk& trunk) {
  std::int64_t special = trunk.embedding.special;
  for (const LateTokens& late : trunk.chain.late) {
    if (late.replaced != 0 && late.replaced != special) {
      refuse(*late.node,
             std::to_string(late.replaced) + " tokens of " + std::to_string(special) + " special ones replaced",
             "all special tokens, or none");
    }
    special += late.rows - late.replaced;
  }
}

}  // namespace

std::vector<std::vector<int>> usersOf(const std::vector<Term>& terms) {
  std::vector<std::vector<int>> users(terms.size());
  for (std::size_t i = 0; i < terms.size(); ++i) {
    for (const int input : terms[i].inputs) users[input].push_back(static_cast<int>(i));
  }
  return users;
}

Trunk recogniseTrunk(const Graph& graph, const Interpretation& found) {
  const std::vector<Term>& terms = found.terms;
  const auto users = usersOf(terms);
  if (std::ranges::none_of(terms, [](const Term& t) { return t.kind == TermKind::kPatches; })) {
    refuseTrunk(graph, found,
                "no patch embedding (a convolution over the image, or a linear layer over its patches) found, expected "
                "a plain ViT");
  }
  std::string obstacle;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    auto embedding = embeddingOf(terms, static_cast<int>(i));
    if (!embedding) continue;
    Trunk trunk;
    int stream = static_cast<int>(i);
    if (!readBy(terms, users[i], TermKind::kAdd)) {
      const auto norm = std::ranges::find_if(users[i], [&](int user) {
        return terms[user].kind == TermKind::kNorm && readBy(terms, users[user], TermKind::kAdd);
      });
      if (norm == users[i].end()) continue;
      stream = *norm;
      trunk.pre_norm = normPart(terms[stream]);
    }
    trunk.chain = followBlocks(terms, stream);
    // A node that was not recognised explains more than the place where its result is missing.
    if (trunk.chain.half_a_block || attendsOtherwise(graph, found)) refuseTrunk(graph, found, trunk.chain.obstacle);
    if (trunk.chain.blocks.empty()) {
      if (obstacle.empty()) obstacle = trunk.chain.obstacle;
      continue;
    }
    // If the walk ended at something that looks like a block, half of the ViT would become part of the head.
    if (!trunk.chain.obstacle.empty()) throw Error(trunk.chain.obstacle);
    trunk.embedding = std::move(*embedding);
    trunk.dim = terms[i].cols;
    // Before the first block, special tokens may join behind an interaction of the patches.
    if (auto& late = trunk.chain.late; !late.empty() && late.front().block == 0 && late.front().replaced == 0 &&
                                       !trunk.pre_norm &&
                                       (trunk.chain.positions.empty() || trunk.chain.positions.front().block > 0)) {
      Embedding& start = trunk.embedding;
      start.special += late.front().rows;
      start.specials.insert(start.specials.begin(), late.front().values.begin(), late.front().values.end());
      late.erase(late.begin());
    }
    requireUnrotatedSpecials(trunk);
    requireAllReplaced(trunk);
    return trunk;
  }
  if (!obstacle.empty()) throw Error(obstacle);
  if (const Node* odd = oddEmbedding(terms, users))
    refuse(*odd, "patches left out or repeated", "special tokens and every patch once");
  refuseTrunk(graph, found, "no transformer block behind the patch embedding, expected a plain ViT");
}

}  // namespace mpm::onnx_graph
