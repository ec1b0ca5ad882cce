// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <opencv2/imgproc.hpp>

#include "base/reuse_patches.h"
#include "net/label_maker.h"
#include "net/objects.h"
#include "net/segments.h"

namespace mpm {
namespace {

// Why the model cannot do this task.
std::string problemWith(Task wanted, const ModelInfo& info) {
  const std::string head = "its head is '" + toString(info.head) + "'";
  if (wanted == Task::kBoxes) return "gives no boxes (" + head + ", but they need 'box_queries')";
  if (wanted == Task::kInstance && info.head == HeadKind::kBoxQueries)
    return "gives no masks of its objects, only boxes";
  if (givesSegments(wanted)) return "gives no segments (" + head + ", but they need 'mask_queries')";
  if (wanted == Task::kDepth) {
    return "does not estimate depth (its task is '" + (info.task ? toString(*info.task) : "none") + "', " + head + ")";
  }
  return "does not segment (" + (info.task ? "its task is '" + toString(*info.task) + "'" : head) + ")";
}

/// The task of the model; nullopt: the outputs of the net. Throws mpm::Error when it cannot do the `wanted` task.
std::optional<Task> taskOf(const ModelInfo& info, std::optional<Task> wanted) {
  if (!wanted) return info.task;
  if (info.can(*wanted)) return wanted;
  std::string tasks;
  for (const Task task : {Task::kSemantic, Task::kPanoptic, Task::kInstance, Task::kDepth, Task::kBoxes})
    if (info.can(task)) tasks += (tasks.empty() ? "'" : ", '") + toString(task) + "'";
  throw Error(problemWith(*wanted, info) +
              (tasks.empty() ? ": without a task it gives the outputs of the net" : ": it can do " + tasks));
}

void addDepth(const cv::Mat& image, ImageNet& net, Estimate& result) {
  net.run(image, result);
  StopWatch watch;
  const cv::Mat& map = net.answer(0);
  const int height = map.dims >= 3 ? map.size[map.dims - 2] : 0, width = map.dims >= 3 ? map.size[map.dims - 1] : 0;
  net.requireSize(0, static_cast<std::size_t>(height) * width);
  net.requireFinite(0, "depths");
  const cv::Mat depth(height, width, CV_32F, const_cast<float*>(map.ptr<float>()));
  cv::resize(depth, result.depth, image.size(), 0, 0, cv::INTER_LINEAR);
  result.depth_range = depthRange(result.depth);
  result.ms.postprocess += watch.lap();
}

// One that shares no memory with `estimate`.
Estimate cloned(Estimate estimate) {
  for (cv::Mat* const map : {&estimate.labels, &estimate.scores, &estimate.ids, &estimate.depth, &estimate.features})
    *map = map->clone();
  for (cv::Mat& output : estimate.outputs) output = output.clone();
  return estimate;
}

}  // namespace

std::optional<double> agreementPercent(const Estimate& a, const Estimate& b) {
  constexpr double kSameDepth = 0.02;  // of the range of the depths
  const auto mapOf = [](const Estimate& one) {
    if (!one.depth.empty()) return one.depth;
    return one.ids.empty() ? one.labels : segmentClasses(one.ids, one.segments);
  };
  const cv::Mat own = mapOf(a), other = mapOf(b);
  if (own.empty() || own.size() != other.size() || own.type() != other.type()) return std::nullopt;
  cv::Mat same = own == other;
  if (!b.depth.empty()) {
    cv::absdiff(own, other, same);
    same = same <= kSameDepth * (b.depth_range.max - b.depth_range.min);
  }
  return 100.0 * cv::countNonZero(same) / static_cast<double>(same.total());
}

ReadOptions EstimatorOptions::read() const {
  return {.reduce = reduce,
          .input_size = input_size,
          .mean = mean,
          .deviation = deviation,
          .precision = precision,
          .device = device,
          .rule = rule};
}

void EstimatorOptions::validate() const {
  read().validate();
  if (threads < 0) throw Error("the number of threads must not be negative");
  if (short_side < 0) throw Error("the shorter side must not be negative");
  if (window_stride < 0) throw Error("the distance of windows must not be negative");
  reuse.validate();
  if (features && fit == Fit::kWindow)
    throw Error("features are those of one picture in the fit 'resize', not of sliding windows");
  if (reuse.on && fit == Fit::kWindow)
    throw Error("rows of earlier frames are reused by the fit 'resize' only, not by sliding windows");
  if (reuse.on && rule) throw Error("rows of earlier frames are not reused with the reduction 'rule'");
  for (const double share : {min_score.value_or(0), min_overlap})
    if (!(share >= 0 && share <= 1)) throw Error("the limits of segments are shares, 0 to 1");
}

DepthRange depthRange(const cv::Mat& depth) {
  if (depth.empty() || depth.type() != CV_32F) throw Error("a map of depths must be CV_32F and not empty");
  std::vector<float> values(depth.begin<float>(), depth.end<float>());  // quantile() would be slow for so many
  if (std::any_of(values.begin(), values.end(), [](float value) { return std::isnan(value); }))
    throw Error("a map of depths holds a NaN");
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  DepthRange range{*least + 0.0, 0, *most + 0.0};  // 0 instead of -0
  const auto middle = values.begin() + (values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  range.median = *middle;
  if (values.size() % 2 == 0) range.median = (range.median + double{*std::max_element(values.begin(), middle)}) / 2;
  return range;
}

cv::Mat segmentClasses(const cv::Mat& ids, const std::vector<Segment>& segments) {
  if (!ids.empty() && (ids.type() != CV_16U || ids.dims != 2))
    throw Error("a map of segments must be CV_16U, of two dimensions");
  std::vector<std::uint8_t> classes(std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1, 255);
  for (const Segment& one : segments) {
    if (one.id < 1 || one.id >= static_cast<int>(classes.size()) || one.label < 0 || one.label > 255) {
      throw Error("a segment has id " + std::to_string(one.id) + " and class " + std::to_string(one.label) +
                  ", expected 1 to 65535 and 0 to 255");
    }
    classes[static_cast<std::size_t>(one.id)] = static_cast<std::uint8_t>(one.label);
  }
  cv::Mat map(ids.size(), CV_8U);
  std::transform(ids.begin<std::uint16_t>(), ids.end<std::uint16_t>(), map.begin<std::uint8_t>(),
                 [&](std::uint16_t id) { return classes[id]; });
  return map;
}

namespace {

// A net and what solves its task.
struct Solver {
  std::optional<Task> task;
  ScoreRows scores;            // of labels
  bool probabilities = false;  // the scores of labels are no logits
  ImageNet net;                // sets the three
  std::optional<LabelMaker> labels;
  std::optional<SegmentMaker> segments;
  std::optional<ObjectMaker> objects;
  bool features;

  Solver(const std::string& model, const EstimatorOptions& options)
      : net(model, options,
            [&](onnx::GraphProto& graph, const ModelInfo& info) {
              task = taskOf(info, options.task);
              if (task == Task::kSemantic) {
                scores = scoreRowsOf(graph, info, options.fit == Fit::kWindow);
                probabilities = givesProbabilities(graph, info);
              }
              std::vector<std::string> names = scores.exist() ? std::vector{scores.name} : info.outputs;
              if (options.features) names.push_back(restoreLastTokens(graph, info));
              return names;
            }),
        features(options.features) {
    if (task != Task::kSemantic && options.fit == Fit::kWindow)
      throw Error("'" + model + "' gives no labels, so its windows have nothing to average: use the fit 'resize'");
    if (task != Task::kSemantic && options.refine == Refine::kGuided)
      throw Error("'" + model + "' gives no labels, so there are no edges of classes to refine");
    if (task != Task::kSemantic && options.scores)
      throw Error("'" + model + "' gives no labels for this task, so it has no probabilities of classes");
    if (task == Task::kSemantic) labels.emplace(net, options, scores, probabilities);
    if (!givesSegments(task)) return;
    if (net.info().head == HeadKind::kBoxQueries)
      objects.emplace(net, options, *task);
    else
      segments.emplace(net, options, *task);
  }

  void run(const cv::Mat& image, Estimate& result) {
    runTask(image, result);
    if (features) result.features = net.tokensOf(net.answers() - 1);
  }

  void runTask(const cv::Mat& image, Estimate& result) {
    if (labels) return labels->run(image, result);
    if (segments) return segments->run(image, result);
    if (objects) return objects->run(image, result);
    if (task == Task::kDepth) return addDepth(image, net, result);
    net.run(image, result);
    for (std::size_t i = 0; i < net.answers(); ++i) net.requireFinite(i, net.answerName(i));
    for (std::size_t i = 0; i < net.info().outputs.size(); ++i) result.outputs.push_back(net.answer(i).clone());
  }
};

}  // namespace

struct Estimator::Impl {
  std::shared_ptr<Solver> solver;
  std::optional<FrameMemory> memory = solver->net.newMemory();  // nullopt: the net reuses no rows
  Estimate last{};                                              // of the frame before, with `memory`
  StopWatch clock{};
  double elapsed = 0;  // s, of the clock

  // The net, which other Estimators may share, still knows the rows of its last frame.
  ~Impl() {
    if (memory) memory->reset();
  }

  /// A frame of a fixed camera: what did not change is that of earlier frames.
  void reuse(const cv::Mat& image, double seconds, const std::optional<std::vector<int>>& patches, Estimate& result) {
    ImageNet& net = solver->net;
    ReuseReport report;
    const ReuseGate::Frame frame = net.look(*memory, image, seconds, patches, result.ms);
    report.key_frame = frame.key || frame.due;
    report.threshold = memory->gate.threshold();
    report.rows = static_cast<double>(frame.changed.size()) / net.info().tokens();
    if (!report.key_frame) report.patches = frame.changed;
    if (frame.changed.empty()) {
      const StageTimes ms = result.ms;
      result = cloned(last);
      result.ms = ms;
    } else {
      solver->run(image, result);
    }
    if (frame.due) {
      Estimate whole;
      whole.task = result.task;
      whole.grid = result.grid;
      whole.ms = result.ms;
      net.computeAll();
      solver->run(image, whole);
      report.agreement = agreementPercent(result, whole);
      report.rows = 1;
      if (report.agreement) memory->gate.compared(*report.agreement);
      result = whole;
    }
    report.kept_bytes = net.keptBytes();
    last = cloned(result);
    result.reuse = report;
  }
};

Estimator::Estimator(const std::string& model, const EstimatorOptions& options)
    : impl_(withOurErrors([&] {
        options.validate();
        return std::make_unique<Impl>(Impl{std::make_shared<Solver>(model, options)});
      })) {}
Estimator::Estimator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Estimator::~Estimator() = default;
Estimator::Estimator(Estimator&&) noexcept = default;
Estimator& Estimator::operator=(Estimator&&) noexcept = default;

Estimator::Impl& Estimator::impl() const {
  if (!impl_) throw Error("this Estimator was moved from: assign another one to it");
  return *impl_;
}

Estimator Estimator::another() const { return Estimator(std::make_unique<Impl>(Impl{impl().solver})); }

const ModelInfo& Estimator::model() const { return impl().solver->net.info(); }
std::optional<Task> Estimator::task() const { return impl().solver->task; }

Estimate Estimator::estimate(const cv::Mat& image, std::optional<double> seconds,
                             const std::optional<std::vector<int>>& patches) {
  Impl& own = impl();
  Solver& solver = *own.solver;
  StopWatch watch;
  Estimate result;
  result.task = solver.task;
  result.grid = solver.net.info().grid;
  try {
    withOurErrors([&] {
      if (image.empty()) throw Error("the image is empty");
      if (image.dims != 2 || image.type() != CV_8UC3) throw Error("an image is 8-bit BGR (CV_8UC3)");
      if (seconds && !std::isfinite(*seconds)) throw Error("the time of a frame must be a finite number of seconds");
      if (patches) requirePatches(*patches, solver.net.info().tokens(), own.memory.has_value());
      if (!own.memory) return solver.run(image, result);
      own.elapsed += own.clock.lap() / 1000;
      own.reuse(image, seconds.value_or(own.elapsed), patches, result);
    });
  } catch (const Error&) {
    reset();  // what is kept may be half of one frame and half of another
    throw;
  }
  result.ms.total = watch.lap();
  return result;
}

void Estimator::reset() {
  if (!impl().memory) return;
  impl().memory->reset();
  impl().last = {};
}

}  // namespace mpm
