// SPDX-License-Identifier: Apache-2.0
#include "gui/models/history.h"

#include <QFileInfo>

namespace mpm::gui {

History::History(QObject* parent) : QObject(parent) { thread_.setMaxThreadCount(1); }

void History::setDatabase(const QString& path) {
  path_ = path;
  askSources();
}

template <typename Answer>
void History::ask(Kind kind, Answer answer) {
  const int mine = ++latest_[kind];
  thread_.start([this, kind, mine, path = path_, night = night_, answer = std::move(answer)] {
    if (latest_[kind] != mine) return;
    try {
      if (reader_ && (reader_path_ != path || !reader_->current())) reader_.reset();
      if (!reader_) {
        if (path.isEmpty() || !QFileInfo::exists(path)) return;
        reader_ = std::make_unique<monitor::StoreReader>(path.toStdString());
        reader_path_ = path;
      }
      reader_->setNightRule(night);
      answer(*reader_);
      failure_.clear();
    } catch (const monitor::EmptyDatabase&) {  // its writer is about to fill it
    } catch (const std::exception& error) {
      reader_.reset();
      const QString message = QString::fromStdString(error.what());
      if (std::exchange(failure_, message) == message) return;  // asked every other second
      queue([this, message] { emit failed(message); });
    }
  });
}

void History::askSources() {
  ask(kSources, [this](const monitor::StoreReader& reader) {
    queue([this, sources = reader.sources(), path = reader_path_] {
      if (path == path_) emit sourcesChanged(sources);
    });
  });
}

void History::askChart(const monitor::ChartQuery& query) {
  ask(kChart, [this, query](const monitor::StoreReader& reader) {
    queue([this, chart = reader.chart(query), states = reader.states(query.source, query.from, query.to), query] {
      emit statesReady(states);
      emit chartReady(chart, query);
    });
  });
}

void History::askDayNight(std::int64_t source, UnixMs from, UnixMs to) {
  ask(kDayNight, [this, source, from, to](const monitor::StoreReader& reader) {
    queue([this, statistics = reader.dayNight(source, from, to)] { emit dayNightReady(statistics); });
  });
}

void History::askAreas(std::int64_t source, UnixMs from, UnixMs to) {
  ask(kAreas, [this, source, from, to](const monitor::StoreReader& reader) {
    queue([this, areas = monitor::classAreas(reader, source, from, to)] { emit areasReady(areas); });
  });
}

void History::askEvents(std::int64_t source) {
  ask(kEvents, [this, source](const monitor::StoreReader& reader) {
    queue([this, events = reader.events(source, 0, INT64_MAX)] { emit eventsReady(events); });
  });
}

void History::askClasses(std::int64_t source) {
  ask(kClasses, [this, source](const monitor::StoreReader& reader) {
    QStringList names;
    const auto sessions = reader.sessions(source);
    if (!sessions.empty())
      for (const std::string& name : sessions.back().classes) names << QString::fromStdString(name);
    queue([this, names, source] { emit classesReady(names, source); });
  });
}

void History::askRegions(const QString& source) {
  ask(kRegions, [this, source](const monitor::StoreReader& reader) {
    QStringList names;
    for (const monitor::RegionRecord& record : reader.regions(source.toStdString()))
      if (const auto name = QString::fromStdString(record.region.name); !record.region.ignore && !names.contains(name))
        names << name;
    queue([this, names, current = monitor::currentRegions(reader, source.toStdString()), source] {
      emit regionsReady(names, current, source);
    });
  });
}

}  // namespace mpm::gui
