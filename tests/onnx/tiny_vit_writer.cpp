// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "onnx/tiny_vit.h"

namespace mpm::test {

/// Writes a TinyVit down, node for node, as its dialect says.
class TinyVitWriter {
 public:
  explicit TinyVitWriter(const TinyVit& vit)
      : vit_(vit), dialect_(vit.dialect()), g_(dialect_.opset, dialect_.storage) {}

  GraphBuilder write() {
    const bool symbolic = dialect_.symbolic;
    const long height = symbolic ? 0 : TinyVit::kHeight, width = symbolic ? 0 : TinyVit::kWidth;
    const bool last = dialect_.image == ImageStyle::kLast || dialect_.image == ImageStyle::kBytesLast ||
                      dialect_.image == ImageStyle::kLastBgrFlip;
    g_.input("image", last ? Ints{symbolic ? 0 : 1, height, width, 3} : Ints{symbolic ? 0 : 1, 3, height, width});
    if (dialect_.image == ImageStyle::kBytesLast)
      g_.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
          onnx::TensorProto::UINT8);
    std::string x = embedding();
    if (dialect_.pre_norm) x = norm(x, "pre", TinyVit::kDim, 1e-6);
    std::string tap;
    for (int i = 0; i < dialect_.blocks; ++i) {
      if (i == 2) tap = x;
      x = block(x, "block" + std::to_string(i), tokens(), 1e-6);
    }
    if (dialect_.head == HeadStyle::kTap) g_.output(g_.node("Identity", {tap}, {}, 1, "tap"));
    head(norm(x, "norm", TinyVit::kDim, 1e-6));
    return std::move(g_);
  }

 private:
  using Ints = std::vector<long>;

  static constexpr long kDim = TinyVit::kDim, kHidden = TinyVit::kHidden;
  long tokens() const { return dialect_.special + TinyVit::kTokens; }

  std::string stored(const std::string& name, const Ints& shape) { return g_.weights(name, shape, vit_.weight(name)); }

  /// The image as RGB {1, 3, H, W} of floats.
  std::string rgb() {
    const auto flipped = [&](const std::string& x, long axis) {
      return g_.node("Slice",
                     {x, g_.ints({-1}), g_.ints({std::numeric_limits<long>::min()}), g_.ints({axis}), g_.ints({-1})});
    };
    const std::string image = "image";
    switch (dialect_.image) {
      case ImageStyle::kLast:
        return g_.transpose(image, {0, 3, 1, 2});
      case ImageStyle::kBytesLast:
        return g_.node("Cast", {g_.transpose(image, {0, 3, 1, 2})}, {{"to", 1L}});
      case ImageStyle::kBgrGather:
        return g_.node("Gather", {image, g_.ints({2, 1, 0})}, {{"axis", 1L}});
      case ImageStyle::kBgrFlip:
        return flipped(image, 1);
      case ImageStyle::kBgrSplit: {
        const std::string blue = g_.split(image, 1, {1, 1, 1});
        return g_.node("Concat", {GraphBuilder::other(blue, 2), GraphBuilder::other(blue, 1), blue}, {{"axis", 1L}});
      }
      case ImageStyle::kLastBgrFlip:
        return g_.transpose(flipped(image, 3), {0, 3, 1, 2});
      case ImageStyle::kFirst:
        break;
    }
    return image;
  }

  /// The patches {1, kDim, rows} of a linear layer over their pixels.
  std::string linearPatches(const std::string& image) {
    const long patch = TinyVit::kPatch, h = TinyVit::kGridH, w = TinyVit::kGridW, inside = 3 * patch * patch;
    const bool by_pixel = dialect_.patches == PatchStyle::kLinearByPixel;
    const bool columns = dialect_.patches == PatchStyle::kLinearColumns;
    const std::string apart = g_.reshape(image, {1, 3, h, patch, w, patch});
    const Ints order = by_pixel ? Ints{0, 2, 4, 3, 5, 1} : columns ? Ints{0, 4, 2, 1, 3, 5} : Ints{0, 2, 4, 1, 3, 5};
    const std::string pixels = g_.reshape(g_.transpose(apart, order), {1, h * w, inside});
    const std::vector<double>& given = vit_.weight("patch.w");  // {kDim, 3, patch, patch}
    std::vector<double> turned(given.size());
    for (long i = 0; i < std::ssize(turned); ++i) {
      const long o = i / inside, channel = i % inside / (patch * patch), pixel = i % (patch * patch);
      turned[(by_pixel ? pixel * 3 + channel : i % inside) * kDim + o] = given[i];
    }
    std::string x = g_.node("MatMul", {pixels, g_.weights("patch.w", {inside, kDim}, turned)});
    x = g_.transpose(g_.node("Add", {x, stored("patch.b", {kDim})}), {0, 2, 1});
    if (!columns) return x;
    return g_.reshape(g_.transpose(g_.reshape(x, {1, kDim, w, h}), {0, 1, 3, 2}), {1, kDim, h * w});
  }

  std::string embedding() {
    std::string image = rgb();
    if (dialect_.normalises) {
      image = g_.node("Sub", {image, g_.weights("mean", {1, 3, 1, 1}, {0.25, 0.5, 0.75})});
      image = g_.node("Div", {image, g_.weights("deviation", {1, 3, 1, 1}, {0.5, 0.625, 0.75})});
    }
    const long patch = TinyVit::kPatch, special = dialect_.special, patches = TinyVit::kTokens;
    std::string x;
    const bool padded = dialect_.patches == PatchStyle::kPadded,
               convolution = padded || dialect_.patches == PatchStyle::kConv;
    if (convolution)
      x = g_.node("Conv", {image, stored("patch.w", {kDim, 3, patch, patch}), stored("patch.b", {kDim})},
                  {{"kernel_shape", Ints{patch, patch}}, {"strides", Ints{patch, patch}}, {"pads", Ints(4, padded)}});
    if (!convolution) {
      x = linearPatches(image);
    } else if (dialect_.symbolic) {
      // As PyTorch's flatten(2) comes out of a trace with dynamic axes.
      const std::string shape = g_.node("Shape", {x});
      const std::string front = g_.node("Slice", {shape, g_.ints({0}), g_.ints({2}), g_.ints({0})});
      x = g_.node("Reshape", {x, g_.node("Concat", {front, g_.ints({-1})}, {{"axis", 0L}})});
    } else {
      x = g_.reshape(x, {1, kDim, -1});
    }
    x = g_.transpose(x, {0, 2, 1});
    const auto& position = vit_.weight("position");
    const auto part = [&](long first, long count) {
      return std::vector<double>(position.begin() + first * kDim, position.begin() + (first + count) * kDim);
    };
    const auto& specials = vit_.weight("special");
    const auto specialRows = [&](const char* name, long first, long count) {
      const std::string rows = g_.weights(name, {1, count, kDim},
                                          {specials.begin() + first * kDim, specials.begin() + (first + count) * kDim});
      if (!dialect_.symbolic) return g_.node("Expand", {rows, g_.ints({1, count, kDim})});
      const std::string batch = g_.node("Gather", {g_.node("Shape", {"image"}), g_.intScalar(0)}, {{"axis", 0L}});
      const std::string shape = g_.node("Concat", {g_.unsqueeze(batch, 0), g_.ints({count, kDim})}, {{"axis", 0L}});
      return g_.node("Expand", {rows, shape});
    };
    if (dialect_.position == PositionStyle::kBehind) {
      x = g_.node("Add", {x, g_.weights("position", {1, patches, kDim}, part(special, patches))});
      return g_.node("Concat", {x, specialRows("special", 0, special)}, {{"axis", 1L}});
    }
    if (dialect_.position == PositionStyle::kBeforeConcat || special == 0) {
      x = g_.node("Add", {x, g_.weights("position", {1, patches, kDim}, part(special, patches))});
      return special == 0 ? x : g_.node("Concat", {specialRows("special", 0, special), x}, {{"axis", 1L}});
    }
    if (dialect_.position == PositionStyle::kAfterConcat) {
      x = g_.node("Concat", {specialRows("special", 0, special), x}, {{"axis", 1L}});
      return g_.node("Add", {x, g_.weights("position", {1, tokens(), kDim}, position)});
    }
    // DINOv2 with registers: the class token gets a position, the registers slip in behind it without one.
    x = g_.node("Concat", {specialRows("class", 0, 1), x}, {{"axis", 1L}});
    std::vector<double> placed = part(0, 1), rest = part(special, patches);
    placed.insert(placed.end(), rest.begin(), rest.end());
    x = g_.node("Add", {x, g_.weights("position", {1, 1 + patches, kDim}, placed)});
    return g_.node("Concat",
                   {g_.slice(x, 1, 0, 1), specialRows("registers", 1, special - 1), g_.slice(x, 1, 1, 1L << 60)},
                   {{"axis", 1L}});
  }

  std::string norm(const std::string& x, const std::string& name, long width, double eps) {
    const std::string w = stored(name + ".w", {width}), b = stored(name + ".b", {width});
    if (dialect_.norm == NormStyle::kOp) {
      return g_.node("LayerNormalization", {x, w, b}, {{"axis", -1L}, {"epsilon", eps}});
    }
    const auto mean = [&](const std::string& of) {
      if (dialect_.norm != NormStyle::kMeanBySum) return g_.reduceMean(of, -1);
      return g_.node("Div", {g_.reduceSum(of, -1), g_.number(static_cast<double>(width))});
    };
    const std::string centred = g_.node("Sub", {x, mean(x)});
    if (dialect_.norm == NormStyle::kMeanOfSquares || dialect_.norm == NormStyle::kFolded) {
      const bool folded = dialect_.norm == NormStyle::kFolded;
      const std::string middle = g_.reduceMean(x, -1);
      const std::string variance = folded ? g_.reduceMean(g_.node("Mul", {centred, centred}), -1)
                                          : g_.node("Max", {g_.node("Sub", {g_.reduceMean(g_.node("Mul", {x, x}), -1),
                                                                            g_.node("Mul", {middle, middle})}),
                                                            g_.number(0)});
      const std::string root = g_.node("Sqrt", {g_.node("Add", {variance, g_.number(eps)})});
      const std::string factor = g_.node("Mul", {g_.node("Reciprocal", {root}), w});
      if (!folded) return g_.node("Add", {g_.node("Mul", {g_.node("Sub", {x, middle}), factor}), b});
      const std::string shift = g_.node("Sub", {b, g_.node("Mul", {g_.reduceMean(x, -1), factor})});
      return g_.node("Add", {g_.node("Mul", {x, factor}), shift});
    }
    const bool twice = dialect_.norm == NormStyle::kPow;
    const std::string square = twice ? g_.node("Pow", {centred, g_.number(2)}) : g_.node("Mul", {centred, centred});
    const std::string variance = g_.node("Add", {mean(square), g_.number(eps)});
    std::string unit;
    if (dialect_.norm == NormStyle::kReciprocal) {
      unit = g_.node("Mul", {centred, g_.node("Reciprocal", {g_.node("Sqrt", {variance})})});
    } else if (dialect_.norm == NormStyle::kPowHalf) {
      unit = g_.node("Div", {centred, g_.node("Pow", {variance, g_.number(0.5)})});
    } else {
      unit = g_.node("Div", {centred, g_.node("Sqrt", {variance})});
    }
    return g_.node("Add", {g_.node("Mul", {unit, w}), b});
  }

  /// Rows of several linear layers, one behind the other.
  std::vector<double> joined(const std::vector<std::string>& names, const char* part) const {
    std::vector<double> all;
    for (const std::string& name : names)
      all.insert(all.end(), vit_.weight(name + part).begin(), vit_.weight(name + part).end());
    return all;
  }

  /// One linear layer made of the rows of `names`; x {1, rows, in}.
  std::string linear(const std::string& x, const std::vector<std::string>& names, long rows, long in,
                     bool bias = true) {
    const std::vector<double> w = joined(names, ".w"), b = joined(names, ".b");
    const auto out = static_cast<long>(b.size());
    std::string stem = names[0];
    if (names.size() > 1) stem += "+";
    std::vector<double> turned(w.size());
    for (long o = 0; o < out; ++o) {
      for (long i = 0; i < in; ++i) turned[i * out + o] = w[o * in + i];
    }
    switch (dialect_.linear) {
      case LinearStyle::kMatMul: {
        const std::string y = g_.node("MatMul", {x, g_.weights(stem + ".w", {in, out}, turned)});
        return bias ? g_.node("Add", {g_.weights(stem + ".b", {out}, b), y}) : y;
      }
      case LinearStyle::kGemm:
      case LinearStyle::kGemmPlain: {
        const bool transB = dialect_.linear == LinearStyle::kGemm;
        std::vector<std::string> inputs{
            g_.reshape(x, {-1, in}),
            g_.weights(stem + ".w", transB ? Ints{out, in} : Ints{in, out}, transB ? w : turned)};
        if (bias) inputs.push_back(g_.weights(stem + ".b", {out}, b));
        return g_.reshape(g_.node("Gemm", inputs, {{"transB", long{transB}}}), {1, rows, out});
      }
      case LinearStyle::kEinsum:
      case LinearStyle::kEinsumTurned: {
        const bool as_rows = dialect_.linear == LinearStyle::kEinsumTurned;
        const std::string y = g_.node(
            "Einsum", {x, g_.weights(stem + ".w", as_rows ? Ints{out, in} : Ints{in, out}, as_rows ? w : turned)},
            {{"equation", std::string(as_rows ? "btd,ed->bte" : "btd,de->bte")}});
        return bias ? g_.node("Add", {y, g_.weights(stem + ".b", {out}, b)}) : y;
      }
      case LinearStyle::kOnTheLeft: {
        const std::string y = g_.node("MatMul", {g_.weights(stem + ".w", {out, in}, w), g_.transpose(x, {0, 2, 1})});
        return g_.transpose(bias ? g_.node("Add", {y, g_.weights(stem + ".b", {out, 1}, b)}) : y, {0, 2, 1});
      }
      case LinearStyle::kConvAlongTokens: {
        std::vector<std::string> inputs{g_.transpose(x, {0, 2, 1}), g_.weights(stem + ".w", {out, in, 1}, w)};
        if (bias) inputs.push_back(g_.weights(stem + ".b", {out}, b));
        return g_.transpose(g_.node("Conv", inputs, {{"kernel_shape", Ints{1}}}), {0, 2, 1});
      }
      case LinearStyle::kConv:
        break;
    }
    const std::string map = g_.reshape(g_.transpose(x, {0, 2, 1}), {1, in, rows, 1});
    std::vector<std::string> inputs{map, g_.weights(stem + ".w", {out, in, 1, 1}, w)};
    if (bias) inputs.push_back(g_.weights(stem + ".b", {out}, b));
    return g_.transpose(g_.reshape(g_.node("Conv", inputs, {{"kernel_shape", Ints{1, 1}}}), {1, out, rows}), {0, 2, 1});
  }

  std::string activation(const std::string& x) {
    const auto mul = [&](const std::string& a, const std::string& b) { return g_.node("Mul", {a, b}); };
    const auto plus1 = [&](const std::string& a) { return g_.node("Add", {a, g_.number(1)}); };
    const auto erf = [&](const std::string& a) { return g_.node("Erf", {a}); };
    const double root = std::sqrt(2.0);
    switch (dialect_.activation) {
      case ActivationStyle::kErfOp:
        return g_.node("Gelu", {x});
      case ActivationStyle::kTanhOp:
        return g_.node("Gelu", {x}, {{"approximate", std::string("tanh")}});
      case ActivationStyle::kErfHalfLast:
        return mul(mul(x, plus1(erf(g_.node("Div", {x, g_.number(root)})))), g_.number(0.5));
      case ActivationStyle::kErfHalfFirst:
        return mul(mul(x, g_.number(0.5)), plus1(erf(g_.node("Div", {x, g_.number(root)}))));
      case ActivationStyle::kErfHalfInside:
        return mul(x, mul(g_.number(0.5), plus1(erf(mul(x, g_.number(1 / root))))));
      case ActivationStyle::kErfDivided:
        return g_.node("Div", {mul(plus1(erf(mul(x, g_.number(1 / root)))), x), g_.number(2)});
      case ActivationStyle::kQuick:
        return mul(x, g_.node("Sigmoid", {mul(x, g_.number(1.702))}));
      case ActivationStyle::kSilu:
        return mul(g_.node("Sigmoid", {x}), x);
      case ActivationStyle::kSiluDivided:
        return g_.node("Div", {x, plus1(g_.node("Exp", {g_.node("Neg", {x})}))});
      case ActivationStyle::kRelu:
        return g_.node("Relu", {x});
      case ActivationStyle::kReluSquared: {
        const std::string above = g_.node("Relu", {x});
        return mul(above, above);
      }
      case ActivationStyle::kReluPow:
        return g_.node("Pow", {g_.node("Relu", {x}), g_.number(2)});
      case ActivationStyle::kElu:
        return g_.node("Elu", {x});
      case ActivationStyle::kMishOp:
        return g_.node("Mish", {x});
      case ActivationStyle::kMish:
        return mul(x, g_.node("Tanh", {g_.node("Softplus", {x})}));
      case ActivationStyle::kHardSwishOp:
        return g_.node("HardSwish", {x});
      case ActivationStyle::kHardSwishSigmoid:
        return mul(x, g_.node("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
      case ActivationStyle::kHardSwishClip:
        return g_.node("Div", {mul(x, g_.node("Clip", {g_.node("Add", {x, g_.number(3)}), g_.number(0), g_.number(6)})),
                               g_.number(6)});
      case ActivationStyle::kTanhPow:
      case ActivationStyle::kTanhMul:
        break;
    }
    const bool pow = dialect_.activation == ActivationStyle::kTanhPow;
    const std::string cube = pow ? g_.node("Pow", {x, g_.number(3)}) : mul(mul(x, x), x);
    const std::string inner = g_.node("Add", {x, mul(cube, g_.number(0.044715))});
    const std::string bent = plus1(g_.node("Tanh", {mul(inner, g_.number(0.7978845608))}));
    return pow ? mul(mul(x, g_.number(0.5)), bent) : mul(g_.number(0.5), mul(x, bent));
  }

  struct Heads {
    std::string q, k, v;  ///< {1, heads, tokens, head_dim}, or without the 1, or tokens in front, as the style has it
  };

  Heads project(const std::string& x, const std::string& name, long rows, long windows) {
    const std::vector<std::string> all{name + ".q", name + ".k", name + ".v"};
    const bool bias = dialect_.qkv_bias == BiasStyle::kPresent || dialect_.qkv_bias == BiasStyle::kZero;
    const auto byHead = [&](const std::string& part) {
      return g_.transpose(g_.reshape(part, {1, rows, heads_, head_dim_}), {0, 2, 1, 3});
    };
    const std::string axis = "axis";
    switch (dialect_.qkv) {
      case QkvStyle::kChunk: {
        const std::string first = g_.split(linear(x, all, rows, kDim, bias), -1, {kDim, kDim, kDim});
        return {byHead(first), byHead(GraphBuilder::other(first, 1)), byHead(GraphBuilder::other(first, 2))};
      }
      case QkvStyle::kEinsumDense: {
        const auto one = [&](const std::string& part) {
          const auto& w = vit_.weight(part + ".w");
          std::vector<double> turned(w.size());
          for (long i = 0; i < std::ssize(turned); ++i) turned[i] = w[i % kDim * kDim + i / kDim];
          const std::string y = g_.node("Einsum", {x, g_.weights(part + ".w", {kDim, heads_, head_dim_}, turned)},
                                        {{"equation", std::string("abc,cde->abde")}});
          return g_.node("Add", {y, g_.weights(part + ".b", {heads_, head_dim_}, vit_.weight(part + ".b"))});
        };
        return {one(all[0]), one(all[1]), one(all[2])};
      }
      case QkvStyle::kSeparate:
      case QkvStyle::kTurned:
      case QkvStyle::kEinsum:
      case QkvStyle::kAttentionOp: {
        const auto one = [&](const std::string& part) {
          const std::string y = linear(x, {part}, rows, kDim, bias);
          return dialect_.qkv == QkvStyle::kEinsum ? g_.reshape(y, {1, rows, heads_, head_dim_}) : byHead(y);
        };
        return {one(all[0]), one(all[1]), one(all[2])};
      }
      case QkvStyle::kOneKeyHead:
      case QkvStyle::kAttentionOpOne: {
        const auto shared = [&](const std::string& part) {
          const auto& w = vit_.weight(part + ".w");
          const auto& b = vit_.weight(part + ".b");
          std::vector<double> turned(static_cast<std::size_t>(head_dim_ * kDim));
          for (long i = 0; i < std::ssize(turned); ++i) turned[i] = w[i % head_dim_ * kDim + i / head_dim_];
          const std::string y = g_.node("MatMul", {x, g_.weights(part + ".w", {kDim, head_dim_}, turned)});
          return g_.node("Add", {y, g_.weights(part + ".b", {head_dim_}, {b.begin(), b.begin() + head_dim_})});
        };
        const std::string q = linear(x, {all[0]}, rows, kDim, bias);
        if (dialect_.qkv == QkvStyle::kAttentionOpOne) return {q, shared(all[1]), shared(all[2])};
        const auto oneHead = [&](const std::string& part) {
          return g_.transpose(g_.reshape(shared(part), {1, rows, 1, head_dim_}), {0, 2, 1, 3});
        };
        return {byHead(q), oneHead(all[1]), oneHead(all[2])};
      }
      case QkvStyle::kBatchedHeads: {
        // torch.nn.MultiheadAttention: tokens first, heads in the batch.
        const auto one = [&](const std::string& part) {
          const std::string y = g_.reshape(linear(x, {part}, rows, kDim, bias), {rows, 1, kDim});
          return g_.transpose(g_.reshape(y, {rows, heads_, head_dim_}), {1, 0, 2});
        };
        return {one(all[0]), one(all[1]), one(all[2])};
      }
      case QkvStyle::kTokensFirst: {
        // torchvision: {tokens, 1, 3 d} -> {1, tokens, 1, 3, d} -> {3, tokens, 1, 1, d}
        const std::string y = g_.reshape(linear(x, all, rows, kDim, bias), {rows, 1, 3, kDim});
        const std::string front = g_.squeeze(g_.transpose(g_.unsqueeze(y, 0), {3, 1, 2, 0, 4}), -2);
        const auto one = [&](long i) {
          const std::string part = g_.node("Gather", {front, g_.intScalar(i)}, {{"axis", 0L}});
          return g_.reshape(g_.transpose(g_.reshape(part, {rows, heads_, head_dim_}), {1, 0, 2}),
                            {1, heads_, rows, head_dim_});
        };
        return {one(0), one(1), one(2)};
      }
      case QkvStyle::kGather:
      case QkvStyle::kSplitSqueeze:
      case QkvStyle::kSlice:
        break;
    }
    const std::string y = g_.transpose(
        g_.reshape(linear(x, all, rows, kDim, bias), {windows, rows, 3, heads_, head_dim_}), {2, 0, 3, 1, 4});
    if (dialect_.qkv == QkvStyle::kGather) {
      const auto one = [&](long i) { return g_.node("Gather", {y, g_.intScalar(i)}, {{"axis", 0L}}); };
      return {one(0), one(1), one(2)};
    }
    if (dialect_.qkv == QkvStyle::kSlice) {
      const auto one = [&](long i) { return g_.squeeze(g_.slice(y, 0, i, i + 1), 0); };
      return {one(0), one(1), one(2)};
    }
    const std::string first = g_.split(y, 0, {1, 1, 1});
    return {g_.squeeze(first, 0), g_.squeeze(GraphBuilder::other(first, 1), 0),
            g_.squeeze(GraphBuilder::other(first, 2), 0)};
  }

  std::string attention(const std::string& x, const std::string& name, long rows, long windows = 1) {
    Heads heads = project(x, name, rows, windows);
    const bool einsum = dialect_.qkv == QkvStyle::kEinsum, batched = dialect_.qkv == QkvStyle::kBatchedHeads;
    if (dialect_.qkv_bias == BiasStyle::kAddedLater) {
      heads.q = g_.node("Add",
                        {heads.q, g_.weights(name + ".q_bias", {1, heads_, 1, head_dim_}, vit_.weight(name + ".q.b"))});
      heads.v = g_.node("Add",
                        {heads.v, g_.weights(name + ".v_bias", {1, heads_, 1, head_dim_}, vit_.weight(name + ".v.b"))});
    }
    if (dialect_.qk_norm) {
      heads.q = norm(heads.q, name + ".q_norm", head_dim_, 1e-6);
      heads.k = norm(heads.k, name + ".k_norm", head_dim_, 1e-6);
    }
    if (dialect_.cosine) {
      heads.q = unit(heads.q);
      heads.k = unit(heads.k);
    }
    const double scale =
        dialect_.cosine ? static_cast<double>(TinyVit::kCosineScale) : 1 / std::sqrt(static_cast<double>(head_dim_));
    if (dialect_.scale == ScaleStyle::kKey) heads.k = g_.node("Mul", {heads.k, g_.number(scale)});
    if (dialect_.scale == ScaleStyle::kQuery) heads.q = g_.node("Mul", {heads.q, g_.number(scale)});
    if (dialect_.rotary_tables > 0) {
      heads.q = rotated(heads.q, name + ".q");
      heads.k = rotated(heads.k, name + ".k");
    }
    if (dialect_.qkv == QkvStyle::kEinsumDense) return denseAttention(heads, name, scale);
    std::string out;
    if (dialect_.qkv == QkvStyle::kAttentionOpOne) {
      out = g_.node("Attention", {heads.q, heads.k, heads.v},
                    {{"scale", scale}, {"q_num_heads", heads_}, {"kv_num_heads", 1L}});
      return linear(out, {name + ".proj"}, rows, kDim);
    }
    if (dialect_.qkv == QkvStyle::kAttentionOp) {
      out = g_.node("Attention", {heads.q, heads.k, heads.v},
                    {{"scale", dialect_.scale == ScaleStyle::kNone ? 1.0 : scale}});
    } else {
      std::string k = einsum ? heads.k : g_.transpose(heads.k, batched ? Ints{0, 2, 1} : Ints{0, 1, 3, 2});
      if (dialect_.scale == ScaleStyle::kBoth) {
        heads.q = g_.node("Mul", {heads.q, g_.number(std::sqrt(scale))});
        k = g_.node("Mul", {k, g_.number(std::sqrt(scale))});
      }
      const bool turned = dialect_.qkv == QkvStyle::kTurned;
      const auto swapped = [&](const std::string& value) { return g_.transpose(value, {0, 1, 3, 2}); };
      std::string scores = einsum   ? g_.node("Einsum", {heads.q, k}, {{"equation", std::string("bqhd,bkhd->bhqk")}})
                           : turned ? swapped(g_.node("MatMul", {heads.k, swapped(heads.q)}))
                                    : g_.node("MatMul", {heads.q, k});
      if (dialect_.scale == ScaleStyle::kScores) scores = g_.node("Mul", {scores, g_.number(scale)});
      if (dialect_.scale == ScaleStyle::kScoresDiv) scores = g_.node("Div", {scores, g_.number(1 / scale)});
      if (dialect_.lone_concat) scores = g_.node("Concat", {scores}, {{"axis", -1L}});
      const std::string p = softmax(masked(scores, rows), batched ? 2 : 3);
      out = einsum   ? g_.node("Einsum", {p, heads.v}, {{"equation", std::string("bhqk,bkhd->bqhd")}})
            : turned ? swapped(g_.node("MatMul", {swapped(heads.v), swapped(p)}))
                     : g_.node("MatMul", {p, heads.v});
    }
    if (!einsum) out = batched ? g_.transpose(out, {1, 0, 2}) : g_.transpose(out, {0, 2, 1, 3});
    return linear(g_.reshape(out, {windows, rows, kDim}), {name + ".proj"}, rows, kDim);
  }

  /// The patches of {1, heads, tokens, head_dim} rotated.
  std::string rotated(const std::string& x, const std::string& name) {
    const long special = dialect_.special, tables = dialect_.rotary_tables, pairs = head_dim_ / 2;
    const bool behind = dialect_.position == PositionStyle::kBehind;
    std::vector<double> cosine, sine;
    for (long i = 0; i < tables * TinyVit::kTokens * head_dim_; ++i) {
      const double angle = vit_.weight("angle")[static_cast<std::size_t>(i / head_dim_ * pairs + i % pairs)];
      cosine.push_back(std::cos(angle));
      sine.push_back(std::sin(angle));
    }
    const Ints shape{1, tables, TinyVit::kTokens, head_dim_};
    const std::string patches = g_.slice(x, 2, behind ? 0 : special, behind ? TinyVit::kTokens : 1L << 60);
    const std::string first = g_.split(patches, -1, {pairs, pairs});
    const std::string turned =
        g_.node("Concat", {g_.node("Neg", {GraphBuilder::other(first, 1)}), first}, {{"axis", -1L}});
    const std::string sum = g_.node("Add", {g_.node("Mul", {patches, g_.weights(name + ".cosine", shape, cosine)}),
                                            g_.node("Mul", {turned, g_.weights(name + ".sine", shape, sine)})});
    if (special == 0) return sum;
    const std::string kept = behind ? g_.slice(x, 2, TinyVit::kTokens, 1L << 60) : g_.slice(x, 2, 0, special);
    return g_.node("Concat", behind ? std::vector{sum, kept} : std::vector{kept, sum}, {{"axis", 2L}});
  }

  /// Logits behind a mask that hides nothing.
  std::string masked(const std::string& scores, long rows) {
    switch (dialect_.mask) {
      case MaskStyle::kZeros:
        return g_.node("Add", {scores, g_.weights("zeros", {1, 1, 1, rows}, std::vector<double>(rows, 0.0))});
      case MaskStyle::kWhere:
      case MaskStyle::kWhereNot: {
        const bool kept = dialect_.mask == MaskStyle::kWhere;
        const std::string mask =
            g_.node("Equal", {g_.ints(Ints(static_cast<std::size_t>(rows), 1)), g_.ints({kept ? 1 : 0})});
        return kept ? g_.node("Where", {mask, scores, g_.number(-1e9)})
                    : g_.node("Where", {mask, g_.number(-1e9), scores});
      }
      case MaskStyle::kNone:
        break;
    }
    return scores;
  }

  std::string softmax(const std::string& scores, long axis) {
    if (dialect_.softmax == SoftmaxStyle::kOp) return g_.node("Softmax", {scores}, {{"axis", axis}});
    if (dialect_.softmax == SoftmaxStyle::kLog)
      return g_.node("Exp", {g_.node("LogSoftmax", {scores}, {{"axis", axis}})});
    const bool shifted = dialect_.softmax != SoftmaxStyle::kByHandWithoutMaximum;
    const std::string power = g_.node(
        "Exp", {shifted ? g_.node("Sub", {scores, g_.node("ReduceMax", {scores}, {{"axes", Ints{-1}}})}) : scores});
    const std::string sum = g_.reduceSum(power, -1);
    return dialect_.softmax == SoftmaxStyle::kByHandReciprocal ? g_.node("Mul", {power, g_.node("Reciprocal", {sum})})
                                                               : g_.node("Div", {power, sum});
  }

  /// Attention of heads {1, tokens, heads, head_dim}, as Keras writes it.
  std::string denseAttention(const Heads& heads, const std::string& name, double scale) {
    const auto einsum = [&](const std::string& a, const std::string& b, const char* equation) {
      return g_.node("Einsum", {a, b}, {{"equation", std::string(equation)}});
    };
    const std::string scores = einsum(heads.k, g_.node("Mul", {heads.q, g_.number(scale)}), "aecd,abcd->acbe");
    const std::string mixed = einsum(softmax(scores, 3), heads.v, "acbe,aecd->abcd");
    const auto& w = vit_.weight(name + ".proj.w");
    std::vector<double> turned(w.size());
    for (long i = 0; i < std::ssize(turned); ++i) turned[i] = w[i % kDim * kDim + i / kDim];
    const std::string weights = g_.weights(name + ".proj.w", {heads_, head_dim_, kDim}, turned);
    return g_.node("Add", {einsum(mixed, weights, "abcd,cde->abe"), stored(name + ".proj.b", {kDim})});
  }

  /// The grid cut into windows of kGridH x 1, attention in each, and back.
  std::string windowedAttention(const std::string& x, const std::string& name) {
    const long h = TinyVit::kGridH, w = TinyVit::kGridW;
    const auto swapped = [&](const std::string& y) { return g_.transpose(y, {0, 1, 3, 2, 4, 5}); };
    const std::string grid = g_.reshape(g_.reshape(x, {1, h, w, kDim}), {1, 1, h, w, 1, kDim});
    const std::string y = attention(g_.reshape(swapped(grid), {-1, h, kDim}), name, h, w);
    return g_.reshape(swapped(g_.reshape(y, {1, 1, w, h, 1, kDim})), {1, h * w, kDim});
  }

  std::string block(const std::string& x, const std::string& name, long rows, double eps) {
    const std::string first = norm(x, name + ".norm1", kDim, eps);
    std::string branch = dialect_.windowed ? windowedAttention(first, name) : attention(first, name, rows);
    if (dialect_.layer_scale) branch = g_.node("Mul", {branch, stored(name + ".scale1", {kDim})});
    const bool parallel = dialect_.blocks_are != BlockStyle::kSequential;
    const std::string middle = g_.node("Add", {x, branch});
    const std::string normed = norm(parallel ? x : middle, name + ".norm2", kDim, eps);
    std::string hidden;
    if (dialect_.gated_fused) {
      const std::string both =
          g_.split(linear(normed, {name + ".fc1", name + ".gate"}, rows, kDim), -1, {kHidden, kHidden});
      hidden = g_.node("Mul", {activation(both), GraphBuilder::other(both, 1)});
    } else {
      hidden = activation(linear(normed, {name + ".fc1"}, rows, kDim));
      if (dialect_.gated) hidden = g_.node("Mul", {linear(normed, {name + ".gate"}, rows, kDim), hidden});
    }
    if (dialect_.mlp_norm) hidden = norm(hidden, name + ".mlp_norm", kHidden, 1e-6);
    std::string mlp = linear(hidden, {name + ".fc2"}, rows, kHidden);
    if (dialect_.layer_scale) mlp = g_.node("Mul", {stored(name + ".scale2", {kDim}), mlp});
    if (dialect_.blocks_are == BlockStyle::kParallel) return g_.node("Add", {x, g_.node("Add", {branch, mlp})});
    return g_.node("Add", {mlp, middle});
  }

  std::string unit(const std::string& x) {
    switch (dialect_.l2) {
      case L2Style::kSumSqrt:
        return g_.node("Div", {x, g_.node("Sqrt", {g_.reduceSum(g_.node("Mul", {x, x}), -1)})});
      case L2Style::kLp:
        return g_.node("LpNormalization", {x}, {{"axis", -1L}, {"p", 2L}});
      case L2Style::kReduceL2:
      case L2Style::kReduceL2Clip:
        break;
    }
    std::string length = dialect_.opset < 18 ? g_.node("ReduceL2", {x}, {{"axes", Ints{-1}}, {"keepdims", 1L}})
                                             : g_.node("ReduceL2", {x, g_.ints({-1})}, {{"keepdims", 1L}});
    if (dialect_.l2 == L2Style::kReduceL2Clip) {
      length = g_.node("Clip", {length, g_.number(1e-12)});
      length = g_.node("Expand", {length, g_.node("Shape", {x})});
    }
    return g_.node("Div", {x, length});
  }

  std::string maskScores(const std::string& patches) {
    const long count = TinyVit::kTokens, classes = dialect_.classes, rows = count + classes;
    const std::string classes_rows = g_.node("Expand", {stored("classes", {1, classes, kDim}), g_.ints({1, 1, 1})});
    std::string x = g_.node("Concat", {linear(patches, {"decoder"}, count, kDim), classes_rows}, {{"axis", 1L}});
    for (int i = 0; i < 2; ++i) x = block(x, "decoder" + std::to_string(i), rows, 1e-5);
    x = norm(x, "decoder.norm", kDim, 1e-5);
    const std::string p = g_.node("MatMul", {g_.slice(x, 1, 0, -classes), stored("proj_patch", {kDim, kDim})});
    const std::string c = g_.node("MatMul", {g_.slice(x, 1, -classes, 1L << 60), stored("proj_classes", {kDim, kDim})});
    const std::string masks = g_.node("MatMul", {unit(p), g_.transpose(unit(c), {0, 2, 1})});
    return norm(masks, "mask", classes, 1e-3);
  }

  void head(const std::string& x) {
    const auto out = [&](const std::string& value, const std::string& name) {
      g_.output(g_.node("Identity", {value}, {}, 1, name));
    };
    const long classes = dialect_.classes, count = TinyVit::kTokens;
    const long special = dialect_.position == PositionStyle::kBehind ? 0 : dialect_.special, end = special + count;
    switch (dialect_.head) {
      case HeadStyle::kFeatures:
      case HeadStyle::kTap:
        return out(x, "features");
      case HeadStyle::kClassToken:
        return out(g_.reshape(linear(g_.unsqueeze(g_.node("Gather", {x, g_.intScalar(0)}, {{"axis", 1L}}), 1), {"head"},
                                     1, kDim),
                              {1, classes}),
                   "logits");
      case HeadStyle::kClassSlice:
        return out(g_.squeeze(linear(g_.slice(x, 1, 0, 1), {"head"}, 1, kDim), 1), "logits");
      case HeadStyle::kMean:
        return out(g_.squeeze(linear(g_.reduceMean(g_.slice(x, 1, special, end), 1), {"head"}, 1, kDim), 1), "logits");
      default:
        break;
    }
    const std::string patches = g_.slice(x, 1, special, end);
    std::string map;
    if (dialect_.head == HeadStyle::kLinearConv) {
      const std::string grid =
          g_.reshape(g_.transpose(patches, {0, 2, 1}), {1, kDim, TinyVit::kGridH, TinyVit::kGridW});
      map = g_.node("Conv", {grid, stored("head.w", {classes, kDim, 1, 1}), stored("head.b", {classes})},
                    {{"kernel_shape", Ints{1, 1}}});
    } else {
      const auto mlp = [&] {
        const std::string normed = norm(patches, "mlp.norm", kDim, 1e-6);
        return linear(activation(linear(normed, {"mlp.hidden"}, count, kDim)), {"mlp"}, count, kHidden);
      };
      const std::string scores = dialect_.head == HeadStyle::kMask  ? maskScores(patches)
                                 : dialect_.head == HeadStyle::kMlp ? mlp()
                                                                    : linear(patches, {"head"}, count, kDim);
      map = g_.reshape(g_.transpose(scores, {0, 2, 1}), {1, classes, TinyVit::kGridH, TinyVit::kGridW});
    }
    if (dialect_.resize_in_graph) {
      map = g_.node("Resize", {map, "", "", g_.ints({1, classes, TinyVit::kHeight, TinyVit::kWidth})},
                    {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}});
    }
    if (dialect_.argmax) map = g_.node("ArgMax", {map}, {{"axis", 1L}, {"keepdims", 0L}});
    out(map, "masks");
  }

  const TinyVit& vit_;
  const Dialect& dialect_;
  const long heads_ = vit_.heads(), head_dim_ = vit_.headDim();
  GraphBuilder g_;
};

GraphBuilder TinyVit::graph() { return TinyVitWriter(*this).write(); }

}  // namespace mpm::test
