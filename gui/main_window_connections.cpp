// SPDX-License-Identifier: Apache-2.0
// Which parts of the window hear of which.

#include "gui/main_window.h"
#include "gui/models/recents.h"

namespace mpm::gui {

// From a choice of a person, or the command line, to what is opened.
void MainWindow::connectOpening() {
  CamerasPage* const cameras = pages_->cameras();
  connect(opener_, &Opener::sourceChosen, this, [this](const QString& source) {
    if (configs_->knowsTimes(source) || opener_->knows(source))
      camera_->open(source);
    else
      dialogs_->askTimes(source, true);
  });
  connect(opener_, &Opener::modelChosen, net_, &NetControl::open);
  connect(opener_, &Opener::reductionChosen, this, [this](const Reduction& variant) {
    live_->change([&](monitor::Session& session) { session.worker().setReduction(variant); });
  });
  connect(opener_, &Opener::newDatabaseChosen, this, [this](const QString& path) {
    live_->storeIn(path);
    history_->setDatabase(live_->database());
  });
  connect(opener_, &Opener::databaseChosen, this, &MainWindow::openDatabase);
  connect(opener_, &Opener::watchFileChosen, this, [this, cameras](const QString& path) {
    try {
      cameras->open(path);
    } catch (const Error& error) {
      fail(QString::fromUtf8(error.what()));
    }
  });
  connect(opener_, &Opener::sourceChosen, cameras, &CamerasPage::leave);
  connect(cameras, &CamerasPage::chosen, this, &MainWindow::openCamera);
  connect(pages_->welcome(), &WelcomePage::kindRequested, opener_, &Opener::askForSource);
  connect(pages_->welcome(), &WelcomePage::recentRequested, opener_, &Opener::openRecent);
  connect(dialogs_, &CameraDialogs::timesChosen, camera_, &CameraControl::open);
  connect(camera_, &CameraControl::watched, opener_, &Opener::remember);

  connect(camera_, &CameraControl::opened, dialogs_, &CameraDialogs::forgetTimes);
  connect(camera_, &CameraControl::opened, folder_, &FolderBrowser::setSource);
  connect(camera_, &CameraControl::opened, history_, [this] {
    history_->open(live_->source());
    // The days of the scene pass in minutes.
    if (sourceSpec(live_->source()).kind == vision::SourceKind::kDemo)
      views_->chart()->showSpan(ChartPanel::Span::kDay);
  });
  connect(camera_, &CameraControl::closed, dialogs_, &CameraDialogs::forgetTimes);
  connect(camera_, &CameraControl::closed, folder_, [this] { folder_->setSource({}, {}); });
  connect(camera_, &CameraControl::closed, history_, &HistoryBrowser::close);
  connect(camera_, &CameraControl::closed, actions_->action("record"),
          [this] { actions_->action("record")->setChecked(false); });
  connect(folder_, &FolderBrowser::chosen, this, [this](const QString& file) {
    if (!file.isEmpty()) stored_->leave();
    on_show_->choose(file);
  });
  connect(on_show_, &OnShow::frameChanged, folder_, [this](const LiveFramePtr& frame) {
    if (frame && on_show_->follows(*frame)) folder_->follow(*frame);
  });
}

// What is stored, and what it says beside the live picture.
void MainWindow::connectHistory() {
  connect(live_.get(), &LiveMonitor::eventHappened, history_, [this](const monitor::Event& event, bool late) {
    if (!late) history_->add(event);
  });
  connect(history_->history(), &History::namesReady, configs_,
          [this](const SourceNames& names) { configs_->propose(names.name, names.current); });
  for (const auto change : {&CameraConfigs::regionsChanged, &CameraConfigs::proposed})
    connect(configs_, change, stored_, &StoredMoments::describeAgain);
  connect(configs_, &CameraConfigs::statesChanged, stored_, &StoredMoments::describeAgain);
  const auto show_rule = [this] { views_->dayNight()->setRule(configs_->plan(history_->source()).night); };
  connect(history_, &HistoryBrowser::sourceChanged, this, show_rule);
  connect(configs_, &CameraConfigs::changed, this, show_rule);
  connect(history_->sources(), &HistorySources::listed, status_,
          [this] { status_->setAlarms(history_->facts().ringing); });
  connect(configs_, &CameraConfigs::regionsChanged, measure_again_, &MeasureAgain::offer);
  connect(tuning_, &Tuning::chosen, net_, &NetControl::chooseReduction);
}

void MainWindow::connectPages() {
  connect(pages_->cameras(), &CamerasPage::shownChanged, this, &MainWindow::showPage);
  connect(on_show_, &OnShow::changed, this, [this] {
    const QString before = windowTitle();
    refreshTitle();
    // Teach mode goes on when its source is opened again.
    if (!actions_->action("teach")->isChecked() || windowTitle() != before) showPage();
  });
  connect(pages_, &QStackedWidget::currentChanged, this, [this] {
    const bool teaching = pages_->teaching();
    look_->setPanelsAside(teaching || pages_->allCameras());
    if (teach_ && !teaching) teach_->rest();
    actions_->action("teach")->setChecked(teaching);
  });
  connect(net_, &NetControl::modelChanged, this, &MainWindow::offerWhatFits);
  connect(look_, &WindowLook::layoutReset, pane_, [this] {
    pane_->restoreSizes();
    actions_->action("merge_map")->setChecked(true);
  });
}

// What happened: in the status bar for a moment, and in the log what is worth reading later.
void MainWindow::connectMessages() {
  const auto notify = [this]<typename... Part>(Part*... parts) {
    (connect(parts, &Part::said, status_, &StatusLine::notify), ...);
  };
  const auto report_failures = [this]<typename... Part>(Part*... parts) {
    (connect(parts, &Part::failed, this, &MainWindow::fail), ...);
  };
  const auto warn = [this](const QString& text) { report(text, Badge::kWarning); };
  notify(opener_, folder_, net_, camera_, stored_, tuning_, exports_, recording_);
  report_failures(judging_, pictures_, history_, exports_);
  connect(measure_again_, &MeasureAgain::said, this, &MainWindow::report);
  connect(judging_, &Judging::said, this, &MainWindow::report);
  connect(recording_, &Recording::logged, this, &MainWindow::log);
  connect(camera_, &CameraControl::logged, this, &MainWindow::log);
  connect(opener_, &Opener::modelGone, this, warn);
  connect(configs_, &CameraConfigs::failed, this, warn);
}

}  // namespace mpm::gui
