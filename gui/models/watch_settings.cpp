// SPDX-License-Identifier: Apache-2.0
#include "gui/models/watch_settings.h"

#include "gui/models/settings_writer.h"
#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

const QString kAreas = QStringLiteral("alarm_areas"), kColors = QStringLiteral("colors"),
              kSources = QStringLiteral("sources");
const QString kUnread = QStringLiteral("none");                     // times that are not read
const QStringList kRules = {"none", "sun", "brightness", "hours"};  // in the order of the alternatives of NightRule

// Reads or writes one setting after another, so that a list of fields serves both ways. A setting that is missing or no
// number leaves its field as it is.
struct Fields {
  QSettings& settings;
  bool writes;

  void operator()(const char* key, std::optional<double>& value) const {
    if (writes) return settings.setValue(key, value ? QVariant(*value) : QVariant(QString()));
    bool ok = false;
    const double stored = settings.value(key).toDouble(&ok);
    if (ok) value = stored;
  }
  template <typename Number>
  void operator()(const char* key, Number& value) const {
    std::optional<double> number = value;
    (*this)(key, number);
    value = static_cast<Number>(*number);
  }
};

void visit(const Fields& field, NightNumbers& numbers) {
  field("night/latitude", numbers.sun.latitude);
  field("night/longitude", numbers.sun.longitude);
  field("night/elevation", numbers.sun.night_below);
  field("night/dark", numbers.brightness.night_below);
  field("night/bright", numbers.brightness.day_above);
  field("night/from", numbers.hours.from);
  field("night/to", numbers.hours.to);
}

void visit(const Fields& field, monitor::AlarmOptions& alarms) {
  field("alarm/no_frame_s", alarms.no_frame_s);
  field("alarm/tokens_above", alarms.tokens_above);
  field("alarm/tokens_below", alarms.tokens_below);
  field("alarm/minutes", alarms.minutes);
}

void visit(const Fields& field, monitor::AreaAlarm& area) {
  field("label", area.label);
  field("above", area.above);
  field("below", area.below);
}

constexpr std::pair<const char*, double KeepOptions::*> kKeepFields[] = {
    {"keep/lapse_minutes", &KeepOptions::lapse_minutes},
    {"keep/picture_days", &KeepOptions::picture_days},
    {"keep/free_mb", &KeepOptions::free_mb},
    {"keep/sample_days", &KeepOptions::sample_days},
    {"keep/database_mb", &KeepOptions::database_mb}};

template <typename Check>
bool passes(Check check) {
  try {
    check();
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool makesSense(const monitor::NightRule& rule) {
  return passes([&] { monitor::validate(rule); });
}

}  // namespace

void NightNumbers::take(const monitor::NightRule& rule) {
  if (const auto* by_sun = std::get_if<monitor::NightBySun>(&rule)) sun = *by_sun;
  if (const auto* by_brightness = std::get_if<monitor::NightByBrightness>(&rule)) brightness = *by_brightness;
  if (const auto* by_hours = std::get_if<monitor::NightByHours>(&rule)) hours = *by_hours;
}

NightNumbers loadNightNumbers(QSettings& settings) {
  NightNumbers stored, numbers;
  visit({settings, false}, stored);
  for (const monitor::NightRule& rule :
       {monitor::NightRule(stored.sun), monitor::NightRule(stored.brightness), monitor::NightRule(stored.hours)})
    if (makesSense(rule)) numbers.take(rule);
  return numbers;
}

monitor::NightRule loadNightRule(QSettings& settings) {
  NightNumbers stored;
  visit({settings, false}, stored);
  const monitor::NightRule rules[] = {{}, stored.sun, stored.brightness, stored.hours};
  const monitor::NightRule& rule = rules[storedIndex(settings, "night/rule", kRules, 2)];
  return makesSense(rule) ? rule : monitor::NightByBrightness{};
}

void save(QSettings& settings, const monitor::NightRule& rule) {
  NightNumbers numbers = loadNightNumbers(settings);
  numbers.take(rule);
  settings.setValue("night/rule", kRules[static_cast<int>(rule.index())]);
  visit({settings, true}, numbers);
}

void save(QSettings& settings, monitor::AlarmOptions alarms) {
  visit({settings, true}, alarms);
  settings.remove(kAreas);
  settings.beginWriteArray(kAreas, static_cast<int>(alarms.areas.size()));
  for (std::size_t i = 0; i < alarms.areas.size(); ++i) {
    settings.setArrayIndex(static_cast<int>(i));
    settings.setValue("class", QString::fromStdString(alarms.areas[i].name));
    visit({settings, true}, alarms.areas[i]);
  }
  settings.endArray();
}

monitor::AlarmOptions loadAlarms(QSettings& settings) {
  monitor::AlarmOptions alarms;
  visit({settings, false}, alarms);
  alarms.areas.resize(static_cast<std::size_t>(beginStoredArray(settings, kAreas)));
  for (std::size_t i = 0; i < alarms.areas.size(); ++i) {
    settings.setArrayIndex(static_cast<int>(i));
    alarms.areas[i].name = settings.value("class").toString().toStdString();
    visit({settings, false}, alarms.areas[i]);
  }
  settings.endArray();
  return passes([&] { alarms.validate(); }) ? alarms : monitor::AlarmOptions();
}

void saveCommand(QSettings& settings, const QString& command) { settings.setValue("alarm/command", command); }
QString loadCommand(const QSettings& settings) { return settings.value("alarm/command").toString(); }

void save(QSettings& settings, const KeepOptions& keep) {
  for (const auto& [key, field] : kKeepFields) settings.setValue(key, keep.*field);
}

KeepOptions loadKeepOptions(const QSettings& settings) {
  KeepOptions keep;
  for (const auto& [key, field] : kKeepFields) keep.*field = storedNumber(settings, key, 0, 1e9, keep.*field);
  return keep;
}

// "#rrggbb name" each: a class may have any name, a key of QSettings may not.
void save(QSettings& settings, const ClassColors& colors) {
  QStringList lines;
  for (const auto& [name, color] : colors) lines << color.name() + QLatin1Char(' ') + name;
  settings.setValue(kColors, lines);
}

QString SourceRegions::savedIn() const {
  const auto texts = [](const std::vector<vision::Region>& list) {
    std::vector<std::string> result;
    for (const vision::Region& region : list) result.push_back(vision::regionJson(region));
    return result;
  };
  const bool same = !file.isEmpty() && passes([&] {
    if (texts(vision::readRegions(file.toStdString())) != texts(regions)) throw Error("other regions");
  });
  return same ? file : QString();
}

void save(QSettings& settings, const Sources& sources) {
  settings.remove(kSources);
  settings.beginWriteArray(kSources);
  int i = 0;
  for (const auto& [source, of] : sources) {
    settings.setArrayIndex(i++);
    settings.setValue("source", source);
    if (of.times) settings.setValue("times", *of.times ? QString::fromStdString(toString(**of.times)) : kUnread);
    if (of.times && *of.times && (*of.times)->time_zone) settings.setValue("zone", *(*of.times)->time_zone);
    if (of.regions) {
      QStringList texts;
      for (const vision::Region& region : of.regions->regions)
        texts << QString::fromStdString(vision::regionJson(region));
      settings.setValue("regions", texts);
      settings.setValue("file", of.regions->file);
    }
    settings.setValue("states", of.state_files);
  }
  settings.endArray();
}

Sources loadSources(QSettings& settings) {
  Sources result;
  const int count = beginStoredArray(settings, kSources);
  for (int i = 0; i < count; ++i) {
    settings.setArrayIndex(i);
    SourceChoices& of = result[settings.value("source").toString()];
    if (const QString times = settings.value("times").toString(); times == kUnread)
      of.times.emplace();
    else if (!times.isEmpty())
      passes([&] { of.times = vision::parseTimes(times.toStdString()); });
    bool known = false;
    if (const int zone = settings.value("zone").toInt(&known);
        known && of.times && *of.times && std::abs(zone) <= 14 * 60)
      (*of.times)->time_zone = zone;
    SourceRegions drawn{.file = settings.value("file").toString()};
    const bool good = settings.contains("regions") && passes([&] {
                        for (const QString& text : settings.value("regions").toStringList())
                          drawn.regions.push_back(vision::regionOf(text.toStdString(), "the settings"));
                        vision::check(drawn.regions);
                      });
    if (good) of.regions = std::move(drawn);
    for (const QString& file : settings.value("states").toStringList())
      if (passes([&] { of.states.push_back(evaluation::readStates(file.toStdString())); })) of.state_files << file;
  }
  settings.endArray();
  return result;
}

ClassColors loadClassColors(const QSettings& settings) {
  ClassColors colors;
  for (const QString& line : settings.value(kColors).toStringList()) {
    const QColor color(line.left(7));
    if (color.isValid() && line.size() > 8) colors[line.mid(8)] = color;
  }
  return colors;
}

}  // namespace mpm::gui
