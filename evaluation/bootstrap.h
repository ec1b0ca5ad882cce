// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace mpm::cli {

/// The statistic of each of 1000 samples of `count` pictures, drawn with replacement; their quantiles 0.025 and 0.975
/// are a 95 % interval, if the pictures are independent. Which pictures are drawn depends on `count` only, so the
/// difference of two models on the same pictures is that of their values one by one. Empty for fewer than 2 pictures.
std::vector<double> bootstrap(int count, const std::function<double(const std::vector<int>& pictures)>& statistic);

}  // namespace mpm::cli
