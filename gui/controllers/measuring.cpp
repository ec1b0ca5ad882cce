// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/measuring.h"

#include "gui/views/dialogs.h"

namespace mpm::gui {

Measuring::Measuring(Watching* watching, QWidget* window) : QObject(window), watching_(watching), window_(window) {
  connect(watching_->parts().rules, &WatchRules::regionsChanged, this, &Measuring::offer);
}

qint64 Measuring::stored() const {
  const Watching::Parts& parts = watching_->parts();
  const auto record = parts.history->chartPanel()->record();
  const bool ours = record && record->archive && parts.history->foreignName().isEmpty() &&
                    record->name == parts.live->session().source();
  return ours ? record->samples : 0;
}

void Measuring::ask() {
  if (running_) return emit said(tr("The pictures are being measured already"), Badge::kNone);
  if (stored() > 0) return offer();
  emit said(tr("Open a folder of pictures with times first: once they are stored, they can be measured again"),
            Badge::kNone);
}

void Measuring::offer() {
  const qint64 pictures = stored();
  if (pictures == 0 || running_) return;
  delete question_;
  question_ = question(window_, tr("Measure again"),
                       tr("Measure the %n stored picture(s) again?", nullptr, static_cast<int>(pictures)),
                       {tr("Measure again"), tr("Not now")}, Answer::kYes, [this] { begin(); });
  question_->setInformativeText(
      tr("With the model, regions and states of now. What is stored stays until all pictures are measured."));
  openDialog(question_);
}

void Measuring::begin() {
  const Watching::Parts& parts = watching_->parts();
  if (running_ || stored() == 0 || !watching_->model()) return;
  monitor::SessionOptions options{.model = parts.live->session().model(), .inference = watching_->inference()};
  options.inference.read.convert.reduce = watching_->model()->reduction;
  options.inference.refine = watching_->model()->facts.refine;
  options.inference.reuse = {};
  options.database = parts.history->ownDatabase().toStdString();
  running_ = true;
  auto* job = new Job(
      [options, watch = parts.rules->watchOptions(watching_->asked())](
          const Job::Progress& progress) -> std::optional<QVariant> {
        const auto again = monitor::measureAgain(options, watch, [&](std::int64_t done, std::int64_t all) {
          return progress(static_cast<int>(done), static_cast<int>(std::max<std::int64_t>(1, all)));
        });
        return again ? std::optional(QVariant::fromValue(*again)) : std::nullopt;
      },
      this);
  connect(job, &Job::ended, this, [this] { running_ = false; });
  connect(job, &Job::finished, this, [this, archive = parts.live->source()](const QVariant& again) {
    take(again.value<monitor::MeasuredAgain>(), archive);
  });
  connect(job, &Job::cancelled, this,
          [this] { emit said(tr("Measuring was cancelled; what is stored is as it was"), Badge::kNone); });
  connect(job, &Job::failed, this, &Measuring::failed);
  showProgress(job, tr("Measure again"), tr("Measuring the stored pictures again…"), 0, window_);
}

// Another source may be open by now, and goes on.
void Measuring::take(const monitor::MeasuredAgain& again, const QString& archive) {
  LiveMonitor& live = *watching_->parts().live;
  const bool open = live.source() == archive;
  if (open) live.close();
  live.session().replaceSamples(again.database);
  if (open) watching_->open(QString(watching_->asked()));
  emit said(tr("%1 of %2 pictures are measured again").arg(again.samples).arg(again.pictures),
            again.samples == again.pictures ? Badge::kGood : Badge::kWarning);
}

}  // namespace mpm::gui
