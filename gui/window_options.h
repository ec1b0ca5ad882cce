// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

#include "monitor/session.h"

namespace mpm::gui {

/// Choices of the command line.
struct WindowOptions {
  QString model;               ///< empty: the default model
  EstimatorOptions inference;  ///< of that model, and but for the reduction of every one that is opened later,
                               ///< other than of cameras of a watch file
  bool choose_reuse = false;   ///< as in monitor::InferenceWorker
  QString database;            ///< empty: nothing is stored
  QString pictures;            ///< folder of snapshots
  QString settings;            ///< an .ini file instead of the user's settings
  /// Gives what opens a source instead of vision::openSource(); empty, or giving an empty one: nothing. For tests.
  std::function<monitor::SourceFactory(const vision::SourceSpec& source)> factory{};
  /// Of the Teach mode. For tests.
  struct Teach {
    bool live = true;  ///< train after each stroke
    int steps = 0;     ///< of training; 0: the usual number
  };
  Teach teach{};
};

}  // namespace mpm::gui
