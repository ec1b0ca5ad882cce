// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include "gui/controllers/history_browser.h"
#include "gui/models/calendar.h"
#include "wait.h"

namespace mpm::worlds {
namespace {

using namespace mpm::gui;

constexpr UnixMs kWithin = 3600000;  // how far from a moment a picture may be

QJsonValue text(const std::string& of) { return QString::fromStdString(of); }
QJsonValue time(UnixMs of) { return static_cast<qint64>(of); }
QJsonValue number(const std::optional<double>& of) { return of ? QJsonValue(*of) : QJsonValue(); }

template <typename All, typename One>
QJsonArray each(const All& all, One one) {
  QJsonArray result;
  for (const auto& of : all) result << one(of);
  return result;
}

monitor::SeriesKey keyOf(const QJsonObject& asked, const QJsonObject& key) {
  return {.quantity = key["quantity"].toString().toStdString(),
          .class_name = key["class"].toString().toStdString(),
          .region = asked["region"].toString().toStdString()};
}

QJsonObject toJson(const monitor::Summary& side) {
  if (side.samples == 0) return {{"samples", 0}};
  return {{"samples", static_cast<qint64>(side.samples)},
          {"mean", side.mean},
          {"median", side.median},
          {"p90", side.p90},
          {"min", side.min},
          {"max", side.max}};
}

QJsonObject toJson(const JudgedHistory& of) {
  const monitor::DayNightStatistics& statistics = of.statistics;
  QJsonObject day = toJson(statistics.day), night = toJson(statistics.night);
  day["change_since_yesterday"] = number(statistics.day_change);
  night["change_since_yesterday"] = number(statistics.night_change);
  QJsonObject result{{"from", time(of.from)}, {"to", time(of.to)}, {"day", day}, {"night", night}};
  if (const auto& difference = statistics.difference) {
    const bool hours = difference->block == monitor::Difference::Block::kHour;
    result["night - day"] = difference->tokens;
    result["plus minus"] = number(difference->plus_minus);
    result["blocks"] = QJsonArray{hours ? "hour" : "period", difference->day_blocks, difference->night_blocks};
  }
  if (statistics.brightness)
    result["brightness"] = QJsonArray{statistics.brightness->first, statistics.brightness->second};
  result["judged_by"] = each(of.judged_by, [](const auto& rule) { return rule ? text(*rule) : QJsonValue(); });
  result["areas"] = each(of.areas, [](const monitor::ClassArea& area) {
    return QJsonArray{text(area.name), area.all, number(area.day), number(area.night)};
  });
  return result;
}

QJsonObject toJson(const charts::Chart& chart) {
  const auto values = [](const charts::Spread& of) {
    return of.samples == 0 ? QJsonArray() : QJsonArray{static_cast<qint64>(of.samples), of.mean, of.min, of.max};
  };
  const auto row = [&](const charts::ChartBucket& bucket) {
    return QJsonObject{{"start", time(bucket.start)},
                       {"middle", time(bucket.middle)},
                       {"night", number(bucket.night)},
                       {"gap_before", bucket.gap_before},
                       {"values", each(bucket.values, values)}};
  };
  return {{"width", time(chart.bucket_ms)}, {"rows", each(chart.buckets, row)}};
}

QJsonObject toJson(const std::vector<charts::ChartBand>& bands) {
  QJsonObject result;
  for (const charts::ChartBand& band : bands) {
    result[QString::fromStdString(band.name)] = each(band.changes, [](const auto& change) {
      return QJsonArray{time(change.first), text(change.second)};
    });
  }
  return result;
}

QJsonObject toJson(const StoredSample& sample) {
  QJsonObject areas;
  for (auto region = sample.areas.begin(); region != sample.areas.end(); ++region) {
    QJsonObject shares;
    for (auto share = region->begin(); share != region->end(); ++share) shares[share.key()] = share.value();
    areas[region.key()] = shares;
  }
  QJsonObject result{{"time", time(sample.time)}, {"areas", areas}, {"text", sample.text}};
  if (!sample.frame) return result;
  result["file"] = text(sample.frame->result.frame.file);
  result["token_counts"] = each(sample.frame->result.estimate.tokens, [](double count) { return count; });
  return result;
}

// The models of a window that shows a database.
class Models {
 public:
  explicit Models(const QString& database) {
    History* const history = browser_.history();
    const auto take = [this](const QString& why) { problem_ = why; };
    QObject::connect(&browser_, &HistoryBrowser::failed, &browser_, take);
    QObject::connect(&calendar_, &CalendarReader::failed, &browser_, take);
    keep(&browser_, &HistoryBrowser::judged, judged_);
    keep(history, &History::namesReady, names_);
    keep(history, &History::sampleReady, sample_);
    keep(&calendar_, &CalendarReader::read, read_);
    QObject::connect(history, &History::chartReady, &browser_,
                     [this](const charts::Chart& chart, const std::vector<charts::ChartBand>& bands) {
                       QJsonObject drawn = toJson(chart);
                       drawn["bands"] = toJson(bands);
                       chart_ = drawn;
                     });
    browser_.setDatabase(database);
    wait("the sources", [&] { return history->facts().has_value(); });
  }

  QJsonArray sources() const {
    return each(browser_.sources()->all(), [](const monitor::SourceRecord& one) { return text(one.name); });
  }

  void choose(const QString& name) {
    for (const monitor::SourceRecord& one : browser_.sources()->all())
      if (QString::fromStdString(one.name) == name) browser_.sources()->choose(one.id);
    if (browser_.source() != name) throw Error("no source " + name.toStdString());
  }

  QJsonObject known() {
    names_.reset();
    const monitor::SourceRecord source = record();
    browser_.history()->askNames(source.id, browser_.source());
    wait("names", [&] { return names_.has_value(); });
    const SourceFacts facts = browser_.facts();
    return {{"first_ms", time(source.first)},
            {"last_ms", time(source.last)},
            {"present_ms", browser_.sources()->present() * 1000},
            {"archive", source.archive},
            {"samples", static_cast<qint64>(facts.measured.samples)},
            {"ringing", QJsonArray::fromStringList(facts.ringing)},
            {"classes", QJsonArray::fromStringList(facts.classes)},
            {"classes of names", QJsonArray::fromStringList(names_->classes)},
            {"regions", QJsonArray::fromStringList(names_->regions)}};
  }

  /// The period that the chart shows, ms.
  QJsonObject dayAndNight(const QJsonArray& period) {
    browser_.setPeriod(period[0].toDouble() / 1000, period[1].toDouble() / 1000);
    known();  // its answer comes behind those of all that was asked before
    if (!judged_ || !*judged_) throw Error("nothing is known of day and night");
    return toJson(**judged_);
  }

  QJsonArray events() {
    known();
    QJsonArray all;
    for (int row = 0; row < browser_.events()->rowCount(); ++row) {
      const std::string line = monitor::toJson(browser_.events()->eventAt(row)).dump();
      all << QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
    }
    return all;
  }

  QJsonObject chart(const QJsonObject& asked) {
    const monitor::SourceRecord source = record();
    const QJsonArray span = asked["span"].toArray();
    monitor::ChartQuery query{.source = source.id,
                              .from = span[0].toInteger(),
                              .to = span[1].toInteger(),
                              .max_buckets = asked["buckets"].toInt(),
                              .clock = vision::clockOrMachine(source.clock)};
    for (const QJsonValue key : asked["keys"].toArray()) query.series.push_back(keyOf(asked, key.toObject()));
    browser_.history()->askChart(query);
    wait("the chart", [&] { return chart_.has_value(); });
    return *chart_;
  }

  QJsonObject last() {
    browser_.history()->askLast(record(), {});
    return sample("the last sample");
  }

  QJsonObject nearest(UnixMs moment) {
    browser_.history()->askSample(record(), moment, kWithin, {}, 0);
    return sample("a sample");
  }

  QJsonObject calendar(const QJsonObject& asked) {
    const QJsonObject states = asked["states"].toObject();
    CalendarQuestion question{.database = browser_.history()->database(),
                              .source = record(),
                              .moment = monitor::parseDayMoment("noon"),
                              .year = asked["year"].toInt()};
    question.key.series = keyOf(asked, asked["keys"][0].toObject());
    question.key.states = states["head"].toString().toStdString();
    question.key.state = states["state"].toString().toStdString();
    calendar_.ask(question);
    wait("the calendar", [&] { return read_.has_value(); });
    calendar_.giveUp();
    const auto day = [](const charts::DayCell& cell) {
      return QJsonArray{time(cell.start), number(cell.value), text(cell.picture)};
    };
    return {{"year", read_->year},
            {"years", each(read_->years, [](int year) { return year; })},
            {"days", each(read_->drawing.days, day)}};
  }

 private:
  template <typename Sender, typename Signal, typename Answer>
  void keep(Sender* sender, Signal signal, std::optional<Answer>& answer) {
    QObject::connect(sender, signal, &browser_, [&answer](const Answer& given) { answer = given; });
  }

  template <typename Condition>
  void wait(const std::string& what, Condition there) {
    waitFor(what, [&] { return !problem_.isEmpty() || there(); });
    if (!problem_.isEmpty()) throw Error(problem_.toStdString());
  }

  QJsonObject sample(const std::string& what) {
    sample_.reset();
    wait(what, [&] { return sample_.has_value(); });
    return toJson(*sample_);
  }

  monitor::SourceRecord record() const { return browser_.sources()->current().value(); }

  QString problem_;
  std::optional<std::optional<JudgedHistory>> judged_;
  std::optional<SourceNames> names_;
  std::optional<StoredSample> sample_;
  std::optional<CalendarAnswer> read_;
  std::optional<QJsonObject> chart_;
  HistoryBrowser browser_;
  CalendarReader calendar_;  // behind what they answer into
};

}  // namespace

QJsonObject read(const QJsonObject& asked) {
  Models models(asked["database"].toString());
  models.choose(asked["source"].toString());
  return {{"sources", models.sources()},
          {"known", models.known()},
          {"day and night", models.dayAndNight(asked["period"].toArray())},
          {"events", models.events()},
          {"chart", models.chart(asked)},
          {"last", models.last()},
          {"nearest", models.nearest(asked["moment"].toInteger())},
          {"calendar", models.calendar(asked)}};
}

}  // namespace mpm::worlds
