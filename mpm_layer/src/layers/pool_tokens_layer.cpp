// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

class PoolTokensLayer final : public TokenLayer {
 public:
  explicit PoolTokensLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 0),
        mean_(params.get<cv::String>("mode") == "mean"),
        range_(params.get<cv::String>("mode") == "range"),
        index_(params.get<int>("index", 0)),
        count_(range_ ? params.get<int>("count", 0) : 1) {
    const bool rows = range_ || params.get<cv::String>("mode") == "token";
    expect(mean_ || (rows && index_ >= 0 && count_ > 0 && index_ < special_ && count_ <= special_ - index_),
           "mode must be 'mean', or 'token' or 'range' among the " + std::to_string(special_) + " special tokens");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    const Shape& tokens = tokensWithState(inputs);
    return {range_ ? Shape{tokens[0], count_, tokens[2]} : Shape{tokens[0], tokens[2]}};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return range_ ? nullptr : device.poolTokens(special_, mean_ ? -1 : index_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto tokens = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < tokens.batch; ++b) {
      const auto image = tokens.image(b);
      float* const pooled = outputs[0].ptr<float>(b);
      if (mean_) {
        meanOverPatches(image, stateOf(inputs[1], b), pooled);
      } else {
        std::copy_n(image.row(index_), count_ * tokens.dim, pooled);
      }
    }
  }

 private:
  /// Weights the row of a cluster by its number of members, so the mean is that of the restored grid.
  void meanOverPatches(MatrixView<const float> image, TokenState<const float> state, float* mean) {
    sum_.assign(image.cols, 0.);
    for (int i = 0; i < state.live(); ++i) {
      const float* row = image.row(special_ + i);
      const double size = state.clusterSize()[i];
      for (int c = 0; c < image.cols; ++c) sum_[c] += size * row[c];
    }
    for (int c = 0; c < image.cols; ++c) mean[c] = static_cast<float>(sum_[c] / state.patches);
  }

  bool mean_, range_;
  int index_, count_;
  std::vector<double> sum_;
};

}  // namespace

LayerPtr makePoolTokens(cv::dnn::LayerParams& params) { return cv::makePtr<PoolTokensLayer>(params); }

}  // namespace mpm
