// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "kernels/convolution.h"
#include "kernels/precision.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Conv and ConvTranspose on maps whose channels are the last axis, with what stands around them.
class ConvolveLayer final : public HeadLayer {
 public:
  explicit ConvolveLayer(const cv::dnn::LayerParams& params) : HeadLayer(params, 2) {
    spec_.transposed = params.get<int>("transposed", 0) != 0;
    const auto pair = [&](const char* key, int(&to)[2], int least, int most) {
      const std::vector<int> values = integersOf(params, key);
      expect(values.size() == 2 && std::min(values[0], values[1]) >= least && std::max(values[0], values[1]) <= most,
             "expects as " + std::string(key) + " two numbers from " + std::to_string(least) + " to " +
                 std::to_string(most));
      std::copy(values.begin(), values.end(), to);
    };
    pair("size", size_, 1, 1 << 16);
    pair("stride", spec_.strides, 1, spec_.transposed ? 1 << 8 : 1 << 14);
    pair("dilation", spec_.dilations, 1, 1 << 14);
    pair("pad", spec_.pads, 0, 1 << 20);
    spec_.groups = attribute<int>(params, "groups");
    spec_.relu_input = params.get<int>("relu_input", 0) != 0;
    if (params.has("activation")) spec_.activation = parseActivation(params.get<cv::String>("activation"));
    spec_.precision = parsePrecision(params.get<cv::String>("precision", "fp32"));
    if (params.get<int>("beside_int8", 0) != 0) spec_.precision = besideBlocks(spec_.precision);
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape &x = inputs[0], &weight = constants[0];
    expect(x.size() == 4 && weight.size() == 4, "expects maps {batch, height, width, channels} and weights of rank 4");
    expect(spec_.groups > 0 && weight[0] % spec_.groups == 0 && x[3] % spec_.groups == 0 &&
               weight[1] == x[3] / spec_.groups && countOf(weight) > 0 && std::max(weight[2], weight[3]) <= 1 << 16 &&
               countOf(constants[1]) == static_cast<std::size_t>(weight[0]),
           "its weight is " + shapeText(weight) + " in " + std::to_string(spec_.groups) + " groups, its bias " +
               shapeText(constants[1]) + ", the maps " + shapeText(x));
    const Shape y{x[0], size_[0], size_[1], weight[0]};
    for (std::size_t i = 1; i < inputs.size(); ++i)
      expect(inputs[i] == y, "adds " + shapeText(inputs[i]) + " to " + shapeText(y));
    return {y};
  }

  void takeConstants(const Blobs& constants) override {
    describe(constants);
    convolution_.emplace(spec_);
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    describe(constants);
    return device.convolve(spec_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto maps = [](auto* data, const cv::Mat& blob) {
      return MapsView<std::remove_pointer_t<decltype(data)>>{data, blob.size[0], blob.size[1], blob.size[2],
                                                             blob.size[3]};
    };
    std::vector<const float*> addends;
    for (std::size_t i = 1; i < inputs.size(); ++i) addends.push_back(inputs[i].ptr<float>());
    convolution_->run(maps(inputs[0].ptr<float>(), inputs[0]), addends, maps(outputs[0].ptr<float>(), outputs[0]),
                      parallel_);
  }

 private:
  /// The weights as a spec, borrowed from the constants.
  void describe(const Blobs& constants) {
    const cv::Mat& weight = constants[0];
    spec_.outputs = weight.size[0];
    spec_.channels = weight.size[1] * spec_.groups;
    spec_.kernel[0] = weight.size[2];
    spec_.kernel[1] = weight.size[3];
    spec_.weight = weight.ptr<float>();
    spec_.bias = constants[1].ptr<float>();
  }

  int size_[2];
  ConvolutionSpec spec_;
  std::optional<Convolution> convolution_;
};

}  // namespace

LayerPtr makeConvolve(cv::dnn::LayerParams& params) { return cv::makePtr<ConvolveLayer>(params); }

}  // namespace mpm
