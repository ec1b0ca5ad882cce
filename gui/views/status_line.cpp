// SPDX-License-Identifier: Apache-2.0
#include "gui/views/status_line.h"

#include "gui/models/readout.h"
#include "gui/views/source_panel.h"

namespace mpm::gui {
namespace {

using monitor::CaptureState;

}  // namespace

StatusLine::StatusLine(QWidget* parent)
    : QStatusBar(parent),
      state_(namedValue(shortLabel(), tr("Connection"))),
      age_(namedValue(shortLabel(), tr("Age of the frame"))),
      notice_(namedValue(shortLabel(), tr("Notice"))),
      alarms_(namedValue(shortLabel(), tr("Alarms"))),
      storage_(namedValue(shortLabel(), tr("Storage"))),
      recording_(namedValue(shortLabel(), tr("Recording"))),
      speed_(namedValue(shortLabel(), tr("Frames per second"))),
      latency_(namedValue(shortLabel(), tr("Latency"))),
      tokens_(namedValue(shortLabel(), tr("Tokens"))),
      other_file_(new QToolButton) {
  setSizeGripEnabled(false);
  for (QLabel* label : {state_, age_, notice_, alarms_, storage_, recording_, speed_, latency_, tokens_})
    label->setContentsMargins(6, 2, 6, 2);
  for (QLabel* label : {state_, age_, notice_, speed_, latency_, tokens_}) setBadge(label, Badge::kNone);
  for (QLabel* label : {alarms_, storage_, recording_}) setBadge(label, Badge::kBad);
  addWidget(state_);
  addWidget(age_);
  addWidget(notice_, 1);
  for (QWidget* widget : QWidgetList{alarms_, storage_, other_file_, recording_, speed_, latency_, tokens_})
    addPermanentWidget(widget);
  other_file_->setText(tr("Store in a new file…"));
  connect(other_file_, &QToolButton::clicked, this, &StatusLine::otherFileRequested);
  notice_timer_.setSingleShot(true);
  notice_timer_.setInterval(8000);
  connect(&notice_timer_, &QTimer::timeout, notice_, [this] {
    setValue(notice_, {});
    showNumbers(true);
  });
}

void StatusLine::setStatus(const monitor::SessionStatus& status, bool open, bool paused) {
  const monitor::CaptureStatus& source = status.source;
  setValue(state_, paused && open ? tr("Paused") : SourcePanel::stateText(status.shownSource()),
           paused ? Badge::kWarning : SourcePanel::stateBadge(status));
  setValue(age_, open && isOld(source) ? tr("frame of %1 ago").arg(spanText(source.frame_age_s)) : QString());
  setValue(speed_, open ? tr("%1 fps").arg(number(status.inference.fps, 1)) : QString());
}

void StatusLine::setStorageProblem(const QString& problem, bool stopped) {
  other_file_->setVisible(stopped);
  setValue(storage_, problem.isEmpty() ? QString() : tr("Samples are not stored: %1").arg(problem));
  storage_->setToolTip(problem);
  storage_->setMaximumWidth(width() / 3);  // it leaves room for the rest
}

void StatusLine::setAlarms(const QStringList& ringing) {
  const auto count = static_cast<int>(ringing.size());
  setValue(alarms_, count == 0 ? QString() : tr("%n alarm(s) ring", nullptr, count));
  alarms_->setToolTip(ringing.join(QLatin1Char('\n')));
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
  if (tokens.size() > 1) {
    const QString fewer = number(100 * (1 - tokens.back() / tokens.front()));
    text += (fewer == number(0) ? tr(" (%1 %)") : tr(" (−%1 %)")).arg(fewer);
  }
  setValue(tokens_, text);
  const double ms = estimate.ms.total;
  setValue(latency_, ms > 0 ? tr("%1 ms").arg(number(ms, 1)) : QString());
}

// On a small screen the numbers step aside for as long as a notice is on show.
void StatusLine::showNumbers(bool shown) {
  for (QLabel* label : {speed_, latency_, tokens_}) label->setVisible(shown);
}

void StatusLine::notify(const QString& text, Badge badge) {
  constexpr int kWide = 1000;  // px, with space for a notice and the numbers
  setValue(notice_, text, badge);
  notice_->setToolTip(text);
  showNumbers(width() > kWide);
  notice_timer_.start();
}

}  // namespace mpm::gui
