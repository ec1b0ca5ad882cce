// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "gui/views/look.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("mpm-test"));
  QLocale::setDefault(QLocale::c());
  mpm::gui::applyLook(mpm::gui::lightTheme(), 100);  // as the program
  return RUN_ALL_TESTS();
}
