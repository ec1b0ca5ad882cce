// SPDX-License-Identifier: Apache-2.0
// What operators of a head refuse, as a damaged file may have them. What they compute: tests/onnx/heads_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "layers/mpm_layer.h"
#include "mpm/read_net.hpp"

namespace mpm {
namespace {

using Attributes = std::vector<std::pair<const char*, std::variant<int, double, const char*>>>;

/// Operands whose position is in `constants` are given as constants.
cv::Mat run(const std::string& type, const Attributes& attributes, const std::vector<cv::Mat>& operands,
            const std::vector<int>& constants = {}) {
  registerLayers();
  cv::dnn::LayerParams params;
  params.name = "one/layer";
  params.type = "ai.mpm.Head" + type;
  for (const auto& [name, value] : attributes)
    std::visit([&, &name = name](auto one) { params.set(name, one); }, value);
  std::vector<cv::Mat> inputs;
  std::vector<opencv::MatShape> shapes, outputs, internals;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool constant = std::find(constants.begin(), constants.end(), static_cast<int>(i)) != constants.end();
    (constant ? params.blobs : inputs).push_back(operands[i]);
  }
  if (!constants.empty())
    params.set("constants", cv::dnn::DictValue::arrayInt(constants.data(), static_cast<int>(constants.size())));
  const auto layer = cv::dnn::LayerFactory::createLayerInstance(params.type, params);
  for (const cv::Mat& input : inputs) shapes.push_back(opencv::makeShape({input.size.p, input.size.p + input.dims}));
  layer->getMemoryShapes(shapes, 1, outputs, internals);
  std::vector<cv::Mat> results, scratch;
  for (const opencv::MatShape& shape : outputs) results.emplace_back(Shape(shape.begin(), shape.end()), CV_32F);
  layer->forward(inputs, results, scratch);
  return results[0];
}

cv::Mat blob(const Shape& shape, float value = 0.5f) { return {shape, CV_32F, cv::Scalar(value)}; }

TEST(HeadLayers, RefuseWhatDoesNotFit) {
  const struct {
    const char* why;
    const char* type;
    Attributes attributes;
    std::vector<cv::Mat> operands;
    std::vector<int> constants;
  } cases[] = {
      {"sides", "Elementwise", {{"function", "Add"}}, {blob({2, 3}), blob({2, 4})}, {}},
      {"one operand of two", "Elementwise", {{"function", "Add"}}, {blob({2, 3})}, {}},
      {"unknown function", "Elementwise", {{"function", "Hardmax"}}, {blob({2, 3})}, {}},
      {"index below -1",
       "Window",
       {{"function", "Max"}, {"axis", 1}, {"fill", 0.5}},
       {blob({2, 3}), blob({1, 1}, -2)},
       {1}},
      {"fill of a sum",
       "Window",
       {{"function", "Sum"}, {"axis", 1}, {"fill", 0.5}},
       {blob({2, 3}), blob({1, 1}, 0), blob({1, 1}, 0)},
       {1, 2}},
      {"axis at the rank", "Window", {{"function", "Max"}, {"axis", 2}}, {blob({2, 3}), blob({1, 1}, 0)}, {1}},
      {"index at the side", "Window", {{"function", "Max"}, {"axis", 1}}, {blob({2, 3}), blob({1, 1}, 3)}, {1}},
      {"index below 0", "Window", {{"function", "Max"}, {"axis", 1}}, {blob({2, 3}), blob({1, 1}, -1)}, {1}},
      {"unknown function", "Window", {{"function", "Mean"}, {"axis", 1}}, {blob({2, 3}), blob({1, 1}, 0)}, {1}},
      {"sum without weights", "Window", {{"function", "Sum"}, {"axis", 1}}, {blob({2, 3}), blob({1, 1}, 0)}, {1}},
      {"index at the side",
       "Gather",
       {{"function", "GatherElements"}, {"axis", 1}},
       {blob({2, 3}), blob({2, 1}, 3)},
       {}},
      {"longer side", "Gather", {{"function", "GatherElements"}, {"axis", 1}}, {blob({2, 3}), blob({3, 1}, 0)}, {}},
      {"channels of groups",
       "Normalize",
       {{"groups", 4}, {"eps", 1e-3}},
       {blob({1, 6, 2}), blob({1, 6}), blob({1, 6})},
       {1, 2}},
      {"places of one image",
       "GridSample",
       {{"mode", "linear"}, {"padding", "zeros"}},
       {blob({2, 2, 3, 3}), blob({1, 1, 2, 2})},
       {}},
      {"more than the side", "TopK", {{"axis", 1}, {"k", 4}}, {blob({2, 3})}, {}},
      {"none", "TopK", {{"axis", 1}, {"k", 0}}, {blob({2, 3})}, {}},
      {"axis at the rank", "Reduce", {{"function", "ReduceSum"}, {"axes", 2}}, {blob({2, 3})}, {}},
      {"unknown function", "Reduce", {{"function", "ReduceMode"}, {"axes", 1}}, {blob({2, 3})}, {}},
      {"no arrow", "Einsum", {{"equation", "ab,bc"}}, {blob({2, 3}), blob({3, 2})}, {}},
      {"a letter twice", "Einsum", {{"equation", "aa,bc->ac"}}, {blob({2, 2}), blob({3, 2})}, {}},
      {"a new letter", "Einsum", {{"equation", "ab,bc->ad"}}, {blob({2, 3}), blob({3, 2})}, {}},
      {"another rank", "Einsum", {{"equation", "ab,bc->ac"}}, {blob({2, 3, 1}), blob({3, 2})}, {}},
      {"sides", "Einsum", {{"equation", "ab,bc->ac"}}, {blob({2, 3}), blob({2, 2})}, {}},
      {"three operands", "Einsum", {{"equation", "ab,bc->ac"}}, {blob({2, 3}), blob({3, 2}), blob({2, 2})}, {}},
      {"a constant that is not there", "Elementwise", {{"function", "Add"}}, {blob({2, 3}), blob({2, 3})}, {1, 7}},
  };
  for (const auto& [why, type, attributes, operands, constants] : cases)
    EXPECT_THROW(run(type, attributes, operands, constants), cv::Exception) << type << ": " << why;
}

TEST(HeadLayers, GridSampleAtNoPlaceIsZero) {
  const cv::Mat found =
      run("GridSample", {{"mode", "linear"}, {"padding", "zeros"}}, {blob({1, 2, 3, 3}), blob({1, 1, 2, 2}, NAN)});
  EXPECT_EQ(cv::norm(found.reshape(1, 1), cv::NORM_INF), 0);
}

}  // namespace
}  // namespace mpm
