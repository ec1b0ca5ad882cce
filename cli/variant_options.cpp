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
    }
  std::vector<Variant> variants;
  for (const ConvertOptions& conversion : conversions)
    for (const Reuse& reuse : reuses.empty() ? std::vector{Reuse()} : reuses)
      if (std::none_of(variants.begin(), variants.end(), [&](const Variant& other) {
            return other.convert.reduce == conversion.reduce && other.convert.precision == conversion.precision &&
                   other.reuse == reuse;
          }))
        variants.push_back({conversion, reuse});
  return variants;
}

void addVariants(CLI::App& verb, std::string& model, EstimatorOptions& options, VariantOptions& variants) {
  const std::string several = "Can be given several times. ";
  addOption(verb, "--model", model, "M.onnx",
            "A plain ViT as ONNX, converted in memory, or a converted one. Default: MPM_MODEL of the environment, else "
            "the default model ('mpm info' names it)");
  addInputSize(verb, options.read.convert.input_size);
  addDevice(verb, options.read.device);
  addThreads(verb, options.threads);
  CLI::Option* const schedule =
      addTexts(verb, "--schedule", "S",
               "Short for --reduce mpm:blocks=S: merge tokens before these blocks, counted from 0 and increasing: 2,5 "
               "or 1,3,5; none runs the full model. Can be given several times. Default: that of the model's JSON "
               "file, else 2,5 for a plain ViT (those of them that it has), else what the model was converted with",
               [&variants](const std::string& text) { variants.schedules.push_back(parseSchedule(text)); })
          ->group(kMergingGroup);
  CLI::Option* const attention = addAttention(verb, [&variants](Attention chosen) { variants.attention = chosen; });
  addTexts(verb, "--reduce", "SPEC", several + kReduceDescription,
           [&variants](const std::string& text) { variants.reductions.push_back(parseReduction(text)); })
      ->excludes(schedule)
      ->excludes(attention)
      ->group(kMergingGroup);
  addTexts(
      verb, "--precision", "fp32|bf16|tf32|fp16|int8",
      "Arithmetic of the matrix products. bf16 needs a CPU that supports it, tf32 needs a GPU, fp16 a GPU or an Arm "
      "CPU such as the Cortex-A76. int8 is for CPUs, and no faster than fp32 without AVX512-VNNI, AMX or Arm's "
      "SDOT. Can be given several times. Default: fp32; of a converted model its own",
      [&variants](const std::string& text) { variants.precisions.push_back(parsePrecision(text)); })
      ->group(kNetworkGroup);
  addTexts(verb, "--reuse", "SPEC", several + kReuseDescription + "off", [&variants](const std::string& text) {
    variants.reuses.push_back(parseReuse(text));
  })->group(kNetworkGroup);
}

}  // namespace mpm::cli
