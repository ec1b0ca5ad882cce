// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/tuning.h"

#include <opencv2/imgcodecs.hpp>

#include "base/quantiles.h"
#include "gui/models/recents.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

void markDifferences(evaluation::TuneResult& result) {
  cv::Mat full;
  for (const evaluation::TuneRow& row : result.rows)
    if (row.variant == kFullModel) full = row.example.clone();
  for (evaluation::TuneRow& row : result.rows) row.example.setTo(TuneDialog::kDiffers, row.example != full);
}

}  // namespace

Tuning::Tuning(const EstimatorOptions& inference, LiveMonitor* live, const PictureStore* pictures,
               const FolderBrowser* folder, QAction* pause, QWidget* window)
    : QObject(window),
      inference_(inference),
      live_(live),
      pictures_(pictures),
      folder_(folder),
      pause_(pause),
      window_(window) {
  inference_.reuse = {};  // its pictures do not follow each other
  connect(live_, &LiveMonitor::frameArrived, this, &Tuning::collect);
  connect(&look_, &QTimer::timeout, this, &Tuning::look);
}

void Tuning::ask(const ClassPaint& paint) {
  if (!live_->session().isOpen())
    return emit said(tr("Open a source first: it is tuned for what that shows"), Badge::kNone);
  const bool numbered = isNumbered(sourceSpec(live_->source()));
  dialog_ =
      new TuneDialog(static_cast<int>(files().size()), numbered ? 0 : TuneDialog::Choice().every_s, paint, window_);
  connect(dialog_, &TuneDialog::startRequested, this, &Tuning::start);
  connect(dialog_, &TuneDialog::used, this, &Tuning::chosen);
  connect(dialog_, &QDialog::finished, this, &Tuning::end);
  openDialog(dialog_);
}

QStringList Tuning::files() const {
  const QStringList stored = pictures_->filesOf(live_->source());
  return live_->session().status().finished ? stored + folder_->files() : stored;
}

void Tuning::start() {
  const TuneDialog::Choice choice = dialog_->choice();
  if (!choice.stored) {
    if (!live_->session().framesCome())
      return dialog_->showProblem(tr("No frames come: the source is paused, lost or at its end"));
    frames_.clear();
    collecting_ = true;
    last_taken_ = 0;
    dialog_->showCollecting(0, choice.pictures);
    return look_.start(500);
  }
  measure([all = files(), most = choice.pictures] {
    std::vector<evaluation::TunePicture> pictures;
    const auto count = static_cast<int>(all.size());
    for (int i = 0; i < count; ++i)
      if (isInSpread(i, count, most))
        pictures.push_back({.image = vision::readPictureFile(all[i].toStdString(), cv::IMREAD_COLOR)});
    return pictures;
  });
}

void Tuning::collect(const LiveFramePtr& frame) {
  const monitor::CapturedFrame& captured = frame->result.frame;
  if (!collecting_ || !frame->hasGrid() || captured.id == last_frame_) return;
  const TuneDialog::Choice choice = dialog_->choice();
  const std::int64_t now = steadyNow();
  if (static_cast<double>(now - last_taken_) < choice.every_s * 1000) return;
  last_frame_ = captured.id;
  last_taken_ = now;
  frames_.push_back({.image = captured.image});
  dialog_->showCollecting(static_cast<int>(frames_.size()), choice.pictures);
  if (static_cast<int>(frames_.size()) == choice.pictures) look();
}

// Goes on with what there is once no further frame comes.
void Tuning::look() {
  if (!collecting_) return look_.stop();
  if (static_cast<int>(frames_.size()) < dialog_->choice().pictures && live_->session().framesCome()) return;
  collecting_ = false;
  look_.stop();
  measure([pictures = std::exchange(frames_, {})] { return pictures; });
}

// `pictures` is called on the thread of the search.
void Tuning::measure(const std::function<std::vector<evaluation::TunePicture>()>& pictures) {
  paused_ = !pause_->isChecked() && !live_->session().status().finished;
  if (paused_) pause_->setChecked(true);  // measured times are of the search alone
  dialog_->showMeasuring();
  evaluation::TuneOptions options;
  options.model = live_->session().model();
  options.segmenter = inference_;
  options.segmenter.read.convert = inference_.read.convert.with(kFullModel);
  options.agreement = dialog_->choice().agreement;
  job_ = new Job(
      [pictures, options](const Job::Progress& progress) mutable -> std::optional<QVariant> {
        options.progress = progress;
        auto result = evaluation::tune(pictures(), options);
        if (!result) return std::nullopt;
        markDifferences(*result);
        return QVariant::fromValue(std::make_shared<const evaluation::TuneResult>(std::move(*result)));
      },
      this);
  connect(job_, &Job::progressed, dialog_, &TuneDialog::showProgress);
  connect(job_, &Job::ended, dialog_, [this] { resume(); });
  connect(job_, &Job::ended, job_, &QObject::deleteLater);
  connect(job_, &Job::finished, dialog_,
          [this](const QVariant& result) { dialog_->showResult(result.value<TuneDialog::Result>()); });
  connect(job_, &Job::failed, dialog_, &TuneDialog::showProblem);
}

// The job may need a moment to notice; nothing waits for it.
void Tuning::end() {
  collecting_ = false;
  frames_.clear();
  if (job_) job_->cancel();
  resume();
}

void Tuning::resume() {
  if (std::exchange(paused_, false)) pause_->setChecked(false);
}

}  // namespace mpm::gui
