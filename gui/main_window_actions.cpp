// SPDX-License-Identifier: Apache-2.0
// The actions of the window, and the bar with the most used of them.

#include "gui/main_window.h"
#include "gui/views/look.h"

namespace mpm::gui {

ActionRegistry* MainWindow::makeActions() {
  auto* actions = new ActionRegistry(this);
  ActionRegistry& a = *actions;
  const QString file = tr("&File"), view = tr("&View"), watch = tr("&Watch"), help = tr("&Help");

  a.add(file, "open", tr("&Open a source…"), QKeySequence::Open, [this] {
     opener_->askForSource();
   })->setIcon(icon("camera"));
  a.add(file, "demo", tr("Try the &demo"), tr("Ctrl+D"), [this] { opener_->open(QStringLiteral("demo:")); });
  a.add(file, "model", tr("Open a &model…"), tr("Ctrl+M"), [this] { opener_->askForModel(); });
  a.add(file, "database", tr("Open a data&base or watch file…"), tr("Ctrl+Shift+O"),
        [this] { opener_->askForDatabase(); });
  a.add(file, "own_database", tr("Back from the other da&tabase"), tr("Ctrl+Shift+B"), [this] {
     history_->closeForeign();
     pages_->cameras()->back();
   })->setEnabled(false);
  a.add(file, "cameras", tr("All c&ameras of the watch file"), tr("W"), [this] { pages_->cameras()->chooseAll(); });
  a.add(file, "previous_camera", tr("Pre&vious camera"), tr("Ctrl+PgUp"), [this] { pages_->cameras()->step(-1); });
  a.add(file, "next_camera", tr("Ne&xt camera"), tr("Ctrl+PgDown"), [this] { pages_->cameras()->step(1); });
  a.separate();
  a.add(file, "snapshot", tr("&Snapshot"), tr("S"), [this] { takeSnapshot(); });
  a.addToggle(file, "record", tr("&Record every frame"), tr("R"), false, [this](bool on) {
    exports_->setRecording(on);
    camera_->tick();
  });
  a.add(file, "keep", tr("What is &kept…"), tr("Ctrl+T"), [this] { ask(tr("What is kept"), monitor::kKeepGroup); });
  a.add(file, "export", tr("&Export…"), tr("Ctrl+E"), [this] { exports_->ask(); });
  a.separate();
  a.add(file, "close", tr("&Close the source"), QKeySequence::Close, [this] {
    camera_->close();
    pages_->cameras()->back();
  });
  a.add(file, "quit", tr("&Quit"), tr("Ctrl+Q"), [this] { close(); });

  auto* modes = new QActionGroup(this);
  const std::tuple<const char*, QString, QString, ViewMode> kinds[] = {
      {"image", tr("&Image"), tr("1"), ViewMode::kImage},
      {"mask", tr("&Mask"), tr("2"), ViewMode::kMask},
      {"overlay", tr("&Overlay"), tr("3"), ViewMode::kOverlay},
      {"curtain", tr("Split &curtain"), tr("4"), ViewMode::kCurtain},
      {"computed", tr("Com&puted patches"), tr("5"), ViewMode::kComputed}};
  for (const auto& [id, text, key, mode] : kinds) {
    QAction* action = a.addToggle(view, id, text, key, mode == ClassPaint().mode, [this, mode = mode](bool on) {
      if (on) pane_->setMode(mode);
    });
    modes->addAction(action);
  }
  a.add(view, "opaque", tr("Overlay more opa&que"), tr("]"),
        [this] { pane_->setOpacity(pane_->paint().opacity + 0.05); });
  a.add(view, "transparent", tr("Overlay more &transparent"), tr("["),
        [this] { pane_->setOpacity(pane_->paint().opacity - 0.05); });
  a.add(view, "curtain_left", tr("C&urtain to the left"), tr("<"), [this] {
     pane_->setCurtain(pane_->paint().curtain - 0.05);
   })->setEnabled(false);
  a.add(view, "curtain_right", tr("Cu&rtain to the right"), tr(">"), [this] {
     pane_->setCurtain(pane_->paint().curtain + 0.05);
   })->setEnabled(false);
  a.addToggle(view, "sharp_edges", tr("Sharp &edges of classes"), tr("Shift+E"), false, [this](bool on) {
     net_->setSharpEdges(on);
   })->setEnabled(false);
  a.addToggle(view, "region_outlines", tr("Outlines of re&gions"), tr("Shift+O"), true,
              [this](bool on) { pane_->image()->showRegions(on); });
  a.add(view, "classes", tr("Show &all classes"), tr("A"), [this] { legend_->setAllVisible(true); });
  a.separate();
  a.addToggle(view, "merge_map", tr("M&erge map"), tr("M"), true, [this](bool on) { pane_->showMap(on); });
  a.add(view, "next_insertion", tr("&Next insertion"), tr("."), [this] { pane_->showStep(selection_->step() + 1); });
  a.add(view, "previous_insertion", tr("&Previous insertion"), tr(","),
        [this] { pane_->showStep(selection_->step() - 1); });
  a.add(view, "coloring", tr("Next co&louring of the merge map"), tr("C"), [this] { pane_->showNextColoring(); });
  a.add(view, "unpin", tr("Back to li&ve, let go of the patch"), tr("Esc"), [this] {
    selection_->unpin();
    stored_->leave();
    if (on_show_->isNothing()) pages_->cameras()->back();
  });
  a.add(view, "fit", tr("Whole p&icture"), tr("Ctrl+0"), [this] { pane_->showWholePicture(); });
  a.separate();
  const std::pair<const char*, QString> spans[] = {{"hour", tr("Chart: last &hour")},
                                                   {"day", tr("Chart: last &day")},
                                                   {"week", tr("Chart: last &week")},
                                                   {"all", tr("Chart: &everything")}};
  for (int i = 0; i < 4; ++i)
    a.add(view, spans[i].first, spans[i].second, QKeySequence(tr("Ctrl+%1").arg(i + 1)),
          [this, i] { chart_->chooseSpan(static_cast<ChartPanel::Span>(i)); });
  a.separate();
  a.addToggle(view, "dark", tr("Dar&k"), tr("T"), theme().dark, [this](bool on) { look_->setDark(on); });
  a.add(view, "larger", tr("&Larger text"), tr("Ctrl++"), [this] { look_->setFont(look_->font() + 10); });
  a.add(view, "smaller", tr("&Smaller text"), tr("Ctrl+-"), [this] { look_->setFont(look_->font() - 10); });
  a.add(view, "english", tr("English"), tr("Ctrl+Alt+E"), [this] { setLanguage(QStringLiteral("en")); });
  a.add(view, "french", tr("Français"), tr("Ctrl+Alt+F"), [this] { setLanguage(QStringLiteral("fr")); });
  a.addToggle(view, "fullscreen", tr("&Full screen"), tr("F11"), false,
              [this](bool on) { setWindowState(windowState().setFlag(Qt::WindowFullScreen, on)); });
  a.separate();
  a.add(view, "layout", tr("&Restore the default layout"), tr("Ctrl+L"), [this] { look_->reset(); });

  a.addToggle(watch, "pause", tr("&Pause"), tr("P"), false, [this](bool on) { camera_->setPaused(on); });
  a.action("pause")->setEnabled(false);  // nothing is watched yet
  a.add(watch, "previous_picture", tr("Pre&vious picture of the folder"), tr("PgUp"), [this] { folder_->step(-1); });
  a.add(watch, "next_picture", tr("Ne&xt picture of the folder"), tr("PgDown"), [this] { folder_->step(1); });
  a.addToggle(watch, "compare", tr("&Compare with another reduction"), tr("X"), false, [this](bool on) {
    if (on) docks_->raise("compare");
  });
  a.add(watch, "tune", tr("&Tune for this camera…"), tr("U"), [this] { tuning_->ask(net_->inference()); });
  a.addToggle(watch, "teach", tr("Teac&h the model"), tr("L"), false, [this](bool on) { setTeaching(on); });
  a.add(watch, "take", tr("Ta&ke this picture to teach it"), tr("K"), [this] {
    if (teach().take() && !pages_->teaching())
      status_->notify(tr("Taken. %1: label it").arg(actions_->keyOf("teach")), Badge::kGood);
  });
  a.add(watch, "again", tr("Open the source a&gain"), tr("Ctrl+R"), [this] { camera_->openAgain(); });
  a.add(watch, "command", tr("Copy as command &line"), tr("Ctrl+Shift+C"), [this] { camera_->copyCommandLine(); });
  a.separate();
  a.add(watch, "times", tr("T&imes of the pictures…"), tr("Ctrl+Shift+T"), [this] {
    if (!folder_->files().isEmpty()) dialogs_->askTimes(on_show_->asked(), false);
  });
  a.add(watch, "measure", tr("&Measure the stored pictures again…"), tr("Ctrl+Shift+M"),
        [this] { measure_again_->ask(); });
  a.add(watch, "night", tr("Day and &night…"), tr("N"), [this] { ask(tr("Day and night"), monitor::kDayNightGroup); });
  a.add(watch, "alarms", tr("&Alarms…"), tr("G"), [this] { ask(tr("Alarms"), monitor::kAlarmsGroup); });
  a.add(watch, "regions", tr("&Regions…"), tr("O"), [this] { askRegions(); });

  a.add(help, "keys", tr("&Keys"), tr("?"), [this] { actions_->showHelp(this); });
  a.add(help, "about", tr("&About"), tr("F1"), [this] { ActionRegistry::showAbout(this); });
  return actions;
}

void MainWindow::makeToolBar() {
  QToolBar* bar = addToolBar(tr("Tools"));
  bar->setObjectName(QStringLiteral("tools"));
  bar->setMovable(false);
  bar->setIconSize(QSize(18, 18));
  bar->setContextMenuPolicy(Qt::PreventContextMenu);
  const auto put = [&](const char* id, bool with_text) {
    QAction* action = actions_->action(id);
    bar->addAction(action);
    auto* button = static_cast<QToolButton*>(bar->widgetForAction(action));
    button->setToolButtonStyle(with_text ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonIconOnly);
    button->setFocusPolicy(Qt::TabFocus);
    button->setAccessibleName(action->text().remove(QLatin1Char('&')));
  };
  actions_->action("open")->setIconText(tr("Open"));
  put("open", true);
  for (const char* id : {"cameras", "previous_camera", "next_camera"}) put(id, false);
  put("pause", false);
  bar->addSeparator();
  for (const char* id : {"image", "mask", "overlay", "curtain"}) put(id, false);
  if (options_.inference.reuse.on) put("computed", false);
  auto* opacity = named(new QSlider(Qt::Horizontal, bar), tr("Opacity of the overlay"));
  opacity->setRange(0, 100);
  opacity->setSingleStep(5);
  opacity->setFixedWidth(120);
  opacity->setToolTip(tr("Opacity of the overlay ([ and ])"));
  opacity->setValue(static_cast<int>(pane_->paint().opacity * 100));
  bar->addWidget(opacity);
  connect(opacity, &QSlider::valueChanged, this, [this](int value) { pane_->setOpacity(value / 100.0); });
  connect(pane_, &PicturesPane::opacityChanged, opacity, [opacity](double share) {
    const QSignalBlocker quiet(opacity);
    opacity->setValue(static_cast<int>(std::lround(share * 100)));
  });
  connect(pane_, &PicturesPane::modeChanged, opacity,
          [opacity](ViewMode mode) { opacity->setEnabled(mode == ViewMode::kOverlay || mode == ViewMode::kCurtain); });
  bar->addSeparator();
  for (const char* id : {"snapshot", "record", "compare", "teach", "export"}) put(id, false);
  auto* space = new QWidget(bar);
  space->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  bar->addWidget(space);
  for (const char* id : {"panels", "dark", "keys"}) put(id, false);
}

}  // namespace mpm::gui
