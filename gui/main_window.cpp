// SPDX-License-Identifier: Apache-2.0
#include "gui/main_window.h"

#include "vision/model_files.h"

namespace mpm::gui {
namespace {

// Actions whose check marks come back, by their keys in the settings; of the modes one is checked, by ViewMode.
const std::pair<const char*, const char*> kChecked[] = {{"view/map", "merge_map"}, {"view/regions", "region_outlines"}};
const QStringList kModes = {"image", "mask", "overlay", "curtain", "computed"};

// Qt leaves space for a title above a window that it restores: it moves or shrinks the window. Without a window manager
// there is no title. A window that filled a small screen has its usual size on a larger one.
void putBack(QMainWindow* window, QRect place, QSize screen_before, QSize usual) {
  if (window->isMaximized() || window->isFullScreen() || !window->screen()) return;
  const QRect screen = window->screen()->availableGeometry();
  if (!place.isValid()) place = window->geometry();  // written by an older version
  const bool filled = place.width() >= screen_before.width() && place.height() >= screen_before.height();
  if (filled && screen_before.isValid() && screen.size() != screen_before)
    place.setSize(place.size().expandedTo(usual));
  place.setSize(place.size().boundedTo(screen.size()));  // it may be another screen
  place.moveRight(std::min(place.right(), screen.right()));
  place.moveBottom(std::min(place.bottom(), screen.bottom()));
  place.moveLeft(std::max(place.left(), screen.left()));
  place.moveTop(std::max(place.top(), screen.top()));
  window->setGeometry(place);
}

}  // namespace

MainWindow::MainWindow(const WindowOptions& options, QWidget* parent)
    : QMainWindow(parent),
      options_(options),
      settings_(options.settings, this,
                [this](const QString& why) { report(tr("Not saved: %1").arg(why), Badge::kWarning); }),
      legend_(this),
      selection_(this),
      pictures_(new PictureStore(options.pictures, this)) {
  const auto stored = settings_.read();
  font_percent_ = stored->value(QStringLiteral("font"), 100).toInt();
  setAcceptDrops(true);
  const QSize screen =
      QApplication::primaryScreen() ? QApplication::primaryScreen()->availableSize() : QSize(1280, 800);
  resize(std::min(1280, screen.width()), std::min(800, screen.height()));
  setMinimumSize(480, 320);
  legend_.setChosenColors(loadClassColors(*stored));
  const QFileInfo settings_file(stored->fileName());
  rules_ = new WatchRules(settings_file.path() + QStringLiteral("/watches"), &settings_, this);

  makeActions();
  history_ = new HistoryBrowser(options.database, actions_->action("night"), this);
  makeCentral();
  makeDocks();
  makeToolBar();
  status_ = new StatusLine(this);
  setStatusBar(status_);
  makeControllers(*stored);
  wire();
  pictures_->list();
  history_->begin();
  showPage();
  watching_->tick();
  restoreLook(*stored);
}

MainWindow::~MainWindow() {
  disconnect(live_.get(), nullptr, this, nullptr);
  disconnect(stack_, nullptr, this, nullptr);
  delete std::exchange(judging_, nullptr);
  delete std::exchange(measuring_, nullptr);
  delete std::exchange(watching_, nullptr);
  hide();
  delete std::exchange(teach_, nullptr);
  // The views look at models that are members of this class: they go first.
  delete docks_;
  delete takeCentralWidget();
}

void MainWindow::makeCentral() {
  stack_ = new QStackedWidget(this);
  welcome_ = new WelcomePage(actions_->action("demo"), stack_);
  cameras_ = new CamerasPage(stack_);
  pane_ = new PicturesPane(&selection_, &legend_, actions_->action("previous_insertion"),
                           actions_->action("next_insertion"));
  folder_bar_ = new FolderBar(actions_->action("previous_picture"), actions_->action("next_picture"));
  watch_page_ = new QWidget;
  fill(seamless(new QVBoxLayout(watch_page_)), stretched(pane_), folder_bar_);
  for (QWidget* page : QWidgetList{welcome_, cameras_, watch_page_}) stack_->addWidget(page);
  setCentralWidget(stack_);
}

void MainWindow::makeDocks() {
  const auto action = [this](const char* id) { return actions_->action(id); };
  source_ = new SourcePanel({action("open"), action("pause"), action("close"), action("model")});
  reduction_ = new ReductionPanel(action("tune"), action("command"));
  legend_panel_ = new LegendPanel(&legend_);
  inspector_ = new InspectorPanel(&selection_, &legend_);
  speed_ = new SpeedPanel;
  compare_ = new ComparePanel;
  log_ = named(new QPlainTextEdit, tr("Log"));
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(2000);
  log_->setFrameShape(QFrame::NoFrame);
  const auto left = Qt::LeftDockWidgetArea, right = Qt::RightDockWidgetArea, bottom = Qt::BottomDockWidgetArea;
  docks_ = new PanelDocks({{"source", tr("Source"), source_, left},
                           {"schedule", tr("Reduction"), reduction_, left},
                           {"legend", tr("Legend"), legend_panel_, right},
                           {"inspector", tr("Inspector"), inspector_, right},
                           {"speed", tr("Speed"), speed_, right},
                           {"day_night", tr("Day/night"), history_->dayNightPanel(), right},
                           {"compare", tr("Compare"), compare_, right},
                           {"chart", tr("Chart"), history_->chartPanel(), bottom},
                           {"events", tr("Events"), history_->eventsTable(), bottom},
                           {"log", tr("Log"), log_, bottom}},
                          this, actions_);
}

void MainWindow::makeControllers(QSettings& stored) {
  monitor::SessionOptions session{
      .model = options_.model.isEmpty() ? vision::defaultModel() : options_.model.toStdString(),
      .inference = options_.inference,
      .choose_reuse = options_.choose_reuse,
      .database = options_.database.toStdString()};
  session.snapshots.folder = options_.pictures.toStdString();
  session.store.open_at_once = false;  // opening a large database after a crash takes long
  live_ = std::make_unique<LiveMonitor>(std::move(session));
  QAction* pause = actions_->action("pause");
  opener_ = new Opener({options_.model, options_.inference.reduce}, live_.get(), stored, &settings_, this);
  folder_ = new FolderBrowser(folder_bar_, live_.get(), pause, this);
  exports_ = new Exports(history_->chartPanel(), &history_->history(), pictures_, live_.get(), this);
  tuning_ = new Tuning(live_.get(), pictures_, folder_, pause, this);
  watching_ = new Watching(options_,
                           {live_.get(), rules_, opener_, folder_, exports_, history_, pictures_, &legend_, &selection_,
                            actions_, pane_, source_, reduction_, legend_panel_, speed_, compare_, status_},
                           this);
  measuring_ = new Measuring(watching_, this);
  judging_ = new Judging(watching_, this);
}

void MainWindow::wire() {
  connect(opener_, &Opener::databaseChosen, this, &MainWindow::openDatabase);
  connect(opener_, &Opener::watchFileChosen, this, [this](const QString& path) {
    try {
      cameras_->open(path);
    } catch (const Error& error) {
      fail(QString::fromUtf8(error.what()));
    }
  });
  for (const auto other : {&Opener::sourceChosen, &Opener::databaseChosen})
    connect(opener_, other, cameras_, &CamerasPage::leave);
  connect(history_->chartPanel(), &ChartPanel::backRequested, cameras_, &CamerasPage::back);
  connect(cameras_, &CamerasPage::chosen, this, &MainWindow::openCamera);
  connect(cameras_, &CamerasPage::shownChanged, this, &MainWindow::showPage);
  connect(opener_, &Opener::said, status_, &StatusLine::notify);
  connect(opener_, &Opener::modelGone, this, [this](const QString& text) { report(text, Badge::kWarning); });
  connect(welcome_, &WelcomePage::kindRequested, opener_, &Opener::askForSource);
  connect(welcome_, &WelcomePage::recentRequested, opener_, &Opener::openRecent);

  connect(folder_, &FolderBrowser::said, status_, &StatusLine::notify);
  connect(&legend_, &LegendModel::paintChanged, pane_, &PicturesPane::refreshPaint);
  connect(&legend_, &LegendModel::paintChanged, this,
          [this] { history_->chartPanel()->setClassColors(legend_.colors()); });
  connect(&legend_, &LegendModel::colorChosen, this, [this] {
    settings_.change([colors = legend_.chosenColors()](QSettings& settings) { save(settings, colors); });
  });
  connect(pane_, &PicturesPane::opacityChanged, this, [this](double opacity) {
    const QSignalBlocker quiet(opacity_);
    opacity_->setValue(static_cast<int>(std::lround(opacity * 100)));
  });
  connect(pictures_, &PictureStore::failed, this, &MainWindow::fail);

  connect(watching_, &Watching::pageChanged, this, [this] {
    const QString before = windowTitle();
    refreshTitle();
    // Teach mode goes on when its source is opened again.
    if (!actions_->action("teach")->isChecked() || windowTitle() != before) showPage();
  });
  connect(watching_, &Watching::frameShown, pane_, &PicturesPane::setFrame);
  connect(watching_, &Watching::frameShown, inspector_, &InspectorPanel::setFrame);
  connect(watching_, &Watching::frameShown, legend_panel_, &LegendPanel::setFrame);
  connect(watching_, &Watching::frameShown, status_, &StatusLine::setFrame);
  connect(watching_, &Watching::modelChanged, this, &MainWindow::offerWhatFits);
  connect(watching_, &Watching::said, status_, &StatusLine::notify);
  connect(watching_, &Watching::logged, this, &MainWindow::log);
  connect(tuning_, &Tuning::said, status_, &StatusLine::notify);
  connect(tuning_, &Tuning::chosen, watching_, &Watching::chooseReduction);

  connect(measuring_, &Measuring::said, this, &MainWindow::report);
  connect(judging_, &Judging::said, this, &MainWindow::report);
  connect(judging_, &Judging::failed, this, &MainWindow::fail);

  connect(status_, &StatusLine::otherFileRequested, opener_,
          [this] { opener_->askForNewDatabase(history_->ownDatabase()); });
  connect(rules_, &WatchRules::failed, this, [this](const QString& why) { report(why, Badge::kWarning); });
  connect(history_, &HistoryBrowser::failed, this, &MainWindow::fail);
  connect(history_, &HistoryBrowser::foreignChanged, this, [this] {
    actions_->action("own_database")->setEnabled(!history_->foreignName().isEmpty());
    refreshTitle();
  });
  // Another program judged by its own rule; a scene has a place of its own.
  const auto show_rule = [this] {
    const bool foreign = !history_->foreignName().isEmpty();
    history_->setNightRule(foreign ? std::nullopt : std::optional(rules_->cameraPlan(history_->source()).night));
  };
  connect(history_, &HistoryBrowser::foreignChanged, this, show_rule);
  connect(history_, &HistoryBrowser::sourceChanged, this, show_rule);
  connect(rules_, &WatchRules::nightChanged, this, show_rule);
  connect(stack_, &QStackedWidget::currentChanged, this, [this] {
    const bool teaching = teach_ && stack_->currentWidget() == teach_pane_;
    setPanelsAside(teaching || stack_->currentWidget() == cameras_);
    if (teach_ && !teaching) teach_->rest();
    actions_->action("teach")->setChecked(teaching);
  });
  const auto mark = [this] { history_->showPictures(pictures_->pictures()); };
  connect(history_, &HistoryBrowser::sourceChanged, this, mark);
  connect(pictures_, &PictureStore::listed, this, mark);
  connect(exports_, &Exports::said, status_, &StatusLine::notify);
  connect(exports_, &Exports::failed, this, &MainWindow::fail);
  connect(exports_, &Exports::logged, this, &MainWindow::log);
}

void MainWindow::refreshTitle() {
  const QString what = !cameras_->name().isEmpty() ? cameras_->name()
                       : live_->session().isOpen() ? sourceTitle(live_->source())
                                                   : history_->foreignName();
  setWindowTitle(what.isEmpty() ? tr("MPM Monitor") : tr("%1 – MPM Monitor").arg(what));
}

void MainWindow::showPage() {
  refreshTitle();
  if (!watching_->active()) welcome_->setRecents(opener_->recents());
  const bool one = watching_->active() || !cameras_->name().isEmpty();
  stack_->setCurrentWidget(cameras_->allShown() ? static_cast<QWidget*>(cameras_) : one ? watch_page_ : welcome_);
  if (cameras_->allShown()) cameras_->setFocus();
  for (const char* id : {"cameras", "previous_camera", "next_camera"})
    actions_->action(id)->setVisible(cameras_->count() > 0);
}

// What is stored of it, which another program may be writing; the camera itself where nothing is stored.
void MainWindow::openCamera(const monitor::CameraConfig& camera) {
  const QString database = QString::fromStdString(camera.db);
  if (!QFileInfo::exists(database)) {
    rules_->follow(camera);
    const auto variant = camera.reduce.empty() ? std::nullopt : std::optional(parseReduction(camera.reduce));
    const std::string model = camera.model.empty() ? vision::defaultModel() : camera.model;
    if (!model.empty()) watching_->openModel(QString::fromStdString(model), variant);
    return watching_->open(QString::fromStdString(camera.source));
  }
  watching_->close();
  pictures_->list(QString::fromStdString(camera.snapshots));
  openDatabase(database);
  history_->chartPanel()->setSourceName(
      QString::fromStdString(sourceSpec(QString::fromStdString(camera.source)).name()));
}

void MainWindow::openDatabase(const QString& path) {
  docks_->raise("chart");
  rules_->forgetTimes();
  history_->openForeign(path);
  if (QFileInfo::exists(path))
    status_->notify(tr("Showing %1, read-only").arg(path));
  else
    status_->notify(tr("There is no %1 yet: what is written to it will be shown").arg(path), Badge::kWarning);
}

// Made when it is needed: most windows only watch.
TeachMode& MainWindow::teach() {
  if (teach_) return *teach_;
  teach_pane_ = new TeachPane;
  stack_->addWidget(teach_pane_);
  teach_ = new TeachMode(options_, watching_, &settings_, teach_pane_, this);
  teach_pane_->canvas()->setOpacity(pane_->paint().opacity);
  connect(teach_, &TeachMode::said, this, &MainWindow::report);
  connect(teach_, &TeachMode::taught, measuring_, &Measuring::offer);
  connect(pane_, &PicturesPane::opacityChanged, teach_pane_->canvas(), &TeachCanvas::setOpacity);
  return *teach_;
}

void MainWindow::setTeaching(bool on) {
  if (on == (teach_ && stack_->currentWidget() == teach_pane_)) return;
  if (!on) return showPage();
  teach();
  stack_->setCurrentWidget(teach_pane_);
  teach_pane_->canvas()->setFocus();
}

void MainWindow::setPanelsAside(bool on) {
  if (on == !layout_.isEmpty()) return;
  if (on) {
    layout_ = saveState();
    remember_.stop();  // the panels come back
    for (QDockWidget* dock : docks_->docks()) dock->hide();
  } else {
    restoreState(std::exchange(layout_, {}));
    docks_->fit();
    remember_.start();
  }
}

void MainWindow::log(const QString& text) {
  log_->appendPlainText(QStringLiteral("%1  %2").arg(QTime::currentTime().toString(QStringLiteral("HH:mm:ss")), text));
}

void MainWindow::report(const QString& text, Badge badge) {
  log(text);
  status_->notify(text, badge);
}

void MainWindow::setMode(ViewMode mode) {
  pane_->setMode(mode);
  for (const char* id : {"curtain_left", "curtain_right"}) actions_->action(id)->setEnabled(mode == ViewMode::kCurtain);
  opacity_->setEnabled(mode == ViewMode::kOverlay || mode == ViewMode::kCurtain);
}

void MainWindow::setDark(bool dark) {
  applyLook(dark ? darkTheme() : lightTheme(), font_percent_);
  settings_.set(QStringLiteral("dark"), dark);
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
  setPanelsAside(false);
  rememberLook();
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

void MainWindow::restoreLook(const QSettings& stored) {
  for (const auto& [key, id] : kChecked) actions_->action(id)->setChecked(stored.value(key, true).toBool());
  const int usual_mode = static_cast<int>(ClassPaint().mode);
  actions_->action(kModes[storedIndex(stored, "view/mode", kModes, usual_mode)])->setChecked(true);
  pane_->restore(stored);
  history_->chartPanel()->restore(stored);
  if (stored.contains("geometry")) {
    const QSize usual = size();
    restoreGeometry(stored.value("geometry").toByteArray());
    putBack(this, stored.value("place").toRect(), stored.value("screen").toSize(), usual);
    docks_->setLayouts({stored.value("layout").toByteArray(), stored.value("layout_small").toByteArray()});
  }
  remember_.callOnTimeout(this, &MainWindow::rememberLook);
  remember_.start(2000);  // a power cut does not announce itself
}

void MainWindow::rememberLook() {
  const auto [large, small] = docks_->layouts();
  QVariantMap now = {{"geometry", saveGeometry()},
                     {"place", geometry()},
                     {"screen", screen() ? screen()->availableGeometry().size() : QSize()},
                     {"layout", large},
                     {"layout_small", small},
                     {"view/mode", kModes[static_cast<int>(pane_->paint().mode)]}};
  for (const auto& [key, id] : kChecked) now.insert(key, actions_->action(id)->isChecked());
  now.insert(pane_->state());
  now.insert(history_->chartPanel()->state());
  if (now == remembered_) return;
  remembered_ = now;
  settings_.change([now](QSettings& settings) {
    for (auto value = now.begin(); value != now.end(); ++value) settings.setValue(value.key(), *value);
  });
}

}  // namespace mpm::gui
