// SPDX-License-Identifier: Apache-2.0
#include <opencv2/imgproc.hpp>

#include "things.h"
#include "vision/draws.h"

namespace mpm::scene {
namespace {

constexpr Vec3 kBark = {0.12f, 0.095f, 0.075f};

struct Fine {
  float depth = 1e9f;
  Vec3 albedo, normal;
  float open = 1;
  bool leaf = false;
};

}  // namespace

Season seasonAt(double unix_time, double latitude) {
  const double shift = latitude < 0 ? 182.6 : 0;  // the south has its winter half a year later
  const auto day = static_cast<float>(std::fmod(unix_time / 86400 + shift, 365.2425));
  Season season;
  if (std::abs(latitude) < 23) return season;  // no winter to speak of
  season.leaves = 0.03f + 0.97f * std::min(smoothstep(88, 128, day), 1 - smoothstep(292, 328, day));
  season.autumn = smoothstep(262, 302, day);
  season.spring = smoothstep(85, 105, day) * (1 - smoothstep(125, 165, day));
  return season;
}

TreeSprite::TreeSprite(const Tree& tree, const View& view, float leaves) : tree_(tree) {
  const View::Projected foot = view.project({tree.x, 0, tree.z});
  scale_ = view.scaleAt(foot.depth);
  const float reach = tree.radius * 1.35f;
  width_ = static_cast<int>(std::ceil(2 * reach * scale_)) + 2;
  height_ = static_cast<int>(std::ceil((tree.height + 0.6f) * scale_)) + 2;
  origin_ = {static_cast<int>(std::floor(foot.x)) - width_ / 2, static_cast<int>(std::ceil(foot.y)) - height_ + 1};

  Draws draws(tree.key);
  const float crown_high = 0.37f * tree.height, crown_y = tree.height - crown_high;
  const Vec3 crown = {0, crown_y, 0};
  constexpr int kFine = 2;
  const int columns = width_ * kFine, rows = height_ * kFine;
  std::vector<Fine> fine(static_cast<std::size_t>(columns) * rows);
  // Sprite axes, m from the foot: x right, y up, z away. A tree is small against its distance: no perspective inside.
  const float left = (foot.x - static_cast<float>(origin_.x)) * kFine,
              base = (foot.y - static_cast<float>(origin_.y)) * kFine;
  const float dense = scale_ * kFine;
  const auto rod = [&](Vec3 a, Vec3 b, float ra, float rb) {
    const float ax = left + a.x * dense, ay = base - a.y * dense, bx = left + b.x * dense, by = base - b.y * dense;
    const float r0 = std::max(ra * dense, 0.5f), r1 = std::max(rb * dense, 0.5f), r = std::max(r0, r1);
    const float dx = bx - ax, dy = by - ay, square = std::max(dx * dx + dy * dy, 1e-4f), way = std::sqrt(square);
    for (int y = std::max(0, static_cast<int>(std::min(ay, by) - r));
         y < std::min(rows, static_cast<int>(std::max(ay, by) + r) + 2); ++y) {
      for (int x = std::max(0, static_cast<int>(std::min(ax, bx) - r));
           x < std::min(columns, static_cast<int>(std::max(ax, bx) + r) + 2); ++x) {
        const float px = static_cast<float>(x) + 0.5f - ax, py = static_cast<float>(y) + 0.5f - ay;
        const float t = clamp01((px * dx + py * dy) / square), radius = lerp(r0, r1, t);
        const float qx = px - dx * t, qy = py - dy * t, off = qx * qx + qy * qy;
        if (off > radius * radius) continue;
        Fine& f = fine[static_cast<std::size_t>(y) * columns + x];
        const float depth = lerp(a.z, b.z, t);
        if (depth >= f.depth) continue;
        const float u = (px * -dy + py * dx) / (way * radius);
        const float grain = unit(hash(tree.key, x / 2, y / 5));
        f = {depth, kBark * (0.75f + 0.5f * grain),
             normalized({u * -dy / way, -u * dx / way, -std::sqrt(std::max(1 - u * u, 0.0f))}), 0.8f, false};
      }
    }
  };
  const float girth = 0.021f * tree.height;
  const Vec3 fork = {draws.uniform(-0.1f, 0.1f), crown_y - 0.55f * crown_high, 0};
  rod({0, 0, 0}, fork, girth * 1.2f, girth);
  for (int branch = 0; branch < 15; ++branch) {
    const float turn = 2 * kPi * (static_cast<float>(branch) + draws.uniform()) / 15 * 2.4f;
    const float up = draws.uniform(0.15f, 1.25f),
                out = tree.radius * draws.uniform(0.55f, 0.95f) * std::sqrt(std::max(1 - 0.55f * up * up, 0.1f));
    const Vec3 from = lerp(fork, crown, draws.uniform(-0.25f, 0.7f));
    const Vec3 tip = {out * std::cos(turn), crown_y + crown_high * (up - 0.45f), out * std::sin(turn)};
    const Vec3 bend = lerp(from, tip, 0.5f) + Vec3{0, -0.06f * tree.height * draws.uniform(), 0};
    rod(from, bend, girth * 0.5f, girth * 0.32f);
    rod(bend, tip, girth * 0.32f, girth * 0.12f);
    for (int twig = 0; twig < tree.twigs; ++twig) {
      const Vec3 start = lerp(bend, tip, draws.uniform(-0.4f, 1.0f));
      const Vec3 end =
          start + Vec3{draws.uniform(-1, 1), draws.uniform(-0.1f, 1), draws.uniform(-1, 1)} * (0.30f * tree.radius);
      rod(start, end, girth * 0.13f, girth * 0.07f);
      rod(lerp(start, end, 0.5f),
          lerp(start, end, 0.5f) + Vec3{draws.uniform(-1, 1), draws.uniform(0, 1), 0} * (0.16f * tree.radius),
          girth * 0.08f, girth * 0.05f);
    }
  }

  constexpr int kPuffs = 900;
  for (int i = 0; i < kPuffs; ++i) {
    Vec3 p;
    do p = {draws.uniform(-1, 1), draws.uniform(-1, 1), draws.uniform(-1, 1)};
    while (dot(p, p) > 1);
    p *= 0.55f + 0.45f * length(p);  // thicker near the surface, where the light is
    // Crowns are lumpy: a slow wave on the ellipsoid.
    const float lump = 1 + 0.13f * std::sin(5 * p.x + 3 * p.y + unit(tree.key) * 6) *
                               std::cos(4 * p.z + 5 * p.y + unit(mix(tree.key)) * 6);
    const Vec3 centre = {p.x * tree.radius * lump, crown_y + p.y * crown_high * lump, p.z * tree.radius * lump};
    const float radius = tree.radius * draws.uniform(0.05f, 0.12f) * (0.5f + 0.5f * std::sqrt(leaves));
    const float hue = draws.uniform(), bright = draws.uniform(0.8f, 1.25f);
    const std::uint64_t key = draws.bits();
    if (unit(mix(key)) > leaves) continue;
    if (i % 16 == 0) puffs_.push_back({Vec3{tree.x, 0, tree.z} + centre, radius * 3.2f});
    const float depth_in_crown = clamp01(length(p));
    const float open = (0.30f + 0.70f * depth_in_crown * depth_in_crown) * (0.66f + 0.34f * clamp01(0.5f + 0.7f * p.y));
    const Vec3 outward = normalized({p.x / tree.radius, p.y / crown_high, p.z / tree.radius});
    const float cx = left + centre.x * dense, cy = base - centre.y * dense, r = std::max(radius * dense, 0.8f);
    const int grain = std::max(1, static_cast<int>(0.05f * dense));  // a leaf of some 7 cm
    for (int y = std::max(0, static_cast<int>(cy - r)); y < std::min(rows, static_cast<int>(cy + r) + 1); ++y) {
      for (int x = std::max(0, static_cast<int>(cx - r)); x < std::min(columns, static_cast<int>(cx + r) + 1); ++x) {
        const float u = (static_cast<float>(x) + 0.5f - cx) / r, v = (static_cast<float>(y) + 0.5f - cy) / r,
                    square = u * u + v * v;
        const std::uint64_t leaf = hash(key, x / grain, y / grain);
        if (square > 0.45f + 0.55f * unit(leaf) || unit(mix(leaf + 2)) < 0.1f) continue;
        const float toward = std::sqrt(std::max(1 - square, 0.0f));
        const float depth = centre.z - radius * toward + 0.25f * radius * unit(mix(leaf));
        Fine& f = fine[static_cast<std::size_t>(y) * columns + x];
        if (depth >= f.depth) continue;
        const float jitter = 0.75f + 0.5f * unit(mix(leaf + 1));
        const Vec3 normal = normalized(outward * 0.8f + Vec3{u, -v, -toward} * 0.45f + Vec3{0, 0.15f, 0});
        // red and green of a leaf's albedo are kept as brightness and hue; the season makes the colour
        f = {depth, {bright * jitter, hue, 0}, normal, open * (0.8f + 0.2f * toward), true};
      }
    }
  }

  texels_.resize(static_cast<std::size_t>(width_) * height_);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      Texel& t = texels_[static_cast<std::size_t>(y) * width_ + x];
      for (int k = 0; k < kFine * kFine; ++k) {
        const Fine& f = fine[static_cast<std::size_t>(y * kFine + k / kFine) * columns + x * kFine + k % kFine];
        if (f.depth > 1e8f) continue;
        constexpr float kShare = 1.0f / (kFine * kFine);
        t.alpha += kShare;
        t.albedo += f.albedo * kShare;
        t.normal += f.normal * kShare;
        t.open += f.open * kShare;
        t.leaf += f.leaf ? kShare : 0;
      }
    }
  }
  if (tree.outlined) markInside();
}

// People who label pictures draw the outline of a bare crown. So do we: where twigs cover a part of the surroundings.
void TreeSprite::markInside() {
  constexpr float kReach = 0.35f, kCovered = 0.22f;  // m; share
  cv::Mat alpha(height_, width_, CV_32F);
  for (std::size_t i = 0; i < texels_.size(); ++i) alpha.ptr<float>()[i] = texels_[i].alpha;
  const int side = 2 * static_cast<int>(kReach * scale_) + 1;
  cv::blur(alpha, alpha, {side, side}, {-1, -1}, cv::BORDER_CONSTANT);
  for (std::size_t i = 0; i < texels_.size(); ++i) texels_[i].inside = alpha.ptr<float>()[i] > kCovered;
}

void TreeSprite::draw(const Picture& picture, const Season& season, double unix_time) const {
  const cv::Rect box =
      cv::Rect(origin_.x, origin_.y, width_, height_) & cv::Rect(0, 0, picture.light.cols, picture.light.rows);
  if (box.empty()) return;
  const Light& light = picture.moment;
  const Vec3 foot = {tree_.x, 0, tree_.z};
  const float through = picture.backdrop.through(length(foot - picture.view.place));
  const Vec3 haze = light.fog * (1 - through);
  const float own = unit(tree_.key);
  // Each tree turns in its own week and to its own gold.
  const float gold = smoothstep(0.3f * own, 0.5f + 0.5f * own, season.autumn);
  const Vec3 green =
      lerp(Vec3{0.046f, 0.078f, 0.022f}, Vec3{0.115f, 0.185f, 0.035f}, season.spring) * picture.world.look.leaf_tint;
  const Vec3 leaf_a = lerp(green, own < 0.5f ? Vec3{0.34f, 0.20f, 0.02f} : Vec3{0.33f, 0.10f, 0.02f}, gold);
  const Vec3 leaf_b =
      lerp(green * Vec3{1.35f, 1.15f, 0.9f}, own < 0.5f ? Vec3{0.42f, 0.30f, 0.03f} : Vec3{0.36f, 0.17f, 0.025f}, gold);
  const Vec3 view_way = normalized(foot + Vec3{0, 4, 0} - picture.view.place);
  // Leaves let light through: a crown against the sun glows.
  const float behind = std::max(dot(view_way, light.sun_direction), 0.0f), glow = 0.18f + 0.35f * behind * behind;
  const bool shines = luminance(light.sun) > 0;

  // The wind: the whole crown leans with the gusts, its parts tremble out of step.
  const float wind = picture.weather.wind;
  const double t = std::fmod(unix_time, 3600.0);
  const float lean = scale_ * wind * (0.10f + 0.07f * std::sin(static_cast<float>(1.3 * t) + 6 * own));
  std::array<float, 64> tremble;
  for (int i = 0; i < 64; ++i)
    tremble[i] = scale_ * wind * 0.035f * std::sin(static_cast<float>(5.1 * t) + 2 * kPi * static_cast<float>(i) / 64);
  const float metres = 1 / scale_;

  for (int y = box.y; y < box.br().y; ++y) {
    const int row = y - origin_.y;
    const float high = static_cast<float>(height_ - 1 - row) * metres, relative = high / tree_.height;
    float lit = 0;
    for (const float apart : {-1.6f, -0.5f, 0.5f, 1.6f})  // a crown is deep: the edge of a shade is not a line on it
      if (shines) lit += 0.25f * picture.world.lit(foot + Vec3{0, high + apart, 0.6f * apart}, light.sun_direction);
    const float lamp = light.lamps > 0
                           ? light.lamps * picture.world.lampLight(foot + Vec3{0, std::min(high, 5.5f), 0}, {0, 1, 0}) *
                                 (high > kLampHeight ? 0.05f : 0.28f)
                           : 0;
    const float sway = lean * relative * relative * relative;
    Vec3* out = picture.light.ptr<Vec3>(y);
    std::uint8_t* label = picture.labels.ptr(y);
    for (int x = box.x; x < box.br().x; ++x) {
      float from = static_cast<float>(x - origin_.x);
      if (relative > 0.25f)
        from -= sway + tremble[(static_cast<int>(from * metres * 21 + high * 13) + row * 7 / 5) & 63] * relative;
      const int left = static_cast<int>(std::floor(from));
      if (left < 0 || left + 1 >= width_) continue;
      const Texel* pair = &texels_[static_cast<std::size_t>(row) * width_ + left];
      const float b = from - static_cast<float>(left), a = 1 - b;
      const float alpha = pair[0].alpha * a + pair[1].alpha * b;
      if (alpha >= 0.5f || pair[b >= 0.5f].inside) label[x] = static_cast<std::uint8_t>(Class::kTree);
      if (alpha < 0.02f) continue;
      const float scale = 1 / alpha;
      const Vec3 normal = (pair[0].normal * a + pair[1].normal * b) * scale;
      const float open = (pair[0].open * a + pair[1].open * b) * scale,
                  leaf = (pair[0].leaf * a + pair[1].leaf * b) * scale;
      Vec3 albedo = (pair[0].albedo * a + pair[1].albedo * b) * scale;
      if (leaf > 0.5f)
        albedo = lerp(leaf_a, leaf_b, clamp01(albedo.y)) * albedo.x;
      else if (leaf > 0)
        albedo = kBark;
      if (picture.weather.snow > 0)
        albedo = lerp(albedo, Vec3{0.8f, 0.82f, 0.85f}, picture.weather.snow * smoothstep(0.0f, 0.55f, normal.y));
      const float facing = dot(normal, light.sun_direction);
      const float from_sun = lit *
                             (std::max(facing, 0.0f) + (leaf > 0.5f ? glow * std::max(-facing + 0.35f, 0.0f) : 0)) *
                             smoothstep(0.1f, 0.75f, open);
      const float up = 0.5f + 0.5f * normal.y;
      const Vec3 ambient = lerp(lerp(light.ambient[4], light.ambient[3], std::min(2 * up, 1.0f)), light.ambient[0],
                                std::max(2 * up - 1, 0.0f));
      const Vec3 colour = albedo * (ambient * (1.1f * open) + light.sun * from_sun + light.lamp_colour * lamp);
      out[x] = lerp(out[x], colour * through + haze, alpha);
    }
  }
}

}  // namespace mpm::scene
