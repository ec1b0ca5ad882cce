// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitor/session.h"
#include "monitor/watch/watch.h"

namespace mpm::monitor {

/// What a watch says about the model and how it runs; what it does not say is as in EstimatorOptions. Throws
/// WatchError.
EstimatorOptions inferenceOptions(const Watch& watch);
/// The inverse: sets the fields of a watch where the options differ from the default.
void setInference(Watch& watch, const EstimatorOptions& options);

/// What counts as night. Throws WatchError for several rules at once without Watch::night, and for half a rule.
NightRule nightRule(const Watch& watch);

/// What is kept: of the samples, and of the pictures, in Watch::snapshots.
StoreOptions storeOptions(const Watch& watch);
SnapshotOptions snapshotOptions(const Watch& watch);

/// Everything that is said of the source, as `mpm monitor` watches it. Reads the files of regions and states. Throws
/// WatchError.
WatchOptions watchOptions(const Watch& watch);

/// The same for the rest: the model by its name, the database, what runs for each event. Throws WatchError, also for a
/// source that can never be opened.
SessionOptions sessionOptions(const Watch& watch);

}  // namespace mpm::monitor
