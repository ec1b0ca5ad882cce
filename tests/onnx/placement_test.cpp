// SPDX-License-Identifier: Apache-2.0
#include "net/graph_marks.h"

#include <algorithm>

#include "mpm/build_info.hpp"
#include "mpm/mpm.hpp"
#include "onnx/model/graph_proto.h"
#include "support/data_path.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::onnx_graph {
namespace {

using test::convertedModel, test::dataPath;

// What int8 rounds changes the classes of few pixels, and every depth.
TEST(Placement, ConvolutionsOfDepthAreBesideInt8) {
  for (const auto& [name, precision, beside] : {std::tuple("hf_depth_anything_dynamo18.onnx", Precision::kInt8, true),
                                                {"hf_depth_anything_dynamo18.onnx", Precision::kBf16, false},
                                                {"hf_dpt_seg_dynamo18.onnx", Precision::kInt8, false}}) {
    const onnx::ModelProto model = convertedModel(dataPath(name), {.reduce = kFullModel, .precision = precision});
    int convolutions = 0;
    for (const onnx::NodeProto& node : model.graph().node()) {
      if (node.op_type() != "HeadConvolve") continue;
      ++convolutions;
      EXPECT_EQ(findAttribute(node, "beside_int8") != nullptr, beside) << name << ", " << node.name();
    }
    EXPECT_GT(convolutions, 0);
  }
}

// Before opset 13 Softmax took all axes from its axis on. What is ours otherwise:
// tests/onnx/cuda/emulated_device_test.cpp.
TEST(Placement, AnOldSoftmaxStaysOpenCvs) {
  onnx::ModelProto model = convertedModel(dataPath("hf_rf_detr_dynamo18.onnx"));
  for (auto& import : *model.mutable_opset_import())
    if (import.domain().empty()) import.set_version(12);
  const auto softmaxes = [&] {
    const auto isOne = [](const onnx::NodeProto& node) { return node.op_type() == "Softmax"; };
    return std::ranges::count_if(model.graph().node(), isOne);
  };
  const auto before = softmaxes();
  ASSERT_GT(before, 0);
  placeOnDevice(model);
  EXPECT_EQ(softmaxes(), before);
}

TEST(Placement, FunctionsOfOneElementBecomeOurs) {
  onnx::ModelProto model = convertedModel(dataPath("segmenter_mask_ts17.onnx"), {.reduce = mpmBefore({1})});
  const std::string read = model.graph().output(0).name();
  const std::vector<std::string> functions = {"Abs", "Exp", "Neg", "Sigmoid", "Sqrt", "Tanh", "Elu"};
  for (const std::string& function : functions) {
    onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type(function);
    node.add_input(read);
    node.add_output(function);
  }
  placeOnDevice(model);
  for (const onnx::NodeProto& node : model.graph().node()) {
    if (node.output_size() == 0 || std::ranges::find(functions, node.output(0)) == functions.end()) continue;
    const bool ours = node.output(0) != "Elu";
    EXPECT_EQ(node.op_type(), ours ? "HeadElementwise" : "Elu");
    EXPECT_EQ(isOurs(node), ours);
    EXPECT_EQ(attributeOf(node, "function").s(), ours ? node.output(0) : "");
  }
}

TEST(Placement, AnImageThatOthersReadTooIsNotPatchEmbedsAlone) {
  for (const bool copied : {false, true}) {
    onnx::ModelProto model = convertedModel(dataPath("segmenter_mask_ts17.onnx"), {.reduce = mpmBefore({1})});
    if (copied) {
      onnx::NodeProto& copy = *model.mutable_graph()->add_node();
      copy.set_op_type("Identity");
      copy.add_input(model.graph().input(0).name());
      copy.add_output("image again");
      model.mutable_graph()->add_output()->set_name("image again");
    }
    placeOnDevice(model);
    EXPECT_EQ(findAttribute(test::nodeOf(model, "PatchEmbed"), "device_inputs")->s(), copied ? "0" : "3");
  }
}

TEST(Placement, DevicesAreWords) {
  for (const char* word : {"cpu", "auto", "cuda", "cuda:0", "cuda:12"}) {
    EXPECT_NO_THROW(ReadOptions{.device = word}.validate()) << word;
  }
  for (const char* word : {"", "gpu", "CUDA", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "cuda 1"}) {
    const ReadOptions options{.device = word};
    EXPECT_MPM_ERROR(options.validate(), "expected cpu, cuda, cuda:1 (a GPU by its index) or auto");
    EXPECT_MPM_ERROR(readNet(dataPath("segmenter_mask_ts17.onnx"), options), std::string("device '") + word + "'");
  }
}

TEST(Placement, WithoutAGpuAutoIsTheCpuAndCudaIsRefused) {
  const BuildInfo build = buildInfo();
  if (!build.cuda_devices.empty()) GTEST_SKIP() << "there is a CUDA device here";
  ReadOptions options;
  options.reduce = mpmBefore({1});
  options.device = "auto";
  EXPECT_NO_THROW(readNet(dataPath("segmenter_mask_ts17.onnx"), options));
  for (const char* word : {"cuda", "cuda:1"}) {
    options.device = word;
    EXPECT_MPM_ERROR(readNet(dataPath("segmenter_mask_ts17.onnx"), options),
                     std::string("device '") + word + "': " + build.cuda_problem);
  }
}

}  // namespace
}  // namespace mpm::onnx_graph
