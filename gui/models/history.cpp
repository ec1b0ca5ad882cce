// SPDX-License-Identifier: Apache-2.0
#include "gui/models/history.h"

#include "gui/models/readout.h"
#include "gui/models/region_outline.h"

namespace mpm::gui {

History::History(QObject* parent) : QObject(parent), thread_(this) {}

void History::setDatabase(const QString& path) {
  path_ = path;
  askSources();
}

template <typename Answer>
void History::ask(Kind kind, Answer answer) {
  const int mine = ++latest_[kind];
  thread_.run([this, kind, mine, path = path_, night = night_, answer = std::move(answer)] {
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
      thread_.answer([this, message] { emit failed(message); });
    }
  });
}

void History::askSources() {
  ask(kSources, [this](const monitor::StoreReader& reader) {
    thread_.answer([this, sources = reader.sources(), path = reader_path_] {
      if (path == path_) emit sourcesChanged(sources);
    });
  });
}

void History::askChart(const monitor::ChartQuery& query) {
  ask(kChart, [this, query](const monitor::StoreReader& reader) {
    thread_.answer(
        [this, chart = reader.chart(query), states = reader.states(query.source, query.from, query.to), query] {
          emit statesReady(states);
          emit chartReady(chart, query);
        });
  });
}

void History::askStatistics(std::int64_t source, UnixMs from, UnixMs to) {
  ask(kStatistics, [this, source, from, to](const monitor::StoreReader& reader) {
    thread_.answer(
        [this, statistics = reader.dayNight(source, from, to), areas = monitor::classAreas(reader, source, from, to)] {
          emit statisticsReady(statistics, areas);
        });
  });
}

void History::askEvents(std::int64_t source) {
  ask(kEvents, [this, source](const monitor::StoreReader& reader) {
    thread_.answer([this, events = reader.events(source, 0, INT64_MAX)] { emit eventsReady(events); });
  });
}

void History::askNames(std::int64_t source, const QString& name) {
  ask(kNames, [this, source, name](const monitor::StoreReader& reader) {
    SourceNames names{source, name, {}, {}, monitor::currentRegions(reader, name.toStdString())};
    const auto sessions = reader.sessions(source);
    if (!sessions.empty()) names.classes = texts(sessions.back().classes);
    std::vector<vision::Region> regions;
    for (const monitor::RegionRecord& record : reader.regions(name.toStdString())) regions.push_back(record.region);
    names.regions = regionNames(regions);
    thread_.answer([this, names] { emit namesReady(names); });
  });
}

}  // namespace mpm::gui
