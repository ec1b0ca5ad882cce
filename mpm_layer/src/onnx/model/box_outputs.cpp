// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/box_outputs.h"

namespace mpm::onnx_graph {

std::optional<BoxOutputs> boxOutputs(const std::vector<std::string>& names, const std::vector<Shape>& shapes) {
  std::vector<std::size_t> boxes, scores, masks;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].size() == 4) masks.push_back(i);
    if (shapes[i].size() != 3) continue;
    const bool named = names[i].find("box") != std::string::npos || names[i].find("dets") != std::string::npos;
    (shapes[i].back() == 4 && named ? boxes : scores).push_back(i);
  }
  if (boxes.empty()) {
    for (const std::size_t one : scores)
      if (shapes[one].back() == 4) boxes.push_back(one);
  }
  for (const std::size_t one : boxes) std::erase(scores, one);
  if (boxes.size() != 1 || scores.size() != 1 || masks.size() != shapes.size() - 2 || masks.size() > 1)
    return std::nullopt;
  for (const Shape& shape : shapes)
    if (shape[0] > 1 || shape[1] < 1 || shape[1] != shapes[0][1] || shape.back() < 1) return std::nullopt;
  BoxOutputs found{.boxes = boxes[0], .scores = scores[0]};
  if (!masks.empty()) found.masks = masks[0];
  return found;
}

}  // namespace mpm::onnx_graph
