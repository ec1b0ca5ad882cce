// SPDX-License-Identifier: Apache-2.0
#include "models/theme.h"

#include <gtest/gtest.h>

namespace mpm {
namespace {

TEST(Theme, EveryTextIsReadable) {
  for (const Theme& theme : {lightTheme(), darkTheme()})
    for (const auto& [text, background] : theme.textPairs())
      EXPECT_GE(contrast(text, background), 4.5) << (theme.dark ? "dark: " : "light: ") << text.name().toStdString()
                                                 << " on " << background.name().toStdString();
}

TEST(Theme, StyleSheetIsComplete) {
  for (const Theme& theme : {lightTheme(), darkTheme()}) EXPECT_FALSE(theme.styleSheet().contains(QLatin1Char('%')));
}

TEST(Theme, ContrastIsThatOfWcag) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-6);
  EXPECT_NEAR(contrast(QColor(0x777777), Qt::white), 4.48, 0.01);
  EXPECT_EQ(readableOn(QColor(Qt::yellow)), QColor(Qt::black));
  EXPECT_EQ(readableOn(QColor(Qt::darkBlue)), QColor(Qt::white));
}

}  // namespace
}  // namespace mpm
