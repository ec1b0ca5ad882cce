// SPDX-License-Identifier: Apache-2.0
// What a camera goes on with where nothing is said of it.

#include "monitor/samples.h"
#include "monitor/watch/camera.h"

namespace mpm::monitor::test {
namespace {

/// A database of one camera or archive, which was measured with a reduction and settings of its own.
class Continued : public InFolder {
 protected:
  CameraConfig after(SessionInfo info, CameraConfig said = {}, std::optional<UnixMs> archive = {}) {
    {
      StoreWriter writer(path_);
      writer.beginSession(info, archive);
      writer.append(sampleAt(archive.value_or(kNoon)));
    }
    if (said.source.empty()) said.source = info.source;
    return continued(said, StoreReader(path_));
  }
  static SessionInfo measured(const std::string& precision) {
    SessionInfo info = session("rtsp://camera.example/1");
    info.precision = precision;
    info.settings = "input-size=64x32:min-score=0.25";
    return info;
  }
};

TEST_F(Continued, TheModelThatMeasuredGoesOn) {
  const CameraConfig next = after(measured("int8"));
  EXPECT_EQ(next.model, "vit.onnx");
  EXPECT_EQ(next.reduce, "mpm:blocks=2,5");
  EXPECT_EQ(next.precision, "int8");
  EXPECT_EQ(next.input_size, "64x32");
  EXPECT_EQ(next.min_score, 0.25);
}

// Of a model that was converted to int8 since, a precision that is asked for would be refused.
TEST_F(Continued, Fp32IsNoPrecisionThatSomebodyAskedFor) { EXPECT_EQ(after(measured("fp32")).precision, ""); }

TEST_F(Continued, WhatIsSaidCounts) {
  const CameraConfig next = after(measured("int8"), {.reduce = "none", .min_score = 0.5});
  EXPECT_EQ(next.model, "vit.onnx");
  EXPECT_EQ(next.reduce, "none");
  EXPECT_EQ(next.min_score, 0.5);
  EXPECT_EQ(next.input_size, "64x32");
}

TEST_F(Continued, AnotherModelHasNothingOfTheOldOne) {
  const CameraConfig said{.source = measured("int8").source, .model = "other.onnx"};
  EXPECT_EQ(after(measured("int8"), said), said);
}

TEST_F(Continued, AnotherSourceHasNothingOfIt) {
  const CameraConfig said{.source = "rtsp://camera.example/2"};
  EXPECT_EQ(after(measured("int8"), said), said);
}

TEST_F(Continued, AnArchiveKeepsItsClockAndItsPlace) {
  SessionInfo info = session(folder_.path());
  info.time_zone = "Europe/Paris";
  info.times = "name";
  info.latitude = 47.5;
  info.longitude = -0.5;
  const CameraConfig next = after(info, {}, kNoon);
  EXPECT_EQ(next.time_zone, "Europe/Paris");
  EXPECT_EQ(next.times, "name");
  EXPECT_EQ(next.lat, 47.5);
  EXPECT_EQ(next.lon, -0.5);
  const CameraConfig by_hours = continued({.source = info.source, .night_hours = "20-6"}, StoreReader(path_));
  EXPECT_EQ(by_hours.lat, std::nullopt) << "the sun says nothing";
  EXPECT_EQ(by_hours.time_zone, "Europe/Paris");
  const CameraConfig elsewhere =
      continued({.source = info.source, .time_zone = "UTC", .lat = 10, .lon = 20}, StoreReader(path_));
  EXPECT_EQ(elsewhere.time_zone, "UTC");
  EXPECT_EQ(elsewhere.lat, 10);
}

}  // namespace
}  // namespace mpm::monitor::test
