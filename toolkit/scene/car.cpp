// SPDX-License-Identifier: Apache-2.0
#include "things.h"
#include "vision/draws.h"

namespace mpm::scene {
namespace {

enum Body { kHatchback, kSaloon, kEstate, kVan, kBus, kLorry };

// The measures of each Body in m.
struct Shape {
  float half, sill, wheel, wheel_front, wheel_rear;  // half: of the width
  bool side_glass;
};
constexpr Shape kShapes[] = {{0.87f, 0.30f, 0.31f, 1.25f, -1.22f, true}, {0.90f, 0.30f, 0.32f, 1.42f, -1.38f, true},
                             {0.93f, 0.36f, 0.36f, 1.42f, -1.40f, true}, {0.98f, 0.36f, 0.35f, 1.65f, -1.60f, false},
                             {1.25f, 0.38f, 0.48f, 3.3f, -3.0f, true},   {1.22f, 0.55f, 0.47f, 2.6f, -2.3f, false}};

// A place of an outline: z points forward and y up, half is half the width there.
struct Station {
  float z, y, half;
};

// Rear bottom, rear top, rear glass bottom, roof rear, roof front, windscreen bottom, nose top, nose bottom.
struct Outline {
  float z[8], y[8], half[8];
  Station operator[](int i) const { return {z[i], y[i], half[i]}; }
};
constexpr Outline kOutlines[] = {{{-1.96f, -1.99f, -1.92f, -1.48f, 0.12f, 0.98f, 1.86f, 1.98f},
                                  {0.34f, 0.90f, 0.98f, 1.46f, 1.50f, 1.02f, 0.78f, 0.32f},
                                  {0.82f, 0.83f, 0.83f, 0.63f, 0.63f, 0.83f, 0.78f, 0.78f}},
                                 {{-2.28f, -2.30f, -1.62f, -0.92f, 0.18f, 0.98f, 2.22f, 2.30f},
                                  {0.32f, 0.92f, 1.00f, 1.44f, 1.46f, 0.98f, 0.74f, 0.32f},
                                  {0.84f, 0.84f, 0.86f, 0.62f, 0.63f, 0.85f, 0.80f, 0.80f}},
                                 {{-2.25f, -2.28f, -2.22f, -1.92f, 0.20f, 0.98f, 2.16f, 2.28f},
                                  {0.38f, 1.04f, 1.10f, 1.68f, 1.72f, 1.12f, 0.90f, 0.38f},
                                  {0.86f, 0.88f, 0.88f, 0.68f, 0.68f, 0.88f, 0.84f, 0.83f}},
                                 {{-2.60f, -2.62f, -2.62f, -2.52f, 1.05f, 1.95f, 2.55f, 2.65f},
                                  {0.40f, 1.10f, 1.20f, 2.20f, 2.22f, 1.28f, 1.00f, 0.40f},
                                  {0.94f, 0.95f, 0.95f, 0.82f, 0.82f, 0.93f, 0.90f, 0.88f}},
                                 {{-5.60f, -5.65f, -5.65f, -5.55f, 5.35f, 5.62f, 5.68f, 5.68f},
                                  {0.40f, 1.20f, 1.35f, 2.95f, 2.98f, 1.15f, 1.00f, 0.40f},
                                  {1.23f, 1.24f, 1.24f, 1.18f, 1.18f, 1.23f, 1.23f, 1.22f}},
                                 {{-3.90f, -3.92f, -3.92f, -3.90f, 3.10f, 3.75f, 3.90f, 3.92f},
                                  {0.55f, 1.00f, 1.05f, 3.40f, 3.42f, 1.60f, 1.10f, 0.50f},
                                  {1.18f, 1.20f, 1.20f, 1.20f, 1.20f, 1.18f, 1.16f, 1.15f}}};

Body bodyOf(const Actor& car) {
  if (car.lorry) return kLorry;
  const float u = unit(mix(car.key));
  if (!car.parked && u > 0.965f) return kBus;
  return u < 0.36f ? kHatchback : u < 0.62f ? kSaloon : u < 0.87f ? kEstate : kVan;
}

constexpr Vec3 kPaints[] = {{0.60f, 0.60f, 0.61f}, {0.035f, 0.036f, 0.04f}, {0.23f, 0.24f, 0.25f},
                            {0.42f, 0.43f, 0.44f}, {0.30f, 0.02f, 0.02f},   {0.025f, 0.07f, 0.22f},
                            {0.09f, 0.11f, 0.13f}, {0.62f, 0.62f, 0.60f},   {0.02f, 0.09f, 0.06f},
                            {0.36f, 0.30f, 0.22f}, {0.05f, 0.16f, 0.34f},   {0.55f, 0.24f, 0.02f}};
constexpr Vec3 kRubber = {0.022f, 0.022f, 0.023f}, kPlastic = {0.035f, 0.035f, 0.037f}, kRim = {0.34f, 0.35f, 0.36f};
constexpr Vec3 kGlass = {0.012f, 0.014f, 0.015f};

struct Painter {
  Canvas& canvas;
  const Picture& picture;
  const Actor& car;
  LocalLight light;

  Vec3 world(Vec3 local) const { return {car.x + local.x * car.heading, local.y, car.z + local.z * car.heading}; }

  // Corners in the car's own axes; the normal faces the camera, since a car's inside is never visible.
  void face(std::span<const Vec3> corners, Vec3 albedo, float mirror, float lift = 0, Vec3 glow = {}) {
    std::array<Canvas::Corner, 16> placed;
    const std::size_t count = corners.size();
    for (std::size_t i = 0; i < count; ++i) placed[i].place = world(corners[i]);
    const Vec3 a = placed[0].place, b = placed[1].place, c = placed[2].place;
    Vec3 normal = normalized(cross(b - a, c - a));
    if (dot(normal, picture.view.place - a) < 0) normal = normal * -1;
    for (std::size_t i = 0; i < count; ++i) {
      const Vec3 to_camera = normalized(picture.view.place - placed[i].place);
      const float low = 0.62f + 0.38f * smoothstep(0.1f, 0.8f, corners[i].y);  // the road keeps the sky from the sills
      placed[i].colour =
          (mirror > 0 ? light.glossy(normal, albedo, to_camera, mirror) : light.matt(normal, albedo)) * low + glow;
    }
    canvas.polygon({placed.data(), count}, Class::kCar, lift);
  }
  void quad(Vec3 a, Vec3 b, Vec3 c, Vec3 d, Vec3 albedo, float mirror, float lift = 0, Vec3 glow = {}) {
    face(std::array{a, b, c, d}, albedo, mirror, lift, glow);
  }
  // From one side of the car to the other.
  void across(Station a, Station b, Vec3 albedo, float mirror, float lift = 0, Vec3 glow = {}) {
    quad({-a.half, a.y, a.z}, {a.half, a.y, a.z}, {b.half, b.y, b.z}, {-b.half, b.y, b.z}, albedo, mirror, lift, glow);
  }
  // Glass inside a painted frame.
  void pane(Vec3 a, Vec3 b, Vec3 c, Vec3 d, float frame, Vec3 glow = {}) {
    const Vec3 middle = (a + b + c + d) * 0.25f;
    const auto in = [&](Vec3 p) { return lerp(p, middle, frame); };
    quad(in(a), in(b), in(c), in(d), kGlass, 0.10f, 0.06f, glow);
  }
};

}  // namespace

bool headlightsOn(const Light& light, const WeatherState& weather) {
  return light.day < 900 || weather.rain > 0.2f || weather.snowfall > 0.2f || weather.extinction > 0.008f;
}

void drawCar(Canvas& canvas, const Picture& picture, const Actor& car) {
  const Body body = bodyOf(car);
  const Shape& shape = kShapes[body];
  const Outline& s = kOutlines[body];
  const float front = s[7].z + 0.1f, high = s[4].y + 0.1f;
  if (!canvas.begin(picture, {car.x - shape.half - 0.15f, -0.05f, car.z - front},
                    {car.x + shape.half + 0.15f, high, car.z + front}))
    return;
  Painter p{canvas, picture, car, LocalLight(picture, {car.x, 0, car.z}, high)};
  const bool bus = body == kBus, van = body == kVan || body == kLorry;
  Vec3 paint = kPaints[mix(car.key + 1) % std::size(kPaints)];
  if (bus) paint = unit(mix(car.key + 2)) < 0.5f ? Vec3{0.42f, 0.03f, 0.03f} : Vec3{0.05f, 0.16f, 0.36f};
  if (van && unit(mix(car.key + 2)) < 0.6f) paint = kPaints[7];
  Draws draws(hash(car.key, 0xc010));
  if (draws.chance(picture.world.look.any_colour)) paint = anyColour(draws);
  const Vec3 inside = bus ? p.light.light.lamp_colour * (3.5f * p.light.light.lamps) : Vec3{};

  // Over the top, from the rear to the nose.
  for (int i = 0; i < 7; ++i) {
    const Station a = s[i], b = s[i + 1];
    const float snow = car.parked && i % 2 == 1 && i < 6 ? picture.weather.snow : 0;
    p.across(a, b, lerp(paint, Vec3{0.8f, 0.82f, 0.85f}, snow), 0.05f);
    if ((i == 2 && !van) || i == 4)
      p.pane({-a.half, a.y, a.z}, {a.half, a.y, a.z}, {b.half, b.y, b.z}, {-b.half, b.y, b.z}, 0.1f, inside);
    for (const float side : {-1.0f, 1.0f}) {
      if (i == 2 && van) {
        p.quad({side * 0.5f, 1.35f, b.z - 0.1f}, {side * 0.06f, 1.35f, b.z - 0.1f}, {side * 0.06f, 1.95f, b.z - 0.03f},
               {side * 0.5f, 1.95f, b.z - 0.03f}, kGlass, 0.1f, 0.12f);
      }
    }
  }
  for (const float side : {-1.0f, 1.0f}) {
    const auto at = [&](const Station& q) { return Vec3{side * q.half, q.y, q.z}; };
    const auto sill = [&](float z, float half) { return Vec3{side * half * 0.96f, shape.sill, z}; };
    const auto waist = [&](float z, float half) { return Vec3{side * std::min(half * 1.05f, shape.half), 0.64f, z}; };
    const std::array<int, 4> along = {1, 2, 5, 6};
    for (int k = 0; k < 3; ++k) {
      const Station a = s[along[k]], b = s[along[k + 1]];
      p.quad(sill(a.z, a.half), sill(b.z, b.half), waist(b.z, b.half), waist(a.z, a.half), paint * 0.95f, 0.05f);
      p.quad(waist(a.z, a.half), waist(b.z, b.half), at(b), at(a), paint, 0.05f);
    }
    p.quad(at(s[2]), at(s[3]), at(s[4]), at(s[5]), paint, 0.05f);
    const auto window = [&](float from, float to, float frame) {
      p.pane(lerp(at(s[2]), at(s[5]), from), lerp(at(s[2]), at(s[5]), to), lerp(at(s[3]), at(s[4]), to),
             lerp(at(s[3]), at(s[4]), from), frame, inside);
    };
    const int panes = !shape.side_glass ? 0 : bus ? 6 : 2;
    const auto count = static_cast<float>(panes);
    for (int k = 0; k < panes; ++k) window(static_cast<float>(k) / count, static_cast<float>(k + 1) / count, 0.13f);
    if (!shape.side_glass) window(0.72f, 0.97f, 0.12f);
    for (const float z : {shape.wheel_rear, shape.wheel_front}) {
      std::array<Vec3, 14> tyre, rim;
      for (int k = 0; k < 14; ++k) {
        const float turn = 2 * kPi * static_cast<float>(k) / 14;
        tyre[k] = {side * (shape.half + 0.005f), shape.wheel + shape.wheel * std::sin(turn),
                   z + shape.wheel * std::cos(turn)};
        rim[k] = {side * (shape.half + 0.02f), shape.wheel + 0.6f * shape.wheel * std::sin(turn),
                  z + 0.6f * shape.wheel * std::cos(turn)};
      }
      p.face(tyre, kRubber, 0, 0.03f);
      p.face(rim, kRim, 0.08f, 0.05f);
      for (const float end : {-0.9f, 0.9f}) {  // the tread, seen from behind or ahead
        p.quad({side * shape.half * 0.99f, 0.01f, z + end * shape.wheel},
               {side * (shape.half - 0.22f), 0.01f, z + end * shape.wheel},
               {side * (shape.half - 0.22f), 0.44f, z + end * shape.wheel},
               {side * shape.half * 0.99f, 0.44f, z + end * shape.wheel}, kRubber, 0);
      }
    }
  }
  // Bumpers and what is under them.
  for (const Station& end : {s[0], s[7]}) {
    const float out = end.z > 0 ? 0.03f : -0.03f;
    p.across({end.z + out, end.y + 0.10f, end.half}, {end.z + out, end.y - 0.12f, end.half * 0.96f}, kPlastic, 0.04f);
  }
  const bool on = !car.parked && headlightsOn(picture.moment, picture.weather);
  const Vec3 lamp_front = Vec3{1.05f, 1.0f, 0.9f} * (on ? 2600.0f : 0.0f),
             lamp_rear = Vec3{1, 0.03f, 0.02f} * (on ? 70.0f : 0.0f);
  const Station nose = s[6], tail = s[1];
  for (const float side : {-1.0f, 1.0f}) {
    const float y = lerp(s[7].y, nose.y, 0.62f), y2 = lerp(s[7].y, nose.y, 0.93f), z = s[7].z + 0.02f;
    p.quad({side * nose.half * 0.98f, y, z - 0.03f}, {side * nose.half * 0.62f, y, z},
           {side * nose.half * 0.66f, y2, z - 0.03f}, {side * nose.half * 0.98f, y2, z - 0.06f}, {0.5f, 0.5f, 0.5f},
           0.2f, 0.15f, lamp_front);
    const auto [low, top] = bus   ? std::pair(0.95f, 1.25f)
                            : van ? std::pair(0.85f, 1.3f)
                                  : std::pair(lerp(s[0].y, tail.y, 0.55f), lerp(s[0].y, tail.y, 0.95f));
    p.quad({side * tail.half * 0.99f, low, tail.z - 0.02f}, {side * tail.half * 0.74f, low, tail.z - 0.02f},
           {side * tail.half * 0.74f, top, tail.z - 0.02f}, {side * tail.half * 0.99f, top, tail.z - 0.02f},
           {0.30f, 0.015f, 0.012f}, 0.1f, 0.08f, lamp_rear);
    p.quad({side * (s[5].half + 0.02f), s[5].y + 0.02f, s[5].z - 0.12f},
           {side * (s[5].half + 0.2f), s[5].y + 0.03f, s[5].z - 0.12f},
           {side * (s[5].half + 0.2f), s[5].y + 0.16f, s[5].z - 0.1f},
           {side * (s[5].half + 0.02f), s[5].y + 0.16f, s[5].z - 0.1f}, paint, 0.05f);
  }
  const float plate = lerp(s[0].y, tail.y, 0.32f);
  p.across({tail.z - 0.03f, plate, 0.26f}, {tail.z - 0.03f, plate + 0.11f, 0.26f}, {0.62f, 0.60f, 0.45f}, 0, 0.1f,
           Vec3{1, 1, 0.9f} * (on ? 0.8f : 0.0f));
  p.across({s[7].z + 0.04f, s[7].y + 0.06f, 0.26f}, {s[7].z + 0.04f, s[7].y + 0.17f, 0.26f}, {0.62f, 0.62f, 0.58f}, 0,
           0.1f);
  p.across({s[7].z + 0.02f, lerp(s[7].y, nose.y, 0.55f), nose.half * 0.5f},
           {s[7].z, lerp(s[7].y, nose.y, 0.85f), nose.half * 0.5f}, kPlastic, 0.05f, 0.12f);
  canvas.finish({car.x, 0, car.z - (car.z > picture.view.place.z ? front : -front)});
  if (on && car.heading < 0) {
    for (const float side : {-0.8f, 0.8f})
      drawHalo(picture, p.world({side * nose.half, 0.7f, s[7].z}), lamp_front * 0.025f);
  }
}

void drawHeadlightPool(const Picture& picture, const Actor& car) {
  const float nose = kOutlines[bodyOf(car)][7].z;
  constexpr float kNear = 1.5f, kFar = 34;
  const float z0 = car.z + car.heading * (nose + kNear), z1 = car.z + car.heading * (nose + kFar);
  const float near_z = std::max(std::min(z0, z1), 4.0f), far_z = std::max(z0, z1);
  if (far_z < 5) return;
  const View::Projected near_left = picture.view.project({car.x - 5, 0, near_z}),
                        near_right = picture.view.project({car.x + 5, 0, near_z});
  const View::Projected far_left = picture.view.project({car.x - 5, 0, far_z}),
                        far_right = picture.view.project({car.x + 5, 0, far_z});
  const cv::Rect box = pixelsIn(std::min(near_left.x, far_left.x), far_left.y, std::max(near_right.x, far_right.x),
                                near_left.y, picture.light.size());
  for (int y = box.y; y < box.br().y; ++y) {
    for (int x = box.x; x < box.br().x; ++x) {
      const int pixel = y * picture.light.cols + x;
      if (!picture.backdrop.isGround(pixel)) continue;
      const Vec3 place = picture.backdrop.position(pixel);
      const float ahead = (place.z - car.z) * car.heading - nose;
      if (ahead < kNear || ahead > kFar) continue;
      const float aside = std::abs(place.x - car.x) / (0.55f + 0.085f * ahead);
      const float lux = 34 * std::exp(-aside * aside) * smoothstep(kNear, 6, ahead) * std::exp(-ahead / 13) *
                        (1 - smoothstep(24, kFar, ahead));
      if (lux < 0.05f) continue;
      picture.light.ptr<Vec3>(y)[x] += picture.backdrop.albedo(pixel) * Vec3{1.05f, 1.0f, 0.88f} *
                                       (lux * picture.backdrop.through(length(place - picture.view.place)));
    }
  }
}

std::vector<Box> shadeOf(const Actor& actor) {
  if (actor.kind == ActorKind::kPedestrian)
    return {{{actor.x - 0.22f, 0, actor.z - 0.2f}, {actor.x + 0.22f, 1.7f, actor.z + 0.2f}}};
  if (actor.kind == ActorKind::kBicycle) {
    return {{{actor.x - 0.2f, 0, actor.z - 0.6f}, {actor.x + 0.2f, 1.15f, actor.z + 0.6f}},
            {{actor.x - 0.22f, 1.0f, actor.z - 0.25f}, {actor.x + 0.22f, 1.75f, actor.z + 0.3f}}};
  }
  const Body body = bodyOf(actor);
  const Outline& s = kOutlines[body];
  const float h = actor.heading;
  const auto box = [&](float from, float to, float half, float low, float high) {
    const float a = actor.z + h * from, b = actor.z + h * to;
    return Box{{actor.x - half, low, std::min(a, b)}, {actor.x + half, high, std::max(a, b)}};
  };
  return {box(s[0].z, s[7].z, kShapes[body].half, 0.12f, s[2].y),
          box(s[2].z, lerp(s[4].z, s[5].z, 0.5f), s[3].half + 0.08f, s[2].y, s[3].y)};
}

void drawContact(const Picture& picture, const Actor& actor) {
  float half_x = 0.16f, half_z = 0.14f, strength = 0.45f, soft = 0.16f;
  if (actor.kind == ActorKind::kCar) {
    const Body body = bodyOf(actor);
    half_x = kShapes[body].half - 0.08f;
    half_z = kOutlines[body][7].z - 0.12f;
    strength = 0.8f;
    soft = 0.22f;
  } else if (actor.kind == ActorKind::kBicycle) {
    half_x = 0.05f;
    half_z = 0.75f;
    strength = 0.4f;
  }
  const float reach = 3 * soft;
  const Vec3 low = {actor.x - half_x - reach, 0, actor.z - half_z - reach},
             high = {actor.x + half_x + reach, 0, actor.z + half_z + reach};
  if (low.z < 2) return;
  const int width = picture.light.cols, height = picture.light.rows;
  int left = width, right = 0, top = height, bottom = 0;
  for (int corner = 0; corner < 4; ++corner) {
    const View::Projected p = picture.view.project({corner & 1 ? high.x : low.x, 0, corner & 2 ? high.z : low.z});
    left = std::min(left, static_cast<int>(p.x));
    right = std::max(right, static_cast<int>(p.x) + 1);
    top = std::min(top, static_cast<int>(p.y));
    bottom = std::max(bottom, static_cast<int>(p.y) + 1);
  }
  for (int y = std::max(top, 0); y < std::min(bottom, height); ++y) {
    for (int x = std::max(left, 0); x < std::min(right, width); ++x) {
      const int pixel = y * width + x;
      if (!picture.backdrop.isGround(pixel)) continue;
      const Vec3 place = picture.backdrop.position(pixel);
      const float dx = std::max(std::abs(place.x - actor.x) - half_x, 0.0f),
                  dz = std::max(std::abs(place.z - actor.z) - half_z, 0.0f);
      const float dark = strength * std::exp(-(dx * dx + dz * dz) / (soft * soft));
      if (dark > 0.01f)
        picture.light.ptr<Vec3>(y)[x] *= 1 - dark * picture.backdrop.through(length(place - picture.view.place));
    }
  }
}

}  // namespace mpm::scene
