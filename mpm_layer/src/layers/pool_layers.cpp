// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/linear.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "layers/row_tiles.h"

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
    return mean_ ? device.meanOfPatches(special_) : device.someSpecialRows(special_, index_, count_);
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

/// Attention of one learned query per head to all live rows. A merged row counts as often as it has members. The query
/// is known, so no key is computed: q . (K x) = (K^T q) . x, and the bias of the keys is the same for all rows. Nor is
/// any value: the sum of p (V x + b) is V (the sum of p x) + b.
class AttentionPoolLayer final : public TokenLayer {
 public:
  explicit AttentionPoolLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 3),
        heads_(attribute<int>(params, "heads")),
        scale_(static_cast<double>(attribute<float>(params, "scale"))) {
    expect(heads_ > 0, "has no heads");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape &tokens = tokensWithState(inputs), &weight = constants[1];
    expect(weight.size() == 2 && weight[1] == tokens[2] && weight[0] % (2 * heads_) == 0,
           "its weight is " + shapeText(weight) + ", the tokens " + shapeText(tokens));
    return {{tokens[0], weight[0] / 2}};
  }

  void takeConstants(const Blobs& constants) override {
    logits_of_ = PackedLinear(matrixOf(keysOf(constants)), nullptr);
    const int width = constants[1].size[0] / 2;
    values_ = constants[1].rowRange(width, 2 * width).clone();
    bias_.assign(constants[2].ptr<float>() + width, constants[2].ptr<float>() + 2 * width);
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    const cv::Mat keys = keysOf(constants);
    const int width = constants[1].size[0] / 2;
    return device.attentionPool(matrixOf(keys), matrixOf(constants[1].rowRange(width, 2 * width)),
                                constants[2].ptr<float>() + width, special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const int* const rows = liveRows(inputs[1], special_);
    const auto tokens = tokensOf(inputs[0], rows);
    logits_.resize(static_cast<std::size_t>(tokens.batch) * tokens.capacity * heads_);
    tiles_.run(tokens, TokensView<float>{logits_.data(), tokens.batch, tokens.capacity, heads_, rows}, parallel_,
               [&](MatrixView<const float> from, MatrixView<float> to) { logits_of_.run(from, to); });
    const TokensView<const float> logits{logits_.data(), tokens.batch, tokens.capacity, heads_, rows};
    const int head_dim = values_.rows / heads_;
    parallel_.run(tokens.batch * heads_, [&](int task) {
      const int b = task / heads_, h = task % heads_;
      poolHead(tokens.image(b), stateOf(inputs[1], b), logits.image(b), h, outputs[0].ptr<float>(b) + h * head_dim);
    });
  }

 private:
  /// {heads, dim}: the logit of row x in head h is keys_h . x.
  cv::Mat keysOf(const Blobs& constants) const {
    const int dim = constants[1].size[1], width = constants[1].size[0] / 2, head_dim = width / heads_;
    expect(constants[0].total() == static_cast<std::size_t>(width) &&
               constants[2].total() == static_cast<std::size_t>(2 * width),
           "its query and bias do not fit its weight");
    cv::Mat keys(heads_, dim, CV_32F);
    for (int h = 0; h < heads_; ++h) {
      for (int c = 0; c < dim; ++c) {
        double sum = 0;
        for (int j = h * head_dim; j < (h + 1) * head_dim; ++j)
          sum += static_cast<double>(constants[0].ptr<float>()[j]) * static_cast<double>(constants[1].ptr<float>(j)[c]);
        keys.at<float>(h, c) = static_cast<float>(sum * scale_);
      }
    }
    return keys;
  }

  void poolHead(MatrixView<const float> x, TokenState<const float> state, MatrixView<const float> logits, int h,
                float* out) const {
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (int i = 0; i < x.rows; ++i) largest = std::max(largest, static_cast<double>(logits.row(i)[h]));
    std::vector<double> mean(x.cols, 0.);
    for (int i = 0; i < x.rows; ++i) {
      const double size = i < special_ ? 1 : static_cast<double>(state.clusterSize()[i - special_]);
      const double weight = size * std::exp(static_cast<double>(logits.row(i)[h]) - largest);
      total += weight;
      for (int c = 0; c < x.cols; ++c) mean[c] += weight * static_cast<double>(x.row(i)[c]);
    }
    const int head_dim = values_.rows / heads_;
    for (int j = 0; j < head_dim; ++j) {
      const float* const row = values_.ptr<float>(h * head_dim + j);
      double sum = 0;
      for (int c = 0; c < x.cols; ++c) sum += static_cast<double>(row[c]) * mean[c];
      out[j] = static_cast<float>(sum / total) + bias_[h * head_dim + j];
    }
  }

  int heads_;
  double scale_;
  PackedLinear logits_of_;
  cv::Mat values_;  // {heads * head_dim, dim}
  std::vector<float> bias_, logits_;
  RowTiles tiles_;
};

}  // namespace

LayerPtr makePoolTokens(cv::dnn::LayerParams& params) { return cv::makePtr<PoolTokensLayer>(params); }

LayerPtr makeAttentionPool(cv::dnn::LayerParams& params) { return cv::makePtr<AttentionPoolLayer>(params); }

}  // namespace mpm
