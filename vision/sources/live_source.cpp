// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <opencv2/videoio.hpp>
#include <opencv2/videoio/registry.hpp>
#include <sstream>
#include <system_error>
#include <thread>

#include "mpm/error.hpp"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxAbandoned = 8;

std::shared_ptr<std::atomic<int>> counterOf(const SourceOptions& options) {
  static const auto common = std::make_shared<std::atomic<int>>(0);
  return options.abandoned_reads ? options.abandoned_reads : common;
}

// Shared by the reader thread and the source. The thread holds a reference of its own: a read that never returns may
// outlive the source.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  enum class State { kOpening, kFailed, kOpen, kEnded } state = State::kOpening;
  cv::Mat slot;  // the next frame for the caller; empty: none
  bool closing = false;
  bool finished = false;                              // the thread has ended
  std::shared_ptr<std::atomic<int>> abandoned_reads;  // set when the thread was abandoned

  void abandon(std::shared_ptr<std::atomic<int>> counter) {
    const std::lock_guard lock(mutex);
    closing = true;
    changed.notify_all();
    if (finished) return;
    abandoned_reads = std::move(counter);
    ++*abandoned_reads;
  }
  void finish() {
    const std::lock_guard lock(mutex);
    finished = true;
    if (abandoned_reads) --*abandoned_reads;
  }
};

void readUntilClosed(Shared& shared, Capture& capture, bool latest_only) {
  const auto become = [&](Shared::State state) {
    const std::lock_guard lock(shared.mutex);
    shared.state = state;
    shared.changed.notify_all();
  };
  try {
    if (!capture.open()) return become(Shared::State::kFailed);
    become(Shared::State::kOpen);
    cv::Mat image;
    while (capture.read(image) && !image.empty()) {
      std::unique_lock lock(shared.mutex);
      if (!latest_only) shared.changed.wait(lock, [&] { return shared.closing || shared.slot.empty(); });
      if (shared.closing) break;
      shared.slot = std::exchange(image, cv::Mat());  // a new buffer each time: the caller may hold the old one
      shared.changed.notify_all();
    }
    become(Shared::State::kEnded);
  } catch (const std::exception&) {  // the message of OpenCV may hold the URL with its password
    const std::lock_guard lock(shared.mutex);
    shared.state = shared.state == Shared::State::kOpening ? Shared::State::kFailed : Shared::State::kEnded;
    shared.changed.notify_all();
  }
}

class LiveSource final : public FrameSource {
 public:
  LiveSource(std::shared_ptr<Capture> capture, LiveDescription description, const SourceOptions& options)
      : description_(std::move(description)), options_(options), shared_(std::make_shared<Shared>()) {
    if (const int hanging = *counterOf(options_); hanging >= kMaxAbandoned)
      throw Error("cannot open " + description_.shown + ": " + std::to_string(hanging) +
                  " reads hang and none has returned");
    try {
      std::thread([shared = shared_, capture = std::move(capture), latest_only = description_.latest_only]() mutable {
        readUntilClosed(*shared, *capture, latest_only);
        capture.reset();  // may hang as well
        shared->finish();
      }).detach();
    } catch (const std::system_error& error) {
      throw Error("cannot open " + description_.shown + ": cannot start a thread: " + error.what());
    }
    std::unique_lock lock(shared_->mutex);
    const bool answered = waitFor(lock, [&] { return shared_->state != Shared::State::kOpening; });
    if (stopped(options_)) return;
    if (!answered || shared_->state == Shared::State::kFailed) {
      lock.unlock();
      shared_->abandon(counterOf(options_));
      std::string why;
      if (!answered)
        why = ": no answer within " + secondsText() + " s";
      else if (description_.why_not_open)
        why = ": " + description_.why_not_open();
      throw Error("cannot open " + description_.shown + why);
    }
  }

  ~LiveSource() override { shared_->abandon(counterOf(options_)); }

  std::optional<Frame> next() override {
    std::unique_lock lock(shared_->mutex);
    const bool answered =
        waitFor(lock, [&] { return !shared_->slot.empty() || shared_->state == Shared::State::kEnded; });
    if (stopped(options_)) return std::nullopt;
    if (!answered) throw Error(description_.shown + " gave no frame for " + secondsText() + " s");
    if (shared_->slot.empty()) {
      if (description_.end_is_error || index_ == 0)
        throw Error(description_.shown + " stopped after " + std::to_string(index_) + " frames");
      return std::nullopt;
    }
    const cv::Mat image = std::exchange(shared_->slot, cv::Mat());
    shared_->changed.notify_all();
    lock.unlock();
    if (description_.check) description_.check(image);
    const int index = index_++;
    return Frame{toBgr8(image), frameName(description_.stem, index), description_.shown, index};
  }

 private:
  // False after the timeout. Wakes up regularly, because a signal handler can only set a flag.
  template <typename Condition>
  bool waitFor(std::unique_lock<std::mutex>& lock, Condition condition) const {
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.timeout_s));
    while (!condition()) {
      const auto now = Clock::now();
      if (now >= deadline || stopped(options_)) return false;
      shared_->changed.wait_until(lock, std::min(deadline, now + std::chrono::milliseconds(50)));
    }
    return true;
  }

  std::string secondsText() const {
    std::ostringstream text;
    text << options_.timeout_s;
    return text.str();
  }

  LiveDescription description_;
  SourceOptions options_;
  std::shared_ptr<Shared> shared_;
  int index_ = 0;
};

class VideoCapture final : public Capture {
 public:
  explicit VideoCapture(std::function<bool(cv::VideoCapture&)> open) : open_(std::move(open)) {}
  bool open() override { return open_(capture_); }
  bool read(cv::Mat& image) override { return capture_.read(image); }

 private:
  std::function<bool(cv::VideoCapture&)> open_;
  cv::VideoCapture capture_;
};

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

}  // namespace

std::unique_ptr<FrameSource> openLive(std::shared_ptr<Capture> capture, LiveDescription description,
                                      const SourceOptions& options) {
  return std::make_unique<LiveSource>(std::move(capture), std::move(description), options);
}

std::unique_ptr<FrameSource> openCamera(const SourceSpec& source, const SourceOptions& options) {
  const std::string& device = source.target;
  const std::string number = std::to_string(source.camera_index);
  const bool numbered = source.camera_index >= 0;
  const auto open = [index = source.camera_index, device](cv::VideoCapture& capture) {
    return index >= 0 ? capture.open(index) : capture.open(device, cv::CAP_V4L2);
  };
  return openLive(std::make_shared<VideoCapture>(open),
                  {.shown = "camera " + (numbered ? number : device),
                   .stem = numbered ? "camera" + number : device.substr(device.rfind('/') + 1),
                   .why_not_open = [device] { return whyNoCamera(device); }},
                  options);
}

std::unique_ptr<FrameSource> openUrl(const SourceSpec& source, const SourceOptions& options) {
  const bool live = source.target.starts_with("rtsp");
  // Timeouts work only with FFmpeg named and as parameters of open (opencv#23207). They end most reads that hang; the
  // thread is for the others.
  const auto open = [url = source.target, ms = static_cast<int>(options.timeout_s * 1e3)](cv::VideoCapture& capture) {
    return capture.open(url, cv::CAP_FFMPEG, {cv::CAP_PROP_OPEN_TIMEOUT_MSEC, ms, cv::CAP_PROP_READ_TIMEOUT_MSEC, ms});
  };
  // FFmpeg writes the reason to its log only.
  const auto why_not_open = [] {
    return std::string(
        "no answer, or no video there (set OPENCV_FFMPEG_LOGLEVEL=32 and OPENCV_LOG_LEVEL=INFO in the environment to "
        "see more)");
  };
  return openLive(std::make_shared<VideoCapture>(open),
                  {.shown = source.shownText(),
                   .stem = stemOfUrl(source.target),
                   .latest_only = live,
                   .end_is_error = live,
                   .why_not_open = why_not_open},
                  options);
}

void checkPipeline(const std::string& pipeline) {
  const auto backends = cv::videoio_registry::getBackends();
  if (std::find(backends.begin(), backends.end(), cv::CAP_GSTREAMER) == backends.end())
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
    if (frame.type() != CV_8UC3)
      throw Error(
          "the GStreamer pipeline gives no BGR frames: put 'videoconvert ! video/x-raw,format=BGR' before the appsink");
  };
  return openLive(std::make_shared<VideoCapture>(open),
                  {.shown = source.shownText(),
                   .stem = "pipeline",
                   .end_is_error = false,
                   .why_not_open = why_not_open,
                   .check = check},
                  options);
}

}  // namespace mpm::vision
