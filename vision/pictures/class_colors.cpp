// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "vision/pictures/pictures.h"

namespace mpm::vision {
namespace {

using Vec = std::array<double, 3>;
using Matrix = std::array<Vec, 3>;

// Linear RGB as people without L cones and without M cones see it (Vienot, Brettel, Mollon 1999).
constexpr Matrix kProtanope = {{{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}}};
constexpr Matrix kDeuteranope = {{{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}}};
// Linear RGB to cone responses, and their cube roots to a space of even steps (Ottosson's Oklab).
constexpr Matrix kCones = {{{0.4122214708, 0.5363325363, 0.0514459929},
                            {0.2119034982, 0.6806995451, 0.1073969566},
                            {0.0883024619, 0.2817188376, 0.6299787005}}};
constexpr Matrix kOklab = {{{0.2104542553, 0.7936177850, -0.0040720468},
                            {1.9779984951, -2.4285922050, 0.4505937099},
                            {0.0259040371, 0.7827717662, -0.8086757660}}};

Vec operator*(const Matrix& m, const Vec& v) {
  Vec result{};
  for (int i = 0; i < 3; ++i) result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
  return result;
}

Vec oklab(const Vec& linear) {
  Vec cones = kCones * linear;
  for (double& cone : cones) cone = std::cbrt(std::max(cone, 0.0));
  return kOklab * cones;
}

double distance(const Vec& a, const Vec& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

struct Candidate {
  cv::Vec3b bgr;
  std::array<Vec, 3> seen;                              // with all cones, without L, without M
  double nearest = std::numeric_limits<double>::max();  // to the colours taken, by the eye that tells them apart worst
};

std::vector<Candidate> candidates() {
  constexpr int kLevels = 9;
  std::vector<Candidate> result;
  for (int i = 0; i < kLevels * kLevels * kLevels; ++i) {
    const std::array<int, 3> levels = {i / (kLevels * kLevels), i / kLevels % kLevels, i % kLevels};
    Candidate candidate;
    Vec linear;
    for (int c = 0; c < 3; ++c) {
      const double value = static_cast<double>(levels[c]) / (kLevels - 1);
      candidate.bgr[2 - c] = static_cast<std::uint8_t>(std::lround(255 * value));
      linear[c] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    }
    candidate.seen = {oklab(linear), oklab(kProtanope * linear), oklab(kDeuteranope * linear)};
    const Vec& lab = candidate.seen[0];
    // Neither near black nor near white nor grey: an overlay must read as a colour on any image.
    if (lab[0] > 0.35 && lab[0] < 0.93 && std::hypot(lab[1], lab[2]) > 0.07) result.push_back(candidate);
  }
  return result;
}

// Each colour is the one farthest from all before it, also to protanopes and deuteranopes, so the first n are as far
// apart as n colours taken one by one can be.
std::vector<cv::Vec3b> palette(int count) {
  std::vector<Candidate> pool = candidates();
  std::vector<cv::Vec3b> result;
  auto next = std::find_if(pool.begin(), pool.end(), [](const Candidate& c) { return c.bgr == cv::Vec3b(191, 96, 0); });
  for (int i = 0; i < count; ++i) {
    if (i == static_cast<int>(pool.size())) {  // more classes than colours: from the start again
      for (; i < count; ++i) result.push_back(result[i % pool.size()]);
      break;
    }
    const Candidate taken = *next;
    result.push_back(taken.bgr);
    for (Candidate& other : pool)
      for (int eye = 0; eye < 3; ++eye)
        other.nearest = std::min(other.nearest, distance(other.seen[eye], taken.seen[eye]));
    next->nearest = -1;
    next = std::max_element(pool.begin(), pool.end(),
                            [](const Candidate& a, const Candidate& b) { return a.nearest < b.nearest; });
  }
  return result;
}

}  // namespace

std::vector<cv::Vec3b> classColors(const ModelFacts& facts, int classes) {
  const int named = static_cast<int>(facts.classes.size());
  const bool complete = named >= classes && std::all_of(facts.classes.begin(), facts.classes.end(),
                                                        [](const ClassInfo& one) { return one.rgb.has_value(); });
  std::vector<cv::Vec3b> colors;
  if (!complete) colors = palette(std::max(classes, named));
  colors.resize(std::max(classes, named));
  for (int c = 0; c < named; ++c)
    if (const auto& rgb = facts.classes[c].rgb) colors[c] = {(*rgb)[2], (*rgb)[1], (*rgb)[0]};
  return colors;
}

}  // namespace mpm::vision
