// SPDX-License-Identifier: Apache-2.0
#include "segmenter_file.h"

#include <onnx/onnx_pb.h>

#include <opencv2/core.hpp>
#include <string_view>

#include "base/atomic_file.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"

namespace mpm::train {
namespace {

constexpr const char* kProducer = "mpm-train";
constexpr std::string_view kMatrix = ".half";  // ends the name of an initialiser whose Cast has the plain name

bool storedTransposed(const std::string& name, std::size_t dimensions) {
  return dimensions == 2 && name.ends_with(".weight");
}

HostTensor transposed(const HostTensor& matrix) {
  HostTensor result{{matrix.shape.at(1), matrix.shape.at(0)}, std::vector<float>(matrix.values.size())};
  const cv::Mat from(static_cast<int>(matrix.shape[0]), static_cast<int>(matrix.shape[1]), CV_32F,
                     const_cast<float*>(matrix.values.data()));
  cv::Mat to(from.cols, from.rows, CV_32F, result.values.data());
  cv::transpose(from, to);
  return result;
}

// The name of the weight that an initialiser holds; empty: it is a constant of the graph.
std::string weightOf(const onnx::TensorProto& tensor) {
  std::string name = tensor.name();
  const bool is_weight = name.starts_with("encoder.") || name.starts_with("decoder.");
  if (!is_weight || name.find('/') != std::string::npos) return "";
  if (name.ends_with(kMatrix)) name.resize(name.size() - kMatrix.size());
  return name;
}

int count(const TensorMap& weights, const std::string& prefix) {
  int blocks = 0;
  while (weights.contains(prefix + std::to_string(blocks) + ".norm1.weight")) ++blocks;
  return blocks;
}

void store(onnx::TensorProto& tensor, const HostTensor& host, bool half) {
  tensor.mutable_dims()->Assign(host.shape.begin(), host.shape.end());
  tensor.set_data_type(half ? onnx::TensorProto::FLOAT16 : onnx::TensorProto::FLOAT);
  cv::Mat values(1, static_cast<int>(host.values.size()), CV_32F, const_cast<float*>(host.values.data()));
  if (half) values.convertTo(values, CV_16F);
  tensor.set_raw_data(values.data, values.total() * values.elemSize());
}

void setShape(onnx::GraphProto& graph, const std::string& name, const std::vector<std::int64_t>& shape) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer())
    if (tensor.name() == name) tensor.set_raw_data(shape.data(), shape.size() * sizeof(std::int64_t));
}

}  // namespace

SegmenterFile readSegmenter(const std::string& path) {
  SegmenterFile file{readFile(path), {}, {}};
  const auto fail = [&](const std::string& why) { throw Error("cannot start from '" + path + "': " + why); };
  onnx::ModelProto model;
  if (!model.ParseFromString(file.onnx)) fail("it is not an ONNX file");
  const onnx::GraphProto& graph = model.graph();
  if (model.producer_name() != kProducer || graph.input_size() != 1 ||
      graph.input(0).type().tensor_type().shape().dim_size() != 4)
    fail("mpm-train did not write it; start from a model of models/ or of an earlier run");
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    if (const std::string name = weightOf(tensor); !name.empty()) {
      const onnx_graph::Tensor read = onnx_graph::readTensor(tensor, {}, "'" + path + "': its tensor '" + name + "'");
      if (!read.isFloat()) fail("its tensor '" + name + "' holds no floats");
      const HostTensor values{read.shape, *read.floats};
      file.weights[name] = storedTransposed(name, values.shape.size()) ? transposed(values) : values;
    }
  }
  NetworkConfig& config = file.config;
  const auto& shape = graph.input(0).type().tensor_type().shape();
  config.input = {static_cast<int>(shape.dim(2).dim_value()), static_cast<int>(shape.dim(3).dim_value())};
  config.blocks = count(file.weights, "encoder.blocks.");
  config.decoder_blocks = count(file.weights, "decoder.blocks.");
  if (const auto classes = file.weights.find("decoder.cls_emb");
      classes != file.weights.end() && classes->second.shape.size() == 3) {
    config.classes = static_cast<int>(classes->second.shape[1]);
    config.dim = static_cast<int>(classes->second.shape[2]);
  }
  for (const Parameter& parameter : parameters(config)) {
    if (const auto found = file.weights.find(parameter.name);
        found == file.weights.end() || found->second.shape != parameter.shape)
      fail("its tensor '" + parameter.name + "' is missing or of another shape");
  }
  return file;
}

void writeSegmenter(const std::string& stem, const SegmenterFile& from, TensorMap weights, Size2 input, bool half,
                    const ModelFacts& facts) {
  NetworkConfig written = from.config;
  written.input = input;
  resizePositions(weights, from.config.grid(), written.grid());
  onnx::ModelProto model;
  model.ParseFromString(from.onnx);
  model.set_producer_version(MPM_VERSION);
  model.clear_metadata_props();
  onnx::GraphProto& graph = *model.mutable_graph();
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (const std::string name = weightOf(tensor); !name.empty()) {
      const HostTensor& host = weights.at(name);
      store(tensor, storedTransposed(name, host.shape.size()) ? transposed(host) : host,
            half && tensor.name().ends_with(kMatrix));
    }
  }
  for (onnx::ValueInfoProto* value : {graph.mutable_input(0), graph.mutable_output(0)}) {
    auto* shape = value->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(2)->set_dim_value(input.height);
    shape->mutable_dim(3)->set_dim_value(input.width);
  }
  const Size2 grid = written.grid();
  setShape(graph, "encoder/rows/shape", {0, written.dim, written.tokens()});
  setShape(graph, "decoder/score_maps/shape", {0, written.classes, grid.height, grid.width});
  onnx_graph::writeModel(stem + ".onnx", model.SerializeAsString(), onnx_graph::factsJson(facts, input));
}

}  // namespace mpm::train
