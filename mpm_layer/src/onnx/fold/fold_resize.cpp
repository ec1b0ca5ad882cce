// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "onnx/fold/fold.h"
#include "onnx/model/data_movement.h"

namespace mpm::onnx_graph {
namespace {

/// Where the centre of output pixel `index` lies in the input.
double sourceOf(const std::string& mode, std::int64_t index, std::int64_t inputs, std::int64_t outputs, double scale) {
  const auto x = static_cast<double>(index);
  if (mode == "align_corners")
    return outputs == 1 ? 0 : x * static_cast<double>(inputs - 1) / static_cast<double>(outputs - 1);
  if (mode == "asymmetric") return x / scale;
  if (mode == "pytorch_half_pixel" && outputs == 1) return 0;
  const double place = (x + 0.5) / scale - 0.5;
  if (mode != "half_pixel_symmetric") return place;
  const auto exact = scale * static_cast<double>(inputs);  // the output size, before it became a whole number
  return place + static_cast<double>(inputs) / 2 * (1 - static_cast<double>(outputs) / exact);
}

double cubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

struct Filter {
  bool cubic = false;
  double a = 0;                  ///< of cubicWeight()
  bool antialias = false;        ///< wider where the image shrinks
  bool exclude_outside = false;  ///< pixels outside the image do not count; else they are those of its border
};

std::vector<Tap> tapsAt(double source, std::int64_t inputs, double scale, const Filter& filter) {
  const double narrow = filter.antialias ? std::min(scale, 1.0) : 1.0, reach = (filter.cubic ? 2 : 1) / narrow;
  std::vector<Tap> taps;
  double sum = 0;
  for (double k = std::floor(source - reach) + 1; k <= std::floor(source + reach); ++k) {
    const double inside = std::clamp(k, 0.0, static_cast<double>(inputs - 1)), distance = (source - k) * narrow;
    if (filter.exclude_outside && inside != k) continue;
    const double weight = filter.cubic ? cubicWeight(distance, filter.a) : 1 - std::abs(distance);
    taps.push_back({static_cast<std::int64_t>(inside), weight});
    sum += weight;
  }
  if (filter.exclude_outside) {
    for (Tap& tap : taps) tap.weight /= sum;
  }
  return taps;
}

/// The pixel that stands for a place between two.
double nearest(double place, const std::string& mode) {
  if (mode == "floor") return std::floor(place);
  if (mode == "ceil") return std::ceil(place);
  return mode == "round_prefer_ceil" ? std::floor(place + 0.5) : std::ceil(place - 0.5);
}

}  // namespace

std::optional<Resizing> resizing(const Graph& graph, const Node& node) {
  const Shape* source = graph.shape(node.input(0));
  if (!source || source->empty()) return std::nullopt;
  Resizing result{*source, std::vector<double>(source->size(), 1.0), true};
  std::vector<std::size_t> axes;
  if (const auto given = node.integers("axes")) {
    axes = frontAxes(node, *given, source->size());
  } else {
    for (std::size_t axis = 0; axis < source->size(); ++axis) axes.push_back(axis);
  }
  const Tensor* scales = graph.constant(node.input(2));
  const auto sizes = integersOf(graph, node.input(3));
  if (sizes && sizes->size() == axes.size()) {
    if (node.text("keep_aspect_ratio_policy", "stretch") != "stretch") return std::nullopt;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      result.shape[axes[i]] = (*sizes)[i];
      result.scale[axes[i]] = static_cast<double>((*sizes)[i]) / static_cast<double>((*source)[axes[i]]);
    }
    return result;
  }
  if (scales && scales->size() == std::ssize(axes)) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double scale = scales->at(static_cast<std::int64_t>(i)), before = static_cast<double>((*source)[axes[i]]);
      // In float, as ONNX Runtime does it: the float next to 10 / 7 then gives 10 from 7, from above or below.
      const auto side = static_cast<double>(std::floor(static_cast<float>(before) * static_cast<float>(scale)));
      if (!(side >= 1 && side < 1e9)) refuse(node, "a scale that leaves nothing", "a positive one");
      result.shape[axes[i]] = static_cast<std::int64_t>(side);
      result.scale[axes[i]] = scale;
      result.whole_pixels = result.whole_pixels && std::abs(before * scale - side) <= 1e-6 * side;
    }
    return result;
  }
  return std::nullopt;
}

std::optional<std::vector<std::vector<Tap>>> resizeTaps(const Node& node, const Resizing& resized, std::int64_t inputs,
                                                        std::size_t axis) {
  const std::string mode = node.text("mode", "nearest");
  const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  if (!isOneOf(mode, {"nearest", "linear", "cubic"}) ||
      !isOneOf(coordinates,
               {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"}))
    return std::nullopt;
  const Filter filter{mode == "cubic", static_cast<double>(node.number("cubic_coeff_a", -0.75f)),
                      node.integer("antialias", 0) != 0, node.integer("exclude_outside", 0) != 0};
  // Tools disagree about what an antialiasing filter finds outside the image.
  if (filter.antialias && !filter.exclude_outside) return std::nullopt;
  // ONNX and its reference implementation disagree about the position of the far corner.
  if (coordinates == "align_corners" && !resized.whole_pixels) return std::nullopt;
  const std::int64_t outputs = resized.shape[axis];
  if (inputs < 1 || std::max(inputs, outputs) > 1 << 20)
    return std::nullopt;  // limits the memory that a malicious file can take
  std::vector<std::vector<Tap>> taps;
  for (std::int64_t i = 0; i < outputs; ++i) {
    const double place = sourceOf(coordinates, i, inputs, outputs, resized.scale[axis]);
    if (mode == "nearest") {
      const double pixel = nearest(place, node.text("nearest_mode", "round_prefer_floor"));
      taps.push_back({{static_cast<std::int64_t>(std::clamp(pixel, 0.0, static_cast<double>(inputs - 1))), 1.0}});
    } else {
      taps.push_back(tapsAt(place, inputs, resized.scale[axis], filter));
    }
  }
  return taps;
}

std::optional<Tensor> evaluateResize(const Graph& graph, const Node& node, FoldBudget& budget) {
  const Tensor* source = graph.constant(node.input(0));
  const auto resized = resizing(graph, node);
  if (!source || !source->isFloat() || !resized) return std::nullopt;
  const Shape& shape = resized->shape;
  const std::size_t rank = shape.size();
  if (rank != 3 && rank != 4) return std::nullopt;
  if (shape[0] != source->shape[0] || shape[1] != source->shape[1] || source->size() == 0) return std::nullopt;
  const auto count = static_cast<std::size_t>(budget.take(shape));
  // The last two axes. Of {N, C, W} these are the channels, which stay, and the only axis of the image.
  const std::int64_t in_h = source->shape[rank - 2], in_w = source->shape[rank - 1];
  const auto rows = resizeTaps(node, *resized, in_h, rank - 2), columns = resizeTaps(node, *resized, in_w, rank - 1);
  if (!rows || !columns) return std::nullopt;
  std::vector<float> result;
  result.reserve(count);
  for (std::int64_t plane = 0; plane < source->size() / (in_h * in_w); ++plane) {
    const float* pixels = source->floats->data() + plane * in_h * in_w;
    for (const auto& row : *rows) {
      for (const auto& column : *columns) {
        double sum = 0;
        for (const Tap& y : row) {
          for (const Tap& x : column)
            sum += y.weight * x.weight * static_cast<double>(pixels[y.index * in_w + x.index]);
        }
        result.push_back(static_cast<float>(sum));
      }
    }
  }
  return Tensor::of(shape, std::move(result));
}

}  // namespace mpm::onnx_graph
