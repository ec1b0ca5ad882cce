// SPDX-License-Identifier: Apache-2.0
#include "head_learner.h"

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "base/learning_rate.h"
#include "base/random.h"
#include "mpm/error.hpp"
#include "optimizer.h"

namespace mpm::train {
namespace {

// Tensors of the head in one flat tensor, as Optimizer wants them. Matrices are {in, out}.
std::vector<Parameter> table(int dim, int hidden, int classes) {
  using Init = Parameter::Init;
  return {{"norm.weight", {dim}, Init::kOnes, 0, false},
          {"norm.bias", {dim}, Init::kZeros, 0, false},
          {"hidden.weight", {dim, hidden}, Init::kNormal, 1 / std::sqrt(static_cast<double>(dim)), true},
          {"hidden.bias", {hidden}, Init::kZeros, 0, false},
          {"scores.weight", {hidden, classes}, Init::kNormal, 1 / std::sqrt(static_cast<double>(hidden)), true},
          {"scores.bias", {classes}, Init::kZeros, 0, false}};
}

at::Tensor initial(const std::vector<Parameter>& parameters, std::uint64_t seed) {
  std::vector<float> values;
  std::uint64_t stream = 0;
  for (const Parameter& parameter : parameters) {
    Random random(seed, stream++);
    for (std::int64_t i = 0; i < elements(parameter.shape); ++i)
      values.push_back(parameter.init == Parameter::Init::kNormal
                           ? static_cast<float>(parameter.deviation * random.normal())
                       : parameter.init == Parameter::Init::kOnes ? 1.f
                                                                  : 0.f);
  }
  return torch::tensor(values);
}

// {B, N, dim} -> {B, classes, height, width}. `weights`: in the order of the table.
at::Tensor scoresOf(const at::Tensor& tokens, const std::vector<at::Tensor>& weights, Size2 grid, Size2 size) {
  at::Tensor x = at::layer_norm(tokens, weights[0].sizes(), weights[0], weights[1], TokenHead::kNormEps);
  x = at::gelu(at::matmul(x, weights[2]) + weights[3]);
  x = at::matmul(x, weights[4]) + weights[5];
  x = x.transpose(1, 2).reshape({x.size(0), x.size(2), grid.height, grid.width});
  return at::upsample_bilinear2d(x, {size.height, size.width}, false);
}

at::Tensor viewOf(const cv::Mat& mat, at::ScalarType type) {
  CV_Assert(mat.isContinuous());
  return torch::from_blob(mat.data, {mat.rows, mat.cols}, type);
}

std::vector<float> valuesOf(const at::Tensor& tensor) {
  const at::Tensor host = tensor.contiguous();
  return {host.data_ptr<float>(), host.data_ptr<float>() + host.numel()};
}

// In the order of the table; `flat`: each as one row of numbers.
std::vector<at::Tensor> tensorsOf(const TokenHead& head, bool flat = false) {
  const auto tensor = [&](const std::vector<float>& values, at::IntArrayRef shape) {
    return flat ? torch::tensor(values) : torch::tensor(values).view(shape);
  };
  return {tensor(head.norm_weight, {head.dim}),
          tensor(head.norm_bias, {head.dim}),
          tensor(head.hidden_weight, {head.dim, head.hidden}),
          tensor(head.hidden_bias, {head.hidden}),
          tensor(head.score_weight, {head.hidden, head.classes}),
          tensor(head.score_bias, {head.classes})};
}

}  // namespace

TokenHead trainHead(const HeadRecipe& recipe, const std::vector<const LabelledTokens*>& pictures,
                    const std::function<bool()>& step) {
  CV_Assert(!pictures.empty());
  if (recipe.threads > 0) at::set_num_threads(recipe.threads);
  const int dim = pictures.front()->tokens.cols;
  const std::vector<Parameter> parameters = table(dim, recipe.hidden, recipe.classes);
  std::vector<std::int64_t> sizes;
  for (const Parameter& parameter : parameters) sizes.push_back(elements(parameter.shape));
  const auto named = [&](const at::Tensor& flat) {
    std::vector<at::Tensor> weights = flat.split_with_sizes(sizes);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = weights[i].view(parameters[i].shape);
    return weights;
  };
  at::Tensor flat =
      (recipe.start ? at::cat(tensorsOf(*recipe.start, true)) : initial(parameters, recipe.seed)).requires_grad_(true);
  LearnerOptions options;
  options.weight_decay = recipe.weight_decay;
  Optimizer optimizer(options, parameters, at::kCPU);
  const at::Tensor class_weights = torch::tensor(recipe.class_weights);
  const LearningRate rate{recipe.lr, recipe.steps / 20, recipe.steps, 0.01};
  const Size2 cells{recipe.grid.height * kCellsPerPatch, recipe.grid.width * kCellsPerPatch};

  const std::size_t batch = std::min(pictures.size(), static_cast<std::size_t>(recipe.batch));
  std::vector<std::size_t> order(pictures.size());
  std::size_t next = order.size();
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (int i = 0; i < recipe.steps; ++i) {
    std::vector<at::Tensor> tokens, labels;
    Random random(recipe.seed, 1000 + static_cast<std::uint64_t>(i));
    for (std::size_t k = 0; k < batch; ++k) {
      if (next >= order.size()) {  // every picture once per round, in a new order
        for (std::size_t j = order.size() - 1; j > 0; --j)
          std::swap(order[j], order[static_cast<std::size_t>(random.below(static_cast<int>(j + 1)))]);
        next = 0;
      }
      const LabelledTokens& picture = *pictures[order[next++]];
      tokens.push_back(viewOf(picture.tokens, at::kFloat));
      labels.push_back(viewOf(picture.cells, at::kByte).to(at::kLong));
    }
    const at::Tensor scores = scoresOf(at::stack(tokens), named(flat), recipe.grid, cells);
    const at::Tensor loss =
        at::cross_entropy_loss(scores, at::stack(labels), class_weights, at::Reduction::Mean, recipe.ignore);
    // A batch without a label gives 0 / 0 and teaches nothing.
    if (std::isfinite(loss.item<double>())) {
      loss.backward();
      const at::NoGradGuard no_gradient;
      optimizer.step(flat, flat.grad(), rate.at(i));
      flat.mutable_grad().reset();
    }
    if (!step()) break;
  }
  const at::NoGradGuard no_gradient;
  if (!at::isfinite(flat).all().item<bool>()) throw Error("training failed: a weight is not a number");
  const std::vector<at::Tensor> weights = named(flat);
  return {dim,
          recipe.hidden,
          recipe.classes,
          valuesOf(weights[0]),
          valuesOf(weights[1]),
          valuesOf(weights[2]),
          valuesOf(weights[3]),
          valuesOf(weights[4]),
          valuesOf(weights[5])};
}

cv::Mat predictLabels(const TokenHead& head, const cv::Mat& tokens, Size2 grid, Size2 size) {
  const at::NoGradGuard no_gradient;
  const std::vector<at::Tensor> weights = tensorsOf(head);
  const at::Tensor scores = scoresOf(viewOf(tokens, at::kFloat).unsqueeze(0), weights, grid, size);
  const at::Tensor labels = scores.argmax(1).to(at::kByte).contiguous();
  return cv::Mat(size.height, size.width, CV_8U, labels.data_ptr()).clone();
}

cv::Mat predictMargins(const TokenHead& head, const cv::Mat& tokens, Size2 grid) {
  const at::NoGradGuard no_gradient;
  const at::Tensor scores = scoresOf(viewOf(tokens, at::kFloat).unsqueeze(0), tensorsOf(head), grid, grid);
  const at::Tensor best = std::get<0>(at::softmax(scores, 1).topk(2, 1));
  const at::Tensor margins = (best.select(1, 0) - best.select(1, 1)).contiguous();
  return cv::Mat(grid.height, grid.width, CV_32F, margins.data_ptr()).clone();
}

}  // namespace mpm::train
