// SPDX-License-Identifier: Apache-2.0
// Graphs that are almost a plain ViT: the first node that does not fit is named, and what was expected there.
#include <tuple>

#include "mpm/mpm.hpp"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/data_path.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

using onnx::GraphProto;
using Longs = std::vector<long>;
using Doubles = std::vector<double>;
using Attributes = std::vector<GraphBuilder::Attribute>;
/// Makes nodes that read the value `x`; returns the last one's output.
using Make = std::function<std::string(GraphBuilder&, const std::string& x)>;
using Change = std::function<void(GraphBuilder&)>;

/// The n-th node of an op: "Softmax", "MatMul#3".
onnx::NodeProto& node(GraphProto& graph, const std::string& place) {
  const std::size_t mark = place.find('#');
  int n = mark == std::string::npos ? 0 : std::stoi(place.substr(mark + 1));
  for (auto& candidate : *graph.mutable_node())
    if (candidate.op_type() == place.substr(0, mark) && n-- == 0) return candidate;
  throw std::runtime_error("no node " + place);
}

onnx::NodeProto& maker(GraphProto& graph, const std::string& value) {
  for (auto& candidate : *graph.mutable_node())
    if (candidate.output(0) == value) return candidate;
  throw std::runtime_error("nothing makes " + value);
}

/// The output of a node: "Softmax"; or its input: "MatMul#3<1", or the input of the node that makes that:
/// "MatMul#3<1<0".
std::string valueAt(GraphProto& graph, const std::string& place) {
  std::size_t at = place.find('<');
  if (at == std::string::npos) return node(graph, place).output(0);
  std::string value = node(graph, place.substr(0, at)).input(place[at + 1] - '0');
  while ((at = place.find('<', at + 1)) != std::string::npos) value = maker(graph, value).input(place[at + 1] - '0');
  return value;
}

/// The nodes from the first of the last `count` on stand at `position`.
void moveLastTo(GraphProto& graph, int count, int position) {
  const int first = graph.node_size() - count;
  for (int i = 0; i < count; ++i)
    for (int k = first + i; k > position + i; --k) graph.mutable_node()->SwapElements(k, k - 1);
}

/// The readers of a value read what `make` makes of it.
Change behind(const std::string& place, const Make& make) {
  return [=](GraphBuilder& g) {
    GraphProto& graph = *g.model().mutable_graph();
    const std::string x = valueAt(graph, place);
    const int before = graph.node_size();
    const std::string made = make(g, x);
    int position = 0;
    for (int i = 0; i < before; ++i) {
      if (graph.node(i).output(0) == x) position = i + 1;
      for (std::string& input : *graph.mutable_node(i)->mutable_input())
        if (input == x) input = made;
    }
    moveLastTo(graph, graph.node_size() - before, position);
  };
}
/// Input `i` of a node is what `make` makes of it.
Change input(const std::string& place, int i, const Make& make) {
  return [=](GraphBuilder& g) {
    GraphProto& graph = *g.model().mutable_graph();
    const int before = graph.node_size(), inputs = node(graph, place).input_size();
    const std::string made = make(g, i < inputs ? node(graph, place).input(i) : "");
    onnx::NodeProto& reader = node(graph, place);
    while (reader.input_size() <= i) reader.add_input("");
    reader.set_input(i, made);
    int position = 0;
    while (&graph.node(position) != &reader) ++position;
    moveLastTo(graph, graph.node_size() - before, position);
  };
}
/// The node has this attribute, in place of an older one.
Change set(const std::string& place, const GraphBuilder::Attribute& attribute) {
  return [=](GraphBuilder& g) {
    onnx::NodeProto& changed = node(*g.model().mutable_graph(), place);
    auto& all = *changed.mutable_attribute();
    const auto older = [&](const onnx::AttributeProto& one) { return one.name() == attribute.first; };
    all.erase(std::remove_if(all.begin(), all.end(), older), all.end());
    *changed.add_attribute() = GraphBuilder::attribute(attribute);
  };
}
/// The node is gone: its readers read its first input.
Change without(const std::string& place) {
  return [=](GraphBuilder& g) {
    GraphProto& graph = *g.model().mutable_graph();
    const std::string from = node(graph, place).output(0), to = node(graph, place).input(0);
    for (auto& each : *graph.mutable_node()) {
      for (auto& input : *each.mutable_input())
        if (input == from) input = to;
    }
  };
}
Change op(const std::string& place, const std::string& type, const std::string& domain = "") {
  return [=](GraphBuilder& g) {
    onnx::NodeProto& changed = node(*g.model().mutable_graph(), place);
    changed.set_domain(domain);
    changed.set_op_type(type);
  };
}
Change both(const Change& first, const Change& second) {
  return [=](GraphBuilder& g) {
    first(g);
    second(g);
  };
}

std::string x(GraphBuilder& /*g*/, const std::string& value) { return value; }
std::string absent(GraphBuilder& /*g*/, const std::string& /*x*/) { return ""; }
std::string theImage(GraphBuilder& /*g*/, const std::string& /*x*/) { return "image"; }
Make valueOf(const std::string& place) {
  return [=](GraphBuilder& g, const auto&) { return valueAt(*g.model().mutable_graph(), place); };
}
Make ints(const Longs& values) {
  return [=](GraphBuilder& g, const auto&) { return g.ints(values); };
}
Make scalar(long value) {
  return [=](GraphBuilder& g, const auto&) { return g.intScalar(value); };
}
Make number(double value) {
  return [=](GraphBuilder& g, const auto&) { return g.number(value); };
}
Make weights(const Longs& shape, const Doubles& values) {
  return [=](GraphBuilder& g, const auto&) {
    return g.weights("w" + std::to_string(g.model().graph().initializer_size()), shape, values);
  };
}
/// No two of them are equal.
Make weights(const Longs& shape) {
  Doubles values(1, 0.5);
  for (const long side : shape) values.resize(values.size() * static_cast<std::size_t>(side));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5 + 0.01 * static_cast<double>(i);
  return weights(shape, values);
}
/// A node of this name.
Make named(const std::string& name, const std::string& op, const std::vector<Make>& operands,
           const Attributes& attributes = {}, int outputs = 1) {
  return [=](GraphBuilder& g, const std::string& x) {
    std::vector<std::string> inputs;
    for (const Make& operand : operands) inputs.push_back(operand(g, x));
    return g.node(op, inputs, attributes, outputs, name);
  };
}
Make in(const std::string& op, const std::vector<Make>& operands, const Attributes& attributes = {}) {
  return named("", op, operands, attributes);
}
Make of(const std::string& op, const std::vector<Make>& operands, const Attributes& attributes = {}, int outputs = 1) {
  return named("odd", op, operands, attributes, outputs);
}
/// The same of ONNX Runtime's domain.
Make fused(const std::string& op, const std::vector<Make>& operands, const Attributes& attributes, int outputs = 1) {
  return [=](GraphBuilder& g, const std::string& x) {
    const std::string made = of(op, operands, attributes, outputs)(g, x);
    g.model().mutable_graph()->mutable_node()->rbegin()->set_domain("com.microsoft");
    return made;
  };
}
Make firstOf(const Make& make) { return in("Slice", {make, ints({0}), ints({1}), ints({0})}); }
Make part(long axis, long begin, long end) {
  return [=](GraphBuilder& g, const std::string& x) { return g.slice(x, axis, begin, end); };
}
const Longs kSwapped = {1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
/// The elements at these places along an axis.
Make taken(const Longs& places, long axis) { return in("Gather", {x, ints(places)}, {{"axis", axis}}); }
/// 0, 1, ... below `count`, and then `changes`.
Longs counting(long count, const Longs& changes = {}) {
  Longs values;
  for (long i = 0; i < count; ++i) values.push_back(i);
  values.insert(values.end(), changes.begin(), changes.end());
  return values;
}

class Refusal : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
  Dialect dialect;
  ConvertOptions options;

  Refusal() { options.reduce = kFullModel; }

  void save(const Change& change) {
    GraphBuilder g = TinyVit(dialect).graph();
    change(g);
    g.save(path);
  }
  void expect(const Change& change, const std::string& part) {
    save(change);
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  }
  void expect(const Change& change, const std::string& name, const std::string& part) {
    save(change);
    const auto words = AllOf(HasSubstr(part), HasSubstr("node '" + name), Not(HasSubstr("\n")));
    EXPECT_THAT([&] { (void)convertModel(path, options); },
                testing::ThrowsMessage<Error>(AllOf(words, SizeIs(testing::Le(std::size_t{300})))));
  }
  std::string convertedHead() const { return toString(readModelInfo(path, options).head); }
};

/// Behind the first norm there are tokens {1, 16, 24}.
const char* const kNorm = "LayerNormalization";
const Dialect kSeparate{.qkv = QkvStyle::kSeparate}, kOneHead{.qkv = QkvStyle::kSeparate, .heads = 1},
    kEinsum{.qkv = QkvStyle::kEinsum}, kQkNorm{.qkv = QkvStyle::kSeparate, .qk_norm = true},
    kAttention{.opset = 23, .qkv = QkvStyle::kAttentionOp}, kRelu{.activation = ActivationStyle::kRelu},
    kWindows{.special = 0, .windowed = true}, kConv{.linear = LinearStyle::kConv};

/// Cuts the kernels of the patch embedding to so many channels each.
Change cutEmbedding(long channels) {
  const long patch = TinyVit::kPatch;
  return input("Conv", 1, weights({TinyVit::kDim, channels, patch, patch}));
}

/// The operator Attention gets {1, tokens, heads * head_dim}, from before the heads are taken apart.
Change headsByNumber(long queries, long keys) {
  return [=](GraphBuilder& g) {
    GraphProto& graph = *g.model().mutable_graph();
    onnx::NodeProto& attention = node(graph, "Attention");
    for (int i = 0; i < 3; ++i) attention.set_input(i, valueAt(graph, "Attention<" + std::to_string(i) + "<0<0"));
    if (queries > 0) set("Attention", {"q_num_heads", queries})(g);
    set("Attention", {"kv_num_heads", keys})(g);
    for (auto& behind : *graph.mutable_node()) {  // heads stay behind tokens
      if (behind.input(0) != attention.output(0)) continue;
      behind.set_op_type("Identity");
      behind.clear_attribute();
    }
  };
}

/// Rotary positions on q and k of the first block (kSeparate), those of k `faster`; the special token has this cosine
/// and sine.
Change rotated(double cosine, double sine, double faster = 1) {
  const auto turned = [=](double speed) -> Make {
    constexpr long kRows = 1 + TinyVit::kTokens, kWidth = TinyVit::kDim / 2;
    Doubles cosines, sines;
    for (long i = 0; i < kRows * kWidth; ++i) {
      const long row = i / kWidth, pair = i % (kWidth / 2);
      const double angle = speed * 0.1 * std::sqrt(static_cast<double>(row)) * static_cast<double>(pair + 1);
      cosines.push_back(row == 0 ? cosine : std::cos(angle));
      sines.push_back(row == 0 ? sine : std::sin(angle));
    }
    const Make swapped =
        in("Concat", {in("Neg", {part(3, kWidth / 2, kWidth)}), part(3, 0, kWidth / 2)}, {{"axis", -1L}});
    return in("Add", {in("Mul", {x, weights({kRows, kWidth}, cosines)}),
                      in("Mul", {swapped, weights({kRows, kWidth}, sines)})});
  };
  return both(behind("MatMul#3<0", turned(1)), behind("MatMul#3<1<0", turned(faster)));
}

/// ONNX Runtime's attention of the tokens with one input or attribute more.
Change fusedAttention(const std::vector<Make>& more, const Attributes& attributes, int outputs = 1) {
  std::vector<Make> operands = {x, weights({24, 72}), weights({72})};
  operands.insert(operands.end(), more.begin(), more.end());
  Attributes all = {{"num_heads", 2L}};
  all.insert(all.end(), attributes.begin(), attributes.end());
  return behind(kNorm, fused("Attention", operands, all, outputs));
}

/// A linear layer of 4 bits, in blocks of 16 along its 24 inputs.
Change packedLinear(long inputs, long bits, long block, const std::vector<Make>& more = {}, bool bytes = true) {
  const Make floats = weights({24, 2, 8}, Doubles(384, 17));
  std::vector<Make> operands = {x, bytes ? in("Cast", {floats}, {{"to", 2L}}) : floats, weights({48})};
  operands.insert(operands.end(), more.begin(), more.end());
  return behind(kNorm,
                fused("MatMulNBits", operands, {{"K", inputs}, {"N", 24L}, {"bits", bits}, {"block_size", block}}));
}

/// Queries of constants: the keys are the columns of `k`, {1, 2, 12, 16}.
Make constantQuery(const Make& k, long queries = 12) { return in("MatMul", {weights({1, 2, queries, 12}), k}); }

struct Case {
  const char* name;
  Change change;
  const char* node;   ///< the first that does not fit; null: none is named
  const char* found;  ///< what is wrong with it
  Dialect dialect{};
};

void PrintTo(const Case& tested, std::ostream* out) { *out << tested.found; }

class RefusedEncoder : public Refusal, public ::testing::WithParamInterface<Case> {};

TEST_P(RefusedEncoder, IsNamed) {
  dialect = GetParam().dialect;
  GetParam().node ? expect(GetParam().change, GetParam().node, GetParam().found)
                  : expect(GetParam().change, GetParam().found);
}

// q, k and v of kSeparate are {1, 2, 16, 12}, its k^T MatMul#3<1.
const char* const kOfMicrosoft = "found the op com.microsoft.Attention";
const char* const kPacked = "found the op com.microsoft.MatMulNBits";
const char* const kQueryNorm = "LayerNormalization#1<0";
const char* const kPartOfFeatures = "found a LayerNorm over a part of the features";
const char* const kPartOfTheTokens = "a constant added to logits that are not of all tokens";
const char* const kOtherOrder = "q, k and v of different sizes or in different orders of tokens";
const char* const kEinsumRefused = "found Einsum '";
const Change kFewKeys = both(behind("MatMul#3<1", part(3, 0, 8)), behind("MatMul#4<1", part(2, 0, 8)));

const Case kEncoders[] = {
    {"FactorsOnTheLogits", behind("Softmax<0", of("Mul", {x, weights({16, 16})})), "odd' (Mul)",
     "attention logits times a constant matrix (mask)"},
    // The sum is to blame, not the operator that makes the bias.
    {"BiasThatCannotBeFolded", behind("Softmax<0", of("Add", {x, in("Hardmax", {weights({16, 16})})})), "odd' (Add)",
     "constants behind the op Hardmax (mask, relative position bias)"},
    {"BiasOfMoreAxes", behind("Softmax<0", in("Squeeze", {of("Add", {x, weights({1, 1, 1, 16, 16})}), ints({0})})),
     "odd' (Add)", kPartOfTheTokens},
    {"BiasOfSomeKeys", both(kFewKeys, behind("Softmax<0", of("Add", {x, weights({16, 8})}))), "odd' (Add)",
     kPartOfTheTokens, kOneHead},
    {"BiasInsideWindows", behind("Softmax<0", of("Add", {x, weights({3, 3})})), "odd' (Add)", kPartOfTheTokens,
     kWindows},
    {"FactorPerHeadInsideWindows", behind("Softmax<0", in("Mul", {x, weights({2, 1, 1})})), "",
     "found a factor per head or window on the logits of windows", kWindows},
    {"HugeNumberOnTheLogits", behind("Softmax<0", of("Add", {x, number(-1e30)})), "odd' (Add)",
     "found a huge number added to attention logits (mask)"},
    {"BiasOfAConstantQuery",
     behind("MatMul#3<1",
            in("Slice", {of("Add", {constantQuery(x, 16), weights({16, 16})}), ints({0}), ints({12}), ints({2})})),
     "odd' (Add)", kPartOfTheTokens, kSeparate},
    {"FactorPerHeadOfAConstantQuery", behind("MatMul#3<1", of("Mul", {constantQuery(x), weights({2, 1, 1})})),
     "odd' (Mul)", "attention logits times a constant matrix", kSeparate},
    {"SomeKeysOfOneHead", kFewKeys, "MatMul", "attention to 8 of 16 tokens", kOneHead},
    {"MeanOverImages", behind(kNorm, of("ReduceMean", {x}, {{"axes", Longs{0}}})), "odd",
     "a mean over other axes than the tokens"},
    {"SomeKeys", kFewKeys, "MatMul", "attention of 16 to 8 of 16 tokens", kSeparate},
    {"PatchesLeftOut", behind("Concat", taken({0, 1, 2, 3, 4, 6, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, 1)), "",
     "found patches left out or repeated"},
    {"QueriesTimesAMask", behind("MatMul#3<0", in("Mul", {x, weights({1, 1, 16, 12})})), "MatMul_29' (MatMul)",
     "times a constant that differs from token to token (mask), expected rotary positions on q and k", kSeparate},
    {"NoActivation", without("Relu"), "", "found a linear layer, expected GELU, SiLU or ReLU between two linear layers",
     kRelu},
    {"OpOfAnotherDomain", op("Softmax", "Softmax", "com.microsoft"), "Softmax", "found the op com.microsoft.Softmax"},
    {"CastToText", behind("Concat", of("Cast", {x}, {{"to", 8L}})), "odd", "found to 8, expected a type of numbers"},
    {"ImageTimesInfinity", behind("Conv<0", in("Div", {in("Div", {x, number(1e-30)}), number(1e-30)})), nullptr,
     "hold a NaN or an infinity"},
    {"OneOperand", [](GraphBuilder& g) { node(*g.model().mutable_graph(), "Add").mutable_input()->RemoveLast(); },
     "Add", "found no input 1, expected 2 inputs"},
    {"ThreeOperands", input("Add", 2, weights({1})), "Add", "found 3 inputs, expected 2"},
    {"SoftmaxOverQueries", set("Softmax#1", {"axis", 2L}), "Softmax", "another axis than the last"},
    {"KeysOfAnotherNorm", input("MatMul#1", 0, valueOf("LayerNormalization<0")), "", "pre-norm", kSeparate},
    {"WindowsThatShareTokens", behind(kNorm, taken({0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7}, 1)), "",
     "hierarchical or windowed", kWindows},
    {"SecondConvolution", behind("Conv", of("Conv", {x, weights({24, 24, 3, 3})}, {{"pads", Longs{1, 1, 1, 1}}})),
     "odd' (Conv)", "hierarchical or convolutional backbone"},
    {"ConvolutionOfWholeNumbers", input("Conv", 1, in("Cast", {weights({24, 3, 4, 4})}, {{"to", 7L}})), "Conv",
     "a convolution with weights that are not constant"},
    {"ConvolutionOfAttentionWeights", behind("Softmax", of("Conv", {x, weights({2, 2, 1, 1})})), "odd' (Conv)",
     "found a convolution over tokens"},
    {"LinearConvolutionWithHalfABias", input("Conv#1", 2, weights({12})), "Conv", "a bias that is not constant", kConv},
    {"PaddedEmbedding", set("Conv", {"pads", Longs{0, 0, 1, 1}}), "Conv", "padding"},
    {"DilatedEmbeddingThatIsNotPadded",
     both(set("Conv", {"strides", Longs{2, 4}}),  // as many patches as before
          both(set("Conv", {"dilations", Longs{2, 1}}), set("Conv", {"auto_pad", std::string("VALID")}))),
     "Conv", "padding, groups or dilation"},
    {"EmbeddingOfEachChannelAlone", both(cutEmbedding(1), set("Conv", {"group", 3L})), "Conv",
     "padding, groups or dilation"},
    {"EmbeddingOfTwoChannels", cutEmbedding(2), "Conv", "found weights 24x2x4x4 for 3 channels"},
    {"EmbeddingWithABiasForHalfOfTheFeatures", input("Conv", 2, weights({12})), "Conv", "a bias that is not constant"},
    {"PaddingOfOnes", behind(kNorm, of("Pad", {x, ints({0, 0, 0, 0, 0, 0}), number(1)})), "odd' (Pad)",
     "a padded grid of tokens"},
    {"PaddingInPlaceOfARow", behind(kNorm, of("Pad", {x, ints({0, 1, 0, 0, -1, 0})})), "odd' (Pad)",
     "a padded grid of tokens"},
    {"ImageOfMoreAxes", behind("Conv<0", firstOf(of("Add", {x, weights({1, 1, 1, 1, 1})}))), "odd",
     "a constant that differs from pixel to pixel"},
    {"MoreHeadsOfKeys", headsByNumber(1, 2), "Attention", "q, k and v of different shapes", kAttention},
    {"NoNumberOfHeads", headsByNumber(0, 0), "Attention", "features that are not those of the heads", kAttention},
    {"HeadsThatDoNotDivideTheFeatures", headsByNumber(5, 5), "Attention", "features that are not those of the heads",
     kAttention},
    {"AttentionToTheImage", input("Attention", 1, theImage), "Attention", "attention over something else than tokens",
     kAttention},
    {"AttentionOfFiveAxes",
     both(behind("Attention<0", in("Unsqueeze", {x, ints({0})})),
          both(behind("Attention<1", in("Unsqueeze", {x, ints({0})})),
               both(behind("Attention<2", in("Unsqueeze", {x, ints({0})})),
                    behind("Attention", in("Squeeze", {x, ints({0})}))))),
     "Attention", "q, k and v of different shapes", kAttention},
    {"MaskedAttention", input("Attention", 4, weights({1, 2, 3, 12})), "Attention", "attention with a mask or a cache",
     kAttention},
    {"AttentionWithAMaskOfIntegers", input("Attention", 3, in("Cast", {weights({16, 16})}, {{"to", 7L}})), "Attention",
     "attention with a mask", kAttention},
    {"CausalAttention", set("Attention", {"is_causal", 1L}), "Attention", "causal or capped attention", kAttention},
    {"CappedAttention", set("Attention", {"softcap", 20.0}), "Attention", "causal or capped attention", kAttention},
    {"ChoiceBehindTheSoftmax", behind("Softmax", of("Where", {weights({1}), weights({1}, {0}), x})), "odd",
     "a choice between tensors (mask)"},
    {"OnlyQueriesNormalised", without("LayerNormalization#2"), "MatMul",
     "found attention, expected q and k normalised both, or neither", kQkNorm},
    {"TwoEpsilons", set("LayerNormalization#2", {"epsilon", 1e-3}), "MatMul",
     "found attention, expected one epsilon for q and k", kQkNorm},
    {"HeadNormOfASum", behind(kQueryNorm, in("Add", {x, weights({16, 12})})), "", kPartOfFeatures, kQkNorm},
    {"HeadNormOfHalfOfEach", behind(kQueryNorm, in("Mul", {x, number(0.5)})), "", kPartOfFeatures, kQkNorm},
    {"HeadNormWithAZeroInFront", behind(kQueryNorm, in("Pad", {part(3, 1, 12), ints({0, 0, 0, 1, 0, 0, 0, 0})})), "",
     kPartOfFeatures, kQkNorm},
    {"HeadNormWithAZeroBehind", behind(kQueryNorm, in("Pad", {part(3, 1, 12), ints({0, 0, 0, 0, 0, 0, 0, 1})})), "",
     kPartOfFeatures, kQkNorm},
    {"HeadNormOfHalvesOfTwoTokens",
     behind(kQueryNorm,
            [](GraphBuilder& g, const std::string& q) {
              const std::string row = g.reshape(q, {1, 2, 192});
              return g.reshape(g.node("Concat", {g.slice(row, 2, 6, 192), g.slice(row, 2, 0, 6)}, {{"axis", 2L}}),
                               {1, 2, 16, 12});
            }),
     "", kPartOfFeatures, kQkNorm},
    {"HeadNormsThatShareAFeature",
     behind("LayerNormalization#1<0<0<0", taken(counting(12, {12, 1, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}), 2)), "",
     kPartOfFeatures, kQkNorm},
    {"HeadNormOfAFeatureTwice",
     behind("LayerNormalization#1<0<0<0",
            taken({0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23}, 2)),
     "", kPartOfFeatures, kQkNorm},
    {"EveryQueryToTheKeysOfEveryHead",
     both(behind("MatMul#3<1", in("Transpose", {x}, {{"perm", Longs{1, 0, 2, 3}}})),  // heads by their side of 1
          behind("MatMul#4", part(0, 0, 1))),
     "MatMul", "found q and k of shapes 1x2x16x12 and 2x1x16x12", kSeparate},
    {"QueriesInAnotherOrder", behind("MatMul#3<0", taken(kSwapped, 2)), "MatMul", kOtherOrder, kSeparate},
    {"ValuesInAnotherOrder", behind("MatMul#4<1", taken(kSwapped, 2)), "MatMul", kOtherOrder, kSeparate},
    {"WeightsOfAttentionTimesAConstant", behind("Softmax", of("Mul", {x, number(0.5)})), "odd",
     "attention weights plus or times a constant"},
    {"SumOfAttentionWeights", behind("Softmax", of("Add", {x, x})), "odd", "a sum with something else than tokens"},
    {"ProductOfAttentionWeights", behind("Softmax", of("MatMul", {x, x})), "odd",
     "a MatMul of something else than tokens"},
    {"ProductWithTheImage",
     behind(kNorm,
            [](GraphBuilder& g, const std::string& tokens) {
              const Make columns = in("Transpose", {part(2, 0, 20)}, {{"perm", Longs{0, 2, 1}}});
              return g.reshape(g.slice(of("MatMul", {theImage, columns})(g, tokens), 1, 0, 2), {1, 16, 24});
            }),
     "odd", "a MatMul of something else than tokens"},
    {"ProductWithTwoMatrices", behind(kNorm, firstOf(of("MatMul", {x, weights({2, 24, 24})}))), "odd",
     "a MatMul with a constant that is not a matrix"},
    {"ProductOfOneHead", behind("Softmax<0", of("Neg", {x})), "odd", "q k^T used for something else than attention",
     kSeparate},
    {"ProductPlusABias", behind("Softmax<0", in("Neg", {in("Add", {x, weights({16, 16})})})), "",
     "q k^T plus or times a constant", kOneHead},
    {"ProductTimesAFactorPerHead", behind("Softmax<0", in("Neg", {in("Mul", {x, weights({2, 1, 1})})})), "",
     "q k^T plus or times a constant", kSeparate},
    {"ProductWithAConstant", behind("MatMul#3<1", of("Neg", {constantQuery(x)})), "", "found a constant times tokens",
     kSeparate},
    {"ASoftmaxOfTokens", behind("Concat", of("Softmax", {x})), "odd", "a Softmax of something else than q k^T"},
    {"TokensDividedByZero", behind(kNorm, of("Div", {x, weights({1}, {0})})), "odd", "a factor that is not finite"},
    {"AConstantMinusTokens", behind(kNorm, of("Sub", {number(1), x})), "odd", "a constant minus or divided by tokens"},
    {"TokensMinusTokens", behind(kNorm, of("Sub", {x, x})), "odd", "found a Sub of two tensors"},
    {"TokensRepeated", behind(kNorm, firstOf(of("Add", {x, weights({2, 1, 1})}))), "odd",
     "tokens repeated by broadcasting"},
    {"TokensPlusTheirMean", behind(kNorm, of("Add", {x, in("ReduceMean", {x}, {{"axes", Longs{1}}})})), "odd",
     "found tokens of shapes 1x16x24 and 1x1x24"},
    {"MeanPlusItsTokens", behind(kNorm, of("Add", {in("ReduceMean", {x}, {{"axes", Longs{1}}}), x})), "odd",
     "found tokens of shapes 1x1x24 and 1x16x24"},
    {"LastBlockWithoutMlp", input("LayerNormalization#6", 0, valueOf("LayerNormalization#6<0<1")), "Add",
     "found no MLP behind the attention, expected a pre-norm block"},
    {"FusedAttentionWithAMask", fusedAttention({weights({1})}, {}), "odd", kOfMicrosoft},
    {"FusedAttentionWithACache", fusedAttention({}, {}, 2), "odd", kOfMicrosoft},
    {"FusedAttentionInOneDirection", fusedAttention({}, {{"unidirectional", 1L}}), "odd", kOfMicrosoft},
    {"FusedAttentionOfOtherWidths", fusedAttention({}, {{"qkv_hidden_sizes", Longs{24, 24, 24}}}), "odd", kOfMicrosoft},
    {"WeightsOfThreeBits", packedLinear(24, 3, 16), "odd", kPacked},
    {"PackedWeightsOfNothing", packedLinear(0, 4, 16), "odd", kPacked},
    {"PackedWeightsInEndlessBlocks", packedLinear(24, 4, 1L << 62), "odd", kPacked},
    {"PackedWeightsOfFloats", packedLinear(24, 4, 16, {}, false), "odd", kPacked},
    {"PackedWeightsInAnotherOrder", packedLinear(24, 4, 16, {absent, ints({0})}), "odd", kPacked},
    {"OtherRotaryPositionsOfKeys", rotated(1, 0, 1.5), "MatMul", "rotary positions on v, or other ones on q than on k",
     kSeparate},
};

INSTANTIATE_TEST_SUITE_P(Vit, RefusedEncoder, ::testing::ValuesIn(kEncoders),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// Products of q and k, and of attention and v, that are no attention. `q` and `k` are made of {1, 16, 2, 12}.
TEST_F(Refusal, EinsumsThatAreNoAttention) {
  dialect = kEinsum;
  const auto expectRefused = [&](const char* place, const char* equation, const Change& before, const char* found) {
    SCOPED_TRACE(equation);
    expect(both(before, set(place, {"equation", std::string(equation)})), "Einsum", found);
  };
  const Change none = [](GraphBuilder&) {};
  for (const char* equation :
       {"bqhd", "bqhd->bhqk", "bqhd,bkhd", "bqh,bkhd->bhqk", "bqhd,bkh->bhqk", "bqhd,bkhd->bhqx"})
    expectRefused("Einsum", equation, none, "found ");
  for (const char* equation :
       {"bqhd,bkhd->bqk", "bqhd,bkhd->bhdqk", "bqhd,bqhd->bqhd", "bqhd,bkhe->bhqk", "bqhd,bkgd->bhqkg"})
    expectRefused("Einsum", equation, none, kEinsumRefused);
  dialect.heads = 1;
  expectRefused("Einsum", "bqhd,khd->hbqk", behind("Einsum<1", in("Reshape", {x, ints({16, 1, 24})})), kEinsumRefused);
  dialect.heads = 2;
  expectRefused("Einsum", "qhd,bkhd->hqbk", behind("Einsum<0", in("Reshape", {x, ints({16, 2, 12})})), kEinsumRefused);
  expectRefused("Einsum", "bqhde,bkhd->bhqk", behind("Einsum<0", in("Unsqueeze", {x, ints({4})})), kEinsumRefused);
  expectRefused("Einsum", "bqhd,bkhd->bhqk", behind("Einsum<1", part(3, 0, 6)), kEinsumRefused);
  expectRefused("Einsum", "bqhd,bkhd->bhqk", input("Einsum", 0, weights({1, 16, 2, 12})), kEinsumRefused);
  expectRefused("Einsum#1", "bhkq,bkhd->bqhd", none, kEinsumRefused);
  expect(behind("Softmax", of("Einsum", {x, x}, {{"equation", std::string("bhqk,bhjk->bhqj")}})), "odd",
         kEinsumRefused);
}

/// A branch reads tensors that are none of its inputs.
TEST_F(Refusal, Branches) {
  const auto branch = [&](const std::vector<GraphProto>& bodies) {
    return [=](GraphBuilder& g) {
      const std::string condition = bodies.empty() ? g.number(1) : g.weights("condition", {}, {1});
      g.node("If", {condition}, {}, 1, "branch");
      for (const GraphProto& body : bodies) {
        auto& attribute = *g.model().mutable_graph()->mutable_node()->rbegin()->add_attribute();
        attribute.set_name("then_branch");
        attribute.set_type(onnx::AttributeProto::GRAPH);
        *attribute.mutable_g() = body;
      }
      g.result("branch");
    };
  };
  GraphProto one, two, again;
  one.add_output()->set_name("features");
  two = again = one;
  two.add_output()->set_name("features");
  *again.add_initializer() = TinyVit(dialect).graph().model().graph().initializer(0);
  expect(branch({}), "branch' (If)", "found the op If");
  expect(branch({two}), "branch' (If)", "a branch with 2 results");
  expect(branch({again}), "branch' (If)", "again");
}

TEST_F(Refusal, RotatedSpecialTokens) {
  dialect = kSeparate;
  save(rotated(1, 0));
  EXPECT_NO_THROW(convertModel(path, options));
  expect(rotated(-1, 0), "rotary positions on special tokens");
  expect(rotated(1, 1e-4), "rotary positions on special tokens");
  options.reduce = parseReduction("mpm:blocks=1:positions=centroid");
  expect(rotated(1, 0), "its rotary positions are not angles in equal steps");
}

/// x[:, 0] = row, twice or by a sum.
TEST_F(Refusal, RowsThatAreReplacedTwice) {
  const Make row = weights({1, 1, TinyVit::kDim}), first = in("Reshape", {ints({0, 0}), ints({1, 1, 2})});
  const Make twice =
      of("ScatterND", {x, in("Reshape", {ints({0, 0, 0, 0}), ints({2, 2})}), weights({2, TinyVit::kDim})});
  const Make added = of("ScatterND", {x, first, row}, {{"reduction", std::string("add")}});
  for (const Make& replaced : {twice, added}) {
    expect(behind("LayerNormalization#2<0", replaced), "odd' (ScatterND)",
           "elements replaced at computed places, twice or by a sum");
  }
}

TEST_F(Refusal, AnotherSizeBehindABorderOfZeros) {
  dialect.patches = PatchStyle::kPadded;
  options.input_size = Size2{16, 24};
  TinyVit(dialect).save(path);
  EXPECT_NO_THROW(convertModel(path, options));
  dialect.normalises = true;
  TinyVit(dialect).save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "in front of a border of zeros, expected its own size, 12x20");
  options.input_size = Size2{12, 20};
  EXPECT_NO_THROW(convertModel(path, options));
}

TEST_F(Refusal, WindowsOfPatchesThatAreNotSideBySide) {
  options.reduce = parseReduction("cts:policy=none.onnx");
  const auto kernel = [](long h, long w) { return input("Conv", 1, weights({TinyVit::kDim, 3, h, w})); };
  for (const auto& [change, size] : {std::pair(set("Conv", {"pads", Longs{1, 0, 1, 0}}), Size2{16, 24}),
                                     {set("Conv", {"pads", Longs{0, 1, 0, 1}}), {16, 24}},
                                     {kernel(3, 4), {15, 24}},
                                     {kernel(4, 3), {16, 23}}}) {
    options.input_size = size;
    expect(change, "needs patches side by side");
  }
}

TEST_F(Refusal, LongNodeNameIsCut) {
  const Change named = [](GraphBuilder& g) {
    node(*g.model().mutable_graph(), "Softmax#1").set_name(std::string(400, 'x') + "/end");
  };
  expect(both(named, set("Softmax#1", {"axis", 2L})), "..." + std::string(76, 'x') + "/end' (Softmax)",
         "another axis than the last");
}

/// A file of tests/data with one change.
class FileRefusal : public Refusal {
 protected:
  void expectOf(const std::string& file, const Change& change, const std::string& found) {
    GraphBuilder g(modelAt(dataPath(file)));
    change(g);
    g.save(path);
    EXPECT_MPM_ERROR(convertModel(path, options), "found " + found);
  }
};

TEST_F(FileRefusal, PositionsInWindows) {
  const char* const kFile = "samvit_224_dynamo18.onnx";
  const char* const kAdded = "products of tokens and constants added to logits";
  expectOf(kFile, set("Einsum#1", {"equation", std::string("bhwc,hkc->bhwk")}), kAdded);  // query row and key column
  expectOf(
      kFile,
      [](GraphBuilder& g) {  // not relative
        GraphProto& graph = *g.model().mutable_graph();
        itemNamed(graph.mutable_initializer(), valueAt(graph, "Einsum<1")).mutable_raw_data()->back() ^= 1;
      },
      kAdded);
  expectOf(kFile, input("Pad", 2, number(1)), "a padded grid of tokens");
  expectOf(kFile, behind("Softmax#1<0", in("Add", {x, weights({15, 15})})),
           "attention, expected a bias of pairs or products with positions, but not both");
}

/// The converted net would take one image at a time, and the file is for two.
TEST_F(FileRefusal, BatchesThatAreMixed) {
  const auto expectMixed = [&](const Make& mix, const std::string& part) {
    GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
    g.result(mix(g, g.model().graph().output(0).name()));
    g.save(path);
    EXPECT_MPM_ERROR(convertModel(path, {}), part);
  };
  const std::string found = "found a batch of 2 images that is fixed in the graph";
  expectMixed(in("Reshape", {x, ints({20})}), found + " and not kept apart behind");
  expectMixed(named("mixes", "Softmax", {x}, {{"axis", 0L}}), "node 'mixes' (Softmax): " + found);
  // Rows of two images by their places among all four.
  expectMixed(in("Slice", {in("Reshape", {x, ints({4, 5})}), ints({-3}), ints({4}), ints({0}), ints({2})}),
              "(Slice): " + found);
}

TEST_F(FileRefusal, ConvolutionsOfAHeadAreNotToBlame) {
  expectOf("dpt_ts16.onnx", op("Erf", "Softplus"), "the op Softplus, expected a plain pre-norm ViT");
}

/// ONNX Runtime's optimiser moves a transpose into the first norm.
TEST_F(Refusal, NormOfTransposedTokens) {
  dialect.norm = NormStyle::kPow;
  const Make turned = in("Transpose", {x}, {{"perm", Longs{0, 2, 1}}});
  expect(both(both(input("ReduceMean", 0, turned), input("Sub", 0, turned)),
              both(set("ReduceMean", {"axes", Longs{1}}), behind("Sub", turned))),
         "as ONNX Runtime's optimiser leaves them");
}

TEST_F(Refusal, ImageOfOtherSides) {
  const auto sides = [](const Longs& shape) {
    return [=](GraphBuilder& g) {
      g.model().mutable_graph()->clear_input();
      g.input("image", shape);
    };
  };
  expect(
      [](GraphBuilder& g) {
        g.input("mask", {1, 16});
      },
      "graph input 'mask': found a second input, expected the image alone");
  expect(sides({1, 3, 12, 20, 2}), "graph input 'image': found rank 5");
  expect(sides({1, 12, 20, 3}), "(Conv)");  // channels last, and nothing turns them
  expect(sides({257, 3, 12, 20}), "a batch of 257 images");
  expect(sides({1, 65, 12, 20}), "an image of 65 channels");
  expect(sides({1, 3, 1 << 20, 20}), "expected at most");
  expect(sides({1, 3, 12, 1 << 20}), "expected at most");
}

TEST_F(Refusal, AnImageThatIsNotTakenAsItIs) {
  const auto ofImage = [&](const Make& make, const std::string& error) { expect(input("Conv", 0, make), error); };
  const auto mirrored = [](GraphBuilder& g, const std::string& image) {
    return g.node("Slice", {image, g.ints({-1}), g.ints({-1L << 40}), g.ints({3}), g.ints({-1})});
  };
  ofImage(mirrored, "(Conv): found a convolution over pixels in another order or a part of the image");
  const auto halves = [](GraphBuilder& g, const std::string& image) {
    const std::string red = g.node("Mul", {g.slice(image, 1, 0, 1), g.number(2)});
    return g.node("Concat", {red, g.slice(image, 1, 1, 3)}, {{"axis", 1L}});
  };
  ofImage(halves, "(Concat): found parts of the image that are normalised in different ways");
  const auto pixels = [](GraphBuilder& g, const std::string& image) {
    return g.node("Add", {image, g.weights("column", {1, 1, 1, 20}, Doubles(20, 0.5))});
  };
  save(input("Conv", 0, pixels));  // all the same
  EXPECT_NO_THROW(convertModel(path, options));
  const auto columns = [](GraphBuilder& g, const std::string& image) {
    Doubles values(20, 0.5);
    values.back() = 1;
    return g.node("Add", {image, g.weights("column", {1, 1, 1, 20}, values)});
  };
  ofImage(columns, "(Add): found a constant that differs from pixel to pixel");
  expect(
      [](GraphBuilder& g) {
        g.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
            onnx::TensorProto::UINT8);
        input("Conv", 0, [](GraphBuilder& b, const std::string& image) {
          return b.node("Cast", {b.node("Sub", {image, b.intScalar(118)})}, {{"to", 1L}});
        })(g);
      },
      "(Sub): found arithmetic on an image of whole numbers, expected a Cast to floats before it");
}

/// Rows of pixels that are no patches, in front of a linear layer.
TEST_F(Refusal, RowsOfPixelsThatAreNoPatches) {
  const auto expectOf = [&](const Longs& order) {
    dialect.patches = PatchStyle::kLinear;
    expect(set("Transpose", {"perm", order}), "found a linear layer over pixels that are not the patches");
  };
  expectOf({0, 2, 1, 4, 3, 5});
  expectOf({0, 2, 5, 1, 3, 4});
  // The pixels of the first patch forwards, and of the others backwards.
  expect(input("MatMul", 0,
               [](GraphBuilder& g, const std::string& rows) {
                 const std::string others = g.node(
                     "Slice", {g.slice(rows, 1, 1, 15), g.ints({-1}), g.ints({-1L << 40}), g.ints({2}), g.ints({-1})});
                 return g.node("Concat", {g.slice(rows, 1, 0, 1), others}, {{"axis", 1L}});
               }),
         "found a linear layer over pixels that are not the patches");
}

TEST_F(Refusal, ScheduleOutsideTheBlocks) {
  TinyVit(dialect).save(path);
  const char* const kMissing = "reduction 'mpm:blocks=1,7': block 7 does not exist, the model has 3 blocks";
  options.reduce = mpmBefore({1, 7});
  EXPECT_MPM_ERROR(convertModel(path, options), kMissing);
  EXPECT_MPM_ERROR(readModelInfo(path, options), kMissing);
  options.reduce = mpmBefore({2, 1});
  EXPECT_MPM_ERROR(convertModel(path, options), "strictly increasing");
  options.reduce = mpmBefore({-1});
  EXPECT_MPM_ERROR(convertModel(path, options), "0 or more");
}

TEST_F(Refusal, InputSize) {
  TinyVit(dialect).save(path);
  const char* const kNoMultiple = "is not a multiple of the patch";
  for (const auto& [size, part] :
       {std::pair(Size2{18, 20}, "input size 18x20 (height x width) is not a multiple of the patch, 4x4 px"),
        {{12, 18}, kNoMultiple},
        {{2, 20}, kNoMultiple},
        {{12, 2}, kNoMultiple},
        {{1 << 20, 20}, "is larger than"},
        {{12, 1 << 20}, "is larger than"},
        {{0, 20}, "both sides must be positive"}}) {
    options.input_size = size;
    EXPECT_MPM_ERROR(convertModel(path, options), part);
  }
}

TEST_F(Refusal, WindowsOfAnotherSize) {
  dialect.special = 0;
  dialect.windowed = true;
  TinyVit(dialect).save(path);
  options.input_size = Size2{16, 40};
  EXPECT_MPM_ERROR(convertModel(path, options), "its windows or relative positions are for 12x20 px");
}

TEST_F(Refusal, HeadMadeForOneSize) {
  dialect.head = HeadStyle::kFeatures;
  const Change sigmoid = behind("LayerNormalization#6", in("Sigmoid", {x}));
  save(sigmoid);
  EXPECT_NO_THROW(convertModel(path, options));
  options.input_size = Size2{16, 24};
  expect(sigmoid, "a head made for one size of input");
}

/// Between two blocks, the rows from `first` on get tanh of themselves added.
Change interact(long first) {
  const Make rows = part(1, first, 1L << 60);
  return behind("LayerNormalization#2<0",
                in("Concat", {part(1, 0, first), named("sum", "Add", {rows, in("Tanh", {rows})})}, {{"axis", 1L}}));
}

TEST_F(Refusal, InteractionsOfSomePatches) {
  save(interact(dialect.special));
  options.reduce = mpmBefore({1});
  EXPECT_EQ(readModelInfo(path, options).blocks, 3);
  expect(interact(dialect.special + 1), "sum' (Add)", "an addition to 14 tokens of a grid of 15");
}

TEST_F(Refusal, ConvertedModelAskedForSomethingElse) {
  dialect.head = HeadStyle::kLinear;
  TinyVit(dialect).save(path);
  const std::string converted = folder_ / "converted.onnx";
  options.reduce = mpmBefore({1});
  convertFile(path, converted, options);
  EXPECT_NO_THROW(convertModel(converted, options));
  EXPECT_NO_THROW(convertModel(converted));
  const std::pair<ConvertOptions, const char*> wrong[] = {
      {{.reduce = mpmBefore({2})},
       "was converted with reduction mpm:blocks=1 and cannot be given reduction mpm:blocks=2"},
      {{.reduce = kFullModel}, "mpm:blocks=1 and cannot be given reduction none"},
      {{.output = Output::kLogits}, "output labels"},
      {{.reduce = mpmBefore({1}, Attention::kProportional)},
       "cannot be given reduction mpm:blocks=1:attention=proportional"},
      {{.input_size = Size2{16, 16}}, "input size 12x20"},
      {{.precision = Precision::kBf16}, "precision fp32 and cannot be given precision bf16"},
      {{.scores = true}, "was converted with no output 'scores' and cannot be given one"}};
  for (const auto& one : wrong) EXPECT_MPM_ERROR(convertModel(converted, one.first), one.second);
  const std::string int8 = folder_ / "int8.onnx";
  convertFile(path, int8, {.precision = Precision::kInt8});
  EXPECT_EQ(readModelInfo(int8).precision, Precision::kInt8);
  EXPECT_MPM_ERROR(readModelInfo(int8, {.precision = Precision::kFp32}), "precision int8 and cannot be given");
}

TEST_F(Refusal, ConvertedModelWithoutItsMetadata) {
  TinyVit(dialect).save(path);
  onnx::ModelProto model = convertedModel(path, options);
  onnx::ModelProto other = model, without = model;
  metadataOf(other, "mpm.format") = "2";
  for (auto& entry : *without.mutable_metadata_props())
    if (entry.key() == "mpm.info") entry.set_key("info");
  model.clear_metadata_props();
  for (const onnx::ModelProto* each : {&model, &other, &without}) {
    saveModel(*each, path);
    EXPECT_MPM_ERROR(convertModel(path, options), "not the metadata mpm.format = 1 and mpm.info");
  }
}

/// Weights of 4x4 or 7 + 3x3 rows are no positions, and a model whose rotary positions are computed has no others.
TEST_F(Refusal, SizeThatOtherConstantsSeemToTell) {
  onnx::ModelProto model = modelAt(dataPath("hf_dinov3_ts17.onnx"));
  onnx::TensorProto& weights = itemNamed(model.mutable_graph()->mutable_initializer(), "onnx::MatMul_804");
  weights.clear_dims();
  for (const long side : {1, 16, 16}) weights.add_dims(side);
  saveModel(model, path);
  EXPECT_MPM_ERROR(convertModel(path, options), "does not say how large its image is: give an input size");
  options.input_size = Size2{40, 48};
  EXPECT_NO_THROW(convertModel(path, options));
}

TEST_F(Refusal, SizeThatNothingTells) {
  dialect.symbolic = true;
  GraphBuilder builder = TinyVit(dialect).graph();
  onnx::TensorProto& position = itemNamed(builder.model().mutable_graph()->mutable_initializer(), "position");
  position.clear_dims();  // {tokens, dim} does the same, and is not what a position embedding looks like
  for (const long side : {TinyVit::kTokens + 1, TinyVit::kDim}) position.add_dims(side);
  builder.save(path);
  EXPECT_MPM_ERROR(convertModel(path, options), "does not say how large its image is: give an input size");
  options.input_size = Size2{TinyVit::kHeight, TinyVit::kWidth};
  EXPECT_NO_THROW(convertModel(path, options));
}

TEST_F(Refusal, GraphsWithoutWhatAGraphHas) {
  const auto ofGraph = [](const std::function<void(GraphProto&)>& change) -> Change {
    return [=](GraphBuilder& g) { change(*g.model().mutable_graph()); };
  };
  expect(ofGraph([](GraphProto& graph) { graph.add_sparse_initializer(); }), "sparse initialisers");
  expect(ofGraph([](GraphProto& graph) { graph.clear_input(); }), "the graph has no input, expected an image");
  expect(ofGraph([](GraphProto& graph) { graph.clear_output(); }), "the graph has no output");
  expect([](GraphBuilder& g) { g.output(g.ints({1})); }, "does not depend on the image");
  expect([](GraphBuilder& g) { g.output(GraphBuilder::other(g.node("Dropout", {"features"}, {}, 2, "d"), 1)); },
         "output 'd#1' is made by nothing that runs at inference");
  expect([](GraphBuilder& g) { g.result(g.node("Identity", {"features"}, {}, 1, "merge_map")); },
         "output 'merge_map', a name that the converted net needs itself");
  expect([](GraphBuilder& g) { g.output("features"); },
         "graph output 'features' is listed twice, expected every name once");
}

TEST_F(Refusal, ClassScoresOfAnotherSize) {
  for (const HeadStyle head : {HeadStyle::kLinear, HeadStyle::kMask}) {
    dialect.head = head;
    expect(input("Resize", 3, ints({1, 9, 7, 20})), "Resize",
           "found class scores resized to 7x20, expected the size of the input, 12x20, or of the patch grid, 3x5");
  }
}

/// By 4 of 3 px is 12 px. They are no label map otherwise, but OpenCV or our operators compute them.
TEST_F(Refusal, NoneOfClassScoresInAnotherWay) {
  dialect = {.opset = 18, .head = HeadStyle::kLinear, .argmax = true};
  const Change without_sizes = [](GraphBuilder& g) {
    node(*g.model().mutable_graph(), "Resize").mutable_input()->RemoveLast();
  };
  save(both(without_sizes, input("Resize", 2, weights({4}, {1, 1, 4, 4}))));
  EXPECT_EQ(convertedHead(), "linear");
  save(set("Resize", {"mode", std::string("nearest")}));
  EXPECT_EQ(convertedHead(), "other");
}

/// One learned query per head over all tokens is an operator of ours, two are left as they are.
TEST_F(Refusal, NoneOfAttentionPoolsOfAnotherKind) {
  const Make keys = in("Transpose", {in("Reshape", {in("MatMul", {x, weights({24, 24})}), ints({1, 16, 2, 12})})},
                       {{"perm", Longs{0, 2, 1, 3}}});
  for (const long queries : {1L, 2L}) {
    const Make columns = in("Transpose", {keys}, {{"perm", Longs{0, 1, 3, 2}}});
    const Make shares = in("Softmax", {in("MatMul", {weights({1, 2, queries, 12}), columns})}, {{"axis", 3L}});
    save([&](GraphBuilder& g) {
      g.result(in("Reshape", {in("MatMul", {shares, keys}), ints({1, -1})})(g, "features"));
    });
    const onnx::ModelProto converted = convertedModel(path, options);
    const auto ours = [](const onnx::NodeProto& each) { return each.op_type() == "AttentionPool"; };
    EXPECT_EQ(std::ranges::any_of(converted.graph().node(), ours), queries == 1);
  }
}

/// A LayerNorm taken apart, with a constant that repeats its result.
Make repeatedNorm(long times, const std::string& name) {
  return [=](GraphBuilder& g, const std::string& x) {
    const std::string centred = g.node("Sub", {x, g.reduceMean(x, -1)});
    const std::string eps = g.weights("eps", {times, 1, 1, 1}, Doubles(static_cast<std::size_t>(times), 1e-6));
    const std::string square = g.reduceMean(g.node("Pow", {centred, g.number(2)}), -1);
    return g.node("Div", {centred, g.node("Sqrt", {g.node("Add", {square, eps})})}, {}, 1, name);
  };
}

/// Features {1, 24, 3, 5}.
std::string mapOf(GraphBuilder& g, const std::string& x) {
  return g.reshape(g.transpose(g.slice(x, 1, 1, 1L << 60), {0, 2, 1}),
                   {1, TinyVit::kDim, TinyVit::kGridH, TinyVit::kGridW});
}

TEST_F(Refusal, MapsWithoutAChannelForEachClass) {
  std::ofstream(folder_ / "model.json") << R"({"task": "semantic"})";
  for (const Longs& shape : {Longs{1, 1, 24, 15}, Longs{24, 3, 5}}) {
    expect(
        [&](GraphBuilder& g) {
          const std::string map = g.node("Sigmoid", {g.reshape(mapOf(g, "features"), shape)});
          g.result(map);
        },
        "is not a map with a channel for each class");
  }
}

/// A node "odd" behind the encoder's features {1, 16, 24}, where nothing is known but what every OpenCV computes right.
struct HeadCase {
  const char* name;
  Make odd;
  const char* found;
  int opset = 17;
  const char* node = "odd";
};

void PrintTo(const HeadCase& tested, std::ostream* out) { *out << tested.found; }

class RefusedHead : public Refusal, public ::testing::WithParamInterface<HeadCase> {};

TEST_P(RefusedHead, IsNamed) {
  dialect.opset = GetParam().opset;
  if (dialect.opset < 17) dialect.norm = NormStyle::kPow;
  const Change head = [](GraphBuilder& g) { g.result(GetParam().odd(g, "features")); };
  expect(head, GetParam().node, GetParam().found);
}

Make reshape(const Longs& shape) { return of("Reshape", {x, ints(shape)}); }
Make unsqueeze(const Longs& axes) { return of("Unsqueeze", {x, ints(axes)}); }
Make transpose(const Longs& order) { return of("Transpose", {x}, {{"perm", order}}); }
Make slice(const Longs& from, const Longs& to, const Longs& axes, const Longs& steps) {
  return of("Slice", {x, ints(from), ints(to), ints(axes), ints(steps)});
}
Make split(const Longs& sizes) { return of("Split", {x, ints(sizes)}, {{"axis", 2L}}, 2); }
Make tile(const Longs& repeats) { return of("Tile", {x, ints(repeats)}); }
Make gather(const char* op, const Longs& shape, double index, long axis, const char* attribute = "axis") {
  long count = 1;
  for (const long side : shape) count *= side;
  return of(op, {x, in("Cast", {weights(shape, Doubles(count, index))}, {{"to", 7L}})}, {{attribute, axis}});
}
Make resize(const std::vector<Make>& operands, const Attributes& attributes) {
  return of("Resize", operands, attributes);
}

const Longs kThree = {3, 3};
const GraphBuilder::Attribute kLinearMode = {"mode", std::string("linear")};
const Make kLargest = in("ArgMax", {x}, {{"axis", 2L}, {"keepdims", 0L}});
const Make kMapMean = in("Reshape", {in("GlobalAveragePool", {mapOf}), ints({TinyVit::kDim})});

const HeadCase kHeads[] = {
    {"OtherDomain",
     [](GraphBuilder& g, const std::string& x) {
       of("FusedHead", {test::x})(g, x);
       g.model().mutable_graph()->mutable_node()->rbegin()->set_domain("com.microsoft");
       return std::string("odd");
     },
     "an op of domain 'com.microsoft'"},
    {"UnknownShape", of("Det", {x}), "a tensor of unknown shape"},
    {"ConstantsAlone",
     [](GraphBuilder& g, const std::string& x) {
       g.output(x);
       return of("Elu", {weights({1, 2}, {0.5, -0.5})})(g, x);
     },
     "constants alone"},
    {"PoolBesideTheMap",
     of("MaxPool", {mapOf}, {{"kernel_shape", Longs{2, 1}}, {"strides", Longs{1, 3}}, {"ceil_mode", 1L}}),
     "a pool whose last window lies beside the map"},
    {"PadOfTooFewSides", of("Pad", {x, ints({0, 0, 0, 0})}), "a tensor of unknown shape"},
    {"CastLikeIntegers", of("CastLike", {x, ints({1})}), "a tensor of unknown shape"},
    {"ResizeBetweenCornersToAFractionOfAPixel",
     resize({mapOf, absent, weights({4}, {1, 1, 1, 1.9})},
            {kLinearMode, {"coordinate_transformation_mode", std::string("align_corners")}}),
     "scales that end within a pixel"},
    {"AntialiasedByPixelsOutside",
     resize({mapOf, absent, absent, ints({1, TinyVit::kDim, 2, 2})}, {kLinearMode, {"antialias", 1L}}),
     "an antialiasing Resize without exclude_outside", 18},
    {"ResizeOfAPart",
     resize({mapOf, weights({8}, {0, 0, 0, 0.25, 1, 1, 1, 0.75}), absent, ints({1, TinyVit::kDim, 3, 5})},
            {kLinearMode, {"coordinate_transformation_mode", std::string("tf_crop_and_resize")}}),
     "a Resize with mode linear and coordinates tf_crop_and_resize"},
    {"DivisionOfPlaces", of("Div", {kLargest, in("Add", {kLargest, ints({1})})}),
     "a Div of what may be whole numbers"},
    {"MeanOfPlaces", of("ReduceMean", {kLargest}, {{"axes", Longs{1}}}), "a ReduceMean of what may be whole numbers"},
    {"DivisionOfPowersOfPlaces", of("Div", {in("Pow", {kLargest, ints({2})}), kLargest}),
     "a Div of what may be whole numbers"},
    {"PixelsBetweenPlaces",
     resize({in("Reshape", {kLargest, ints({1, 1, 4, 4})}), absent, weights({4}, {1, 1, 2, 2})}, {kLinearMode}),
     "a Resize of what may be whole numbers"},
    {"PartOfATensorOfOneAxis", of("Slice", {in("Reshape", {x, ints({-1})}), ints({1}), ints({3}), ints({0})}),
     "the op Slice"},
    {"PlacesUpToAFraction", of("Clip", {kLargest, absent, number(0.8)}), "the op Clip"},
    {"PadByATensor", of("Pad", {mapOf, ints({0, 0, 1, 1, 0, 0, 1, 1}), in("ReduceMax", {x})}), "the op Pad"},
    {"ScaleOfTheImage", of("InstanceNormalization", {mapOf, kMapMean, kMapMean}), "the op InstanceNormalization"},
    {"ResizeThatKeepsTheAspectRatio",
     resize({mapOf, absent, absent, ints({6, 6})},
            {kLinearMode, {"axes", Longs{2, 3}}, {"keep_aspect_ratio_policy", std::string("not_larger")}}),
     "a tensor of unknown shape", 18},
    {"WeightsOfTheImage", of("Conv", {mapOf, mapOf}, {{"kernel_shape", Longs{TinyVit::kGridH, TinyVit::kGridW}}}),
     "weights that are not constant"},
    {"MaskOfADropout",
     [](GraphBuilder& g, const std::string& x) {
       const std::string mask = GraphBuilder::other(g.node("Dropout", {x}, {}, 2), 1);
       return g.node("Conv", {mapOf(g, x), weights({2, TinyVit::kDim, 3, 3})(g, x), mask}, {{"kernel_shape", kThree}},
                     1, "odd");
     },
     "an input that nothing makes"},
    {"OtherOp", of("Trilu", {x}), "the op Trilu"},
    {"NormRepeatedByItsEpsilon", repeatedNorm(2, "odd"), "a result repeated by broadcasting"},
    // Moved as if there were as many elements as the graph says, it would be read far beyond its end.
    {"RepeatedResultThatIsMoved",
     [](GraphBuilder& g, const std::string& x) {
       return g.slice(g.transpose(repeatedNorm(20000, "odd")(g, x), {0, 1, 3, 2}), 0, 0, 1);
     },
     "found a result repeated by broadcasting"},
};

/// Nodes whose inputs do not fit each other: read as they are written, they would reach beyond their tensors.
// The features x are {1, 16, 24}.
const HeadCase kMisfits[] = {
    {"ReshapeToMore", reshape({1, 17, 24}), "turned into 1x17x24"},
    {"ReshapeOfTwoOpenSides", reshape({-1, -1}), "one -1"},
    {"ReshapeToANegativeSide", reshape({1, -2, 24}), "one -1"},
    {"ReshapeOfASideThatIsNotThere", reshape({1, 16, 24, 0}), "a copied side beyond the rank"},
    {"ReshapeThatLeavesARest", reshape({-1, 7}), "a multiple of 7 elements"},
    {"FlattenBehindTheLastAxis", of("Flatten", {x}, {{"axis", 4L}}), "an axis beyond the rank"},
    {"ReshapeOfNothing", of("Reshape", {x, ints({-1, 0})}, {{"allowzero", 1L}}), "a multiple of 0 elements"},
    {"ConcatBeforeTheFirstAxis", of("Concat", {x, x}, {{"axis", -4L}}), "axis -4"},
    {"UnsqueezeTwice", unsqueeze({1, 1}), "one axis twice"},
    {"TransposeOfOneAxisTwice", transpose({0, 2, 2}), "one axis twice"},
    {"LargestOfOneAxisTwice", of("ReduceMax", {x}, {{"axes", Longs{1, 1}}}), "one axis twice"},
    {"ResizeOfOneAxisTwice", resize({mapOf, absent, absent, ints({6, 6})}, {kLinearMode, {"axes", Longs{3, -1}}}),
     "one axis twice"},
    {"TransposeOfTwoAxes", transpose({1, 0}), "a permutation of 2 axes"},
    {"SliceWithoutAnEnd", slice({0, 0}, {1}, {1, 2}, {1, 1}), "of different lengths"},
    {"SliceWithoutAnAxis", slice({0, 0}, {1, 1}, {1}, {1, 1}), "of different lengths"},
    {"SliceWithoutAStep", slice({0, 0}, {1, 1}, {1, 2}, {1}), "of different lengths"},
    {"SliceWithTheLargestStep", slice({0}, {9}, {1}, {std::numeric_limits<long>::min()}), "a step of 0"},
    {"PlacesBeforeTheFirstAxis", gather("GatherND", {1, 2, 1}, 0, -1, "batch_dims"), "indices within the rank"},
    {"PlacesBehindTheIndices", gather("GatherND", {1, 2, 1}, 0, 3, "batch_dims"), "indices within the rank"},
    {"PlacesOfFourAxes", gather("GatherND", {1, 4}, 0, 0, "batch_dims"), "indices within the rank"},
    {"PlacesOfTwoImages", gather("GatherND", {2, 1, 1}, 0, 1, "batch_dims"), "indices within the rank"},
    {"SliceOfNothing", slice({5}, {5}, {1}, {1}), "a tensor without elements"},
    {"SliceWithAStepOfZero", slice({0}, {9}, {1}, {0}), "a step of 0"},
    {"SliceOfOneAxisTwice", slice({0, 1}, {9, 9}, {1, 1}, {1, 1}), "one axis twice"},
    {"GatherBehindTheLast", gather("Gather", {2}, 16, 1), "one below 16"},
    {"GatherBeforeTheFirst", gather("Gather", {2}, -17, 1), "one below 16"},
    {"GatherAlongAFourthAxis", gather("Gather", {2}, 0, 3), "one within rank 3"},
    {"ElementsOfMoreTokens", gather("GatherElements", {1, 17, 2}, 0, 2), "no larger sides"},
    {"ElementsOfAnotherRank", gather("GatherElements", {16, 2}, 0, 2), "no larger sides"},
    {"SplitIntoMoreThanOutputs", split({8, 8, 8}), "one per output"},
    {"SplitBeyondTheSide", split({10, 15}), "parts beyond the side"},
    {"SplitIntoANegativePart", split({-1, 25}), "parts beyond the side"},
    {"SplitThatLeavesARest", split({10, 13}), "parts that leave a rest"},
    {"ConcatOfOtherSides", of("Concat", {x, weights({1, 2, 23})}, {{"axis", 1L}}), "equal sides beside the axis"},
    {"TileOfTwoAxes", tile({1, 2}), "repeats of another rank"},
    {"TileLessThanNever", tile({1, -1, 1}), "a negative repeat"},
    {"PoolLargerThanItsMap", of("MaxPool", {mapOf}, {{"kernel_shape", Longs{4, 2}}}), "at least one kernel"},
    {"DeconvBehindItsLastWindow",
     of("ConvTranspose", {mapOf, weights({TinyVit::kDim, 1, 1, 2})},
        {{"strides", kThree}, {"auto_pad", std::string("SAME_UPPER")}}),
     "found a side that ends behind the last window"},
    {"BatchNormOfOtherChannels",
     of("BatchNormalization", {mapOf, weights({23}), weights({23}), weights({23}), weights({23})}),
     "a tensor of unknown shape"},
    {"PlacesOfOtherImages", of("GridSample", {mapOf, weights({2, 3, 4, 2})}), "a tensor of unknown shape"},
    {"ScatterTwiceToOnePlace",
     [](GraphBuilder& g, const std::string& x) {
       const Make places = in("Cast", {weights({4, 2}, Doubles(8, 1))}, {{"to", 7L}});
       const std::string made = of("ScatterElements", {weights({4, 2}), places, weights({4, 2})})(g, x);
       return g.node("Mul", {x, g.node("ReduceMean", {made}, {{"keepdims", 0L}})});
     },
     "constants alone"},
    {"PadByAMillion", of("Pad", {x, ints({0, 0, 0, 0, 0, 2000000})}), "a huge padding"},
    {"ResizeToNothing", of("Resize", {mapOf, absent, weights({4}, {1, 1, 0, 1})}), "a scale that leaves nothing"},
    {"IntegersByZero", of("Div", {ints({4, 2}), ints({2, 0})}), "a division by zero"},
    {"RangeWithoutAnEnd", of("Range", {number(0), number(1e30), number(1)}), "a range without end"},
    {"ScalesOfOtherSlices", of("DequantizeLinear", {ints({1, 2, 3, 4}), weights({3})}, {{"axis", 0L}}),
     "scales of shape 3"},
    {"RangeWithoutAStep", of("Range", {scalar(4), scalar(0), scalar(0)}), "a range without end"},
    {"ScatterOfTooFew", of("ScatterND", {weights({4, 2}), ints({1}), number(1)}), "updates of another size"},
    {"ScatterBehindTheLast", of("ScatterND", {weights({4, 2}), ints({4}), weights({2})}), "one below 4"},
    {"ElementsBehindTheLast",
     of("ScatterElements",
        {weights({4, 2}), in("Cast", {weights({4, 2}, Doubles(8, 4))}, {{"to", 7L}}), weights({4, 2})}),
     "one below 4"},
    {"BiasOfTwoAxes", of("Conv", {mapOf, weights({2, TinyVit::kDim, 3, 3}), weights({1, 2})}),
     "found a bias of shape 1x2, expected 2, one number per channel"},
    {"NormOfOtherChannels", of("InstanceNormalization", {mapOf, weights({12}), weights({12})}),
     "the op InstanceNormalization"},
    {"ConvolutionWithoutAKernel", of("Conv", {mapOf, weights({1, TinyVit::kDim, 0, 2})}), "an empty kernel"},
    {"PlacesOfNoAxis", gather("GatherND", {2, 0}, 0, 0, "batch_dims"), "indices within the rank"},
    {"GemmOfOtherSides", of("Gemm", {in("Reshape", {x, ints({16, 24})}), weights({23, 24})}),
     "inner sides that are equal"},
    {"IntegersBesideFloats", of("Concat", {ints({1}), weights({1})}, {{"axis", 0L}}), "integers and floats together"},
    {"ZerosOfOtherSlices", of("DequantizeLinear", {ints({1, 2, 3}), weights({3}), ints({1, 2})}, {{"axis", 0L}}),
     "scales of shape 3"},
    {"ConstantsOfOtherShapes", of("Add", {ints({4, 2}), ints({1, 2, 3})}), "do not fit each other"},
};

const auto headName = [](const auto& tested) { return std::string(tested.param.name); };
INSTANTIATE_TEST_SUITE_P(Vit, RefusedHead, ::testing::ValuesIn(kHeads), headName);
INSTANTIATE_TEST_SUITE_P(Misfit, RefusedHead, ::testing::ValuesIn(kMisfits), headName);

}  // namespace
}  // namespace mpm::test
