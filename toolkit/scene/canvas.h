// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <span>
#include <vector>

#include "backdrop.h"
#include "light.h"
#include "street.h"
#include "view.h"

namespace mpm::scene {

/// The picture in the making and the moment it shows.
struct Picture {
  cv::Mat& light;   // CV_32FC3 RGB in the units of Light
  cv::Mat& labels;  // CV_8U
  const View& view;
  const World& world;
  const Backdrop& backdrop;
  const Light& moment;
  const WeatherState& weather;
  const cv::Mat& ground_shade;
};

/// The light at one place, for things that are small against the street.
struct LocalLight {
  LocalLight(const Picture& picture, Vec3 place, float height);
  /// The light that a matt surface reflects.
  Vec3 matt(Vec3 normal, Vec3 albedo) const;
  /// A surface under a clear coat (car paint, glass): `mirror` is its reflectance seen from straight on.
  Vec3 glossy(Vec3 normal, Vec3 albedo, Vec3 to_camera, float mirror) const;

  const Light& light;
  float sun;   // share of the direct light
  float lamp;  // lux
};

/// Draws one thing with more samples than pixels and its own depths and lays it over the picture: far things first.
class Canvas {
 public:
  struct Corner {
    Vec3 place, colour;
  };
  /// Makes space for a thing that fits into the projection of a box. False: it is not in the picture.
  bool begin(const Picture& picture, Vec3 low, Vec3 high);
  /// A planar, convex polygon. `lift`, m, brings it in front of what it is painted on.
  void polygon(std::span<const Corner> corners, Class label, float lift = 0);
  /// A round rod between two places, with radii in m. `colour(n)` for the outward normal n.
  template <class Colour>
  void rod(Vec3 a, Vec3 b, float radius_a, float radius_b, Class label, Colour&& colour) {
    constexpr int kTones = 8;
    const View& view = picture_->view;
    const View::Projected pa = view.project(a), pb = view.project(b);
    const float dx = pb.x - pa.x, dy = pb.y - pa.y, way = std::sqrt(dx * dx + dy * dy);
    const Vec3 across = way > 1e-3f ? view.rightward() * (-dy / way) + Vec3{0, -dx / way, 0} : view.rightward();
    std::array<Vec3, kTones> tones;
    for (int i = 0; i < kTones; ++i) {
      const float u = (2 * i + 1.0f) / kTones - 1;
      tones[i] = colour(across * u - view.forward() * std::sqrt(1 - u * u));
    }
    fillRod(pa, pb, radius_a * view.scaleAt(pa.depth), radius_b * view.scaleAt(pb.depth), tones, label);
  }
  /// Lays the thing over the picture, through the air between; on wet ground also mirrored at the height of `foot`.
  void finish(Vec3 foot);

 private:
  struct Sample {
    Vec3 colour;
    float depth;
    std::uint8_t label, covered;
  };
  void fillTriangle(const std::array<Corner, 3>& corners, Class label, float lift);
  void fillRod(const View::Projected& a, const View::Projected& b, float radius_a, float radius_b,
               std::span<const Vec3> tones, Class label);

  void mirror(float foot);

  struct Resolved {
    Vec3 colour;
    float alpha = 0;
  };
  std::vector<Resolved> resolved_;  // sums from the top of the box

  const Picture* picture_ = nullptr;
  cv::Rect box_;  // px of the picture
  int fine_ = 2;  // samples per px, each way
  int stride_ = 0, rows_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace mpm::scene
