// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "kernels/transformer_block.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

BlockPart partOf(const cv::dnn::LayerParams& params) {
  const std::string part = params.get<cv::String>("part", "whole");
  if (part == "whole") return BlockPart::kWhole;
  if (part == "attention") return BlockPart::kAttention;
  if (part == "mlp") return BlockPart::kMlp;
  throw Error("part '" + part + "' is unknown; it can be whole, attention or mlp");
}

int constantsOf(const cv::dnn::LayerParams& params) {
  const BlockPart part = partOf(params);
  const int attention = 6 + 4 * params.get<int>("qk_norm", 0) + 2 * params.get<int>("attention_norm", 0) +
                        params.get<int>("position_bias", 0) + params.get<int>("position_index", 0) +
                        params.get<int>("windows", 0) + 2 * params.get<int>("relative_positions", 0),
            mlp = 6 + 2 * params.get<int>("mlp_norm", 0);
  return (part == BlockPart::kMlp ? 0 : attention) + (part == BlockPart::kAttention ? 0 : mlp);
}

class TransformerBlockLayer final : public MpmLayer {
 public:
  explicit TransformerBlockLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, constantsOf(params)),
        special_(intAttribute(params, "special_tokens")),
        key_bias_(intAttribute(params, "key_bias") != 0) {
    spec_.part = partOf(params);
    keys_ = params.get<int>("keys", 0) != 0;
    expect(!keys_ || spec_.part != BlockPart::kMlp, "has no keys: it is the MLP of a block");
    spec_.heads = intAttribute(params, "heads");
    spec_.head_dim = intAttribute(params, "head_dim");
    expect(spec_.heads > 0 && spec_.head_dim > 0, "has no heads, or heads without columns");
    spec_.scale = floatAttribute(params, "scale");
    const auto norm = [&](NormWeights& weights, const std::string& prefix) {
      weights.eps = params.get<float>(prefix + "_eps", 0.f);
      weights.rms = params.get<int>(prefix + "_rms", 0) != 0;
    };
    norm(spec_.norm1, "norm1");
    norm(spec_.norm2, "norm2");
    norm(spec_.q_norm, "qk_norm");
    norm(spec_.k_norm, "qk_norm");
    norm(spec_.attention_norm_weights, "attention_norm");
    norm(spec_.mlp_norm_weights, "mlp_norm");
    for (const char* eps : {"norm1_eps", "norm2_eps"}) floatAttribute(params, eps);
    spec_.attention_norm = params.get<int>("attention_norm", 0) != 0;
    spec_.activation = parseActivation(params.get<cv::String>("activation"));
    spec_.qk_norm = params.get<int>("qk_norm", 0) != 0;
    spec_.gated = params.get<int>("gated", 0) != 0;
    spec_.mlp_norm = params.get<int>("mlp_norm", 0) != 0;
    position_bias_ = params.get<int>("position_bias", 0) != 0;
    position_index_ = params.get<int>("position_index", 0) != 0;
    expect(position_bias_ || !position_index_, "has an index of position biases, but no table");
    windows_ = params.get<int>("windows", 0) != 0;
    relative_positions_ = params.get<int>("relative_positions", 0) != 0;
    expect(!position_bias_ || !relative_positions_, "has position biases and relative positions");
    spec_.special = special_;
    spec_.rotary_tables = params.get<int>("rotary_tables", 0);
    expect(spec_.rotary_tables == 0 || spec_.rotary_tables == 1 || spec_.rotary_tables == spec_.heads,
           "has neither one table of rotary positions nor one per head");
    expect(!windows_ || (!keys_ && !key_bias_ && !position_bias_ && spec_.rotary_tables == 0),
           "has windows, and with them keys, a key bias, position biases or rotary positions");
    spec_.precision = parsePrecision(params.get<cv::String>("precision", "fp32"));
  }

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& /*constants*/) const override {
    const bool rotates = spec_.rotary_tables > 0;
    expect(inputs.size() == (rotates ? 3 : 2), "expects tokens, their state" +
                                                   std::string(rotates ? " and rotary positions" : "") + ", got " +
                                                   std::to_string(inputs.size()) + " inputs");
    const std::vector<Shape> first_two(inputs.begin(), inputs.begin() + 2);
    const Shape& tokens = tokensWithState(first_two, special_);
    if (rotates) {
      const Shape& table = inputs[2];
      const int columns = table.size() == 3 ? table[2] / spec_.rotary_tables : 0;
      expect(table.size() == 3 && table[0] == tokens[0] && table[1] == tokens[1] - special_ && columns > 0 &&
                 columns % 2 == 0 && table[2] % spec_.rotary_tables == 0 && columns <= spec_.head_dim,
             "got rotary positions " + shapeText(table) + " for tokens " + shapeText(tokens));
    }
    if (!keys_) return {tokens};
    return {tokens, {tokens[0], tokens[1], spec_.head_dim}};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override {
    describe(constants);
    block_ = std::make_unique<TransformerBlock>(spec_);
  }

  std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& device, const std::vector<cv::Mat>& constants,
                                         const std::vector<cv::Mat>& inputs) override {
    if (spec_.part != BlockPart::kWhole || keys_ || spec_.rotary_tables > 0 || position_bias_ || windows_ ||
        relative_positions_ || !plain())
      return nullptr;
    describe(constants);
    expectDim(inputs[0]);
    return device.transformerBlock(spec_, special_, key_bias_);
  }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    expectDim(inputs[0]);
    const int* rows = liveRows(inputs[1], special_);
    for (int b = 0; places_ > 0 && b < inputs[0].size[0]; ++b)
      expect(rows[b] == places_,
             "has positions or windows for " + std::to_string(places_) + " tokens, got " + std::to_string(rows[b]));
    block_->run(tokensOf(inputs[0], rows), key_bias_ ? logSizes(inputs[0], inputs[1]) : nullptr,
                tokensOf(outputs[0], rows), parallel_, keys_ ? tokensOf(outputs[1], rows) : TokensView<float>(),
                inputs.size() == 3 ? rotationsOf(inputs[2]) : MatrixView<const float>());
  }

 private:
  /// The weights as a spec, borrowed from the constants.
  void describe(const std::vector<cv::Mat>& constants) {
    std::size_t next = 0;
    const auto vector = [&](int size) {
      const cv::Mat& constant = constants[next++];
      expect(static_cast<int>(constant.total()) == size, "constant " + std::to_string(next - 1) + " has " +
                                                             std::to_string(constant.total()) + " values, expected " +
                                                             std::to_string(size));
      return constant.ptr<float>();
    };
    const auto norm = [&](NormWeights& weights, int size) {
      weights.weight = vector(size);
      weights.bias = vector(size);
    };
    const auto linear = [&](LinearWeights& weights, int out, int in) {
      const cv::Mat& matrix = constants[next];
      const Shape found = shapeOf(matrix), expected = {out, in};
      expect(found == expected,
             "constant " + std::to_string(next) + " is " + shapeText(found) + ", expected " + shapeText(expected));
      weights.weight = MatrixView<const float>(vector(out * in), out, in);
      weights.bias = vector(out);
    };
    const int inner = spec_.heads * spec_.head_dim;
    spec_.dim = static_cast<int>(constants[0].total());
    if (spec_.part != BlockPart::kMlp) {
      norm(spec_.norm1, spec_.dim);
      linear(spec_.qkv, 3 * inner, spec_.dim);
      if (spec_.qk_norm) {
        norm(spec_.q_norm, spec_.head_dim);
        norm(spec_.k_norm, spec_.head_dim);
      }
      if (position_bias_) positionBias(constants, next);
      if (windows_) windows(constants[next++]);
      if (relative_positions_) relativePositions(constants, next);
      if (spec_.attention_norm) norm(spec_.attention_norm_weights, inner);
      linear(spec_.proj, spec_.dim, inner);
    }
    if (spec_.part == BlockPart::kAttention) return;
    norm(spec_.norm2, spec_.dim);
    const int fc1_out = static_cast<int>(constants[next].total()) / spec_.dim;
    linear(spec_.fc1, fc1_out, spec_.dim);
    const int hidden = spec_.gated ? fc1_out / 2 : fc1_out;
    if (spec_.mlp_norm) norm(spec_.mlp_norm_weights, hidden);
    linear(spec_.fc2, spec_.dim, hidden);
  }

  /// The table {heads, entries} at constants[next], and perhaps the index {tokens, tokens} behind it.
  void positionBias(const std::vector<cv::Mat>& constants, std::size_t& next) {
    PositionBias& bias = spec_.position_bias;
    const cv::Mat& table = constants[next++];
    expect(table.dims == 2 && table.size[0] == spec_.heads, "has no position biases per head");
    bias.entries = table.size[1];
    bias.table = table.ptr<float>();
    const std::size_t pairs = position_index_ ? constants[next].total() : static_cast<std::size_t>(bias.entries);
    bias.tokens = static_cast<int>(std::lround(std::sqrt(static_cast<double>(pairs))));
    expect(static_cast<std::size_t>(bias.tokens) * bias.tokens == pairs, "has position biases that are not of pairs");
    places_ = bias.tokens;
    if (!position_index_) return;
    bias.index = constants[next++].ptr<float>();
    const bool within = std::all_of(bias.index, bias.index + pairs, [&](float entry) {
      return entry >= 0 && entry < static_cast<float>(std::min(bias.entries, PositionBias::kMaxEntries));
    });
    expect(within, "has an index outside its position biases");
  }

  /// The rows {count, tokens} of the windows.
  void windows(const cv::Mat& constant) {
    expect(constant.dims == 2, "has windows " + shapeText(shapeOf(constant)) + ", expected rows of each window");
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

  /// The tables {2 height - 1, head_dim} and {2 width - 1, head_dim} from constants[next] on.
  void relativePositions(const std::vector<cv::Mat>& constants, std::size_t& next) {
    const auto table = [&](int& side) {
      const cv::Mat& constant = constants[next++];
      expect(constant.dims == 2 && constant.size[0] % 2 == 1 && constant.size[1] == spec_.head_dim,
             "has relative positions " + shapeText(shapeOf(constant)) + ", expected an odd number of rows of " +
                 std::to_string(spec_.head_dim) + " columns");
      side = (constant.size[0] + 1) / 2;
      return constant.ptr<float>();
    };
    RelativePositions& positions = spec_.relative_positions;
    positions.rows = table(positions.height);
    positions.columns = table(positions.width);
    const int tokens = positions.height * positions.width;
    expect(!windows_ || tokens == spec_.windows.tokens, "has relative positions for " + std::to_string(tokens) +
                                                            " tokens in windows of " +
                                                            std::to_string(spec_.windows.tokens));
    if (!windows_) places_ = tokens;
    expect(spec_.scale != 0, "has relative positions and a scale of 0");
  }

  static Shape shapeOf(const cv::Mat& constant) { return {constant.size.p, constant.size.p + constant.dims}; }

  static MatrixView<const float> rotationsOf(const cv::Mat& blob) {
    return {blob.ptr<float>(), blob.size[0] * blob.size[1], blob.size[2]};
  }

  /// False for norms that only the CPU has.
  bool plain() const {
    return !spec_.attention_norm && !spec_.norm1.rms && !spec_.norm2.rms && !spec_.q_norm.rms &&
           !spec_.mlp_norm_weights.rms;
  }

  void expectDim(const cv::Mat& tokens) const {
    expect(tokens.size[2] == spec_.dim, "got tokens of dim " + std::to_string(tokens.size[2]) +
                                            ", the weights are for " + std::to_string(spec_.dim));
  }

  /// log(cluster size) of every live row, {batch, capacity}; 0 for special rows.
  const float* logSizes(const cv::Mat& tokens, const cv::Mat& state) {
    const int batch = tokens.size[0], capacity = tokens.size[1];
    float* const bias = bias_.atLeast(static_cast<std::size_t>(batch) * capacity);
    for (int b = 0; b < batch; ++b) {
      const auto image = stateOf(state, b);
      float* const row = bias + static_cast<std::ptrdiff_t>(b) * capacity;
      std::fill_n(row, special_, 0.f);
      for (int i = 0; i < image.live(); ++i) row[special_ + i] = std::log(image.clusterSize()[i]);
    }
    return bias;
  }

  int special_;
  bool key_bias_, keys_ = false, position_bias_ = false, position_index_ = false;
  bool windows_ = false, relative_positions_ = false;
  int places_ = 0;  ///< rows of an image, where biases, windows or relative positions fix them
  TransformerBlockSpec spec_;
  std::unique_ptr<TransformerBlock> block_;
  Scratch<float> bias_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeTransformerBlock(cv::dnn::LayerParams& params) {
  return cv::makePtr<TransformerBlockLayer>(params);
}

}  // namespace mpm
