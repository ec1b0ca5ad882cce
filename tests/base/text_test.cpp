// SPDX-License-Identifier: Apache-2.0
// Sizes and numbers as text, and text that a terminal shows.
#include <cmath>

#include "base/duration_text.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

TEST(VisibleText, ShowsWhatATerminalWouldObey) {
  const std::pair<std::string, std::string> cases[] = {
      {"Straße 雪 🙂", "Straße 雪 🙂"},
      {"a\nb\tc\r", "a\\nb\\tc\\x0d"},
      {"\x1b[2J\x1b]0;x\a", "\\x1b[2J\\x1b]0;x\\x07"},
      {std::string("a\0b", 3), "a\\x00b"},
      {"\xc2\x9b"
       "31m",
       "\\x9b31m"},
      {"a\xe2\x80\xae"
       "b\xe2\x80\x8b",
       "a\\u202eb\\u200b"},
      {"\xff\xc3(\xed\xa0\x80\xc0\x80", "\\xff\\xc3(\\xed\\xa0\\x80\\xc0\\x80"},
      {"\xe9\x9b", "\\xe9\\x9b"},
  };
  for (const auto& [text, shown] : cases) EXPECT_EQ(visibleText(text), shown);
}

TEST(VisibleText, CutsLongTexts) {
  EXPECT_EQ(visibleText("0123456789", 10), "0123456789");
  EXPECT_EQ(visibleText("0123456789a", 10), "0123456...");
  EXPECT_EQ(visibleText("雪雪雪雪雪雪", 5), "雪雪...");
  EXPECT_EQ(visibleText("01234567\x1b", 10), "0123456...") << "no half of an escape";
}

TEST(Utf8Text, ChangesOnlyWhatIsNoUtf8) {
  EXPECT_EQ(utf8Text("caf\xe9.png"), "caf\\xe9.png") << "two names stay two";
  for (const std::string text : {"Straße 雪 🙂", "a\nb\x1b\x7f", "\xc2\x9b", "a\xe2\x80\x8b"})
    EXPECT_EQ(utf8Text(text), text);
  EXPECT_EQ(utf8Line("a\r\nb\x1b[0m\x7f|\xc2\x80|\xc2\x9b|\xc2\xa0|\xe9"), "a  b [0m | | |\xc2\xa0|\\xe9");
}

TEST(NumberText, IsPlainForPeopleAndReadsBack) {
  const std::pair<double, const char*> cases[] = {{-2e6, "-2000000"},
                                                  {1e14, "100000000000000"},
                                                  {1e-6, "0.000001"},
                                                  {0, "0"},
                                                  {1. / 3, "0.3333333333333333"},
                                                  {1e15, "1e+15"},
                                                  {1e300, "1e+300"},
                                                  {-5e-7, "-5e-07"},
                                                  {INFINITY, "inf"},
                                                  {-1.2345678901234567e-6, "-0.0000012345678901234567"}};
  for (const auto& [number, text] : cases) {
    EXPECT_EQ(numberText(number), text);
    EXPECT_EQ(readNumber<double>(numberText(number)), number);
  }
}

TEST(SizeText, RefusesWhatIsNoSize) {
  EXPECT_EQ(parseSize("448x640"), (Size2{448, 640}));
  EXPECT_EQ(toString(Size2{448, 640}), "448x640");
  for (const char* bad : {"", "640", "640x", "x448", "640x448x3", "0x16", "-16x16", "16x0", "640x448 ", "+16x16",
                          "640X448", "99999999999x1"})
    EXPECT_MPM_ERROR(parseSize(bad), "'" + std::string(bad) + "' is not a size: write HEIGHTxWIDTH");
}

TEST(Fixed, WhatRoundsToZeroHasNoSign) {
  for (const auto& [value, text] : {std::pair(-0.04, "0.0"), {-0.0, "0.0"}, {-0.06, "-0.1"}, {-10.0, "-10.0"}})
    EXPECT_EQ(fixed(value, 1), text);
  EXPECT_EQ(fixed(-HUGE_VAL, 1), "-inf");
  EXPECT_EQ(fixed(std::nan(""), 1), "-");
}

TEST(NumberText, DurationsAreInTheUnitThatSaysMost) {
  std::string texts;
  for (const double seconds : {0.4, 119.4, 119.6, 7140.0, 7170.0, 9000.0, 172000.0, 172800.0, 220000.0})
    texts += durationText(seconds) + ", ";
  EXPECT_EQ(texts, "0 s, 119 s, 2 min, 119 min, 2 h, 2.5 h, 47.8 h, 2 days, 3 days, ");
}

}  // namespace
}  // namespace mpm
