// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"
#include "layers/ops.h"
#include "merging/merge_positions.h"

namespace mpm {
namespace {

MergedPositions policyOf(const cv::dnn::LayerParams& params) {
  return parseMergedPositions(params.get<cv::String>("merged", "mean"));
}

class RotaryPositionsLayer final : public MpmLayer {
 public:
  explicit RotaryPositionsLayer(const cv::dnn::LayerParams& params)
      : MpmLayer(params, policyOf(params) == MergedPositions::kCentroid ? 1 : 2), policy_(policyOf(params)) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    expect(inputs.size() == 1 && (inputs[0].size() == 2 || inputs[0].size() == 3), "expects the state of the tokens");
    const int patches = (inputs[0].back() - 1) / 2;
    for (const Shape& table : constants) {
      expect(table.size() == 3 && table == constants[0] && table[1] == patches,
             "expects the cosines and sines of " + std::to_string(patches) + " tokens, got " + shapeText(table));
    }
    return {{inputs[0][0], patches, 2 * constants[0][0] * constants[0][2]}};
  }

  void takeConstants(const Blobs& constants) override {
    cosine_ = constants[0].clone();
    sine_ = constants.back().clone();
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.rotaryPositions(policy_, table(constants[0]), table(constants.back()));
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    liveRowsOfClusters(inputs[0], 0);
    cv::Mat& out = outputs[0];
    parallel_.run(out.size[0], [&](int b) {
      const auto state = stateOf(inputs[0], b);
      const MatrixView<float> rows(out.ptr<float>(b), out.size[1], out.size[2]);
      mergeRotations(policy_, table(cosine_), table(sine_), state, rows);
      for (int i = 0; i < state.computedRows(); ++i)  // only these are read
        if (state.computedRow(i) != i) std::copy_n(rows.row(state.computedRow(i)), rows.cols, rows.row(i));
    });
  }

 private:
  static MatrixView<const float> table(const cv::Mat& values) {
    return {values.ptr<float>(), values.size[0] * values.size[1], values.size[2]};
  }

  MergedPositions policy_;
  cv::Mat cosine_, sine_;  // the same angles twice for kCentroid
};

}  // namespace

LayerPtr makeRotaryPositions(cv::dnn::LayerParams& params) { return cv::makePtr<RotaryPositionsLayer>(params); }

}  // namespace mpm
