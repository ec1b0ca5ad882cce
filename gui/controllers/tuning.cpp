// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/tuning.h"

#include "base/quantiles.h"
#include "gui/models/recents.h"
#include "gui/views/look.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {

Tuning::Tuning(LiveMonitor* live, const SourcePictures& pictures, QAction* pause, QWidget* window)
    : QObject(window), live_(live), pictures_(pictures), pause_(pause), window_(window) {
  connect(live_, &LiveMonitor::frameArrived, this, &Tuning::collect);
  connect(&look_, &QTimer::timeout, this, &Tuning::look);
}

void Tuning::ask(const EstimatorOptions& inference) {
  if (!live_->session().isOpen())
    return emit said(tr("Open a source first: it is tuned for what that shows"), Badge::kNone);
  const QStringList stored = files();
  const bool enough = stored.size() >= evaluation::kMinTunePictures;
  if (!enough && !live_->session().framesCome())
    return emit said(tr("No frames come: the source is paused, lost or at its end"), Badge::kBad);
  inference_ = inference;
  dialog_ = new TuneDialog(window_);
  connect(dialog_, &TuneDialog::used, this, &Tuning::chosen);
  connect(dialog_, &QDialog::finished, this, &Tuning::end);
  openDialog(dialog_);
  if (enough) {
    return measure([stored] {
      std::vector<cv::Mat> pictures;
      const auto count = static_cast<int>(stored.size());
      for (int i = 0; i < count; ++i) {
        if (isInSpread(i, count, evaluation::kTunePictures))
          pictures.push_back(vision::readPicture(stored[i].toStdString()));
      }
      return pictures;
    });
  }
  collection_.emplace();
  dialog_->showCollecting(0, evaluation::kTunePictures);
  look_.start(500);
}

QStringList Tuning::files() const {
  const QStringList stored = pictures_.stored();
  return live_->session().status().finished ? stored + pictures_.ofFolder() : stored;
}

void Tuning::collect(const LiveFramePtr& frame) {
  const monitor::CapturedFrame& captured = frame->result.frame;
  if (!collection_ || !frame->hasGrid() || captured.id == collection_->last_frame) return;
  constexpr std::int64_t kEvery = 2000;  // ms, of a camera: frames that follow each other at once are alike
  const std::int64_t now = steadyNow();
  if (!isNumbered(sourceSpec(live_->source())) && now - collection_->taken < kEvery) return;
  collection_->last_frame = captured.id;
  collection_->taken = now;
  collection_->frames.push_back(captured.image);
  const auto count = static_cast<int>(collection_->frames.size());
  dialog_->showCollecting(count, evaluation::kTunePictures);
  if (count == evaluation::kTunePictures) look();
}

// Goes on with what there is once no further frame comes.
void Tuning::look() {
  if (!collection_) return look_.stop();
  if (static_cast<int>(collection_->frames.size()) < evaluation::kTunePictures && live_->session().framesCome()) return;
  measure([pictures = std::exchange(collection_, {})->frames] { return pictures; });
}

// `pictures` is called on the thread of the measurement.
void Tuning::measure(const std::function<std::vector<cv::Mat>()>& pictures) {
  paused_ = !pause_->isChecked() && !live_->session().status().finished;
  if (paused_) pause_->setChecked(true);  // measured times are of the reductions alone
  dialog_->showProgress(0, 0);
  job_ = new Job(
      [pictures, model = live_->session().model(),
       options = inference_](const Job::Progress& progress) -> std::optional<QVariant> {
        auto rows = evaluation::tuneRows(model, options, pictures(), progress);
        if (!rows) return std::nullopt;
        return QVariant::fromValue(std::make_shared<const std::vector<evaluation::TuneRow>>(std::move(*rows)));
      },
      this);
  connect(job_, &Job::progressed, dialog_, &TuneDialog::showProgress);
  connect(job_, &Job::ended, dialog_, [this] { resume(); });
  connect(job_, &Job::ended, job_, &QObject::deleteLater);
  connect(job_, &Job::finished, dialog_,
          [this](const QVariant& rows) { dialog_->showRows(rows.value<TuneDialog::Rows>()); });
  connect(job_, &Job::failed, dialog_, &TuneDialog::showProblem);
}

// The job may need a moment to notice; nothing waits for it.
void Tuning::end() {
  collection_.reset();
  if (job_) job_->cancel();
  resume();
}

void Tuning::resume() {
  if (std::exchange(paused_, false)) pause_->setChecked(false);
}

}  // namespace mpm::gui
