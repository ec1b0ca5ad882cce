// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <opencv2/core.hpp>
#include <vector>

#include "light.h"
#include "noise.h"
#include "street.h"
#include "view.h"

namespace mpm::scene {

/// The sky as the camera sees it: its colours, clouds that drift, stars, the sun and the moon.
class Heavens {
 public:
  Heavens(std::uint64_t seed, const View& view, cv::Size size);

  /// Paints the first `rows` rows of `picture` (CV_32FC3 RGB in the units of Light).
  void paint(const Light& light, const WeatherState& weather, double unix_time, int rows, cv::Mat& picture);

 private:
  void disc(cv::Mat& picture, int rows, Vec3 towards, float degrees, Vec3 colour, float illuminated, Vec3 to_sun) const;

  std::uint64_t seed_;
  View view_;
  cv::Size size_;
  NoiseField shapes_, wisps_;
  cv::Mat coarse_, half_, whole_, veil_;
};

/// All that never moves, traced once: what each pixel shows, how it answers to light, and what it mirrors. A moment
/// then costs a pass of multiplications. A pixel on an edge is traced and lit as four samples and becomes their mean;
/// the samples past the pixels are those.
class Backdrop {
 public:
  Backdrop(const World& world, const View& view, cv::Size size);

  /// Facts that the light on the samples depends on, beside Light.
  struct Moment {
    const Light& light;
    const WeatherState& weather;
    const cv::Mat& ground_shade;  ///< CV_8U, on the ground plane as seen: 255 where things that stand shade it
    const std::vector<Vec3>& window_light;  ///< per window
  };

  /// Paints everything but the sky into `picture` (CV_32FC3 RGB in the units of Light), over the sky that is there.
  void paint(const Moment& moment, cv::Mat& picture);

  const cv::Mat& labels() const { return labels_; }
  /// First row below which no sample shows sky.
  int skyRows() const { return sky_rows_; }
  bool isGround(int index) const { return ground_[index] != 0; }
  Vec3 albedo(int index) const { return albedo_[index]; }
  Vec3 position(int index) const { return place_[index]; }
  /// Share of light that passes this much air at the moment painted last.
  float through(float distance) const;
  /// How much of a wet ground pixel is mirror, 0..1 (0: not ground).
  float mirror(int index) const { return mirror_[index]; }

 private:
  static constexpr int kLongestSpan = 1024;
  enum class Surface : std::uint8_t { kSky, kGround, kRightward, kLeftward, kTowards, kCrowns };
  struct Sample {
    Surface surface = Surface::kSky;
    Class label = Class::kSky;
    int thing = 0;  // a house, a row of trees: an edge between two things is an edge
    Vec3 place{}, albedo{};
    float glass = 0, openness = 1, snow = 0;
    int window = -1;
  };
  struct Span {
    int begin, end;
    Surface surface;
  };

  Sample trace(float px, float py) const;
  Sample ground(Vec3 place) const;
  Sample facade(const Building& b, float along, Vec3 place, Surface surface) const;
  void store(int index, const Sample& sample, const Vec3& ray);
  void light(const Span& span, const Moment& moment, Vec3* out) const;
  void addGlass(const Moment& moment, Vec3* picture);
  void mirrorOnGround(const Moment& moment, cv::Mat& picture) const;

  const World& world_;
  View view_;
  cv::Size size_;
  NoiseField fine_, coarse_;
  cv::Mat labels_;
  int sky_rows_ = 0;
  std::vector<Vec3> albedo_, place_;
  std::vector<float> openness_, lamp_, snow_, mirror_;
  std::vector<std::uint8_t> ground_;
  std::vector<std::uint16_t> depth_;  // index into haze_
  std::vector<Span> spans_;
  struct Edge {
    int pixel;
    std::array<int, 3> extra;  // into extras_; -1: sky
  };
  std::vector<Edge> edges_;
  struct Glass {
    int sample, window;
    float share, fresnel;
    Vec3 mirrored;  // where the mirrored ray goes
    bool sees_sky;
  };
  std::vector<Glass> glass_;
  struct Wet {
    int pixel, seen;  // the ground pixel, and the one it mirrors
  };
  std::vector<Wet> wet_;
  std::vector<Vec3> extras_;       // lit extra samples
  std::vector<int> extra_pixels_;  // whose they are
  std::vector<float> haze_;
};

}  // namespace mpm::scene
