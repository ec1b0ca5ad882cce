// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <opencv2/core.hpp>
#include <vector>

#include "kernels/patch_embed.h"
#include "kernels/pixel_values.h"
#include "kernels/resample.h"
#include "kernels/transformer_block.h"
#include "kernels/view.h"
#include "mpm/export.hpp"

namespace mpm {

/// An op on a device, with its weights there.
class MPM_API DeviceOp {
 public:
  struct Call {
    /// Names for what stands behind them on the device: their memory is neither read nor written, but where an op says
    /// that it is.
    const std::vector<cv::Mat>& inputs;
    const std::vector<cv::Mat>& outputs;
    bool takes_first;  ///< nobody else reads the first input: its memory may become the output's
  };
  virtual ~DeviceOp() = default;
  virtual void compute(const Call& call) = 0;
};

/// What the layers of one net share on a device. To OpenCV our layers run on the CPU and hand host blobs to each other;
/// between two of them a blob is only the name, by its address, of a value on the device. Values that a blob can stand
/// for: what is in it, or the live rows of its tokens, packed, or a state. One thread at a time; two nets know nothing
/// of each other. Everything but wait() throws mpm::Error when the device refuses.
class MPM_API DeviceNet {
 public:
  virtual ~DeviceNet() = default;

  /// The blob as it is becomes the value behind it.
  virtual void upload(const cv::Mat& blob) = 0;
  /// The value behind the blob comes into it, in the layout of the CPU's layers; there after wait(). Labels come as
  /// bytes into a CV_8U blob.
  virtual void download(const cv::Mat& blob) = 0;
  /// Whether the value behind the blob, which is not tokens, holds neither NaN nor infinity. Waits.
  virtual bool finite(const cv::Mat& blob) = 0;
  virtual void wait() = 0;
  /// Forgets all values and scratch, after an error: what did not fit must not be in the way of a smaller batch.
  virtual void release() = 0;

  /// An 8-bit image {H, W} of three channels on the host -> its planes {1, 3, H, W}.
  virtual std::unique_ptr<DeviceOp> normalise(const PixelValues& values) = 0;
  /// The ops of docs/ops.md. Weights are on the host and borrowed for the call.
  virtual std::unique_ptr<DeviceOp> patchEmbed(const PatchGeometry& geometry, MatrixView<const float> weight,
                                               MatrixView<const float> position, MatrixView<const float> special,
                                               Precision precision) = 0;
  virtual std::unique_ptr<DeviceOp> transformerBlock(const TransformerBlockSpec& spec, int special, bool key_bias) = 0;
  virtual std::unique_ptr<DeviceOp> mutualPairMerge(int special) = 0;
  virtual std::unique_ptr<DeviceOp> tokenNorm(const NormWeights& norm, int dim, int special) = 0;
  virtual std::unique_ptr<DeviceOp> tokenLinear(const LinearWeights& linear, Precision precision, int special) = 0;
  virtual std::unique_ptr<DeviceOp> classTokens(MatrixView<const float> embeddings, int special) = 0;
  virtual std::unique_ptr<DeviceOp> maskScores(MatrixView<const float> proj_patch, MatrixView<const float> proj_classes,
                                               const NormWeights& norm, int classes, Precision precision) = 0;
  virtual std::unique_ptr<DeviceOp> restoreTokens(int special, bool keep_special) = 0;
  /// The mean over the patches, or with index >= 0 that special row.
  virtual std::unique_ptr<DeviceOp> poolTokens(int special, int index) = 0;
  /// At most 256 classes.
  virtual std::unique_ptr<DeviceOp> segmentLabels(const AxisResampling& rows, const AxisResampling& columns) = 0;
  virtual std::unique_ptr<DeviceOp> mergeReport() = 0;
};

}  // namespace mpm
