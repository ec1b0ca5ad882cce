// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/state_teaching.h"

#include "gui/models/viewport.h"

namespace mpm::gui {

StateTeaching::StateTeaching(const QString& folder, OnShow* on_show, const NetControl* net, CameraConfigs* configs,
                             StatesPanel* panel, QObject* parent)
    : QObject(parent), on_show_(on_show), net_(net), configs_(configs), panel_(panel), trainer_(folder) {
  connect(panel, &StatesPanel::setChosen, &trainer_, &StateTrainer::open);
  connect(panel, &StatesPanel::examplesChanged, this,
          [this](const ShownStates& shown) { trainer_.save(panel_->set(), shown); });
  connect(panel, &StatesPanel::trainRequested, this, &StateTeaching::train);
  connect(panel, &StatesPanel::useRequested, this, &StateTeaching::use);
  connect(&trainer_, &StateTrainer::listed, panel, &StatesPanel::setSets);
  connect(&trainer_, &StateTrainer::opened, panel, [panel](const QString& name, const ShownStates& shown) {
    if (name == panel->set()) panel->setExamples(shown);
  });
  connect(&trainer_, &StateTrainer::progressed, panel, &StatesPanel::setProgress);
  connect(&trainer_, &StateTrainer::trained, panel, [panel](const QString& name, const auto& head) {
    if (name == panel->set()) panel->setHead(head);
  });
  connect(&trainer_, &StateTrainer::failed, panel, &StatesPanel::setProblem);
  connect(&trainer_, &StateTrainer::listed, this, &StateTeaching::beginWith, Qt::SingleShotConnection);
  connect(on_show, &OnShow::sourceDescribed, this, &StateTeaching::showSource);
  trainer_.open(panel->set());
  showSource();
}

// One of its regions may show states.
void StateTeaching::showSource() {
  panel_->setRegions(regionNames(on_show_->source().regions));
  panel_->setInUse(on_show_->source().states);
}

// With a set that is in use, unless another one was chosen meanwhile.
void StateTeaching::beginWith(const QStringList& sets) {
  const QString source = on_show_->source().name;
  if (source.isEmpty() || panel_->set() != StateTrainer::nameOfWhole()) return;
  for (const evaluation::StateHead& head : configs_->plan(source).states.heads) {
    const QString name = QString::fromStdString(head.name);
    if (!sets.contains(name)) continue;
    const auto region = std::ranges::find(head.regions, false, &vision::Region::ignore);
    return panel_->choose(name, region == head.regions.end() ? QString() : QString::fromStdString(region->name));
  }
}

void StateTeaching::train() {
  if (!net_->model()) return panel_->setProblem(tr("There is no model yet"));
  trainer_.train(panel_->set(), panel_->region(), net_->runningPath(), net_->model()->reduction,
                 on_show_->source().regions);
}

void StateTeaching::use(const std::shared_ptr<const evaluation::StateHead>& head, bool use) {
  configs_->useStates(on_show_->source().name, *head, trainer_.file(QString::fromStdString(head->name)), use);
  if (use) emit taught();
}

}  // namespace mpm::gui
