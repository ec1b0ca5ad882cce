// SPDX-License-Identifier: Apache-2.0
#include "things.h"
#include "vision/draws.h"

namespace mpm::scene {
namespace {

constexpr Vec3 kCloth[] = {{0.05f, 0.07f, 0.14f}, {0.35f, 0.04f, 0.05f}, {0.03f, 0.03f, 0.035f}, {0.42f, 0.36f, 0.24f},
                           {0.06f, 0.20f, 0.13f}, {0.50f, 0.50f, 0.48f}, {0.10f, 0.18f, 0.36f},  {0.48f, 0.28f, 0.03f},
                           {0.20f, 0.11f, 0.07f}, {0.33f, 0.12f, 0.26f}, {0.22f, 0.23f, 0.24f},  {0.03f, 0.22f, 0.30f}};
constexpr Vec3 kTrousers[] = {{0.03f, 0.045f, 0.09f},
                              {0.03f, 0.03f, 0.035f},
                              {0.16f, 0.14f, 0.11f},
                              {0.09f, 0.09f, 0.10f},
                              {0.06f, 0.08f, 0.12f}};
constexpr Vec3 kSkin[] = {{0.50f, 0.32f, 0.23f}, {0.36f, 0.21f, 0.14f}, {0.58f, 0.40f, 0.31f}, {0.16f, 0.085f, 0.055f}};
constexpr Vec3 kHair[] = {
    {0.03f, 0.02f, 0.015f}, {0.09f, 0.05f, 0.03f}, {0.30f, 0.20f, 0.09f}, {0.25f, 0.24f, 0.23f}, {0.02f, 0.02f, 0.02f}};

/// Draws rods in the axes of a person who looks along +z.
struct Figure {
  Canvas& canvas;
  const Actor& actor;
  LocalLight light;
  Class label;

  Vec3 world(Vec3 p) const { return {actor.x + p.x * actor.heading, p.y, actor.z + p.z * actor.heading}; }
  void rod(Vec3 a, Vec3 b, float ra, float rb, Vec3 albedo, Vec3 glow = {}) {
    canvas.rod(world(a), world(b), ra, rb, label, [&](Vec3 n) { return light.matt(n, albedo) + glow; });
  }
  void ball(Vec3 centre, float radius, Vec3 albedo, Vec3 glow = {}) {
    rod(centre, centre + Vec3{0, 0.001f, 0}, radius, radius, albedo, glow);
  }
  void limb(Vec3 a, Vec3 joint, Vec3 b, float r0, float r1, float r2, Vec3 upper, Vec3 lower) {
    rod(a, joint, r0, r1, upper);
    rod(joint, b, r1, r2, lower);
  }
};

struct Looks {
  float height;
  Vec3 coat, trousers, skin, hair;
  explicit Looks(std::uint64_t key) {
    Draws draws(key);
    height = draws.chance(0.12f) ? draws.uniform(1.15f, 1.45f) : draws.uniform(1.56f, 1.88f);
    coat = draws.one(kCloth) * draws.uniform(0.8f, 1.2f);
    trousers = draws.one(kTrousers);
    skin = draws.one(kSkin);
    hair = draws.one(kHair);
  }
};

}  // namespace

void drawPedestrian(Canvas& canvas, const Picture& picture, const Actor& walker) {
  const Looks looks(walker.key);
  Draws draws(mix(walker.key));
  const bool umbrella = picture.weather.rain > 0.2f && draws.chance(0.65f);
  const float h = looks.height;
  const float wide = umbrella ? 0.65f : 0.45f;
  const Vec3 foot = {walker.x, 0, walker.z};
  if (!canvas.begin(picture, {walker.x - wide, -0.04f, walker.z - wide},
                    {walker.x + wide, umbrella ? h + 0.5f : h + 0.08f, walker.z + wide}))
    return;
  Figure f{canvas, walker, LocalLight(picture, foot, h), Class::kPerson};
  const float stride = 0.78f * h;
  const float phase = 2 * kPi * (walker.way / (2 * stride) + draws.uniform());
  const float hip = 0.52f * h + 0.015f * h * std::cos(2 * phase), shoulder = hip + 0.30f * h;
  const bool skirt = draws.chance(0.25f), bag = draws.chance(0.35f), long_coat = draws.chance(0.3f);
  for (const float side : {-1.0f, 1.0f}) {
    const float swing = std::sin(phase) * side, lift = std::max(std::cos(phase) * side, 0.0f);
    const Vec3 top = {side * 0.052f * h, hip, 0};
    const Vec3 foot_at = {side * 0.055f * h, 0.045f * h + 0.06f * h * lift, 0.24f * h * swing};
    const Vec3 knee = (top + foot_at) * 0.5f + Vec3{0, 0.01f * h, 0.03f * h + 0.07f * h * lift};
    const Vec3 leg = skirt ? looks.skin : looks.trousers;
    f.limb(top, knee, foot_at, 0.048f * h, 0.036f * h, 0.026f * h, looks.trousers, leg);
    f.rod(foot_at + Vec3{0, -0.02f * h, -0.02f * h}, foot_at + Vec3{0, -0.025f * h, 0.09f * h}, 0.024f * h, 0.02f * h,
          {0.03f, 0.025f, 0.02f});
    const bool holds = umbrella && side > 0;
    const Vec3 arm_top = {side * 0.112f * h, shoulder - 0.02f * h, 0};
    const Vec3 hand = holds ? Vec3{side * 0.10f * h, shoulder - 0.10f * h, 0.14f * h}
                            : Vec3{side * 0.135f * h, hip - 0.02f * h, -0.15f * h * swing + 0.02f * h};
    const Vec3 elbow = (arm_top + hand) * 0.5f + Vec3{side * 0.012f * h, holds ? -0.08f * h : 0.0f, -0.03f * h};
    f.limb(arm_top, elbow, hand, 0.033f * h, 0.028f * h, 0.022f * h, looks.coat, looks.coat);
    f.ball(hand, 0.024f * h, looks.skin);
    // The trunk from two rods side by side: wider than deep.
    f.rod({side * 0.038f * h, hip - (long_coat || skirt ? 0.2f * h : 0.01f * h), 0},
          {side * 0.055f * h, shoulder - 0.04f * h, 0}, long_coat || skirt ? 0.078f * h : 0.064f * h, 0.066f * h,
          looks.coat);
  }
  f.rod({0, shoulder - 0.03f * h, 0}, {0, shoulder + 0.05f * h, 0.01f * h}, 0.034f * h, 0.03f * h, looks.skin);
  f.ball({0, 0.925f * h, 0.015f * h}, 0.062f * h, looks.skin);
  f.ball({0, 0.94f * h, -0.012f * h}, 0.064f * h, looks.hair);
  if (bag) {
    f.rod({0, hip + 0.06f * h, -0.10f * h}, {0, shoulder - 0.04f * h, -0.10f * h}, 0.075f * h, 0.07f * h,
          draws.one(kCloth));
  }
  if (umbrella) {
    const Vec3 colour = draws.one(kCloth);
    const Vec3 tip = {0.09f * h, h + 0.34f, 0.13f * h};
    f.rod(tip + Vec3{0, -0.9f, 0}, tip, 0.012f, 0.012f, {0.05f, 0.05f, 0.05f});
    for (int k = 0; k < 8; ++k) {
      const auto rim = [&](int i) {
        const float turn = kPi / 4 * static_cast<float>(i);
        return tip + Vec3{0.54f * std::cos(turn), -0.24f, 0.54f * std::sin(turn)};
      };
      const Vec3 a = f.world(tip), b = f.world(rim(k)), c = f.world(rim(k + 1));
      Vec3 normal = normalized(cross(b - a, c - a));
      if (normal.y < 0) normal = normal * -1;
      const Vec3 shade = f.light.matt(normal, colour * (k % 2 ? 1.0f : 0.88f));
      canvas.polygon(std::array<Canvas::Corner, 3>{{{a, shade}, {b, shade}, {c, shade}}}, Class::kPerson);
    }
  }
  canvas.finish(foot);
}

void drawCyclist(Canvas& canvas, const Picture& picture, const Actor& rider) {
  const Looks looks(rider.key);
  Draws draws(mix(rider.key));
  const Vec3 foot = {rider.x, 0, rider.z};
  if (!canvas.begin(picture, {rider.x - 0.5f, -0.03f, rider.z - 1.0f}, {rider.x + 0.5f, 1.92f, rider.z + 1.0f})) return;
  Figure f{canvas, rider, LocalLight(picture, foot, 1.8f), Class::kCyclist};
  const Vec3 frame = draws.one(kCloth), metal = {0.30f, 0.30f, 0.31f}, black = {0.025f, 0.025f, 0.027f};
  for (const float z : {-0.52f, 0.53f}) {
    constexpr int kParts = 16;
    const auto rim = [&](int i) {
      const float turn = 2 * kPi * static_cast<float>(i) / kParts;
      return Vec3{0, 0.345f + 0.325f * std::sin(turn), z + 0.325f * std::cos(turn)};
    };
    for (int i = 0; i < kParts; ++i) f.rod(rim(i), rim(i + 1), 0.024f, 0.024f, black);
    for (int i = 0; i < kParts; i += 2) f.rod({0, 0.345f, z}, rim(i), 0.006f, 0.006f, metal);
  }
  const Vec3 crank = {0, 0.30f, -0.05f}, seat = {0, 0.92f, -0.2f}, head_tube = {0, 0.86f, 0.36f},
             rear = {0, 0.345f, -0.52f};
  f.rod(crank, seat, 0.022f, 0.02f, frame);
  f.rod(crank, head_tube, 0.024f, 0.024f, frame);
  f.rod(lerp(crank, seat, 0.8f), head_tube, 0.022f, 0.022f, frame);
  f.rod(rear, lerp(crank, seat, 0.8f), 0.014f, 0.014f, frame);
  f.rod(rear, crank, 0.016f, 0.016f, frame);
  f.rod(head_tube + Vec3{0, 0.12f, -0.03f}, {0, 0.345f, 0.53f}, 0.024f, 0.02f, frame);
  f.rod(seat + Vec3{0, 0.03f, -0.1f}, seat + Vec3{0, 0.03f, 0.13f}, 0.07f, 0.03f, black);
  f.rod({-0.28f, 1.02f, 0.36f}, {0.28f, 1.02f, 0.36f}, 0.018f, 0.018f, black);
  const bool lights = headlightsOn(picture.moment, picture.weather);
  const float front = lights && rider.heading < 0 ? 700 : 0, rear_light = lights && rider.heading > 0 ? 60 : 0;
  f.ball({0, 0.98f, 0.47f}, 0.045f, {0.5f, 0.5f, 0.5f}, Vec3{1, 1, 0.9f} * front);
  f.ball({0, 0.78f, -0.36f}, 0.035f, {0.3f, 0.02f, 0.02f}, Vec3{1, 0.03f, 0.02f} * rear_light);

  const float turn = 2 * kPi * rider.way / 5.2f;
  const Vec3 hip = {0, 0.99f, -0.17f}, chest = {0, 1.43f, 0.12f};
  for (const float side : {-1.0f, 1.0f}) {
    const Vec3 pedal = crank + Vec3{side * 0.11f, 0.17f * side * std::sin(turn), 0.17f * side * std::cos(turn)};
    const Vec3 ankle = pedal + Vec3{0, 0.08f, -0.03f}, thigh = hip + Vec3{side * 0.09f, 0, 0};
    const Vec3 knee = (thigh + ankle) * 0.5f + Vec3{side * 0.02f, 0.06f, 0.20f};
    f.limb(thigh, knee, ankle, 0.085f, 0.062f, 0.042f, looks.trousers, looks.trousers);
    f.rod(ankle + Vec3{0, -0.04f, -0.03f}, ankle + Vec3{0, -0.05f, 0.14f}, 0.04f, 0.033f, black);
    const Vec3 shoulder = chest + Vec3{side * 0.18f, 0.0f, 0}, hand = {side * 0.26f, 1.04f, 0.36f};
    f.limb(shoulder, (shoulder + hand) * 0.5f + Vec3{side * 0.05f, -0.04f, -0.03f}, hand, 0.056f, 0.047f, 0.037f,
           looks.coat, looks.coat);
    f.rod(hip + Vec3{side * 0.07f, 0, 0}, chest + Vec3{side * 0.09f, 0, 0}, 0.115f, 0.105f, looks.coat);
  }
  f.rod(chest, chest + Vec3{0, 0.14f, 0.05f}, 0.055f, 0.05f, looks.skin);
  f.ball({0, 1.66f, 0.2f}, 0.105f, looks.skin);
  f.ball({0, 1.69f, 0.185f}, 0.112f, draws.chance(0.6f) ? draws.one(kCloth) : looks.hair);
  canvas.finish(foot);
}

}  // namespace mpm::scene
