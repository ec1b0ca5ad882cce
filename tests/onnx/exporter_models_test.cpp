// SPDX-License-Identifier: Apache-2.0
// Models that real exporters wrote (tests/data), through the converter and cv::dnn, against ONNX Runtime's outputs. How
// they merge: tests/worlds/graphs.
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "onnx/run_net.h"
#include "support/data_path.h"
#include "support/reading.h"
#include "support/throws_with.h"

namespace mpm::test {

/// One row of models.json.
struct ExportedModel {
  nlohmann::json row;

  std::string text(const char* key) const { return row.at(key).get<std::string>(); }
};

void PrintTo(const ExportedModel& model, std::ostream* out) { *out << model.text("file"); }

namespace {

using Json = nlohmann::json;

/// A tensor of a NAME.reference.json (tests/data/README.md).
struct Array {
  std::string name;
  std::vector<int> shape;
  std::vector<double> values;
};

std::string decodedBase64(const std::string& text) {
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t digit = kDigits.find(letter);
    if (digit == std::string::npos) continue;
    bits = (bits << 6) | static_cast<unsigned>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<char>((bits >> count) & 0xffu));
  }
  return bytes;
}

template <typename T>
void append(const std::string& bytes, std::vector<double>& values) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  values.insert(values.end(), numbers.begin(), numbers.end());
}

Array arrayOf(const Json& json) {
  Array array{json.at("name"), json.at("shape").get<std::vector<int>>(), {}};
  const std::string type = json.at("dtype"), bytes = decodedBase64(json.at("data_b64"));
  if (type == "float32") append<float>(bytes, array.values);
  if (type == "int64") append<std::int64_t>(bytes, array.values);
  if (type == "int8") append<std::int8_t>(bytes, array.values);
  for (double& value : array.values) value *= json.value("scale", 1.0);
  EXPECT_FALSE(array.values.empty()) << array.name << " of " << type;
  return array;
}

/// What is said of the models that are no plain pre-norm ViT, by any exporter.
const std::map<std::string, std::string> kRefusals = {
    {"resnet", "hierarchical or convolutional backbone"},
    {"swin", "hierarchical or windowed backbone, such as Swin"},
    {"pvt", "hierarchical or convolutional backbone"},
    {"post_norm", "expected a LayerNorm between the residual stream and attention or MLP (pre-norm)"}};

/// A file of tests/data, or of the folder that MPM_EXPORTED_MODELS names: what make_models.py wrote with --suite.
std::string modelPath(const std::string& name) {
  const char* const suite = std::getenv("MPM_EXPORTED_MODELS");
  return suite != nullptr ? std::string(suite) + "/" + name : dataPath(name);
}

class ExporterModel : public ::testing::TestWithParam<ExportedModel> {};

/// The part of `array` that belongs to image `b`.
std::vector<double> imageOf(const Array& array, int b) {
  const auto size = std::ssize(array.values) / array.shape.at(0), first = size * b;
  return {array.values.begin() + first, array.values.begin() + first + size};
}

bool isLabels(const Array& output, const ModelInfo& info) { return info.hasPixelClasses() && output.shape.size() == 3; }

void compare(const std::string& path, const ConvertOptions& options, const Array& image,
             const std::vector<Array>& expected, double tolerance) {
  ConvertOptions asked = options;
  asked.output = Output::kLogits;
  const bool labels = isLabels(expected[0], readModelInfo(path, asked));
  asked.output = labels ? Output::kLabels : Output::kLogits;
  auto [net, info] = readNet(path, reading(asked));
  const std::vector<std::string>& names = info.outputs;
  std::vector<int> shape = image.shape;
  shape[0] = 1;
  for (int b = 0; b < image.shape[0]; ++b) {
    const auto found = runNet(net, imageOf(image, b), shape, names);
    ASSERT_EQ(info.outputs.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (labels) {
        std::size_t wrong = 0;
        const auto truth = imageOf(expected[i], b);
        ASSERT_EQ(found[i].size(), truth.size());
        for (std::size_t p = 0; p < truth.size(); ++p) wrong += found[i][p] != truth[p];
        EXPECT_LE(wrong, truth.size() / 500) << "labels of image " << b;
      } else {
        EXPECT_EQ(info.outputs[i], expected[i].name);
        EXPECT_LE(difference(found[i], imageOf(expected[i], b)), tolerance) << expected[i].name << " of image " << b;
      }
    }
  }
  if (image.shape[0] == 1 || labels) return;
  const auto together = runNet(net, image.values, image.shape, names);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(difference(together[i], expected[i].values), tolerance) << expected[i].name << " of the whole batch";
}

TEST_P(ExporterModel, ComputesWhatItsExporterMeant) {
  const ExportedModel& model = GetParam();
  const std::string file = model.text("file"), path = modelPath(file);
  ConvertOptions options;
  options.reduce = kFullModel;
  if (model.text("verdict") == "refuse") {
    EXPECT_MPM_ERROR(convertModel(path, options), kRefusals.at(file.substr(0, file.rfind('_'))));
    return;
  }
  const Json reference = Json::parse(std::ifstream(modelPath(model.text("reference"))));
  const Array image = arrayOf(reference.at("inputs").at(0));
  std::vector<Array> outputs;
  for (const Json& one : reference.at("outputs")) outputs.push_back(arrayOf(one));
  options.input_size = Size2{image.shape.at(2), image.shape.at(3)};
  const ModelInfo info = readModelInfo(path, options);
  EXPECT_EQ(toString(info.head), model.text("head"));
  EXPECT_EQ(info.blocks, model.row.at("blocks").get<int>());
  EXPECT_EQ(info.special_tokens, model.row.at("special_tokens").get<int>());
  compare(path, options, image, outputs, model.row.at("tolerance").get<double>());
  if (!model.row.at("merges").get<bool>()) {
    ConvertOptions merging = options;
    merging.reduce = mpmBefore({1});
    EXPECT_MPM_ERROR(convertModel(path, merging), "its tokens cannot merge");
    merging.reduce.reset();
    EXPECT_EQ(readModelInfo(path, merging).schedule(), Schedule{}) << "what is not asked for";
  }
}

std::vector<ExportedModel> exportedModels() {
  std::vector<ExportedModel> models;
  for (const Json& row : Json::parse(std::ifstream(modelPath("models.json")))) models.push_back({row});
  return models;
}

std::string modelName(const ::testing::TestParamInfo<ExportedModel>& info) {
  return std::filesystem::path(info.param.text("file")).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Data, ExporterModel, ::testing::ValuesIn(exportedModels()), modelName);

}  // namespace
}  // namespace mpm::test
