// SPDX-License-Identifier: Apache-2.0
#include "gui/main_window.h"

#include "gui/models/recents.h"
#include "vision/model_files.h"

namespace mpm::gui {
namespace {

monitor::SessionOptions sessionOf(const WindowOptions& options) {
  monitor::SessionOptions session{
      .model = options.model.isEmpty() ? vision::defaultModel() : options.model.toStdString(),
      .inference = options.inference,
      .choose_reuse = options.choose_reuse,
      .database = options.database.toStdString()};
  session.snapshots.folder = options.pictures.toStdString();
  session.store.open_at_once = false;  // opening a large database after a crash takes long
  return session;
}

QPlainTextEdit* newLog(const QString& name) {
  auto* log = named(new QPlainTextEdit, name);
  log->setReadOnly(true);
  log->setMaximumBlockCount(2000);
  log->setFrameShape(QFrame::NoFrame);
  return log;
}

}  // namespace

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      options_(options),
      settings_(options.settings, this,
                [this](const QString& why) { report(tr("Not saved: %1").arg(why), Badge::kWarning); }),
      legend_(new LegendModel(this)),
      selection_(new PatchSelection(this)),
      pictures_(new PictureStore(options.pictures, this)),
      configs_(new CameraConfigs(QFileInfo(settings_.read()->fileName()).path() + QStringLiteral("/watches"),
                                 &settings_, this)),
      on_show_(new OnShow(this)),
      live_(std::make_unique<LiveMonitor>(sessionOf(options))),
      actions_(makeActions()),
      net_(new NetControl(options_, live_.get(), on_show_, actions_, this)),
      pane_(makePictures()),
      folder_bar_(new FolderBar(actions_->action("previous_picture"), actions_->action("next_picture"))),
      log_(newLog(tr("Log"))),
      status_(makeStatusLine()),
      history_(new HistoryBrowser(live_.get(), this)),
      camera_(new CameraControl(options_, live_.get(), on_show_, configs_, net_, actions_, this)),
      dialogs_(new CameraDialogs(configs_, live_.get(), this)),
      stored_(new StoredMoments(live_.get(), on_show_, configs_, history_, pictures_, this)),
      opener_(
          new Opener({options_.model, options_.inference.reduce}, live_.get(), *settings_.read(), &settings_, this)),
      folder_(new FolderBrowser(folder_bar_, live_.get(), actions_->action("pause"), this)),
      chart_(makeChart()),
      exports_(new Exports([this] { return shownChart(); }, history_, pictures_, live_.get(), this)),
      tuning_(new Tuning(live_.get(), {live_.get(), pictures_, folder_}, actions_->action("pause"), this)),
      measure_again_(new MeasureAgain(camera_, live_.get(), history_, this)),
      judging_(new Judging(live_.get(), configs_, history_, this)),
      pages_(new CentralPages(actions_->action("demo"), pane_, folder_bar_, this)),
      docks_(makePanels()),
      look_(new WindowLook(this, actions_, docks_, rememberedParts(), &settings_)) {
  const auto stored = settings_.read();
  setAcceptDrops(true);
  const QSize screen =
      QApplication::primaryScreen() ? QApplication::primaryScreen()->availableSize() : QSize(1280, 800);
  resize(std::min(1280, screen.width()), std::min(800, screen.height()));
  setMinimumSize(480, 320);
  setCentralWidget(pages_);
  setStatusBar(status_);
  legend_->setChosenColors(loadClassColors(*stored));
  makeToolBar();
  connectOpening();
  connectHistory();
  connectPages();
  connectMessages();
  pictures_->list();
  history_->begin();
  showPage();
  camera_->tick();
  look_->restore(*stored);
}

MainWindow::~MainWindow() {
  live_->disconnect();  // what its threads still say is for nobody
  disconnect(pages_, nullptr, this, nullptr);
  delete judging_;
  delete measure_again_;
  hide();
  delete teach_;
  // The views look at models: they go first.
  delete docks_;
  delete takeCentralWidget();
}

void MainWindow::refreshTitle() {
  const QString of_camera = pages_->cameras()->name(), source = on_show_->source().name;
  const QString database = on_show_->source().database;
  const QString what = !of_camera.isEmpty()  ? of_camera
                       : !database.isEmpty() ? database
                       : !source.isEmpty()   ? sourceTitle(source)
                                             : history_->foreignName();
  setWindowTitle(what.isEmpty() ? tr("MPM Monitor") : tr("%1 – MPM Monitor").arg(what));
}

void MainWindow::showPage() {
  refreshTitle();
  const bool nothing = on_show_->isNothing();
  if (nothing) pages_->welcome()->setRecents(opener_->recents());
  pages_->showSource(!nothing || !pages_->cameras()->name().isEmpty());
  for (const char* id : {"cameras", "previous_camera", "next_camera"})
    actions_->action(id)->setVisible(pages_->cameras()->count() > 0);
}

// What is stored of it, which another program may be writing; the camera itself where nothing is stored.
void MainWindow::openCamera(const monitor::CameraConfig& camera) {
  const QString database = QString::fromStdString(camera.db);
  if (!QFileInfo::exists(database)) {
    configs_->follow(camera);
    const auto variant = camera.reduce.empty() ? std::nullopt : std::optional(parseReduction(camera.reduce));
    const std::string model = camera.model.empty() ? vision::defaultModel() : camera.model;
    if (!model.empty()) net_->open(QString::fromStdString(model), variant);
    return camera_->open(QString::fromStdString(camera.source));
  }
  camera_->close();
  pictures_->list(QString::fromStdString(camera.snapshots));
  openDatabase(database);
  history_->sources()->want(QString::fromStdString(sourceSpec(QString::fromStdString(camera.source)).name()));
}

void MainWindow::openDatabase(const QString& path) {
  docks_->raise("chart");
  dialogs_->forgetTimes();
  // As another program's it would not be shown by what is said of its sources here, such as what is hidden.
  const QString found = QFileInfo(path).canonicalFilePath();
  if (!found.isEmpty() && found == QFileInfo(live_->database()).canonicalFilePath()) return stored_->showOwnDatabase();
  history_->openForeign(path);
  if (QFileInfo::exists(path))
    status_->notify(tr("Showing %1, read-only").arg(path));
  else
    status_->notify(tr("There is no %1 yet: what is written to it will be shown").arg(path), Badge::kWarning);
}

void MainWindow::ask(const QString& title, const char* group) {
  const QString shown = on_show_->source().name, source = shown.isEmpty() ? history_->source() : shown;
  if (source.isEmpty()) return status_->notify(tr("Open a source first: each has its own"));
  dialogs_->ask(source, title, group);
}

void MainWindow::askRegions() {
  const LiveFramePtr frame = on_show_->frame();
  const QString source = on_show_->source().name;
  if (!frame || source.isEmpty()) return status_->notify(tr("Open a source first: regions are drawn on its picture"));
  dialogs_->askRegions(source, frame->image(), frame->result.frame.time);
}

void MainWindow::takeSnapshot() {
  if (on_show_->stored()) return status_->notify(tr("The picture on show is stored already. Esc: back to live"));
  live_->session().snapshots().setStyle(pane_->overlayStyle());
  exports_->save(on_show_->liveFrame());
}

// Made when it is needed: most windows only watch.
TeachMode& MainWindow::teach() {
  if (teach_) return *teach_;
  TeachPane* pane = pages_->teach();
  teach_ = new TeachMode(options_, on_show_, net_, configs_, {live_.get(), pictures_, folder_}, &settings_, pane, this);
  pane->canvas()->setOpacity(pane_->paint().opacity);
  connect(teach_, &TeachMode::said, this, &MainWindow::report);
  connect(teach_, &TeachMode::taught, measure_again_, &MeasureAgain::offer);
  connect(pane_, &PicturesPane::opacityChanged, pane->canvas(), &TeachCanvas::setOpacity);
  return *teach_;
}

void MainWindow::setTeaching(bool on) {
  if (on == pages_->teaching()) return;
  if (!on) return showPage();
  teach();
  pages_->showTeach();
}

// A model of depth has no classes.
void MainWindow::offerWhatFits() {
  const ModelInfo& model = *net_->model();
  const bool depth = model.task == Task::kDepth;
  if (depth) setTeaching(false);
  const QString no_classes = depth ? tr("not with a model of depth, which has no classes") : QString();
  for (const char* id : {"teach", "take", "classes"}) actions_->setPossible(id, no_classes);
  actions_->setPossible("tune", model.converted     ? tr("not with a converted file, whose reduction is fixed")
                                : depth             ? no_classes
                                : !model.segments() ? tr("only with a model that gives each pixel a class")
                                                    : QString());
  QAction* sharp = actions_->action("sharp_edges");
  const QSignalBlocker quiet(sharp);
  sharp->setEnabled(model.task == Task::kSemantic);
  sharp->setChecked(model.facts.refine == Refine::kGuided);
}

void MainWindow::log(const QString& text) {
  log_->appendPlainText(QStringLiteral("%1  %2").arg(QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), text));
}

void MainWindow::report(const QString& text, Badge badge) {
  log(text);
  status_->notify(text, badge);
}

void MainWindow::setLanguage(const QString& language) {
  settings_.set(QStringLiteral("language"), language);
  status_->notify(tr("The language changes when the program starts the next time"));
}

void MainWindow::leave() {
  leaving_ = true;
  close();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!leaving_ && (exports_->running() || judging_->running() || (teach_ && teach_->training()))) {
    event->ignore();
    return exports_->askToGiveUp([this] { leave(); });
  }
  look_->setPanelsAside(false);
  look_->remember();
  event->accept();
}

// The window becomes full-screen also by the desktop, and when it opens as it was closed.
void MainWindow::changeEvent(QEvent* event) {
  QMainWindow::changeEvent(event);
  if (event->type() != QEvent::WindowStateChange) return;
  QAction* action = actions_->action("fullscreen");
  const QSignalBlocker quiet(action);
  action->setChecked(isFullScreen());
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  look_->fit();
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
