// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/merge_positions.h"

namespace mpm {
namespace {

/// Learned rows that become special rows, in front of the tokens. The order of keys does not matter to attention, so
/// rows that a model appends behind the patches come in front too.
class SpecialRowsLayer final : public TokenLayer {
 public:
  /// `replaces`: the rows take the place of the special rows that are there; otherwise they join them.
  SpecialRowsLayer(const cv::dnn::LayerParams& params, bool replaces)
      : TokenLayer(params, 1), replaces_(replaces), dropped_(replaces ? special_ : 0) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape& tokens = tokensWithState(inputs);
    expect(constants[0].size() == 2 && constants[0][1] == tokens[2],
           "its rows are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    return {{tokens[0], constants[0][0] + tokens[1] - dropped_, tokens[2]}};
  }

  void takeConstants(const Blobs& constants) override { rows_ = constants[0].clone(); }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.specialRows(matrixOf(constants[0]), special_, replaces_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    for (int b = 0; b < x.batch; ++b) {
      const auto image = x.image(b);
      float* const out = std::copy_n(rows_.ptr<float>(), rows_.total(), outputs[0].ptr<float>(b));
      std::copy_n(image.row(dropped_), static_cast<std::size_t>(image.rows - dropped_) * x.dim, out);
    }
  }

 private:
  bool replaces_;
  int dropped_;  // special rows that go
  cv::Mat rows_;
};

/// Rows of the full grid that a model adds between blocks: positions, or what an adapter or a convolution makes of the
/// restored tokens. A merged row receives the mean of its members' rows.
class AddRowsLayer final : public TokenLayer {
 public:
  /// `constant`: the rows are the same for all images; else they are the last input.
  AddRowsLayer(const cv::dnn::LayerParams& params, bool constant)
      : TokenLayer(params, constant ? 1 : 0), constant_(constant) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const std::size_t states = inputs.size() - (constant_ ? 0 : 1);
    expect(inputs.size() >= (constant_ ? 2u : 3u),
           constant_ ? "expects tokens and their state" : "expects tokens, their state and rows");
    for (std::size_t i = 2; i < states; ++i)
      expect(inputs[i] == inputs[1], "got states " + shapeText(inputs[1]) + " and " + shapeText(inputs[i]));
    const Shapes first_two(inputs.begin(), inputs.begin() + 2);
    const Shape& tokens = tokensWithState(first_two);
    if (constant_) {
      expect(constants[0] == Shape{tokens[1], tokens[2]},
             "its positions are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    } else {
      expect(inputs.back() == tokens || inputs.back() == Shape{tokens[0], tokens[1] - special_, tokens[2]},
             "its rows are " + shapeText(inputs.back()) + ", the tokens " + shapeText(tokens));
    }
    return {tokens};
  }

  void takeConstants(const Blobs& constants) override {
    if (constant_) positions_ = constants[0].clone();
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.addRows(constant_ ? matrixOf(constants[0]) : MatrixView<const float>(), special_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const std::size_t states = inputs.size() - (constant_ ? 0 : 1);
    for (std::size_t i = 1; i < states; ++i) liveRowsOfClusters(inputs[i], special_);
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    const auto y = tokensOf(outputs[0], x.rows);
    const int added = constant_ ? x.capacity : inputs.back().size[1], first = x.capacity - added;
    parallel_.run(x.batch, [&](int b) {
      std::vector<TokenState<const float>> earlier;
      for (std::size_t i = 2; i < states; ++i) earlier.push_back(stateOf(inputs[i], b));
      earlier.push_back(stateOf(inputs[1], b));
      const std::vector<float> weights = patchWeights(earlier);
      const MatrixView<const float> rows(constant_ ? positions_.ptr<float>() : inputs.back().ptr<float>(b), added,
                                         x.dim);
      const auto from = x.image(b);
      const auto to = y.image(b);
      copyRows(from, to);
      for (int i = first; i < x.capacity; ++i) {
        const int patch = i - special_;
        const int row = patch < 0 ? i : special_ + static_cast<int>(earlier.back().clusterOfToken()[patch]);
        const float weight = patch < 0 ? 1.0f : weights[patch];
        for (int c = 0; c < x.dim; ++c) to.row(row)[c] += weight * rows.row(i - first)[c];
      }
    });
  }

 private:
  bool constant_;
  cv::Mat positions_;
};

}  // namespace

// The class embeddings of Segmenter's mask transformer.
LayerPtr makeClassTokens(cv::dnn::LayerParams& params) { return cv::makePtr<SpecialRowsLayer>(params, true); }

// Rows that join between blocks, such as the queries of EoMT.
LayerPtr makePrependTokens(cv::dnn::LayerParams& params) { return cv::makePtr<SpecialRowsLayer>(params, false); }

LayerPtr makeAddPositions(cv::dnn::LayerParams& params) { return cv::makePtr<AddRowsLayer>(params, true); }

LayerPtr makeAddRows(cv::dnn::LayerParams& params) { return cv::makePtr<AddRowsLayer>(params, false); }

}  // namespace mpm
