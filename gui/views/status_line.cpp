// SPDX-License-Identifier: Apache-2.0
#include "gui/views/status_line.h"

#include "gui/models/readout.h"
#include "gui/views/look.h"
#include "gui/views/source_panel.h"

namespace mpm::gui {

namespace {

constexpr int kWide = 1000;  // px, with space for a notice and the numbers

}  // namespace

StatusLine::StatusLine(QWidget* parent) : QStatusBar(parent) {
  setSizeGripEnabled(false);
  const auto add = [](const QString& name, Badge badge = Badge::kNone) {
    QLabel* label = namedValue(new ShortLabel, name);
    label->setContentsMargins(6, 2, 6, 2);
    setBadge(label, badge);
    return label;
  };
  addWidget(state_ = add(tr("Connection")));
  addWidget(age_ = add(tr("Age of the frame")));
  addWidget(notice_ = add(tr("Notice")), 1);
  addPermanentWidget(storage_ = add(tr("Storage"), Badge::kBad));
  addPermanentWidget(other_file_ = new QToolButton);
  other_file_->setText(tr("Store in a new file…"));
  connect(other_file_, &QToolButton::clicked, this, &StatusLine::otherFileRequested);
  addPermanentWidget(recording_ = add(tr("Recording"), Badge::kBad));
  addPermanentWidget(speed_ = add(tr("Frames per second")));
  addPermanentWidget(latency_ = add(tr("Latency")));
  addPermanentWidget(tokens_ = add(tr("Tokens")));
  notice_timer_.setSingleShot(true);
  notice_timer_.setInterval(8000);
  connect(&notice_timer_, &QTimer::timeout, notice_, [this] {
    setValue(notice_, {});
    showNumbers(true);
  });
}

void StatusLine::setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference, bool open,
                           bool paused) {
  setValue(state_, paused && open ? tr("Paused") : SourcePanel::stateText(capture));
  setBadge(state_, paused ? Badge::kWarning : SourcePanel::stateBadge(capture));
  setValue(age_, open && isOld(capture) ? tr("frame of %1 ago").arg(spanText(capture.frame_age_s)) : QString());
  setValue(speed_, open ? tr("%1 fps").arg(number(inference.fps, 1)) : QString());
}

void StatusLine::setRecording(const QString& text) { setValue(recording_, text); }

void StatusLine::setStorageProblem(const QString& problem, bool stopped) {
  other_file_->setVisible(stopped);
  setValue(storage_, problem.isEmpty() ? QString() : tr("Samples are not stored: %1").arg(problem));
  storage_->setToolTip(problem);
}

void StatusLine::setFrame(const LiveFramePtr& frame) {
  static const Estimate none;
  const Estimate& estimate = frame ? frame->result.estimate : none;
  QStringList counts;
  const auto& tokens = estimate.tokens;
  for (double count : tokens) counts << QString::number(std::lround(count));
  const QString arrow = QStringLiteral(" → ");
  tokens_->setToolTip(counts.join(arrow));
  constexpr qsizetype kMaxCounts = 3;  // a reduction in every block has a dozen
  if (counts.size() > kMaxCounts) counts = {counts.first(), QStringLiteral("…"), counts.last()};
  QString text = counts.isEmpty() ? QString() : tr("tokens %1").arg(counts.join(arrow));
  if (tokens.size() > 1) text += tr(" (−%1 %)").arg(number(100 * (1 - tokens.back() / tokens.front())));
  setValue(tokens_, text);
  const double ms = estimate.ms.total;
  setValue(latency_, ms > 0 ? tr("%1 ms").arg(number(ms, 1)) : QString());
}

// On a small screen the numbers step aside for as long as a notice is on show.
void StatusLine::showNumbers(bool shown) {
  for (QLabel* label : {speed_, latency_, tokens_}) label->setVisible(shown);
}

void StatusLine::notify(const QString& text, Badge badge) {
  setBadge(notice_, badge);
  setValue(notice_, text);
  notice_->setToolTip(text);
  showNumbers(width() > kWide);
  notice_timer_.start();
}

}  // namespace mpm::gui
