// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>

namespace mpm::test {

/// Copies a model with one weight of its first matrix of weights turned into NaN.
inline void writeModelWithNan(const std::string& from, const std::string& to) {
  onnx::ModelProto model;
  std::ifstream input(from, std::ios::binary);
  if (!model.ParseFromIstream(&input)) throw std::runtime_error("cannot read " + from);
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() != onnx::TensorProto::FLOAT || tensor.dims_size() < 2 || tensor.raw_data().empty()) continue;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(tensor.mutable_raw_data()->data(), &nan, sizeof nan);
    std::ofstream output(to, std::ios::binary);
    if (!model.SerializeToOstream(&output)) throw std::runtime_error("cannot write " + to);
    return;
  }
  throw std::runtime_error("no float weights in " + from);
}

}  // namespace mpm::test
