// SPDX-License-Identifier: Apache-2.0
#include "augmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "mpm/error.hpp"
#include "samples.h"

namespace mpm::train {
namespace {

// Window of `window` px over a side of `length` px: where it starts in the image (or < 0) at random.
int drawStart(int length, int window, Random& random) {
  const int slack = length - window;
  return slack >= 0 ? random.below(slack + 1) : -random.below(-slack + 1);
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

void AugmentationOptions::validate() const {
  if (!(scale_min > 0.1 && scale_min <= scale_max && scale_max < 10))
    throw Error("scales must be between 0.1 and 10, the smallest first");
  for (const double probability : {flip, noise, dim})
    if (!(probability >= 0 && probability <= 1)) throw Error("a probability must be between 0 and 1");
  for (const double change : {brightness, contrast, saturation, color})
    if (!(change >= 0 && change < 1)) throw Error("a change of colour must be at least 0 and less than 1");
}

TrainingSample randomWindow(const TrainingSample& sample, Size2 size, double scale, int ignore, Random& random) {
  const cv::Size image = sample.image.size();
  const double cover =
      scale * std::max(static_cast<double>(size.height) / image.height, static_cast<double>(size.width) / image.width);
  const cv::Size resized(std::max(1, cvRound(image.width * cover)), std::max(1, cvRound(image.height * cover)));
  TrainingSample whole = sample;
  if (resized != image) {
    cv::resize(sample.image, whole.image, resized, 0, 0, cover < 1 ? cv::INTER_AREA : cv::INTER_LINEAR);
    cv::resize(sample.labels, whole.labels, resized, 0, 0, cv::INTER_NEAREST);
  }
  const cv::Rect window(drawStart(resized.width, size.width, random), drawStart(resized.height, size.height, random),
                        size.width, size.height);
  const cv::Rect inside = window & cv::Rect({0, 0}, resized);
  TrainingSample cut{cv::Mat::zeros(size.height, size.width, CV_8UC3),
                     cv::Mat(size.height, size.width, CV_8U, cv::Scalar(ignore)), sample.night};
  whole.image(inside).copyTo(cut.image(inside - window.tl()));
  whole.labels(inside).copyTo(cut.labels(inside - window.tl()));
  return cut;
}

void augment(TrainingSample& sample, const AugmentationOptions& options, Random& random) {
  if (random.chance(options.flip)) {
    cv::flip(sample.image, sample.image, 1);
    cv::flip(sample.labels, sample.labels, 1);
  }
  double exposure = std::exp2(random.uniform(-options.brightness, options.brightness));
  if (random.chance(options.dim)) exposure *= random.uniform(0.2, 0.5);
  const double contrast = 1 + random.uniform(-options.contrast, options.contrast);
  const double saturation = 1 + random.uniform(-options.saturation, options.saturation);
  // One 3x4 matrix does it all: grey + saturation * (channel - grey), white balance, contrast about mid-grey, exposure.
  constexpr std::array<double, 3> kGrey = {0.114, 0.587, 0.299};  // BGR
  cv::Matx34f matrix;
  for (int out = 0; out < 3; ++out) {
    const double gain = exposure * contrast * (1 + random.uniform(-options.color, options.color));
    for (int in = 0; in < 3; ++in)
      matrix(out, in) = static_cast<float>(
          gain * ((1 - saturation) * kGrey[static_cast<std::size_t>(in)] + (in == out ? saturation : 0)));
    matrix(out, 3) = static_cast<float>(exposure * (1 - contrast) * 127.5);
  }
  cv::transform(sample.image, sample.image, matrix);
  if (random.chance(options.noise)) addNoise(sample.image, random);
}

}  // namespace mpm::train
