// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/model_teaching.h"

namespace mpm::gui {
namespace {

const QString kBefore = QStringLiteral("teach/before");

}  // namespace

ModelTeaching::ModelTeaching(NetControl* net, SettingsWriter* settings, TaughtModelsPanel* panel, QObject* parent)
    : QObject(parent),
      net_(net),
      settings_(settings),
      panel_(panel),
      before_(settings->read()->value(kBefore).toString()) {
  connect(panel, &TaughtModelsPanel::trainRequested, this, &ModelTeaching::wanted);
  connect(panel, &TaughtModelsPanel::cancelRequested, this, [this] {
    if (run_) run_->cancel();
  });
  connect(panel, &TaughtModelsPanel::useRequested, this, &ModelTeaching::use);
  connect(net, &NetControl::modelChanged, this, &ModelTeaching::takeModel);
  takeModel();
}

void ModelTeaching::use(const QString& model) {
  before_ = net_->path();
  next_ = model;
  settings_->set(kBefore, before_);
  net_->open(model, std::nullopt);
}

void ModelTeaching::takeModel() {
  const QString running = net_->path();
  panel_->setInUse(running, before_);
  if (!net_->model() || next_.isEmpty() || running != next_) return;
  next_.clear();
  net_->note("the model is now '" + running.toStdString() + "'; before it was '" + before_.toStdString() + "'");
  emit taught();
}

void ModelTeaching::train(const TrainerJob& job, const QString& folder) {
  QDir().mkpath(folder);
  QString model;
  for (int version = 1; model.isEmpty() || QFileInfo::exists(model); ++version)
    model = QStringLiteral("%1/v%2.onnx").arg(folder).arg(version);
  run_ = new Job(training(job, model), this);
  panel_->setTraining(true);
  panel_->setProblem({});
  connect(run_, &Job::progressed, panel_, &TaughtModelsPanel::setProgress);
  connect(run_, &Job::ended, this, [this] {
    std::exchange(run_, nullptr)->deleteLater();
    panel_->setTraining(false);
  });
  connect(run_, &Job::finished, this, [this](const QVariant& path) {
    emit made();
    emit said(tr("%1 is trained. Read its verdict, then use it").arg(QFileInfo(path.toString()).completeBaseName()),
              Badge::kGood);
  });
  connect(run_, &Job::cancelled, this,
          [this] { emit said(tr("The training was cancelled; nothing was written"), Badge::kNone); });
  connect(run_, &Job::failed, this, [this](const QString& why) {
    emit said(why, Badge::kBad);
    panel_->setProblem(why);
  });
}

}  // namespace mpm::gui
