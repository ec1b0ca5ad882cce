// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/cuda/convolution.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/group_merging.h"
#include "kernels/cuda/merging.h"
#include "kernels/cuda/transformer_block.h"
#include "layers/device_net.h"

namespace mpm::cuda {

class Net final : public DeviceNet {
 public:
  explicit Net(int device);

  void upload(const cv::Mat& blob) override;
  void download(const cv::Mat& blob) override;
  void wait() override { stream.wait(); }
  void release() override;

  DeviceOpPtr normalise(const PixelValues& values) override;
  DeviceOpPtr patchEmbed(const PatchEmbedSpec& spec, const ReuseSession* reuse) override;
  DeviceOpPtr transformerBlock(const TransformerBlockSpec& spec, bool key_bias, const LayerMemory& memory) override;
  DeviceOpPtr windowAttention(const WindowAttentionSpec& spec, int special) override;
  DeviceOpPtr rotaryPositions(MergedPositions merged, MatrixView<const float> cosine,
                              MatrixView<const float> sine) override;
  DeviceOpPtr mergeTokens(const MergeRule& rule, int special) override;
  DeviceOpPtr tokenNorm(const NormWeights& norm, int dim, int special) override;
  DeviceOpPtr tokenLinear(const LinearWeights& linear, std::optional<Activation> activation, Precision precision,
                          int special) override;
  DeviceOpPtr specialRows(MatrixView<const float> rows, int special, bool replace) override;
  DeviceOpPtr maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                         const NormWeights& norm, int classes, Precision precision) override;
  DeviceOpPtr restoreTokens(int special, bool keep_special) override;
  DeviceOpPtr keepRows(const LayerMemory& memory, int special) override;
  DeviceOpPtr meanOfPatches(int special) override;
  DeviceOpPtr someSpecialRows(int special, int index, int count) override;
  DeviceOpPtr attentionPool(MatrixView<const float> keys, MatrixView<const float> values, const float* bias,
                            int special) override;
  DeviceOpPtr addRows(MatrixView<const float> positions, int special) override;
  DeviceOpPtr segmentLogits(const AxisResampling& rows, const AxisResampling& columns) override;
  DeviceOpPtr segmentLabels(const AxisResampling& rows, const AxisResampling& columns) override;
  DeviceOpPtr mergeReport() override;
  DeviceOpPtr convolve(const ConvolutionSpec& spec) override;
  DeviceOpPtr activateElements(Activation activation) override;
  DeviceOpPtr mapElements(const std::string& function, const ConstantOperands& constants) override;
  DeviceOpPtr windows(const WindowsSpec& spec) override;
  DeviceOpPtr normaliseGroups(int groups, float eps, const std::vector<float>& scale,
                              const std::vector<float>& offset) override;
  DeviceOpPtr einsum(const EinsumLetters& letters, const ConstantOperands& constants) override;
  DeviceOpPtr reduce(const ReduceSpec& spec) override;
  DeviceOpPtr softmax(std::size_t axis) override;
  DeviceOpPtr topK(std::size_t axis, int k, bool largest) override;
  DeviceOpPtr gridSample(const GridSampling& sampling, const ConstantOperands& constants) override;
  DeviceOpPtr gather(const std::string& function, std::size_t axis, const ConstantOperands& constants) override;
  DeviceOpPtr reshape() override;
  DeviceOpPtr transpose(const std::vector<int>& axes) override;
  DeviceOpPtr concatenate(std::size_t axis) override;

  /// Calls mark(found), which enqueues work that may set *found on the device, and waits. Returns whether it stayed 0.
  template <typename Mark>
  bool unmarked(Mark mark) {
    int* const found = mark_.atLeast(stream, 1);
    clear(stream, found, sizeof(int));
    mark(found);
    int answer = 0;
    cuda::download(stream, found, &answer, sizeof(int));
    stream.wait();
    return answer == 0;
  }

  /// Each operator calls it when it runs. `last`: the forward in which it ran last, 0 at first. The first that runs
  /// once more starts the next forward. This frees values that the forward before did not write: their blobs no longer
  /// exist. The others get back the memory that was taken from them, so that each forward has the addresses of the one
  /// before, and graphs can repeat it.
  void begin(const DeviceOp::Call& call, unsigned& last);

  /// The value of a blob. Throws mpm::Error when it has none of that kind.
  const float* dense(const cv::Mat& blob);
  /// Packed rows of tokens. Throws mpm::Error when an image has another number of rows than in `state`, as in a damaged
  /// net that combines tokens with the state of another block.
  const float* rows(const cv::Mat& blob, const TokenState& state);
  /// The value of a blob that is a plain array, or tokens of which every row is live. Throws mpm::Error otherwise.
  const float* allRows(const cv::Mat& blob);
  void expectRowsOf(const cv::Mat& blob, const TokenState& state);
  /// A state for tokens with `special` rows in front of each image, or with as many as it has. Valid until the next
  /// newState() of that blob.
  const TokenState& state(const cv::Mat& blob, std::optional<int> special = {});

  /// A new value of a blob, to be written.
  float* newDense(const cv::Mat& blob);
  unsigned char* newLabels(const cv::Mat& blob);
  float* newRows(const cv::Mat& blob, const TokenState& state, int dim);
  /// `varies`: the image decides how many rows are live.
  TokenState& newState(const cv::Mat& blob, bool varies = false);
  /// What a layer keeps from frame to frame: zeros at first.
  void* kept(const LayerMemory& memory, std::size_t bytes) const;
  /// Gives `to` the value of `from`, rows or dense: a copy, or with `take` the memory itself.
  float* successor(const cv::Mat& from, const cv::Mat& to, bool take);

  const Stream stream;
  // Shared by the operators, which run one after the other.
  Gemm gemm;
  BlockWorkspace workspace;
  ConvolutionWorkspace convolution_workspace;
  MutualPairMerge pair_merge;
  GroupMerge group_merge;
  Buffer<float> key_bias;
  Buffer<unsigned char> operands;

 private:
  enum class Kind { kNothing, kOnHost, kDense, kLabels, kRows, kState };
  struct Value {
    Kind kind = Kind::kNothing;
    unsigned written = 0;  // number of the forward
    std::size_t count = 0;
    Buffer<float> floats;
    Buffer<unsigned char> labels;
    std::vector<int> rows;  // of each image, for kRows
    TokenState state;
    bool varies = false;                // of `state`
    std::map<int, TokenState> shifted;  // the state with other numbers of special rows
    std::set<int> shifted_now;          // entries of `shifted` that are up to date
  };
  template <class Work>
  DeviceOpPtr opOf(Work work);
  Value& find(const cv::Mat& blob, Kind kind, const char* what);
  Value& make(const cv::Mat& blob, Kind kind);
  bool isOnHost(const cv::Mat& blob) const;
  bool varies(const cv::Mat& state) const;
  /// Copies the live rows of tokens {B, capacity, dim} that the host made.
  void placeRows(const cv::Mat& blob, const TokenState& state);

  std::unordered_map<const void*, Value> values_;
  std::vector<std::pair<const void*, const void*>> taken_;  // whose values exchanged memory, in this forward
  unsigned forward_ = 1;
  bool one_image_ = false;  // the batch of this forward
  Buffer<float> state_floats_;
  PinnedBuffer<unsigned char> host_labels_;
  Buffer<int> mark_;
};

}  // namespace mpm::cuda
