// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "onnx/recognise/trunk.h"

namespace mpm::onnx_graph {
namespace {

LinearPart affine(const std::vector<Term>& terms, int layer) {
  const Term& linear = terms[layer];
  return {linear.cols, linear.weight.shape[1], *linear.weight.floats, *linear.bias.floats, layer};
}

/// Recognises the two halves of one block; `why` names the first node that does not fit.
class BlockMatcher {
 public:
  explicit BlockMatcher(const std::vector<Term>& terms) : terms_(terms) {}

  std::string why;

  /// branch == Attention(LayerNorm(stream)) + MLP(LayerNorm(stream)), in any order, LayerScale folded in.
  bool parallel(int branch, int stream, Block& block) {
    const auto scale = peelScale(branch);
    const Term& sum = at(branch);
    if (sum.kind != TermKind::kAdd) return false;
    for (const std::size_t first : {0, 1}) {
      Block attempt;
      why.clear();  // of the order in which one of the two fits
      const bool attends = attention(sum.inputs[first], stream, attempt);
      if (!attends || !mlp(sum.inputs[1 - first], stream, attempt)) {
        if (attends) return false;
        continue;
      }
      attempt.proj = scaled(std::move(attempt.proj), scale);
      attempt.fc2 = scaled(std::move(attempt.fc2), scale);
      attempt.parallel = true;
      block = std::move(attempt);
      return true;
    }
    return false;
  }

  /// branch == Attention(LayerNorm(stream)), LayerScale folded in.
  bool attention(int branch, int stream, Block& block) {
    auto scale = peelScale(branch);
    const std::int64_t padding = std::max<std::int64_t>(-padded(branch), 0);  // dropped again behind attention
    if (padding > 0) {
      branch = at(branch).inputs[0];
      const auto inner = peelScale(branch);
      std::transform(inner.begin(), inner.end(), scale.begin(), scale.begin(), std::multiplies<>());
    }
    const Term& proj = at(branch);
    if (proj.kind != TermKind::kLinear) return no(branch, "the projection of attention (a linear layer)");
    int middle = proj.inputs[0];
    if (at(middle).kind == TermKind::kNorm) {
      block.attention_norm = normPart(at(middle));
      middle = at(middle).inputs[0];
    }
    const Term& attention = at(middle);
    if (attention.kind != TermKind::kAttention) return no(middle, "attention");
    block.heads = attention.heads;
    block.head_dim = attention.cols / attention.heads;
    block.scale = attention.scale;
    block.rotation = attention.q.rotation;
    block.pair_bias = attention.pair_bias;
    block.proj = scaled(affine(terms_, branch), scale);
    block.relative_positions = attention.relative_positions;
    int norm = -1;
    for (int part = 0; part < 3; ++part) {
      const HeadView& view = part == 0 ? attention.q : part == 1 ? attention.k : attention.v;
      if (!operand(view, part, stream, padding, norm, block)) return false;
    }
    if (attention.q.windows > 1 || padding > 0 || block.relative_positions || block.pair_bias) {
      if (block.rotation) return no(middle, "rotary positions, or windows and biases of pairs, but not both");
      block.windows = attention.q.windows;
      const bool in_order = attention.q.row_of.empty() || block.pair_bias;  // a bias is of the rows in order
      for (std::int64_t i = 0; i < attention.rows; ++i) {
        const std::int64_t row = in_order ? i : attention.q.row_of[i];
        block.window_rows.push_back(std::max<std::int64_t>(row - padding, -1));
      }
    }
    if (block.pair_bias && block.relative_positions)
      return no(middle, "a bias of pairs or products with positions, but not both");
    if (block.q_norm.has_value() != block.k_norm.has_value()) return no(middle, "q and k normalised both, or neither");
    if (block.q_norm && block.q_norm->eps != block.k_norm->eps) return no(middle, "one epsilon for q and k");
    if (block.q_norm && block.q_norm->rms != block.k_norm->rms) return no(middle, "one kind of norm for q and k");
    if (block.q_norm && block.q_norm->weight.size() != block.k_norm->weight.size()) {
      repeat(*block.q_norm, static_cast<std::size_t>(attention.cols));
      repeat(*block.k_norm, static_cast<std::size_t>(attention.cols));
    }
    block.norm1 = normPart(at(norm));
    return true;
  }

  /// branch == MLP(LayerNorm(stream)), LayerScale folded in.
  bool mlp(int branch, int stream, Block& block) {
    block.mlp_norm.reset();
    const auto scale = peelScale(branch);
    const Term& fc2 = at(branch);
    if (fc2.kind != TermKind::kLinear) return no(branch, "the second linear layer of an MLP");
    block.fc2 = scaled(affine(terms_, branch), scale);
    int hidden = fc2.inputs[0];
    if (at(hidden).kind == TermKind::kNorm) {
      block.mlp_norm = normPart(at(hidden));
      hidden = at(hidden).inputs[0];
    }
    int activated = hidden, gate = -1;
    if (at(hidden).kind == TermKind::kMultiply) {
      const int a = at(hidden).inputs[0], b = at(hidden).inputs[1];
      const bool first = at(a).kind == TermKind::kActivation;
      activated = first ? a : b;
      gate = first ? b : a;
    }
    if (at(activated).kind != TermKind::kActivation)
      return no(activated, "GELU, SiLU or ReLU between two linear layers");
    block.activation = at(activated).activation;
    block.gated = gate >= 0;
    int norm = -1;
    const char* const first_layer = "the first linear layer of an MLP";
    auto fc1 = ofNorm(at(activated).inputs[0], first_layer, stream, norm);
    if (!fc1) return false;
    block.fc1 = std::move(*fc1);
    if (gate >= 0) {
      const auto gates = ofNorm(gate, first_layer, stream, norm);
      if (!gates) return false;
      block.fc1.weight.insert(block.fc1.weight.end(), gates->weight.begin(), gates->weight.end());
      block.fc1.bias.insert(block.fc1.bias.end(), gates->bias.begin(), gates->bias.end());
      block.fc1.out += gates->out;
    }
    block.norm2 = normPart(at(norm));
    return true;
  }

 private:
  const Term& at(int term) const { return terms_[term]; }

  bool no(int term, const std::string& expected) {
    if (why.empty()) why = onnx_graph::describe(*at(term).node) + ": found " + kindOf(term) + ", expected " + expected;
    return false;
  }

  std::string kindOf(int term) const {
    static const std::map<TermKind, const char*> kNames = {
        {TermKind::kPatches, "the patches"},
        {TermKind::kArrange, "tokens rearranged or shifted by a constant"},
        {TermKind::kNorm, "a LayerNorm"},
        {TermKind::kLinear, "a linear layer"},
        {TermKind::kL2Norm, "an L2 normalisation"},
        {TermKind::kScale, "a factor per feature"},
        {TermKind::kAdd, "a sum"},
        {TermKind::kMultiply, "a product"},
        {TermKind::kHeadNorm, "a LayerNorm per head"},
        {TermKind::kAttention, "attention"},
        {TermKind::kAttentionPool, "attention pooling"},
        {TermKind::kProduct, "a product of tokens with tokens"},
        {TermKind::kMean, "a mean over tokens"},
        {TermKind::kOutside, "something else"}};
    if (at(term).kind == TermKind::kActivation) return "the activation " + at(term).activation;
    return kNames.at(at(term).kind);
  }

  /// LayerScale and uniform factors at the end of a branch, multiplied together; `branch` moves to what they scale.
  std::vector<double> peelScale(int& branch) const {
    std::vector<double> factors(at(branch).cols, 1.0);
    while (true) {
      const Term& term = at(branch);
      if (term.kind == TermKind::kScale) {
        for (std::size_t i = 0; i < factors.size(); ++i) factors[i] *= static_cast<double>((*term.weight.floats)[i]);
      } else if (term.kind == TermKind::kArrange && term.rows == at(term.inputs[0]).rows && isCounting(term.row_of) &&
                 term.offset.empty() && keepsColumns(term)) {
        for (double& factor : factors) factor *= term.scale;
      } else {
        return factors;
      }
      branch = term.inputs[0];
    }
  }

  bool keepsColumns(const Term& arrange) const {
    return arrange.cols == at(arrange.inputs[0]).cols && isCounting(arrange.col_of);
  }

  static LinearPart scaled(LinearPart part, const std::vector<double>& factors) {
    for (std::int64_t o = 0; o < part.out; ++o) {
      const double factor = factors[o];
      if (factor == 1) continue;
      for (std::int64_t i = 0; i < part.in; ++i) {
        float& weight = part.weight[o * part.in + i];
        weight = static_cast<float>(static_cast<double>(weight) * factor);
      }
      float& bias = part.bias[o];
      bias = static_cast<float>(static_cast<double>(bias) * factor);
    }
    return part;
  }

  /// All the projections of a block read one LayerNorm of the stream (exporters may write it twice, with equal
  /// weights).
  bool readsNorm(int linear, int stream, int& norm, std::int64_t padding = 0) {
    int input = at(linear).inputs[0];
    if (padding > 0) {
      if (padded(input) != padding) return no(input, "rows of zeros that are dropped behind attention");
      input = at(input).inputs[0];
    }
    if (at(input).kind != TermKind::kNorm)
      return no(linear, "a LayerNorm between the residual stream and attention or MLP (pre-norm)");
    if (at(input).inputs[0] != stream) return no(input, "a LayerNorm of the residual stream (pre-norm)");
    if (norm >= 0 && norm != input && normPart(at(norm)) != normPart(at(input)))
      return no(input, "one LayerNorm for q, k and v");
    norm = input;
    return true;
  }

  /// Rows of zeros that `term` puts in front of all rows of another, or, below 0, rows in front that it drops; 0 when
  /// it does something else.
  std::int64_t padded(int term) const {
    const Term& arrange = at(term);
    if (arrange.kind != TermKind::kArrange || arrange.scale != 1 || !keepsColumns(arrange) || !isZero(arrange.offset))
      return 0;
    const std::int64_t rows = arrange.rows - at(arrange.inputs[0]).rows;
    return (rows > 0 ? countsBehind(arrange.row_of, rows) : isCounting(arrange.row_of, -rows)) ? rows : 0;
  }

  bool operand(const HeadView& view, int part, int stream, std::int64_t padding, int& norm, Block& block) {
    int source = view.term;
    std::vector<double> factor(view.column_scale.begin(), view.column_scale.end());
    factor.resize(view.column.size(), 1.0);
    const TermKind kind = at(source).kind;
    const bool one_head = block.heads == 1 && (kind == TermKind::kNorm || kind == TermKind::kL2Norm);
    if (kind == TermKind::kHeadNorm || one_head) {
      if (part == 2) return no(source, "v as the linear layer gives it");
      auto normalised =
          headNorm(kind == TermKind::kL2Norm ? asNorm(at(source), at(source).cols) : at(source), view, block);
      if (!normalised) return no(source, "a LayerNorm over the features of each head");
      scaleNorm(*normalised, factor);
      (part == 0 ? block.q_norm : block.k_norm) = std::move(*normalised);
      source = at(source).inputs[0];
      if (!isZero(view.offset)) return no(view.term, "nothing added to a normalised head");
    }
    const auto rows = ofNorm(source, "the linear layer of q, k or v", stream, norm, padding);
    if (!rows) return false;
    // For q and k the scale is already in the attention.
    for (double& one : factor) one *= part == 2 ? view.scale : 1;
    block.qkv.in = rows->in;
    block.qkv.out += std::ssize(view.column);
    block.qkv.weight.reserve(3 * view.column.size() * static_cast<std::size_t>(rows->in));
    for (std::size_t i = 0; i < view.column.size(); ++i) {
      const float* row = rows->weight.data() + view.column[i] * rows->in;
      for (std::int64_t j = 0; j < rows->in; ++j)
        block.qkv.weight.push_back(static_cast<float>(static_cast<double>(row[j]) * factor[i]));
      const double bias = static_cast<double>(rows->bias[view.column[i]]) + static_cast<double>(view.offset[i]);
      block.qkv.bias.push_back(static_cast<float>(bias * factor[i]));
    }
    return true;
  }

  /// Multiplies the norm by the factors of the heads' columns, and makes them ones. If they differ from head to head,
  /// the norm gets weights for each.
  static void scaleNorm(NormPart& norm, std::vector<double>& factor) {
    const std::size_t width = norm.weight.size();
    bool same = true;
    for (std::size_t i = width; i < factor.size(); ++i) same = same && factor[i] == factor[i % width];
    if (!same) repeat(norm, factor.size());
    for (std::size_t i = 0; i < norm.weight.size(); ++i) {
      norm.weight[i] = static_cast<float>(static_cast<double>(norm.weight[i]) * factor[i]);
      norm.bias[i] = static_cast<float>(static_cast<double>(norm.bias[i]) * factor[i]);
    }
    factor.assign(factor.size(), 1.0);
  }

  /// The weights of a head for each head, `size` in all.
  static void repeat(NormPart& norm, std::size_t size) {
    const std::size_t width = norm.weight.size();
    for (std::size_t i = width; i < size; ++i) {
      norm.weight.push_back(norm.weight[i % width]);
      norm.bias.push_back(norm.bias[i % width]);
    }
  }

  /// The norm's weights in the order of the head's features, when its groups are the heads. One over whole rows has one
  /// group.
  static std::optional<NormPart> headNorm(const Term& norm, const HeadView& view, const Block& block) {
    const bool whole = norm.kind == TermKind::kNorm;
    const auto groupOf = [&](std::int64_t column) { return whole ? 0 : norm.group_of[column]; };
    const auto positionOf = [&](std::int64_t column) { return whole ? column : norm.position_of[column]; };
    NormPart part{{}, {}, norm.eps, norm.rms};
    const auto width = static_cast<std::size_t>(block.head_dim);
    if (std::ssize(*norm.weight.floats) != block.head_dim) return std::nullopt;
    std::set<std::int64_t> groups, positions;
    for (std::size_t i = 0; i < view.column.size(); ++i) {
      const std::int64_t column = view.column[i], group = groupOf(column), position = positionOf(column);
      if (position < 0 || group != groupOf(view.column[i - i % width]) ||
          position != positionOf(view.column[i % width]))
        return std::nullopt;
      groups.insert(group);
      positions.insert(position);
      if (i < width) {
        part.weight.push_back((*norm.weight.floats)[position]);
        part.bias.push_back((*norm.bias.floats)[position]);
      }
    }
    if (std::ssize(groups) != block.heads || positions.size() != width) return std::nullopt;
    return part;
  }

  /// A linear layer, `wanted`, of the normalised stream, or columns of one.
  std::optional<LinearPart> ofNorm(int term, const char* wanted, int stream, int& norm, std::int64_t padding = 0) {
    auto part = linearPart(terms_, term);
    if (!part) no(term, wanted);
    return part && readsNorm(part->layer, stream, norm, padding) ? std::move(part) : std::nullopt;
  }

  const std::vector<Term>& terms_;
};

/// True when `term` puts rows in front of all rows of `stream`, or in the place of its first ones, or adds positions to
/// them: all go to `chain`, before its next block.
bool joins(const std::vector<Term>& terms, int term, int stream, BlockChain& chain) {
  const Term& arrange = terms[term];
  const Term& x = terms[stream];
  if (arrange.kind != TermKind::kArrange || arrange.scale != 1 || arrange.cols != x.cols ||
      !isCounting(arrange.col_of) || arrange.offset.empty())
    return false;
  const auto isConstant = [](std::int64_t row) { return row < 0; };
  const std::int64_t rows = std::ranges::find_if_not(arrange.row_of, isConstant) - arrange.row_of.begin();
  const std::int64_t replaced = rows + x.rows - arrange.rows;
  if (replaced < 0 || (replaced > 0 && rows == 0) || !countsBehind(arrange.row_of, rows, replaced)) return false;
  const auto split = arrange.offset.begin() + rows * arrange.cols;
  const bool adds = !isZero({split, arrange.offset.end()});
  if (adds && replaced > 0) return false;
  const std::size_t block = chain.blocks.size();
  if (rows > 0) chain.late.push_back({block, rows, {arrange.offset.begin(), split}, replaced, arrange.node});
  if (adds) chain.positions.push_back({block, {split, arrange.offset.end()}});
  return true;
}

}  // namespace

std::optional<LinearPart> linearPart(const std::vector<Term>& terms, int index) {
  const Term& term = terms[index];
  if (term.kind == TermKind::kLinear) return affine(terms, index);
  if (term.kind != TermKind::kArrange) return std::nullopt;
  const Term& linear = terms[term.inputs[0]];
  if (linear.kind != TermKind::kLinear || term.rows != linear.rows || !isCounting(term.row_of)) return std::nullopt;
  const auto cols = static_cast<std::size_t>(term.cols);
  for (std::size_t i = cols; i < term.offset.size(); ++i)
    if (term.offset[i] != term.offset[i % cols]) return std::nullopt;
  LinearPart part{term.cols, linear.weight.shape[1], {}, {}, term.inputs[0]};
  for (std::size_t j = 0; j < cols; ++j) {
    const float* row = linear.weight.floats->data() + term.col_of[j] * part.in;
    for (std::int64_t i = 0; i < part.in; ++i)
      part.weight.push_back(static_cast<float>(static_cast<double>(row[i]) * term.scale));
    const double bias = static_cast<double>((*linear.bias.floats)[term.col_of[j]]) * term.scale;
    part.bias.push_back(static_cast<float>(bias + (term.offset.empty() ? 0.0 : static_cast<double>(term.offset[j]))));
  }
  return part;
}

BlockChain followBlocks(const std::vector<Term>& terms, int stream) {
  const auto users = usersOf(terms);
  // A sum of the stream and a branch of it: each half of a block ends with one.
  const auto next = [&](int x, auto&& matches) {
    std::string why;
    for (const int user : users[x]) {
      const Term& sum = terms[user];
      if (sum.kind != TermKind::kAdd || sum.inputs[0] == sum.inputs[1]) continue;
      const int branch = sum.inputs[0] == x ? sum.inputs[1] : sum.inputs[0];
      if (terms[branch].kind == TermKind::kOutside) continue;
      BlockMatcher matcher(terms);
      if (matches(matcher, branch)) return std::pair(user, std::string());
      if (why.empty()) why = matcher.why;
    }
    return std::pair(-1, why);
  };
  BlockChain chain;
  chain.streams.push_back(stream);
  int x = stream;  // what the next block reads
  const auto append = [&](Block block, int end) {
    if (block.parallel && block.fixesPlaces()) {
      chain.obstacle =
          describe(*terms[end].node) +
          ": found an MLP beside attention in windows or with a bias of pairs, expected it behind attention";
      return false;
    }
    chain.blocks.push_back(std::move(block));
    chain.streams.push_back(end);
    x = end;
    return true;
  };
  while (true) {
    Block block;
    const auto attend = [&](int from) {
      return next(from, [&](BlockMatcher& matcher, int branch) {
        block = Block();
        return matcher.attention(branch, from, block);
      });
    };
    const auto attendBesideMlp = [&](int from) {
      return next(from, [&](BlockMatcher& matcher, int branch) {
        block = Block();
        return matcher.parallel(branch, from, block);
      });
    };
    const auto begins = [&](int from) { return attend(from).first >= 0 || attendBesideMlp(from).first >= 0; };
    const auto [middle, attention_why] = attend(x);
    const bool at_start = chain.blocks.empty() && chain.interactions.empty();
    const bool interacted = !chain.interactions.empty() && x == chain.interactions.back().sum;
    if (middle < 0 && attention_why.empty() && (x == chain.streams.back() || interacted)) {
      const auto& readers = users[x];
      // Heads add tokens to other features too; a block must follow.
      const auto interacts = [&](int user) {
        const Term& sum = terms[user];
        if (sum.kind != TermKind::kAdd || terms[sum.inputs[1]].kind != TermKind::kOutside) return false;
        BlockChain unused;
        return begins(user) || std::ranges::any_of(users[user], [&](int one) {
                 return joins(terms, one, user, unused) && begins(one);
               });
      };
      const auto sum = std::ranges::find_if(readers, interacts);
      if (sum != readers.end()) {
        const int outside = terms[*sum].inputs[1];
        chain.interactions.push_back({chain.blocks.size(), *sum, terms[outside].value});
        x = *sum;
        continue;
      }
      const auto joined =
          std::ranges::find_if(readers, [&](int user) { return !at_start && joins(terms, user, x, chain); });
      if (joined != readers.end()) {
        x = *joined;
        continue;
      }
    }
    if (middle < 0) {
      const auto [end, parallel_why] = attendBesideMlp(x);
      if (end >= 0) {
        if (!append(std::move(block), end)) return chain;
        continue;
      }
      const auto behindLast = [&](const auto& joined) { return joined.block == chain.blocks.size(); };
      std::erase_if(chain.late, behindLast);
      std::erase_if(chain.positions, behindLast);
      chain.obstacle = parallel_why.empty() ? attention_why : parallel_why;
      return chain;
    }
    const auto [end, mlp_why] = next(middle, [&, attended = middle](BlockMatcher& matcher, int branch) {
      for (const int reads : {attended, x}) {  // x: attention and MLP side by side
        Block attempt = block;
        attempt.parallel = reads == x;
        if (!matcher.mlp(branch, reads, attempt)) continue;
        block = std::move(attempt);
        return true;
      }
      return false;
    });
    if (end < 0) {
      chain.half_a_block = mlp_why.empty();
      const Node* node = terms[middle].node;
      chain.obstacle = !mlp_why.empty()
                           ? mlp_why
                           : describe(*node) + ": found no MLP behind the attention, expected a pre-norm block";
      return chain;
    }
    if (!append(std::move(block), end)) return chain;
  }
}

}  // namespace mpm::onnx_graph
