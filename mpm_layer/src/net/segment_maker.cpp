// SPDX-License-Identifier: Apache-2.0
#include "net/segment_maker.h"

#include <algorithm>

#include "net/mask_queries.h"
#include "net/segments.h"

namespace mpm {

SegmentMaker::SegmentMaker(ImageNet& net, const EstimatorOptions& options, Task task)
    : options_(options), net_(net), task_(task), things_(static_cast<std::size_t>(net.info().classes), true) {
  if (options.labels) net.requireLabelsFit();
  const std::vector<ClassInfo>& classes = net.info().facts.classes;
  std::transform(classes.begin(), classes.end(), things_.begin(), [](const ClassInfo& one) { return one.thing; });
}

void SegmentMaker::run(const cv::Mat& image, Estimate& result) {
  net_.run(image, result);
  StopWatch watch;
  for (std::size_t i = 0; i < net_.answers(); ++i) net_.requireFinite(i, net_.answerName(i));
  const MaskQueries queries = maskQueries(net_);
  if (image_size_ != image.size()) {
    rows_ = throughInput(queries.grid.height, net_.info().input.height, image.rows);
    columns_ = throughInput(queries.grid.width, net_.info().input.width, image.cols);
    image_size_ = image.size();
  }
  result.ids.create(image.size(), CV_16U);
  const auto segments = task_ == Task::kPanoptic ? panopticSegments : instanceSegments;
  result.segments = segments({queries, rows_, columns_}, options_, things_, net_.parallel(), result.ids);
  if (options_.labels) {
    maskQueryScores(queries.masks, queries.classes, net_.parallel(), scores_);
    result.labels.create(image.size(), CV_8U);
    resizeArgmax<unsigned char>({scores_.data(), queries.grid.height * queries.grid.width, net_.info().classes}, rows_,
                                columns_, {result.labels.data, image.rows, image.cols}, net_.parallel());
  }
  result.ms.postprocess += watch.lap();
}

}  // namespace mpm
