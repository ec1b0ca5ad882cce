// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpm::vision {

/// What is wrong with the pixels of a JPEG in memory, in a few words; empty: nothing that a decoder can notice.
///
/// A JPEG has no checksum. A decoder notices that data end too early, go on for too long, or hold a code that does not
/// exist, and it fills what is missing with grey. So a hole of some hundred bytes is found, one wrong bit often not.
/// Bytes behind the end are allowed, as are a few in front of it and any between the segments of the header: cameras
/// write them, and they are no pixels. Never throws. Thread-safe.
std::string jpegDamage(std::string_view jpeg);

}  // namespace mpm::vision
