// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/patch_embed.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/kernel.cuh"

namespace mpm::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPerThread = 8;  // pixels; amortises loading the table

struct Channels {
  int of_image[3];

  bool operator==(const Channels&) const = default;
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

// One row of pixels per patch, zeros for special rows, which are part of the product. `offset_of` {depth}: offset of a
// pixel from the first pixel of its patch. `only` {patches} or null: which patches of the image they are. One block per
// row.
template <typename T>
__global__ void gatherPatches(const float* images, PatchGeometry g, const int* offset_of, int grid_width,
                              const int* only, int patches, int special, int depth, T* rows) {
  T* row = rowOf(rows, blockIdx.x, depth);
  const int image = static_cast<int>(blockIdx.x) / (special + patches);
  const int patch = static_cast<int>(blockIdx.x) % (special + patches) - special;
  const int there = patch < 0 ? 0 : only != nullptr ? only[patch] : patch;
  const int top = there / grid_width * g.stride_h, left = there % grid_width * g.stride_w;
  const float* const corner = rowOf(images, image * g.channels * g.height + top, g.width) + left;
  for (int k = static_cast<int>(threadIdx.x); k < depth; k += kThreads)
    row[k] = fromFloat<T>(patch < 0 ? 0.0f : corner[offset_of[k]]);
}

// One thread per pixel of a plane with its border.
__global__ void addBorder(const float* planes, int height, int width, int pad_h, int pad_w, float* bordered) {
  const int x = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(blockIdx.y), plane = static_cast<int>(blockIdx.z);
  if (x >= width) return;
  const int inner_h = height - 2 * pad_h, inner_w = width - 2 * pad_w;
  const bool inside = y >= pad_h && y < height - pad_h && x >= pad_w && x < width - pad_w;
  rowOf(bordered, plane * height + y, width)[x] =
      inside ? rowOf(planes, plane * inner_h + y - pad_h, inner_w)[x - pad_w] : 0.0f;
}

// Special tokens and positions of each image, or of the patches `only`.
struct OwnRows {
  const float* rows;
  std::size_t special;  // values of the special tokens
  const int* only;
  std::size_t dim;

  __device__ float at(std::size_t k) const {
    if (only == nullptr || k < special) return rows[k];
    return rows[special + static_cast<std::size_t>(only[(k - special) / dim]) * dim + (k - special) % dim];
  }

  bool operator==(const OwnRows&) const = default;
};

// Special tokens take the place of the first values of each image; positions are added to the others.
__global__ void addRows(OwnRows own, std::size_t count, float* tokens) {
  const std::size_t k = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (k >= count) return;
  float& token = tokens[blockIdx.y * count + k];
  token = k < own.special ? own.at(k) : token + own.at(k);
}

// Copies special tokens and positions to each image.
__global__ void repeatRows(OwnRows own, std::size_t count, float* tokens) {
  const std::size_t k = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (k < count) tokens[blockIdx.y * count + k] = own.at(k);
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

PatchEmbed::PatchEmbed(const Stream& stream, const PatchEmbedSpec& spec)
    : geometry_(spec.geometry),
      pad_h_(spec.pad_h),
      pad_w_(spec.pad_w),
      precision_(spec.precision),
      patches_(spec.position.rows),
      special_(spec.special.rows),
      normed_(spec.norm != nullptr),
      weight_(stream, spec.weight, normed_ ? spec.bias : nullptr, spec.precision) {
  if (normed_) norm_ = Norm(stream, *spec.norm, spec.weight.rows);
  std::vector<float> rows;
  for (const MatrixView<const float>& part : {spec.special, spec.position})
    for (int i = 0; i < part.rows; ++i) rows.insert(rows.end(), part.row(i), part.row(i) + part.cols);
  rows_ = uploaded(stream, rows);
  std::vector<int> offsets;
  for (int c = 0; c < geometry_.channels; ++c) {
    for (int y = 0; y < geometry_.kernel_h; ++y)
      for (int x = 0; x < geometry_.kernel_w; ++x) offsets.push_back((c * geometry_.height + y) * geometry_.width + x);
  }
  pixel_offset_ = uploaded(stream, offsets);
}

void PatchEmbed::run(const Stream& stream, Gemm& gemm, const float* images, int batch, float* tokens, const int* only,
                     int count) {
  const int patches = only != nullptr ? count : patches_;
  const int rows = batch * (special_ + patches), planes = batch * geometry_.channels;
  if (rows == 0) return;
  if (pad_h_ > 0 || pad_w_ > 0) {
    float* const bordered = bordered_.atLeast(stream, area(planes * geometry_.height, geometry_.width));
    launch(addBorder,
           Grid{piecesOf(geometry_.width, kThreads), static_cast<unsigned>(geometry_.height),
                static_cast<unsigned>(planes)},
           kThreads, 0, stream, images, geometry_.height, geometry_.width, pad_h_, pad_w_, bordered);
    images = bordered;
  }
  const Number operand = operandOf(precision_);
  void* const gathered = gathered_.atLeast(stream, area(rows, weight_.in()) * bytesOf(operand));
  withNumber(operand, [&](auto zero) {
    using T = decltype(zero);
    launch(gatherPatches<T>, Grid{static_cast<unsigned>(rows)}, kThreads, 0, stream, images, geometry_,
           pixel_offset_.data(), geometry_.gridWidth(), only, patches, special_, weight_.in(),
           static_cast<T*>(gathered));
  });
  const std::size_t values = area(special_ + patches, dim());
  const Grid grid{piecesOf(values, kThreads), static_cast<unsigned>(batch)};
  const OwnRows own{rows_.data(), area(special_, dim()), only, area(1, dim())};
  if (!normed_) {
    launch(repeatRows, grid, kThreads, 0, stream, own, values, tokens);
    return weight_.run(stream, gemm, gathered, rows, Into::kAddToFloat, tokens);
  }
  weight_.run(stream, gemm, gathered, rows, Into::kFloat, tokens);
  norm_.run(stream, rows, Number::kFloat, tokens, Number::kFloat, tokens);
  launch(addRows, grid, kThreads, 0, stream, own, values, tokens);
}

}  // namespace mpm::cuda
