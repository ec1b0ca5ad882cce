// SPDX-License-Identifier: Apache-2.0
#include "cli/estimate_writer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "base/number_text.h"
#include "cli/run_pictures.h"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {
namespace {

using vision::EstimateFiles;

constexpr const char* kLabels = "_labels.png";

/// The end of the name of the file of this output of the net.
std::string outputEnding(std::size_t index, const char* extension) {
  return "_output" + (index > 0 ? std::to_string(index + 1) : "") + extension;
}

std::string shapeText(const cv::Mat& array, const char* between) {
  return CLI::detail::join(std::vector<int>(array.size.p, array.size.p + array.dims), between);
}

/// As NumPy reads it: the format of version 1.0, whose head is padded to 64 bytes.
std::string npyFile(const cv::Mat& floats) {
  std::string head = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shapeText(floats, ", ") +
                     (floats.dims == 1 ? ",)}" : ")}");
  head.resize((head.size() + 10) / 64 * 64 + 64 - 11, ' ');
  head += '\n';
  const auto length = static_cast<unsigned>(head.size());
  std::string file =
      "\x93NUMPY\x01" + std::string(1, '\0') + static_cast<char>(length & 0xff) + static_cast<char>(length >> 8) + head;
  return file.append(reinterpret_cast<const char*>(floats.data), floats.total() * sizeof(float));
}

/// Stretched to black and white; empty for what is no image of one channel.
cv::Mat greyPicture(const cv::Mat& floats) {
  cv::Mat picture;
  if (floats.dims != 4 || floats.size[0] != 1 || floats.size[1] != 1 || std::min(floats.size[2], floats.size[3]) < 2)
    return picture;
  cv::normalize(cv::Mat(floats.size[2], floats.size[3], CV_32F, floats.data), picture, 0, 255, cv::NORM_MINMAX, CV_8U);
  return picture;
}

std::pair<double, double> rangeOf(const cv::Mat& floats) {
  double least = 0, most = 0;
  cv::minMaxIdx(floats.reshape(1, 1), &least, &most);
  return {least, most};
}

}  // namespace

EstimateWriter::EstimateWriter(const ModelInfo& model, std::optional<Task> task)
    : model_(model),
      task_(task),
      names_(vision::classNames(model)),
      colors_(vision::classColors(model.facts, model.classes)) {}

std::vector<std::string> EstimateWriter::endings() const {
  if (task_ == Task::kDepth) return {EstimateFiles::kDepth, EstimateFiles::kDepthColors};
  if (task_ == Task::kSemantic) return {kLabels, EstimateFiles::kOverlay};
  std::vector<std::string> outputs;
  for (std::size_t i = 0; !task_ && i < model_.outputs.size(); ++i)
    for (const char* extension : {".npy", ".png"}) outputs.push_back(outputEnding(i, extension));
  if (!task_) return outputs;
  return {EstimateFiles::kIds, EstimateFiles::kOverlay, EstimateFiles::kSegments};
}

/// Shares of the image, by class; of segments one each.
std::vector<std::pair<int, double>> EstimateWriter::areas(const Estimate& estimate) const {
  if (estimate.ids.empty()) return vision::classAreas(estimate.labels);
  std::vector<std::pair<int, double>> areas;
  for (const Segment& one : estimate.segments)
    areas.emplace_back(one.label, static_cast<double>(one.area) / static_cast<double>(estimate.ids.total()));
  return areas;
}

std::string EstimateWriter::text(const Estimate& estimate) const {
  if (!estimate.depth.empty()) {
    const DepthRange& range = estimate.depth_range;
    return "depth " + vision::depthText(range.min) + " / " + vision::depthText(range.median) + " / " +
           vision::depthText(range.max) + " " + vision::unitText(model_.facts.depth) + " (min / median / max)";
  }
  if (!task_) {
    std::string text;
    for (std::size_t i = 0; i < estimate.outputs.size(); ++i) {
      const auto [least, most] = rangeOf(estimate.outputs[i]);
      text += (i > 0 ? ", " : "") + model_.outputs[i] + " " + shapeText(estimate.outputs[i], "x") + " from " +
              fixed(least, 3) + " to " + fixed(most, 3);
    }
    return text;
  }
  auto largest = areas(estimate);
  std::ranges::stable_sort(largest, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  if (!estimate.ids.empty()) text = counted(static_cast<std::int64_t>(largest.size()), "segment");
  for (std::size_t i = 0; i < std::min<std::size_t>(largest.size(), 3); ++i)
    text += (i > 0          ? ", "
             : text.empty() ? ""
                            : ": ") +
            names_[static_cast<std::size_t>(largest[i].first)] + " " + fixed(100 * largest[i].second, 0) + " %";
  return text;
}

Json EstimateWriter::fields(const Estimate& estimate) const {
  if (!estimate.depth.empty()) return {{"depth", vision::depthJson(estimate, model_)}};
  if (!estimate.ids.empty()) return {{"segments", vision::segmentsJson(estimate, model_)}};
  if (!task_) {
    Json outputs = Json::array();
    for (std::size_t i = 0; i < estimate.outputs.size(); ++i) {
      const cv::Mat& output = estimate.outputs[i];
      const auto [least, most] = rangeOf(output);
      outputs.push_back({{"name", model_.outputs[i]},
                         {"shape", std::vector<int>(output.size.p, output.size.p + output.dims)},
                         {"min", least},
                         {"max", most}});
    }
    return {{"output", outputs}};
  }
  Json classes = Json::object();
  for (const std::string& name : names_) classes[name] = 0.0;  // in every line: a table needs no filling in
  for (const auto& [label, area] : areas(estimate)) classes[names_[static_cast<std::size_t>(label)]] = area;
  return {{"classes", classes}};
}

vision::EstimateFiles EstimateWriter::files(const Estimate& estimate, const cv::Mat& image) {
  EstimateFiles files = vision::estimateFiles(estimate, image, model_, colors_);
  if (task_ == Task::kSemantic) files.pictures.emplace(files.pictures.begin(), kLabels, estimate.labels);
  for (std::size_t i = 0; i < estimate.outputs.size(); ++i) {
    files.texts.emplace_back(outputEnding(i, ".npy"), npyFile(estimate.outputs[i]));
    if (const cv::Mat picture = greyPicture(estimate.outputs[i]); !picture.empty())
      files.pictures.emplace_back(outputEnding(i, ".png"), picture);
  }
  for (const auto& [label, area] : areas(estimate)) drawn_.insert(label);
  return files;
}

cv::Mat EstimateWriter::annotated(const EstimateFiles& files) {
  for (const auto& [ending, picture] : files.pictures)
    if (ending == EstimateFiles::kOverlay || ending == EstimateFiles::kDepthColors) return picture;
  throw Error("--video needs a model of labels, segments or depth");
}

cv::Mat EstimateWriter::legend() const { return drawn_.empty() ? cv::Mat() : legendPicture(model_, drawn_); }

void EstimateWriter::addEarlier(const JsonValue& fields) {
  std::set<std::string> found;
  if (const auto segments = fields.find("segments"))
    for (const JsonValue& segment : segments->list()) found.insert(segment.at("class").text());
  const auto areas = fields.find("classes");
  for (int label = 0; label < static_cast<int>(names_.size()); ++label) {
    const std::string& name = names_[static_cast<std::size_t>(label)];
    const auto area = areas ? areas->find(name) : std::nullopt;
    if (found.contains(name) || (area && area->number(0, 1) > 0)) drawn_.insert(label);
  }
}

}  // namespace mpm::cli
