// SPDX-License-Identifier: Apache-2.0
#include "canvas.h"

namespace mpm::scene {

LocalLight::LocalLight(const Picture& picture, Vec3 place, float height) : light(picture.moment) {
  const Vec3 middle = place + Vec3{0, height / 2, 0};
  sun = luminance(light.sun) > 0 ? picture.world.lit(middle, light.sun_direction) : 0;
  if (sun > 0 && light.sun_direction.y > 0.02f) {
    // A shadow on the ground behind the thing falls on the thing too, unless it is its own: so look from its head.
    const float top = height * 1.1f;
    const Vec3 head = place + Vec3{0, top, 0} - light.sun_direction * (top / light.sun_direction.y);
    const View::Projected p = picture.view.project(head);
    const cv::Point pixel(static_cast<int>(p.x), static_cast<int>(p.y));
    if (p.depth > 1 && pixel.inside({0, 0, picture.ground_shade.cols, picture.ground_shade.rows}))
      sun *= 1 - 0.6f * static_cast<float>(picture.ground_shade.at<std::uint8_t>(pixel)) / 255;
  }
  lamp = light.lamps > 0 ? light.lamps * picture.world.lampLight(middle, {0, 1, 0}) : 0;
}

Vec3 LocalLight::matt(Vec3 n, Vec3 albedo) const {
  const float from_sun = sun * std::max(dot(n, light.sun_direction), 0.0f);
  return albedo * (light.ambientOn(n) * 0.9f + light.sun * from_sun +
                   light.lamp_colour * (lamp * (0.35f + 0.65f * std::max(n.y, 0.0f))));
}

Vec3 LocalLight::glossy(Vec3 n, Vec3 albedo, Vec3 to_camera, float mirror) const {
  const float cosine = std::max(dot(n, to_camera), 0.0f);
  const Vec3 seen = n * (2 * dot(n, to_camera)) - to_camera;
  const float share = mirror + (1 - mirror) * 0.8f * std::pow(1 - cosine, 5.0f);
  const Vec3 around = seen.y > 0
                          ? lerp(light.ambient[3] * 0.55f, light.ambient[0] * 1.25f, smoothstep(0.0f, 0.45f, seen.y))
                          : light.ambient[4];
  const float glint = std::pow(std::max(dot(seen, light.sun_direction), 0.0f), 90.0f) * 3 * sun;
  return matt(n, albedo) * (1 - share) + around * share + light.sun * (glint * (share + 0.05f)) +
         light.lamp_colour * (lamp * 0.5f * share);
}

bool Canvas::begin(const Picture& picture, Vec3 low, Vec3 high) {
  picture_ = &picture;
  float left = 1e9f, right = -1e9f, top = 1e9f, bottom = -1e9f;
  for (int corner = 0; corner < 8; ++corner) {
    const View::Projected p =
        picture.view.project({corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z});
    if (p.depth < 1.2f) return false;
    left = std::min(left, p.x);
    right = std::max(right, p.x);
    top = std::min(top, p.y);
    bottom = std::max(bottom, p.y);
  }
  const auto clampTo = [](float v, int limit) {
    return static_cast<int>(std::clamp(v, -1.0f, static_cast<float>(limit) + 1));
  };
  const int width = picture.light.cols, height = picture.light.rows;
  box_ = cv::Rect(cv::Point(clampTo(std::floor(left) - 1, width), clampTo(std::floor(top) - 1, height)),
                  cv::Point(clampTo(std::ceil(right) + 1, width), clampTo(std::ceil(bottom) + 1, height))) &
         cv::Rect(0, 0, width, height);
  if (box_.empty()) return false;
  fine_ = box_.area() < 600 ? 4 : box_.area() < 6000 ? 3 : 2;
  stride_ = box_.width * fine_;
  rows_ = box_.height * fine_;
  samples_.assign(static_cast<std::size_t>(stride_) * rows_, {{}, 1e9f, 0, 0});
  return true;
}

void Canvas::polygon(std::span<const Corner> corners, Class label, float lift) {
  for (std::size_t i = 2; i < corners.size(); ++i) fillTriangle({corners[0], corners[i - 1], corners[i]}, label, lift);
}

void Canvas::fillTriangle(const std::array<Corner, 3>& corners, Class label, float lift) {
  std::array<float, 3> x, y, near;
  for (int i = 0; i < 3; ++i) {
    const View::Projected seen = picture_->view.project(corners[i].place);
    x[i] = (seen.x - static_cast<float>(box_.x)) * static_cast<float>(fine_) - 0.5f;
    y[i] = (seen.y - static_cast<float>(box_.y)) * static_cast<float>(fine_) - 0.5f;
    near[i] = 1 / seen.depth;
  }
  const float area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
  if (std::abs(area) < 1e-4f) return;
  const auto low = [](const std::array<float, 3>& v) {
    return std::max(static_cast<int>(std::ceil(std::min({v[0], v[1], v[2]}))), 0);
  };
  const auto high = [](const std::array<float, 3>& v, int limit) {
    return std::min(static_cast<int>(std::floor(std::max({v[0], v[1], v[2]}))), limit - 1);
  };
  const float scale = 1 / area;
  for (int row = low(y), last = high(y, rows_); row <= last; ++row) {
    Sample* line = &samples_[static_cast<std::size_t>(row) * stride_];
    const auto py = static_cast<float>(row);
    for (int column = low(x), end = high(x, stride_); column <= end; ++column) {
      const auto px = static_cast<float>(column);
      const float b = ((px - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (py - y[0])) * scale;
      const float c = ((x[1] - x[0]) * (py - y[0]) - (px - x[0]) * (y[1] - y[0])) * scale;
      const float a = 1 - b - c;
      // The slack closes the hair between two faces that share an edge.
      if (a < -1e-4f || b < -1e-4f || c < -1e-4f) continue;
      const float depth = 1 / (a * near[0] + b * near[1] + c * near[2]) - lift;
      Sample& sample = line[column];
      if (depth >= sample.depth) continue;
      sample = {corners[0].colour * a + corners[1].colour * b + corners[2].colour * c, depth,
                static_cast<std::uint8_t>(label), 1};
    }
  }
}

void Canvas::fillRod(const View::Projected& a, const View::Projected& b, float radius_a, float radius_b,
                     std::span<const Vec3> tones, Class label) {
  const auto scale = static_cast<float>(fine_);
  const float ax = (a.x - static_cast<float>(box_.x)) * scale - 0.5f,
              ay = (a.y - static_cast<float>(box_.y)) * scale - 0.5f;
  const float bx = (b.x - static_cast<float>(box_.x)) * scale - 0.5f,
              by = (b.y - static_cast<float>(box_.y)) * scale - 0.5f;
  // A rod thinner than a sample would be dashes.
  const float ra = std::max(radius_a * scale, 0.55f), rb = std::max(radius_b * scale, 0.55f);
  const float dx = bx - ax, dy = by - ay, square = std::max(dx * dx + dy * dy, 1e-6f), way = std::sqrt(square);
  const auto tone_count = static_cast<float>(tones.size());
  const cv::Rect near = pixelsIn(std::min(ax - ra, bx - rb), std::min(ay - ra, by - rb), std::max(ax + ra, bx + rb),
                                 std::max(ay + ra, by + rb), {stride_, rows_});
  for (int row = near.y; row < near.br().y; ++row) {
    for (int column = near.x; column < near.br().x; ++column) {
      const float px = static_cast<float>(column) - ax, py = static_cast<float>(row) - ay;
      const float t = clamp01((px * dx + py * dy) / square);
      const float radius = ra + (rb - ra) * t;
      const float qx = px - dx * t, qy = py - dy * t;
      if (qx * qx + qy * qy > radius * radius) continue;
      const float depth = a.depth + (b.depth - a.depth) * t - 0.03f;
      Sample& sample = samples_[static_cast<std::size_t>(row) * stride_ + column];
      if (depth >= sample.depth) continue;
      const float u = way > 1e-2f ? (px * -dy + py * dx) / (way * radius) : px / radius;
      const auto tone = static_cast<std::size_t>(std::clamp((u + 1) * 0.5f * tone_count, 0.0f, tone_count - 1));
      sample = {tones[tone], depth, static_cast<std::uint8_t>(label), 1};
    }
  }
}

void Canvas::finish(Vec3 foot) {
  const Picture& p = *picture_;
  const float through = p.backdrop.through(length(foot - p.view.place));
  const Vec3 haze = p.moment.fog * (1 - through);
  const float share = 1.0f / static_cast<float>(fine_ * fine_);
  const bool mirrors = p.weather.wetness > 0.02f;
  if (mirrors) resolved_.resize(static_cast<std::size_t>(box_.height + 1) * box_.width);
  for (int row = 0; row < box_.height; ++row) {
    for (int column = 0; column < box_.width; ++column) {
      Vec3 sum;
      int covered = 0;
      std::array<std::uint8_t, kClasses> votes{};
      for (int i = 0; i < fine_; ++i) {
        const Sample* line = &samples_[static_cast<std::size_t>(row * fine_ + i) * stride_ + column * fine_];
        for (int j = 0; j < fine_; ++j) {
          if (line[j].covered) {
            sum += line[j].colour;
            ++votes[line[j].label];
            ++covered;
          }
        }
      }
      const float alpha = static_cast<float>(covered) * share;
      const Vec3 colour = sum * (share * through) + haze * alpha;
      if (mirrors) {  // sums down each column, so that a mean over any stretch of it is one difference
        const std::size_t here = static_cast<std::size_t>(row + 1) * box_.width + column;
        const Resolved above = row == 0 ? Resolved{} : resolved_[here - box_.width];
        // Lamps are far beyond white: their streaks would be too, to their last row.
        constexpr float kBrightMirror = 150;
        const Vec3 tame = colour * std::min(1.0f, kBrightMirror / std::max(luminance(colour), 1e-3f));
        resolved_[here] = {above.colour + (p.moment.lamps > 0 ? tame : colour), above.alpha + alpha};
        if (row == 0) resolved_[column] = {};
      }
      if (covered == 0) continue;
      const int x = box_.x + column, y = box_.y + row;
      Vec3& target = p.light.ptr<Vec3>(y)[x];
      target = target * (1 - alpha) + colour;
      if (2 * covered >= fine_ * fine_)
        p.labels.at<std::uint8_t>(y, x) = static_cast<std::uint8_t>(std::ranges::max_element(votes) - votes.begin());
    }
  }
  if (mirrors) mirror(p.view.project(foot).y);
}

void Canvas::mirror(float foot) {
  const Picture& p = *picture_;
  const int first = std::max(0, static_cast<int>(foot));
  const int last = std::min(p.light.rows, static_cast<int>(2 * foot) - box_.y + box_.height / 3);
  for (int y = first; y < last; ++y) {
    // Ripples and the grain of the asphalt smear the image vertically, more with greater height.
    const float off = static_cast<float>(y) + 0.5f - foot;
    // Two stretches, one inside the other, so that the smear fades out.
    std::array<const Resolved*, 4> stops;
    constexpr std::array<float, 4> kReach = {1.55f, 1.25f, 0.82f, 0.60f};
    for (int i = 0; i < 4; ++i) {
      const float soft = i < 2 ? -2.0f : 2.0f;
      const int row = std::clamp(static_cast<int>(foot - kReach[i] * off + soft) - box_.y, 0, box_.height);
      stops[i] = &resolved_[static_cast<std::size_t>(row) * box_.width];
    }
    if (stops[0] == stops[3]) continue;
    const float wide = 0.5f / (0.95f * off + 4), narrow = 0.5f / (0.43f * off + 4);
    const auto mean = [&](int column) {
      return Resolved{(stops[3][column].colour - stops[0][column].colour) * wide +
                          (stops[2][column].colour - stops[1][column].colour) * narrow,
                      (stops[3][column].alpha - stops[0][column].alpha) * wide +
                          (stops[2][column].alpha - stops[1][column].alpha) * narrow};
    };
    Vec3* out = p.light.ptr<Vec3>(y) + box_.x;
    Resolved before = mean(0), here = before;
    for (int column = 0; column < box_.width; ++column) {
      const Resolved after = mean(std::min(column + 1, box_.width - 1));
      const float alpha = (before.alpha + 2 * here.alpha + after.alpha) / 4;
      const Vec3 colour = (before.colour + 2 * here.colour + after.colour) * 0.25f;
      before = here;
      here = after;
      if (alpha < 0.002f) continue;
      const float mirrored = p.backdrop.mirror(y * p.light.cols + box_.x + column) * p.weather.wetness * 0.9f;
      if (mirrored > 0) out[column] = out[column] * (1 - 0.7f * mirrored * alpha) + colour * mirrored;
    }
  }
}

}  // namespace mpm::scene
