// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string>
#include <vector>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm {

/// Registers the layers of domain ai.mpm with OpenCV, so that cv::dnn::readNetFromONNX reads converted files. May be
/// called again; thread-safe. Throws cv::Exception if OpenCV refuses a layer. From C and Python: mpm_register_layers()
/// in mpm/c_api.h.
MPM_API void registerLayers();

/// A net that is ready to run, and what it is.
struct LoadedNet {
  cv::dnn::Net net;  ///< ready for setInput()
  ModelInfo info;    ///< of the converted model
};

/// Reads a plain ViT ONNX file, converted in memory, or a converted one. Calls registerLayers().
///
/// Input: {B, 3, H, W} float, normalised as ModelFacts says, under the input name of the original graph. If
/// setInput() gets another type than for the image before, such as bytes after floats, this and every later forward()
/// throws; OpenCV 4 would silently compute the previous image again.
///
/// Outputs, all CV_32F, to be asked for by name:
/// - those in ModelInfo::outputs: "labels" {B, 1, H, W} of a segmentation net, else the outputs of the original graph;
/// - "merge_map" {B, max(K, 1), N} for K insertions of merging and N image tokens. Row k holds the cluster of each
///   image token after insertion k + 1, composed from the start (the paper's r, sec. 3). It is the identity when
///   K = 0;
/// - "token_counts" {B, K + 1}: N, then the image tokens that are left after each insertion;
/// - "scores" {B, N, classes} with ConvertOptions::scores.
/// ReadOptions::outputs gives the net other outputs instead.
///
/// OpenCV 5 gives one output or all of them: forward() throws for a list of names that lacks one. forward() without a
/// name gives the last output in OpenCV 4 and the first in OpenCV 5.
///
/// The net runs on DNN_BACKEND_OPENCV, target CPU. With ReadOptions::device on a GPU its ai.mpm layers run there, and
/// data between two of them stays there. Layers have the names in docs/ops.md, after a prefix from OpenCV
/// ("onnx_node!backbone/block1" in 4.6); net.getLayerNames() lists them.
///
/// Use one net from one thread at a time; two nets may run at once. Throws mpm::Error for a file that cannot be run, a
/// device that this machine or this build lacks, and a precision that the device lacks. A NaN in the tokens that merge
/// or in the scores of labels is a cv::Exception of forward(). Other outputs can hold a NaN; an Estimator refuses it.
MPM_API LoadedNet readNet(const std::string& onnx_path, const ReadOptions& options = {});

/// Time spent on one image, in ms. `total` is wall time; the other stages add up to it, except for a small overhead. On
/// a GPU all time of the net counts as `backbone`, unless ReadOptions::measure_layers is set.
struct StageTimes {
  double total = 0;        ///< from image to result
  double preprocess = 0;   ///< resizing and normalising the image
  double backbone = 0;     ///< patch embedding and blocks
  double merge = 0;        ///< finding pairs and merging
  double restore = 0;      ///< gathering the grid again
  double head = 0;         ///< what stands behind the encoder
  double postprocess = 0;  ///< from scores to what was asked for
  /// Time of each encoder block, with the merging before or inside it: parts of `backbone` and `merge`. Empty where
  /// OpenCV measures no layer times and on a GPU, unless ReadOptions::measure_layers is set.
  std::vector<double> blocks = {};
};

/// Splits `forward_ms`, the measured time of the last forward() of a net from readNet(), into its stages. All of it is
/// `backbone` where OpenCV measures no layer times or the layers run on a GPU without ReadOptions::measure_layers.
MPM_API StageTimes forwardTimes(cv::dnn::Net& net, double forward_ms);

/// The layers of one operator.
struct OperatorTime {
  std::string op;  ///< a name of docs/ops.md, or OpenCV's own type of layer
  int layers = 0;  ///< how many
  double ms = 0;   ///< of all of them
};

/// Which operators the last forward() of a net from readNet() spent its StageTimes::head on, the slowest first. Empty
/// where forwardTimes() says that all is `backbone`.
MPM_API std::vector<OperatorTime> headTimes(cv::dnn::Net& net);

}  // namespace mpm
