// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/core.hpp>
#include <vector>

#include "kernels/parallel.h"
#include "kernels/view.h"
#include "mpm/estimator.hpp"
#include "net/image_net.h"

namespace mpm {

/// The result of a head of box queries for an image.
struct BoxQueries {
  MatrixView<const float> boxes;   ///< {queries, 4}: centre x and y, width and height, in shares of the image
  MatrixView<const float> scores;  ///< {queries, classes}: logits of independent classes, no "no object"
  MatrixView<const float> masks;   ///< {queries, grid.height * grid.width}, logits; without rows: the model has none
  Size2 grid;                      ///< px of a mask
};

/// The objects of an image of this size, by the post-processing of RF-DETR: of all pairs of a query and a class the
/// best ones, as many as there are queries, whose sigmoid is more than `min_score`; the best first. `ids` (CV_16U, of
/// the size of the image) gets the pixels of each object: where its mask, resized bilinearly, is above 0, or where its
/// box is when there are no masks. An object covers those with a lower score. With masks, an object of which no pixel
/// is left is dropped.
std::vector<Segment> objectsOf(const BoxQueries& queries, double min_score, const Parallel& parallel, cv::Mat& ids);

/// Objects of images by box queries: the tasks kBoxes, and kInstance of the head kBoxQueries.
class ObjectMaker {
 public:
  /// `net`: of a model with the head kBoxQueries, which this does not own. Throws mpm::Error for `options.labels` of
  /// more than 255 classes.
  ObjectMaker(ImageNet& net, const EstimatorOptions& options, Task task);

  void run(const cv::Mat& image, Estimate& result);

 private:
  ImageNet& net_;
  double min_score_;
  bool labels_, masks_;
};

}  // namespace mpm
