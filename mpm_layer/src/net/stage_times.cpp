// SPDX-License-Identifier: Apache-2.0
#include "net/stage_times.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <numeric>

#include "layers/mpm_layer.h"

namespace mpm {
namespace {

// OpenCV puts "onnx_node!" or "onnx_node_output_0!" in front of the name in the file.
std::string_view nameInFile(std::string_view layer) { return layer.substr(layer.rfind('!') + 1); }  // npos + 1 is 0

}  // namespace

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

StageTimes forwardTimes(cv::dnn::Net& net, double forward_ms) {
  std::vector<double> ticks;
  std::vector<cv::String> layers;
  try {
    // Layers on a GPU only enqueue their work, so their times say nothing.
    const cv::Ptr<MpmLayer> first = findLayer(net, "backbone/patch_embed");
    if (!first || !first->device()) net.getPerfProfile(ticks);
    layers = net.getLayerNames();
  } catch (const std::exception&) {  // no profile: the new engine of OpenCV 5 removes an entry from an empty list
    ticks.clear();
  }
  for (double& time : ticks) time *= 1e3 / cv::getTickFrequency();
  return forwardTimes(layers, ticks, forward_ms);
}

}  // namespace mpm
