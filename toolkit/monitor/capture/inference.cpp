// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/inference.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "base/quantiles.h"
#include "monitor/capture/followed_files.h"
#include "monitor/clocks.h"
#include "monitor/store/bucket.h"
#include "monitor/watch/model_settings.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "vision/model_files.h"

namespace mpm::monitor {
namespace {

// Whether the same net serves both. The monitor sets no other options.
bool sameNet(const EstimatorOptions& a, const EstimatorOptions& b) {
  const auto facts = [](const EstimatorOptions& one) {
    return std::tie(one.reduce, one.input_size, one.mean, one.deviation, one.precision, one.device, one.threads,
                    one.min_score, one.min_overlap, one.refine, one.labels, one.features, one.reuse);
  };
  return facts(a) == facts(b);
}

struct Net {
  std::string path, digest;
  EstimatorOptions options;
  std::weak_ptr<const Estimator> first;  // lives while a camera has one of another()
};

using namespace std::chrono_literals;

constexpr std::size_t kLatencies = 300;
constexpr std::int64_t kRepeatErrorMs = 60000;
constexpr int kReadings = 3;  // of a model whose files are replaced while it is read

// A model that is ready, and what it was made from.
struct Loaded {
  std::shared_ptr<Estimator> estimator;
  std::shared_ptr<const ModelInfo> info;
  std::string settings;  // settingsOf()
  std::string path;
  std::string digest;
  EstimatorOptions options;             // as they were wanted
  Reuse reuse;                          // of these, or chosen
  int session = 0;                      // 0 until it gave its first result
  int stream = 0;                       // CapturedFrame::stream of the last frame
  std::shared_ptr<Estimator> closer{};  // for InferenceResult::look
};

// Throws mpm::Error for options that make no sense. Areas are measured by the labels, so each net gives them.
EstimatorOptions checked(EstimatorOptions options) {
  options.read().validate();
  options.labels = true;
  return options;
}

// All files of a model. If it cannot be read: the ONNX file and its JSON, which every model has.
std::vector<std::string> filesOf(const std::string& model) {
  try {
    return modelFiles(model);
  } catch (const Error&) {
    return {model, factsFile(model)};
  }
}

}  // namespace

struct SharedModels::Impl {
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::shared_ptr<std::packaged_task<void()>>> queue;

  std::mutex opening;  // held while a model is read: of cameras that start together, one reads it
  std::vector<Net> nets;

  std::jthread thread{[this](const std::stop_token& stop) { runAll(stop); }};

  void runAll(const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (changed.wait(lock, stop, [&] { return !queue.empty(); })) {
      const auto next = queue.front();
      queue.pop_front();
      lock.unlock();
      (*next)();
      lock.lock();
      changed.notify_all();
    }
  }
};

SharedModels::SharedModels() : impl_(std::make_unique<Impl>()) {}
SharedModels::~SharedModels() = default;

bool SharedModels::run(const std::stop_token& stop, const std::function<void()>& work) {
  const auto own = std::make_shared<std::packaged_task<void()>>(work);
  std::future<void> result = own->get_future();
  std::unique_lock lock(impl_->mutex);
  impl_->queue.push_back(own);
  impl_->changed.notify_all();
  const auto done = [&] { return result.wait_for(0s) == std::future_status::ready; };
  if (!impl_->changed.wait(lock, stop, done) && std::erase(impl_->queue, own) > 0) return false;
  lock.unlock();
  result.get();
  return true;
}

std::size_t SharedModels::waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->queue.size();
}

std::shared_ptr<Estimator> SharedModels::open(const std::string& path, const std::string& digest,
                                              const EstimatorOptions& options) {
  struct Shared {
    std::shared_ptr<const Estimator> first;
    Estimator own = first->another();
  };
  const std::lock_guard lock(impl_->opening);
  std::erase_if(impl_->nets, [](const Net& net) { return net.first.expired(); });
  std::shared_ptr<const Estimator> first;
  for (const Net& net : impl_->nets)
    if (net.path == path && net.digest == digest && sameNet(net.options, options)) first = net.first.lock();
  if (!first) {
    first = std::make_shared<const Estimator>(path, options);
    impl_->nets.push_back({path, digest, options, first});
  }
  const auto camera = std::make_shared<Shared>(Shared{std::move(first)});
  return {camera, &camera->own};
}

void ReuseStatus::add(const ReuseReport& report) {
  rows = report.rows;
  addTo(all_rows, {1, rows, rows, rows});
  if (!report.agreement) return;
  agreement = *report.agreement;
  addTo(all_agreement, {1, agreement, agreement, agreement});
}

struct InferenceWorker::Impl {
  std::shared_ptr<FrameMailbox> frames;
  std::shared_ptr<SharedModels> models;
  Callbacks callbacks;
  std::optional<Refine> first_refine;  // of the options at the start, or of setOptions()
  bool features = false;               // of setFeatures(), also while the model refuses them

  // Written by the callers.
  mutable std::mutex mutex;
  std::condition_variable_any changed;
  struct Wanted {
    std::string path;
    EstimatorOptions options;  // its reduction is the wanted one
    bool choose_reuse = false;
    int version = 0;  // grows with every change of path or reduction
    int stream = 0;
    std::optional<Reduction> compare{};
    bool paused = false;
    double interval_s = 0;
  } wanted;
  std::optional<CapturedFrame> to_repeat;
  InferenceStatus status;
  int info_version = 0;  // of `wanted`: that of status.info
  std::string settings;  // of the model of status.info
  std::deque<double> latencies;
  Rate results;
  std::int64_t busy_since = 0;
  std::pair<int, int> reuse_of;  // session and stream of status.reuse

  // Used by the worker's thread, and by that of the models while the former waits.
  std::unique_ptr<Loaded> current, previous;  // previous: until `current` gave its first result
  std::unique_ptr<Loaded> other;              // with the reduction to compare with
  int loaded_version = 0, sessions = 0;
  std::optional<CapturedFrame> outdated;  // needed, and its result was out of date
  FollowedFiles files;                    // of the wanted model; after a failed change of the one that goes on
  std::int64_t next_due = 0;
  std::string last_error;
  std::int64_t last_error_at = 0;
  std::jthread thread;  // last: the current frame is finished before other members are destroyed

  void run(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { frames->wake(); });
    while (!stop.stop_requested()) {
      Wanted now;
      std::optional<CapturedFrame> repeated;
      {
        std::unique_lock lock(mutex);
        if (wanted.version == loaded_version && !to_repeat && (wanted.paused || !current)) {
          changed.wait_for(lock, stop, 100ms, [&] { return to_repeat || wanted.version != loaded_version; });
          if (stop.stop_requested()) return;
        }
        now = wanted;
        repeated = std::exchange(to_repeat, std::nullopt);
      }
      if (now.version != loaded_version) load(now);
      followFiles(now);
      if (callbacks.on_turn) callbacks.on_turn();
      if (repeated && current) process(stop, std::move(repeated));
      if (now.paused || !current) continue;
      if (const std::int64_t early = next_due - steadyNow(); now.interval_s > 0 && early > 0) {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, stop, std::chrono::milliseconds(std::min<std::int64_t>(early, 100)),
                         [&] { return wanted.version != loaded_version; });
        continue;
      }
      if (outdated || frames->wait(100ms)) process(stop, std::nullopt, now.interval_s);
    }
  }

  // Waits for a turn. nullopt: takes the latest frame in it.
  void process(const std::stop_token& stop, std::optional<CapturedFrame> frame, double interval_s = 0) {
    const bool repeated = frame.has_value();
    int stream = 0;
    std::optional<InferenceResult> result;
    models->run(stop, [&] {
      if (!frame) frame = outdated ? std::exchange(outdated, std::nullopt) : frames->tryTake();
      if (!frame) return;
      stream = frame->stream;
      const std::int64_t taken = steadyNow();
      if (const auto step = static_cast<std::int64_t>(interval_s * 1000); step > 0)
        next_due = taken - next_due < step ? next_due + step : taken + step;
      {
        const std::lock_guard lock(mutex);
        busy_since = taken;
      }
      result = compute(std::move(*frame), repeated);
    });
    if (!frame) return;
    if (result && callbacks.on_result) {
      try {
        result->look = [this, &stop](const cv::Mat& picture) { return look(stop, picture); };
        callbacks.on_result(std::move(*result));
      } catch (const std::exception& problem) {
        const std::string failure = std::string("a result was lost: ") + problem.what();
        postOnce(failure);
        const std::lock_guard lock(mutex);
        ++status.lost;
        status.failure = failure;
      }
    }
    const std::lock_guard lock(mutex);
    busy_since = 0;
    if (!repeated && !outdated && stream == wanted.stream) ++status.done;
  }

  // While a result of `current` is delivered.
  Estimate look(const std::stop_token& stop, const cv::Mat& picture) {
    Estimate found;
    const bool ran = models->run(stop, [&] {
      if (!current->closer) current->closer = std::make_shared<Estimator>(current->estimator->another());
      current->closer->reset();  // it is no next frame of what it looked at before
      found = current->closer->estimate(picture);
    });
    if (!ran) throw Error("the program ends");
    return found;
  }

  std::unique_ptr<Loaded> read(const std::string& path, const EstimatorOptions& options, std::string digest,
                               bool with_choice) const {
    auto estimator = models->open(path, digest, options);
    std::string how = settingsOf(path, estimator->model(), options);
    auto info = std::make_shared<ModelInfo>(estimator->model());
    info->facts.refine = options.refine.value_or(info->facts.refine);
    auto loaded = std::make_unique<Loaded>(
        Loaded{std::move(estimator), std::move(info), std::move(how), path, std::move(digest), options, options.reuse});
    if (!with_choice || loaded->info->reduction.method != ReductionMethod::kNone) return loaded;
    EstimatorOptions reusing = options;
    reusing.reuse.on = true;
    try {
      loaded->estimator = models->open(path, loaded->digest, reusing);
      loaded->reuse = reusing.reuse;
    } catch (const Error&) {  // docs/reuse.md, "What cannot reuse rows": it runs without
    }
    return loaded;
  }

  // The digest is that of the files that the net was read from.
  std::unique_ptr<Loaded> readWhole(const Wanted& now) {
    for (int reading = 1;; ++reading) {
      files = FollowedFiles(filesOf(now.path));
      auto loaded = read(now.path, now.options, vision::modelDigest(now.path), now.choose_reuse);
      if (files.asBefore()) return loaded;
      if (reading == kReadings) throw Error("its files are replaced again and again");
    }
  }

  void load(const Wanted& now) {
    loaded_version = now.version;
    if (now.path.empty()) return;
    setLoading(true);
    try {
      auto fresh = readWhole(now);
      // One that has not proved itself yet is not worth keeping as the one to fall back to.
      if (current && current->session > 0) previous = std::move(current);
      current = std::move(fresh);
      other.reset();
    } catch (const std::exception& error) {
      std::string what = error.what();
      if (what.find(now.path) == std::string::npos) what = now.path + ": " + what;
      what = "cannot load " + what + (current ? "; the model before it goes on" : "");
      keepWantedAsLoaded(now.path);
      {
        const std::lock_guard lock(mutex);
        status.problem = what;
        status.failed_model = now.path;
      }
      post(Severity::kError, what);  // who hears of it finds it in the status
    }
    setLoading(false);
  }

  // After a failed change the wanted state is again what runs, unless the caller wants something else by now.
  void keepWantedAsLoaded(const std::string& failed) {
    if (!current) return;
    if (current->path != failed) files = FollowedFiles(filesOf(current->path));
    const std::lock_guard lock(mutex);
    if (wanted.version != loaded_version) return;
    wanted.path = current->path;
    wanted.options = current->options;
  }

  // Reads the model again if its files were replaced and hold something else.
  void followFiles(const Wanted& now) {
    if (now.path.empty() || !files.changed(steadyNow())) return;
    if (current && current->path == now.path) {
      try {
        if (vision::modelDigest(now.path) == current->digest) return;
      } catch (const Error&) {  // load() says so
      }
    }
    Wanted again;
    {
      const std::lock_guard lock(mutex);
      if (wanted.version != loaded_version) return;
      ++wanted.version;
      again = wanted;
    }
    load(again);
  }

  // The result of a frame, unless it fails or is out of date.
  std::optional<InferenceResult> compute(CapturedFrame frame, bool repeated) {
    const int version = loaded_version;
    std::optional<Reduction> compare;
    {
      const std::lock_guard lock(mutex);
      if (frame.stream != wanted.stream) {
        ++status.stale;
        return std::nullopt;
      }
      compare = wanted.compare;
    }
    InferenceResult result;
    std::string error = estimate(*current, frame, result.estimate);
    if (!error.empty() && previous) {
      const std::string failed = std::exchange(current, std::move(previous))->path;
      other.reset();
      keepWantedAsLoaded(failed);
      setLoading(false);
      // Who hears of it finds it in the status.
      post(Severity::kError, "'" + failed + "' fails on its first frame: " + error + "; the model before it goes on");
      error = estimate(*current, frame, result.estimate);
    }
    if (!error.empty()) {
      const std::string failure = "inference failed: " + error;
      postOnce(failure);
      const std::lock_guard lock(mutex);
      ++status.failed;
      status.failure = failure;
      return std::nullopt;
    }
    previous.reset();
    if (current->session == 0) current->session = ++sessions;
    if (compare) result.compared = estimateWith(*compare, frame.image, result.estimate);
    result.frame = std::move(frame);
    result.model = current->info;
    result.model_path = current->path;
    result.model_digest = current->digest;
    result.settings = current->settings;
    result.reuse = current->reuse;
    result.session = current->session;
    result.repeated = repeated;
    const std::lock_guard lock(mutex);
    const bool other_stream = wanted.stream != result.frame.stream;
    if (wanted.version != version || other_stream) {
      if (other_stream || repeated || !result.frame.needed)
        ++status.stale;
      else
        outdated = std::move(result.frame);
      return std::nullopt;
    }
    ++status.processed;
    if (const auto of = std::pair(result.session, result.frame.stream); of != std::exchange(reuse_of, of))
      status.reuse.reset();
    if (const auto& report = result.estimate.reuse; report && !repeated) {
      if (!status.reuse) status.reuse.emplace();
      status.reuse->add(*report);
    }
    const double seconds = result.estimate.ms.total / 1000;
    status.all_s += seconds;
    ++status.by_time[std::lower_bound(kTimeBounds.begin(), kTimeBounds.end(), seconds) - kTimeBounds.begin()];
    latencies.push_back(result.estimate.ms.total);
    if (latencies.size() > kLatencies) latencies.pop_front();
    results.add(steadyNow());
    return result;
  }

  // The error, or nothing.
  static std::string estimate(Loaded& model, const CapturedFrame& frame, Estimate& result) {
    try {
      if (frame.stream != std::exchange(model.stream, frame.stream)) model.estimator->reset();
      result = model.estimator->estimate(frame.image, static_cast<double>(frame.time) / 1000);
      return {};
    } catch (const std::exception& error) {
      const std::string what = error.what();
      return what.empty() ? "unknown error" : what;
    }
  }

  std::optional<ComparedResult> estimateWith(const Reduction& variant, const cv::Mat& image, const Estimate& own) {
    if (variant == current->info->reduction) return ComparedResult{own, variant};
    try {
      if (!other || other->path != current->path || other->options.reduce != variant) {
        EstimatorOptions options = current->options;
        options.reduce = variant;
        options.reuse = {};
        other = read(current->path, options, current->digest, false);
      }
      return ComparedResult{other->estimator->estimate(image), variant};
    } catch (const std::exception& error) {
      {
        const std::lock_guard lock(mutex);
        if (wanted.compare != variant) return std::nullopt;  // another one is wanted by now
        wanted.compare.reset();
        status.no_comparison = error.what();
      }
      post(Severity::kWarning, "no comparison with " + toString(variant) + ": " + error.what());
      return std::nullopt;
    }
  }

  void post(Severity severity, const std::string& message) const {
    if (callbacks.on_event) callbacks.on_event({unixNow(), EventKind::kModel, severity, message});
  }

  // An error that comes with every frame, or with every other one, is reported once a minute.
  void postOnce(const std::string& message) {
    const std::int64_t now = steadyNow();
    if (message == last_error && now - last_error_at < kRepeatErrorMs) return;
    last_error = message;
    last_error_at = now;
    post(Severity::kError, message);
  }

  void setLoading(bool loading) {
    const std::lock_guard lock(mutex);
    status.loading = loading;
    status.ready = current != nullptr;
    status.model = current ? current->path : "";
    status.info = current ? current->info : nullptr;
    settings = current ? current->settings : "";
    if (!loading) info_version = loaded_version;
  }

  template <typename Change>
  void change(Change&& apply) {
    const std::lock_guard lock(mutex);
    apply(wanted);
    changed.notify_all();
    frames->wake();
  }
};

InferenceWorker::InferenceWorker(std::shared_ptr<FrameMailbox> frames, std::string model, EstimatorOptions options,
                                 Callbacks callbacks, bool choose_reuse, std::shared_ptr<SharedModels> models)
    : impl_(std::make_unique<Impl>()) {
  options = checked(std::move(options));
  impl_->frames = std::move(frames);
  impl_->models = models ? std::move(models) : std::make_shared<SharedModels>();
  impl_->callbacks = std::move(callbacks);
  impl_->first_refine = options.refine;
  impl_->features = options.features;
  impl_->wanted.path = std::move(model);
  impl_->wanted.options = std::move(options);
  impl_->wanted.choose_reuse = choose_reuse;
  impl_->wanted.version = impl_->wanted.path.empty() ? 0 : 1;
  impl_->status.loading = !impl_->wanted.path.empty();
  impl_->thread = std::jthread([impl = impl_.get()](const std::stop_token& stop) { impl->run(stop); });
}

InferenceWorker::~InferenceWorker() = default;

void InferenceWorker::setReduction(const Reduction& variant) {
  variant.validate();
  impl_->change([&](Impl::Wanted& wanted) {
    wanted.options.reduce = variant;
    ++wanted.version;
  });
}

void InferenceWorker::setRefine(Refine refine) {
  impl_->change([&](Impl::Wanted& wanted) {
    wanted.options.refine = refine;
    ++wanted.version;
  });
}

void InferenceWorker::setFeatures(bool features) {
  impl_->change([&](Impl::Wanted& wanted) {
    impl_->features = features;
    if (std::exchange(wanted.options.features, features) != features) ++wanted.version;
  });
}

void InferenceWorker::setModel(std::string path, const std::optional<Reduction>& variant) {
  if (variant) variant->validate();
  impl_->change([&](Impl::Wanted& wanted) {
    if (wanted.path != path)
      std::tie(wanted.options.refine, wanted.options.features) = std::tie(impl_->first_refine, impl_->features);
    wanted.path = std::move(path);
    wanted.options.reduce = variant;
    ++wanted.version;
  });
}

void InferenceWorker::setOptions(EstimatorOptions options) {
  options = checked(std::move(options));
  impl_->change([&](Impl::Wanted& wanted) {
    options.reduce = wanted.options.reduce;
    options.features = wanted.options.features;
    impl_->first_refine = options.refine;
    if (sameNet(options, wanted.options)) return;
    wanted.options = std::move(options);
    ++wanted.version;
  });
}

void InferenceWorker::setChooseReuse(bool on) {
  impl_->change([on](Impl::Wanted& wanted) {
    if (std::exchange(wanted.choose_reuse, on) != on) ++wanted.version;
  });
}

void InferenceWorker::setStream(int stream, double interval_s) {
  impl_->change([&](Impl::Wanted& wanted) {
    wanted.stream = stream;
    wanted.interval_s = interval_s;
    impl_->status.done = 0;
  });
}

void InferenceWorker::setCompare(const std::optional<Reduction>& variant) {
  if (variant) variant->validate();
  impl_->change([&](Impl::Wanted& wanted) {
    wanted.compare = variant;
    if (variant) impl_->status.no_comparison.clear();
  });
}

void InferenceWorker::setPaused(bool paused) {
  impl_->change([&](Impl::Wanted& wanted) { wanted.paused = paused; });
}

void InferenceWorker::repeat(CapturedFrame frame) {
  std::optional<CapturedFrame> asked(std::move(frame));
  impl_->change([&](Impl::Wanted&) { impl_->to_repeat.swap(asked); });
}

InferenceWorker::Wanted InferenceWorker::wanted() const {
  const std::lock_guard lock(impl_->mutex);
  const Impl::Wanted& wanted = impl_->wanted;
  const bool read = impl_->info_version == wanted.version;
  return {wanted.path, wanted.options, read ? impl_->status.info : nullptr, read ? impl_->settings : ""};
}

InferenceStatus InferenceWorker::status() const {
  const std::lock_guard lock(impl_->mutex);
  InferenceStatus status = impl_->status;
  status.comparing = impl_->wanted.compare.has_value();
  const std::vector<double> latencies(impl_->latencies.begin(), impl_->latencies.end());
  if (!latencies.empty()) {
    status.p50_ms = quantile(latencies, 0.5);
    status.p95_ms = quantile(latencies, 0.95);
  }
  const std::int64_t now = steadyNow();
  status.fps = impl_->results.perSecond(now);
  if (impl_->busy_since > 0) status.busy_s = static_cast<double>(now - impl_->busy_since) / 1000;
  return status;
}

}  // namespace mpm::monitor
