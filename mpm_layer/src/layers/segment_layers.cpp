// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"
#include "kernels/resample.h"
#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Resizes the scores of the grid to the input's size: labels {B, 1, H, W} with the argmax fused in, or logits
/// {B, C, H, W}.
class SegmentLayer final : public MpmLayer {
 public:
  SegmentLayer(const cv::dnn::LayerParams& params, bool labels)
      : MpmLayer(params, 0),
        labels_(labels),
        grid_h_(attribute<int>(params, "grid_h")),
        grid_w_(attribute<int>(params, "grid_w")),
        height_(attribute<int>(params, "height")),
        width_(attribute<int>(params, "width")) {
    constexpr int kMaxSide = 1 << 15;  // px; the product of two sides fits an int
    for (const int side : {grid_h_, grid_w_, height_, width_})
      expect(side > 0 && side < kMaxSide, "its sizes must lie between 1 and 32767");
    rows_ = bilinearAxis(grid_h_, height_);
    columns_ = bilinearAxis(grid_w_, width_);
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& /*constants*/) const override {
    const Shape& scores = inputs[0];
    expect(scores.size() == 3 && scores[1] == grid_h_ * grid_w_,
           "expects scores {B, " + std::to_string(grid_h_ * grid_w_) + ", C}, got " + shapeText(scores));
    return {{scores[0], labels_ ? 1 : scores[2], height_, width_}};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& /*constants*/, const Blobs& /*inputs*/) override {
    return labels_ ? device.segmentLabels(rows_, columns_) : device.segmentLogits(rows_, columns_);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const cv::Mat& scores = inputs[0];
    for (int b = 0; b < scores.size[0]; ++b) {
      const MatrixView<const float> grid(scores.ptr<float>(b), scores.size[1], scores.size[2]);
      float* const out = outputs[0].ptr<float>(b);
      if (labels_) {
        // The argmax of NaNs would be class 0, which looks valid.
        expect(allFinite(scores.ptr<float>(b), scores.total(1)),
               "its scores hold NaN or infinity: the image or the weights are damaged");
        resizeArgmax(grid, rows_, columns_, MatrixView<float>(out, height_, width_), parallel_);
      } else {
        resizeLogits(grid, rows_, columns_, out, parallel_);
      }
    }
  }

 private:
  bool labels_;
  int grid_h_, grid_w_, height_, width_;
  AxisResampling rows_, columns_;
};

}  // namespace

LayerPtr makeSegmentLabels(cv::dnn::LayerParams& params) { return cv::makePtr<SegmentLayer>(params, true); }

LayerPtr makeSegmentLogits(cv::dnn::LayerParams& params) { return cv::makePtr<SegmentLayer>(params, false); }

}  // namespace mpm
