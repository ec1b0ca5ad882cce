// SPDX-License-Identifier: Apache-2.0
#include "onnx/model/model_file.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>

#include "mpm/error.hpp"

namespace mpm::onnx_graph {
namespace {

constexpr int kOldestOpset = 11;

std::string readBytes(const std::filesystem::path& path, std::uintmax_t offset, std::uintmax_t count) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(count), '\0');
  if (!file || !file.seekg(static_cast<std::streamoff>(offset)) ||
      !file.read(bytes.data(), static_cast<std::streamsize>(count))) {
    throw Error("cannot read '" + path.string() + "'");
  }
  return bytes;
}

}  // namespace

namespace {

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
  if (!model.has_graph() || model.graph().node_size() == 0) {
    throw Error("not an ONNX model, or cut off: it holds no graph with nodes");
  }
  defaultOpset(model);
  return model;
}

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

namespace {

/// The key of a field that is a message, and the message's length; the message itself is to follow.
void appendFieldHeader(std::string& bytes, int field, std::size_t length) {
  constexpr std::uint64_t kLengthDelimited = 2;
  appendVarint(bytes, static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
  appendVarint(bytes, length);
}

}  // namespace

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

namespace {

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

}  // namespace

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

namespace {

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
      std::uintmax_t number = 0;
      const auto [end, status] =
          std::from_chars(entry.value().data(), entry.value().data() + entry.value().size(), number);
      if (status != std::errc() || end != entry.value().data() + entry.value().size()) {
        throw Error(what + ": external data with " + entry.key() + " '" + entry.value() + "', expected a number");
      }
      if (entry.key() == "offset") offset = number;
      if (entry.key() == "length" && number != count) {
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

template <typename Stored, typename Result, typename Convert>
std::vector<Result> fromRaw(const std::string& raw, Convert convert) {
  std::vector<Result> values(raw.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, raw.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = static_cast<Result>(convert(stored));  // NOLINT(bugprone-signed-char-misuse): int8 has a sign
  }
  return values;
}

template <typename Result, typename Field, typename Convert>
std::vector<Result> fromField(const Field& field, Convert convert) {
  std::vector<Result> values(static_cast<std::size_t>(field.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Result>(convert(field[static_cast<int>(i)]));
  return values;
}

std::size_t bytesPerElement(int type) {
  switch (type) {
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
      return 1;
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
      return 2;
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::UINT32:
      return 4;
    case onnx::TensorProto::DOUBLE:
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT64:
      return 8;
    default:
      return 0;
  }
}

std::size_t bytesOf(const onnx::TensorProto& proto, const std::string& what) {
  const std::size_t width = bytesPerElement(proto.data_type());
  if (width == 0)
    throw Error(what + ": tensors of ONNX type " + std::to_string(proto.data_type()) + " are not understood");
  try {
    return static_cast<std::size_t>(elements(Shape(proto.dims().begin(), proto.dims().end()))) * width;
  } catch (const Error& error) {
    throw Error(what + ": " + error.what());
  }
}

bool isExternal(const onnx::TensorProto& proto) { return proto.data_location() == onnx::TensorProto::EXTERNAL; }

}  // namespace

void loadExternalData(onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what) {
  if (!isExternal(proto)) return;
  proto.set_raw_data(externalBytes(proto, folder, bytesOf(proto, what), what));
  proto.clear_external_data();
  proto.clear_data_location();
}

Tensor readTensor(const onnx::TensorProto& proto, const std::filesystem::path& folder, const std::string& what) {
  const int type = proto.data_type();
  const std::size_t bytes = bytesOf(proto, what), count = bytes / bytesPerElement(type);
  const Shape shape(proto.dims().begin(), proto.dims().end());
  const bool external = isExternal(proto);
  const bool raw_given = external || proto.has_raw_data();
  std::string loaded;
  if (external) loaded = externalBytes(proto, folder, bytes, what);
  const std::string& raw = external ? loaded : proto.raw_data();
  if (raw_given && raw.size() != bytes) {
    throw Error(what + ": " + std::to_string(raw.size()) + " bytes found, " + std::to_string(bytes) +
                " expected for shape " + toString(shape));
  }
  const auto same = [](auto value) { return value; };
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  bool is_float = false;
  const auto bits16 = [](auto convert) { return [convert](auto v) { return convert(static_cast<std::uint16_t>(v)); }; };
  switch (type) {
    case onnx::TensorProto::FLOAT:
      is_float = true;
      floats = raw_given ? fromRaw<float, float>(raw, same) : fromField<float>(proto.float_data(), same);
      break;
    case onnx::TensorProto::DOUBLE:
      is_float = true;
      floats = raw_given ? fromRaw<double, float>(raw, same) : fromField<float>(proto.double_data(), same);
      break;
    case onnx::TensorProto::FLOAT16:
      is_float = true;
      floats = raw_given ? fromRaw<std::uint16_t, float>(raw, widenHalf)
                         : fromField<float>(proto.int32_data(), bits16(widenHalf));
      break;
    case onnx::TensorProto::BFLOAT16:
      is_float = true;
      floats = raw_given ? fromRaw<std::uint16_t, float>(raw, widenBfloat)
                         : fromField<float>(proto.int32_data(), bits16(widenBfloat));
      break;
    case onnx::TensorProto::INT64:
      ints = raw_given ? fromRaw<std::int64_t, std::int64_t>(raw, same)
                       : fromField<std::int64_t>(proto.int64_data(), same);
      break;
    case onnx::TensorProto::UINT64:
    case onnx::TensorProto::UINT32:
      if (raw_given) {
        ints = type == onnx::TensorProto::UINT64 ? fromRaw<std::uint64_t, std::int64_t>(raw, same)
                                                 : fromRaw<std::uint32_t, std::int64_t>(raw, same);
      } else {
        ints = fromField<std::int64_t>(proto.uint64_data(), same);
      }
      break;
    default:
      if (!raw_given) {
        ints = fromField<std::int64_t>(proto.int32_data(), same);
      } else if (type == onnx::TensorProto::INT32) {
        ints = fromRaw<std::int32_t, std::int64_t>(raw, same);
      } else if (type == onnx::TensorProto::INT16) {
        ints = fromRaw<std::int16_t, std::int64_t>(raw, same);
      } else if (type == onnx::TensorProto::UINT16) {
        ints = fromRaw<std::uint16_t, std::int64_t>(raw, same);
      } else if (type == onnx::TensorProto::INT8) {
        ints = fromRaw<std::int8_t, std::int64_t>(raw, same);
      } else {
        ints = fromRaw<std::uint8_t, std::int64_t>(raw, same);
      }
  }
  const std::size_t found = is_float ? floats.size() : ints.size();
  if (found != count) {
    throw Error(what + ": " + std::to_string(found) + " values found, " + std::to_string(count) +
                " expected for shape " + toString(shape));
  }
  return is_float ? Tensor::of(shape, std::move(floats)) : Tensor::of(shape, std::move(ints));
}

}  // namespace mpm::onnx_graph
