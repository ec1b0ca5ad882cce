// SPDX-License-Identifier: Apache-2.0
#include "safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "base/atomic_file.h"
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

HostTensor readTensor(const nlohmann::json& entry, std::span<const char> data) {
  const auto dtype = entry.at("dtype").get<std::string>();
  const auto offsets = entry.at("data_offsets").get<std::vector<std::size_t>>();
  HostTensor tensor{entry.at("shape").get<std::vector<std::int64_t>>(), {}};
  const std::size_t width = dtype == "F32" ? 4 : dtype == "F16" || dtype == "BF16" ? 2 : 0;
  if (width == 0) throw Error("its type " + dtype + " is not F32, F16 or BF16");
  std::size_t count = 1;
  for (const std::int64_t size : tensor.shape) {
    if (size < 0 || (size > 0 && count > data.size() / static_cast<std::size_t>(size)))
      throw Error("its shape is beyond the file");
    count *= static_cast<std::size_t>(size);
  }
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
      offsets[1] - offsets[0] != count * width)
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
  std::string name;
  try {
    const nlohmann::json header =
        nlohmann::json::parse(bytes.begin() + sizeof header_size,
                              bytes.begin() + static_cast<std::ptrdiff_t>(sizeof header_size + header_size));
    for (const auto& [key, entry] : header.items()) {
      name = key;
      if (key == "__metadata__")
        file.metadata = entry.get<std::map<std::string, std::string>>();
      else
        file.tensors.emplace(key, readTensor(entry, data));
    }
  } catch (const nlohmann::json::exception&) {
    throw Error("'" + path + "' is not a safetensors file: its header is damaged");
  } catch (const Error& error) {
    throw Error("'" + path + "': tensor '" + name + "': " + error.what());
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
