// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/command.h"
#include "cli/models.h"
#include "cli/street_model.h"
#include "support/temporary_folder.h"
#include "vision/sources/source.h"

namespace mpm::test {
namespace {

using ::testing::HasSubstr;

// Two streets, noon and midnight of three days.
const std::string kStreets = "demo:street?seed=5..6&size=64x96&start=2026-03-20T00:00&step=43200&frames=6";

class EvalOfTheScene : public ::testing::Test {
 protected:
  void SetUp() override { writeStreetModel(model_); }

  CommandResult eval(std::vector<std::string> more) const {
    more.insert(more.begin(), "eval");
    more.insert(more.end(), {"--model", model_, "--schedule", "1,2"});
    return mpmCommand(more);
  }

  TemporaryFolder folder_;
  const std::string model_ = folder_ / "street.onnx";
};

// The same frames and labels as files, in folders of their own for day and night.
TEST_F(EvalOfTheScene, ScoresAreThoseOfItsFramesAsFiles) {
  for (const char* part : {"all", "day", "night"})
    for (const char* kind : {"images", "labels"})
      std::filesystem::create_directories(folder_ / (std::string(part) + "/" + kind));
  const auto source = vision::openSource(kStreets);
  while (const auto frame = source->next())
    for (const char* part : {"all", frame->night.value() ? "night" : "day"}) {
      cv::imwrite(folder_ / (std::string(part) + "/images/" + frame->name + ".png"), frame->image);
      cv::imwrite(folder_ / (std::string(part) + "/labels/" + frame->name + ".png"), frame->labels);
    }
  const CommandResult result = eval({kStreets, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = result.json();
  EXPECT_EQ(json["images"], 12);
  EXPECT_EQ(json["day"]["images"], 6);
  EXPECT_EQ(json["night"]["images"], 6);
  for (const std::string part : {"all", "day", "night"}) {
    const auto files =
        eval({"--images", folder_ / (part + "/images"), "--labels", folder_ / (part + "/labels"), "--json"}).json();
    const auto& scene = part == "all" ? json : json[part];
    EXPECT_FALSE(files.contains("day")) << "files do not know their time";
    EXPECT_GT(scene["pixel_accuracy"], 0);
    for (const char* same : {"images", "miou", "pixel_accuracy", "iou", "tokens_mean", "tokens_sd", "confusion"})
      EXPECT_EQ(scene[same], files[same]) << part << " " << same;
  }
}

TEST_F(EvalOfTheScene, PrintsDayAndNightBesideEachOther) {
  const CommandResult result = eval({kStreets});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.lines().front(), ::testing::MatchesRegex("IoU, % +all +day +night"));
  EXPECT_THAT(result.out, HasSubstr("pavement "));
  EXPECT_THAT(result.out, ::testing::ContainsRegex("images +12 +6 +6"));
}

TEST_F(EvalOfTheScene, RefusesWhatCannotBeCompared) {
  expectFailure(mpmCommand({"eval", kStreets, "--model", kSegmenter, "--schedule", "1,2"}), 1, {"classes", "road"});
  expectFailure(eval({"demo:street?size=64x96"}), 2, {"never ends", "frames=N"});
  expectFailure(eval({}), 2, {"--images"});
  expectFailure(eval({kStreets, "--images", "x", "--labels", "y"}), 2, {"not both"});
}

}  // namespace
}  // namespace mpm::test
