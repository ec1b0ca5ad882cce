// SPDX-License-Identifier: Apache-2.0
#include "mpm/depth_estimator.hpp"

#include <opencv2/imgproc.hpp>

#include "net/estimator_outputs.h"
#include "net/image_net.h"

namespace mpm {

std::vector<std::string> depthOutputs(const onnx::GraphProto&, const ModelInfo& info) {
  if (info.task == Task::kDepth) return info.outputs;
  throw Error("does not estimate depth (its task is '" + (info.task ? toString(*info.task) : "none") + "', its head '" +
              toString(info.head) + "')");
}

struct DepthEstimator::Impl {
  ImageNet net;

  explicit Impl(ImageNet read) : net(std::move(read)) {}

  void estimate(const cv::Mat& image, DepthMap& result) {
    net.run(image, result);
    StopWatch watch;
    const cv::Mat& map = net.answer(0);
    const int height = map.dims >= 3 ? map.size[map.dims - 2] : 0, width = map.dims >= 3 ? map.size[map.dims - 1] : 0;
    net.requireSize(0, static_cast<std::size_t>(height) * static_cast<std::size_t>(width));
    net.requireFinite(0, "depths");
    const cv::Mat depth(height, width, CV_32F, const_cast<float*>(map.ptr<float>()));
    cv::resize(depth, result.depth, image.size(), 0, 0, cv::INTER_LINEAR);
    result.ms.postprocess += watch.lap();
  }
};

DepthEstimator::DepthEstimator(const std::string& model, const DepthOptions& options)
    : DepthEstimator(withOurErrors(
          [&] { return ImageNet(model, options.read, options.threads, options.inspect, depthOutputs); })) {}
DepthEstimator::DepthEstimator(ImageNet net)
    : impl_(withOurErrors([&] { return std::make_unique<Impl>(std::move(net)); })) {}
DepthEstimator::~DepthEstimator() = default;
DepthEstimator::DepthEstimator(DepthEstimator&&) noexcept = default;
DepthEstimator& DepthEstimator::operator=(DepthEstimator&&) noexcept = default;

const ModelInfo& DepthEstimator::model() const { return impl_->net.info(); }

DepthMap DepthEstimator::estimate(const cv::Mat& image) {
  return impl_->net.timed<DepthMap>(image, [&](DepthMap& result) { impl_->estimate(image, result); });
}

}  // namespace mpm
