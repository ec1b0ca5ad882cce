// SPDX-License-Identifier: Apache-2.0
// The operators of docs/ops.md on a device, and normalisation.
#include <algorithm>

#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/linear.h"
#include "kernels/cuda/mask_scores.h"
#include "kernels/cuda/normalise.h"
#include "kernels/cuda/patch_embed.h"
#include "kernels/cuda/resample.h"
#include "kernels/cuda/tokens.h"
#include "layers/cuda/net.h"

namespace mpm::cuda {
namespace {

std::size_t size(int count) { return static_cast<std::size_t>(count); }

class Op : public DeviceOp {
 public:
  explicit Op(Net& net) : net_(net) {}

 protected:
  /// Rows of the first input, from its state if it has one.
  int rowsOf(const Call& call, int special) {
    if (call.inputs.size() > 1) {
      const TokenState& state = net_.state(call.inputs[1], special);
      net_.expectRowsOf(call.inputs[0], state);
      return state.rows().total;
    }
    return static_cast<int>(call.inputs[0].total() / size(dimOf(call.inputs[0])));
  }
  static int dimOf(const cv::Mat& blob) { return blob.size[blob.dims - 1]; }
  const Stream& stream() const { return net_.stream; }

  Net& net_;
};

class NormaliseOp final : public Op {
 public:
  NormaliseOp(Net& net, const PixelValues& values) : Op(net), normaliser_(net.stream, values) {}
  void compute(const Call& call) override {
    const cv::Mat& image = call.inputs[0];
    const std::size_t row = size(image.cols) * 3, bytes = size(image.rows) * row;
    unsigned char* const pinned = pinned_.atLeast(stream(), bytes);
    for (int y = 0; y < image.rows; ++y) std::copy_n(image.ptr(y), row, pinned + size(y) * row);
    unsigned char* const pixels = pixels_.atLeast(stream(), bytes);
    upload(stream(), pinned, pixels, bytes);
    normaliser_.run(stream(), pixels, image.rows * image.cols, net_.newDense(call.outputs[0]));
  }

 private:
  Normaliser normaliser_;
  PinnedBuffer<unsigned char> pinned_;
  Buffer<unsigned char> pixels_;
};

class PatchEmbedOp final : public Op {
 public:
  PatchEmbedOp(Net& net, PatchEmbed embed) : Op(net), embed_(std::move(embed)) {}
  void compute(const Call& call) override {
    net_.beginForward();
    const cv::Mat& images = call.inputs[0];
    const int batch = images.size[0];
    TokenState& state = net_.newState(call.outputs[1]);
    state.reset(stream(), batch, embed_.patches(), embed_.special());
    float* const tokens = net_.newRows(call.outputs[0], state, embed_.dim());
    embed_.run(stream(), net_.gemm, net_.dense(images), batch, tokens);
  }

 private:
  PatchEmbed embed_;
};

class TransformerBlockOp final : public Op {
 public:
  TransformerBlockOp(Net& net, const TransformerBlockSpec& spec, int special, bool key_bias)
      : Op(net), block_(net.stream, spec), special_(special), key_bias_(key_bias) {}
  void compute(const Call& call) override {
    const TokenState& state = net_.state(call.inputs[1], special_);
    float* bias = nullptr;
    if (key_bias_) {
      bias = net_.key_bias.atLeast(stream(), size(state.rows().total));
      state.logSizes(stream(), bias);
    }
    net_.expectRowsOf(call.inputs[0], state);
    float* const x = net_.successor(call.inputs[0], call.outputs[0], call.takes_first);
    block_.run(stream(), net_.gemm, net_.workspace, state.rows(), bias, x);
  }

 private:
  TransformerBlock block_;
  int special_;
  bool key_bias_;
};

class MutualPairMergeOp final : public Op {
 public:
  MutualPairMergeOp(Net& net, int special) : Op(net), special_(special) {}
  void compute(const Call& call) override {
    const int dim = dimOf(call.inputs[0]);
    // `before` stays unchanged: MergeReport and heads that read earlier blocks need it.
    const TokenState& before = net_.state(call.inputs[1], special_);
    const float* const tokens = net_.rows(call.inputs[0], before);
    TokenState& after = net_.newState(call.outputs[1]);
    after.assign(stream(), before, special_);
    float* const merged = net_.newRows(call.outputs[0], after, dim);
    net_.merge.run(stream(), tokens, dim, after, merged);
    after.countRows();
    net_.newRows(call.outputs[0], after, dim);  // fewer rows, the same memory
  }

 private:
  int special_;
};

class TokenNormOp final : public Op {
 public:
  TokenNormOp(Net& net, const NormWeights& norm, int dim, int special)
      : Op(net), norm_(net.stream, norm, dim), special_(special) {}
  void compute(const Call& call) override {
    const int rows = rowsOf(call, special_);
    float* const x = net_.successor(call.inputs[0], call.outputs[0], call.takes_first);
    norm_.run(stream(), rows, Number::kFloat, x, Number::kFloat, x);
  }

 private:
  Norm norm_;
  int special_;
};

class TokenLinearOp final : public Op {
 public:
  TokenLinearOp(Net& net, const LinearWeights& linear, Precision precision, int special)
      : Op(net),
        linear_(net.stream, linear.weight, linear.bias, precision),
        operand_(operandOf(precision)),
        special_(special) {}
  void compute(const Call& call) override {
    const int rows = rowsOf(call, special_);
    const bool with_state = call.inputs.size() > 1;
    const float* const x =
        with_state ? net_.rows(call.inputs[0], net_.state(call.inputs[1], special_)) : net_.dense(call.inputs[0]);
    float* const y = with_state ? net_.newRows(call.outputs[0], net_.state(call.inputs[1], special_), linear_.out())
                                : net_.newDense(call.outputs[0]);
    const void* operands = x;
    if (operand_ != Number::kFloat) {
      const std::size_t count = size(rows) * size(linear_.in());
      void* const narrow = net_.operands.atLeast(stream(), count * bytesOf(operand_));
      convert(stream(), x, count, operand_, narrow);
      operands = narrow;
    }
    linear_.run(stream(), net_.gemm, operands, rows, Into::kFloat, y);
  }

 private:
  Linear linear_;
  Number operand_;
  int special_;
};

class ClassTokensOp final : public Op {
 public:
  ClassTokensOp(Net& net, MatrixView<const float> embeddings, int special)
      : Op(net),
        embeddings_(uploaded(net.stream, std::vector<float>(embeddings.data, embeddings.row(embeddings.rows)))),
        classes_(embeddings.rows),
        special_(special) {}
  void compute(const Call& call) override {
    const int dim = dimOf(call.inputs[0]);
    const TokenState& before = net_.state(call.inputs[1], special_);
    const TokenState& after = net_.state(call.inputs[1], classes_);
    float* const y = net_.newRows(call.outputs[0], after, dim);
    replaceSpecialRows(stream(), net_.rows(call.inputs[0], before), dim, before, embeddings_.data(), after, y);
  }

 private:
  Buffer<float> embeddings_;
  int classes_, special_;
};

class MaskScoresOp final : public Op {
 public:
  MaskScoresOp(Net& net, MaskScores scores, int classes) : Op(net), scores_(std::move(scores)), classes_(classes) {}
  void compute(const Call& call) override {
    const TokenState& with_classes = net_.state(call.inputs[1], classes_);
    const TokenState& patches = net_.state(call.inputs[1], 0);
    float* const y = net_.newRows(call.outputs[0], patches, classes_);
    scores_.run(stream(), net_.gemm, net_.rows(call.inputs[0], with_classes), with_classes, patches, y);
  }

 private:
  MaskScores scores_;
  int classes_;
};

class RestoreTokensOp final : public Op {
 public:
  RestoreTokensOp(Net& net, int special, bool keep_special) : Op(net), special_(special), keep_special_(keep_special) {}
  void compute(const Call& call) override {
    const TokenState& state = net_.state(call.inputs[1], special_);
    float* const y = net_.newDense(call.outputs[0]);
    restoreRows(stream(), net_.rows(call.inputs[0], state), dimOf(call.inputs[0]), state, keep_special_, y);
  }

 private:
  int special_;
  bool keep_special_;
};

class PoolTokensOp final : public Op {
 public:
  PoolTokensOp(Net& net, int special, int index) : Op(net), special_(special), index_(index) {}
  void compute(const Call& call) override {
    const int dim = dimOf(call.inputs[0]);
    const TokenState& state = net_.state(call.inputs[1], special_);
    float* const y = net_.newDense(call.outputs[0]);
    const float* const x = net_.rows(call.inputs[0], state);
    if (index_ < 0)
      meanOverPatches(stream(), x, dim, state, y);
    else
      specialRow(stream(), x, dim, state, index_, y);
  }

 private:
  int special_, index_;
};

class SegmentLabelsOp final : public Op {
 public:
  SegmentLabelsOp(Net& net, const AxisResampling& rows, const AxisResampling& columns)
      : Op(net), resize_(net.stream, rows, columns) {}
  void compute(const Call& call) override {
    const cv::Mat& scores = call.inputs[0];
    unsigned char* const labels = net_.newLabels(call.outputs[0]);
    resize_.run(stream(), net_.dense(scores), scores.size[0], dimOf(scores), labels);
  }

 private:
  ResizeArgmax resize_;
};

class MergeReportOp final : public Op {
 public:
  using Op::Op;
  void compute(const Call& call) override {
    const cv::Mat& map_blob = call.outputs[0];
    float* const maps = net_.newDense(map_blob);
    float* const counts = net_.newDense(call.outputs[1]);
    const int states = static_cast<int>(call.inputs.size()), patches = map_blob.size[2];
    for (int k = 0; k < states; ++k) {
      StateFloats to;
      to.live = counts + k;
      to.live_stride = states;
      if (k > 0 || states == 1) {  // the state before the first insertion has no map
        to.map = maps + (k > 0 ? k - 1 : 0) * patches;
        to.map_stride = map_blob.size[1] * patches;
      }
      writeState(stream(), net_.ownState(call.inputs[size(k)]), to);
    }
  }
};

}  // namespace

std::unique_ptr<DeviceOp> Net::normalise(const PixelValues& values) {
  return std::make_unique<NormaliseOp>(*this, values);
}

std::unique_ptr<DeviceOp> Net::patchEmbed(const PatchGeometry& geometry, MatrixView<const float> weight,
                                          MatrixView<const float> position, MatrixView<const float> special,
                                          Precision precision) {
  return std::make_unique<PatchEmbedOp>(
      *this, PatchEmbed(stream, geometry, weight, position, special, floatPrecision(precision)));
}

std::unique_ptr<DeviceOp> Net::transformerBlock(const TransformerBlockSpec& spec, int special, bool use_key_bias) {
  return std::make_unique<TransformerBlockOp>(*this, spec, special, use_key_bias);
}

std::unique_ptr<DeviceOp> Net::mutualPairMerge(int special) {
  return std::make_unique<MutualPairMergeOp>(*this, special);
}

std::unique_ptr<DeviceOp> Net::tokenNorm(const NormWeights& norm, int dim, int special) {
  return std::make_unique<TokenNormOp>(*this, norm, dim, special);
}

std::unique_ptr<DeviceOp> Net::tokenLinear(const LinearWeights& linear, Precision precision, int special) {
  return std::make_unique<TokenLinearOp>(*this, linear, precision, special);
}

std::unique_ptr<DeviceOp> Net::classTokens(MatrixView<const float> embeddings, int special) {
  return std::make_unique<ClassTokensOp>(*this, embeddings, special);
}

std::unique_ptr<DeviceOp> Net::maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                                          const NormWeights& norm, int classes, Precision precision) {
  return std::make_unique<MaskScoresOp>(*this, MaskScores(stream, proj_patch, proj_classes, norm, classes, precision),
                                        classes);
}

std::unique_ptr<DeviceOp> Net::restoreTokens(int special, bool keep_special) {
  return std::make_unique<RestoreTokensOp>(*this, special, keep_special);
}

std::unique_ptr<DeviceOp> Net::poolTokens(int special, int index) {
  return std::make_unique<PoolTokensOp>(*this, special, index);
}

std::unique_ptr<DeviceOp> Net::segmentLabels(const AxisResampling& label_rows, const AxisResampling& label_columns) {
  return std::make_unique<SegmentLabelsOp>(*this, label_rows, label_columns);
}

std::unique_ptr<DeviceOp> Net::mergeReport() { return std::make_unique<MergeReportOp>(*this); }

}  // namespace mpm::cuda
