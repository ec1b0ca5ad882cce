// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>

#include "kernels/grid_sample.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// ONNX's GridSample of maps {B, C, H, W} at places {B, h, w, 2}: x and y, -1 and 1 at the borders of the map.
class GridSampleLayer final : public HeadLayer {
 public:
  explicit GridSampleLayer(const cv::dnn::LayerParams& params) : HeadLayer(params) {
    sampling_.corners = params.get<int>("align_corners", 0) != 0;
    const std::string mode = params.get<cv::String>("mode", ""), padding = params.get<cv::String>("padding", "");
    sampling_.taps = mode == "nearest" ? 1 : mode == "linear" ? 2 : mode == "cubic" ? 4 : 0;
    expect(sampling_.taps > 0, "does not know the mode '" + mode + "'");
    sampling_.padding = padding == "zeros"    ? GridPadding::kZeros
                        : padding == "border" ? GridPadding::kBorder
                                              : GridPadding::kReflection;
    expect(sampling_.padding != GridPadding::kReflection || padding == "reflection",
           "does not know the padding '" + padding + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shapes from = operands(inputs, constants);
    expect(from.size() == 2 && from[0].size() == 4 && from[1].size() == 4 && from[1][3] == 2 &&
               (from[1][0] == from[0][0] || (from[1][0] == 1 && !constants.empty())),
           "expects maps {B, C, H, W} and places {B, h, w, 2}");
    return {{from[0][0], from[0][1], from[1][1], from[1][2]}};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.gridSample(sampling_, constantOperands(constants));
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Blobs from = operands(inputs);
    const cv::Mat &maps = from[0], &grid = from[1];
    const int height = maps.size[2], width = maps.size[3];
    const auto channels = static_cast<std::size_t>(maps.size[1]), pixels = countOf(shapeOf(maps), 2);
    const std::size_t places = countOf(shapeOf(outputs[0]), 2), batch = static_cast<std::size_t>(maps.size[0]);
    const auto taps = static_cast<std::size_t>(sampling_.taps);
    forRows(parallel_, batch * places, channels * taps * taps, [&](std::size_t i) {
      const std::size_t image = i / places, place = i % places;
      const float* const at = grid.ptr<float>() + 2 * (grid.size[0] == 1 ? place : i);
      const std::array<Tap, 4> columns = tapsAt(at[0], width), rows = tapsAt(at[1], height);
      const float* const x = maps.ptr<float>() + image * channels * pixels;
      float* const y = outputs[0].ptr<float>() + image * channels * places + place;
      for (std::size_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (std::size_t r = 0; r < taps; ++r) {
          if (rows[r].index < 0) continue;
          const float* const row = x + c * pixels + static_cast<std::size_t>(rows[r].index * width);
          for (std::size_t k = 0; k < taps; ++k)
            if (columns[k].index >= 0) sum += rows[r].weight * columns[k].weight * row[columns[k].index];
        }
        y[c * places] = sum;
      }
    });
  }

 private:
  /// A pixel along one axis; index -1: outside, which is 0.
  struct Tap {
    int index = -1;
    float weight = 0;
  };

  /// `coordinate`: -1 to 1 along an axis of `side` pixels.
  std::array<Tap, 4> tapsAt(float coordinate, int side) const {
    const auto sides = static_cast<float>(side);
    float x = sampling_.corners ? (coordinate + 1) / 2 * (sides - 1) : ((coordinate + 1) * sides - 1) / 2;
    constexpr float kFar = 1 << 22;  // beyond it a float has no fraction; also where a NaN is put
    x = x > -kFar ? std::min(x, kFar) : -kFar;
    if (sampling_.taps == 1) x = std::nearbyint(x);
    const float floor = std::floor(x), part = x - floor;
    const int first = static_cast<int>(floor) - (sampling_.taps == 4 ? 1 : 0);
    std::array<float, 4> weights = {1, 0, 0, 0};
    if (sampling_.taps == 2) weights = {1 - part, part, 0, 0};
    if (sampling_.taps == 4) weights = {outer(1 + part), inner(part), inner(1 - part), outer(2 - part)};
    std::array<Tap, 4> result;
    for (int t = 0; t < sampling_.taps; ++t) result[t] = {inside(first + t, side), weights[t]};
    return result;
  }

  // The cubic convolution of Keys with a = -0.75: up to one pixel away, and from one to two.
  static float inner(float d) { return (1.25f * d - 2.25f) * d * d + 1; }
  static float outer(float d) { return ((-0.75f * d + 3.75f) * d - 6) * d + 3; }

  int inside(int index, int side) const {
    if (index >= 0 && index < side) return index;
    if (sampling_.padding == GridPadding::kZeros) return -1;
    if (sampling_.padding == GridPadding::kBorder) return std::clamp(index, 0, side - 1);
    const int period = sampling_.corners ? 2 * (side - 1) : 2 * side;
    if (period == 0) return 0;
    index = (index % period + period) % period;
    return index < side ? index : period - (sampling_.corners ? 0 : 1) - index;
  }

  GridSampling sampling_;
};

}  // namespace

LayerPtr makeGridSample(cv::dnn::LayerParams& params) { return cv::makePtr<GridSampleLayer>(params); }

}  // namespace mpm
