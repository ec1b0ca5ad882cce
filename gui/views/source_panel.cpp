// SPDX-License-Identifier: Apache-2.0
#include "gui/views/source_panel.h"

#include <string_view>

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {
namespace {

using monitor::CaptureState;

}  // namespace

QString SourcePanel::stateText(const monitor::CaptureStatus& status) {
  if (status.state == CaptureState::kRetrying)
    return tr("Retrying (%1, next in %2 s)").arg(status.attempt).arg(static_cast<int>(std::ceil(status.retry_in_s)));
  const QString texts[] = {tr("Idle"), tr("Opening…"), tr("Live"), tr("Stalled"), QString(), tr("Ended")};
  return texts[static_cast<int>(status.state)];
}

QString SourcePanel::storedText(const monitor::SessionStatus& all) {
  if (!all.finished || all.pictures == 0) return {};
  return tr("%Ln of %1 pictures are stored", nullptr, static_cast<int>(all.stored))
      .arg(QLocale().toString(qlonglong(all.pictures)));
}

// Sources report in English, as events store it. This message has a translation, because the end of a folder is nothing
// that a person would search the web for.
QString SourcePanel::messageText(const monitor::CaptureStatus& status) {
  if (status.unreadable == 0) return QString::fromStdString(status.message);
  return tr("%Ln of %1 pictures could not be read", nullptr, static_cast<int>(status.unreadable))
      .arg(QLocale().toString(qlonglong(status.unreadable + status.frames_in)));
}

bool isOld(const monitor::CaptureStatus& status) {
  return status.state != CaptureState::kLive && status.state != CaptureState::kEnded && status.frame_age_s >= 0;
}

bool gaveNothing(const monitor::CaptureStatus& status) {
  return status.state == CaptureState::kEnded && status.frames_in == 0;
}

Badge SourcePanel::stateBadge(const monitor::SessionStatus& all) {
  const std::string_view word = all.word();
  if (word == "lost" || gaveNothing(all.source)) return Badge::kBad;
  if (word == "stalled" || word == "not_writing") return Badge::kWarning;
  return all.source.state == CaptureState::kLive ? Badge::kGood : Badge::kNone;
}

SourcePanel::SourcePanel(const Actions& actions, QWidget* parent)
    : QWidget(parent),
      pause_(actions.pause),
      title_(wrapped(headingLabel())),
      detail_(wrapped(mutedLabel())),
      state_(namedValue(wrapped(new QLabel), tr("Connection"))),
      message_(wrapped(new QLabel)),
      counters_(wrapped(mutedLabel())),
      model_(wrapped(headingLabel(tr("No model")))),
      model_detail_(wrapped(mutedLabel())),
      close_(named(pushButton(actions.close, tr("Close")), tr("Close the source"))) {
  auto* change = named(pushButton(actions.open, tr("Open…")), tr("Open a source"));
  QPushButton* pause = pushButton(actions.pause, tr("Pause"));
  connect(actions.pause, &QAction::toggled, pause,
          [this, pause] { pause->setText(pause_->isChecked() ? tr("Go on") : tr("Pause")); });
  QPushButton* model = pushButton(actions.model, tr("Change model…"));

  QBoxLayout* buttons = fill(new QVBoxLayout, wrappingRow(6, {change, pause, close_}));
  buttons->setContentsMargins(0, 4, 0, 12);
  QBoxLayout* model_row = leftRow(model);
  model_row->setContentsMargins(0, 4, 0, 0);
  panelColumn(this, title_, detail_, state_, message_, counters_, buttons, model_, model_detail_, model_row)
      ->setSpacing(4);
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
  close_->setEnabled(open);
}

void SourcePanel::setModel(const ModelInfo* info, const QString& path) {
  model_->setText(info             ? breakable(QString::fromStdString(info->facts.name))
                  : path.isEmpty() ? tr("No model")
                                   : tr("Reading the model…"));
  model_->setToolTip(path);
  if (!info) return model_detail_->clear();
  model_detail_->setText(
      (info->task == Task::kDepth
           ? tr("%1 blocks of width %2, %3 × %4 patches (width × height), depth")
           : tr("%1 blocks of width %2, %3 × %4 patches (width × height), %n class(es)", nullptr, info->classes))
          .arg(info->blocks)
          .arg(info->dim)
          .arg(info->grid.width)
          .arg(info->grid.height));
}

void SourcePanel::setStatus(const monitor::SessionStatus& all) {
  const monitor::CaptureStatus& status = all.source;
  const bool held = pause_->isChecked() && status.state != CaptureState::kIdle;
  setValue(state_, held ? tr("Paused") : stateText(all.shownSource()), held ? Badge::kWarning : stateBadge(all));
  message_->setText(messageText(status));
  message_->setVisible(!status.message.empty() && status.state != CaptureState::kLive);
  const QLocale locale;
  const QString in = locale.toString(qlonglong(status.frames_in));
  const bool video = kind_ == vision::SourceKind::kVideo && status.frames_in > 1;
  QString counters = storedText(all);
  if (counters.isEmpty()) {
    counters = status.frame_count > 0 && !video
                   ? tr("%Ln of %1 pictures", nullptr, static_cast<int>(status.frames_in))
                         .arg(locale.toString(qlonglong(status.frame_count)))
                   : tr("%1 frames in, %2 dropped").arg(in, locale.toString(qlonglong(status.dropped)));
  }
  if (status.hanging > 0) counters += QStringLiteral(", ") + tr("%n read(s) hang", nullptr, status.hanging);
  if (video) counters += QLatin1Char('\n') + tr("It is played: frames that come while the model works are left out");
  counters_->setText(counters);
  counters_->setVisible(status.state != CaptureState::kIdle);
}

}  // namespace mpm::gui
