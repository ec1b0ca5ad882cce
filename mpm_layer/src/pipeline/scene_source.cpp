// SPDX-License-Identifier: Apache-2.0
#include "mpm/error.hpp"
#include "pipeline/sources.h"
#include "scene/street.h"

namespace mpm {
namespace {

class SceneSource final : public FrameSource {
 public:
  SceneSource(const std::string& text, const scene::StreetOptions& street, const SourceOptions& options)
      : text_(text), street_(street), options_(options) {}

  std::optional<Frame> next() override {
    if (stopped(options_)) return std::nullopt;
    std::optional<scene::Rendering> rendering = street_.frame(next_);
    if (!rendering) return std::nullopt;
    const int index = next_++;
    return Frame{rendering->image,  frameName("street", index), text_, index,
                 rendering->labels, rendering->truth.unix_time};
  }

  std::optional<int> size() const override {
    const int frames = street_.options().frames;
    return frames > 0 ? std::optional(frames) : std::nullopt;
  }

 private:
  std::string text_;
  scene::Street street_;
  SourceOptions options_;
  int next_ = 0;
};

}  // namespace

std::unique_ptr<FrameSource> openScene(const std::string& text, const SourceOptions& options) {
  return std::make_unique<SceneSource>(text, scene::parseStreet(text.substr(std::string("demo:").size())), options);
}

}  // namespace mpm
