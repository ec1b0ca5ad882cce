// SPDX-License-Identifier: Apache-2.0
// Several images in one pass: each becomes what it becomes alone.

#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/data_path.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/reading.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

constexpr const char* kOneAtATime = "give it one image at a time";

using Blobs = std::vector<std::vector<double>>;

Blobs runImages(cv::dnn::Net& net, const std::vector<std::vector<double>>& images, Size2 size,
                const std::vector<std::string>& outputs) {
  std::vector<double> all;
  for (const auto& image : images) all.insert(all.end(), image.begin(), image.end());
  return runNet(net, all, {static_cast<int>(images.size()), 3, size.height, size.width}, outputs);
}

/// False when the net says that it takes one image at a time.
bool takesABatch(const std::string& path, ConvertOptions options) {
  options.reduce = mpmBefore({1, 2});
  auto [net, info] = readNet(path, reading(options));
  std::vector<std::string> outputs = info.outputs;
  outputs.insert(outputs.end(), {"token_counts", "merge_map"});
  const std::vector<std::vector<double>> images = {TinyVit::image(3, info.input.height, info.input.width),
                                                   TinyVit::image(4, info.input.height, info.input.width)};
  Blobs together;
  try {
    together = runImages(net, images, info.input, outputs);
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find(kOneAtATime), std::string::npos) << error.what();
    return false;
  }
  for (std::size_t b = 0; b < 2; ++b) {
    const Blobs alone = runImages(net, {images[b]}, info.input, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto half = static_cast<std::ptrdiff_t>(together[i].size() / 2);
      const auto begin = together[i].begin() + static_cast<std::ptrdiff_t>(b) * half;
      const std::vector<double> part(begin, begin + half);
      if (outputs[i] == "token_counts" || outputs[i] == "merge_map") {
        EXPECT_EQ(part, alone[i]) << outputs[i] << " of image " << b;
      } else {
        EXPECT_LT(difference(part, alone[i]), 1e-5) << outputs[i] << " of image " << b;
      }
    }
  }
  return true;
}

class Batch : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
};

TEST_F(Batch, OfWhatExportersWrite) {
  int converted = 0, batched = 0;
  for (const auto& entry : fs::directory_iterator(MPM_TEST_DATA_DIR)) {
    const std::string model = entry.path().string();
    if (entry.path().extension() != ".onnx") continue;
    try {
      convertModel(model, {.reduce = mpmBefore({1, 2})});
    } catch (const Error&) {
      continue;  // refused: exporter_models_test.cpp says which
    }
    SCOPED_TRACE(model);
    ++converted;
    batched += takesABatch(model, {});
  }
  EXPECT_GT(converted, 30);
  EXPECT_EQ(batched, converted);
}

/// The converted net would take one image at a time, and the file is for two.
TEST_F(Batch, FixedInTheGraphAndMixedIsRefused) {
  const auto expectRefused = [&](const std::function<std::string(GraphBuilder&, const std::string&)>& mix,
                                 const std::string& part) {
    GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
    g.result(mix(g, g.model().graph().output(0).name()));
    g.save(path);
    EXPECT_MPM_ERROR(convertModel(path, {}), part);
  };
  const std::string found = "found a batch of 2 images that is fixed in the graph";
  expectRefused([](GraphBuilder& g, const std::string& x) { return g.reshape(x, {20}); },
                found + " and not kept apart behind");
  expectRefused(
      [](GraphBuilder& g, const std::string& x) {
        return g.node("Softmax", {x}, {{"axis", 0L}}, 1, "mixes");
      },
      "node 'mixes' (Softmax): " + found);
  expectRefused(  // rows of two images by their places among all four
      [](GraphBuilder& g, const std::string& x) {
        return g.node("Slice", {g.reshape(x, {4, 5}), g.ints({-3}), g.ints({4}), g.ints({0}), g.ints({2})});
      },
      "(Slice): " + found);
}

}  // namespace
}  // namespace mpm::test
