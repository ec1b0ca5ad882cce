// SPDX-License-Identifier: Apache-2.0
#include "evaluation/board_state.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.h"

namespace mpm::evaluation {
namespace {

// The files as a Raspberry Pi and an Intel CPU have them.
TEST(BoardState, IsWhatLinuxSays) {
  const test::TemporaryFolder folder;
  const std::string root = folder / "root";
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  };
  const std::string cpu = "/sys/devices/system/cpu/cpu", rapl = "/sys/class/powercap/intel-rapl:";
  write("/proc/device-tree/model", std::string("Some Board\0", 11));
  for (int i = 0; i < 2; ++i)
    write(cpu + std::to_string(i) + "/cpufreq/scaling_cur_freq", i == 0 ? "1500000\n" : "2400000\n");
  for (int i = 0; i < 2; ++i)
    write("/sys/class/thermal/thermal_zone" + std::to_string(i) + "/temp", i == 0 ? "71500\n" : "48000\n");
  write("/sys/class/hwmon/hwmon3/power1_input", "6250000\n");
  write("/sys/class/hwmon/hwmon4/name", "without a meter\n");
  write(rapl + "0/energy_uj", "1000000\n");
  write(rapl + "1/energy_uj", "2000000\n");
  write(rapl + "0:0/energy_uj", "500000\n");
  write("/sys/devices/platform/soc/soc:firmware/get_throttled", "50000\n");
  const BoardState before = boardState(root);
  EXPECT_EQ(before.name, "Some Board");
  EXPECT_DOUBLE_EQ(before.ghz.value(), 2.4);
  EXPECT_DOUBLE_EQ(before.celsius.value(), 71.5);
  EXPECT_DOUBLE_EQ(before.watts.value(), 6.25);
  EXPECT_DOUBLE_EQ(before.joules.value(), 3) << "cores are part of their package";
  BoardState after = before;
  after.ghz = 1.8, after.joules = 23;
  EXPECT_EQ(
      boardText(before, after, 4),
      "Some Board, 2.40 to 1.80 GHz, 72 to 72 degrees C, 6.2 to 6.2 W, 5.0 W on average, throttled 50000 (0: never)");
  after.joules = 1;
  EXPECT_EQ(boardText(before, after, 4).find("average"), std::string::npos);
  EXPECT_EQ(boardText(boardState(root + "/none"), boardState(root + "/none"), 1), "");
}

}  // namespace
}  // namespace mpm::evaluation
