// SPDX-License-Identifier: Apache-2.0
#include "street_batches.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace mpm::train {
namespace {

constexpr std::uint64_t kFirstTrainingSeed = 1'000'000;
constexpr double kDay = 86400, kYear = 365 * kDay;
constexpr double kNewYear = 1'767'225'600;  // 2026-01-01T00:00 UTC

constexpr double kMirrored = 0.5, kUnderexposed = 0.1, kNoisy = 0.3;                      // probabilities
constexpr double kBrightness = 0.3, kContrast = 0.2, kSaturation = 0.3, kChannel = 0.06;  // largest changes

// Usual streets teach the night; a varied street is seen by day and at dusk.
double drawTime(bool varied, Random& random) {
  const double time = kNewYear + random.uniform() * kYear;
  return varied ? std::floor(time / kDay) * kDay + random.uniform(kDay / 4, kDay * 5 / 6) : time;
}

void addNoise(cv::Mat& image, Random& random) {
  // Shot noise has the variance of the light, read noise is the same everywhere.
  const double electrons = std::exp(random.uniform(std::log(60.), std::log(2000.)));  // of a white pixel
  const double read = random.uniform(0, 4);                                           // of 255
  cv::RNG generator(random.bits());
  cv::Mat noise(image.size(), CV_32FC3);
  generator.fill(noise, cv::RNG::NORMAL, 0., 1.);
  std::array<float, 256> deviation;
  for (int v = 0; v < 256; ++v)
    deviation[static_cast<std::size_t>(v)] = static_cast<float>(std::sqrt(255. * v / electrons + read * read));
  for (int y = 0; y < image.rows; ++y) {
    auto* pixel = image.ptr<std::uint8_t>(y);
    const auto* z = noise.ptr<float>(y);
    for (int x = 0; x < 3 * image.cols; ++x)
      pixel[x] = cv::saturate_cast<std::uint8_t>(static_cast<float>(pixel[x]) + deviation[pixel[x]] * z[x]);
  }
}

}  // namespace

void augment(cv::Mat& image, cv::Mat& labels, Random& random) {
  if (random.chance(kMirrored)) {
    cv::flip(image, image, 1);
    cv::flip(labels, labels, 1);
  }
  double exposure = std::exp2(random.uniform(-kBrightness, kBrightness));
  if (random.chance(kUnderexposed)) exposure *= random.uniform(0.2, 0.5);
  const double contrast = 1 + random.uniform(-kContrast, kContrast);
  const double saturation = 1 + random.uniform(-kSaturation, kSaturation);
  // One 3x4 matrix does it all: grey + saturation * (channel - grey), white balance, contrast about mid-grey, exposure.
  constexpr std::array<double, 3> kGrey = {0.114, 0.587, 0.299};  // BGR
  cv::Matx34f matrix;
  for (int out = 0; out < 3; ++out) {
    const double gain = exposure * contrast * (1 + random.uniform(-kChannel, kChannel));
    for (int in = 0; in < 3; ++in) {
      matrix(out, in) = static_cast<float>(
          gain * ((1 - saturation) * kGrey[static_cast<std::size_t>(in)] + (in == out ? saturation : 0)));
    }
    matrix(out, 3) = static_cast<float>(exposure * (1 - contrast) * 127.5);
  }
  cv::transform(image, image, matrix);
  if (random.chance(kNoisy)) addNoise(image, random);
}

StreetBatches::StreetBatches(const StreetOptions& options)
    : options_(options), streets_(static_cast<std::size_t>(options.batch)) {}

Batch StreetBatches::next() {
  const auto start = [&] { ahead_ = std::async(std::launch::async, [this] { return make(); }); };
  if (!ahead_.valid()) start();
  Batch batch = ahead_.get();
  start();
  return batch;
}

Batch StreetBatches::make() {
  const int shape[] = {options_.batch, options_.size.height, options_.size.width};
  Batch batch{cv::Mat(3, shape, CV_8UC3), cv::Mat(3, shape, CV_8U)};
  std::vector<std::future<void>> workers;
  for (int worker = 0; worker < options_.workers; ++worker) {
    workers.push_back(std::async(std::launch::async, [this, worker, &batch] {
      // LibTorch's threads wait for each other after every operation, so one that shares its core with a renderer
      // holds up all of them. A niced thread fills the gaps instead (on Linux niceness belongs to a thread).
      ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
      for (int slot = worker; slot < options_.batch; slot += options_.workers) draw(slot, batch);
    }));
  }
  for (std::future<void>& worker : workers) worker.get();
  ++step_;
  return batch;
}

void StreetBatches::draw(int slot, Batch& batch) {
  OpenStreet& open = streets_[static_cast<std::size_t>(slot)];
  const Size2 size = options_.size;
  const int number = static_cast<int>(step_ % static_cast<std::uint64_t>(options_.per_street));
  if (number == 0) {
    const std::uint64_t chunk =
        step_ / static_cast<std::uint64_t>(options_.per_street) * static_cast<std::uint64_t>(options_.batch) +
        static_cast<std::uint64_t>(slot);
    open.random = Random(options_.seed, chunk);
    // The renderer draws at any size, so a window of a larger image is rendered at its own scale, not enlarged.
    const double scale = open.random.uniform(std::max(1., options_.scale_min), std::max(1., options_.scale_max));
    scene::StreetOptions street;
    street.seed = kFirstTrainingSeed + open.random.bits() % 1'000'000'000;
    street.size = {static_cast<int>(std::ceil(size.width * scale)), static_cast<int>(std::ceil(size.height * scale))};
    street.weather = scene::Weather::kAuto;
    street.latitude = open.random.uniform(35, 58);
    street.noise = open.random.uniform(0.5, 2);
    street.jpeg = open.random.chance(0.5) ? 60 + open.random.below(40) : 0;
    // A draw of its own: the streets that are not varied do not depend on the share that is.
    open.varied = Random(options_.seed, ~chunk).chance(options_.varied);
    street.variety = open.varied ? 1 : 0;
    open.street.emplace(street);
  }
  if (number % options_.per_view == 0) open.view = open.street->render(drawTime(open.varied, open.random));
  const cv::Size rendered = open.view.image.size();
  const int y = open.random.below(rendered.height - size.height + 1);
  const int x = open.random.below(rendered.width - size.width + 1);
  const cv::Rect window(x, y, size.width, size.height);
  cv::Mat image = open.view.image(window).clone(), labels = open.view.labels(window).clone();
  augment(image, labels, open.random);
  image.copyTo(cv::Mat(size.height, size.width, CV_8UC3, batch.images.ptr(slot)));
  labels.copyTo(cv::Mat(size.height, size.width, CV_8U, batch.labels.ptr(slot)));
}

}  // namespace mpm::train
