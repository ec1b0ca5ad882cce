// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "monitor/store/calendar.h"
#include "page/asked.h"
#include "vision/sources/source.h"

namespace mpm::page {

// What is stored of a camera in the time that is asked for. All throw Refusal for a request that makes no sense, and
// mpm::Error where the database cannot be read.

Json series(const Shown& camera, Request& request);  ///< a quantity, or the area of a class, over time
/// The same as SVG: by day and by night where that is known, with the states below it.
std::string chartSvg(const Shown& camera, Request& request);
/// Days coloured by what is wanted, or by how long a state counted, each with its picture.
std::string calendarSvg(const Shown& camera, Request& request, const std::vector<monitor::DayPicture>& pictures,
                        const std::optional<vision::GeoPosition>& place);
Json events(const Shown& camera);   ///< the latest ones
Json outages(const Shown& camera);  ///< the latest ones
Json states(const Shown& camera, Request& request);

}  // namespace mpm::page
