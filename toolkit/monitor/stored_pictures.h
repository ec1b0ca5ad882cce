// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "monitor/clocks.h"
#include "monitor/store/store_reader.h"
#include "vision/times/archive.h"

namespace mpm::monitor {

/// The pictures of an archive that the database had when it was opened, in the series that goes on.
class StoredPictures {
 public:
  /// Reads those of a series. Call it before the source gives its first frame; the rest may be called on any thread.
  void read(const StoreReader& store, std::int64_t series);

  /// Whether this picture is stored: by its time and name, and only then by its content, which has to be read. One
  /// content at one time is one picture, under whatever name: a copy, or a link that leads to another picture now.
  vision::Done state(const vision::TimedPicture& picture) const;

  const std::vector<UnixMs>& times() const { return times_; }  ///< in their order

  std::atomic<std::int64_t> left_out = 0;  ///< pictures of the source that are among them

 private:
  // Hashes of name and time; the same with the digest; of time and digest. A digest of 0 is not known.
  std::unordered_set<std::uint64_t> named_, whole_, contents_;
  std::vector<UnixMs> times_;
};

/// What the times of an archive differ in from those in the database: that these are of reading, its clock, or a
/// picture that is stored with another time, as its times are read by another rule. Empty: in nothing. `listed`: the
/// pictures that are there now. A picture is known by its name and content, and has another time only if none is there
/// that has the stored one: counters of cameras begin anew, and pictures of the same dark are equal.
std::string differenceOfTimes(const StoreReader& store, std::int64_t series, const SourceRecord& record,
                              const std::string& zone, const std::vector<vision::TimedPicture>& listed);

}  // namespace mpm::monitor
