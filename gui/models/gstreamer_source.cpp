// SPDX-License-Identifier: Apache-2.0
#include "models/gstreamer_source.h"

#include <algorithm>
#include <cstdio>
#include <opencv2/videoio.hpp>
#include <opencv2/videoio/registry.hpp>

#include "mpm/error.hpp"

namespace mpm {
namespace {

constexpr std::string_view kPrefix = "gst:";

class PipelineSource : public FrameSource {
 public:
  PipelineSource(const std::string& source, const SourceOptions& options) : source_(source), stop_(options.stop) {
    const auto backends = cv::videoio_registry::getBackends();
    if (std::find(backends.begin(), backends.end(), cv::CAP_GSTREAMER) == backends.end())
      throw Error("this OpenCV was built without GStreamer: use an address, a file or a camera");
    const std::string pipeline = source.substr(kPrefix.size());
    if (pipeline.find("appsink") == std::string::npos)
      throw Error("the GStreamer pipeline must end in 'appsink', where the frames are taken from");
    if (!capture_.open(pipeline, cv::CAP_GSTREAMER))
      throw Error("GStreamer cannot run the pipeline '" + pipeline + "'");
  }

  std::optional<Frame> next() override {
    if (stop_ && *stop_) return std::nullopt;
    cv::Mat image;
    if (!capture_.read(image) || image.empty()) return std::nullopt;
    if (image.type() != CV_8UC3)
      throw Error(
          "the GStreamer pipeline gives no BGR frames: put 'videoconvert ! "
          "video/x-raw,format=BGR' before the appsink");
    char name[40];
    std::snprintf(name, sizeof(name), "pipeline_%06d", index_);
    return Frame{image, name, source_, index_++};
  }

 private:
  std::string source_;
  const std::atomic<bool>* stop_;
  cv::VideoCapture capture_;
  int index_ = 0;
};

}  // namespace

bool isPipeline(const std::string& source) { return source.starts_with(kPrefix); }

monitor::SourceFactory pipelineFactory(std::string source) {
  return [source = std::move(source)](const SourceOptions& options) -> std::unique_ptr<FrameSource> {
    return std::make_unique<PipelineSource>(source, options);
  };
}

}  // namespace mpm
