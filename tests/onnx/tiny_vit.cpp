// SPDX-License-Identifier: Apache-2.0
#include "onnx/tiny_vit.h"

namespace mpm::test {
namespace {

using Values = std::vector<double>;

double uniform(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 16777216.0 * 2 - 1;
}

/// The sum of x and of what a branch added to it, times a factor for each column.
Reference withLayerScale(const Reference& x, Reference sum, const std::vector<float>& factors) {
  for (std::size_t i = 0; i < sum.values.size(); ++i)
    sum.values[i] = x.values[i] + static_cast<double>(factors[i % factors.size()]) * (sum.values[i] - x.values[i]);
  return sum;
}

/// Bilinear, half-pixel centres, per channel of {h, w, channels}.
Values resized(const Values& map, int h, int w, int channels, int new_h, int new_w) {
  const double down = static_cast<double>(new_h) / h, right = static_cast<double>(new_w) / w;
  Values result;
  const auto at = [](double x, int side) { return std::clamp(x, 0.0, side - 1.0); };
  for (int y = 0; y < new_h; ++y) {
    for (int x = 0; x < new_w; ++x) {
      const double sy = at((y + 0.5) / down - 0.5, h), sx = at((x + 0.5) / right - 0.5, w);
      const int y0 = static_cast<int>(sy), x0 = static_cast<int>(sx), y1 = std::min(y0 + 1, h - 1),
                x1 = std::min(x0 + 1, w - 1);
      for (int c = 0; c < channels; ++c) {
        const auto pixel = [&](int r, int k) { return map[(r * w + k) * channels + c]; };
        const double top = pixel(y0, x0) * (1 - (sx - x0)) + pixel(y0, x1) * (sx - x0);
        const double bottom = pixel(y1, x0) * (1 - (sx - x0)) + pixel(y1, x1) * (sx - x0);
        result.push_back(top * (1 - (sy - y0)) + bottom * (sy - y0));
      }
    }
  }
  return result;
}

}  // namespace

TinyVit::TinyVit(Dialect dialect, unsigned seed) : dialect_(std::move(dialect)) {
  const auto classes = static_cast<std::size_t>(dialect_.classes);
  unsigned state = seed;
  drawLinear("patch", 3 * kPatch * kPatch, kDim, 0.2, state, 0.3);
  draw("special", static_cast<std::size_t>(dialect_.special) * kDim, 1, 0, state);
  draw("position", (static_cast<std::size_t>(dialect_.special) + kTokens) * kDim, 0.7, 0, state);
  drawNorm("pre", kDim, state);
  for (int i = 0; i < dialect_.blocks; ++i) drawBlock("block" + std::to_string(i), state);
  for (int i = 0; i < 2; ++i) drawBlock("decoder" + std::to_string(i), state);
  for (const char* norm : {"norm", "decoder.norm"}) drawNorm(norm, kDim, state);
  drawLinear("head", kDim, classes, 0.4, state, 0.4);
  drawLinear("decoder", kDim, kDim, 0.3, state, 0.3);
  draw("classes", classes * kDim, 1, 0, state);
  draw("proj_patch", kDim * kDim, 0.3, 0, state);
  draw("proj_classes", kDim * kDim, 0.3, 0, state);
  drawNorm("mask", classes, state);
  if (dialect_.no_positions) std::ranges::fill(weights_["position"], 0.0);
  for (const auto& [name, values] : weights_) floats_[name].assign(values.begin(), values.end());
}

void TinyVit::draw(const std::string& name, std::size_t count, double scale, double offset, unsigned& state) {
  Values& values = weights_[name];
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(static_cast<float>(offset + scale * uniform(state)));
    values.push_back(dialect_.storage == Storage::kHalf ? roundedToHalf(value) : value);
  }
}

void TinyVit::drawNorm(const std::string& name, std::size_t width, unsigned& state) {
  draw(name + ".w", width, 0.4, 1, state);
  draw(name + ".b", width, 0.4, 0, state);
}

void TinyVit::drawLinear(const std::string& name, std::size_t in, std::size_t out, double scale, unsigned& state,
                         double of_bias) {
  draw(name + ".w", in * out, scale, 0, state);
  draw(name + ".b", out, of_bias, 0, state);
}

void TinyVit::drawBlock(const std::string& name, unsigned& state) {
  for (const char* norm : {".norm1", ".norm2"}) drawNorm(name + norm, kDim, state);
  for (const char* part : {".q", ".k", ".v", ".proj"}) drawLinear(name + part, kDim, kDim, 0.3, state, 0.5);
  for (const char* norm : {".q_norm", ".k_norm"}) drawNorm(name + norm, headDim(), state);
  for (const char* part : {".fc1", ".gate"}) drawLinear(name + part, kDim, kHidden, 0.3, state, 0.3);
  drawNorm(name + ".mlp_norm", kHidden, state);
  drawLinear(name + ".fc2", kHidden, kDim, 0.3, state, 0.3);
  draw(name + ".scale1", kDim, 0.5, 0.6, state);
  draw(name + ".scale2", kDim, 0.5, 0.6, state);
  const auto join = [&](const std::string& whole, const std::vector<std::string>& parts) {
    for (const char* kind : {".w", ".b"})
      for (const std::string& part : parts) {
        const Values& of_part = weight(name + part + kind);
        weights_[name + whole + kind].insert(weights_[name + whole + kind].end(), of_part.begin(), of_part.end());
      }
  };
  join(".qkv", {".q", ".k", ".v"});
  join(".fc1+gate", {".fc1", ".gate"});
}

std::vector<double> TinyVit::image(unsigned seed, int height, int width) {
  Values values(static_cast<std::size_t>(3 * height * width));
  for (double& value : values) value = static_cast<double>(static_cast<float>(uniform(seed)));
  return values;
}

Reference TinyVit::linear(const Reference& x, const std::string& name) const {
  return test::linear(x, linearWeights(name, x.cols));
}

LinearWeights TinyVit::linearWeights(const std::string& name, int in) const {
  return {{floats(name + ".w"), static_cast<int>(weight(name + ".b").size()), in}, floats(name + ".b")};
}

NormWeights TinyVit::normWeights(const std::string& name, float eps) const {
  return {floats(name + ".w"), floats(name + ".b"), eps};
}

Reference TinyVit::block(const Reference& x, const std::string& name) const {
  const float eps = name.starts_with("decoder") ? 1e-5f : 1e-6f;
  TransformerBlockSpec s;
  s.dim = kDim, s.heads = heads(), s.head_dim = headDim();
  s.scale = 1 / std::sqrt(static_cast<float>(headDim()));
  s.norm1 = normWeights(name + ".norm1", eps), s.norm2 = normWeights(name + ".norm2", eps);
  s.qk_norm = dialect_.qk_norm, s.mlp_norm = dialect_.mlp_norm, s.gated = dialect_.gated;
  s.q_norm = normWeights(name + ".q_norm", 1e-6f), s.k_norm = normWeights(name + ".k_norm", 1e-6f);
  s.mlp_norm_weights = normWeights(name + ".mlp_norm", 1e-6f);
  s.qkv = linearWeights(name + ".qkv", kDim), s.proj = linearWeights(name + ".proj", kDim);
  s.fc1 = linearWeights(name + (s.gated ? ".fc1+gate" : ".fc1"), kDim);
  s.fc2 = linearWeights(name + ".fc2", kHidden);
  s.activation = dialect_.activation == ActivationStyle::kRelu ? Activation::kRelu : Activation::kGeluErf;
  std::vector<float> apart;  // of tokens in different columns of patches
  for (int pair = 0; dialect_.windowed && pair < s.heads * x.rows * x.rows; ++pair)
    apart.push_back(pair / x.rows % x.rows % kGridW == pair % x.rows % kGridW ? 0.0f : -1e30f);
  const PositionBias bias{static_cast<int>(apart.size()) / s.heads, apart.data(), nullptr};
  Reference middle = withAttention(s, x, attended(s, norm(x, s.norm1), nullptr, {}, bias));
  if (dialect_.layer_scale) middle = withLayerScale(x, middle, floats_.at(name + ".scale1"));
  const Reference y = withMlp(s, middle, dialect_.blocks_are == BlockStyle::kSequential ? middle : x);
  return dialect_.layer_scale ? withLayerScale(middle, y, floats_.at(name + ".scale2")) : y;
}

std::vector<Reference> TinyVit::streams(const Values& image, int grid_h, int grid_w,
                                        const std::vector<int>& shared) const {
  const int height = grid_h * kPatch, width = grid_w * kPatch, special = dialect_.special;
  const Values& w = weight("patch.w");
  const Values& position = weight("position");
  const Values patches(position.begin() + special * kDim, position.end());
  const Values resized_position =
      grid_h == kGridH && grid_w == kGridW ? patches : resized(patches, kGridH, kGridW, kDim, grid_h, grid_w);
  Values x;
  for (int e = 0; e < special; ++e) {
    for (int j = 0; j < kDim; ++j) {
      const auto i = static_cast<std::size_t>(e * kDim + j);
      x.push_back(weight("special")[i] + position[i]);
    }
  }
  // A token of a square of `side` x `side` patches: of the mean pixels and the mean position.
  const auto addToken = [&](int row, int column, int side) {
    const auto mean = [side](auto value) {
      double sum = 0;
      for (int i = 0; i < side * side; ++i) sum += value(i / side, i % side) / (side * side);
      return sum;
    };
    for (int o = 0; o < kDim; ++o) {
      double value = weight("patch.b")[o] + mean([&](int down, int right) {
                       const int patch = (row + down) * grid_w + column + right;
                       return resized_position[patch * kDim + o];
                     });
      for (int c = 0; c < 3; ++c) {
        for (int y = 0; y < kPatch; ++y) {
          for (int k = 0; k < kPatch; ++k) {
            const int pad = dialect_.patches == PatchStyle::kPadded ? 1 : 0;
            const int top = row * kPatch + y * side - pad, left = column * kPatch + k * side - pad;
            if (top < 0 || left < 0) continue;
            double pixel =
                mean([&](int down, int right) { return image[(c * height + top + down) * width + left + right]; });
            if (dialect_.normalises) pixel = (pixel - 0.25 * (c + 1)) / (0.5 + 0.125 * c);
            value += pixel * w[((o * 3 + c) * kPatch + y) * kPatch + k];
          }
        }
      }
      x.push_back(value);
    }
  };
  std::vector<int> token_of_patch(grid_h * grid_w, -1);
  int tokens = 0;
  for (const int window : shared) {
    const int row = window / (grid_w / 2) * 2, column = window % (grid_w / 2) * 2;
    for (int i = 0; i < 4; ++i) token_of_patch[(row + i / 2) * grid_w + column + i % 2] = tokens;
    addToken(row, column, 2);
    ++tokens;
  }
  for (int i = 0; i < grid_h * grid_w; ++i) {
    if (token_of_patch[i] >= 0) continue;
    token_of_patch[i] = tokens++;
    addToken(i / grid_w, i % grid_w, 1);
  }
  Reference rows(special + tokens, kDim);
  rows.values = x;
  if (dialect_.pre_norm) rows = norm(rows, normWeights("pre", 1e-6f));
  std::vector<Reference> result;
  for (int i = 0; i <= dialect_.blocks; ++i) {
    if (i > 0) rows = block(rows, "block" + std::to_string(i - 1));
    Reference restored = rows.rowRange(0, special);
    for (const int token : token_of_patch)
      restored = stacked(restored, rows.rowRange(special + token, special + token + 1));
    result.push_back(restored);
  }
  return result;
}

Reference TinyVit::encode(const Values& image, int grid_h, int grid_w, const std::vector<int>& shared) const {
  return norm(streams(image, grid_h, grid_w, shared).back(), normWeights("norm", 1e-6f));
}

Values TinyVit::scores(const Values& image, int grid_h, int grid_w, const std::vector<int>& shared) const {
  const Reference encoded = encode(image, grid_h, grid_w, shared);
  const Reference patches = encoded.rowRange(dialect_.special, encoded.rows);
  if (dialect_.head != HeadStyle::kMask) return linear(patches, "head").values;
  Reference x = decoderInput(encoded);
  for (int i = 0; i < 2; ++i) x = block(x, "decoder" + std::to_string(i));
  return maskScoresOf(x);
}

Reference TinyVit::decoderInput(const Reference& encoded) const {
  return stacked(linear(encoded.rowRange(dialect_.special, encoded.rows), "decoder"),
                 Reference({floats("classes"), dialect_.classes, kDim}));
}

Values TinyVit::maskScoresOf(const Reference& decoded) const {
  const Reference x = norm(decoded, normWeights("decoder.norm", 1e-5f));
  const int patches = x.rows - dialect_.classes;
  const auto turned = [&](const char* name) {  // the graph multiplies rows by the matrix as it is stored
    std::vector<float> matrix(kDim * kDim);
    for (int i = 0; i < kDim * kDim; ++i) matrix[i % kDim * kDim + i / kDim] = floats(name)[i];
    return matrix;
  };
  const std::vector<float> of_classes = turned("proj_classes"), of_patches = turned("proj_patch");
  return maskScores(x.rowRange(patches, x.rows), x.rowRange(0, patches), {of_classes.data(), kDim, kDim},
                    {of_patches.data(), kDim, kDim}, normWeights("mask", 1e-3f))
      .values;
}

std::vector<Values> TinyVit::scoresOfFrames(const std::vector<Values>& images,
                                            const std::vector<std::vector<int>>& changed) const {
  std::vector<Values> results;
  std::vector<Reference> kept(dialect_.blocks + 1, {dialect_.special + kTokens, kDim}),  // inputs of the blocks
      kept_head(3, {kTokens + dialect_.classes, kDim});                                  // and outputs of the last one
  for (std::size_t f = 0; f < images.size(); ++f) {
    const auto update = [&](Reference& to, const Reference& from, int first) {  // patches begin there
      for (int row = 0; row < to.rows; ++row)
        if (row < first || row >= first + kTokens || std::ranges::count(changed[f], row - first) > 0)
          for (int c = 0; c < kDim; ++c) to.at(row, c) = from.at(row, c);
    };
    update(kept[0], streams(images[f], kGridH, kGridW)[0], dialect_.special);
    for (int i = 0; i < dialect_.blocks; ++i)
      update(kept[i + 1], block(kept[i], "block" + std::to_string(i)), dialect_.special);
    update(kept_head[0], decoderInput(norm(kept.back(), normWeights("norm", 1e-6f))), 0);
    for (int i = 0; i < 2; ++i) update(kept_head[i + 1], block(kept_head[i], "decoder" + std::to_string(i)), 0);
    results.push_back(maskScoresOf(kept_head[2]));
  }
  return results;
}

std::vector<Values> TinyVit::evaluate(const Values& image) const {
  if (dialect_.head == HeadStyle::kFeatures) return {encode(image, kGridH, kGridW).values};
  Values map = scores(image, kGridH, kGridW);
  if (dialect_.resize_in_graph) map = resized(map, kGridH, kGridW, dialect_.classes, kHeight, kWidth);
  const std::size_t classes = dialect_.classes, pixels = map.size() / classes;
  Values logits(map.size());
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < classes; ++c) logits[c * pixels + i] = map[i * classes + c];
  return {logits};
}

}  // namespace mpm::test
