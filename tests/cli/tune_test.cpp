// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

class TuneVerb : public InFolder {
 protected:
  void SetUp() override { writeLabelledImages(folder_, 12); }
  CommandResult tune(const Words& more, const CommandOptions& options = {}) const {
    return mpmCommand(Words{"tune", folder_ / "images", "--model", kSegmenter} + more, options);
  }
};

TEST_F(TuneVerb, ChoosesByTheLinesOfEvalAndWritesTheModel) {
  const auto lines =
      succeeded(tune({"--agreement", "80", "--pictures", "9", "--json", "-o", folder_ / "tuned.onnx"})).jsonLines();
  ASSERT_GT(lines.size(), 4u);
  EXPECT_EQ(lines.back()["wanted_agreement"], 80);
  const std::string chosen = lines.back()["chosen"];
  EXPECT_EQ(mpmCommand({"info", folder_ / "tuned.onnx", "--json"}).json()["reduce"], chosen);
  double fastest = 0;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["images"], 9) << "spread over the folder";
    const auto& full = lines[i]["against_full"];
    if (full["agreement_low"] >= 80) fastest = std::max<double>(fastest, full["speed_up"]);
  }
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (lines[i]["reduce"] == chosen) {
      EXPECT_GE(lines[i]["against_full"]["agreement_low"], 80) << "the lower end decides";
      EXPECT_GE(lines[i]["against_full"]["speed_up_high"], fastest) << "as fast as any that passes, within noise";
    }
  }
}

TEST_F(TuneVerb, RefusesWhatMakesNoSense) {
  expectFailure(tune({"--agreement", "101"}), 2, {"--agreement"});
  expectFailure(tune({"--pictures", "7"}), 2, {"--pictures"});
  std::ofstream(folder_ / "unreadable.png") << "no picture";
  expectFailure(mpmCommand({"tune", folder_ / "*.png", "--model", kSegmenter}), 1,
                {"tuning needs at least 8 pictures, not 1"});
  expectFailure(tune({"-o", folder_ / "tuned.txt"}), 2, {"tuned.txt'; it must end in .onnx"});
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
