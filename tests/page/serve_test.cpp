// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "cli/command.h"
#include "monitor/samples.h"

namespace mpm::test {
namespace {

using ServeCommand = monitor::test::InFolder;

TEST_F(ServeCommand, PrintsItsAddressAndEndsByASignal) {
  monitor::test::record(path_, {monitor::test::sampleAt(monitor::test::kNoon)});
  const CommandResult result =
      mpmCommand({"serve", path_, "--address", "127.0.0.1:0"}, {.signal_after_first_line = SIGTERM});
  if (!MPM_HAS_PAGE) return expectFailure(result, 1, {"install libmicrohttpd-dev"});
  EXPECT_EQ(succeeded(result).lines().size(), 1);
  EXPECT_THAT(result.out, ::testing::MatchesRegex("http://127.0.0.1:[1-9][0-9]*/\n"));
  expectFailure(mpmCommand({"serve", path_, "--address", "0.0.0.0:0"}), 1, {"other machines can reach '0.0.0.0:0'"});
}

TEST_F(ServeCommand, NamesADatabaseThatIsNotThere) {
  expectFailure(mpmCommand({"serve", path_, "--address", "127.0.0.1:0"}), 1, {"a.db"});
  expectFailure(mpmCommand({"serve"}), 2, {"DB"});
}

}  // namespace
}  // namespace mpm::test
