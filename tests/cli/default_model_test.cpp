// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "cli/command.h"
#include "cli/models.h"
#include "support/demo.h"
#include "vision/model_files.h"

namespace mpm::test {
namespace {

// An installation with nothing but the program.
class DefaultModel : public InFolder {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "bin");
    fs::copy_file(std::string(MPM_BINARY_DIR) + "/mpm", program_);
  }

  CommandResult command(const Words& arguments, const std::string& named = "") const {
    return mpmCommand(arguments, {.program = fs::relative(program_, MPM_BINARY_DIR).string(),
                                  .environment = {{"LD_LIBRARY_PATH", fs::path(MPM_LIBRARY).parent_path().string()},
                                                  {"MPM_MODEL", named}}});
  }

  const std::string program_ = folder_ / "bin/mpm";
};

TEST_F(DefaultModel, IsBesideTheProgram) {
  expectFailure(command({"run", "a.png"}), 2, {"no model", "--model", "torch.onnx.export", "mpm convert"});
  expectFailure(command({"info"}, "/nonexistent/m.onnx"), 1, {"/nonexistent/m.onnx"});
  fs::create_directories(folder_ / "share/mpm/models");
  const std::string model = folder_ / "share/mpm/models/outdoor_vit_t16.onnx";
  fs::copy_file(kSegmenter, model);
  const auto pathOf = [](const CommandResult& result) { return result.json()["path"].get<std::string>(); };
  EXPECT_TRUE(fs::equivalent(pathOf(command({"info", "--json"})), model));
  EXPECT_EQ(pathOf(command({"info", "--json"}, kClassifier)), kClassifier) << "MPM_MODEL comes first";
  EXPECT_EQ(pathOf(command({"info", kSegmenter, "--json"}, kClassifier)), kSegmenter) << "a name before both";

  // A shell that finds it in PATH starts it by its bare name.
  const std::string found = "cd / && PATH=" + (folder_ / "bin") +
                            ":$PATH LD_LIBRARY_PATH=" + fs::path(MPM_LIBRARY).parent_path().string() +
                            " MPM_MODEL= mpm info --json > " + (folder_ / "info");
  ASSERT_EQ(std::system(found.c_str()), 0);
  EXPECT_TRUE(fs::equivalent(nlohmann::json::parse(std::ifstream(folder_ / "info"))["path"].get<std::string>(), model));

  writeImage(folder_ / "a.png", 40, 60);
  const CommandResult result = succeeded(command({"run", folder_ / "a.png", "--reduce", "mpm:blocks=1,2", "--json"}));
  EXPECT_EQ(result.json()["tokens"][0], 32);
}

// A third of the images of models/README.md: eight streets, eight hours in eight seasons.
TEST(ShippedModel, SeesWhatIsTrue) {
  MPM_NEEDS_DEMO();
  const std::string model = vision::defaultModel();
  if (model.empty()) GTEST_SKIP() << "models/outdoor_vit_t16.onnx is not there";
  const auto info = mpmCommand({"info", "--json"}).json();
  EXPECT_EQ(info["path"], model);
  EXPECT_FALSE(info["converted"]);
  const auto scoresOf = [](const char* reduce) {
    const CommandResult result =
        mpmCommand({"eval", "demo:street?seed=1..8&weather=auto&step=3942000&frames=8", "--reduce", reduce, "--json"},
                   {.timeout_s = 900});  // with sanitizers
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.json();
  };
  const auto full = scoresOf("none"), merged = scoresOf("mpm:blocks=2,5");
  EXPECT_EQ(full["day"]["images"], 40);
  EXPECT_EQ(full["night"]["images"], 24);
  EXPECT_GT(full["day"]["miou"], 69);
  EXPECT_GT(full["night"]["miou"], 65);
  EXPECT_GT(merged["miou"].get<double>(), full["miou"].get<double>() - 2);
  EXPECT_LT(merged["tokens_mean"].back(), 0.75 * merged["tokens_mean"][0].get<double>());
}

}  // namespace
}  // namespace mpm::test
