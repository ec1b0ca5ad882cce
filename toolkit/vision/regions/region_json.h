// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json_file.h"
#include "vision/regions/region.h"

namespace mpm::vision {

inline constexpr int kMaxRegionSide = 1 << 14;  ///< px, of the picture that a region was drawn on

/// {"name", "width", "height", "polygons": [[[x, y], ...], ...]} with "ignore", "from" and "to" where they say
/// something. A mask is "mask" instead of "polygons": run lengths outside and inside in turns, row by row.
Json toJson(const Region& region);
/// Back from it. A mask may be the name of a picture in `folder`; empty: it may not. Throws mpm::Error naming the
/// place.
Region regionFromJson(const JsonValue& json, const std::string& folder);

/// The pixels of a picture that are not black: CV_8UC1, 255 there. Throws mpm::Error naming the file.
cv::Mat readMask(const std::string& folder, const std::string& name);

}  // namespace mpm::vision
