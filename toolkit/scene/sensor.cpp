// SPDX-License-Identifier: Apache-2.0
#include "sensor.h"

#include <array>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <vector>

#include "vision/draws.h"

namespace mpm::scene {
namespace {

constexpr float kWell = 14000;      // electrons of a white pixel while there is light enough
constexpr float kEnoughLight = 40;  // lux (of white paper) in the mean, below which the amplifier has to help
constexpr float kReadNoise = 2.5f;  // electrons
constexpr float kBrightest = 4;     // the curve ends here, in units of white
constexpr int kCurveSteps = 4096;

// Straight up to 60 % of white, then a shoulder: highlights keep their colour a little longer. Indexed by the square
// root of the light, as the eye would.
using Curve = std::array<std::uint8_t, kCurveSteps>;
Curve curveOf(float gamma, float veil) {
  Curve result{};
  for (int i = 0; i < kCurveSteps; ++i) {
    const float root = static_cast<float>(i) / (kCurveSteps - 1), x = kBrightest * root * root;
    const float y = x < 0.6f ? x : 0.6f + 0.4f * (1 - std::exp(-(x - 0.6f) / 0.4f));
    const float encoded = y <= 0.0031308f ? 12.92f * y : 1.055f * std::pow(y, 1 / 2.4f) - 0.055f;
    result[i] = cv::saturate_cast<std::uint8_t>(255 * (veil + (1 - veil) * std::pow(encoded, gamma)));
  }
  return result;
}

struct Exposure {
  Vec3 gain;            // per channel, from light to units of white
  float electrons = 0;  // of white
};

Exposure meter(const cv::Mat& small) {
  double logarithm = 0;
  Vec3 mean;
  std::vector<float> levels;
  for (int row = 0; row < small.rows; ++row) {
    for (int column = 0; column < small.cols; ++column) {
      const Vec3 light = small.ptr<Vec3>(row)[column];
      const float y = std::max(luminance(light), 1e-3f);
      logarithm += std::log(y);
      levels.push_back(y);
      mean += light * (1 / (y + 1e-3f));
    }
  }
  const auto level = static_cast<float>(std::exp(logarithm / static_cast<double>(small.total())));
  // Night is allowed to look like night, and no amplifier makes it day.
  const float wanted = lerp(0.085f, 0.20f, smoothstep(0.2f, 4.0f, std::log10(level + 1)));
  float gain = wanted / std::max(level, 0.25f);
  // A flat scene, fog or snow under cloud, would come out grey: its brightest part may rise to near white.
  const auto bright = levels.begin() + static_cast<std::ptrdiff_t>(levels.size() * 19 / 20);
  std::nth_element(levels.begin(), bright, levels.end());
  if (level > 30) gain = std::min(std::max(gain, 0.78f / std::max(*bright, 1e-3f)), 2 * gain);
  // White balance goes part of the way: dusk stays blue, lamps stay warm.
  const auto balance = [&](float channel) {
    return std::pow(std::max(luminance(mean), 1e-6f) / std::max(channel, 1e-6f), 0.4f);
  };
  return {Vec3{balance(mean.x), balance(mean.y), balance(mean.z)} * gain,
          kWell * std::min(1.0f, std::max(level, 0.25f) / kEnoughLight)};
}

void shifted(const cv::Mat& from, const cv::Rect2f& window, cv::Mat& to) {
  const int x = static_cast<int>(std::floor(window.x)), y = static_cast<int>(std::floor(window.y));
  const float a = window.x - static_cast<float>(x), b = window.y - static_cast<float>(y);
  const float w00 = (1 - a) * (1 - b), w01 = a * (1 - b), w10 = (1 - a) * b, w11 = a * b;
  for (int row = 0; row < to.rows; ++row) {
    const float* top = from.ptr<float>(y + row) + 3 * x;
    const float* bottom = from.ptr<float>(std::min(y + row + 1, from.rows - 1)) + 3 * x;
    float* out = to.ptr<float>(row);
    for (int i = 0; i < 3 * to.cols; ++i)
      out[i] = w00 * top[i] + w01 * top[i + 3] + w10 * bottom[i] + w11 * bottom[i + 3];
  }
}

}  // namespace

cv::Mat expose(const cv::Mat& light, const SensorOptions& options) {
  const cv::Size size = options.window.size();
  cv::Mat seen(size, CV_32FC3);
  if (options.window.x == std::floor(options.window.x) && options.window.y == std::floor(options.window.y))
    light(cv::Rect(options.window)).copyTo(seen);
  else
    shifted(light, options.window, seen);
  const Development& development = options.development;
  if (development.blur > 0) cv::GaussianBlur(seen, seen, {0, 0}, development.blur * size.width / 640.0);

  cv::Mat small, glare, wide;
  cv::resize(seen, small, {std::max(8, size.width / 8), std::max(8, size.height / 8)}, 0, 0, cv::INTER_AREA);
  const Exposure exposure = meter(small);
  cv::GaussianBlur(small, glare, {0, 0}, std::max(0.6, size.width / 640.0));
  cv::GaussianBlur(small, wide, {0, 0}, std::max(1.5, size.width / 100.0));
  cv::addWeighted(glare, 0.035 * development.glare, wide, 0.022 * development.glare, 0, glare);
  cv::resize(glare, wide, size, 0, 0, cv::INTER_LINEAR);

  const auto& quantiles = normalQuantiles();
  static const Curve usual = curveOf(1, 0);
  const bool is_usual = development.gamma == 1 && development.veil == 0;
  const Curve table = is_usual ? usual : curveOf(development.gamma, development.veil);
  const auto noise = static_cast<float>(options.noise);
  const float electrons = noise > 0 ? exposure.electrons / (noise * noise) : 1, per_electron = 1 / electrons;
  const float read = kReadNoise * kReadNoise;  // its square; in electrons, so `noise` acts through their number
  const Vec3 gains = exposure.gain * development.balance * development.gain;
  const std::array<float, 3> gain = {gains.x, gains.y, gains.z};
  cv::Mat image(size, CV_8UC3);
  std::vector<float> line(static_cast<std::size_t>(3) * size.width);
  const float saturation = development.saturation;
  const float middle_x = 0.5f * static_cast<float>(size.width), middle_y = 0.5f * static_cast<float>(size.height);
  const float corner = 1 / (middle_x * middle_x + middle_y * middle_y);
  for (int row = 0; row < size.height; ++row) {
    const float* direct = seen.ptr<float>(row);
    const float* veil = wide.ptr<float>(row);
    const float dy = static_cast<float>(row) + 0.5f - middle_y;
    for (int x = 0; x < size.width; ++x) {
      const float dx = static_cast<float>(x) + 0.5f - middle_x;
      const float vignette = 1 - development.vignette * (dx * dx + dy * dy) * corner;
      std::array<float, 3> raw;
      for (int c = 0; c < 3; ++c) raw[c] = (direct[3 * x + c] * 0.943f + veil[3 * x + c]) * gain[c] * vignette;
      const float grey = (1 - saturation) * (0.2126f * raw[0] + 0.7152f * raw[1] + 0.0722f * raw[2]);
      for (int c = 0; c < 3; ++c) line[3 * x + c] = std::min(std::max(grey + saturation * raw[c], 0.0f), kBrightest);
    }
    if (noise > 0) {
      const std::uint64_t key = hash(options.key, row);
      for (int x = 0; x < size.width; ++x) {
        std::uint64_t bits = mix(key + static_cast<std::uint64_t>(x));
        for (int c = 0; c < 3; ++c, bits >>= 20) {
          float& value = line[3 * x + c];
          const float n = value * electrons;
          float caught;
          if (n >= 12) {
            // Photons and read-out in one draw: both are near enough to normal here, and their variances add.
            const float z = quantiles[bits & 4095];
            caught = n + std::sqrt(n + read) * z + (z * z - 1) * (1.0f / 6);
          } else {
            const std::uint64_t more = mix(bits);
            caught = poisson(n, static_cast<std::uint32_t>(more), quantiles) + kReadNoise * quantiles[more >> 52];
          }
          value = std::min(std::max(caught * per_electron, 0.0f), kBrightest);
        }
      }
    }
    std::uint8_t* out = image.ptr(row);
    constexpr float kIndex = kCurveSteps - 1;
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < 3; ++c)
        // NOLINTNEXTLINE(bugprone-incorrect-roundings): never negative, and lround() is a call per pixel
        out[3 * x + 2 - c] = table[static_cast<int>(std::sqrt(line[3 * x + c] * (1 / kBrightest)) * kIndex + 0.5f)];
    }
  }
  if (options.jpeg == 0) return image;
  std::vector<std::uint8_t> bytes;
  cv::imencode(".jpg", image, bytes, {cv::IMWRITE_JPEG_QUALITY, options.jpeg});
  return cv::imdecode(bytes, cv::IMREAD_COLOR);
}

}  // namespace mpm::scene
