// SPDX-License-Identifier: Apache-2.0
#include "onnx/tiny_vit.h"

#include <algorithm>
#include <cmath>

namespace mpm::test {
namespace {

using Values = std::vector<double>;

constexpr double kPi = 3.14159265358979323846;

double uniform(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 16777216.0 * 2 - 1;
}

Values sum(const Values& a, const Values& b) {
  Values result = a;
  for (std::size_t i = 0; i < a.size(); ++i) result[i] += b[i % b.size()];
  return result;
}

Values scaledColumns(Values x, const Values& factors) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= factors[i % factors.size()];
  return x;
}

/// Bilinear, half-pixel centres, per channel of {h, w, channels}.
Values resized(const Values& map, int h, int w, int channels, int new_h, int new_w) {
  Values result;
  const auto at = [](double x, int side) { return std::clamp(x, 0.0, side - 1.0); };
  for (int y = 0; y < new_h; ++y) {
    for (int x = 0; x < new_w; ++x) {
      const double sy = at((y + 0.5) * h / new_h - 0.5, h), sx = at((x + 0.5) * w / new_w - 0.5, w);
      const int y0 = static_cast<int>(sy), x0 = static_cast<int>(sx), y1 = std::min(y0 + 1, h - 1),
                x1 = std::min(x0 + 1, w - 1);
      for (int c = 0; c < channels; ++c) {
        const auto pixel = [&](int r, int k) { return map[static_cast<std::size_t>((r * w + k) * channels + c)]; };
        const double top = pixel(y0, x0) * (1 - (sx - x0)) + pixel(y0, x1) * (sx - x0);
        const double bottom = pixel(y1, x0) * (1 - (sx - x0)) + pixel(y1, x1) * (sx - x0);
        result.push_back(top * (1 - (sy - y0)) + bottom * (sy - y0));
      }
    }
  }
  return result;
}

Values unitRows(Values x, int width) {
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(width)) {
    double square = 0;
    for (int j = 0; j < width; ++j) square += x[row + j] * x[row + j];
    for (int j = 0; j < width; ++j) x[row + j] /= std::sqrt(square);
  }
  return x;
}

}  // namespace

TinyVit::TinyVit(Dialect dialect, unsigned seed) : dialect_(std::move(dialect)) {
  unsigned state = seed;
  draw("patch.w", kDim * 3 * kPatch * kPatch, 0.2, 0, state);
  draw("patch.b", kDim, 0.3, 0, state);
  draw("special", static_cast<std::size_t>(dialect_.special) * kDim, 1, 0, state);
  draw("position", (static_cast<std::size_t>(dialect_.special) + kTokens) * kDim, 0.7, 0, state);
  draw("pre.w", kDim, 0.4, 1, state);
  draw("pre.b", kDim, 0.4, 0, state);
  const unsigned before_blocks = state;
  for (int i = 0; i < dialect_.blocks; ++i) {
    if (dialect_.storage == Storage::kShared) state = before_blocks;
    drawBlock("block" + std::to_string(i), state);
  }
  for (int i = 0; i < 2; ++i) drawBlock("decoder" + std::to_string(i), state);
  for (const char* norm : {"norm", "decoder.norm"}) {
    draw(std::string(norm) + ".w", kDim, 0.4, 1, state);
    draw(std::string(norm) + ".b", kDim, 0.4, 0, state);
  }
  draw("head.w", dialect_.classes * kDim, 0.4, 0, state);
  draw("head.b", dialect_.classes, 0.4, 0, state);
  draw("decoder.w", kDim * kDim, 0.3, 0, state);
  draw("decoder.b", kDim, 0.3, 0, state);
  draw("classes", dialect_.classes * kDim, 1, 0, state);
  draw("proj_patch", kDim * kDim, 0.3, 0, state);
  draw("proj_classes", kDim * kDim, 0.3, 0, state);
  draw("mask.w", dialect_.classes, 0.4, 1, state);
  draw("mask.b", dialect_.classes, 0.4, 0, state);
  draw("mlp.norm.w", kDim, 0.4, 1, state);
  draw("mlp.norm.b", kDim, 0.4, 0, state);
  draw("mlp.hidden.w", kHidden * kDim, 0.4, 0, state);
  draw("mlp.hidden.b", kHidden, 0.4, 0, state);
  draw("mlp.w", dialect_.classes * kHidden, 0.4, 0, state);
  draw("mlp.b", dialect_.classes, 0.4, 0, state);
}

void TinyVit::draw(const std::string& name, std::size_t count, double scale, double offset, unsigned& state) {
  Values& values = weights_[name];
  for (std::size_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(static_cast<float>(offset + scale * uniform(state)));
    values.push_back(dialect_.storage == Storage::kHalf ? roundedToHalf(value) : value);
  }
}

void TinyVit::drawBlock(const std::string& name, unsigned& state) {
  for (const char* norm : {".norm1", ".norm2"}) {
    draw(name + norm + ".w", kDim, 0.4, 1, state);
    draw(name + norm + ".b", kDim, 0.4, 0, state);
  }
  for (const char* part : {".q", ".k", ".v", ".proj"}) {
    draw(name + part + ".w", kDim * kDim, 0.3, 0, state);
    draw(name + part + ".b", kDim, 0.5, 0, state);
    const bool qkv = std::string(part) != ".proj";
    const bool zero = dialect_.qkv_bias == BiasStyle::kAbsent || dialect_.qkv_bias == BiasStyle::kZero ||
                      (dialect_.qkv_bias == BiasStyle::kAddedLater && std::string(part) == ".k");
    if (qkv && zero) weights_[name + part + ".b"].assign(kDim, 0.0);
  }
  for (const char* norm : {".q_norm", ".k_norm"}) {
    draw(name + norm + ".w", headDim(), 0.4, 1, state);
    draw(name + norm + ".b", headDim(), 0.4, 0, state);
  }
  draw(name + ".fc1.w", kHidden * kDim, 0.3, 0, state);
  draw(name + ".fc1.b", kHidden, 0.3, 0, state);
  draw(name + ".gate.w", kHidden * kDim, 0.3, 0, state);
  draw(name + ".gate.b", kHidden, 0.3, 0, state);
  draw(name + ".mlp_norm.w", kHidden, 0.4, 1, state);
  draw(name + ".mlp_norm.b", kHidden, 0.4, 0, state);
  draw(name + ".fc2.w", kDim * kHidden, 0.3, 0, state);
  draw(name + ".fc2.b", kDim, 0.3, 0, state);
  draw(name + ".scale1", kDim, 0.5, 0.6, state);
  draw(name + ".scale2", kDim, 0.5, 0.6, state);
}

std::vector<double> TinyVit::image(unsigned seed, int height, int width) {
  Values values(static_cast<std::size_t>(3 * height * width));
  for (double& value : values) value = static_cast<double>(static_cast<float>(uniform(seed)));
  return values;
}

Values TinyVit::linear(const Values& x, const std::string& name, int in, int out) const {
  const Values& w = weight(name + ".w");
  const Values& b = weight(name + ".b");
  Values y;
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(in)) {
    for (int o = 0; o < out; ++o) {
      double value = b[static_cast<std::size_t>(o)];
      for (int i = 0; i < in; ++i) value += x[row + i] * w[static_cast<std::size_t>(o * in + i)];
      y.push_back(value);
    }
  }
  return y;
}

Values TinyVit::norm(const Values& x, const std::string& name, int width, double eps) const {
  const Values& w = weight(name + ".w");
  const Values& b = weight(name + ".b");
  Values y = x;
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(width)) {
    double mean = 0, variance = 0;
    for (int j = 0; j < width; ++j) mean += x[row + j] / width;
    for (int j = 0; j < width; ++j) variance += (x[row + j] - mean) * (x[row + j] - mean) / width;
    for (int j = 0; j < width; ++j) {
      const auto column = static_cast<std::size_t>(j);
      y[row + j] = (x[row + j] - mean) / std::sqrt(variance + eps) * w[column] + b[column];
    }
  }
  return y;
}

Values TinyVit::activate(Values x) const {
  for (double& v : x) {
    switch (dialect_.activation) {
      case ActivationStyle::kTanhOp:
      case ActivationStyle::kTanhPow:
      case ActivationStyle::kTanhMul:
        v = 0.5 * v * (1 + std::tanh(std::sqrt(2 / kPi) * (v + 0.044715 * v * v * v)));
        break;
      case ActivationStyle::kQuick:
        v = v / (1 + std::exp(-1.702 * v));
        break;
      case ActivationStyle::kSilu:
        v = v / (1 + std::exp(-v));
        break;
      case ActivationStyle::kRelu:
        v = std::max(v, 0.0);
        break;
      default:
        v = 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
    }
  }
  return x;
}

Values TinyVit::attention(const Values& x, const std::string& name) const {
  Values q = linear(x, name + ".q", kDim, kDim), k = linear(x, name + ".k", kDim, kDim),
         v = linear(x, name + ".v", kDim, kDim);
  if (dialect_.qk_norm) {
    q = norm(q, name + ".q_norm", headDim(), 1e-6);  // heads lie side by side, so rows of head_dim are heads
    k = norm(k, name + ".k_norm", headDim(), 1e-6);
    // norm() walks rows of headDim(), and its weights are those of one head
  }
  const double scale = dialect_.scale == ScaleStyle::kNone ? 1 : 1 / std::sqrt(static_cast<double>(headDim()));
  const int tokens = static_cast<int>(x.size()) / kDim;
  Values out(x.size(), 0.0);
  for (int h = 0; h < heads(); ++h) {
    for (int i = 0; i < tokens; ++i) {
      Values weights;
      double total = 0;
      for (int j = 0; j < tokens; ++j) {
        double logit = 0;
        for (int e = 0; e < headDim(); ++e) {
          logit += q[static_cast<std::size_t>(i * kDim + h * headDim() + e)] *
                   k[static_cast<std::size_t>(j * kDim + h * headDim() + e)];
        }
        const bool together = !dialect_.windowed || i % kGridW == j % kGridW;
        weights.push_back(together ? std::exp(scale * logit) : 0);
        total += weights.back();
      }
      for (int j = 0; j < tokens; ++j) {
        for (int e = 0; e < headDim(); ++e) {
          out[static_cast<std::size_t>(i * kDim + h * headDim() + e)] +=
              weights[static_cast<std::size_t>(j)] / total * v[static_cast<std::size_t>(j * kDim + h * headDim() + e)];
        }
      }
    }
  }
  return linear(out, name + ".proj", kDim, kDim);
}

Values TinyVit::block(const Values& x, const std::string& name) const {
  const double eps = name.starts_with("decoder") ? 1e-5 : 1e-6;
  Values branch = attention(norm(x, name + ".norm1", kDim, eps), name);
  if (dialect_.layer_scale) branch = scaledColumns(branch, weight(name + ".scale1"));
  const Values middle = sum(x, branch);
  const Values normed = norm(middle, name + ".norm2", kDim, eps);
  Values hidden = activate(linear(normed, name + ".fc1", kDim, kHidden));
  if (dialect_.gated) {
    const Values gate = linear(normed, name + ".gate", kDim, kHidden);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= gate[i];
  }
  if (dialect_.mlp_norm) hidden = norm(hidden, name + ".mlp_norm", kHidden, 1e-6);
  Values mlp = linear(hidden, name + ".fc2", kHidden, kDim);
  if (dialect_.layer_scale) mlp = scaledColumns(mlp, weight(name + ".scale2"));
  return sum(middle, mlp);
}

std::vector<Values> TinyVit::streams(const Values& image, int grid_h, int grid_w,
                                     const std::vector<int>& shared) const {
  const int height = grid_h * kPatch, width = grid_w * kPatch, special = dialect_.special;
  const Values& w = weight("patch.w");
  const Values& position = weight("position");
  const Values patches(position.begin() + special * kDim, position.end());
  const Values resized_position =
      grid_h == kGridH && grid_w == kGridW ? patches : resized(patches, kGridH, kGridW, kDim, grid_h, grid_w);
  Values x;
  for (int e = 0; e < special; ++e) {
    // Tokens put in behind the position embedding have none.
    const bool placed = dialect_.position == PositionStyle::kAfterConcat ||
                        (dialect_.position == PositionStyle::kRegistersLater && e == 0);
    for (int j = 0; j < kDim; ++j) {
      const auto i = static_cast<std::size_t>(e * kDim + j);
      x.push_back(weight("special")[i] + (placed ? position[i] : 0));
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
      double value = weight("patch.b")[static_cast<std::size_t>(o)] + mean([&](int down, int right) {
                       const int patch = (row + down) * grid_w + column + right;
                       return resized_position[static_cast<std::size_t>(patch * kDim + o)];
                     });
      for (int c = 0; c < 3; ++c) {
        for (int y = 0; y < kPatch; ++y) {
          for (int k = 0; k < kPatch; ++k) {
            double pixel = mean([&](int down, int right) {
              const int pixel_y = row * kPatch + y * side + down, pixel_x = column * kPatch + k * side + right;
              return image[static_cast<std::size_t>((c * height + pixel_y) * width + pixel_x)];
            });
            if (dialect_.normalises) pixel = (pixel - 0.25 * (c + 1)) / (0.5 + 0.125 * c);
            value += pixel * w[static_cast<std::size_t>(((o * 3 + c) * kPatch + y) * kPatch + k)];
          }
        }
      }
      x.push_back(value);
    }
  };
  std::vector<int> token_of_patch(static_cast<std::size_t>(grid_h * grid_w), -1);
  int tokens = 0;
  for (const int window : shared) {
    const int row = window / (grid_w / 2) * 2, column = window % (grid_w / 2) * 2;
    for (int i = 0; i < 4; ++i)
      token_of_patch[static_cast<std::size_t>((row + i / 2) * grid_w + column + i % 2)] = tokens;
    addToken(row, column, 2);
    ++tokens;
  }
  for (int i = 0; i < grid_h * grid_w; ++i) {
    if (token_of_patch[static_cast<std::size_t>(i)] >= 0) continue;
    token_of_patch[static_cast<std::size_t>(i)] = tokens++;
    addToken(i / grid_w, i % grid_w, 1);
  }
  if (dialect_.pre_norm) x = norm(x, "pre", kDim, 1e-6);
  std::vector<Values> result;
  for (int i = 0; i <= dialect_.blocks; ++i) {
    if (i > 0) x = block(x, "block" + std::to_string(i - 1));
    Values restored(x.begin(), x.begin() + special * kDim);
    for (const int token : token_of_patch)
      restored.insert(restored.end(), x.begin() + (special + token) * kDim, x.begin() + (special + token + 1) * kDim);
    result.push_back(restored);
  }
  return result;
}

Values TinyVit::encode(const Values& image, int grid_h, int grid_w, const std::vector<int>& shared) const {
  return norm(streams(image, grid_h, grid_w, shared).back(), "norm", kDim, 1e-6);
}

Values TinyVit::scores(const Values& image, int grid_h, int grid_w, const std::vector<int>& shared) const {
  const Values encoded = encode(image, grid_h, grid_w, shared);
  const Values patches(encoded.begin() + dialect_.special * kDim, encoded.end());
  if (dialect_.head == HeadStyle::kMlp)
    return linear(activate(linear(norm(patches, "mlp.norm", kDim, 1e-6), "mlp.hidden", kDim, kHidden)), "mlp", kHidden,
                  dialect_.classes);
  if (dialect_.head != HeadStyle::kMask) return linear(patches, "head", kDim, dialect_.classes);
  Values x = linear(patches, "decoder", kDim, kDim);
  x.insert(x.end(), weight("classes").begin(), weight("classes").end());
  for (int i = 0; i < 2; ++i) x = block(x, "decoder" + std::to_string(i));
  x = norm(x, "decoder.norm", kDim, 1e-5);
  const auto project = [&](const Values& rows, const std::string& name) {
    Values y;
    for (std::size_t row = 0; row < rows.size(); row += kDim) {
      for (int o = 0; o < kDim; ++o) {
        double value = 0;
        for (int i = 0; i < kDim; ++i) value += rows[row + i] * weight(name)[static_cast<std::size_t>(i * kDim + o)];
        y.push_back(value);
      }
    }
    return unitRows(y, kDim);
  };
  const auto middle = x.begin() + grid_h * grid_w * kDim;
  const Values p = project({x.begin(), middle}, "proj_patch"), c = project({middle, x.end()}, "proj_classes");
  Values masks;
  for (std::size_t i = 0; i < p.size(); i += kDim) {
    for (std::size_t j = 0; j < c.size(); j += kDim) {
      double dot = 0;
      for (int e = 0; e < kDim; ++e) dot += p[i + e] * c[j + e];
      masks.push_back(dot);
    }
  }
  return norm(masks, "mask", dialect_.classes, 1e-3);
}

std::vector<Values> TinyVit::evaluate(const Values& image) const {
  const auto classify = [&](const Values& row) { return linear(row, "head", kDim, dialect_.classes); };
  switch (dialect_.head) {
    case HeadStyle::kFeatures:
      return {encode(image, kGridH, kGridW)};
    case HeadStyle::kTap:
      return {streams(image, kGridH, kGridW)[2], encode(image, kGridH, kGridW)};
    case HeadStyle::kClassToken:
    case HeadStyle::kClassSlice: {
      const Values x = encode(image, kGridH, kGridW);
      return {classify({x.begin(), x.begin() + kDim})};
    }
    case HeadStyle::kMean: {
      const Values x = encode(image, kGridH, kGridW);
      Values mean(kDim, 0.0);
      for (std::size_t i = static_cast<std::size_t>(dialect_.special) * kDim; i < x.size(); ++i)
        mean[i % kDim] += x[i] / kTokens;
      return {classify(mean)};
    }
    default:
      break;
  }
  Values map = scores(image, kGridH, kGridW);
  if (dialect_.resize_in_graph) map = resized(map, kGridH, kGridW, dialect_.classes, kHeight, kWidth);
  const std::size_t classes = dialect_.classes, pixels = map.size() / classes;
  Values logits(map.size());
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < classes; ++c) logits[c * pixels + i] = map[i * classes + c];
  return {logits};
}

}  // namespace mpm::test
