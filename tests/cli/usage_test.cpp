// SPDX-License-Identifier: Apache-2.0
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "mpm/c_api.h"
#include "mpm/version.hpp"
#include "support/demo.h"

namespace mpm::test {
namespace {

TEST(Usage, SaysItsVersion) {
  const CommandResult result = succeeded(mpmCommand({"--version"}));
  EXPECT_EQ(result.out, "mpm " MPM_VERSION "\n");
  EXPECT_EQ(result.err, "");
}

TEST(CApi, SaysTheVersionOfItsHeaders) { EXPECT_STREQ(mpm_version(), MPM_VERSION); }

// An option more is something more that everybody has to read and that every other option may meet. One that few need
// is a key of a watch file or a part of another option's text. So the options of each group are counted, as help has
// them.
// Each is also in a page of docs/, where people search for it.
TEST(Usage, HasTheseOptionsInTheseGroups) {
  const std::regex name("--[a-z-]+"), option(" +(-[a-zA-Z],)?(--[a-z-]+).*"), group("([A-Z][A-Za-z ]*):");
  std::set<std::string> documented = {"--help"};
  for (const auto& page : fs::directory_iterator(kData + "/../../docs")) {
    if (const std::string text = page.is_regular_file() ? readFile(page.path()) : ""; !text.empty())
      documented.insert(std::sregex_token_iterator(text.begin(), text.end(), name), {});
  }
  const std::pair<const char*, const char*> verbs[] = {
      {"run",
       "Options 8, How tokens merge 1, Network and computer 8, More files 2, Simulated night 1, Large jobs 3, Times of "
       "pictures 2"},
      {"info", "Options 2"},
      {"convert", "Options 2, How tokens merge 1, Network and computer 4, Outputs 2"},
      {"teach",
       "Options 8, How tokens merge 1, Training 3, Network and computer 1, States of a region 3, Times of pictures 2"},
      {"monitor",
       "Options 11, How tokens merge 1, Network and computer 5, Times of pictures 4, Day and night 7, Regions 3, "
       "States 2, What is kept 3, Privacy 2, Alarms 4, Large jobs 1"},
      {"report", "Options 15, Film 4"},
      {"serve", "Options 5"},
      {"eval",
       "Options 10, Network and computer 5, How tokens merge 2, Simulated night 2, Labels and windows 3, Large jobs 3"},
      {"bench", "Options 5, Network and computer 5, How tokens merge 1, Simulated night 1, Measurement 4"},
      {"tune", "Options 6, Network and computer 4"},
      {"study", "Options 11, Network and computer 4, How tokens merge 2, Simulated night 2, Labels and windows 3"},
      {"daynight", "Options 5, Network and computer 5, How tokens merge 1, Simulated night 1"}};
  constexpr int kMost = 215;
  int all = 0;
  for (const auto& [verb, expected] : verbs) {
    std::string found, title;
    int options = 0;
    for (const std::string& line : mpmCommand({verb, "--help"}).lines()) {
      std::smatch begin;
      if (std::regex_match(line, begin, group)) {
        if (options > 0) found += (found.empty() ? "" : ", ") + title + " " + std::to_string(options);
        title = begin[1];
        all += std::exchange(options, 0);
      }
      if (!std::regex_match(line, begin, option)) continue;
      ++options;
      EXPECT_TRUE(documented.contains(begin[2])) << verb << " " << begin[2];
    }
    EXPECT_EQ(found, expected) << verb;
  }
  EXPECT_LE(all, kMost);
}

TEST(Usage, NamesTheVerbsWhenNoneIsGiven) { expectFailure(mpmCommand({}), 2, {"run, info, convert, teach"}); }

TEST(Usage, RefusesWhatItDoesNotKnow) {
  expectFailure(mpmCommand({"fly"}), 2, {"error: there is no verb 'fly' (see 'mpm --help')"});
  expectFailure(mpmCommand({"run", "--wings", "a.png"}), 2, {"there is no option '--wings' (see 'mpm run --help')"});
  expectFailure(mpmCommand({"info", "a.onnx", "b.onnx", "--json"}), 2, {"'b.onnx' is one argument too many"});
}

TEST(Usage, SaysWhichOptionIsGivenTwiceOrWithoutAValue) {
  expectFailure(mpmCommand({"run", "a.png", "--out", "a", "--out", "b"}), 2,
                {"error: --out was given 2 times: give it once"});
  expectFailure(mpmCommand({"teach", "--states", "a", "-o", "b.json", "--labels"}), 2,
                {"error: --labels needs a value"});
}

TEST(Usage, SuggestsTheNearestWord) {
  const auto expectMeant = [](const Words& words, const std::string& meant) {
    expectFailure(mpmCommand(words), 2, {"did you mean '" + meant + "'?"});
  };
  expectMeant({"rnu", "a.png"}, "run");
  expectMeant({"help", "tuen"}, "tune");
  expectMeant({"run", "--reuze=none", "a.png"}, "--reuse");
  expectMeant({"run", "-model", "m.onnx", "a.png"}, "--model");
  expectMeant({"convert", "m.onnx", "--uot", "n.onnx"}, "--out");
}

TEST(Usage, RefusesOptionsThatMakeNoSenseBeforeAnyWork) {
  const auto run = [](const Words& more) {
    return mpmCommand(Words{"run", "missing.png", "--model", "missing.onnx"} + more);
  };
  expectFailure(run({"--reduce", "mpm:blocks=5,2"}), 2, {"--reduce", "increasing"});
  expectFailure(run({"--input-size", "512X512"}), 2, {"HEIGHTxWIDTH"});
  expectFailure(run({"--precision", "fp8"}), 2, {"--precision"});
  expectFailure(run({"--device", "cuda:x"}), 2, {"--device", "cuda:x", "cuda:1"});
  for (const char* threads : {"0", "many"}) expectFailure(run({"--threads", threads}), 2, {"--threads"});
  expectFailure(run({"--max-frames", "0"}), 2, {"--max-frames"});
  expectFailure(run({"--max-frames", "1e308"}), 2, {"--max-frames: '1e308' is more than 1073741824"});
  expectFailure(mpmCommand({"eval", "--model", "m", "--images", "i", "--labels", "l", "--ignore", "300"}), 2,
                {"--ignore"});
  expectFailure(mpmCommand({"eval", "--model", "m", "--images", "i", "--labels", "l", "--fit", "crop"}), 2, {"--fit"});
  expectFailure(mpmCommand({"convert", "m", "-o", "n", "--output", "pictures"}), 2, {"--output"});
}

TEST(Usage, EveryOptionOfTheSceneIsDocumented) {
  MPM_NEEDS_DEMO();
  const std::string refusal = mpmCommand({"run", "demo:street?none=1", "--model", kSegmenter}).err;
  std::istringstream keys(refusal.substr(refusal.rfind(':') + 1));
  const std::string table = readFile(kData + "/../../docs/scene.md"),
                    manual = readFile(kData + "/../../packaging/man/mpm-more.1"),
                    help = mpmCommand({"run", "--help"}).out;
  int count = 0;
  for (std::string key; std::getline(keys >> std::ws, key, ','); ++count) {
    if (key.ends_with('\n')) key.pop_back();
    EXPECT_THAT(table, HasSubstr("| `" + key + "` |"));
    EXPECT_THAT(manual, HasSubstr(key + "="));
    EXPECT_THAT(help, HasSubstr(key));
  }
  EXPECT_EQ(count, 14) << refusal;
}

TEST(Usage, ColoursOnlyATerminalAndOnlyWhenAllowed) {
  EXPECT_THAT(mpmCommand({"run", "a.png"}, {.stderr_is_terminal = true}).err, HasSubstr("\033[1;31m"));
  for (const auto& [name, value] : {std::pair{"NO_COLOR", "1"}, std::pair{"TERM", "dumb"}}) {
    EXPECT_THAT(mpmCommand({"run", "a.png"}, {.environment = {{name, value}}, .stderr_is_terminal = true}).err,
                Not(HasSubstr("\033")));
  }
}

}  // namespace
}  // namespace mpm::test
