// SPDX-License-Identifier: Apache-2.0
#include "learner.h"

#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>

#include "mpm/error.hpp"
#include "network.h"
#include "optimizer.h"

namespace mpm::train {
namespace {

constexpr int kIgnore = 255;  // label of pixels that do not count

// {B, H, W} 8-bit -> a tensor that shares its memory.
at::Tensor viewOf(const cv::Mat& mat) {
  CV_Assert(mat.isContinuous() && mat.dims == 3 && mat.depth() == CV_8U);
  std::vector<std::int64_t> shape(mat.size.p, mat.size.p + mat.dims);
  if (mat.channels() > 1) shape.push_back(mat.channels());
  return torch::from_blob(mat.data, shape, at::kByte);
}

void requireFinite(double value, const char* what, int step) {
  if (!std::isfinite(value))
    throw Error(std::string(what) + " is not a number at step " + std::to_string(step) + ": lower --lr");
}

}  // namespace

struct Learner::Impl {
  LearnerOptions options;
  std::vector<Parameter> table;
  std::vector<std::int64_t> sizes;
  at::ScalarType matmul;
  at::Tensor flat, average;  // {all parameters}; no average where none is kept
  Optimizer optimizer;
  at::Tensor class_weights;

  Impl(const LearnerOptions& o, const TensorMap& weights)
      : options(o),
        table(parameters(o.network)),
        matmul(o.bf16 ? at::kBFloat16 : at::kFloat),
        optimizer(o.muon, table, matmul) {
    std::vector<at::Tensor> pieces;
    for (const Parameter& parameter : table) {
      pieces.push_back(torch::tensor(weights.at(parameter.name).values));
      sizes.push_back(elements(parameter.shape));
    }
    flat = at::cat(pieces).requires_grad_(true);
    if (options.average > 0) average = flat.detach().clone();
    if (!options.class_weights.empty()) class_weights = torch::tensor(options.class_weights);
  }

  Weights named() const {
    const std::vector<at::Tensor> pieces = flat.split_with_sizes(sizes);  // its gradient is one concatenation
    Weights weights;
    for (std::size_t i = 0; i < table.size(); ++i) weights.emplace(table[i].name, pieces[i].view(table[i].shape));
    return weights;
  }

  // Scores of the middle of each square of label_stride pixels, {B, classes, H / stride, W / stride}, float32.
  at::Tensor logits(const cv::Mat& images) const {
    const at::Tensor rgb = viewOf(images).permute({0, 3, 1, 2}).flip(1).to(at::kFloat);
    const at::Tensor coarse = scores(options.network, ((rgb - 127.5) / 127.5).contiguous(), named(), matmul);
    return at::upsample_bilinear2d(
        coarse, {images.size[1] / options.label_stride, images.size[2] / options.label_stride}, false);
  }

  // One pixel of each square, another one at each step, so that over the steps every pixel counts.
  at::Tensor truth(const cv::Mat& labels, int step) const {
    const int stride = options.label_stride, phase = step % (stride * stride);
    const at::Tensor all = viewOf(labels);
    return all.slice(1, phase / stride, all.size(1), stride)
        .slice(2, phase % stride, all.size(2), stride)
        .to(at::kLong);
  }

  at::Tensor loss(const at::Tensor& logits, const at::Tensor& labels) const {
    const at::Tensor sum = at::cross_entropy_loss(logits, labels, class_weights, at::Reduction::Sum, kIgnore);
    const at::Tensor counted = labels != kIgnore;
    const at::Tensor weight =
        class_weights.defined() ? class_weights.index_select(0, labels.masked_select(counted)).sum() : counted.sum();
    return sum / weight.clamp_min(1);  // a batch of ignored pixels alone teaches nothing, and must not divide by 0
  }
};

Learner::Learner(const LearnerOptions& options, const TensorMap& weights) {
  if (options.threads > 0) at::set_num_threads(options.threads);
  impl_ = std::make_unique<Impl>(options, weights);
}

Learner::~Learner() = default;

double Learner::step(const cv::Mat& images, const cv::Mat& labels, int step, double learning_rate) {
  Impl& impl = *impl_;
  const at::Tensor loss = impl.loss(impl.logits(images), impl.truth(labels, step));
  const double value = loss.item<double>();
  requireFinite(value, "the loss", step);
  loss.backward();
  const at::NoGradGuard no_gradient;
  at::Tensor& gradient = impl.flat.mutable_grad();
  requireFinite(impl.optimizer.step(impl.flat, gradient, learning_rate), "the gradient", step);
  gradient.reset();
  // A young average follows closely, or it would hold the initial weights for a thousand steps.
  const double followed = (1. + impl.optimizer.updates()) / (10. + impl.optimizer.updates());
  if (impl.average.defined()) impl.average.lerp_(impl.flat, 1 - std::min(impl.options.average, followed));
  return value;
}

TensorMap Learner::weights() const {
  const at::Tensor best = (impl_->average.defined() ? impl_->average : impl_->flat).detach().contiguous();
  const float* data = best.data_ptr<float>();
  TensorMap weights;
  for (std::size_t i = 0; i < impl_->table.size(); data += impl_->sizes[i++])
    weights[impl_->table[i].name] = {impl_->table[i].shape, std::vector<float>(data, data + impl_->sizes[i])};
  return weights;
}

bool bf16IsFast() {
#if TORCH_VERSION_MAJOR >= 2 && defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;  // LibTorch 1.13 of Debian: bf16 is emulated
#endif
}

std::string libTorchSummary() {
  return "LibTorch " TORCH_VERSION ", " + std::to_string(at::get_num_threads()) + " threads";
}

}  // namespace mpm::train
