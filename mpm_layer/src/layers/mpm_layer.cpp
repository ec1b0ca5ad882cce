// SPDX-License-Identifier: Apache-2.0
#include "layers/mpm_layer.h"

#include <algorithm>
#include <limits>
#include <new>

#include "mpm/error.hpp"

namespace mpm {
namespace {

const char* const kForeignState = "its state blob is not one that an ai.mpm op wrote";

Shape shapeOf(const opencv::MatShape& shape) { return Shape(shape.begin(), shape.end()); }

template <typename T, class Blob>
TokensView<T> tokensView(Blob& blob, const int* rows) {
  return {blob.template ptr<T>(), blob.size[0], blob.dims == 2 ? 1 : blob.size[1], blob.size[blob.dims - 1], rows};
}

template <typename T, class Blob>
TokenState<T> tokenState(Blob& blob, int b) {
  const int columns = blob.size[blob.dims - 1], patches = (columns - 1) / 2;
  T* const data = blob.template ptr<T>(b);
  return {data, patches, blob.dims == 3 ? data + columns : nullptr};
}

}  // namespace

MpmLayer::MpmLayer(const cv::dnn::LayerParams& params, int constants) : constants_(constants) {
  setParamsFrom(params);
  const LayerSupply* const supply = LayerSupply::newest();
  const auto takes = [&](const char* key, bool supplied) {
    expect(!params.has(key) || supplied,
           "attribute '" + std::string(key) + "' is for nets in memory; no file has it, so convert the model again");
    return params.has(key);
  };
  const auto number = static_cast<std::size_t>(params.get<int>(LayerSupply::kWeights, 0));
  if (takes(LayerSupply::kWeights, supply && number < supply->weights.size())) waiting_ = supply->weights[number];
  for (const WaitingWeight& weight : waiting_) blob_shapes_.push_back(weight.shape);
  for (const cv::Mat& blob : blobs) blob_shapes_.emplace_back(blob.size.p, blob.size.p + blob.dims);
  expect(blob_shapes_.empty() || blob_shapes_.size() == constants_,
         "has " + std::to_string(blob_shapes_.size()) + " constants, expected " + std::to_string(constants_) +
             "; convert the model again");
  if (takes(LayerSupply::kReuse, supply && supply->reuse)) reuse_ = supply->reuse;
  if (!takes(LayerSupply::kDevice, supply && supply->device)) return;
  device_ = supply->device;
  device_inputs_ = params.get<cv::String>("device_inputs");
  device_outputs_ = params.get<cv::String>("device_outputs");
  host_outputs_ = params.get<cv::String>("host_outputs");
}

std::size_t MpmLayer::activationsAmong(std::size_t inputs) const {
  const std::size_t constants = blob_shapes_.empty() ? constants_ : 0;
  expect(inputs > constants, "has " + std::to_string(inputs) + " inputs, expected more than its " +
                                 std::to_string(constants) + " constants; convert the model again");
  return inputs - constants;
}

void MpmLayer::fail(const std::string& what) const {
  CV_Error(cv::Error::StsBadArg, "layer '" + name + "' (" + type + "): " + what);
}

bool MpmLayer::getMemoryShapes(const std::vector<opencv::MatShape>& inputs, int /*required_outputs*/,
                               std::vector<opencv::MatShape>& outputs,
                               std::vector<opencv::MatShape>& /*internals*/) const {
  const std::size_t activations = activationsAmong(inputs.size());
  Shapes shapes, constants = blob_shapes_;
  for (std::size_t i = 0; i < inputs.size(); ++i) (i < activations ? shapes : constants).push_back(shapeOf(inputs[i]));
  outputs.clear();
  for (const Shape& shape : outputShapes(shapes, constants)) outputs.emplace_back(shape);
  return false;  // never in place
}

void MpmLayer::forward(cv::InputArrayOfArrays inputs_array, cv::OutputArrayOfArrays outputs_array,
                       cv::OutputArrayOfArrays /*internals*/) {
  Blobs inputs, outputs;
  inputs_array.getMatVector(inputs);
  outputs_array.getMatVector(outputs);
  const std::size_t activations = activationsAmong(inputs.size());
  Blobs constants;
  Scratch<float> memory;
  if (!packed_) {
    constants = waiting_.empty() ? blobs : waitingValues(memory);
    if (constants.empty()) constants.assign(inputs.begin() + activations, inputs.end());
  }
  inputs.resize(activations);
  for (const cv::Mat& input : inputs)
    expect(input.type() == CV_32F && input.isContinuous(), "expects continuous float32 inputs");
  check(inputs);
  std::string problem;
  try {
    pack(std::move(constants), inputs);
    if (device_)
      computeOnDevice(inputs, outputs);
    else
      compute(inputs, outputs);
    return;
  } catch (const Error& error) {
    problem = error.what();
  } catch (const std::bad_alloc&) {
    problem = "not enough memory";
  }
  if (device_) device_->release();
  fail(problem);
}

Blobs MpmLayer::waitingValues(Scratch<float>& memory) const {
  std::size_t floats = 0;
  for (const WaitingWeight& weight : waiting_) floats += weight.inFile();
  float* to = memory.atLeast(floats);
  Blobs values;
  for (const WaitingWeight& weight : waiting_) {
    values.push_back(weight.values(to));
    to += weight.inFile();
  }
  return values;
}

std::string MpmLayer::weightsKey() const {
  std::string key;
  for (const WaitingWeight& weight : waiting_)
    if (weight.file) key += (key.empty() ? weight.file->identity() + name : "") + ":" + std::to_string(weight.offset);
  return key;
}

void MpmLayer::packWaiting(Scratch<float>& memory) {
  if (waiting_.empty() || device_) return;
  try {
    pack(waitingValues(memory), {});
  } catch (const Error& error) {
    throw Error("layer '" + name + "' (" + type + "): " + error.what());
  } catch (const cv::Exception& error) {
    throw Error(opencv::oneLine(error));
  }
}

void MpmLayer::pack(Blobs constants, const Blobs& inputs) {
  if (packed_) return;
  for (cv::Mat& constant : constants) {
    if (constant.depth() != CV_32F) constant.convertTo(constant, CV_32F);
    if (!constant.isContinuous()) constant = constant.clone();
  }
  if (device_) device_op_ = makeDeviceOp(*device_, constants, inputs);
  if (!device_op_) takeConstants(constants);
  blobs.clear();  // packed above; registerLayers() has OpenCV forget its own
  waiting_.clear();
  packed_ = true;
}

void MpmLayer::computeOnDevice(Blobs& inputs, Blobs& outputs) {
  expect(device_inputs_.size() == inputs.size() && device_outputs_.size() == outputs.size() &&
             host_outputs_.size() == outputs.size(),
         "has not as many inputs and outputs as it was placed on the device with");
  if (!device_op_) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!madeOnHost(i)) device_->download(inputs[i]);
    device_->wait();
    compute(inputs, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (device_outputs_[i] != '0') device_->upload(outputs[i]);
    return;
  }
  if (!stand_in_.empty()) {
    expect(stand_in_.size == inputs[0].size, "stands on the device with another shape than it has in the net");
    inputs[0] = stand_in_;
  }
  for (std::size_t i = stand_in_.empty() ? 0 : 1; i < inputs.size(); ++i)
    if (madeOnHost(i)) device_->upload(inputs[i]);
  device_op_->compute({inputs, outputs, device_inputs_[0] == '2'});
  on_device_ = outputs[0];
  bool waits = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (host_outputs_[i] != '0') {
      device_->download(outputs[i]);
      waits = true;
    } else {
      // A caller that asks OpenCV for this blob anyway must not get the values of an earlier forward().
      *outputs[i].ptr<float>() = std::numeric_limits<float>::quiet_NaN();
    }
  }
  if (waits || device_->measures_layers) device_->wait();
}

void MpmLayer::keepOnDevice() {
  if (!host_outputs_.empty()) host_outputs_[0] = '0';
}

bool MpmLayer::readOnDevice(const cv::Mat& stand_in) {
  if (device_inputs_.empty() || device_inputs_[0] != '3') return false;
  stand_in_ = stand_in;
  return true;
}

const int* MpmLayer::liveRows(const cv::Mat& state, int special) {
  const int batch = state.size[0];
  int* rows = rows_.atLeast(batch);
  for (int b = 0; b < batch; ++b) {
    const auto image = stateOf(state, b);
    const float live = image.data[0], computed = image.computed != nullptr ? image.computed[0] : live;
    expect(live >= 0 && live <= static_cast<float>(image.patches) && computed >= 0 && computed <= live, kForeignState);
    rows[b] = special + image.computedRows();
  }
  return rows;
}

const int* MpmLayer::liveRowsOfClusters(const cv::Mat& state, int special) {
  const int* const rows = liveRows(state, special);
  for (int b = 0; b < state.size[0]; ++b) {
    const auto image = stateOf(state, b);
    const float* const clusters = image.clusterOfToken();
    const bool live = std::all_of(clusters, clusters + image.patches,
                                  [&](float cluster) { return cluster >= 0 && cluster < image.data[0]; });
    expect(live, kForeignState);
  }
  return rows;
}

const Shape& TokenLayer::tokensWithState(const Shapes& inputs) const {
  expect(special_ >= 0, "has a negative number of special tokens");
  expect(inputs.size() == 2, "expects tokens and their state, got " + std::to_string(inputs.size()) + " inputs");
  const Shape &tokens = inputs[0], &state = inputs[1];
  expect(tokens.size() == 3, "expects tokens {B, rows, d}, got " + shapeText(tokens));
  const int columns = 1 + 2 * (tokens[1] - special_);
  expect(state == Shape{tokens[0], columns} || (tokens[0] == 1 && state == Shape{1, 2, columns}),
         "expects the state of " + std::to_string(tokens[1] - special_) + " tokens for its tokens " +
             shapeText(tokens) + ", got " + shapeText(state));
  return tokens;
}

const Shape& TokenLayer::tokensWithOptionalState(const Shapes& inputs) const {
  if (inputs.size() > 1) return tokensWithState(inputs);
  expect(inputs[0].size() == 2 || inputs[0].size() == 3,
         "expects tokens {B, rows, d} or {B, d}, got " + shapeText(inputs[0]));
  return inputs[0];
}

void TokenLayer::expectDim(int dim, int of_weights) const {
  expect(dim == of_weights,
         "got tokens of dim " + std::to_string(dim) + ", the weights are for " + std::to_string(of_weights));
}

TokensView<const float> tokensOf(const cv::Mat& blob, const int* rows) { return tokensView<const float>(blob, rows); }
TokensView<float> tokensOf(cv::Mat& blob, const int* rows) { return tokensView<float>(blob, rows); }

TokenState<const float> stateOf(const cv::Mat& blob, int b) { return tokenState<const float>(blob, b); }
TokenState<float> stateOf(cv::Mat& blob, int b) { return tokenState<float>(blob, b); }

MatrixView<const float> matrixOf(const cv::Mat& constant) {
  return {constant.ptr<float>(), constant.size[0], static_cast<int>(constant.total()) / constant.size[0]};
}

cv::Ptr<MpmLayer> findLayer(cv::dnn::Net& net, const std::string& name) {
  for (const cv::String& layer : net.getLayerNames()) {
    if (layer == name || layer.ends_with("!" + name))
      return net.getLayer(net.getLayerId(layer)).dynamicCast<MpmLayer>();
  }
  return nullptr;
}

std::string shapeText(const Shape& shape) {
  std::string text = "{";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "}";
}

}  // namespace mpm
