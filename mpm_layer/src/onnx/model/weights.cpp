// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/weights.h"

#include <google/protobuf/message_lite.h>

#include <algorithm>
#include <set>

#include "onnx/model/graph_proto.h"
#include "onnx/model/model_file.h"

namespace mpm::onnx_graph {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr int kLarge = 1 << 16;  ///< bytes; smaller ones are not worth a read of their own
constexpr std::size_t kPart = 1 << 20;

std::uint64_t bytesOf(const onnx::TensorProto& tensor) {
  return static_cast<std::uint64_t>(elements(Shape(tensor.dims().begin(), tensor.dims().end()))) * sizeof(float);
}

// protobuf's format: a message is a row of fields. A field starts with its number and its type; a message inside
// another one, text and bytes have their length in front of them.
class LateParser {
 public:
  LateParser(CodedInputStream& stream, LateWeights& late) : stream_(stream), late_(late) {}

  bool model(onnx::ModelProto& model) {
    return fields(model, onnx::ModelProto::kGraphFieldNumber, [&] { return graph(*model.mutable_graph()); });
  }

 private:
  bool graph(onnx::GraphProto& graph) {
    return fields(graph, onnx::GraphProto::kInitializerFieldNumber, [&] { return tensor(graph); });
  }

  bool tensor(onnx::GraphProto& graph) {
    onnx::TensorProto& tensor = *graph.add_initializer();
    int offset = -1, bytes = 0;
    const bool whole = fields(tensor, onnx::TensorProto::kRawDataFieldNumber, [&] {
      bytes = stream_.BytesUntilLimit();
      if (offset >= 0 || bytes < kLarge) {  // twice: the last one counts
        offset = -1;
        return stream_.ReadString(tensor.mutable_raw_data(), bytes);
      }
      tensor.clear_raw_data();
      offset = stream_.CurrentPosition();
      return stream_.Skip(bytes);
    });
    if (!whole || offset < 0) return whole;
    const auto place = static_cast<std::uint64_t>(offset);
    const bool plain = tensor.data_type() == onnx::TensorProto::FLOAT && tensor.dims_size() > 0 &&
                       tensor.data_location() != onnx::TensorProto::EXTERNAL &&
                       bytesOf(tensor) == static_cast<std::uint64_t>(bytes);
    if (plain && late_.offsets.emplace(tensor.name(), place).second) return true;
    std::string& values = *tensor.mutable_raw_data();
    values.resize(bytes);
    late_.file->read(place, values.data(), values.size());
    return true;
  }

  // The fields up to the limit. Those of this number, which have a length, go to `take`, the others into `message`.
  template <class Take>
  bool fields(google::protobuf::MessageLite& message, int number, Take take) {
    std::string others;
    while (stream_.BytesUntilLimit() > 0) {
      const std::uint32_t tag = stream_.ReadTag();
      if (tag == (static_cast<std::uint32_t>(number) << 3 | kLength)) {
        std::uint32_t length = 0;
        if (!stream_.ReadVarint32(&length) || length > static_cast<std::uint32_t>(stream_.BytesUntilLimit()))
          return false;
        const auto limit = stream_.PushLimit(static_cast<int>(length));
        if (!take()) return false;
        stream_.PopLimit(limit);
      } else if (!copy(tag, others)) {
        return false;
      }
      if (others.size() < kPart && stream_.BytesUntilLimit() > 0) continue;
      if (!message.MergeFromString(others)) return false;
      others.clear();
    }
    return true;
  }

  bool copy(std::uint32_t tag, std::string& to) {
    appendVarint(to, tag);
    std::uint64_t count = (tag & 7) == kFourBytes ? 4 : 8;
    if ((tag & 7) == kVarint || (tag & 7) == kLength) {
      if (!stream_.ReadVarint64(&count)) return false;
      appendVarint(to, count);
      if ((tag & 7) == kVarint) return true;
    } else if ((tag & 7) != kFourBytes && (tag & 7) != kEightBytes) {
      return false;
    }
    if (tag == 0 || count > static_cast<std::uint64_t>(stream_.BytesUntilLimit())) return false;
    const std::size_t before = to.size();
    to.resize(before + count);
    return stream_.ReadRaw(to.data() + before, static_cast<int>(count));
  }

  enum Type : std::uint32_t { kVarint = 0, kEightBytes = 1, kLength = 2, kFourBytes = 5 };

  CodedInputStream& stream_;
  LateWeights& late_;
};

/// The tensor of a Constant node; null for another node, or one of numbers.
onnx::TensorProto* tensorOf(onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || !node.domain().empty() || node.output_size() != 1) return nullptr;
  for (onnx::AttributeProto& attribute : *node.mutable_attribute())
    if (attribute.name() == "value" && attribute.has_t()) return attribute.mutable_t();
  return nullptr;
}

void widen(onnx::TensorProto& tensor) {
  const Tensor read = readTensor(tensor, {}, "weight '" + tensor.name() + "'");
  if (!read.isFloat()) return;
  onnx::TensorProto plain;
  plain.set_name(tensor.name());
  plain.set_data_type(onnx::TensorProto::FLOAT);
  *plain.mutable_dims() = tensor.dims();
  plain.set_raw_data(read.floats->data(), read.floats->size() * sizeof(float));
  tensor.Swap(&plain);
}

}  // namespace

void appendVarint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void LateWeights::load(onnx::GraphProto& graph) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (!has(tensor)) continue;
    std::string& values = *tensor.mutable_raw_data();
    values.resize(bytesOf(tensor));
    file->read(offsets.at(tensor.name()), values.data(), values.size());
    offsets.erase(tensor.name());
  }
  if (file) file->requireUnchanged();
}

bool parseLate(CodedInputStream& stream, onnx::ModelProto& model, LateWeights& late) {
  stream.PushLimit(static_cast<int>(late.file->size()));
  return LateParser(stream, late).model(model);
}

bool isPlain(const onnx::TensorProto& tensor) {
  std::size_t bytes = sizeof(float);
  for (const std::int64_t side : tensor.dims()) {
    if (side < 1 || static_cast<std::size_t>(side) > tensor.raw_data().size()) return false;
    bytes *= static_cast<std::size_t>(side);
    if (bytes > tensor.raw_data().size()) return false;
  }
  return tensor.data_type() == onnx::TensorProto::FLOAT && tensor.dims_size() > 0 && bytes == tensor.raw_data().size();
}

void makeWeightsPlain(onnx::GraphProto& graph, const std::filesystem::path& folder, const LateWeights& late) {
  std::set<std::string> ours;
  for (const onnx::NodeProto& node : graph.node())
    if (isOurs(node)) ours.insert(node.input().begin(), node.input().end());

  auto& nodes = *graph.mutable_node();
  const auto becomesWeight = [&](onnx::NodeProto& node) {
    onnx::TensorProto* const tensor = tensorOf(node);
    if (!tensor || !ours.contains(node.output(0))) return false;
    tensor->set_name(node.output(0));
    graph.add_initializer()->Swap(tensor);
    return true;
  };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), becomesWeight), nodes.end());

  for (onnx::NodeProto& node : nodes)
    if (onnx::TensorProto* const tensor = tensorOf(node))
      loadExternalData(*tensor, folder, "constant '" + node.output(0) + "'");
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    loadExternalData(tensor, folder, "initialiser '" + tensor.name() + "'");
    if (ours.contains(tensor.name()) && !late.has(tensor) && !isPlain(tensor)) widen(tensor);
  }
}

}  // namespace mpm::onnx_graph
