// SPDX-License-Identifier: Apache-2.0
// --reduce in every command that takes --schedule.
#include <cmath>

#include "cli/command.h"
#include "cli/models.h"

namespace mpm::test {
namespace {

constexpr const char* kSpec = "gradual:blocks=0-2:count=2";

class Reduce : public InFolder {
 protected:
  Reduce() { writeImage(image_, 32, 64); }
  CommandResult run(const Words& more) {
    return mpmCommand(Words{"run", image_, "--model", kSegmenter, "--json"} + more);
  }
  const std::string image_ = folder_ / "a.png";
};

TEST_F(Reduce, RunsAndIsNamed) {
  const auto tokens = run({"--reduce", kSpec}).json()["tokens"].get<std::vector<double>>();
  ASSERT_EQ(tokens.size(), 4u);
  for (int k = 1; k < 4; ++k) EXPECT_EQ(tokens[k], tokens[k - 1] - 2);
  ASSERT_EQ(mpmCommand({"convert", kSegmenter, "-o", folder_ / "m.onnx", "--reduce", kSpec}).exit_code, 0);
  const auto info = mpmCommand({"info", folder_ / "m.onnx", "--json"}).json();
  EXPECT_TRUE(info["converted"]);
  EXPECT_EQ(info["reduce"], kSpec);
  EXPECT_THAT(mpmCommand({"info", folder_ / "m.onnx"}).out, HasSubstr(kSpec));
  const auto plain = mpmCommand({"info", kSegmenter, "--json"}).json();
  EXPECT_EQ(plain["reduce"], "mpm:blocks=2");
}

TEST_F(Reduce, RuleOfAPythonFileIsMeasuredLikeAMethod) {
  const std::string file = folder_ / "near.py";
  std::ofstream(file)
      << "def pairs(rows, sizes, info):\n"
         "    print('a rule may print')\n"
         "    assert len(info.row_of_patch) == info.grid[0] * info.grid[1] and info.image.shape[0] == 3\n"
         "    assert info.keys.shape[0] == len(rows)\n"
         "    return [i // 2 for i in range(len(rows))]\n"
         "def broken(rows, sizes, info):\n"
         "    raise ValueError('not today')\n";
  const auto eval = [&](const std::string& rule) {
    return mpmCommand({"eval", image_, "--model", kSegmenter, "--against", "full", "--rule", rule, "--json"});
  };
  const CommandResult found = succeeded(eval(file + ":pairs:blocks=1,2:where=inside"));
  const auto tokens = found.json()["tokens_mean"].get<std::vector<double>>();
  ASSERT_EQ(tokens.size(), 3u);
  EXPECT_EQ(tokens[1], std::ceil(tokens[0] / 2));
  EXPECT_EQ(found.json()["reduce"], "rule:function=" + file + "#pairs:blocks=1,2:where=inside");
  for (const auto& [rule, problem] :
       {std::pair(file + ":broken", "ValueError: not today"),
        std::pair(file + ":missing", "has no attribute 'missing'"),
        std::pair(file + ":pairs:count=3", "has no key 'count'"), std::pair(file, "is not FILE.py:FUNCTION"),
        std::pair(std::string("nowhere.py:pairs"), "there is no file 'nowhere.py'")}) {
    const CommandResult refused = eval(rule);
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_THAT(refused.err, HasSubstr(problem));
  }
}

// Verbs with one reduction share its options, and so do those with several: run and bench have each refusal.
TEST_F(Reduce, GoesAlone) {
  const Words schedule = {"--reduce", kSpec, "--schedule", "1"};
  for (const Words& verb :
       {Words{"convert", kSegmenter, "-o", folder_ / "m.onnx"}, {"eval"}, {"daynight", image_}, {"monitor", image_}})
    expectFailure(mpmCommand(verb + schedule), 2, {"--reduce", "--schedule"});
  for (const std::string verb : {"run", "bench"})
    for (const auto& [options, parts] : {std::pair(schedule, Words{"--reduce", "--schedule"}),
                                         {{"--reduce", kSpec, "--attention", "plain"}, {"--attention", "--reduce"}},
                                         {{"--reduce", "gradual:cuont=2"}, {"'gradual' has no key 'cuont'"}},
                                         {{"--reduce", "tome:count=x"}, {"count: 'x' is not a whole number"}}})
      expectFailure(mpmCommand(Words{verb} + options), 2, parts);
}

TEST_F(Reduce, OnAGpuIsOneLineExceptMpm) {
  expectFailure(mpmCommand({"run", image_, "--model", kSegmenter, "--reduce", kSpec, "--device", "cuda"},
                           {.environment = {{"MPM_CUDA_PLUGIN", MPM_LIBRARY_DIR "/libmpm_cuda_fails.so"}}}),
                1, {kSpec, "does not run on a GPU", "use the device cpu"});
}

}  // namespace
}  // namespace mpm::test
