// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "cli/command.h"
#include "cli/models.h"
#include "support/demo.h"

namespace mpm::test {
namespace {

// Thousands of frames, so that a signal after the first always comes in the middle.
Words longRun(const TemporaryFolder& folder, const Words& more = {}) {
  writeImage(folder / "a.png", 200, 300);
  return Words{"run"} + Words(5000, folder / "a.png") + Words{"--model", kSegmenter, "--schedule", "1,2", "--json"} +
         more;
}

TEST(Interrupt, FinishesTheFrameInHand) {
  for (int signal : {SIGINT, SIGTERM}) {
    const TemporaryFolder folder;
    const CommandResult result =
        mpmCommand(longRun(folder, {"--out", folder / "out"}), {.signal_after_first_line = signal});
    EXPECT_EQ(result.exit_code, 130);
    EXPECT_EQ(result.err, "");
    const std::size_t frames = result.jsonLines().size();  // throws on half a line
    EXPECT_LT(frames, 5000u);
    const auto pictures = filesIn(folder / "out");
    for (const std::string& name : pictures) EXPECT_FALSE(cv::imread(folder / ("out/" + name)).empty()) << name;
    EXPECT_EQ(pictures.size(), 3 * frames + 1) << "and the legend";
  }
}

TEST(Interrupt, ReadersThatLeaveEndItQuietly) {
  const TemporaryFolder folder;
  const CommandResult result = mpmCommand(longRun(folder), {.close_stdout_after_first_line = true});
  EXPECT_EQ(result.exit_code, 141);
  EXPECT_EQ(result.err, "");
}

TEST(Interrupt, LeavesTheChartOfAnotherRun) {
  MPM_NEEDS_DEMO();
  const TemporaryFolder folder;
  writeImage(folder / "chart.png", 10, 10);
  const CommandResult result = mpmCommand({"run", "demo:street?size=64x64&step=60&frames=100000", "--model", kSegmenter,
                                           "--schedule", "1,2", "--chart", folder / "chart.png"},
                                          {.signal_after_first_line = SIGINT});
  EXPECT_EQ(result.exit_code, 130);
  EXPECT_THAT(result.err, HasSubstr("nothing written"));
  EXPECT_EQ(cv::imread(folder / "chart.png").size(), cv::Size(10, 10));
}

}  // namespace
}  // namespace mpm::test
