// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

class TuneVerb : public InFolder {
 protected:
  void SetUp() override { writeLabelledImages(folder_, 10); }
  CommandResult tune(const Words& more, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"tune", folder_ / "images", "--model", kSegmenter} + more, options);
  }
};

TEST_F(TuneVerb, WritesTheModelOfItsChoice) {
  const auto json =
      succeeded(tune({"--agreement", "80", "--reuse", "threshold=12:flush=1", "--json", "-o", folder_ / "tuned.onnx"}))
          .json();
  EXPECT_EQ(json["wanted_agreement"], 80);
  EXPECT_TRUE(json["wanted_loss"].is_null());
  EXPECT_EQ(json["searched"].get<int>() + json["held_back"].get<int>(), 10);
  for (const auto& row : json["rows"]) EXPECT_EQ(row["passes"], row["agreement_low"] >= 80);
  EXPECT_EQ(
      std::count_if(json["rows"].begin(), json["rows"].end(), [](const auto& row) { return row["reuse"] != "off"; }),
      1);
  const std::string chosen = json["chosen"]["reduce"];
  const bool full = chosen == "none" && json["chosen"]["reuse"] == "off";
  EXPECT_THAT(json["explanation"].get<std::string>(), HasSubstr(full ? "full model stays" : chosen));
  EXPECT_EQ(mpmCommand({"info", folder_ / "tuned.onnx", "--json"}).json()["reduce"], chosen);
}

TEST_F(TuneVerb, PrintsTheFrontAndTwoSentences) {
  const CommandResult result = succeeded(tune({"--loss", "50", "--labels", folder_ / "labels"}));
  EXPECT_THAT(result.out, AllOf(HasSubstr("speed-up"), HasSubstr("loss"), HasSubstr("chosen"),
                                ::testing::ContainsRegex("[0-9] to -?[0-9.]+  (chosen|passes)"),
                                HasSubstr("loses at most 50.00 mIoU")));
  EXPECT_THAT(result.err, HasSubstr("CPU time"));
}

TEST_F(TuneVerb, RefusesWhatMakesNoSense) {
  expectFailure(tune({"--loss", "0.3", "--reuse", "auto"}), 2, {"--loss", "--reuse"});
  expectFailure(tune({"--labels", folder_ / "labels"}), 2, {"labels are for --loss"});
  expectFailure(tune({"--loss", "0.3"}), 2, {"has no labels"});
  expectFailure(tune({"--loss", "0.3", "--agreement", "99"}), 2, {"--loss", "--agreement"});
  expectFailure(tune({"--agreement", "101"}), 2, {"--agreement"});
  expectFailure(mpmCommand({"tune", folder_ / "images/street_1.png", "--model", kSegmenter}), 1,
                {"at least 8 pictures"});
}

TEST_F(TuneVerb, EndsCleanlyWhenInterrupted) {
  const CommandResult result =
      tune({"-o", folder_ / "tuned.onnx"},
           {.signal_after_first_line = SIGINT, .signal_at_stderr = "left", .stderr_is_terminal = true});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(fs::exists(folder_ / "tuned.onnx"));
}

}  // namespace
}  // namespace mpm::test
