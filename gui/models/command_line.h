// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "mpm/estimator.hpp"
#include "mpm/model_info.hpp"
#include "vision/times/picture_times.h"

namespace mpm::gui {

/// What is watched, and how.
struct WatchedJob {
  QString source;  ///< without credentials; empty: none
  QString model;   ///< empty: the default one
  Reduction reduction;
  EstimatorOptions inference;                  ///< but for the reduction; refine as it runs
  bool choose_reuse = true;                    ///< as in monitor::InferenceWorker
  QString database;                            ///< empty: nothing is stored
  std::optional<vision::TimeOptions> times{};  ///< of pictures; nullopt: the source has none
  bool has_regions = false;
  QString regions{};     ///< the file that holds them; empty: none does
  QStringList states{};  ///< files of heads
};

/// A reduction as a shell takes it: "--reduce gradual:count=48".
QString optionsOf(const Reduction& reduction);

/// The same job without a window, as a shell takes it: "mpm monitor /dev/video0 --reduce mpm:blocks=2,5". A second
/// line, a comment, says what is missing from it.
QString commandLine(const WatchedJob& job);

}  // namespace mpm::gui
