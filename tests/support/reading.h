// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpm/options.hpp"

namespace mpm {

/// Options of readNet() that convert a model like this.
inline ReadOptions reading(const ConvertOptions& convert) {
  return {.reduce = convert.reduce,
          .input_size = convert.input_size,
          .mean = convert.mean,
          .deviation = convert.deviation,
          .precision = convert.precision,
          .output = convert.output,
          .scores = convert.scores};
}

}  // namespace mpm
