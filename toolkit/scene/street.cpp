// SPDX-License-Identifier: Apache-2.0
#include "street.h"

#include <functional>
#include <opencv2/imgproc.hpp>

#include "backdrop.h"
#include "sensor.h"
#include "things.h"
#include "vision/astronomy.h"
#include "vision/draws.h"
#if CV_VERSION_MAJOR >= 5  // convexHull was in imgproc before
#include <opencv2/geometry.hpp>
#endif

namespace mpm::scene {

const ClassStyle kClassStyles[kClasses] = {
    {"sky", {85, 185, 253}},       {"building", {130, 90, 104}}, {"road", {54, 54, 92}},
    {"pavement", {177, 183, 152}}, {"tree", {20, 140, 79}},      {"pole", {220, 218, 68}},
    {"car", {20, 104, 189}},       {"person", {193, 44, 0}},     {"cyclist", {211, 138, 180}}};

struct Street::Impl {
  StreetOptions options;
  World world;
  int margin;
  cv::Size padded;
  View view;
  cv::Mat lens;  // lensMap()
  Backdrop backdrop;
  Heavens heavens;
  std::vector<TreeSprite> trees;
  int leaf_step = -1;
  cv::Mat light, shade;
  Canvas canvas;
  std::vector<Vec3> window_light;

  explicit Impl(const StreetOptions& o)
      : options(o),
        world(o.seed, Look(o.seed, static_cast<float>(o.variety))),
        margin(o.shake > 0 ? 2 + static_cast<int>(std::ceil(0.003 * o.shake * o.size.width)) : 0),
        padded(o.size.width + 2 * margin, o.size.height + 2 * margin),
        view(world, o.size.width, o.size.height, margin),
        lens(lensMap(world.look.distortion, view, padded)),
        backdrop(world, view, padded),
        heavens(o.seed, view, padded),
        light(padded, CV_32FC3),
        shade(padded, CV_8U),
        window_light(world.windows) {}

  Rendering render(double unix_time);
  void growLeaves(const Season& season);
  void lightWindows(const Light& moment, double unix_time, double hour);
  void shadeGround(const Light& moment, const std::vector<Actor>& actors);
  void drawThings(const Picture& picture, const Season& season, const std::vector<Actor>& actors, double unix_time);
  cv::Point2f shakeAt(double unix_time, float wind) const;
};

void Street::Impl::growLeaves(const Season& season) {
  constexpr int kLeafSteps = 10;  // stages of leaf that trees are drawn for
  const int step = static_cast<int>(std::lround(season.leaves * kLeafSteps));
  if (step == leaf_step) return;
  leaf_step = step;
  trees.clear();
  for (const Tree& tree : world.trees) trees.emplace_back(tree, view, static_cast<float>(step) / kLeafSteps);
}

void Street::Impl::lightWindows(const Light& moment, double unix_time, double hour) {
  const auto h = static_cast<float>(hour);
  const float need = smoothstep(4000, 300, moment.day);  // lights are off in bright rooms
  for (const std::vector<Building>* row : {&world.rows[0], &world.rows[1], &world.end_row}) {
    for (const Building& b : *row) {
      if (b.height <= 0) continue;
      for (int i = 0; i < (b.floors + 1) * b.bays; ++i) {
        Vec3& window = window_light[b.first_window + i];
        window = {};
        const std::uint64_t key =
            hash(b.key, 0x1167, i, static_cast<std::int64_t>(std::floor((unix_time - 43200) / 86400)));
        const float u = unit(key), v = unit(mix(key)), w = unit(mix(key + 1));
        const bool shop = b.has_shop && i < b.bays;
        const float evening_end = 21.3f + 4.2f * u, morning = 5.8f + 1.8f * v;  // to bed, up again
        const float late = h < 4 ? h + 24 : h;
        const bool on = shop ? (h > 7 && h < 20.5f + u) || u > 0.8f
                             : (late > 15.5f && late < evening_end && v < 0.66f) ||
                                   (h > morning && h < 9 && w < 0.5f) || w > 0.965f;
        if (!on) continue;
        const float warm = unit(mix(key + 2));
        Vec3 colour = warm < 0.72f   ? Vec3{1.32f, 0.96f, 0.52f}
                      : warm < 0.92f ? Vec3{1.1f, 1.0f, 0.82f}
                                     : Vec3{0.68f, 0.98f, 1.65f};
        if (warm >= 0.92f && !shop)  // a television
          colour *= 0.55f + 0.25f * noiseOfTime(key, unix_time * 1.5);
        window = colour * ((shop ? 13.0f : 3.0f + 7.0f * v * v) * (shop ? std::max(need, 0.5f) : need));
      }
    }
  }
}

void Street::Impl::shadeGround(const Light& moment, const std::vector<Actor>& actors) {
  shade.setTo(0);
  const Vec3 l = moment.sun_direction;
  if (luminance(moment.sun) * l.y < 0.002f * luminance(moment.ambient[0]) || l.y < 0.03f) return;
  constexpr int kShift = 4;
  std::vector<cv::Point2f> points;
  std::vector<cv::Point> outline;
  const auto cast = [&](Vec3 p) {
    Vec3 ground = p - l * (p.y / l.y);
    View::Projected seen = view.project(ground);
    if (seen.depth < 2.5f) {
      ground.z += 2.5f - seen.depth;
      seen = view.project(ground);
    }
    points.emplace_back(std::clamp(seen.x, -2000.0f, 8000.0f), std::clamp(seen.y, -2000.0f, 8000.0f));
  };
  const auto fill = [&] {
    outline.clear();
    for (const cv::Point2f& p : points)
      outline.emplace_back(cvRound(p.x * (1 << kShift)), cvRound(p.y * (1 << kShift)));
    cv::fillConvexPoly(shade, outline, 255, cv::LINE_AA, kShift);
    points.clear();
  };
  const auto castBox = [&](Vec3 low, Vec3 high) {
    for (int corner = 0; corner < 8; ++corner)
      cast({corner & 1 ? high.x : low.x, corner & 2 ? high.y : low.y, corner & 4 ? high.z : low.z});
    std::vector<cv::Point2f> hull;
    cv::convexHull(points, hull);
    points = std::move(hull);
    fill();
  };
  const float along_x = l.x / std::hypot(l.x, l.z), along_z = l.z / std::hypot(l.x, l.z);
  for (const TreeSprite& sprite : trees) {
    const Tree& tree = sprite.tree();
    castBox({tree.x - 0.14f, 0, tree.z - 0.14f}, {tree.x + 0.14f, 0.5f * tree.height, tree.z + 0.14f});
    for (const TreeSprite::Puff& puff : sprite.puffs()) {
      // The shade of a ball on the ground is an ellipse, stretched along the light.
      const Vec3 centre = puff.centre - l * (puff.centre.y / l.y);
      const View::Projected seen = view.project(centre);
      if (seen.depth < 4 || seen.x < -300 || seen.x > static_cast<float>(padded.width) + 300) continue;
      for (int k = 0; k < 9; ++k) {
        const float turn = 2 * kPi * static_cast<float>(k) / 9, a = puff.radius * std::cos(turn) / l.y,
                    c = puff.radius * std::sin(turn);
        cast({centre.x + a * along_x - c * along_z, 0, centre.z + a * along_z + c * along_x});
      }
      fill();
    }
  }
  for (const Lamp& lamp : world.lamps)
    castBox({lamp.x - 0.06f, 0, lamp.z - 0.06f}, {lamp.x + 0.06f, kLampHeight, lamp.z + 0.06f});
  for (const Sign& sign : world.signs) {
    castBox({sign.x - 0.03f, 0, sign.z - 0.03f}, {sign.x + 0.03f, 2.7f, sign.z + 0.03f});
    castBox({sign.x - 0.3f, 2.05f, sign.z - 0.02f}, {sign.x + 0.3f, 2.7f, sign.z + 0.02f});
  }
  for (const Actor& actor : actors)
    for (const Box& box : shadeOf(actor)) castBox(box.low, box.high);
  cv::blur(shade, shade, {3, 3});
}

void Street::Impl::drawThings(const Picture& picture, const Season& season, const std::vector<Actor>& actors,
                              double unix_time) {
  struct Item {
    float depth;
    std::function<void()> draw;
  };
  std::vector<Item> items;
  const auto add = [&](const auto& thing, std::function<void()> draw) {
    items.push_back({view.project({thing.x, 0, thing.z}).depth, std::move(draw)});
  };
  for (const Actor& actor : actors) {
    const auto draw = actor.kind == ActorKind::kCar          ? drawCar
                      : actor.kind == ActorKind::kPedestrian ? drawPedestrian
                                                             : drawCyclist;
    add(actor, [&, draw] { draw(canvas, picture, actor); });
  }
  for (const TreeSprite& sprite : trees) add(sprite.tree(), [&] { sprite.draw(picture, season, unix_time); });
  for (const Lamp& lamp : world.lamps) add(lamp, [&] { drawLamp(canvas, picture, lamp); });
  for (const Sign& sign : world.signs) add(sign, [&] { drawSign(canvas, picture, sign); });
  std::ranges::stable_sort(items, std::greater{}, &Item::depth);

  for (const Actor& actor : actors) drawContact(picture, actor);
  if (headlightsOn(picture.moment, picture.weather) && picture.moment.day < 400) {
    for (const Actor& actor : actors)
      if (actor.kind == ActorKind::kCar && !actor.parked) drawHeadlightPool(picture, actor);
  }
  for (const Item& item : items) item.draw();
}

cv::Point2f Street::Impl::shakeAt(double unix_time, float wind) const {
  const auto amplitude = static_cast<float>(0.0022 * options.shake * options.size.width) * (0.35f + 0.65f * wind);
  const double t = std::fmod(unix_time, 86400.0);
  const auto axis = [&](std::uint64_t key) {
    return 0.7f * noiseOfTime(hash(options.seed, 0x5a4e, key), 2.3 * t) +
           0.3f * noiseOfTime(hash(options.seed, 0x5a4f, key), 9 * t);
  };
  return {amplitude * axis(0), 0.7f * amplitude * axis(1)};
}

Rendering Street::Impl::render(double unix_time) {
  const vision::SkyPosition sun = vision::sunPosition(unix_time, options.latitude, options.longitude);
  const vision::Moon moon = vision::moonPosition(unix_time, options.latitude, options.longitude);
  WeatherState weather = weatherAt(options.weather, options.seed, unix_time);
  weather.extinction *= world.look.haze;
  const Light moment = lightAt(sun, moon, world.azimuth, weather);
  double hour = std::fmod(unix_time / 3600 + options.longitude / 15, 24.0);
  if (hour < 0) hour += 24;
  Season season = seasonAt(unix_time, options.latitude);
  if (world.look.foliage == Foliage::kBare) season = {world.look.bare_leaves, 0, 0};
  if (world.look.foliage == Foliage::kEvergreen) season = {};
  season.leaves = std::min(season.leaves, 1 - 0.95f * smoothstep(0.2f, 0.8f, weather.snow));
  growLeaves(season);

  const std::vector<Actor> actors = actorsAt(world, unix_time, hour, weather);
  lightWindows(moment, unix_time, hour);
  shadeGround(moment, actors);
  heavens.paint(moment, weather, unix_time, backdrop.skyRows(), light);
  backdrop.paint({moment, weather, shade, window_light}, light);
  cv::Mat labels = backdrop.labels().clone();
  const Picture picture{light, labels, view, world, backdrop, moment, weather, shade};
  drawThings(picture, season, actors, unix_time);
  drawPrecipitation(picture, options.seed, unix_time);
  bend(lens, light, labels);

  const bool is_night = sun.elevation < -6;  // civil twilight is over
  cv::Point2f corner(static_cast<float>(margin), static_cast<float>(margin));
  if (options.shake > 0) corner += shakeAt(unix_time, weather.wind);
  const std::uint64_t key = hash(options.seed, 0x5e45, static_cast<std::int64_t>(std::llround(unix_time * 1000)));
  return {expose(light, {options.noise, options.jpeg, cv::Rect2f(corner, cv::Size2f(options.size)), key,
                         world.look.development}),
          labels(cv::Rect(cv::Point(corner), options.size)).clone(),
          {unix_time, sun.elevation, moon.position.elevation, moon.illuminated, is_night, moment.lamps > 0.5f}};
}

Street::Street(const StreetOptions& options) {
  options.validate();
  impl_ = std::make_unique<Impl>(options);
}
Street::~Street() = default;

Rendering Street::render(double unix_time) { return impl_->render(unix_time); }

std::optional<Rendering> Street::frame(int i) {
  if (impl_->options.frames > 0 && i >= impl_->options.frames) return std::nullopt;
  return impl_->render(impl_->options.timeOf(i));
}

}  // namespace mpm::scene
