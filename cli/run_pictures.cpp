// SPDX-License-Identifier: Apache-2.0
#include "cli/run_pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "base/number_text.h"
#include "charts/draw_chart.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/labels/classes.h"
#include "vision/pictures/lettering.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

using namespace program;

namespace {

using vision::at, vision::kInk, vision::kSupersampling, vision::reduced, vision::textWidth, vision::write;

constexpr int kWidth = 480, kGap = 8, kTitle = 40, kCaption = 34, kLegendHeight = 32;
constexpr double kLetters = 12, kSwatch = 16, kText = 24, kMargin = 8, kLine = 24;

constexpr double kCivilTwilight = 6;  // degrees that the sun sinks before it is night

double legendWidth(const std::string& name) { return kText + textWidth(name, kLetters); }

void writeLegend(cv::Mat& picture, const std::string& name, const cv::Vec3b& color, double x, double y) {
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), color, cv::FILLED);
  cv::rectangle(picture, at(x, y), at(x + kSwatch, y + kSwatch), kInk, kSupersampling);
  write(picture, name, x + kText, y + 13, 0, kLetters);
}

}  // namespace

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

void ContactSheet::add(const std::string& title, const cv::Mat& image, const RunReport& result, const cv::Mat& labels) {
  // Drawn at the size of the sheet, so that the borders of the clusters stay sharp.
  const cv::Size size(kWidth, image.rows * kWidth / image.cols);
  cv::Mat small;
  cv::resize(image, small, size, 0, 0, cv::INTER_AREA);
  Column column{title, "tokens " + tokensText(result.tokens), {small}};
  if (!labels.empty()) {
    cv::Mat small_labels;
    cv::resize(labels, small_labels, size, 0, 0, cv::INTER_NEAREST);
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
  if (!frame.unix_time || !frame.sun_elevation)
    throw UsageError("'" + frame.source +
                     "' does not know its time, only the built-in scene does; 'mpm monitor' and 'mpm report --chart' "
                     "draw a camera's days");
  Moment& moment = moments_[*frame.unix_time];
  moment.sun_elevation = *frame.sun_elevation;
  moment.tokens.push_back(result.tokens);
}

cv::Mat TokenHistory::chart() const {
  using namespace charts;
  ChartDrawing drawing{.one_lane = true, .clock = Clock::kUtc};
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
    bucket.samples = static_cast<std::int64_t>(moment.tokens.size());
    bucket.night = std::clamp(-moment.sun_elevation / kCivilTwilight, 0.0, 1.0);
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
                                      sun < -kCivilTwilight ? "night"
                                      : sun < 0             ? "twilight"
                                                            : "day",
                                      fixed(hour.tokens[0], 0)};
    for (std::size_t k = 1; k < hour.tokens.size(); ++k) cells.push_back(fixed(hour.tokens[k], 1));
    cells.push_back(fixed(100 * (1 - hour.tokens.back() / hour.tokens.front()), 1) + " %");
    lines.push_back(tableRow(cells, widths));
  }
  return lines;
}

}  // namespace mpm::cli
