// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/history.h"

namespace mpm::gui {

/// The sources of the database on show, and which of them has its history on show: chart, day and night, and events are
/// of this one.
class HistorySources : public QObject {
  Q_OBJECT
 public:
  explicit HistorySources(History* history, QObject* parent = nullptr);

  const std::vector<monitor::SourceRecord>& all() const { return all_; }
  /// The one on show, as it was read last; nullopt: none.
  std::optional<monitor::SourceRecord> current() const;
  std::optional<std::int64_t> id() const { return id_; }
  /// The name of the one on show; empty: none.
  QString name() const;

  /// The database is another one, which begins with its last source.
  void forget() { beginWith({}); }
  /// The database is another one, which begins with the source of this name, or where it has none, with its last one.
  void beginWith(const QString& name);
  /// Puts the source of this name on show, as soon as it is there: until then none is.
  void want(const QString& name);
  /// A person chose it.
  void choose(std::int64_t id);

  /// Sets "now", in seconds, for the source that is watched where its time is not the clock's; nullopt: the clock's.
  void setPresent(const QString& source, std::optional<double> present);
  /// The end of the history, in seconds: "now" for the source that is open in this window and for one that another
  /// program watches; else the time of its last sample.
  double present() const;
  /// It ends with its last sample.
  bool ended() const;

 signals:
  /// all() or current() say something else.
  void listed();
  /// A person chose the one on show. Before changed().
  void chosen();
  /// Another source is on show, or none.
  void changed();

 private:
  void take(const std::vector<monitor::SourceRecord>& sources);

  // The "now" of the source that is watched.
  struct Present {
    QString source{};
    std::optional<double> time{};  // s; nullopt: the clock's
  };

  History* const history_;
  std::vector<monitor::SourceRecord> all_;
  std::optional<std::int64_t> id_;
  QString wanted_;      // a source that may not be there yet
  bool waits_ = false;  // for that source: no other one is on show
  Present present_;
};

}  // namespace mpm::gui
