// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "evaluation/flop_counter.h"
#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

/// The attribute of that name, or an empty one: its number is 0, its text and its list are empty.
const onnx::AttributeProto& attribute(const onnx::NodeProto& node, const std::string& name) {
  for (const auto& candidate : node.attribute())
    if (candidate.name() == name) return candidate;
  return onnx::AttributeProto::default_instance();
}

using Dims = std::vector<double>;
double product(const Dims& dims) { return std::accumulate(dims.begin(), dims.end(), 1.0, std::multiplies<>()); }

}  // namespace

class FlopCounter::Reader {
 public:
  Reader(const onnx::GraphProto& graph, FlopCounter& counter) : counter_(counter) {
    counter.terms_.resize(1);
    counter.head_.resize(1);
    for (const auto& tensor : graph.initializer())
      constants_[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
    for (const auto& node : graph.node())
      if (node.domain() == "ai.mpm" && node.name().find("/policy/") == std::string::npos) add(node);
    if (!found_) throw Error("the model to count has no op of ai.mpm: convert it first");
  }

 private:
  // Of a row with every matrix among the constants.
  static double matrixFlop(const std::vector<Dims>& constants) {
    double flop = 0;
    for (const Dims& matrix : constants) flop += matrix.size() == 2 ? 2 * product(matrix) : 0;
    return flop;
  }

  std::vector<Dims> matrices(const onnx::NodeProto& node) const {
    std::vector<Dims> result;
    for (const auto& input : node.input()) {
      if (const auto constant = constants_.find(input); constant != constants_.end() && constant->second.size() >= 2)
        result.push_back(constant->second);
    }
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
    struct {
      double per_row = 0, per_row_pair = 0, per_token = 0, per_token_pair = 0, fixed = 0;
    } cost;
    const auto special = static_cast<double>(attribute(node, "special_tokens").i());
    // The state that comes with the tokens says how many are live.
    std::size_t insertions_before = 0;
    if (node.input_size() > 1 && insertions_of_state_.count(node.input(1)))
      insertions_before = insertions_of_state_.at(node.input(1));
    const std::vector<Dims> weights = matrices(node);
    const auto sidesOf = [&](const char* name) {
      const auto& list = attribute(node, name).ints();
      return product({list.begin(), list.end()});
    };
    if (op == "PatchEmbed") {
      requireParts(node, weights.size() > 1 && node.output_size() > 1);
      const Dims& weight = weights.at(0);
      dim_ = weight.at(0);
      cost.fixed = 2 * product(weight) * weights.at(1).at(0);  // a position for each patch
      insertions_of_state_[node.output(1)] = 0;
    } else if (op == "TransformerBlock") {
      cost.per_row = matrixFlop(weights);
      if (attribute(node, "part").s() != "mlp")
        cost.per_row_pair = 4 * attribute(node, "heads").i() * attribute(node, "head_dim").i();
      if (node.output_size() > 1) width_of_keys_[node.output(1)] = attribute(node, "head_dim").i();
    } else if (op == "WindowAttention") {
      requireParts(node, weights.size() > 2);  // qkv, proj, rows of the windows
      cost.per_row = 2 * (product(weights[0]) + product(weights[1]));
      double keys = 2 * weights[2].back();                   // each query with each key, each key with its value
      if (attribute(node, "relative_positions").i() != 0) {  // each query with each row and each column of its window
        requireParts(node, weights.size() > 4);
        keys += (weights[3][0] + weights[4][0]) / 2 + 1;
      }
      cost.fixed = 2 * attribute(node, "heads").i() * attribute(node, "head_dim").i() * product(weights[2]) * keys;
    } else if (op == "MutualPairMerge" || op == "MergeTokens") {
      requireParts(node, node.output_size() > 1);
      const double width = node.input_size() > 2 ? width_of_keys_[node.input(2)] : dim_;
      const std::string groups = attribute(node, "groups").s();
      if (groups == "windows")
        cost.per_token = 3 * width;  // 6 pairs among 4 tokens, 2 per multiply-add
      else if (groups != "scored_windows" &&
               groups != "rule")  // even x odd is a quarter of N x N; of mutual pairs each similarity once, a half
        cost.per_token_pair = groups == "even_odd" ? width / 2 : width;
      insertions_of_state_[node.output(1)] = insertions_before + 1;
      counter_.terms_.emplace_back();
      counter_.head_.emplace_back();
    } else if (op == "TokenLinear") {
      requireParts(node, !weights.empty());
      const auto rows = static_cast<double>(attribute(node, "rows").i());  // 0: those of its tokens
      (rows > 0 ? cost.fixed : cost.per_row) = matrixFlop(weights) * std::max(rows, 1.0);
    } else if (op == "AttentionPool") {
      requireParts(node, weights.size() > 1);  // the query, keys and values
      cost.per_row = 2 * product(weights[1]) + 4 * weights[0].back();
    } else if (op == "HeadEinsum") {
      cost.fixed = 2 * sidesOf("sides");
    } else if (op == "MaskScores") {
      requireParts(node, weights.size() > 1);
      cost.per_token = 2 * product(weights[0]) + 2 * special * weights[0].at(0);
      cost.fixed = special * 2 * product(weights[1]);
    } else if (op == "HeadConvolve") {
      requireParts(node, !weights.empty());
      cost.fixed = 2 * product(weights.back()) * sidesOf("size");
      // A pixel of y sees one of stride * stride weights.
      if (attribute(node, "transposed").i() != 0) cost.fixed /= sidesOf("stride");
    }
    found_ = true;
    const Terms own = {cost.fixed + (cost.per_row + cost.per_row_pair * special) * special,
                       cost.per_row + 2 * cost.per_row_pair * special + cost.per_token,
                       cost.per_row_pair + cost.per_token_pair};
    for (auto* sums : {&counter_.terms_, node.name().starts_with("head/") ? &counter_.head_ : nullptr})
      for (std::size_t k = 0; sums && k < own.size(); ++k) sums->at(insertions_before)[k] += own[k];
  }

  FlopCounter& counter_;
  std::map<std::string, Dims> constants_;
  std::map<std::string, std::size_t> insertions_of_state_;
  std::map<std::string, double> width_of_keys_;
  double dim_ = 0;
  bool found_ = false;
};

FlopCounter::FlopCounter(const std::string& converted_model) {
  onnx::ModelProto model;
  if (!model.ParseFromString(converted_model)) throw Error("the model to count is not ONNX");
  Reader(model.graph(), *this);
}

double FlopCounter::count(const std::vector<double>& tokens, bool head_restored) const {
  if (tokens.size() != terms_.size()) {
    throw Error("the model has " + std::to_string(terms_.size() - 1) + " insertions, but there are " +
                std::to_string(tokens.size()) + " token counts");
  }
  const auto of = [](const Terms& terms, double n) { return terms[0] + (terms[1] + terms[2] * n) * n; };
  double flop = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    flop += of(terms_[i], tokens[i]);
    if (head_restored) flop += of(head_[i], tokens[0]) - of(head_[i], tokens[i]);
  }
  return flop;
}

double FlopCounter::countOf(const RunReport& report, bool head_restored) const {
  const auto& windows = report.window_tokens;
  if (windows.empty()) return count(report.tokens, head_restored);
  double sum = 0;
  for (const std::vector<double>& tokens : windows) sum += count(tokens, head_restored);
  return sum / static_cast<double>(windows.size());
}

std::vector<FlopCounter::Terms> FlopCounter::gflopTerms() const {
  std::vector<Terms> terms = terms_;
  for (Terms& of_tokens : terms)
    for (double& term : of_tokens) term /= 1e9;
  return terms;
}

}  // namespace mpm::evaluation
