// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

#include "mpm/options.hpp"
#include "mpm/segmenter.hpp"

namespace mpm::gui {

/// What is watched, and how.
struct WatchedJob {
  QString source;  ///< without credentials; empty: none
  QString model;   ///< empty: the default one
  Schedule schedule;
  SegmenterOptions inference;  ///< but for the schedule
  QString database;            ///< empty: nothing is stored
  QString reduce = {};         ///< a reduction other than MPM, instead of the schedule; else empty
};

/// The same job without a window, as a shell takes it: "mpm monitor /dev/video0 --schedule 2,5".
QString commandLine(const WatchedJob& job);

}  // namespace mpm::gui
