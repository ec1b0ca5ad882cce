// SPDX-License-Identifier: Apache-2.0
#include "onnx/recognise/meaning.h"

#include <algorithm>
#include <map>

#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"
#include "onnx/recognise/canonical.h"
#include "onnx/recognise/interpreter.h"

namespace mpm::onnx_graph {
namespace {

constexpr std::int64_t kMaxTokens = std::int64_t{1} << 17;

using Axes = std::vector<std::size_t>;

bool all(const std::optional<Integers>& values, std::int64_t expected) {
  return !values || std::ranges::all_of(*values, [expected](std::int64_t v) { return v == expected; });
}

/// The bias of a convolution, zeros where it has none; nullopt when it is not constant.
std::optional<Tensor> biasOf(const Graph& graph, const Node& node, std::int64_t channels) {
  const Tensor* bias = graph.constant(node.input(2));
  if (node.input(2) < 0) return Tensor::of({channels}, std::vector<float>(channels, 0.0f));
  return bias && bias->size() == channels && bias->isFloat() ? std::optional(*bias) : std::nullopt;
}

}  // namespace

Interpretation interpret(const Graph& graph) { return Interpreter(graph).run(); }

Interpreter::Interpreter(const Graph& graph) : graph_(graph), meaning_(graph.values.size()) {}

Interpretation Interpreter::run() {
  const Shape* image = graph_.shape(graph_.image);
  if (image && image->size() == 4) {
    const auto channels = static_cast<std::size_t>((*image)[1]);
    meaning_[graph_.image] = ImageCells{std::vector<float>(channels, 1.0f), std::vector<float>(channels, 0.0f), *image};
  }
  std::vector<bool> of_image(graph_.values.size(), false);
  of_image[graph_.image] = true;
  for (const Node& node : graph_.nodes) {
    // Nodes that read no value of the image stay without a meaning, also constants that could not be folded. They are
    // reported where they meet the tokens. The body of a control flow node may read the image.
    const bool has_body = node.domain.empty() && isOneOf(node.op, {"If", "Loop", "Scan"});
    const auto isOfImage = [&](int value) { return value >= 0 && of_image[value]; };
    if (!has_body && std::ranges::none_of(node.inputs, isOfImage)) continue;
    for (const int value : node.outputs) of_image[value] = true;
    if (movesData(node)) {
      move(node);
      for (const int value : node.outputs) shareIds(meaning_[value]);
      continue;
    }
    const Foreign* cause = foreignInput(node);
    const int out = node.outputs[0];
    meaning_[out] = asShaped(node, cause ? withForeign(node, *cause) : interpretNode(node));
    for (std::size_t i = 1; i < node.outputs.size(); ++i) meaning_[node.outputs[i]] = foreign(node, "a second output");
    shareIds(meaning_[out]);
  }
  return {std::move(algebra_.terms), std::move(meaning_)};
}

void Interpreter::shareIds(Meaning& meaning) {
  constexpr std::size_t kMaxKept = 64;  // a ViT has about ten, at any depth
  const auto shareOne = [](auto& value, auto& kept) {
    if (!value) return;
    const auto equal = std::ranges::find_if(kept, [&](const auto& one) { return *one == *value; });
    if (equal != kept.end())
      value = *equal;
    else if (kept.size() < kMaxKept)
      kept.push_back(value);
  };
  const auto share = [&](Cells& cells) {
    shareOne(cells.ids, ids_);
    shareOne(cells.blend, blends_);
  };
  if (Cells* cells = std::get_if<Cells>(&meaning)) share(*cells);
  if (Scores* scores = std::get_if<Scores>(&meaning)) {
    share(scores->q);
    share(scores->k);
  }
}

/// Checks that the cells have as many elements as the tensor. A constant of a higher rank, or heads along another axis,
/// may have repeated them, which no pattern expects.
Meaning Interpreter::asShaped(const Node& node, Meaning meaning) const {
  Cells* cells = std::get_if<Cells>(&meaning);
  Scores* scores = std::get_if<Scores>(&meaning);
  if (!cells && !scores) return meaning;
  Shape& found = cells ? cells->shape : scores->shape;
  if (withoutOnes(shapeOf(node)) != withoutOnes(found))
    return foreign(node, "a result repeated by broadcasting", "as many elements as the tokens have");
  found = shapeOf(node);
  return meaning;
}

Meaning Interpreter::interpretNode(const Node& node) {
  const std::string& op = node.op;
  const bool takes_blends =
      node.domain.empty() && isOneOf(op, {"Add", "Sub", "Mul", "Div", "Neg", "MatMul", "Einsum", "Attention"});
  for (const int value : node.inputs) {
    if (const Cells* cells = as<Cells>(value); cells && cells->blend && !takes_blends) {
      return foreign(node, "tokens times a constant that differs from token to token (mask)",
                     "rotary positions on q and k");
    }
  }
  using Interpret = Meaning (Interpreter::*)(const Node&);
  static const std::map<std::string, Interpret> kOps = {
      {"Conv", &Interpreter::convolution}, {"Add", &Interpreter::arithmetic},  {"Sub", &Interpreter::arithmetic},
      {"Mul", &Interpreter::arithmetic},   {"Div", &Interpreter::arithmetic},  {"MatMul", &Interpreter::matMul},
      {"Einsum", &Interpreter::einsum},    {"Softmax", &Interpreter::softmax}, {"Attention", &Interpreter::attentionOp},
      {"Where", &Interpreter::where},      {"ArgMax", &Interpreter::argMax}};
  static const std::map<std::string, Interpret> kOpsOfTokens = {{"Neg", &Interpreter::negative},
                                                                {"Pad", &Interpreter::pad},
                                                                {"ReduceMean", &Interpreter::mean},
                                                                {"GlobalAveragePool", &Interpreter::mean},
                                                                {"Resize", &Interpreter::resize}};
  const auto at = [&](const auto& ops) { return node.domain.empty() && ops.contains(op) ? ops.at(op) : nullptr; };
  if (node.domain.empty() && op == "IsNaN" && as<Scores>(node.inputs[0])) return {};  // see where()
  const Interpret of_tokens = node.domain == kCanonical ? &Interpreter::rowWise : at(kOpsOfTokens), other = at(kOps);
  if (!of_tokens && !other) return foreign(node, "the op " + (node.domain.empty() ? "" : node.domain + ".") + op);
  for (const int value : node.inputs) {
    if (value < 0 || graph_.constant(value) || !std::holds_alternative<std::monostate>(meaning_[value])) continue;
    const Node* const maker = graph_.producer(value);
    if (maker && op != "Where")
      return foreign(node, "constants behind the op " + maker->op + " (mask, relative position bias)");
  }
  if (!graph_.shape(node.outputs[0])) return foreign(node, "a tensor of unknown shape");
  if (node.domain == kCanonical && op == "Linear") {
    if (const ImageCells* image = as<ImageCells>(node.inputs[0])) return patchRows(node, *image);
  }
  if (of_tokens && !cellsOf(node.inputs[0], node)) {
    const Foreign* cause = foreignInput(node);  // a product that is no attention
    return cause ? *cause : foreign(node, "the op " + op + " of something else than tokens");
  }
  return (this->*(of_tokens ? of_tokens : other))(node);
}

Meaning Interpreter::foreign(const Node& node, std::string found, std::string expected) const {
  return Foreign{&node, std::move(found), std::move(expected)};
}

const Foreign* Interpreter::foreignInput(const Node& node) {
  for (const int value : node.inputs)
    if (const Foreign* found = as<Foreign>(value)) return found;
  return nullptr;
}

Cells* Interpreter::cellsOf(int value, const Node& node) {
  if (const Scores* scores = as<Scores>(value); scores && !scores->softmax) meaning_[value] = product(node, *scores);
  return as<Cells>(value);
}

void Interpreter::move(const Node& node) {
  const auto give = [&](const Meaning& meaning) {
    for (const int output : node.outputs) meaning_[output] = meaning;
  };
  if (const Foreign* cause = foreignInput(node)) return give(*cause);
  if (Meaning logits = moveLogits(node, node.input(0)); !std::holds_alternative<std::monostate>(logits))
    return give(logits);
  const std::vector<int> inputs = movedInputs(node);
  if (std::ranges::all_of(inputs, [&](int value) { return as<ImageCells>(value) != nullptr; })) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] >= 0) meaning_[node.outputs[i]] = movedImage(node, i);
    return;
  }
  int last_term = -1;
  for (const int value : inputs)
    if (const Cells* cells = cellsOf(value, node)) last_term = std::max(last_term, cells->term);
  std::vector<Cells> parts;  // a constant has no term
  std::int64_t total = 0;
  for (const int value : inputs) {
    const Cells* cells = as<Cells>(value);
    if (!cells && !graph_.constant(value)) return give(foreign(node, "something else than tokens moved"));
    const bool same_term = !cells || cells->term == last_term;
    const auto part = same_term ? std::optional(cells ? *cells : Cells()) : unchangedIn(last_term, *cells);
    if (!part) return give(foreign(node, "different features joined", "features of one layer"));
    parts.push_back(*part);
    if (const Shape* shape = graph_.shape(value)) total += elements(*shape);
  }
  const auto movements = last_term >= 0 && total <= Algebra::kMaxCells ? moveData(graph_, node, true) : std::nullopt;
  if (!movements && node.op.starts_with("Scatter"))
    return give(foreign(node, "elements replaced at computed places, twice or by a sum", "constant places, each once"));
  if (!movements) return give(foreign(node, "a shape that depends on the image", "static shapes"));

  const auto isOfTokens = [](const Cells& part) { return part.term >= 0; };
  Cells all = *std::ranges::find_if(parts, isOfTokens);
  const bool blends = parts.size() > 1 && std::ranges::any_of(parts, [&](const Cells& part) {
                        return isOfTokens(part) && (part.blend || part.scale != all.scale);
                      });
  if (blends) {
    for (Cells& part : parts) part = isOfTokens(part) ? blended(part) : part;
    all = *std::ranges::find_if(parts, isOfTokens);
  }
  const bool offsets = std::ranges::any_of(parts, [&](const Cells& part) { return !isOfTokens(part) || part.offset; });
  if (offsets && parts.size() > 1 && all.scale != 1)
    return give(foreign(node, "a scaled feature joined with constants", "constants and tokens as they are"));
  if (parts.size() > 1) {  // end to end
    std::vector<std::int32_t> ids;
    std::vector<float> offset;
    Blend blend;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Cells& part = parts[i];
      const Tensor* constant = graph_.constant(inputs[i]);
      for (std::int64_t k = 0, count = elements(*graph_.shape(inputs[i])); k < count; ++k) {
        ids.push_back(constant ? -1 : part.id(k));
        if (offsets)
          offset.push_back(constant ? static_cast<float>(constant->at(k)) : part.offset ? (*part.offset)[k] : 0.0f);
        if (blends) blend.push_back(constant ? BlendedElement() : (*part.blend)[k]);
      }
    }
    all.ids = shared(std::move(ids));
    all.offset = offsets ? shared(std::move(offset)) : nullptr;
    all.blend = blends ? shared(std::move(blend)) : nullptr;
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    Meaning& result = meaning_[node.outputs[i]];
    if (i >= movements->size()) {
      result = foreign(node, "a second output");
      continue;
    }
    const Movement& movement = (*movements)[i];
    elements(movement.shape, Algebra::kMaxCells);
    all.shape = movement.shape;
    result = movement.in_order ? all : Algebra::rearranged(all, movement.shape, movement.from);
  }
}

/// Output `output` of a node that moves pixels of the image.
Meaning Interpreter::movedImage(const Node& node, std::size_t output) const {
  const std::vector<int> inputs = movedInputs(node);
  const auto part = [&](std::size_t i) -> const ImageCells& { return std::get<ImageCells>(meaning_[inputs[i]]); };
  ImageCells result{part(0).scale, part(0).offset, {}};
  std::int64_t total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (part(i).scale != result.scale || part(i).offset != result.offset)
      return foreign(node, "parts of the image that are normalised in different ways", "one normalisation");
    total += elements(part(i).shape);
  }
  const auto movements = total <= Algebra::kMaxCells ? moveData(graph_, node, true) : std::nullopt;
  if (!movements || output >= movements->size())
    return foreign(node, "a shape that depends on the image", "static shapes");
  const Movement& movement = (*movements)[output];
  elements(movement.shape, Algebra::kMaxCells);
  result.shape = movement.shape;
  result.ids = part(0).ids;
  if (movement.in_order) return result;
  std::vector<std::int32_t> all, ids;  // of the parts, end to end
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::int64_t k = 0; k < elements(part(i).shape); ++k) all.push_back(static_cast<std::int32_t>(part(i).id(k)));
  for (const std::int64_t from : movement.from) ids.push_back(all[static_cast<std::size_t>(from)]);
  std::int32_t next = 0;
  const bool in_order = std::ranges::all_of(ids, [&](std::int32_t id) { return id == next++; });
  result.ids = in_order ? nullptr : shared(std::move(ids));
  return result;
}

/// The cells as those of a sum of tokens and something else, when it leaves their rows as they are, as the class token
/// beside patches that an adapter changes.
std::optional<Cells> Interpreter::unchangedIn(int sum, const Cells& cells) const {
  const Term& term = algebra_.at(sum);
  if (term.kind != TermKind::kAdd || algebra_.at(term.inputs[1]).kind != TermKind::kOutside) return std::nullopt;
  const std::int64_t zeros = algebra_.at(term.inputs[1]).zeros;
  for (std::int64_t i = 0; i < elements(cells.shape); ++i) {
    const std::int32_t id = cells.id(i);
    if (id >= 0 && (cells.term != term.inputs[0] || id / term.cols >= zeros)) return std::nullopt;
  }
  Cells result = cells;
  result.term = sum;
  return result;
}

/// Logits in another shape, or with queries and keys exchanged; monostate for other values, and where elements change
/// places otherwise.
Meaning Interpreter::moveLogits(const Node& node, int value) const {
  const Meaning& meaning = meaning_[value];
  if (!std::holds_alternative<Scores>(meaning) && !std::holds_alternative<PositionLogits>(meaning)) return {};
  const auto perm = node.op == "Transpose" ? node.integers("perm") : std::nullopt;
  if (const Scores* scores = std::get_if<Scores>(&meaning); scores && perm && perm->size() == scores->shape.size()) {
    const std::size_t rank = perm->size();
    Integers back = *perm;
    if (rank >= 2) std::swap(back[rank - 1], back[rank - 2]);
    const bool bare = !scores->query && !scores->bias && scores->positions.empty();
    if (isCounting(back) && (scores->softmax || bare)) {
      Scores turned = *scores;
      std::swap(turned.shape[rank - 1], turned.shape[rank - 2]);
      if (scores->softmax)
        turned.turned = !turned.turned;
      else
        std::swap(turned.q, turned.k);
      return turned;
    }
  }
  const auto movements = moveData(graph_, node, false);
  if (!movements || movements->size() != 1 || !movements->front().in_order) return {};
  Meaning result = meaning;
  if (Scores* scores = std::get_if<Scores>(&result)) scores->shape = movements->front().shape;
  if (PositionLogits* logits = std::get_if<PositionLogits>(&result)) logits->shape = movements->front().shape;
  return result;
}

/// Rows of zeros around a grid of tokens.
Meaning Interpreter::pad(const Node& node) {
  const Cells* cells = as<Cells>(node.inputs[0]);
  const Shape& out = shapeOf(node);
  const std::size_t rank = out.size();
  const auto pads = padsOf(graph_, node, rank);
  const Tensor* value = graph_.constant(node.input(2));
  const bool zeros =
      node.text("mode", "constant") == "constant" && (node.input(2) < 0 || (value && value->uniform() == 0.0));
  if (!zeros || std::ranges::any_of(*pads, [](std::int64_t pad) { return pad < 0; }))
    return foreign(node, "a padded grid of tokens", "zeros around the tokens of a window");
  const Shape stride = strides(out);
  std::int64_t first = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) first += (*pads)[axis] * stride[axis];
  Integers source(elements(out, Algebra::kMaxCells), -1);
  const Integers places = strided(cells->shape, stride, first);
  for (std::size_t i = 0; i < places.size(); ++i) source[places[i]] = static_cast<std::int64_t>(i);
  return Algebra::rearranged(*cells, out, source);
}

Meaning Interpreter::convolution(const Node& node) {
  const Tensor* weight = graph_.constant(node.input(1));
  if (!weight || !weight->isFloat()) return foreign(node, "a convolution with weights that are not constant");
  const std::int64_t out = weight->shape[0];
  if (const ImageCells* image = as<ImageCells>(node.inputs[0])) {
    return weight->shape.size() == 4 ? patches(node, *image)
                                     : foreign(node, "a convolution along one axis of the image");
  }
  const bool pointwise = weight->size() == out * weight->shape[1] && node.integer("group", 1) == 1 &&
                         all(node.integers("strides"), 1) && all(node.integers("pads"), 0);
  const Cells* map = cellsOf(node.inputs[0], node);
  if (!pointwise || !map) {
    return foreign(node, "a convolution over tokens",
                   "a plain ViT (this looks like a convolutional or hierarchical backbone)");
  }
  const auto bias = biasOf(graph_, node, out);
  if (!bias) return foreign(node, "a bias that is not constant");
  const bool two_axes = map->shape.size() == 4;
  const Cells tokens = Algebra::permuted(*map, two_axes ? Axes{0, 2, 3, 1} : Axes{0, 2, 1});
  const Meaning result = linear(node, tokens, weight->reshaped({out, weight->shape[1]}), *bias);
  const Cells* cells = std::get_if<Cells>(&result);
  return cells ? Algebra::permuted(*cells, two_axes ? Axes{0, 3, 1, 2} : Axes{0, 2, 1}) : result;
}

/// Tokens {.., in} times weights {out, in}, plus a bias.
Meaning Interpreter::linear(const Node& node, Cells tokens, Tensor weight, Tensor bias) {
  const auto view = algebra_.rows(tokens, node);
  if (!view) return foreign(node, "features of several tokens in one row", "one token per row");
  Term term = termOf(TermKind::kLinear, {view->term}, algebra_.at(view->term).rows, weight.shape[0], node);
  term.weight = std::move(weight);
  term.bias = std::move(bias);
  return algebra_.cells(*view, algebra_.add(std::move(term)));
}

/// Patches of the whole image by a convolution with this kernel {C, kh, kw}, whose weights {d, C, kh, kw} and bias are
/// for the image as it is normalised in the graph. That normalisation is folded into them, which is exact where nothing
/// is padded. borderOffset() has the rest.
Term Interpreter::patchTerm(const Node& node, const ImageCells& image, const Shape& kernel, std::vector<float> weight,
                            std::vector<float> bias, const PatchGrid& grid) const {
  const auto cols = std::ssize(bias);
  Term term = termOf(TermKind::kPatches, {}, elements({grid.grid_h, grid.grid_w}, kMaxTokens), cols, node);
  elements({term.rows, term.cols}, Algebra::kMaxCells);
  term.grid = grid;
  const std::int64_t area = kernel[1] * kernel[2];
  for (std::int64_t o = 0; o < cols; ++o) {
    double shift = 0;
    for (std::int64_t c = 0; c < kernel[0]; ++c) {
      float* const part = weight.data() + (o * kernel[0] + c) * area;
      for (std::int64_t i = 0; i < area; ++i) {
        shift += static_cast<double>(part[i]) * static_cast<double>(image.offset[c]);
        part[i] *= image.scale[c];
      }
    }
    bias[o] += static_cast<float>(shift);
  }
  term.weight = Tensor::of({cols, kernel[0], kernel[1], kernel[2]}, std::move(weight));
  term.bias = Tensor::of({cols}, std::move(bias));
  return term;
}

/// What is added to the patches {.., cols} of `term` where a border of zeros is in them: the bias of the term has a
/// number of `image` for each weight, and none is for those on the border. Null: nothing. `weight` {cols, C, kh, kw}
/// is for the image as it is normalised in the graph.
std::shared_ptr<const std::vector<float>> Interpreter::borderOffset(const ImageCells& image, const Shape& kernel,
                                                                    const std::vector<float>& weight,
                                                                    const Term& term) const {
  const PatchGrid& grid = term.grid;
  if (isZero(image.offset) || (grid.pad_h == 0 && grid.pad_w == 0)) return nullptr;
  const Shape& whole = *graph_.shape(graph_.image);
  const std::int64_t height = kernel[1], width = kernel[2], area = height * width;
  // What all channels of a pixel add, {cols, height, width}.
  std::vector<double> added(elements({term.cols, area}), 0.0);
  for (std::int64_t o = 0; o < term.cols; ++o) {
    for (std::int64_t i = 0; i < kernel[0] * area; ++i) {
      added[o * area + i % area] +=
          static_cast<double>(weight[o * kernel[0] * area + i]) * static_cast<double>(image.offset[i / area]);
    }
  }
  std::vector<float> offset(elements({term.rows, term.cols}), 0.0f);
  for (std::int64_t row = 0; row < term.rows; ++row) {
    const std::int64_t top = row / grid.grid_w * grid.stride_h - grid.pad_h;
    const std::int64_t left = row % grid.grid_w * grid.stride_w - grid.pad_w;
    if (top >= 0 && left >= 0 && top + height <= whole[2] && left + width <= whole[3]) continue;
    for (std::int64_t o = 0; o < term.cols; ++o) {
      double outside = 0;
      for (std::int64_t i = 0; i < area; ++i) {
        const std::int64_t y = top + i / width, x = left + i % width;
        if (y < 0 || y >= whole[2] || x < 0 || x >= whole[3]) outside += added[o * area + i];
      }
      offset[row * term.cols + o] = static_cast<float>(-outside);
    }
  }
  return shared(std::move(offset));
}

/// The patches by a convolution. Its channels may be those of the image in another order, as where BGR becomes RGB.
Meaning Interpreter::patches(const Node& node, const ImageCells& image) {
  const Tensor& given = *graph_.constant(node.inputs[1]);
  const Shape &out = shapeOf(node), &whole = *graph_.shape(graph_.image), &kernel = given.shape;
  const std::string auto_pad = node.text("auto_pad", "NOTSET");
  const auto strides = node.integers("strides", {1, 1});
  const auto pads = auto_pad == "NOTSET" ? node.integers("pads", Shape(4, 0)) : Shape(4, 0);
  bool padded = auto_pad != "VALID" && (auto_pad != "NOTSET" || !all(node.integers("pads"), 0));
  // A border of zeros around patches that do not overlap, as in ViTPose.
  if (padded && auto_pad == "NOTSET" && pads.size() == 4 && pads[0] == pads[2] && pads[1] == pads[3] &&
      std::min(pads[0], pads[1]) >= 0 && pads[0] < kernel[2] && pads[1] < kernel[3] &&
      strides == Shape(kernel.begin() + 2, kernel.end()))
    padded = false;
  if (padded || node.integer("group", 1) != 1 || !all(node.integers("dilations"), 1)) {
    return foreign(node, "a convolution with padding, groups or dilation over the image",
                   "a patch embedding without (this looks like a convolutional or hierarchical backbone)");
  }
  const auto bias = biasOf(graph_, node, kernel[0]);
  if (!bias) return foreign(node, "a bias that is not constant");
  const std::int64_t pixels = whole[2] * whole[3], area = kernel[2] * kernel[3];
  bool fits =
      image.shape.size() == 4 && image.shape[0] == 1 && image.shape[2] == whole[2] && image.shape[3] == whole[3];
  std::vector<float> weight(elements({kernel[0], whole[1], area}), 0.0f);
  for (std::int64_t c = 0; fits && c < image.shape[1]; ++c) {
    const std::int64_t channel = image.id(c * pixels) / pixels;
    for (std::int64_t i = 0; fits && image.ids && i < pixels; ++i)
      fits = image.id(c * pixels + i) == channel * pixels + i;
    for (std::int64_t o = 0; o < kernel[0]; ++o) {
      for (std::int64_t i = 0; i < area; ++i)
        weight[(o * whole[1] + channel) * area + i] += (*given.floats)[(o * kernel[1] + c) * area + i];
    }
  }
  if (!fits) {
    return foreign(node, "a convolution over pixels in another order or a part of the image",
                   "the image as it is, its channels in any order");
  }
  const PatchGrid grid{strides[0], strides[1], pads[0], pads[1], out[2], out[3]};
  const Shape of_image{whole[1], kernel[2], kernel[3]};
  Term term = patchTerm(node, image, of_image, weight, *bias->floats, grid);
  auto offset = borderOffset(image, of_image, weight, term);
  term.grid.corrects_border = offset != nullptr;
  const Shape rows{1, out[2], out[3], term.cols};
  return Algebra::permuted(Cells{algebra_.add(std::move(term)), rows, nullptr, std::move(offset), 1}, {0, 3, 1, 2});
}

/// The patches by a linear layer: each row of `image` has the pixels of one patch, all rows in the same order.
Meaning Interpreter::patchRows(const Node& node, const ImageCells& image) {
  const Tensor &given = *graph_.constant(node.inputs[1]), &bias = *graph_.constant(node.inputs[2]);
  const Shape& whole = *graph_.shape(graph_.image);
  const std::int64_t height = whole[2], width = whole[3], cols = given.shape[0], in = given.shape[1];
  const std::int64_t count = elementsBefore(image.shape, image.shape.size() - 1);
  const Meaning refusal = foreign(node, "a linear layer over pixels that are not the patches of the image",
                                  "each row of pixels a patch, side by side, and all in one order");
  if (in < 1 || count < 1 || image.shape.back() != in) return refusal;
  // From the first pixel of a patch to each of its pixels, as in the first row.
  const auto cornerOf = [&](std::int64_t row) {
    std::int64_t top = height, left = width;
    for (std::int64_t k = 0; k < in; ++k) {
      const std::int64_t pixel = image.id(row * in + k) % (height * width);
      top = std::min(top, pixel / width);
      left = std::min(left, pixel % width);
    }
    return top * width + left;
  };
  const std::int64_t first = cornerOf(0);
  Integers steps;
  PatchGrid grid;
  for (std::int64_t k = 0; k < in; ++k) {
    steps.push_back(image.id(k) - first);
    const std::int64_t pixel = image.id(k) % (height * width);
    grid.stride_h = std::max(grid.stride_h, pixel / width - first / width + 1);
    grid.stride_w = std::max(grid.stride_w, pixel % width - first % width + 1);
  }
  grid.grid_h = height / grid.stride_h;
  grid.grid_w = width / grid.stride_w;
  if (grid.grid_h * grid.stride_h != height || grid.grid_w * grid.stride_w != width || grid.patches() != count ||
      in % (grid.stride_h * grid.stride_w) != 0)  // the kernel is not much larger than the weights in the file
    return refusal;
  RowView view{-1, Shape(image.shape.begin(), image.shape.end() - 1), {}};
  for (std::int64_t row = 0; row < count; ++row) {
    const std::int64_t corner = cornerOf(row), top = corner / width, left = corner % width;
    if (top % grid.stride_h != 0 || left % grid.stride_w != 0) return refusal;
    for (std::int64_t k = 0; k < in; ++k)
      if (image.id(row * in + k) != corner + steps[static_cast<std::size_t>(k)]) return refusal;
    view.row_of.push_back(top / grid.stride_h * grid.grid_w + left / grid.stride_w);
  }
  if (isCounting(view.row_of)) view.row_of.clear();
  std::vector<float> weight(elements({cols, whole[1], grid.stride_h, grid.stride_w}), 0.0f);
  for (std::int64_t o = 0; o < cols; ++o) {
    for (std::int64_t k = 0; k < in; ++k) {
      const std::int64_t step = steps[static_cast<std::size_t>(k)], pixel = step % (height * width);
      const std::int64_t place =
          (step / (height * width) * grid.stride_h + pixel / width) * grid.stride_w + pixel % width;
      weight[o * std::ssize(weight) / cols + place] += (*given.floats)[o * in + k];
    }
  }
  Term term = patchTerm(node, image, {whole[1], grid.stride_h, grid.stride_w}, std::move(weight), *bias.floats, grid);
  return algebra_.cells(view, algebra_.add(std::move(term)));
}

Meaning Interpreter::rowWise(const Node& node) {
  Cells& cells = *as<Cells>(node.inputs[0]);
  if (node.op == "Linear")
    return linear(node, cells, *graph_.constant(node.inputs[1]), *graph_.constant(node.inputs[2]));
  Term term;
  term.node = &node;
  term.rms = node.op == "RMSNorm";
  term.eps = node.eps;
  term.activation = node.activation;
  term.kind = node.op == "L2Normalize"  ? TermKind::kL2Norm
              : node.op == "Activation" ? TermKind::kActivation
                                        : TermKind::kNorm;
  if (term.kind == TermKind::kNorm) {
    term.weight = *graph_.constant(node.inputs[1]);
    term.bias = *graph_.constant(node.inputs[2]);
  }
  const auto view = algebra_.rows(cells, node);
  if (!view) {
    if (term.kind == TermKind::kNorm) return headNorm(std::move(term), cells);
    if (term.kind == TermKind::kL2Norm) return headNorm(asNorm(term, cells.shape.back()), cells);
    return foreign(node, "features of several tokens in one row", "one token per row");
  }
  term.inputs = {view->term};
  term.rows = algebra_.at(view->term).rows;
  term.cols = algebra_.at(view->term).cols;
  return algebra_.cells(*view, algebra_.add(std::move(term)));
}

/// `term`: the norm and its weights.
Meaning Interpreter::headNorm(Term term, const Cells& cells) {
  const std::int64_t term_rows = algebra_.at(cells.term).rows, term_cols = algebra_.at(cells.term).cols;
  const std::int64_t width = cells.shape.back();
  const std::int64_t count = elements(cells.shape) / width;
  const Meaning refusal =
      foreign(*term.node, "a LayerNorm over a part of the features", "one over the features of a token or of a head");
  if (cells.offset || cells.scale != 1) return refusal;
  term.kind = TermKind::kHeadNorm;
  term.inputs = {cells.term};
  term.rows = term_rows;
  term.cols = term_cols;
  term.group_of.assign(term_cols, -1);
  term.position_of.assign(term_cols, -1);
  Integers group_of_first(term_cols, -1);
  std::int64_t groups = 0;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t first = cells.id(r * width);
    if (first < 0) return refusal;
    std::int64_t& group = group_of_first[first % term_cols];
    const bool is_new = group < 0;
    if (is_new) group = groups++;
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t id = cells.id(r * width + j);
      if (id < 0 || id / term_cols != first / term_cols) return refusal;
      std::int64_t& owner = term.group_of[id % term_cols];
      std::int64_t& position = term.position_of[id % term_cols];
      if (is_new && owner < 0) {
        owner = group;
        position = j;
      } else if (owner != group || position != j) {
        return refusal;
      }
    }
  }
  Cells result = cells;
  result.term = algebra_.add(std::move(term));
  return result;
}

Meaning Interpreter::mean(const Node& node) {
  Cells tokens = *as<Cells>(node.inputs[0]);
  const std::size_t rank = tokens.shape.size();
  std::vector<std::size_t> axes;
  if (node.op == "GlobalAveragePool") {
    for (std::size_t axis = 2; axis < rank; ++axis) axes.push_back(axis);
  } else if (const auto given = reducedAxes(graph_, node, rank)) {
    axes = *given;
  }
  std::ranges::sort(axes);
  if (rank == 4 && axes == std::vector<std::size_t>{2, 3}) {
    tokens = Algebra::permuted(tokens, {0, 2, 3, 1});
  } else if (axes != std::vector<std::size_t>{rank - 2}) {
    return foreign(node, "a mean over other axes than the tokens", "a mean over tokens");
  }
  const auto view = algebra_.rows(tokens, node);
  if (!view) {
    if (rank == 3) {
      Cells turned = Algebra::permuted(tokens, {0, 2, 1});
      if (algebra_.rows(turned, node)) {
        return foreign(node, "a mean over the columns of transposed tokens, as ONNX Runtime's optimiser leaves them",
                       "the model as it was exported");
      }
    }
    return foreign(node, "a mean of something else than tokens");
  }
  Term term = termOf(TermKind::kMean, {view->term}, 1, tokens.shape.back(), node);
  term.row_of = view->row_of;
  if (view->whole()) {
    for (std::int64_t row = 0; row < algebra_.at(view->term).rows; ++row) term.row_of.push_back(row);
  }
  if (elements(shapeOf(node)) != term.cols)
    return foreign(node, "a mean over other axes than the tokens", "a mean over tokens");
  return Cells{algebra_.add(std::move(term)), shapeOf(node), nullptr, nullptr, 1};
}

Meaning Interpreter::resize(const Node& node) {
  const Cells& cells = *as<Cells>(node.inputs[0]);
  const Shape& shape = shapeOf(node);
  if (shape.size() != 4) return foreign(node, "a Resize of something else than a map of tokens");
  const std::string mode = node.text("mode", "nearest");
  const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  if (mode != "linear" || (coordinates != "half_pixel" && coordinates != "pytorch_half_pixel") ||
      node.integer("antialias", 0) != 0) {
    return foreign(node, "a Resize with mode " + mode + " and coordinates " + coordinates,
                   "linear and half_pixel (align_corners=False)");
  }
  if (shape[0] != cells.shape[0] || shape[1] != cells.shape[1])
    return foreign(node, "a Resize over channels", "one over height and width");
  if (!resizing(graph_, node)->whole_pixels)
    return foreign(node, "scales that end within a pixel", "a whole number of pixels");
  return ClassMap{cells, shape, false};
}

Meaning Interpreter::argMax(const Node& node) {
  if (node.integer("axis", 0) != 1 || node.integer("select_last_index", 0) != 0)
    return foreign(node, "an ArgMax over another axis than the classes");
  if (const ClassMap* map = as<ClassMap>(node.inputs[0]); map && !map->argmax)
    return ClassMap{map->cells, map->shape, true};
  if (const Cells* cells = cellsOf(node.inputs[0], node); cells && cells->shape.size() == 4)
    return ClassMap{*cells, cells->shape, true};
  return foreign(node, "an ArgMax of something else than class scores");
}

}  // namespace mpm::onnx_graph
