// SPDX-License-Identifier: Apache-2.0
#include "pipeline/stage_times.h"

#include <numeric>

namespace mpm {

double StageTimes::*stageOfLayer(std::string_view layer) {
  // OpenCV puts "onnx_node!" or "onnx_node_output_0!" in front of the name in the file.
  if (const auto mark = layer.rfind('!'); mark != std::string_view::npos) layer.remove_prefix(mark + 1);
  if (layer.starts_with("backbone/")) return &StageTimes::backbone;
  if (layer.starts_with("merge/") || layer.starts_with("report/") || layer == "merge_map") return &StageTimes::merge;
  if (layer.starts_with("restore/") || layer == "scores") return &StageTimes::restore;
  return &StageTimes::head;
}

void addForwardTime(cv::dnn::Net& net, double forward_ms, StageTimes& times) {
  std::vector<double> ticks;
  std::vector<cv::String> layers;
  try {
    net.getPerfProfile(ticks);
    layers = net.getLayerNames();
  } catch (const cv::Exception&) {
    ticks.clear();
  }
  if (ticks.empty() || ticks.size() != layers.size() || std::accumulate(ticks.begin(), ticks.end(), 0.0) <= 0) {
    times.backbone += forward_ms;
    return;
  }
  const double ms_per_tick = 1e3 / cv::getTickFrequency();
  for (std::size_t i = 0; i < ticks.size(); ++i) times.*stageOfLayer(layers[i]) += ticks[i] * ms_per_tick;
}

}  // namespace mpm
