// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mpm/estimator.hpp"
#include "vision/regions/region.h"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {

struct Recomputed {
  std::int64_t samples = 0;      ///< measured again
  std::int64_t gone = 0;         ///< whose picture is not there any more, or cannot be read: as they were
  std::int64_t other_model = 0;  ///< of `samples`, of another model or reduction: no areas and tokens of regions
};

/// Measures the regions of the stored samples of a folder of pictures again, and stores `regions` as its own. Also
/// stores the areas and the brightness of whole pictures, where what is ignored has changed. Other numbers stay. Sums
/// of hours whose samples were forgotten stay. A kill leaves some samples as they were; the next call does them.
/// `go_on` is called for each sample with what is done and the number of all. Throws mpm::Error: another program writes
/// the database, it does not have the source, or vision::check() fails.
Recomputed recomputeRegions(const std::string& database, const vision::SourceSpec& source,
                            const std::vector<vision::Region>& regions, Estimator& model,
                            const std::string& model_digest,
                            const std::function<bool(std::int64_t done, std::int64_t all)>& go_on);

}  // namespace mpm::monitor
