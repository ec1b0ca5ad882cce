// SPDX-License-Identifier: Apache-2.0
#include "cli/moment.h"

#include <cmath>

#include "monitor/time.h"

namespace mpm::cli {

void addMoment(const vision::Frame& frame, Json& json) {
  if (frame.unix_time) {
    json["time"] = monitor::isoTime(std::llround(*frame.unix_time * monitor::kSecondMs), true);
    json["film"] = frame.film;
  }
  if (frame.night) json["night"] = *frame.night;
  if (frame.sun_elevation) json["sun_elevation"] = std::round(*frame.sun_elevation * 1e3) / 1e3;
}

}  // namespace mpm::cli
