// SPDX-License-Identifier: Apache-2.0
#include "gui/main_window.h"

#include "gui/models/readout.h"
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

MainWindow::MainWindow(const WindowOptions& options)
    : options_(options),
      settings_(options.settings, this,
                [this](const QString& why) { report(tr("Not saved: %1").arg(why), Badge::kWarning); }),
      pictures_(new PictureStore(options.pictures, this)),
      configs_(new CameraConfigs(QFileInfo(settings_.read()->fileName()).path() + QStringLiteral("/watches"),
                                 &settings_, this)),
      on_show_(new OnShow(this)),
      live_(std::make_unique<LiveMonitor>(sessionOf(options))),
      actions_(makeActions()),
      net_(new NetControl(options_, live_.get(), on_show_, actions_, this)),
      picture_(new PictureViews(on_show_, actions_, &settings_, this)),
      pane_(makePictures()),
      folder_bar_(new FolderBar(actions_->action("previous_picture"), actions_->action("next_picture"))),
      log_(newLog(tr("Log"))),
      status_(makeStatusLine()),
      history_(new HistoryBrowser(this)),
      camera_(new CameraControl(options_, live_.get(), on_show_, configs_, net_, actions_, this)),
      dialogs_(new CameraDialogs(configs_, live_.get(), this)),
      stored_(new StoredMoments(on_show_, history_, pictures_, std::bind_front(&MainWindow::said, this), true, this)),
      opener_(
          new Opener({options_.model, options_.inference.reduce}, live_.get(), *settings_.read(), &settings_, this)),
      folder_(new FolderBrowser(folder_bar_, live_.get(), actions_->action("pause"), this)),
      views_(new HistoryViews(history_, stored_, pictures_, picture_->legend(), actions_->action("night"), actions_,
                              this)),
      exports_(new Exports([this] { return views_->shownChart(); }, history_, pictures_, this)),
      recording_(new Recording(live_.get(), pictures_, this)),
      tuning_(new Tuning(live_.get(), {live_.get(), pictures_, folder_}, actions_->action("pause"), this)),
      measure_again_(new MeasureAgain(camera_, live_.get(), history_, this)),
      judging_(new Judging(live_.get(), configs_, history_, this)),
      pages_(new CentralPages(actions_->action("demo"), pane_, folder_bar_, this)),
      docks_(makePanels()),
      look_(new WindowLook(this, actions_, docks_, rememberedParts(), &settings_)) {
  setAcceptDrops(true);
  const QSize screen =
      QApplication::primaryScreen() ? QApplication::primaryScreen()->availableSize() : QSize(1280, 800);
  resize(std::min(1280, screen.width()), std::min(800, screen.height()));
  setMinimumSize(480, 320);
  setCentralWidget(pages_);
  setStatusBar(status_);
  addLanguages();
  makeToolBar();
  connectOpening();
  connectHistory();
  connectPages();
  connectMessages();
  pictures_->list();
  history_->setDatabase(live_->database());
  showPage();
  camera_->tick();
  look_->restore();
}

MainWindow::~MainWindow() {
  for (HistoryWindow* other : others_) delete other;
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
  const QString of_camera = pages_->cameras()->title(), source = on_show_->source().name;
  const QString what = !of_camera.isEmpty() ? of_camera : source.isEmpty() ? QString() : sourceTitle(source);
  setWindowTitle(what.isEmpty() ? tr("MPM Monitor") : tr("%1 – MPM Monitor").arg(what));
}

void MainWindow::showPage() {
  refreshTitle();
  const bool nothing = on_show_->isNothing();
  if (nothing) pages_->welcome()->setRecents(opener_->recents());
  pages_->showSource(!nothing || !pages_->cameras()->title().isEmpty());
  actions_->action("cameras")->setVisible(pages_->cameras()->count() > 0);
}

// What is stored of it, which another program may be writing; the camera itself where nothing is stored.
void MainWindow::openCamera(int row) {
  const auto cameras = pages_->cameras()->cameras();
  const monitor::CameraConfig& camera = cameras[static_cast<std::size_t>(row)];
  const QString source = QString::fromStdString(camera.source);
  if (isOwn(camera)) {
    openDatabase(QString::fromStdString(camera.db));
    return history_->sources()->want(QString::fromStdString(sourceSpec(source).name()));
  }
  if (QFileInfo::exists(QString::fromStdString(camera.db))) return openWindow(cameras, row);
  pages_->cameras()->show(row);
  configs_->follow(camera);
  const auto variant = camera.reduce.empty() ? std::nullopt : std::optional(parseReduction(camera.reduce));
  const std::string model = camera.model.empty() ? vision::defaultModel() : camera.model;
  if (!model.empty()) net_->open(QString::fromStdString(model), variant);
  camera_->open(source);
}

// In another window it would not be shown by what is said of its sources here, such as what is hidden.
bool MainWindow::isOwn(const monitor::CameraConfig& camera) const {
  const QString found = QFileInfo(QString::fromStdString(camera.db)).canonicalFilePath();
  return !found.isEmpty() && found == QFileInfo(live_->database()).canonicalFilePath();
}

void MainWindow::openDatabase(const QString& path) {
  const monitor::CameraConfig camera{.db = path.toStdString()};
  if (!isOwn(camera)) return openWindow({camera}, 0);
  pages_->cameras()->leave();
  docks_->raise("chart");
  dialogs_->forgetTimes();
  stored_->showLast();
}

void MainWindow::openWindow(std::vector<monitor::CameraConfig> cameras, int at) {
  at -=
      static_cast<int>(std::count_if(cameras.begin(), cameras.begin() + at, std::bind_front(&MainWindow::isOwn, this)));
  std::erase_if(cameras, std::bind_front(&MainWindow::isOwn, this));
  std::erase_if(others_, [](const auto& other) { return !other || !other->isVisible(); });  // a closed one goes soon
  const QString database = QString::fromStdString(cameras[static_cast<std::size_t>(at)].db);
  const auto there = std::ranges::find(others_, database, [](const auto& other) { return other->database(); });
  HistoryWindow* const other =
      there != others_.end() ? there->data() : new HistoryWindow(cameras, at, pictures_->folder(), &settings_);
  if (there == others_.end()) {
    others_.emplace_back(other);
    const auto lend = [this, other] { other->borrowColors(picture_->legend()->colors()); };
    connect(picture_->legend(), &LegendModel::paintChanged, other, lend);
    lend();
    connect(other, &HistoryWindow::mainRequested, this, &MainWindow::bringUp);
    connect(other, &HistoryWindow::allCamerasRequested, this, [this] {
      pages_->cameras()->showAll();
      bringUp();
    });
  }
  other->show();
  other->raise();
  other->activateWindow();
}

void MainWindow::bringUp() {
  show();
  raise();
  activateWindow();
}

bool MainWindow::showsOnlyOthers() const {
  const bool others = std::ranges::any_of(others_, [](const auto& other) { return !other.isNull(); });
  return others && on_show_->isNothing() && !pages_->cameras()->allShown();
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
  dialogs_->askRegions(source, *frame);
}

void MainWindow::takeSnapshot() {
  if (on_show_->stored()) return status_->notify(tr("The picture on show is stored already. Esc: back to live"));
  live_->session().snapshots().setStyle(picture_->pane()->overlayStyle());
  recording_->save(on_show_->liveFrame());
}

// Made when it is needed: most windows only watch.
TeachMode& MainWindow::teach() {
  if (teach_) return *teach_;
  TeachPane* pane = pages_->teach();
  teach_ = new TeachMode(options_, on_show_, net_, configs_, {live_.get(), pictures_, folder_}, &settings_, pane, this);
  pane->canvas()->setOpacity(picture_->pane()->paint().opacity);
  connect(teach_, &TeachMode::said, this, &MainWindow::report);
  connect(teach_, &TeachMode::taught, measure_again_, &MeasureAgain::offer);
  connect(picture_->pane(), &ImagePane::opacityChanged, pane->canvas(), &TeachCanvas::setOpacity);
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
  actions_->setPossible("tune", model.converted            ? tr("not with a converted file, whose reduction is fixed")
                                : depth                    ? no_classes
                                : !model.hasPixelClasses() ? tr("only with a model that gives each pixel a class")
                                                           : QString());
  QAction* sharp = actions_->action("sharp_edges");
  const QSignalBlocker quiet(sharp);
  sharp->setEnabled(model.task == Task::kSemantic);
  sharp->setChecked(model.facts.refine == Refine::kGuided);
}

void MainWindow::log(const QString& text) {
  const charts::OptionalClock clock(vision::clockOrMachine(history_->clock()));  // of the Events; names its zone
  log_->appendPlainText(QStringLiteral("%1  %2").arg(timeText(unixNow(), clock, QStringLiteral("HH:mm:ss")), text));
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
  for (HistoryWindow* other : others_)
    if (other) other->leave();
  close();
}

void MainWindow::closeEvent(QCloseEvent* event) {
  const bool others = std::ranges::any_of(others_, [](const auto& other) { return other && other->running(); });
  if (!leaving_ && (others || exports_->running() || judging_->running() || (teach_ && teach_->training()))) {
    event->ignore();
    return exports_->askToGiveUp([this] { leave(); });
  }
  look_->setPanelsAside(false);
  look_->remember();
  for (HistoryWindow* other : others_)
    if (other) other->leave();
  event->accept();
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  look_->fit();
}

bool MainWindow::focusNextPrevChild(bool next) {
  return docks_->moveFocus([&] { return QMainWindow::focusNextPrevChild(next); });
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
