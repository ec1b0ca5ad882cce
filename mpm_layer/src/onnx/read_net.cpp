// SPDX-License-Identifier: Apache-2.0
#include "mpm/read_net.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <opencv2/core/utils/logger.hpp>
#include <set>

#include "layers/device_net.h"
#include "layers/mpm_layer.h"
#include "layers/opencv_adapter.h"
#include "layers/waiting_weights.h"
#include "mpm/error.hpp"
#include "onnx/converter.h"
#include "onnx/device_word.h"
#include "onnx/freed_memory.h"
#include "onnx/model_file.h"
#include "onnx/placement.h"

namespace mpm {
namespace {

/// OpenCV 4.6 warns once per node of a domain it does not know, although the layer is found. The caller's level is
/// restored whatever happens. It is one for the whole process, and imports run side by side: the first lowers it, the
/// last restores it.
class QuietImport {
 public:
  QuietImport() {
    const std::lock_guard lock(mutex_);
    if (running_++ > 0) return;
    level_ = cv::utils::logging::getLogLevel();
    cv::utils::logging::setLogLevel(std::min(level_, cv::utils::logging::LOG_LEVEL_ERROR));
  }
  ~QuietImport() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) cv::utils::logging::setLogLevel(level_);
  }
  QuietImport(const QuietImport&) = delete;
  QuietImport& operator=(const QuietImport&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int running_ = 0;
  static inline cv::utils::logging::LogLevel level_{};
};

bool isOurs(const onnx::NodeProto& node) { return node.domain() == "ai.mpm"; }

/// Floats as the converter writes them; a file may hold others.
bool isPlain(const onnx::TensorProto& tensor) {
  std::size_t bytes = sizeof(float);
  for (const std::int64_t side : tensor.dims()) {
    if (side < 1 || static_cast<std::size_t>(side) > tensor.raw_data().size()) return false;
    bytes *= static_cast<std::size_t>(side);
    if (bytes > tensor.raw_data().size()) return false;
  }
  return tensor.data_type() == onnx::TensorProto::FLOAT && tensor.dims_size() > 0 && bytes == tensor.raw_data().size();
}

cv::Mat takeValues(onnx::TensorProto& tensor) {
  const std::vector<int> sides(tensor.dims().begin(), tensor.dims().end());
  cv::Mat values(static_cast<int>(sides.size()), sides.data(), CV_32F);
  std::memcpy(values.data, tensor.raw_data().data(), tensor.raw_data().size());
  std::string().swap(*tensor.mutable_raw_data());
  return values;
}

/// Takes the weights of the ai.mpm nodes out of the graph; they wait for the layers that OpenCV will make of these.
void handOver(onnx::GraphProto& graph, WaitingWeights& waiting) {
  std::map<std::string, onnx::TensorProto*> weights;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) weights[tensor.name()] = &tensor;
  std::map<std::string, int> readers;
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.input()) ++readers[name];
  for (const onnx::ValueInfoProto& input : graph.input()) ++readers[input.name()];
  for (const onnx::ValueInfoProto& output : graph.output()) ++readers[output.name()];
  std::set<std::string> taken;
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!isOurs(node)) continue;
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.name() == WaitingWeights::kAttribute)
        throw Error("node '" + node.name() + "' (" + node.op_type() + "): found the attribute '" + attribute.name() +
                    "', which no file has: convert the original model again");
    const auto isWeight = [&](const std::string& name) { return weights.count(name) > 0; };
    const auto canWait = [&](const std::string& name) {
      return isWeight(name) && readers[name] == 1 && isPlain(*weights[name]);
    };
    const auto first = std::find_if(node.input().begin(), node.input().end(), isWeight);
    if (first == node.input().end() || !std::all_of(first, node.input().end(), canWait)) continue;
    std::vector<cv::Mat> values;
    const int activations = static_cast<int>(first - node.input().begin());
    for (int i = activations; i < node.input_size(); ++i) {
      values.push_back(takeValues(*weights[node.input(i)]));
      taken.insert(node.input(i));
    }
    node.mutable_input()->DeleteSubrange(activations, node.input_size() - activations);
    onnx::AttributeProto& number = *node.add_attribute();
    number.set_name(WaitingWeights::kAttribute);
    number.set_type(onnx::AttributeProto::INT);
    number.set_i(waiting.add(std::move(values)));
  }
  auto& tensors = *graph.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const onnx::TensorProto& tensor) { return taken.count(tensor.name()) > 0; }),
                tensors.end());
}

/// Index of the GPU that the options ask for, or nothing for the CPU.
std::optional<int> chosenDevice(const ReadOptions& options) {
  const DeviceWord asked = parseDevice(options.device);
  if (asked.kind == DeviceWord::Kind::kCpu) return std::nullopt;
  const std::vector<CudaDevice> devices = cudaDevices();
  if (asked.kind == DeviceWord::Kind::kAuto && devices.empty()) return std::nullopt;
  const auto no = [&](const std::string& why) { throw Error("device '" + options.device + "': " + why); };
  if (!builtWithCuda()) no("this build of libmpm_layer has no CUDA (MPM_WITH_CUDA), only the device cpu");
  if (devices.empty()) no("no CUDA device or no driver for one was found, only the device cpu");
  const int index = asked.index.value_or(devices.front().index);
  std::string names;
  for (const CudaDevice& device : devices) {
    if (device.index == index) return index;
    names += (names.empty() ? "" : ", ") + ("cuda:" + std::to_string(device.index)) + " (" + device.name + ")";
  }
  no("this machine does not have it; it has cpu, " + names);
  return std::nullopt;
}

}  // namespace

cv::dnn::Net readNet(const std::string& onnx_path, const ReadOptions& options, ModelInfo* info) {
  static std::atomic<int> sessions{0};
  registerLayers();
  const std::optional<int> device = chosenDevice(options);
  onnx_graph::Converted converted = onnx_graph::convertPath(onnx_path, options);
  onnx::GraphProto& graph = *converted.model.mutable_graph();
  if (device) onnx_graph::placeOnDevice(graph, *device, ++sessions);
  if (info) *info = converted.info;
  try {
    WaitingWeights weights;
    handOver(graph, weights);
    const std::string bytes = onnx_graph::serialised(std::move(converted.model));
    cv::dnn::Net net;
    {
      const QuietImport quiet;
      net = opencv::readOnnx(bytes);
    }
    for (const std::string& name : net.getLayerNames()) net.getLayer(net.getLayerId(name));  // made now, if not before
    onnx_graph::returnFreedMemory();
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    return net;
  } catch (const Error& error) {
    throw Error(onnx_path + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(onnx_path + ": not enough memory");
  } catch (const cv::Exception& error) {
    throw Error(onnx_path + ": OpenCV " CV_VERSION " cannot run what follows the ViT: " + opencv::oneLine(error));
  }
}

void bringToHost(cv::dnn::Net& net, const std::string& name) {
  if (const cv::Ptr<MpmLayer> layer = findLayer(net, name)) layer->bringToHost();
}

}  // namespace mpm
