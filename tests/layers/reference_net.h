// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <opencv2/dnn.hpp>
#include <random>
#include <string>
#include <vector>

#include "kernels/reference.h"
#include "merging/reference_merge.h"

namespace mpm::test {

/// A merging step between the attention and the MLP of a block.
struct InnerMerge {
  int block = 0;
  cv::dnn::LayerParams params;  ///< of MergeTokens, without special_tokens
  bool keys = false;            ///< compares the mean keys, else the tokens
  /// The same step in double: tokens, the rows to compare, special rows, sizes.
  std::function<MergedRows(const Rows&, const Rows&, int, const std::vector<double>&)> merge;
};

/// A tiny random ViT with a Segmenter head, kept once as OpenCV constants and evaluated twice: by a cv::dnn::Net of
/// ai.mpm ops, and by double loops that restore the grid before the head, as the paper does. The last block of the head
/// norms queries, keys and the MLP's hidden values as well.
class TinySegmenter {
 public:
  static constexpr int kChannels = 3, kPatch = 4, kGridH = 5, kGridW = 6, kDim = 24, kHeads = 2, kHeadDim = 10;
  static constexpr int kHidden = 40, kSpecial = 2, kClasses = 7, kBlocks = 4, kHeadBlocks = 2;
  static constexpr int kTokens = kGridH * kGridW;

  explicit TinySegmenter(unsigned seed);

  /// MPM before the blocks in `schedule`, and the steps `inside` blocks, in their order. Outputs: "labels", "logits",
  /// "scores", "features" (restored encoder output with special rows), "pooled_mean", "pooled_token", "merge_map",
  /// "token_counts". `reuse`: the number of the ReuseSession that the net joins; 0: none.
  cv::dnn::Net net(const std::vector<int>& schedule, bool proportional = false,
                   const std::vector<InnerMerge>& inside = {}, int reuse = 0) const;

  struct Result {
    Reference scores;                    ///< {N, classes}
    Reference features;                  ///< {special + N, dim}
    std::vector<std::vector<int>> maps;  ///< composed, after each insertion
    std::vector<int> counts;
  };
  /// One image {channels, H, W}.
  Result evaluate(const float* image, const std::vector<int>& schedule, bool proportional = false,
                  const std::vector<InnerMerge>& inside = {}) const;

  /// Successive images without merging, each with the patches that are computed; the rows of all others stay as they
  /// are in every block (docs/reuse.md). The first image computes all.
  std::vector<Result> evaluateFrames(const cv::Mat& images, const std::vector<std::vector<int>>& changed) const;

  static cv::Mat randomImages(int batch, unsigned seed);

 private:
  cv::Mat constant(std::vector<int> shape, double scale, double offset = 0);
  cv::dnn::LayerParams blockParams(const std::string& name, int special, bool key_bias,
                                   const std::string& part = "whole") const;
  void addBlock(const std::string& name);
  void addNorm(const std::string& name, int size);
  NormWeights norm(const std::string& name) const;
  LinearWeights linear(const std::string& name) const;
  TransformerBlockSpec block(const std::string& name) const;
  /// Tokens in front of the first block.
  Reference embed(const float* image) const;
  /// Input of the head's first block, patches in front of classes.
  Reference firstOfHead(const Reference& features) const;
  Reference scoresOf(const Reference& head) const;
  bool hasMoreNorms(const std::string& block) const { return eps_.count(block + ".mlp_norm") > 0; }

  std::mt19937 random_;
  std::map<std::string, cv::Mat> weights_;
  std::map<std::string, double> eps_;  ///< large and all different, so that no two can be exchanged
};

/// Copies of those outputs of the net.
std::vector<cv::Mat> forward(cv::dnn::Net& net, const cv::Mat& images, const std::vector<std::string>& names);

/// The largest difference in one image of a batch, in units of the largest expected value.
double relativeError(const cv::Mat& output, int image, const Reference& expected);

}  // namespace mpm::test
