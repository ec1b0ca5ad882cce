// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/verb_options.h"
#include "monitor/watch/camera_plan.h"

namespace mpm::cli {

struct MonitorArguments {
  monitor::CameraConfig config;  ///< what the options say
  std::string file;              ///< --watch, --check
  std::string check;             ///< --check
  bool print = false, json = false, recompute = false, judge = false, once = false;
  Shard shard;
};

/// The cameras of the watch file, with what the options say in place of their keys, and with the sources that the
/// environment has for named cameras. Without a file: the camera of the options. Throws UsageError.
monitor::WatchFile watchFile(const MonitorArguments& arguments);

}  // namespace mpm::cli
