// SPDX-License-Identifier: Apache-2.0
#include "evaluation/tuning.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/reduction_defaults.h"
#include "evaluation/turns.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm::evaluation {
namespace {

/// `gradual` in the first blocks and `tome` in all, so that both leave about this share of the tokens, and both the
/// same number of them.
std::vector<Reduction> equalTokens(const ModelInfo& model, double kept) {
  const int gradual_blocks = std::min(8, model.blocks);
  const int step = std::lcm(gradual_blocks, model.blocks);
  const int merged = step * std::max(1, static_cast<int>(std::lround((1 - kept) * model.tokens() / step)));
  return {
      {.method = ReductionMethod::kGradual, .blocks = firstBlocks(gradual_blocks), .count = merged / gradual_blocks},
      {.method = ReductionMethod::kTome, .count = merged / model.blocks}};
}

}  // namespace

std::vector<Reduction> usualReductions(const std::string& model, const ReadOptions& options) {
  ConvertOptions as_it_is = options.convert();
  as_it_is.reduce.reset();
  const ModelInfo info = readModelInfo(model, as_it_is);
  if (info.converted) throw Error("'" + model + "' is converted already: name the plain ViT it was made of");
  if (!info.givesLabels()) throw Error("'" + model + "' gives no labels to compare");
  if (!info.hasPixelClasses()) {
    throw Error("there are no usual reductions for '" + model + "', whose head is " + toString(info.head) +
                ": name some with 'mpm eval --against full --reduce'");
  }
  const int middle = 5 * info.blocks / 12, late = 2 * info.blocks / 3;
  std::vector<Reduction> wanted = {parseReduction("mpm"), mpmBefore({middle}), mpmBefore({late})};
  if (middle < late) wanted.push_back(mpmBefore({middle, late}));
  for (const double kept : {0.7, 0.5, 0.35})
    for (const Reduction& one : equalTokens(info, kept)) wanted.push_back(one);
  for (const char* text : {"gradual:similarity=0.95", "gradual:similarity=0.98", "algm", "algm:threshold=0.94"})
    wanted.push_back(parseReduction(text));
  std::vector<Reduction> reductions;
  for (const Reduction& one : wanted) {
    try {
      const Reduction whole = readModelInfo(model, options.convert().with(one)).reduction;
      if (std::ranges::find(reductions, whole) == reductions.end()) reductions.push_back(whole);
    } catch (const Error&) {  // algm, for example, needs a grid with even sides
    }
  }
  return reductions;
}

std::size_t fastestRow(const std::vector<TuneRow>& rows, double percent) {
  const auto passes = [&](const TuneRow& row) {
    return row.variant == kFullModel || row.against_full.agreement.low >= percent;
  };
  double fastest = 0;
  for (const TuneRow& row : rows)
    if (passes(row)) fastest = std::max(fastest, row.against_full.speed_up.value);
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!passes(rows[i]) || std::max(rows[i].against_full.speed_up.value, rows[i].against_full.speed_up.high) < fastest)
      continue;
    const auto rank = [&](std::size_t row) {
      return std::pair(rows[row].against_full.agreement.value, rows[row].against_full.speed_up.value);
    };
    if (!chosen || rank(i) > rank(*chosen)) chosen = i;
  }
  return chosen.value();
}

void requireTunePictures(std::size_t pictures) {
  if (pictures < static_cast<std::size_t>(kMinTunePictures)) {
    throw Error("tuning needs at least " + std::to_string(kMinTunePictures) + " pictures, not " +
                std::to_string(pictures));
  }
}

std::optional<std::vector<TuneRow>> tuneRows(const std::string& model, EstimatorOptions options,
                                             const std::vector<cv::Mat>& pictures,
                                             const std::function<bool(int done, int all)>& progress) {
  requireTunePictures(pictures.size());
  options.task = Task::kSemantic;
  options.reuse = {};  // the pictures do not follow each other
  std::vector<Reduction> reductions = usualReductions(model, options.read());
  reductions.insert(reductions.begin(), kFullModel);
  std::vector<TurnVariant> variants(reductions.size(), {.options = options, .full = 0});
  for (std::size_t v = 0; v < variants.size(); ++v) variants[v].options.reduce = reductions[v];
  const ModelInfo info = readModelInfo(model, options.convert().with(kFullModel));
  std::vector<VariantResult> results(variants.size(), VariantResult(info.classes));
  const std::vector<TurnGroup> groups = turnGroups(variants.size(), info.parameters);
  // The full model is in the first group, and takes its turn again in each of the others.
  const auto all = static_cast<int>(pictures.size() * (variants.size() + groups.size() - 1));
  int done = 0;
  for (const TurnGroup& group : groups) {
    Turns turns(model, variants, group, {});
    TurnPicture picture{.image = {}, .truth = Truth({}, 255)};
    for (std::size_t v = group.first; v < group.last; ++v) picture.variants.push_back(v);
    for (std::size_t i = 0; i < pictures.size(); ++i) {
      picture.image = pictures[i];
      picture.index = static_cast<int>(i);
      picture.line = {{"name", std::to_string(i)}, {"index", i}};
      const auto measured = turns.measure(picture, [&] { return progress(++done, all); });
      if (!measured) return std::nullopt;
      for (const auto& [v, one] : *measured) results[v].add(one);
    }
  }
  std::vector<TuneRow> rows;
  for (std::size_t v = 0; v < variants.size(); ++v)
    rows.push_back({reductions[v], results[v].all.tokens().back(), results[v].against(&results[0], false)});
  std::ranges::stable_sort(rows, std::greater(), [](const TuneRow& row) { return row.against_full.speed_up.value; });
  return rows;
}

}  // namespace mpm::evaluation
