// SPDX-License-Identifier: Apache-2.0
#include "gui/views/model_panels.h"

#include "gui/models/picture_store.h"
#include "gui/models/readout.h"

namespace mpm::gui {
namespace {

using Grade = evaluation::ClassVerdict::Grade;

QString percentText(double percent) { return std::isnan(percent) ? QStringLiteral("–") : number(percent, 1); }

}  // namespace

TaughtModelsPanel::TaughtModelsPanel(QWidget* parent) : QWidget(parent) {
  train_ =
      pushButton(tr("Train"), tr("Make a model of these labels, and test it on pictures that it was not trained on"),
                 this, &TaughtModelsPanel::trainRequested);
  makePrimary(train_);
  cancel_ = pushButton(tr("Cancel"), {}, this, &TaughtModelsPanel::cancelRequested);
  progress_ = named(new QProgressBar, tr("Training"));
  progress_->setRange(0, 100);
  left_ = namedValue(mutedLabel(), tr("Time left"));
  progress_->setTextVisible(false);
  problem_ = wrapped(namedValue(new QLabel, tr("Why there is no model")));
  setBadge(problem_, Badge::kBad);
  choice_ = named(new QComboBox, tr("Trained model"));
  summary_ = wrapped(namedValue(new QLabel, tr("Verdict")));
  table_ = plainTable(tr("Verdict on each class"), {tr("Class"), tr("IoU, %"), tr("Verdict")}, 6);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  table_->setMinimumHeight(80);
  use_ = pushButton(tr("Use it"), tr("The live view and what is stored go on with this model"), this,
                    [this] { emit useRequested(chosen()); });
  back_ = pushButton({}, {}, this, [this] { emit useRequested(before_); });

  QBoxLayout* column = fill(new QVBoxLayout(this), fill(new QHBoxLayout, train_, cancel_), progress_, left_, problem_,
                            choice_, summary_, stretched(table_), use_, back_);
  column->setContentsMargins(8, 8, 8, 8);
  column->addStretch();

  connect(choice_, &QComboBox::currentIndexChanged, this, &TaughtModelsPanel::showModel);
  setTraining(false);
  setProblem({});
  showModel();
}

void TaughtModelsPanel::setModels(const std::vector<TaughtModel>& models) {
  const bool newer = models_.size() != models.size();
  const QString shown = chosen();
  models_ = models;
  {
    const QSignalBlocker quiet(choice_);
    choice_->clear();
    for (const TaughtModel& model : models)
      choice_->addItem(
          tr("%1  ·  %2")
              .arg(QFileInfo(model.path).completeBaseName(), QLocale().toString(model.time, QLocale::ShortFormat)),
          model.path);
    const int index = newer ? 0 : choice_->findData(shown);
    choice_->setCurrentIndex(models.empty() ? -1 : std::max(0, index));
  }
  showModel();
}

void TaughtModelsPanel::setInUse(const QString& running, const QString& before) {
  running_ = running;
  before_ = before;
  refresh();
}

void TaughtModelsPanel::setTraining(bool on) {
  for (QWidget* widget : QWidgetList{progress_, left_, cancel_}) widget->setVisible(on);
  train_->setEnabled(!on);
  progress_->setValue(0);
  setValue(left_, tr("It begins…"));
  time_.start();
}

void TaughtModelsPanel::setProgress(int done, int of) {
  constexpr double kKnown = 0.05;  // share from which on the time left is guessed
  const double share = static_cast<double>(done) / of, spent = static_cast<double>(time_.elapsed()) / 1000;
  progress_->setValue(static_cast<int>(100 * share));
  if (share > kKnown) setValue(left_, tr("About %1 left").arg(spanText(spent / share * (1 - share))));
}

// The colours of the verdicts are those of the theme.
void TaughtModelsPanel::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) showModel();
}

void TaughtModelsPanel::showModel() {
  const int index = choice_->currentIndex();
  const TaughtModel* model = index >= 0 ? &models_[static_cast<std::size_t>(index)] : nullptr;
  choice_->setVisible(model != nullptr);
  table_->setVisible(model && model->verdict);
  table_->setRowCount(0);
  refresh();
  if (!model) return setValue(summary_, tr("No model yet. Label each class in two pictures or more, then train"));
  if (!model->verdict)
    return setValue(summary_, tr("Made from one picture: label a second one, and the model can be tested"));
  const TaughtModel::Verdict& verdict = *model->verdict;
  setValue(summary_, tr("%n picture(s). mIoU %1 %; %2 % of the labelled pixels are right", nullptr, model->pictures)
                         .arg(percentText(verdict.miou), percentText(verdict.pixel_accuracy)));
  table_->setRowCount(static_cast<int>(verdict.verdicts.size()));
  const QString grades[] = {tr("good"), tr("fair"), tr("label more"), tr("label it in two pictures")};  // as Grade
  const QColor colors[] = {theme().good, theme().text, theme().bad, theme().text};
  for (const evaluation::ClassVerdict& one : verdict.verdicts) {
    const auto nameOf = [&](int c) { return verdict.classes[static_cast<std::size_t>(c)]; };
    QString text = grades[static_cast<int>(one.grade)];
    if (one.grade == Grade::kWeak && !one.taken_for.empty())
      text = tr("label more: taken for %1").arg(nameOf(one.taken_for.front().first));
    setRow(table_, one.index, {nameOf(one.index), percentText(100 * one.iou), text}, 3);
    table_->item(one.index, 2)->setForeground(colors[static_cast<int>(one.grade)]);
    for (int column = 0; column < 3; ++column)
      table_->item(one.index, column)
          ->setToolTip(QStringLiteral("%1\n%2").arg(text, tr("Labelled in %n picture(s)", nullptr, one.pictures)));
  }
}

void TaughtModelsPanel::refresh() {
  const bool in_use = !chosen().isEmpty() && chosen() == running_;
  use_->setVisible(!chosen().isEmpty());
  use_->setEnabled(!in_use);
  use_->setText(in_use ? tr("In use") : tr("Use it"));
  back_->setVisible(!before_.isEmpty() && before_ != running_);
  back_->setText(tr("Back to %1").arg(QFileInfo(before_).fileName()));
}

StatesPanel::StatesPanel(QWidget* parent) : QWidget(parent) {
  region_ = named(new QComboBox, tr("Region that shows the states"));
  region_->addItem(tr("Whole picture"));
  set_ = named(new QComboBox, tr("Name of these states"));
  set_->setToolTip(tr("A region may have several sets of states, such as gate and snow: write another name"));
  set_->setEditable(true);
  set_->setInsertPolicy(QComboBox::NoInsert);
  pictures_ = named(new QListWidget, tr("Pictures and their states"));
  pictures_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  pictures_->setIconSize(Thumbnails::kSize);
  pictures_->setMinimumHeight(48);  // a row: on 480 px the verdict needs the rest
  pictures_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  states_ = wrappingRow(6);
  auto* fresh = named(new QLineEdit, tr("New state"));
  fresh->setPlaceholderText(tr("New state, such as open"));
  fresh->setToolTip(tr("Enter makes a state of this name. Choose pictures, then press their state"));
  train_ = pushButton(tr("Train"),
                      tr("Learns the states from these pictures, and tests itself on days that it did not see"));
  makePrimary(train_);
  verdict_ = wrapped(namedValue(new QLabel, tr("Verdict")));
  wrong_ = named(new QListWidget, tr("Pictures that it gets wrong"));
  wrong_->setMinimumHeight(24);
  wrong_->setMaximumHeight(90);
  wrong_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  use_ = pushButton(tr("Use it"), tr("Each sample stores the state, and each change is an event"), this,
                    [this](bool use) { emit useRequested(head_, use); });
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
  connect(wrong_, &QListWidget::itemClicked, this,
          [this](const QListWidgetItem* item) { emit picked(item->data(Qt::UserRole).toString()); });
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
    for (const evaluation::StateAnswer& one : verdict.answers) {
      if (one.right()) continue;
      const QString picture = QFileInfo(QString::fromStdString(one.file)).completeBaseName();
      auto* item = new QListWidgetItem(
          tr("%1 is %2, taken for %3")
              .arg(picture, QString::fromStdString(head->states[static_cast<std::size_t>(one.truth)]),
                   QString::fromStdString(head->states[static_cast<std::size_t>(one.given)])),
          wrong_);
      item->setToolTip(item->text());
      item->setData(Qt::UserRole, picture);
    }
  }
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
