// SPDX-License-Identifier: Apache-2.0
#include "gui/views/taught_models_panel.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/tables.h"

namespace mpm::gui {
namespace {

using Grade = evaluation::ClassVerdict::Grade;

QString percentText(double percent) { return std::isnan(percent) ? QStringLiteral("–") : number(percent, 1); }

}  // namespace

TaughtModelsPanel::TaughtModelsPanel(QWidget* parent)
    : QWidget(parent),
      train_(pushButton(tr("Train"),
                        tr("Make a model of these labels, and test it on pictures that it was not trained on"), this,
                        &TaughtModelsPanel::trainRequested)),
      cancel_(pushButton(tr("Cancel"), {}, this, &TaughtModelsPanel::cancelRequested)),
      progress_(named(new QProgressBar, tr("Training"))),
      left_(namedValue(mutedLabel(), tr("Time left"))),
      problem_(wrapped(namedValue(new QLabel, tr("Why there is no model")))),
      choice_(named(new QComboBox, tr("Trained model"))),
      summary_(wrapped(namedValue(new QLabel, tr("Verdict")))),
      table_(plainTable(tr("Verdict on each class"), {tr("Class"), tr("IoU, %"), tr("Verdict")}, 6)),
      use_(pushButton(tr("Use it"), tr("The live view and what is stored go on with this model"))),
      back_(pushButton({})) {
  makePrimary(train_);
  progress_->setRange(0, 100);
  progress_->setTextVisible(false);
  setBadge(problem_, Badge::kBad);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  table_->setMinimumHeight(80);
  connect(use_, &QPushButton::clicked, this, [this] { emit useRequested(chosen()); });
  connect(back_, &QPushButton::clicked, this, [this] { emit useRequested(before_); });

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
    for (const TaughtModel& model : models) {
      choice_->addItem(
          tr("%1  ·  %2").arg(QFileInfo(model.path).completeBaseName(), QLocale().toString(model.time, kMinuteFormat)),
          model.path);
    }
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
    for (int column = 0; column < 3; ++column) {
      table_->item(one.index, column)
          ->setToolTip(QStringLiteral("%1\n%2").arg(text, tr("Labelled in %n picture(s)", nullptr, one.pictures)));
    }
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

}  // namespace mpm::gui
