// SPDX-License-Identifier: Apache-2.0
#include "gui/views/reduction_panel.h"

#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {

ReductionPanel::ReductionPanel(QAction* tune, QAction* copy, QWidget* parent)
    : QWidget(parent), editor_(new ReductionEditor), state_(wrapped(mutedLabel(tr("No model is loaded")))) {
  panelColumn(this, state_, editor_,
              pushButton(tune, tr("Tune for this camera…"),
                         tr("Finds the fastest reduction that keeps the labels, on pictures of this source")),
              pushButton(copy, tr("Copy as command line"),
                         tr("The command that watches this source with this model and reduction without a window")));
}

void ReductionPanel::setModel(const ModelInfo& info) {
  editor_->setModel(info);
  editor_->setReduction(info.reduction);
  state_->setText(tr("This file is converted, so its reduction is fixed. Open the plain model to choose another one."));
  state_->setVisible(info.converted);
}

}  // namespace mpm::gui
