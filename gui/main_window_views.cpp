// SPDX-License-Identifier: Apache-2.0
// The views of the window. Each shows the values of models and hands on what a person does with it.

#include "gui/main_window.h"
#include "gui/views/compare_panel.h"
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
    legend->setRegions(on_show_->measuredRegions());
    show_areas();
  });
  connect(on_show_, &OnShow::frameChanged, legend, &LegendPanel::setFrame);
  connect(on_show_, &OnShow::frameChanged, legend, show_areas);
  connect(legend, &LegendPanel::regionPicked, legend, show_areas);
  connect(legend_, &LegendModel::paintChanged, history_->chartPanel(),
          [this] { history_->chartPanel()->setClassColors(legend_->colors()); });

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

  const auto left = Qt::LeftDockWidgetArea, right = Qt::RightDockWidgetArea, bottom = Qt::BottomDockWidgetArea;
  return new PanelDocks({{"source", tr("Source"), source, left},
                         {"schedule", tr("Reduction"), reduction, left},
                         {"legend", tr("Legend"), legend, right},
                         {"inspector", tr("Inspector"), inspector, right},
                         {"speed", tr("Speed"), speed, right},
                         {"day_night", tr("Day/night"), history_->dayNightPanel(), right},
                         {"compare", tr("Compare"), compare, right},
                         {"chart", tr("Chart"), history_->chartPanel(), bottom},
                         {"events", tr("Events"), history_->eventsTable(), bottom},
                         {"log", tr("Log"), log_, bottom}},
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
  status_->setStatus(status.source, status.inference, open, session.paused());
  status_->setRecording(exports_->recordText());
  status_->setStorageProblem(status.store ? QString::fromStdString(status.store->problem) : QString(),
                             status.store && status.store->stopped);
  const LiveFramePtr frame = on_show_->liveFrame();
  history_->refresh(frame ? frame->result.frame.time : 0);
}

}  // namespace mpm::gui
