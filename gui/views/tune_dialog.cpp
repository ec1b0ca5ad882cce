// SPDX-License-Identifier: Apache-2.0
#include "gui/views/tune_dialog.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/tables.h"

namespace mpm::gui {
namespace {

enum Column { kReduction, kSpeedUp, kSame, kAtLeast, kTokens };

QString percent(double value) { return number(value, 2); }

QString nameOf(const Reduction& variant) {
  return variant == kFullModel ? TuneDialog::tr("the full model") : QString::fromStdString(toString(variant));
}

}  // namespace

TuneDialog::TuneDialog(QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Tune for this camera"));
  text_ = wrapped(new QLabel);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  bar_ = named(new QProgressBar, tr("Progress"));
  bar_->setTextVisible(false);
  agreement_ = numberField(tr("Least agreement"), 50, 100, evaluation::kTuneAgreement, 2, tr(" % of the pixels"));
  table_ = plainTable(tr("Reductions, the fastest first"),
                      {tr("Reduction"), tr("Speed"), tr("Same"), tr("At least"), tr("Tokens")}, 6);
  const QString tips[] = {tr("What --reduce takes"), tr("Times as fast as the full model"),
                          tr("Pixels with the class of the full model, in percent"),
                          tr("The lower end of the 95 % interval of that number. It decides"),
                          tr("Tokens at the end, on average")};
  for (int i = 0; i < table_->columnCount(); ++i) table_->horizontalHeaderItem(i)->setToolTip(tips[i]);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTextElideMode(Qt::ElideMiddle);
  result_ = new QWidget;
  auto* form = new QFormLayout;
  form->addRow(tr("The same class on at least"), leftRow(agreement_));
  QBoxLayout* column = unframed(new QVBoxLayout(result_));
  column->addLayout(form);
  column->addWidget(table_, 1);
  result_->hide();
  use_ = pushButton(tr("Use it"), {}, this, [this] {
    emit used((*rows_)[static_cast<std::size_t>(table_->currentRow())].variant);
    accept();
  });
  makePrimary(use_);
  use_->hide();
  close_ = pushButton(tr("Cancel"), {}, this, &QDialog::reject);
  QBoxLayout* buttons = fill(new QHBoxLayout, use_, close_);
  buttons->insertStretch(0);
  fill(new QVBoxLayout(this), text_, bar_, stretched(result_), buttons)->setContentsMargins(16, 14, 16, 14);
  connect(agreement_, &QDoubleSpinBox::valueChanged, this, &TuneDialog::choose);
  fitToWindow(this, QSize(760, 520));
}

void TuneDialog::showCollecting(int pictures, int wanted) {
  text_->setText(tr("Collecting frames: %1 of %2. The live picture goes on.").arg(pictures).arg(wanted));
  bar_->setRange(0, wanted);
  bar_->setValue(pictures);
}

void TuneDialog::showProgress(int done, int all) {
  text_->setText(tr("Measuring reductions. The live picture is paused."));
  bar_->setRange(0, all);
  bar_->setValue(done);
}

void TuneDialog::showRows(const Rows& rows) {
  rows_ = rows;
  table_->setRowCount(static_cast<int>(rows_->size()));
  bar_->hide();
  result_->show();
  use_->show();
  close_->setText(tr("Leave it as it is"));
  use_->setDefault(true);
  choose();
  table_->setFocus();
}

void TuneDialog::choose() {
  if (!rows_) return;
  const std::size_t chosen = evaluation::fastestRow(*rows_, agreement_->value());
  for (int i = 0; i < table_->rowCount(); ++i) {
    const evaluation::TuneRow& row = (*rows_)[static_cast<std::size_t>(i)];
    const evaluation::AgainstFull& full = row.against_full;
    const bool passes = full.agreement.low >= agreement_->value();
    setRow(table_, i,
           {nameOf(row.variant), number(full.speed_up.value, 2), percent(full.agreement.value),
            (passes ? QStringLiteral("✓ ") : QString()) + percent(full.agreement.low), number(row.tokens)},
           kSpeedUp);
    for (int column = 0; column < table_->columnCount(); ++column) {
      QTableWidgetItem* cell = table_->item(i, column);
      QFont font = cell->font();
      font.setBold(static_cast<std::size_t>(i) == chosen);
      cell->setFont(font);
      cell->setToolTip(nameOf(row.variant));
    }
  }
  table_->setCurrentCell(static_cast<int>(chosen), kReduction);
  const evaluation::TuneRow& best = (*rows_)[chosen];
  if (best.variant == kFullModel) {
    text_->setText(
        tr("No reduction of the table is faster and keeps enough labels, so the full model stays. Ask for a "
           "little less agreement to have a choice."));
  } else {
    text_->setText(
        tr("%1 is the fastest that keeps the labels: %2 times as fast as the full model, with the same class "
           "on %3 % of the pixels (95 % interval from %4 %). Of reductions that are as fast within noise it "
           "agrees most.")
            .arg(breakable(nameOf(best.variant)), number(best.against_full.speed_up.value, 2),
                 percent(best.against_full.agreement.value), percent(best.against_full.agreement.low)));
  }
}

void TuneDialog::showProblem(const QString& message) {
  text_->setText(message);
  setBadge(text_, Badge::kBad);
  bar_->hide();
  close_->setText(tr("Close"));
}

}  // namespace mpm::gui
