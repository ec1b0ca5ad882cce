// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <optional>
#include <vector>

#include "kernels/patch_embed.h"
#include "kernels/resample.h"
#include "kernels/transformer_block.h"
#include "kernels/view.h"
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

/// The state that the layers of one net share on a device. OpenCV passes host blobs between our layers. On the device,
/// the address of a blob is the key of a value: a plain array, the packed live rows of tokens, or a token state. One
/// thread at a time; nets are independent. Every function but wait() throws mpm::Error when the device fails.
class MPM_API DeviceNet {
 public:
  virtual ~DeviceNet() = default;

  /// The contents of the blob become its value. They are copied when an operator reads them, as what it needs: a plain
  /// array, the live rows of tokens, or a state. The blob keeps them until then.
  virtual void upload(const cv::Mat& blob) = 0;
  /// Copies the value of the blob into it, in the layout of the CPU layers. Done after wait(). A CV_8U blob receives
  /// labels as bytes.
  virtual void download(const cv::Mat& blob) = 0;
  /// Whether the value of the blob, a plain array, has no NaN and no infinity. Waits.
  virtual bool finite(const cv::Mat& blob) = 0;
  virtual void wait() = 0;
  /// Frees all values and scratch memory after an error, so that a smaller batch can fit.
  virtual void release() = 0;

  /// An 8-bit image {H, W} of three channels on the host -> planes {1, 3, H, W}.
  virtual DeviceOpPtr normalise(const PixelValues& values) = 0;
  /// The operators of docs/ops.md. Weights are on the host and must stay valid during the call.
  virtual DeviceOpPtr patchEmbed(const PatchEmbedSpec& spec) = 0;
  virtual DeviceOpPtr transformerBlock(const TransformerBlockSpec& spec, bool key_bias) = 0;
  /// `cosine`, `sine` {tables * patches, pairs}. For kCentroid `cosine` are angles and `sine` is not read.
  virtual DeviceOpPtr rotaryPositions(MergedPositions merged, MatrixView<const float> cosine,
                                      MatrixView<const float> sine) = 0;
  virtual DeviceOpPtr mutualPairMerge(int special) = 0;
  virtual DeviceOpPtr tokenNorm(const NormWeights& norm, int dim, int special) = 0;
  virtual DeviceOpPtr tokenLinear(const LinearWeights& linear, std::optional<Activation> activation,
                                  Precision precision, int special) = 0;
  /// Puts `rows` {L, d} in front of the special rows, or with `replace` in their place (PrependTokens, ClassTokens).
  virtual DeviceOpPtr specialRows(MatrixView<const float> rows, int special, bool replace) = 0;
  virtual DeviceOpPtr maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                                 const NormWeights& norm, int classes, Precision precision) = 0;
  virtual DeviceOpPtr restoreTokens(int special, bool keep_special) = 0;
  /// The mean over the patches, or special row `index` if index >= 0.
  virtual DeviceOpPtr poolTokens(int special, int index) = 0;
  /// At most 256 classes.
  virtual DeviceOpPtr segmentLabels(const AxisResampling& rows, const AxisResampling& columns) = 0;
  virtual DeviceOpPtr mergeReport() = 0;
};

}  // namespace mpm
