// SPDX-License-Identifier: Apache-2.0
#include "gui/views/job_dialog.h"

namespace mpm::gui {

void showProgress(Job* job, const QString& title, const QString& text, int others, QWidget* window) {
  constexpr int kAside = 32;
  auto* dialog = new QProgressDialog(text, QProgressDialog::tr("Cancel"), 0, 100, window);
  dialog->setWindowTitle(title);
  dialog->adjustSize();
  dialog->move(window->geometry().center() - dialog->rect().center() + QPoint(kAside, kAside) * others);
  dialog->setMinimumDuration(1000);  // most are done before anybody could read it
  dialog->setAutoClose(false);
  dialog->setAutoReset(false);
  QObject::connect(job, &Job::ended, dialog, [job, dialog] {
    dialog->disconnect(job);  // closing it cancels
    dialog->deleteLater();
    job->deleteLater();
  });
  QObject::connect(job, &Job::progressed, dialog, [dialog](int done, int of) { dialog->setValue(100 * done / of); });
  QObject::connect(dialog, &QProgressDialog::canceled, job, &Job::cancel);
}

}  // namespace mpm::gui
