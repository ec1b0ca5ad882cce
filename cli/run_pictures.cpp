// SPDX-License-Identifier: Apache-2.0
#include "cli/run_pictures.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "base/number_text.h"
#include "charts/draw_chart.h"
#include "monitor/statistics/day_night.h"
#include "mpm/error.hpp"
#include "program/terminal/program.h"
#include "vision/labels/classes.h"
#include "vision/pictures/lettering.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

using namespace program;

namespace {

using vision::at, vision::EstimateFiles, vision::kInk, vision::kSupersampling, vision::reduced, vision::textWidth,
    vision::write;

constexpr int kWidth = 480, kGap = 8, kTitle = 40, kCaption = 34, kLegendHeight = 32;
constexpr double kLetters = 12, kSwatch = 16, kText = 24, kMargin = 8, kLine = 24;

// Elevation of the sun at the end of civil twilight.
constexpr double kNight = monitor::NightBySun().night_below;

double legendWidth(const std::string& name) { return kText + textWidth(name, kLetters); }

void writeLegend(cv::Mat& picture, const std::string& name, const cv::Vec3b& color, double x, double y) {
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), color, cv::FILLED);
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), kInk, kSupersampling);
  write(picture, name, x + kText, y + 13, 0, kLetters);
}

// The names and colours of these classes, one below the other. CV_8UC3.
cv::Mat legendPicture(const ModelInfo& model, const std::set<int>& classes) {
  const std::vector<std::string> names = vision::classNames(model);
  const std::vector<cv::Vec3b> colors = vision::classColors(model.facts, model.classes);
  double width = 0, y = kMargin;
  for (int label : classes) width = std::max(width, legendWidth(names[label]));
  const cv::Point size = at(width + 2 * kMargin, kLine * static_cast<double>(classes.size()) + kMargin);
  cv::Mat picture(size.y, size.x, CV_8UC3, cv::Scalar::all(255));
  for (int label : classes) {
    writeLegend(picture, names[label], colors[label], kMargin, y);
    y += kLine;
  }
  return reduced(picture);
}

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
  if (std::ranges::any_of(estimate.segments, [](const Segment& one) { return one.box.has_value(); })) {
    std::string text = counted(static_cast<std::int64_t>(estimate.segments.size()), "object");
    for (std::size_t i = 0; i < std::min<std::size_t>(estimate.segments.size(), 3); ++i) {
      text += (i > 0 ? ", " : ": ") + names_[static_cast<std::size_t>(estimate.segments[i].label)] + " " +
              fixed(100 * estimate.segments[i].score, 0) + " %";
    }
    return text;
  }
  auto largest = areas(estimate);
  std::ranges::stable_sort(largest, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  if (!estimate.ids.empty()) text = counted(static_cast<std::int64_t>(largest.size()), "segment");
  for (std::size_t i = 0; i < std::min<std::size_t>(largest.size(), 3); ++i) {
    text += (i > 0          ? ", "
             : text.empty() ? ""
                            : ": ") +
            names_[static_cast<std::size_t>(largest[i].first)] + " " + fixed(100 * largest[i].second, 0) + " %";
  }
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
  throw Error("--video needs a model of labels, segments, boxes or depth");
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

void ContactSheet::add(const std::string& title, const cv::Mat& image, const RunReport& result, const cv::Mat& labels) {
  // Drawn at the size of the sheet, so that the borders of the clusters stay sharp.
  const cv::Size size(kWidth, image.rows * kWidth / image.cols);
  cv::Mat small;
  cv::resize(image, small, size, 0, 0, cv::INTER_AREA);
  Column column{title, "tokens " + tokensText(result.tokens), {small}};
  if (!labels.empty()) {
    cv::Mat small_labels;
    cv::resize(labels, small_labels, size, 0, 0, cv::INTER_NEAREST_EXACT);
    column.pictures.push_back(
        vision::overlayPicture(small, small_labels, vision::classColors(model_.facts, model_.classes), 0.6));
    for (const auto& [label, area] : vision::classAreas(small_labels)) areas_[label] += area;
  }
  if (!result.cluster_of_token.empty()) column.pictures.push_back(vision::mergePicture(small, result));
  columns_.push_back(std::move(column));
}

cv::Mat ContactSheet::picture() const {
  const int columns = static_cast<int>(columns_.size());
  int height = 0;
  for (const Column& column : columns_) {
    int own = kTitle + kCaption;
    for (const cv::Mat& picture : column.pictures) own += picture.rows + kGap;
    height = std::max(height, own);
  }
  cv::Mat sheet((height + kLegendHeight) * kSupersampling, (columns * (kWidth + kGap) + kGap) * kSupersampling, CV_8UC3,
                cv::Scalar::all(255));
  std::vector<std::pair<cv::Rect, const cv::Mat*>> places;
  for (int i = 0; i < columns; ++i) {
    const int x = kGap + i * (kWidth + kGap);
    int y = kTitle;
    write(sheet, columns_[i].title, x, y - 14, 0, 14);
    for (const cv::Mat& picture : columns_[i].pictures) {
      places.emplace_back(cv::Rect(x, y, picture.cols, picture.rows), &picture);
      y += picture.rows + kGap;
    }
    write(sheet, columns_[i].caption, x, y + 12, 0, 12);
  }

  std::vector<int> classes(areas_.size());
  std::iota(classes.begin(), classes.end(), 0);
  std::ranges::stable_sort(classes, [this](int a, int b) { return areas_[a] > areas_[b]; });
  const std::vector<std::string> names = vision::classNames(model_);
  const std::vector<cv::Vec3b> colors = vision::classColors(model_.facts, model_.classes);
  double x = kGap;
  for (int label : classes) {
    if (areas_[label] == 0 || x + legendWidth(names[label]) > columns * (kWidth + kGap)) break;
    writeLegend(sheet, names[label], colors[label], x, height);
    x += legendWidth(names[label]) + 24;
  }
  sheet = reduced(sheet);
  for (const auto& [place, picture] : places) picture->copyTo(sheet(place));
  return sheet;
}

void TokenHistory::add(const vision::Frame& frame, const RunReport& result) {
  if (!frame.sun_elevation) {
    throw UsageError(
        "'" + frame.source +
        "': --chart draws the built-in scene only; 'mpm monitor' and 'mpm report --chart' draw the days of "
        "pictures and cameras");
  }
  Moment& moment = moments_[frame.unix_time.value()];
  moment.sun_elevation = *frame.sun_elevation;
  moment.tokens.push_back(result.tokens);
}

cv::Mat TokenHistory::chart() const {
  using namespace charts;
  ChartDrawing drawing{.one_lane = true, .clock = vision::CameraClock()};
  drawing.title = "Tokens of " + model_.facts.name + ", " + std::to_string(model_.tokens()) + " before merging";
  const std::string where = model_.reduction.method == ReductionMethod::kMpm ? "before" : "in";
  const Schedule blocks = model_.schedule();
  for (const int block : blocks)
    drawing.series.push_back({.name = "merged " + where + " block " + std::to_string(block)});
  if (blocks.empty()) drawing.series.push_back({.name = "tokens"});
  const std::size_t first = blocks.empty() ? 0 : 1;  // without merging there is the full count alone
  if (moments_.empty()) return chartPicture(std::move(drawing));
  const double first_time = moments_.begin()->first, last_time = moments_.rbegin()->first;
  const double step = moments_.size() > 1 ? (last_time - first_time) / static_cast<double>(moments_.size() - 1) : 60;
  const auto ms = [](double seconds) { return static_cast<UnixMs>(std::llround(seconds * kSecondMs)); };
  const UnixMs margin = moments_.size() > 1 ? 0 : kMinuteMs;
  drawing.axis.from = static_cast<double>(ms(first_time) - margin) / kSecondMs;
  drawing.axis.to = static_cast<double>(ms(last_time) + margin + 1) / kSecondMs;
  Chart& chart = drawing.chart;
  chart.bucket_ms = ms(step);
  for (const auto& [time, moment] : moments_) {
    ChartBucket bucket;
    bucket.start = ms(time) - chart.bucket_ms / 2;
    bucket.middle = ms(time);
    bucket.samples = static_cast<std::int64_t>(moment.tokens.size());
    bucket.night = std::clamp(moment.sun_elevation / kNight, 0.0, 1.0);
    for (std::size_t k = first; k < moment.tokens.front().size(); ++k) {
      Spread spread{bucket.samples, 0, moment.tokens.front()[k], moment.tokens.front()[k]};
      for (const std::vector<double>& tokens : moment.tokens) {
        spread.mean += tokens[k] / static_cast<double>(bucket.samples);
        spread.min = std::min(spread.min, tokens[k]);
        spread.max = std::max(spread.max, tokens[k]);
      }
      bucket.values.push_back(spread);
    }
    chart.buckets.push_back(std::move(bucket));
  }
  return chartPicture(std::move(drawing));
}

std::vector<std::string> TokenHistory::hours() const {
  struct Hour {
    int frames = 0;
    double sun_elevation = 0;
    std::vector<double> tokens;
  };
  std::array<Hour, 24> hours;
  for (const auto& [time, moment] : moments_) {
    Hour& hour = hours[static_cast<std::size_t>(std::floor(time / 3600) - 24 * std::floor(time / 86400))];
    for (const std::vector<double>& tokens : moment.tokens) {
      ++hour.frames;
      hour.tokens.resize(tokens.size());
      hour.sun_elevation += (moment.sun_elevation - hour.sun_elevation) / hour.frames;
      for (std::size_t k = 0; k < tokens.size(); ++k) hour.tokens[k] += (tokens[k] - hour.tokens[k]) / hour.frames;
    }
  }
  const std::vector<int> widths = {-12, -10, 8, 10};
  std::vector<std::string> heading = {"hour (UTC)", "light", "tokens"};
  for (const int block : model_.schedule()) heading.push_back("block " + std::to_string(block));
  heading.emplace_back("merged");
  std::vector<std::string> lines = {tableRow(heading, widths)};
  for (std::size_t h = 0; h < hours.size(); ++h) {
    const Hour& hour = hours[h];
    if (hour.frames == 0) continue;
    const double sun = hour.sun_elevation;
    std::vector<std::string> cells = {(h < 10 ? "0" : "") + std::to_string(h) + ":00",
                                      sun < kNight ? "night"
                                      : sun < 0    ? "twilight"
                                                   : "day",
                                      fixed(hour.tokens[0], 0)};
    for (std::size_t k = 1; k < hour.tokens.size(); ++k) cells.push_back(fixed(hour.tokens[k], 1));
    cells.push_back(fixed(100 * (1 - hour.tokens.back() / hour.tokens.front()), 1) + " %");
    lines.push_back(tableRow(cells, widths));
  }
  return lines;
}

}  // namespace mpm::cli
