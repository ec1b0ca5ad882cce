// SPDX-License-Identifier: Apache-2.0
#include "gui/views/compare_panel.h"

#include "gui/models/readout.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {

ComparePanel::ComparePanel(QWidget* parent)
    : QWidget(parent),
      on_(new QCheckBox(tr("Compare with another reduction"))),
      editor_(new ReductionEditor(false)),
      numbers_(new QWidget),
      facts_(wrapped(new QLabel)),
      difference_(named(new QLabel, tr("Pixels whose class differs"))) {
  on_->setToolTip(tr("Each frame is processed twice, so fewer frames a second are"));
  auto* grid = unframed(new QGridLayout(numbers_));
  grid->setColumnStretch(0, 1);
  const QString columns[] = {tr("Reduction"), tr("Time"), tr("Tokens")};
  for (int column = 0; column < 3; ++column) grid->addWidget(mutedLabel(columns[column]), 0, column);
  for (int row = 0; row < 2; ++row) {
    const QString which = row == 0 ? tr("Live") : tr("Compared");
    QLabel** const cells[] = {&names_[row], &ms_[row], &tokens_[row]};
    for (int column = 0; column < 3; ++column) {
      *cells[column] = namedValue(new QLabel, QStringLiteral("%1, %2").arg(columns[column], which));
      grid->addWidget(*cells[column], row + 1, column);
    }
    wrapped(names_[row]);
  }
  difference_->setMinimumHeight(140);
  difference_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  panelColumn(this, on_, editor_, numbers_, facts_, stretched(difference_));
  connect(on_, &QCheckBox::toggled, this, [this](bool on) {
    refused_.clear();
    if (!on) setFrame(nullptr);
    emit compareChosen(on ? std::optional(editor_->reduction()) : std::nullopt);
  });
  connect(editor_, &ReductionEditor::reductionChanged, this, [this](const Reduction& variant) {
    if (on_->isChecked()) emit compareChosen(variant);
  });
  setFrame(nullptr);
}

void ComparePanel::setFrame(const LiveFramePtr& frame) {
  picture_ = {};
  const bool compared = on_->isChecked() && frame && frame->comparison;
  numbers_->setVisible(compared);
  if (!on_->isChecked()) {
    facts_->setText(!refused_.isEmpty()
                        ? refused_
                        : tr("Shows how far a reduction changes the labels of the very same frame, and its time."));
  } else if (!compared) {
    facts_->setText(tr("Waiting for the first frame…"));
  } else {
    const FrameComparison& c = *frame->comparison;
    const monitor::InferenceResult& live = frame->result;
    const auto show = [this](int row, const Reduction& variant, const Estimate& estimate) {
      setValue(names_[row], breakable(QString::fromStdString(toString(variant))));
      setValue(ms_[row], tr("%1 ms").arg(number(estimate.ms.total, 1)));
      setValue(tokens_[row], number(estimate.tokens.back()));
    };
    show(0, live.model->reduction, live.estimate);
    show(1, live.compared->variant, live.compared->estimate);
    const double speed_up = live.compared->estimate.ms.total / live.estimate.ms.total;
    const auto& reuse = live.estimate.reuse;
    const QString speed =
        reuse && reuse->rows < 1
            ? tr("The live one reused rows: it computed %1 % of them.").arg(number(100 * reuse->rows, 1))
            : tr("The live one is %1 times as fast.").arg(number(speed_up, 2));
    QString found = tr("This model gives no labels to compare.");
    if (c.agreement)
      found = tr("Same label on %1 % of the pixels. Orange: the label differs").arg(number(*c.agreement, 2));
    else if (c.depth_difference)
      found = tr("The depths differ by %1 % of their range on average.").arg(number(*c.depth_difference * 100, 2));
    facts_->setText(speed + QLatin1Char('\n') + found);
    picture_ = c.picture;
  }
  showPicture();
}

void ComparePanel::setStatus(const monitor::InferenceStatus& status) {
  if (status.comparing || !on_->isChecked()) return;
  on_->setChecked(false);
  refused_ = tr("No comparison: %1").arg(QString::fromStdString(status.no_comparison));
  setFrame(nullptr);
}

void ComparePanel::showPicture() {
  if (picture_.isNull()) return difference_->clear();
  difference_->setPixmap(QPixmap::fromImage(picture_.scaled(difference_->size(), Qt::KeepAspectRatio)));
}

}  // namespace mpm::gui
