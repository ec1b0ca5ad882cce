// SPDX-License-Identifier: Apache-2.0
#include "gui/main_window.h"

#include <algorithm>

#include "gui/controllers/action_registry.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/folder_view.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/panel_docks.h"
#include "gui/controllers/teach_mode.h"
#include "gui/controllers/tuning.h"
#include "gui/controllers/watch_rules.h"
#include "gui/controllers/window_memory.h"
#include "gui/models/command_line.h"
#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "gui/views/chart_panel.h"
#include "gui/views/compare_panel.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/events_panel.h"
#include "gui/views/folder_bar.h"
#include "gui/views/image_view.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/label_pictures_panel.h"
#include "gui/views/legend_panel.h"
#include "gui/views/look.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_editor.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/source_panel.h"
#include "gui/views/speed_panel.h"
#include "gui/views/status_line.h"
#include "gui/views/teach_pane.h"
#include "gui/views/welcome_page.h"
#include "vision/default_model.h"
#include "vision/labels/classes.h"

namespace mpm::gui {

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      options_(options),
      refine_at_start_(options.inference.refine),
      settings_(options.settings),
      history_view_(options.database) {
  const auto settings = openSettings(options.settings);
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

  makeActions();
  makeCentral();
  makeDocks();
  makeToolBar();
  status_ = new StatusLine(this);
  setStatusBar(status_);
  actions_->fill(menuBar());

  const QString model = options.model.isEmpty() ? QString::fromStdString(vision::defaultModel()) : options.model;
  monitor::SessionOptions session;
  session.model = model.toStdString();
  session.inference = options.inference;
  session.choose_reuse = options.choose_reuse;
  session.database = options.database.toStdString();
  session.snapshots = rules_->snapshotOptions(options.pictures);
  session.on_event = rules_->command();
  session.store.open_at_once = false;  // opening a large database after a crash takes long
  session.store.keep_days = rules_->keep().sample_days;
  session.store.keep_days_of_all = true;
  session.store.max_megabytes = rules_->keep().database_mb;
  live_ = std::make_unique<LiveMonitor>(std::move(session));
  opener_ =
      new Opener({options.model, options.inference.read.convert.reduce}, live_.get(), *settings, &settings_, this);
  folder_ = new FolderView(folder_bar_, live_.get(), actions_->action("pause"), this);
  exports_ = new Exports(history_view_.chartPanel(), &history(), pictures_.get(), live_.get(), this);
  tuning_ = new Tuning(options.inference, live_.get(), pictures_.get(), actions_->action("pause"), this);
  source_->setModel(nullptr, model);
  wireOpening();
  wirePictures();
  wireWatching();
  wireHistory();
  pictures_->list();
  history_view_.begin();
  history_view_.setNightRule(rules_->night());
  welcome_->setRecents(opener_->recents());
  tick();
  memory_ = std::make_unique<WindowMemory>(*settings, &settings_, this, pane_, history_view_.chartPanel(), docks_);
}

MainWindow::~MainWindow() {
  disconnect(live_.get(), nullptr, this, nullptr);
  memory_.reset();
  hide();
  delete std::exchange(teach_, nullptr);
  // The views look at models that are members of this class: they go first.
  delete docks_;
  delete takeCentralWidget();
}

void MainWindow::makeCentral() {
  stack_ = new QStackedWidget(this);
  welcome_ = new WelcomePage(stack_);
  pane_ = new PicturesPane(&selection_, &legend_, actions_->action("previous_insertion"),
                           actions_->action("next_insertion"), stack_);
  folder_bar_ = new FolderBar(actions_->action("previous_picture"), actions_->action("next_picture"));
  watch_page_ = new QWidget;
  QBoxLayout* column = fill(new QVBoxLayout(watch_page_), pane_, folder_bar_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->setStretch(0, 1);
  stack_->addWidget(welcome_);
  stack_->addWidget(watch_page_);
  setCentralWidget(stack_);
}

void MainWindow::makeDocks() {
  source_ = new SourcePanel;
  reduction_ = new ReductionPanel;
  legend_panel_ = new LegendPanel(&legend_);
  inspector_ = new InspectorPanel(&selection_, &legend_);
  speed_ = new SpeedPanel;
  compare_ = new ComparePanel;
  log_ = named(new QPlainTextEdit, tr("Log"));
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(2000);
  log_->setFrameShape(QFrame::NoFrame);
  docks_ = new PanelDocks({source_, reduction_, legend_panel_, inspector_, speed_, history_view_.dayNightPanel(),
                           compare_, history_view_.chartPanel(), history_view_.eventsPanel(), log_},
                          this, actions_);
}

void MainWindow::openSource(const QString& asked) {
  if (asked.isEmpty()) return;
  asked_ = asked;
  const QString source = asked == QLatin1String("demo:") ? demoSource() : asked;
  monitor::WatchOptions watch = rules_->watchOptions(source);
  watch.factory = options_.factory;
  live_->open(watch);
  endPause(true);
  forgetFrame();
  const QString shown = QString::fromStdString(live_->session().source());
  source_->setSource(shown);
  history_view_.setNightRule(watch.night);
  stack_->setCurrentWidget(watch_page_);
  folder_->setSource(source);
  refreshRegions();
  giveFolderToTeach();
  history_view_.watch(shown);
  refreshTitle();
  if (live_->session().model().empty())
    pane_->setBanner(tr("No model yet: choose one with Ctrl+M, or drop an ONNX file here"));
  tick();
}

void MainWindow::closeSource() {
  live_->close();
  refreshRegions();
  folder_->setSource({});
  endPause(false);
  history_view_.stopWatching();
  forgetFrame();
  actions_->action("record")->setChecked(false);
  source_->setSource({});
  refreshTitle();
  welcome_->setRecents(opener_->recents());
  stack_->setCurrentWidget(welcome_);
  tick();
}

void MainWindow::refreshTitle() {
  const QString what = live_->session().isOpen() ? sourceTitle(QString::fromStdString(live_->session().source()))
                                                 : history_view_.foreignName();
  setWindowTitle(what.isEmpty() ? tr("MPM Monitor") : tr("%1 – MPM Monitor").arg(what));
}

void MainWindow::setPaused(bool on) {
  if (on && live_->session().status().finished) {
    const auto key = [this](const char* id) {
      return actions_->action(id)->shortcut().toString(QKeySequence::NativeText);
    };
    const QSignalBlocker quiet(actions_->action("pause"));
    actions_->action("pause")->setChecked(false);
    return showNotice(
        folder_->files().isEmpty()
            ? tr("The source has come to its end: nothing is left to pause. %1 plays it again").arg(key("again"))
            : tr("The folder has come to its end: nothing is left to pause. %1 and %2 go through its "
                 "pictures, %3 plays it again")
                  .arg(key("previous_picture"), key("next_picture"), key("again")));
  }
  live_->session().setPaused(on);
  source_->setPaused(on);
  tick();
}

// A pause is of the source that was paused.
void MainWindow::endPause(bool open) {
  QAction* pause = actions_->action("pause");
  pause->setChecked(false);
  pause->setEnabled(open);
}

// The numbers of one source must not stand beside the name of another.
void MainWindow::forgetFrame() {
  frozen_ = false;
  live_frame_.reset();
  pane_->clear();
  legend_.setAreas({});
  legend_panel_->setFrame(nullptr);
  inspector_->setFrame(nullptr);
  speed_->setTimes({});
  compare_->setFrame(nullptr);
  status_->clearFrame();
  if (teach_) teach_pane_->pictures()->setLive(false);
}

void MainWindow::openDropped(const QString& asked) { opener_->open(asked); }
void MainWindow::openNamed(const QString& asked) { opener_->openNamed(asked); }
void MainWindow::resumeLast() { opener_->resumeLast(); }

void MainWindow::openDatabase(const QString& path) {
  docks_->raise("chart");
  history_view_.openForeign(path);
  if (QFileInfo::exists(path))
    showNotice(tr("Showing %1, read-only").arg(path));
  else
    showNotice(tr("There is no %1 yet: what is written to it will be shown").arg(path), Badge::kWarning);
}

void MainWindow::openModel(const QString& path, const std::optional<Reduction>& variant) {
  if (!model_) pane_->setBanner({});
  if (path.toStdString() != live_->session().model()) options_.inference.refine = refine_at_start_;
  live_->change([&](monitor::Session& session) { session.setModel(path.toStdString(), variant); });
  showNotice(tr("Reading %1…").arg(QFileInfo(path).fileName()));
}

void MainWindow::chooseReduction(const Reduction& variant) {
  live_->change([&](monitor::Session& session) { session.setReduction(variant); });
  sayWhenItShows(tr("reduction %1").arg(QString::fromStdString(toString(variant))));
}

void MainWindow::takeModel(const std::shared_ptr<const ModelInfo>& model) {
  if (model == model_ || !model) return;
  // Another reduction of the same model keeps the colours and the choice of classes.
  if (!model_ || model_->task != model->task || vision::classNames(*model_) != vision::classNames(*model))
    legend_.setClasses(*model);
  legend_panel_->setModel(*model);
  offerWhatFits(*model);
  const bool first = !model_;
  model_ = model;
  reduction_->setModel(*model);
  compare_->setModel(*model);
  source_->setModel(model.get(), QString::fromStdString(live_->session().model()));
  pane_->setSteps(static_cast<int>(model->schedule().size()));
  giveModelToTeach();
  noteTaughtModel();
  if (first) pane_->setBanner({});
  if (live_frame_) remember();
}

// Only what gave a frame: a source that was mistyped must not be what is gone on with after a power cut.
void MainWindow::remember() { opener_->remember(asked_, model_ ? std::optional(model_->reduction) : std::nullopt); }

void MainWindow::takeFrame(const LiveFramePtr& frame) {
  const bool first = !live_frame_;
  live_frame_ = frame;
  takeModel(frame->result.model);
  if (first && teach_) teach_pane_->pictures()->setLive(true);
  if (first) remember();
  if (!frozen_) showFrame(frame);
  folder_->follow(*frame);
  if (!frame->hasGrid()) return;
  selection_.limit(frame->lookup.tokens());
  speed_->setTimes(frame->result.estimate.ms);
  if (!frozen_) compare_->setFrame(frame);
}

// What stands beside a picture is of that picture, live or stored.
void MainWindow::showFrame(const LiveFramePtr& frame) {
  pane_->setFrame(frame);
  inspector_->setFrame(frame);
  legend_.setAreas(areasIn(*frame, rules_->regions(sourceOnShow()).regions, legend_panel_->region().toStdString()));
  legend_panel_->setFrame(frame.get());
  status_->setFrame(*frame);
}

void MainWindow::takeSnapshot() {
  if (frozen_) return showNotice(tr("The picture on show is stored already. Esc: back to live"));
  live_->session().snapshots().setStyle(overlayStyle());
  exports_->save(live_frame_);
}

void MainWindow::takeEvent(const monitor::Event& event) {
  history_view_.add(event);
  const QString text = QString::fromStdString(event.message);
  if (event.kind != monitor::EventKind::kSource) log(text);  // takeState() says it in the user's language
  if (event.severity != monitor::Severity::kInfo)
    showNotice(text, event.severity == monitor::Severity::kError ? Badge::kBad : Badge::kWarning);
  if (event.kind == monitor::EventKind::kModel && event.severity == monitor::Severity::kError) {
    if (model_) {
      reduction_->setModel(*model_);  // what was asked for did not come about
      const QString path = QString::fromStdString(live_->session().model());
      reduction_->editor()->setProblem(breakable(QString(text).replace(path, QFileInfo(path).fileName())));
    } else {
      pane_->setBanner(text);
    }
  }
}

void MainWindow::takeState(const monitor::CaptureStatus& status) {
  log(tr("Source: %1").arg(mpm::gui::stateText(status)) +
      (status.message.empty() ? QString() : QStringLiteral(" (%1)").arg(QString::fromStdString(status.message))));
  tick();
}

void MainWindow::tick() {
  const auto [capture, inference, store, finished] = live_->session().status();
  live_->session().snapshots().setStyle(overlayStyle());
  source_->setStatus(capture);
  if (!live_frame_) takeModel(inference.info);  // no frame brings it
  if (!model_) source_->setModel(nullptr, QString::fromStdString(live_->session().model()));
  speed_->setStatus(capture, inference);
  const bool open = live_->session().isOpen(), old = open && isOld(capture);
  status_->setStatus(capture, inference, open, live_->session().paused());
  if (!frozen_) pane_->setFaded(old);
  if (!frozen_ && open && model_)
    pane_->setBanner(
        old ? tr("%1: the last frame is %2 old").arg(mpm::gui::stateText(capture), spanText(capture.frame_age_s))
        : gaveNothing(capture) ? QString::fromStdString(capture.message)
                               : QString());
  pane_->setPlaceholder(gaveNothing(capture) ? tr("No frame came") : tr("Waiting for the first frame…"));
  status_->setRecording(exports_->recordText());
  status_->setStorageProblem(store ? QString::fromStdString(store->problem) : QString(), store && store->stopped);
  if (!inference.comparing && compare_->box()->isChecked())
    compare_->refuse(QString::fromStdString(inference.no_comparison));
  history_view_.refresh(live_frame_ ? live_frame_->result.frame.time : 0);
}

void MainWindow::showStored(double time) {
  if (const StoredPicture* picture = history_view_.pictureNear(pictures_->pictures(), time))
    pictures_->load(picture->path);
  else
    showNotice(tr("No picture is stored near that time. File ▸ What is kept… makes a time-lapse"));
}

void MainWindow::backToLive() {
  if (!frozen_) return;
  frozen_ = false;
  refreshRegions();
  pane_->setBanner({});
  live_frame_ ? showFrame(live_frame_) : forgetFrame();
  if (!live_->session().isOpen()) stack_->setCurrentWidget(welcome_);
}

void MainWindow::askRegions() {
  const LiveFramePtr& frame = pane_->image()->frame();
  if (!frame || sourceOnShow().isEmpty())
    return showNotice(tr("Open a source first: regions are drawn on its picture"));
  rules_->askRegions(sourceOnShow(), frame->image());
}

QString MainWindow::sourceOnShow() const {
  return frozen_ ? history_view_.source() : QString::fromStdString(live_->session().source());
}

// A stored picture has no labels to measure again.
void MainWindow::refreshRegions() {
  const std::vector<vision::Region>& regions = rules_->regions(sourceOnShow()).regions;
  pane_->setRegions(regions);
  QStringList names;
  for (const vision::Region& region : regions)
    if (const auto name = QString::fromStdString(region.name); !frozen_ && !region.ignore && !names.contains(name))
      names << name;
  legend_panel_->setRegions(names);
  giveStatesToTeach();
  if (!frozen_ && live_frame_) showFrame(live_frame_);
}

monitor::OverlayStyle MainWindow::overlayStyle() const {
  monitor::OverlayStyle style{pane_->paint().opacity, {}};
  for (int c = 0; c < legend_.classes(); ++c) {
    const QRgb color = legend_.color(c).rgb();
    style.colors.emplace_back(qBlue(color), qGreen(color), qRed(color));
  }
  return style;
}

void MainWindow::setRecording(bool recording) {
  exports_->setRecording(recording);
  tick();
}

// Without a frame after a while, show why.
void MainWindow::sayWhenItShows(const QString& change) {
  if (live_->repeats())
    showNotice(tr("On this frame: %1").arg(change));
  else if (live_->session().isOpen() && live_->session().paused())
    showNotice(tr("It is paused; from the next frame on: %1").arg(change), Badge::kWarning);
  else if (live_->session().status().source.state == monitor::CaptureState::kEnded)
    showNotice(tr("The source has ended; once it is opened again (%1): %2")
                   .arg(actions_->action("again")->shortcut().toString(QKeySequence::NativeText), change),
               Badge::kWarning);
  else
    showNotice(tr("From the next frame on: %1").arg(change));
}

void MainWindow::showNotice(const QString& text, Badge badge) { status_->notify(text, badge); }

void MainWindow::log(const QString& text) {
  log_->appendPlainText(QStringLiteral("%1  %2").arg(QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), text));
}

void MainWindow::fail(const QString& message) {
  log(message);
  showNotice(message, Badge::kBad);
}

void MainWindow::exportSamples(ExportDialog::Format format, UnixMs from, UnixMs to, const QString& path) {
  exports_->write(format, from, to, path);
}

QString MainWindow::commandLine() const {
  const SourceRegions& regions = rules_->regions(QString::fromStdString(live_->session().source()));
  return mpm::gui::commandLine(
      {live_->session().isOpen() ? QString::fromStdString(live_->session().source()) : QString(),
       QString::fromStdString(live_->session().model()), reduction_->editor()->reduction(), options_.inference,
       options_.choose_reuse, history_view_.ownDatabase(), rules_->times(asked_), !regions.regions.empty(),
       regions.savedIn()});
}

void MainWindow::copyCommandLine() {
  QString line = commandLine();
  QApplication::clipboard()->setText(line);
  showNotice(tr("Copied: %1").arg(line.replace(QLatin1Char('\n'), QLatin1Char(' '))), Badge::kGood);
}

void MainWindow::restoreDefaultLayout() {
  docks_->restore();
  pane_->restoreSizes();
  actions_->action("merge_map")->setChecked(true);
}

void MainWindow::setDark(bool dark) {
  applyLook(dark ? darkTheme() : lightTheme(), font_percent_);
  settings_.set(QStringLiteral("dark"), dark);
  const QSignalBlocker quiet(actions_->action("dark"));
  actions_->action("dark")->setChecked(dark);
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

const QVector<QDockWidget*>& MainWindow::docks() const { return docks_->docks(); }

void MainWindow::leave() {
  leaving_ = true;
  close();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!leaving_ && exports_->running()) {
    event->ignore();
    return exports_->askToGiveUp([this] { leave(); });
  }
  setTeaching(false);
  memory_->write();
  event->accept();
}

// Also by the desktop, and as the window was when it was closed.
void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() != QEvent::WindowStateChange) return;
  QAction* action = actions_->action("fullscreen");
  const QSignalBlocker quiet(action);
  action->setChecked(isFullScreen());
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  if (docks_ && layout_.isEmpty()) docks_->fit();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList dropped;
  for (const QUrl& url : event->mimeData()->urls()) dropped << (url.isLocalFile() ? url.toLocalFile() : url.toString());
  opener_->open(dropped);
}

}  // namespace mpm::gui
