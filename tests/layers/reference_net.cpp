// SPDX-License-Identifier: Apache-2.0
#include "layers/reference_net.h"

#include <cmath>
#include <limits>
#include <tuple>

namespace mpm::test {
namespace {

// In the order of docs/ops.md; only the block with more norms has the six of q_norm, k_norm and mlp_norm.
const char* const kBlockWeights[] = {"norm1_w",  "norm1_b",  "qkv_w",      "qkv_b",      "q_norm_w", "q_norm_b",
                                     "k_norm_w", "k_norm_b", "proj_w",     "proj_b",     "norm2_w",  "norm2_b",
                                     "fc1_w",    "fc1_b",    "mlp_norm_w", "mlp_norm_b", "fc2_w",    "fc2_b"};

double at(const cv::Mat& mat, std::size_t i) { return mat.ptr<float>()[i]; }

Matrix linear(const Matrix& x, const cv::Mat& weight, const cv::Mat* bias) {
  Matrix y(x.rows, weight.size[0]);
  for (int i = 0; i < x.rows; ++i) {
    for (int o = 0; o < y.cols; ++o) {
      double sum = bias ? at(*bias, o) : 0;
      for (int c = 0; c < x.cols; ++c) sum += x(i, c) * at(weight, static_cast<std::size_t>(o) * x.cols + c);
      y(i, o) = sum;
    }
  }
  return y;
}

/// Columns [begin, begin + count).
Matrix columns(const Matrix& x, int begin, int count) {
  Matrix y(x.rows, count);
  for (int i = 0; i < x.rows; ++i) {
    for (int c = 0; c < count; ++c) y(i, c) = x(i, begin + c);
  }
  return y;
}

void normaliseRows(Matrix& x) {
  for (int i = 0; i < x.rows; ++i) {
    double sum = 0;
    for (int c = 0; c < x.cols; ++c) sum += x(i, c) * x(i, c);
    for (int c = 0; c < x.cols; ++c) x(i, c) /= std::sqrt(sum);
  }
}

/// One MPM call as the paper defines it (sec. 3); rows before `special` stay. Returns the map.
std::vector<int> merge(Matrix& x, int special) {
  const int n = x.rows - special;
  std::vector<int> best(n), map;
  for (int i = 0; i < n; ++i) {
    double top = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < n; ++j) {
      double dot = 0, ii = 0, jj = 0;
      for (int c = 0; c < x.cols; ++c) {
        dot += x(special + i, c) * x(special + j, c);
        ii += x(special + i, c) * x(special + i, c);
        jj += x(special + j, c) * x(special + j, c);
      }
      if (i != j && dot / std::sqrt(ii * jj) > top) {
        top = dot / std::sqrt(ii * jj);
        best[i] = j;
      }
    }
  }
  std::vector<std::vector<int>> members;
  for (int i = 0; i < n; ++i) {
    if (best[best[i]] == i && best[i] < i) {
      map.push_back(map[best[i]]);
      members[map.back()].push_back(i);
    } else {
      map.push_back(static_cast<int>(members.size()));
      members.push_back({i});
    }
  }
  Matrix merged(special + static_cast<int>(members.size()), x.cols);
  for (int i = 0; i < special; ++i) {
    for (int c = 0; c < x.cols; ++c) merged(i, c) = x(i, c);
  }
  for (int k = 0; k < static_cast<int>(members.size()); ++k) {
    for (const int i : members[k]) {
      for (int c = 0; c < x.cols; ++c) merged(special + k, c) += x(special + i, c) / members[k].size();
    }
  }
  x = merged;
  return map;
}

Rows rowsOf(const Matrix& x) {
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

Matrix TinySegmenter::norm(const std::string& name, const Matrix& x) const {
  const cv::Mat &weight = weights_.at(name + "_w"), &bias = weights_.at(name + "_b");
  Matrix y = x;
  for (int i = 0; i < x.rows; ++i) {
    double mean = 0, variance = 0;
    for (int c = 0; c < x.cols; ++c) mean += x(i, c) / x.cols;
    for (int c = 0; c < x.cols; ++c) variance += (x(i, c) - mean) * (x(i, c) - mean) / x.cols;
    for (int c = 0; c < x.cols; ++c) {
      y(i, c) = (x(i, c) - mean) / std::sqrt(variance + eps_.at(name)) * at(weight, c) + at(bias, c);
    }
  }
  return y;
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
  const auto withSpecial = [](int special) {
    cv::dnn::LayerParams params;
    params.set("special_tokens", special);
    return params;
  };

  auto params = withSpecial(kSpecial);
  params.set("height", kGridH * kPatch);
  params.set("width", kGridW * kPatch);
  params.set("stride_h", kPatch);
  params.set("stride_w", kPatch);
  params.blobs = {weights_.at("patch"), weights_.at("position"), weights_.at("special")};
  const int embed = add("backbone/patch_embed", "PatchEmbed", params, {{0, 0}});
  std::pair<int, int> tokens{embed, 0}, state{embed, 1};
  std::vector<std::pair<int, int>> states{state};
  for (int b = 0; b < kBlocks; ++b) {
    if (std::find(schedule.begin(), schedule.end(), b) != schedule.end()) {
      const int merged =
          add("merge/before_block" + std::to_string(b), "MutualPairMerge", withSpecial(kSpecial), {tokens, state});
      tokens = {merged, 0};
      state = {merged, 1};
      states.push_back(state);
    }
    const std::string name = "block" + std::to_string(b);
    const auto step = std::find_if(inside.begin(), inside.end(), [b](const InnerMerge& one) { return one.block == b; });
    if (step != inside.end()) {
      params = blockParams(name, kSpecial, proportional, "attention");
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
  params = withSpecial(kSpecial);
  params.set("eps", eps_.at("norm"));
  params.blobs = {weights_.at("norm_w"), weights_.at("norm_b")};
  tokens = {add("backbone/norm", "TokenNorm", params, {tokens, state}), 0};

  // In front of ops that need all rows.
  const auto allRows = [&](const std::string& name, int special) {
    if (reuse == 0) return std::pair{tokens, state};
    const int keep = add(name, "KeepRows", withSpecial(special), {tokens, state});
    return std::pair{std::pair{keep, 0}, std::pair{keep, 1}};
  };
  const auto [all, all_state] = allRows("restore/keep/norm", kSpecial);
  params = withSpecial(kSpecial);
  params.set("keep_special", 1);
  add("features", "RestoreTokens", params, {all, all_state});
  params = withSpecial(kSpecial);
  params.set("mode", "mean");
  add("pooled_mean", "PoolTokens", params, {all, all_state});
  params = withSpecial(kSpecial);
  params.set("mode", "token");
  params.set("index", 1);
  add("pooled_token", "PoolTokens", params, {all, all_state});
  add("report", "MergeReport", {}, states);

  params = withSpecial(kSpecial);
  params.blobs = {weights_.at("proj_dec_w"), weights_.at("proj_dec_b")};
  tokens = {add("head/proj_dec", "TokenLinear", params, {tokens, state}), 0};
  params = withSpecial(kSpecial);
  params.blobs = {weights_.at("classes")};
  tokens = {add("head/classes", "ClassTokens", params, {tokens, state}), 0};
  for (int b = 0; b < kHeadBlocks; ++b) {
    const std::string name = "head" + std::to_string(b);
    tokens = {
        add("head/block" + std::to_string(b), "TransformerBlock", blockParams(name, kClasses, true), {tokens, state}),
        0};
  }
  params = withSpecial(kClasses);
  params.set("eps", eps_.at("head_norm"));
  params.blobs = {weights_.at("head_norm_w"), weights_.at("head_norm_b")};
  tokens = {add("head/norm", "TokenNorm", params, {tokens, state}), 0};
  std::tie(tokens, state) = allRows("restore/keep/head", kClasses);
  params = withSpecial(kClasses);
  params.set("eps", eps_.at("mask"));
  params.blobs = {weights_.at("proj_patch"), weights_.at("proj_classes"), weights_.at("mask_w"), weights_.at("mask_b")};
  tokens = {add("head/masks", "MaskScores", params, {tokens, state}), 0};
  params = withSpecial(0);
  params.set("keep_special", 0);
  const int scores = add("scores", "RestoreTokens", params, {tokens, state});
  params = {};
  params.set("grid_h", kGridH);
  params.set("grid_w", kGridW);
  params.set("height", kGridH * kPatch);
  params.set("width", kGridW * kPatch);
  add("labels", "SegmentLabels", params, {{scores, 0}});
  add("logits", "SegmentLogits", params, {{scores, 0}});
  return net;
}

Matrix TinySegmenter::block(const std::string& name, const Matrix& x, const std::vector<double>& key_bias,
                            const std::function<void(Matrix&, const Matrix&)>& seam) const {
  const auto weight = [&](const char* key) -> const cv::Mat& { return weights_.at(name + "." + key); };
  const Matrix qkv = linear(norm(name + ".norm1", x), weight("qkv_w"), &weight("qkv_b"));
  const int inner = kHeads * kHeadDim;
  const bool more_norms = hasMoreNorms(name);
  Matrix heads(x.rows, inner), keys(x.rows, kHeadDim);
  for (int h = 0; h < kHeads; ++h) {
    Matrix q = columns(qkv, h * kHeadDim, kHeadDim), k = columns(qkv, inner + h * kHeadDim, kHeadDim);
    if (more_norms) {
      q = norm(name + ".q_norm", q);
      k = norm(name + ".k_norm", k);
    }
    for (std::size_t i = 0; i < keys.values.size(); ++i) keys.values[i] += k.values[i] / kHeads;
    for (int i = 0; i < x.rows; ++i) {
      std::vector<double> p(x.rows);
      double sum = 0;
      for (int j = 0; j < x.rows; ++j) {
        double dot = 0;
        for (int e = 0; e < kHeadDim; ++e) dot += q(i, e) * k(j, e);
        p[j] = std::exp(dot / std::sqrt(static_cast<double>(kHeadDim)) + key_bias[j]);
        sum += p[j];
      }
      for (int j = 0; j < x.rows; ++j) {
        for (int e = 0; e < kHeadDim; ++e) {
          heads(i, h * kHeadDim + e) += p[j] / sum * qkv(j, 2 * inner + h * kHeadDim + e);
        }
      }
    }
  }
  Matrix y = linear(heads, weight("proj_w"), &weight("proj_b"));
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += x.values[i];
  if (seam) seam(y, keys);
  Matrix hidden = linear(norm(name + ".norm2", y), weight("fc1_w"), &weight("fc1_b"));
  for (double& value : hidden.values) value *= 0.5 * (1 + std::erf(value / std::sqrt(2.)));
  if (more_norms) hidden = norm(name + ".mlp_norm", hidden);
  const Matrix mlp = linear(hidden, weight("fc2_w"), &weight("fc2_b"));
  for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += mlp.values[i];
  return y;
}

Matrix TinySegmenter::embed(const float* image) const {
  Matrix x(kSpecial + kTokens, kDim);
  for (int i = 0; i < kSpecial; ++i) {
    for (int c = 0; c < kDim; ++c) x(i, c) = at(weights_.at("special"), static_cast<std::size_t>(i) * kDim + c);
  }
  const int width = kGridW * kPatch, plane = kGridH * kPatch * width;
  for (int n = 0; n < kTokens; ++n) {
    for (int d = 0; d < kDim; ++d) {
      double sum = at(weights_.at("position"), static_cast<std::size_t>(n) * kDim + d);
      for (int k = 0; k < kChannels * kPatch * kPatch; ++k) {
        const int ch = k / (kPatch * kPatch), py = k / kPatch % kPatch, px = k % kPatch;
        const int y = n / kGridW * kPatch + py, xx = n % kGridW * kPatch + px;
        sum += image[ch * plane + y * width + xx] *
               at(weights_.at("patch"), static_cast<std::size_t>(d) * kChannels * kPatch * kPatch + k);
      }
      x(kSpecial + n, d) = sum;
    }
  }
  return x;
}

TinySegmenter::Result TinySegmenter::evaluate(const float* image, const std::vector<int>& schedule, bool proportional,
                                              const std::vector<InnerMerge>& inside) const {
  Result result;
  Matrix x = embed(image);
  std::vector<int> cluster_of_token(kTokens);
  std::vector<double> sizes(kTokens, 1);
  for (int i = 0; i < kTokens; ++i) cluster_of_token[i] = i;
  result.counts.push_back(kTokens);
  for (int b = 0; b < kBlocks; ++b) {
    if (std::find(schedule.begin(), schedule.end(), b) != schedule.end()) {
      const std::vector<int> map = merge(x, kSpecial);
      sizes.assign(x.rows - kSpecial, 0);
      for (int& cluster : cluster_of_token) ++sizes[cluster = map[cluster]];
      result.maps.push_back(cluster_of_token);
      result.counts.push_back(x.rows - kSpecial);
    }
    std::vector<double> key_bias(x.rows);
    if (proportional) {
      for (std::size_t k = 0; k < sizes.size(); ++k) key_bias[kSpecial + k] = std::log(sizes[k]);
    }
    const auto step = std::find_if(inside.begin(), inside.end(), [b](const InnerMerge& one) { return one.block == b; });
    const auto merge_inside = [&](Matrix& y, const Matrix& keys) {
      if (step == inside.end()) return;
      const MergedRows merged = step->merge(rowsOf(y), rowsOf(step->keys ? keys : y), kSpecial, sizes);
      y = Matrix(static_cast<int>(merged.rows.size()), kDim);
      for (int i = 0; i < y.rows; ++i)
        for (int c = 0; c < kDim; ++c) y(i, c) = merged.rows[i][c];
      sizes = merged.sizes;
      for (int& cluster : cluster_of_token) cluster = merged.cluster_of_row[cluster];
      result.maps.push_back(cluster_of_token);
      result.counts.push_back(y.rows - kSpecial);
    };
    x = block("block" + std::to_string(b), x, key_bias, merge_inside);
  }
  x = norm("norm", x);
  Matrix restored(kSpecial + kTokens, kDim);
  for (int i = 0; i < restored.rows; ++i) {
    for (int c = 0; c < kDim; ++c) {
      restored(i, c) = x(i < kSpecial ? i : kSpecial + cluster_of_token[i - kSpecial], c);
    }
  }
  result.features = restored;

  // The head as the paper runs it: on the full grid, class embeddings behind the patches.
  const Matrix projected = linear(restored, weights_.at("proj_dec_w"), &weights_.at("proj_dec_b"));
  Matrix head(kTokens + kClasses, kDim);
  for (int i = 0; i < head.rows; ++i) {
    for (int c = 0; c < kDim; ++c) {
      head(i, c) = i < kTokens ? projected(kSpecial + i, c)
                               : at(weights_.at("classes"), static_cast<std::size_t>(i - kTokens) * kDim + c);
    }
  }
  for (int b = 0; b < kHeadBlocks; ++b) {
    head = block("head" + std::to_string(b), head, std::vector<double>(head.rows));
  }
  head = norm("head_norm", head);
  result.scores = scoresOf(head);
  return result;
}

Matrix TinySegmenter::scoresOf(const Matrix& head) const {
  Matrix patches = linear(head, weights_.at("proj_patch"), nullptr);
  Matrix classes = linear(head, weights_.at("proj_classes"), nullptr);
  normaliseRows(patches);
  normaliseRows(classes);
  Matrix masks(kTokens, kClasses);
  for (int i = 0; i < kTokens; ++i) {
    for (int k = 0; k < kClasses; ++k) {
      for (int c = 0; c < kDim; ++c) masks(i, k) += patches(i, c) * classes(kTokens + k, c);
    }
  }
  return norm("mask", masks);
}

std::vector<TinySegmenter::Result> TinySegmenter::evaluateFrames(const cv::Mat& images,
                                                                 const std::vector<std::vector<int>>& changed) const {
  std::vector<Result> results;
  std::vector<Matrix> kept(kBlocks + 1, Matrix(kSpecial + kTokens, kDim)),  // inputs of the blocks, what the last gives
      kept_head(kHeadBlocks + 1, Matrix(kTokens + kClasses, kDim));
  // The rows of `patches`, which begin at `first`, and the rows of classes or special tokens from `others` on.
  const auto update = [](Matrix& to, const Matrix& from, const std::vector<int>& patches, int first, int others,
                         int count) {
    const auto copy = [&](int row) {
      for (int c = 0; c < to.cols; ++c) to(row, c) = from(row, c);
    };
    for (const int patch : patches) copy(first + patch);
    for (int i = 0; i < count; ++i) copy(others + i);
  };
  for (std::size_t f = 0; f < changed.size(); ++f) {
    const auto inEncoder = [&](Matrix& to, const Matrix& from) { update(to, from, changed[f], kSpecial, 0, kSpecial); };
    const auto inHead = [&](Matrix& to, const Matrix& from) { update(to, from, changed[f], 0, kTokens, kClasses); };
    inEncoder(kept[0], embed(images.ptr<float>(static_cast<int>(f))));
    for (int b = 0; b < kBlocks; ++b)
      inEncoder(kept[b + 1], block("block" + std::to_string(b), kept[b], std::vector<double>(kSpecial + kTokens)));
    Result& result = results.emplace_back();
    result.features = norm("norm", kept[kBlocks]);
    const Matrix projected = linear(result.features, weights_.at("proj_dec_w"), &weights_.at("proj_dec_b"));
    Matrix first(kTokens + kClasses, kDim);
    for (int i = 0; i < first.rows; ++i)
      for (int c = 0; c < kDim; ++c)
        first(i, c) = i < kTokens ? projected(kSpecial + i, c)
                                  : at(weights_.at("classes"), static_cast<std::size_t>(i - kTokens) * kDim + c);
    inHead(kept_head[0], first);
    for (int b = 0; b < kHeadBlocks; ++b)
      inHead(kept_head[b + 1],
             block("head" + std::to_string(b), kept_head[b], std::vector<double>(kTokens + kClasses)));
    result.scores = scoresOf(norm("head_norm", kept_head[kHeadBlocks]));
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

}  // namespace mpm::test
