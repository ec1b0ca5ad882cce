// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/scratch.h"
#include "kernels/view.h"
#include "layers/layer_supply.h"
#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "layers/shape.h"
#include "merging/token_state.h"

namespace mpm {

using Blobs = std::vector<cv::Mat>;

/// The base of the ops of domain ai.mpm: attributes, constants (as blobs in OpenCV 4.x, as inputs in the engine
/// of 5.0), shapes as plain vectors, errors that name the layer. An op gives its shapes, takes its constants once and
/// computes; this class copies blobs to and from a device.
class MpmLayer : public cv::dnn::Layer {
 public:
  bool supportBackend(int backend) override { return backend == cv::dnn::DNN_BACKEND_OPENCV; }

  bool getMemoryShapes(const std::vector<opencv::MatShape>& inputs, int required_outputs,
                       std::vector<opencv::MatShape>& outputs, std::vector<opencv::MatShape>& internals) const final;
  void forward(cv::InputArrayOfArrays inputs, cv::OutputArrayOfArrays outputs, cv::OutputArrayOfArrays internals) final;

  /// Packs the weights that wait for this layer now and not in the first forward(). On a device that is later. Throws
  /// mpm::Error. `memory` is for weights that are read from a file.
  void packWaiting(Scratch<float>& memory);

  /// ReadOptions::rule, for a layer that merges rows by it.
  virtual void setRule(const MergeFunction& /*rule*/) {}

  /// On a device: from now on the first output stays there, although it is an output of the net.
  void keepOnDevice();
  /// On a device: from now on the first input is the device value of `stand_in`, and the host's blob is ignored.
  /// Returns false, and changes nothing, unless the first input comes from the host and only this layer reads it.
  bool readOnDevice(const cv::Mat& stand_in);
  /// On a device: the blob that stands for the first output of the last forward() there. OpenCV may hand out a copy.
  const cv::Mat& onDevice() const { return on_device_; }
  /// Where its net was placed; null on the CPU.
  const std::shared_ptr<DeviceNet>& device() const { return device_; }

 protected:
  /// `constants`: their number, as blobs or as inputs.
  MpmLayer(const cv::dnn::LayerParams& params, int constants);

  /// Shapes of the outputs, from those of the activations and the constants. Calls fail() when they do not fit.
  virtual Shapes outputShapes(const Shapes& inputs, const Shapes& constants) const = 0;
  /// Called once, before the first compute(): pack the weights here. CV_32F, continuous; borrowed until it returns.
  virtual void takeConstants(const Blobs& /*constants*/) {}
  /// The op on a device, used instead of takeConstants() and compute(). Null if there is none: then those two run on
  /// the host, with inputs copied from the device and outputs copied to it. Called once; may throw mpm::Error.
  virtual DeviceOpPtr makeDeviceOp(DeviceNet& /*device*/, const Blobs& /*constants*/, const Blobs& /*inputs*/) {
    return nullptr;
  }
  /// During takeConstants(): the same text in every net of this process for this layer of one unchanged converted file,
  /// so that nets can share what is packed. Empty: the weights are of no such file.
  std::string weightsKey() const;
  virtual void compute(const Blobs& inputs, Blobs& outputs) = 0;
  /// Before each computation, on a device, too. Calls fail() for inputs that must not be used.
  virtual void check(const Blobs& /*inputs*/) {}

  /// Throws cv::Exception: "layer 'NAME' (TYPE): WHAT".
  [[noreturn]] void fail(const std::string& what) const;
  void expect(bool condition, const std::string& what) const {
    if (!condition) fail(what);
  }

  /// An attribute that must be there.
  template <typename T>
  T attribute(const cv::dnn::LayerParams& params, const std::string& key) const {
    expect(params.has(key), "attribute '" + key + "' is missing; convert the model again");
    return params.get<T>(key);
  }

  /// The memory of the net from frame to frame; null in a net that does not reuse rows.
  ReuseSession* reuse() const { return reuse_.get(); }
  /// The place of this layer there, for its operator on a device.
  LayerMemory memory() const { return {reuse_.get(), name}; }

  /// Rows of each image in the token blob, special rows included; valid until the next call on this layer.
  const int* liveRows(const cv::Mat& state, int special);

  /// liveRows() for an op that uses the clusters in a state as row indices: calls fail() when one is not a live row.
  const int* liveRowsOfClusters(const cv::Mat& state, int special);

  const OpenCvParallel parallel_{};

 private:
  std::size_t activationsAmong(std::size_t inputs) const;
  Blobs waitingValues(Scratch<float>& memory) const;
  void pack(Blobs constants, const Blobs& inputs);
  void computeOnDevice(Blobs& inputs, Blobs& outputs);
  bool madeOnHost(std::size_t input) const { return device_inputs_[input] == '0' || device_inputs_[input] == '3'; }

  // How the net was placed on a device (net/graph_marks.h). device_op_ is destroyed before device_, which it uses.
  std::shared_ptr<DeviceNet> device_;
  std::string device_inputs_, device_outputs_, host_outputs_;
  DeviceOpPtr device_op_;
  cv::Mat on_device_, stand_in_;
  std::shared_ptr<ReuseSession> reuse_;

  std::size_t constants_;
  std::vector<WaitingWeight> waiting_;  ///< the constants, if they were supplied
  bool packed_ = false;
  Shapes blob_shapes_;  ///< empty when the constants come as inputs
  Scratch<int> rows_;
};

/// An op on tokens, with `special_` rows in front of those of the patches.
class TokenLayer : public MpmLayer {
 protected:
  TokenLayer(const cv::dnn::LayerParams& params, int constants)
      : MpmLayer(params, constants), special_(attribute<int>(params, "special_tokens")) {}

  /// Shape of the tokens {B, special + N, d}, the first of `inputs`; the second is their state {B, 1 + 2N}, or
  /// {1, 2, 1 + 2N} in a net that reuses rows. Calls fail() when they are not that.
  const Shape& tokensWithState(const Shapes& inputs) const;
  /// The tokens of an op that works without state too: then tokens may also be {B, d}.
  const Shape& tokensWithOptionalState(const Shapes& inputs) const;
  /// Calls fail() unless tokens of `dim` columns are what the weights are for.
  void expectDim(int dim, int of_weights) const;

  const int special_;
};

/// {batch, rows, dim} tokens of a blob. A {batch, dim} blob is `batch` images of one row.
TokensView<const float> tokensOf(const cv::Mat& blob, const int* rows);
TokensView<float> tokensOf(cv::Mat& blob, const int* rows);

/// State of image b of a blob {batch, 1 + 2N}, or {1, 2, 1 + 2N} with the computed rows behind it.
TokenState<const float> stateOf(const cv::Mat& blob, int b);
TokenState<float> stateOf(cv::Mat& blob, int b);

/// A constant as a matrix, of which its first side counts the rows.
MatrixView<const float> matrixOf(const cv::Mat& constant);

std::string shapeText(const Shape& shape);

/// The layer of that name in the file, when there is one and it is ours; else null. OpenCV puts a prefix that ends in
/// '!' in front of the name.
cv::Ptr<MpmLayer> findLayer(cv::dnn::Net& net, const std::string& name);

}  // namespace mpm
