// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/session.h"
#include "monitor/watch/camera_config.h"

namespace mpm::monitor {

/// How the times of pictures are read; the default for CameraConfig::times "none". Throws CameraConfigError.
vision::TimeOptions timeOptions(const CameraConfig& config);

/// What is said of the model and how it runs; other fields are as in EstimatorOptions. Throws
/// CameraConfigError.
EstimatorOptions inferenceOptions(const CameraConfig& config);
/// The inverse: sets the fields where the options differ from the default.
void setInference(CameraConfig& config, const EstimatorOptions& options);

/// The rule for day and night. Throws CameraConfigError for several rules at once without CameraConfig::night, and for
/// half a rule.
NightRule nightRule(const CameraConfig& config);

/// Retention of samples, and of the pictures in CameraConfig::snapshots.
StoreOptions storeOptions(const CameraConfig& config);
SnapshotOptions snapshotOptions(const CameraConfig& config);

/// Everything that is said of the source, as `mpm monitor` watches it. Reads the files of regions and states. Throws
/// CameraConfigError.
CameraPlan cameraPlan(const CameraConfig& config);

/// What is said of the privacy of the source. Reads the file of hidden regions. Throws CameraConfigError.
PrivacyChoice privacyOf(const CameraConfig& config);

/// What was read in the files of regions, hidden parts and times, also the masks that they name: with another content
/// it is another camera. Files of states and of the model are followed by the Session.
std::string readIn(const CameraConfig& config, const CameraPlan& plan);

/// The rest of what is said: the model by its name, the database, what runs for each event. Throws CameraConfigError.
SessionOptions sessionOptions(const CameraConfig& config);

}  // namespace mpm::monitor
