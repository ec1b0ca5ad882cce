// SPDX-License-Identifier: Apache-2.0
#include "cli/pictures/token_history.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/number_text.h"
#include "charts/draw_chart.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

namespace {

constexpr double kCivilTwilight = 6;  // degrees that the sun sinks before it is night

const std::vector<int> kWidths = {-12, -10, 8, 10};

}  // namespace

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
  std::vector<std::string> heading = {"hour (UTC)", "light", "tokens"};
  for (const int block : model_.schedule()) heading.push_back("block " + std::to_string(block));
  heading.emplace_back("merged");
  std::vector<std::string> lines = {tableRow(heading, kWidths)};
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
    lines.push_back(tableRow(cells, kWidths));
  }
  return lines;
}

}  // namespace mpm::cli
