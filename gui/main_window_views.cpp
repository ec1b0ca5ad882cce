// SPDX-License-Identifier: Apache-2.0
// The views of the window. Each shows the values of models and hands on what a person does with it.

#include "gui/controllers/calendar_browser.h"
#include "gui/main_window.h"
#include "gui/views/compare_panel.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/events_table.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/legend_panel.h"
#include "gui/views/picture_view.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_editor.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/source_panel.h"
#include "gui/views/speed_panel.h"
#include "gui/views/status_line.h"

namespace mpm::gui {

PicturesPane* MainWindow::makePictures() {
  auto* pane =
      new PicturesPane(selection_, legend_, actions_->action("previous_insertion"), actions_->action("next_insertion"));
  connect(on_show_, &OnShow::changed, pane, [this, pane] { pane->setClock(on_show_->source().clock); });
  connect(on_show_, &OnShow::sourceDescribed, pane,
          [this, pane] { pane->image()->setRegions(on_show_->source().regions); });
  connect(on_show_, &OnShow::frameChanged, pane, &PicturesPane::setFrame);
  connect(on_show_, &OnShow::bannerChanged, pane->image(), &PictureView::setBanner);
  connect(net_, &NetControl::modelChanged, pane,
          [this, pane] { pane->setSteps(static_cast<int>(net_->model()->schedule().size())); });
  connect(legend_, &LegendModel::paintChanged, pane, &PicturesPane::refreshPaint);
  connect(legend_, &LegendModel::colorChosen, this, [this] {
    settings_.change([colors = legend_->chosenColors()](QSettings& settings) { save(settings, colors); });
  });
  connect(pane, &PicturesPane::modeChanged, this, [this](ViewMode mode) {
    for (const char* id : {"curtain_left", "curtain_right"})
      actions_->action(id)->setEnabled(mode == ViewMode::kCurtain);
  });
  return pane;
}

StatusLine* MainWindow::makeStatusLine() {
  auto* line = new StatusLine(this);
  connect(on_show_, &OnShow::frameChanged, line, &StatusLine::setFrame);
  connect(line, &StatusLine::otherFileRequested, this, [this] { opener_->askForNewDatabase(live_->database()); });
  return line;
}

ChartPanel* MainWindow::makeChart() {
  auto* panel = new ChartPanel(history_->history(), history_->sources());
  connect(panel->chart(), &TimeChart::rangeChanged, history_, &HistoryBrowser::setPeriod);
  connect(panel->chart(), &TimeChart::timePicked, stored_, &StoredMoments::lookFor);
  connect(panel, &ChartPanel::backRequested, history_, &HistoryBrowser::closeForeign);
  connect(history_, &HistoryBrowser::grown, panel, &ChartPanel::refresh);
  connect(history_, &HistoryBrowser::foreignChanged, panel,
          [this, panel] { panel->setForeign(history_->foreignName(), history_->isOpen()); });
  const auto mark = [this, panel] { panel->chart()->setPictures(history_->timesOf(pictures_->pictures())); };
  connect(history_, &HistoryBrowser::sourceChanged, panel, mark);
  connect(pictures_, &PictureStore::listed, panel, mark);
  connect(legend_, &LegendModel::paintChanged, panel, [this, panel] { panel->setClassColors(legend_->colors()); });
  return panel;
}

ShownChart MainWindow::shownChart() const {
  const TimeAxis& axis = chart_->chart()->axis();
  const QString source = chart_->sourceText();
  return {.from = axis.from, .to = axis.to, .source = source, .picture = [scene = chart_->chart()->scene(), source] {
            return scene.picture(QSize(1200, 480), source);
          }};
}

std::vector<RememberedPart> MainWindow::rememberedParts() const {
  const auto of = [](auto* view) {
    return RememberedPart{.state = [view] { return view->state(); },
                          .restore = [view](const QSettings& stored) { view->restore(stored); }};
  };
  return {of(pane_), of(chart_)};
}

PanelDocks* MainWindow::makePanels() {
  const auto action = [this](const char* id) { return actions_->action(id); };

  auto* source = new SourcePanel({action("open"), action("pause"), action("close"), action("model")});
  const auto show_model = [this, source] { source->setModel(net_->model().get(), live_->model()); };
  connect(on_show_, &OnShow::changed, source, [this, source] {
    const Live* const live = on_show_->live();
    source->setSource(live ? live->source.name : QString());
  });
  connect(net_, &NetControl::modelChanged, source, show_model);

  auto* reduction = new ReductionPanel(action("tune"), action("command"));
  connect(net_, &NetControl::modelChanged, reduction, [this, reduction] { reduction->setModel(*net_->model()); });
  connect(net_, &NetControl::reductionChosen, reduction->editor(), &ReductionEditor::setReduction);
  connect(net_, &NetControl::refused, reduction, [this, reduction](const QString& why) {
    reduction->setModel(*net_->model());
    reduction->editor()->setProblem(why);
  });
  connect(reduction->editor(), &ReductionEditor::reductionChanged, net_, &NetControl::chooseReduction);

  auto* legend = new LegendPanel(legend_);
  const auto show_areas = [this, legend] { legend_->setAreasOf(*on_show_, legend->region()); };
  connect(net_, &NetControl::classesChanged, legend, [this, show_areas](const ModelInfo& model) {
    legend_->setClasses(model);
    show_areas();
  });
  connect(net_, &NetControl::modelChanged, legend, [this, legend] { legend->setModel(*net_->model()); });
  connect(on_show_, &OnShow::sourceDescribed, legend, [this, legend, show_areas] {
    const QStringList& classes = on_show_->source().classes;
    legend_->setOtherClasses(classes);
    legend->setOtherClasses(!classes.isEmpty());
    legend->setRegions(on_show_->measuredRegions());
    show_areas();
  });
  connect(on_show_, &OnShow::frameChanged, legend, &LegendPanel::setFrame);
  connect(on_show_, &OnShow::frameChanged, legend, show_areas);
  connect(legend, &LegendPanel::regionPicked, legend, show_areas);

  auto* inspector = new InspectorPanel(selection_, legend_);
  connect(on_show_, &OnShow::frameChanged, inspector, &InspectorPanel::setFrame);

  auto* speed = new SpeedPanel;
  auto* compare = new ComparePanel;
  connect(net_, &NetControl::modelChanged, compare, [this, compare] { compare->setModel(*net_->model()); });
  connect(net_, &NetControl::compareChanged, this, [this](bool on) {
    const QSignalBlocker quiet(actions_->action("compare"));
    actions_->action("compare")->setChecked(on);
  });
  connect(action("compare"), &QAction::toggled, compare->box(), &QCheckBox::setChecked);
  connect(compare, &ComparePanel::compareChosen, net_, &NetControl::compareWith);
  connect(camera_, &CameraControl::frameTaken, this, [this, speed, compare](const LiveFramePtr& frame) {
    if (!frame->hasGrid()) return;
    selection_->limit(frame->lookup.tokens());
    speed->setTimes(frame->result.estimate.ms);
    if (!on_show_->stored()) compare->setFrame(frame);
  });
  // The numbers of one source must not stand beside the name of another.
  connect(on_show_, &OnShow::frameChanged, this, [speed, compare](const LiveFramePtr& frame) {
    if (frame) return;
    compare->setFrame(nullptr);
    speed->setTimes({});
  });

  connect(camera_, &CameraControl::statusChanged, this,
          [this, source, speed, compare, show_model](const monitor::SessionStatus& status) {
            source->setStatus(status);
            if (!net_->model()) show_model();
            speed->setStatus(status.source, status.inference);
            compare->setStatus(status.inference);
            showStatus(status);
          });
  connect(stored_, &StoredMoments::placeholderChanged, pane_->image(), &PictureView::setPlaceholder);

  auto* day_night = new DayNightPanel(action("night"));
  connect(history_, &HistoryBrowser::judged, day_night, [this, day_night](const std::optional<JudgedHistory>& history) {
    if (!history) return day_night->clear();
    day_night->setJudgedBy(history->judged_by);
    day_night->setStatistics(history->statistics);
    day_night->setAreas(history->areas);
    day_night->setPeriod(history->from, history->to, history_->clock());
  });
  // Another program judged by its own rule; a scene has a place of its own.
  const auto show_rule = [this, day_night] {
    const bool foreign = !history_->foreignName().isEmpty();
    day_night->setRule(foreign ? std::nullopt : std::optional(configs_->plan(history_->source()).night));
  };
  connect(history_, &HistoryBrowser::foreignChanged, day_night, show_rule);
  connect(history_, &HistoryBrowser::sourceChanged, day_night, show_rule);
  connect(configs_, &CameraConfigs::nightChanged, day_night, show_rule);

  auto* events = eventsTable(history_->events());
  connect(events, &QTableView::activated, this, [this](const QModelIndex& index) {
    const double time = static_cast<double>(history_->events()->eventAt(index.row()).time) / 1000;
    TimeChart* chart = chart_->chart();
    const double half = (chart->axis().to - chart->axis().from) / 2;
    chart->setFollowing(false);
    chart->setRange(time - half, time + half);
    stored_->lookFor(time);
  });

  auto* calendar = new CalendarPanel;
  new CalendarBrowser(history_, pictures_, stored_, calendar);

  const auto left = Qt::LeftDockWidgetArea, right = Qt::RightDockWidgetArea, bottom = Qt::BottomDockWidgetArea;
  return new PanelDocks({{"source", tr("Source"), source, left},
                         {"schedule", tr("Reduction"), reduction, left},
                         {"legend", tr("Legend"), legend, right},
                         {"inspector", tr("Inspector"), inspector, right},
                         {"speed", tr("Speed"), speed, right},
                         {"day_night", tr("Day/night"), day_night, right},
                         {"compare", tr("Compare"), compare, right},
                         {"chart", tr("Chart"), chart_, bottom},
                         {"events", tr("Events"), events, bottom},
                         {"log", tr("Log"), log_, bottom},
                         {"calendar", tr("Calendar"), calendar, bottom}},
                        this, actions_);
}

void MainWindow::showStatus(const monitor::SessionStatus& status) {
  monitor::Session& session = live_->session();
  session.snapshots().setStyle(pane_->overlayStyle());
  const bool open = session.isOpen(), nothing = gaveNothing(status.source);
  if (!on_show_->stored()) {
    pane_->setFaded(open && isOld(status.source));
    if (open) pane_->image()->setPlaceholder(nothing ? tr("No frame came") : tr("Waiting for the first frame…"));
  }
  status_->setStatus(status, open, session.paused());
  status_->setRecording(exports_->recordText());
  status_->setStorageProblem(status.store ? QString::fromStdString(status.store->problem) : QString(),
                             status.store && status.store->stopped);
  const LiveFramePtr frame = on_show_->liveFrame();
  history_->refresh(frame ? frame->result.frame.time : 0);
}

}  // namespace mpm::gui
