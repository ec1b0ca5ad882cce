// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/model_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "onnx/model/graph_proto.h"

namespace mpm::onnx_graph {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr int kOldestOpset = 11;
constexpr int kLarge = 1 << 16;  ///< bytes; smaller weights are not worth a read of their own
constexpr std::size_t kPart = 1 << 20;

float widenHalf(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000u) << 16;
  std::uint32_t exponent = (half >> 10) & 0x1fu;
  std::uint32_t mantissa = half & 0x3ffu;
  std::uint32_t bits = sign;
  if (exponent == 31) {
    bits |= 0x7f800000u | (mantissa << 13);
  } else if (exponent != 0) {
    bits |= ((exponent + 112) << 23) | (mantissa << 13);
  } else if (mantissa != 0) {
    exponent = 113;
    while ((mantissa & 0x400u) == 0) {
      mantissa <<= 1;
      --exponent;
    }
    bits |= (exponent << 23) | ((mantissa & 0x3ffu) << 13);
  }
  return std::bit_cast<float>(bits);
}

float widenBfloat(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

std::string externalBytes(const onnx::TensorProto& proto, const std::filesystem::path& folder, std::uintmax_t count,
                          const std::string& what) {
  std::string location;
  std::uintmax_t offset = 0;
  for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset" || entry.key() == "length") {
      const auto number = readNumber<std::uintmax_t>(entry.value());
      if (!number)
        throw Error(what + ": external data with " + entry.key() + " '" + entry.value() + "', expected a number");
      if (entry.key() == "offset") offset = *number;
      if (entry.key() == "length" && *number != count)
        throw Error(what + ": external data of " + entry.value() + " bytes, expected " + std::to_string(count));
    }
  }
  const std::filesystem::path relative = std::filesystem::path(location).lexically_normal();
  if (location.empty() || relative.is_absolute() || *relative.begin() == "..")
    throw Error(what + ": external data in '" + location + "', expected a file in the model's folder");
  if (folder.empty()) throw Error(what + ": external data cannot be read for a model in memory");
  const std::filesystem::path path = folder / relative;
  try {
    const OpenFile file(path);
    if (offset > file.size() || count > file.size() - offset) throw Error("it is too short");
    std::string bytes(static_cast<std::size_t>(count), '\0');
    file.read(offset, bytes.data(), bytes.size());
    return bytes;
  } catch (const Error& error) {
    throw Error(what + ": its external data file '" + path.string() + "': " + error.what());
  }
}

/// take(Stored(), field, convert) for the type of `proto`: an element in raw data, the field that has the elements
/// otherwise, and what makes a number of either.
template <class Take>
auto withType(const onnx::TensorProto& proto, const std::string& what, Take take) {
  const std::identity same;
  switch (proto.data_type()) {
    case onnx::TensorProto::FLOAT:
      return take(float(), proto.float_data(), same);
    case onnx::TensorProto::DOUBLE:
      return take(double(), proto.double_data(), same);
    case onnx::TensorProto::FLOAT16:
      return take(std::uint16_t(0), proto.int32_data(), widenHalf);
    case onnx::TensorProto::BFLOAT16:
      return take(std::uint16_t(0), proto.int32_data(), widenBfloat);
    case onnx::TensorProto::INT64:
      return take(std::int64_t(0), proto.int64_data(), same);
    case onnx::TensorProto::UINT64:
      return take(std::uint64_t(0), proto.uint64_data(), same);
    case onnx::TensorProto::UINT32:
      return take(std::uint32_t(0), proto.uint64_data(), same);
    case onnx::TensorProto::INT32:
      return take(std::int32_t(0), proto.int32_data(), same);
    case onnx::TensorProto::INT16:
      return take(std::int16_t(0), proto.int32_data(), same);
    case onnx::TensorProto::UINT16:
      return take(std::uint16_t(0), proto.int32_data(), same);
    case onnx::TensorProto::INT8:
      return take(std::int8_t(0), proto.int32_data(), same);
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return take(std::uint8_t(0), proto.int32_data(), same);
    default:
      throw Error(what + ": tensors of ONNX type " + std::to_string(proto.data_type()) + " are not understood");
  }
}

std::size_t bytesOf(const onnx::TensorProto& proto, const std::string& what) {
  const std::size_t width = withType(proto, what, [](auto stored, const auto&, auto) { return sizeof stored; });
  try {
    return elements(Shape(proto.dims().begin(), proto.dims().end())) * width;
  } catch (const Error& error) {
    throw Error(what + ": " + error.what());
  }
}

bool isExternal(const onnx::TensorProto& proto) { return proto.data_location() == onnx::TensorProto::EXTERNAL; }

/// Appends a number in protobuf's form.
void appendVarint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

/// The key of a field that is a message, and the message's length; the message itself is to follow.
void appendFieldHeader(std::string& bytes, int field, std::size_t length) {
  constexpr std::uint64_t kLengthDelimited = 2;
  appendVarint(bytes, static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
  appendVarint(bytes, length);
}

void collect(const onnx::TensorProto& tensor, std::set<std::string>& files) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data())
    if (entry.key() == "location") files.insert(entry.value());
}

void collect(const onnx::GraphProto& graph, std::set<std::string>& files) {
  for (const onnx::TensorProto& tensor : graph.initializer()) collect(tensor, files);
  for (const onnx::NodeProto& node : graph.node()) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      collect(attribute.t(), files);
      collect(attribute.g(), files);
    }
  }
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
                       bytesOf(tensor, "weight '" + tensor.name() + "'") == static_cast<std::size_t>(bytes);
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

void LateWeights::load(onnx::GraphProto& graph) {
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (!has(tensor)) continue;
    std::string& values = *tensor.mutable_raw_data();
    values.resize(bytesOf(tensor, "weight '" + tensor.name() + "'"));
    file->read(offsets.at(tensor.name()), values.data(), values.size());
    offsets.erase(tensor.name());
  }
  if (file) file->requireUnchanged();
}

onnx::ModelProto readModelFile(const std::filesystem::path& path, LateWeights& late) {
  late.file = std::make_shared<const OpenFile>(path);
  const std::uint64_t size = late.file->size();
  if (size == 0) throw Error("the file is empty, expected an ONNX model");
  if (size > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
    throw Error("the file is larger than 2 GiB, which ONNX cannot hold: store the weights as external data");
  onnx::ModelProto model;
  google::protobuf::io::FileInputStream stream(late.file->descriptor());
  CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  coded.PushLimit(static_cast<int>(size));
  if (!LateParser(coded, late).model(model)) throw Error("not an ONNX model, or cut off");
  if (model.graph().node_size() == 0) throw Error("not an ONNX model, or cut off: it holds no graph with nodes");
  defaultOpset(model);
  return model;
}

onnx::ModelProto readModelFile(const std::filesystem::path& path) {
  LateWeights late;
  onnx::ModelProto model = readModelFile(path, late);
  late.load(*model.mutable_graph());
  return model;
}

const std::string* metadata(const onnx::ModelProto& model, const std::string& key) {
  for (const onnx::StringStringEntryProto& entry : model.metadata_props())
    if (entry.key() == key) return &entry.value();
  return nullptr;
}

std::string withMetadata(std::string bytes, const std::string& key, const std::string& value) {
  onnx::ModelProto more;  // protobuf reads a message behind another one as a part of it
  onnx::StringStringEntryProto& entry = *more.add_metadata_props();
  entry.set_key(key);
  entry.set_value(value);
  more.AppendToString(&bytes);
  return bytes;
}

std::string serialised(onnx::ModelProto model) {
  const std::size_t whole = model.ByteSizeLong();
  if (whole > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Error("the converted model is larger than 2 GiB, which one ONNX file cannot hold");
  const std::size_t graph_size = model.graph().ByteSizeLong();
  const std::unique_ptr<onnx::GraphProto> graph(model.release_graph());
  google::protobuf::RepeatedPtrField<onnx::TensorProto> weights;
  weights.Swap(graph->mutable_initializer());
  std::string bytes;
  bytes.reserve(whole);
  model.AppendToString(&bytes);
  appendFieldHeader(bytes, onnx::ModelProto::kGraphFieldNumber, graph_size);
  graph->AppendToString(&bytes);
  for (onnx::TensorProto& tensor : weights) {
    appendFieldHeader(bytes, onnx::GraphProto::kInitializerFieldNumber, tensor.ByteSizeLong());
    tensor.AppendToString(&bytes);
    onnx::TensorProto().Swap(&tensor);
  }
  return bytes;
}

std::filesystem::path folderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::set<std::string> externalFiles(const onnx::ModelProto& model) {
  std::set<std::string> files;
  collect(model.graph(), files);
  return files;
}

int defaultOpset(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    if (opset.version() < kOldestOpset || opset.version() > 1000) {
      throw Error("opset " + std::to_string(opset.version()) + " found, " + std::to_string(kOldestOpset) +
                  " or later expected: export the model again");
    }
    return static_cast<int>(opset.version());
  }
  throw Error("not an ONNX model, or cut off: it names no opset");
}

void loadExternalData(onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what) {
  if (!isExternal(proto)) return;
  proto.set_raw_data(externalBytes(proto, folder, bytesOf(proto, what), what));
  proto.clear_external_data();
  proto.clear_data_location();
}

Tensor readTensor(const onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what) {
  const std::size_t bytes = bytesOf(proto, what);
  const Shape shape(proto.dims().begin(), proto.dims().end());
  std::string loaded;
  if (isExternal(proto)) loaded = externalBytes(proto, folder, bytes, what);
  const std::string* const raw = isExternal(proto) ? &loaded : proto.has_raw_data() ? &proto.raw_data() : nullptr;
  if (raw && raw->size() != bytes) {
    throw Error(what + ": " + std::to_string(raw->size()) + " bytes found, " + std::to_string(bytes) +
                " expected for shape " + toString(shape));
  }
  return withType(proto, what, [&](auto stored, const auto& field, auto convert) {
    using Number = std::remove_cvref_t<decltype(convert(stored))>;
    const std::size_t count = bytes / sizeof stored;
    std::vector<std::conditional_t<std::is_floating_point_v<Number>, float, std::int64_t>> values(raw ? count
                                                                                                      : field.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (raw) std::memcpy(&stored, raw->data() + i * sizeof stored, sizeof stored);
      values[i] = raw ? convert(stored) : convert(field[i]);  // NOLINT(bugprone-signed-char-misuse): int8 has a sign
    }
    if (values.size() != count) {
      throw Error(what + ": " + std::to_string(values.size()) + " values found, " + std::to_string(count) +
                  " expected for shape " + toString(shape));
    }
    return Tensor::of(shape, std::move(values));
  });
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

  for (onnx::NodeProto& node : nodes) {
    if (onnx::TensorProto* const tensor = tensorOf(node))
      loadExternalData(*tensor, folder, "constant '" + node.output(0) + "'");
  }
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    loadExternalData(tensor, folder, "initialiser '" + tensor.name() + "'");
    if (ours.contains(tensor.name()) && !late.has(tensor) && !isPlain(tensor)) widen(tensor);
  }
}

}  // namespace mpm::onnx_graph
