// SPDX-License-Identifier: Apache-2.0
// Several images in one pass: each becomes what it becomes alone.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "mpm/mpm.hpp"
#include "onnx/run_net.h"
#include "onnx/tiny_vit.h"
#include "support/data_path.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"
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
  auto [net, info] = readNet(path, {.convert = options});
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

class Batch : public ::testing::Test {
 protected:
  TemporaryFolder folder;
  std::string path = folder / "model.onnx";
};

TEST_F(Batch, OfEveryHead) {
  for (const HeadStyle head : {HeadStyle::kFeatures, HeadStyle::kLinear, HeadStyle::kMask, HeadStyle::kClassToken,
                               HeadStyle::kClassSlice, HeadStyle::kMean, HeadStyle::kTap}) {
    Dialect dialect;
    dialect.head = head;
    dialect.symbolic = true;
    TinyVit(dialect).save(path);
    ConvertOptions options;
    options.input_size = Size2{TinyVit::kHeight, TinyVit::kWidth};
    EXPECT_TRUE(takesABatch(path, options)) << "head " << static_cast<int>(head);
  }
}

TEST_F(Batch, OfWhatExportersWrite) {
  int converted = 0, batched = 0;
  for (const auto& entry : std::filesystem::directory_iterator(MPM_TEST_DATA_DIR)) {
    const std::string model = entry.path().string();
    if (entry.path().extension() != ".onnx") continue;
    ConvertOptions options;
    options.reduce = mpmBefore({1, 2});
    try {
      convertModel(model, options);
    } catch (const Error&) {
      continue;  // refused: exporter_models_test.cpp says which
    }
    SCOPED_TRACE(model);
    ++converted;
    batched += takesABatch(model, options);
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
  g.model().mutable_graph()->mutable_output(0)->set_name(g.node("Softmax", {y}, {{"axis", 1L}}, 1, "z"));
  g.save(path);
  EXPECT_TRUE(takesABatch(path, {}));
}

/// As many channels as images.
TEST_F(Batch, FixedInTheGraphBeforeAConvolution) {
  onnx::ModelProto model = modelAt(dataPath("timm_vit_batch2_ts17.onnx"));
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto add = [&](const char* op, const std::vector<std::string>& inputs, const char* output) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.set_name(output);
    node.add_output(output);
    for (const std::string& input : inputs) node.add_input(input);
  };
  onnx::TensorProto &shape = *graph.add_initializer(), &weight = *graph.add_initializer();
  shape.set_name("map/shape");
  shape.set_data_type(onnx::TensorProto::INT64);
  shape.add_dims(4);
  for (const int side : {2, 1, 2, 5}) shape.add_int64_data(side);
  weight.set_name("kernel");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  for (const int side : {2, 1, 1, 1}) weight.add_dims(side);
  for (const float value : {0.5f, -2.0f}) weight.add_float_data(value);
  add("Reshape", {graph.output(0).name(), "map/shape"}, "map");
  add("Conv", {"map", "kernel"}, "channels");
  graph.mutable_output(0)->set_name("channels");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  EXPECT_TRUE(takesABatch(path, {}));
}

/// A model exported with two images, and an operator behind it along the axis of the images or of the classes.
struct Behind {
  const char* op;
  std::vector<std::int64_t> operand[2];  ///< its second input, of both axes; empty: none
};

TEST_F(Batch, FixedInTheGraphAndMixedIsRefused) {
  const Behind operators[] = {
      {"Softmax", {}}, {"ReduceMean", {}}, {"ArgMax", {}}, {"TopK", {{1}, {3}}}, {"Pad", {{1, 0, 0, 0}, {0, 1, 0, 0}}}};
  for (const Behind& behind : operators) {
    for (const int along : {0, 1}) {
      onnx::ModelProto model = modelAt(dataPath("timm_vit_batch2_ts17.onnx"));
      onnx::NodeProto& node = *model.mutable_graph()->add_node();
      const std::string op = behind.op;
      node.set_op_type(op);
      node.set_name("mixes");
      node.add_input(model.graph().output(0).name());
      node.add_output("mixed");
      if (const auto& values = behind.operand[along]; !values.empty()) {
        onnx::TensorProto& operand = *model.mutable_graph()->add_initializer();
        operand.set_name("operand");
        operand.set_data_type(onnx::TensorProto::INT64);
        operand.add_dims(static_cast<std::int64_t>(values.size()));
        operand.mutable_int64_data()->Add(values.begin(), values.end());
        node.add_input("operand");
      }
      if (op == "TopK") node.add_output("places");
      if (op != "Pad") {
        onnx::AttributeProto& axis = *node.add_attribute();
        axis.set_name(op == "ReduceMean" ? "axes" : "axis");
        axis.set_type(op == "ReduceMean" ? onnx::AttributeProto::INTS : onnx::AttributeProto::INT);
        axis.add_ints(along);
        axis.set_i(along);
      }
      model.mutable_graph()->mutable_output(0)->set_name("mixed");
      std::ofstream(path, std::ios::binary) << model.SerializeAsString();
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
