// SPDX-License-Identifier: Apache-2.0
// Regions from the recorder to the chart.

#include "monitor/recorder.h"
#include "monitor/results.h"
#include "monitor/sql.h"

namespace mpm::monitor::test {
namespace {

using StoredRegions = InFolder;

Sample withRegion(UnixMs time, double green, std::int64_t region = 0) {
  Sample sample = sampleAt(time);
  sample.regions.push_back(regionOf(region, {100, green, 50}, 7.5, {{3, 0.5}}));
  return sample;
}

InferenceResult skyIn(const cv::Mat& image, UnixMs time) { return resultOf({{"road"}, {"sky"}}, image, time, {4, 4}); }

TEST_F(StoredRegions, AChangedRegionIsANewOne) {
  {
    StoreWriter writer(path_);
    writer.setRegions("camera 0", {regionNamed("tree"), regionNamed("lake", 20)});
    writer.beginSession(session());
    writer.append(withRegion(kNoon, 80, 0));
    writer.setRegions("camera 0", {regionNamed("tree", 5), regionNamed("lake", 20)});
    writer.append(withRegion(kNoon + kSecondMs, 90, 0));
    writer.append(withRegion(kNoon + 2 * kSecondMs, 95, 1));
    writer.setRegions("camera 0", {regionNamed("tree")});
    writer.append(withRegion(kNoon + 3 * kSecondMs, 99, 0));
    ASSERT_TRUE(writer.flush());
  }
  const StoreReader reader(path_);
  std::vector<std::int64_t> ids;
  for (const Sample& sample : allSamples(reader)) ids.push_back(sample.regions.at(1).region);
  EXPECT_THAT(ids, ElementsAre(1, 3, 2, 1)) << "one that comes back is the same";
  const auto regions = reader.regions("camera 0");
  ASSERT_THAT(regions, SizeIs(3));
  EXPECT_TRUE(regions[0].current);
  EXPECT_FALSE(regions[1].current || regions[2].current);
  EXPECT_EQ(regions[2].region.polygons, regionNamed("tree", 5).polygons);
  EXPECT_THAT(currentRegions(reader, "camera 0"), SizeIs(1));
  EXPECT_THAT(reader.regions("camera 1"), IsEmpty());
}

TEST_F(StoredRegions, ViewHasTheirValues) {
  record(path_, {withRegion(kNoon, 50)}, session(), {regionNamed("tree")});
  EXPECT_EQ(
      runSql(
          path_,
          "SELECT time_utc || ' ' || source || ' ' || region_name || ' ' || gcc || ' ' || rcc || ' ' || exg || ' ' ||"
          " tokens || ' ' || json_extract(areas, '$.3') || ' ' || json_extract(classes, '$[3]')"
          " FROM region_values WHERE region_name <> ''"),
      "2026-06-01 12:00:00 camera 0 tree 0.25 0.5 -50.0 7.5 0.5 tree");
}

TEST_F(StoredRegions, WhatIsSaidCountsAndWhatDoesNotFitIsOneMessage) {
  const cv::Mat image(48, 64, CV_8UC3, cv::Scalar(10, 30, 20));
  std::vector<std::string> messages;
  StoreWriter store(path_);
  Recorder recorder({.source = "camera 0", .every_s = 0}, &store,
                    [&](const Event& event) { messages.push_back(event.message); });
  recorder.setRegions({{.name = "stamp", .ignore = true, .size = {64, 48}, .polygons = {{{0, 24}, {63, 24}, {63, 47}}}},
                       regionNamed("tree")});
  recorder.setStoredRegions({regionNamed("too late")});
  EXPECT_EQ(recorder.add(skyIn(image, kNoon), 0)->regions.at(1).name, "tree");
  recorder.setRegions({});
  EXPECT_THAT(recorder.add(skyIn(image, kNoon + kSecondMs), 0)->regions, SizeIs(1)) << "the whole picture";
  recorder.setRegions({vision::Region{.name = "odd", .size = {8, 8}, .mask = cv::Mat::ones(8, 8, CV_8UC1)}});
  for (const int second : {2, 3}) EXPECT_TRUE(recorder.add(skyIn(image, kNoon + second * kSecondMs), 0));
  EXPECT_THAT(messages, ElementsAre(HasSubstr("regions are not measured: the mask of region 'odd' is 8 x 8 px")));
  EXPECT_THROW(recorder.setRegions({regionNamed("a"), regionNamed("a")}), Error);
  ASSERT_TRUE(store.flush());
  const StoreReader reader(path_);
  EXPECT_EQ(currentRegions(reader, "camera 0").at(0).name, "odd");
  EXPECT_TRUE(reader.regions("camera 0").at(0).region.ignore);
}

}  // namespace
}  // namespace mpm::monitor::test
