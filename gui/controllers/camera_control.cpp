// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/camera_control.h"

#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "gui/views/source_panel.h"
#include "monitor/watch/camera_plan.h"

namespace mpm::gui {

CameraControl::CameraControl(const WindowOptions& options, LiveMonitor* live, OnShow* on_show, CameraConfigs* configs,
                             NetControl* net, const ActionRegistry* actions, QObject* parent)
    : QObject(parent),
      options_(options),
      live_(live),
      on_show_(on_show),
      configs_(configs),
      net_(net),
      actions_(actions) {
  connect(live, &LiveMonitor::frameArrived, this, &CameraControl::takeFrame);
  connect(live, &LiveMonitor::stateChanged, this, &CameraControl::takeState);
  connect(live, &LiveMonitor::ticked, this, &CameraControl::tick);
  connect(live, &LiveMonitor::eventHappened, this, &CameraControl::takeEvent);
  connect(net, &NetControl::modelChanged, this, [this] {
    if (on_show_->liveFrame()) remember();
  });
  connect(configs, &CameraConfigs::changed, this, &CameraControl::takeConfig);
  connect(configs, &CameraConfigs::regionsChanged, this, [this] {
    live_->change([this](monitor::Session& session) { session.setRegions(configs_->regions(live_->source())); });
    takeRegions();
  });
  connect(configs, &CameraConfigs::proposed, this, &CameraControl::takeRegions);
  connect(configs, &CameraConfigs::statesChanged, this, [this](const QString& of) {
    if (of == live_->source()) session().setStates(configs_->plan(of).states);
    takeRegions();
  });
}

void CameraControl::begin(const QString& asked, bool again) {
  if (asked.isEmpty()) return;
  const QString opened = asked == QLatin1String("demo:") ? demoSource() : asked;
  net_->runAs(configs_->camera(opened).session, configs_->follows(opened));
  monitor::CameraPlan plan = configs_->plan(opened);
  if (options_.factory) plan.factory = options_.factory(plan.source);
  plan.again = again;
  live_->open(plan);
  on_show_->setLive(Live{.asked = asked, .opened = opened, .source = describe(opened)});
  keepByConfig();
  endPause(true);
  emit this->opened(opened, plan.archive ? std::optional(plan.archive->times) : std::nullopt);
  if (session().model().empty())
    on_show_->setBanner(tr("No model yet: choose one with Ctrl+M, or drop an ONNX file here"));
  tick();
}

void CameraControl::openAgain() {
  if (session().isOpen()) open(on_show_->asked());
}

void CameraControl::measureAgain() {
  if (session().isOpen()) begin(on_show_->asked(), true);
}

void CameraControl::close() {
  live_->close();
  on_show_->setLive(std::nullopt);
  endPause(false);
  emit closed();
  tick();
}

void CameraControl::setPaused(bool on) {
  if (on && session().status().finished) {
    const QSignalBlocker quiet(actions_->action("pause"));
    actions_->action("pause")->setChecked(false);
    return emit said(
        !sourceSpec(on_show_->opened()).isFolder()
            ? tr("The source has come to its end: nothing is left to pause. %1 plays it again")
                  .arg(actions_->keyOf("again"))
            : tr("The folder has come to its end: nothing is left to pause. %1 and %2 go through its "
                 "pictures, %3 plays it again")
                  .arg(actions_->keyOf("previous_picture"), actions_->keyOf("next_picture"), actions_->keyOf("again")),
        Badge::kNone);
  }
  session().setPaused(on);
  if (!on) on_show_->choose({});
  tick();
}

// A pause is of the source that was paused.
void CameraControl::endPause(bool open) const {
  QAction* pause = actions_->action("pause");
  pause->setChecked(false);
  pause->setEnabled(open);
}

ShownSource CameraControl::describe(const QString& opened) const {
  return {.name = live_->source(),
          .clock = configs_->plan(opened).archiveClock(),
          .regions = configs_->regions(live_->source()),
          .states = configs_->states(live_->source())};
}

// The frame on show is measured in the new regions; a stored picture says what was measured then.
void CameraControl::takeRegions() {
  if (!on_show_->live()) return;
  on_show_->describe(describe(on_show_->opened()));
  const LiveFramePtr frame = on_show_->liveFrame();
  if (!frame || !frame->result.model) return;
  const auto again = std::make_shared<LiveFrame>(*frame);
  again->sample = session().measure(again->result);
  on_show_->takeFrame(again);
}

void CameraControl::takeConfig(const QString& of) {
  const Live* const live = on_show_->live();
  if (!live || (of != live->asked && of != live->source.name)) return;
  // Also the frame that stays on show, where no other one comes: something else may have to be hidden in it.
  live_->change([this](monitor::Session& session) { session.setRules(configs_->plan(on_show_->opened())); });
  keepByConfig();
}

void CameraControl::keepByConfig() {
  const monitor::SessionOptions kept = configs_->camera(on_show_->opened()).session;
  session().setRetention(kept.store.keep_days, kept.store.max_megabytes);
  session().snapshots().setOptions(configs_->snapshotOptions(on_show_->opened(), live_->pictures()));
  session().setEventCommand(kept.on_event);
}

void CameraControl::takeFrame(const LiveFramePtr& frame) {
  if (!on_show_->live()) return;
  const bool first = !on_show_->liveFrame();
  net_->take(frame->result.model);
  on_show_->takeFrame(frame);
  if (first) remember();
  emit frameTaken(frame);
}

// Only what gave a frame: a source that was mistyped must not be what is gone on with after a power cut.
void CameraControl::remember() {
  emit watched(on_show_->asked(), net_->model() ? std::optional(net_->model()->reduction) : std::nullopt);
}

void CameraControl::takeEvent(const monitor::Event& event) {
  const QString text = QString::fromStdString(event.message);
  if (event.kind != monitor::EventKind::kSource) emit logged(text);  // takeState() says it in the user's language
  const bool error = event.severity == monitor::Severity::kError;
  if (event.severity != monitor::Severity::kInfo) emit said(text, error ? Badge::kBad : Badge::kWarning);
}

void CameraControl::takeState(const monitor::CaptureStatus& status) {
  const QString message = SourcePanel::messageText(status);
  emit logged(tr("Source: %1").arg(SourcePanel::stateText(status)) +
              (message.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(message)));
  tick();
}

void CameraControl::tick() {
  const monitor::SessionStatus status = session().status();
  if (!on_show_->liveFrame()) net_->take(status.inference.info);  // no frame brings it
  const bool open = session().isOpen(), old = open && isOld(status.source);
  if (!on_show_->stored() && open && net_->model()) {
    on_show_->setBanner(
        old ? tr("%1: the last frame is %2 old")
                  .arg(SourcePanel::stateText(status.shownSource()), spanText(status.source.frame_age_s))
        : gaveNothing(status.source) ? QString::fromStdString(status.source.message)
                                     : QString());
  }
  emit statusChanged(status);
  if (const QString stored = SourcePanel::storedText(status); !stored.isEmpty() && on_show_->reportEnd())
    emit said(stored, status.stored == status.pictures ? Badge::kGood : Badge::kWarning);
}

monitor::CameraConfig CameraControl::config() const {
  // For a watch file, which lies in another folder than that in which the app was started.
  const auto absolute = [](const QString& path) {
    return path.isEmpty() ? std::string() : QFileInfo(path).absoluteFilePath().toStdString();
  };
  const QString source = on_show_->opened();
  monitor::CameraConfig config = configs_->config(source);
  config.source = vision::redactCredentials(source.toStdString());
  config.model = live_->model().isEmpty() ? "" : net_->path().toStdString();
  monitor::setInference(config, net_->inference());
  config.reuse = net_->choosesReuse() ? "" : toString(net_->inference().reuse);
  config.db = absolute(live_->database());
  if (config.times.empty() && !configs_->knowsTimes(source)) config.times = "none";
  if (config.snapshot_every) config.snapshots = absolute(live_->pictures());
  if (!config.snapshot_every) config.keep_snapshots = config.min_free = std::nullopt;  // no pictures are written
  config.merge_maps = config.merge_maps && config.snapshot_every;
  return config;
}

void CameraControl::copyCommandLine() {
  if (!session().isOpen()) return emit said(tr("Open a source first: each has its own"), Badge::kNone);
  const QString opened = on_show_->opened(), file = configs_->file(opened);
  configs_->write(opened, config());
  const QString line =
      QStringLiteral("mpm monitor --watch '%1'").arg(QString(file).replace(QLatin1Char('\''), QLatin1String("'\\''")));
  QApplication::clipboard()->setText(line);
  emit said(tr("Copied: %1").arg(line), Badge::kGood);
}

}  // namespace mpm::gui
