// SPDX-License-Identifier: Apache-2.0
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
    g_.input("image", dialect_.bytes ? Ints{1, height, width, 3} : Ints{symbolic ? 0 : 1, 3, height, width});
    if (dialect_.bytes)
      g_.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
          onnx::TensorProto::UINT8);
    std::string x = embedding();
    if (dialect_.pre_norm) x = norm(x, "pre", TinyVit::kDim, 1e-6);
    for (int i = 0; i < dialect_.blocks; ++i) x = block(x, "block" + std::to_string(i), tokens(), 1e-6);
    head(norm(x, "norm", TinyVit::kDim, 1e-6));
    return std::move(g_);
  }

 private:
  using Ints = std::vector<long>;

  static constexpr long kDim = TinyVit::kDim, kHidden = TinyVit::kHidden;
  long tokens() const { return dialect_.special + TinyVit::kTokens; }

  std::string stored(const std::string& name, const Ints& shape) { return g_.weights(name, shape, vit_.weight(name)); }

  /// The patches {1, kDim, rows} of a linear layer over their pixels.
  std::string linearPatches(const std::string& image) {
    const long patch = TinyVit::kPatch, h = TinyVit::kGridH, w = TinyVit::kGridW, inside = 3 * patch * patch;
    const std::string apart = g_.transpose(g_.reshape(image, {1, 3, h, patch, w, patch}), {0, 2, 4, 1, 3, 5});
    const std::string weights = g_.weights("patch.w", {inside, kDim}, turned(vit_.weight("patch.w"), kDim, inside));
    const std::string x = g_.node("MatMul", {g_.reshape(apart, {1, h * w, inside}), weights});
    return g_.transpose(g_.node("Add", {x, stored("patch.b", {kDim})}), {0, 2, 1});
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
    if (special > 0) {
      const std::string rows = stored("special", {1, special, kDim});
      std::string shape = g_.ints({1, special, kDim});
      if (dialect_.symbolic) {
        const std::string batch = g_.node("Gather", {g_.node("Shape", {"image"}), g_.intScalar(0)}, {{"axis", 0L}});
        shape = g_.node("Concat", {g_.unsqueeze(batch, 0), g_.ints({special, kDim})}, {{"axis", 0L}});
      }
      x = g_.node("Concat", {g_.node("Expand", {rows, shape}), x}, {{"axis", 1L}});
    }
    return g_.node("Add", {x, stored("position", {1, tokens(), kDim})});
  }

  std::string norm(const std::string& x, const std::string& name, long width, double eps) {
    const std::string w = stored(name + ".w", {width}), b = stored(name + ".b", {width});
    if (dialect_.norm == NormStyle::kOp) {
      return g_.node("LayerNormalization", {x, w, b}, {{"axis", -1L}, {"epsilon", eps}});
    }
    const std::string centred = g_.node("Sub", {x, g_.reduceMean(x, -1)});
    const std::string square = g_.node("Pow", {centred, g_.number(2)});
    const std::string variance = g_.node("Add", {g_.reduceMean(square, -1), g_.number(eps)});
    const std::string unit = g_.node("Div", {centred, g_.node("Sqrt", {variance})});
    return g_.node("Add", {g_.node("Mul", {unit, w}), b});
  }

  /// Rows of several linear layers, one behind the other.
  std::vector<double> joined(const std::vector<std::string>& names, const char* part) const {
    std::vector<double> all;
    for (const std::string& name : names)
      all.insert(all.end(), vit_.weight(name + part).begin(), vit_.weight(name + part).end());
    return all;
  }

  static std::vector<double> turned(const std::vector<double>& w, long rows, long columns) {
    std::vector<double> result(w.size());
    for (long i = 0; i < rows; ++i)
      for (long k = 0; k < columns; ++k) result[k * rows + i] = w[i * columns + k];
    return result;
  }

  /// One linear layer made of the rows of `names`; x {1, rows, in}.
  std::string linear(const std::string& x, const std::vector<std::string>& names, long rows, long in) {
    const std::vector<double> w = joined(names, ".w"), b = joined(names, ".b");
    const auto out = static_cast<long>(b.size());
    const std::string stem = names[0] + (names.size() > 1 ? "+" : "");
    if (dialect_.linear == LinearStyle::kMatMul) {
      const std::string y = g_.node("MatMul", {x, g_.weights(stem + ".w", {in, out}, turned(w, out, in))});
      return g_.node("Add", {g_.weights(stem + ".b", {out}, b), y});
    }
    const std::string map = g_.reshape(g_.transpose(x, {0, 2, 1}), {1, in, rows, 1});
    const std::string y =
        g_.node("Conv", {map, g_.weights(stem + ".w", {out, in, 1, 1}, w), g_.weights(stem + ".b", {out}, b)},
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
    const std::vector<std::string> all{name + ".q", name + ".k", name + ".v"};
    if (dialect_.qkv != QkvStyle::kGather) {
      const auto one = [&](const std::string& part) {
        const std::string y = g_.reshape(linear(x, {part}, rows, kDim), {1, rows, heads_, head_dim_});
        return dialect_.qkv == QkvStyle::kEinsum ? y : g_.transpose(y, {0, 2, 1, 3});
      };
      return {one(all[0]), one(all[1]), one(all[2])};
    }
    const std::string y =
        g_.transpose(g_.reshape(linear(x, all, rows, kDim), {windows, rows, 3, heads_, head_dim_}), {2, 0, 3, 1, 4});
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
    return linear(g_.reshape(out, {windows, rows, kDim}), {name + ".proj"}, rows, kDim);
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
    std::string hidden = activation(linear(normed, {name + ".fc1"}, rows, kDim));
    if (dialect_.gated) hidden = g_.node("Mul", {linear(normed, {name + ".gate"}, rows, kDim), hidden});
    if (dialect_.mlp_norm) hidden = norm(hidden, name + ".mlp_norm", kHidden, 1e-6);
    std::string mlp = linear(hidden, {name + ".fc2"}, rows, kHidden);
    if (dialect_.layer_scale) mlp = g_.node("Mul", {stored(name + ".scale2", {kDim}), mlp});
    if (dialect_.blocks_are == BlockStyle::kParallel) return g_.node("Add", {x, g_.node("Add", {branch, mlp})});
    return g_.node("Add", {mlp, middle});
  }

  std::string unit(const std::string& x) {
    return g_.node("Div", {x, g_.node("Sqrt", {g_.reduceSum(g_.node("Mul", {x, x}), -1)})});
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
    const long special = dialect_.special, end = special + count;
    if (dialect_.head == HeadStyle::kFeatures) return out(x, "features");
    if (dialect_.head == HeadStyle::kClassToken) {
      const std::string token = g_.unsqueeze(g_.node("Gather", {x, g_.intScalar(0)}, {{"axis", 1L}}), 1);
      return out(g_.reshape(linear(token, {"head"}, 1, kDim), {1, classes}), "logits");
    }
    const std::string patches = g_.slice(x, 1, special, end);
    const std::string scores =
        dialect_.head == HeadStyle::kMask ? maskScores(patches) : linear(patches, {"head"}, count, kDim);
    std::string map = g_.reshape(g_.transpose(scores, {0, 2, 1}), {1, classes, TinyVit::kGridH, TinyVit::kGridW});
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
