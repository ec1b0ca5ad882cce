// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/merge_positions.h"

namespace mpm {
namespace {

/// Positions that a model adds again between blocks. A merged row receives the mean of its members' positions.
class AddPositionsLayer final : public MpmLayer {
 public:
  explicit AddPositionsLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, 1), special_(intAttribute(params, "special_tokens")) {}

 protected:
  std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                  const std::vector<Shape>& constants) const override {
    expect(inputs.size() >= 2, "expects tokens and their state");
    for (std::size_t i = 2; i < inputs.size(); ++i)
      expect(inputs[i] == inputs[1], "got states " + shapeText(inputs[1]) + " and " + shapeText(inputs[i]));
    const std::vector<Shape> first_two(inputs.begin(), inputs.begin() + 2);
    const Shape& tokens = tokensWithState(first_two, special_);
    expect(constants[0] == Shape{tokens[1], tokens[2]},
           "its positions are " + shapeText(constants[0]) + ", the tokens " + shapeText(tokens));
    return {tokens};
  }

  void takeConstants(const std::vector<cv::Mat>& constants) override { positions_ = constants[0].clone(); }

  void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) override {
    for (std::size_t i = 1; i < inputs.size(); ++i) {
      liveRows(inputs[i], special_);
      expectClustersAreLive(inputs[i]);
    }
    const auto x = tokensOf(inputs[0], liveRows(inputs[1], special_));
    const auto y = tokensOf(outputs[0], x.rows);
    const MatrixView<const float> positions = matrixOf(positions_, x.capacity, x.dim);
    parallel_.run(x.batch, [&](int b) {
      std::vector<TokenState<const float>> states;
      for (std::size_t i = 2; i < inputs.size(); ++i) states.push_back(stateOf(inputs[i], b));
      states.push_back(stateOf(inputs[1], b));
      const std::vector<float> weights = patchWeights(states);
      const auto from = x.image(b);
      const auto to = y.image(b);
      for (int i = 0; i < from.rows; ++i) std::copy_n(from.row(i), x.dim, to.row(i));
      for (int i = 0; i < x.capacity; ++i) {
        const int patch = i - special_;
        const int row = patch < 0 ? i : special_ + static_cast<int>(states.back().clusterOfToken()[patch]);
        const float weight = patch < 0 ? 1.0f : weights[static_cast<std::size_t>(patch)];
        for (int c = 0; c < x.dim; ++c) to.row(row)[c] += weight * positions.row(i)[c];
      }
    });
  }

 private:
  int special_;
  cv::Mat positions_;
};

}  // namespace

cv::Ptr<cv::dnn::Layer> makeAddPositions(cv::dnn::LayerParams& params) {
  return cv::makePtr<AddPositionsLayer>(params);
}

}  // namespace mpm
