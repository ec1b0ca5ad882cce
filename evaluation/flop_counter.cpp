// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <map>
#include <numeric>
#include <set>

#include "evaluation/flop_counter.h"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

// One op as a polynomial of its rows r and of its tokens n = r - special rows: what it costs per row, per pair of rows,
// per token, per pair of tokens, and in any case.
struct Cost {
  int insertions_before = 0;  // which entry of the token counts are its tokens
  bool pooled = false;        // one row per image, whatever the tokens
  double special = 0;
  double per_row = 0, per_row_pair = 0, per_token = 0, per_token_pair = 0, fixed = 0;

  double flop(const std::vector<double>& tokens) const {
    const double n = pooled ? 0 : tokens[insertions_before];
    const double rows = pooled ? 1 : n + special;
    return fixed + per_row * rows + per_row_pair * rows * rows + per_token * n + per_token_pair * n * n;
  }
};

double attribute(const onnx::NodeProto& node, const std::string& name) {
  for (const auto& candidate : node.attribute())
    if (candidate.name() == name) return static_cast<double>(candidate.i());
  return 0;
}

std::string text(const onnx::NodeProto& node, const std::string& name) {
  for (const auto& candidate : node.attribute())
    if (candidate.name() == name) return candidate.s();
  return {};
}

using Dims = std::vector<double>;
double product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), 1.0, std::multiplies<>()); }

class Counter {
 public:
  explicit Counter(const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer())
      constants_[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
    for (const auto& node : graph.node())
      if (node.domain() == "ai.mpm" && node.name().find("/policy/") == std::string::npos) add(node);
  }

  std::vector<Cost> costs;
  int insertions = 0;

 private:
  // Multiply-adds of a row with every matrix among the constants.
  double matrixFlop(const onnx::NodeProto& node) const {
    double flop = 0;
    for (const auto& input : node.input())
      if (const auto constant = constants_.find(input); constant != constants_.end() && constant->second.size() == 2)
        flop += 2 * product(constant->second);
    return flop;
  }

  std::vector<Dims> matrices(const onnx::NodeProto& node) const {
    std::vector<Dims> result;
    for (const auto& input : node.input())
      if (const auto constant = constants_.find(input); constant != constants_.end() && constant->second.size() >= 2)
        result.push_back(constant->second);
    return result;
  }

  static void requireParts(const onnx::NodeProto& node, bool there) {
    if (there) return;
    throw Error("node '" + node.name() + "' (" + node.op_type() +
                ") lacks a weight or an output: convert the original model again");
  }

  void add(const onnx::NodeProto& node) {
    const std::string& op = node.op_type();
    requireParts(node, node.output_size() > 0);
    Cost cost;
    cost.special = attribute(node, "special_tokens");
    // The state that comes with the tokens says how many are live; without one all are, unless they were pooled.
    if (node.input_size() > 1 && insertions_of_state_.count(node.input(1)))
      cost.insertions_before = insertions_of_state_.at(node.input(1));
    cost.pooled = node.input_size() > 0 && pooled_.count(node.input(0)) > 0;
    if (op == "PatchEmbed") {
      const std::vector<Dims> weights = matrices(node);
      requireParts(node, weights.size() > 1 && node.output_size() > 1);
      const Dims& weight = weights.at(0);
      dim_ = weight.at(0);
      cost.fixed = 2 * product(weight) * weights.at(1).at(0);  // a position for each patch
      insertions_of_state_[node.output(1)] = 0;
    } else if (op == "TransformerBlock") {
      cost.per_row = matrixFlop(node);
      if (text(node, "part") != "mlp") cost.per_row_pair = 4 * attribute(node, "heads") * attribute(node, "head_dim");
      if (node.output_size() > 1) width_of_keys_[node.output(1)] = attribute(node, "head_dim");
    } else if (op == "WindowAttention") {
      const std::vector<Dims> weights = matrices(node);  // qkv, proj, rows of the windows
      requireParts(node, weights.size() > 2);
      cost.per_row = 2 * (product(weights[0]) + product(weights[1]));
      cost.fixed = 4 * attribute(node, "heads") * attribute(node, "head_dim") * product(weights[2]) * weights[2].back();
    } else if (op == "MutualPairMerge" || op == "MergeTokens") {
      requireParts(node, node.output_size() > 1);
      const double width = node.input_size() > 2 ? width_of_keys_[node.input(2)] : dim_;
      const std::string groups = text(node, "groups");
      if (groups == "windows")
        cost.per_token = 3 * width;  // 6 pairs among 4 tokens, 2 per multiply-add
      else if (groups != "scored_windows" &&
               groups != "rule")  // even x odd is a quarter of N x N; of mutual pairs each similarity once, a half
        cost.per_token_pair = groups == "even_odd" ? width / 2 : width;
      insertions_of_state_[node.output(1)] = cost.insertions_before + 1;
      ++insertions;
    } else if (op == "TokenLinear") {
      cost.per_row = matrixFlop(node);
    } else if (op == "MaskScores") {
      const std::vector<Dims> projections = matrices(node);
      requireParts(node, projections.size() > 1);
      cost.per_token = 2 * product(projections.at(0)) + 2 * cost.special * projections.at(0).at(0);
      cost.fixed = cost.special * 2 * product(projections.at(1));
    }
    if (cost.pooled || op == "PoolTokens") pooled_.insert(node.output(0));
    costs.push_back(cost);
  }

  std::map<std::string, Dims> constants_;
  std::map<std::string, int> insertions_of_state_;
  std::map<std::string, double> width_of_keys_;
  std::set<std::string> pooled_;
  double dim_ = 0;
};

}  // namespace

struct FlopCounter::Impl {
  std::vector<Cost> costs;
  int insertions = 0;
};

FlopCounter::FlopCounter(const std::string& converted_model) : impl_(std::make_unique<Impl>()) {
  onnx::ModelProto model;
  if (!model.ParseFromString(converted_model)) throw Error("the model to count is not ONNX");
  Counter counter(model.graph());
  if (counter.costs.empty()) throw Error("the model to count has no op of ai.mpm: convert it first");
  impl_->costs = std::move(counter.costs);
  impl_->insertions = counter.insertions;
}
FlopCounter::~FlopCounter() = default;
FlopCounter::FlopCounter(FlopCounter&&) noexcept = default;
FlopCounter& FlopCounter::operator=(FlopCounter&&) noexcept = default;

double FlopCounter::count(const std::vector<double>& tokens) const {
  if (static_cast<int>(tokens.size()) != impl_->insertions + 1)
    throw Error("the model has " + std::to_string(impl_->insertions) + " insertions, but there are " +
                std::to_string(tokens.size()) + " token counts");
  return std::accumulate(impl_->costs.begin(), impl_->costs.end(), 0.0,
                         [&](double sum, const Cost& cost) { return sum + cost.flop(tokens); });
}

}  // namespace mpm::vision
