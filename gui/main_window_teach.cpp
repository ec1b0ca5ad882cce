// SPDX-License-Identifier: Apache-2.0
// The Teach mode in the window: it takes the place of the live view, whose panels step aside.

#include <QtWidgets>
#include "base/spread.h"
#include "gui/controllers/action_registry.h"
#include "gui/controllers/folder_view.h"
#include "gui/controllers/panel_docks.h"
#include "gui/controllers/teach_mode.h"
#include "gui/controllers/watch_rules.h"
#include "gui/controllers/window_memory.h"
#include "gui/main_window.h"
#include "gui/models/picture_store.h"
#include "gui/models/recents.h"
#include "gui/views/image_view.h"
#include "gui/views/label_pictures_panel.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/states_panel.h"
#include "gui/views/taught_models_panel.h"
#include "gui/views/teach_pane.h"
#include "gui/views/welcome_page.h"
#include "vision/time.h"

namespace mpm::gui {
namespace {

const QString kBefore = QStringLiteral("teach/before");

UnixMs timeOf(const LiveFrame& frame) {
  const UnixMs time = frame.result.frame.time;
  return time > 0 ? time : unixNow();
}

}  // namespace

// Made when it is needed: most windows only watch.
TeachMode& MainWindow::teach() {
  if (teach_) return *teach_;
  teach_pane_ = new TeachPane;
  stack_->addWidget(teach_pane_);
  teach_ = new TeachMode({labelFolder(options_.database, options_.pictures), options_.teach_live, options_.teach_steps},
                         teach_pane_, this);
  model_before_ = openSettings(options_.settings)->value(kBefore).toString();
  connect(teach_, &TeachMode::said, this, [this](const QString& text, Badge badge) {
    log(text);
    showNotice(text, badge);
  });
  connect(teach_, &TeachMode::useRequested, this, &MainWindow::useTaughtModel);
  connect(teach_, &TeachMode::statesRequested, this,
          [this](const std::shared_ptr<const evaluation::StateHead>& head, const QString& file, bool use) {
            rules_->useStates(sourceOnShow(), *head, file, use);
            live_->session().setStates({.heads = rules_->states(sourceOnShow())});
            giveStatesToTeach();
          });
  connect(teach_pane_->pictures(), &LabelPicturesPanel::takeRequested, this, &MainWindow::takeToTeach);
  connect(teach_pane_->pictures(), &LabelPicturesPanel::suggestRequested, this, &MainWindow::suggestToTeach);
  connect(stack_, &QStackedWidget::currentChanged, this, [this] {
    if (stack_->currentWidget() != teach_pane_) setTeaching(false);
  });
  teach_pane_->canvas()->setOpacity(pane_->paint().opacity);
  connect(pane_, &PicturesPane::opacityChanged, teach_pane_->canvas(), &TeachCanvas::setOpacity);
  giveModelToTeach();
  giveFolderToTeach();
  giveStatesToTeach();
  return *teach_;
}

void MainWindow::giveStatesToTeach() {
  if (!teach_) return;
  teach_->setRegions(rules_->regions(sourceOnShow()).regions);
  QStringList names;
  for (const evaluation::StateHead& head : rules_->states(sourceOnShow())) names << QString::fromStdString(head.name);
  teach_pane_->states()->setInUse(names);
}

void MainWindow::giveModelToTeach() {
  if (!teach_) return;
  const std::string path = live_->session().model();
  if (model_) teach_->setModel(path, model_, options_.inference);
  teach_pane_->models()->setInUse(QFileInfo(QString::fromStdString(path)).absoluteFilePath(), model_before_);
}

void MainWindow::giveFolderToTeach() {
  if (teach_) teach_pane_->pictures()->setFolder(sourceFolder(asked_));
}

void MainWindow::setTeaching(bool on) {
  if (on == !layout_.isEmpty()) return;
  if (on) {
    teach();
    layout_ = saveState();
    memory_->setPaused(true);  // the panels come back
    for (QDockWidget* dock : docks()) dock->hide();
    stack_->setCurrentWidget(teach_pane_);
    teach_pane_->pictures()->setLive(live_frame_ != nullptr);
    teach_pane_->canvas()->setFocus();
  } else {
    restoreState(std::exchange(layout_, {}));
    docks_->fit();
    memory_->setPaused(false);
    teach_->rest();
    if (stack_->currentWidget() == teach_pane_)
      stack_->setCurrentWidget(live_->session().isOpen() || frozen_ ? watch_page_ : static_cast<QWidget*>(welcome_));
  }
  actions_->action("teach")->setChecked(on);
}

void MainWindow::takeToTeach() {
  const LiveFramePtr& frame = pane_->image()->frame();
  if (!frame) return showNotice(tr("There is no frame yet"), Badge::kWarning);
  teach().take(frame->image(), timeOf(*frame), QString::fromStdString(frame->result.frame.file));
  if (layout_.isEmpty())
    showNotice(tr("Taken. %1: label it").arg(actions_->action("teach")->shortcut().toString(QKeySequence::NativeText)),
               Badge::kGood);
}

// Each picture takes the encoder about as long as a frame of the live view.
void MainWindow::suggestToTeach() {
  constexpr int kCandidates = 40;
  const QStringList all = pictures_->filesOf(QString::fromStdString(live_->session().source())) + folder_->files();
  QStringList files;
  for (int i = 0; i < all.size(); ++i)
    if (isInSpread(i, static_cast<int>(all.size()), kCandidates)) files << all[i];
  const LiveFramePtr& frame = pane_->image()->frame();
  const bool live = frame && frame->result.frame.file.empty();  // else it is one of the folder
  teach().suggest(files, live ? frame->image() : cv::Mat(), live ? timeOf(*frame) : 0);
}

void MainWindow::useTaughtModel(const QString& path) {
  model_before_ = QFileInfo(QString::fromStdString(live_->session().model())).absoluteFilePath();
  model_wanted_ = path;
  settings_.set(kBefore, model_before_);
  openModel(path, std::nullopt);
}

// Once it runs: until then the model before it does, and goes on where the new one cannot be read.
void MainWindow::noteTaughtModel() {
  const QString running = QFileInfo(QString::fromStdString(live_->session().model())).absoluteFilePath();
  if (model_wanted_.isEmpty() || running != model_wanted_) return;
  model_wanted_.clear();
  live_->session().addEvent(
      {unixNow(), monitor::EventKind::kModel, monitor::Severity::kInfo,
       "the model is now '" + running.toStdString() + "'; before it was '" + model_before_.toStdString() + "'"});
}

}  // namespace mpm::gui
