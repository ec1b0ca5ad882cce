// SPDX-License-Identifier: Apache-2.0
#include "safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "base/visible_text.h"
#include "half.h"
#include "mpm/error.hpp"

namespace mpm::train {
namespace {

float fromBfloat(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

HostTensor readTensor(const JsonValue& entry, std::span<const char> data) {
  const std::string dtype = entry.at("dtype").text();
  std::vector<std::size_t> offsets;
  for (const JsonValue& one : entry.at("data_offsets").list(2, 2))
    offsets.push_back(static_cast<std::size_t>(one.count()));
  HostTensor tensor;
  for (const JsonValue& one : entry.at("shape").list()) tensor.shape.push_back(one.count());
  const std::size_t width = dtype == "F32" ? 4 : dtype == "F16" || dtype == "BF16" ? 2 : 0;
  if (width == 0) throw Error("its type " + visibleText(dtype) + " is not F32, F16 or BF16");
  std::size_t count = 1;
  for (const std::int64_t size : tensor.shape) {
    if (size > 0 && count > data.size() / static_cast<std::size_t>(size)) throw Error("its shape is beyond the file");
    count *= static_cast<std::size_t>(size);
  }
  if (offsets[0] > offsets[1] || offsets[1] > data.size() || offsets[1] - offsets[0] != count * width)
    throw Error("its place does not fit its shape");
  tensor.values.resize(count);
  const char* source = data.data() + offsets[0];
  if (width == 4) {
    std::memcpy(tensor.values.data(), source, count * width);
    return tensor;
  }
  std::vector<std::uint16_t> bits(count);
  std::memcpy(bits.data(), source, count * width);
  if (dtype == "F16")
    tensor.values = fromHalf(bits);
  else
    std::transform(bits.begin(), bits.end(), tensor.values.begin(), fromBfloat);
  return tensor;
}

}  // namespace

TensorFile readTensorFile(const std::string& path) {
  const std::string bytes = readFile(path);
  std::uint64_t header_size = 0;
  if (bytes.size() >= sizeof header_size) std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (header_size == 0 || header_size > bytes.size() - sizeof header_size)
    throw Error("'" + path + "' is not a safetensors file");
  const std::span<const char> data = std::span(bytes).subspan(sizeof header_size + header_size);
  TensorFile file;
  const std::string text = bytes.substr(sizeof header_size, header_size), what = "'" + path + "': its header";
  const JsonValue header(text, what);
  for (const auto& [name, unread] : header.json().items()) {
    const JsonValue entry = header.at(name);
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.json().items()) file.metadata[key] = entry.at(key).text();
      continue;
    }
    try {
      file.tensors.emplace(name, readTensor(entry, data));
    } catch (const Error& error) {
      const std::string why = error.what();
      throw Error(why.starts_with(what) ? why : "'" + path + "': tensor '" + visibleText(name) + "': " + why);
    }
  }
  return file;
}

void writeTensorFile(const std::string& path, const TensorFile& file) {
  nlohmann::json header;
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  std::string data;
  for (const auto& [name, tensor] : file.tensors) {
    const std::size_t begin = data.size(), size = tensor.values.size() * sizeof(float);
    data.append(reinterpret_cast<const char*>(tensor.values.data()), size);
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, begin + size}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors start at a multiple of 8 bytes
  const std::uint64_t header_size = text.size();
  const std::string_view size(reinterpret_cast<const char*>(&header_size), sizeof header_size);
  writeFileAtomically(path, std::string(size) + text + data, true);
}

}  // namespace mpm::train
