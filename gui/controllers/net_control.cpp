// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/net_control.h"

#include "gui/views/labels.h"
#include "vision/labels/classes.h"

namespace mpm::gui {

NetControl::NetControl(const WindowOptions& options, LiveMonitor* live, OnShow* on_show, const ActionRegistry* actions,
                       QObject* parent)
    : QObject(parent),
      options_(options),
      live_(live),
      on_show_(on_show),
      actions_(actions),
      inference_(options.inference),
      choose_reuse_(options.choose_reuse) {
  inference_.reduce = kFullModel;  // none is chosen yet
  connect(live, &LiveMonitor::eventHappened, this, &NetControl::takeEvent);
}

void NetControl::runAs(const monitor::SessionOptions& camera, bool of_file) {
  choose_reuse_ = of_file ? camera.choose_reuse : options_.choose_reuse;
  live_->session().worker().setChooseReuse(choose_reuse_ && camera.choose_reuse);
  if (!of_file && !of_file_) return;
  of_file_ = of_file;
  const auto chosen = inference_.reduce;
  inference_ = of_file ? camera.inference : options_.inference;
  live_->session().worker().setOptions(inference_);
  inference_.reduce = chosen;
}

void NetControl::open(const QString& path, const std::optional<Reduction>& variant) {
  if (!model_) setBanner({});
  if (path.toStdString() != live_->session().model()) inference_.refine = options_.inference.refine;
  live_->change([&](monitor::Session& session) { session.worker().setModel(path.toStdString(), variant); });
  emit said(tr("Reading %1…").arg(QFileInfo(path).fileName()), Badge::kNone);
}

void NetControl::chooseReduction(const Reduction& variant) {
  inference_.reduce = variant;
  emit reductionChosen(variant);
  live_->change([&](monitor::Session& session) { session.worker().setReduction(variant); });
  sayWhenItShows(tr("reduction %1").arg(QString::fromStdString(toString(variant))));
}

void NetControl::compareWith(const std::optional<Reduction>& variant) {
  live_->change([&](monitor::Session& session) { session.worker().setCompare(variant); });
  if (variant) sayWhenItShows(tr("the comparison with %1").arg(QString::fromStdString(toString(*variant))));
  emit compareChanged(variant.has_value());
}

void NetControl::setSharpEdges(bool on) {
  inference_.refine = on ? Refine::kGuided : Refine::kNone;
  live_->change([this](monitor::Session& session) { session.worker().setRefine(*inference_.refine); });
  sayWhenItShows(on ? tr("sharp edges") : tr("edges as the model gives them"));
}

void NetControl::take(const std::shared_ptr<const ModelInfo>& model) {
  if (model == model_ || !model) return;
  const auto before = std::exchange(model_, model);
  running_ = live_->model();
  inference_.reduce = model->reduction;
  if (!before || before->task != model->task || vision::classNames(*before) != vision::classNames(*model))
    emit classesChanged(*model);
  if (!before) setBanner({});
  emit modelChanged();
}

// A stored picture keeps its banner, which says what it is.
void NetControl::setBanner(const QString& text) {
  if (!on_show_->stored()) on_show_->setBanner(text);
}

void NetControl::note(const std::string& text) {
  live_->session().addEvent({unixNow(), monitor::EventKind::kModel, monitor::Severity::kInfo, text});
}

void NetControl::takeEvent(const monitor::Event& event) {
  if (event.kind != monitor::EventKind::kModel || event.severity != monitor::Severity::kError) return;
  const QString text = QString::fromStdString(event.message);
  if (!model_) return setBanner(text);
  inference_.reduce = model_->reduction;
  const QString path = live_->model();
  emit refused(breakable(QString(text).replace(path, QFileInfo(path).fileName())));
}

// Without a frame after a while, show why.
void NetControl::sayWhenItShows(const QString& change) {
  const monitor::Session& session = live_->session();
  if (live_->repeats()) {
    emit said(tr("On this frame: %1").arg(change), Badge::kNone);
  } else if (session.isOpen() && session.paused()) {
    emit said(tr("It is paused; from the next frame on: %1").arg(change), Badge::kWarning);
  } else if (session.status().source.state == monitor::CaptureState::kEnded) {
    emit said(tr("The source has ended; once it is opened again (%1): %2").arg(actions_->keyOf("again"), change),
              Badge::kWarning);
  } else {
    emit said(tr("From the next frame on: %1").arg(change), Badge::kNone);
  }
}

}  // namespace mpm::gui
