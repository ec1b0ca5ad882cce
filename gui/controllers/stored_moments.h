// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/history_browser.h"
#include "gui/controllers/live_monitor.h"
#include "gui/models/camera_configs.h"
#include "gui/models/on_show.h"
#include "gui/models/theme.h"

namespace mpm::gui {

/// Puts stored pictures and their numbers on show: the one nearest to a moment of the chart, and the last one of a
/// database that was opened, or of a source that a person chose in the chart.
class StoredMoments : public QObject {
  Q_OBJECT
 public:
  StoredMoments(const LiveMonitor* live, OnShow* on_show, CameraConfigs* configs, HistoryBrowser* history,
                PictureStore* pictures, QObject* parent);

  /// `time`: s.
  void lookFor(double time);
  /// Back to the source that is open, also in the chart.
  void leave();
  /// Our own database, also where another one is on show: what is open goes on, else its last sample comes on show.
  void showOwnDatabase();
  /// What must not be seen of the source whose history is on show.
  monitor::PrivacyOptions hidden() const;

 signals:
  /// What stands in the place of a picture that is not there.
  void placeholderChanged(const QString& text);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  monitor::PrivacyChoice saidOfPrivacy() const;
  ShownSource describe(const QString& source) const;
  void describeAgain();
  void beginWith(const ShownSource& source, const QString& text);
  void askLast();
  void takeDatabase();
  void takeChosenSource();
  void takeNames(const SourceNames& names);
  void takeSample(const StoredSample& sample);
  void loadLastPicture();
  QString bannerOf(const StoredSample& sample) const;
  void show(const StoredSample& sample);

  const LiveMonitor* const live_;
  OnShow* const on_show_;
  CameraConfigs* const configs_;
  HistoryBrowser* const history_;
  PictureStore* const pictures_;
};

}  // namespace mpm::gui
