// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/judging.h"

#include "gui/models/recents.h"
#include "gui/views/dialogs.h"

namespace mpm::gui {

Judging::Judging(Watching* watching, QWidget* window) : QObject(window), watching_(watching), window_(window) {
  connect(watching->parts().rules, &WatchRules::nightChanged, this, &Judging::begin);
}

void Judging::begin(const QString& source) {
  const Watching::Parts& parts = watching_->parts();
  const auto record = parts.history->chartPanel()->record();
  const std::string name = sourceSpec(source).name();
  if (!record || record->name != name || !parts.history->foreignName().isEmpty()) return;  // nothing of it is stored
  const int others = running_++;
  auto* job = new Job(
      [session = &parts.live->session(), name,
       night = parts.rules->cameraPlan(source).night](const Job::Progress& progress) -> std::optional<QVariant> {
        const auto go_on = [&](double share) { return progress(static_cast<int>(100 * share), 100); };
        return session->judge(name, night, go_on) ? std::optional(QVariant(true)) : std::nullopt;
      },
      this);
  showProgress(job, tr("Day and night"), tr("Judging day and night of what is stored…"), others, window_);
  connect(job, &Job::ended, this, [this] { --running_; });
  connect(job, &Job::finished, this, [this] { watching_->parts().history->takeJudged(); });
  connect(job, &Job::cancelled, this, [this] {
    emit said(tr("What is stored keeps its day and night; new samples are judged by the new rule"), Badge::kNone);
  });
  connect(job, &Job::failed, this, &Judging::failed);
}

}  // namespace mpm::gui
