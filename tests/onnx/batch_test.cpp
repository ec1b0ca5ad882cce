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

TEST_F(Batch, OfEveryHead) {
  for (const HeadStyle head : {HeadStyle::kFeatures, HeadStyle::kLinear, HeadStyle::kMask, HeadStyle::kClassToken,
                               HeadStyle::kClassSlice, HeadStyle::kMean, HeadStyle::kTap}) {
    TinyVit({.head = head, .symbolic = true}).save(path);
    EXPECT_TRUE(takesABatch(path, {.input_size = Size2{TinyVit::kHeight, TinyVit::kWidth}}))
        << "head " << static_cast<int>(head);
  }
}

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

TEST_F(Batch, OfAHeadLeftAsItWas) {
  GraphBuilder g = TinyVit(Dialect{}).graph();
  std::string map = g.reshape(g.transpose(g.slice("features", 1, 1, 1L << 60), {0, 2, 1}),
                              {1, TinyVit::kDim, TinyVit::kGridH, TinyVit::kGridW});
  map = g.node("Resize", {map, "", "", g.ints({1, TinyVit::kDim, 6, 10})},
               {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}});
  map = g.node("Tanh", {g.squeeze(g.unsqueeze(map, 1), 1)});
  const std::string flat = g.reshape(g.node("GlobalAveragePool", {map}), {1, -1});
  const std::string y =
      g.node("Concat", {flat, g.node("Gather", {"features", g.intScalar(0)}, {{"axis", 1L}})}, {{"axis", 1L}}, 1, "y");
  g.result(g.node("Softmax", {y}, {{"axis", 1L}}, 1, "z"));
  g.save(path);
  EXPECT_TRUE(takesABatch(path, {}));
}

/// As many channels as images.
TEST_F(Batch, FixedInTheGraphBeforeAConvolution) {
  GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
  const std::string map = g.reshape(g.model().graph().output(0).name(), {2, 1, 2, 5});
  g.result(g.node("Conv", {map, g.weights("kernel", {2, 1, 1, 1}, {0.5, -2})}));
  g.save(path);
  EXPECT_TRUE(takesABatch(path, {}));
}

TEST_F(Batch, FixedInTheGraphBeforeAnEinsumWithoutAResult) {
  GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
  const std::string weights = g.weights("weights", {10, 1}, std::vector<double>(10, 0.5));
  g.result(g.node("Einsum", {g.reshape(g.model().graph().output(0).name(), {2, 10}), weights},
                  {{"equation", std::string("bi,ij")}}));
  g.save(path);
  EXPECT_TRUE(takesABatch(path, {}));
}

/// As many heads as images, which weights have as their first axis; and weights for each image, which must be equal.
TEST_F(Batch, FixedInTheGraphBeforeAnEinsumOfHeads) {
  const auto save = [&](const std::vector<long>& sides, const std::string& equation,
                        const std::vector<double>& values) {
    GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
    const std::string weights = g.weights("weights", {2, 5, 1}, values);
    g.result(
        g.node("Einsum", {g.reshape(g.model().graph().output(0).name(), sides), weights}, {{"equation", equation}}));
    g.save(path);
  };
  std::vector<double> each(10), repeated(10);
  for (std::size_t i = 0; i < 10; ++i) {
    each[i] = 0.1 * static_cast<double>(i);
    repeated[i] = each[i % 5];
  }
  save({2, 1, 2, 5}, "abcd,cde->abe", each);
  EXPECT_TRUE(takesABatch(path, {}));
  save({2, 2, 5}, "bhi,bij->bhj", repeated);
  EXPECT_TRUE(takesABatch(path, {}));
  save({2, 2, 5}, "bhi,bij->bhj", each);
  EXPECT_MPM_ERROR(convertModel(path, {}), "(Einsum): found a batch of 2 images that is fixed in the graph");
}

/// Sizes of some of the axes, that of the images among them or not.
TEST_F(Batch, FixedInTheGraphBeforeAResizeOfSomeAxes) {
  for (const auto& [axes, sizes] : {std::pair(std::vector{3L, 2L}, std::vector{7L, 4L}), {{3, 0}, {7, 2}}}) {
    GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
    const std::string map = g.reshape(g.model().graph().output(0).name(), {2, 1, 2, 5});
    g.result(g.node("Resize", {map, "", "", g.ints(sizes)}, {{"mode", std::string("linear")}, {"axes", axes}}));
    g.model().mutable_opset_import(0)->set_version(18);
    g.save(path);
    EXPECT_TRUE(takesABatch(path, {}));
  }
}

/// Rows of two images by their places among all four.
TEST_F(Batch, FixedInTheGraphAndSlicedByPlaceIsRefused) {
  GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
  const std::string rows = g.reshape(g.model().graph().output(0).name(), {4, 5});
  g.result(g.node("Slice", {rows, g.ints({-3}), g.ints({4}), g.ints({0}), g.ints({2})}));
  g.save(path);
  EXPECT_MPM_ERROR(convertModel(path, {}), "(Slice): found a batch of 2 images that is fixed in the graph");
}

/// The converted net would take one image at a time, and the file is for two.
TEST_F(Batch, FixedInTheGraphAndJoinedIsRefused) {
  GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
  g.result(g.reshape(g.model().graph().output(0).name(), {20}));
  g.save(path);
  EXPECT_MPM_ERROR(convertModel(path, {}), "a batch of 2 images that is fixed in the graph and not kept apart behind");
}

/// A model exported with two images, and an operator behind it along the axis of the images or of the classes.
TEST_F(Batch, FixedInTheGraphAndMixedIsRefused) {
  for (const std::string op : {"Softmax", "ReduceMean", "ArgMax", "TopK", "Pad", "Gather"}) {
    for (const long along : {0L, 1L}) {
      GraphBuilder g(modelAt(dataPath("timm_vit_batch2_ts17.onnx")));
      std::vector<std::string> inputs = {g.model().graph().output(0).name()};
      std::vector<GraphBuilder::Attribute> attributes;
      if (op == "TopK") inputs.push_back(g.ints({along == 0 ? 1 : 3}));
      if (op == "Gather") inputs.push_back(g.ints({0, -1}));
      if (op == "Pad") inputs.push_back(g.ints({1 - along, along, 0, 0}));
      if (op == "ReduceMean")
        attributes = {{"axes", std::vector<long>{along}}};
      else if (op != "Pad")
        attributes = {{"axis", along}};
      g.result(g.node(op, inputs, attributes, op == "TopK" ? 2 : 1, "mixes"));
      g.save(path);
      SCOPED_TRACE(op + " along axis " + std::to_string(along));
      if (along == 0)
        EXPECT_MPM_ERROR(convertModel(path, {}),
                         "node 'mixes' (" + op + "): found a batch of 2 images that is fixed in the graph");
      else
        EXPECT_TRUE(takesABatch(path, {}));
    }
  }
}

}  // namespace
}  // namespace mpm::test
