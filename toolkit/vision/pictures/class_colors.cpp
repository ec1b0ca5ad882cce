// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

using Vec = cv::Vec3d;

// Linear RGB as people without L cones and without M cones see it (Vienot, Brettel, Mollon 1999).
const cv::Matx33d kProtanope(0.11238, 0.88762, 0, 0.11238, 0.88762, 0, 0.00401, -0.00401, 1);
const cv::Matx33d kDeuteranope(0.29275, 0.70725, 0, 0.29275, 0.70725, 0, -0.02234, 0.02234, 1);
// Linear RGB to cone responses, and their cube roots to a space of even steps (Ottosson's Oklab).
const cv::Matx33d kCones(0.4122214708, 0.5363325363, 0.0514459929,  // a row of the matrix each
                         0.2119034982, 0.6806995451, 0.1073969566,  //
                         0.0883024619, 0.2817188376, 0.6299787005);
const cv::Matx33d kOklab(0.2104542553, 0.7936177850, -0.0040720468,  //
                         1.9779984951, -2.4285922050, 0.4505937099,  //
                         0.0259040371, 0.7827717662, -0.8086757660);

Vec oklab(const Vec& linear) {
  Vec cones = kCones * linear;
  for (double& cone : cones.val) cone = std::cbrt(std::max(cone, 0.0));
  return kOklab * cones;
}

double distance(const Vec& a, const Vec& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

using Seen = std::array<Vec, 3>;  // with all cones, without L, without M

Vec linearOf(const cv::Vec3b& bgr) {
  Vec linear;
  for (int c = 0; c < 3; ++c) {
    const double value = bgr[2 - c] / 255.0;
    linear[c] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  }
  return linear;
}

Seen seenAs(const cv::Vec3b& bgr) {
  const Vec linear = linearOf(bgr);
  return {oklab(linear), oklab(kProtanope * linear), oklab(kDeuteranope * linear)};
}

// By the eye that tells them apart worst.
double distance(const Seen& a, const Seen& b) {
  return std::min({distance(a[0], b[0]), distance(a[1], b[1]), distance(a[2], b[2])});
}

// 0..1.
double luminance(const cv::Vec3b& bgr) {
  const Vec linear = linearOf(bgr);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

struct ClassColor {
  explicit ClassColor(const cv::Vec3b& color)
      : bgr(color),
        seen(seenAs(color)),
        lightness(std::cbrt(luminance(color))),
        hue(std::atan2(seen[0][2], seen[0][1])),
        chroma(std::hypot(seen[0][1], seen[0][2])) {}
  cv::Vec3b bgr;
  Seen seen;
  double lightness;  // in even steps, 0..1
  double hue;        // radians
  double chroma;
  double nearest = std::numeric_limits<double>::max();  // to the colours taken
};

std::vector<ClassColor> candidates() {
  constexpr int kLevels = 9;
  std::vector<ClassColor> result;
  for (int i = 0; i < kLevels * kLevels * kLevels; ++i) {
    const std::array<int, 3> levels = {i / (kLevels * kLevels), i / kLevels % kLevels, i % kLevels};
    cv::Vec3b bgr;
    for (int c = 0; c < 3; ++c) bgr[2 - c] = static_cast<std::uint8_t>(std::lround(255.0 * levels[c] / (kLevels - 1)));
    const ClassColor color(bgr);
    const double lightness = color.seen[0][0];
    // Neither near black nor near white nor grey: an overlay must read as a colour on any image.
    if (lightness > 0.35 && lightness < 0.93 && color.chroma > 0.07) result.push_back(color);
  }
  return result;
}

// Each colour is the one farthest from all before it, also to protanopes and deuteranopes, so the first n are as far
// apart as n colours taken one by one can be.
std::vector<cv::Vec3b> palette(int count) {
  std::vector<ClassColor> pool = candidates();
  std::vector<cv::Vec3b> result;
  auto next = std::ranges::find_if(pool, [](const ClassColor& c) { return c.bgr == cv::Vec3b(191, 96, 0); });
  for (int i = 0; i < count; ++i) {
    if (i == static_cast<int>(pool.size())) {  // more classes than colours: from the start again
      for (; i < count; ++i) result.push_back(result[i % pool.size()]);
      break;
    }
    const ClassColor taken = *next;
    result.push_back(taken.bgr);
    for (ClassColor& other : pool) other.nearest = std::min(other.nearest, distance(other.seen, taken.seen));
    next->nearest = -1;
    next = std::ranges::max_element(pool, {}, &ClassColor::nearest);
  }
  return result;
}

// How well two classes are told apart: by the eye that does it worst, less where lightness or hue alone differs.
double apart(const ClassColor& a, const ClassColor& b) {
  constexpr double kLightness = 0.08, kHue = 0.5;  // differences that are enough
  const auto share = [](double value, double enough) { return std::clamp(std::abs(value) / enough, 0.2, 1.0); };
  return distance(a.seen, b.seen) * share(a.lightness - b.lightness, kLightness) *
         share(std::remainder(a.hue - b.hue, 2 * CV_PI), kHue);
}

// The means of the colours that cover 2 % of a picture or more.
std::vector<Vec> frequentColors(const cv::Mat& picture) {
  constexpr int kLevels = 8, kSide = 128;
  constexpr double kShare = 0.02;
  std::array<cv::Vec4d, kLevels * kLevels * kLevels> sums{};
  const int step = std::max(1, std::max(picture.rows, picture.cols) / kSide);
  double all = 0;
  for (int y = 0; y < picture.rows; y += step) {
    for (int x = 0; x < picture.cols; x += step, ++all) {
      const auto& pixel = picture.at<cv::Vec3b>(y, x);
      sums[static_cast<std::size_t>((pixel[0] / 32 * kLevels + pixel[1] / 32) * kLevels + pixel[2] / 32)] +=
          cv::Vec4d(pixel[0], pixel[1], pixel[2], 1);
    }
  }
  std::vector<Vec> result;
  for (const cv::Vec4d& sum : sums) {
    if (sum[3] > 0 && sum[3] >= kShare * all) {
      const cv::Vec4b mean = sum / sum[3];
      result.push_back(oklab(linearOf({mean[0], mean[1], mean[2]})));
    }
  }
  return result;
}

// The contrast of WCAG 2.1 is 2 or more to white and to a dark window.
bool readsOnBothThemes(const cv::Vec3b& bgr) {
  constexpr double kDarkWindow = 0.016;  // luminance
  return 1.05 / (luminance(bgr) + 0.05) >= 2 && (luminance(bgr) + 0.05) / (kDarkWindow + 0.05) >= 2;
}

}  // namespace

cv::Vec3b newClassColor(const std::string& name, const std::vector<cv::Vec3b>& taken, const cv::Mat& picture) {
  // Below kClear a distance to the picture counts a third: over random pictures of up to eight colours eight classes
  // stay 15 from them in CIELAB, instead of 7.
  constexpr double kColorful = 0.1, kClear = 0.2, kUnclear = 1.0 / 3;
  constexpr double kLikeHue = 0.45, kLikeLightness = 0.25, kEnough = 0.02;  // of a colour like the usual one
  const std::vector<Vec> below = frequentColors(picture);
  const std::vector<ClassColor> others(taken.begin(), taken.end());
  const auto usual = usualColor(name);
  const ClassColor expected(usual.value_or(cv::Vec3b()));
  cv::Vec3b best, best_like;
  double farthest = -1, farthest_like = -1;
  for (const ClassColor& color : candidates()) {
    if (color.chroma < kColorful || !readsOnBothThemes(color.bgr)) continue;
    double nearest = std::numeric_limits<double>::max();
    for (const ClassColor& other : others) nearest = std::min(nearest, apart(color, other));
    for (const Vec& shown : below) {
      const double far = distance(color.seen[0], shown);
      nearest = std::min(nearest, far < kClear ? far * kUnclear : far);
    }
    const bool like = usual && std::abs(std::remainder(color.hue - expected.hue, 2 * CV_PI)) < kLikeHue &&
                      std::abs(color.lightness - expected.lightness) < kLikeLightness;
    if (nearest > farthest) {
      farthest = nearest;
      best = color.bgr;
    }
    if (like && nearest > farthest_like) {
      farthest_like = nearest;
      best_like = color.bgr;
    }
  }
  return farthest_like > kEnough ? best_like : best;
}

std::vector<cv::Vec3b> classColors(const ModelFacts& facts, int classes) {
  const int named = static_cast<int>(facts.classes.size());
  const bool complete =
      named >= classes && std::ranges::all_of(facts.classes, [](const ClassInfo& one) { return one.rgb.has_value(); });
  std::vector<cv::Vec3b> colors;
  if (!complete) colors = palette(std::max(classes, named));
  colors.resize(std::max(classes, named));
  for (int c = 0; c < named; ++c)
    if (const auto& rgb = facts.classes[c].rgb) colors[c] = {(*rgb)[2], (*rgb)[1], (*rgb)[0]};
  return colors;
}

}  // namespace mpm::vision
