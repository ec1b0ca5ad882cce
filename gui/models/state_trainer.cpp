// SPDX-License-Identifier: Apache-2.0
#include "gui/models/state_trainer.h"

#include <QDir>
#include <QFileInfo>
#include <exception>
#include <memory>
#include <utility>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "program/paths.h"

namespace mpm::gui {

StateTrainer::StateTrainer(const QString& folder, QObject* parent) : QObject(parent), folder_(folder) {
  thread_.setMaxThreadCount(1);
  thread_.setThreadPriority(QThread::LowPriority);
}

std::string StateTrainer::fileOf(const QString& name, const char* ending) const {
  return (folder_ + QStringLiteral("/states/")).toStdString() + cli::fileName(name.toStdString()) + ending;
}

template <typename Work>
void StateTrainer::run(Work work) {
  thread_.start([this, work]() mutable {
    try {
      work();
    } catch (const std::exception& error) {
      QMetaObject::invokeMethod(this, [this, why = QString::fromUtf8(error.what())] { emit failed(why); });
    }
  });
}

void StateTrainer::open(const QString& name) {
  run([this, name, csv = fileOf(name, ".csv"), json = fileOf(name, ".json")] {
    ShownStates shown;
    std::shared_ptr<const vision::StateHead> head;
    if (QFileInfo::exists(QString::fromStdString(csv))) {
      vision::StatesJob job;
      vision::readStateExamples(csv, {}, job);
      for (const vision::StateExample& one : job.examples)
        shown[QFileInfo(QString::fromStdString(one.file)).completeBaseName()] =
            QString::fromStdString(job.states[static_cast<std::size_t>(one.state)]);
    }
    if (QFileInfo::exists(QString::fromStdString(json)))
      head = std::make_shared<const vision::StateHead>(vision::readStates(json));
    QMetaObject::invokeMethod(this, [this, name, shown, head] { emit opened(name, shown, head); });
  });
}

void StateTrainer::save(const QString& name, const ShownStates& shown) {
  run([this, shown, csv = fileOf(name, ".csv")] {
    QDir().mkpath(folder_ + QStringLiteral("/states"));
    std::string lines = "picture,state\n";
    for (const QFileInfo& file : QDir(folder_ + QStringLiteral("/pictures")).entryInfoList(QDir::Files, QDir::Name))
      if (const auto found = shown.find(file.completeBaseName()); found != shown.end())
        lines += "../pictures/" + file.fileName().toStdString() + "," + found->toStdString() + "\n";
    writeFileAtomically(csv, lines);
  });
}

void StateTrainer::train(const QString& name, const QString& model, const Reduction& reduce,
                         std::vector<vision::Region> regions) {
  vision::StatesJob job{.model = model.toStdString(), .reduce = reduce, .name = name.toStdString()};
  std::erase_if(regions, [&](const vision::Region& one) { return !one.ignore && one.name != job.name; });
  job.regions = std::move(regions);
  job.progress = [this](int done, int of) {
    QMetaObject::invokeMethod(this, [this, done, of] { emit progressed(done, of); });
    return !stop_;
  };
  run([this, job, csv = fileOf(name, ".csv"), json = fileOf(name, ".json")]() mutable {
    vision::readStateExamples(csv, {}, job);
    const auto head = vision::teachStates(job);
    if (!head) return;
    vision::writeStates(json, *head);
    QMetaObject::invokeMethod(this,
                              [this, made = std::make_shared<const vision::StateHead>(*head)] { emit trained(made); });
  });
}

}  // namespace mpm::gui
