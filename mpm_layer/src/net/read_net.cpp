// SPDX-License-Identifier: Apache-2.0
#include "mpm/read_net.hpp"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/freed_memory.h"
#include "base/size_text.h"
#include "kernels/precision.h"
#include "layers/cuda_plugin.h"
#include "layers/mpm_layer.h"
#include "layers/opencv_adapter.h"
#include "mpm/error.hpp"
#include "net/image_net.h"
#include "onnx/converter.h"
#include "onnx/model/graph_proto.h"
#include "onnx/model/model_file.h"

namespace mpm {
namespace {

/// The index of the GPU that ReadOptions::device asks for; nullopt: the CPU.
std::optional<int> chosenDevice(const std::string& text) {
  const DeviceSpec asked = parseDeviceSpec(text);
  if (asked.kind == DeviceSpec::Kind::kCpu) return std::nullopt;
  const auto [devices, problem] = cudaDevices();
  if (asked.kind == DeviceSpec::Kind::kAuto && devices.empty()) return std::nullopt;
  const auto no = [&](const std::string& why) { throw Error("device '" + text + "': " + why); };
  if (devices.empty()) no(problem);
  const int index = asked.index.value_or(devices.front().index);
  std::string names;
  for (const CudaDevice& device : devices) {
    if (device.index == index) return index;
    names += (names.empty() ? "" : ", ") + ("cuda:" + std::to_string(device.index)) + " (" + device.name + ")";
  }
  no("this machine does not have it; it has cpu, " + names);
  return std::nullopt;
}

/// Moves the weights of the ai.mpm nodes of a converted graph into the supply of its layers. Weights in another form
/// than the converter writes stay in the graph. Late weights that other nodes read too are loaded into the graph.
void supplyWeights(onnx::GraphProto& graph, onnx_graph::LateWeights& late, LayerSupply& supply) {
  std::map<std::string, onnx::TensorProto*> weights;
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) weights[tensor.name()] = &tensor;
  std::map<std::string, int> readers;  // that still read each tensor from the graph
  for (const onnx::NodeProto& node : graph.node())
    for (const std::string& name : node.input()) ++readers[name];
  for (const onnx::ValueInfoProto& input : graph.input()) ++readers[input.name()];
  for (const onnx::ValueInfoProto& output : graph.output()) ++readers[output.name()];
  std::map<std::string, std::shared_ptr<const std::string>> supplied;
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    if (!onnx_graph::isOurs(node)) continue;
    const auto isWeight = [&](const std::string& name) { return weights.count(name) > 0; };
    const auto canWait = [&](const std::string& name) {
      return isWeight(name) && (late.has(*weights[name]) || onnx_graph::isPlain(*weights[name]));
    };
    const auto first = std::find_if(node.input().begin(), node.input().end(), isWeight);
    if (first == node.input().end() || !std::all_of(first, node.input().end(), canWait)) continue;
    std::vector<WaitingWeight> values;
    const int activations = static_cast<int>(first - node.input().begin());
    for (int i = activations; i < node.input_size(); ++i) {
      const std::string& name = node.input(i);
      onnx::TensorProto& tensor = *weights[name];
      const std::vector<int> shape(tensor.dims().begin(), tensor.dims().end());
      if (late.has(tensor)) {
        values.push_back({shape, nullptr, late.file, late.offsets.at(name)});
      } else {
        std::shared_ptr<const std::string>& bytes = supplied[name];
        if (!bytes && readers[name] == 1)
          bytes = std::make_shared<const std::string>(std::move(*tensor.mutable_raw_data()));
        else if (!bytes)
          bytes = std::make_shared<const std::string>(tensor.raw_data());
        values.push_back({shape, bytes, {}, 0});
      }
      --readers[name];
    }
    node.mutable_input()->DeleteSubrange(activations, node.input_size() - activations);
    onnx_graph::addAttribute(node, {LayerSupply::kWeights, std::ssize(supply.weights)});
    supply.weights.push_back(std::move(values));
  }
  auto& tensors = *graph.mutable_initializer();
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(),
                               [&](const onnx::TensorProto& tensor) {
                                 const auto left = readers.find(tensor.name());
                                 return left != readers.end() && left->second == 0;
                               }),
                tensors.end());
  late.load(graph);
}

/// As many layers at a time as there are threads. Their memory is used again: new pages cost more than the reading.
void packInParallel(const std::vector<cv::Ptr<MpmLayer>>& layers) {
  std::mutex mutex;
  std::vector<Scratch<float>> spare;
  OpenCvParallel().run(static_cast<int>(layers.size()), [&](int i) {
    Scratch<float> memory;
    {
      const std::lock_guard lock(mutex);
      if (!spare.empty()) {
        memory = std::move(spare.back());
        spare.pop_back();
      }
    }
    layers[i]->packWaiting(memory);
    const std::lock_guard lock(mutex);
    spare.push_back(std::move(memory));
  });
}

}  // namespace

LoadedNet readNet(const std::string& onnx_path, const ReadOptions& options) {
  return readNet(onnx_path, options, [&](const onnx::GraphProto&, const ModelInfo&) { return options.outputs; });
}

LoadedNet readNet(const std::string& onnx_path, const ReadOptions& options, const ChooseOutputs& choose,
                  ReuseNet* reuse) {
  options.validate();
  registerLayers();
  const std::optional<int> device = chosenDevice(options.device);
  onnx_graph::Converted converted = onnx_graph::convertPath(onnx_path, options.convert());
  if (!device) requireOnCpu(converted.info.precision);
  if (device && converted.info.precision == Precision::kInt8)
    throw Error("precision int8 is for CPUs: on a GPU use fp32, tf32, bf16 or fp16");
  if (converted.info.reduction.method == ReductionMethod::kRule && !options.rule) {
    throw Error(onnx_path + ": reduction '" + toString(converted.info.reduction) +
                "' is a function of a program: give it one, ReadOptions::rule or mpm.Rule in Python");
  }
  onnx::GraphProto& graph = *converted.model.mutable_graph();
  try {
    onnx_graph::requireUnmarked(graph);
    const std::vector<std::string> outputs = choose(graph, converted.info);
    if (!outputs.empty()) onnx_graph::selectOutputs(graph, outputs);
    cv::dnn::Net net;
    std::vector<cv::Ptr<MpmLayer>> layers;
    {
      LayerSupply supply;
      if (reuse != nullptr) {
        supply.reuse = reuse->session = std::make_shared<ReuseSession>();
        reuse->places = onnx_graph::reuseRows(graph, converted.info);
      }
      if (device) {
        onnx_graph::placeOnDevice(converted.model);
        converted.late.load(graph);
        supply.device = makeDeviceNet(*device);
        supply.device->measures_layers = options.measure_layers;
      } else {
        onnx_graph::joinForCpu(graph);
      }
      supplyWeights(graph, converted.late, supply);
      const std::string bytes = onnx_graph::serialised(std::move(converted.model));
      const opencv::QuietLog quiet;
      net = cv::dnn::readNetFromONNX(bytes.data(), bytes.size());
      net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
      net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
      for (const std::string& name : net.getLayerNames()) {
        const auto ours = net.getLayer(net.getLayerId(name)).dynamicCast<MpmLayer>();  // made now, if not before
        if (!ours) continue;
        ours->setRule(options.rule);
        layers.push_back(ours);
      }
    }
    packInParallel(layers);
    returnFreedMemory();
    return {net, std::move(converted.info)};
  } catch (const Error& error) {
    throw Error(onnx_path + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw Error(onnx_path + ": not enough memory");
  } catch (const cv::Exception& error) {
    throw Error(onnx_path + ": OpenCV " CV_VERSION " cannot run what follows the ViT: " + withoutPlaces(error));
  }
}

}  // namespace mpm
