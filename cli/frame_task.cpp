// SPDX-License-Identifier: Apache-2.0
#include "cli/frame_task.h"

#include <algorithm>
#include <set>

#include "cli/pictures/contact_sheet.h"
#include "cli/terminal/program.h"
#include "vision/classes.h"
#include "vision/estimate_files.h"
#include "vision/pictures.h"

namespace mpm::cli {
namespace {

using vision::EstimateFiles;

// A task whose pictures have the colours of classes.
class ClassTask : public FrameTask {
 public:
  explicit ClassTask(Estimator estimator) : FrameTask(std::move(estimator)) {}

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

  std::vector<std::string> names_ = vision::classNames(model());
  std::vector<cv::Vec3b> colors_ = vision::classColors(model().facts, model().classes);
  std::set<int> drawn_;  // classes
};

class SemanticTask final : public ClassTask {
 public:
  using ClassTask::ClassTask;

  std::vector<std::string> endings() const override { return {kLabels, EstimateFiles::kOverlay}; }

  void addEarlier(const Json& line) override {
    for (int label = 0; label < static_cast<int>(names_.size()); ++label)
      if (line.value("/classes"_json_pointer / names_[label], 0.0) > 0) drawn_.insert(label);
  }

 private:
  FrameAnswer describe(const vision::Estimate& result, const cv::Mat& image, bool draw) override {
    FrameAnswer answer{result, result.labels, {}, {{"classes", Json::object()}}, {}};
    if (result.labels.empty()) return answer;
    const auto areas = vision::classAreas(result.labels);
    answer.text = largest(areas);
    Json& classes = answer.fields["classes"];
    for (const std::string& name : names_) classes[name] = 0.0;  // in every line: a table needs no filling in
    for (const auto& [label, area] : areas) classes[names_[label]] = area;
    if (!draw) return answer;
    answer.files = vision::estimateFiles(result, image, model(), colors_);
    answer.files.pictures.emplace(answer.files.pictures.begin(), kLabels, result.labels);
    for (const auto& [label, area] : areas) drawn_.insert(label);
    return answer;
  }

  static constexpr const char* kLabels = "_labels.png";
};

class SegmentsTask final : public ClassTask {
 public:
  using ClassTask::ClassTask;

  std::vector<std::string> endings() const override {
    return {EstimateFiles::kIds, EstimateFiles::kOverlay, EstimateFiles::kSegments};
  }

  void addEarlier(const Json& line) override {
    for (const Json& segment : line.value("segments", Json::array())) {
      const auto name = std::find(names_.begin(), names_.end(), segment.value("class", ""));
      if (name != names_.end()) drawn_.insert(static_cast<int>(name - names_.begin()));
    }
  }

 private:
  FrameAnswer describe(const vision::Estimate& result, const cv::Mat& image, bool draw) override {
    std::vector<std::pair<int, double>> areas;
    for (const Segment& one : result.segments)
      areas.emplace_back(one.label, static_cast<double>(one.area) / static_cast<double>(result.ids.total()));
    const std::string count = counted(static_cast<std::int64_t>(areas.size()), "segment");
    FrameAnswer answer{result, {}, count + (areas.empty() ? "" : ": " + largest(areas)), {}, {}};
    answer.fields["segments"] = vision::segmentsJson(result, model());
    if (!draw) return answer;
    answer.files = vision::estimateFiles(result, image, model(), colors_);
    for (const Segment& one : result.segments) drawn_.insert(one.label);
    return answer;
  }
};

class DepthTask final : public FrameTask {
 public:
  explicit DepthTask(Estimator estimator) : FrameTask(std::move(estimator)) {}

  std::vector<std::string> endings() const override { return {EstimateFiles::kDepth, EstimateFiles::kDepthColors}; }

 private:
  FrameAnswer describe(const vision::Estimate& result, const cv::Mat& image, bool draw) override {
    const vision::DepthRange& range = result.depth_range;
    FrameAnswer answer{result, {}, {}, {}, {}};
    answer.text = "depth " + vision::depthText(range.min) + " / " + vision::depthText(range.median) + " / " +
                  vision::depthText(range.max) + " " + vision::unitText(model().facts.depth) + " (min / median / max)";
    answer.fields["depth"] = vision::depthJson(result, model());
    if (draw) answer.files = vision::estimateFiles(result, image, model(), {});
    return answer;
  }
};

}  // namespace

std::unique_ptr<FrameTask> frameTask(const std::string& model, const SegmenterOptions& options,
                                     const TaskOptions& wanted) {
  EstimatorOptions reading{options};
  reading.task = wanted.task;
  reading.min_score = wanted.min_score.value_or(reading.min_score);
  reading.min_overlap = wanted.min_overlap.value_or(reading.min_overlap);
  Estimator estimator = readEstimator(model, reading);
  if (std::holds_alternative<PanopticSegmenter>(estimator)) return std::make_unique<SegmentsTask>(std::move(estimator));
  if (wanted.min_score || wanted.min_overlap)
    throw UsageError("--min-score and --min-overlap are for the tasks panoptic and instance");
  if (std::holds_alternative<DepthEstimator>(estimator)) return std::make_unique<DepthTask>(std::move(estimator));
  return std::make_unique<SemanticTask>(std::move(estimator));
}

}  // namespace mpm::cli
