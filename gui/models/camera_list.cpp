// SPDX-License-Identifier: Apache-2.0
#include "gui/models/camera_list.h"

#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "page/page.h"

namespace mpm::gui {

constexpr int kPeriodMs = 3000;

// What the page knows of a camera. Used by the thread alone, but for the watch.
struct CameraList::Reader {
  explicit Reader(const monitor::Watch& said) : watch(said) {}
  QStringList read();

  const monitor::Watch watch;
  page::Page page{{.databases = {watch.db}, .snapshots = {watch.snapshots}}};
  std::string picture_id{};
  QImage picture{};
};

// The lines below the name.
QStringList CameraList::Reader::read() {
  if (!QFileInfo::exists(QString::fromStdString(watch.db))) return {tr("□ nothing is stored yet")};
  const Json all = page.json({.path = "/api/cameras"});
  if (!all["problems"].empty()) throw Error(all["problems"][0].get<std::string>());
  if (all["cameras"].empty()) return {tr("□ nothing is stored yet")};
  // The database may also have what the camera was before.
  const std::string source = sourceSpec(QString::fromStdString(watch.source)).name();
  const Json camera = *std::ranges::max_element(all["cameras"], {}, [&](const Json& one) {
    return std::pair(one["name"] == source, one["last_ms"].get<UnixMs>());
  });
  const Json &sample = camera["sample"], &pictures = camera["pictures"];
  const auto last = camera["last_ms"].get<UnixMs>();

  const std::string word = camera["state"];
  const double age = static_cast<double>((unixNow() - last) / kSecondMs);
  QStringList state{word == "online"    ? tr("● online")
                    : word == "stalled" ? tr("▲ without samples")
                    : word == "archive" ? tr("▤ archive")
                                        : tr("■ ended")};
  if (word != "archive" && age >= 0) state << tr("%1 ago").arg(spanText(age));

  QStringList facts;
  if (sample.is_object() && sample["night"].is_boolean()) facts << (sample["night"] ? tr("night") : tr("day"));
  const Json states = sample.is_object() ? sample["states"] : Json::object();
  for (const auto& [head, its] : states.items())
    facts << QString::fromStdString(head + ": ") +
                 (its["counted"].is_string() ? QString::fromStdString(its["counted"]) : tr("not known"));

  const QDate day = QDateTime::fromMSecsSinceEpoch(last).date();
  const bool today = day == QDateTime::fromMSecsSinceEpoch(unixNow()).date();
  QStringList span{today ? tr("Today") : QLocale().toString(day, QLocale::ShortFormat)};
  QStringList numbers;
  for (const char* key : {"tokens", "brightness"}) {
    const std::string midnight = isoTime(day.startOfDay().toMSecsSinceEpoch()), end = isoTime(last + 1, true);
    const Json means = page.json(
        {"/api/series", {{"camera", camera["name"]}, {"quantity", key}, {"from", midnight}, {"to", end}}})["all"];
    if (span.size() == 1) span << tr("%n sample(s)", nullptr, means[2]);
    if (means[2] > 0) numbers << quantityName(*monitor::findQuantity(key)) + QLatin1Char(' ') + number(means[3]);
  }

  for (const char* view : {"overlay", "depth", "frame"}) {
    if (pictures.empty() || !pictures[0].contains(view)) continue;
    if (const std::string id = pictures[0][view]; std::exchange(picture_id, id) != id) {
      const page::Response file = page.answer({"/api/snapshot/" + id, {{"small", ""}}, true});
      picture = QImage::fromData(QByteArray::fromStdString(file.body))
                    .scaled(kPicture, Qt::KeepAspectRatio, Qt::SmoothTransformation);
    }
    break;
  }
  const QString dot = QStringLiteral("  ·  ");
  return {state.join(dot), facts.join(dot), span.join(dot), numbers.join(dot)};
}

CameraList::CameraList(QObject* parent) : QStandardItemModel(parent), thread_(this, {}, QThread::LowPriority) {
  timer_.setSingleShot(true);
  timer_.callOnTimeout(this, &CameraList::read);
}

void CameraList::open(const QString& file) {
  const monitor::WatchFile said = monitor::readWatches(file.toStdString());
  readers_.clear();
  clear();
  for (const monitor::WrittenWatch& one : said.cameras) {
    readers_.push_back(std::make_shared<Reader>(one.watch));
    appendRow(new QStandardItem);
    show(rowCount() - 1, {}, {});
  }
}

const monitor::Watch& CameraList::watch(int row) const { return readers_[static_cast<std::size_t>(row)]->watch; }

// The timer starts once all are read, so that nothing waits in front of a slow disk.
void CameraList::read() {
  timer_.stop();
  thread_.giveUp();
  for (int row = 0; row < rowCount(); ++row)
    thread_.run([this, row, reader = readers_[static_cast<std::size_t>(row)]] {
      QStringList lines;
      try {
        lines = reader->read();
      } catch (const std::exception& error) {
        lines = QStringList{tr("▲ cannot be read"), QString::fromUtf8(error.what())};
      }
      thread_.answer([this, row, reader, lines, picture = reader->picture] {
        if (row >= rowCount() || readers_[static_cast<std::size_t>(row)] != reader) return;  // of another file
        show(row, lines, picture);
        if (row + 1 == rowCount()) timer_.start(kPeriodMs);
      });
    });
}

void CameraList::show(int row, const QStringList& lines, const QImage& picture) {
  const QStringList text = QStringList{name(row)} + lines;
  const QString source = QString::fromStdString(vision::redactCredentials(watch(row).source));
  const int line = QFontMetrics(QGuiApplication::font()).lineSpacing();
  QPixmap shown(kPicture);
  shown.fill(QGuiApplication::palette().color(QPalette::Window));  // where there is no picture, texts still align
  if (!picture.isNull()) shown = QPixmap::fromImage(picture);
  QIcon icon;
  for (const auto mode : {QIcon::Normal, QIcon::Selected}) icon.addPixmap(shown, mode);
  item(row)->setText(text.join(QLatin1Char('\n')));
  item(row)->setIcon(icon);
  item(row)->setSizeHint(kPicture + QSize(3 * line, 6 * line));
  item(row)->setToolTip((text + QStringList{source, QString::fromStdString(watch(row).db)}).join(QLatin1Char('\n')));
  static const QRegularExpression sign(QStringLiteral("[●▲■▤□] "));
  item(row)->setAccessibleText(text.join(QStringLiteral(", ")).remove(sign));
}

}  // namespace mpm::gui
