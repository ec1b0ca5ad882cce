// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <opencv2/core.hpp>
#include <span>

#include "mpm/options.hpp"

namespace mpm::gui {

/// The label map of a picture while it is drawn: strokes, undo and redo. Points are px of the picture. Uses no OpenCV
/// function with threads, as paintClasses().
class LabelEditor {
 public:
  LabelEditor() = default;
  /// `labels`: CV_8U. `ignore`: the label of what is not labelled.
  LabelEditor(const cv::Mat& labels, int ignore) : labels_(labels.clone()), ignore_(ignore) {}

  const cv::Mat& labels() const { return labels_; }
  bool empty() const { return labels_.empty(); }

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

  bool canUndo() const { return done_ > 0; }
  bool canRedo() const { return done_ < steps_.size(); }
  void undo();
  void redo();

 private:
  static constexpr std::size_t kMaxSteps = 100;
  struct Step {
    cv::Rect where;
    cv::Mat before, after;
  };

  cv::Mat labels_, before_;  // before_: when the stroke began
  int ignore_ = 255;
  std::vector<Step> steps_;
  std::size_t done_ = 0;  // of the steps; those after it are undone
};

}  // namespace mpm::gui
