// SPDX-License-Identifier: Apache-2.0
#include "gui/models/on_show.h"

#include "text.h"

namespace mpm::gui {
namespace {

LiveFramePtr frameOf(const std::string& file) {
  return makeLiveFrame(monitor::CapturedFrame{.image = cv::Mat(2, 2, CV_8UC3), .file = file});
}

TEST(OnShow, IsOneOfFour) {
  OnShow show;
  EXPECT_TRUE(std::holds_alternative<Nothing>(show.shown()));
  EXPECT_EQ(show.source().name, "");
  show.setLive(Live{.asked = "rtsp://a:b@yard", .opened = "rtsp://a:b@yard", .source = {.name = "rtsp://***@yard"}});
  EXPECT_EQ(show.source().name, "rtsp://***@yard");
  show.takeFrame(frameOf(""));
  show.show({.source = "garden"}, {.name = "garden"});
  EXPECT_EQ(show.source().name, "garden");
  ASSERT_TRUE(show.live());
  EXPECT_TRUE(show.live()->frame) << "it goes on behind";
  show.show({.source = "street"}, {.name = "street"});
  EXPECT_TRUE(show.live()->frame);
  EXPECT_TRUE(show.back());
  EXPECT_TRUE(std::holds_alternative<Live>(show.shown()));
  EXPECT_TRUE(show.live()->frame);
  EXPECT_FALSE(show.back());
  show.show({.source = "garden"}, {.name = "garden"});
  show.setLive(std::nullopt);
  EXPECT_TRUE(std::holds_alternative<Nothing>(show.shown()));
  show.show({.source = "garden"}, {.name = "garden"});
  EXPECT_EQ(show.live(), nullptr);
  EXPECT_TRUE(show.back());
  EXPECT_TRUE(std::holds_alternative<Nothing>(show.shown()));
}

TEST(OnShow, TheLastSampleIsWantedUntilAPersonDoesSomethingElse) {
  OnShow show;
  EXPECT_FALSE(show.wantsLast());
  show.wantLast();
  EXPECT_TRUE(show.wantsLast());
  show.back();  // before it came
  EXPECT_FALSE(show.wantsLast());
  show.wantLast();
  show.setLive(std::nullopt);
  EXPECT_FALSE(show.wantsLast());
  show.wantLast();
  show.ask();
  EXPECT_FALSE(show.wantsLast());
}

TEST(OnShow, AnAnswerCountsWhileNothingElseCameUp) {
  OnShow show;
  EXPECT_FALSE(show.question());
  const int first = show.ask(), second = show.ask();
  EXPECT_NE(first, second);
  EXPECT_EQ(show.question(), second);
  show.show({}, {});
  EXPECT_EQ(show.question(), second);
  show.back();
  EXPECT_FALSE(show.question());
  for (const std::optional<Live>& next : {std::optional(Live()), std::optional<Live>()}) {
    show.ask();
    show.setLive(next);
    EXPECT_FALSE(show.question());
  }
  EXPECT_NE(show.ask(), second);
}

TEST(OnShow, TheBarOfAFolderStaysAtThePictureThatAPersonChose) {
  OnShow show;
  show.choose("b.png");
  EXPECT_TRUE(std::holds_alternative<Nothing>(show.shown())) << "nothing is watched";
  show.setLive(Live{"street", "street", {.name = "street"}});
  EXPECT_TRUE(show.follows(*frameOf("a.png")));
  show.choose("b.png");
  EXPECT_TRUE(std::holds_alternative<ChosenPicture>(show.shown()));
  EXPECT_EQ(show.source().name, "street");
  EXPECT_FALSE(show.follows(*frameOf("a.png"))) << "it was on its way";
  EXPECT_TRUE(show.follows(*frameOf("b.png")));
  show.choose("");
  EXPECT_TRUE(show.follows(*frameOf("a.png")));
  show.show({}, {});
  show.choose("b.png");
  EXPECT_TRUE(show.stored()) << "the picture that is on show";
}

}  // namespace
}  // namespace mpm::gui
