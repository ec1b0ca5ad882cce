// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/atomic_file.h"
#include "charts/chart.h"
#include "monitor/capture/capture.h"
#include "mpm/estimator.hpp"
#include "mpm/model_info.hpp"

namespace mpm::monitor {

/// The models of several cameras, and the one thread that runs them. Cameras that want the same file with the same
/// options share its net. Any thread may call the methods.
class SharedModels {
 public:
  SharedModels();
  ~SharedModels();  ///< no run() may be in progress

  /// Runs `work` on the thread of the models, and returns when it is done. Works run in the order of these calls, so a
  /// camera that always has a frame waits for all others before its next one. False: `stop` was requested before its
  /// turn, and it does not run. Throws what `work` throws.
  bool run(const std::stop_token& stop, const std::function<void()>& work);
  /// How many calls of run() wait for their turn.
  std::size_t waiting() const;

  /// An Estimator for one camera, on a net that is read unless another camera has it. `digest`: modelDigest() of the
  /// file. Throws as the constructor of Estimator.
  std::shared_ptr<Estimator> open(const std::string& path, const std::string& digest, const EstimatorOptions& options);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The result of a frame with another reduction.
struct ComparedResult {
  Estimate estimate;
  Reduction variant;
};

/// In Estimate::labels: a pixel of a part that Privacy has hidden.
inline constexpr int kHiddenLabel = 255;

struct PrivacyOptions;

struct InferenceResult {
  CapturedFrame frame;
  Estimate estimate;                                  ///< of the task panoptic or instance with its labels
  std::shared_ptr<const ModelInfo> model;             ///< the one that made it, with its reduction; never null
  std::string model_path;                             ///< the file it was read from
  std::string model_digest;                           ///< modelDigest() of it
  std::string settings{};                             ///< with which it runs: settingsOf()
  Reuse reuse;                                        ///< what was asked of it
  int session = 0;                                    ///< grows when another model or reduction takes over
  std::optional<ComparedResult> compared;             ///< while setCompare() asks for it
  std::shared_ptr<const PrivacyOptions> hidden_by{};  ///< what Privacy hid in the frame; null: the frame is as it came
  /// Of files with pixels of the frame.
  Readers readers() const { return hidden_by ? Readers::kGroup : Readers::kByUmask; }
  cv::Mat hidden{};  ///< the pixels that Privacy made black: CV_8U of the size of the frame, 255 there; empty: none
  /// Runs the model on another picture, such as a part of the frame, in the turn of this worker. Nothing is reused of
  /// earlier pictures. Only within on_result. Throws as Estimator::estimate().
  std::function<Estimate(const cv::Mat& picture)> look{};
  bool repeated = false;  ///< of repeat(): the frame had a result before, and is no new sample
};

/// Effect of the reuse of rows since the model or the source changed last.
struct ReuseStatus {
  double rows = 0, agreement = 0;  ///< of the last frame, a share; of the last key frame that was due, percent
  charts::Spread all_rows{}, all_agreement{};  ///< so far

  void add(const ReuseReport& report);
};

/// The classes of InferenceStatus::by_time end at these times, seconds; one more is of all that took longer.
inline constexpr std::array kTimeBounds = {0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0};

struct InferenceStatus {
  std::int64_t processed = 0;     ///< results delivered
  std::int64_t done = 0;          ///< frames of this stream that need no more work: delivered, dropped, failed
  std::int64_t stale = 0;         ///< results dropped, because the reduction, model or stream changed meanwhile
  std::int64_t failed = 0;        ///< frames that gave an error
  std::int64_t lost = 0;          ///< results that on_result did not take
  std::string failure{};          ///< of the last one that failed or was lost
  double p50_ms = 0, p95_ms = 0;  ///< of Estimate::ms.total over the last few hundred frames
  std::array<std::int64_t, kTimeBounds.size() + 1> by_time{};  ///< results by Estimate::ms.total
  double all_s = 0;                                            ///< the sum of these times
  double fps = 0;                                              ///< results per second, over the last seconds
  std::optional<ReuseStatus> reuse{};                          ///< nullopt: no frame yet, or without reuse
  bool loading = false;                                        ///< a model is being read
  bool ready = false;                                          ///< there is a model that can run
  std::string problem{};                                       ///< of the last model that could not be loaded
  std::string failed_model{};                                  ///< the file of that model
  double busy_s = 0;  ///< how long the current frame has been in work, delivery included; 0: idle
  /// One frame has taken two minutes, which never happens: the supervisor should restart the process.
  bool stuck() const { return busy_s >= 120; }
  std::string model;                      ///< the file of the model that is ready; empty: none
  std::shared_ptr<const ModelInfo> info;  ///< what that model is, and how it is read (refine); null: none
  bool comparing = false;                 ///< setCompare() asks for it
  std::string no_comparison;              ///< why it was given up; empty: it was not
};

/// Runs a model over the frames of a mailbox, in its turn among the workers of one SharedModels; in each turn it takes
/// the latest frame. Loading and delivery are on a thread of its own, and keep no other worker waiting. Changes take
/// effect on the next frame, or on one that is given again with repeat(); of the results before, at most the one that
/// is being delivered still comes. A frame in work is computed again with the change where CapturedFrame::needed, and
/// is dropped otherwise. A model file that changes on the disk is read again. An error never ends the thread: a model
/// that cannot be read, or that fails on its first frame, is an event, and the one before goes on.
class InferenceWorker {
 public:
  struct Callbacks {  ///< called while the worker waits; on_result on its thread, on_event also on that of the models
    std::function<void(InferenceResult)> on_result;
    std::function<void(const Event&)> on_event;
    /// On its thread, between two frames, ten times a second or more often: to look at files that may have changed.
    /// Null: not called.
    std::function<void()> on_turn{};
  };

  /// `model` may be empty: frames wait until setModel(). Returns at once; a model that cannot be read is an event.
  /// `choose_reuse`: `options.reuse` is on for a model that does not merge and can reuse rows. It is off for one that
  /// merges: its counts of tokens are to be those of each frame alone. `models` null: its own.
  InferenceWorker(std::shared_ptr<FrameMailbox> frames, std::string model, EstimatorOptions options,
                  Callbacks callbacks, bool choose_reuse = false, std::shared_ptr<SharedModels> models = {});
  ~InferenceWorker();  ///< waits for the current frame

  /// Throws mpm::Error for a reduction that is not valid. One that the model or the device lacks is an event.
  void setReduction(const Reduction& variant);
  /// Until another file is the model. A model that gives no labels does not load with kGuided.
  void setRefine(Refine refine);
  /// EstimatorOptions::features of results. A model without tokens does not load with them.
  void setFeatures(bool features);
  /// Keeps the options but for the reduction, which becomes `variant` (nullopt: the model's own).
  void setModel(std::string path, const std::optional<Reduction>& variant = std::nullopt);
  /// All options but the reduction and the features, as the constructor takes them.
  void setOptions(EstimatorOptions options);
  /// As the constructor takes it.
  void setChooseReuse(bool on);
  /// Frames of other streams (CapturedFrame::stream) are dropped from now on; the default is 0. At most one frame in
  /// `interval_s` is taken; 0: every frame.
  void setStream(int stream, double interval_s = 0);
  /// Each frame runs a second time with this reduction; nullopt: once. Given up, with an event, when the model does not
  /// load with it. Throws mpm::Error as setReduction() does.
  void setCompare(const std::optional<Reduction>& variant);
  /// While paused no frame is taken.
  void setPaused(bool paused);
  /// Once more this frame, after the changes before, also while paused and before the time of the next one. Of several
  /// only the last.
  void repeat(CapturedFrame frame);

  InferenceStatus status() const;

  /// The model that the next frames are for.
  struct Wanted {
    std::string model{};                      ///< its file; empty: none
    EstimatorOptions options{};               ///< how it is read and runs
    std::shared_ptr<const ModelInfo> info{};  ///< InferenceStatus::info; null: it was not read yet, or cannot be read
    std::string settings{};                   ///< with `info`: settingsOf()
  };
  /// By the last change, also while another model still runs.
  Wanted wanted() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mpm::monitor
