// SPDX-License-Identifier: Apache-2.0
// How fast the scene is, and what it looks like:
//   mpm_scene_preview "street?weather=rain&size=448x640" [frames] [folder for picture and labels of each frame]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <opencv2/imgcodecs.hpp>
#include <stdexcept>
#include <utility>

#include "scene/street.h"

int main(int argc, char** argv) try {
  using Clock = std::chrono::steady_clock;
  using mpm::scene::Street;
  cv::setNumThreads(1);
  const mpm::scene::StreetOptions options = mpm::scene::parseStreet(argc > 1 ? argv[1] : "street");
  const int frames = argc > 2 ? std::atoi(argv[2]) : 100;
  if (argc > 3) std::filesystem::create_directories(argv[3]);
  const auto begin = Clock::now();
  Street street(options);
  street.render(options.start);
  const auto ready = Clock::now();
  for (int i = 0; i < frames; ++i) {
    const mpm::scene::Rendering rendering = street.render(options.timeOf(i));
    if (argc <= 3) continue;
    char name[64];
    std::snprintf(name, sizeof name, "/%04d", i);
    cv::Mat colours(rendering.labels.size(), CV_8UC3);
    for (int y = 0; y < colours.rows; ++y) {
      for (int x = 0; x < colours.cols; ++x) {
        const auto& rgb = mpm::scene::kClassStyles[rendering.labels.at<std::uint8_t>(y, x)].rgb;
        colours.at<cv::Vec3b>(y, x) = {rgb[2], rgb[1], rgb[0]};
      }
    }
    for (const auto& [ending, picture] : {std::pair(".png", rendering.image), {"_labels.png", colours}}) {
      if (const std::string path = argv[3] + std::string(name) + ending; !cv::imwrite(path, picture))
        throw std::runtime_error("cannot write '" + path + "'");
    }
    const mpm::scene::Truth& truth = rendering.truth;
    std::printf("unix time %.0f, sun %.1f deg, moon %.1f deg %.0f %%, night %d\n", truth.unix_time,
                truth.sun_elevation_deg, truth.moon_elevation_deg, 100 * truth.moon_illuminated, truth.is_night);
  }
  const auto seconds = [](auto d) { return std::chrono::duration<double>(d).count(); };
  std::printf("%dx%d px: built in %.2f s, %.1f frames/s on one thread\n", options.size.height, options.size.width,
              seconds(ready - begin), frames / seconds(Clock::now() - ready));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
