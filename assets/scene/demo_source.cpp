// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "mpm/error.hpp"
#include "pipeline/sources.h"
#include "scene/street.h"

namespace mpm {
namespace {

/// The films of some streets, one after the other.
class SceneSource final : public FrameSource {
 public:
  SceneSource(const std::string& text, const SourceOptions& options)
      : text_(text), streets_(scene::parseStreets(text.substr(std::string("demo:").size()))), options_(options) {
    street_.emplace(streets_.front());
  }

  std::optional<Frame> next() override {
    if (stopped(options_)) return std::nullopt;
    std::optional<scene::Rendering> rendered = street_->frame(next_ - first_);
    if (!rendered && number_ + 1 < streets_.size()) {
      street_.emplace(streets_[++number_]);
      first_ = next_;
      rendered = street_->frame(0);
    }
    if (!rendered) return std::nullopt;
    const int index = next_++;
    const scene::Truth& truth = rendered->truth;
    return Frame{rendered->image,
                 frameName("street", index),
                 text_,
                 index,
                 rendered->labels,
                 truth.unix_time,
                 truth.sun_elevation_deg,
                 truth.is_night,
                 static_cast<int>(number_)};
  }

  std::optional<int> size() const override {
    const auto frames = static_cast<std::int64_t>(streets_.size()) * streets_.front().frames;
    if (frames == 0) return std::nullopt;
    return static_cast<int>(std::min<std::int64_t>(frames, std::numeric_limits<int>::max()));
  }

 private:
  std::string text_;
  std::vector<scene::StreetOptions> streets_;
  SourceOptions options_;
  std::optional<scene::Street> street_;
  std::size_t number_ = 0;
  int next_ = 0, first_ = 0;  // frames of the source; the first one of this street
};

}  // namespace

std::unique_ptr<FrameSource> openScene(const std::string& text, const SourceOptions& options) {
  return std::make_unique<SceneSource>(text, options);
}

}  // namespace mpm
