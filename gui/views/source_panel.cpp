// SPDX-License-Identifier: Apache-2.0
#include "gui/views/source_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <cmath>

#include "gui/views/look.h"

namespace mpm::gui {

using monitor::CaptureState;

QString stateText(const monitor::CaptureStatus& status) {
  switch (status.state) {
    case CaptureState::kIdle:
      return SourcePanel::tr("Idle");
    case CaptureState::kOpening:
      return SourcePanel::tr("Opening…");
    case CaptureState::kLive:
      return SourcePanel::tr("Live");
    case CaptureState::kStalled:
      return SourcePanel::tr("Stalled");
    case CaptureState::kRetrying:
      return SourcePanel::tr("Retrying (%1, next in %2 s)")
          .arg(status.attempt)
          .arg(static_cast<int>(std::ceil(status.retry_in_s)));
    case CaptureState::kEnded:
      return SourcePanel::tr("Ended");
  }
  return {};
}

bool isOld(const monitor::CaptureStatus& status) {
  return status.state != CaptureState::kLive && status.state != CaptureState::kEnded && status.frame_age_s >= 0;
}

bool gaveNothing(const monitor::CaptureStatus& status) {
  return status.state == CaptureState::kEnded && status.in == 0;
}

const char* stateBadge(const monitor::CaptureStatus& status) {
  if (gaveNothing(status)) return "bad";
  switch (status.state) {
    case CaptureState::kLive:
      return "good";
    case CaptureState::kStalled:
      return "warning";
    case CaptureState::kRetrying:
      return "bad";
    default:
      return "";
  }
}

SourcePanel::SourcePanel(QWidget* parent) : QWidget(parent) {
  title_ = headingLabel(tr("No source"), this);
  title_->setWordWrap(true);
  detail_ = mutedLabel({}, this);
  detail_->setWordWrap(true);
  state_ = named(new QLabel(this), tr("Connection"));
  message_ = new QLabel(this);
  message_->setWordWrap(true);
  counters_ = mutedLabel({}, this);
  counters_->setWordWrap(true);
  model_ = headingLabel(tr("No model"), this);
  model_->setWordWrap(true);
  model_detail_ = mutedLabel({}, this);
  model_detail_->setWordWrap(true);
  auto* change = new QPushButton(tr("Open…"), this);
  change->setAccessibleName(tr("Open a source"));
  pause_ = new QPushButton(tr("Pause"), this);
  close_ = new QPushButton(tr("Close"), this);
  close_->setAccessibleName(tr("Close the source"));
  auto* model = new QPushButton(tr("Change model…"), this);

  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(6);
  for (QPushButton* button : {change, pause_, close_}) buttons->addWidget(button);
  buttons->addStretch();
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 8, 10, 10);
  column->setSpacing(4);
  for (QLabel* label : {title_, detail_, state_, message_, counters_}) column->addWidget(label);
  column->addSpacing(4);
  column->addLayout(buttons);
  column->addSpacing(12);
  column->addWidget(model_);
  column->addWidget(model_detail_);
  column->addSpacing(4);
  column->addWidget(model, 0, Qt::AlignLeft);
  column->addStretch();
  connect(change, &QPushButton::clicked, this, &SourcePanel::changeSourceRequested);
  connect(pause_, &QPushButton::clicked, this, &SourcePanel::pauseRequested);
  connect(close_, &QPushButton::clicked, this, &SourcePanel::closeRequested);
  connect(model, &QPushButton::clicked, this, &SourcePanel::changeModelRequested);
  setStatus({});
  setSource({});
}

void SourcePanel::setSource(const QString& source) {
  const bool open = !source.isEmpty();
  kind_ = sourceSpec(source).kind;
  title_->setText(open ? sourceTitle(source) : tr("No source"));
  const bool plain = kind_ == vision::SourceKind::kDemo || sourceTitle(source) == source;
  detail_->setText(open && !plain ? source : QString());
  detail_->setVisible(!detail_->text().isEmpty());
  pause_->setEnabled(open);
  close_->setEnabled(open);
}

void SourcePanel::setModel(const ModelInfo* info, const QString& path) {
  model_->setText(info             ? QString::fromStdString(info->facts.name)
                  : path.isEmpty() ? tr("No model")
                                   : tr("Reading the model…"));
  if (info)
    model_detail_->setText(tr("%1 blocks, %2 wide, %3 × %4 patches, %n class(es)", nullptr, info->classes)
                               .arg(info->blocks)
                               .arg(info->dim)
                               .arg(info->grid.height)
                               .arg(info->grid.width));
  else
    model_detail_->clear();
  model_->setToolTip(path);
}

void SourcePanel::setStatus(const monitor::CaptureStatus& status) {
  const bool held = paused_ && status.state != CaptureState::kIdle;
  state_->setText(held ? tr("Paused") : mpm::gui::stateText(status));
  setBadge(state_, held ? "warning" : stateBadge(status));
  message_->setText(QString::fromStdString(status.message));
  message_->setVisible(!status.message.empty() && status.state != CaptureState::kLive);
  const QLocale locale;
  const QString in = locale.toString(qlonglong(status.in));
  const bool video = kind_ == vision::SourceKind::kVideo && status.in > 1;
  QString counters = status.of > 0 && !video
                         ? tr("%1 of %2 pictures").arg(in, locale.toString(qlonglong(status.of)))
                         : tr("%1 frames in, %2 dropped").arg(in, locale.toString(qlonglong(status.dropped)));
  if (status.hanging > 0) counters += QStringLiteral(", ") + tr("%n read(s) hang", nullptr, status.hanging);
  if (video) counters += QLatin1Char('\n') + tr("It is played: frames that come while the model works are left out");
  counters_->setText(counters);
  counters_->setVisible(status.state != CaptureState::kIdle);
}

void SourcePanel::setPaused(bool paused) {
  paused_ = paused;
  pause_->setText(paused ? tr("Go on") : tr("Pause"));
}

QString SourcePanel::stateText() const { return state_->text(); }
QString SourcePanel::countersText() const { return counters_->text(); }

}  // namespace mpm::gui
