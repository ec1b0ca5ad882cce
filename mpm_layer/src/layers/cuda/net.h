// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/device.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/merging.h"
#include "kernels/cuda/transformer_block.h"
#include "layers/device_net.h"

namespace mpm::cuda {

class Net final : public DeviceNet {
 public:
  explicit Net(int device);

  void upload(const cv::Mat& blob) override;
  void download(const cv::Mat& blob) override;
  bool finite(const cv::Mat& blob) override;
  void wait() override { stream.wait(); }
  void release() override;

  std::unique_ptr<DeviceOp> normalise(const PixelValues& values) override;
  std::unique_ptr<DeviceOp> patchEmbed(const PatchGeometry& geometry, MatrixView<const float> weight,
                                       MatrixView<const float> position, MatrixView<const float> special,
                                       Precision precision) override;
  std::unique_ptr<DeviceOp> transformerBlock(const TransformerBlockSpec& spec, int special, bool key_bias) override;
  std::unique_ptr<DeviceOp> mutualPairMerge(int special) override;
  std::unique_ptr<DeviceOp> tokenNorm(const NormWeights& norm, int dim, int special) override;
  std::unique_ptr<DeviceOp> tokenLinear(const LinearWeights& linear, Precision precision, int special) override;
  std::unique_ptr<DeviceOp> classTokens(MatrixView<const float> embeddings, int special) override;
  std::unique_ptr<DeviceOp> maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                                       const NormWeights& norm, int classes, Precision precision) override;
  std::unique_ptr<DeviceOp> restoreTokens(int special, bool keep_special) override;
  std::unique_ptr<DeviceOp> poolTokens(int special, int index) override;
  std::unique_ptr<DeviceOp> segmentLabels(const AxisResampling& rows, const AxisResampling& columns) override;
  std::unique_ptr<DeviceOp> mergeReport() override;

  /// A forward begins. Values that the last one did not write belong to blobs that are gone.
  void beginForward();

  /// The value behind a blob. Throws mpm::Error when there is none of that kind.
  const float* dense(const cv::Mat& blob);
  /// Packed rows of tokens. Throws mpm::Error when they are not as many as `state`, which is another blob, has of every
  /// image: a net made by hand can hand an op the state of another block.
  const float* rows(const cv::Mat& blob, const TokenState& state);
  void expectRowsOf(const cv::Mat& blob, const TokenState& state);
  /// A state, as it is for tokens with `special` rows in front. Not after the next newState() of that blob.
  const TokenState& state(const cv::Mat& blob, int special);
  const TokenState& ownState(const cv::Mat& blob);

  /// A new value behind a blob, to be written.
  float* newDense(const cv::Mat& blob);
  unsigned char* newLabels(const cv::Mat& blob);
  float* newRows(const cv::Mat& blob, const TokenState& state, int dim);
  TokenState& newState(const cv::Mat& blob);
  /// The value behind `to` begins as a copy of that behind `from`, rows or dense, or takes it over.
  float* successor(const cv::Mat& from, const cv::Mat& to, bool take);

  const Stream stream;
  // What the ops use one after the other.
  Gemm gemm;
  BlockWorkspace workspace;
  MutualPairMerge merge;
  Buffer<float> key_bias;
  Buffer<unsigned char> operands;

 private:
  enum class Kind { kNothing, kDense, kLabels, kRows, kState };
  struct Value {
    Kind kind = Kind::kNothing;
    unsigned written = 0;  // in which forward
    std::size_t count = 0;
    Buffer<float> floats;
    Buffer<unsigned char> labels;
    std::vector<int> rows;  // of each image, when they are packed
    TokenState state;
    std::map<int, TokenState> shifted;  // the state with other numbers of special rows in front
    std::set<int> shifted_now;          // those that are of this state
  };
  Value& find(const cv::Mat& blob, Kind kind, const char* what);
  Value& make(const cv::Mat& blob, Kind kind);

  std::unordered_map<const void*, Value> values_;
  unsigned forward_ = 1;
  Buffer<float> state_floats_;
  PinnedBuffer<unsigned char> host_labels_;
  Buffer<int> not_finite_;
};

}  // namespace mpm::cuda
