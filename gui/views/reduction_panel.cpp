// SPDX-License-Identifier: Apache-2.0
#include "gui/views/reduction_panel.h"

#include "gui/views/look.h"

namespace mpm::gui {

ReductionPanel::ReductionPanel(QWidget* parent) : QWidget(parent) {
  editor_ = new ReductionEditor;
  state_ = wrapped(mutedLabel(tr("No model is loaded")));
  tune_ = new QPushButton(tr("Tune for this camera…"));
  tune_->setToolTip(tr("Finds the fastest reduction that keeps the labels, on pictures of this source"));
  copy_ = new QPushButton(tr("Copy as command line"));
  copy_->setToolTip(tr("The command that watches this source with this model and reduction without a window"));
  panelColumn(this, state_, editor_, tune_, copy_);
  for (QPushButton* button : {tune_, copy_}) button->setEnabled(false);
  connect(tune_, &QPushButton::clicked, this, &ReductionPanel::tuneRequested);
  connect(copy_, &QPushButton::clicked, this, &ReductionPanel::copyRequested);
}

void ReductionPanel::setModel(const ModelInfo& info) {
  editor_->setModel(info);
  editor_->setReduction(info.reduction);
  state_->setText(tr("This file is converted, so its reduction is fixed. Open the plain model to choose another one."));
  state_->setVisible(info.converted);
  tune_->setEnabled(!info.converted && info.segments());
  copy_->setEnabled(true);
}

}  // namespace mpm::gui
