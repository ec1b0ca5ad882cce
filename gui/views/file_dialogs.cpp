// SPDX-License-Identifier: Apache-2.0
#include "gui/views/file_dialogs.h"

#include "gui/models/picture_store.h"
#include "gui/views/labels.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr QSize kPreview(180, 180);  // px

QPixmap previewOf(const QString& path) {
  static const QStringList pictures = {"*.png", "*.jpg", "*.jpeg", "*.bmp", "*.tif", "*.tiff"};
  QString picture = path;
  if (QFileInfo(path).isDir()) picture = QDirIterator(path, pictures, QDir::Files).next();
  if (!QDir::match(pictures, QFileInfo(picture).fileName())) return {};
  return QPixmap::fromImage(smallPicture(picture, kPreview));
}

// Icons and kinds of files by their names. Qt's own provider reads the content of files to tell their kinds.
class IconsByName : public QFileIconProvider {
 public:
  using QFileIconProvider::icon;
  QIcon icon(const QFileInfo& file) const override { return icon(file.isDir() ? Folder : File); }
  QString type(const QFileInfo& file) const override {
    return QMimeDatabase().mimeTypeForFile(file, QMimeDatabase::MatchExtension).comment();
  }
};

// Where the last dialog that chose something ended.
QString& lastFolder() {
  static QString folder = QDir::currentPath();
  return folder;
}

// A dialog that begins at `start`, a file or a folder (empty: where the last one ended). It opens none of the files
// that it lists: where a process closes a database file that it has open a second time, POSIX lets go of SQLite's locks
// on it, and the next program that reads the database takes its log away, with all samples from then on. So each file
// dialog is made here, has an icon provider of ours, and is not the desktop's, which may read files in this process.
QFileDialog* fileDialog(QWidget* parent, const QString& title, const QString& start, const QString& filter) {
  static IconsByName icons;   // outlives each dialog, whose thread asks it
  const QTemporaryDir empty;  // the constructor begins to list a folder, with Qt's provider
  auto* dialog = new QFileDialog(parent, title, empty.path());
  dialog->setOption(QFileDialog::DontUseNativeDialog);
  dialog->setIconProvider(&icons);
  if (!filter.isEmpty()) dialog->setNameFilter(filter);
  const QFileInfo first(QDir(lastFolder()), start);
  const bool folder = first.isDir();
  dialog->setDirectory(folder ? first.absoluteFilePath() : first.dir().exists() ? first.absolutePath() : lastFolder());
  if (!folder) dialog->selectFile(first.fileName());
  QObject::connect(dialog, &QDialog::accepted, dialog, [dialog] { lastFolder() = dialog->directory().absolutePath(); });
  return dialog;
}

}  // namespace

QFileDialog* pictureDialog(QWidget* parent, const QString& title, const QString& folder, const QString& filter) {
  auto* dialog = fileDialog(parent, title, folder, filter);
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
  auto* dialog = fileDialog(parent, title, folder, filter);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  dialog->setFileMode(QFileDialog::ExistingFile);
  openDialog(dialog);
}

void askWhereToWrite(QWidget* parent, const QString& title, const QString& proposed, const QString& filter,
                     const QString& suffix, const std::function<void(const QString&)>& chosen,
                     QFileDialog::Options options) {
  auto* dialog = fileDialog(parent, title, proposed, filter);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(suffix);
  dialog->setOptions(dialog->options() | options);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  openDialog(dialog);
}

}  // namespace mpm::gui
