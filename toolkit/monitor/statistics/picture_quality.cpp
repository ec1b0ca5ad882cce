// SPDX-License-Identifier: Apache-2.0
#include "monitor/statistics/picture_quality.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "base/key_values.h"
#include "base/number_text.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

constexpr int kReducedWidth = 320;  // px that a picture is reduced to
constexpr int kCoarser = 4;         // times as small again, for the contrast: noise is averaged away
constexpr int kBlockSide = 4;       // px of the coarse picture
constexpr int kWhiteLevel = 250;    // a channel this high is saturated
constexpr int kLeastSide = 64;

struct QualityKey {
  const char* name;
  double QualityOptions::*value;
  double most;
};
constexpr QualityKey kQualityKeys[] = {{"dark", &QualityOptions::dark, 255},
                                       {"white", &QualityOptions::white, 100},
                                       {"contrast", &QualityOptions::contrast, 128},
                                       {"sharp", &QualityOptions::sharp, 1e5}};

// The smallest value that at least this share of the counted values do not exceed.
template <std::size_t N>
int quantileOf(const std::array<int, N>& counts, std::ptrdiff_t all, double share) {
  std::size_t value = 0;
  for (double left = share * static_cast<double>(all) - counts[0]; left > 0 && value + 1 < N; left -= counts[value])
    ++value;
  return static_cast<int>(value);
}

// The variance of the Laplacian less that of the noise, which is what its median says where most pixels lie off edges.
double sharpnessOf(const cv::Mat& grey) {
  cv::Mat laplacian;
  cv::Laplacian(grey, laplacian, CV_16S, 1);
  std::array<int, 1024> counts{};  // |Laplacian| is at most 4 * 255
  double sum = 0, squares = 0;
  for (int y = 0; y < laplacian.rows; ++y) {
    const auto* row = laplacian.ptr<short>(y);
    for (int x = 0; x < laplacian.cols; ++x) {
      ++counts[static_cast<std::size_t>(std::abs(row[x]))];
      sum += row[x];
      squares += row[x] * row[x];
    }
  }
  const auto pixels = static_cast<double>(laplacian.total());
  const double noise = 1.4826 * quantileOf(counts, laplacian.total(), 0.5);
  return std::max(0., squares / pixels - (sum / pixels) * (sum / pixels) - noise * noise);
}

// The smallest standard deviation within a block that fewer than a tenth of the blocks exceed.
double contrastOf(const cv::Mat& grey) {
  cv::Mat coarse;
  cv::resize(grey, coarse, {}, 1. / kCoarser, 1. / kCoarser, cv::INTER_AREA);
  std::vector<double> deviations;
  for (int y = 0; y + kBlockSide <= coarse.rows; y += kBlockSide) {
    for (int x = 0; x + kBlockSide <= coarse.cols; x += kBlockSide) {
      cv::Scalar mean, deviation;
      cv::meanStdDev(coarse(cv::Rect(x, y, kBlockSide, kBlockSide)), mean, deviation);
      deviations.push_back(deviation[0]);
    }
  }
  const auto tenth = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() * 9 / 10);
  std::nth_element(deviations.begin(), tenth, deviations.end());
  return *tenth;
}

}  // namespace

void QualityOptions::validate() const {
  for (const QualityKey& key : kQualityKeys) {
    if (!(this->*key.value >= 0 && this->*key.value <= key.most)) {
      throw Error("quality: " + std::string(key.name) + " '" + numberText(this->*key.value) +
                  "' is not between 0 and " + numberText(key.most));
    }
  }
  if (pictures < 1) throw Error("quality: pictures must be 1 or more");
}

QualityOptions parseQuality(const std::string& spec) {
  QualityOptions options;
  if (spec == "auto") return options;
  for (const auto& [name, written] : keyValues(spec)) {
    const std::string value = written.value_or("");
    const auto number = readNumber<double>(value);
    const auto key = std::find_if(std::begin(kQualityKeys), std::end(kQualityKeys),
                                  [&, &wanted = name](const QualityKey& one) { return one.name == wanted; });
    if (key == std::end(kQualityKeys) && name != "pictures") {
      throw Error("quality '" + spec + "': '" + name +
                  "' is none of dark=25, white=50, contrast=3, sharp=0, pictures=5; auto stands alone");
    }
    if (!number || (name == "pictures" && !readNumber<int>(value)))
      throw Error("quality '" + spec + "': '" + value + "' is not a number for " + name);
    if (name == "pictures")
      options.pictures = *readNumber<int>(value);
    else
      options.*key->value = *number;
  }
  options.validate();
  return options;
}

std::optional<PictureQuality> measureQuality(const cv::Mat& image, const QualityOptions& options) {
  const double factor = std::min(1., static_cast<double>(kReducedWidth) / std::max(image.cols, 1));
  const cv::Size size(cvRound(factor * image.cols), cvRound(factor * image.rows));
  if (std::min(size.width, size.height) < kLeastSide) return std::nullopt;
  cv::Mat small = image, grey;
  if (size != image.size()) cv::resize(image, small, size, 0, 0, cv::INTER_AREA);
  cv::cvtColor(small, grey, cv::COLOR_BGR2GRAY);
  std::array<int, 256> counts{};
  std::ptrdiff_t white = 0;
  for (int y = 0; y < small.rows; ++y) {
    const auto* color = small.ptr<cv::Vec3b>(y);
    const auto* level = grey.ptr(y);
    for (int x = 0; x < small.cols; ++x) {
      ++counts[level[x]];
      white += std::max({color[x][0], color[x][1], color[x][2]}) >= kWhiteLevel;
    }
  }
  PictureQuality quality{.sharpness = sharpnessOf(grey),
                         .contrast = contrastOf(grey),
                         .saturated = static_cast<double>(white) / static_cast<double>(grey.total())};
  std::ptrdiff_t bright = 0;
  for (std::size_t level = 0; level < counts.size(); ++level)
    if (static_cast<double>(level) > options.dark) bright += counts[level];
  if (options.dark > 0 && 100 * bright < static_cast<std::ptrdiff_t>(grey.total()))
    quality.flags = kDark;
  else if (100 * quality.saturated > options.white)
    quality.flags = kOverexposed;
  else if (quality.contrast < options.contrast)
    quality.flags = kFogged;
  else if (quality.sharpness < options.sharp)
    quality.flags = kBlurred;
  return quality;
}

std::optional<Event> QualityDetector::add(const PictureQuality& quality, std::optional<bool> night, UnixMs time) {
  const int flags = night.value_or(false) ? quality.flags & ~kDark : quality.flags;
  in_a_row_ = flags == next_ ? in_a_row_ + 1 : 1;
  next_ = flags;
  if (flags == flags_ || in_a_row_ < pictures_) return std::nullopt;
  flags_ = flags;
  if (flags == 0) return Event{time, EventKind::kQuality, Severity::kInfo, "the pictures are good again"};
  return Event{time, EventKind::kQuality, Severity::kWarning,
               "the pictures are " + toText(static_cast<QualityFlag>(flags)) + ": reports leave them out"};
}

}  // namespace mpm::monitor
