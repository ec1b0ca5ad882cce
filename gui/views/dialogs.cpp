// SPDX-License-Identifier: Apache-2.0
#include "gui/views/dialogs.h"

#include "gui/models/picture_store.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr QSize kPreview(180, 180);  // px

QPixmap previewOf(const QString& path) {
  QString picture = path;
  if (QFileInfo(path).isDir()) {
    QDirIterator files(path, {"*.png", "*.jpg", "*.jpeg", "*.bmp", "*.tif", "*.tiff"}, QDir::Files);
    picture = files.next();
  }
  return QPixmap::fromImage(smallPicture(picture, kPreview));
}

}  // namespace

// The desktop's own dialog has no place for a preview.
QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter) {
  auto* dialog = new QFileDialog(parent, title, folder, filter);
  dialog->setOption(QFileDialog::DontUseNativeDialog);
  auto* preview = named(new QLabel, QCoreApplication::translate("pictureDialog", "Preview"));
  preview->setObjectName(QStringLiteral("preview"));
  preview->setFixedSize(kPreview);
  preview->setAlignment(Qt::AlignCenter);
  auto* grid = static_cast<QGridLayout*>(dialog->layout());
  grid->addWidget(preview, 1, grid->columnCount());
  QObject::connect(dialog, &QFileDialog::currentChanged, preview,
                   [preview](const QString& path) { preview->setPixmap(previewOf(path)); });
  for (auto* list : dialog->findChildren<QTreeView*>())
    list->header()->setSectionResizeMode(QHeaderView::ResizeToContents);  // else sizes and dates are cut
  fitToWindow(dialog, QSize(820, 480));
  return dialog;
}

void askForFile(QWidget* parent, const QString& title, const QString& folder, const QString& filter,
                const std::function<void(const QString&)>& chosen) {
  auto* dialog = new QFileDialog(parent, title, folder, filter);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  dialog->setFileMode(QFileDialog::ExistingFile);
  openDialog(dialog);
}

void askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
                     const QString& suffix, const std::function<void(const QString&)>& chosen,
                     QFileDialog::Options options) {
  auto* dialog = new QFileDialog(parent, title, proposed, filter);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(suffix);
  dialog->setOptions(options);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  openDialog(dialog);
}

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
