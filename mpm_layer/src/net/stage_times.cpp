// SPDX-License-Identifier: Apache-2.0
#include "net/stage_times.h"

#include <exception>
#include <numeric>

#include "layers/mpm_layer.h"

namespace mpm {

double StageTimes::*stageOfLayer(std::string_view layer) {
  // OpenCV puts "onnx_node!" or "onnx_node_output_0!" in front of the name in the file.
  if (const auto mark = layer.rfind('!'); mark != std::string_view::npos) layer.remove_prefix(mark + 1);
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
  for (std::size_t i = 0; i < layers.size(); ++i) times.*stageOfLayer(layers[i]) += layer_ms[i];
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
