// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <sstream>

#include "base/atomic_file.h"
#include "cli/command.h"

namespace mpm::test {
namespace {

/// The words that `command` of a shell prints.
Words wordsOf(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  std::istringstream stream(text);
  Words words;
  for (std::string line; std::getline(stream, line);) words.push_back(line.substr(0, line.find('\t')));
  return words;
}

class Completion : public InFolder {
 protected:
  /// The script in a file. Skips the test where the shell is not installed.
  std::string script(const std::string& shell) {
    const CommandResult result = succeeded(mpmCommand({"--completion", shell}));
    std::ofstream(folder_ / shell) << result.out;
    return folder_ / shell;
  }
  static bool has(const std::string& shell) {
    return std::system(("command -v " + shell + " >/dev/null").c_str()) == 0;
  }
};

TEST_F(Completion, OfBashKnowsVerbsOptionsChoices) {
  const std::string file = script("bash");
  const auto complete = [&](const std::string& words, int at) {
    return wordsOf("bash -c 'set -e; . " + file + "; COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                   "; _mpm; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
  };
  EXPECT_THAT(complete("mpm r", 1), ElementsAre("run", "report"));
  EXPECT_THAT(complete("mpm help tu", 2), ElementsAre("tune"));
  EXPECT_THAT(complete("mpm --v", 1), ElementsAre("--version"));
  EXPECT_THAT(complete("mpm run --pre", 2), ElementsAre("--precision"));
  EXPECT_THAT(complete("mpm run --precision t", 3), ElementsAre("tf32"));
  EXPECT_THAT(complete("mpm run a.png -", 3), Contains("-o"));
  EXPECT_THAT(complete("mpm info --pre", 2), ElementsAre("")) << "no option of another verb";
  EXPECT_THAT(complete("mpm run --out r", 3), ElementsAre("")) << "a file, as bash completes it";
}

TEST_F(Completion, OfFishKnowsVerbsOptionsChoices) {
  const std::string file = script("fish");
  if (!has("fish")) GTEST_SKIP() << "fish is not installed";
  const auto complete = [&](const std::string& line) {
    return wordsOf("HOME=" + folder_.path() + " fish --no-config -c 'source " + file + "; complete -C \"" + line +
                   "\"'");
  };
  EXPECT_THAT(complete("mpm tu"), ElementsAre("tune"));
  EXPECT_THAT(complete("mpm run --pre"), ElementsAre("--precision"));
  EXPECT_THAT(complete("mpm run --precision t"), ElementsAre("tf32"));
  EXPECT_THAT(complete("mpm info --pre"), Not(Contains("--precision")));
}

TEST_F(Completion, OfZshIsAValidFunction) {
  const std::string file = script("zsh");
  const std::string text = readFile(file);
  EXPECT_THAT(text, StartsWith("#compdef mpm\n"));
  EXPECT_THAT(text, HasSubstr("'run:Labels, segments, objects or depth of images, videos and cameras'"));
  EXPECT_THAT(text, HasSubstr(":fp32|bf16|tf32|fp16|int8:(fp32 bf16 tf32 fp16 int8)'"));
  if (has("zsh")) {
    EXPECT_TRUE(wordsOf("zsh -n " + file).empty());
  }
}

TEST_F(Completion, ManPageHasTheOptionsOfEachVerb) {
  const CommandResult result = succeeded(mpmCommand({"--man"}));
  EXPECT_THAT(result.out, AllOf(StartsWith(".TH mpm 1 "), HasSubstr("\nmpm run [OPTIONS] [SOURCE...]\n"),
                                HasSubstr("\\fB\\-o,\\-\\-out\\fR\\fI DIR\\fR\n"),
                                HasSubstr("\n.nf\n  mpm run demo:day \\-\\-out mpm_day\n  mpm run street.png"),
                                Not(HasSubstr("bench\\-worker"))));
  for (const char* noise : {"Needs:", "Excludes:"}) EXPECT_THAT(result.out, Not(HasSubstr(noise)));
  std::ofstream(folder_ / "mpm.1") << result.out;
  if (has("groff")) {
    EXPECT_THAT(wordsOf("groff -man -Tutf8 -ww -z " + (folder_ / "mpm.1") + " 2>&1"), ElementsAre());
  }
}

TEST_F(Completion, RefusesAnotherShell) {
  expectFailure(mpmCommand({"--completion", "csh"}), 2, {"'csh' is not bash or zsh or fish"});
}

}  // namespace
}  // namespace mpm::test
