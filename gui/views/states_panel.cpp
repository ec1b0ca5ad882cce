// SPDX-License-Identifier: Apache-2.0
#include "gui/views/states_panel.h"

#include "gui/models/picture_store.h"
#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr int kBetween = 4;  // px, two pictures side by side

}  // namespace

StatesPanel::StatesPanel(QWidget* parent)
    : QWidget(parent),
      region_(named(new QComboBox, tr("Region that shows the states"))),
      set_(named(new QComboBox, tr("Name of these states"))),
      pictures_(named(new QListWidget, tr("Pictures and their states"))),
      states_(wrappingRow(6)),
      train_(pushButton(tr("Train"),
                        tr("Learns the states from these pictures, and tests itself on days that it did not see"))),
      verdict_(wrapped(namedValue(new QLabel, tr("Verdict")))),
      wrong_(named(new QListWidget, tr("Pictures that it gets wrong"))),
      use_(pushButton(tr("Use it"), tr("Each sample stores the state, and each change is an event"))) {
  region_->addItem(tr("Whole picture"));
  set_->setToolTip(tr("A region may have several sets of states, such as gate and snow: write another name"));
  set_->setEditable(true);
  set_->setInsertPolicy(QComboBox::NoInsert);
  pictures_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  pictures_->setIconSize(Thumbnails::kSize);
  pictures_->setMinimumHeight(48);  // a row: on 480 px the verdict needs the rest
  pictures_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* fresh = named(new QLineEdit, tr("New state"));
  fresh->setPlaceholderText(tr("New state, such as open"));
  fresh->setToolTip(tr("Enter makes a state of this name. Choose pictures, then press their state"));
  makePrimary(train_);
  wrong_->setMinimumHeight(24);
  wrong_->setMaximumHeight(140);
  wrong_->setIconSize({2 * Thumbnails::kSize.width() + kBetween, Thumbnails::kSize.height()});
  wrong_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  wrong_->setWordWrap(true);
  connect(use_, &QPushButton::clicked, this, [this](bool use) { emit useRequested(head_, use); });
  use_->setCheckable(true);
  fill(new QVBoxLayout(this), region_, set_, stretched(pictures_), states_, fresh, train_, verdict_, wrong_, use_)
      ->setContentsMargins(8, 8, 8, 8);

  const auto ofRegion = [this] { chooseSet(region().isEmpty() ? StateTrainer::nameOfWhole() : region()); };
  connect(region_, &QComboBox::currentIndexChanged, this, ofRegion);
  connect(set_, &QComboBox::activated, this, [this] { chooseSet(set_->currentText()); });
  connect(set_->lineEdit(), &QLineEdit::editingFinished, this, [this, ofRegion] {
    const QString written = set_->currentText().trimmed();
    written.isEmpty() ? ofRegion() : chooseSet(written);
  });
  connect(pictures_, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
    if (item) emit picked(item->data(Qt::UserRole).toString());
  });
  connect(wrong_, &QListWidget::itemActivated, this, &StatesPanel::showWrong);
  connect(wrong_, &QListWidget::itemClicked, this, &StatesPanel::showWrong);
  connect(fresh, &QLineEdit::returnPressed, this, [this, fresh] {
    QString name = fresh->text().trimmed();
    fresh->clear();
    if (!name.remove(QLatin1Char(',')).isEmpty()) addState(name);
  });
  connect(train_, &QPushButton::clicked, this, [this] {
    train_->setEnabled(false);
    emit examplesChanged(shown_);  // without pictures that were removed
    emit trainRequested();
  });
  ofRegion();
}

void StatesPanel::chooseSet(const QString& name) {
  set_->setEditText(name);
  if (std::exchange(open_, name) == name) return;
  setExamples({});
  read_ = false;
  emit setChosen(name);
}

void StatesPanel::setSets(const QStringList& names) {
  const QSignalBlocker quiet(set_);
  const QString shown = set_->currentText();
  set_->clear();
  set_->addItems(names);
  set_->setEditText(shown);
}

void StatesPanel::choose(const QString& set, const QString& region) {
  const QSignalBlocker quiet(region_);
  region_->setCurrentIndex(region.isEmpty() ? 0 : std::max(0, region_->findText(region)));
  chooseSet(set);
}

void StatesPanel::setRegions(const QStringList& names) {
  const QString before = region_->currentText();
  {
    const QSignalBlocker quiet(region_);
    while (region_->count() > 1) region_->removeItem(1);
    region_->addItems(names);
    region_->setCurrentIndex(std::max(0, region_->findText(before)));
  }
  if (region_->currentText() != before) chooseSet(StateTrainer::nameOfWhole());
}

void StatesPanel::setPictures(const QStringList& names) {
  names_ = names;
  refresh();
}

void StatesPanel::setThumbnail(const QString& name, const QImage& thumbnail) {
  thumbnails_[name] = plainIcon(QPixmap::fromImage(thumbnail));
  if (auto* item = pictures_->item(static_cast<int>(names_.indexOf(name)))) item->setIcon(thumbnails_[name]);
  showPairs();
}

// The pictures that contradict each other, side by side. One that is wrong alone is in the list above.
void StatesPanel::showPairs() {
  for (int i = 0; i < wrong_->count(); ++i) {
    const QStringList pair = wrong_->item(i)->data(Qt::UserRole).toStringList();
    if (pair.size() < 2) continue;
    QPixmap both(wrong_->iconSize());
    both.fill(Qt::transparent);
    QPainter painter(&both);
    for (int k = 0; k < pair.size(); ++k) {
      painter.drawPixmap(k * (Thumbnails::kSize.width() + kBetween), 0,
                         thumbnails_.value(pair[k]).pixmap(Thumbnails::kSize));
    }
    painter.end();
    wrong_->item(i)->setIcon(plainIcon(both));
  }
}

void StatesPanel::setExamples(const ShownStates& shown) {
  read_ = true;
  shown_ = shown;
  for (QPushButton* button : std::as_const(buttons_)) delete button;
  buttons_.clear();
  for (const QString& state : shown) addState(state);
  setHead(nullptr);
}

void StatesPanel::addState(const QString& name) {
  if (buttons_.contains(name)) return;
  auto* button = new QPushButton(name, this);
  button->setToolTip(tr("The chosen pictures show this state; once more: they show none"));
  buttons_[name] = button;
  states_->addWidget(button);
  connect(button, &QPushButton::clicked, this, [this, name] { assign(name); });
  refresh();
}

// Where all chosen pictures show it, they show none from now on.
void StatesPanel::assign(const QString& state) {
  if (!read_) return;
  const auto items = pictures_->selectedItems();
  const bool all = std::all_of(items.begin(), items.end(), [&](const QListWidgetItem* item) {
    return shown_.value(item->data(Qt::UserRole).toString()) == state;
  });
  for (const QListWidgetItem* item : items) {
    const QString name = item->data(Qt::UserRole).toString();
    if (all)
      shown_.remove(name);
    else
      shown_[name] = state;
  }
  refresh();
  emit examplesChanged(shown_);
}

// The pictures that it is about are chosen, so that one press on a state labels them anew.
void StatesPanel::showWrong(const QListWidgetItem* wrong) {
  const QStringList about = wrong->data(Qt::UserRole).toStringList();
  {
    const QSignalBlocker quiet(pictures_);
    pictures_->clearSelection();
    for (const QString& picture : about) {
      if (auto* item = pictures_->item(static_cast<int>(names_.indexOf(picture)))) {
        item->setSelected(true);
        pictures_->scrollToItem(item);
      }
    }
  }
  emit picked(about.front());
}

void StatesPanel::addWrong(const QString& text, const QStringList& pictures) {
  auto* item = new QListWidgetItem(text, wrong_);
  item->setToolTip(text);
  item->setData(Qt::UserRole, pictures);
}

void StatesPanel::setHead(const std::shared_ptr<const evaluation::StateHead>& head) {
  head_ = head;
  wrong_->clear();
  QString text;
  if (head) {
    const evaluation::StateVerdict& verdict = head->verdict;
    text = tr("%1 % of %2 answers are right; sure on %3 %, of which %4 % are right.")
               .arg(number(100 * verdict.right(), 1))
               .arg(verdict.answers.size())
               .arg(number(100 * verdict.sureShare(), 1), number(100 * verdict.sureRight(), 1));
    if (!verdict.by_days)
      text += QLatin1Char(' ') + tr("Too good, perhaps: the pictures are of one day, or have no times.");
    const auto stateOf = [&](int state) {
      return QString::fromStdString(head->states[static_cast<std::size_t>(state)]);
    };
    const auto nameOf = [](const std::string& file) {
      return QFileInfo(QString::fromStdString(file)).completeBaseName();
    };
    for (const evaluation::StateContradiction& one : verdict.contradictions) {
      addWrong(tr("%1 is %2, but looks most like %3, which is %4")
                   .arg(nameOf(one.file), stateOf(one.state), nameOf(one.like), stateOf(one.like_state)),
               {nameOf(one.file), nameOf(one.like)});
    }
    for (const evaluation::StateAnswer& one : verdict.answers) {
      if (!one.right()) {
        addWrong(tr("%1 is %2, taken for %3").arg(nameOf(one.file), stateOf(one.truth), stateOf(one.given)),
                 {nameOf(one.file)});
      }
    }
  }
  showPairs();
  setBadge(verdict_, Badge::kNone);
  showValue(verdict_, text);
  refresh();
}

void StatesPanel::setProgress(int done, int of) {
  setBadge(verdict_, Badge::kNone);
  showValue(verdict_, tr("Looking at picture %1 of %2").arg(done).arg(of));
}

void StatesPanel::setProblem(const QString& text) {
  setBadge(verdict_, Badge::kBad);
  showValue(verdict_, text);
  refresh();
}

void StatesPanel::setInUse(const QStringList& names) {
  in_use_ = names;
  refresh();
}

void StatesPanel::refresh() {
  for (int i = pictures_->count() - 1; i >= names_.size(); --i) delete pictures_->item(i);
  while (pictures_->count() < names_.size()) new QListWidgetItem(pictures_);
  for (int i = 0; i < names_.size(); ++i) {
    const QString state = shown_.value(names_[i]);
    QListWidgetItem* item = pictures_->item(i);
    item->setData(Qt::UserRole, names_[i]);
    item->setText(state.isEmpty() ? names_[i] : QStringLiteral("%1 · %2").arg(state, names_[i]));
    item->setToolTip(item->text());
    item->setIcon(thumbnails_.value(names_[i]));
  }
  for (auto button = buttons_.begin(); button != buttons_.end(); ++button)
    button.value()->setText(QStringLiteral("%1 (%2)").arg(button.key()).arg(shown_.values().count(button.key())));
  train_->setEnabled(buttons_.size() > 1 && shown_.size() > 3);
  wrong_->setVisible(wrong_->count() > 0);
  use_->setEnabled(head_ != nullptr);
  const bool in_use = head_ && in_use_.contains(QString::fromStdString(head_->name));
  use_->setChecked(in_use);
  use_->setText(in_use ? tr("In use") : tr("Use it"));
}

}  // namespace mpm::gui
