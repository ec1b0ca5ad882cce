// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/merge_rule.h"
#include "kernels/convolution.h"
#include "kernels/grid_sample.h"
#include "kernels/patch_embed.h"
#include "kernels/resample.h"
#include "kernels/transformer_block.h"
#include "kernels/view.h"
#include "kernels/window_attention.h"
#include "layers/reuse_session.h"
#include "layers/shape.h"
#include "mpm/export.hpp"
#include "mpm/options.hpp"

namespace mpm {

/// An operator on a device, with its weights there.
class MPM_API DeviceOp {
 public:
  struct Call {
    /// The blobs only name values on the device. Their memory is not used unless an operator says so.
    const std::vector<cv::Mat>& inputs;
    const std::vector<cv::Mat>& outputs;
    bool takes_first;  ///< no other layer reads the first input, so the output may reuse its device memory
  };
  virtual ~DeviceOp() = default;
  virtual void compute(const Call& call) = 0;
};

using DeviceOpPtr = std::unique_ptr<DeviceOp>;

/// Constant operands of an operator of a head, and their places among the operands.
struct ConstantOperands {
  std::vector<int> at;
  std::vector<cv::Mat> values;
};

/// The operator HeadReduce of docs/ops.md.
struct ReduceSpec {
  std::string function;
  std::vector<int> axes;
  bool last = false;  ///< of ArgMax and ArgMin: ties go to the last
};

/// The operator HeadWindow of docs/ops.md.
struct WindowsSpec {
  std::size_t axis = 0;
  int taps = 1;
  std::vector<int> indices;    ///< {places, taps}
  std::vector<float> weights;  ///< as many, or none for the largest
  std::optional<float> fill;   ///< index -1 is a slice of this value
};

/// The axes of an operator HeadEinsum, a letter each.
struct EinsumLetters {
  std::string operand[2], out;
  // Axes of both operands and the result, of the first and the result, of the second and the result, and of neither.
  std::string batch, rows, columns, summed;

  /// Sides of these axes, given those of both operands: the longer one where an operand repeats its 1.
  Shape sides(const std::string& letters, const Shapes& operands) const {
    Shape sides;
    for (const char letter : letters) {
      int side = 1;
      for (std::size_t k = 0; k < 2; ++k) {
        const std::size_t axis = operand[k].find(letter);
        if (axis != std::string::npos && operands[k][axis] != 1) side = operands[k][axis];
      }
      sides.push_back(side);
    }
    return sides;
  }
};

/// The state that the layers of one net share on a device. OpenCV passes host blobs between our layers. On the device,
/// the address of a blob is the key of a value: a plain array, the packed live rows of tokens, or a token state. One
/// thread at a time; nets are independent. Every function but wait() throws mpm::Error when the device fails.
class MPM_API DeviceNet {
 public:
  virtual ~DeviceNet() = default;

  /// Each layer waits until its work is done, so that OpenCV's profile has its time.
  bool measures_layers = false;

  /// The contents of the blob become its value. They are copied when an operator reads them, as what it needs: a plain
  /// array, the live rows of tokens, or a state. The blob keeps them until then.
  virtual void upload(const cv::Mat& blob) = 0;
  /// Copies the value of the blob into it, in the layout of the CPU layers. Done after wait(). A CV_8U blob receives
  /// labels as bytes.
  virtual void download(const cv::Mat& blob) = 0;
  virtual void wait() = 0;
  /// Frees all values and scratch memory after an error, so that a smaller batch can fit.
  virtual void release() = 0;

  /// An 8-bit image {H, W} of three channels on the host -> planes {1, 3, H, W}.
  virtual DeviceOpPtr normalise(const PixelValues& values) = 0;
  /// The operators of docs/ops.md. Weights are on the host and must stay valid during the call.
  /// `reuse` says which patches a frame computes; null: all.
  virtual DeviceOpPtr patchEmbed(const PatchEmbedSpec& spec, const ReuseSession* reuse) = 0;
  /// Keys and values of all rows go to `memory`.
  virtual DeviceOpPtr transformerBlock(const TransformerBlockSpec& spec, bool key_bias, const LayerMemory& memory) = 0;
  virtual DeviceOpPtr windowAttention(const WindowAttentionSpec& spec, int special) = 0;
  /// `cosine`, `sine` {tables * patches, pairs}. For kCentroid `cosine` are angles and `sine` is not read.
  virtual DeviceOpPtr rotaryPositions(MergedPositions merged, MatrixView<const float> cosine,
                                      MatrixView<const float> sine) = 0;
  /// Null for MergeGroups::kRule: a function of the program sees rows on the host.
  virtual DeviceOpPtr mergeTokens(const MergeRule& rule, int special) = 0;
  virtual DeviceOpPtr tokenNorm(const NormWeights& norm, int dim, int special) = 0;
  virtual DeviceOpPtr tokenLinear(const LinearWeights& linear, std::optional<Activation> activation,
                                  Precision precision, int special) = 0;
  /// Puts `rows` {L, d} in front of the special rows, or with `replace` in their place (PrependTokens, ClassTokens).
  virtual DeviceOpPtr specialRows(MatrixView<const float> rows, int special, bool replace) = 0;
  virtual DeviceOpPtr maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                                 const NormWeights& norm, int classes, Precision precision) = 0;
  virtual DeviceOpPtr restoreTokens(int special, bool keep_special) = 0;
  /// The rows that a frame computed, among those in `memory`.
  virtual DeviceOpPtr keepRows(const LayerMemory& memory, int special) = 0;
  /// PoolTokens: the mean over the patches, or `count` special rows from `index` on.
  virtual DeviceOpPtr meanOfPatches(int special) = 0;
  virtual DeviceOpPtr someSpecialRows(int special, int index, int count) = 0;
  /// `keys` {heads, d}: the logit of row x in head h is keys_h . x. `values` {width, d}, `bias` {width}: of the values.
  virtual DeviceOpPtr attentionPool(MatrixView<const float> keys, MatrixView<const float> values, const float* bias,
                                    int special) = 0;
  /// AddPositions and AddRows. `positions` {E + N, d}; without data the rows are the last input.
  virtual DeviceOpPtr addRows(MatrixView<const float> positions, int special) = 0;
  /// Into a CV_8U blob of at most 256 classes, or floats. compute() waits, and throws mpm::Error where a score is NaN
  /// or infinite.
  virtual DeviceOpPtr segmentLabels(const AxisResampling& rows, const AxisResampling& columns) = 0;
  virtual DeviceOpPtr segmentLogits(const AxisResampling& rows, const AxisResampling& columns) = 0;
  virtual DeviceOpPtr mergeReport() = 0;

  // Operators of heads, on plain arrays. Null where the device does not have the function, or not this rank.
  virtual DeviceOpPtr convolve(const ConvolutionSpec& spec) = 0;
  virtual DeviceOpPtr activateElements(Activation activation) = 0;
  virtual DeviceOpPtr mapElements(const std::string& function, const ConstantOperands& constants) = 0;
  virtual DeviceOpPtr windows(const WindowsSpec& spec) = 0;
  virtual DeviceOpPtr normaliseGroups(int groups, float eps, const std::vector<float>& scale,
                                      const std::vector<float>& offset) = 0;
  virtual DeviceOpPtr einsum(const EinsumLetters& letters, const ConstantOperands& constants) = 0;
  virtual DeviceOpPtr reduce(const ReduceSpec& spec) = 0;
  virtual DeviceOpPtr softmax(std::size_t axis) = 0;
  virtual DeviceOpPtr topK(std::size_t axis, int k, bool largest) = 0;
  virtual DeviceOpPtr gridSample(const GridSampling& sampling, const ConstantOperands& constants) = 0;
  /// `function`: Gather, GatherElements or GatherND; `axis`: of GatherND the number of axes of the batch. compute()
  /// waits, and throws mpm::Error for an index outside of its axis.
  virtual DeviceOpPtr gather(const std::string& function, std::size_t axis, const ConstantOperands& constants) = 0;
  virtual DeviceOpPtr reshape() = 0;
  virtual DeviceOpPtr transpose(const std::vector<int>& axes) = 0;
  virtual DeviceOpPtr concatenate(std::size_t axis) = 0;
};

}  // namespace mpm
