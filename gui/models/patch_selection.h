// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

namespace mpm::gui {

/// Which patch both pictures and the inspector talk about: the pinned one, else the one under the mouse or under the
/// cursor of the arrow keys, whichever moved last.
class PatchSelection : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  std::optional<int> token() const { return pinned_ ? pinned_ : pointed_; }
  bool pinned() const { return pinned_.has_value(); }
  int step() const { return step_; }  ///< of the merge map on show
  /// Where the mouse is over one of the pictures, 0..1: both draw a mark there.
  std::optional<QPointF> cursor() const { return cursor_; }

  void point(std::optional<int> token, std::optional<QPointF> cursor);
  void togglePin(std::optional<int> token);
  void unpin() { togglePin(std::nullopt); }
  void setStep(int step);
  /// Moves the patch cursor on a grid of `columns` x `rows`.
  void move(int dx, int dy, int columns, int rows);
  /// Forgets tokens that a new grid of `tokens` does not have.
  void limit(int tokens);

 signals:
  void changed();

 private:
  std::optional<int> pointed_, pinned_;
  std::optional<QPointF> cursor_;
  int step_ = 0;
};

}  // namespace mpm::gui
