// SPDX-License-Identifier: Apache-2.0
#include "gui/views/about_box.h"

#include <QCoreApplication>
#include <QMessageBox>

#include "mpm/build_info.hpp"

namespace mpm::gui {
void showAbout(QWidget* parent) {
  const BuildInfo build = buildInfo();
  auto* box =
      new QMessageBox(QMessageBox::NoIcon, QCoreApplication::translate("AboutBox", "About MPM Monitor"),
                      QCoreApplication::translate(
                          "AboutBox",
                          "<b>MPM Monitor %1</b><p>Live segmentation, merge maps and day/night token counts for a "
                          "camera on a fixed scene.</p><p>Method: Mutual Pair Merging for Efficient Vision "
                          "Transformers, CVPR 2026.</p><p>OpenCV %2, Qt %3, %4</p><p>Apache License 2.0</p>")
                          .arg(QString::fromStdString(build.version), QString::fromStdString(build.opencv),
                               QString::fromLatin1(qVersion()), QString::fromStdString(build.instruction_set)),
                      QMessageBox::Close, parent);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

}  // namespace mpm::gui
