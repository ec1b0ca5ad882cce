// SPDX-License-Identifier: Apache-2.0
#include "gui/models/readout.h"

#include "vision/labels/classes.h"

namespace mpm::gui {
namespace {

struct Readout {
  Q_DECLARE_TR_FUNCTIONS(Readout)
};

}  // namespace

QStringList texts(const std::vector<std::string>& list) {
  QStringList result;
  for (const std::string& text : list) result << QString::fromStdString(text);
  return result;
}

QDateTime dateTime(UnixMs time, const charts::OptionalClock& clock) {
  return QDateTime::fromMSecsSinceEpoch(vision::clockOrMachine(clock).wall(time), QTimeZone::utc());
}

QString timeText(UnixMs time, const charts::OptionalClock& clock, QStringView format) {
  const QString text = QLocale().toString(dateTime(time, clock), format);
  return clock ? text + QLatin1Char(' ') + QString::fromStdString(clock->offsetText(time)) : text;
}

QString spanText(double seconds) {
  const auto pad = [](qint64 n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
  if (seconds < 60) return Readout::tr("%1 s").arg(number(seconds, seconds < 10 ? 1 : 0));
  const auto whole = static_cast<qint64>(seconds);
  if (seconds < 3600) return Readout::tr("%1 min %2 s").arg(whole / 60).arg(pad(whole % 60));
  if (seconds < 86400) return Readout::tr("%1 h %2 min").arg(whole / 3600).arg(pad(whole / 60 % 60));
  return Readout::tr("%1 d %2 h").arg(whole / 86400).arg(whole / 3600 % 24);
}

QString unitName(DepthUnit unit) {
  if (unit == DepthUnit::kMetre) return Readout::tr("m");
  return unit == DepthUnit::kInverse ? Readout::tr("relative, larger is nearer") : Readout::tr("relative");
}

QString depthValue(double depth, DepthUnit unit) {
  const QString number = QLocale().toString(depth, 'g', 4);
  return unit == DepthUnit::kMetre ? Readout::tr("%1 m").arg(number) : Readout::tr("%1 (relative)").arg(number);
}

QString quantityName(const monitor::Quantity& quantity) {
  return QCoreApplication::translate("quantities", quantity.label);
}

QString readout(const LiveFrame& frame, QPointF at) {
  const auto& model = frame.result.model;
  const auto depth = frame.depthAt(at);
  if (!depth && frame.ids().empty()) return {};
  if (frame.hiddenAt(at)) return Readout::tr("hidden");
  if (depth) return depthValue(*depth, model->facts.depth);
  const Segment* const segment = frame.segmentAt(at);
  if (!segment) return Readout::tr("no segment");
  return Readout::tr("%1, %2 %")
      .arg(QString::fromStdString(vision::classNames(*model)[segment->label]), number(100 * segment->score));
}

QString rowAge(const LiveFrame& frame, QPointF at) {
  if (frame.row_age.empty()) return {};
  const int age = frame.row_age[frame.tokenAt(at)];
  if (age < 0) return Readout::tr("hidden");
  return age == 0 ? Readout::tr("computed for this frame") : Readout::tr("kept for %n frame(s)", nullptr, age);
}

}  // namespace mpm::gui
