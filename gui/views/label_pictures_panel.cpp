// SPDX-License-Identifier: Apache-2.0
#include "gui/views/label_pictures_panel.h"

#include "gui/models/picture_store.h"
#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/questions.h"

namespace mpm::gui {
namespace {

constexpr QSize kThumbnail(72, 44);  // px

}  // namespace

LabelPicturesPanel::LabelPicturesPanel(QWidget* parent)
    : QWidget(parent),
      list_(named(new QListWidget, tr("Pictures to label"))),
      checklist_(wrapped(namedValue(mutedLabel(), tr("A good start")))),
      take_(pushButton(tr("Take this picture"), tr("The frame of the live source that is on show (K)"), this,
                       &LabelPicturesPanel::takeRequested)),
      copy_(pushButton(tr("Copy labels of"),
                       tr("Of a fixed camera: take all labels of another picture, then draw only what differs"))),
      remove_(
          pushButton(tr("Remove"), tr("The picture on show and its labels"), this, &LabelPicturesPanel::askToRemove)),
      suggest_(pushButton(
          tr("What to label next?"),
          tr("Finds pictures of this source, stored or in its folder, that differ most from the labelled ones"), this,
          &LabelPicturesPanel::suggestRequested)),
      suggestions_(wrappingRow(6)),
      note_(wrapped(namedValue(mutedLabel(), tr("What to label next")))) {
  list_->setMinimumHeight(48);  // a row: on 480 px suggestions need the rest
  list_->setIconSize(Thumbnails::kSize);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // names are in the tool tips too
  auto* files = pushButton(tr("From files…"), {}, this, [this] {
    auto* dialog =
        pictureDialog(this, tr("Pictures to label"), folder_, tr("Pictures (*.png *.jpg *.jpeg *.bmp *.tif *.tiff)"));
    dialog->setFileMode(QFileDialog::ExistingFiles);
    connect(dialog, &QFileDialog::filesSelected, this, &LabelPicturesPanel::filesChosen);
    openDialog(dialog);
  });
  auto* import = pushButton(
      tr("Import labels…"), tr("A folder with label maps (PNG) or files of LabelMe or COCO, and their pictures"), this,
      [this] { askForFolder(tr("Folder of labels and pictures"), &LabelPicturesPanel::importChosen); });
  copy_->setMenu(new QMenu(copy_));
  connect(copy_->menu(), &QMenu::aboutToShow, this, &LabelPicturesPanel::fillCopyMenu);
  note_->hide();
  QLayout* row = wrappingRow(6, {take_, files, copy_, import, remove_, suggest_});
  fill(new QVBoxLayout(this), list_, checklist_, row, suggestions_, note_)->setContentsMargins(8, 8, 8, 8);

  connect(list_, &QListWidget::currentTextChanged, this, &LabelPicturesPanel::picked);
  setPictures({}, {});
  setProgress({}, {});
}

void LabelPicturesPanel::askToRemove() {
  const QString name = list_->currentItem()->text();
  openDialog(question(this, tr("Remove"), tr("Remove the picture %1 and its labels?").arg(name),
                      {tr("Remove"), tr("Keep")}, Answer::kNo, [this, name] { emit removeRequested(name); }));
}

void LabelPicturesPanel::setPictures(const QStringList& names, const QStringList& labelled) {
  const QSignalBlocker quiet(list_);
  const QString shown = list_->currentItem() ? list_->currentItem()->text() : QString();
  labelled_ = labelled;
  thumbnails_.removeIf([&](const auto& one) { return !names.contains(one.key()); });
  list_->clear();
  for (const QString& name : names) {
    auto* item = new QListWidgetItem(name, list_);
    const bool done = labelled.contains(name);
    item->setIcon(thumbnails_.value(name));
    item->setFlags(item->flags() & ~Qt::ItemIsUserCheckable);
    item->setCheckState(done ? Qt::Checked : Qt::Unchecked);
    item->setToolTip(done ? tr("%1: labelled").arg(name) : tr("%1: no labels yet").arg(name));
    item->setData(Qt::AccessibleTextRole, item->toolTip());
  }
  showAs(shown);
}

void LabelPicturesPanel::setThumbnail(const QString& name, const QImage& thumbnail) {
  thumbnails_[name] = plainIcon(QPixmap::fromImage(thumbnail));
  for (QListWidgetItem* item : list_->findItems(name, Qt::MatchExactly)) item->setIcon(thumbnails_[name]);
}

void LabelPicturesPanel::fillCopyMenu() {
  QMenu* menu = copy_->menu();
  menu->clear();
  const QString shown = list_->currentItem() ? list_->currentItem()->text() : QString();
  for (const QString& name : labelled_)
    if (name != shown) menu->addAction(thumbnails_.value(name), name, this, [this, name] { emit copyRequested(name); });
}

void LabelPicturesPanel::setProgress(const vision::LabelProgress& progress, const QStringList& rare) {
  using Progress = vision::LabelProgress;
  const auto line = [](bool done, const QString& what) {
    return (done ? QStringLiteral("✓ ") : QStringLiteral("– ")) + what;
  };
  const int pictures = std::min(progress.pictures, Progress::kPictures);
  const bool begun = progress.pictures > 0;
  QStringList lines = {line(pictures == Progress::kPictures,
                            tr("%n of %1 pictures are labelled", nullptr, pictures).arg(Progress::kPictures)),
                       line(progress.night, tr("one by night")),
                       line(begun && rare.isEmpty(), tr("each class in %1 pictures").arg(Progress::kPicturesPerClass))};
  if (begun && !rare.isEmpty()) lines.back() += tr("; not yet: %1").arg(rare.join(QStringLiteral(", ")));
  setValue(checklist_, lines.join(QLatin1Char('\n')));
}

void LabelPicturesPanel::setSuggestions(const QStringList& files, const QString& note) {
  qDeleteAll(findChildren<QToolButton*>(QStringLiteral("suggestion")));
  for (const QString& file : files) {
    auto* button = named(new QToolButton, tr("Label %1").arg(QFileInfo(file).completeBaseName()));
    button->setObjectName(QStringLiteral("suggestion"));
    button->setToolTip(button->accessibleName());
    button->setIcon(QIcon(QPixmap::fromImage(smallPicture(file, kThumbnail))));
    button->setIconSize(kThumbnail);
    suggestions_->addWidget(button);
    connect(button, &QToolButton::clicked, this, [this, button, file] {
      button->setObjectName(QString());
      button->deleteLater();
      note_->setVisible(findChild<QToolButton*>(QStringLiteral("suggestion")) != nullptr);
      emit filesChosen({file});
    });
  }
  showValue(note_, note);
}

void LabelPicturesPanel::showAs(const QString& name) {
  const QSignalBlocker quiet(list_);
  const auto items = list_->findItems(name, Qt::MatchExactly);
  list_->setCurrentItem(items.isEmpty() ? nullptr : items.front());
  remove_->setEnabled(!items.isEmpty());
  copy_->setEnabled(!items.isEmpty() && labelled_.size() > (labelled_.contains(name) ? 1 : 0));
}

void LabelPicturesPanel::move(int step) {
  if (list_->count() > 0) list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, list_->count() - 1));
}

void LabelPicturesPanel::askForFolder(const QString& title, void (LabelPicturesPanel::*chosen)(const QString&)) {
  auto* dialog = pictureDialog(this, title, folder_);
  dialog->setFileMode(QFileDialog::Directory);
  connect(dialog, &QFileDialog::fileSelected, this, chosen);
  openDialog(dialog);
}

}  // namespace mpm::gui
