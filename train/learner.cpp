// SPDX-License-Identifier: Apache-2.0
#include "learner.h"

#include <torch/cuda.h>
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

// {B, H, W} 8-bit -> a tensor that shares its memory.
at::Tensor viewOf(const cv::Mat& mat) {
  CV_Assert(mat.isContinuous() && mat.dims == 3 && mat.depth() == CV_8U);
  std::vector<std::int64_t> shape(mat.size.p, mat.size.p + mat.dims);
  if (mat.channels() > 1) shape.push_back(mat.channels());
  return torch::from_blob(mat.data, shape, at::kByte);
}

// Everything that is random in a step (only drop path) follows from the seed and the step.
void seedStep(std::uint64_t seed, int step) { torch::manual_seed(seed * 1000003u + static_cast<std::uint64_t>(step)); }

}  // namespace

struct Learner::Impl {
  LearnerOptions options;
  std::vector<Parameter> table;
  std::vector<std::int64_t> sizes;
  at::Device device;
  Network network;
  at::Tensor flat, average;  // {all parameters}; no average where none is kept
  Optimizer optimizer;
  at::Tensor class_weights, pixel_mean, pixel_std;

  Impl(const LearnerOptions& o, const TensorMap& weights)
      : options(o),
        table(parameters(o.network)),
        device(o.device),
        network(o.network),
        optimizer(options, table, device) {
    for (const Parameter& parameter : table) sizes.push_back(elements(parameter.shape));
    flat = toDevice(gather(weights, "")).requires_grad_(true);
    if (options.average > 0) average = flat.detach().clone();
    if (!options.class_weights.empty()) class_weights = toDevice(torch::tensor(options.class_weights));
    pixel_mean = toDevice(torch::tensor(options.mean)).view({1, 3, 1, 1}) * 255;
    pixel_std = toDevice(torch::tensor(options.std)).view({1, 3, 1, 1}) * 255;
  }

  at::Tensor toDevice(const at::Tensor& tensor) const { return tensor.to(device); }

  // The tensors called PREFIX + NAME, in the order of the table, as one.
  at::Tensor gather(const TensorMap& tensors, const std::string& prefix) const {
    std::vector<at::Tensor> pieces;
    for (const Parameter& parameter : table) {
      const auto found = tensors.find(prefix + parameter.name);
      if (found == tensors.end() || found->second.shape != parameter.shape)
        throw Error("the checkpoint does not fit this network: '" + prefix + parameter.name +
                    "' is missing or of another shape");
      pieces.push_back(torch::tensor(found->second.values));
    }
    return at::cat(pieces);
  }

  void scatter(const at::Tensor& tensor, const std::string& prefix, TensorMap& tensors) const {
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    const float* data = host.data_ptr<float>();
    for (std::size_t i = 0; i < table.size(); data += sizes[i++])
      tensors[prefix + table[i].name] = {table[i].shape, std::vector<float>(data, data + sizes[i])};
  }

  const at::Tensor& best() const { return average.defined() ? average : flat; }

  Network::Weights named(const at::Tensor& all) const {
    const std::vector<at::Tensor> pieces = all.split_with_sizes(sizes);  // its gradient is one concatenation
    Network::Weights weights;
    for (std::size_t i = 0; i < table.size(); ++i) weights.emplace(table[i].name, pieces[i].view(table[i].shape));
    return weights;
  }

  at::Tensor normalized(const cv::Mat& images) const {
    const at::Tensor rgb = toDevice(viewOf(images)).permute({0, 3, 1, 2}).flip(1).to(at::kFloat);
    return ((rgb - pixel_mean) / pixel_std).contiguous();
  }

  // Scores of the pixels, {B, classes, H / stride, W / stride}, float32: those in the middle of squares of pixels.
  at::Tensor logits(const cv::Mat& images, const at::Tensor& all, double drop_path, int stride = 1) const {
    const bool bf16 = options.precision == MatmulPrecision::kBf16;
    const at::Tensor scores = network(normalized(images), named(all), {bf16 ? at::kBFloat16 : at::kFloat, drop_path});
    return at::upsample_bilinear2d(scores, {images.size[1] / stride, images.size[2] / stride}, false);
  }

  // One pixel of each square, another one at each step, so that over the steps every pixel counts.
  at::Tensor truth(const cv::Mat& labels, int step) const {
    const int stride = options.label_stride, phase = step % (stride * stride);
    const at::Tensor all = toDevice(viewOf(labels));
    return all.slice(1, phase / stride, all.size(1), stride)
        .slice(2, phase % stride, all.size(2), stride)
        .to(at::kLong);
  }

  at::Tensor loss(const at::Tensor& scores, const at::Tensor& labels) const {
    const at::Tensor sum = at::cross_entropy_loss(scores, labels, class_weights, at::Reduction::Sum, options.ignore,
                                                  options.label_smoothing);
    const at::Tensor counted = labels != options.ignore;
    const at::Tensor weight =
        class_weights.defined() ? class_weights.index_select(0, labels.masked_select(counted)).sum() : counted.sum();
    return sum / weight.clamp_min(1);  // a batch of ignored pixels alone teaches nothing, and must not divide by 0
  }

  void update(const at::Tensor& gradient, double learning_rate) {
    optimizer.step(flat, gradient, learning_rate);
    // A young average follows closely, or it would hold the initial weights for a thousand steps.
    const double followed = (1. + optimizer.updates()) / (10. + optimizer.updates());
    if (average.defined()) average.lerp_(flat, 1 - std::min(options.average, followed));
  }
};

Learner::Learner(const LearnerOptions& options, const TensorMap& weights) {
  options.network.validate();
  if (options.device != "cpu" && options.device != "cuda")
    throw Error("no device is called '" + options.device + "'; there are cpu and cuda");
  if (options.device == "cuda" && !cudaIsAvailable())
    throw Error("this LibTorch sees no CUDA device; train with --device cpu");
  if (options.threads > 0) at::set_num_threads(options.threads);
  impl_ = std::make_unique<Impl>(options, weights);
}

Learner::~Learner() = default;
Learner::Learner(Learner&&) noexcept = default;
Learner& Learner::operator=(Learner&&) noexcept = default;

StepReport Learner::step(const cv::Mat& images, const cv::Mat& labels, int step, std::uint64_t seed,
                         double learning_rate) {
  Impl& impl = *impl_;
  seedStep(seed, step);
  const at::Tensor scores = impl.logits(images, impl.flat, impl.options.drop_path, impl.options.label_stride);
  const at::Tensor loss = impl.loss(scores, impl.truth(labels, step));
  StepReport report{loss.item<double>(), 0};
  if (!std::isfinite(report.loss))
    throw Error("the loss is not a number at step " + std::to_string(step) + ": lower --lr or --clip");
  loss.backward();
  const at::NoGradGuard no_gradient;
  at::Tensor& gradient = impl.flat.mutable_grad();
  report.gradient_norm = gradient.norm().item<double>();
  if (!std::isfinite(report.gradient_norm))
    throw Error("the gradient is not a number at step " + std::to_string(step) + ": lower --lr or --clip");
  if (impl.options.clip > 0 && report.gradient_norm > impl.options.clip)
    gradient.mul_(impl.options.clip / report.gradient_norm);
  impl.update(gradient, learning_rate);
  gradient.reset();
  return report;
}

cv::Mat Learner::predict(const cv::Mat& images) {
  const at::NoGradGuard no_gradient;
  const at::Tensor labels = impl_->logits(images, impl_->best(), 0).argmax(1).to(at::kByte).to(at::kCPU).contiguous();
  return cv::Mat(3, images.size.p, CV_8U, labels.data_ptr()).clone();
}

TensorMap Learner::weights() const {
  TensorMap weights;
  impl_->scatter(impl_->best(), "", weights);
  return weights;
}

TensorMap Learner::state() const {
  TensorMap state;
  impl_->scatter(impl_->flat, "", state);
  impl_->scatter(impl_->optimizer.mean(), "adam.mean.", state);
  impl_->scatter(impl_->optimizer.square(), "adam.square.", state);
  if (impl_->average.defined()) impl_->scatter(impl_->average, "average.", state);
  state["adam.updates"] = {{1}, {static_cast<float>(impl_->optimizer.updates())}};
  return state;
}

void Learner::setState(const TensorMap& state) {
  const at::NoGradGuard no_gradient;
  Impl& impl = *impl_;
  impl.flat.copy_(impl.gather(state, ""));
  if (impl.average.defined()) impl.average.copy_(impl.gather(state, "average."));
  const auto updates = state.find("adam.updates");
  if (updates == state.end() || updates->second.values.size() != 1)
    throw Error("the checkpoint holds no 'adam.updates': it is not one of a training run");
  impl.optimizer.restore(impl.gather(state, "adam.mean."), impl.gather(state, "adam.square."),
                         static_cast<int>(updates->second.values[0]));
}

bool cudaIsAvailable() { return torch::cuda::is_available(); }

bool bf16IsFast(const std::string& device) {
  if (device == "cuda") return true;
#if TORCH_VERSION_MAJOR >= 2 && defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;  // LibTorch 1.13 of Debian: bf16 is emulated
#endif
}

std::string libTorchSummary() {
  return "LibTorch " TORCH_VERSION ", " + std::to_string(at::get_num_threads()) +
         " threads, CUDA: " + (cudaIsAvailable() ? "yes" : "no") +
         ", bf16: " + (bf16IsFast(cudaIsAvailable() ? "cuda" : "cpu") ? "yes" : "no");
}

}  // namespace mpm::train
