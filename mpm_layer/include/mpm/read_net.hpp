// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <opencv2/dnn.hpp>
#include <string>

#include "mpm/export.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm {

using ReadOptions = ConvertOptions;

/// Registers the layers of domain ai.mpm with OpenCV's layer factory, so that cv::dnn::readNetFromONNX reads converted
/// models. Idempotent and thread-safe. C callers and Python's ctypes: mpm_register_layers() in mpm/c_api.h.
MPM_API void registerLayers();

/// A net from a plain ViT ONNX, converted in memory, or from a converted one. Runs on DNN_BACKEND_OPENCV, target CPU;
/// with ReadOptions::device on a GPU its ai.mpm layers run there, and nothing between two of them touches the host.
///
/// Input: {B, 3, H, W} float, normalised as ModelFacts says. Ask for outputs by name: those in ModelInfo::outputs
/// ("labels" {B, 1, H, W} or "logits" {B, classes, H, W} when it segments), "merge_map" {B, max(K, 1), N}: row k the
/// composed cluster of every image token after insertion k + 1 (the identity when K = 0), "token_counts" {B, K + 1}: N,
/// then N' after each insertion. All are CV_32F, whole numbers too: convertTo() makes CV_8U of labels. A forward()
/// without a name gives the last of them in OpenCV 4, the first in OpenCV 5.
///
/// Layers are called as docs/ops.md says, with what OpenCV puts in front ("onnx_node!backbone/block1" in 4.6):
/// net.getLayerNames() lists them.
///
/// One net must not be used by two threads at once; two nets may. Throws mpm::Error for a file that cannot be run, a
/// device that this machine or this build does not have, or a precision that the device lacks; what only the numbers
/// tell (a NaN in the image or the weights) is a cv::Exception of forward().
MPM_API cv::dnn::Net readNet(const std::string& onnx_path, const ReadOptions& options = {}, ModelInfo* info = nullptr);

/// On a GPU only what the host is known to read comes back to it: the outputs of the net. Asks for another blob too,
/// the first output of the layer called `name`, such as "backbone/block1"; without this forward() would return a NaN
/// and whatever memory held. Nothing happens on the CPU, where all blobs are there.
MPM_API void bringToHost(cv::dnn::Net& net, const std::string& name);

/// Where the time of one image went, in ms. `total` is wall time; the others sum to it but for the bookkeeping. On a
/// GPU all of the net's time is `backbone`.
struct StageTimes {
  double total = 0;
  double preprocess = 0;
  double backbone = 0;
  double merge = 0;
  double restore = 0;
  double head = 0;
  double postprocess = 0;
};

/// Where the last forward of a net of readNet() went, which took `forward_ms`: backbone, merge, restore and head of the
/// result, all of it backbone where OpenCV keeps no profile or the layers run on a GPU.
MPM_API StageTimes forwardTimes(cv::dnn::Net& net, double forward_ms);

}  // namespace mpm
