// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgproc.hpp>

#include "view.h"

namespace mpm::scene {

cv::Mat lensMap(const Distortion& distortion, const View& view, cv::Size size) {
  if (distortion.roll == 0 && distortion.bend == 0 && !distortion.tilted) return {};
  const float centre_x = 0.5f * static_cast<float>(size.width), centre_y = 0.5f * static_cast<float>(size.height);
  // The tilt under which the middle of the picture is where the upright plane has it.
  const float tilt = distortion.tilted ? std::atan((centre_y - view.horizon_y) / view.focal) : 0;
  const float shift = distortion.tilted ? 0 : centre_y - view.horizon_y;
  const float roll_sine = std::sin(distortion.roll), roll_cosine = std::cos(distortion.roll);
  const float sine = std::sin(tilt), cosine = std::cos(tilt);
  const auto source = [&](float x, float y, float zoom) {
    const float u = (x - centre_x) / view.focal * zoom, v = (y - centre_y) / view.focal * zoom;
    const float bend = 1 + distortion.bend * (u * u + v * v);
    const float right = bend * (u * roll_cosine - v * roll_sine), down = bend * (u * roll_sine + v * roll_cosine);
    const float depth = std::max(cosine - down * sine, 0.1f);
    return cv::Point2f(view.centre_x + view.focal * right / depth,
                       view.horizon_y + shift + view.focal * (down * cosine + sine) / depth);
  };
  const auto width = static_cast<float>(size.width), height = static_cast<float>(size.height);
  const auto fits = [&](float zoom) {
    for (int i = 0; i <= 16; ++i) {
      const float along = static_cast<float>(i) / 16;
      for (const cv::Point2f& p : {source(along * width, 0, zoom), source(along * width, height, zoom),
                                   source(0, along * height, zoom), source(width, along * height, zoom)})
        if (p.x < 0 || p.y < 0 || p.x > width || p.y > height) return false;
    }
    return true;
  };
  float zoom = 1;
  while (!fits(zoom) && zoom > 0.4f) zoom *= 0.98f;
  cv::Mat map(size, CV_32FC2);
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      map.at<cv::Point2f>(y, x) =
          source(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, zoom) - cv::Point2f(0.5f, 0.5f);
    }
  }
  return map;
}

void bend(const cv::Mat& map, cv::Mat& light, cv::Mat& labels) {
  if (map.empty()) return;
  cv::Mat bent;
  cv::remap(light, bent, map, cv::noArray(), cv::INTER_LINEAR, cv::BORDER_REPLICATE);
  bent.copyTo(light);
  cv::remap(labels, bent, map, cv::noArray(), cv::INTER_NEAREST, cv::BORDER_REPLICATE);
  labels = bent;
}

}  // namespace mpm::scene
