// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace mpm {

/// Whether item `index` of `total` is one of `wanted` that are spread evenly.
constexpr bool isInSpread(int index, int total, int wanted) {
  return wanted >= total ||
         static_cast<std::int64_t>(index + 1) * wanted / total > static_cast<std::int64_t>(index) * wanted / total;
}

}  // namespace mpm
