// SPDX-License-Identifier: Apache-2.0
#include "onnx/reference_file.h"

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace mpm::test {
namespace {

using Json = nlohmann::json;

Json parse(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  return Json::parse(file);
}

std::string decodeBase64(const std::string& text) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t digit = kDigits.find(letter);
    if (digit == std::string::npos) continue;
    bits = (bits << 6) | static_cast<unsigned>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push_back(static_cast<char>((bits >> count) & 0xffu));
    }
  }
  return bytes;
}

template <typename T>
void append(const std::string& bytes, std::vector<double>& values) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    values.push_back(static_cast<double>(value));
  }
}

Array readArray(const Json& json) {
  Array array{json.at("name"), json.at("shape").get<std::vector<int>>(), {}};
  const std::string type = json.at("dtype"), bytes = decodeBase64(json.at("data_b64"));
  if (type == "float32") append<float>(bytes, array.values);
  if (type == "float64") append<double>(bytes, array.values);
  if (type == "int64") append<std::int64_t>(bytes, array.values);
  if (type == "int8") append<std::int8_t>(bytes, array.values);
  for (double& value : array.values) value *= json.value("scale", 1.0);
  std::size_t count = 1;
  for (const int side : array.shape) count *= static_cast<std::size_t>(side);
  if (array.values.size() != count) throw std::runtime_error("array " + array.name + " of " + type + " is incomplete");
  return array;
}

std::vector<Array> readArrays(const Json& json) {
  std::vector<Array> arrays;
  for (const Json& one : json) arrays.push_back(readArray(one));
  return arrays;
}

}  // namespace

std::vector<ExportedModel> exportedModels(const std::string& folder) {
  std::vector<ExportedModel> models;
  for (const Json& row : parse(folder + "/models.json")) {
    const auto text = [&](const char* key) {
      return row.contains(key) && row[key].is_string() ? row[key].get<std::string>() : "";
    };
    const auto number = [&](const char* key) {
      return row.contains(key) && row[key].is_number() ? row[key].get<double>() : 0.0;
    };
    ExportedModel model{text("file"), text("verdict"), text("head"), text("reference")};
    model.blocks = static_cast<int>(number("blocks"));
    model.special_tokens = static_cast<int>(number("special_tokens"));
    model.merges = row.value("merges", true);
    model.tolerance = number("tolerance");
    models.push_back(model);
  }
  return models;
}

ModelReference readReference(const std::string& path) {
  const Json json = parse(path);
  ModelReference reference;
  reference.image = readArray(json.at("inputs").at(0));
  reference.outputs = readArrays(json.at("outputs"));
  return reference;
}

}  // namespace mpm::test
