// SPDX-License-Identifier: Apache-2.0
// Models that real exporters wrote (tests/data), through the converter and cv::dnn, against ONNX Runtime's outputs. How
// they merge: tests/worlds/graphs.
#include <filesystem>
#include <map>

#include "onnx/reference_file.h"
#include "onnx/run_net.h"
#include "support/data_path.h"
#include "support/reading.h"
#include "support/throws_with.h"

namespace mpm::test {

void PrintTo(const ExportedModel& model, std::ostream* out) { *out << model.file; }

namespace {

/// What is said of the models that are no plain pre-norm ViT, by any exporter.
const std::map<std::string, std::string> kRefusals = {
    {"resnet", "hierarchical or convolutional backbone"},
    {"swin", "hierarchical or windowed backbone, such as Swin"},
    {"pvt", "hierarchical or convolutional backbone"},
    {"post_norm", "expected a LayerNorm between the residual stream and attention or MLP (pre-norm)"}};

/// A file of tests/data, or of the folder that MPM_EXPORTED_MODELS names: what make_models.py wrote with --suite or
/// --all.
std::string modelPath(const std::string& name) {
  const char* const suite = std::getenv("MPM_EXPORTED_MODELS");
  return suite != nullptr ? std::string(suite) + "/" + name : dataPath(name);
}

class ExporterModel : public ::testing::TestWithParam<ExportedModel> {};

/// The part of `array` that belongs to image `b`.
std::vector<double> imageOf(const Array& array, int b) {
  const auto first = array.values.begin() + static_cast<std::ptrdiff_t>(array.perImage()) * b;
  return {first, first + static_cast<std::ptrdiff_t>(array.perImage())};
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
  for (int b = 0; b < image.rows(); ++b) {
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
  if (image.rows() == 1 || labels) return;
  const auto together = runNet(net, image.values, image.shape, names);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_LE(difference(together[i], expected[i].values), tolerance) << expected[i].name << " of the whole batch";
}

TEST_P(ExporterModel, ComputesWhatItsExporterMeant) {
  const ExportedModel& model = GetParam();
  const std::string path = modelPath(model.file);
  ConvertOptions options;
  options.reduce = kFullModel;
  if (model.verdict == "refuse") {
    EXPECT_MPM_ERROR(convertModel(path, options), kRefusals.at(model.file.substr(0, model.file.rfind('_'))));
    return;
  }
  const ModelReference reference = readReference(modelPath(model.reference));
  options.input_size = Size2{reference.image.shape.at(2), reference.image.shape.at(3)};
  const ModelInfo info = readModelInfo(path, options);
  EXPECT_EQ(toString(info.head), model.head);
  EXPECT_EQ(info.blocks, model.blocks);
  EXPECT_EQ(info.special_tokens, model.special_tokens);
  compare(path, options, reference.image, reference.outputs, model.tolerance);
  if (!model.merges) {
    ConvertOptions merging = options;
    merging.reduce = mpmBefore({1});
    EXPECT_MPM_ERROR(convertModel(path, merging), "its tokens cannot merge");
    merging.reduce.reset();
    EXPECT_EQ(readModelInfo(path, merging).schedule(), Schedule{}) << "what is not asked for";
  }
}

std::string modelName(const ::testing::TestParamInfo<ExportedModel>& info) {
  return std::filesystem::path(info.param.file).stem().string();
}

INSTANTIATE_TEST_SUITE_P(Data, ExporterModel, ::testing::ValuesIn(exportedModels(modelPath("."))), modelName);

}  // namespace
}  // namespace mpm::test
