// SPDX-License-Identifier: Apache-2.0
// Converted files whose metadata says something else than their graph.
#include <nlohmann/json.hpp>

#include "mpm/mpm.hpp"
#include "onnx/tiny_vit.h"
#include "support/in_folder.h"
#include "support/onnx_file.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

using Json = nlohmann::json;

class ConvertedInfo : public InFolder {
 protected:
  std::string path = folder_ / "model.onnx";
  onnx::ModelProto converted = convert(HeadStyle::kLinear, mpmBefore({1, 2}));

  onnx::ModelProto convert(HeadStyle head, const Reduction& reduction) {
    TinyVit({.head = head}).save(folder_ / "plain.onnx");
    return convertedModel(folder_ / "plain.onnx", {.reduce = reduction});
  }
  static Json info(onnx::ModelProto& model) { return Json::parse(metadataOf(model, "mpm.info")); }
  void write(const onnx::ModelProto& model) { saveModel(model, path); }
  void expectErrorWithInfo(const Json& changes, const std::string& part) {
    onnx::ModelProto model = converted;
    Json lie = info(model);
    lie.update(changes);
    metadataOf(model, "mpm.info") = lie.dump();
    write(model);
    EXPECT_MPM_ERROR(readModelInfo(path), part);
    EXPECT_MPM_ERROR(readModelInfo(path), path);
    EXPECT_MPM_ERROR(readNet(path), part);
  }
  void expectErrorWithGraph(const std::function<void(onnx::GraphProto&)>& change, const std::string& part) {
    onnx::ModelProto model = converted;
    change(*model.mutable_graph());
    write(model);
    EXPECT_MPM_ERROR(readModelInfo(path), part);
  }
};

TEST_F(ConvertedInfo, ClassesAreThoseOfTheScores) {
  expectErrorWithInfo({{"class_count", 250}}, "says class_count 250, the graph has 9");
  expectErrorWithInfo({{"classes", Json::array({{{"name", "sky"}, {"color", "#0000ff"}}})}}, "names 1 classes");
}

TEST_F(ConvertedInfo, ClassesAreThoseOfAClassifier) {
  converted = convert(HeadStyle::kFeatures, mpmBefore({1}));
  expectErrorWithInfo({{"class_count", 1 << 30}}, "says 1073741824 classes for the head 'features'");
  converted = convert(HeadStyle::kClassToken, mpmBefore({1}));
  ASSERT_EQ(info(converted)["head"], "classifier");
  expectErrorWithInfo({{"class_count", 1 << 30}}, "has no side of 1073741824 classes");
}

TEST_F(ConvertedInfo, TheTaskIsOneOfTheHead) {
  expectErrorWithInfo({{"task", "depth"}}, "task 'depth', which the head 'linear' does not do");
  expectErrorWithInfo({{"task", "sleep"}}, "task 'sleep'");
}

TEST_F(ConvertedInfo, ReductionIsThatOfTheMerges) {
  for (const std::string spec : {"mpm:blocks=1", "mpm:blocks=1,500", "mpm:blocks=0-4", "none"})
    expectErrorWithInfo({{"reduce", spec}}, "is not of the reduction '" + spec + "'");
  converted = convert(HeadStyle::kLinear, parseReduction("tome:blocks=0,1:count=2"));
  for (const std::string spec : {"tome:blocks=0,1:count=3", "gradual:blocks=0,1:count=2"})
    expectErrorWithInfo({{"reduce", spec}}, "is not of the reduction '" + spec + "'");
  expectErrorWithInfo({{"reduce", "tome:blocks=0-2:count=2"}}, "with 3 merging steps");
  expectErrorWithInfo({{"reduce", "cts"}}, "'cts' needs a policy network");
  expectErrorWithGraph(
      [](auto& graph) {
        for (auto& node : *graph.mutable_node()) {
          for (auto& attribute : *node.mutable_attribute())
            if (node.op_type() == "MergeTokens" && attribute.name() == "weighted") attribute.set_i(0);
        }
      },
      "is not of the reduction");
}

TEST_F(ConvertedInfo, OutputsAreAmongTheGraphs) {
  expectErrorWithInfo({{"outputs", {"nothing"}}}, "output 'nothing' is not in the graph");
  expectErrorWithInfo({{"outputs", Json::array()}}, "names no output");
  converted = convert(HeadStyle::kFeatures, mpmBefore({1}));
  expectErrorWithInfo({{"head", "linear"}, {"class_count", 9}}, "says class_count 9, the graph has ");
  expectErrorWithInfo({{"head", "decoder"}}, "head 'decoder' is not mask_transformer, linear");
}

TEST_F(ConvertedInfo, GraphsThatTheConverterDoesNotWrite) {
  const auto attribute = [](onnx::GraphProto& graph, const std::string& name) -> onnx::AttributeProto& {
    return itemNamed(graph.mutable_node(0)->mutable_attribute(), name);
  };
  expectErrorWithGraph([](auto& graph) { graph.mutable_node(0)->set_op_type("Other"); }, "holds 0 PatchEmbed");
  expectErrorWithGraph([](auto& graph) { *graph.add_node() = graph.node(0); }, "holds 2 PatchEmbed");
  expectErrorWithGraph([](auto& graph) { graph.mutable_node(0)->clear_input(); }, "no weights");
  expectErrorWithGraph([](auto& graph) { graph.mutable_node(0)->set_input(1, "nothing"); }, "no weights");
  expectErrorWithGraph([](auto& graph) { itemNamed(graph.mutable_initializer(), graph.node(0).input(1)).add_dims(1); },
                       "no weights");
  expectErrorWithGraph([&](auto& graph) { attribute(graph, "precision").set_s("int4"); }, "precision 'int4'");
  expectErrorWithGraph([](auto& graph) { itemNamed(graph.mutable_node(), "backbone/block0").set_name("other"); },
                       "holds no node 'backbone/block0'");
  expectErrorWithGraph([&](auto& graph) { attribute(graph, "stride_h").set_i(0); }, "stride");
  for (const char* const side : {"height", "width"})
    expectErrorWithGraph([&](auto& graph) { attribute(graph, side).set_i(3); }, "smaller than a patch");
  expectErrorWithGraph([&](auto& graph) { attribute(graph, "height").set_i(std::int64_t{1} << 62); },
                       "px of input, expected 1 to 16384");
  const auto dim = [](onnx::ValueInfoProto& value, int axis) {
    return value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(axis);
  };
  expectErrorWithGraph([&](auto& graph) { dim(*graph.mutable_input(0), 3)->set_dim_value(640); },
                       "input 'image': found shape 1x3x12x640, expected 1x3x12x20");
  for (auto& output : *converted.mutable_graph()->mutable_output()) {
    if (output.name() != "merge_map") continue;
    dim(output, 1)->set_dim_value(3);
  }
  expectErrorWithGraph([](auto&) {}, "output 'merge_map': found shape 1x3x15, expected 1x2x15");
}

}  // namespace
}  // namespace mpm::test
