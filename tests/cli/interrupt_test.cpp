// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <filesystem>

#include "cli/command.h"
#include "cli/models.h"
#include "support/demo.h"

namespace mpm::test {
namespace {

// Thousands of frames, so that a signal after the first always comes in the middle.
std::vector<std::string> longRun(const TemporaryFolder& folder, std::vector<std::string> more = {}) {
  writeImage(folder / "a.png", 200, 300);
  std::vector<std::string> arguments = {"run"};
  arguments.insert(arguments.end(), 5000, folder / "a.png");
  arguments.insert(arguments.end(), {"--model", kSegmenter, "--schedule", "1,2", "--json"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
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
    std::size_t pictures = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) {
      EXPECT_EQ(entry.path().extension(), ".png") << entry.path();
      EXPECT_FALSE(cv::imread(entry.path().string()).empty()) << entry.path();
      ++pictures;
    }
    EXPECT_EQ(pictures, 3 * frames + 1) << "and the legend";
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
  EXPECT_THAT(result.err, ::testing::HasSubstr("nothing written"));
  EXPECT_EQ(cv::imread(folder / "chart.png").size(), cv::Size(10, 10));
}

}  // namespace
}  // namespace mpm::test
