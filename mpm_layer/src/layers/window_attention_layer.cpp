// SPDX-License-Identifier: Apache-2.0
#include "kernels/window_attention.h"

#include <algorithm>

#include "layers/block_constants.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

int constantsOfWindows(const cv::dnn::LayerParams& params) {
  return attentionConstants(params) + 1 + params.get<int>("position_bias", 0) + params.get<int>("position_index", 0) +
         2 * params.get<int>("relative_positions", 0);
}

class WindowAttentionLayer final : public TokenLayer {
 public:
  explicit WindowAttentionLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, constantsOfWindows(params)),
        position_bias_(params.get<int>("position_bias", 0) != 0),
        position_index_(params.get<int>("position_index", 0) != 0),
        relative_positions_(params.get<int>("relative_positions", 0) != 0) {
    readAttention(params, spec_);
    spec_.precision = parsePrecision(params.get<cv::String>("precision", "fp32"));
    expect(position_bias_ || !position_index_, "has an index of position biases, but no table");
    expect(!position_bias_ || !relative_positions_, "has position biases and relative positions");
    expect(!relative_positions_ || spec_.scale != 0, "has relative positions and a scale of 0");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    return {tokensWithState(inputs)};
  }

  void takeConstants(const Blobs& constants) override {
    describe(constants);
    attention_ = std::make_unique<WindowAttention>(spec_);
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& inputs) override {
    describe(constants);
    expectDim(inputs[0].size[2], spec_.dim);
    return device.windowAttention(spec_, special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    expectDim(inputs[0].size[2], spec_.dim);
    const int* rows = liveRows(inputs[1], special_);
    for (int b = 0; b < inputs[0].size[0]; ++b) {
      expect(rows[b] == places_,
             "has windows for " + std::to_string(places_) + " tokens, got " + std::to_string(rows[b]));
    }
    attention_->run(tokensOf(inputs[0], rows), tokensOf(outputs[0], rows), parallel_);
  }

 private:
  /// The weights as a spec, borrowed from the constants.
  void describe(const Blobs& constants) {
    BlockConstants read(constants);
    read.attention(spec_);
    windows(read.next());
    if (position_bias_) positionBias(read);
    if (relative_positions_) relativePositions(read);
  }

  void windows(const cv::Mat& constant) {
    expect(constant.dims == 2, "has no rows of each window");
    spec_.windows = {constant.size[0], constant.size[1], constant.ptr<float>()};
    std::vector<bool> found(constant.total());
    for (const float row : cv::Mat_<float>(constant)) {
      if (row == -1) continue;
      const bool within = row >= 0 && row < static_cast<float>(found.size());
      expect(within && !found[static_cast<std::size_t>(row)], "has windows that are not of rows, each once");
      found[static_cast<std::size_t>(row)] = true;
      ++places_;
    }
    const auto gap = std::find(found.begin(), found.end(), false);
    expect(places_ > 0 && gap - found.begin() == places_, "has windows that leave rows out");
  }

  void positionBias(BlockConstants& read) {
    PositionBias& bias = spec_.position_bias;
    const cv::Mat& table = read.next();
    expect(table.dims == 2 && table.size[0] == spec_.heads, "has no position biases per head");
    bias.entries = table.size[1];
    bias.table = table.ptr<float>();
    const auto tokens = static_cast<std::size_t>(spec_.windows.tokens);
    const cv::Mat* const index = position_index_ ? &read.next() : nullptr;
    expect((index ? index->total() : static_cast<std::size_t>(bias.entries)) == tokens * tokens,
           "has position biases that are not of the pairs of " + std::to_string(tokens) + " tokens");
    if (!index) return;
    bias.index = index->ptr<float>();
    const bool within = std::all_of(bias.index, bias.index + tokens * tokens, [&](float entry) {
      return entry >= 0 && entry < static_cast<float>(std::min(bias.entries, PositionBias::kMaxEntries));
    });
    expect(within, "has an index outside its position biases");
  }

  void relativePositions(BlockConstants& read) {
    const auto table = [&](int& side) {
      const cv::Mat& constant = read.next();
      const Shape shape(constant.size.p, constant.size.p + constant.dims);
      expect(shape.size() == 2 && shape[0] % 2 == 1 && shape[1] == spec_.head_dim,
             "has relative positions " + shapeText(shape) + ", expected an odd number of rows of " +
                 std::to_string(spec_.head_dim) + " columns");
      side = (shape[0] + 1) / 2;
      return constant.ptr<float>();
    };
    RelativePositions& positions = spec_.relative_positions;
    positions.rows = table(positions.height);
    positions.columns = table(positions.width);
    const int tokens = positions.height * positions.width;
    expect(tokens == spec_.windows.tokens, "has relative positions for " + std::to_string(tokens) +
                                               " tokens in windows of " + std::to_string(spec_.windows.tokens));
  }

  bool position_bias_, position_index_, relative_positions_;
  int places_ = 0;  ///< rows of an image
  WindowAttentionSpec spec_;
  std::unique_ptr<WindowAttention> attention_;
};

}  // namespace

LayerPtr makeWindowAttention(cv::dnn::LayerParams& params) { return cv::makePtr<WindowAttentionLayer>(params); }

}  // namespace mpm
