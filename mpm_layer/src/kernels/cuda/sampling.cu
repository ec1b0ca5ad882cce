// SPDX-License-Identifier: Apache-2.0
// Operators of heads that read where another tensor says.
#include "kernels/cuda/sampling.h"

#include "kernels/cuda/tensor.cuh"

namespace mpm::cuda {
namespace {

constexpr int kMaxTaps = 4;

// Pixels along one axis, -1 outside, and their weights.
struct Taps {
  int index[kMaxTaps];
  float weight[kMaxTaps];
};

__device__ int insideMap(const GridSampling& sampling, int index, int side) {
  if (index >= 0 && index < side) return index;
  if (sampling.padding == GridPadding::kZeros) return -1;
  if (sampling.padding == GridPadding::kBorder) return index < 0 ? 0 : side - 1;
  const int period = sampling.corners ? 2 * (side - 1) : 2 * side;
  if (period == 0) return 0;
  index = (index % period + period) % period;
  return index < side ? index : period - (sampling.corners ? 0 : 1) - index;
}

// The cubic convolution of Keys with a = -0.75: up to one pixel away, and from one to two.
__device__ float inner(float d) { return (1.25f * d - 2.25f) * d * d + 1; }
__device__ float outer(float d) { return ((-0.75f * d + 3.75f) * d - 6) * d + 3; }

// `coordinate`: -1 to 1 along an axis of `side` pixels.
__device__ Taps tapsAt(const GridSampling& sampling, float coordinate, int side) {
  const auto sides = static_cast<float>(side);
  float x = sampling.corners ? (coordinate + 1) / 2 * (sides - 1) : ((coordinate + 1) * sides - 1) / 2;
  constexpr float kFar = 1 << 22;  // beyond it a float has no fraction; also where a NaN is put
  x = x > -kFar ? fminf(x, kFar) : -kFar;
  if (sampling.taps == 1) x = rintf(x);
  const float floor = floorf(x), part = x - floor;
  const int first = static_cast<int>(floor) - (sampling.taps == 4 ? 1 : 0);
  Taps taps{{}, {1, 0, 0, 0}};
  if (sampling.taps == 2) {
    taps.weight[0] = 1 - part;
    taps.weight[1] = part;
  } else if (sampling.taps == 4) {
    taps.weight[0] = outer(1 + part);
    taps.weight[1] = inner(part);
    taps.weight[2] = inner(1 - part);
    taps.weight[3] = outer(2 - part);
  }
  for (int t = 0; t < sampling.taps; ++t) taps.index[t] = insideMap(sampling, first + t, side);
  return taps;
}

// One thread per place, for all channels.
__global__ void sampleMaps(GridSampling sampling, GridSampleCall call, float* y) {
  const int place = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int image = static_cast<int>(blockIdx.y);
  if (place >= call.places) return;
  const std::size_t places = static_cast<std::size_t>(call.places);
  const float* const at = call.grid + 2 * ((call.one_grid ? 0 : image * places) + place);
  const Taps columns = tapsAt(sampling, at[0], call.width), rows = tapsAt(sampling, at[1], call.height);
  const std::size_t pixels = static_cast<std::size_t>(call.height) * call.width;
  for (int c = 0; c < call.channels; ++c) {
    const std::size_t map = static_cast<std::size_t>(image) * call.channels + c;
    const float* const x = call.maps + map * pixels;
    float sum = 0;
    for (int r = 0; r < sampling.taps; ++r) {
      if (rows.index[r] < 0) continue;
      for (int k = 0; k < sampling.taps; ++k) {
        if (columns.index[k] < 0) continue;
        sum += rows.weight[r] * columns.weight[k] * x[rows.index[r] * call.width + columns.index[k]];
      }
    }
    y[map * places + place] = sum;
  }
}

// One thread per element of the result.
__global__ void gatherAll(GatherCall call, std::size_t count, float* y, int* outside) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  const std::size_t slice = i / call.width;
  long long place = placeOf(call.slices, slice);
  const float* const indices = call.indices + slice % call.index_rows * call.depth;
  for (int k = 0; k < call.depth; ++k) {
    int index = static_cast<int>(indices[k]);
    if (index < 0) index += call.sides[k];
    if (index < 0 || index >= call.sides[k]) {
      atomicMax(outside, 1);
      return;
    }
    place += index * call.steps[k];
  }
  y[i] = call.x[place + static_cast<long long>(i % call.width)];
}

}  // namespace

void gridSample(const Stream& stream, const GridSampling& sampling, const GridSampleCall& call, float* y) {
  if (call.batch * call.places == 0) return;
  const Grid grid{piecesOf(call.places, kThreads), static_cast<unsigned>(call.batch)};
  launch(sampleMaps, grid, kThreads, 0, stream, sampling, call, y);
}

void gatherSlices(const Stream& stream, const GatherCall& call, float* y, int* outside) {
  const std::size_t count = countOf(call.slices) * call.width;
  if (count == 0) return;
  launch(gatherAll, Grid{piecesOf(count, kThreads)}, kThreads, 0, stream, call, count, y, outside);
}

}  // namespace mpm::cuda
