// SPDX-License-Identifier: Apache-2.0
#include "net/inspect.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "layers/mpm_layer.h"

namespace mpm {
namespace {

// OpenCV puts "onnx_node!" or "onnx_node_output_0!" in front of the name in the file.
std::string_view nameInFile(std::string_view layer) { return layer.substr(layer.rfind('!') + 1); }  // npos + 1 is 0

}  // namespace

void toProbabilities(cv::Mat& scores, bool logits, const Parallel& parallel) {
  const int classes = scores.size[0], width = scores.size[2];
  parallel.run(scores.size[1], [&](int y) {
    thread_local std::vector<float> best, sum;
    best.assign(width, -std::numeric_limits<float>::infinity());
    sum.assign(width, 0);
    for (int c = 0; c < classes; ++c)
      for (int x = 0; x < width; ++x) best[x] = std::max(best[x], scores.ptr<float>(c, y)[x]);
    for (int c = 0; c < classes; ++c) {
      float* const row = scores.ptr<float>(c, y);
      for (int x = 0; x < width; ++x) sum[x] += row[x] = logits ? std::exp(row[x] - best[x]) : row[x];
    }
    for (int c = 0; c < classes; ++c) {
      for (int x = 0; x < width; ++x) {
        float& share = scores.ptr<float>(c, y)[x];
        share = sum[x] > 0 ? share / sum[x] : 1.0F / static_cast<float>(classes);  // each sigmoid rounds to 0
      }
    }
  });
}

std::vector<float> pairSimilarity(MatrixView<const float> tokens, const std::vector<int>& before,
                                  const std::vector<int>& after) {
  struct Cluster {
    std::vector<int> rows;  // of `tokens`
    float cosine = std::numeric_limits<float>::quiet_NaN();
  };
  std::vector<Cluster> clusters(after.empty() ? 0 : *std::max_element(after.begin(), after.end()) + 1);
  for (std::size_t i = 0; i < after.size(); ++i) {
    std::vector<int>& rows = clusters[after[i]].rows;
    if (std::find(rows.begin(), rows.end(), before[i]) == rows.end()) rows.push_back(before[i]);
  }
  for (auto& [rows, cosine] : clusters) {
    if (rows.size() < 2) continue;
    // |u1 + ... + um|^2 of directions u holds every pair twice, and the square of each direction.
    std::vector<double> sum(tokens.cols);
    double directions = 0, squares = 0;
    for (const int row : rows) {
      const float* x = tokens.row(row);
      double xx = 0;
      for (int c = 0; c < tokens.cols; ++c) xx += static_cast<double>(x[c]) * x[c];
      if (xx <= 0) continue;  // not similar to any other
      directions += 1;
      for (int c = 0; c < tokens.cols; ++c) sum[c] += x[c] / std::sqrt(xx);
    }
    for (const double value : sum) squares += value * value;
    const auto count = static_cast<double>(rows.size());
    cosine = static_cast<float>((squares - directions) / (count * (count - 1)));
  }
  std::vector<float> result(after.size());
  std::transform(after.begin(), after.end(), result.begin(), [&](int cluster) { return clusters[cluster].cosine; });
  return result;
}

std::optional<std::size_t> blockOfLayer(std::string_view layer) {
  layer = nameInFile(layer);
  for (const std::string_view prefix : {"backbone/block", "merge/before_block", "merge/in_block"}) {
    std::size_t block = 0;
    if (layer.starts_with(prefix) &&
        std::from_chars(layer.data() + prefix.size(), layer.data() + layer.size(), block).ec == std::errc())
      return block;
  }
  return std::nullopt;
}

double StageTimes::*stageOfLayer(std::string_view layer) {
  layer = nameInFile(layer);
  if (layer.starts_with("backbone/")) return &StageTimes::backbone;
  if (layer.starts_with("merge/") || layer == "merge_map") return &StageTimes::merge;
  if (layer.starts_with("restore/") || layer == "scores") return &StageTimes::restore;
  return &StageTimes::head;
}

StageTimes forwardTimes(const std::vector<cv::String>& layers, const std::vector<double>& layer_ms, double forward_ms) {
  StageTimes times;
  times.total = forward_ms;
  if (layer_ms.size() != layers.size() || std::accumulate(layer_ms.begin(), layer_ms.end(), 0.0) <= 0) {
    times.backbone = forward_ms;
    return times;
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    times.*stageOfLayer(layers[i]) += layer_ms[i];
    const auto block = blockOfLayer(layers[i]);
    if (!block || *block >= layers.size()) continue;  // each block is a layer at least
    times.blocks.resize(std::max(times.blocks.size(), *block + 1));
    times.blocks[*block] += layer_ms[i];
  }
  return times;
}

namespace {

constexpr std::string_view kDomain = "ai.mpm.";

/// ms of each layer in the last forward(), in the order of getLayerNames(). Empty where nobody measured them.
std::vector<double> layerTimes(cv::dnn::Net& net) {
  std::vector<double> ticks;
  try {
    // Layers on a GPU only enqueue their work, so their times say nothing unless they wait for it.
    const cv::Ptr<MpmLayer> first = findLayer(net, "backbone/patch_embed");
    if (!first || !first->device() || first->device()->measures_layers) net.getPerfProfile(ticks);
  } catch (const std::exception&) {  // no profile: the new engine of OpenCV 5 removes an entry from an empty list
    ticks.clear();
  }
  for (double& time : ticks) time *= 1e3 / cv::getTickFrequency();
  return ticks;
}

}  // namespace

StageTimes forwardTimes(cv::dnn::Net& net, double forward_ms) {
  const std::vector<double> times = layerTimes(net);
  return forwardTimes(times.empty() ? std::vector<cv::String>() : net.getLayerNames(), times, forward_ms);
}

std::vector<OperatorTime> headTimes(cv::dnn::Net& net) {
  const std::vector<double> times = layerTimes(net);
  std::map<std::string, OperatorTime> found;
  if (!times.empty()) {
    const std::vector<cv::String> layers = net.getLayerNames();
    if (layers.size() != times.size()) return {};
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if (stageOfLayer(layers[i]) != &StageTimes::head) continue;
      std::string op = net.getLayer(net.getLayerId(layers[i]))->type;
      if (op.starts_with(kDomain)) op.erase(0, kDomain.size());
      OperatorTime& of = found[op];
      of.op = op;
      ++of.layers;
      of.ms += times[i];
    }
  }
  std::vector<OperatorTime> result;
  for (auto& [op, time] : found) result.push_back(std::move(time));
  std::ranges::stable_sort(result, std::greater(), &OperatorTime::ms);
  return result;
}

}  // namespace mpm
