// SPDX-License-Identifier: Apache-2.0
#include "gui/history_window.h"

#include "gui/models/recents.h"
#include "gui/views/icon_bar.h"
#include "gui/views/look.h"
#include "monitor/watch/camera.h"
#include "monitor/watch/camera_plan.h"

namespace mpm::gui {
namespace {

constexpr int kTickMs = 500;

}  // namespace

HistoryWindow::HistoryWindow(const std::vector<monitor::CameraConfig>& cameras, int at, const QString& pictures,
                             SettingsWriter* settings)
    : cameras_(cameras),
      pictures_(new PictureStore(pictures, this)),
      on_show_(new OnShow(this)),
      actions_(makeActions()),
      picture_(new PictureViews(on_show_, actions_, settings, this)),
      history_(new HistoryBrowser(this)),
      stored_(
          new StoredMoments(on_show_, history_, pictures_, std::bind_front(&HistoryWindow::said, this), false, this)),
      views_(new HistoryViews(history_, stored_, pictures_, picture_->legend(), nullptr, actions_, this)),
      exports_(new Exports([this] { return views_->shownChart(); }, history_, pictures_, this)),
      status_(new StatusLine(this)),
      docks_(makePanels()),
      look_(makeLook(settings)) {
  setAttribute(Qt::WA_DeleteOnClose);
  resize(QSize(1100, 760).boundedTo(screen()->availableSize()));
  setMinimumSize(480, 320);
  setCentralWidget(picture_->pane());
  setStatusBar(status_);
  status_->setStorageProblem({}, false);
  makeToolBar();

  connect(on_show_, &OnShow::changed, this, &HistoryWindow::refreshTitle);
  connect(on_show_, &OnShow::frameChanged, status_, &StatusLine::setFrame);
  connect(history_->sources(), &HistorySources::listed, status_,
          [this] { status_->setAlarms(history_->facts().ringing); });
  // No model runs here: where the source has no classes, those of the one before are not its own.
  connect(on_show_, &OnShow::sourceDescribed, picture_, [this] {
    if (on_show_->stored() && on_show_->source().classes.isEmpty()) picture_->legend()->setClasses(QStringList());
  });
  connect(stored_, &StoredMoments::placeholderChanged, picture_->pane()->image(), &PictureView::setPlaceholder);
  connect(stored_, &StoredMoments::said, status_, &StatusLine::notify);
  connect(exports_, &Exports::said, status_, &StatusLine::notify);
  const auto fail = [this](const QString& why) { status_->notify(why, Badge::kBad); };
  connect(exports_, &Exports::failed, this, fail);
  connect(pictures_, &PictureStore::failed, this, fail);
  connect(history_, &HistoryBrowser::failed, this, fail);
  // The other program writes pictures meanwhile. They are listed one look after their sample was seen, so that they are
  // on the disk.
  connect(history_, &HistoryBrowser::grown, pictures_, [this] {
    const auto record = history_->sources()->current();
    if (record && std::exchange(listed_until_, record->last) != record->last) pictures_->list();
  });
  tick_.callOnTimeout(history_, [this] { history_->refresh(0); });
  tick_.start(kTickMs);
  look_->restore();
  picture_->pane()->image()->setFocus();  // a key is no letter of a search
  showCamera(at);
}

HistoryWindow::~HistoryWindow() {
  hide();
  // The views look at models: they go first.
  delete docks_;
  delete takeCentralWidget();
}

ActionRegistry* HistoryWindow::makeActions() {
  using Menu = ActionRegistry::Menu;
  auto* actions = new ActionRegistry(this);
  ActionRegistry& a = *actions;
  a.add(Menu::kFile, "main", tr("&Window that watches"), tr("Ctrl+Shift+B"), [this] { emit mainRequested(); });
  if (cameras_.size() > 1) {
    a.add(Menu::kFile, "cameras", tr("All c&ameras of the watch file"), tr("W"),
          [this] { emit allCamerasRequested(); });
    a.add(Menu::kFile, "previous_camera", tr("Pre&vious camera"), tr("Ctrl+PgUp"), [this] { step(-1); });
    a.add(Menu::kFile, "next_camera", tr("Ne&xt camera"), tr("Ctrl+PgDown"), [this] { step(1); });
  }
  a.separate();
  a.add(Menu::kFile, "export", tr("&Export…"), tr("Ctrl+E"), [this] { exports_->ask(); });
  a.separate();
  a.add(Menu::kFile, "close", tr("&Close"), QKeySequence::Close, [this] { close(); });
  a.add(Menu::kHelp, "keys", tr("&Keys"), tr("?"), [this] { actions_->showHelp(this); });
  return actions;
}

PanelDocks* HistoryWindow::makePanels() {
  const auto right = Qt::RightDockWidgetArea, bottom = Qt::BottomDockWidgetArea;
  return new PanelDocks({{"legend", tr("Legend"), picture_->panel(), right},
                         {"day_night", tr("Day/night"), views_->dayNight(), right},
                         {"chart", tr("Chart"), views_->chart(), bottom},
                         {"events", tr("Events"), views_->events(), bottom},
                         {"calendar", tr("Calendar"), views_->calendar(), bottom}},
                        this, actions_);
}

WindowLook* HistoryWindow::makeLook(SettingsWriter* settings) {
  actions_->action("computed")->setVisible(false);  // which patches were computed is not stored
  actions_->add(ActionRegistry::Menu::kView, "unpin", tr("Back to the &last picture"), tr("Esc"),
                [this] { stored_->showLast(); });
  actions_->add(ActionRegistry::Menu::kView, "fit", tr("Whole p&icture"), tr("Ctrl+0"),
                [this] { picture_->pane()->image()->setViewState({}); });
  ImagePane* const pane = picture_->pane();
  ChartPanel* const chart = views_->chart();
  const std::vector<RememberedPart> parts = {
      {[pane] { return pane->state(); }, [pane](const QSettings& stored) { pane->restore(stored); }},
      {[chart] { return chart->state(); }, [chart](const QSettings& stored) { chart->restore(stored); }}};
  return new WindowLook(this, actions_, docks_, parts, settings, QStringLiteral("history"));
}

void HistoryWindow::makeToolBar() {
  auto* bar = new IconBar(this);
  if (cameras_.size() > 1) {
    for (const char* id : {"cameras", "previous_camera", "next_camera"}) bar->put(actions_->action(id));
    bar->addSeparator();
  }
  for (const char* id : {"image", "mask", "overlay", "curtain"}) bar->put(actions_->action(id));
  bar->addWidget(picture_->opacitySlider(bar));
  bar->addSeparator();
  bar->put(actions_->action("export"));
  bar->putSpace();
  for (const char* id : {"panels", "dark", "keys"}) bar->put(actions_->action(id));
}

void HistoryWindow::showCamera(int at) {
  at_ = at;
  const monitor::CameraConfig& camera = cameras_[static_cast<std::size_t>(at)];
  const QString database = QString::fromStdString(camera.db), source = QString::fromStdString(camera.source);
  on_show_->back();
  picture_->legend()->setClasses(QStringList());
  picture_->pane()->image()->setPlaceholder(
      QFileInfo::exists(database) ? tr("No sample was read yet")
                                  : tr("There is no %1 yet: what is written to it will be shown").arg(database));
  pictures_->list(QString::fromStdString(camera.snapshots));
  history_->setDatabase(database, source.isEmpty() ? QString() : QString::fromStdString(sourceSpec(source).name()));
  on_show_->wantLast();
  refreshTitle();
}

// What the watch file says counts before the other program has stored it. Where its file of hidden regions cannot be
// read, all of the picture is hidden.
SaidOfSource HistoryWindow::said(const QString& source) const {
  const monitor::CameraConfig& camera = cameras_[static_cast<std::size_t>(at_)];
  if (source.toStdString() != sourceSpec(QString::fromStdString(camera.source)).name()) return {};
  try {
    return {.privacy = monitor::privacyOf(camera)};
  } catch (const Error& error) {
    status_->notify(QString::fromStdString(error.what()), Badge::kBad);
    return {.privacy = {.hidden = {{{.name = "all", .size = {1, 1}, .polygons = {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}}}}};
  }
}

void HistoryWindow::step(int by) {
  const int count = static_cast<int>(cameras_.size());
  showCamera((at_ + by + count) % count);
}

// As the watch file calls its source, else as the source is called.
void HistoryWindow::refreshTitle() {
  const monitor::CameraConfig& camera = cameras_[static_cast<std::size_t>(at_)];
  const QString source = on_show_->source().name, file = QFileInfo(database()).fileName();
  const bool named =
      !camera.source.empty() &&
      (source.isEmpty() || source.toStdString() == sourceSpec(QString::fromStdString(camera.source)).name());
  const QString title = named ? cameraTitle(camera) : sourceTitle(source);
  setWindowTitle(source.isEmpty() && !named ? tr("%1 – MPM Monitor").arg(file)
                                            : tr("%1, stored in %2 – MPM Monitor").arg(title, file));
}

void HistoryWindow::leave() {
  leaving_ = true;
  close();
}

void HistoryWindow::closeEvent(QCloseEvent* event) {
  if (!leaving_ && exports_->running()) {
    event->ignore();
    return exports_->askToGiveUp([this] { leave(); });
  }
  look_->remember();
  event->accept();
}

void HistoryWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  look_->fit();
}

bool HistoryWindow::focusNextPrevChild(bool next) {
  return docks_->moveFocus([&] { return QMainWindow::focusNextPrevChild(next); });
}

}  // namespace mpm::gui
