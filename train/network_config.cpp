// SPDX-License-Identifier: Apache-2.0
#include "network_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>

#include "base/hash.h"

namespace mpm::train {
namespace {

using Init = Parameter::Init;

class Table {
 public:
  void matrix(const std::string& name, std::vector<std::int64_t> shape) {
    list.push_back({name, std::move(shape), Init::kTruncatedNormal, 0.02, true});
  }
  void vector(const std::string& name, int size, Init init = Init::kZeros) {
    list.push_back({name, {size}, init, 0, false});
  }
  void linear(const std::string& name, int out, int in) {
    matrix(name + ".weight", {out, in});
    vector(name + ".bias", out);
  }
  void norm(const std::string& name, int size) {
    vector(name + ".weight", size, Init::kOnes);
    vector(name + ".bias", size);
  }
  void block(const std::string& name, int dim, int hidden) {
    norm(name + ".norm1", dim);
    linear(name + ".attn.qkv", 3 * dim, dim);
    linear(name + ".attn.proj", dim, dim);
    norm(name + ".norm2", dim);
    linear(name + ".mlp.fc1", hidden, dim);
    linear(name + ".mlp.fc2", dim, hidden);
  }

  std::vector<Parameter> list;
};

// Normal, cut at two deviations by drawing again.
double truncatedNormal(Random& random) {
  for (;;)
    if (const double value = random.normal(); std::abs(value) <= 2) return value;
}

// A quarter of the channels each: sine and cosine of the row, sine and cosine of the column, with wavelengths from 4
// tokens to 4 times the longer side; scaled to the given deviation. The class token, at no place, gets zeros.
std::vector<float> sinusoids(const NetworkConfig& config, double deviation) {
  const Size2 grid = config.grid();
  const int quarter = config.dim / 4;
  const double longest = 4. * std::max(grid.height, grid.width), shortest = 4;
  std::vector<float> values(static_cast<std::size_t>(1 + config.tokens()) * static_cast<std::size_t>(config.dim));
  auto value = values.begin() + config.dim;
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x, value += config.dim) {
      for (int i = 0; i < quarter; ++i) {
        const double share = quarter > 1 ? static_cast<double>(i) / (quarter - 1) : 0;
        const double turn = 2 * std::numbers::pi / (shortest * std::pow(longest / shortest, share));
        const double amplitude = deviation * std::numbers::sqrt2;
        value[i] = static_cast<float>(amplitude * std::sin(turn * y));
        value[quarter + i] = static_cast<float>(amplitude * std::cos(turn * y));
        value[2 * quarter + i] = static_cast<float>(amplitude * std::sin(turn * x));
        value[3 * quarter + i] = static_cast<float>(amplitude * std::cos(turn * x));
      }
    }
  }
  return values;
}

}  // namespace

std::int64_t elements(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::vector<Parameter> parameters(const NetworkConfig& config) {
  const int dim = config.dim, hidden = dim * NetworkConfig::kMlpRatio;
  Table table;
  table.list.push_back({"encoder.cls_token", {1, 1, dim}, Init::kTruncatedNormal, 0.02, false});
  table.list.push_back({"encoder.pos_embed", {1, 1 + config.tokens(), dim}, Init::kPositions, 0.2, false});
  table.matrix("encoder.patch_embed.proj.weight", {dim, 3, NetworkConfig::kPatch, NetworkConfig::kPatch});
  table.vector("encoder.patch_embed.proj.bias", dim);
  for (int i = 0; i < config.blocks; ++i) table.block("encoder.blocks." + std::to_string(i), dim, hidden);
  table.norm("encoder.norm", dim);

  table.list.push_back({"decoder.cls_emb", {1, config.classes, dim}, Init::kTruncatedNormal, 0.02, false});
  table.linear("decoder.proj_dec", dim, dim);
  for (int i = 0; i < config.decoder_blocks; ++i) table.block("decoder.blocks." + std::to_string(i), dim, hidden);
  table.norm("decoder.decoder_norm", dim);
  const double deviation = 1 / std::sqrt(static_cast<double>(dim));
  table.list.push_back({"decoder.proj_patch", {dim, dim}, Init::kNormal, deviation, true});
  table.list.push_back({"decoder.proj_classes", {dim, dim}, Init::kNormal, deviation, true});
  table.norm("decoder.mask_norm", config.classes);
  return table.list;
}

TensorMap initialWeights(const NetworkConfig& config, std::uint64_t seed) {
  TensorMap weights;
  std::uint64_t stream = 0;
  for (const Parameter& parameter : parameters(config)) {
    HostTensor tensor{parameter.shape, std::vector<float>(static_cast<std::size_t>(elements(parameter.shape)),
                                                          parameter.init == Init::kOnes ? 1.f : 0.f)};
    Random random(seed, stream++);
    if (parameter.init == Init::kTruncatedNormal)
      for (float& value : tensor.values) value = static_cast<float>(parameter.deviation * truncatedNormal(random));
    if (parameter.init == Init::kPositions) tensor.values = sinusoids(config, parameter.deviation);
    if (parameter.init == Init::kNormal)
      for (float& value : tensor.values) value = static_cast<float>(parameter.deviation * random.normal());
    weights.emplace(parameter.name, std::move(tensor));
  }
  return weights;
}

void resizePositions(TensorMap& weights, Size2 from, Size2 to) {
  if (from == to) return;
  HostTensor& positions = weights.at("encoder.pos_embed");
  const int dim = static_cast<int>(positions.shape.back());
  HostTensor resized{{1, 1 + to.height * to.width, dim}, {}};
  resized.values.resize(static_cast<std::size_t>(elements(resized.shape)));
  std::copy_n(positions.values.begin(), dim, resized.values.begin());  // the row of the class token
  // Channel by channel: OpenCV resizes at most 4 channels of a row-major image well.
  cv::Mat plane(from.height, from.width, CV_32F), target;
  for (int c = 0; c < dim; ++c) {
    for (int i = 0; i < from.height * from.width; ++i)
      plane.at<float>(i / from.width, i % from.width) = positions.values[static_cast<std::size_t>((1 + i) * dim + c)];
    cv::resize(plane, target, cv::Size(to.width, to.height), 0, 0, cv::INTER_LINEAR);
    for (int i = 0; i < to.height * to.width; ++i)
      resized.values[static_cast<std::size_t>((1 + i) * dim + c)] = target.at<float>(i / to.width, i % to.width);
  }
  positions = std::move(resized);
}

}  // namespace mpm::train
