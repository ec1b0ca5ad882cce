// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "monitor/capture.h"

namespace mpm {

/// "gst:v4l2src ! videoconvert ! appsink": what follows the colon is handed to GStreamer.
bool isPipeline(const std::string& source);

/// A factory for such a source. Its reads may hang; monitor::Capture gives them up.
monitor::SourceFactory pipelineFactory(std::string source);

}  // namespace mpm
