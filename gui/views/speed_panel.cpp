// SPDX-License-Identifier: Apache-2.0
#include "gui/views/speed_panel.h"

#include "gui/models/readout.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {

SpeedPanel::SpeedPanel(QWidget* parent)
    : QWidget(parent),
      form_(new QFormLayout),
      in_(namedValue(new QLabel(QStringLiteral("–")), tr("Frames in"))),
      processed_(namedValue(new QLabel(QStringLiteral("–")), tr("Processed"))),
      dropped_(namedValue(new QLabel(QStringLiteral("–")), tr("Dropped"))),
      p50_(namedValue(new QLabel(QStringLiteral("–")), tr("Median latency"))),
      p95_(namedValue(new QLabel(QStringLiteral("–")), tr("95 % within"))),
      rows_(wrapped(namedValue(new QLabel(QStringLiteral("–")), tr("Rows computed")))),
      agreement_(wrapped(namedValue(new QLabel(QStringLiteral("–")), tr("Agreement")))) {
  form_->setVerticalSpacing(4);
  for (QLabel* value : {in_, processed_, dropped_, p50_, p95_, rows_, agreement_})
    form_->addRow(mutedLabel(valueName(value)), value);

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
  setValue(in_, rate(capture.fps, capture.frames_in));
  setValue(processed_, rate(inference.fps, inference.processed));
  const double share =
      capture.frames_in > 0 ? 100.0 * static_cast<double>(capture.dropped) / static_cast<double>(capture.frames_in) : 0;
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
