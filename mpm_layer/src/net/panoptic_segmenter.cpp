// SPDX-License-Identifier: Apache-2.0
#include "mpm/panoptic_segmenter.hpp"

#include <algorithm>

#include "net/estimator_outputs.h"
#include "net/image_net.h"
#include "net/mask_queries.h"
#include "net/segments.h"

namespace mpm {

std::vector<std::string> queryOutputs(const onnx::GraphProto&, const ModelInfo& info) {
  if (info.head == HeadKind::kMaskQueries) return info.outputs;
  throw Error("its head '" + toString(info.head) + "' gives no segments: they need 'mask_queries'");
}

void PanopticOptions::validate() const {
  if (task && !isSegmentTask(task)) throw Error("the task '" + toString(*task) + "' is not panoptic or instance");
  for (const double share : {min_score, min_overlap})
    if (!(share >= 0 && share <= 1)) throw Error("the limits of segments are shares, 0 to 1");
}

struct PanopticSegmenter::Impl {
  PanopticOptions options;
  ImageNet net;
  Task task;
  std::vector<bool> things;
  cv::Size image_size;  // of the last image; the two below are for it
  AxisResampling rows, columns;
  std::vector<float> scores;  // {pixels of a mask, classes}, for the labels

  Impl(ImageNet read, const PanopticOptions& opts) : options(opts), net(std::move(read)) {
    if (options.labels) net.requireLabelsFit();
    const std::optional<Task> own = net.info().task;
    task = options.task.value_or(isSegmentTask(own) ? *own : Task::kPanoptic);
    things.assign(static_cast<std::size_t>(net.info().classes), true);
    const std::vector<ClassInfo>& classes = net.info().facts.classes;
    std::transform(classes.begin(), classes.end(), things.begin(), [](const ClassInfo& one) { return one.thing; });
  }

  void segment(const cv::Mat& image, PanopticMap& result) {
    net.run(image, result);
    StopWatch watch;
    for (std::size_t i = 0; i < net.answers(); ++i) net.requireFinite(i, net.answerName(i));
    const MaskQueries queries = maskQueries(net);
    if (image_size != image.size()) {
      rows = throughInput(queries.grid.height, net.info().input.height, image.rows);
      columns = throughInput(queries.grid.width, net.info().input.width, image.cols);
      image_size = image.size();
    }
    result.ids.create(image.size(), CV_16U);
    const auto segments = task == Task::kPanoptic ? panopticSegments : instanceSegments;
    result.segments = segments({queries, rows, columns}, options, things, net.parallel(), result.ids);
    if (options.labels) {
      maskQueryScores(queries.masks, queries.classes, net.parallel(), scores);
      result.labels.create(image.size(), CV_8U);
      resizeArgmax<unsigned char>({scores.data(), queries.grid.height * queries.grid.width, net.info().classes}, rows,
                                  columns, {result.labels.data, image.rows, image.cols}, net.parallel());
    }
    result.ms.postprocess += watch.lap();
  }
};

PanopticSegmenter::PanopticSegmenter(const std::string& model, const PanopticOptions& options)
    : PanopticSegmenter(withOurErrors([&] {
                          options.validate();
                          return ImageNet(model, options.read, options.threads, options.inspect, queryOutputs);
                        }),
                        options) {}
PanopticSegmenter::PanopticSegmenter(ImageNet net, const PanopticOptions& options)
    : impl_(withOurErrors([&] { return std::make_unique<Impl>(std::move(net), options); })) {}
PanopticSegmenter::~PanopticSegmenter() = default;
PanopticSegmenter::PanopticSegmenter(PanopticSegmenter&&) noexcept = default;
PanopticSegmenter& PanopticSegmenter::operator=(PanopticSegmenter&&) noexcept = default;

const ModelInfo& PanopticSegmenter::model() const { return impl_->net.info(); }
Task PanopticSegmenter::task() const { return impl_->task; }

PanopticMap PanopticSegmenter::segment(const cv::Mat& image) {
  return impl_->net.timed<PanopticMap>(image, [&](PanopticMap& result) { impl_->segment(image, result); });
}

}  // namespace mpm
