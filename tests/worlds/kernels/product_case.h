// SPDX-License-Identifier: Apache-2.0
// Random convolutions and patches, for the CPU and for GPUs.
#pragma once

#include "kernels/convolution.h"
#include "kernels/patch_embed.h"
#include "trial.h"

namespace mpm::worlds {

/// A random convolution, with sizes that fit together.
struct RandomConvolution {
  ConvolutionSpec spec;
  int batch, height, width, out_height, out_width;

  RandomConvolution(Trial& trial, Precision precision, int most_channels) {
    Random& random = trial.random;
    spec.precision = precision;
    spec.groups = random.chance(3) ? random.size(1, 6) : 1;
    const bool wide = spec.groups == 1 && random.chance(4);
    const int in = random.size(1, wide ? most_channels : 20), out = random.size(1, wide ? most_channels / 3 : 20);
    spec.channels = spec.groups * in;
    spec.outputs = spec.groups * out;
    spec.transposed = random.chance(3);
    spec.relu_input = random.chance(3);
    if (random.chance(2)) spec.activation = random.oneOf({Activation::kRelu, Activation::kGeluErf});
    batch = random.size(1, 2);
    int sides[2], outputs[2];
    for (int axis = 0; axis < 2; ++axis) {
      sides[axis] = random.size(1, random.chance(8) ? 40 : 12);
      spec.kernel[axis] = random.chance(3) ? 3 : random.size(1, 4);
      spec.strides[axis] = random.chance(2) ? 1 : random.size(1, 3);
      spec.dilations[axis] = random.chance(2) ? 1 : random.size(1, 3);
      const int span = (spec.kernel[axis] - 1) * spec.dilations[axis];
      spec.pads[axis] = random.size(0, random.chance(6) ? 4 : std::min(2, span));
      outputs[axis] = spec.transposed
                          ? (sides[axis] - 1) * spec.strides[axis] + span + 1 - spec.pads[axis]
                          : std::max(1, (sides[axis] + spec.pads[axis] - span - 1) / spec.strides[axis] + 1);
      outputs[axis] = std::max(1, outputs[axis] + random.size(-1, 1));
    }
    height = sides[0], width = sides[1], out_height = outputs[0], out_width = outputs[1];
    const int taps = in * spec.kernel[0] * spec.kernel[1];
    spec.weight =
        trial.memory.inputOf(static_cast<std::size_t>(spec.outputs) * taps, 1 / std::sqrt(static_cast<float>(taps)));
    spec.bias = trial.memory.inputOf(spec.outputs);
  }

  std::size_t outputs() const { return static_cast<std::size_t>(batch) * out_height * out_width * spec.outputs; }
};

/// Patches of images that are up to so much larger than one.
struct RandomPatches {
  PatchGeometry geometry;
  MatrixView<const float> weight;
  bool normed;
  const float* bias;
  NormWeights norm;

  RandomPatches(Trial& trial, int most) {
    Random& random = trial.random;
    PatchGeometry& g = geometry;
    g.channels = random.size(1, 4);
    g.kernel_h = random.size(1, 9), g.kernel_w = random.size(1, 9);
    g.stride_h = random.size(1, 9), g.stride_w = random.size(1, 9);
    g.height = g.kernel_h + random.size(0, most), g.width = g.kernel_w + random.size(0, most);
    const int depth = g.channels * g.kernel_h * g.kernel_w, dim = random.size(1, 60);
    weight = trial.memory.inputRows(dim, depth, 1 / std::sqrt(static_cast<float>(depth)));
    normed = random.chance(3);
    bias = normed ? trial.memory.inputOf(static_cast<std::size_t>(dim)) : nullptr;
    norm = {trial.memory.inputOf(static_cast<std::size_t>(dim)), trial.memory.inputOf(static_cast<std::size_t>(dim)),
            1e-3f, random.chance(2)};
  }

  /// Of an image with these sides.
  Reference tokens(const float* image, const PatchGeometry& g, MatrixView<const float> position) const {
    Reference all(position.rows, position.cols);
    for (int i = 0; normed && i < all.rows; ++i)
      for (int c = 0; c < all.cols; ++c) all.at(i, c) = static_cast<double>(bias[c]);
    all = test::patchEmbed(image, g, weight, all);
    if (normed) all = test::norm(all, norm);
    for (int i = 0; i < all.rows; ++i)
      for (int c = 0; c < all.cols; ++c) all.at(i, c) += static_cast<double>(position.row(i)[c]);
    return all;
  }
  double tolerance() const { return normed ? 3e-4 : 2e-5; }  // the norm of a few columns enlarges what they differ by
};

}  // namespace mpm::worlds
