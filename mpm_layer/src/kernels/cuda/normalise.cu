// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/normalise.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/rows.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;  // pixels; amortises loading the table

struct Channels {
  int of_image[3];
};

__global__ void normalisePixels(const unsigned char* pixels, int count, const float* of_byte, Channels channels,
                                float* planes) {
  auto* const table = static_cast<float*>(sharedMemory());
  for (int i = static_cast<int>(threadIdx.x); i < 3 * 256; i += kThreads) table[i] = of_byte[i];
  __syncthreads();
  const int begin = static_cast<int>(blockIdx.x) * kThreads * kPerThread + static_cast<int>(threadIdx.x);
  for (int i = 0; i < kPerThread; ++i) {
    const int p = begin + i * kThreads;
    if (p >= count) return;
    const unsigned char* pixel = rowOf(pixels, p, 3);
    for (int c = 0; c < 3; ++c) rowOf(planes, c, count)[p] = table[c * 256 + pixel[channels.of_image[c]]];
  }
}

}  // namespace

Normaliser::Normaliser(const Stream& stream, const PixelValues& values) {
  std::vector<float> table;
  for (const auto& channel : values.of_byte) table.insert(table.end(), channel.begin(), channel.end());
  of_byte_ = uploaded(stream, table);
  std::copy(values.image_channel.begin(), values.image_channel.end(), image_channel_);
}

void Normaliser::run(const Stream& stream, const unsigned char* pixels, int count, float* planes) const {
  if (count == 0) return;
  const Channels channels{{image_channel_[0], image_channel_[1], image_channel_[2]}};
  launch(normalisePixels, Grid{piecesOf(count, kThreads * kPerThread)}, kThreads, 3 * 256 * sizeof(float), stream,
         pixels, count, of_byte_.data(), channels, planes);
}

}  // namespace mpm::cuda
