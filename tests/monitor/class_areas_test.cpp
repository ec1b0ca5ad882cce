// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/averages.h"

#include "monitor/samples.h"
#include "monitor/store/bucket.h"

namespace mpm::monitor::test {
namespace {

using ClassAreas = InFolder;

Sample sampleWith(UnixMs time, std::vector<std::pair<int, double>> areas, std::optional<bool> night) {
  Sample sample = sampleAt(time, 400, night);
  sample.whole().areas = std::move(areas);
  return sample;
}

TEST_F(ClassAreas, AreMeansByDayAndNightWithTheModelsErrors) {
  SessionInfo info = session();
  info.classes = {"ice", "rock", "sky"};
  info.cross_validation.emplace(3, -1);
  info.cross_validation->add(0, 0, 80);
  info.cross_validation->add(0, 1, 20);  // a fifth of the ice is taken for rock
  info.cross_validation->add(1, 1, 100);
  info.cross_validation->add(1, 2, 5);  // no label is sky, so that this IoU of 0 means nothing
  std::vector<Sample> samples = {
      sampleAt(kNoon + 2 * kHourMs, 400, false, {.quality = PictureQuality{.flags = kDark}})};
  for (int hour = 0; hour < 4; ++hour) {
    const bool night = hour == 3;
    samples.push_back(sampleWith(kNoon + hour * kHourMs, {{0, night ? 0.2 : 0.4}, {1, night ? 0.8 : 0.6}}, night));
  }
  record(path_, samples, info);
  const StoreReader store(path_);
  EXPECT_EQ(store.sessions(1)[0].cross_validation.value().count(0, 1), 20);
  const auto areas = meanClassAreas(store, latestSeries(store), INT64_MIN, INT64_MAX);
  ASSERT_THAT(areas, SizeIs(2)) << "no sky in the samples, and none was labelled";
  EXPECT_EQ(areas[0].name, "ice");
  EXPECT_NEAR(areas[0].all, 0.35, 1e-6) << "a picture that is left out is none of them";
  EXPECT_NEAR(areas[0].day.value(), 0.4, 1e-6);
  EXPECT_NEAR(areas[0].night.value(), 0.2, 1e-6);
  EXPECT_NEAR(areas[0].corrected.value(), 0.35 + 0.65 / 6, 1e-6);
  EXPECT_NEAR(areas[0].iou.value(), 0.8, 1e-9);
  EXPECT_NEAR(areas[1].corrected.value(), 0.65 * 5 / 6, 1e-6);
}

// Sums keep the least and the largest as floats: of 33.3 it is less, of 11.1 more.
TEST_F(ClassAreas, AMeanLiesBetweenTheLeastAndTheLargest) {
  Sample sample = sampleWith(kNoon, {{0, 0.333}, {1, 0.111}}, false);
  Bucket bucket;
  bucket.add(sample, sample.whole());
  for (const int label : {0, 1}) {
    const Spread area = bucket.area(label);
    EXPECT_LE(area.min, area.mean) << label;
    EXPECT_GE(area.max, area.mean) << label;
  }
}

TEST_F(ClassAreas, OfVeryManyClasses) {
  constexpr int kClasses = 20'000;
  SessionInfo info = session();
  info.classes.clear();
  std::vector<std::pair<int, double>> areas;
  for (int c = 0; c < kClasses; ++c) {
    info.classes.push_back("class " + std::to_string(c));
    areas.emplace_back(c, 1.0 / kClasses);
  }
  record(path_, {sampleWith(kNoon, areas, false)}, info);
  const StoreReader store(path_);
  EXPECT_THAT(meanClassAreas(store, latestSeries(store), INT64_MIN, INT64_MAX), SizeIs(kClasses));
  EXPECT_THAT(regionMeans(store, latestSeries(store), INT64_MIN, INT64_MAX).at(0).areas, SizeIs(kClasses));
}

}  // namespace
}  // namespace mpm::monitor::test
