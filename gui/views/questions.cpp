// SPDX-License-Identifier: Apache-2.0
#include "gui/views/questions.h"

namespace mpm::gui {

QMessageBox* question(QWidget* parent, const QString& title, const QString& text,
                      const std::pair<QString, QString>& answers, Answer usual, const std::function<void()>& then) {
  auto* box = new QMessageBox(QMessageBox::NoIcon, title, text, QMessageBox::NoButton, parent);
  QPushButton* yes = box->addButton(answers.first, QMessageBox::AcceptRole);
  QPushButton* no = box->addButton(answers.second, QMessageBox::RejectRole);
  box->setDefaultButton(usual == Answer::kYes ? yes : no);
  QObject::connect(yes, &QPushButton::clicked, parent, then);
  return box;
}

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
