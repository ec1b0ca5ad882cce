// SPDX-License-Identifier: Apache-2.0
// States from examples in folders to the report of a watch.
#include <opencv2/imgcodecs.hpp>

#include "base/number_text.h"
#include "cli/command.h"

namespace mpm::test {
namespace {

using ::testing::ContainsRegex;

const std::string kModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_linear_ts12.onnx";

class TeachStates : public InFolder {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "regions.json")
        << R"({"regions": [{"name": "gate", "width": 96, "height": 64, "polygons": [[[0, 0], [47, 0], [47, 63], [0, 63]]]}]})";
    for (int day = 1; day <= 4; ++day)
      for (const char* state : {"open", "closed"})
        write("examples/" + std::string(state), day, 10, state == std::string("open"));
  }

  // Stripes at the left where the gate is open, noise everywhere.
  void write(const std::string& folder, int day, int hour, bool open) const {
    fs::create_directories(folder_ / folder);
    cv::Mat picture(64, 96, CV_8UC3);
    cv::RNG(static_cast<std::uint64_t>(day * 100 + hour)).fill(picture, cv::RNG::UNIFORM, 60, 120);
    for (int x = 0; open && x < 48; x += 8) picture.colRange(x, x + 4) += cv::Scalar(120, 120, 0);
    char name[64];
    std::snprintf(name, sizeof name, "/cam_202603%02d_%02d%02d00.png", day, hour, open ? 30 : 0);
    cv::imwrite(folder_ / (folder + name), picture);
  }

  CommandResult teach(const Words& more = {}) const {
    return mpmCommand(Words{"teach", "--states", folder_ / "examples", "--model", kModel, "-o", gate_} + more);
  }

  const std::string gate_ = folder_ / "gate.json";
};

TEST_F(TeachStates, AWatchStoresWhatWasTaught) {
  const CommandResult taught = teach({"--regions", folder_ / "regions.json", "--region", "gate", "--time-zone", "Z"});
  ASSERT_EQ(taught.exit_code, 0) << taught.err;
  EXPECT_THAT(taught.out,
              HasSubstr("100.0 % of 8 answers are right, each on a day that the training did not see (4 rounds)"));
  EXPECT_THAT(taught.out, Not(HasSubstr("wrong")));
  EXPECT_EQ(taught.lines().back(), gate_);
  for (int day = 5; day <= 8; ++day)
    for (int hour = 8; hour < 12; ++hour) write("watched", day, hour, day % 2 == 0);
  const std::string database = folder_ / "a.db";
  const CommandResult watched =
      succeeded(mpmCommand({"monitor", folder_ / "watched", "--model", kModel, "--db", database, "--states", gate_,
                            "--time-zone", "Z", "--state-after", "2", "--alarm", "gate=open", "--json"}));
  int alarms = 0, samples = 0, sure = 0;
  for (const auto& line : watched.jsonLines()) {
    if (line.contains("event")) alarms += line["event"] == "alarm";
    if (!line.contains("states")) continue;
    sure += line["states"]["gate"]["sure"].get<bool>();
    samples += line["states"]["gate"]["state"] == (line["time"].get<std::string>()[9] % 2 == 0 ? "open" : "closed");
  }
  EXPECT_EQ(alarms, 2);
  EXPECT_EQ(samples, 16);
  const CommandResult report = succeeded(mpmCommand({"report", database, "--chart", folder_ / "a.png"}));
  EXPECT_THAT(report.out, ContainsRegex("samples  changes  sure, %   share of the samples, %\n +gate +16 +[0-9]+ +" +
                                        fixed(100.0 * sure / 16, 1) + " "));
  const auto json = mpmCommand({"report", database, "--json"}).json()["states"]["gate"];
  EXPECT_GE(json["changes"].size(), 3u) << json;
  EXPECT_GE(json["samples"]["open"], 4);

  expectFailure(mpmCommand({"monitor", folder_ / "watched", "--db", database, "--states", gate_}), 2,
                {"reads the tokens of another model"});
  expectFailure(mpmCommand({"monitor", folder_ / "watched", "--model", kModel, "--db", database, "--states", gate_,
                            "--alarm", "gate=ajar"}),
                2, {"'gate' has no state 'ajar'"});
}

TEST_F(TeachStates, ShowsTheExamplesThatItGetsWrong) {
  write("examples/closed", 9, 10, true);
  const CommandResult taught = succeeded(teach({"--json"}));
  const auto result = taught.jsonLines().back();
  EXPECT_EQ(result["wrong_pictures"], folder_ / "gate_wrong.jpg");
  EXPECT_FALSE(cv::imread(folder_ / "gate_wrong.jpg").empty());
  EXPECT_LT(result["cross_validation"]["right"], 1);
  EXPECT_THAT(teach().out, HasSubstr("cam_20260309_103000.png is closed, taken for open ("));
  fs::remove(folder_ / "examples/closed/cam_20260309_103000.png");
  EXPECT_EQ(teach().exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "gate_wrong.jpg")) << "of an older verdict";
}

TEST_F(TeachStates, OneDayIsSaidToBeTooGood) {
  for (const char* state : {"open", "closed"}) {
    fs::remove_all(folder_ / ("examples/" + std::string(state)));
    for (int hour = 8; hour < 12; ++hour)
      write("examples/" + std::string(state), 1, hour, state == std::string("open"));
  }
  const CommandResult taught = teach();
  EXPECT_THAT(taught.out, HasSubstr("too good, perhaps: all pictures are of one day, so no day could be held out"));
}

TEST_F(TeachStates, WhatIsWrongIsOneLine) {
  expectFailure(teach({"--region", "gate"}), 2, {"--region needs --regions FILE"});
  expectFailure(teach({"--regions", folder_ / "regions.json", "--region", "door"}), 2,
                {"has no region 'door', but gate"});
  expectFailure(teach({"--images", "a"}), 2, {"--images"});
  fs::remove_all(folder_ / "examples/closed");
  expectFailure(teach(), 1, {"fewer than two states"});
  write("examples/closed", 1, 10, false);
  expectFailure(teach(), 1, {"the state 'closed' has 1 example"});
  expectFailure(mpmCommand({"teach", "-o", gate_}), 2, {"--images is required"});
  EXPECT_FALSE(fs::exists(gate_));
}

}  // namespace
}  // namespace mpm::test
