// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: bytes through the reader, the recogniser and the writer. Whatever they are, the outcome is a model
// or an mpm::Error. Half of the mutations are made on the parsed graph, because bytes changed at random seldom get past
// protobuf. Run: fuzz_reader -max_len=200000 CORPUS tests/data
#include <google/protobuf/stubs/logging.h>

#include <random>

#include "onnx/converter.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Random = std::minstd_rand;

template <typename Container>
int pick(const Container& container, Random& random) {
  return static_cast<int>(random() % static_cast<unsigned>(container.size()));
}

std::int64_t number(Random& random) {
  constexpr std::int64_t kTelling[] = {0,         1,        -1, 2, 3, 7, 16, 255, -128, 1 << 16, INT64_C(1) << 40,
                                       INT64_MAX, INT64_MIN};
  return kTelling[random() % std::size(kTelling)];
}

void mutateAttribute(onnx::NodeProto& node, Random& random) {
  if (node.attribute_size() == 0) return;
  onnx::AttributeProto& attribute = *node.mutable_attribute(pick(node.attribute(), random));
  if (attribute.ints_size() > 0) {
    attribute.set_ints(pick(attribute.ints(), random), number(random));
  } else if (random() % 4 == 0) {
    node.mutable_attribute()->DeleteSubrange(0, 1);
  } else {
    attribute.set_i(number(random));
  }
}

void mutateTensor(onnx::TensorProto& tensor, Random& random) {
  const unsigned choice = random() % 4;
  if (choice == 0 && tensor.dims_size() > 0) {
    tensor.set_dims(pick(tensor.dims(), random), number(random));
  } else if (choice == 1 && tensor.int64_data_size() > 0) {
    tensor.set_int64_data(pick(tensor.int64_data(), random), number(random));
  } else if (choice == 2 && tensor.raw_data().size() % 8 == 0 && !tensor.raw_data().empty()) {
    const std::int64_t value = number(random);
    tensor.mutable_raw_data()->replace(0, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
  } else if (choice == 3 && tensor.dims_size() > 1) {
    tensor.mutable_dims()->SwapElements(0, tensor.dims_size() - 1);
  }
}

void mutateGraph(onnx::GraphProto& graph, Random& random) {
  if (graph.node_size() == 0) return;
  onnx::NodeProto& node = *graph.mutable_node(pick(graph.node(), random));
  onnx::NodeProto& other = *graph.mutable_node(pick(graph.node(), random));
  switch (random() % 8) {
    case 0:
      node.set_op_type(other.op_type());
      break;
    case 1:
      if (node.input_size() > 0 && other.output_size() > 0) node.set_input(pick(node.input(), random), other.output(0));
      break;
    case 2:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      break;
    case 3:
      if (node.input_size() > 0 && other.input_size() > 0) node.add_input(other.input(pick(other.input(), random)));
      break;
    case 4:
      mutateAttribute(node, random);
      break;
    case 5:
      if (graph.initializer_size() > 0)
        mutateTensor(*graph.mutable_initializer(pick(graph.initializer(), random)), random);
      break;
    case 6:
      if (node.attribute_size() > 0 && node.attribute(0).has_t())
        mutateTensor(*node.mutable_attribute(0)->mutable_t(), random);
      break;
    default:
      if (graph.output_size() > 0 && node.output_size() > 0) graph.mutable_output(0)->set_name(node.output(0));
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  Random random(seed);
  onnx::ModelProto model;
  if (random() % 4 != 0 && model.ParseFromArray(data, static_cast<int>(size))) {
    for (unsigned i = 1 + random() % 3; i > 0; --i) mutateGraph(*model.mutable_graph(), random);
    if (model.ByteSizeLong() <= max_size) {
      const std::string bytes = model.SerializeAsString();
      std::copy(bytes.begin(), bytes.end(), data);
      return bytes.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const google::protobuf::LogSilencer quiet;
  mpm::ConvertOptions options;
  options.reduce = mpm::kFullModel;
  mpm::onnx_graph::FactsFile facts;
  facts.input = {32, 32};
  onnx::ModelProto model;
  if (!model.ParseFromArray(data, static_cast<int>(size))) return 0;
  try {
    mpm::onnx_graph::convert(std::move(model), facts, options, "");
  } catch (const mpm::Error&) {
  }
  return 0;
}
