// SPDX-License-Identifier: Apache-2.0
// The connections between the parts of the window.
#include <QtWidgets>
#include <cmath>

#include "gui/controllers/action_registry.h"
#include "gui/controllers/exports.h"
#include "gui/controllers/folder_view.h"
#include "gui/controllers/opener.h"
#include "gui/controllers/tuning.h"
#include "gui/controllers/watch_rules.h"
#include "gui/main_window.h"
#include "gui/views/compare_panel.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/legend_panel.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_editor.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/source_panel.h"
#include "gui/views/status_line.h"
#include "gui/views/welcome_page.h"

namespace mpm::gui {

void MainWindow::wireOpening() {
  connect(opener_, &Opener::sourceChosen, this, [this](const QString& source) {
    rules_->knowsTimes(source) || opener_->knows(source) ? openSource(source) : rules_->askTimes(source, true);
  });
  connect(rules_, &WatchRules::timesChosen, this, &MainWindow::openSource);
  connect(opener_, &Opener::modelChosen, this, &MainWindow::openModel);
  connect(opener_, &Opener::reductionChosen, this, [this](const Reduction& variant) {
    live_->change([&](monitor::Session& session) { session.setReduction(variant); });
  });
  connect(opener_, &Opener::databaseChosen, this, &MainWindow::openDatabase);
  connect(opener_, &Opener::said, this, &MainWindow::showNotice);
  connect(opener_, &Opener::modelGone, this, [this](const QString& text) {
    log(text);
    showNotice(text, Badge::kWarning);
  });
  connect(source_, &SourcePanel::changeSourceRequested, opener_, [this] { opener_->askForSource(); });
  connect(source_, &SourcePanel::changeModelRequested, opener_, &Opener::askForModel);
  connect(source_, &SourcePanel::pauseRequested, actions_->action("pause"), &QAction::toggle);
  connect(source_, &SourcePanel::closeRequested, this, &MainWindow::closeSource);
  connect(welcome_, &WelcomePage::demoRequested, this, [this] { openSource(QStringLiteral("demo:")); });
  connect(welcome_, &WelcomePage::kindRequested, opener_, &Opener::askForSource);
  connect(welcome_, &WelcomePage::recentRequested, opener_, &Opener::openRecent);
}

void MainWindow::wirePictures() {
  connect(folder_, &FolderView::said, this, &MainWindow::showNotice);
  connect(folder_, &FolderView::chosen, this, &MainWindow::backToLive);
  connect(&legend_, &LegendModel::paintChanged, pane_, &PicturesPane::refreshPaint);
  connect(&legend_, &LegendModel::colorChosen, this, [this] {
    settings_.change([colors = legend_.chosenColors()](QSettings& settings) { save(settings, colors); });
  });
  connect(pane_, &PicturesPane::modeChanged, this, [this](ViewMode mode) {
    const char* const modes[] = {"image", "mask", "overlay", "curtain", "computed"};
    actions_->action(modes[static_cast<int>(mode)])->setChecked(true);
    for (const char* id : {"curtain_left", "curtain_right"})
      actions_->action(id)->setEnabled(mode == ViewMode::kCurtain);
    opacity_->setEnabled(mode == ViewMode::kOverlay || mode == ViewMode::kCurtain);
  });
  connect(pane_, &PicturesPane::regionsShown, actions_->action("region_outlines"), &QAction::setChecked);
  connect(pane_, &PicturesPane::mapShown, actions_->action("merge_map"), &QAction::setChecked);
  connect(pane_, &PicturesPane::opacityChanged, this, [this](double opacity) {
    const QSignalBlocker quiet(opacity_);
    opacity_->setValue(static_cast<int>(std::lround(opacity * 100)));
  });

  connect(pictures_.get(), &PictureStore::failed, this, &MainWindow::fail);
  connect(pictures_.get(), &PictureStore::loaded, this,
          [this](const LiveFramePtr& frame, double time, const QHash<QString, double>& areas) {
            frozen_ = true;
            refreshRegions();
            stack_->setCurrentWidget(watch_page_);
            showFrame(frame);
            legend_.setNamedAreas(areas);
            const QString when = QLocale().toString(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)),
                                                    QLocale::ShortFormat);
            pane_->setBanner(live_->session().isOpen() ? tr("Stored picture of %1. Esc: back to live").arg(when)
                                                       : tr("Stored picture of %1. Esc: back").arg(when));
          });
}

void MainWindow::wireWatching() {
  connect(live_.get(), &LiveMonitor::frameArrived, this, &MainWindow::takeFrame);
  connect(live_.get(), &LiveMonitor::stateChanged, this, &MainWindow::takeState);
  connect(live_.get(), &LiveMonitor::ticked, this, &MainWindow::tick);
  connect(live_.get(), &LiveMonitor::eventHappened, this, &MainWindow::takeEvent);

  connect(reduction_->editor(), &ReductionEditor::reductionChanged, this, &MainWindow::chooseReduction);
  connect(reduction_, &ReductionPanel::tuneRequested, actions_->action("tune"), &QAction::trigger);
  connect(tuning_, &Tuning::said, this, &MainWindow::showNotice);
  connect(tuning_, &Tuning::chosen, this, [this](const Reduction& variant) {
    reduction_->editor()->setReduction(variant);
    chooseReduction(variant);
  });
  connect(reduction_, &ReductionPanel::copyRequested, this, &MainWindow::copyCommandLine);
  connect(compare_, &ComparePanel::compareChosen, this, [this](const std::optional<Reduction>& variant) {
    live_->change([&](monitor::Session& session) { session.setCompare(variant); });
    if (variant) sayWhenItShows(tr("the comparison with %1").arg(QString::fromStdString(toString(*variant))));
    const QSignalBlocker quiet(actions_->action("compare"));
    actions_->action("compare")->setChecked(variant.has_value());
  });

  connect(rules_, &WatchRules::nightChanged, this, [this] {
    history_view_.setNightRule(rules_->night());
    live_->session().setNightRule(rules_->night());
  });
  connect(rules_, &WatchRules::alarmsChanged, this, [this] { live_->session().setAlarms(rules_->alarms()); });
  connect(rules_, &WatchRules::commandChanged, this, [this] { live_->session().setEventCommand(rules_->command()); });
  connect(legend_panel_, &LegendPanel::regionPicked, this, &MainWindow::refreshRegions);
  connect(rules_, &WatchRules::regionsChanged, this, [this] {
    live_->change([this](monitor::Session& session) {
      session.setRegions(rules_->regions(QString::fromStdString(session.source())).regions);
    });
    refreshRegions();
  });
  connect(rules_, &WatchRules::keepChanged, this, [this] {
    live_->session().snapshots().setOptions(rules_->snapshotOptions(pictures_->folder()));
    live_->session().setRetention(rules_->keep().sample_days, rules_->keep().database_mb);
  });
}

void MainWindow::wireHistory() {
  connect(status_, &StatusLine::otherFileRequested, opener_,
          [this] { opener_->askForNewDatabase(history_view_.ownDatabase()); });
  connect(opener_, &Opener::newDatabaseChosen, this, [this](const QString& path) {
    live_->session().storeIn(path.toStdString());
    history_view_.setOwnDatabase(path);
  });
  connect(history_view_.dayNightPanel(), &DayNightPanel::settingsRequested, rules_, &WatchRules::askNight);
  connect(&history_view_, &HistoryView::timePicked, this, &MainWindow::showStored);
  connect(&history_view_, &HistoryView::failed, this, &MainWindow::fail);
  connect(&history_view_, &HistoryView::foreignChanged, this, [this] {
    actions_->action("own_database")->setEnabled(!history_view_.foreignName().isEmpty());
    refreshTitle();
  });
  // Another program judged by its own rule; a scene has a place of its own.
  const auto judge = [this] {
    const bool foreign = !history_view_.foreignName().isEmpty();
    history_view_.setNightRule(foreign ? std::nullopt
                                       : std::optional(rules_->watchOptions(history_view_.source()).night));
  };
  connect(&history_view_, &HistoryView::foreignChanged, this, judge);
  connect(&history_view_, &HistoryView::sourceChanged, this, judge);
  const auto mark = [this] { history_view_.showPictures(pictures_->pictures()); };
  connect(&history_view_, &HistoryView::sourceChanged, this, mark);
  connect(pictures_.get(), &PictureStore::listed, this, mark);
  connect(&history(), &History::namesReady, this, [this](const SourceNames& of) {
    const bool fresh = rules_->regions(of.name).regions.empty() && !of.current.empty();
    rules_->propose(of.name, of.current);
    if (fresh && of.name == sourceOnShow()) refreshRegions();
  });
  connect(exports_, &Exports::said, this, &MainWindow::showNotice);
  connect(exports_, &Exports::failed, this, &MainWindow::fail);
  connect(exports_, &Exports::logged, this, &MainWindow::log);
}

}  // namespace mpm::gui
