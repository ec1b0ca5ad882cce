// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/merging.h"

namespace mpm::cuda {

/// The image rows of x {rows of `before`, dim} behind new special rows `front` {after.special(), dim}, the same for
/// every image: y {rows of `after`, dim}. `after` is `before` with another number of special rows (TokenState::assign).
void replaceSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& before, const float* front,
                        const TokenState& after, float* y);

/// front {batch, special, dim}: the special rows of every image.
void gatherSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& state, float* front);

/// pooled {batch, dim}: the mean over the patches, for each of which the row of its cluster stands.
void meanOverPatches(const Stream& stream, const float* x, int dim, const TokenState& state, float* pooled);

/// pooled {batch, dim}: special row `index` of every image.
void specialRow(const Stream& stream, const float* x, int dim, const TokenState& state, int index, float* pooled);

}  // namespace mpm::cuda
