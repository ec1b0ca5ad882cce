// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/json_file.h"
#include "monitor/store/snapshot.h"
#include "monitor/store/store_reader.h"
#include "mpm/error.hpp"
#include "page/page.h"
#include "vision/camera_clock.h"

namespace mpm::page {

constexpr int kMaxDays = 400;  ///< of a chart and a calendar

/// An answer that says what is wrong with the request.
struct Refusal : Error {
  Refusal(int code, const std::string& why) : Error(why), status(code) {}
  int status;
};

/// A camera of the page, and what is asked for of it.
struct Shown {
  std::string name;                   ///< of the camera or its source; unique on the page
  const monitor::StoreReader* store;  ///< null: nothing is stored of a camera that this program watches
  monitor::SourceRecord source;
  std::optional<monitor::CameraStatus> live{};  ///< it is watched by this program
  UnixMs from = 0, to = 0;                      ///< what is asked for

  /// How people call the camera; without a title of its own `name`.
  const std::string& title() const { return live && !live->title.empty() ? live->title : name; }
  vision::CameraClock clock() const { return vision::clockOrMachine(source.clock); }
  /// By which clock the page shows its times: "offsets" says from when on it is how far ahead of UTC, ms.
  Json clockJson(UnixMs now) const;
  monitor::PictureOwner owner() const { return {.source = source.name, .database = store ? store->id() : ""}; }
};

/// A time of the request; without one `usual`. Throws Refusal.
UnixMs timeIn(Request& request, const std::string& name, UnixMs usual);

/// The word for the state of a camera. Of one that this program watches: CameraStatus::word(). Of another one
/// "stalled": its pace says that it is not alive, and no program has ended the session. The clock of a scene says
/// nothing about when its samples came.
const char* stateOf(const Shown& camera, UnixMs now);

/// The series of the camera that is asked for by its number; without one the latest. Throws Refusal.
monitor::SeriesRecord seriesIn(const Shown& camera, Request& request);

}  // namespace mpm::page
