// SPDX-License-Identifier: Apache-2.0
#include "main_window.h"

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QCloseEvent>
#include <QDateTime>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLocale>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QScreen>
#include <QSettings>
#include <QSignalBlocker>
#include <QSlider>
#include <QStackedWidget>
#include <QTime>
#include <QUrl>
#include <cmath>
#include <utility>

#include "action_registry.h"
#include "models/command_line.h"
#include "models/time_axis.h"
#include "mpm/default_model.hpp"
#include "mpm/error.hpp"
#include "panel_docks.h"
#include "views/chart_panel.h"
#include "views/compare_panel.h"
#include "views/day_night_panel.h"
#include "views/events_panel.h"
#include "views/image_view.h"
#include "views/inspector_panel.h"
#include "views/look.h"
#include "views/merge_view.h"
#include "views/pictures_pane.h"
#include "views/schedule_panel.h"
#include "views/source_dialog.h"
#include "views/source_panel.h"
#include "views/speed_panel.h"
#include "views/status_line.h"
#include "views/time_chart.h"
#include "views/welcome_page.h"
#include "watch_rules.h"

namespace mpm {
MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent), options_(options), settings_(options.settings) {
  const auto settings = openSettings(options.settings);
  recents_ = loadRecents(*settings);
  font_percent_ = settings->value(QStringLiteral("font"), 100).toInt();
  setAcceptDrops(true);
  setWindowTitle(tr("MPM Monitor"));
  const QSize screen =
      QApplication::primaryScreen() ? QApplication::primaryScreen()->availableSize() : QSize(1280, 800);
  resize(std::min(1280, screen.width()), std::min(800, screen.height()));
  setMinimumSize(480, 320);
  pictures_ = std::make_unique<PictureStore>(options.pictures);
  legend_.setChosenColors(loadClassColors(*settings));
  rules_ = new WatchRules(*settings, &settings_, &legend_, this);
  const KeepOptions& keep = rules_->keep();
  pictures_->setRetention(keep.picture_days, keep.free_mb);

  makeActions();
  makeCentral();
  makeDocks();
  makeToolBar();
  status_ = new StatusLine(this);
  setStatusBar(status_);
  actions_->fill(menuBar());

  const QString model = options.model.isEmpty() ? QString::fromStdString(defaultModel()) : options.model;
  monitor::StoreOptions storing;
  storing.keep_days = keep.sample_days;
  storing.keep_days_of_all = true;
  storing.max_megabytes = keep.database_mb;
  live_ =
      std::make_unique<LiveMonitor>(model.toStdString(), options.inference, options.database.toStdString(), storing);
  source_->setModel(nullptr, model);
  wire();
  history_.setDatabase(options.database);
  day_night_->setRule(rules_->night());
  welcome_->setRecents(recents_);
  tick();
  if (settings->contains(QStringLiteral("geometry"))) {
    restoreGeometry(settings->value(QStringLiteral("geometry")).toByteArray());
    restoreState(settings->value(QStringLiteral("layout")).toByteArray());
  }
}

MainWindow::~MainWindow() {
  disconnect(live_.get(), nullptr, this, nullptr);
  hide();
  // The views look at models that are members of this class: they go first.
  delete docks_;
  delete takeCentralWidget();
}

void MainWindow::wire() {
  connect(live_.get(), &LiveMonitor::frameArrived, this, &MainWindow::takeFrame);
  connect(live_.get(), &LiveMonitor::stateChanged, this, &MainWindow::takeState);
  connect(live_.get(), &LiveMonitor::ticked, this, &MainWindow::tick);
  connect(live_.get(), &LiveMonitor::eventHappened, this, [this](const monitor::Event& event) {
    if (!foreign_database_) events_.add(event);
    const QString text = QString::fromStdString(event.message);
    if (event.kind != monitor::EventKind::kSource) log(text);  // takeState() says it in the user's language
    if (event.severity != monitor::Severity::kInfo)
      showNotice(text, event.severity == monitor::Severity::kError ? "bad" : "warning");
    if (event.kind == monitor::EventKind::kModel && event.severity == monitor::Severity::kError) {
      if (model_)
        schedule_->setSchedule(model_->schedule);  // what was asked for did not come about
      else
        pane_->setBanner(text);
    }
  });

  connect(&legend_, &LegendModel::paintChanged, pane_, &PicturesPane::refreshPaint);
  connect(&legend_, &LegendModel::colorChosen, this, [this] {
    settings_.change([colors = legend_.chosenColors()](QSettings& settings) { save(settings, colors); });
  });
  connect(pane_, &PicturesPane::modeChanged, this, [this](ViewMode mode) {
    for (const char* id : {"curtain_left", "curtain_right"})
      actions_->action(QString::fromLatin1(id))->setEnabled(mode == ViewMode::kCurtain);
    opacity_->setEnabled(mode == ViewMode::kOverlay || mode == ViewMode::kCurtain);
  });
  connect(pane_, &PicturesPane::opacityChanged, this, [this](double opacity) {
    const QSignalBlocker quiet(opacity_);
    opacity_->setValue(static_cast<int>(std::lround(opacity * 100)));
  });

  connect(schedule_, &SchedulePanel::scheduleChanged, this, [this](const Schedule& schedule) {
    live_->setSchedule(schedule);
    sayWhenItShows(tr("schedule %1").arg(QString::fromStdString(toString(schedule))));
  });
  connect(schedule_, &SchedulePanel::copyRequested, this, &MainWindow::copyCommandLine);
  connect(compare_, &ComparePanel::compareToggled, this, [this](bool on) {
    live_->setCompare(on);
    if (on) sayWhenItShows(tr("the comparison with the full model"));
    const QSignalBlocker quiet(actions_->action(QStringLiteral("compare")));
    actions_->action(QStringLiteral("compare"))->setChecked(on);
  });

  connect(source_, &SourcePanel::changeSourceRequested, this, [this] { askForSource(SourceKind::kVideo); });
  connect(source_, &SourcePanel::changeModelRequested, this, &MainWindow::changeModel);
  connect(source_, &SourcePanel::pauseRequested, actions_->action(QStringLiteral("pause")), &QAction::toggle);
  connect(source_, &SourcePanel::closeRequested, this, &MainWindow::closeSource);
  connect(welcome_, &WelcomePage::demoRequested, this, [this] { openSource(QStringLiteral("demo:")); });
  connect(welcome_, &WelcomePage::kindRequested, this, &MainWindow::askForSource);
  connect(welcome_, &WelcomePage::recentRequested, this, &MainWindow::openRecent);

  connect(day_night_, &DayNightPanel::settingsRequested, rules_, &WatchRules::askNight);
  connect(rules_, &WatchRules::nightChanged, this, [this] {
    day_night_->setRule(rules_->night());
    live_->setNightRule(rules_->night());
  });
  connect(rules_, &WatchRules::alarmsChanged, this, [this] { live_->setAlarms(rules_->alarmsOfModel()); });
  connect(rules_, &WatchRules::keepChanged, this, [this] {
    const KeepOptions& keep = rules_->keep();
    pictures_->setRetention(keep.picture_days, keep.free_mb);
    live_->setRetention(keep.sample_days, keep.database_mb);
  });

  connect(&history_, &History::dayNightReady, this, [this](const monitor::DayNightStatistics& statistics) {
    if (chart_->source()) day_night_->setStatistics(statistics);
  });
  connect(&history_, &History::eventsReady, &events_, &EventsModel::setEvents);
  connect(&history_, &History::failed, this, [this](const QString& message) {
    log(message);
    showNotice(message, "bad");
  });
  connect(&history_, &History::exported, this, [this](const QString& path, qint64 samples) {
    showNotice(tr("%n sample(s) exported to %1", nullptr, static_cast<int>(samples)).arg(path), "good");
  });
  connect(chart_, &ChartPanel::sourcePicked, this, [this](qint64 source) {
    if (foreign_database_ || !live_->isOpen()) history_.askEvents(source);
    day_night_->setStatistics({});  // of the source before
    refreshHistory();
    showPictureMarks();
  });
  connect(chart_->chart(), &TimeChart::timePicked, this, &MainWindow::showStored);
  connect(events_panel_, &EventsPanel::timePicked, this, [this](double time) {
    const double half = (chart_->chart()->axis().to - chart_->chart()->axis().from) / 2;
    chart_->chart()->setFollowing(false);
    chart_->chart()->setRange(time - half, time + half);
    showStored(time);
  });

  connect(pictures_.get(), &PictureStore::written, this, [this](const QString& path, PictureStore::Occasion occasion) {
    if (occasion == PictureStore::Occasion::kRecording) return void(++recorded_);
    showNotice(tr("Saved %1").arg(path), "good");
    pictures_->list();
  });
  connect(pictures_.get(), &PictureStore::forgotten, this,
          [this](int files) { log(tr("%n file(s) of old pictures forgotten", nullptr, files)); });
  connect(pictures_.get(), &PictureStore::failed, this, [this](const QString& message) {
    log(message);
    showNotice(message, "bad");
  });
  connect(pictures_.get(), &PictureStore::saved, this,
          [this](const QString& path) { showNotice(tr("The chart was saved to %1").arg(path), "good"); });
  connect(pictures_.get(), &PictureStore::listed, this, &MainWindow::showPictureMarks);
  connect(pictures_.get(), &PictureStore::loaded, this, [this](const LiveFramePtr& frame, double time) {
    frozen_ = true;
    stack_->setCurrentWidget(pane_);
    showFrame(frame);
    const QString when =
        QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)), QLocale::ShortFormat);
    pane_->setBanner(live_->isOpen() ? tr("Stored picture of %1. Esc: back to live").arg(when)
                                     : tr("Stored picture of %1. Esc: back").arg(when));
  });
  pictures_->list();
}

LiveOptions MainWindow::liveOptions(const QString& source) const {
  LiveOptions options;
  options.source = source.toStdString();
  options.night = rules_->night();
  options.alarms = rules_->alarmsOfModel();
  options.factory = options_.factory;
  // A folder is looked through, not played.
  options.max_fps = sourceKind(source) == SourceKind::kFolder ? 4 : 25;
  if (sourceKind(source) == SourceKind::kDemo) {
    options.max_fps = 10;
    options.night = monitor::NightBySun{48, 0};
  }
  return options;
}

void MainWindow::remember() {
  if (!live_->isOpen()) return;
  const QString shown = QString::fromStdString(live_->sourceName()), model = QString::fromStdString(live_->model());
  recents_ = remembered(recents_, {sourceKind(shown) == SourceKind::kDemo ? QStringLiteral("demo:") : shown,
                                   model.isEmpty() ? model : QFileInfo(model).absoluteFilePath(),
                                   model_ ? QString::fromStdString(toString(model_->schedule)) : QString(),
                                   QDateTime::currentDateTime()});
  settings_.change([recents = recents_](QSettings& settings) { saveRecents(settings, recents); });
}

void MainWindow::openRecent(const Recent& recent) { openRemembered(recent, true, true); }

void MainWindow::openRemembered(const Recent& recent, bool take_model, bool take_schedule) {
  std::optional<Schedule> schedule = take_schedule ? std::nullopt : options_.inference.schedule;
  try {
    if (take_schedule && !recent.schedule.isEmpty()) schedule = parseSchedule(recent.schedule.toStdString());
  } catch (const Error&) {  // settings edited by hand: the model's own schedule stands
  }
  const bool gone = take_model && !recent.model.isEmpty() && !QFileInfo::exists(recent.model);
  if (gone) {  // blocks of another model mean nothing to the one that is loaded
    const QString other = QFileInfo(QString::fromStdString(live_->model())).fileName();
    const QString text = other.isEmpty() ? tr("%1 is gone").arg(recent.model)
                                         : tr("%1 is gone; going on with %2").arg(recent.model, other);
    log(text);
    showNotice(text, "warning");
  } else if (take_model && !recent.model.isEmpty()) {
    openModel(recent.model, schedule);
  } else if (take_schedule && schedule) {
    live_->setSchedule(*schedule);
  }
  if (!recent.needsPassword()) return openSource(recent.source);
  auto* dialog = new SourceDialog(SourceKind::kAddress, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setSource(recent.source);
  connect(dialog, &SourceDialog::chosen, this, &MainWindow::openSource);
  dialog->open();
}

void MainWindow::resumeLast() {
  if (recents_.isEmpty()) return showNotice(tr("Nothing was watched yet: choose a source"));
  const Recent last = recents_.front();  // a copy: opening it puts it in front
  // What the command line names is newer than what is remembered, and a schedule belongs to its model.
  const bool model_named = !options_.model.isEmpty();
  const bool same_model = model_named && QFileInfo(options_.model).absoluteFilePath() == last.model;
  openRemembered(last, !model_named, !options_.inference.schedule && (same_model || !model_named));
}

void MainWindow::openSource(const QString& asked) {
  if (asked.isEmpty()) return;
  const QString source = asked == QLatin1String("demo:") ? demoSource() : asked;
  backToLive();
  live_frame_.reset();
  pane_->clear();
  live_->open(liveOptions(source));
  const QString shown = QString::fromStdString(live_->sourceName());
  setWindowTitle(tr("%1 – MPM Monitor").arg(sourceTitle(shown)));
  source_->setSource(shown);
  day_night_->setRule(live_->options().night);
  stack_->setCurrentWidget(pane_);
  foreign_database_ = false;
  if (history_.database() != options_.database) {
    chart_->forgetSources();
    history_.setDatabase(options_.database);
  }
  day_night_->setStatistics({});
  next_statistics_ = 0;
  chart_->setPresent(shown, std::nullopt);
  chart_->setSourceName(shown);
  if (sourceKind(shown) == SourceKind::kDemo) chart_->showSpan(ChartPanel::Span::kDay);
  events_.setEvents({});
  remember();
  if (live_->model().empty()) pane_->setBanner(tr("No model yet: choose one with Ctrl+M, or drop an ONNX file here"));
  tick();
}

void MainWindow::closeSource() {
  live_->close();
  chart_->setPresent({}, std::nullopt);
  frozen_ = false;
  live_frame_.reset();
  pane_->clear();
  actions_->action(QStringLiteral("record"))->setChecked(false);
  legend_.setAreas({});
  status_->clearFrame();
  source_->setSource({});
  setWindowTitle(tr("MPM Monitor"));
  welcome_->setRecents(recents_);
  stack_->setCurrentWidget(welcome_);
  tick();
}

void MainWindow::openDropped(const QString& asked) {
  const QString path = localPath(asked);
  if (path.endsWith(QLatin1String(".onnx"), Qt::CaseInsensitive)) return openModel(path);
  if (path.endsWith(QLatin1String(".db"), Qt::CaseInsensitive)) return openDatabase(path);
  openSource(path);
}

void MainWindow::openDatabase(const QString& path) {
  if (path.isEmpty()) {
    auto* dialog = new QFileDialog(this, tr("Open a database"), {}, tr("Databases (*.db);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openDatabase);
    return dialog->open();
  }
  foreign_database_ = true;
  events_.setEvents({});
  day_night_->setStatistics({});
  chart_->forgetSources();
  chart_->setPresent({}, std::nullopt);
  docks_->raise(QStringLiteral("chart"));
  history_.setDatabase(path);
  if (QFileInfo::exists(path))
    showNotice(tr("Showing %1, read-only").arg(path));
  else
    showNotice(tr("There is no %1 yet: what is written to it will be shown").arg(path), "warning");
}

void MainWindow::askForSource(SourceKind kind) {
  auto* dialog = new SourceDialog(kind, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &SourceDialog::chosen, this, &MainWindow::openSource);
  dialog->open();
}

void MainWindow::changeModel() {
  auto* dialog = new QFileDialog(this, tr("Open a model"), {}, tr("ONNX models (*.onnx)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) { openModel(path); });
  dialog->open();
}

void MainWindow::openModel(const QString& path, const std::optional<Schedule>& schedule) {
  if (!model_) pane_->setBanner({});
  live_->setModel(path.toStdString(), schedule);
  showNotice(tr("Reading %1…").arg(QFileInfo(path).fileName()));
}

void MainWindow::takeModel(const std::shared_ptr<const ModelInfo>& model) {
  if (model == model_ || !model) return;
  const auto names = [](const ModelInfo& info) {
    std::vector<std::string> result;
    for (const ClassInfo& c : info.facts.classes) result.push_back(c.name);
    return result;
  };
  // Another schedule of the same model keeps the colours and the choice of classes.
  if (!model_ || model_->classes != model->classes || names(*model_) != names(*model)) {
    legend_.setClasses(*model);
    if (!rules_->alarms().areas.empty()) live_->setAlarms(rules_->alarmsOfModel());
  }
  const bool first = !model_;
  model_ = model;
  schedule_->setModel(*model);
  source_->setModel(model.get(), QString::fromStdString(live_->model()));
  pane_->setSteps(static_cast<int>(model->schedule.size()));
  if (first) pane_->setBanner({});
  remember();
}

void MainWindow::takeFrame(const LiveFramePtr& frame) {
  live_frame_ = frame;
  takeModel(frame->result.model);
  if (!frozen_) showFrame(frame);
  if (frame->hasGrid()) {
    selection_.limit(frame->lookup.tokens());
    legend_.setAreas(frame->areas);
    speed_->setTimes(frame->result.segmentation.ms);
    compare_->setFrame(frame);
    status_->setFrame(*frame);
    const qint64 now = frame->result.frame.steady;
    using Occasion = PictureStore::Occasion;
    if (recording_ && !pictures_->write(frame, pictureFacts(), Occasion::kRecording)) ++refused_;
    if (rules_->keep().lapse_minutes > 0 &&
        (last_lapse_ == 0 || now - last_lapse_ >= rules_->keep().lapse_minutes * 60000) &&
        pictures_->write(frame, pictureFacts(), Occasion::kTimeLapse))
      last_lapse_ = now;
  }
}

void MainWindow::showFrame(const LiveFramePtr& frame) {
  pane_->setFrame(frame);
  inspector_->setFrame(frame);
}

void MainWindow::takeState(const monitor::CaptureStatus& status) {
  log(tr("Source: %1").arg(mpm::stateText(status)) +
      (status.message.empty() ? QString() : QStringLiteral(" (%1)").arg(QString::fromStdString(status.message))));
  tick();
}

void MainWindow::tick() {
  const monitor::CaptureStatus capture = live_->captureStatus();
  const monitor::InferenceStatus inference = live_->inferenceStatus();
  source_->setStatus(capture);
  if (!live_frame_) takeModel(inference.info);  // no frame brings it
  if (!model_) source_->setModel(nullptr, QString::fromStdString(live_->model()));
  speed_->setStatus(capture, inference);
  const bool open = live_->isOpen(), old = open && isOld(capture);
  status_->setStatus(capture, inference, open, live_->paused());
  if (!frozen_) pane_->setFaded(old);
  if (!frozen_ && open && model_)
    pane_->setBanner(
        old ? tr("%1: the last frame is %2 old").arg(mpm::stateText(capture), spanText(capture.frame_age_s))
        : gaveNothing(capture) ? QString::fromStdString(capture.message)
                               : QString());
  pane_->setPlaceholder(gaveNothing(capture) ? tr("No frame came") : tr("Waiting for the first frame…"));
  status_->setRecording(recordText());
  if (recording_ && leftOut() > 0 && !std::exchange(said_left_out_, true))
    log(tr("The recording leaves out frames: this machine or its disk is too slow for all of them"));
  const auto writer = live_->writerStatus();
  status_->setStorageProblem(writer && !writer->writing ? QString::fromStdString(writer->problem) : QString());
  if (!inference.comparing && compare_->box()->isChecked())
    compare_->refuse(QString::fromStdString(inference.no_comparison));
  if (live_->isOpen() || foreign_database_) refreshCharts();
}

// Fresh samples every 2 s; the statistics of a month every 30. By the steady clock: the other one may be set back.
void MainWindow::refreshCharts() {
  const std::int64_t now = monitor::steadyNow();
  if (now < next_chart_) return;
  next_chart_ = now + 2000;
  // The demo's days pass in minutes: its chart ends at its own present.
  const monitor::UnixMs shown = live_frame_ ? live_frame_->result.frame.time : 0;
  const bool own_time = shown > 0 && std::abs(shown - monitor::unixNow()) > monitor::kHourMs;
  if (!foreign_database_ && live_->isOpen())
    chart_->setPresent(QString::fromStdString(live_->sourceName()),
                       own_time ? std::optional(static_cast<double>(shown) / 1000) : std::nullopt);
  chart_->refresh();
  if (const auto source = chart_->source(); source && foreign_database_) history_.askEvents(*source);
  if (now < next_statistics_) return;
  next_statistics_ = now + 30000;
  refreshHistory();
}

// The source that the chart is of; without a database the one that is open.
QString MainWindow::watched() const {
  const QString name = chart_->sourceName();
  return name.isEmpty() ? QString::fromStdString(live_->sourceName()) : name;
}

void MainWindow::showPictureMarks() {
  std::vector<double> times;
  for (const StoredPicture& picture : pictures_->pictures())
    if (picture.source == watched()) times.push_back(picture.time);
  chart_->chart()->setPictures(std::move(times));
}

void MainWindow::refreshHistory() {
  const auto source = chart_->source();
  if (!source) return;
  const auto now = static_cast<monitor::UnixMs>(chart_->present() * 1000);
  history_.askDayNight(*source, now - 30 * monitor::kDayMs, now + 1);
}

void MainWindow::showStored(double time) {
  const double tolerance = std::max(2.0, (chart_->chart()->axis().to - chart_->chart()->axis().from) / 50);
  if (const StoredPicture* picture = nearestPicture(pictures_->pictures(), watched(), time, tolerance))
    pictures_->load(picture->path);
  else
    showNotice(tr("No picture is stored near that time. File ▸ What is kept… makes a time-lapse"));
}

void MainWindow::backToLive() {
  if (!frozen_) return;
  frozen_ = false;
  pane_->setBanner({});
  if (live_frame_) showFrame(live_frame_);
  if (!live_->isOpen()) stack_->setCurrentWidget(welcome_);
}

PictureFacts MainWindow::pictureFacts() const {
  PictureFacts facts{pane_->paint().opacity, QString::fromStdString(live_->sourceName()), live_->night(), {}};
  for (int c = 0; c < legend_.classes(); ++c) {
    const QRgb color = legend_.color(c).rgb();
    facts.colors.emplace_back(qBlue(color), qGreen(color), qRed(color));
  }
  return facts;
}

// Results that neither the disk nor the window was fast enough for.
std::int64_t MainWindow::leftOut() const { return refused_ + live_->stale() - stale_before_; }

QString MainWindow::recordText() const {
  if (!recording_) return {};
  const QString text = tr("● REC %n picture(s)", nullptr, recorded_);
  return leftOut() == 0 ? text : tr("%1, %2 left out").arg(text).arg(leftOut());
}

void MainWindow::snapshot() {
  if (!live_frame_) return showNotice(tr("There is no frame yet"), "warning");
  if (!pictures_->write(live_frame_, pictureFacts()))
    showNotice(tr("The disk is too slow: this picture was not saved"), "warning");
}

void MainWindow::setRecording(bool recording) {
  recording_ = recording;
  recorded_ = refused_ = 0;
  stale_before_ = live_->stale();
  said_left_out_ = false;
  if (recording)
    showNotice(tr("Recording to %1").arg(pictures_->folder()));
  else
    pictures_->list();
  tick();
}

// Nobody should wait for a frame that does not come.
void MainWindow::sayWhenItShows(const QString& change) {
  if (live_->isOpen() && live_->paused())
    showNotice(tr("It is paused; from the next frame on: %1").arg(change), "warning");
  else if (live_->captureStatus().state == monitor::CaptureState::kEnded)
    showNotice(
        tr("The source has ended; once it is opened again (%1): %2")
            .arg(actions_->action(QStringLiteral("again"))->shortcut().toString(QKeySequence::NativeText), change),
        "warning");
  else
    showNotice(tr("From the next frame on: %1").arg(change));
}

void MainWindow::showNotice(const QString& text, const char* badge) { status_->notify(text, badge); }

void MainWindow::log(const QString& text) {
  log_->appendPlainText(QStringLiteral("%1  %2").arg(QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), text));
}

void MainWindow::askExport() {
  const TimeAxis& axis = chart_->chart()->axis();
  auto* dialog = new ExportDialog(axis.from, axis.to, this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ExportDialog::chosen, this, [this, dialog] {
    const auto format = dialog->format();
    const auto [from, to] = dialog->span();
    auto* file = new QFileDialog(this, tr("Export to"), QStringLiteral("mpm-monitor.") + dialog->suffix());
    file->setAttribute(Qt::WA_DeleteOnClose);
    file->setAcceptMode(QFileDialog::AcceptSave);
    file->setDefaultSuffix(dialog->suffix());
    connect(file, &QFileDialog::fileSelected, this,
            [this, format, from = from, to = to](const QString& path) { exportSamples(format, from, to, path); });
    file->open();
  });
  dialog->open();
}

void MainWindow::exportSamples(ExportDialog::Format format, monitor::UnixMs from, monitor::UnixMs to,
                               const QString& path) {
  if (format == ExportDialog::Format::kChartPng) {
    return pictures_->save([scene = chart_->chart()->scene()] { return scene.picture(QSize(1200, 480)); }, path);
  }
  const auto source = chart_->source();
  if (!source) return showNotice(tr("There are no samples to export yet"), "warning");
  monitor::ExportOptions options;
  options.format = format == ExportDialog::Format::kCsv        ? monitor::ExportFormat::kCsv
                   : format == ExportDialog::Format::kPhenoCam ? monitor::ExportFormat::kPhenoCam
                                                               : monitor::ExportFormat::kJsonLines;
  options.source = *source;
  options.from = from;
  options.to = to;
  history_.exportTo(options, path);
}

QString MainWindow::commandLine() const {
  return mpm::commandLine({live_->isOpen() ? QString::fromStdString(live_->sourceName()) : QString(),
                           QString::fromStdString(live_->model()), schedule_->schedule(), options_.inference,
                           options_.database});
}

void MainWindow::copyCommandLine() {
  QApplication::clipboard()->setText(commandLine());
  showNotice(tr("Copied: %1").arg(commandLine()), "good");
}

void MainWindow::restoreDefaultLayout() {
  docks_->restore();
  pane_->restoreSizes();
  actions_->action(QStringLiteral("merge_map"))->setChecked(true);
}

void MainWindow::setDark(bool dark) {
  applyLook(dark ? darkTheme() : lightTheme(), font_percent_);
  settings_.set(QStringLiteral("dark"), dark);
  const QSignalBlocker quiet(actions_->action(QStringLiteral("dark")));
  actions_->action(QStringLiteral("dark"))->setChecked(dark);
  pane_->refreshLook();
}

void MainWindow::setFontPercent(int percent) {
  font_percent_ = std::clamp(percent, 70, 220);
  settings_.set(QStringLiteral("font"), font_percent_);
  applyLook(theme(), font_percent_);
  pane_->refreshLook();
}

void MainWindow::setLanguage(const QString& language) {
  settings_.set(QStringLiteral("language"), language);
  showNotice(tr("The language changes when the program starts the next time"));
}

ImageView* MainWindow::imageView() const { return pane_->image(); }
MergeView* MainWindow::mergeView() const { return pane_->map(); }
const monitor::NightRule& MainWindow::nightRule() const { return rules_->night(); }
const monitor::AlarmOptions& MainWindow::alarms() const { return rules_->alarms(); }
const KeepOptions& MainWindow::keepOptions() const { return rules_->keep(); }
const QVector<QDockWidget*>& MainWindow::docks() const { return docks_->docks(); }
QString MainWindow::tokensText() const { return live_frame_ ? StatusLine::tokensText(*live_frame_) : QString(); }
QString MainWindow::stateText() const { return status_->state(); }
QString MainWindow::ageText() const { return status_->age(); }
QString MainWindow::noticeText() const { return status_->notice(); }
QString MainWindow::storageText() const { return status_->storageProblem(); }
QString MainWindow::logText() const { return log_->toPlainText(); }
bool MainWindow::showsWelcome() const { return stack_->currentWidget() == welcome_; }

void MainWindow::closeEvent(QCloseEvent* event) {
  settings_.set(QStringLiteral("geometry"), saveGeometry());
  settings_.set(QStringLiteral("layout"), saveState());
  event->accept();
}

// Also by the desktop, and as the window was when it was closed.
void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() != QEvent::WindowStateChange) return;
  QAction* action = actions_->action(QStringLiteral("fullscreen"));
  const QSignalBlocker quiet(action);
  action->setChecked(isFullScreen());
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) openDropped(url.isLocalFile() ? url.toLocalFile() : url.toString());
}

}  // namespace mpm
