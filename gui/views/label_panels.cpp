// SPDX-License-Identifier: Apache-2.0
#include "gui/views/label_panels.h"

#include "gui/models/picture_store.h"
#include "gui/models/readout.h"
#include "gui/views/dialogs.h"
#include "vision/times/name_times.h"

namespace mpm::gui {
namespace {

constexpr int kSwatch = 18;  // px
constexpr int kKeys = 9;     // of the number row
constexpr int kColorRole = Qt::UserRole;

// The colour of a class with its key, so that the keys can be learned by looking.
QIcon swatch(const QColor& color, int index) {
  QPixmap picture(kSwatch, kSwatch);
  picture.fill(color);
  if (index < kKeys) {
    QPainter painter(&picture);
    painter.setPen(readableOn(color));
    QFont font = painter.font();
    font.setPixelSize(13);
    font.setBold(true);
    painter.setFont(font);
    painter.drawText(picture.rect(), Qt::AlignCenter, QString::number(index + 1));
  }
  return plainIcon(picture);
}

constexpr QSize kThumbnail(72, 44);  // px

constexpr int kKeyRole = Qt::UserRole, kIndexRole = Qt::UserRole + 1;  // what is sorted by; the index in counts_
constexpr int kChip = 12;                                              // px

class SortedItem : public QTableWidgetItem {
 public:
  SortedItem(const QString& text, const QVariant& key) : QTableWidgetItem(text) { setData(kKeyRole, key); }
  bool operator<(const QTableWidgetItem& other) const override {
    return QVariant::compare(data(kKeyRole), other.data(kKeyRole)) == QPartialOrdering::Less;
  }
};

// Where the name of a picture holds a time: UTC as local time, else as the camera's clock showed it.
QDateTime timeOf(const QString& picture) {
  const auto written = vision::timeInName(picture.toStdString());
  if (!written) return {};
  const vision::CameraClock utc;
  return dateTime(written->utc(utc), written->offset ? charts::Clock() : charts::Clock(utc));
}

}  // namespace

LabelClassesPanel::LabelClassesPanel(QWidget* parent) : QWidget(parent) {
  list_ = named(new QListWidget, tr("Classes to draw"));
  list_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  list_->setMinimumHeight(80);
  name_ = named(new QLineEdit, tr("Name of a new class"));
  name_->setPlaceholderText(tr("New class"));
  auto* add = pushButton(tr("Add"), {}, this, &LabelClassesPanel::add);
  rename_ = pushButton(tr("Rename"), tr("Change the name of the chosen class (F2)"), this,
                       [this] { list_->editItem(list_->currentItem()); });
  color_ = pushButton(tr("Colour…"), {}, this, &LabelClassesPanel::askColor);
  merge_ = pushButton(tr("Merge"), tr("Give the labels of the chosen class to another one, and take it away"));
  merge_->setMenu(new QMenu(merge_));
  from_model_ = pushButton(tr("Take the classes of the model"), {}, this, &LabelClassesPanel::modelClassesWanted);
  fill(new QVBoxLayout(this), list_, from_model_, fill(new QHBoxLayout, name_, add),
       wrappingRow(6, {rename_, color_, merge_}))
      ->setContentsMargins(8, 8, 8, 8);

  connect(list_, &QListWidget::currentRowChanged, this, [this](int index) {
    for (QPushButton* button : {rename_, color_, merge_}) button->setEnabled(index >= 0);
    emit chosenChanged(index);
  });
  connect(list_, &QListWidget::itemChanged, this,
          [this](const QListWidgetItem* item) { emit renamed(list_->row(item), item->text().simplified()); });
  connect(name_, &QLineEdit::returnPressed, this, &LabelClassesPanel::add);
  connect(merge_->menu(), &QMenu::aboutToShow, this, &LabelClassesPanel::fillMergeMenu);
  setClasses({}, {});
}

void LabelClassesPanel::setClasses(const QStringList& names, const std::vector<QColor>& colors) {
  const int before = list_->count(), count = static_cast<int>(names.size());
  const int next =
      before > 0 && count > before ? count - 1 : std::clamp(list_->currentRow(), 0, std::max(count - 1, 0));
  {
    const QSignalBlocker quiet(list_);
    list_->clear();
    for (int i = 0; i < count; ++i) {
      const QColor color = colors[static_cast<std::size_t>(i)];
      auto* item = new QListWidgetItem(swatch(color, i), names[i], list_);
      item->setData(kColorRole, color);
      item->setFlags(item->flags() | Qt::ItemIsEditable);
      if (i < kKeys) item->setToolTip(tr("Key %1").arg(i + 1));
    }
    list_->setCurrentRow(next);
  }
  if (count > 0 && from_model_->hasFocus()) list_->setFocus();  // else keys of classes would be written as a name
  from_model_->setVisible(count == 0);
  for (QPushButton* button : {rename_, color_, merge_}) button->setEnabled(count > 0);
  emit chosenChanged(next);
}

void LabelClassesPanel::choose(int index) {
  if (index >= 0 && index < list_->count()) list_->setCurrentRow(index);
}

void LabelClassesPanel::add() {
  const QString name = name_->text().simplified();
  if (name.isEmpty()) return name_->setFocus();
  name_->clear();
  emit added(name);
}

void LabelClassesPanel::askColor() {
  const int index = chosen();
  auto* dialog = new QColorDialog(list_->currentItem()->data(kColorRole).value<QColor>(), this);
  dialog->setWindowTitle(tr("Colour of %1").arg(list_->currentItem()->text()));
  connect(dialog, &QColorDialog::colorSelected, this,
          [this, index](const QColor& color) { emit colored(index, color); });
  openDialog(dialog);
}

void LabelClassesPanel::fillMergeMenu() {
  QMenu* menu = merge_->menu();
  menu->clear();
  const int from = chosen();
  for (int i = 0; i < list_->count(); ++i)
    if (i != from)
      menu->addAction(list_->item(i)->icon(), tr("Into %1").arg(list_->item(i)->text()), this,
                      [this, from, i] { emit merged(from, i); });
  menu->addSeparator();
  menu->addAction(tr("Remove it; its labels are lost"), this, [this, from] { emit merged(from, std::nullopt); });
}

LabelPicturesPanel::LabelPicturesPanel(QWidget* parent) : QWidget(parent) {
  list_ = named(new QListWidget, tr("Pictures to label"));
  list_->setMinimumHeight(48);  // a row: on 480 px suggestions need the rest
  list_->setIconSize(Thumbnails::kSize);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // names are in the tool tips too
  checklist_ = wrapped(namedValue(mutedLabel(), tr("A good start")));
  take_ = pushButton(tr("Take this picture"), tr("The frame of the live source that is on show (K)"), this,
                     &LabelPicturesPanel::takeRequested);
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
  copy_ = pushButton(tr("Copy labels of"),
                     tr("Of a fixed camera: take all labels of another picture, then draw only what differs"));
  copy_->setMenu(new QMenu(copy_));
  connect(copy_->menu(), &QMenu::aboutToShow, this, &LabelPicturesPanel::fillCopyMenu);
  remove_ = pushButton(tr("Remove"), tr("The picture on show and its labels"), this, [this] {
    const QString name = list_->currentItem()->text();
    openDialog(question(this, tr("Remove"), tr("Remove the picture %1 and its labels?").arg(name),
                        {tr("Remove"), tr("Keep")}, Answer::kNo, [this, name] { emit removeRequested(name); }));
  });
  suggest_ =
      pushButton(tr("What to label next?"),
                 tr("Finds pictures of this source, stored or in its folder, that differ most from the labelled ones"),
                 this, &LabelPicturesPanel::suggestRequested);
  suggestions_ = wrappingRow(6);
  note_ = wrapped(namedValue(mutedLabel(), tr("What to label next")));
  note_->hide();
  QLayout* row = wrappingRow(6, {take_, files, copy_, import, remove_, suggest_});
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

LabelTablePanel::LabelTablePanel(QWidget* parent) : QWidget(parent) {
  table_ = plainTable(tr("All labels"), {tr("Picture"), tr("Class"), tr("px"), QStringLiteral("%")}, 6);
  table_->horizontalHeaderItem(3)->setToolTip(tr("Share of the picture"));
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTextElideMode(Qt::ElideNone);  // the frame of the current row takes 2 px
  table_->setIconSize(QSize(kChip, kChip));
  table_->setMinimumHeight(80);
  table_->sortByColumn(0, Qt::AscendingOrder);
  new QShortcut(Qt::Key_Delete, table_, this, &LabelTablePanel::remove, Qt::WidgetShortcut);
  none_ = wrapped(mutedLabel(tr("No labels yet")));
  remove_ = pushButton(tr("Remove these labels"), tr("Those of this class in this picture (Delete)"), this,
                       &LabelTablePanel::remove);
  remove_->setEnabled(false);
  fill(new QVBoxLayout(this), none_, table_, remove_)->setContentsMargins(8, 8, 8, 8);
  const auto go = [this](const QModelIndex& index) {
    const auto& count = counts_[index.siblingAtColumn(0).data(kIndexRole).toUInt()];
    emit picked(count.picture, count.label);
  };
  connect(table_, &QTableWidget::clicked, this, go);
  connect(table_, &QTableWidget::activated, this, go);
  connect(table_, &QTableWidget::currentItemChanged, this, [this](auto* item) { remove_->setEnabled(item); });
}

void LabelTablePanel::setLabels(const std::vector<LabelCount>& counts, const QStringList& names,
                                const std::vector<QColor>& colors) {
  if (counts == counts_ && names == names_ && colors == colors_) return;
  const int row = table_->currentRow();
  const LabelCount before = row < 0 ? LabelCount() : counts_[table_->item(row, 0)->data(kIndexRole).toUInt()];
  counts_ = counts;
  names_ = names;
  colors_ = colors;
  table_->setSortingEnabled(false);
  table_->setRowCount(static_cast<int>(counts.size()));
  QTableWidgetItem* same = nullptr;
  for (int i = 0; i < table_->rowCount(); ++i) {
    const LabelCount& one = counts[static_cast<std::size_t>(i)];
    const QDateTime time = timeOf(one.picture);
    const QString name = names.value(one.label), percent = number(100 * one.share, 1);
    QPixmap swatch(kChip, kChip);
    swatch.fill(colors[static_cast<std::size_t>(one.label)]);
    auto* picture = new SortedItem(time.isValid() ? time.toString(QStringLiteral("yyyy-MM-dd HH:mm")) : one.picture,
                                   time.toString(Qt::ISODate) + one.picture);
    picture->setData(kIndexRole, i);
    auto* label = new SortedItem(name, name);
    label->setIcon(plainIcon(swatch));
    QTableWidgetItem* const cells[] = {picture, label, new SortedItem(QLocale().toString(one.pixels), one.pixels),
                                       new SortedItem(percent, one.share)};
    for (int c = 0; c < 4; ++c) {
      if (c > 1) cells[c]->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
      cells[c]->setToolTip(
          tr("%1: %2 px of %3, %4 % of the picture").arg(name, QLocale().toString(one.pixels), one.picture, percent));
      table_->setItem(i, c, cells[c]);
    }
    if (one.picture == before.picture && one.label == before.label) same = picture;
  }
  table_->setSortingEnabled(true);
  if (row >= 0) table_->setCurrentCell(same ? table_->row(same) : std::min(row, table_->rowCount() - 1), 0);
  none_->setVisible(counts.empty());
}

void LabelTablePanel::remove() {
  if (table_->currentRow() < 0) return;
  const LabelCount count = counts_[table_->item(table_->currentRow(), 0)->data(kIndexRole).toUInt()];
  emit removeRequested(count.picture, count.label);
}

}  // namespace mpm::gui
