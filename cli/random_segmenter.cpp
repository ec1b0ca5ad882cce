// SPDX-License-Identifier: Apache-2.0
#include "cli/random_segmenter.h"

#include <onnx/defs/parser.h>

#include <boost/algorithm/string.hpp>
#include <cmath>
#include <fstream>
#include <opencv2/core.hpp>
#include <set>
#include <vector>

#include "cli/segmenter_text.h"
#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

// The network in ONNX's own notation, from segmenter.onnxtxt. The name of a weight ends with its shape: $ is the width
// of the network, 3$ and 4$ the widths of queries, keys and values and of the MLP. # is the prefix of the names of a
// block, NEXT that of the block behind it. bench/models/make_segmenter.py reads the same file.
std::string graphText(int dim) {
  constexpr int kBlocks = 12;
  std::vector<std::string> parts;  // the embedding, a block, the end of the encoder, the masks
  boost::iter_split(parts, kSegmenterText, boost::first_finder("----\n"));
  const auto blocks = [&](const std::string& name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      text += boost::replace_all_copy(boost::replace_all_copy(parts[1], "#", name + std::to_string(i) + "_"), "NEXT",
                                      name + std::to_string(i + 1) + "_");
    }
    return text;
  };
  std::string text = parts[0] + blocks("encoder_blocks_", kBlocks) + parts[2] + blocks("decoder_blocks_", 2) + parts[3];
  boost::replace_all(text, "LAST", std::to_string(kBlocks));
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
  boost::split(words, name.substr(name.find_last_not_of("_0123456789") + 2), boost::is_any_of("_"));
  int count = 1;
  for (const std::string& side : words) {
    weight.add_dims(std::stoi(side));
    count *= std::stoi(side);
  }
  const int first = std::stoi(words[0]);
  const double of_rank[] = {0.02, 1 / std::sqrt(first), 0.2, 1 / std::sqrt(count / first)};
  cv::Mat values(1, count, CV_32F);
  const bool is_gain = boost::contains(name, "norm") && boost::contains(name, "_weight");
  random.fill(values, cv::RNG::NORMAL, is_gain ? 1 : 0, of_rank[words.size() - 1]);
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
