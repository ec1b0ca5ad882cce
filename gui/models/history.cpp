// SPDX-License-Identifier: Apache-2.0
#include "gui/models/history.h"

#include <QFileInfo>

#include "gui/models/readout.h"
#include "gui/models/viewport.h"
#include "monitor/store/archive_pictures.h"
#include "vision/labels/classes.h"

namespace mpm::gui {
namespace {

// The sample of a series at this time, with its view_offset.
std::optional<monitor::Sample> sampleOf(const monitor::StoreReader& reader, std::int64_t source,
                                        const monitor::SeriesRecord& series, UnixMs time) {
  std::optional<monitor::Sample> found;
  const auto take = [&](const monitor::Sample& sample) {
    found = sample;
    return true;
  };
  reader.samples(source, time, time + 1, take, series.id);
  return found;
}

// The sample of this time. Pictures that were measured again have one in several series: the latest counts, as in the
// chart.
std::optional<monitor::Sample> sampleAt(const monitor::StoreReader& reader, std::int64_t source, UnixMs time) {
  std::optional<monitor::Sample> found;
  auto series = reader.series(source);
  for (; !series.empty() && !found; series.pop_back()) found = sampleOf(reader, source, series.back(), time);
  return found;
}

std::optional<monitor::Sample> lastOf(const monitor::StoreReader& reader, const monitor::SourceRecord& source) {
  const auto last = reader.lastSample(source, reader.series(source.id));
  return last ? sampleOf(reader, source.id, last->series, last->sample.time) : std::nullopt;
}

}  // namespace

void History::setDatabase(const QString& path) {
  path_ = path;
  facts_.reset();
  thread_.run([this] { failure_.clear(); });  // who begins with it hears again why it cannot be read
  askSources();
}

template <typename Answer>
void History::ask(Kind kind, Answer answer) {
  const int mine = ++latest_[kind];
  thread_.run([this, kind, mine, path = path_, answer = std::move(answer)] {
    if (latest_[kind] != mine) return;
    try {
      if (reader_ && (reader_path_ != path || !reader_->current())) reader_.reset();
      if (!reader_) {
        if (path.isEmpty() || !QFileInfo::exists(path)) return;
        reader_ = std::make_unique<monitor::StoreReader>(path.toStdString());
        reader_path_ = path;
      }
      thread_.answer([this, path, say = answer(*reader_)] {
        if (path == path_) say();  // else another database is on show by now
      });
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
    DatabaseFacts facts{.id = reader.id(), .sources = {}};
    const auto sources = reader.sources();
    for (const monitor::SourceRecord& source : sources) {
      SourceFacts& of = facts.sources[QString::fromStdString(source.name)];
      of.privacy = monitor::readPrivacy(reader.privacy(source.name));
      of.regions = monitor::currentRegions(reader, source.name);
      for (const monitor::AlarmState& alarm : reader.alarms(source.id))
        if (alarm.rings) of.ringing << QString::fromStdString(alarm.rule);
      const auto series = reader.series(source.id);
      if (series.empty()) continue;
      of.classes = texts(series.back().classes);
      of.measured = {series.back().id, reader.count(source.id, INT64_MIN, INT64_MAX, series.back().id)};
    }
    return [this, sources, facts] {
      facts_ = facts;
      emit sourcesChanged(sources);
    };
  });
}

void History::askChart(const monitor::ChartQuery& query) {
  ask(kChart, [this, query](const monitor::StoreReader& reader) {
    const monitor::Chart chart = reader.chart(query);
    const auto bands = monitor::chartBands(
        reader.stateChanges(chart, query), reader.knownStates(query.source),
        reader.outages(query.source, query.from, query.to, reader.awaited(query.source, unixNow())));
    return [this, chart, bands, query] { emit chartReady(chart, bands, query); };
  });
}

void History::askStatistics(std::int64_t source, UnixMs from, UnixMs to) {
  ask(kStatistics, [this, source, from, to](const monitor::StoreReader& reader) {
    JudgedHistory history{.source = source, .from = from, .to = to};
    if (const auto series = reader.series(source); !series.empty()) {
      history.model = QString::fromStdString(series.back().model_name);
      history.judged_by = reader.nightRules(series.back().id, from, to);
      history.statistics = reader.dayNight(series.back().id, from, to);
      history.areas = monitor::meanClassAreas(reader, series.back(), from, to);
    }
    return [this, history] { emit statisticsReady(history); };
  });
}

void History::askEvents(std::int64_t source) {
  ask(kEvents, [this, source](const monitor::StoreReader& reader) {
    return [this, source, events = reader.events(source, 0, INT64_MAX)] { emit eventsReady(source, events); };
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
    return [this, names] { emit namesReady(names); };
  });
}

void History::askSample(const monitor::SourceRecord& source, UnixMs time, UnixMs within,
                        const monitor::PrivacyChoice& said, int question) {
  ask(kSample, [=, this](const monitor::StoreReader& reader) {
    std::optional<UnixMs> nearest;
    const auto take = [&](const monitor::Sample& one) {
      const UnixMs away = std::abs(one.time - time);
      if (away <= within && (!nearest || away < std::abs(*nearest - time))) nearest = one.time;
      return false;  // the others are farther away
    };
    std::ranges::for_each(reader.lastSamples(source.id, 1, time), take);
    reader.samples(source.id, time, time + within + 1, take);
    const auto sample = nearest ? sampleAt(reader, source.id, *nearest) : std::nullopt;
    StoredSample found = sample ? storedSample(reader, source, *sample, said) : StoredSample();
    found.question = question;
    return [this, found] { emit sampleReady(found); };
  });
}

void History::askLast(const monitor::SourceRecord& source, const monitor::PrivacyChoice& said) {
  ask(kSample, [=, this](const monitor::StoreReader& reader) {
    StoredSample found;
    if (const auto sample = lastOf(reader, source)) {
      found = storedSample(reader, source, *sample, said);
      QStringList facts = {tr("Last sample: %1").arg(timeText(sample->time, source.clock))};
      for (const monitor::StateSample& state : sample->states) {
        facts << tr("%1: %2").arg(QString::fromStdString(state.name),
                                  state.counted.empty() ? tr("not known") : QString::fromStdString(state.counted));
      }
      const monitor::Gaps gaps = reader.gaps(source.id, source.first, source.knownUntil(), source.awaited);
      facts << (gaps.count == 0 ? tr("no gaps")
                                : tr("%n gap(s), the longest of %1", nullptr, gaps.count)
                                      .arg(spanText(static_cast<double>(gaps.longest) / 1000)));
      found.text = facts.join(QStringLiteral("  ·  "));
    }
    found.last = true;
    return [this, found] { emit sampleReady(found); };
  });
}

LiveFramePtr History::lastPicture(const monitor::StoreReader& reader, const monitor::SourceRecord& source,
                                  const monitor::PrivacyChoice& said) {
  const auto sample = lastOf(reader, source);
  return sample ? storedSample(reader, source, *sample, said).frame : nullptr;
}

StoredSample History::storedSample(const monitor::StoreReader& reader, const monitor::SourceRecord& source,
                                   const monitor::Sample& sample, const monitor::PrivacyChoice& said) {
  StoredSample result{.time = sample.time};
  std::int64_t series = 0;
  for (const monitor::SessionRecord& session : reader.sessions(source.id)) {
    if (session.id != sample.session) continue;
    series = session.series;
    result.classes = texts(session.classes);
    for (const monitor::RegionSample& region : sample.regions) {
      for (const auto& [label, area] : region.areas) {
        result.areas[QString::fromStdString(region.name)].insert(
            QString::fromStdString(vision::className(session.classes, label)), area);
      }
    }
  }
  result.source = QString::fromStdString(source.name);
  try {
    const std::string path = monitor::ArchiveFiles(reader, source, series).find(sample.picture, sample.digest);
    if (path.empty()) return result;
    const monitor::PrivacyOptions hidden = said.over(monitor::readPrivacy(reader.privacy(source.name)));
    const monitor::ArchivePicture picture{.time = sample.time, .file = path, .view_offset = sample.view_offset};
    auto frame = std::make_shared<LiveFrame>(*makeLiveFrame(
        monitor::CapturedFrame{.image = picture.picture(hidden),
                               .time = sample.time,
                               .name = QFileInfo(QString::fromStdString(path)).completeBaseName().toStdString(),
                               .file = path}));
    if (hidden.on()) frame->result.hidden_by = std::make_shared<const monitor::PrivacyOptions>(hidden);
    frame->result.estimate.tokens = sample.token_counts;
    frame->result.estimate.ms.total = sample.whole().value("inference_ms").value_or(0);
    frame->sample.view_offset = sample.view_offset;
    result.frame = frame;
  } catch (const Error&) {  // it is no picture any more
  }
  return result;
}

}  // namespace mpm::gui
