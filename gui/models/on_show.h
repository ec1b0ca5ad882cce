// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "charts/chart.h"
#include "gui/models/live_frame.h"
#include "vision/regions/region.h"

namespace mpm::gui {

/// A source whose pictures are shown, and what is known of it besides them.
struct ShownSource {
  QString name{};                         ///< as the database has it, without credentials
  charts::OptionalClock clock{};          ///< by which its times are shown; nullopt: that of the machine
  std::vector<vision::Region> regions{};  ///< drawn over its pictures
  QStringList states{};                   ///< names of those that are read of it
  QStringList classes{};                  ///< of the model that measured it, by index; empty: of the one that runs
};

/// The window is empty.
struct Nothing {};

/// The source that is open: a camera, a video, a folder...
struct Live {
  QString asked;   ///< as a person asked for it
  QString opened;  ///< a demo is opened at a moment of its own
  ShownSource source{};
  LiveFramePtr frame{};       ///< the last one; null: none came yet
  bool end_reported = false;  ///< how many of its pictures are stored
};

/// A picture of the folder that is open, which a person chose.
struct ChosenPicture {
  Live of;
  QString file;
};

/// A stored picture, or the numbers of one that is not there.
struct Stored {
  StoredSample sample;
  ShownSource source{};
  std::optional<Live> behind;  ///< goes on unseen
};

/// What the window shows: picture, legend, regions, states and title are of this one, and views follow its signals.
/// Stored pictures are read on other threads: each answer carries the number of its question, and counts only while
/// nothing else came up since.
class OnShow : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  const std::variant<Nothing, Live, Stored, ChosenPicture>& shown() const { return shown_; }
  bool isNothing() const { return std::holds_alternative<Nothing>(shown_); }
  /// The source that is open, also behind a stored picture; null: none.
  const Live* live() const { return const_cast<OnShow*>(this)->open(); }
  /// The last frame of the source that is open; null: none came.
  LiveFramePtr liveFrame() const { return live() ? live()->frame : nullptr; }
  /// The source as it was asked for, and as it was opened; empty: none is open.
  QString asked() const { return live() ? live()->asked : QString(); }
  QString opened() const { return live() ? live()->opened : QString(); }
  /// The stored picture on show; null: none is.
  const StoredSample* stored() const;
  /// The frame on show; null: none.
  LiveFramePtr frame() const { return stored() ? stored()->frame : liveFrame(); }
  /// The source of what is on show; without a name: nothing is.
  const ShownSource& source() const;
  /// The regions whose areas are known of what is on show, each once.
  QStringList measuredRegions() const;
  /// Whether the bar of a folder goes to this frame of the source: not where a person chose another picture.
  bool follows(const LiveFrame& frame) const;

  /// A source was opened, or with nullopt closed: it takes the place of everything.
  void setLive(const std::optional<Live>& live);
  /// A frame of the source that is open, which is on show unless a stored picture is. Without such a source it is
  /// dropped.
  void takeFrame(const LiveFramePtr& frame);
  /// Once for each source that is opened: the first time true.
  bool reportEnd() { return open() && !std::exchange(open()->end_reported, true); }
  /// A person chose a picture of the folder that is open. Empty: none any more, as it goes on by itself.
  void choose(const QString& file);

  /// Asks for a stored picture: the number of the question.
  int ask();
  /// The question whose answer counts; nullopt: none does.
  std::optional<int> question() const { return question_; }
  /// A database was opened, or a person chose one of its sources: the last sample takes the place of an empty window,
  /// but not once something else was asked for, closed or left.
  void wantLast() { wants_last_ = true; }
  bool wantsLast() const { return wants_last_; }
  void show(const StoredSample& sample, const ShownSource& source);
  /// Back to the source that is open. Whether something stored was on show.
  bool back();

  /// Other regions and states are known of this source, which may be on show, open behind a stored picture, or neither.
  void describe(const ShownSource& source);
  /// What stands across the picture: why it is not live. Empty: it is.
  void setBanner(const QString& text) { emit bannerChanged(text); }

 signals:
  /// Another source, or none, is on show, or another kind of picture of it. Before the other signals.
  void changed();
  /// Null: there is none.
  void frameChanged(const mpm::gui::LiveFramePtr& frame);
  /// The regions or the states of the source on show, or which of them are measured.
  void sourceDescribed();
  /// The source that is open has given a frame; a new one has given none yet.
  void liveChanged(bool has_frame);
  void bannerChanged(const QString& text);

 private:
  Live* open();
  void announce();

  std::variant<Nothing, Live, Stored, ChosenPicture> shown_;
  std::optional<int> question_;
  int questions_ = 0;
  bool wants_last_ = false;
};

}  // namespace mpm::gui
