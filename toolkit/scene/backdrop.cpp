// SPDX-License-Identifier: Apache-2.0
#include "backdrop.h"

#include <opencv2/imgproc.hpp>

#include "vision/draws.h"

namespace mpm::scene {

constexpr float kHazeStep = 0.25f;  // m of depth per entry of the haze table
constexpr int kHazeSteps = 1024;
constexpr std::array<Vec3, 6> kSurfaceNormals = {  // by Backdrop::Surface
    {{0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 0, -1}, {0, 0.64f, -0.77f}}};

Backdrop::Sample Backdrop::ground(Vec3 p) const {
  const Look& look = world_.look;
  const Profile& side = world_.sideOf(p.x);
  const float across = std::abs(p.x);
  const bool road =
      across < side.kerb || p.z > look.end - 2 || (look.side_streets > 0 && world_.isSideStreet(p.x > 0, p.z));
  const Material& material = road ? look.road : look.pavement;
  const float grain = material.grain * fine_.at(p.x * 21 * material.scale, p.z * 21 * material.scale),
              patch = material.stain * coarse_.at(p.x * 0.9f * material.scale, p.z * 0.35f * material.scale);
  const Vec3 tint = material.tint * material.wave(p.x, p.z);
  const float from_wall = across - side.facade;
  Sample s{Surface::kGround, road ? Class::kRoad : Class::kPavement, road ? 1 : 2, p};
  s.openness = 1 - 0.45f * std::exp((look.bright_yards ? -std::abs(from_wall) : from_wall) * 0.5f);
  if (!road && side.lawn && across > side.facade) {
    s.label = Class::kTree;
    s.thing = 6;
    s.albedo = Vec3{0.075f, 0.105f, 0.035f} * look.crown_tint * (1 + 0.35f * grain + 0.2f * patch);
    s.snow = 1;
    return s;
  }
  if (!road) {
    if (across < side.kerb + 0.18f) {
      s.albedo = Vec3{0.36f, 0.35f, 0.34f} * (1 + 0.12f * grain);
    } else {
      const float slab_size = 0.62f / material.scale;
      const float u = (across - side.kerb - 0.18f) / slab_size, v = p.z / slab_size + 0.5f * std::floor(u);
      const bool joint = u - std::floor(u) < 0.06f || v - std::floor(v) < 0.06f;
      const float slab =
          unit(hash(world_.seed, static_cast<int>(std::floor(u)), static_cast<int>(std::floor(v)) + 4096));
      s.albedo = Vec3{0.250f, 0.238f, 0.222f} *
                 ((joint ? 0.72f : 0.93f + 0.14f * slab) * (1 + 0.1f * grain + 0.07f * patch)) * tint;
    }
    s.snow = clamp01(1 + 0.25f * patch + 0.1f * grain);
    return s;
  }
  s.albedo = Vec3{0.115f, 0.114f, 0.113f} * (1 + 0.20f * grain + 0.07f * patch) * tint;
  const float track = std::min(std::abs(std::abs(across - side.lane_centre) - 0.75f), 0.6f);
  s.albedo *= 0.86f + 0.14f * smoothstep(0.1f, 0.5f, track);
  s.snow = clamp01(0.25f + 0.75f * smoothstep(0.12f, 0.45f, track) + 0.3f * patch);
  if (across > side.lane_edge) {
    s.albedo *= 1.14f;
    s.snow = clamp01(0.9f + 0.3f * patch);
    if (across > side.kerb - 0.35f) s.albedo *= 0.75f;  // the gutter
  }
  // A repair in a darker tar here and there, and manholes.
  const auto block = static_cast<int>(std::floor(p.z / 7));
  const std::uint64_t key = hash(world_.seed, 0x70ad, block, p.x > 0);
  if (unit(key) < 0.3f) {
    const float from = 0.4f + 2 * unit(mix(key)), wide = 0.6f + 1.2f * unit(mix(key + 1));
    const float z = p.z - 7 * static_cast<float>(block) - 1;
    if (across > from && across < from + wide && z > 0 && z < 2 + 4 * unit(mix(key + 2))) s.albedo *= 0.74f;
  } else if (unit(key) < 0.45f) {
    const float dx = across - side.lane_centre, dz = p.z - 7 * (static_cast<float>(block) + 0.5f);
    if (dx * dx + dz * dz < 0.11f) s.albedo = Vec3{0.05f, 0.047f, 0.045f} * (1 + 0.3f * grain);
  }
  const float dash = p.z / 4.5f - std::floor(p.z / 4.5f), parking = p.z / 5.6f - std::floor(p.z / 5.6f);
  const Markings& markings = look.markings;
  const bool at_edge = across < side.kerb && (std::abs(across - markings.edge) < 0.06f ||
                                              (markings.doubled && std::abs(across - markings.edge + 0.2f) < 0.06f));
  const float stripe = across - std::floor(across), crossing = p.z - markings.zebra;
  const bool zebra = markings.zebra > 0 && crossing > 0 && crossing < 3.2f && across < side.kerb && stripe < 0.5f;
  const bool line = (markings.centre && across < 0.07f && dash < 0.6f) || at_edge || zebra ||
                    (markings.bays && across > side.lane_edge && across < side.kerb - 0.35f && parking < 0.018f);
  if (line && p.z < look.end - 6) {
    const float worn = smoothstep(-0.9f, 0.1f, grain + 0.7f * patch + 0.5f);
    s.albedo = lerp(s.albedo, at_edge ? markings.edge_colour : Vec3{0.60f, 0.60f, 0.57f}, 0.55f + 0.4f * worn);
  }
  return s;
}

Backdrop::Sample Backdrop::facade(const Building& b, float along, Vec3 p, Surface surface) const {
  Sample s{surface, Class::kBuilding, 16 + static_cast<int>(b.key & 0xffff) * 8 + static_cast<int>(surface), p};
  const float v = p.y, wide = b.to - b.from;
  const Material& material = world_.look.wall;
  const float scale = material.scale;
  const float grain = material.grain * fine_.at(along * 9 * scale, v * 9 * scale),
              stain = material.stain * coarse_.at(along * 0.7f * scale, v * 0.28f * scale);
  s.openness = 0.6f + 0.4f * smoothstep(0, 11, v);
  s.albedo = b.wall * (1 + 0.05f * grain + 0.07f * stain) * (0.86f + 0.14f * smoothstep(0.2f, 2.2f, v)) *
             material.tint * material.wave(along, v);
  if (b.brick) {
    const float course = v / 0.25f * scale, row = std::floor(course), brick = along / 0.42f * scale + 0.5f * row;
    const float tint = unit(hash(b.key, static_cast<int>(row), static_cast<int>(std::floor(brick)) + 512));
    s.albedo *= course - row < 0.14f || brick - std::floor(brick) < 0.08f ? 1.22f : 0.86f + 0.28f * tint;
  }
  if (b.garden_wall) {
    if (v > b.height - 0.12f) {
      s.albedo *= 0.8f;
      s.snow = 1;
    }
    return s;
  }
  if (along < 0.12f || along > wide - 0.12f) s.albedo *= 0.8f;

  const float bay = wide / static_cast<float>(b.bays);
  const int column = std::clamp(static_cast<int>(along / bay), 0, b.bays - 1);
  const float u = along - (static_cast<float>(column) + 0.5f) * bay;
  const auto pane = [&](float from_centre, float height, float half_width, float full_height, int window) {
    const std::uint64_t key = hash(b.key, window);
    const float edge = std::min({half_width - std::abs(from_centre), height, full_height - height});
    if (edge < 0.07f || (half_width < 1 && std::abs(from_centre) < 0.035f) ||
        (half_width < 1 && std::abs(height - 0.7f * full_height) < 0.03f)) {
      s.albedo = lerp(b.trim, Vec3{0.68f, 0.68f, 0.66f}, 0.6f) * (height > full_height - 0.15f ? 0.6f : 0.95f);
      return;
    }
    s.albedo = {0.035f, 0.035f, 0.04f};
    s.glass = full_height - height < 0.2f ? 0.55f : 1.0f;  // the lintel's shade
    s.window = b.first_window + window;
    if (half_width >= 1) {  // a shop: mullions, and things to buy
      const float part = from_centre / 1.25f + 0.5f;
      if (part - std::floor(part) < 0.05f) {
        s.albedo = b.shop * 0.6f;
        s.glass = 0.1f;
      } else if (height < 1.25f) {
        const std::uint64_t good = hash(key, static_cast<int>(std::floor(from_centre / 0.32f)) + 64);
        if (height < 0.25f + 0.95f * unit(good)) {
          s.albedo = Vec3{unit(mix(good)), unit(mix(good + 1)), unit(mix(good + 2))} * 0.30f;
          s.glass = 0.75f;
        }
      }
      return;
    }
    const float curtain = unit(key);
    const bool drawn = (curtain < 0.35f && std::abs(from_centre) > 0.24f * half_width * 2) ||
                       (curtain > 0.8f && height > full_height * (0.3f + 0.5f * unit(mix(key))));
    if (drawn) {
      s.albedo = Vec3{0.42f, 0.40f, 0.37f} * (0.8f + 0.3f * unit(mix(key + 3)));
      s.glass *= 0.55f;
    }
  };

  if (v < b.ground_floor) {
    if (b.has_shop) {
      const float sign = b.ground_floor - 0.9f;
      if (v > sign) {
        s.albedo = v > sign + 0.08f && v < b.ground_floor - 0.1f ? b.shop : b.trim * 0.8f;
        // Letters, as far as anyone can read them from here.
        const float letter = along / 0.34f;
        if (v > sign + 0.25f && v < sign + 0.58f && along > 0.25f * wide && along < 0.62f * wide &&
            letter - std::floor(letter) < 0.62f && unit(hash(b.key, static_cast<int>(letter))) < 0.8f)
          s.albedo = {0.65f, 0.62f, 0.5f};
        return s;
      }
      const float panel = wide / std::max(1.0f, std::round(wide / 4.3f));
      const float from_panel = along - (std::floor(along / panel) + 0.5f) * panel;
      if (v < 0.45f || std::abs(from_panel) > panel / 2 - 0.22f)
        s.albedo = b.shop * 0.8f + Vec3{0.03f, 0.03f, 0.03f};
      else
        pane(from_panel, v - 0.45f, panel / 2 - 0.22f, sign - 0.45f, column);
      return s;
    }
    if (v < 0.75f) s.albedo = lerp(s.albedo, Vec3{0.3f, 0.29f, 0.28f}, 0.7f);
    if (column == static_cast<int>(b.key % static_cast<std::uint64_t>(b.bays))) {
      if (std::abs(u) < 0.8f && v < 2.7f)
        s.albedo = std::abs(u) > 0.62f || v > 2.5f ? b.trim : b.shop * (0.7f + 0.3f * (std::abs(u) > 0.08f));
    } else if (std::abs(u) < b.window_width / 2 && v > 1.2f && v < 1.2f + b.window_height) {
      pane(u, v - 1.2f, b.window_width / 2, b.window_height, column);
    } else if (std::abs(u) < b.window_width / 2 + 0.14f && v > 1.05f && v < 1.34f + b.window_height) {
      s.albedo = b.trim;
    }
    return s;
  }
  const float above = v - b.ground_floor;
  const int floor = std::min(static_cast<int>(above / b.floor), b.floors - 1);
  const float up = above - static_cast<float>(floor) * b.floor;
  const bool attic = b.has_roof && floor == b.floors - 1;
  if (v > b.height - 0.7f) {
    s.albedo = attic ? Vec3{0.13f, 0.135f, 0.15f} : b.trim * (v > b.height - 0.55f ? 1.0f : 0.55f);
    if (v > b.height - 0.16f) s.snow = 1;
    return s;
  }
  if (attic)
    s.albedo = Vec3{0.125f, 0.13f, 0.15f} * (1 + 0.15f * grain) * (0.9f + 0.2f * (up / 0.3f - std::floor(up / 0.3f)));
  if (up < 0.14f) {
    s.albedo = b.trim * (up < 0.03f ? 0.6f : 0.92f);
    if (up > 0.08f) s.snow = 0.7f;
  }
  const bool tall = b.has_balconies && !attic;
  const float sill = tall ? 0.16f : 0.9f,
              high = std::min(tall ? b.window_height + 0.45f : b.window_height, b.floor - sill - 0.35f);
  const float half = b.window_width / 2;
  if (std::abs(u) < half && up > sill && up < sill + high) {
    pane(u, up - sill, half, high, (floor + 1) * b.bays + column);
  } else if (std::abs(u) < half + 0.14f && up > sill - 0.12f && up < sill + high + 0.14f) {
    s.albedo = b.trim;
    if (up < sill - 0.04f) s.snow = 1;
  } else if (std::abs(u) < half + 0.1f && up < sill - 0.12f && up > 0.14f && !attic) {
    s.albedo *= 0.93f;  // rain runs off the sill
  }
  if (tall && std::abs(u) < half + 0.35f && up < 1.05f) {
    if (up < 0.14f) {
      s.albedo = b.trim * 0.85f;
      s.snow = 0.8f;
    } else {
      const float bars = up > 0.99f ? 0.9f : 0.38f;
      s.albedo = lerp(s.albedo, Vec3{0.03f, 0.03f, 0.032f}, bars);
      s.glass *= 1 - bars;
    }
  }
  if (surface == Surface::kTowards) s.openness *= 0.85f;
  return s;
}

Backdrop::Sample Backdrop::trace(float px, float py) const {
  const Vec3 origin = view_.place, ray = view_.ray(px, py);
  const auto at = [&](float t) { return origin + ray * t; };
  constexpr float kNever = 1e9f;
  const float to_ground = ray.y < 0 ? -origin.y / ray.y : kNever;
  const float to_end = (world_.look.end + 8 - origin.z) / ray.z;
  const int side = ray.x > 0 ? 1 : 0;
  const float sign = side == 1 ? 1.0f : -1.0f, across = std::max(std::abs(ray.x), 1e-6f);
  const Surface wall = side == 1 ? Surface::kLeftward : Surface::kRightward;
  const Profile& profile = world_.look.sides[side];
  const float to_facade = (profile.facade - sign * origin.x) / across;

  if (to_ground < std::min(to_facade, to_end)) return ground(at(to_ground));
  if (to_facade < to_end) {
    const Vec3 p = at(to_facade);
    const Building* hit = world_.at(side, p.z);
    if (hit != nullptr && p.y < hit->height) return facade(*hit, side == 1 ? p.z - hit->from : hit->to - p.z, p, wall);
    // Over a roof or into a gap: chimneys, the next house's side, the yard behind, its ground.
    const float to_chimney = (profile.facade + 1.6f - sign * origin.x) / across;
    const Vec3 c = at(to_chimney);
    if (const Building* under = world_.at(side, c.z); under != nullptr && under->isHouse()) {
      const float along = c.z - under->from, wide = under->to - under->from;
      const float chimney = 1.2f + (wide - 3) * unit(mix(under->key)),
                  other = 1.2f + (wide - 3) * unit(mix(under->key + 1));
      const bool stack = std::abs(along - chimney) < 0.55f || std::abs(along - other) < 0.4f;
      if (stack && c.y > under->height && c.y < under->height + 1.5f) {
        Sample s{wall, Class::kBuilding, 3, c};
        const bool pot = c.y > under->height + 1.25f;
        s.albedo = Vec3{0.30f, 0.16f, 0.11f} * (pot ? 0.7f : 1 + 0.2f * fine_.at(c.z * 9, c.y * 9));
        s.snow = pot ? 1 : 0;
        return s;
      }
    }
    const float to_yard = (profile.backyard - sign * origin.x) / across;
    float nearest = std::min({to_yard, to_end, to_ground});
    for (const Building& b : world_.rows[side]) {
      const float t = (b.from - origin.z) / ray.z;
      if (b.height <= 0 || t <= to_facade || t >= nearest) continue;
      const Vec3 q = at(t);
      if (q.y < 0 || q.y > b.height) continue;
      Sample s{Surface::kTowards, Class::kBuilding, 16 + static_cast<int>(b.key & 0xffff) * 8 + 7, q};
      s.openness = 0.55f + 0.35f * smoothstep(0, 10, q.y);
      s.albedo = b.wall * (0.88f + 0.06f * fine_.at(q.x * 9, q.y * 9) + 0.09f * coarse_.at(q.x * 0.7f, q.y * 0.3f));
      return s;
    }
    if (to_ground < std::min(to_yard, to_end)) return ground(at(to_ground));
    const Vec3 q = at(to_yard);
    if (to_yard < to_end && hit != nullptr && !hit->isHouse() &&
        q.y < profile.hedge + 1.6f * coarse_.at(q.z * 2.2f, 0.5f) + 0.5f * fine_.at(q.z * 9, q.y * 9)) {
      Sample s{Surface::kCrowns, Class::kTree, 4, q};
      s.openness = clamp01(0.45f + 0.09f * q.y + 0.3f * coarse_.at(q.z * 5, q.y * 5));
      s.albedo = Vec3{0.065f, 0.095f, 0.035f} * (1 + 0.35f * fine_.at(q.z * 6, q.y * 6)) * world_.look.crown_tint;
      s.snow = clamp01(0.35f + 0.5f * coarse_.at(q.z * 5, q.y * 5 + 0.3f));
      return s;
    }
  }
  const Vec3 p = at(to_end);
  if (to_end < to_ground) {
    if (world_.vista == Vista::kHouses) {
      for (const Building& b : world_.end_row)
        if (p.x >= b.from && p.x < b.to && p.y < b.height) return facade(b, p.x - b.from, p, Surface::kTowards);
    } else {
      const float high = world_.look.park_height;
      const float crown = high + 3.2f * (high / 9.5f) * coarse_.at(p.x * 0.9f, 7) + 0.9f * fine_.at(p.x * 5, p.y * 5);
      if (p.y < crown) {
        Sample s{Surface::kCrowns, Class::kTree, 5, p};
        const float lump = coarse_.at(p.x * 2.2f, p.y * 2.2f);
        s.openness = clamp01(0.35f + 0.05f * p.y + 0.35f * lump);
        s.albedo =
            lerp(Vec3{0.06f, 0.09f, 0.03f}, Vec3{0.10f, 0.11f, 0.035f}, 0.5f + 0.5f * coarse_.at(p.x * 0.6f, 3)) *
            (1 + 0.3f * fine_.at(p.x * 6, p.y * 6)) * world_.look.crown_tint;
        s.snow = clamp01(0.35f + 0.5f * lump);
        return s;
      }
    }
  }
  return {};
}

void Backdrop::store(int index, const Sample& s, const Vec3& ray) {
  albedo_[index] = s.albedo;
  place_[index] = s.place;
  openness_[index] = s.openness;
  snow_[index] = s.snow;
  ground_[index] = s.surface == Surface::kGround;
  const Vec3 way = s.place - view_.place;
  depth_[index] = static_cast<std::uint16_t>(std::min(length(way) / kHazeStep, kHazeSteps - 1.0f));
  if (s.surface == Surface::kSky) return;
  const Surface facing = s.surface == Surface::kCrowns ? Surface::kTowards : s.surface;
  const Vec3 normal = kSurfaceNormals[static_cast<int>(facing)];
  lamp_[index] = world_.lampLight(s.place, normal);
  if (s.glass > 0.02f && s.window >= 0) {
    const Vec3 mirrored = normalized(ray - normal * (2 * dot(ray, normal)));
    // A pane mirrors the houses across the street up to about their roofs, the sky above.
    const float way_across =
        (world_.look.sides[0].facade + world_.look.sides[1].facade) / std::max(std::abs(mirrored.x), 0.02f);
    const Building* across = world_.at(mirrored.x > 0, s.place.z + mirrored.z * way_across);
    const bool sees_sky = s.place.y + mirrored.y * way_across > (across != nullptr ? across->height : 0);
    const float cosine = std::abs(dot(normalized(ray), normal));
    const float fresnel = 0.13f + 0.87f * std::pow(1 - cosine, 4.0f);
    glass_.push_back({index, s.window, s.glass, fresnel, mirrored, sees_sky});
  }
}

Backdrop::Backdrop(const World& world, const View& view, cv::Size size)
    : world_(world),
      view_(view),
      size_(size),
      fine_(hash(world.seed, 11), 3),
      coarse_(hash(world.seed, 12), 5),
      labels_(size, CV_8U),
      haze_(kHazeSteps) {
  const int pixels = size.area();
  struct Extra {
    int edge, which;
    Sample sample;
    Vec3 ray;
  };
  std::vector<Extra> extras;
  std::vector<Surface> surfaces(pixels);
  mirror_.assign(pixels, 0);
  const auto resize = [&](std::size_t count) {
    for (auto* plane : {&openness_, &lamp_, &snow_}) plane->resize(count);
    for (auto* plane : {&albedo_, &place_}) plane->resize(count);
    ground_.resize(count);
    depth_.resize(count);
  };
  resize(pixels);

  constexpr std::array<std::array<float, 2>, 4> kQuarter = {
      {{0.25f, 0.25f}, {0.75f, 0.25f}, {0.25f, 0.75f}, {0.75f, 0.75f}}};
  for (int row = 0; row < size.height; ++row) {
    for (int column = 0; column < size.width; ++column) {
      const int pixel = row * size.width + column;
      const auto x = static_cast<float>(column), y = static_cast<float>(row);
      std::array<Sample, 4> four;
      for (int k = 0; k < 4; ++k) {
        // Texture is finer than pixels at a distance: each quarter is the mean of two samples where they agree.
        Sample& s = four[k] = trace(x + kQuarter[k][0] - 0.1f, y + kQuarter[k][1] - 0.06f);
        if (s.surface == Surface::kSky) continue;
        const Sample again = trace(x + kQuarter[k][0] + 0.1f, y + kQuarter[k][1] + 0.06f);
        if (again.thing == s.thing && again.surface == s.surface) {
          s.albedo = lerp(s.albedo, again.albedo, 0.5f);
          s.glass = (s.glass + again.glass) / 2;
          if (s.window < 0) s.window = again.window;
        }
      }
      std::array<int, kClasses> votes{};
      for (const Sample& s : four) ++votes[static_cast<int>(s.label)];
      labels_.at<std::uint8_t>(row, column) =
          static_cast<std::uint8_t>(std::ranges::max_element(votes) - votes.begin());
      bool edge = false;
      for (const Sample& s : four) edge |= s.thing != four[0].thing || s.surface != four[0].surface;
      const Vec3 ray = view_.ray(x + 0.5f, y + 0.5f);
      if (edge) {
        for (int k = 1; k < 4; ++k) {
          if (four[k].surface != Surface::kSky)
            extras.push_back({static_cast<int>(edges_.size()), k - 1, four[k], ray});
        }
        edges_.push_back({pixel, {-1, -1, -1}});
      } else {
        for (int k = 1; k < 4; ++k) {
          four[0].albedo += four[k].albedo;
          four[0].glass += four[k].glass;
          four[0].snow += four[k].snow;
          four[0].place += four[k].place;
          if (four[0].window < 0) four[0].window = four[k].window;
        }
        four[0].albedo *= 0.25f;
        four[0].place *= 0.25f;
        four[0].glass *= 0.25f;
        four[0].snow *= 0.25f;
      }
      surfaces[pixel] = four[0].surface;
      store(pixel, four[0], ray);
      for (const Sample& s : four)
        if (s.surface == Surface::kSky) sky_rows_ = row + 1;

      if (four[0].surface == Surface::kGround && !edge) {
        const Vec3 from = four[0].place, up = normalized({ray.x, -ray.y, ray.z});
        const float side = up.x > 0 ? 1.0f : -1.0f;
        const float way = (world_.sideOf(up.x).facade - side * from.x) / std::max(std::abs(up.x), 1e-5f);
        const Vec3 wall = from + up * way;
        const Building* b = wall.z < world.look.end + 8 ? world_.at(up.x > 0, wall.z) : nullptr;
        const bool hits = b != nullptr && wall.y < b->height;
        const View::Projected seen = view_.project(hits ? wall : from + up * 2000.0f);
        const float fresnel = 0.03f + 0.97f * std::pow(1 - up.y, 5.0f);
        const float puddle = smoothstep(-0.15f, 0.35f, coarse_.at(from.x * 3 + 40, from.z * 1.5f));
        mirror_[pixel] =
            fresnel * (std::abs(from.x) < world.sideOf(from.x).kerb ? 0.45f + 0.5f * puddle : 0.25f + 0.3f * puddle);
        const int seen_x = std::clamp(static_cast<int>(seen.x), 0, size.width - 1);
        const int seen_y = std::clamp(static_cast<int>(seen.y), 0, size.height - 1);
        wet_.push_back({pixel, seen_y * size.width + seen_x});
      }
    }
  }

  std::ranges::stable_sort(extras, [](const Extra& a, const Extra& b) { return a.sample.surface < b.sample.surface; });
  resize(pixels + extras.size());
  extras_.resize(extras.size());
  for (std::size_t i = 0; i < extras.size(); ++i) {
    const int index = pixels + static_cast<int>(i);
    edges_[extras[i].edge].extra[extras[i].which] = static_cast<int>(i);
    store(index, extras[i].sample, extras[i].ray);
    extra_pixels_.push_back(edges_[extras[i].edge].pixel);
    surfaces.push_back(extras[i].sample.surface);
  }
  const int total = static_cast<int>(surfaces.size());
  for (int begin = 0; begin < total;) {
    int end = begin + 1;
    // No longer than a row of a large picture, so that the scratch of a span stays in the first cache.
    while (end < total && surfaces[end] == surfaces[begin] && end != pixels && end - begin < kLongestSpan) ++end;
    if (surfaces[begin] != Surface::kSky) spans_.push_back({begin, end, surfaces[begin]});
    begin = end;
  }
}

void Backdrop::light(const Span& span, const Moment& moment, Vec3* out) const {
  const Light& l = moment.light;
  const Vec3 normal = kSurfaceNormals[static_cast<int>(span.surface)];
  const bool is_ground = span.surface == Surface::kGround;
  const Vec3 ambient = l.ambientOn(normal);
  const float cosine = span.surface == Surface::kCrowns
                           ? 0.25f + 0.6f * std::max(dot(normal, l.sun_direction), 0.0f)  // leaves face every way
                           : std::max(dot(normal, l.sun_direction), 0.0f);
  const Vec3 sun = l.sun * cosine, lamp = l.lamp_colour * l.lamps;
  const float wet = is_ground ? 1 - 0.42f * moment.weather.wetness : 1 - 0.12f * moment.weather.wetness;
  const float snow = moment.weather.snow;
  const int count = span.end - span.begin, first = span.begin, pixels = size_.area();

  std::array<float, kLongestSpan> lit, air;
  for (int i = 0; i < count; ++i) air[i] = haze_[depth_[first + i]];
  const bool shines = luminance(sun) > 1e-3f * luminance(ambient);
  if (!shines) {
    std::fill_n(lit.begin(), count, 0.0f);
  } else if (is_ground) {
    for (int i = 0; i < count; ++i) {
      const int index = first + i, pixel = index < pixels ? index : extra_pixels_[index - pixels];
      const float open = 1 - moment.ground_shade.data[pixel] * (1.0f / 255);
      lit[i] = open > 0 ? open * world_.lit(position(index), l.sun_direction) : 0;
    }
  } else {
    const float lean_x = l.sun_direction.x / l.sun_direction.y, lean_z = l.sun_direction.z / l.sun_direction.y;
    for (int i = 0; i < count; ++i) {
      const Vec3 p = position(first + i);
      lit[i] = world_.lit(p, l.sun_direction);
      const float foot_x = p.x - p.y * lean_x, foot_z = p.z - p.y * lean_z;
      if (lit[i] <= 0 || std::abs(foot_x) > world_.sideOf(foot_x).facade || foot_z < 4) continue;
      // A thing that shades the ground where this ray would end shades the ray here as well.
      const View::Projected foot = view_.project({foot_x, 0, foot_z});
      const auto column = static_cast<int>(foot.x), row = static_cast<int>(foot.y);
      if (foot.x >= 0 && column < size_.width && foot.y >= 0 && row < size_.height)
        lit[i] *= 1 - moment.ground_shade.data[row * size_.width + column] * (1.0f / 255);
    }
  }
  for (int i = 0; i < count; ++i) {
    const int index = first + i;
    const Vec3 fallen = ambient * openness_[index] + sun * lit[i] + lamp * lamp_[index];
    const Vec3 seen = lerp(albedo_[index] * wet, Vec3{0.80f, 0.82f, 0.85f}, snow * snow_[index]);
    out[i] = seen * fallen * air[i] + l.fog * (1 - air[i]);
  }
}

void Backdrop::addGlass(const Moment& moment, Vec3* picture) {
  const Light& l = moment.light;
  // The mirrored sky by slope: panes are many, skies are smooth.
  constexpr int kSlopes = 24;
  std::array<std::array<Vec3, kSlopes>, 3> mirrored;  // on the left row, the right row, across the end
  for (int wall = 0; wall < 3; ++wall) {
    for (int i = 0; i < kSlopes; ++i) {
      const float slope = (i + 0.5f) / kSlopes;
      const Vec3 view = wall == 2 ? normalized({0, slope, -1}) : normalized({wall == 0 ? 0.35f : -0.35f, slope, 1});
      mirrored[wall][i] = behindClouds(view, l, moment.weather);
    }
  }
  const Vec3 opposite = (l.ambient[1] + l.ambient[2]) * 0.16f + l.sun * 0.05f + l.lamp_colour * (0.6f * l.lamps);
  const int pixels = size_.area();
  for (const Glass& g : glass_) {
    const int wall = g.mirrored.z < 0 ? 2 : g.mirrored.x > 0 ? 0 : 1;
    const float steep = g.mirrored.y / std::max(std::hypot(g.mirrored.x, g.mirrored.z), 1e-3f);
    const int slope = std::clamp(static_cast<int>(steep * kSlopes), 0, kSlopes - 1);
    Vec3 seen = g.sees_sky ? mirrored[wall][slope] : opposite;
    const float towards_sun = dot(g.mirrored, l.to_sun);
    if (towards_sun > 0.99f && l.to_sun.y > 0) seen += l.sun * (0.5f * std::pow(towards_sun, 1500.0f));
    const Vec3 added = (seen * g.fresnel + moment.window_light[g.window]) * (g.share * haze_[depth_[g.sample]]);
    Vec3& target = g.sample < pixels ? picture[g.sample] : extras_[g.sample - pixels];
    target += added;
  }
}

void Backdrop::mirrorOnGround(const Moment& moment, cv::Mat& picture) const {
  if (moment.weather.wetness < 0.02f) return;
  // Wet asphalt is a mirror that smears vertically: a quarter of the size is sharp enough.
  cv::Mat small;
  const cv::Size size((size_.width + 3) / 4, (size_.height + 3) / 4);
  cv::resize(picture, small, size, 0, 0, cv::INTER_AREA);
  cv::blur(small, small, {1, std::max(3, size.height / 16) | 1});
  auto* out = picture.ptr<Vec3>();
  const auto* seen = small.ptr<Vec3>();
  for (const Wet& w : wet_) {
    const int row = std::min(w.seen / size_.width / 4, size.height - 1);
    const int column = std::min(w.seen % size_.width / 4, size.width - 1);
    out[w.pixel] +=
        seen[row * size.width + column] * (mirror_[w.pixel] * moment.weather.wetness * haze_[depth_[w.pixel]]);
  }
}

void Backdrop::paint(const Moment& moment, cv::Mat& picture) {
  for (int i = 0; i < kHazeSteps; ++i)
    haze_[i] = std::exp(-moment.weather.extinction * (static_cast<float>(i) + 0.5f) * kHazeStep);
  auto* out = picture.ptr<Vec3>();
  const int pixels = size_.area();
  std::vector<Vec3> sky(edges_.size());
  for (std::size_t i = 0; i < edges_.size(); ++i) sky[i] = out[edges_[i].pixel];
  for (const Span& span : spans_)
    light(span, moment, span.begin < pixels ? out + span.begin : &extras_[span.begin - pixels]);
  addGlass(moment, out);
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    Vec3 sum = out[edges_[i].pixel];
    for (const int extra : edges_[i].extra) sum += extra < 0 ? sky[i] : extras_[extra];
    out[edges_[i].pixel] = sum * 0.25f;
  }
  mirrorOnGround(moment, picture);
}

float Backdrop::through(float distance) const {
  return haze_[static_cast<int>(std::clamp(distance / kHazeStep, 0.0f, kHazeSteps - 1.0f))];
}

}  // namespace mpm::scene
