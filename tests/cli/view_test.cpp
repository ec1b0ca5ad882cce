// SPDX-License-Identifier: Apache-2.0
// The viewer as far as it goes without a display.

#include "cli/command.h"
#include "cli/models.h"
#include "mpm/version.hpp"

namespace mpm::test {
namespace {

class View : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(std::string(MPM_BINARY_DIR) + "/mpm-view"))
      GTEST_SKIP() << "this OpenCV has no highgui, so there is no mpm-view";
  }

  static CommandResult view(const Words& arguments) {
    return mpmCommand(arguments, {.program = "mpm-view",
                                  .environment = {{"DISPLAY", ""}, {"WAYLAND_DISPLAY", ""}, {"QT_QPA_PLATFORM", ""}}});
  }
};

TEST_F(View, Helps) {
  const CommandResult help = succeeded(view({"--help"}));
  EXPECT_EQ(help.err, "");
  for (const char* part : {"SOURCE", "--model", "--reduce", "Keys:", "mpm-view 0"})
    EXPECT_THAT(help.out, HasSubstr(part));
  EXPECT_EQ(view({"--version"}).out, "mpm-view " MPM_VERSION "\n");
}

TEST_F(View, RefusesWrongUsage) {
  expectFailure(view({}), 2, {"SOURCE", "mpm-view --help"});
  expectFailure(view({"a.png", "--wings"}), 2, {"--wings", "mpm-view --help"});
  expectFailure(view({"a.png", "--reduce", "mpm:blocks=5,2"}), 2, {"--reduce", "increasing"});
}

TEST_F(View, WithoutADisplaySaysSo) {
  expectFailure(view({"a.png", "--model", kSegmenter}), 1, {"no display", "mpm run --out DIR"});
}

TEST_F(View, RefusesATaskThatItDoesNotShow) {
  expectFailure(mpmCommand({"a.png", "--model", kDepthModel},
                           {.program = "mpm-view", .environment = {{"QT_QPA_PLATFORM", "offscreen"}}}),
                1, {"its task is 'depth', which is not shown"});
}

}  // namespace
}  // namespace mpm::test
