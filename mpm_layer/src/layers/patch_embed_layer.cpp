// SPDX-License-Identifier: Apache-2.0
#include "kernels/patch_embed.h"

#include <algorithm>

#include "layers/mpm_layer.h"
#include "layers/ops.h"

namespace mpm {
namespace {

class PatchEmbedLayer final : public TokenLayer {
 public:
  explicit PatchEmbedLayer(const cv::dnn::LayerParams& params)
      : TokenLayer(params, 2 + (params.get<int>("norm", 0) != 0 ? 3 : 0) + (params.get<int>("special_tokens") > 0)),
        height_(attribute<int>(params, "height")),
        width_(attribute<int>(params, "width")),
        stride_h_(attribute<int>(params, "stride_h")),
        stride_w_(attribute<int>(params, "stride_w")),
        pad_h_(params.get<int>("pad_h", 0)),
        pad_w_(params.get<int>("pad_w", 0)),
        norm_(params.get<int>("norm", 0) != 0),
        norm_eps_(params.get<float>("norm_eps", 0.f)),
        norm_rms_(params.get<int>("norm_rms", 0) != 0),
        one_image_(params.get<int>("one_image", 0) != 0),
        precision_(parsePrecision(params.get<cv::String>("precision", "fp32"))) {
    expect(pad_h_ >= 0 && pad_w_ >= 0, "has a negative padding");
    expect(special_ >= 0 && stride_h_ > 0 && stride_w_ > 0,
           "has a stride below 1 or a negative number of special tokens");
  }

 protected:
  Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const override {
    const Shape& image = inputs[0];
    expect(image.size() == 4, "expects an image {B, C, H, W}, got " + shapeText(image));
    const Shape& weight = constants[0];
    expect(weight.size() == 4, "expects a weight {d, C, kh, kw}, got " + shapeText(weight));
    expect(image[1] == weight[1] && image[2] == height_ && image[3] == width_,
           "got an image of shape " + shapeText(image) + ", but the model was converted for " +
               shapeText(Shape{image[0], weight[1], height_, width_}) +
               "; resize the image, or convert again with another input size");
    expect(weight[2] > 0 && weight[3] > 0 && weight[2] <= height_ && weight[3] <= width_,
           "has patches of " + shapeText(weight) + ", larger than the image");
    expect(
        !one_image_ || image[0] == 1,
        "got a batch of " + std::to_string(image[0]) +
            " images, but a part of the model does not keep the images of a batch apart; give it one image at a time");
    const PatchGeometry geometry = geometryOf(weight);
    const int patches = geometry.gridHeight() * geometry.gridWidth();
    expect(constants[1] == Shape{patches, weight[0]},
           "expects positions " + shapeText(Shape{patches, weight[0]}) + ", got " + shapeText(constants[1]));
    for (std::size_t i = 0; norm_ && i < 3; ++i) {
      const Shape& vector = constants[constants.size() - 3 + i];
      expect(vector[0] == weight[0] && (vector.size() == 1 || (vector.size() == 2 && vector[1] == 1)),
             "expects " + std::to_string(weight[0]) + " values of bias and norm, got " + shapeText(vector));
    }
    expect(special_ == 0 || constants[2] == Shape{special_, weight[0]},
           "expects special rows " + shapeText(Shape{special_, weight[0]}) + ", got " +
               shapeText(constants[special_ > 0 ? 2 : 1]));
    const Shape tokens{image[0], special_ + patches, weight[0]};
    if (reuse() == nullptr) return {tokens, {image[0], 1 + 2 * patches}};
    expect(image[0] == 1, "reuses rows of earlier frames, so it takes one image at a time");
    return {tokens, {1, 2, 1 + 2 * patches}};
  }

  void takeConstants(const Blobs& constants) override {
    const cv::Mat& weight = constants[0];
    geometry_ = geometryOf({weight.size.p, weight.size.p + weight.dims});
    if (norm_) vectors_.assign(constants.end() - 3, constants.end());
    for (cv::Mat& vector : vectors_) vector = vector.clone();
    weight_ = PackedLinear(matrixOf(weight), norm_ ? vectors_[0].ptr<float>() : nullptr);
    position_ = constants[1].clone();
    if (special_ > 0) special_rows_ = constants[2].clone();
  }

  DeviceOpPtr makeDeviceOp(DeviceNet& device, const Blobs& constants, const Blobs& /*inputs*/) override {
    const cv::Mat& weight = constants[0];
    PatchEmbedSpec spec{.geometry = geometryOf({weight.size.p, weight.size.p + weight.dims}),
                        .pad_h = pad_h_,
                        .pad_w = pad_w_,
                        .weight = matrixOf(weight),
                        .position = matrixOf(constants[1]),
                        .special = special_ > 0 ? matrixOf(constants[2]) : MatrixView<const float>(),
                        .precision = precision_};
    NormWeights norm;
    if (norm_) {
      const auto vector = [&](std::size_t from_end) { return constants[constants.size() - from_end].ptr<float>(); };
      norm = {vector(2), vector(1), norm_eps_, norm_rms_};
      spec.bias = vector(3);
      spec.norm = &norm;
    }
    return device.patchEmbed(spec, reuse());
  }

  void check(const Blobs& inputs) override {
    expect(!left_behind_.is(inputs[0]),
           "the net was given an image of another type than before, and OpenCV goes on with the image before it; give "
           "float32 alone, and read the net again");
  }

  void compute(const Blobs& inputs, Blobs& outputs) override {
    const cv::Mat& image = inputs[0];
    cv::Mat& tokens = outputs[0];
    const int patches = geometry_.gridHeight() * geometry_.gridWidth();
    const int dim = weight_.out();
    NormWeights norm;
    if (norm_) norm = {vectors_[1].ptr<float>(), vectors_[2].ptr<float>(), norm_eps_, norm_rms_};
    const std::vector<int>* const only = reuse() != nullptr ? reuse()->computedOf(patches) : nullptr;
    const int computed = only != nullptr ? static_cast<int>(only->size()) : patches;
    for (int b = 0; b < image.size[0]; ++b) {
      const MatrixView<float> rows(tokens.ptr<float>(b), special_ + computed, dim);
      if (special_ > 0) std::copy_n(special_rows_.ptr<float>(), special_ * dim, rows.data);
      patchEmbed(padded() ? withBorder(image, b) : image.ptr<float>(b), geometry_, weight_, matrixOf(position_),
                 rows.rowRange(special_, special_ + computed), parallel_, norm_ ? &norm : nullptr,
                 only != nullptr ? only->data() : nullptr);
      const TokenState<float> state = stateOf(outputs[1], b);
      resetState(state);
      if (only == nullptr) continue;
      state.computed[0] = static_cast<float>(computed);
      std::copy(only->begin(), only->end(), state.computed + 1);
    }
  }

 private:
  PatchGeometry geometryOf(const Shape& weight) const {
    return {weight[1], height_ + 2 * pad_h_, width_ + 2 * pad_w_, weight[2], weight[3], stride_h_, stride_w_};
  }

  bool padded() const { return pad_h_ > 0 || pad_w_ > 0; }

  /// Image b with zeros around it.
  const float* withBorder(const cv::Mat& image, int b) {
    const int channels = image.size[1], height = height_ + 2 * pad_h_, width = width_ + 2 * pad_w_;
    bordered_.assign(static_cast<std::size_t>(channels) * height * width, 0.0f);
    for (int c = 0; c < channels; ++c) {
      for (int y = 0; y < height_; ++y) {
        std::copy_n(image.ptr<float>(b, c) + static_cast<std::size_t>(y) * width_, width_,
                    bordered_.data() + (static_cast<std::size_t>(c) * height + pad_h_ + y) * width + pad_w_);
      }
    }
    return bordered_.data();
  }

  int height_, width_, stride_h_, stride_w_, pad_h_, pad_w_;
  bool norm_;
  float norm_eps_;
  bool norm_rms_, one_image_;
  Precision precision_;  // on a device; the CPU uses fp32
  PatchGeometry geometry_;
  PackedLinear weight_;
  cv::Mat position_, special_rows_;
  Blobs vectors_;  // of a norm: the bias before it, its weight and bias
  std::vector<float> bordered_;
  opencv::LeftBehind left_behind_;
};

}  // namespace

LayerPtr makePatchEmbed(cv::dnn::LayerParams& params) { return cv::makePtr<PatchEmbedLayer>(params); }

}  // namespace mpm
