// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/judging.h"

#include "gui/models/recents.h"
#include "gui/views/questions.h"

namespace mpm::gui {

Judging::Judging(LiveMonitor* live, CameraConfigs* configs, HistoryBrowser* history, QWidget* window)
    : QObject(window), live_(live), configs_(configs), history_(history), window_(window) {
  connect(configs, &CameraConfigs::nightChanged, this, &Judging::add);
}

void Judging::add(const QString& source) {
  if (live_->database().isEmpty()) return;
  if (!running_) return begin(source);
  if (!waiting_.contains(source)) waiting_ << source;
}

void Judging::begin(const QString& source) {
  running_ = true;
  auto* job = new Job(
      [session = &live_->session(), name = sourceSpec(source).name(), config = configs_->camera(source).said,
       database = live_->database().toStdString()](const Job::Progress& progress) -> std::optional<QVariant> {
        const monitor::NightRule night = monitor::judgingRule(config, monitor::StoreReader(database));
        const auto go_on = [&](double share) { return progress(static_cast<int>(100 * share), 100); };
        return session->judge(name, night, go_on) ? std::optional(QVariant(true)) : std::nullopt;
      },
      this);
  showProgress(job, tr("Day and night"), tr("Judging day and night of what is stored…"), 0, window_);
  connect(job, &Job::ended, this, [this] {
    running_ = !waiting_.isEmpty();
    if (running_) begin(waiting_.takeFirst());
  });
  connect(job, &Job::finished, this, [this] { history_->takeJudged(); });
  connect(job, &Job::cancelled, this, [this] {
    emit said(tr("What is stored keeps its day and night; new samples are judged by the new rule"), Badge::kNone);
  });
  connect(job, &Job::failed, this, &Judging::failed);
}

}  // namespace mpm::gui
