// SPDX-License-Identifier: Apache-2.0
// The actions of the window, and the bar with the most used of them.

#include "gui/main_window.h"
#include "gui/views/icon_bar.h"
#include "gui/views/look.h"

namespace mpm::gui {

ActionRegistry* MainWindow::makeActions() {
  auto* actions = new ActionRegistry(this);
  ActionRegistry& a = *actions;
  const auto file = ActionRegistry::Menu::kFile, watch = ActionRegistry::Menu::kWatch,
             help = ActionRegistry::Menu::kHelp;

  a.add(file, "open", tr("&Open a source…"), QKeySequence::Open, [this] {
     opener_->askForSource();
   })->setIcon(icon("camera"));
  a.add(file, "demo", tr("Try the &demo"), tr("Ctrl+D"), [this] { opener_->open(QStringLiteral("demo:")); });
  a.add(file, "model", tr("Open a &model…"), tr("Ctrl+M"), [this] { opener_->askForModel(); });
  a.add(file, "database", tr("Open a data&base or watch file…"), tr("Ctrl+Shift+O"),
        [this] { opener_->askForDatabase(); });
  a.add(file, "cameras", tr("All c&ameras of the watch file"), tr("W"), [this] { pages_->cameras()->showAll(); });
  a.separate();
  a.add(file, "snapshot", tr("&Snapshot"), tr("S"), [this] { takeSnapshot(); });
  a.addToggle(file, "record", tr("&Record every frame"), tr("R"), false, [this](bool on) {
    recording_->setOn(on);
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

void MainWindow::addLanguages() {
  const auto view = ActionRegistry::Menu::kView;
  actions_->separate();
  actions_->add(view, "english", tr("English"), tr("Ctrl+Alt+E"), [this] { setLanguage(QStringLiteral("en")); });
  actions_->add(view, "french", tr("Français"), tr("Ctrl+Alt+F"), [this] { setLanguage(QStringLiteral("fr")); });
}

void MainWindow::makeToolBar() {
  auto* bar = new IconBar(this);
  const auto put = [&](const char* id) { bar->put(actions_->action(id)); };
  actions_->action("open")->setIconText(tr("Open"));
  bar->put(actions_->action("open"), Qt::ToolButtonTextBesideIcon);
  put("cameras");
  put("pause");
  bar->addSeparator();
  for (const char* id : {"image", "mask", "overlay", "curtain"}) put(id);
  if (options_.inference.reuse.on) put("computed");
  bar->addWidget(picture_->opacitySlider(bar));
  bar->addSeparator();
  for (const char* id : {"snapshot", "record", "compare", "teach", "export"}) put(id);
  bar->putSpace();
  for (const char* id : {"panels", "dark", "keys"}) put(id);
}

}  // namespace mpm::gui
