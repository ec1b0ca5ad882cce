// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace mpm::cli {

/// Which images are one observation. Pictures of one film follow each other and are alike, so an interval over images
/// would contain the truth far too rarely. Where there are five films or more, each is one block; else a film is cut
/// into blocks of images that follow each other, some ten in all. `film_of_image`: in the order of the images; images
/// that are films of their own and stand side by side count as one film, as a camera's files given one by one are.
/// Returns the block of each image, from 0 on.
std::vector<int> blocksOf(const std::vector<int>& film_of_image);

/// Half the width of the 95 % interval of the mean of `values`, whose blocks are independent of each other: Student's,
/// on the sums of the blocks. Nullopt for less than two blocks.
std::optional<double> halfInterval(const std::vector<double>& values, const std::vector<int>& block_of_value);

}  // namespace mpm::cli
