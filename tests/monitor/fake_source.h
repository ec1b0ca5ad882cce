// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "monitor/capture/capture.h"

namespace mpm::monitor::test {

/// A source made of a function that gets the number of the call.
class FakeSource final : public vision::FrameSource {
 public:
  explicit FakeSource(std::function<std::optional<vision::Frame>(int)> next) : next_(std::move(next)) {}
  std::optional<vision::Frame> next() override { return next_(calls_++); }

 private:
  std::function<std::optional<vision::Frame>(int)> next_;
  int calls_ = 0;
};

/// Opens such a source each time.
inline SourceFactory always(std::function<std::optional<vision::Frame>(int)> next) {
  return [next](const vision::SourceOptions&) { return std::make_unique<FakeSource>(next); };
}

}  // namespace mpm::monitor::test
