// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/resample.h"
#include "kernels/view.h"
#include "mpm/estimator.hpp"
#include "net/image_net.h"

namespace mpm {

/// The result of a head of mask queries for an image.
struct MaskQueries {
  MatrixView<const float> masks;    ///< {queries, grid.height * grid.width}, logits
  MatrixView<const float> classes;  ///< {queries, classes + 1}, logits; the last is "no object"
  Size2 grid;                       ///< px of a mask
};

/// Reads the result of the last pass of a net with the head kMaskQueries, whose answers are the outputs of the model.
/// Throws mpm::Error when their shapes do not fit.
MaskQueries maskQueries(const ImageNet& net);

/// Class scores of pixels from queries with a mask and a class each (MaskFormer, EoMT): for pixel p and class c the sum
/// over queries of softmax(classes)_c times sigmoid(mask)_p. The softmax is over the classes and "no object", the last.
/// masks {queries, pixels}, classes {queries, count + 1} -> scores {pixels, count}.
void maskQueryScores(MatrixView<const float> masks, MatrixView<const float> classes, const Parallel& parallel,
                     std::vector<float>& scores);

/// The masks of queries at the size of an image.
struct ResizedMasks {
  const MaskQueries& queries;
  const AxisResampling &rows, &columns;  ///< from queries.grid to the image
};

/// Segments and their ids (CV_16U, 0 for none), by the rules of Estimator. `things`: of each class, true if
/// its segments are single objects.
std::vector<Segment> panopticSegments(const ResizedMasks& masks, const EstimatorOptions& options,
                                      const std::vector<bool>& things, const Parallel& parallel, cv::Mat& ids);
std::vector<Segment> instanceSegments(const ResizedMasks& masks, const EstimatorOptions& options,
                                      const std::vector<bool>& things, const Parallel& parallel, cv::Mat& ids);

/// Segments of images by mask queries: the tasks kPanoptic and kInstance.
class SegmentMaker {
 public:
  /// `net`: of a model with the head kMaskQueries, which this does not own. Throws mpm::Error for `options.labels` of
  /// more than 256 classes.
  SegmentMaker(ImageNet& net, const EstimatorOptions& options, Task task);

  void run(const cv::Mat& image, Estimate& result);

 private:
  EstimatorOptions options_;
  ImageNet& net_;
  Task task_;
  std::vector<bool> things_;
  cv::Size image_size_;  // of the last image; the two below are for it
  AxisResampling rows_, columns_;
  std::vector<float> scores_;  // {pixels of a mask, classes}, for the labels
};

}  // namespace mpm
