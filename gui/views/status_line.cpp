// SPDX-License-Identifier: Apache-2.0
#include "gui/views/status_line.h"

#include <QLabel>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "gui/models/span_text.h"
#include "gui/views/look.h"
#include "gui/views/source_panel.h"

namespace mpm::gui {

StatusLine::StatusLine(QWidget* parent) : QStatusBar(parent) {
  setSizeGripEnabled(false);
  state_ = add(tr("Connection"), 0);
  age_ = add(tr("Age of the frame"), 0);
  notice_ = add(tr("Notice"), 1);
  storage_ = addRight(tr("Storage"));
  setBadge(storage_, "bad");
  recording_ = addRight(tr("Recording"));
  setBadge(recording_, "bad");
  speed_ = addRight(tr("Frames per second"));
  latency_ = addRight(tr("Latency"));
  tokens_ = addRight(tr("Tokens"));
  notice_timer_.setSingleShot(true);
  notice_timer_.setInterval(8000);
  connect(&notice_timer_, &QTimer::timeout, notice_, [this] { setValue(notice_, {}); });
}

QLabel* StatusLine::add(const QString& name, int stretch) {
  QLabel* label = namedValue(new QLabel(this), name);
  label->setContentsMargins(6, 2, 6, 2);
  addWidget(label, stretch);
  return label;
}

QLabel* StatusLine::addRight(const QString& name) {
  QLabel* label = namedValue(new QLabel(this), name);
  label->setContentsMargins(6, 2, 6, 2);
  addPermanentWidget(label);
  return label;
}

void StatusLine::setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference, bool open,
                           bool paused) {
  setValue(state_, paused && open ? tr("Paused") : stateText(capture));
  setBadge(state_, paused ? "warning" : stateBadge(capture));
  setValue(age_, open && isOld(capture) ? tr("frame of %1 ago").arg(spanText(capture.frame_age_s)) : QString());
  setValue(speed_, open ? tr("%1 fps").arg(QLocale().toString(inference.fps, 'f', 1)) : QString());
}

void StatusLine::setRecording(const QString& text) { setValue(recording_, text); }

void StatusLine::setStorageProblem(const QString& problem) {
  setValue(storage_, problem.isEmpty()
                         ? QString()
                         : fontMetrics().elidedText(tr("Samples are not stored: %1").arg(problem), Qt::ElideMiddle,
                                                    std::max(200, window()->width() / 3)));
  storage_->setToolTip(problem);
}

void StatusLine::setFrame(const LiveFrame& frame) {
  setValue(tokens_, tokensText(frame));
  const double ms = frame.result.segmentation.ms.total;
  setValue(latency_, ms > 0 ? tr("%1 ms").arg(QLocale().toString(ms, 'f', 1)) : QString());
}

void StatusLine::clearFrame() {
  setValue(latency_, {});
  setValue(tokens_, {});
}

void StatusLine::notify(const QString& text, const char* badge) {
  setBadge(notice_, badge);
  setValue(notice_, fontMetrics().elidedText(text, Qt::ElideMiddle, std::max(200, window()->width() / 2)));
  notice_->setToolTip(text);
  notice_timer_.start();
}

QString StatusLine::state() const { return state_->text(); }
QString StatusLine::age() const { return age_->text(); }
QString StatusLine::notice() const { return notice_->toolTip(); }
QString StatusLine::tokens() const { return tokens_->text(); }
QString StatusLine::storageProblem() const { return storage_->toolTip(); }

QString StatusLine::tokensText(const LiveFrame& frame) {
  const auto& tokens = frame.result.segmentation.tokens;
  if (tokens.empty()) return {};
  QStringList counts;
  for (double count : tokens) counts << QString::number(std::lround(count));
  const double merged = tokens.empty() || tokens.front() <= 0 ? 0 : 100 * (1 - tokens.back() / tokens.front());
  QString text = tr("tokens %1").arg(counts.join(QStringLiteral(" → ")));
  if (tokens.size() > 1) text += tr(" (−%1 %)").arg(QLocale().toString(merged, 'f', 0));
  return text;
}

}  // namespace mpm::gui
