// SPDX-License-Identifier: Apache-2.0
#include "gui/models/state_trainer.h"

#include "base/atomic_file.h"
#include "program/paths.h"

namespace mpm::gui {

StateTrainer::StateTrainer(const QString& folder, QObject* parent)
    : QObject(parent),
      folder_(folder),
      thread_(
          this, [this](const QString& why) { emit failed(why); }, QThread::LowPriority) {}

std::string StateTrainer::fileOf(const QString& name, const char* ending) const {
  return (folder_ + QStringLiteral("/states/")).toStdString() + program::fileName(name.toStdString()) + ending;
}

void StateTrainer::open(const QString& name) {
  thread_.run([this, name, csv = fileOf(name, ".csv"), json = fileOf(name, ".json")] {
    ShownStates shown;
    std::shared_ptr<const evaluation::StateHead> head;
    if (QFileInfo::exists(QString::fromStdString(csv))) {
      evaluation::StatesJob job;
      evaluation::readStateExamples(csv, {}, job);
      for (const evaluation::StateExample& one : job.examples)
        shown[QFileInfo(QString::fromStdString(one.file)).completeBaseName()] =
            QString::fromStdString(job.states[static_cast<std::size_t>(one.state)]);
    }
    if (QFileInfo::exists(QString::fromStdString(json)))
      head = std::make_shared<const evaluation::StateHead>(evaluation::readStates(json));
    QStringList names;
    for (const QFileInfo& file : QDir(folder_ + QStringLiteral("/states")).entryInfoList({QStringLiteral("*.csv")}))
      names << file.completeBaseName();
    thread_.answer([this, name, shown, head, names] {
      emit listed(names);
      emit opened(name, shown, head);
    });
  });
}

void StateTrainer::save(const QString& name, const ShownStates& shown) {
  thread_.run([this, shown, csv = fileOf(name, ".csv")] {
    QDir().mkpath(folder_ + QStringLiteral("/states"));
    std::string lines = "picture,state\n";
    for (const QFileInfo& file : QDir(folder_ + QStringLiteral("/pictures")).entryInfoList(QDir::Files, QDir::Name))
      if (const auto found = shown.find(file.completeBaseName()); found != shown.end())
        lines += "../pictures/" + file.fileName().toStdString() + "," + found->toStdString() + "\n";
    writeFileAtomically(csv, lines);
  });
}

void StateTrainer::train(const QString& name, const QString& region, const QString& model, const Reduction& reduce,
                         std::vector<vision::Region> regions) {
  evaluation::StatesJob job{.model = model.toStdString(), .reduce = reduce, .name = name.toStdString()};
  std::erase_if(regions, [&](const vision::Region& one) { return !one.ignore && one.name != region.toStdString(); });
  job.regions = std::move(regions);
  job.progress = [this](int done, int of) {
    thread_.answer([this, done, of] { emit progressed(done, of); });
    return thread_.goesOn();
  };
  thread_.run([this, job, csv = fileOf(name, ".csv"), json = fileOf(name, ".json")]() mutable {
    evaluation::readStateExamples(csv, {}, job);
    const auto head = evaluation::teachStates(job);
    if (!head) return;
    evaluation::writeStates(json, *head);
    thread_.answer([this, made = std::make_shared<const evaluation::StateHead>(*head)] { emit trained(made); });
  });
}

}  // namespace mpm::gui
