// SPDX-License-Identifier: Apache-2.0
#include "gui/models/time_axis.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <algorithm>
#include <cmath>

namespace mpm::gui {
namespace {

QDateTime local(double time) { return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(time * 1000)); }
double seconds(const QDateTime& time) { return static_cast<double>(time.toMSecsSinceEpoch()) / 1000; }

constexpr double kDay = 86400;

QString label(const QDateTime& time, double step) {
  const QLocale locale;
  if (step >= 365 * kDay) return locale.toString(time, QStringLiteral("yyyy"));
  if (step >= 28 * kDay) return locale.toString(time, QStringLiteral("MMM yyyy"));
  if (step >= kDay || time.time() == QTime(0, 0)) return locale.toString(time, QStringLiteral("ddd d MMM"));
  return locale.toString(time, step < 60 ? QStringLiteral("HH:mm:ss") : QStringLiteral("HH:mm"));
}

}  // namespace

TimeAxis TimeAxis::zoomedAt(double x_fixed, double factor) const {
  const double fixed = time(x_fixed);
  const double span = std::clamp((to - from) / factor, kShortest, kLongest);
  const double share = (x_fixed - left) / width;
  TimeAxis next = *this;
  next.from = fixed - share * span;
  next.to = next.from + span;
  return next;
}

TimeAxis TimeAxis::pannedBy(double pixels) const {
  const double shift = pixels / width * (to - from);
  TimeAxis next = *this;
  next.from -= shift;
  next.to -= shift;
  return next;
}

std::vector<TimeAxis::Tick> TimeAxis::ticks(double spacing) const {
  constexpr double kSteps[] = {1,    2,    5,    10,    15,    30,    60,   120,      300,      600,      900,
                               1800, 3600, 7200, 10800, 21600, 43200, kDay, 2 * kDay, 7 * kDay, 14 * kDay};
  std::vector<Tick> result;
  if (!(to > from) || width < 1) return result;
  const double least = spacing / width * (to - from);

  const double* step = std::find_if(std::begin(kSteps), std::end(kSteps), [&](double s) { return s >= least; });
  if (step != std::end(kSteps) && *step < kDay) {
    // Steps count from local midnight; a day with a clock change has its own.
    const QDateTime begin = local(from);
    for (QDate day = begin.date(); day <= local(to).date(); day = day.addDays(1)) {
      double first = day == begin.date() ? begin.time().msecsSinceStartOfDay() / 1000 : 0;
      // Where the clock is put back an hour comes twice.
      if (seconds(day.addDays(1).startOfDay()) - seconds(day.startOfDay()) != kDay) first = std::max(0.0, first - 7200);
      for (double s = std::floor(first / *step) * *step; s < kDay; s += *step) {
        const QDateTime time(day, QTime::fromMSecsSinceStartOfDay(static_cast<int>(s * 1000)));
        const double at = seconds(time);
        if (at > to) break;
        if (at >= from) result.push_back({at, label(time, *step), s == 0});
      }
    }
    return result;
  }
  if (step != std::end(kSteps)) {
    const auto days = static_cast<qint64>(*step / kDay);
    QDate day = local(from).date();
    day = day.addDays((days - day.toJulianDay() % days) % days);
    for (; seconds(day.startOfDay()) <= to; day = day.addDays(days))
      if (const double at = seconds(day.startOfDay()); at >= from)
        result.push_back({at, label(day.startOfDay(), *step), day.day() <= days});
    return result;
  }
  constexpr int kMonths[] = {1, 3, 6, 12, 24, 60, 120};
  const int* months =
      std::find_if(std::begin(kMonths), std::end(kMonths), [&](int m) { return m * 30.4 * kDay >= least; });
  const int every = months == std::end(kMonths) ? 240 : *months;
  QDate month(local(from).date().year(), 1, 1);
  for (; seconds(month.startOfDay()) <= to; month = month.addMonths(every))
    if (const double at = seconds(month.startOfDay()); at >= from)
      result.push_back({at, label(month.startOfDay(), every * 30.5 * kDay), month.month() == 1});
  return result;
}

std::vector<double> valueTicks(double low, double high, int most) {
  if (!(high > low)) return {low};
  const double raw = (high - low) / std::max(most, 1);
  const double magnitude = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * magnitude;
  for (double m : {1.0, 2.0, 5.0})
    if (m * magnitude >= raw) {
      step = m * magnitude;
      break;
    }
  std::vector<double> result;
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + step * 1e-9; ++i) result.push_back(i * step);
  return result;
}

QString spanText(double seconds) {
  const auto pad = [](qint64 n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
  if (seconds < 60)
    return QCoreApplication::translate("spanText", "%1 s").arg(QLocale().toString(seconds, 'f', seconds < 10 ? 1 : 0));
  const auto whole = static_cast<qint64>(seconds);
  if (seconds < 3600)
    return QCoreApplication::translate("spanText", "%1 min %2 s").arg(whole / 60).arg(pad(whole % 60));
  if (seconds < kDay)
    return QCoreApplication::translate("spanText", "%1 h %2 min").arg(whole / 3600).arg(pad(whole / 60 % 60));
  return QCoreApplication::translate("spanText", "%1 d %2 h").arg(whole / 86400).arg(whole / 3600 % 24);
}

}  // namespace mpm::gui
