// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/key_values.h"
#include "base/number_text.h"
#include "base/reduction_defaults.h"
#include "base/size_text.h"
#include "mpm/error.hpp"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

namespace mpm {
namespace {

constexpr int kMaxBlock = 100'000;

/// Runs of three and more as a range.
std::string textOf(const Schedule& blocks) {
  std::string text;
  for (std::size_t i = 0, end = 0; i < blocks.size(); i = end) {
    while (end < blocks.size() && blocks[end] == blocks[i] + static_cast<int>(end - i)) ++end;
    if (end - i < 3) end = i + 1;
    text += (text.empty() ? "" : ",") + std::to_string(blocks[i]) +
            (end - i >= 3 ? "-" + std::to_string(blocks[end - 1]) : "");
  }
  return text;
}

[[noreturn]] void refuse(const std::string& value, const std::string& expected) {
  throw Error("'" + value + "' is not " + expected);
}

double parseNumber(const std::string& text, double min, double max, const char* expected) {
  const std::optional<double> number = readNumber<double>(text);
  if (!number || !(*number >= min && *number <= max)) refuse(text, expected);
  return *number;
}

constexpr const char *kCount = "a whole number, 1 or more", *kShare = "a share, more than 0 and at most 1";

/// A key of a spec. `text`: its value in a reduction; empty: the reduction does not have it. `read` throws mpm::Error
/// for a value that is invalid.
struct Key {
  const char* name;
  std::vector<ReductionMethod> methods;
  std::function<std::string(const Reduction&)> text;
  std::function<void(const std::string&, Reduction&)> read;
};

/// A key whose value is a text without colons.
Key textKey(const char* name, ReductionMethod method, std::string Reduction::*text, const char* expected) {
  return {name,
          {method},
          [text](const Reduction& r) { return r.*text; },
          [text, expected](const std::string& value, Reduction& r) {
            if (value.empty() || value.find(':') != std::string::npos) refuse(value, expected);
            r.*text = value;
          }};
}

/// A key with one word for true and one, the default, for false.
Key wordKey(const char* name, std::vector<ReductionMethod> methods, bool Reduction::*chosen, const std::string& word,
            const std::string& otherwise) {
  return {name, std::move(methods), [=](const Reduction& r) { return r.*chosen ? word : ""; },
          [=](const std::string& value, Reduction& r) {
            if (value != word && value != otherwise) refuse(value, otherwise + " or " + word);
            r.*chosen = value == word;
          }};
}

Key similarityKey(const char* name, ReductionMethod method) {
  return {name,
          {method},
          [method](const Reduction& r) {
            const bool own = r.similarity && (r.method == ReductionMethod::kAlgm) == (method == ReductionMethod::kAlgm);
            return own ? numberText(*r.similarity) : "";
          },
          [](const std::string& value, Reduction& r) {
            r.similarity = parseNumber(value, -1, 1, "a similarity from -1 to 1");
          }};
}

const std::vector<Key>& keys() {
  using enum ReductionMethod;
  static const std::vector<ReductionMethod> every = {kMpm, kGradual, kTome, kAlgm, kCts, kRule};
  static const std::vector<Key> all = {
      textKey("function", kRule, &Reduction::function, "a name without colons"),
      {"blocks",
       {kMpm, kGradual, kTome, kAlgm, kRule},
       [](const Reduction& r) { return r.blocks ? textOf(*r.blocks) : ""; },
       [](const std::string& value, Reduction& r) { r.blocks = parseBlocks(value, "'" + value + "'"); }},
      textKey("policy", kCts, &Reduction::policy, "the path of a file, without colons"),
      {"count",
       {kGradual, kTome},
       [](const Reduction& r) { return r.count ? std::to_string(*r.count) : ""; },
       [](const std::string& value, Reduction& r) {
         r.count = readNumber<int>(value);
         if (!r.count || *r.count < 1) refuse(value, kCount);
       }},
      {"share",
       {kGradual, kTome, kCts},
       [](const Reduction& r) { return r.share ? numberText(*r.share) : ""; },
       [](const std::string& value, Reduction& r) {
         r.share = parseNumber(value, 0, 1, kShare);
         if (*r.share <= 0) refuse(value, kShare);
       }},
      similarityKey("similarity", kGradual),
      similarityKey("threshold", kAlgm),
      wordKey("mean", {kRule}, &Reduction::plain_mean, "plain", "weighted"),
      wordKey("where", {kRule}, &Reduction::inside, "inside", "before"),
      {"attention", every, [](const Reduction& r) { return r.attention ? toString(*r.attention) : ""; },
       [](const std::string& value, Reduction& r) { r.attention = parseAttention(value); }},
      {"positions", every, [](const Reduction& r) { return r.positions ? toString(*r.positions) : ""; },
       [](const std::string& value, Reduction& r) { r.positions = parseMergedPositions(value); }},
      wordKey("head", every, &Reduction::head_restored, "restored", "merged"),
  };
  return all;
}

constexpr std::pair<ReductionMethod, const char*> kMethods[] = {
    {ReductionMethod::kNone, "none"}, {ReductionMethod::kMpm, "mpm"},   {ReductionMethod::kGradual, "gradual"},
    {ReductionMethod::kTome, "tome"}, {ReductionMethod::kAlgm, "algm"}, {ReductionMethod::kCts, "cts"},
    {ReductionMethod::kRule, "rule"}};

/// The methods that errors offer. kRule, the last, is left out: a text can name it only with a function.
constexpr std::size_t kWords = std::size(kMethods) - 1;

std::string methodWords() {
  std::string words;
  for (std::size_t i = 0; i < kWords; ++i)
    words += (i == 0 ? "" : i + 1 < kWords ? ", " : " or ") + std::string(kMethods[i].second);
  return words;
}

std::string wordOf(ReductionMethod method) {
  for (const auto& [known, word] : kMethods)
    if (known == method) return word;
  return {};
}

/// The key `name`. Throws mpm::Error when the method has none of that name.
const Key& keyOf(ReductionMethod method, const std::string& name) {
  std::string own;
  for (const Key& key : keys()) {
    if (std::find(key.methods.begin(), key.methods.end(), method) == key.methods.end()) continue;
    if (key.name == name) return key;
    own += (own.empty() ? "" : ", ") + std::string(key.name);
  }
  throw Error("'" + wordOf(method) + "' has no key '" + name + "'" + (own.empty() ? "" : "; it has " + own));
}

// A key's value is valid where its text can be read.
void requireValues(const Reduction& reduction) {
  for (const Key& key : keys()) {
    const std::string text = key.text(reduction);
    if (text.empty()) continue;
    Reduction unused;
    keyOf(reduction.method, key.name).read(text, unused);
  }
  if (reduction.blocks && reduction.blocks->empty()) throw Error("it names no blocks; 'none' merges nothing");
  if (reduction.count && reduction.share) throw Error("'count' and 'share' say the same: give one of the two");
  if (reduction.method == ReductionMethod::kAlgm && reduction.blocks && reduction.blocks->size() != 2)
    throw Error("'algm' merges in two blocks, not in " + std::to_string(reduction.blocks->size()));
  if (reduction.method == ReductionMethod::kCts && reduction.policy.empty())
    throw Error("'cts' needs a policy network, policy=FILE.onnx");
}

// Returns the result of `work`; errors name the spec.
template <class Work>
auto naming(const std::string& spec, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error("reduction '" + spec + "': " + error.what());
  }
}

Schedule defaultBlocks(ReductionMethod method, int blocks) {
  switch (method) {
    case ReductionMethod::kNone:
      break;
    case ReductionMethod::kMpm:
    case ReductionMethod::kRule: {
      Schedule schedule = kDefaultSchedule;
      std::erase_if(schedule, [&](int block) { return block >= blocks; });
      return schedule;
    }
    case ReductionMethod::kGradual:
      return firstBlocks(std::min(8, blocks));
    case ReductionMethod::kTome:
      return firstBlocks(blocks);
    case ReductionMethod::kAlgm:
      return {0, blocks < 24 ? 4 : 6};
    case ReductionMethod::kCts:
      return {0};
  }
  return {};
}

Reduction parsed(const std::string& spec) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  const auto* const end = std::end(kMethods);
  const auto* const method =
      std::find_if(kMethods, end, [&](const auto& known) { return known.second == spec.substr(0, colon); });
  if (method == end) refuse(spec.substr(0, colon), methodWords());
  Reduction reduction{.method = method->first};
  if (colon < spec.size()) {
    for (const auto& [name, value] : keyValues(spec.substr(colon + 1))) {
      if (!value) refuse(name, "a key with a value, such as count=48");
      const Key& key = keyOf(reduction.method, name);
      try {
        key.read(*value, reduction);
      } catch (const Error& error) {
        throw Error(name + ": " + error.what());
      }
    }
  }
  if (reduction.method == ReductionMethod::kRule && reduction.function.empty()) refuse("rule", methodWords());
  requireValues(reduction);
  return reduction;
}

// The step in the `index`-th of the blocks of `full`, which is info.reduction with its defaults.
MergeStep stepOf(const Reduction& full, const ModelInfo& info, std::size_t index) {
  const auto requireWindows = [&] {
    if (info.grid.height % 2 != 0 || info.grid.width % 2 != 0) {
      throw Error("reduction '" + toString(info.reduction) + "' merges windows of 2x2 patches, but the grid is " +
                  toString(info.grid) + kHeightFirst + ": choose an input size with even numbers of patches");
    }
  };
  const int count = full.share ? static_cast<int>(std::llround(*full.share * info.tokens())) : full.count.value_or(-1);
  const auto similarity = static_cast<float>(full.similarity.value_or(-2));
  switch (full.method) {
    case ReductionMethod::kNone:
    case ReductionMethod::kMpm:
      return {.inside = false};
    case ReductionMethod::kGradual:
      return {.rule = {.count = count, .similarity = similarity, .weighted = true}};
    case ReductionMethod::kTome:
      return {.rule = {.groups = MergeGroups::kEvenOdd, .count = count, .weighted = true}, .keys = true};
    case ReductionMethod::kAlgm:
      if (index > 0) {
        const float deviations = 1 / static_cast<float>((*full.blocks)[index] + 1);
        return {.rule = {.groups = MergeGroups::kEvenOdd, .deviations = deviations, .weighted = true}};
      }
      requireWindows();
      return {.rule = {.groups = MergeGroups::kWindows,
                       .similarity = similarity,
                       .weighted = true,
                       .grid_width = info.grid.width}};
    case ReductionMethod::kCts:
      requireWindows();
      return {.rule = {.groups = MergeGroups::kScoredWindows,
                       .count = static_cast<int>(std::llround(*full.share * info.tokens() / 4)),
                       .grid_width = info.grid.width},
              .inside = false};
    case ReductionMethod::kRule:
      return {.rule = {.groups = MergeGroups::kRule,
                       .weighted = !full.plain_mean,
                       .grid_width = info.grid.width,
                       .block = (*full.blocks)[index]},
              .inside = full.inside,
              .keys = full.inside};
  }
  return {};
}

}  // namespace

Schedule parseBlocks(const std::string& text, const std::string& what) {
  const auto number = [&](const std::string& digits) {
    const std::optional<int> block = readNumber<int>(digits);
    if (!block || *block < 0 || *block > kMaxBlock)
      throw Error(what + ": expected block indices with commas between them, such as 2,5 or 0-7, or none");
    return *block;
  };
  Schedule blocks;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::string part = text.substr(begin, text.find(',', begin) - begin);
    const std::size_t dash = part.find('-'), last_dash = part.rfind('-');
    const int first = number(part.substr(0, dash)), last = number(part.substr(last_dash + 1));  // npos + 1 is 0
    if (last < first || dash != last_dash) throw Error(what + ": a range goes from a block to a later one");
    for (int block = first; block <= last; ++block) blocks.push_back(block);
    begin += part.size() + 1;
  }
  requireIncreasing(blocks, what);
  return blocks;
}

void requireIncreasing(const Schedule& blocks, const std::string& what) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] < 0) throw Error(what + ": a block index is 0 or more");
    if (i > 0 && blocks[i] <= blocks[i - 1]) throw Error(what + ": block indices must be strictly increasing");
  }
}

void Reduction::validate() const {
  naming(toString(*this), [&] {
    if (blocks) requireIncreasing(*blocks, "blocks");
    requireValues(*this);
    return 0;
  });
}

Attention defaultAttention(ReductionMethod method) {
  const bool proportional = method == ReductionMethod::kGradual || method == ReductionMethod::kTome;
  return proportional ? Attention::kProportional : Attention::kPlain;
}

Reduction withDefaults(Reduction reduction, int blocks) {
  if (!reduction.blocks) reduction.blocks = defaultBlocks(reduction.method, blocks);
  if (reduction.blocks->empty()) reduction.method = ReductionMethod::kNone;
  if (reduction.method == ReductionMethod::kNone) return reduction;
  const bool limited = reduction.count || reduction.share || reduction.similarity;
  if (reduction.method == ReductionMethod::kGradual && !limited) reduction.share = 0.073;
  if (reduction.method == ReductionMethod::kTome && !limited) reduction.share = 0.04;
  if (reduction.method == ReductionMethod::kCts && !limited) reduction.share = 0.4;
  if (reduction.method == ReductionMethod::kAlgm && !reduction.similarity) reduction.similarity = 0.88;
  if (!reduction.attention) reduction.attention = defaultAttention(reduction.method);
  if (!reduction.positions) reduction.positions = MergedPositions::kMean;
  return reduction;
}

std::vector<MergeStep> mergeSteps(const ModelInfo& info) {
  const Reduction full = withDefaults(info.reduction, info.blocks);
  std::vector<MergeStep> steps;
  for (std::size_t i = 0; i < full.blocks->size(); ++i) {
    steps.push_back(stepOf(full, info, i));
    steps.back().block = (*full.blocks)[i];
  }
  return steps;
}

Schedule firstBlocks(int count) {
  Schedule blocks(static_cast<std::size_t>(count));
  std::iota(blocks.begin(), blocks.end(), 0);
  return blocks;
}

Schedule ModelInfo::schedule() const { return *withDefaults(reduction, blocks).blocks; }

Reduction mpmBefore(const Schedule& blocks, std::optional<Attention> attention) {
  return blocks.empty() ? kFullModel : Reduction{.blocks = blocks, .attention = attention};
}

Reduction parseReduction(const std::string& spec) {
  return naming(spec, [&] { return parsed(spec); });
}

std::string toString(const Reduction& reduction) {
  std::string spec = wordOf(reduction.method);
  for (const Key& key : keys())
    if (const std::string text = key.text(reduction); !text.empty()) spec += std::string(":") + key.name + "=" + text;
  return spec;
}

}  // namespace mpm
