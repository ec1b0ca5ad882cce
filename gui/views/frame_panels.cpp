// SPDX-License-Identifier: Apache-2.0
#include "gui/views/frame_panels.h"

#include "gui/models/readout.h"
#include "vision/labels/classes.h"

namespace mpm::gui {

InspectorPanel::InspectorPanel(PatchSelection* selection, const LegendModel* legend, QWidget* parent)
    : QWidget(parent), selection_(selection), legend_(legend) {
  hint_ = wrapped(
      mutedLabel(tr("Point at a picture, or move the patch cursor with the arrow keys. A click pins the patch.")));
  facts_ = new QWidget;
  auto* form = unframed(new QFormLayout(facts_));
  form->setVerticalSpacing(4);
  const auto add = [&](const QString& name) {
    QLabel* value = wrapped(namedValue(new QLabel, name));
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form->addRow(mutedLabel(name), value);
    return value;
  };
  class_ = add(tr("Class"));
  score_ = add(tr("Score"));
  found_ = add(tr("At this place"));
  cluster_ = add(tr("Cluster"));
  size_ = add(tr("Size"));
  merged_ = add(tr("Merged"));
  similarity_ = add(tr("Similarity"));
  patch_ = add(tr("Patch"));
  row_ = add(tr("Reuse"));
  pin_ = mutedLabel();
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
  const int step = std::min(selection_->step(), lookup.steps() - 1);
  const auto label = frame_->classOfToken(*token);
  setValue(class_, !label                        ? tr("none: this model does not segment")
                   : *label < legend_->classes() ? legend_->name(*label)
                                                 : QString::fromStdString(vision::className({}, *label)));
  const Estimate& result = frame_->result.estimate;
  const auto score = *token < static_cast<int>(result.token_score.size()) ? result.token_score[*token] : -1.0F;
  setValue(score_, score >= 0 ? tr("%1 %").arg(number(static_cast<double>(score) * 100, 1)) : tr("not known"));
  const QPointF middle((*token % lookup.grid().width + 0.5) / lookup.grid().width,
                       (*token / lookup.grid().width + 0.5) / lookup.grid().height);
  setValue(found_, readout(*frame_, selection_->pinned() ? middle : selection_->cursor().value_or(middle)));
  auto* form = static_cast<QFormLayout*>(facts_->layout());
  form->setRowVisible(found_, !found_->text().isEmpty());
  for (QLabel* value : {class_, score_}) form->setRowVisible(value, found_->text().isEmpty());
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
  setValue(patch_, tr("row %1, column %2").arg(*token / lookup.grid().width).arg(*token % lookup.grid().width));
}

SpeedPanel::SpeedPanel(QWidget* parent) : QWidget(parent) {
  form_ = new QFormLayout;
  form_->setVerticalSpacing(4);
  const auto add = [form = form_](const QString& name) {
    QLabel* value = namedValue(new QLabel(QStringLiteral("–")), name);
    form->addRow(mutedLabel(name), value);
    return value;
  };
  in_ = add(tr("Frames in"));
  processed_ = add(tr("Processed"));
  dropped_ = add(tr("Dropped"));
  p50_ = add(tr("Median latency"));
  p95_ = add(tr("95 % within"));
  rows_ = wrapped(add(tr("Rows computed")));
  agreement_ = wrapped(add(tr("Agreement")));

  auto* stages = new QGridLayout;
  stages->setVerticalSpacing(4);
  const QString names[kStages] = {tr("Backbone"), tr("Merge"), tr("Restore"), tr("Head"), tr("Before and after")};
  for (int i = 0; i < kStages; ++i) {
    bars_[i] = new QProgressBar;
    bars_[i]->setRange(0, 1000);
    bars_[i]->setTextVisible(false);
    bars_[i]->setFixedHeight(10);
    times_[i] = namedValue(new QLabel, names[i]);
    stages->addWidget(mutedLabel(names[i]), i, 0);
    stages->addWidget(bars_[i], i, 1);
    stages->addWidget(times_[i], i, 2, Qt::AlignRight);
  }
  panelColumn(this, form_, headingLabel(tr("Last frame")), stages);
  setTimes({});
  setStatus({}, {});
}

void SpeedPanel::setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference) {
  const QLocale locale;
  const auto rate = [&](double fps, std::int64_t frames) {
    return tr("%1 fps, %2 in all").arg(number(fps, 1), locale.toString(qlonglong(frames)));
  };
  setValue(in_, rate(capture.fps, capture.in));
  setValue(processed_, rate(inference.fps, inference.processed));
  const double share =
      capture.in > 0 ? 100.0 * static_cast<double>(capture.dropped) / static_cast<double>(capture.in) : 0;
  setValue(dropped_, tr("%1 (%2 %)").arg(locale.toString(qlonglong(capture.dropped)), number(share)));
  setValue(p50_, tr("%1 ms").arg(number(inference.p50_ms, 1)));
  setValue(p95_, tr("%1 ms").arg(number(inference.p95_ms, 1)));
  const auto& reuse = inference.reuse;
  for (QLabel* value : {rows_, agreement_}) form_->setRowVisible(value, reuse.has_value());
  if (!reuse) return;
  setValue(rows_, tr("%1 %, mean %2 %").arg(number(100 * reuse->rows, 1), number(100 * reuse->all_rows.mean, 1)));
  const auto percent = [&](double value) { return number(value, 2); };
  setValue(agreement_, reuse->all_agreement.samples == 0
                           ? tr("no key frame compared yet")
                           : tr("%1 %, mean %2 %, lowest %3 %")
                                 .arg(percent(reuse->agreement), percent(reuse->all_agreement.mean),
                                      percent(reuse->all_agreement.min)));
}

void SpeedPanel::setTimes(const StageTimes& ms) {
  const double times[kStages] = {ms.backbone, ms.merge, ms.restore, ms.head, ms.preprocess + ms.postprocess};
  const double longest = std::max(0.1, *std::max_element(std::begin(times), std::end(times)));
  for (int i = 0; i < kStages; ++i) {
    bars_[i]->setValue(static_cast<int>(std::lround(1000 * times[i] / longest)));
    setValue(times_[i], tr("%1 ms").arg(number(times[i], 1)));
  }
}

}  // namespace mpm::gui
