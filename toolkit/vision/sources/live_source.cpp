// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <opencv2/videoio.hpp>
#include <opencv2/videoio/registry.hpp>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "vision/sources/opening_turns.h"
#include "vision/sources/sources.h"
#include "vision/sources/video_stream.h"

namespace mpm::vision {
namespace {

using Clock = std::chrono::steady_clock;

class LiveSource final : public FrameSource {
 public:
  LiveSource(Capture capture, LiveDescription description, SourceOptions options)
      : capture_(std::move(capture)), description_(std::move(description)), options_(std::move(options)) {
    if (!quietly([&] { return capture_.open(); })) {
      throw Error("cannot open " + description_.shown +
                  (description_.why_not_open ? ": " + description_.why_not_open() : ""));
    }
  }

  std::optional<Frame> next() override {
    cv::Mat image;  // a new buffer each time: the caller may hold the old one
    bool more = false;
    while (!stopped(options_)) {
      try {
        more = quietly([&] { return capture_.read(image) && !image.empty(); });
        break;
      } catch (const Error& error) {
        leaveOut(error.what());
      }
    }
    if (stopped(options_)) return std::nullopt;
    if (!more) {
      if (description_.end_is_error || index_ == 0)
        throw Error(description_.shown + " stopped after " + std::to_string(index_) + " frames");
      return std::nullopt;
    }
    if (description_.check) description_.check(image);
    const int index = index_++;
    return Frame{toBgr8(image), frameName(description_.stem, index), description_.shown, index};
  }

  std::optional<std::string> latestOnlyStem() const override {
    return description_.latest_only ? std::optional(description_.stem) : std::nullopt;
  }

 private:
  // A frame that is damaged. A bad link damages some each minute, for years: they are reported every ten minutes.
  void leaveOut(const std::string& why) {
    ++damaged_;
    const Clock::time_point now = Clock::now();
    if (!options_.on_unreadable || now < report_after_) return;
    report_after_ = now + std::chrono::minutes(10);
    options_.on_unreadable(
        description_.shown + ": " + counted(std::exchange(damaged_, 0), "damaged frame") + ", " + why, {});
  }

  // OpenCV's exception is a failure without its message, which may hold the URL with its password.
  template <typename Call>
  static bool quietly(Call call) {
    try {
      return call();
    } catch (const Error&) {
      throw;
    } catch (const std::exception&) {
      return false;
    }
  }

  Capture capture_;
  LiveDescription description_;
  SourceOptions options_;
  int index_ = 0, damaged_ = 0;
  Clock::time_point report_after_{};
};

Capture captureOf(const VideoStream::Open& open) {
  const auto stream = std::make_shared<VideoStream>(open);
  return {[=] { return stream->open(); }, [=](cv::Mat& image) { return stream->read(image); }};
}

// "rtsp://user:password@host:554/live/front.sdp?x=1" -> "front"; without a path, the host.
std::string stemOfUrl(const std::string& url) {
  std::string rest = redactCredentials(url);
  rest.erase(0, rest.find("://") + 3);
  if (rest.starts_with("***@")) rest.erase(0, 4);
  rest.erase(std::min(rest.find_first_of("?#"), rest.size()));
  while (rest.ends_with('/')) rest.pop_back();
  const auto slash = rest.rfind('/');
  if (slash != std::string::npos) {
    rest.erase(0, slash + 1);
    if (const auto dot = rest.rfind('.'); dot != std::string::npos && dot > 0) rest.erase(dot);
  }
  for (char& c : rest)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
  return rest.empty() ? "stream" : rest;
}

// The group that may use the device, which is video on most systems.
std::string groupOf(const std::string& device) {
  struct stat facts {};
  const group* owners = ::stat(device.c_str(), &facts) == 0 ? ::getgrgid(facts.st_gid) : nullptr;
  return owners && std::string(owners->gr_name) != "root" ? owners->gr_name : "video";
}

}  // namespace

std::unique_ptr<FrameSource> openLive(Capture capture, LiveDescription description, const SourceOptions& options) {
  return std::make_unique<LiveSource>(std::move(capture), std::move(description), options);
}

std::string whyNoCamera(const std::string& device) {
  if (::faccessat(AT_FDCWD, device.c_str(), R_OK | W_OK, AT_EACCESS) == 0)
    return device + " is in use by another program, or is not a camera";
  if (errno != ENOENT) return "no permission for " + device + ": add this user to the group " + groupOf(device);
  glob_t found{};
  std::string others;
  if (::glob("/dev/video*", 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) others += (i == 0 ? "" : ", ") + std::string(found.gl_pathv[i]);
  ::globfree(&found);
  return "there is no " + device + (others.empty() ? ", nor any other /dev/video*" : " (there are: " + others + ")");
}

std::unique_ptr<FrameSource> openCamera(const SourceSpec& source, const SourceOptions& options) {
  const std::string& device = source.target;
  const auto open = [index = source.camera_index, device](cv::VideoCapture& capture) {
    return index >= 0 ? capture.open(index) : capture.open(device, cv::CAP_V4L2);
  };
  return openLive(captureOf(open),
                  {.shown = source.nameInMessages(),
                   .stem = source.camera_index >= 0 ? "camera" + std::to_string(source.camera_index)
                                                    : device.substr(device.rfind('/') + 1),
                   .why_not_open = [device] { return whyNoCamera(device); }},
                  options);
}

std::unique_ptr<FrameSource> openUrl(const SourceSpec& source, const SourceOptions& options) {
  const bool live = source.target.starts_with("rtsp");
  // Timeouts work only with FFmpeg named and as parameters of open (opencv#23207). They end most reads that hang; the
  // thread is for the others.
  const auto open = [url = source.target, options](cv::VideoCapture& capture) {
    const int ms = static_cast<int>(options.timeout_s * 1e3);
    return OpeningTurns::ofFfmpeg().run(options, [&] {
      return capture.open(url, cv::CAP_FFMPEG,
                          {cv::CAP_PROP_OPEN_TIMEOUT_MSEC, ms, cv::CAP_PROP_READ_TIMEOUT_MSEC, ms});
    });
  };
  // FFmpeg writes the reason to its log only.
  const auto why_not_open = [] {
    return std::string(
        "no answer, or no video there (set OPENCV_FFMPEG_LOGLEVEL=32 and OPENCV_LOG_LEVEL=INFO in the environment to "
        "see more)");
  };
  return openLive(captureOf(open),
                  {.shown = source.shownText(),
                   .stem = stemOfUrl(source.target),
                   .latest_only = live,
                   .end_is_error = live,
                   .why_not_open = why_not_open},
                  options);
}

void checkPipeline(const std::string& pipeline) {
  const auto backends = cv::videoio_registry::getBackends();
  if (std::ranges::find(backends, cv::CAP_GSTREAMER) == backends.end())
    throw Error("this OpenCV was built without GStreamer: use a URL, a file or a camera");
  if (pipeline.find("appsink") == std::string::npos) throw Error("the GStreamer pipeline must end in 'appsink'");
}

std::unique_ptr<FrameSource> openPipeline(const SourceSpec& source, const SourceOptions& options) {
  const auto open = [pipeline = source.target](cv::VideoCapture& capture) {
    return capture.open(pipeline, cv::CAP_GSTREAMER);
  };
  const auto why_not_open = [] {
    return std::string(
        "an element is not installed, or two do not fit (set GST_DEBUG=2 in the environment to see more)");
  };
  const auto check = [](const cv::Mat& frame) {  // planar colours come as a grey image that is too high
    if (frame.type() != CV_8UC3) {
      throw Error(
          "the GStreamer pipeline gives no BGR frames: put 'videoconvert ! video/x-raw,format=BGR' before the appsink");
    }
  };
  return openLive(captureOf(open),
                  {.shown = source.shownText(),
                   .stem = "pipeline",
                   .end_is_error = false,
                   .why_not_open = why_not_open,
                   .check = check},
                  options);
}

}  // namespace mpm::vision
