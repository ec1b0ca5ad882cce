// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/convolution.h"

#include <algorithm>

#include "kernels/cuda/kernel.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;

/// What the kernels need of a convolution.
struct Geometry {
  int channels, outputs, groups;
  bool transposed, relu_input;
  int kernel[2], strides[2], dilations[2], pads[2];
  int height, width, out_height, out_width;

  bool operator==(const Geometry&) const = default;
};

Geometry geometryOf(const ConvolutionSpec& s, const MapsView<const float>& x, const MapsView<float>& y) {
  return {s.channels,
          s.outputs,
          s.groups,
          s.transposed,
          s.relu_input,
          {s.kernel[0], s.kernel[1]},
          {s.strides[0], s.strides[1]},
          {s.dilations[0], s.dilations[1]},
          {s.pads[0], s.pads[1]},
          x.height,
          x.width,
          y.height,
          y.width};
}

__device__ float inputOf(const Geometry& g, const float* x) { return g.relu_input && *x < 0 ? 0.0f : *x; }

// The pixel of x that weight `tap` of an axis meets at `place` of y, or -1.
__device__ int metBy(const Geometry& g, int axis, int side, int place, int tap) {
  const int offset = tap * g.dilations[axis] - g.pads[axis];
  int at = place * g.strides[axis] + offset;
  if (g.transposed) {
    at = place - offset;
    if (at % g.strides[axis] != 0) return -1;
    at /= g.strides[axis];
  }
  return at >= 0 && at < side ? at : -1;
}

// Row i of `rows` is pixel first + i of y: for each weight of the kernel the channels of the pixel that it meets.
template <typename T>
__global__ void gatherPixels(Geometry g, const float* x, std::size_t first, std::size_t count, T* rows) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const int depth = g.kernel[0] * g.kernel[1] * g.channels, k = static_cast<int>(i % depth);
  const std::size_t pixel = first + i / depth;
  const int channel = k % g.channels, tap = k / g.channels;
  const int column = static_cast<int>(pixel % g.out_width), row = static_cast<int>(pixel / g.out_width % g.out_height);
  const std::size_t image = pixel / g.out_width / g.out_height;
  const int from_row = metBy(g, 0, g.height, row, tap / g.kernel[1]),
            from_column = metBy(g, 1, g.width, column, tap % g.kernel[1]);
  float value = 0;
  if (from_row >= 0 && from_column >= 0)
    value = inputOf(g, x + ((image * g.height + from_row) * g.width + from_column) * g.channels + channel);
  rows[i] = fromFloat<T>(value);
}

template <typename T>
__global__ void takeInput(Geometry g, const float* x, std::size_t count, T* to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) to[i] = fromFloat<T>(inputOf(g, x + i));
}

// y of one image = bias + the products of all pixels of x that fall on a pixel. `products` {height, width, kernel,
// outputs}.
__global__ void sumProducts(Geometry g, const float* products, const float* bias, std::size_t count, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const int output = static_cast<int>(i % g.outputs), taps = g.kernel[0] * g.kernel[1];
  const std::size_t pixel = i / g.outputs;
  const int column = static_cast<int>(pixel % g.out_width), row = static_cast<int>(pixel / g.out_width);
  float sum = bias[output];
  for (int tap = 0; tap < taps; ++tap) {
    const int from_row = metBy(g, 0, g.height, row, tap / g.kernel[1]),
              from_column = metBy(g, 1, g.width, column, tap % g.kernel[1]);
    if (from_row >= 0 && from_column >= 0)
      sum += products[((static_cast<std::size_t>(from_row) * g.width + from_column) * taps + tap) * g.outputs + output];
  }
  y[i] = sum;
}

// With groups: each thread sums one result. `weight` {outputs, channels / groups, kernel}.
__global__ void convolveGroups(Geometry g, const float* x, const float* weight, const float* bias, std::size_t count,
                               float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const int output = static_cast<int>(i % g.outputs), taps = g.kernel[0] * g.kernel[1];
  const int in = g.channels / g.groups, group = output / (g.outputs / g.groups);
  const std::size_t pixel = i / g.outputs;
  const int column = static_cast<int>(pixel % g.out_width), row = static_cast<int>(pixel / g.out_width % g.out_height);
  const std::size_t image = pixel / g.out_width / g.out_height;
  const float* const own = weight + static_cast<std::size_t>(output) * in * taps;
  float sum = bias[output];
  for (int tap = 0; tap < taps; ++tap) {
    const int from_row = metBy(g, 0, g.height, row, tap / g.kernel[1]),
              from_column = metBy(g, 1, g.width, column, tap % g.kernel[1]);
    if (from_row < 0 || from_column < 0) continue;
    const float* const from = x + ((image * g.height + from_row) * g.width + from_column) * g.channels + group * in;
    for (int c = 0; c < in; ++c) sum += own[c * taps + tap] * inputOf(g, from + c);
  }
  y[i] = sum;
}

__global__ void addTo(const float* addend, std::size_t count, float* y) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < count) y[i] += addend[i];
}

}  // namespace

Convolution::Convolution(const Stream& stream, const ConvolutionSpec& spec)
    : spec_(spec), bias_(uploaded(stream, std::vector<float>(spec.bias, spec.bias + spec.outputs))) {
  spec_.weight = spec_.bias = nullptr;
  const int taps = spec.kernel[0] * spec.kernel[1], in = spec.channels / spec.groups;
  const std::size_t count = area(spec.outputs, in) * static_cast<std::size_t>(taps);
  if (spec.groups > 1) {
    weight_ = uploaded(stream, std::vector<float>(spec.weight, spec.weight + count));
    return;
  }
  // {outputs, kernel, channels}, as rows are gathered; of a transposed one {kernel, outputs, channels}.
  std::vector<float> ordered(count);
  for (int o = 0; o < spec.outputs; ++o) {
    for (int c = 0; c < in; ++c) {
      for (int tap = 0; tap < taps; ++tap) {
        const int row = spec.transposed ? tap * spec.outputs + o : o * taps + tap;
        ordered[area(row, in) + static_cast<std::size_t>(c)] =
            spec.weight[area(o * in + c, taps) + static_cast<std::size_t>(tap)];
      }
    }
  }
  if (spec.transposed)
    linear_ = Linear(stream, {ordered.data(), taps * spec.outputs, in}, nullptr, spec.precision);
  else
    linear_ = Linear(stream, {ordered.data(), spec.outputs, taps * in}, spec.bias, spec.precision);
}

void Convolution::run(const Stream& stream, Gemm& gemm, ConvolutionWorkspace& workspace, const MapsView<const float>& x,
                      const std::vector<const float*>& addends, const MapsView<float>& y) const {
  const std::size_t count = area(y.batch * y.height, y.width) * static_cast<std::size_t>(y.channels);
  if (count == 0) return;
  const Grid each{piecesOf(count, kThreads)};
  if (spec_.groups > 1) {
    launch(convolveGroups, each, kThreads, 0, stream, geometryOf(spec_, x, y), x.data,
           static_cast<const float*>(weight_.data()), static_cast<const float*>(bias_.data()), count, y.data);
  } else if (spec_.transposed) {
    runScattered(stream, gemm, workspace, x, y);
  } else {
    runGathered(stream, gemm, workspace, x, y);
  }
  for (const float* addend : addends) launch(addTo, each, kThreads, 0, stream, addend, count, y.data);
  if (spec_.activation) {
    activate(stream, *spec_.activation, false, y.batch * y.height * y.width, y.channels, Number::kFloat, y.data,
             y.data);
  }
}

void Convolution::runGathered(const Stream& stream, Gemm& gemm, ConvolutionWorkspace& workspace,
                              const MapsView<const float>& x, const MapsView<float>& y) const {
  const Geometry geometry = geometryOf(spec_, x, y);
  const Number operand = operandOf(spec_.precision);
  const std::size_t pixels = area(y.batch * y.height, y.width), depth = static_cast<std::size_t>(linear_.in());
  const std::size_t step = std::max<std::size_t>(1, workspace.most_gathered / (depth * bytesOf(operand)));
  for (std::size_t first = 0; first < pixels; first += step) {
    const std::size_t rows = std::min(step, pixels - first), count = rows * depth;
    void* const gathered = workspace.gathered.atLeast(stream, count * bytesOf(operand));
    withNumber(operand, [&](auto zero) {
      using T = decltype(zero);
      launch(gatherPixels<T>, Grid{piecesOf(count, kThreads)}, kThreads, 0, stream, geometry, x.data, first, count,
             static_cast<T*>(gathered));
    });
    linear_.run(stream, gemm, gathered, static_cast<int>(rows), Into::kFloat,
                y.data + first * static_cast<std::size_t>(y.channels));
  }
}

void Convolution::runScattered(const Stream& stream, Gemm& gemm, ConvolutionWorkspace& workspace,
                               const MapsView<const float>& x, const MapsView<float>& y) const {
  const Geometry geometry = geometryOf(spec_, x, y);
  const Number operand = operandOf(spec_.precision);
  const int pixels = x.height * x.width;
  const std::size_t values = area(pixels, x.channels),
                    results = area(y.height, y.width) * static_cast<std::size_t>(y.channels);
  for (int b = 0; b < x.batch; ++b) {
    void* const input = workspace.gathered.atLeast(stream, values * bytesOf(operand));
    withNumber(operand, [&](auto zero) {
      using T = decltype(zero);
      launch(takeInput<T>, Grid{piecesOf(values, kThreads)}, kThreads, 0, stream, geometry,
             x.data + static_cast<std::size_t>(b) * values, values, static_cast<T*>(input));
    });
    float* const products = workspace.products.atLeast(stream, area(pixels, linear_.out()));
    linear_.run(stream, gemm, input, pixels, Into::kFloat, products);
    launch(sumProducts, Grid{piecesOf(results, kThreads)}, kThreads, 0, stream, geometry,
           static_cast<const float*>(products), static_cast<const float*>(bias_.data()), results,
           y.data + static_cast<std::size_t>(b) * results);
  }
}

}  // namespace mpm::cuda
