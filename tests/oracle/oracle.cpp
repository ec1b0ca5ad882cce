// SPDX-License-Identifier: Apache-2.0
#include "oracle/oracle.h"

#include <torch/torch.h>

namespace mpm::oracle {
namespace {

namespace F = torch::nn::functional;
using torch::Tensor;

Tensor matrix(MatrixView<const float> view) {
  return torch::from_blob(const_cast<float*>(view.data), {view.rows, view.cols}, {view.stride, 1}).to(torch::kDouble);
}

Tensor vector(const float* values, std::int64_t count) {
  if (values == nullptr) return torch::zeros({count}, torch::kDouble);
  return torch::from_blob(const_cast<float*>(values), {count}).to(torch::kDouble);
}

std::vector<float> values(const Tensor& tensor) {
  const Tensor flat = tensor.to(torch::kFloat).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

Tensor norm(const Tensor& x, const NormWeights& weights) {
  const std::int64_t dim = x.size(-1);
  return torch::layer_norm(x, {dim}, vector(weights.weight, dim), vector(weights.bias, dim), weights.eps);
}

Tensor linear(const Tensor& x, const LinearWeights& weights) {
  return F::linear(x, matrix(weights.weight), vector(weights.bias, weights.weight.rows));
}

Tensor activated(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::kGeluErf:
      return torch::gelu(x);
    case Activation::kGeluTanh:
      return torch::gelu(x, "tanh");
    case Activation::kGeluQuick:
      return x * torch::sigmoid(1.702 * x);
    case Activation::kRelu:
      return torch::relu(x);
    case Activation::kSilu:
      return torch::silu(x);
  }
  return {};
}

// {rows, heads * e} -> {heads, rows, e}
Tensor split(const Tensor& x, int heads) { return x.view({x.size(0), heads, -1}).transpose(0, 1); }

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, double scale, const Tensor& key_bias) {
  const Tensor weights = torch::softmax(torch::matmul(q, k.transpose(1, 2)) * scale + key_bias, -1);
  return torch::matmul(weights, v).transpose(0, 1).flatten(1);
}

Tensor blockOf(const TransformerBlockSpec& s, const Tensor& x, const Tensor& key_bias) {
  const Tensor qkv = linear(norm(x, s.norm1), s.qkv);
  const std::int64_t width = s.heads * s.head_dim;
  const auto part = [&](int index) { return split(qkv.narrow(1, index * width, width).contiguous(), s.heads); };
  Tensor q = part(0), k = part(1);
  if (s.qk_norm) {
    q = norm(q, s.q_norm);
    k = norm(k, s.k_norm);
  }
  const Tensor mixed = x + linear(attend(q, k, part(2), s.scale, key_bias), s.proj);
  Tensor hidden = linear(norm(mixed, s.norm2), s.fc1);
  if (s.gated) {
    const auto halves = hidden.chunk(2, -1);
    hidden = activated(s.activation, halves[0]) * halves[1];
  } else {
    hidden = activated(s.activation, hidden);
  }
  if (s.mlp_norm) hidden = norm(hidden, s.mlp_norm_weights);
  return mixed + linear(hidden, s.fc2);
}

Tensor patches(const std::vector<float>& image, const PatchGeometry& g, MatrixView<const float> weight) {
  const Tensor pixels =
      vector(image.data(), static_cast<std::int64_t>(image.size())).view({1, g.channels, g.height, g.width});
  const Tensor kernel = matrix(weight).view({weight.rows, g.channels, g.kernel_h, g.kernel_w});
  return F::conv2d(pixels, kernel, F::Conv2dFuncOptions().stride({g.stride_h, g.stride_w}))
      .flatten(2)[0]
      .transpose(0, 1);
}

}  // namespace

std::vector<float> attention(MatrixView<const float> q, MatrixView<const float> k, MatrixView<const float> v, int heads,
                             float scale, const float* key_bias) {
  return values(attend(split(matrix(q), heads), split(matrix(k), heads), split(matrix(v), heads), scale,
                       vector(key_bias, k.rows)));
}

std::vector<float> block(const TransformerBlockSpec& spec, MatrixView<const float> x, const float* key_bias) {
  return values(blockOf(spec, matrix(x), vector(key_bias, x.rows)));
}

std::vector<float> activation(Activation activation, const std::vector<float>& x) {
  return values(activated(activation, vector(x.data(), static_cast<std::int64_t>(x.size()))));
}

std::vector<float> layerNorm(MatrixView<const float> x, const float* weight, const float* bias, float eps) {
  return values(norm(matrix(x), {weight, bias, eps}));
}

std::vector<float> patchEmbed(const std::vector<float>& image, const PatchGeometry& geometry,
                              MatrixView<const float> weight) {
  return values(patches(image, geometry, weight));
}

std::vector<float> resize(MatrixView<const float> scores, int grid_h, int grid_w, int height, int width) {
  const Tensor grid = matrix(scores).transpose(0, 1).reshape({1, scores.cols, grid_h, grid_w});
  return values(F::interpolate(grid, F::InterpolateFuncOptions()
                                         .size(std::vector<std::int64_t>{height, width})
                                         .mode(torch::kBilinear)
                                         .align_corners(false)));
}

std::vector<float> headGradient(const HeadShape& shape, const std::vector<float>& weights,
                                const std::vector<MatrixView<const float>>& tokens,
                                const std::vector<std::vector<std::uint8_t>>& cells, int grid_h, int grid_w,
                                const std::vector<float>& class_weights) {
  Tensor flat = vector(weights.data(), static_cast<std::int64_t>(weights.size())).requires_grad_(true);
  const std::int64_t dim = shape.dim, hidden = shape.hidden, classes = shape.classes;
  const std::vector<Tensor> w = flat.split_with_sizes({dim, dim, dim * hidden, hidden, hidden * classes, classes});
  std::vector<Tensor> pictures, labels;
  for (std::size_t p = 0; p < tokens.size(); ++p) {
    pictures.push_back(matrix(tokens[p]));
    labels.push_back(
        torch::from_blob(const_cast<std::uint8_t*>(cells[p].data()), {4 * grid_h, 4 * grid_w}, torch::kByte)
            .to(torch::kLong));
  }
  Tensor x = torch::layer_norm(torch::stack(pictures), {dim}, w[0], w[1], 1e-5);
  x = torch::gelu(torch::matmul(x, w[2].view({dim, hidden})) + w[3]);
  x = torch::matmul(x, w[4].view({hidden, classes})) + w[5];
  x = x.transpose(1, 2).reshape({x.size(0), classes, grid_h, grid_w});
  x = torch::upsample_bilinear2d(x, {4 * grid_h, 4 * grid_w}, false);
  const Tensor loss =
      F::cross_entropy(x, torch::stack(labels),
                       F::CrossEntropyFuncOptions().weight(vector(class_weights.data(), classes)).ignore_index(255));
  loss.backward();
  return values(torch::cat({loss.detach().view({1}), flat.grad()}));
}

std::vector<float> adamW(const std::vector<float>& weights, const std::vector<std::vector<float>>& gradients,
                         std::size_t decaying, double learning_rate, double weight_decay) {
  const auto count = static_cast<std::int64_t>(weights.size()), first = static_cast<std::int64_t>(decaying);
  const Tensor start = vector(weights.data(), count);
  const std::vector<Tensor> parts = {start.narrow(0, 0, first).clone().requires_grad_(true),
                                     start.narrow(0, first, count - first).clone().requires_grad_(true)};
  const auto options = torch::optim::AdamWOptions(learning_rate).betas({0.9, 0.98}).eps(1e-8);
  torch::optim::AdamW decays({parts[0]}, torch::optim::AdamWOptions(options).weight_decay(weight_decay));
  torch::optim::AdamW keeps({parts[1]}, torch::optim::AdamWOptions(options).weight_decay(0));
  for (const std::vector<float>& gradient : gradients) {
    const Tensor all = vector(gradient.data(), count);
    parts[0].mutable_grad() = all.narrow(0, 0, first);
    parts[1].mutable_grad() = all.narrow(0, first, count - first);
    decays.step();
    keeps.step();
  }
  return values(torch::cat(parts).detach());
}

std::vector<int> bestNeighbours(MatrixView<const float> x) {
  const Tensor unit = F::normalize(matrix(x), F::NormalizeFuncOptions().dim(1).eps(0));
  const Tensor best = torch::matmul(unit, unit.transpose(0, 1)).fill_diagonal_(-2).argmax(1).to(torch::kInt);
  return {best.data_ptr<int>(), best.data_ptr<int>() + best.numel()};
}

std::vector<float> vit(const std::vector<float>& image, const PatchGeometry& geometry,
                       MatrixView<const float> patch_weight, MatrixView<const float> position,
                       MatrixView<const float> special, const std::vector<TransformerBlockSpec>& blocks,
                       const NormWeights& final_norm) {
  Tensor x = torch::cat({matrix(special), patches(image, geometry, patch_weight) + matrix(position)});
  const Tensor no_bias = torch::zeros({x.size(0)}, torch::kDouble);
  for (const TransformerBlockSpec& spec : blocks) x = blockOf(spec, x, no_bias);
  return values(norm(x, final_norm));
}

}  // namespace mpm::oracle
