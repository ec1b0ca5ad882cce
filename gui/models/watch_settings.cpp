// SPDX-License-Identifier: Apache-2.0
#include "gui/models/watch_settings.h"

#include <QSettings>
#include <algorithm>

#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

const QString kNight = QStringLiteral("night/%1"), kAlarm = QStringLiteral("alarm/%1"),
              kKeep = QStringLiteral("keep/%1");
const QString kAreas = QStringLiteral("alarm_areas"), kColors = QStringLiteral("colors");
const char* const kRules[] = {"none", "sun", "brightness", "hours"};  // as the alternatives of NightRule

void set(QSettings& settings, const QString& group, const char* name, const QVariant& value) {
  settings.setValue(group.arg(QLatin1String(name)), value);
}

double number(const QSettings& settings, const QString& group, const char* name, double otherwise) {
  bool ok = false;
  const double value = settings.value(group.arg(QLatin1String(name)), otherwise).toDouble(&ok);
  return ok ? value : otherwise;
}

// nullopt where nothing is said.
std::optional<double> limit(const QSettings& settings, const QString& key) {
  bool ok = false;
  const double value = settings.value(key).toDouble(&ok);
  return ok ? std::optional(value) : std::nullopt;
}

QVariant said(const std::optional<double>& value) { return value ? QVariant(*value) : QVariant(QString()); }

NightNumbers readNightNumbers(const QSettings& settings) {
  const NightNumbers usual;
  const auto read = [&](const char* name, double otherwise) { return number(settings, kNight, name, otherwise); };
  return {{read("latitude", usual.sun.latitude), read("longitude", usual.sun.longitude),
           read("elevation", usual.sun.night_below)},
          {read("dark", usual.brightness.night_below), read("bright", usual.brightness.day_above)},
          {static_cast<int>(read("from", usual.hours.from)), static_cast<int>(read("to", usual.hours.to))}};
}

bool makesSense(const monitor::NightRule& rule) {
  try {
    monitor::validate(rule);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void save(QSettings& settings, const monitor::NightRule& rule) {
  set(settings, kNight, "rule", QLatin1String(kRules[rule.index()]));
  if (const auto* sun = std::get_if<monitor::NightBySun>(&rule)) {
    set(settings, kNight, "latitude", sun->latitude);
    set(settings, kNight, "longitude", sun->longitude);
    set(settings, kNight, "elevation", sun->night_below);
  } else if (const auto* brightness = std::get_if<monitor::NightByBrightness>(&rule)) {
    set(settings, kNight, "dark", brightness->night_below);
    set(settings, kNight, "bright", brightness->day_above);
  } else if (const auto* hours = std::get_if<monitor::NightByHours>(&rule)) {
    set(settings, kNight, "from", hours->from);
    set(settings, kNight, "to", hours->to);
  }
}

void NightNumbers::take(const monitor::NightRule& rule) {
  if (const auto* by_sun = std::get_if<monitor::NightBySun>(&rule)) sun = *by_sun;
  if (const auto* by_brightness = std::get_if<monitor::NightByBrightness>(&rule)) brightness = *by_brightness;
  if (const auto* by_hours = std::get_if<monitor::NightByHours>(&rule)) hours = *by_hours;
}

NightNumbers loadNightNumbers(const QSettings& settings) {
  const NightNumbers written = readNightNumbers(settings);
  NightNumbers numbers;
  for (const monitor::NightRule& rule :
       {monitor::NightRule(written.sun), monitor::NightRule(written.brightness), monitor::NightRule(written.hours)})
    if (makesSense(rule)) numbers.take(rule);
  return numbers;
}

monitor::NightRule loadNightRule(const QSettings& settings) {
  const NightNumbers written = readNightNumbers(settings);
  const QString name = settings.value(kNight.arg(QLatin1String("rule"))).toString();
  monitor::NightRule rule = written.brightness;
  if (name == QLatin1String(kRules[0])) rule = std::monostate{};
  if (name == QLatin1String(kRules[1])) rule = written.sun;
  if (name == QLatin1String(kRules[3])) rule = written.hours;
  return makesSense(rule) ? rule : monitor::NightByBrightness{};
}

void save(QSettings& settings, const monitor::AlarmOptions& alarms) {
  set(settings, kAlarm, "no_frame_s", alarms.no_frame_s);
  set(settings, kAlarm, "tokens_above", said(alarms.tokens_above));
  set(settings, kAlarm, "tokens_below", said(alarms.tokens_below));
  set(settings, kAlarm, "minutes", alarms.minutes);
  settings.remove(kAreas);
  settings.beginWriteArray(kAreas, static_cast<int>(alarms.areas.size()));
  for (std::size_t i = 0; i < alarms.areas.size(); ++i) {
    const monitor::AreaAlarm& area = alarms.areas[i];
    settings.setArrayIndex(static_cast<int>(i));
    settings.setValue(QStringLiteral("class"), QString::fromStdString(area.name));
    settings.setValue(QStringLiteral("label"), area.label);
    settings.setValue(QStringLiteral("above"), said(area.above));
    settings.setValue(QStringLiteral("below"), said(area.below));
  }
  settings.endArray();
}

monitor::AlarmOptions loadAlarms(QSettings& settings) {
  monitor::AlarmOptions alarms;
  alarms.no_frame_s = number(settings, kAlarm, "no_frame_s", alarms.no_frame_s);
  alarms.tokens_above = limit(settings, kAlarm.arg(QLatin1String("tokens_above")));
  alarms.tokens_below = limit(settings, kAlarm.arg(QLatin1String("tokens_below")));
  alarms.minutes = number(settings, kAlarm, "minutes", alarms.minutes);
  const int count = settings.beginReadArray(kAreas);
  for (int i = 0; i < count; ++i) {
    settings.setArrayIndex(i);
    monitor::AreaAlarm area;
    area.name = settings.value(QStringLiteral("class")).toString().toStdString();
    area.label = settings.value(QStringLiteral("label")).toInt();
    area.above = limit(settings, QStringLiteral("above"));
    area.below = limit(settings, QStringLiteral("below"));
    alarms.areas.push_back(std::move(area));
  }
  settings.endArray();
  try {
    alarms.validate();
  } catch (const Error&) {
    return {};
  }
  return alarms;
}

void save(QSettings& settings, const KeepOptions& keep) {
  set(settings, kKeep, "lapse_minutes", keep.lapse_minutes);
  set(settings, kKeep, "picture_days", keep.picture_days);
  set(settings, kKeep, "free_mb", keep.free_mb);
  set(settings, kKeep, "sample_days", keep.sample_days);
  set(settings, kKeep, "database_mb", keep.database_mb);
}

KeepOptions loadKeepOptions(const QSettings& settings) {
  const KeepOptions usual;
  const auto read = [&](const char* name, double otherwise) {
    const double value = number(settings, kKeep, name, otherwise);
    return value >= 0 && value < 1e9 ? value : otherwise;
  };
  return {read("lapse_minutes", usual.lapse_minutes), read("picture_days", usual.picture_days),
          read("free_mb", usual.free_mb), read("sample_days", usual.sample_days),
          read("database_mb", usual.database_mb)};
}

// "#rrggbb name" each: a class may be called anything, a key of QSettings may not.
void save(QSettings& settings, const ClassColors& colors) {
  QStringList lines;
  for (const auto& [name, color] : colors) lines << color.name() + QLatin1Char(' ') + name;
  settings.setValue(kColors, lines);
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
