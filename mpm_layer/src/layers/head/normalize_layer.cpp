// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// ONNX's GroupNormalization of {B, C, ...}: mean 0 and variance 1 over each group of channels, then a scale and an
/// offset per channel. With as many groups as channels it is InstanceNormalization.
class NormalizeLayer final : public HeadLayer {
 public:
  explicit NormalizeLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params), groups_(attribute<int>(params, "groups")), eps_(attribute<float>(params, "eps")) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape& x = inputs[0];
    expect(x.size() >= 3 && groups_ > 0 && x[1] % groups_ == 0,
           "cannot divide the channels of " + shapeText(x) + " into " + std::to_string(groups_) + " groups");
    for (const Shape& constant : constants) {
      expect(countOf(constant) == static_cast<std::size_t>(x[1]),
             "has a constant " + shapeText(constant) + ", expected one number per channel of " + shapeText(x));
    }
    expect(constants.size() == 2, "has no scale or no offset");
    return {x};
  }

  void takeConstants(const Blobs& constants) override {
    scale_.assign(constants[0].ptr<float>(), constants[0].ptr<float>() + constants[0].total());
    offset_.assign(constants[1].ptr<float>(), constants[1].ptr<float>() + constants[1].total());
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    takeConstants(constants);
    return device.normaliseGroups(groups_, eps_, scale_, offset_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const std::size_t width = countOf(shapeOf(inputs[0]), 2), channels = scale_.size();
    const auto groups = static_cast<std::size_t>(groups_), size = channels / groups * width;
    if (size == 0) return;
    forRows(parallel_, inputs[0].total() / size, size, [&](std::size_t group) {
      const float* const x = inputs[0].ptr<float>() + group * size;
      float* const y = outputs[0].ptr<float>() + group * size;
      double sum = 0, squares = 0;
      for (std::size_t i = 0; i < size; ++i) sum += static_cast<double>(x[i]);
      const double mean = sum / static_cast<double>(size);
      for (std::size_t i = 0; i < size; ++i)
        squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
      const double inverse = 1 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(eps_));
      for (std::size_t c = 0; c < channels / groups; ++c) {
        const std::size_t channel = group % groups * (channels / groups) + c;
        const auto factor = static_cast<float>(inverse * static_cast<double>(scale_[channel]));
        for (std::size_t i = c * width; i < (c + 1) * width; ++i)
          y[i] = (x[i] - static_cast<float>(mean)) * factor + offset_[channel];
      }
    });
  }

 private:
  int groups_;
  float eps_;
  std::vector<float> scale_, offset_;
};

}  // namespace

LayerPtr makeNormalize(cv::dnn::LayerParams& params) { return cv::makePtr<NormalizeLayer>(params); }

}  // namespace mpm
