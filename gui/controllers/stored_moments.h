// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/controllers/history_browser.h"
#include "gui/models/on_show.h"
#include "gui/models/theme.h"

namespace mpm::gui {

/// What this program says of a source, over what its database has of it.
struct SaidOfSource {
  monitor::PrivacyChoice privacy{};
  charts::OptionalClock clock{};  ///< of a source that the database does not have
  std::vector<vision::Region> regions{};
  QStringList states{};
};

/// Puts stored pictures and their numbers on show: the one nearest to a moment of the chart, and the last one of a
/// database, or of a source that a person chose in the chart.
class StoredMoments : public QObject {
  Q_OBJECT
 public:
  using Said = std::function<SaidOfSource(const QString& source)>;

  /// `own`: the database is that of this program. Of another one, of which its program alone says what its regions and
  /// classes are, `said` has no more than the privacy.
  StoredMoments(OnShow* on_show, HistoryBrowser* history, PictureStore* pictures, Said said, bool own, QObject* parent);

  /// `time`: s.
  void lookFor(double time);
  /// Back to the source that is open, also in the chart.
  void leave();
  /// Back to the source that is open; where none is, the last sample of the database comes on show.
  void showLast();
  /// Something else is said of the source on show.
  void describeAgain();
  /// What must not be seen of the source whose history is on show.
  monitor::PrivacyOptions hidden() const;

 signals:
  /// What stands in the place of a picture that is not there.
  void placeholderChanged(const QString& text);
  void said(const QString& text, mpm::gui::Badge badge);

 private:
  monitor::PrivacyChoice saidOfPrivacy() const;
  ShownSource describe(const QString& source) const;
  void beginWith(const ShownSource& source, const QString& text);
  void askLast();
  void takeChosenSource();
  void takeSample(const StoredSample& sample);
  QString lastPicture() const;
  void loadLastPicture();
  QString bannerOf(const StoredSample& sample) const;
  void show(const StoredSample& sample);

  OnShow* const on_show_;
  HistoryBrowser* const history_;
  PictureStore* const pictures_;
  const Said said_;
  const bool own_;
  QString tried_;  // the picture that loadLastPicture() loaded last
};

}  // namespace mpm::gui
