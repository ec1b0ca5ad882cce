// SPDX-License-Identifier: Apache-2.0
#include "gui/views/inspector_panel.h"

#include "gui/models/readout.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "vision/labels/classes.h"

namespace mpm::gui {

InspectorPanel::InspectorPanel(PatchSelection* selection, const LegendModel* legend, QWidget* parent)
    : QWidget(parent),
      selection_(selection),
      legend_(legend),
      hint_(wrapped(
          mutedLabel(tr("Point at a picture, or move the patch cursor with the arrow keys. A click pins the patch.")))),
      facts_(new QWidget),
      class_(wrapped(namedValue(new QLabel, tr("Class")))),
      score_(wrapped(namedValue(new QLabel, tr("Score")))),
      found_(wrapped(namedValue(new QLabel, tr("At this place")))),
      cluster_(wrapped(namedValue(new QLabel, tr("Cluster")))),
      size_(wrapped(namedValue(new QLabel, tr("Size")))),
      merged_(wrapped(namedValue(new QLabel, tr("Merged")))),
      similarity_(wrapped(namedValue(new QLabel, tr("Similarity")))),
      patch_(wrapped(namedValue(new QLabel, tr("Patch")))),
      row_(wrapped(namedValue(new QLabel, tr("Reuse")))),
      pin_(mutedLabel()) {
  auto* form = unframed(new QFormLayout(facts_));
  form->setVerticalSpacing(4);
  for (QLabel* value : {class_, score_, found_, cluster_, size_, merged_, similarity_, patch_, row_}) {
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form->addRow(mutedLabel(valueName(value)), value);
  }
  panelColumn(this, hint_, facts_, pin_);
  connect(selection, &PatchSelection::changed, this, &InspectorPanel::refresh);
  refresh();
}

void InspectorPanel::setFrame(LiveFramePtr frame) {
  frame_ = std::move(frame);
  refresh();
}

void InspectorPanel::refresh() {
  const auto token = selection_->token();
  const bool known = frame_ && frame_->hasGrid() && token && *token < frame_->lookup.tokens();
  hint_->setVisible(!known);
  facts_->setVisible(known);
  pin_->setText(selection_->pinned() ? tr("Pinned: click it again to let go") : QString());
  if (!known) return;

  const MergeLookup& lookup = frame_->lookup;
  const bool hidden = lookup.hidden(*token);
  const int step = std::min(selection_->step(), lookup.steps() - 1);
  const auto label = frame_->classOfToken(*token);
  setValue(class_, hidden                        ? tr("hidden")
                   : !label                      ? tr("none: this model does not segment")
                   : *label < legend_->classes() ? legend_->name(*label)
                                                 : QString::fromStdString(vision::className({}, *label)));
  const Estimate& result = frame_->result.estimate;
  const auto score = frame_->scoreOfToken(*token);
  setValue(score_, score                        ? tr("%1 %").arg(number(*score * 100, 1))
                   : result.token_score.empty() ? tr("not known")
                                                : tr("not known: another class reaches the middle"));
  const QPointF middle((*token % lookup.grid().width + 0.5) / lookup.grid().width,
                       (*token / lookup.grid().width + 0.5) / lookup.grid().height);
  setValue(found_, readout(*frame_, selection_->pinned() ? middle : selection_->cursor().value_or(middle)));
  setValue(patch_, tr("row %1, column %2").arg(*token / lookup.grid().width).arg(*token % lookup.grid().width));
  auto* form = static_cast<QFormLayout*>(facts_->layout());
  form->setRowVisible(found_, !found_->text().isEmpty());
  for (QLabel* value : {class_, score_}) form->setRowVisible(value, found_->text().isEmpty());
  if (hidden) {
    for (QLabel* value : {score_, cluster_, size_, merged_, similarity_, row_}) form->setRowVisible(value, false);
    return;
  }
  for (QLabel* value : {cluster_, size_, merged_, similarity_}) form->setRowVisible(value, true);
  const int size = lookup.size(step, *token);
  setValue(cluster_, tr("%1 of %2").arg(lookup.cluster(step, *token)).arg(lookup.clusters(step)));
  setValue(size_, tr("%n patch(es)", nullptr, size));
  const int merged = lookup.mergedAt(step, *token);
  const auto& model = frame_->result.model;
  const bool inside = model && model->reduction.method != ReductionMethod::kMpm;
  setValue(merged_, merged == 0 ? tr("not yet")
                                : (inside ? tr("in block %1") : tr("before block %1")).arg(lookup.block(merged)));
  const bool similar = merged > 0 && static_cast<std::size_t>(merged) <= result.pair_similarity.size();
  setValue(similarity_,
           similar
               ? tr("%1 with its pair").arg(number(static_cast<double>(result.pair_similarity[merged - 1][*token]), 3))
               : tr("no pair"));
  setValue(row_, rowAge(*frame_, middle));
  form->setRowVisible(row_, !row_->text().isEmpty());
}

}  // namespace mpm::gui
