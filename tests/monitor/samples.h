// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <sstream>

#include "monitor/statistics/day_night.h"
#include "monitor/store/store_reader.h"
#include "monitor/store/store_writer.h"
#include "support/in_folder.h"
#include "support/matchers.h"

namespace mpm::monitor::test {

inline constexpr UnixMs kNoon = 1'780'315'200'000;  // 2026-06-01 12:00:00 UTC
inline const std::string kModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";  // 3 blocks, 4 classes
inline const std::string kOther = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";

/// A test with a folder of its own, and the database it makes there.
class InFolder : public mpm::test::InFolder {
 protected:
  const std::string path_ = folder_ / "a.db";
};

/// A grey picture of brightness 100.
inline Sample sampleAt(UnixMs time, double tokens = 377, std::optional<bool> night = false, FrameFacts facts = {}) {
  Sample sample;
  sample.time = time;
  sample.night = night;
  facts.token_counts = sample.token_counts = {660, 491, tokens};
  facts.inference_ms = 12.5;
  sample.whole() = evaluate({.pixels = 100, .mean = {100, 100, 100}, .tokens = tokens, .frame = &facts});
  sample.whole().areas = {{0, 0.75}, {3, 0.25}};
  return sample;
}

/// A sample in ten minutes, dark at night and bright at noon, judged by the rule when it was stored. Their tokens are
/// 300 and the hour.
inline std::vector<Sample> samplesBetween(UnixMs from, UnixMs to, const NightRule& rule = {}) {
  DayNight judge(rule);
  std::vector<Sample> samples;
  for (UnixMs time = from; time < to; time += 10 * kMinuteMs) {
    const double hour = static_cast<double>(time % kDayMs) / kHourMs;
    Sample sample = sampleAt(time, 300 + std::floor(hour));
    sample.whole().set("brightness", std::round(60 - 50 * std::cos(hour / 24 * 2 * M_PI)));
    sample.night = judge.night(time, sample.brightness());
    samples.push_back(sample);
  }
  return samples;
}

inline Event eventAt(UnixMs time, const std::string& message) {
  return {time, EventKind::kSource, Severity::kInfo, message};
}

/// `index`: of the regions that are watched.
inline RegionSample regionOf(std::int64_t index, std::array<double, 3> rgb, std::optional<double> tokens = {},
                             std::vector<std::pair<int, double>> areas = {}, const std::string& name = "region") {
  RegionSample region = evaluate({.pixels = 100, .mean = rgb, .deviation = {4, 5, 6}, .tokens = tokens});
  region.region = index + 1;
  region.name = name;
  region.areas = std::move(areas);
  return region;
}

inline SessionInfo session(const std::string& source = "camera 0", double every_s = 1) {
  SessionInfo info;
  info.source = source;
  info.model = "vit.onnx";
  info.model_name = "tiny";
  info.model_digest = "00000000000000a1";
  info.reduce = "mpm:blocks=2,5";
  info.precision = "fp32";
  info.tokens = 660;
  info.classes = {"road", "car", "sky", "tree"};
  info.every_s = every_s;
  return info;
}

inline vision::Region regionNamed(const std::string& name, double left = 0) {
  return {.name = name, .size = {64, 48}, .polygons = {{{left, 0}, {left + 9, 0}, {left + 9, 9}, {left, 9}}}};
}

/// A writer whose session has begun.
struct RunningWriter : StoreWriter {
  explicit RunningWriter(const std::string& path, StoreOptions options = {}, EventCallback on_event = {})
      : StoreWriter(path, std::move(options), std::move(on_event)) {
    beginSession(session());
  }
};

/// Writes these samples as one session, into a file that may be there.
inline void record(const std::string& path, const std::vector<Sample>& samples, const SessionInfo& info = session(),
                   const std::vector<vision::Region>& regions = {}) {
  StoreWriter writer(path);
  if (!regions.empty()) writer.setRegions(info.source, regions);
  writer.beginSession(info);
  for (const Sample& sample : samples) writer.append(sample);
  ASSERT_TRUE(writer.flush());
}

/// The series of a source that is measured now.
inline SeriesRecord latestSeries(const StoreReader& store, std::int64_t source = 1) {
  return store.series(source).back();
}

/// How many samples of its first series a chart has.
inline std::int64_t samplesIn(const Chart& chart) {
  std::int64_t samples = 0;
  for (const ChartBucket& bucket : chart.buckets)
    samples += bucket.values.empty() ? bucket.samples : bucket.values[0].samples;
  return samples;
}

inline std::vector<Sample> allSamples(const StoreReader& store, std::int64_t source = 1,
                                      std::optional<std::int64_t> series = {}) {
  std::vector<Sample> samples;
  const auto take = [&](const Sample& sample) {
    samples.push_back(sample);
    return true;
  };
  store.samples(source, INT64_MIN, INT64_MAX, take, series);
  return samples;
}
/// Those of the series that is measured now.
inline std::vector<Sample> latestSamples(const StoreReader& store) {
  return allSamples(store, 1, latestSeries(store).id);
}

/// How many samples of its first source are committed in a database that another program may be making.
inline std::int64_t samplesStored(const std::string& database) {
  try {
    return StoreReader(database).count(1);
  } catch (const Error&) {
    return 0;  // not even the tables
  }
}

inline std::vector<Event> allEvents(const StoreReader& store, std::int64_t source = 1) {
  return store.events(source, INT64_MIN, INT64_MAX);
}

inline std::vector<std::string> partsOf(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, between);) parts.push_back(part);
  return parts;
}
inline std::vector<std::string> linesOf(const std::string& text) { return partsOf(text, '\n'); }

inline std::vector<std::string> messagesOf(const std::vector<Event>& events) {
  std::vector<std::string> messages;
  for (const Event& event : events) messages.push_back(event.message);
  return messages;
}

}  // namespace mpm::monitor::test
