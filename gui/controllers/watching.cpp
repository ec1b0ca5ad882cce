// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/watching.h"

#include "gui/models/readout.h"
#include "monitor/watch/camera_plan.h"
#include "vision/labels/classes.h"

namespace mpm::gui {

Watching::Watching(const WindowOptions& options, const Parts& parts, QObject* parent)
    : QObject(parent),
      options_(options),
      parts_(parts),
      inference_(options.inference),
      choose_reuse_(options.choose_reuse) {
  connect(parts.live, &LiveMonitor::frameArrived, this, &Watching::takeFrame);
  connect(parts.live, &LiveMonitor::stateChanged, this, &Watching::takeState);
  connect(parts.live, &LiveMonitor::ticked, this, &Watching::tick);
  connect(parts.live, &LiveMonitor::eventHappened, this, &Watching::takeEvent);
  connect(parts.opener, &Opener::sourceChosen, this, [this](const QString& chosen) {
    parts_.rules->knowsTimes(chosen) || parts_.opener->knows(chosen) ? open(chosen)
                                                                     : parts_.rules->askTimes(chosen, true);
  });
  connect(parts.opener, &Opener::modelChosen, this, &Watching::openModel);
  connect(parts.opener, &Opener::reductionChosen, this, [this](const Reduction& variant) {
    parts_.live->change([&](monitor::Session& session) { session.worker().setReduction(variant); });
  });
  connect(parts.opener, &Opener::newDatabaseChosen, this, [this](const QString& path) {
    session().storeIn(path.toStdString());
    parts_.history->setOwnDatabase(path);
  });
  connect(parts.folder, &FolderBrowser::chosen, this, [this](const QString& file) {
    if (!file.isEmpty()) backToLive();
    on_show_.choose(file);
  });
  connect(parts.history, &HistoryBrowser::timePicked, this, &Watching::lookForStored);
  connect(parts.pictures, &PictureStore::loaded, this, [this](const StoredSample& picture) {
    if (on_show_.asked() == picture.question) showStored(picture, storedText(picture.text));
  });
  connect(&parts.history->history(), &History::sampleReady, this, &Watching::showSample);
  connect(parts.pictures, &PictureStore::listed, this, [this] {
    if (on_show_.stored() && !frame()) loadLastPicture();  // they were not listed yet when its sample was shown
  });
  const auto want_last = [this] {
    if (!parts_.history->foreignName().isEmpty()) on_show_.wantLast();
  };
  connect(parts.history, &HistoryBrowser::foreignChanged, this, &Watching::backToLive);
  connect(parts.history, &HistoryBrowser::foreignChanged, this, want_last);
  connect(parts.history->chartPanel(), &ChartPanel::sourceChosen, this, want_last);
  connect(parts.reduction->editor(), &ReductionEditor::reductionChanged, this, &Watching::chooseReduction);
  connect(parts.compare, &ComparePanel::compareChosen, this, &Watching::compareWith);
  connect(parts.legend_panel, &LegendPanel::regionPicked, this, &Watching::showAreas);

  connect(parts.rules, &WatchRules::timesChosen, this, &Watching::open);
  connect(parts.rules, &WatchRules::changed, this, [this](const QString& of) {
    const Live* const live = on_show_.live();
    if (live && (of == live->asked || of == live->source)) {
      // Also the frame that stays on show, where no other one comes: something else may have to be hidden in it.
      parts_.live->change([this](monitor::Session& session) { session.setRules(parts_.rules->cameraPlan(opened())); });
      keepByRules();
    }
  });
  connect(parts.rules, &WatchRules::regionsChanged, this, [this] {
    parts_.live->change(
        [this](monitor::Session& session) { session.setRegions(parts_.rules->regions(parts_.live->source())); });
    refreshRegions();
  });
  connect(&parts.history->history(), &History::namesReady, this, [this](const SourceNames& of) {
    // Those of another program are only drawn: our own are measured and stored.
    if (parts_.history->foreignName().isEmpty()) parts_.rules->propose(of.name, of.current);
    if (of.name == source() && !of.current.empty() && parts_.pane->image()->regions().empty()) refreshRegions();
  });
}

void Watching::open(const QString& asked) { begin(asked, false); }

void Watching::begin(const QString& asked, bool again) {
  if (asked.isEmpty()) return;
  parts_.rules->forgetTimes();
  const QString opened = asked == QLatin1String("demo:") ? demoSource() : asked;
  takeNetOf(opened);
  monitor::CameraPlan watch = parts_.rules->cameraPlan(opened);
  if (options_.factory) watch.factory = options_.factory(watch.source);
  watch.again = again;
  parts_.live->open(watch);
  on_show_.watch(Live{.asked = asked, .opened = opened, .source = parts_.live->source()});
  keepByRules();
  endPause(true);
  clearFrame();
  emit liveChanged(false);
  parts_.source->setSource(parts_.live->source());
  emit pageChanged();
  parts_.folder->setSource(opened, watch.archive ? std::optional(watch.archive->times) : std::nullopt);
  parts_.pane->setClock(watch.archiveClock());
  refreshRegions();
  parts_.history->watch(parts_.live->source());
  if (session().model().empty())
    parts_.pane->image()->setBanner(tr("No model yet: choose one with Ctrl+M, or drop an ONNX file here"));
  tick();
}

// The net of a camera of a watch file runs as that says; all others as the app was started, or with what was chosen
// since.
void Watching::takeNetOf(const QString& source) {
  const bool followed = parts_.rules->follows(source);
  if (!followed && !net_of_file_) return;
  net_of_file_ = followed;
  const monitor::SessionOptions file = parts_.rules->camera(source).session;
  inference_ = followed ? file.inference : options_.inference;
  choose_reuse_ = followed ? file.choose_reuse : options_.choose_reuse;
  session().worker().setOptions(inference_, choose_reuse_);
}

void Watching::openAgain() {
  if (session().isOpen()) open(asked());
}

void Watching::measureAgain() {
  if (session().isOpen()) begin(asked(), true);
}

void Watching::close() {
  parts_.rules->forgetTimes();
  parts_.live->close();
  on_show_.watch(std::nullopt);
  refreshRegions();
  parts_.folder->setSource({}, {});
  endPause(false);
  parts_.history->stopWatching();
  clearFrame();
  emit liveChanged(false);
  parts_.actions->action("record")->setChecked(false);
  parts_.source->setSource({});
  emit pageChanged();
  tick();
}

void Watching::setPaused(bool on) {
  if (on && session().status().finished) {
    const QSignalBlocker quiet(parts_.actions->action("pause"));
    parts_.actions->action("pause")->setChecked(false);
    return emit said(parts_.folder->files().isEmpty()
                         ? tr("The source has come to its end: nothing is left to pause. %1 plays it again")
                               .arg(parts_.actions->keyOf("again"))
                         : tr("The folder has come to its end: nothing is left to pause. %1 and %2 go through its "
                              "pictures, %3 plays it again")
                               .arg(parts_.actions->keyOf("previous_picture"), parts_.actions->keyOf("next_picture"),
                                    parts_.actions->keyOf("again")),
                     Badge::kNone);
  }
  session().setPaused(on);
  if (!on) on_show_.choose({});
  tick();
}

// A pause is of the source that was paused.
void Watching::endPause(bool open) const {
  QAction* pause = parts_.actions->action("pause");
  pause->setChecked(false);
  pause->setEnabled(open);
}

// The numbers of one source must not stand beside the name of another.
void Watching::clearFrame() {
  emit frameShown(nullptr);
  parts_.pane->image()->setBanner({});
  parts_.legend->clearAreas();
  parts_.compare->setFrame(nullptr);
  parts_.speed->setTimes({});
}

LiveFramePtr Watching::liveFrame() const { return on_show_.live() ? on_show_.live()->frame : nullptr; }

void Watching::openModel(const QString& path, const std::optional<Reduction>& variant) {
  if (!model_) parts_.pane->image()->setBanner({});
  if (path.toStdString() != session().model()) inference_.refine = options_.inference.refine;
  parts_.live->change([&](monitor::Session& session) { session.worker().setModel(path.toStdString(), variant); });
  emit said(tr("Reading %1…").arg(QFileInfo(path).fileName()), Badge::kNone);
}

void Watching::chooseReduction(const Reduction& variant) {
  parts_.reduction->editor()->setReduction(variant);
  parts_.live->change([&](monitor::Session& session) { session.worker().setReduction(variant); });
  sayWhenItShows(tr("reduction %1").arg(QString::fromStdString(toString(variant))));
}

void Watching::compareWith(const std::optional<Reduction>& variant) {
  parts_.live->change([&](monitor::Session& session) { session.worker().setCompare(variant); });
  if (variant) sayWhenItShows(tr("the comparison with %1").arg(QString::fromStdString(toString(*variant))));
  const QSignalBlocker quiet(parts_.actions->action("compare"));
  parts_.actions->action("compare")->setChecked(variant.has_value());
}

void Watching::setSharpEdges(bool on) {
  inference_.refine = on ? Refine::kGuided : Refine::kNone;
  parts_.live->change([this](monitor::Session& session) { session.worker().setRefine(*inference_.refine); });
  sayWhenItShows(on ? tr("sharp edges") : tr("edges as the model gives them"));
}

void Watching::takeModel(const std::shared_ptr<const ModelInfo>& model) {
  if (model == model_ || !model) return;
  // Another reduction of the same model keeps the colours and the choice of classes.
  if (!model_ || model_->task != model->task || vision::classNames(*model_) != vision::classNames(*model))
    parts_.legend->setClasses(*model);
  if (on_show_.stored()) showAreas();
  parts_.legend_panel->setModel(*model);
  if (!model_ && !on_show_.stored()) parts_.pane->image()->setBanner({});
  model_ = model;
  parts_.reduction->setModel(*model);
  parts_.compare->setModel(*model);
  parts_.source->setModel(model.get(), parts_.live->model());
  parts_.pane->setSteps(static_cast<int>(model->schedule().size()));
  emit modelChanged();
  if (liveFrame()) remember();
}

// Only what gave a frame: a source that was mistyped must not be what is gone on with after a power cut.
void Watching::remember() {
  parts_.opener->remember(asked(), model_ ? std::optional(model_->reduction) : std::nullopt);
}

void Watching::takeFrame(const LiveFramePtr& frame) {
  if (!on_show_.live()) return;
  const bool first = !liveFrame();
  on_show_.live()->frame = frame;
  takeModel(frame->result.model);
  if (first) emit liveChanged(true);
  if (first) remember();
  if (!on_show_.stored()) showFrame(frame);
  if (on_show_.follows(*frame)) parts_.folder->follow(*frame);
  if (!frame->hasGrid()) return;
  parts_.selection->limit(frame->lookup.tokens());
  parts_.speed->setTimes(frame->result.estimate.ms);
  if (!on_show_.stored()) parts_.compare->setFrame(frame);
}

// The numbers beside a picture are of that picture, live or stored.
void Watching::showFrame(const LiveFramePtr& frame) {
  emit frameShown(frame);
  showAreas();
}

// A region that was not measured has no areas.
void Watching::showAreas() {
  const QString region = parts_.legend_panel->region();
  if (const StoredSample* const stored = on_show_.stored()) {
    const auto found = stored->areas.find(region);
    return found == stored->areas.end() ? parts_.legend->clearAreas() : parts_.legend->setNamedAreas(*found);
  }
  const LiveFramePtr live = liveFrame();
  const monitor::RegionSample* const measured = live ? live->sample.region(region.toStdString()) : nullptr;
  measured ? parts_.legend->setAreas(measured->areas) : parts_.legend->clearAreas();
}

void Watching::takeSnapshot() {
  if (on_show_.stored()) return emit said(tr("The picture on show is stored already. Esc: back to live"), Badge::kNone);
  session().snapshots().setStyle(overlayStyle());
  parts_.exports->save(liveFrame());
}

void Watching::takeEvent(const monitor::Event& event, bool late) {
  if (!late) parts_.history->add(event);
  const QString text = QString::fromStdString(event.message);
  if (event.kind != monitor::EventKind::kSource) emit logged(text);  // takeState() says it in the user's language
  const bool error = event.severity == monitor::Severity::kError;
  if (event.severity != monitor::Severity::kInfo) emit said(text, error ? Badge::kBad : Badge::kWarning);
  if (event.kind != monitor::EventKind::kModel || !error) return;
  if (!model_) return parts_.pane->image()->setBanner(text);
  parts_.reduction->setModel(*model_);  // what was asked for did not come about
  const QString path = parts_.live->model();
  parts_.reduction->editor()->setProblem(breakable(QString(text).replace(path, QFileInfo(path).fileName())));
}

void Watching::takeState(const monitor::CaptureStatus& status) {
  emit logged(
      tr("Source: %1").arg(SourcePanel::stateText(status)) +
      (status.message.empty() ? QString() : QStringLiteral(" (%1)").arg(QString::fromStdString(status.message))));
  tick();
}

void Watching::tick() {
  const monitor::SessionStatus status = session().status();
  const auto& [capture, inference] = std::tie(status.source, status.inference);
  session().snapshots().setStyle(overlayStyle());
  parts_.source->setStatus(status);
  if (!liveFrame()) takeModel(inference.info);  // no frame brings it
  if (!model_) parts_.source->setModel(nullptr, parts_.live->model());
  parts_.speed->setStatus(capture, inference);
  const bool open = session().isOpen(), old = open && isOld(capture);
  parts_.status->setStatus(capture, inference, open, session().paused());
  const bool stored = on_show_.stored() != nullptr;
  if (!stored) parts_.pane->setFaded(old);
  if (!stored && open && model_)
    parts_.pane->image()->setBanner(
        old ? tr("%1: the last frame is %2 old").arg(SourcePanel::stateText(capture), spanText(capture.frame_age_s))
        : gaveNothing(capture) ? QString::fromStdString(capture.message)
                               : QString());
  if (open)
    parts_.pane->image()->setPlaceholder(gaveNothing(capture) ? tr("No frame came")
                                                              : tr("Waiting for the first frame…"));
  parts_.status->setRecording(parts_.exports->recordText());
  parts_.status->setStorageProblem(status.store ? QString::fromStdString(status.store->problem) : QString(),
                                   status.store && status.store->stopped);
  if (!inference.comparing && parts_.compare->box()->isChecked())
    parts_.compare->refuse(QString::fromStdString(inference.no_comparison));
  parts_.history->refresh(liveFrame() ? liveFrame()->result.frame.time : 0);
  Live* const live = on_show_.live();
  if (live && status.finished && status.pictures > 0 && !std::exchange(live->end_reported, true))
    emit said(SourcePanel::storedText(status), status.stored == status.pictures ? Badge::kGood : Badge::kWarning);
}

void Watching::lookForStored(double time) {
  HistoryBrowser& history = *parts_.history;
  const double within = history.nearness();
  const auto record = history.chartPanel()->record();
  const auto owner = history.owner();
  const int question = on_show_.ask();
  if (record && record->archive)  // one of its own pictures is nearer than a snapshot of another day
    history.history().askSample(*record, static_cast<UnixMs>(time * 1000), static_cast<UnixMs>(within * 1000),
                                saidOfStored(), question);
  else if (const auto* picture = owner ? nearestPicture(parts_.pictures->pictures(), *owner, time, within) : nullptr)
    parts_.pictures->load(picture->path, hiddenInStored(), question);
  else
    emit said(tr("No picture is stored near that time. File ▸ What is kept… makes a time-lapse"), Badge::kNone);
}

// What the app says of a source counts in its own database; another one has the privacy of who writes it.
monitor::PrivacyChoice Watching::saidOfStored() const {
  const HistoryBrowser& history = *parts_.history;
  return history.foreignName().isEmpty() ? parts_.rules->cameraPlan(history.source()).privacy
                                         : monitor::PrivacyChoice();
}

monitor::PrivacyOptions Watching::hiddenInStored() const {
  return saidOfStored().over(parts_.history->facts().privacy);
}

QString Watching::storedText(const QString& when) const {
  return session().isOpen() ? tr("Stored picture of %1. Esc: back to live").arg(when)
                            : tr("Stored picture of %1. Esc: back").arg(when);
}

// The numbers beside the picture are the stored ones.
void Watching::showStored(const StoredSample& sample, const QString& banner) {
  on_show_.show(sample);
  refreshRegions();
  emit pageChanged();
  sample.frame ? showFrame(sample.frame) : clearFrame();
  showAreas();
  parts_.pane->image()->setBanner(banner);
}

// The last sample of a database that was opened takes the place of the welcome page, but not that of a live source.
void Watching::showSample(const StoredSample& sample) {
  if (!sample.last && on_show_.asked() != sample.question) return;
  if (!sample.last && !sample.frame) return emit said(tr("There is no picture near that time any more"), Badge::kNone);
  if (!sample.last) return showStored(sample, storedText(sample.text));
  if (session().isOpen() || !on_show_.wantsLast() || sample.text.isEmpty()) return;
  showStored(sample, sample.text);
  if (!sample.frame) loadLastPicture();
}

void Watching::loadLastPicture() {
  const int question = on_show_.ask();
  const auto owner = parts_.history->owner();
  const QStringList files = owner ? parts_.pictures->filesOf(*owner) : QStringList();
  if (!files.isEmpty()) return parts_.pictures->load(files.back(), hiddenInStored(), question);
  parts_.pane->image()->setPlaceholder(tr("The picture of this sample is not stored"));
}

void Watching::backToLive() {
  if (!on_show_.back()) return;
  refreshRegions();
  parts_.pane->image()->setBanner({});
  liveFrame() ? showFrame(liveFrame()) : clearFrame();
  if (!session().isOpen()) emit pageChanged();
}

void Watching::askRegions() {
  if (!frame() || source().isEmpty())
    return emit said(tr("Open a source first: regions are drawn on its picture"), Badge::kNone);
  parts_.rules->askRegions(source(), frame()->image(), frame()->result.frame.time);
}

// The frame on show is measured in the new regions; a stored picture says what was measured then.
void Watching::refreshRegions() {
  const StoredSample* const stored = on_show_.stored();
  std::vector<vision::Region> regions = parts_.rules->regions(source());
  const bool foreign = !parts_.history->foreignName().isEmpty() && source() == parts_.history->source();
  if (stored && foreign && regions.empty()) regions = parts_.history->facts().regions;
  parts_.pane->image()->setRegions(regions);
  QStringList named = regionNames(regions);
  if (stored) {
    named = stored->areas.keys();
    named.removeAll(QString());
    named.sort();
  }
  parts_.legend_panel->setRegions(named);
  emit regionsChanged();
  const LiveFramePtr live = liveFrame();
  if (on_show_.stored() || !live) return;
  if (!live->result.model) return showFrame(live);
  const auto again = std::make_shared<LiveFrame>(*live);
  again->sample = session().measure(again->result);
  on_show_.live()->frame = again;
  showFrame(again);
}

monitor::OverlayStyle Watching::overlayStyle() const {
  monitor::OverlayStyle style{parts_.pane->paint().opacity, {}};
  for (int c = 0; c < parts_.legend->classes(); ++c) {
    const QRgb color = parts_.legend->color(c).rgb();
    style.colors.emplace_back(qBlue(color), qGreen(color), qRed(color));
  }
  return style;
}

// Without a frame after a while, show why.
void Watching::sayWhenItShows(const QString& change) {
  if (parts_.live->repeats())
    emit said(tr("On this frame: %1").arg(change), Badge::kNone);
  else if (session().isOpen() && session().paused())
    emit said(tr("It is paused; from the next frame on: %1").arg(change), Badge::kWarning);
  else if (session().status().source.state == monitor::CaptureState::kEnded)
    emit said(tr("The source has ended; once it is opened again (%1): %2").arg(parts_.actions->keyOf("again"), change),
              Badge::kWarning);
  else
    emit said(tr("From the next frame on: %1").arg(change), Badge::kNone);
}

void Watching::keepByRules() {
  const monitor::SessionOptions kept = parts_.rules->camera(opened()).session;
  session().setRetention(kept.store.keep_days, kept.store.max_megabytes);
  session().snapshots().setOptions(parts_.rules->snapshotOptions(opened(), parts_.pictures->folder()));
  session().setEventCommand(kept.on_event);
}

void Watching::ask(const QString& title, const char* group) {
  const QString of = source().isEmpty() ? parts_.history->source() : source();
  if (of.isEmpty()) return emit said(tr("Open a source first: each has its own"), Badge::kNone);
  QStringList notes;
  if (group == std::string(monitor::kKeepGroup)) {
    const QString database = parts_.history->ownDatabase();
    notes << tr("Pictures are in %1").arg(parts_.pictures->folder())
          << (database.isEmpty() ? tr("Samples are not stored.")
                                 : tr("Samples are in %1; the means of hours and days stay.").arg(database));
  }
  parts_.rules->ask(of, title, group, notes);
}

monitor::CameraConfig Watching::watch() const {
  const QString source = opened();
  monitor::CameraConfig watch = parts_.rules->watch(source);
  watch.source = vision::redactCredentials(source.toStdString());
  watch.model = parts_.live->model().isEmpty() ? "" : modelPath().toStdString();
  EstimatorOptions running = inference_;
  running.reduce = parts_.reduction->editor()->reduction();
  monitor::setInference(watch, running);
  watch.reuse = choose_reuse_ ? "" : toString(inference_.reuse);
  watch.db = parts_.history->ownDatabase().toStdString();
  if (watch.times.empty() && !parts_.rules->knowsTimes(source)) watch.times = "none";
  if (watch.snapshot_every) watch.snapshots = parts_.pictures->folder().toStdString();
  if (!watch.snapshot_every) watch.keep_snapshots = watch.min_free = std::nullopt;  // `mpm monitor` writes no pictures
  watch.merge_maps = watch.merge_maps && watch.snapshot_every;
  return watch;
}

void Watching::copyCommandLine() {
  if (!session().isOpen()) return emit said(tr("Open a source first: each has its own"), Badge::kNone);
  const QString file = parts_.rules->file(opened());
  parts_.rules->write(opened(), watch());
  const QString line =
      QStringLiteral("mpm monitor --watch '%1'").arg(QString(file).replace(QLatin1Char('\''), QLatin1String("'\\''")));
  QApplication::clipboard()->setText(line);
  emit said(tr("Copied: %1").arg(line), Badge::kGood);
}

}  // namespace mpm::gui
