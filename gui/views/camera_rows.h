// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "monitor/watch/camera_config.h"

namespace mpm::gui {

using CameraFields = std::vector<const monitor::CameraField*>;

/// Adds a row for each of these fields to a form, which shows what `config` says, and where that says nothing what
/// `usual` says. Returns what gives `config` with what the rows say by then.
std::function<monitor::CameraConfig()> addCameraRows(QFormLayout* form, const monitor::CameraConfig& config,
                                                     const CameraFields& fields,
                                                     const monitor::CameraConfig& usual = {});

}  // namespace mpm::gui
