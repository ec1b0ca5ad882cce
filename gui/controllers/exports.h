// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "gui/controllers/history_browser.h"
#include "gui/models/theme.h"
#include "gui/views/export_dialog.h"

namespace mpm::gui {

/// "yard.mp4", from a moment to another -> "yard.mp4-2026-11-21-2026-11-22.csv": a name that any file system takes.
QString exportName(const QString& title, UnixMs from, UnixMs to, const charts::OptionalClock& clock,
                   const QString& suffix);

/// What the chart shows.
struct ShownChart {
  double from = 0, to = 0;          ///< s
  QString source;                   ///< what it calls the source on show
  std::function<QImage()> picture;  ///< for a file; on any thread
};

/// Files that a person asks for, for other programs: the samples of the source on show, or its chart as a picture. What
/// takes long says how far it is, and can be cancelled meanwhile.
class Exports : public QObject {
  Q_OBJECT
 public:
  Exports(std::function<ShownChart()> chart, const HistoryBrowser* history, PictureStore* pictures, QWidget* window);

  /// Asks what and where to.
  void ask();
  /// One goes on.
  bool running() const { return running_ > 0; }
  /// Asks a person whether what goes on may be given up; `then` if so. Once at a time.
  void askToGiveUp(const std::function<void()>& then);
  /// `source`: its id in the database; of a picture of the chart it does not count.
  void write(ExportDialog::Format format, std::int64_t source, UnixMs from, UnixMs to, const QString& path);

  /// Writes samples of a database to a file, which is whole or as it was; makes their number. Of none there is no file.
  static Job::Work exporting(const QString& database, const monitor::ExportOptions& asked, const QString& path);

 signals:
  void said(const QString& text, mpm::gui::Badge badge);
  void failed(const QString& message);

 private:
  const std::function<ShownChart()> chart_;
  const HistoryBrowser* const history_;
  PictureStore* const pictures_;
  QWidget* const window_;
  int running_ = 0;
  QPointer<QMessageBox> question_;
};

}  // namespace mpm::gui
