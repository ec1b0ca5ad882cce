// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "onnx/recognise/meaning.h"

namespace mpm::onnx_graph {

/// The cells with their scale in a blend; those without one get the factor 1.
Cells blended(const Cells& cells);

/// Cells times a factor each.
Cells timesEach(const Cells& cells, const std::vector<float>& factors);

/// The cells without the factors of their blend, when no element is a sum; else nullopt.
std::optional<Cells> withoutFactors(const Cells& cells);

/// left + sign * right, cells of one term; nullopt when an element would be a sum of three.
std::optional<Cells> blendedSum(const Cells& left, const Cells& right, double sign);

/// Cells {.., tokens, head_dim} with a blend as heads whose columns are rotated in pairs; nullopt when the blend is
/// something else.
std::optional<HeadView> rotatedHeads(const Cells& cells, const Term& term);

/// The angles {tables, height * width, pairs} of the patches of a grid, when they are a sum of one angle per row and
/// one per column, in equal steps of less than half a turn; else nullopt.
std::optional<std::vector<float>> anglesOf(const Rotation& rotation, const Shape& grid);

/// The rotary positions of another grid, rows {to_h * to_w} without special tokens, when those of the patches are
/// angles proportional to the distance from the centre of the image (DINOv3); else nullopt.
std::optional<Rotation> resizedRotation(const Rotation& rotation, const Shape& from, const Shape& to);

}  // namespace mpm::onnx_graph
