// SPDX-License-Identifier: Apache-2.0
#include "things.h"

namespace mpm::scene {
namespace {

constexpr Vec3 kSteel = {0.10f, 0.11f, 0.115f}, kGalvanised = {0.30f, 0.31f, 0.32f};

template <std::size_t kCorners>
std::array<Vec3, kCorners> ring(Vec3 centre, float radius, float turn) {
  std::array<Vec3, kCorners> result;
  for (std::size_t i = 0; i < kCorners; ++i) {
    const float angle = turn + 2 * kPi * static_cast<float>(i) / kCorners;
    result[i] = centre + Vec3{radius * std::cos(angle), radius * std::sin(angle), 0};
  }
  return result;
}

}  // namespace

void drawLamp(Canvas& canvas, const Picture& picture, const Lamp& lamp) {
  const Vec3 bulb = lamp.bulb();
  if (!canvas.begin(picture, {std::min(lamp.x, bulb.x) - 0.4f, -0.02f, lamp.z - 0.15f},
                    {std::max(lamp.x, bulb.x) + 0.4f, kLampHeight + 0.35f, lamp.z + 0.15f}))
    return;
  LocalLight light(picture, {lamp.x, 0, lamp.z}, kLampHeight);
  const auto steel = [&](Vec3 n) { return light.matt(n, kSteel) + picture.moment.ambient[0] * 0.02f; };
  const Vec3 foot = {lamp.x, 0, lamp.z};
  const float inward = lamp.x > 0 ? -1.0f : 1.0f;
  canvas.rod(foot, foot + Vec3{0, 1.1f, 0}, 0.10f, 0.10f, Class::kPole, steel);
  canvas.rod(foot + Vec3{0, 1.1f, 0}, foot + Vec3{0, kLampHeight - 0.55f, 0}, 0.07f, 0.048f, Class::kPole, steel);
  canvas.rod(foot + Vec3{0, kLampHeight - 0.55f, 0}, foot + Vec3{inward * 0.45f, kLampHeight - 0.05f, 0}, 0.048f,
             0.045f, Class::kPole, steel);
  canvas.rod(foot + Vec3{inward * 0.45f, kLampHeight - 0.05f, 0}, bulb + Vec3{0, 0.16f, 0}, 0.045f, 0.04f, Class::kPole,
             steel);
  canvas.rod(bulb + Vec3{-0.3f, 0.14f, 0}, bulb + Vec3{0.3f, 0.14f, 0}, 0.10f, 0.09f, Class::kPole, steel);
  const Vec3 glow = picture.moment.lamp_colour * (170 * picture.moment.lamps);
  canvas.rod(bulb + Vec3{-0.22f, 0.04f, -0.02f}, bulb + Vec3{0.22f, 0.04f, -0.02f}, 0.075f, 0.075f, Class::kPole,
             [&](Vec3 n) {
               return light.matt(n, {0.55f, 0.55f, 0.52f}) + glow;
             });
  canvas.finish(foot);
  drawHalo(picture, bulb, glow * 0.5f);
}

void drawHalo(const Picture& picture, Vec3 source, Vec3 glow) {
  const View::Projected centre = picture.view.project(source);
  const float strength = std::min(picture.weather.extinction * 3.2f, 0.08f) * picture.backdrop.through(centre.depth);
  const Vec3 colour = glow * strength;
  if (luminance(colour) < 0.02f || centre.depth < 2) return;
  const float radius = picture.view.scaleAt(centre.depth) * 0.9f, reach = 4 * radius;  // m of lit air around it
  const cv::Rect box =
      pixelsIn(centre.x - reach, centre.y - reach, centre.x + reach, centre.y + reach, picture.light.size());
  for (int y = box.y; y < box.br().y; ++y) {
    for (int x = box.x; x < box.br().x; ++x) {
      const float dx = static_cast<float>(x) + 0.5f - centre.x, dy = static_cast<float>(y) + 0.5f - centre.y;
      const float off = (dx * dx + dy * dy) / (radius * radius);
      if (off < 16) picture.light.ptr<Vec3>(y)[x] += colour * (1 / (0.25f + off) - 1 / 16.25f);
    }
  }
}

void drawSign(Canvas& canvas, const Picture& picture, const Sign& sign) {
  constexpr float kHigh = 2.75f;
  const Vec3 foot = {sign.x, 0, sign.z}, middle = {sign.x, kHigh - 0.38f, sign.z - 0.05f};
  if (!canvas.begin(picture, {sign.x - 0.5f, -0.02f, sign.z - 0.12f}, {sign.x + 0.5f, kHigh + 0.12f, sign.z + 0.1f}))
    return;
  LocalLight light(picture, foot, kHigh);
  canvas.rod(foot, foot + Vec3{0, kHigh, 0}, 0.034f, 0.034f, Class::kPole,
             [&](Vec3 n) { return light.matt(n, kGalvanised); });
  // Traffic towards the camera keeps to the left of the picture, and reads its signs from the other side.
  const bool seen_from_behind = sign.x < 0;
  // Plates throw light back to where it comes from; headlights make them bright.
  const Vec3 glow = seen_from_behind ? Vec3{} : picture.moment.lamp_colour * (1.2f * picture.moment.lamps);
  const auto plate = [&](auto corners, Vec3 albedo, float lift) {
    std::array<Canvas::Corner, 24> placed;
    const Vec3 colour = light.matt({0, 0, -1}, seen_from_behind ? Vec3{0.27f, 0.28f, 0.29f} : albedo) + glow * albedo;
    for (std::size_t i = 0; i < corners.size(); ++i) placed[i] = {corners[i], colour};
    canvas.polygon({placed.data(), corners.size()}, Class::kPole, lift);
  };
  constexpr Vec3 kRed = {0.42f, 0.02f, 0.02f}, kWhite = {0.66f, 0.66f, 0.64f}, kBlue = {0.02f, 0.10f, 0.36f},
                 kYellow = {0.60f, 0.36f, 0.01f};
  constexpr Vec3 kBlack = {0.02f, 0.02f, 0.02f};
  const auto bar = [&](float x0, float y0, float x1, float y1) {
    return std::array<Vec3, 4>{middle + Vec3{x0, y0, 0}, middle + Vec3{x1, y0, 0}, middle + Vec3{x1, y1, 0},
                               middle + Vec3{x0, y1, 0}};
  };
  switch (sign.kind) {
    case SignKind::kSpeed:
      plate(ring<20>(middle, 0.36f, 0), kRed, 0);
      plate(ring<20>(middle, 0.27f, 0), kWhite, 0.05f);
      if (!seen_from_behind) {
        plate(bar(-0.17f, -0.12f, -0.04f, 0.12f), kBlack, 0.1f);
        plate(bar(0.04f, -0.12f, 0.17f, 0.12f), kBlack, 0.1f);
        plate(bar(0.08f, -0.07f, 0.13f, 0.07f), kWhite, 0.15f);
      }
      break;
    case SignKind::kNoParking:
      plate(ring<20>(middle, 0.36f, 0), kRed, 0);
      plate(ring<20>(middle, 0.28f, 0), kBlue, 0.05f);
      if (!seen_from_behind) {
        plate(std::array<Vec3, 4>{middle + Vec3{-0.23f, 0.17f, 0}, middle + Vec3{-0.17f, 0.23f, 0},
                                  middle + Vec3{0.23f, -0.17f, 0}, middle + Vec3{0.17f, -0.23f, 0}},
              kRed, 0.1f);
      }
      break;
    case SignKind::kWarning:
      plate(ring<3>(middle, 0.46f, kPi / 2), kRed, 0);
      plate(ring<3>(middle, 0.30f, kPi / 2), kWhite, 0.05f);
      if (!seen_from_behind) plate(bar(-0.03f, -0.1f, 0.03f, 0.14f), kBlack, 0.1f);
      break;
    case SignKind::kPriority:
      plate(ring<4>(middle, 0.42f, 0), kWhite, 0);
      plate(ring<4>(middle, 0.31f, 0), kYellow, 0.05f);
      break;
    case SignKind::kParking:
      plate(bar(-0.31f, -0.31f, 0.31f, 0.31f), kBlue, 0);
      if (!seen_from_behind) {
        plate(bar(-0.11f, -0.2f, -0.03f, 0.2f), kWhite, 0.05f);
        plate(bar(-0.03f, 0.0f, 0.13f, 0.2f), kWhite, 0.05f);
        plate(bar(-0.03f, 0.06f, 0.06f, 0.14f), kBlue, 0.1f);
      }
      break;
  }
  canvas.finish(foot);
}

}  // namespace mpm::scene
