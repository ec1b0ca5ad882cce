// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/session.h"
#include "monitor/watch/watch.h"

namespace mpm::monitor {

/// How the times of pictures are read; the default for Watch::times "none". Throws WatchError.
vision::TimeOptions timeOptions(const Watch& watch);

/// The part of a watch that is about the model and how it runs; other fields are as in EstimatorOptions. Throws
/// WatchError.
EstimatorOptions inferenceOptions(const Watch& watch);
/// The inverse: sets the fields of a watch where the options differ from the default.
void setInference(Watch& watch, const EstimatorOptions& options);

/// The rule for day and night. Throws WatchError for several rules at once without Watch::night, and for half a rule.
NightRule nightRule(const Watch& watch);

/// Retention of samples, and of the pictures in Watch::snapshots.
StoreOptions storeOptions(const Watch& watch);
SnapshotOptions snapshotOptions(const Watch& watch);

/// Everything that is said of the source, as `mpm monitor` watches it. Reads the files of regions and states. Throws
/// WatchError.
CameraPlan cameraPlan(const Watch& watch);

/// The content of the files of regions, hidden parts, states and times that a watch names: with another content it is
/// another watch.
std::string namedFiles(const Watch& watch);

/// The rest of a watch: the model by its name, the database, what runs for each event. Throws WatchError.
SessionOptions sessionOptions(const Watch& watch);

}  // namespace mpm::monitor
