// SPDX-License-Identifier: Apache-2.0
#include "gui/views/label_pictures_panel.h"

#include "gui/models/picture_store.h"
#include "gui/views/dialogs.h"

namespace mpm::gui {
namespace {

constexpr QSize kThumbnail(72, 44);  // px

}  // namespace

LabelPicturesPanel::LabelPicturesPanel(QWidget* parent) : QWidget(parent) {
  list_ = named(new QListWidget, tr("Pictures to label"));
  list_->setMinimumHeight(48);  // a row: on 480 px suggestions need the rest
  list_->setIconSize(Thumbnails::kSize);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // names are in the tool tips too
  checklist_ = wrapped(namedValue(mutedLabel(), tr("A good start")));
  take_ = pushButton(tr("Take this picture"), tr("The frame of the live source that is on show (K)"), this,
                     &LabelPicturesPanel::takeRequested);
  auto* files = pushButton(tr("From files…"), {}, this, &LabelPicturesPanel::askForFiles);
  auto* import = pushButton(
      tr("Import labels…"), tr("A folder with label maps (PNG) or files of LabelMe or COCO, and their pictures"), this,
      [this] { askForFolder(tr("Folder of labels and pictures"), &LabelPicturesPanel::importChosen); });
  auto* export_ = pushButton(tr("Export labels"), tr("All labels as polygons, for other tools"));
  auto* formats = new QMenu(export_);
  formats->addAction(tr("One file of COCO…"), this, &LabelPicturesPanel::askForCoco);
  formats->addAction(tr("Pictures and files of LabelMe…"), this, [this] {
    askForFolder(tr("Empty folder for pictures and files of LabelMe"), &LabelPicturesPanel::labelMeChosen);
  });
  export_->setMenu(formats);
  copy_ = pushButton(tr("Copy labels of"),
                     tr("Of a fixed camera: take all labels of another picture, then draw only what differs"));
  auto* others = new QMenu(copy_);
  copy_->setMenu(others);
  connect(others, &QMenu::aboutToShow, this, &LabelPicturesPanel::fillCopyMenu);
  remove_ = pushButton(tr("Remove"), tr("The picture on show and its labels"), this, &LabelPicturesPanel::askToRemove);
  auto* row = new WrappingRow;
  row->setSpacing(6);
  for (QPushButton* button : {take_, files, copy_, import, export_, remove_}) row->addWidget(button);
  suggest_ =
      pushButton(tr("What to label next?"),
                 tr("Finds pictures of this source, stored or in its folder, that differ most from the labelled ones"),
                 this, &LabelPicturesPanel::suggestRequested);
  suggestions_ = new WrappingRow;
  suggestions_->setSpacing(6);
  note_ = wrapped(namedValue(mutedLabel(), tr("What to label next")));
  note_->hide();
  row->addWidget(suggest_);
  fill(new QVBoxLayout(this), list_, checklist_, row, suggestions_, note_)->setContentsMargins(8, 8, 8, 8);

  connect(list_, &QListWidget::currentTextChanged, this, &LabelPicturesPanel::picked);
  setPictures({}, {});
  setProgress({}, {});
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
    item->setIcon(iconOf(name));
    item->setToolTip(done ? tr("%1: labelled").arg(name) : tr("%1: no labels yet").arg(name));
    item->setData(Qt::AccessibleTextRole, item->toolTip());
  }
  showAs(shown);
}

void LabelPicturesPanel::setThumbnail(const QString& name, const QImage& thumbnail) {
  thumbnails_[name] = thumbnail;
  for (QListWidgetItem* item : list_->findItems(name, Qt::MatchExactly)) item->setIcon(iconOf(name));
}

// The thumbnail, with a mark where the picture is labelled.
QIcon LabelPicturesPanel::iconOf(const QString& name) const {
  constexpr int kMark = 16;  // px
  QPixmap picture(Thumbnails::kSize);
  picture.fill(Qt::transparent);
  QPainter painter(&picture);
  const QImage thumbnail = thumbnails_.value(name);
  QRect place(QPoint(), thumbnail.size());
  place.moveCenter(picture.rect().center());
  painter.drawImage(place.topLeft(), thumbnail);
  if (labelled_.contains(name)) {
    const QRect mark(picture.rect().bottomRight() - QPoint(kMark - 1, kMark - 1), QSize(kMark, kMark));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(QColor(0, 0, 0, 190));
    painter.drawEllipse(mark);
    painter.setPen(QPen(Qt::white, 2));
    painter.drawPolyline(
        QPolygon({mark.topLeft() + QPoint(4, 8), mark.topLeft() + QPoint(7, 11), mark.topLeft() + QPoint(12, 5)}));
  }
  return plainIcon(picture);
}

void LabelPicturesPanel::fillCopyMenu() {
  QMenu* menu = copy_->menu();
  menu->clear();
  const QString shown = list_->currentItem() ? list_->currentItem()->text() : QString();
  for (const QString& name : labelled_)
    if (name != shown) menu->addAction(iconOf(name), name, this, [this, name] { emit copyRequested(name); });
}

void LabelPicturesPanel::setProgress(const vision::LabelProgress& progress, const QStringList& rare) {
  using Progress = vision::LabelProgress;
  const auto line = [](bool done, const QString& what) {
    return (done ? QStringLiteral("✓ ") : QStringLiteral("– ")) + what;
  };
  const int pictures = std::min(progress.pictures, Progress::kPictures);
  const bool begun = progress.pictures > 0;
  QStringList lines = {line(pictures == Progress::kPictures,
                            tr("%1 of %2 pictures are labelled").arg(pictures).arg(Progress::kPictures)),
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
  setValue(note_, note);
  note_->setVisible(!note.isEmpty());
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

void LabelPicturesPanel::askForFiles() {
  auto* dialog =
      pictureDialog(this, tr("Pictures to label"), folder_, tr("Pictures (*.png *.jpg *.jpeg *.bmp *.tif *.tiff)"));
  dialog->setFileMode(QFileDialog::ExistingFiles);
  connect(dialog, &QFileDialog::filesSelected, this, &LabelPicturesPanel::filesChosen);
  openDialog(dialog);
}

void LabelPicturesPanel::askForFolder(const QString& title, void (LabelPicturesPanel::*chosen)(const QString&)) {
  auto* dialog = pictureDialog(this, title, folder_);
  dialog->setFileMode(QFileDialog::Directory);
  connect(dialog, &QFileDialog::fileSelected, this, chosen);
  openDialog(dialog);
}

void LabelPicturesPanel::askForCoco() {
  askWhereToWrite(this, tr("Labels as a file of COCO"), QStringLiteral("labels.json"), tr("COCO (*.json)"),
                  QStringLiteral("json"), [this](const QString& file) { emit cocoChosen(file); });
}

void LabelPicturesPanel::askToRemove() {
  const QString name = list_->currentItem()->text();
  openDialog(question(this, tr("Remove"), tr("Remove the picture %1 and its labels?").arg(name),
                      {tr("Remove"), tr("Keep")}, Answer::kNo, [this, name] { emit removeRequested(name); }));
}

}  // namespace mpm::gui
