// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "gui/views/look.h"
#include "watchdog.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  mpm::gui::WatchedApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("mpm-test"));
  QLocale::setDefault(QLocale::c());
  mpm::gui::applyLook(mpm::gui::lightTheme(),
                      100);  // as the program: Fusion's own gradients wait for a pool of threads
  return RUN_ALL_TESTS();
}
