// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace mpm::monitor {

/// Which state counts, from what was read of picture after picture: one that some sure results in turn agree on. Not
/// thread-safe.
class StateCount {
 public:
  /// Takes the next result. `after`: so many sure results in turn must agree, one where the picture is `sparse`. True:
  /// another state counts now.
  bool add(const std::string& state, bool sure, bool sparse, int after) {
    if (!sure) return false;
    agree(state);
    if ((!sparse && results_ < after) || counted_ == state) return false;
    counted_ = state;
    return true;
  }

  /// Goes on after a result of an earlier watch. `counted`: what counted then; "": nothing yet.
  void goOn(const std::string& state, bool sure, const std::string& counted) {
    if (sure) agree(state);
    if (!counted.empty()) counted_ = counted;
  }

  const std::string& counted() const { return counted_; }  ///< "": none yet

 private:
  void agree(const std::string& state) { results_ = std::exchange(candidate_, state) == state ? results_ + 1 : 1; }

  std::string counted_, candidate_;
  int results_ = 0;
};

}  // namespace mpm::monitor
