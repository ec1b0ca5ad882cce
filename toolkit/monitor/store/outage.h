// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_file.h"
#include "vision/time.h"

namespace mpm::monitor {

/// Why a stretch of time has no samples, or none that count. Where several hold, the first one counts.
enum class OutageCause {
  kGap,          ///< no sample came: findGaps()
  kDamaged,      ///< pictures could not be read (EventKind::kDamaged), of a camera within a gap only
  kDark,         ///< the flags of a sample; dark by night is no outage
  kOverexposed,  //
  kBlurred,      //
  kFogged,       //
  kStuck,        ///< the same picture for an hour or longer, to the last pixel
  kSlow,         ///< samples come in more than twice the time that was asked for
  kMoved,        ///< the camera was moved far: a moment, from which on everything is of another view
};
/// "gap", "damaged", "dark", "overexposed", "blurred", "fogged", "stuck", "slow", "moved".
const char* toString(OutageCause cause);
/// For people: "no samples", "covered or fogged".
std::string toText(OutageCause cause);

/// A gap lasts from the sample before it to the sample after it. Another outage lasts from the first sample that is so
/// to the first one that is not.
struct Outage {
  UnixMs begin = 0, end = 0;
  OutageCause cause = OutageCause::kGap;
  friend bool operator==(const Outage&, const Outage&) = default;
};
/// {"begin", "end", "cause", "text"}: the last is toText() of the cause.
Json toJson(const Outage& outage);

}  // namespace mpm::monitor
