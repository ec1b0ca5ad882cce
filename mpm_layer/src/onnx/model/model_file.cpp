// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/model_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>

#include "base/number_text.h"
#include "mpm/error.hpp"

namespace mpm::onnx_graph {
namespace {

constexpr int kOldestOpset = 11;

std::string readBytes(const std::filesystem::path& path, std::uintmax_t offset, std::uintmax_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(count), '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(count))) throw Error("cannot read '" + path.string() + "'");
  return bytes;
}

/// `read` parses all of `size` bytes into a model.
template <class Read>
onnx::ModelProto parse(google::protobuf::io::ZeroCopyInputStream& stream, std::uintmax_t size, Read read) {
  if (size == 0) throw Error("the file is empty, expected an ONNX model");
  if (size > static_cast<std::uintmax_t>(std::numeric_limits<int>::max())) {
    throw Error("the file is larger than 2 GiB, which ONNX cannot hold: store the weights as external data");
  }
  onnx::ModelProto model;
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!read(coded, model)) throw Error("not an ONNX model, or cut off");
  if (model.graph().node_size() == 0) throw Error("not an ONNX model, or cut off: it holds no graph with nodes");
  defaultOpset(model);
  return model;
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
  for (const onnx::NodeProto& node : graph.node())
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      collect(attribute.t(), files);
      collect(attribute.g(), files);
    }
}

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
      if (entry.key() == "length" && *number != count) {
        throw Error(what + ": external data of " + entry.value() + " bytes, expected " + std::to_string(count));
      }
    }
  }
  const std::filesystem::path relative = std::filesystem::path(location).lexically_normal();
  if (location.empty() || relative.is_absolute() || *relative.begin() == "..") {
    throw Error(what + ": external data in '" + location + "', expected a file in the model's folder");
  }
  if (folder.empty()) throw Error(what + ": external data cannot be read for a model in memory");
  const std::filesystem::path path = folder / relative;
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) {
    throw Error(what + ": its external data file '" + path.string() + "' is missing");
  }
  const std::uintmax_t size = std::filesystem::file_size(path, status);
  if (status || offset > size || count > size - offset) {
    throw Error(what + ": its external data file '" + path.string() + "' is too short");
  }
  return readBytes(path, offset, count);
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
      return take(std::uint16_t(), proto.int32_data(), widenHalf);
    case onnx::TensorProto::BFLOAT16:
      return take(std::uint16_t(), proto.int32_data(), widenBfloat);
    case onnx::TensorProto::INT64:
      return take(std::int64_t(), proto.int64_data(), same);
    case onnx::TensorProto::UINT64:
      return take(std::uint64_t(), proto.uint64_data(), same);
    case onnx::TensorProto::UINT32:
      return take(std::uint32_t(), proto.uint64_data(), same);
    case onnx::TensorProto::INT32:
      return take(std::int32_t(), proto.int32_data(), same);
    case onnx::TensorProto::INT16:
      return take(std::int16_t(), proto.int32_data(), same);
    case onnx::TensorProto::UINT16:
      return take(std::uint16_t(), proto.int32_data(), same);
    case onnx::TensorProto::INT8:
      return take(std::int8_t(), proto.int32_data(), same);
    case onnx::TensorProto::UINT8:
    case onnx::TensorProto::BOOL:
      return take(std::uint8_t(), proto.int32_data(), same);
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

}  // namespace

onnx::ModelProto parseModel(const std::string& bytes) {
  google::protobuf::io::ArrayInputStream stream(
      bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max())));
  return parse(stream, bytes.size(), [](auto& coded, auto& model) {
    return model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  });
}

onnx::ModelProto readModelFile(const std::filesystem::path& path, LateWeights& late) {
  late.file = std::make_shared<const OpenFile>(path);
  google::protobuf::io::FileInputStream stream(late.file->descriptor());
  return parse(stream, late.file->size(), [&](auto& coded, auto& model) { return parseLate(coded, model, late); });
}

onnx::ModelProto readModelFile(const std::filesystem::path& path) {
  LateWeights late;
  onnx::ModelProto model = readModelFile(path, late);
  late.load(*model.mutable_graph());
  return model;
}

const std::string* metadata(const onnx::ModelProto& model, const std::string& key) {
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    if (entry.key() == key) return &entry.value();
  }
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

}  // namespace mpm::onnx_graph
