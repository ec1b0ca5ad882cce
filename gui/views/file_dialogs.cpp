// SPDX-License-Identifier: Apache-2.0
#include "gui/views/file_dialogs.h"

#include "gui/models/picture_store.h"
#include "gui/views/labels.h"
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

}  // namespace mpm::gui
