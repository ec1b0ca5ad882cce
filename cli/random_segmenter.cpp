// SPDX-License-Identifier: Apache-2.0
#include "cli/random_segmenter.h"

#include <onnx/defs/parser.h>

#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cmath>
#include <fstream>
#include <opencv2/core.hpp>
#include <set>
#include <vector>

#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

// In ONNX's own notation. The name of a weight ends with its shape: $ is the width of the network, 3$ and 4$ the widths
// of queries, keys and values and of the MLP. # is the prefix of the names of a block, NEXT that of the block behind
// it.
constexpr const char* kHead = R"(<ir_version: 8, opset_import: ["" : 20]>
segmenter (float[1,3,512,512] image) => (int64[1,512,512] labels) {
  zero = Constant<value = int64 {0}>()    one = Constant<value = int64 {1}>()    two = Constant<value = int64 {2}>()
  first = Constant<value = int64[1] {0}>()    second = Constant<value = int64[1] {1}>()
  patches_end = Constant<value = int64[1] {1024}>()    tokens_end = Constant<value = int64[1] {1025}>()
  all_end = Constant<value = int64[1] {1174}>()    rows = Constant<value = int64[3] {0, -1, $}>()
  to_rows = Constant<value = int64[3] {0, $, -1}>()    to_heads = Constant<value = int64[5] {0, -1, 3, HEADS, 64}>()
  scale = Constant<value = float {0.125}>()    to_grid = Constant<value = int64[4] {0, 150, 32, 32}>()
  larger = Constant<value = float[4] {1, 1, 16, 16}>()    last = Constant<value = int64[1] {-1}>()
  map = Conv<kernel_shape = [16, 16], strides = [16, 16]>(image, w_$_3_16_16, b_$)
  flat = Reshape(map, to_rows)    patches = Transpose<perm = [0, 2, 1]>(flat)
  tokens = Concat<axis = 1>(cls_1_1_$, patches)    e0x = Add(tokens, position_1_1025_$))";

constexpr const char* kBlock = R"(
  #n = LayerNormalization<axis = -1, epsilon = 1e-6>(#x, #gain_$, #b_$)
  #m = MatMul(#n, #w_$_3$)    #qkv = Add(#m, #c_3$)    #five = Reshape(#qkv, to_heads)
  #split = Transpose<perm = [2, 0, 3, 1, 4]>(#five)    #q = Gather<axis = 0>(#split, zero)
  #k = Gather<axis = 0>(#split, one)    #v = Gather<axis = 0>(#split, two)    #kt = Transpose<perm = [0, 1, 3, 2]>(#k)
  #s = MatMul(#q, #kt)    #t = Mul(#s, scale)    #p = Softmax<axis = -1>(#t)    #a = MatMul(#p, #v)
  #h = Transpose<perm = [0, 2, 1, 3]>(#a)    #r = Reshape(#h, rows)    #o = MatMul(#r, #w_$_$)    #y = Add(#o, #d_$)
  #z = Add(#x, #y)    #f = LayerNormalization<axis = -1, epsilon = 1e-6>(#z, #gain2_$, #e_$)
  #g = MatMul(#f, #w_$_4$)    #i = Add(#g, #b_4$)    #j = Gelu(#i)    #l = MatMul(#j, #w_4$_$)    #u = Add(#l, #f_$)
  NEXTx = Add(#z, #u))";

constexpr const char* kDecoder = R"(
  encoded = LayerNormalization<axis = -1, epsilon = 1e-6>(e12x, gain_$, eb_$)
  seen = Slice(encoded, second, tokens_end, second)    sm = MatMul(seen, sw_$_$)    so = Add(sm, sb_$)
  d0x = Concat<axis = 1>(so, classes_1_150_$))";

constexpr const char* kMasks = R"(
  decoded = LayerNormalization<axis = -1, epsilon = 1e-5>(d2x, gain_d_$, db_$)
  dp = Slice(decoded, first, patches_end, second)    dc = Slice(decoded, patches_end, all_end, second)
  pm = MatMul(dp, pw_$_$)    pl = ReduceL2<keepdims = 1>(pm, last)    pn = Div(pm, pl)
  cm = MatMul(dc, cw_$_$)    cl = ReduceL2<keepdims = 1>(cm, last)    cn = Div(cm, cl)
  ct = Transpose<perm = [0, 2, 1]>(cn)    mm = MatMul(pn, ct)
  masks = LayerNormalization<axis = -1, epsilon = 1e-5>(mm, gain_150, mb_150)
  mt = Transpose<perm = [0, 2, 1]>(masks)    grid = Reshape(mt, to_grid)
  logits = Resize<mode = "linear", coordinate_transformation_mode = "half_pixel">(grid, , larger)
  labels = ArgMax<axis = 1, keepdims = 0>(logits)
})";

std::string graphText(int dim) {
  std::string text = kHead;
  const auto block = [&](const std::string& name, const std::string& next) {
    text += boost::replace_all_copy(boost::replace_all_copy<std::string>(kBlock, "#", name), "NEXT", next);
  };
  for (int i = 0; i < 12; ++i) block("e" + std::to_string(i), "e" + std::to_string(i + 1));
  text += kDecoder;
  block("d0", "d1");
  block("d1", "d2");
  text += kMasks;
  boost::replace_all(text, "HEADS", std::to_string(dim / 64));
  for (const int times : {4, 3}) boost::replace_all(text, std::to_string(times) + "$", std::to_string(times * dim));
  boost::replace_all(text, "$", std::to_string(dim));
  return text;
}

// A weight of the shape that its name ends with, scaled by its inputs, so that activations neither die nor grow.
onnx::TensorProto drawWeight(const std::string& name, cv::RNG& random) {
  onnx::TensorProto weight;
  weight.set_name(name);
  weight.set_data_type(onnx::TensorProto::FLOAT);
  std::vector<std::string> words;
  boost::split(words, name, boost::is_any_of("_"));
  std::erase_if(words, [](const std::string& word) { return !std::isdigit(static_cast<unsigned char>(word[0])); });
  int count = 1;
  for (const std::string& side : words) {
    weight.add_dims(std::stoi(side));
    count *= std::stoi(side);
  }
  const int first = std::stoi(words[0]);
  const double of_rank[] = {0.02, 1 / std::sqrt(first), 0.2, 1 / std::sqrt(count / first)};
  cv::Mat values(1, count, CV_32F);
  random.fill(values, cv::RNG::NORMAL, name.find("gain") == std::string::npos ? 0 : 1, of_rank[words.size() - 1]);
  weight.set_raw_data(values.data, values.total() * sizeof(float));
  return weight;
}

}  // namespace

void writeRandomSegmenter(const std::string& path, int dim) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, graphText(dim).c_str());
  CV_Assert(status.IsOK());
  std::set<std::string> known = {"image", ""};
  cv::RNG random(static_cast<unsigned>(dim));
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& input : node.input())
      if (known.insert(input).second) *graph.add_initializer() = drawWeight(input, random);
    known.insert(node.output().begin(), node.output().end());
  }
  std::ofstream file(path, std::ios::binary);
  if (!model.SerializeToOstream(&file) || !file.flush()) throw Error("cannot write '" + path + "'");
}

}  // namespace mpm::cli
