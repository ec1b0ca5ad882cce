// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/session.h"
#include "monitor/store/store_reader.h"
#include "monitor/watch/camera_config.h"

namespace mpm::monitor {

/// A camera, and how it is opened and measured.
struct Camera {
  std::string name{};        ///< cameraName()
  CameraConfig said{};       ///< what the rest was made from
  std::string files{};       ///< readIn(said, plan)
  SessionOptions session{};  ///< without a model where none was said or measured before
  CameraPlan plan{};         ///< with `once` it ends with its first sample, or when none comes
};

/// What is said of a camera and, where nothing is said, what is stored of its source: the model that measured it, with
/// its reduction, precision and settings, and of an archive the times of its pictures, time zone and place.
CameraConfig continued(CameraConfig said, const StoreReader& stored);

/// The rule by which all that is stored of a source is judged anew: what is said, and of an archive in its stored time
/// zone and at its place, whether or not its pictures are still there. Throws CameraConfigError.
NightRule judgingRule(const CameraConfig& said, const StoreReader& stored);

/// How a camera is opened and measured, for `mpm monitor`, a Fleet and the app: by what is said of it; where nothing is
/// said, by what its database has, continued(); else by the defaults. Regions and privacy that are not said are read by
/// Session::open(). `stored`: null: nothing is stored. Reads the files that it names. Throws CameraConfigError, also
/// where the model that measured what is stored, or its list of times, is not there any more and no other is said.
Camera cameraOf(const CameraConfig& said, const StoreReader* stored);

/// Throws CameraConfigError for what `mpm monitor` cannot watch: no source, or one that no retry can open, no database,
/// and options of snapshots without a folder.
void checkConfig(const CameraConfig& config);

}  // namespace mpm::monitor
