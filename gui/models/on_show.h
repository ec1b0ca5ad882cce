// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "gui/models/live_frame.h"

namespace mpm::gui {

/// The window is empty.
struct Nothing {};

/// The source that is watched.
struct Live {
  QString asked;              ///< as a person asked for it
  QString opened;             ///< a demo is opened at a moment of its own
  QString source;             ///< as the database names it, without credentials
  LiveFramePtr frame{};       ///< the last one; null: none came yet
  bool end_reported = false;  ///< how many of its pictures are stored
};

/// A picture of the folder that is watched, which a person chose.
struct ChosenPicture {
  Live of;
  QString file;
};

/// A stored picture, or the numbers of one that is not there.
struct Stored {
  StoredSample sample;
  std::optional<Live> behind;  ///< goes on unseen
};

/// What the window shows: picture, legend, regions, states and title are of this one. Stored pictures are read on other
/// threads: each answer carries the number of its question, and counts only while nothing else came up since.
class OnShow {
 public:
  const std::variant<Nothing, Live, Stored, ChosenPicture>& shown() const { return shown_; }
  /// The source that is watched, also behind a stored picture; null: none.
  Live* live();
  const Live* live() const { return const_cast<OnShow*>(this)->live(); }
  /// The stored picture on show; null: none is.
  const StoredSample* stored() const;
  /// Whether the bar of a folder goes to this frame of the source: not where a person chose another picture.
  bool follows(const LiveFrame& frame) const;
  /// The source of what is on show; empty: nothing is.
  QString source() const;

  /// A source was opened, or with nullopt closed: it takes the place of everything.
  void watch(const std::optional<Live>& live);
  /// A person chose a picture of the folder that is watched. Empty: none any more, as it goes on by itself.
  void choose(const QString& file);

  /// Asks for a stored picture: the number of the question.
  int ask();
  /// The question whose answer counts; nullopt: none does.
  std::optional<int> asked() const { return asked_; }
  /// A database was opened, or a person chose one of its sources: the last sample takes the place of an empty window,
  /// but not once something else was asked for, closed or left.
  void wantLast() { wants_last_ = true; }
  bool wantsLast() const { return wants_last_; }
  void show(const StoredSample& sample);
  /// Back to the source that is watched. Whether something stored was on show.
  bool back();

 private:
  std::variant<Nothing, Live, Stored, ChosenPicture> shown_;
  std::optional<int> asked_;
  int questions_ = 0;
  bool wants_last_ = false;
};

}  // namespace mpm::gui
