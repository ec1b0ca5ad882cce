// SPDX-License-Identifier: Apache-2.0
#include "scene/street.h"
#include "support/matchers.h"
#include "vision/sources/source.h"

namespace mpm {
namespace {

TEST(SceneSource, FramesCarryTheirTruth) {
  const std::string text = "demo:street?seed=3&size=64x96&speed=600&fps=10&frames=2";
  const auto source = vision::openSource(text);
  EXPECT_EQ(source->size(), 2);
  scene::Street street(scene::parseStreet(text.substr(5)));
  for (int i = 0; i < 2; ++i) {
    const vision::Frame frame = source->next().value();
    const scene::Rendering expected = street.frame(i).value();
    EXPECT_EQ(frame.index, i);
    EXPECT_EQ(frame.name, i == 0 ? "street_000000" : "street_000001");
    EXPECT_EQ(frame.source, text);
    EXPECT_EQ(frame.unix_time, scene::StreetOptions().start + 60 * i);
    EXPECT_EQ(frame.sun_elevation, expected.truth.sun_elevation_deg);
    EXPECT_EQ(frame.night, expected.truth.is_night);
    EXPECT_EQ(cv::norm(frame.image, expected.image, cv::NORM_INF), 0);
    EXPECT_EQ(cv::norm(frame.labels, expected.labels, cv::NORM_INF), 0);
  }
  EXPECT_FALSE(source->next().has_value());
}

TEST(SceneSource, KnowsItsPlaceAndItsClasses) {
  const auto source = vision::openSource("demo:street?latitude=-33.9&longitude=18.4");
  ASSERT_TRUE(source->place());
  EXPECT_EQ(source->place()->latitude, -33.9);
  EXPECT_EQ(source->place()->longitude, 18.4);
  const auto names = source->classNames();
  ASSERT_EQ(names.size(), scene::kClasses);
  EXPECT_EQ(names[static_cast<int>(scene::Class::kSky)], "sky");
  EXPECT_EQ(names[static_cast<int>(scene::Class::kCyclist)], "cyclist");
}

TEST(SceneSource, EndlessUntilStopped) {
  std::atomic<bool> stop = false;
  const auto source = vision::openSource("demo:street?size=64x64", {.stop = &stop});
  EXPECT_FALSE(source->size().has_value());
  EXPECT_TRUE(source->next().has_value());
  stop = true;
  EXPECT_FALSE(source->next().has_value());
}

}  // namespace
}  // namespace mpm
