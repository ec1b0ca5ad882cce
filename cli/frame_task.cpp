// SPDX-License-Identifier: Apache-2.0
#include "cli/frame_task.h"

#include <algorithm>
#include <set>

#include "cli/pictures/contact_sheet.h"
#include "cli/pictures/depth_legend.h"
#include "cli/terminal/program.h"
#include "mpm/convert.hpp"
#include "mpm/depth_estimator.hpp"
#include "mpm/error.hpp"
#include "mpm/panoptic_segmenter.hpp"
#include "vision/classes.h"
#include "vision/depth_pictures.h"
#include "vision/pictures.h"

namespace mpm::cli {
namespace {

// A task whose pictures have the colours of classes.
template <class Net>
class ClassTask : public FrameTask {
 public:
  template <class Options>
  ClassTask(const std::string& model, const Options& options) : net_(model, options) {}

  const ModelInfo& model() const override { return net_.model(); }
  cv::Mat legend() const override { return drawn_.empty() ? cv::Mat() : legendPicture(model(), drawn_); }

 protected:
  // "road 40 %, sky 31 %": the three of these classes that cover most; shares of the image.
  std::string largest(std::vector<std::pair<int, double>> areas) const {
    std::stable_sort(areas.begin(), areas.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(areas.size(), 3); ++i)
      text += (i == 0 ? "" : ", ") + names_[areas[i].first] + " " + fixed(100 * areas[i].second, 0) + " %";
    return text;
  }

  Net net_;
  std::vector<std::string> names_ = vision::classNames(model());
  std::vector<cv::Vec3b> colors_ = vision::classColors(model().facts, model().classes);
  std::set<int> drawn_;  // classes
};

class SemanticTask final : public ClassTask<Segmenter> {
 public:
  using ClassTask::ClassTask;

  std::vector<std::string> endings() const override { return {kLabels, kOverlay}; }

  FrameAnswer answer(const cv::Mat& image, bool draw) override {
    const Segmentation result = net_.segment(image);
    FrameAnswer answer{result, result.labels, {}, {{"classes", Json::object()}}, {}};
    if (result.labels.empty()) return answer;
    const auto areas = vision::classAreas(result.labels);
    answer.text = largest(areas);
    Json& classes = answer.fields["classes"];
    for (const std::string& name : names_) classes[name] = 0.0;  // in every line: a table needs no filling in
    for (const auto& [label, area] : areas) classes[names_[label]] = area;
    if (!draw) return answer;
    answer.pictures = {{kLabels, result.labels}, {kOverlay, vision::overlayPicture(image, result.labels, colors_)}};
    for (const auto& [label, area] : areas) drawn_.insert(label);
    return answer;
  }

  void addEarlier(const Json& line) override {
    for (int label = 0; label < static_cast<int>(names_.size()); ++label)
      if (line.value("/classes"_json_pointer / names_[label], 0.0) > 0) drawn_.insert(label);
  }

 private:
  static constexpr const char *kLabels = "_labels.png", *kOverlay = "_overlay.png";
};

class SegmentsTask final : public ClassTask<PanopticSegmenter> {
 public:
  using ClassTask::ClassTask;

  std::vector<std::string> endings() const override { return {kIds, kOverlay, kList}; }

  FrameAnswer answer(const cv::Mat& image, bool draw) override {
    const PanopticMap result = net_.segment(image);
    const std::vector<ClassInfo>& classes = model().facts.classes;
    Json list = Json::array();
    std::vector<std::pair<int, double>> areas;
    for (const Segment& one : result.segments) {
      list.push_back({{"id", one.id},
                      {"class", names_[one.label]},
                      {"score", one.score},
                      {"area", one.area},
                      {"thing", classes.empty() || classes[one.label].thing}});
      areas.emplace_back(one.label, static_cast<double>(one.area) / static_cast<double>(result.ids.total()));
    }
    const std::string count = counted(static_cast<std::int64_t>(areas.size()), "segment");
    FrameAnswer answer{result, {}, count + (areas.empty() ? "" : ": " + largest(areas)), {{"segments", list}}, {}};
    if (!draw) return answer;
    std::vector<cv::Vec3b> colors;
    for (const Segment& one : result.segments) {
      colors.push_back(colors_[one.label]);
      drawn_.insert(one.label);
    }
    answer.pictures = {{kIds, result.ids}, {kOverlay, vision::segmentsPicture(image, result.ids, colors)}};
    answer.texts = {{kList, toLine({{"task", toString(net_.task())}, {"segments", list}}) + "\n"}};
    return answer;
  }

  void addEarlier(const Json& line) override {
    for (const Json& segment : line.value("segments", Json::array())) {
      const auto name = std::find(names_.begin(), names_.end(), segment.value("class", ""));
      if (name != names_.end()) drawn_.insert(static_cast<int>(name - names_.begin()));
    }
  }

 private:
  static constexpr const char *kIds = "_segments.png", *kOverlay = "_overlay.png", *kList = "_segments.json";
};

class DepthTask final : public FrameTask {
 public:
  DepthTask(const std::string& model, const SegmenterOptions& options)
      : estimator_(model, {options.read, options.threads}) {}

  const ModelInfo& model() const override { return estimator_.model(); }
  std::vector<std::string> endings() const override { return {kDepth, kColors}; }

  FrameAnswer answer(const cv::Mat& image, bool draw) override {
    const DepthMap result = estimator_.estimate(image);
    const DepthUnit unit = model().facts.depth;
    const vision::DepthRange range = vision::depthRange(result.depth);
    const vision::DepthImage file = vision::depthImage(result.depth, unit);
    FrameAnswer answer{result, {}, {}, {}, {}};
    answer.text = "depth " + depthText(range.min) + " / " + depthText(range.median) + " / " + depthText(range.max) +
                  " " + unitText(unit) + " (min / median / max)";
    answer.fields["depth"] = {{"unit", toString(unit)}, {"min", range.min},      {"median", range.median},
                              {"max", range.max},       {"offset", file.offset}, {"step", file.step}};
    if (draw)
      answer.pictures = {{kDepth, file.pixels},
                         {kColors, withDepthLegend(vision::depthPicture(result.depth, range), range, unit)}};
    return answer;
  }

 private:
  static constexpr const char *kDepth = "_depth.png", *kColors = "_depth_colors.png";

  DepthEstimator estimator_;
};

}  // namespace

std::unique_ptr<FrameTask> frameTask(const std::string& model, const SegmenterOptions& options,
                                     const TaskOptions& wanted) {
  const ModelInfo info = readModelInfo(model, options.read.convert);
  const std::optional<Task> task = wanted.task ? wanted.task : info.task;
  if (task == Task::kPanoptic || task == Task::kInstance) {
    PanopticOptions segments{.read = options.read, .threads = options.threads, .task = task};
    segments.min_score = wanted.min_score.value_or(segments.min_score);
    segments.min_overlap = wanted.min_overlap.value_or(segments.min_overlap);
    return std::make_unique<SegmentsTask>(model, segments);
  }
  if (wanted.min_score || wanted.min_overlap)
    throw UsageError("--min-score and --min-overlap are for the tasks panoptic and instance");
  if (task == Task::kDepth) return std::make_unique<DepthTask>(model, options);
  if (wanted.task && !info.givesLabels())
    throw Error("'" + model + "' gives no labels (its head is '" + toString(info.head) + "')");
  return std::make_unique<SemanticTask>(model, options);
}

}  // namespace mpm::cli
