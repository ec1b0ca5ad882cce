// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/scratch.h"
#include "kernels/view.h"
#include "layers/device_net.h"
#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "merging/token_state.h"

namespace mpm {

using Shape = std::vector<int>;

/// What the ops of domain ai.mpm have in common: attributes, constants (as blobs in OpenCV 4.x, as inputs in the engine
/// of 5.0), shapes as plain vectors, errors that name the layer. An op says its shapes, takes its constants once and
/// computes; it never moves a blob.
class MpmLayer : public cv::dnn::Layer {
 public:
  bool supportBackend(int backend) override { return backend == cv::dnn::DNN_BACKEND_OPENCV; }

  bool getMemoryShapes(const std::vector<opencv::MatShape>& inputs, int required_outputs,
                       std::vector<opencv::MatShape>& outputs, std::vector<opencv::MatShape>& internals) const final;
  void forward(cv::InputArrayOfArrays inputs, cv::OutputArrayOfArrays outputs, cv::OutputArrayOfArrays internals) final;

  /// From now on forward() does nothing, for a layer whose outputs nobody reads: OpenCV runs every layer in front of
  /// the last one that was asked for, needed or not.
  void leaveOut() { left_out_ = true; }

  /// On a device: from now on the first output comes to the host, although nobody there was known to read it, or stays
  /// where it is, although it is an output of the net.
  void bringToHost(bool bring = true);
  /// On a device: from now on the first input is what stands behind this blob there, whatever comes from the host.
  /// False, and nothing happens, when it does not come from the host for this layer alone.
  bool readOnDevice(const cv::Mat& stand_in);
  /// On a device: the blob that stands for the first output of the last forward() there. OpenCV may hand out a copy.
  const cv::Mat& onDevice() const { return on_device_; }
  /// Where its net was placed; null on the CPU.
  const std::shared_ptr<DeviceNet>& device() const { return device_; }

 protected:
  /// `constants`: how many there are, wherever they come from.
  MpmLayer(const cv::dnn::LayerParams& params, int constants);

  /// Shapes of the outputs for those of the activations and the constants. Calls fail() when they do not fit.
  virtual std::vector<Shape> outputShapes(const std::vector<Shape>& inputs,
                                          const std::vector<Shape>& constants) const = 0;
  /// Shape of the tokens {B, special + N, d}, the first of `inputs`; the second is their state {B, 1 + 2N}. Calls
  /// fail() when they are not that.
  const Shape& tokensWithState(const std::vector<Shape>& inputs, int special) const;
  /// The same for an op that works without state too: then tokens may also be {B, d}.
  const Shape& tokensWithOptionalState(const std::vector<Shape>& inputs, int special) const;

  /// Called once, before the first compute(): pack the weights here. CV_32F, continuous; borrowed until it returns.
  virtual void takeConstants(const std::vector<cv::Mat>& /*constants*/) {}
  /// The op on a device, instead of takeConstants() and compute(); null where it has none, and then these two run on
  /// what is fetched from the device, and what they make goes there. Called once; may throw mpm::Error.
  virtual std::unique_ptr<DeviceOp> makeDeviceOp(DeviceNet& /*device*/, const std::vector<cv::Mat>& /*constants*/,
                                                 const std::vector<cv::Mat>& /*inputs*/) {
    return nullptr;
  }
  virtual void compute(const std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs) = 0;

  /// Throws cv::Exception: "layer 'NAME' (TYPE): WHAT".
  [[noreturn]] void fail(const std::string& what) const;
  void expect(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }

  int intAttribute(const cv::dnn::LayerParams& params, const std::string& key) const;
  float floatAttribute(const cv::dnn::LayerParams& params, const std::string& key) const;

  /// Live rows per image, special rows included; valid until the next call on this layer.
  const int* liveRows(const cv::Mat& state, int special);

  /// For an op that takes the clusters in a state for rows: calls fail() when one is not a live row. After liveRows().
  void expectClustersAreLive(const cv::Mat& state) const;

  const OpenCvParallel parallel_{};

 private:
  std::size_t activationsAmong(std::size_t inputs) const;
  void pack(std::vector<cv::Mat> constants, const std::vector<cv::Mat>& inputs);
  void computeOnDevice(std::vector<cv::Mat>& inputs, std::vector<cv::Mat>& outputs);
  bool madeOnHost(std::size_t input) const { return device_inputs_[input] == '0' || device_inputs_[input] == '3'; }

  // Where the net was placed on a device (onnx/placement.h). The op goes before what it shares with others.
  std::shared_ptr<DeviceNet> device_;
  std::string device_inputs_, device_outputs_, host_outputs_;
  std::unique_ptr<DeviceOp> device_op_;
  cv::Mat on_device_, stand_in_;

  std::size_t constants_;
  bool packed_ = false, left_out_ = false;
  std::vector<Shape> blob_shapes_;  ///< empty when the constants come as inputs
  Scratch<int> rows_;
};

/// {batch, rows, dim} tokens of a blob. A {batch, dim} blob is `batch` images of one row.
TokensView<const float> tokensOf(const cv::Mat& blob, const int* rows);
TokensView<float> tokensOf(cv::Mat& blob, const int* rows);

/// State of image b of a {batch, 1 + 2N} blob.
TokenState<const float> stateOf(const cv::Mat& blob, int b);
TokenState<float> stateOf(cv::Mat& blob, int b);

/// A 2-D constant as a matrix.
MatrixView<const float> matrixOf(const cv::Mat& constant, int rows, int cols);

std::string shapeText(const Shape& shape);

/// What OpenCV calls the layer of that name in the file: it puts a prefix that ends in '!' in front. `name` itself when
/// there is none.
std::string layerName(const cv::dnn::Net& net, const std::string& name);

/// The layer of that name in the file, when there is one and it is ours; else null.
cv::Ptr<MpmLayer> findLayer(cv::dnn::Net& net, const std::string& name);

}  // namespace mpm
