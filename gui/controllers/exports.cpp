// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/exports.h"

#include "gui/models/recents.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/look.h"
#include "gui/views/questions.h"

namespace mpm::gui {

QString exportName(const QString& title, UnixMs from, UnixMs to, const charts::OptionalClock& clock,
                   const QString& suffix) {
  QString name = title;
  static const QRegularExpression others(QStringLiteral("[^\\w.]+"), QRegularExpression::UseUnicodePropertiesOption);
  name.replace(others, QStringLiteral("-"));
  const auto day = [of = vision::clockOrMachine(clock)](UnixMs time) {
    return QLatin1Char('-') + QString::fromStdString(of.date(time));
  };
  name = name.left(80) + day(from);  // addresses are long
  if (day(to) != day(from)) name += day(to);
  return name + QLatin1Char('.') + suffix;
}

Exports::Exports(std::function<ShownChart()> chart, const HistoryBrowser* history, PictureStore* pictures,
                 QWidget* window)
    : QObject(window), chart_(std::move(chart)), history_(history), pictures_(pictures), window_(window) {
  connect(pictures_, &PictureStore::saved, this,
          [this](const QString& path) { emit said(tr("The chart was saved to %1").arg(path), Badge::kGood); });
}

void Exports::ask() {
  const ShownChart chart = chart_();
  const auto record = history_->sources()->current();
  if (!record) return emit said(tr("There are no samples to export yet"), Badge::kWarning);
  const QString source = tr("%1, in %2").arg(chart.source, QFileInfo(history_->history()->database()).fileName());
  auto* dialog = new ExportDialog(source, chart.from, chart.to, window_);
  connect(dialog, &QDialog::accepted, this, [this, dialog, record = *record] {
    const auto format = dialog->format();
    const auto [from, to] = dialog->span();
    const QString name = exportName(sourceTitle(QString::fromStdString(record.name)), std::max(from, record.first),
                                    std::min(to, record.last), record.clock, dialog->suffix());
    askWhereToWrite(window_, tr("Export to"), name, {}, dialog->suffix(),
                    [this, format, source = record.id, from = from, to = to](const QString& path) {
                      write(format, source, from, to, path);
                    });
  });
  openDialog(dialog);
}

void Exports::askToGiveUp(const std::function<void()>& then) {
  if (question_) return question_->raise();
  question_ = question(window_, tr("Export"),
                       tr("An export, a measurement, a training or a new rule of night is not done. Give it up, and "
                          "leave what is stored as it was?"),
                       {tr("Give it up"), tr("Go on")}, Answer::kNo, then);
  openDialog(question_);
}

void Exports::write(ExportDialog::Format format, std::int64_t source, UnixMs from, UnixMs to, const QString& path) {
  if (format == ExportDialog::Format::kChartPng) return pictures_->save(chart_().picture, path);
  using monitor::ExportFormat;
  const auto kind = format == ExportDialog::Format::kCsv ? ExportFormat::kCsv : ExportFormat::kJsonLines;
  const monitor::ExportOptions options{.format = kind, .source = source, .from = from, .to = to};
  const int others = running_++;
  auto* job = new Job(exporting(history_->history()->database(), options, path), this);
  showProgress(job, tr("Export"), tr("Exporting to %1…").arg(QFileInfo(path).fileName()), others, window_);
  connect(job, &Job::ended, this, [this] { --running_; });
  connect(job, &Job::finished, this, [this, path](const QVariant& samples) {
    if (samples == 0)
      return emit said(tr("No sample lies in that time: %1 was not written").arg(path), Badge::kWarning);
    emit said(tr("%n sample(s) exported to %1", nullptr, samples.toInt()).arg(path), Badge::kGood);
  });
  connect(job, &Job::cancelled, this,
          [this, path] { emit said(tr("The export was cancelled; %1 is as it was").arg(path), Badge::kNone); });
  connect(job, &Job::failed, this, &Exports::failed);
}

Job::Work Exports::exporting(const QString& database, const monitor::ExportOptions& asked, const QString& path) {
  return [=](const Job::Progress& progress) -> std::optional<QVariant> {
    const Error nothing(tr("There is no database to export from yet").toStdString());
    if (database.isEmpty() || !QFileInfo::exists(database)) throw nothing;
    try {
      const monitor::StoreReader reader(database.toStdString());
      monitor::ExportOptions options = asked;
      if (const auto series = reader.series(options.source); !series.empty()) options.series = series.back().id;
      for (const monitor::SourceRecord& source : reader.sources())
        if (source.id == options.source) options.clock = vision::clockOrMachine(source.clock);
      if (reader.count(options.source, options.from, options.to, options.series) == 0)
        return QVariant::fromValue<qint64>(0);
      const auto samples = monitor::exportSamples(reader, options, path.toStdString(), [&](double share) {
        return progress(static_cast<int>(100 * share), 100);
      });
      return samples ? std::optional(QVariant::fromValue<qint64>(*samples)) : std::nullopt;
    } catch (const monitor::EmptyDatabase&) {  // its writer is about to fill it
      throw nothing;
    }
  };
}

}  // namespace mpm::gui
