// SPDX-License-Identifier: Apache-2.0
// The views of the window. Each shows the values of models and hands on what a person does with it.

#include "gui/main_window.h"
#include "gui/views/compare_panel.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/picture_view.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_editor.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/source_panel.h"
#include "gui/views/speed_panel.h"
#include "gui/views/status_line.h"

namespace mpm::gui {

PicturesPane* MainWindow::makePictures() {
  using Menu = ActionRegistry::Menu;
  ActionRegistry& a = *actions_;
  PatchSelection* const selection = picture_->selection();
  a.addToggle(Menu::kView, "sharp_edges", tr("Sharp &edges of classes"), tr("Shift+E"), false, [this](bool on) {
     net_->setSharpEdges(on);
   })->setEnabled(false);
  a.separate();
  a.addToggle(Menu::kView, "merge_map", tr("M&erge map"), tr("M"), true, [this](bool on) { pane_->showMap(on); });
  QAction* next = a.add(Menu::kView, "next_insertion", tr("&Next insertion"), tr("."),
                        [this, selection] { pane_->showStep(selection->step() + 1); });
  QAction* previous = a.add(Menu::kView, "previous_insertion", tr("&Previous insertion"), tr(","),
                            [this, selection] { pane_->showStep(selection->step() - 1); });
  a.add(Menu::kView, "coloring", tr("Next co&louring of the merge map"), tr("C"),
        [this] { pane_->showNextColoring(); });
  a.add(Menu::kView, "unpin", tr("Back to li&ve, let go of the patch"), tr("Esc"), [this, selection] {
    selection->unpin();
    stored_->leave();
    if (on_show_->isNothing()) pages_->cameras()->back();
  });
  a.add(Menu::kView, "fit", tr("Whole p&icture"), tr("Ctrl+0"), [this] { pane_->showWholePicture(); });
  auto* pane = new PicturesPane(picture_->pane(), selection, previous, next);
  connect(on_show_, &OnShow::frameChanged, pane, &PicturesPane::setFrame);
  connect(net_, &NetControl::modelChanged, pane,
          [this, pane] { pane->setSteps(static_cast<int>(net_->model()->schedule().size())); });
  return pane;
}

StatusLine* MainWindow::makeStatusLine() {
  auto* line = new StatusLine(this);
  connect(on_show_, &OnShow::frameChanged, line, &StatusLine::setFrame);
  connect(line, &StatusLine::otherFileRequested, this, [this] { opener_->askForNewDatabase(live_->database()); });
  return line;
}

SaidOfSource MainWindow::said(const QString& source) const {
  return {.privacy = configs_->plan(source).privacy,
          .clock = configs_->plan(source).archiveClock(),
          .regions = configs_->regions(source),
          .states = configs_->states(source)};
}

std::vector<RememberedPart> MainWindow::rememberedParts() const {
  const auto of = [](auto* view) {
    return RememberedPart{.state = [view] { return view->state(); },
                          .restore = [view](const QSettings& stored) { view->restore(stored); }};
  };
  return {of(picture_->pane()), of(pane_), of(views_->chart())};
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

  connect(net_, &NetControl::classesChanged, picture_, &PictureViews::setClasses);
  connect(net_, &NetControl::modelChanged, picture_->panel(), [this] { picture_->panel()->setModel(*net_->model()); });

  auto* inspector = new InspectorPanel(picture_->selection(), picture_->legend());
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
    picture_->selection()->limit(frame->lookup.tokens());
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
  connect(stored_, &StoredMoments::placeholderChanged, picture_->pane()->image(), &PictureView::setPlaceholder);

  const auto left = Qt::LeftDockWidgetArea, right = Qt::RightDockWidgetArea, bottom = Qt::BottomDockWidgetArea;
  return new PanelDocks({{"source", tr("Source"), source, left},
                         {"schedule", tr("Reduction"), reduction, left},
                         {"legend", tr("Legend"), picture_->panel(), right},
                         {"inspector", tr("Inspector"), inspector, right},
                         {"speed", tr("Speed"), speed, right},
                         {"day_night", tr("Day/night"), views_->dayNight(), right},
                         {"compare", tr("Compare"), compare, right},
                         {"chart", tr("Chart"), views_->chart(), bottom},
                         {"events", tr("Events"), views_->events(), bottom},
                         {"log", tr("Log"), log_, bottom},
                         {"calendar", tr("Calendar"), views_->calendar(), bottom}},
                        this, actions_);
}

void MainWindow::showStatus(const monitor::SessionStatus& status) {
  monitor::Session& session = live_->session();
  ImagePane* const pane = picture_->pane();
  session.snapshots().setStyle(pane->overlayStyle());
  const bool open = session.isOpen(), nothing = gaveNothing(status.source);
  if (!on_show_->stored()) {
    pane->setFaded(open && isOld(status.source));
    if (open) pane->image()->setPlaceholder(nothing ? tr("No frame came") : tr("Waiting for the first frame…"));
  }
  status_->setStatus(status, open, session.paused());
  status_->setRecording(recording_->text());
  status_->setStorageProblem(status.store ? QString::fromStdString(status.store->problem) : QString(),
                             status.store && status.store->stopped);
  if (!history_->isOpen()) return;  // nothing is stored
  const LiveFramePtr frame = on_show_->liveFrame();
  history_->refresh(frame ? frame->result.frame.time : 0);
}

}  // namespace mpm::gui
