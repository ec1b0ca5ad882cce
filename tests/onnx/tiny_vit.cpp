// SPDX-License-Identifier: Apache-2.0
#include "onnx/tiny_vit.h"

#include <cmath>

namespace mpm::test {
namespace {

double uniform(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 16777216.0 * 2 - 1;
}

/// Writes a TinyVit down, node for node, as its dialect says.
class Writer {
 public:
  explicit Writer(const Dialect& dialect) : dialect_(dialect), g_(dialect_.opset, dialect_.storage) {}

  GraphBuilder write() {
    const bool symbolic = dialect_.symbolic;
    const long height = symbolic ? 0 : TinyVit::kHeight, width = symbolic ? 0 : TinyVit::kWidth;
    g_.input("image", dialect_.bytes ? Ints{1, height, width, 3} : Ints{symbolic ? 0 : 1, 3, height, width});
    if (dialect_.bytes) {
      g_.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
          onnx::TensorProto::UINT8);
    }
    std::string x = embedding();
    for (int i = 0; i < dialect_.blocks; ++i) x = block(x, "block" + std::to_string(i), tokens(), 1e-6);
    head(norm(x, "norm", TinyVit::kDim, 1e-6));
    return std::move(g_);
  }

 private:
  using Ints = std::vector<long>;

  static constexpr long kDim = TinyVit::kDim, kHidden = TinyVit::kHidden;
  long tokens() const { return dialect_.special + TinyVit::kTokens; }

  /// Random weights.
  std::string drawn(const std::string& name, const Ints& shape, double scale = 0.3, double offset = 0) {
    std::vector<double> values(1);
    for (const long side : shape) values.resize(values.size() * static_cast<std::size_t>(side));
    for (double& value : values) value = offset + scale * uniform(state_);
    return g_.weights(name, shape, values);
  }

  /// The patches {1, kDim, rows} of a linear layer over their pixels.
  std::string linearPatches(const std::string& image) {
    const long patch = TinyVit::kPatch, h = TinyVit::kGridH, w = TinyVit::kGridW, inside = 3 * patch * patch;
    const std::string apart = g_.transpose(g_.reshape(image, {1, 3, h, patch, w, patch}), {0, 2, 4, 1, 3, 5});
    const std::string x = g_.node("MatMul", {g_.reshape(apart, {1, h * w, inside}), drawn("patch.w", {inside, kDim})});
    return g_.transpose(g_.node("Add", {x, drawn("patch.b", {kDim})}), {0, 2, 1});
  }

  std::string embedding() {
    std::string image = "image";
    if (dialect_.bytes) image = g_.node("Cast", {g_.transpose(image, {0, 3, 1, 2})}, {{"to", 1L}});
    if (dialect_.normalises) {
      image = g_.node("Sub", {image, g_.weights("mean", {1, 3, 1, 1}, {0.25, 0.5, 0.75})});
      image = g_.node("Div", {image, g_.weights("deviation", {1, 3, 1, 1}, {0.5, 0.625, 0.75})});
    }
    const long patch = TinyVit::kPatch, special = dialect_.special;
    std::string x;
    const bool padded = dialect_.patches == PatchStyle::kPadded,
               convolution = padded || dialect_.patches == PatchStyle::kConv;
    if (convolution) {
      x = g_.node("Conv", {image, drawn("patch.w", {kDim, 3, patch, patch}), drawn("patch.b", {kDim})},
                  {{"kernel_shape", Ints{patch, patch}}, {"strides", Ints{patch, patch}}, {"pads", Ints(4, padded)}});
    }
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
    if (special > 0) {
      const std::string rows = drawn("special", {1, special, kDim}, 1);
      std::string shape = g_.ints({1, special, kDim});
      if (dialect_.symbolic) {
        const std::string batch = g_.node("Gather", {g_.node("Shape", {"image"}), g_.intScalar(0)}, {{"axis", 0L}});
        shape = g_.node("Concat", {g_.unsqueeze(batch, 0), g_.ints({special, kDim})}, {{"axis", 0L}});
      }
      x = g_.node("Concat", {g_.node("Expand", {rows, shape}), x}, {{"axis", 1L}});
    }
    return g_.node("Add", {x, drawn("position", {1, tokens(), kDim}, 0.7)});
  }

  std::string norm(const std::string& x, const std::string& name, long width, double eps) {
    const std::string w = drawn(name + ".w", {width}, 0.4, 1), b = drawn(name + ".b", {width}, 0.4);
    if (dialect_.norm == NormStyle::kOp) {
      return g_.node("LayerNormalization", {x, w, b}, {{"axis", -1L}, {"epsilon", eps}});
    }
    const std::string centred = g_.node("Sub", {x, g_.reduceMean(x, -1)});
    const std::string square = g_.node("Pow", {centred, g_.number(2)});
    const std::string variance = g_.node("Add", {g_.reduceMean(square, -1), g_.number(eps)});
    const std::string unit = g_.node("Div", {centred, g_.node("Sqrt", {variance})});
    return g_.node("Add", {g_.node("Mul", {unit, w}), b});
  }

  /// x {1, rows, in}.
  std::string linear(const std::string& x, const std::string& name, long rows, long in, long out) {
    if (dialect_.linear == LinearStyle::kMatMul) {
      const std::string y = g_.node("MatMul", {x, drawn(name + ".w", {in, out})});
      return g_.node("Add", {drawn(name + ".b", {out}), y});
    }
    const std::string map = g_.reshape(g_.transpose(x, {0, 2, 1}), {1, in, rows, 1});
    const std::string y = g_.node("Conv", {map, drawn(name + ".w", {out, in, 1, 1}), drawn(name + ".b", {out})},
                                  {{"kernel_shape", Ints{1, 1}}});
    return g_.transpose(g_.reshape(y, {1, out, rows}), {0, 2, 1});
  }

  std::string activation(const std::string& x) {
    if (dialect_.activation == ActivationStyle::kRelu) return g_.node("Relu", {x});
    const std::string bent = g_.node("Erf", {g_.node("Div", {x, g_.number(std::sqrt(2.0))})});
    return g_.node("Mul", {g_.node("Mul", {x, g_.node("Add", {bent, g_.number(1)})}), g_.number(0.5)});
  }

  struct Heads {
    std::string q, k, v;  ///< {1, heads, tokens, head_dim}; of kEinsum {1, tokens, heads, head_dim}
  };

  Heads project(const std::string& x, const std::string& name, long rows, long windows) {
    if (dialect_.qkv != QkvStyle::kGather) {
      const auto one = [&](const char* part) {
        const std::string y = g_.reshape(linear(x, name + part, rows, kDim, kDim), {1, rows, heads_, head_dim_});
        return dialect_.qkv == QkvStyle::kEinsum ? y : g_.transpose(y, {0, 2, 1, 3});
      };
      return {one(".q"), one(".k"), one(".v")};
    }
    const std::string joined = linear(x, name + ".qkv", rows, kDim, 3 * kDim);
    const std::string y = g_.transpose(g_.reshape(joined, {windows, rows, 3, heads_, head_dim_}), {2, 0, 3, 1, 4});
    const auto one = [&](long i) { return g_.node("Gather", {y, g_.intScalar(i)}, {{"axis", 0L}}); };
    return {one(0), one(1), one(2)};
  }

  std::string attention(const std::string& x, const std::string& name, long rows, long windows = 1) {
    Heads heads = project(x, name, rows, windows);
    const bool einsum = dialect_.qkv == QkvStyle::kEinsum;
    if (dialect_.qk_norm) {
      heads.q = norm(heads.q, name + ".q_norm", head_dim_, 1e-6);
      heads.k = norm(heads.k, name + ".k_norm", head_dim_, 1e-6);
    }
    const double scale = 1 / std::sqrt(static_cast<double>(head_dim_));
    std::string out;
    if (dialect_.qkv == QkvStyle::kAttentionOp) {
      out = g_.node("Attention", {heads.q, heads.k, heads.v}, {{"scale", scale}});
    } else {
      std::string scores = einsum
                               ? g_.node("Einsum", {heads.q, heads.k}, {{"equation", std::string("bqhd,bkhd->bhqk")}})
                               : g_.node("MatMul", {heads.q, g_.transpose(heads.k, {0, 1, 3, 2})});
      scores = g_.node("Mul", {scores, g_.number(scale)});
      const std::string p = g_.node("Softmax", {scores}, {{"axis", 3L}});
      out = einsum ? g_.node("Einsum", {p, heads.v}, {{"equation", std::string("bhqk,bkhd->bqhd")}})
                   : g_.node("MatMul", {p, heads.v});
    }
    if (!einsum) out = g_.transpose(out, {0, 2, 1, 3});
    return linear(g_.reshape(out, {windows, rows, kDim}), name + ".proj", rows, kDim, kDim);
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
    const std::string branch = dialect_.windowed ? windowedAttention(first, name) : attention(first, name, rows);
    const std::string middle = g_.node("Add", {x, branch});
    const std::string normed = norm(dialect_.parallel ? x : middle, name + ".norm2", kDim, eps);
    const std::string hidden = activation(linear(normed, name + ".fc1", rows, kDim, kHidden));
    const std::string mlp = linear(hidden, name + ".fc2", rows, kHidden, kDim);
    if (dialect_.parallel) return g_.node("Add", {x, g_.node("Add", {branch, mlp})});
    return g_.node("Add", {mlp, middle});
  }

  std::string unit(const std::string& x) {
    return g_.node("Div", {x, g_.node("Sqrt", {g_.reduceSum(g_.node("Mul", {x, x}), -1)})});
  }

  std::string maskScores(const std::string& patches) {
    const long count = TinyVit::kTokens, classes = dialect_.classes, rows = count + classes;
    const std::string classes_rows = g_.node("Expand", {drawn("classes", {1, classes, kDim}, 1), g_.ints({1, 1, 1})});
    std::string x = g_.node("Concat", {linear(patches, "decoder", count, kDim, kDim), classes_rows}, {{"axis", 1L}});
    for (int i = 0; i < 2; ++i) x = block(x, "decoder" + std::to_string(i), rows, 1e-5);
    x = norm(x, "decoder.norm", kDim, 1e-5);
    const std::string p = g_.node("MatMul", {g_.slice(x, 1, 0, -classes), drawn("proj_patch", {kDim, kDim})});
    const std::string c = g_.node("MatMul", {g_.slice(x, 1, -classes, 1L << 60), drawn("proj_classes", {kDim, kDim})});
    const std::string masks = g_.node("MatMul", {unit(p), g_.transpose(unit(c), {0, 2, 1})});
    return norm(masks, "mask", classes, 1e-3);
  }

  void head(const std::string& x) {
    const auto out = [&](const std::string& value, const std::string& name) {
      g_.output(g_.node("Identity", {value}, {}, 1, name));
    };
    const long classes = dialect_.classes, count = TinyVit::kTokens;
    const long special = dialect_.special, end = special + count;
    if (dialect_.head == HeadStyle::kFeatures) return out(x, "features");
    if (dialect_.head == HeadStyle::kClassToken) {
      const std::string token = g_.unsqueeze(g_.node("Gather", {x, g_.intScalar(0)}, {{"axis", 1L}}), 1);
      return out(g_.reshape(linear(token, "head", 1, kDim, classes), {1, classes}), "logits");
    }
    const std::string patches = g_.slice(x, 1, special, end);
    const std::string scores =
        dialect_.head == HeadStyle::kMask ? maskScores(patches) : linear(patches, "head", count, kDim, classes);
    std::string map = g_.reshape(g_.transpose(scores, {0, 2, 1}), {1, classes, TinyVit::kGridH, TinyVit::kGridW});
    if (dialect_.resize_in_graph) {
      map = g_.node("Resize", {map, "", "", g_.ints({1, classes, TinyVit::kHeight, TinyVit::kWidth})},
                    {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}});
    }
    if (dialect_.argmax) map = g_.node("ArgMax", {map}, {{"axis", 1L}, {"keepdims", 0L}});
    out(map, "masks");
  }

  const Dialect& dialect_;
  const long heads_ = dialect_.heads, head_dim_ = kDim / dialect_.heads;
  GraphBuilder g_;
  unsigned state_ = 7;
};

}  // namespace

GraphBuilder TinyVit::graph() const { return Writer(dialect_).write(); }

std::vector<double> TinyVit::image(unsigned seed, int height, int width) {
  std::vector<double> values(static_cast<std::size_t>(3 * height * width));
  for (double& value : values) value = static_cast<double>(static_cast<float>(uniform(seed)));
  return values;
}

}  // namespace mpm::test
