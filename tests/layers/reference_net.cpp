// SPDX-License-Identifier: Apache-2.0
#include "layers/reference_net.h"

#include <cmath>
#include <numeric>
#include <tuple>

namespace mpm::test {
namespace {

// In the order of docs/ops.md; only the block with more norms has the six of q_norm, k_norm and mlp_norm.
const char* const kBlockWeights[] = {"norm1_w",  "norm1_b",  "qkv_w",      "qkv_b",      "q_norm_w", "q_norm_b",
                                     "k_norm_w", "k_norm_b", "proj_w",     "proj_b",     "norm2_w",  "norm2_b",
                                     "fc1_w",    "fc1_b",    "mlp_norm_w", "mlp_norm_b", "fc2_w",    "fc2_b"};

MatrixView<const float> view(const cv::Mat& mat) {
  return {mat.ptr<float>(), mat.size[0], static_cast<int>(mat.total()) / mat.size[0]};
}

Rows rowsOf(const Reference& x) {
  Rows rows;
  for (int i = 0; i < x.rows; ++i)
    rows.emplace_back(x.values.begin() + static_cast<std::ptrdiff_t>(i) * x.cols,
                      x.values.begin() + static_cast<std::ptrdiff_t>(i + 1) * x.cols);
  return rows;
}

}  // namespace

TinySegmenter::TinySegmenter(unsigned seed) : random_(seed) {
  weights_["patch"] = constant({kDim, kChannels, kPatch, kPatch}, 0.3);
  weights_["position"] = constant({kTokens, kDim}, 0.5);
  weights_["special"] = constant({kSpecial, kDim}, 1.);
  for (int b = 0; b < kBlocks; ++b) addBlock("block" + std::to_string(b));
  addNorm("norm", kDim);
  weights_["proj_dec_w"] = constant({kDim, kDim}, 0.25);
  weights_["proj_dec_b"] = constant({kDim}, 0.1);
  weights_["classes"] = constant({kClasses, kDim}, 1.);
  for (int b = 0; b < kHeadBlocks; ++b) addBlock("head" + std::to_string(b));
  addNorm("head_norm", kDim);
  weights_["proj_patch"] = constant({kDim, kDim}, 0.25);
  weights_["proj_classes"] = constant({kDim, kDim}, 0.25);
  addNorm("mask", kClasses);
  addNorm("head1.q_norm", kHeadDim);
  addNorm("head1.k_norm", kHeadDim);
  eps_["head1.k_norm"] = eps_["head1.q_norm"];  // an op has one for both
  addNorm("head1.mlp_norm", kHidden);
}

cv::Mat TinySegmenter::constant(std::vector<int> shape, double scale, double offset) {
  if (shape.size() == 1) shape.push_back(1);
  cv::Mat mat(shape, CV_32F);
  std::normal_distribution<double> normal(offset, scale);
  for (std::size_t i = 0; i < mat.total(); ++i) mat.ptr<float>()[i] = static_cast<float>(normal(random_));
  return mat;
}

void TinySegmenter::addNorm(const std::string& name, int size) {
  weights_[name + "_w"] = constant({size}, 0.2, 1);
  weights_[name + "_b"] = constant({size}, 0.2);
  const double eps = 0.1 * static_cast<double>(eps_.size() + 1);
  eps_[name] = eps;
}

NormWeights TinySegmenter::norm(const std::string& name) const {
  return {weights_.at(name + "_w").ptr<float>(), weights_.at(name + "_b").ptr<float>(),
          static_cast<float>(eps_.at(name))};
}

LinearWeights TinySegmenter::linear(const std::string& name) const {
  return {view(weights_.at(name + "_w")), weights_.at(name + "_b").ptr<float>()};
}

TransformerBlockSpec TinySegmenter::block(const std::string& name) const {
  TransformerBlockSpec s;
  s.dim = kDim, s.heads = kHeads, s.head_dim = kHeadDim;
  s.scale = 1 / std::sqrt(static_cast<float>(kHeadDim));
  s.norm1 = norm(name + ".norm1"), s.norm2 = norm(name + ".norm2");
  s.qkv = linear(name + ".qkv"), s.proj = linear(name + ".proj");
  s.fc1 = linear(name + ".fc1"), s.fc2 = linear(name + ".fc2");
  s.qk_norm = s.mlp_norm = hasMoreNorms(name);
  if (!s.qk_norm) return s;
  s.q_norm = norm(name + ".q_norm"), s.k_norm = norm(name + ".k_norm");
  s.mlp_norm_weights = norm(name + ".mlp_norm");
  return s;
}

void TinySegmenter::addBlock(const std::string& name) {
  const int inner = kHeads * kHeadDim;
  addNorm(name + ".norm1", kDim);
  weights_[name + ".qkv_w"] = constant({3 * inner, kDim}, 0.3);
  weights_[name + ".qkv_b"] = constant({3 * inner}, 0.2);
  weights_[name + ".proj_w"] = constant({kDim, inner}, 0.25);
  weights_[name + ".proj_b"] = constant({kDim}, 0.2);
  addNorm(name + ".norm2", kDim);
  weights_[name + ".fc1_w"] = constant({kHidden, kDim}, 0.25);
  weights_[name + ".fc1_b"] = constant({kHidden}, 0.2);
  weights_[name + ".fc2_w"] = constant({kDim, kHidden}, 0.2);
  weights_[name + ".fc2_b"] = constant({kDim}, 0.2);
}

cv::dnn::LayerParams TinySegmenter::blockParams(const std::string& name, int special, bool key_bias,
                                                const std::string& part) const {
  cv::dnn::LayerParams params;
  params.set("special_tokens", special);
  params.set("heads", kHeads);
  params.set("head_dim", kHeadDim);
  params.set("scale", 1. / std::sqrt(static_cast<double>(kHeadDim)));
  params.set("norm1_eps", eps_.at(name + ".norm1"));
  params.set("norm2_eps", eps_.at(name + ".norm2"));
  if (hasMoreNorms(name)) {
    params.set("qk_norm", 1);
    params.set("qk_norm_eps", eps_.at(name + ".q_norm"));
    params.set("mlp_norm", 1);
    params.set("mlp_norm_eps", eps_.at(name + ".mlp_norm"));
  }
  params.set("activation", "gelu_erf");
  params.set("key_bias", key_bias ? 1 : 0);
  if (part != "whole") params.set("part", part);
  bool mlp = false;
  for (const std::string weight : kBlockWeights) {
    mlp = mlp || weight == "norm2_w";
    const auto found = weights_.find(name + "." + weight);
    if (found != weights_.end() && (part == "whole" || (part == "mlp") == mlp)) params.blobs.push_back(found->second);
  }
  return params;
}

cv::dnn::Net TinySegmenter::net(const std::vector<int>& schedule, bool proportional,
                                const std::vector<InnerMerge>& inside, int reuse) const {
  cv::dnn::Net net;
  const auto add = [&](const std::string& name, const std::string& type, cv::dnn::LayerParams params,
                       const std::vector<std::pair<int, int>>& inputs) {
    if (reuse > 0) params.set("reuse", reuse);
    const int id = net.addLayer(name, "ai.mpm." + type, params);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      net.connect(inputs[i].first, inputs[i].second, id, static_cast<int>(i));
    }
    return id;
  };
  const auto with = [&](int special, const std::vector<const char*>& weights = {},
                        const std::map<std::string, int>& numbers = {}) {
    cv::dnn::LayerParams params;
    params.set("special_tokens", special);
    for (const auto& [name, number] : numbers) params.set(name, number);
    for (const char* weight : weights) params.blobs.push_back(weights_.at(weight));
    return params;
  };
  const auto withEps = [&](cv::dnn::LayerParams params, const char* norm) {
    params.set("eps", eps_.at(norm));
    return params;
  };
  const std::map<std::string, int> image_size = {{"height", kGridH * kPatch}, {"width", kGridW * kPatch}};

  auto embedding = image_size;
  embedding.insert({{"stride_h", kPatch}, {"stride_w", kPatch}});
  const int embed =
      add("backbone/patch_embed", "PatchEmbed", with(kSpecial, {"patch", "position", "special"}, embedding), {{0, 0}});
  std::pair<int, int> tokens{embed, 0}, state{embed, 1};
  std::vector<std::pair<int, int>> states{state};
  for (int b = 0; b < kBlocks; ++b) {
    if (std::find(schedule.begin(), schedule.end(), b) != schedule.end()) {
      const int merged =
          add("merge/before_block" + std::to_string(b), "MutualPairMerge", with(kSpecial), {tokens, state});
      tokens = {merged, 0};
      state = {merged, 1};
      states.push_back(state);
    }
    const std::string name = "block" + std::to_string(b);
    const auto step = std::find_if(inside.begin(), inside.end(), [b](const InnerMerge& one) { return one.block == b; });
    if (step != inside.end()) {
      auto params = blockParams(name, kSpecial, proportional, "attention");
      params.set("keys", step->keys ? 1 : 0);
      const int attention = add("backbone/" + name + "/attention", "TransformerBlock", params, {tokens, state});
      params = step->params;
      params.set("special_tokens", kSpecial);
      std::vector<std::pair<int, int>> inputs{{attention, 0}, state};
      if (step->keys) inputs.emplace_back(attention, 1);
      const int merged = add("merge/in_" + name, "MergeTokens", params, inputs);
      state = {merged, 1};
      states.push_back(state);
      params = blockParams(name, kSpecial, false, "mlp");
      tokens = {add("backbone/" + name, "TransformerBlock", params, {{merged, 0}, state}), 0};
      continue;
    }
    tokens = {add("backbone/" + name, "TransformerBlock", blockParams(name, kSpecial, proportional), {tokens, state}),
              0};
  }
  tokens = {add("backbone/norm", "TokenNorm", withEps(with(kSpecial, {"norm_w", "norm_b"}), "norm"), {tokens, state}),
            0};

  // In front of ops that need all rows.
  const auto allRows = [&](const std::string& name, int special) {
    if (reuse == 0) return std::pair{tokens, state};
    const int keep = add(name, "KeepRows", with(special), {tokens, state});
    return std::pair{std::pair{keep, 0}, std::pair{keep, 1}};
  };
  const auto [all, all_state] = allRows("restore/keep/norm", kSpecial);
  auto mean = with(kSpecial), token = with(kSpecial, {}, {{"index", 1}});
  mean.set("mode", "mean");
  token.set("mode", "token");
  add("features", "RestoreTokens", with(kSpecial, {}, {{"keep_special", 1}}), {all, all_state});
  add("pooled_mean", "PoolTokens", mean, {all, all_state});
  add("pooled_token", "PoolTokens", token, {all, all_state});
  add("report", "MergeReport", {}, states);

  tokens = {add("head/proj_dec", "TokenLinear", with(kSpecial, {"proj_dec_w", "proj_dec_b"}), {tokens, state}), 0};
  tokens = {add("head/classes", "ClassTokens", with(kSpecial, {"classes"}), {tokens, state}), 0};
  for (int b = 0; b < kHeadBlocks; ++b) {
    const std::string name = "head" + std::to_string(b);
    tokens = {
        add("head/block" + std::to_string(b), "TransformerBlock", blockParams(name, kClasses, true), {tokens, state}),
        0};
  }
  const auto head_norm = withEps(with(kClasses, {"head_norm_w", "head_norm_b"}), "head_norm");
  tokens = {add("head/norm", "TokenNorm", head_norm, {tokens, state}), 0};
  std::tie(tokens, state) = allRows("restore/keep/head", kClasses);
  const auto masks = withEps(with(kClasses, {"proj_patch", "proj_classes", "mask_w", "mask_b"}), "mask");
  tokens = {add("head/masks", "MaskScores", masks, {tokens, state}), 0};
  const int scores = add("scores", "RestoreTokens", with(0, {}, {{"keep_special", 0}}), {tokens, state});
  auto labels = image_size;
  labels.insert({{"grid_h", kGridH}, {"grid_w", kGridW}});
  add("labels", "SegmentLabels", with(0, {}, labels), {{scores, 0}});
  add("logits", "SegmentLogits", with(0, {}, labels), {{scores, 0}});
  return net;
}

Reference TinySegmenter::embed(const float* image) const {
  const PatchGeometry geometry{kChannels, kGridH * kPatch, kGridW * kPatch, kPatch, kPatch, kPatch, kPatch};
  return stacked(Reference(view(weights_.at("special"))),
                 patchEmbed(image, geometry, view(weights_.at("patch")), Reference(view(weights_.at("position")))));
}

Reference TinySegmenter::firstOfHead(const Reference& features) const {
  const Reference projected = test::linear(features, linear("proj_dec"));
  return stacked(projected.rowRange(kSpecial, projected.rows), Reference(view(weights_.at("classes"))));
}

Reference TinySegmenter::scoresOf(const Reference& head) const {
  const Reference x = test::norm(head, norm("head_norm"));
  return maskScores(x.rowRange(kTokens, x.rows), x.rowRange(0, kTokens), view(weights_.at("proj_classes")),
                    view(weights_.at("proj_patch")), norm("mask"));
}

TinySegmenter::Result TinySegmenter::evaluate(const float* image, const std::vector<int>& schedule, bool proportional,
                                              const std::vector<InnerMerge>& inside) const {
  Result result{{0, 0}, {kSpecial + kTokens, kDim}, {}, {kTokens}};
  Reference x = embed(image);
  std::vector<int> cluster_of_token(kTokens);
  std::iota(cluster_of_token.begin(), cluster_of_token.end(), 0);
  std::vector<double> sizes(kTokens, 1);
  const auto take = [&](const MergedRows& merged) {
    x = Reference(static_cast<int>(merged.rows.size()), kDim);
    for (int i = 0; i < x.rows; ++i)
      for (int c = 0; c < kDim; ++c) x.at(i, c) = merged.rows[i][c];
    sizes = merged.sizes;
    for (int& cluster : cluster_of_token) cluster = merged.cluster_of_row[cluster];
    result.maps.push_back(cluster_of_token);
    result.counts.push_back(x.rows - kSpecial);
  };
  for (int b = 0; b < kBlocks; ++b) {
    const TransformerBlockSpec spec = block("block" + std::to_string(b));
    if (std::find(schedule.begin(), schedule.end(), b) != schedule.end())  // MPM as the paper defines it (sec. 3)
      take(mergeMutual(rowsOf(x), kSpecial, sizes, sizes.size(), -2, false));
    std::vector<float> key_bias(x.rows);
    for (std::size_t k = 0; k < sizes.size() && proportional; ++k)
      key_bias[kSpecial + k] = static_cast<float>(std::log(sizes[k]));
    const Reference normed = test::norm(x, spec.norm1), keys = meanKeys(spec, normed);
    x = withAttention(spec, x, attended(spec, normed, key_bias.data()));
    const auto step = std::find_if(inside.begin(), inside.end(), [b](const InnerMerge& one) { return one.block == b; });
    if (step != inside.end()) take(step->merge(rowsOf(x), rowsOf(step->keys ? keys : x), kSpecial, sizes));
    x = withMlp(spec, x);
  }
  x = test::norm(x, norm("norm"));
  for (int i = 0; i < result.features.rows; ++i)
    for (int c = 0; c < kDim; ++c)
      result.features.at(i, c) = x.at(i < kSpecial ? i : kSpecial + cluster_of_token[i - kSpecial], c);

  // The head as the paper runs it: on the full grid, class embeddings behind the patches.
  Reference head = firstOfHead(result.features);
  for (int b = 0; b < kHeadBlocks; ++b) head = test::block(block("head" + std::to_string(b)), head, nullptr);
  result.scores = scoresOf(head);
  return result;
}

std::vector<TinySegmenter::Result> TinySegmenter::evaluateFrames(const cv::Mat& images,
                                                                 const std::vector<std::vector<int>>& changed) const {
  std::vector<Result> results;
  // Inputs of the blocks, and what the last one gives.
  std::vector<Reference> kept(kBlocks + 1, Reference(kSpecial + kTokens, kDim)),
      kept_head(kHeadBlocks + 1, Reference(kTokens + kClasses, kDim));
  // The rows of `patches`, which begin at `first`, and the rows of classes or special tokens from `others` on.
  const auto update = [](Reference& to, const Reference& from, const std::vector<int>& patches, int first, int others,
                         int count) {
    const auto copy = [&](int row) {
      for (int c = 0; c < to.cols; ++c) to.at(row, c) = from.at(row, c);
    };
    for (const int patch : patches) copy(first + patch);
    for (int i = 0; i < count; ++i) copy(others + i);
  };
  for (std::size_t f = 0; f < changed.size(); ++f) {
    const auto inEncoder = [&](Reference& to, const Reference& from) {
      update(to, from, changed[f], kSpecial, 0, kSpecial);
    };
    const auto inHead = [&](Reference& to, const Reference& from) {
      update(to, from, changed[f], 0, kTokens, kClasses);
    };
    inEncoder(kept[0], embed(images.ptr<float>(static_cast<int>(f))));
    for (int b = 0; b < kBlocks; ++b)
      inEncoder(kept[b + 1], test::block(block("block" + std::to_string(b)), kept[b], nullptr));
    const Reference features = test::norm(kept[kBlocks], norm("norm"));
    inHead(kept_head[0], firstOfHead(features));
    for (int b = 0; b < kHeadBlocks; ++b)
      inHead(kept_head[b + 1], test::block(block("head" + std::to_string(b)), kept_head[b], nullptr));
    results.push_back({scoresOf(kept_head[kHeadBlocks]), features, {}, {}});
  }
  return results;
}

cv::Mat TinySegmenter::randomImages(int batch, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  cv::Mat images({batch, kChannels, kGridH * kPatch, kGridW * kPatch}, CV_32F);
  for (std::size_t i = 0; i < images.total(); ++i) images.ptr<float>()[i] = normal(random);
  return images;
}

std::vector<cv::Mat> forward(cv::dnn::Net& net, const cv::Mat& images, const std::vector<std::string>& names) {
  net.setInput(images);
  std::vector<cv::Mat> outputs;
  net.forward(outputs, std::vector<cv::String>(names.begin(), names.end()));
  for (cv::Mat& output : outputs) output = output.clone();
  return outputs;
}

double relativeError(const cv::Mat& output, int image, const Reference& expected) {
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < expected.values.size(); ++i) {
    worst = std::max(worst, std::abs(output.ptr<float>(image)[i] - expected.values[i]));
    largest = std::max(largest, std::abs(expected.values[i]));
  }
  return worst / largest;
}

}  // namespace mpm::test
