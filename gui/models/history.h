// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QStringList>
#include <QThread>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "monitor/store/store.h"

namespace mpm::gui {

/// What the chart, the day/night panel and the event list ask of a database, answered on a thread of its own. Of
/// questions of one kind that come faster than the disk answers, only the last is answered. The file need not exist
/// yet: it is looked for again with every question.
class History : public QObject {
  Q_OBJECT
 public:
  explicit History(QObject* parent = nullptr);
  ~History() override;

  void setDatabase(const QString& path);
  QString database() const { return path_; }

  void askSources();
  void askChart(const monitor::ChartQuery& query);
  void askDayNight(std::int64_t source, monitor::UnixMs from, monitor::UnixMs to);
  void askEvents(std::int64_t source);
  /// The classes that the areas of its samples are of: those of its latest session.
  void askClasses(std::int64_t source);

 signals:
  void sourcesChanged(const std::vector<mpm::monitor::SourceRecord>& sources);
  void chartReady(const mpm::monitor::Chart& chart, const mpm::monitor::ChartQuery& query);
  void dayNightReady(const mpm::monitor::DayNightStatistics& statistics);
  void eventsReady(const std::vector<mpm::monitor::Event>& events);
  void classesReady(const QStringList& names, qint64 source);
  void failed(const QString& message);

 private:
  enum Kind { kSources, kChart, kDayNight, kEvents, kClasses, kKinds };
  // Runs `answer` on the thread with a reader, unless a later question of `kind` makes it pointless.
  template <typename Answer>
  void ask(Kind kind, Answer answer);
  // Signals are emitted on the thread of this object, so that receivers need not know of the other one.
  template <typename Emit>
  void tell(Emit emission) {
    QMetaObject::invokeMethod(this, std::move(emission));
  }

  QString path_;
  QThread thread_;
  QObject* far_;                                  // lives on thread_
  std::unique_ptr<monitor::StoreReader> reader_;  // touched on thread_ only
  QString reader_path_, failure_;                 // likewise
  std::array<std::atomic<int>, kKinds> latest_{};
};

}  // namespace mpm::gui
