// SPDX-License-Identifier: Apache-2.0
#include "optimizer.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace mpm::train {
namespace {

// An Adam step has about this root mean square per weight; Muon's steps are brought to the same.
constexpr double kAdamStep = 0.2;

// {matrices, rows, cols} -> the same with singular values near 1 (0.7 to 1.2), by five steps of a Newton-Schulz
// iteration whose polynomial of degree five is steep at 0.
at::Tensor orthogonalized(const at::Tensor& matrices, at::ScalarType type) {
  const bool tall = matrices.size(1) > matrices.size(2);  // the product with its transpose shall be the smaller one
  at::Tensor x = tall ? matrices.transpose(1, 2) : matrices;
  x = (x / x.norm(2, {1, 2}, true).clamp_min(1e-7)).to(type).contiguous();
  for (int i = 0; i < 5; ++i) {
    const at::Tensor gram = at::matmul(x, x.transpose(1, 2));
    const at::Tensor quintic = at::baddbmm(gram, gram, gram, -4.7750, 2.0315);
    x = at::baddbmm(x, quintic, x, 3.4445, 1);
  }
  x = x.to(at::kFloat);
  return (tall ? x.transpose(1, 2) : x).contiguous();
}

}  // namespace

Optimizer::Optimizer(bool use_muon, const std::vector<Parameter>& table, at::ScalarType matmul) : matmul_(matmul) {
  std::vector<at::Tensor> decays, keep;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>> by_shape;
  std::int64_t offset = 0;
  for (const Parameter& parameter : table) {
    const std::int64_t size = elements(parameter.shape);
    const bool muon = use_muon && parameter.shape.size() == 2 && parameter.name.find(".blocks.") != std::string::npos;
    decays.push_back(at::full({size}, parameter.decays ? 1.f : 0.f));
    keep.push_back(at::full({size}, muon ? kMomentum : kBeta1, at::kFloat));
    if (muon) {
      // Queries, keys and values come out of one matrix but are three: each has its own singular values.
      const int parts = parameter.name.find(".qkv.") != std::string::npos ? 3 : 1;
      for (int i = 0; i < parts; ++i)
        by_shape[{parameter.shape[0] / parts, parameter.shape[1]}].push_back(offset + size / parts * i);
    }
    offset += size;
  }
  for (auto& [shape, offsets] : by_shape) groups_.push_back({shape.first, shape.second, std::move(offsets)});
  decays_ = at::cat(decays);
  keep_ = at::cat(keep);
  mean_ = at::zeros_like(decays_);
  square_ = at::zeros_like(decays_);
}

double Optimizer::step(at::Tensor& weights, at::Tensor& gradient, double learning_rate) {
  const double norm = gradient.norm().item<double>();
  if (!std::isfinite(norm)) return norm;
  if (norm > kMaxNorm) gradient.mul_(kMaxNorm / norm);
  ++updates_;
  mean_.sub_(gradient).mul_(keep_).add_(gradient);
  square_.mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const double correction1 = 1 - std::pow(kBeta1, updates_), correction2 = 1 - std::pow(kBeta2, updates_);
  at::Tensor direction = (mean_ / correction1).div_((square_ / correction2).sqrt_().add_(1e-8));  // of Adam
  writeMuonDirection(gradient, direction);
  weights.mul_(1 - learning_rate * kWeightDecay * decays_);
  weights.sub_(direction, learning_rate);
  return norm;
}

void Optimizer::writeMuonDirection(const at::Tensor& gradient, at::Tensor& direction) const {
  for (const Group& group : groups_) {
    const std::int64_t size = group.rows * group.cols;
    std::vector<at::Tensor> ahead;
    for (const std::int64_t offset : group.offsets) {  // Nesterov: a look along the momentum
      const at::Tensor momentum = mean_.narrow(0, offset, size);
      ahead.push_back(at::lerp(gradient.narrow(0, offset, size), momentum, kMomentum));
    }
    const at::Tensor matrices =
        at::stack(ahead).view({static_cast<std::int64_t>(ahead.size()), group.rows, group.cols});
    const double scale = kAdamStep * std::sqrt(static_cast<double>(std::max(group.rows, group.cols)));
    const at::Tensor steps = orthogonalized(matrices, matmul_).mul_(scale);
    for (std::size_t i = 0; i < group.offsets.size(); ++i)
      direction.narrow(0, group.offsets[i], size).copy_(steps[static_cast<std::int64_t>(i)].flatten());
  }
}

}  // namespace mpm::train
