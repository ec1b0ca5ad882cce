// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Each slice of the result along one axis is a weighted sum, or the largest, of some slices of the operand: what
/// Resize, AveragePool and MaxPool do along an axis. The largest of one slice is what Gather, Slice, Split, Expand,
/// Tile and Pad do. With the attribute `fill`, index -1 is a slice of that value.
class WindowLayer final : public HeadLayer {
 public:
  explicit WindowLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params),
        axis_(static_cast<std::size_t>(std::max(attribute<int>(params, "axis"), 0))),
        lowest_(params.has("fill") ? -1 : 0),
        fill_(params.get<float>("fill", 0)) {
    const std::string function = params.get<cv::String>("function", "");
    sums_ = function == "Sum";
    expect(sums_ || function == "Max", "does not know the function '" + function + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    expect(axis_ < inputs[0].size(), "has no axis " + std::to_string(axis_));
    expect(constants.size() == (sums_ ? 2 : 1) && constants[0].size() == 2 && constants.back() == constants[0] &&
               constants[0][1] > 0 && (lowest_ == 0 || (!sums_ && constants[0][1] == 1)),
           "expects indices {outputs, taps}" + std::string(sums_ ? " and as many weights" : "") +
               ", and one tap where it has a fill");
    Shape shape = inputs[0];
    shape[axis_] = constants[0][0];
    return {shape};
  }

  void takeConstants(const Blobs& constants) override {
    const auto values = [](const cv::Mat& blob) {
      return std::pair(blob.ptr<float>(), blob.ptr<float>() + blob.total());
    };
    const auto [begin, end] = values(constants[0]);
    indices_.assign(begin, end);
    taps_ = static_cast<std::size_t>(constants[0].size[1]);
    if (sums_) weights_.assign(values(constants[1]).first, values(constants[1]).second);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    for (const int index : indices_)
      expect(index >= lowest_ && index < shape[axis_],
             "takes index " + std::to_string(index) + " of " + std::to_string(shape[axis_]));
    const std::size_t width = countOf(shape, axis_ + 1), side = static_cast<std::size_t>(shape[axis_]);
    const std::size_t places = indices_.size() / taps_, rows = width > 0 ? outputs[0].total() / width : 0;
    forRanges(parallel_, rows, width * taps_, [&](std::size_t begin, std::size_t end) {
      const float* x = inputs[0].ptr<float>() + begin / places * side * width;
      float* y = outputs[0].ptr<float>() + begin * width;
      for (std::size_t i = begin, place = begin % places; i < end; ++i, y += width) {
        const auto from = [&](std::size_t t) {
          return x + static_cast<std::size_t>(indices_[place * taps_ + t]) * width;
        };
        const float* const weights = sums_ ? weights_.data() + place * taps_ : nullptr;
        if (lowest_ < 0 && indices_[place * taps_] < 0) {
          std::fill_n(y, width, fill_);
        } else if (sums_ && width > 1 && taps_ <= 2) {
          combineRows(from(0), taps_ > 1 ? from(1) - from(0) : 0, weights, static_cast<int>(taps_), y,
                      static_cast<std::ptrdiff_t>(width));
        } else {
          for (std::size_t k = 0; k < width; ++k) y[k] = sums_ ? weights[0] * from(0)[k] : from(0)[k];
          for (std::size_t t = 1; t < taps_; ++t)
            for (std::size_t k = 0; k < width; ++k)
              y[k] = sums_ ? y[k] + weights[t] * from(t)[k] : std::max(y[k], from(t)[k]);
        }
        if (++place == places) place = 0, x += side * width;
      }
    });
  }

 private:
  std::size_t axis_, taps_ = 1;
  int lowest_;
  float fill_;
  bool sums_ = false;
  std::vector<int> indices_;
  std::vector<float> weights_;
};

}  // namespace

LayerPtr makeWindow(cv::dnn::LayerParams& params) { return cv::makePtr<WindowLayer>(params); }

}  // namespace mpm
