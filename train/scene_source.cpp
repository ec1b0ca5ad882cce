// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <mutex>

#include "samples.h"
#include "scene/street.h"

namespace mpm::train {
namespace {

constexpr std::uint64_t kFirstTrainingSeed = 1'000'000;
constexpr double kDay = 86400, kYear = 365 * kDay;
constexpr double kNewYear = 1'767'225'600;  // 2026-01-01T00:00 UTC

class SceneSource : public SampleSource {
 public:
  SceneSource(const SceneOptions& scene, const AugmentationOptions& augmentation, std::uint64_t seed, int ignore)
      : scene_(scene), augmentation_(augmentation), seed_(seed), ignore_(ignore) {
    for (const scene::ClassStyle& style : scene::kClassStyles) classes_.push_back({style.name, style.rgb});
  }

  const std::vector<ClassInfo>& classes() const override { return classes_; }
  int chunkSize() const override { return scene_.samples_per_street; }
  int heldOutCount() const override { return scene_.held_out_streets * scene_.held_out_per_street; }
  bool knowsNight() const override { return true; }

  std::vector<TrainingSample> trainingChunk(std::uint64_t chunk, Size2 size) const override {
    Random random(seed_, chunk);
    // The renderer draws at any size, so a window of a larger image is rendered at its own scale, not enlarged.
    const double scale = random.uniform(std::max(1., augmentation_.scale_min), std::max(1., augmentation_.scale_max));
    scene::StreetOptions options;
    options.seed = kFirstTrainingSeed + random.bits() % 1'000'000'000;
    options.size = {static_cast<int>(std::ceil(size.width * scale)), static_cast<int>(std::ceil(size.height * scale))};
    options.weather = scene::Weather::kAuto;
    options.latitude = random.uniform(35, 58);
    options.noise = random.uniform(0.5, 2);
    options.jpeg = random.chance(0.5) ? 60 + random.below(40) : 0;
    options.variety = Random(seed_, ~chunk).chance(scene_.varied) ? 1 : 0;  // the other streets are as without --varied
    scene::Street street(options);
    const double as_rendered = std::min(static_cast<double>(options.size.width) / size.width,
                                        static_cast<double>(options.size.height) / size.height);
    std::vector<TrainingSample> samples;
    scene::Rendering view;
    for (int i = 0; i < scene_.samples_per_street; ++i) {
      if (i % scene_.windows_per_view == 0) view = street.render(drawTime(options.variety > 0, random));
      samples.push_back(
          randomWindow({view.image, view.labels, view.truth.is_night}, size, as_rendered, ignore_, random));
      augment(samples.back(), augmentation_, random);
    }
    return samples;
  }

  // Hours evenly over the day, each on another day of the year.
  TrainingSample heldOut(int index, Size2 size) const override {
    const int number = index / scene_.held_out_per_street, view = index % scene_.held_out_per_street;
    const double share = (view + 0.5) / scene_.held_out_per_street;
    Random random(0, static_cast<std::uint64_t>(index));
    const double time = kNewYear + kDay * (random.below(365) + share);
    const scene::Rendering rendering = heldOutStreet(number, size, time);
    return {rendering.image, rendering.labels, rendering.truth.is_night};
  }

 private:
  // Usual streets teach the night; a varied street is seen by day and at dusk.
  static double drawTime(bool varied, Random& random) {
    const double time = kNewYear + random.uniform() * kYear;
    return varied ? std::floor(time / kDay) * kDay + random.uniform(kDay / 4, kDay * 5 / 6) : time;
  }

  scene::Rendering heldOutStreet(int number, Size2 size, double time) const {
    const std::lock_guard lock(mutex_);
    const cv::Size wanted(size.width, size.height);
    if (!street_ || street_number_ != number || street_->options().size != wanted) {
      scene::StreetOptions options;
      options.seed = static_cast<std::uint64_t>(number) + 1;
      options.size = wanted;
      options.weather = scene::Weather::kAuto;
      street_ = std::make_unique<scene::Street>(options);
      street_number_ = number;
    }
    return street_->render(time);
  }

  SceneOptions scene_;
  AugmentationOptions augmentation_;
  std::uint64_t seed_;
  int ignore_;
  std::vector<ClassInfo> classes_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<scene::Street> street_;  // held-out views come street by street: one is kept
  mutable int street_number_ = -1;
};

}  // namespace

std::unique_ptr<SampleSource> openScenes(const SceneOptions& scene, const AugmentationOptions& augmentation,
                                         std::uint64_t seed, int ignore) {
  return std::make_unique<SceneSource>(scene, augmentation, seed, ignore);
}

}  // namespace mpm::train
