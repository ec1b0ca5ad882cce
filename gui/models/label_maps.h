// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>
#include <span>

#include "mpm/options.hpp"

// Operations on maps of labels, CV_8U, that need no network.
namespace mpm::gui {

/// The picture in grey, and in `color` where two label maps of it differ. `image`: CV_8UC3. `one`, `other`: CV_8U,
/// which lie over the picture in any size. Uses no OpenCV function with threads, as paintClasses().
QImage paintDifferences(const cv::Mat& image, const cv::Mat& one, const cv::Mat& other, QRgb color);

/// The labels of the picture `from`, moved as what the camera shows moved from there to the picture `to`. All three
/// have one size; `labels` is CV_8UC1, the pictures CV_8UC3. Pixels that come from outside are `ignore`. Empty: it did
/// not move, it is not sure, or it moved so far that this is another view (monitor::isSmall). Takes about 50 ms.
cv::Mat movedLabels(const cv::Mat& labels, const cv::Mat& from, const cv::Mat& to, int ignore);

/// The part of a map that lies below a patch of a grid over the same picture.
cv::Rect cellOf(int token, Size2 grid, cv::Size map);

/// Renumbers a map: `to[label]` in place of each.
cv::Mat renumbered(const cv::Mat& labels, const std::array<uchar, 256>& to);

/// The label map of a picture while it is drawn: strokes, undo and redo. Points are px of the picture. Uses no OpenCV
/// function with threads, as paintClasses().
class LabelEditor {
 public:
  /// `labels`: CV_8U. `ignore`: the label of what is not labelled.
  LabelEditor(const cv::Mat& labels, int ignore) : labels_(labels.clone()), ignore_(ignore) {
    steps_.setUndoLimit(100);
  }
  ~LabelEditor() { steps_.blockSignals(true); }  // QUndoStack clears itself when it goes, which is no step

  const cv::Mat& labels() const { return labels_; }
  /// The strokes, of which 100 are kept. Emits indexChanged() after each stroke, undo and redo.
  QUndoStack& steps() { return steps_; }

  // A stroke begins, draws, and ends; what it changed can then be undone in one step.
  void begin() { before_ = labels_.clone(); }
  void brush(QPointF from, QPointF to, double diameter, int label);
  void polygon(const QPolygonF& corners, int label);
  /// Tokens of a patch grid that lies over the picture.
  void cells(Size2 grid, std::span<const int> tokens, int label);
  /// The connected region of one label in `map`, which lies over the picture in any size, around `at`: it gets that
  /// label, unless that is `ignore`.
  void region(const cv::Mat& map, QPointF at);
  /// Takes a label away everywhere.
  void erase(int label) { labels_.setTo(ignore_, labels_ == label); }
  /// `labels`, CV_8U and as large as the picture, where nothing is labelled yet.
  void fillGaps(const cv::Mat& labels) { labels.copyTo(labels_, labels_ == ignore_); }
  /// False when no pixel has changed: there is nothing to undo.
  bool end();

 private:
  cv::Mat labels_, before_;  // before_: when the stroke began
  int ignore_;
  QUndoStack steps_;
};

}  // namespace mpm::gui
