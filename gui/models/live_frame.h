// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>

#include "gui/models/merge_map.h"
#include "monitor/capture/inference.h"
#include "monitor/store/sample.h"

namespace mpm::gui {

/// The colour of pixels whose class two reductions see differently.
inline constexpr QRgb kDifference = qRgb(255, 140, 0);

/// How the results of one frame with two reductions differ.
struct FrameComparison {
  /// Percent of the pixels with the same label; nullopt: there are no labels.
  std::optional<double> agreement{};
  /// Mean difference of the depths, as a share of their range; nullopt: there are no depths.
  std::optional<double> depth_difference{};
  QImage picture{};  ///< grey, orange where the labels differ; null: there are no labels
};

/// Everything that the window shows of one frame. Made off the UI thread, never changed after.
struct LiveFrame {
  monitor::InferenceResult result;
  std::vector<cv::Mat> scales;  ///< the image, then half, quarter...: what a small view samples from without flicker
  MergeLookup lookup;
  std::vector<QRgb> patch_colors;
  cv::Mat map;             ///< CV_8U: the index in ClassPaint of each pixel; may be empty
  monitor::Sample sample;  ///< what the session measured in it
  std::optional<FrameComparison> comparison;
  /// Frames since the row of each patch was computed, 0: in this one; -1: it is hidden. Empty: without reuse.
  std::vector<int> row_age{};
  cv::Mat overlay{};  ///< of a stored picture: the overlay that was saved with it; may be empty

  const cv::Mat& image() const { return result.frame.image; }
  const cv::Mat& labels() const { return result.estimate.labels; }
  const cv::Mat& ids() const { return result.estimate.ids; }
  /// At a place of the picture, 0..1; nullopt: the model does not estimate depth.
  std::optional<double> depthAt(QPointF at) const;
  /// Null: no segment is there.
  const Segment* segmentAt(QPointF at) const;
  QSize size() const { return {image().cols, image().rows}; }
  bool hasGrid() const { return lookup.steps() > 0; }
  /// The patch at a place of the picture, 0..1. There must be a grid.
  int tokenAt(QPointF at) const;
  /// The label most pixels of a patch have; nullopt when the model does not segment.
  std::optional<int> classOfToken(int token) const;
  /// The probability of that class in the middle of the patch; nullopt: not known, or another class reaches the middle.
  std::optional<double> scoreOfToken(int token) const;
  /// Whether this place of the picture, 0..1, is hidden.
  bool hiddenAt(QPointF at) const;
};

/// Shares of the classes by name, of the regions by name; "": of the whole picture.
using StoredAreas = QHash<QString, QHash<QString, double>>;

using LiveFramePtr = std::shared_ptr<const LiveFrame>;

/// A name for the file of a frame: the time at which it was taken.
QString takenName(const LiveFrame& frame);

/// A picture that is stored, and what was measured in it.
struct StoredSample {
  LiveFramePtr frame{};  ///< null: there is no sample at that time, or its picture is not there any more
  UnixMs time = 0;       ///< when it was taken; 0: there is no sample at that time
  StoredAreas areas{};
  QStringList classes{};  ///< of the model that measured them, by index; empty: not known
  QString text{};         ///< of the last sample: time, states, and gaps before it; while that is read, of what it is
  QString source{};       ///< without credentials
  bool last = false;      ///< asked for by History::askLast()
  int question = 0;       ///< of OnShow::ask(), which it answers; 0: none
};

/// LiveFrame::row_age of a frame, as if nothing were hidden in it, becomes that of the frame that follows it in a
/// source; the first has none before it.
void countAges(std::vector<int>& ages, const Estimate& estimate);

/// Takes some ms: for the thread that made `result`.
LiveFramePtr makeLiveFrame(monitor::InferenceResult result, monitor::Sample sample = {}, std::vector<int> row_age = {});
/// An image without a result: before a model is there.
LiveFramePtr makeLiveFrame(const cv::Mat& image);
LiveFramePtr makeLiveFrame(const monitor::CapturedFrame& captured);

}  // namespace mpm::gui
