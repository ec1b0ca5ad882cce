// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "monitor/session.h"

namespace mpm::monitor {

struct MeasuredAgain {
  std::string database{};                  ///< holds the new samples: for StoreWriter::replaceSamples()
  std::int64_t samples = 0, pictures = 0;  ///< measured, of so many; the others cannot be read

  friend bool operator==(const MeasuredAgain&, const MeasuredAgain&) = default;
};

/// Measures all pictures of an archive again, with this model, these rules, regions and states: after teaching, or with
/// new regions. `options.database` has its samples of before, which stay: the new ones go to a database of their own,
/// DATABASE-again. Regions that are not given are those of the database.
///
/// `go_on` is called several times a second with the number of pictures that are measured and that of all; nullopt and
/// no file: it returned false. Throws mpm::Error, and leaves no file: the database has no archive of this name, the
/// model or the source cannot be read, no picture could be measured, the disk fails.
std::optional<MeasuredAgain> measureAgain(SessionOptions options, WatchOptions watch,
                                          const std::function<bool(std::int64_t done, std::int64_t all)>& go_on);

}  // namespace mpm::monitor
