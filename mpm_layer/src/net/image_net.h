// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <opencv2/dnn.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/patch_embed.h"
#include "kernels/resample.h"
#include "layers/device_ends.h"
#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "layers/reuse_session.h"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "net/graph_marks.h"
#include "net/reuse_gate.h"

namespace mpm {

/// The values of a converted graph that a caller reads, for whom the names in ReadOptions::outputs do not suffice. It
/// may add nodes to the graph.
using ChooseOutputs = std::function<std::vector<std::string>(onnx::GraphProto&, const ModelInfo&)>;

/// How a net is told which rows to compute.
struct ReuseNet {
  std::shared_ptr<ReuseSession> session;
  PatchPlaces places;
};

/// readNet(), with the outputs that `choose` returns instead of ReadOptions::outputs. With `reuse` the net reuses rows
/// of earlier frames; throws mpm::Error for a model that cannot.
LoadedNet readNet(const std::string& onnx_path, const ReadOptions& options, const ChooseOutputs& choose,
                  ReuseNet* reuse = nullptr);

class StopWatch {
 public:
  /// ms since the last call, or since it was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(since_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// Returns the result of `work`. Errors of OpenCV and a lack of memory become mpm::Error.
template <class Work>
auto withOurErrors(Work work) {
  try {
    return work();
  } catch (const cv::Exception& error) {  // of a layer: it names itself and the cause
    throw Error(opencv::oneLine(error));
  } catch (const std::bad_alloc&) {
    throw Error("not enough memory for this image or this model");
  }
}

inline cv::Size toCv(Size2 size) { return {size.width, size.height}; }

/// One axis of a bilinear resize from a grid to the network input, then to the image, in one step.
inline AxisResampling throughInput(int grid, int input, int image) {
  return composeAxes(bilinearAxis(grid, input), bilinearAxis(input, image));
}

/// What each byte becomes, computed in PyTorch's order: ((byte / 255) - mean) / std.
PixelValues pixelValues(const ModelFacts& facts);

/// `image` CV_8UC3, BGR -> network input `planes` {1, 3, image.rows, image.cols}, CV_32F, whose memory is reused when
/// the shape is the same. In one pass: channel order, 0..1, mean and standard deviation, planar.
void normalise(const cv::Mat& image, const PixelValues& values, cv::Mat& planes, const Parallel& parallel);

/// Adds a node to the graph: the tokens behind the last block, {N, dim}, with merging undone and without special
/// tokens. Returns its name. Throws mpm::Error for a model without such tokens.
std::string restoreLastTokens(onnx::GraphProto& graph, const ModelInfo& info);

/// Sets the number of OpenCV's threads; 0 leaves it. At the end of the newest one, the number is that of the newest
/// that is left, or the one before all of them, unless somebody changed it meanwhile. They end in any order: an object
/// that replaces another is made before the other one ends.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : own_(std::min(threads, cv::getNumberOfCPUs())) {
    if (own_ <= 0) return;
    const std::lock_guard lock(mutex_);
    if (living_.empty()) before_ = cv::getNumThreads();
    living_.push_back(this);
    cv::setNumThreads(own_);
  }
  ~ThreadCount() {
    if (own_ <= 0) return;
    const std::lock_guard lock(mutex_);
    const bool newest = living_.back() == this;
    std::erase(living_, this);
    if (newest && cv::getNumThreads() == own_) cv::setNumThreads(living_.empty() ? before_ : living_.back()->own_);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline std::vector<const ThreadCount*> living_;  // from the oldest to the newest
  static inline int before_ = 0;                          // before the oldest
  const int own_;
};

/// What a net that reuses rows keeps of the frames of one camera.
struct FrameMemory {
  ReuseGate gate;
  std::shared_ptr<ReuseSession::Memory> rows = std::make_shared<ReuseSession::Memory>();
  cv::Size size{};  ///< of the last image

  /// Forgets earlier frames.
  void reset() {
    gate.reset();
    rows->clear();
  }
};

/// A net that takes images: preprocessing, one pass, and the report of it.
class ImageNet {
 public:
  /// `answers`: the outputs that the caller reads besides the merge maps and the token counts.
  ImageNet(const std::string& model, const EstimatorOptions& options, const ChooseOutputs& answers);

  const std::string& path() const { return path_; }
  const ModelInfo& info() const { return info_; }
  cv::dnn::Net& net() { return net_; }
  const Parallel& parallel() const { return parallel_; }

  /// Resizes `image` to the network input and runs it. Adds its maps, its tokens and the times to `report`. In a net
  /// that reuses rows, the image is that of look().
  void run(const cv::Mat& image, RunReport& report);

  /// Memory of no frame yet; nullopt: the net does not reuse rows. With it, look() comes before each run().
  std::optional<FrameMemory> newMemory() const;
  /// Which patches of `image` changed since the last frames in `memory`, or `patches`; the next run() computes these.
  ReuseGate::Frame look(FrameMemory& memory, const cv::Mat& image, double seconds,
                        const std::optional<std::vector<int>>& patches, StageTimes& ms);
  /// The next run() computes everything.
  void computeAll() { reuse_.session->changed.reset(); }
  std::size_t keptBytes() const { return reuse_.session->bytes(); }

  /// Runs `image`, of the size of the network input. Adds the times to `ms`.
  void forward(const cv::Mat& image, StageTimes& ms);
  /// Of the last forward().
  void takeMaps(RunReport& report) const;
  std::vector<double> tokens() const;
  const cv::Mat& answer(std::size_t index) const { return blobs_[kReports + index]; }
  std::size_t answers() const { return answers_; }
  std::string answerName(std::size_t index) const { return outputs_[kReports + index]; }
  /// A copy of this answer of the last forward(), which is that of restoreLastTokens(): {N, dim} CV_32F.
  cv::Mat tokensOf(std::size_t answer) const;
  /// Throws mpm::Error unless the answer has so many floats. The converter compared `info` with the declared shapes of
  /// the outputs; this checks the outputs themselves.
  void requireSize(std::size_t answer, std::size_t expected) const { requireBlob(kReports + answer, expected); }
  void requireFinite(std::size_t answer, const std::string& name) const;
  /// Throws mpm::Error where a label map of 8 bits cannot hold the classes.
  void requireLabelsFit() const;

 private:
  static constexpr std::size_t kReports = 2;  // merge_map and token_counts, before the answers

  void fit(const cv::Mat& image, StageTimes& ms);
  void requireBlob(std::size_t index, std::size_t expected) const;
  void addSimilarity(RunReport& report) const;

  std::string path_;
  ThreadCount threads_;
  cv::dnn::Net net_;
  ModelInfo info_;
  std::vector<cv::String> outputs_;  // the reports, the answers, then the input tokens of each insertion to inspect
  std::size_t answers_ = 0;
  std::vector<cv::Mat> blobs_;  // of outputs_
  PixelValues pixel_values_;
  OpenCvParallel parallel_;
  cv::Mat resized_, planes_;
  cv::Mat fitting_;  // the image or resized_
  Reuse reuse_options_;
  ReuseNet reuse_;
  std::unique_ptr<DeviceImage> device_image_;  // instead of planes_
};

/// Throws the error of a NaN or an infinity in an answer.
[[noreturn]] void failNotFinite(const std::string& name);

}  // namespace mpm
