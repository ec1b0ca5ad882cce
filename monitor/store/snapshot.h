// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "monitor/capture/inference.h"
#include "monitor/store/sample.h"

namespace mpm::monitor {

/// Writes the frame as NAME.png, NAME_overlay.png when the model segments, and NAME.json beside them; NAME is the time
/// of the frame, "2026-11-03T17-04-05.250Z", or a little later where another source has that name. Makes the folder.
/// Each file is whole or not there. Returns the path of the first. `colors`: of the classes in the overlay, BGR; fewer
/// than there are: the model's. Throws mpm::Error.
std::string writeSnapshot(const std::string& folder, const InferenceResult& result, const Sample& sample,
                          const std::string& source, double opacity = 0.5, const std::vector<cv::Vec3b>& colors = {});

/// Removes snapshots (only files that writeSnapshot() names) older than `keep_days`, then the oldest ones while the
/// disk has less than `min_free_megabytes`; 0: no such limit. With `source` only those whose NAME.json says that they
/// are of it: several monitors may write into one folder. The newest always stays. Returns how many files went. Throws
/// mpm::Error.
int forgetSnapshots(const std::string& folder, UnixMs now, double keep_days, double min_free_megabytes,
                    const std::string& source = {});

/// Free space on the disk of a folder that exists. Throws mpm::Error.
double freeMegabytes(const std::string& folder);

}  // namespace mpm::monitor
