// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  mpm::Application app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("mpm-test"));
  QLocale::setDefault(QLocale::c());
  return RUN_ALL_TESTS();
}
