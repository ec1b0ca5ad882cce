// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "monitor/store/store.h"

namespace mpm::monitor::test {

inline constexpr UnixMs kNoon = 1'780'315'200'000;  // 2026-06-01 12:00:00 UTC

inline Sample sampleAt(UnixMs time, double tokens = 377, std::optional<bool> night = false) {
  Sample sample;
  sample.time = time;
  sample.tokens = {660, 491, tokens};
  sample.inference_ms = 12.5;
  sample.areas = {{0, 0.75}, {3, 0.25}};
  sample.night = night;
  sample.brightness = 100;
  return sample;
}

inline SessionInfo session(const std::string& source = "camera 0") {
  SessionInfo info;
  info.source = source;
  info.model = "vit.onnx";
  info.model_name = "tiny";
  info.model_digest = "00000000000000a1";
  info.reduce = "mpm:blocks=2,5";
  info.tokens = 660;
  info.classes = {"road", "car", "sky", "tree"};
  info.every_s = 1;
  return info;
}

inline vision::Region regionNamed(const std::string& name, double left = 0) {
  return {.name = name, .size = {64, 48}, .polygons = {{{left, 0}, {left + 9, 0}, {left + 9, 9}, {left, 9}}}};
}

inline std::vector<Sample> allSamples(const StoreReader& store, std::int64_t source = 1) {
  std::vector<Sample> samples;
  store.samples(source, INT64_MIN, INT64_MAX, [&](const Sample& sample) {
    samples.push_back(sample);
    return true;
  });
  return samples;
}

}  // namespace mpm::monitor::test
