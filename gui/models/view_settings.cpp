// SPDX-License-Identifier: Apache-2.0
#include "gui/models/view_settings.h"

#include <QSettings>
#include <algorithm>
#include <iterator>

namespace mpm::gui {
namespace {

// In the order of the enumerations.
const char* const kModes[] = {"image", "mask", "overlay", "curtain"};
const char* const kColorings[] = {"mean", "size", "insertion"};
const char* const kSpans[] = {"hour", "day", "week", "all"};

QString key(const char* name) { return QStringLiteral("view/") + QLatin1String(name); }

void set(QSettings& settings, const char* name, const QVariant& value) { settings.setValue(key(name), value); }

template <typename Enum, std::size_t N>
Enum named(const QSettings& settings, const char* name, const char* const (&names)[N], Enum otherwise) {
  const QString value = settings.value(key(name)).toString();
  const auto found =
      std::find_if(std::begin(names), std::end(names), [&](const char* one) { return value == QLatin1String(one); });
  return found == std::end(names) ? otherwise : static_cast<Enum>(found - std::begin(names));
}

bool flag(const QSettings& settings, const char* name, bool otherwise) {
  return settings.value(key(name), otherwise).toBool();
}

double share(const QSettings& settings, const char* name, double otherwise) {
  bool ok = false;
  const double value = settings.value(key(name), otherwise).toDouble(&ok);
  return ok && value >= 0 && value <= 1 ? value : otherwise;
}

}  // namespace

void save(QSettings& settings, const PicturesChoice& choice) {
  set(settings, "mode", QLatin1String(kModes[static_cast<int>(choice.mode)]));
  set(settings, "opacity", choice.opacity);
  set(settings, "curtain", choice.curtain);
  set(settings, "coloring", QLatin1String(kColorings[static_cast<int>(choice.coloring)]));
  set(settings, "map", choice.map);
  set(settings, "split", choice.split);
}

PicturesChoice loadPicturesChoice(const QSettings& settings) {
  const PicturesChoice usual;
  PicturesChoice choice;
  choice.mode = named(settings, "mode", kModes, usual.mode);
  choice.opacity = share(settings, "opacity", usual.opacity);
  choice.curtain = share(settings, "curtain", usual.curtain);
  choice.coloring = named(settings, "coloring", kColorings, usual.coloring);
  choice.map = flag(settings, "map", usual.map);
  choice.split = settings.value(key("split")).toByteArray();
  return choice;
}

void save(QSettings& settings, const ChartChoice& choice) {
  set(settings, "chart_span", QLatin1String(kSpans[static_cast<int>(choice.span)]));
  set(settings, "chart_tokens", choice.tokens);
  set(settings, "chart_merged", choice.merged);
  set(settings, "chart_inference", choice.inference);
  set(settings, "chart_area", choice.area);
  set(settings, "chart_area_class", choice.area_class);
}

ChartChoice loadChartChoice(const QSettings& settings) {
  const ChartChoice usual;
  ChartChoice choice;
  choice.span = named(settings, "chart_span", kSpans, usual.span);
  choice.tokens = flag(settings, "chart_tokens", usual.tokens);
  choice.merged = flag(settings, "chart_merged", usual.merged);
  choice.inference = flag(settings, "chart_inference", usual.inference);
  choice.area = flag(settings, "chart_area", usual.area);
  choice.area_class = settings.value(key("chart_area_class")).toString();
  return choice;
}

}  // namespace mpm::gui
