// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample.h"
#include "layers/head/operands.h"
#include "layers/ops.h"

namespace mpm {
namespace {

/// Elements or slices by indices that the net computes: ONNX's Gather, GatherElements and GatherND. A negative index
/// counts from the end.
class GatherLayer final : public HeadLayer {
 public:
  explicit GatherLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params),
        function_(params.get<cv::String>("function", "")),
        axis_(static_cast<std::size_t>(std::max(params.get<int>("axis", 0), 0))) {
    expect(function_ == "Gather" || function_ == "GatherElements" || function_ == "GatherND",
           "does not know the function '" + function_ + "'");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shapes from = operands(inputs, constants);
    expect(from.size() == 2, "has " + std::to_string(from.size()) + " operands, expected 2");
    const Shape &x = from[0], &indices = from[1];
    bool fits = axis_ < x.size();
    if (function_ == "GatherElements") {
      fits = fits && indices.size() == x.size();
      for (std::size_t i = 0; fits && i < x.size(); ++i) fits = i == axis_ || indices[i] <= x[i];
      expect(fits, misfit(x, indices));
      return {indices};
    }
    Shape shape;
    std::size_t behind = axis_ + 1;  // the axes of x from here on are those of a slice
    if (function_ == "Gather") {
      shape.assign(x.begin(), x.begin() + (std::min(axis_, x.size())));
      shape.insert(shape.end(), indices.begin(), indices.end());
    } else {
      fits = fits && axis_ < indices.size() && std::equal(x.begin(), x.begin() + axis_, indices.begin());
      behind = axis_ + (indices.empty() ? 0 : static_cast<std::size_t>(indices.back()));
      if (!indices.empty()) shape.assign(indices.begin(), indices.end() - 1);
    }
    expect(fits && behind <= x.size(), misfit(x, indices));
    shape.insert(shape.end(), x.begin() + behind, x.end());
    return {shape};
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    return device.gather(function_, axis_, constantOperands(constants));
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Blobs from = operands(inputs);
    const Shape x = shapeOf(from[0]), indices = shapeOf(from[1]);
    const std::vector<std::size_t> strides = stridesOf(x);
    const auto depth = function_ == "GatherND" ? static_cast<std::size_t>(indices.back()) : 1;
    const std::size_t width = function_ == "GatherElements" ? 1 : countOf(x, axis_ + depth);
    // Where each slice of the result begins. Checked here, because an error must not leave a thread of OpenCV's.
    places_.clear();
    const std::size_t count = width > 0 ? outputs[0].total() / width : 0, per_index = from[1].total() / depth;
    std::vector<std::size_t> other = strides;  // of GatherElements: all axes but this one
    if (axis_ < other.size()) other[axis_] = 0;
    const std::size_t batches = countOf(x) / std::max<std::size_t>(countOf(x, axis_), 1);
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t place = 0, first = i;
      if (function_ == "Gather") {
        first = i % per_index;
        place = i / per_index * countOf(x, axis_);
      } else if (function_ == "GatherElements") {
        place = offsetAt(i, indices, other, indices.size());
      } else {
        place = i / (count / batches) * countOf(x, axis_);
      }
      for (std::size_t k = 0; k < depth; ++k) {
        const int side = x[axis_ + k], index = static_cast<int>(from[1].ptr<float>()[first * depth + k]);
        if (index < -side || index >= side) refuseIndex(index, side);
        place += static_cast<std::size_t>(index < 0 ? index + side : index) * strides[axis_ + k];
      }
      places_.push_back(place);
    }
    forRows(parallel_, count, width, [&](std::size_t i) {
      std::copy_n(from[0].ptr<float>() + places_[i], width, outputs[0].ptr<float>() + i * width);
    });
  }

 private:
  std::string misfit(const Shape& x, const Shape& indices) const {
    return "cannot take " + shapeText(indices) + " indices from " + shapeText(x);
  }

  std::string function_;
  std::size_t axis_;  ///< of GatherND: the number of axes of the batch
  std::vector<std::size_t> places_;
};

/// std::copy_n() without a call for a single number.
inline void copySlice(const float* from, std::size_t count, float* to) {
  if (count == 1)
    *to = *from;
  else
    std::copy_n(from, count, to);
}

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

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    takeConstants(constants);
    WindowsSpec spec{axis_, static_cast<int>(taps_), indices_, weights_, {}};
    if (lowest_ < 0) spec.fill = fill_;
    return device.windows(spec);
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape shape = shapeOf(inputs[0]);
    for (const int index : indices_)
      if (index < lowest_ || index >= shape[axis_]) refuseIndex(index, shape[axis_]);
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
        } else if (!sums_ && taps_ == 1) {
          copySlice(from(0), width, y);
        } else if (sums_ && width > 1 && taps_ <= 2) {
          combineRows(from(0), taps_ > 1 ? from(1) - from(0) : 0, weights, static_cast<int>(taps_), y,
                      static_cast<std::ptrdiff_t>(width));
        } else {
          for (std::size_t k = 0; k < width; ++k) y[k] = sums_ ? weights[0] * from(0)[k] : from(0)[k];
          for (std::size_t t = 1; t < taps_; ++t) {
            for (std::size_t k = 0; k < width; ++k)
              y[k] = sums_ ? y[k] + weights[t] * from(t)[k] : std::max(y[k], from(t)[k]);
          }
        }
        if (++place == places) {
          place = 0;
          x += side * width;
        }
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

/// Two WindowLayers that sum along axes 1 and 2 of a map {B, H, W, channels}, and possibly the Transpose behind them to
/// {B, channels, h, w}, in one pass: the map between them stays in the cache.
class ResizeLayer final : public HeadLayer {
 public:
  explicit ResizeLayer(const cv::dnn::LayerParams& params)
      : HeadLayer(params, 4), channels_first_(params.get<int>("channels_first", 0) != 0) {}

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape& x = inputs[0];
    expect(x.size() >= 3 && (x.size() == 4 || !channels_first_), "expects maps, got " + shapeText(x));
    for (std::size_t i = 0; i < 4; ++i) {
      expect(constants[i].size() == 2 && constants[i] == constants[i / 2 * 2] && constants[i][1] > 0,
             "expects indices {outputs, taps} and as many weights of rows and of columns");
    }
    Shape y = x;
    y[1] = constants[0][0];
    y[2] = constants[2][0];
    if (channels_first_) std::rotate(y.begin() + 1, y.begin() + 3, y.end());
    return {y};
  }

  void takeConstants(const Blobs& constants) override {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const cv::Mat &indices = constants[2 * axis], &weights = constants[2 * axis + 1];
      AxisTaps& taps = taps_[axis];
      taps.taps = indices.size[1];
      taps.indices.assign(indices.ptr<float>(), indices.ptr<float>() + indices.total());
      taps.weights.assign(weights.ptr<float>(), weights.ptr<float>() + weights.total());
    }
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const Shape x = shapeOf(inputs[0]);
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const int side = x[axis + 1];
      for (const int index : taps_[axis].indices)
        if (index < 0 || index >= side) refuseIndex(index, side);
      if (resampling_[axis].inputs != side) resampling_[axis] = taps_[axis].of(side);
    }
    const auto channels = static_cast<int>(countOf(x, 3));
    for (int image = 0; image < x[0] && channels > 0; ++image) {
      const MatrixView<const float> map(inputs[0].ptr<float>(image), x[1] * x[2], channels);
      const auto resize = channels_first_ ? resizeLogits : resizePixels;
      resize(map, resampling_[0], resampling_[1], outputs[0].ptr<float>(image), parallel_);
    }
  }

 private:
  bool channels_first_;
  AxisTaps taps_[2];
  AxisResampling resampling_[2];
};

}  // namespace

LayerPtr makeGather(cv::dnn::LayerParams& params) { return cv::makePtr<GatherLayer>(params); }

LayerPtr makeResize(cv::dnn::LayerParams& params) { return cv::makePtr<ResizeLayer>(params); }

LayerPtr makeWindow(cv::dnn::LayerParams& params) { return cv::makePtr<WindowLayer>(params); }

}  // namespace mpm
