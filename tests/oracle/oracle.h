// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/head_gradient.h"
#include "kernels/patch_embed.h"
#include "kernels/transformer_block.h"
#include "kernels/view.h"

/// What LibTorch says, in double precision, rounded to float at the end.
namespace mpm::oracle {

std::vector<float> attention(MatrixView<const float> q, MatrixView<const float> k, MatrixView<const float> v, int heads,
                             float scale, const float* key_bias);

/// Output of a block on the rows of one image, {rows, dim}.
std::vector<float> block(const TransformerBlockSpec& spec, MatrixView<const float> x, const float* key_bias);

/// torch.nn.functional.gelu and its kin.
std::vector<float> activation(Activation activation, const std::vector<float>& x);

std::vector<float> layerNorm(MatrixView<const float> x, const float* weight, const float* bias, float eps);

/// Convolution, flattened and transposed to {N, out}.
std::vector<float> patchEmbed(const std::vector<float>& image, const PatchGeometry& geometry,
                              MatrixView<const float> weight);

/// Scores {grid_h * grid_w, classes} -> logits {classes, height, width}, bilinear, align_corners false.
std::vector<float> resize(MatrixView<const float> scores, int grid_h, int grid_w, int height, int width);

/// The loss of a head (HeadGradient) behind it, its gradient by autograd. `tokens`, `cells`: of each picture; the
/// LayerNorm is LibTorch's.
std::vector<float> headGradient(const HeadShape& shape, const std::vector<float>& weights,
                                const std::vector<MatrixView<const float>>& tokens,
                                const std::vector<std::vector<std::uint8_t>>& cells, int grid_h, int grid_w,
                                const std::vector<float>& class_weights);

/// `weights` after steps of AdamW (beta 0.9 and 0.98) with these gradients. The first `decaying` weights decay.
std::vector<float> adamW(const std::vector<float>& weights, const std::vector<std::vector<float>>& gradients,
                         std::size_t decaying, double learning_rate, double weight_decay);

/// Best neighbour by cosine similarity.
std::vector<int> bestNeighbours(MatrixView<const float> x);

/// A whole encoder: patches, special rows in front, blocks, final norm; {special + N, dim}.
std::vector<float> vit(const std::vector<float>& image, const PatchGeometry& geometry,
                       MatrixView<const float> patch_weight, MatrixView<const float> position,
                       MatrixView<const float> special, const std::vector<TransformerBlockSpec>& blocks,
                       const NormWeights& norm);

}  // namespace mpm::oracle
