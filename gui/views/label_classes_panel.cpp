// SPDX-License-Identifier: Apache-2.0
#include "gui/views/label_classes_panel.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr int kSwatch = 18;  // px

constexpr int kKeys = 9;  // of the number row

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

}  // namespace

LabelClassesPanel::LabelClassesPanel(QWidget* parent)
    : QWidget(parent),
      list_(named(new QListWidget, tr("Classes to draw"))),
      name_(named(new QLineEdit, tr("Name of a new class"))),
      color_(pushButton(tr("Colour…"), {}, this, &LabelClassesPanel::askColor)),
      merge_(pushButton(tr("Merge"), tr("Give the labels of the chosen class to another one, and take it away"))),
      from_model_(pushButton(tr("Take the classes of the model"), {}, this, &LabelClassesPanel::modelClassesWanted)),
      rename_(pushButton(tr("Rename"), tr("Change the name of the chosen class (F2)"))) {
  list_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  list_->setMinimumHeight(80);
  name_->setPlaceholderText(tr("New class"));
  auto* add = pushButton(tr("Add"), {}, this, &LabelClassesPanel::add);
  connect(rename_, &QPushButton::clicked, this, [this] { list_->editItem(list_->currentItem()); });
  merge_->setMenu(new QMenu(merge_));
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
  for (int i = 0; i < list_->count(); ++i) {
    if (i != from) {
      menu->addAction(list_->item(i)->icon(), tr("Into %1").arg(list_->item(i)->text()), this,
                      [this, from, i] { emit merged(from, i); });
    }
  }
  menu->addSeparator();
  menu->addAction(tr("Remove it; its labels are lost"), this, [this, from] { emit merged(from, std::nullopt); });
}

}  // namespace mpm::gui
