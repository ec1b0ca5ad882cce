// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>

#include "world.h"

namespace mpm::scene {

/// The camera: places to pixels. Its image plane is vertical and shifted, so that vertical edges stay vertical.
struct View {
  View(const World& world, int width, int height, int margin)
      : place(world.camera),
        sine(std::sin(world.yaw)),
        cosine(std::cos(world.yaw)),
        focal(world.focal * static_cast<float>(width)),
        centre_x(static_cast<float>(margin) + 0.5f * static_cast<float>(width)),
        horizon_y(static_cast<float>(margin) + world.horizon * static_cast<float>(height)) {}

  struct Projected {
    float x, y;   // px; pixel (i, j) covers [i, i+1) x [j, j+1)
    float depth;  // m along the optical axis; not positive: behind the camera
  };
  Projected project(Vec3 p) const {
    const Vec3 d = p - place;
    const float right = d.x * cosine - d.z * sine, depth = d.x * sine + d.z * cosine;
    const float scale = focal / std::max(depth, 1e-3f);
    return {centre_x + right * scale, horizon_y - d.y * scale, depth};
  }
  /// px per m at a depth.
  float scaleAt(float depth) const { return focal / depth; }
  /// Not normalised: one step along it is one m of depth.
  Vec3 ray(float x, float y) const {
    const float right = (x - centre_x) / focal;
    return {right * cosine + sine, (horizon_y - y) / focal, cosine - right * sine};
  }
  Vec3 rightward() const { return {cosine, 0, -sine}; }
  Vec3 forward() const { return {sine, 0, cosine}; }

  Vec3 place;
  float sine, cosine, focal, centre_x, horizon_y;
};

/// The pixels of a picture of this size that a box reaches.
inline cv::Rect pixelsIn(float left, float top, float right, float bottom, cv::Size size) {
  const int x = static_cast<int>(left), y = static_cast<int>(top);
  return cv::Rect(x, y, static_cast<int>(right) + 1 - x, static_cast<int>(bottom) + 1 - y) & cv::Rect({}, size);
}

/// Where each pixel of a camera that is tilted and has a real lens comes from in the picture of the upright image plane
/// of View, CV_32FC2; empty: from its own place.
cv::Mat lensMap(const Distortion& distortion, const View& view, cv::Size size);
/// Bends a picture by such a map. `light` is interpolated; a label is that of the nearest pixel.
void bend(const cv::Mat& map, cv::Mat& light, cv::Mat& labels);

}  // namespace mpm::scene
