// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <limits>

#include "support/onnx_file.h"

namespace mpm::test {

/// Copies a model with its first weights that `wanted` takes set to `value`.
template <typename Wanted>
void writeModelWith(const std::string& from, const std::string& to, float value, Wanted wanted) {
  onnx::ModelProto model = modelAt(from);
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT || tensor.raw_data().empty() || !wanted(tensor)) continue;
    std::string& bytes = *tensor.mutable_raw_data();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof value)
      std::memcpy(bytes.data() + at, &value, sizeof value);
    saveModel(model, to);
    return;
  }
  throw std::runtime_error("no such weights in " + from);
}

/// NaN in a file, which can be seen before anything runs.
inline void writeModelWithNan(const std::string& from, const std::string& to) {
  writeModelWith(from, to, std::numeric_limits<float>::quiet_NaN(),
                 [](const auto& tensor) { return tensor.dims_size() == 2; });
}

/// Finite weights of the patch embedding that make infinities of every token: seen only when it runs.
inline void writeModelThatOverflows(const std::string& from, const std::string& to) {
  writeModelWith(from, to, 3e38f, [](const auto& tensor) { return tensor.dims_size() == 4; });
}

/// The linear segmenter of tests/data, whose 4 classes are nowhere else a dimension of its weights, with `classes` in
/// their place; all weights of the head are zeros.
inline void writeLinearSegmenterWithClasses(const std::string& from, const std::string& to, std::int64_t classes) {
  constexpr std::int64_t kClasses = 4;
  onnx::ModelProto model = modelAt(from);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (auto& tensor : *graph.mutable_initializer()) {
    if (tensor.dims(tensor.dims_size() - 1) != kClasses) continue;
    tensor.mutable_raw_data()->assign(tensor.raw_data().size() / kClasses * classes, '\0');
    tensor.set_dims(tensor.dims_size() - 1, classes);
  }
  for (auto& node : *graph.mutable_node()) {  // {batch, classes, height, width}
    if (node.op_type() != "Constant") continue;
    std::string& bytes = *node.mutable_attribute(0)->mutable_t()->mutable_raw_data();
    std::int64_t shape[4];
    if (bytes.size() != sizeof shape) continue;
    std::memcpy(shape, bytes.data(), sizeof shape);
    if (shape[1] == kClasses) shape[1] = classes;
    std::memcpy(bytes.data(), shape, sizeof shape);
  }
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(
      classes);
  saveModel(model, to);
}

}  // namespace mpm::test
