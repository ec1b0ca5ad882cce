// SPDX-License-Identifier: Apache-2.0
// Files of each release (tests/data/releases/make.sh) are read by this version as that one read them.

#include "base/atomic_file.h"
#include "cli/command.h"
#include "cli/models.h"
#include "support/demo.h"

namespace mpm::test {
namespace {

Words releases() {
  Words folders;
  for (const auto& entry : fs::directory_iterator(kData + "/releases"))
    if (entry.is_directory()) folders.push_back(entry.path());
  return folders;
}

class Release : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    fs::copy(GetParam(), folder_.path());
    fs::copy(kSegmenter, folder_ / "vit.onnx");
  }
  nlohmann::json json(const Words& words) const { return succeeded(mpmCommand(words + Words{"--json"})).json(); }
  TemporaryFolder folder_;
};

TEST_P(Release, ItsModelsRun) {
  writeImage(folder_ / "a.png", 64, 96);
  const auto labels = [&](const std::string& model) {
    succeeded(mpmCommand({"run", folder_ / "a.png", "--model", folder_ / model, "--reduce", "mpm:blocks=1,2", "--out",
                          folder_ / model + ".out"}));
    return readFile(folder_ / model + ".out/a_labels.png");
  };
  EXPECT_EQ(labels("converted.onnx"), labels("vit.onnx"));
  EXPECT_FALSE(labels("taught.onnx").empty());
  EXPECT_EQ(json({"info", folder_ / "converted.onnx"})["reduce"], "mpm:blocks=1,2");
  EXPECT_EQ(json({"info", folder_ / "taught.onnx"})["class_names"], (std::vector{"sky", "house", "road", "tree"}));
}

// A region, a state that is open since the seventh hour, an alarm, and the watch that stored them.
TEST_P(Release, ItsDatabaseIsReadAndGoesOn) {
  MPM_NEEDS_DEMO();
  const std::string database = folder_ / "watch.db";
  for (const int samples : {24, 48}) {
    const nlohmann::json report = json({"report", database});
    EXPECT_EQ(report["samples"], samples);
    EXPECT_EQ(report["all_series"].size(), 1u) << "without a break";
    EXPECT_EQ(report["night"]["samples"], samples / 4);
    EXPECT_EQ(report["regions"]["gate"]["pixels"], 1071);
    EXPECT_EQ(report["states"]["gate"]["changes"][1]["state"], "open");
    succeeded(mpmCommand({"monitor", "--watch", folder_ / "watch.toml"}));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Release, ::testing::ValuesIn(releases()),
                         [](const auto& one) { return "Of" + std::to_string(one.index); });

}  // namespace
}  // namespace mpm::test
