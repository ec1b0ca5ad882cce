// SPDX-License-Identifier: Apache-2.0
#include "cli/variant_options.h"

#include <algorithm>

#include "mpm/error.hpp"
#include "program/model_options.h"

namespace mpm::cli {

using namespace program;

std::vector<VariantOptions::Variant> VariantOptions::of(const std::string& model, const ConvertOptions& convert) const {
  std::vector<std::optional<Reduction>> wanted(reductions.begin(), reductions.end());
  for (const Schedule& schedule : schedules) wanted.emplace_back(mpmBefore(schedule, attention));
  if (wanted.empty()) wanted.push_back(attention ? std::optional(Reduction{.attention = attention}) : std::nullopt);
  std::vector<ConvertOptions> conversions;
  for (const Precision precision : precisions.empty() ? std::vector{convert.precision} : precisions)
    for (const std::optional<Reduction>& reduction : wanted) {
      ConvertOptions& one = conversions.emplace_back(convert);
      if (reduction) one.reduce = reduction;
      one.precision = precision;
      const ModelInfo info = readModelInfo(model, one);
      if (!precisions.empty() && info.precision != precision)
        throw Error(model + " was converted with precision " + toString(info.precision) + " and cannot be given " +
                    toString(precision));
      one.reduce = info.reduction;
      one.precision = info.precision;
      noteSlowPrecision(one.precision);
    }
  std::vector<Variant> variants;
  for (const ConvertOptions& conversion : conversions)
    for (const Reuse& reuse : reuses.empty() ? std::vector{Reuse()} : reuses)
      if (std::ranges::none_of(variants, [&](const Variant& other) {
            return other.convert.reduce == conversion.reduce && other.convert.precision == conversion.precision &&
                   other.reuse == reuse;
          }))
        variants.push_back({conversion, reuse});
  return variants;
}

void addVariants(CLI::App& verb, std::string& model, EstimatorOptions& options, VariantOptions& variants) {
  const std::string several = "Can be given several times. ";
  addField(verb, "model", [&model](const std::string& text) { model = text; });
  addInputSize(verb, options.read.convert.input_size);
  addDevice(verb, options.read.device);
  addThreads(verb, options.threads);
  CLI::Option* const schedule =
      addTexts(verb, "--schedule", "S", kScheduleWords + several + kUsualSchedule,
               [&variants](const std::string& text) { variants.schedules.push_back(parseSchedule(text)); })
          ->group(kMergingGroup);
  CLI::Option* const attention = addAttention(verb, [&variants](Attention chosen) { variants.attention = chosen; });
  const auto addFields = [&](const std::string& key, const std::string& usual,
                             std::function<void(const std::string&)> take) {
    const monitor::WatchField& field = monitor::watchField(key);
    return addTexts(verb, "--" + key, field.unit, several + field.words + usual, std::move(take))->group(field.group);
  };
  addFields("reduce", "", [&variants](const std::string& text) { variants.reductions.push_back(parseReduction(text)); })
      ->excludes(schedule)
      ->excludes(attention);
  addFields("precision", ". Default: fp32; of a converted model its own",
            [&variants](const std::string& text) { variants.precisions.push_back(parsePrecision(text)); });
  addFields("reuse", ". Default: off",
            [&variants](const std::string& text) { variants.reuses.push_back(parseReuse(text)); });
}

}  // namespace mpm::cli
