// SPDX-License-Identifier: Apache-2.0
#include "demo_source.h"

#include <algorithm>
#include <limits>

#include "base/number_text.h"
#include "street.h"
#include "vision/sources/source.h"
#include "vision/sources/sources.h"

namespace mpm::scene {
namespace {

// With SourceOptions::frame_step_s and resume_after applied.
std::vector<StreetOptions> streetsOf(std::string text, const vision::SourceOptions& options) {
  constexpr double kShortestStep = 1e-3;  // of the frame rates that a street may have
  if (options.frame_step_s.value_or(0) > kShortestStep)
    text += (text.find('?') == std::string::npos ? "?fps=" : "&fps=") + numberText(1 / *options.frame_step_s);
  std::vector<StreetOptions> streets = options.frame_step_s ? std::vector{parseStreet(text)} : parseStreets(text);
  for (StreetOptions& street : streets) {
    if (options.resume_after && street.speed > 0 && *options.resume_after >= street.start)
      street.start = *options.resume_after + street.speed / street.fps;
  }
  return streets;
}

/// The films of some streets, one after the other.
class DemoSource final : public vision::FrameSource {
 public:
  DemoSource(const vision::SourceSpec& source, const vision::SourceOptions& options)
      : text_(source.text), streets_(streetsOf(source.target, options)), options_(options) {}

  std::optional<vision::Frame> next() override {
    if (vision::stopped(options_)) return std::nullopt;
    if (!street_) street_.emplace(streets_.front());  // not before it is needed: it takes some tenths of a second
    std::optional<Rendering> rendered = street_->frame(next_ - first_);
    if (!rendered && number_ + 1 < streets_.size()) {
      street_.emplace(streets_[++number_]);
      first_ = next_;
      rendered = street_->frame(0);
    }
    if (!rendered) return std::nullopt;
    const int index = next_++;
    const Truth& truth = rendered->truth;
    return vision::Frame{.image = rendered->image,
                         .name = vision::frameName("street", index),
                         .source = text_,
                         .index = index,
                         .labels = rendered->labels,
                         .unix_time = truth.unix_time,
                         .sun_elevation = truth.sun_elevation_deg,
                         .night = truth.is_night,
                         .film = static_cast<int>(number_)};
  }

  std::optional<int> size() const override {
    const auto frames = static_cast<std::int64_t>(streets_.size()) * streets_.front().frames;
    if (frames == 0) return std::nullopt;
    return static_cast<int>(std::min<std::int64_t>(frames, std::numeric_limits<int>::max()));
  }

  std::vector<std::string> classNames() const override {
    std::vector<std::string> names;
    for (const ClassStyle& style : kClassStyles) names.emplace_back(style.name);
    return names;
  }

  std::optional<vision::GeoPosition> place() const override {
    return vision::GeoPosition{streets_.front().latitude, streets_.front().longitude};
  }

 private:
  std::string text_;
  std::vector<StreetOptions> streets_;
  vision::SourceOptions options_;
  std::optional<Street> street_;
  std::size_t number_ = 0;
  int next_ = 0, first_ = 0;  // frames of the source; the first one of this street
};

}  // namespace

void registerDemoSource() {
  vision::setDemoSource([](const vision::SourceSpec& source, const vision::SourceOptions& options) {
    return std::make_unique<DemoSource>(source, options);
  });
}

}  // namespace mpm::scene
