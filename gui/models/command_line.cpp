// SPDX-License-Identifier: Apache-2.0
#include "gui/models/command_line.h"

namespace mpm::gui {
namespace {

QString quoted(const QString& text) {
  static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
  if (plain.match(text).hasMatch()) return text;
  return QLatin1Char('\'') + QString(text).replace(QLatin1Char('\''), QLatin1String("'\\''")) + QLatin1Char('\'');
}

}  // namespace

QString optionsOf(const Reduction& reduction) {
  return QStringLiteral("--reduce ") + quoted(QString::fromStdString(toString(reduction)));
}

QString commandLine(const WatchedJob& job) {
  QStringList words = {QStringLiteral("mpm"), QStringLiteral("monitor"),
                       job.source.isEmpty() ? QStringLiteral("SOURCE") : quoted(job.source)};
  if (!job.model.isEmpty()) words << QStringLiteral("--model") << quoted(job.model);
  words << optionsOf(job.reduction);
  const ReadOptions &read = job.inference.read, standard;
  if (const auto& size = read.convert.input_size)
    words << QStringLiteral("--input-size") << QStringLiteral("%1x%2").arg(size->height).arg(size->width);
  const auto say = [&](const char* name, const std::string& value, const std::string& usual) {
    if (value != usual) words << QLatin1String(name) << QString::fromStdString(value);
  };
  say("--precision", toString(read.convert.precision), toString(standard.convert.precision));
  say("--device", read.device, standard.device);
  const auto sayShare = [&](const char* name, double value, double usual) {
    if (value != usual) words << QLatin1String(name) << QString::number(value);
  };
  sayShare("--min-score", job.inference.min_score, EstimatorOptions().min_score);
  sayShare("--min-overlap", job.inference.min_overlap, EstimatorOptions().min_overlap);
  if (job.inference.refine) say("--refine", toString(*job.inference.refine), "");
  if (!job.choose_reuse) say("--reuse", toString(job.inference.reuse), "");
  say("--threads", std::to_string(job.inference.threads), std::to_string(EstimatorOptions().threads));
  if (!job.database.isEmpty()) words << QStringLiteral("--db") << quoted(job.database);
  if (job.times) {
    words << QStringLiteral("--times") << quoted(QString::fromStdString(toString(*job.times)));
    if (job.times->time_zone)
      words << QStringLiteral("--time-zone")
            << QString::fromStdString(vision::timeZoneText(*job.times->time_zone)).mid(3);
  }
  if (!job.regions.isEmpty()) words << QStringLiteral("--regions") << quoted(job.regions);
  for (const QString& file : job.states) words << QStringLiteral("--states") << quoted(file);
  const QString line = words.join(QLatin1Char(' '));
  if (!job.has_regions || !job.regions.isEmpty()) return line;
  return line + QLatin1Char('\n') +
         QCoreApplication::translate("commandLine",
                                     "# without its regions: Watch > Regions > Export writes the file for --regions");
}

}  // namespace mpm::gui
