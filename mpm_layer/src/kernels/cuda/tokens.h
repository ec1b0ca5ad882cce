// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/merging.h"

namespace mpm::cuda {

/// x {rows of `before`, dim} -> y {rows of `after`, dim}: replaces the special rows of each image by `front`
/// {after.special(), dim}. `after` is `before` with another number of special rows (TokenState::assign).
void replaceSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& before, const float* front,
                        const TokenState& after, float* y);

/// front {batch, special, dim}: copies the special rows of each image.
void gatherSpecialRows(const Stream& stream, const float* x, int dim, const TokenState& state, float* front);

/// pooled {batch, dim}: the mean over the patches. Each patch has the row of its cluster.
void meanOverPatches(const Stream& stream, const float* x, int dim, const TokenState& state, float* pooled);

/// pooled {batch, dim}: copies special row `index` of each image.
void specialRow(const Stream& stream, const float* x, int dim, const TokenState& state, int index, float* pooled);

}  // namespace mpm::cuda
