// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "onnx/model/tensor.h"

namespace mpm::onnx_graph {

/// What the outputs of a head of box queries are, by their places in the graph: boxes {1, Q, 4} as centre, width and
/// height in shares of the picture; class scores {1, Q, classes}, whose sigmoid is the probability; masks {1, Q, h, w},
/// logits.
struct BoxOutputs {
  std::size_t boxes = 0, scores = 0;
  std::optional<std::size_t> masks{};
};

/// nullopt: the outputs do not have these shapes. Of two outputs {1, Q, 4} the boxes are the one that has "box" or
/// "dets" in its name.
std::optional<BoxOutputs> boxOutputs(const std::vector<std::string>& names, const std::vector<Shape>& shapes);

}  // namespace mpm::onnx_graph
