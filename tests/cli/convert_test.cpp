// SPDX-License-Identifier: Apache-2.0
// `mpm convert`, and --reduce of all verbs.
#include <cmath>

#include "cli/command.h"
#include "cli/models.h"
#include "support/onnx_file.h"

namespace mpm::test {
namespace {

using Convert = InFolder;

TEST_F(Convert, TakesMeanAndStdOrSaysThatTheyAreAssumed) {
  const auto convert = [&](const Words& options) {
    return mpmCommand(Words{"convert", kSegmenter, "-o", folder_ / "m.onnx"} + options);
  };
  writeLabelledImages(folder_, 1);
  const auto notes = [&] {
    const std::string model = folder_ / "m.onnx";
    return Words{
        mpmCommand({"run", folder_ / "images", "--model", model}).err,
        mpmCommand({"run", folder_ / "images", "--model", model, "--json"}).err,
        mpmCommand({"eval", "--images", folder_ / "images", "--labels", folder_ / "labels", "--model", model}).err};
  };
  EXPECT_THAT(convert({}).err, HasSubstr("\nassumed: mean and std 0.5"));
  EXPECT_THAT(notes(), Each(HasSubstr("assumed: mean and std 0.5")));
  EXPECT_THAT(convert({"--mean", "0.48145466,0.4578275,0.40821073", "--std", "0.26862954,0.26130258,0.27577711"}).err,
              Not(HasSubstr("assumed")));
  EXPECT_EQ(mpmCommand({"info", folder_ / "m.onnx", "--json"}).json()["mean"],
            (nlohmann::json{0.48145467, 0.4578275, 0.40821072}))
      << "all digits of floats";
  EXPECT_THAT(notes(), Each(Not(HasSubstr("assumed"))));
  expectFailure(convert({"--mean", "0.485,0.456,0.406"}), 1, {"mean and std are given together"});
  expectFailure(convert({"--mean", "0.485,0.456", "--std", "1,1,1"}), 2,
                {"--mean", "'0.485,0.456' is not three numbers"});
  expectFailure(convert({"--mean", "0,0,0", "--std", "0,1,1"}), 1, {"std is positive"});
}

TEST_F(Convert, LeavesDevicesAsTheyAre) {
  fs::create_symlink("/dev/null", folder_ / "link");
  EXPECT_EQ(mpmCommand({"convert", kSegmenter, "-o", folder_ / "link", "--reduce", "mpm:blocks=1"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  const CommandResult piped =
      succeeded(mpmCommand({"convert", kSegmenter, "-o", "/dev/stdout", "--reduce", "mpm:blocks=1"}));
  EXPECT_THAT(piped.out, HasSubstr("ai.mpm"));
  for (const std::string name : {"m.txt", "m.json", "m.onnx.gz"}) {
    expectFailure(mpmCommand({"convert", kSegmenter, "-o", folder_ / name}), 2, {name + "'; it must end in .onnx"});
    EXPECT_FALSE(fs::exists(folder_ / name));
  }
}

// Each option arrives.
TEST_F(Convert, GivesTheSizeAndTheOutputsThatWereAskedFor) {
  const auto outputs = [&](const Words& options) {
    succeeded(mpmCommand(
        Words{"convert", kData + "/segmenter_linear_ts12.onnx", "-o", folder_ / "M.ONNX", "--reduce", "mpm:blocks=1"} +
        options));
    const auto model = modelAt(folder_ / "M.ONNX");
    Words names;
    for (const auto& output : model.graph().output()) names.push_back(output.name());
    return names;
  };
  EXPECT_THAT(outputs({}), ElementsAre("labels", "merge_map", "token_counts"));
  EXPECT_THAT(outputs({"--output", "logits"}), ElementsAre("logits", "merge_map", "token_counts"));
  EXPECT_THAT(outputs({"--scores", "--input-size", "48x80"}),
              ElementsAre("labels", "scores", "merge_map", "token_counts"));
  const auto info = mpmCommand({"info", folder_ / "M.ONNX", "--json"}).json();
  EXPECT_EQ(info["input"], (nlohmann::json{{"height", 48}, {"width", 80}}));
  EXPECT_EQ(info["tokens"], 60);
}

constexpr const char* kSpec = "gradual:blocks=0-2:count=2";

class Reduce : public InFolder {
 protected:
  Reduce() { writeImage(image_, 32, 64); }
  const std::string image_ = folder_ / "a.png";
};

TEST_F(Reduce, RuleOfAPythonFileIsMeasuredLikeAMethod) {
  const std::string file = folder_ / "near.py";
  std::ofstream(file)
      << "def pairs(rows, sizes, info):\n"
         "    print('a rule may print')\n"
         "    assert len(info.row_of_patch) == info.grid[0] * info.grid[1] and info.image.shape[0] == 3\n"
         "    assert info.keys.shape[0] == len(rows)\n"
         "    return [i // 2 for i in range(len(rows))]\n"
         "def broken(rows, sizes, info):\n"
         "    import os\n"
         "    raise ValueError('not today' if os.getpgid(0) == os.getpid() else 'Ctrl-C would reach it')\n"
         "def dies(rows, sizes, info):\n"
         "    import os\n"
         "    os.write(2, b'first\\nlast\\n')\n"
         "    os._exit(3)\n"
         "def crashes(rows, sizes, info):\n"
         "    import os, time\n"
         "    os.close(1)\n"
         "    time.sleep(0.2)\n"
         "    os.kill(os.getpid(), 9)\n";
  const auto eval = [&](const std::string& rule) {
    return mpmCommand({"eval", image_, "--model", kSegmenter, "--against", "full", "--rule", rule, "--json"});
  };
  const CommandResult found = succeeded(eval(file + ":pairs:blocks=1,2:where=inside"));
  const auto tokens = found.json()["tokens_mean"].get<std::vector<double>>();
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1], std::ceil(tokens[0] / 2));
  EXPECT_EQ(found.json()["reduce"], "rule:function=" + file + "#pairs:blocks=1,2:where=inside");
  EXPECT_THAT(succeeded(mpmCommand({"eval", image_, "--model", kSegmenter, "--against", "full", "--reduce", "none",
                                    "--rule", file + ":pairs:blocks=1,2:where=inside"}))
                  .out,
              HasSubstr("\nrule:near.py#pairs:blocks=1,2:where=inside "))
      << "without its folder";
  for (const auto& [rule, problem] : {std::pair(file + ":broken", "ValueError: not today"),
                                      {file + ":dies", "it ended without an answer: last"},
                                      {file + ":crashes", "it crashed: Killed"},
                                      {file + ":missing", "has no attribute 'missing'"},
                                      {file + ":pairs:count=3", "has no key 'count'"},
                                      {file, "is not FILE.py:FUNCTION"},
                                      {"nowhere.py:pairs", "there is no file 'nowhere.py'"}}) {
    const CommandResult refused = eval(rule);
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, HasSubstr(problem));
  }
  // Results of an earlier version of a rule are none of this one.
  const auto tokensOf = [&](const std::string& group) {
    std::ofstream(file) << "def near(rows, sizes, info):\n    return [i // " << group
                        << " for i in range(len(rows))]\n";
    return succeeded(mpmCommand({"eval", image_, "--model", kSegmenter, "--against", "full", "--rule",
                                 file + ":near:blocks=1", "--resume", folder_ / "lines.jsonl", "--json"}))
        .json()["tokens_mean"][1]
        .get<double>();
  };
  EXPECT_EQ(tokensOf("2"), 16);
  EXPECT_EQ(tokensOf("4"), 8);
}

// Verbs with one reduction share its option, and so do those with several.
TEST_F(Reduce, RefusesWhatIsNoReduction) {
  for (const Words& verb :
       {Words{"convert", kSegmenter, "-o", folder_ / "m.onnx"}, {"run", image_}, {"monitor", image_}})
    expectFailure(mpmCommand(verb + Words{"--reduce", kSpec, "--reduce", "mpm:blocks=1"}), 2, {"--reduce"});
  for (const std::string verb : {"run", "bench"})
    expectFailure(mpmCommand({verb, "--reduce", "2,5"}), 2, {"--reduce", "'2,5' is not none, mpm,"});
}

}  // namespace
}  // namespace mpm::test
