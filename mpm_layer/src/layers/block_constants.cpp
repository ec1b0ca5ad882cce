// SPDX-License-Identifier: Apache-2.0
#include "layers/block_constants.h"

#include "mpm/error.hpp"

namespace mpm {

const float* BlockConstants::vector(int size) {
  const cv::Mat& constant = next();
  if (static_cast<int>(constant.total()) != size) {
    throw Error("constant " + std::to_string(next_ - 1) + " has " + std::to_string(constant.total()) +
                " values, expected " + std::to_string(size));
  }
  return constant.ptr<float>();
}

void BlockConstants::norm(NormWeights& weights, int size) {
  weights.weight = vector(size);
  weights.bias = vector(size);
}

void BlockConstants::linear(LinearWeights& weights, int out, int in) {
  const cv::Mat& matrix = next();
  const Shape found(matrix.size.p, matrix.size.p + matrix.dims), expected{out, in};
  if (found != expected) {
    throw Error("constant " + std::to_string(next_ - 1) + " is " + shapeText(found) + ", expected " +
                shapeText(expected));
  }
  weights.weight = MatrixView<const float>(matrix.ptr<float>(), out, in);
  weights.bias = vector(out);
}

void BlockConstants::attention(AttentionSpec& spec) {
  const int inner = spec.heads * spec.head_dim;
  spec.dim = static_cast<int>(peek().total());
  norm(spec.norm1, spec.dim);
  linear(spec.qkv, 3 * inner, spec.dim);
  if (spec.qk_norm) {
    norm(spec.q_norm, spec.normWidth());
    norm(spec.k_norm, spec.normWidth());
  }
  if (spec.attention_norm) norm(spec.attention_norm_weights, inner);
  linear(spec.proj, spec.dim, inner);
}

int attentionConstants(const cv::dnn::LayerParams& params) {
  return 6 + 4 * params.get<int>("qk_norm", 0) + 2 * params.get<int>("attention_norm", 0);
}

void readAttention(const cv::dnn::LayerParams& params, AttentionSpec& spec) {
  for (const char* name : {"heads", "head_dim", "scale", "norm1_eps"})
    if (!params.has(name)) throw Error("attribute '" + std::string(name) + "' is missing; convert the model again");
  spec.heads = params.get<int>("heads");
  spec.head_dim = params.get<int>("head_dim");
  if (spec.heads < 1 || spec.head_dim < 1) throw Error("has no heads, or heads without columns");
  spec.scale = params.get<float>("scale");
  spec.qk_norm = params.get<int>("qk_norm", 0) != 0;
  spec.norm_per_head = params.get<int>("norm_per_head", 0) != 0;
  spec.attention_norm = params.get<int>("attention_norm", 0) != 0;
  readNorm(params, "norm1", spec.norm1);
  readNorm(params, "qk_norm", spec.q_norm);
  readNorm(params, "qk_norm", spec.k_norm);
  readNorm(params, "attention_norm", spec.attention_norm_weights);
}

void readNorm(const cv::dnn::LayerParams& params, const std::string& name, NormWeights& weights) {
  weights.eps = params.get<float>(name + "_eps", 0.f);
  weights.rms = params.get<int>(name + "_rms", 0) != 0;
}

}  // namespace mpm
