// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/comparison.h"

#include <algorithm>

#include "base/number_text.h"
#include "cli/bench/input.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

namespace {

constexpr int kPeakMeasurements = 8;  // at least

// Compares the labels of each variant with those of the full model, of the frame that all have just computed. Without
// a sequence the net gives labels on its own grid, which `mpm eval` does not compare, so there are none.
void compareLabels(std::vector<Variant>& variants) {
  const auto reference = std::ranges::find_if(variants, [](const Variant& v) {
    return v.reduction == kFullModel && !v.reuse.on && v.precision == "fp32" && !v.labels.empty();
  });
  if (reference == variants.end()) return;
  const auto estimateOf = [](const Variant& variant) {
    Estimate estimate;
    estimate.labels = variant.labels;
    return estimate;
  };
  for (Variant& variant : variants) {
    if (&variant != &*reference && !variant.labels.empty()) {
      if (const auto agreement = agreementPercent(estimateOf(variant), estimateOf(*reference)))
        variant.agreement.add(*agreement);
    }
  }
}

void noteShares(std::vector<Variant>& variants) {
  for (Variant& variant : variants) {
    const auto add = [&](const evaluation::PerImage& sample, double unit, int digits, const char* of) {
      if (!sample.values.empty())
        variant.note += (variant.note.empty() ? "" : ", ") + fixed(unit * sample.mean(), digits) + " % of the " + of;
    };
    add(variant.rows, 100, 0, "rows");
    add(variant.agreement, 1, 2, "labels of mpm none fp32");
  }
}

void measure(std::vector<Variant>& variants, Input& input, const BenchArguments& arguments) {
  const bool peaks = arguments.options.device == "cpu" && !arguments.board;  // of the CPU; a board's table has none
  Progress progress(stderrIsTerminal(), static_cast<int>(variants.size()) * (arguments.rounds + arguments.warmUp()));
  // A B C A B C ...: what else the machine does meets everyone alike.
  for (int round = -arguments.warmUp(); round < arguments.rounds && !interrupted(); ++round) {
    const Round& work = input.next();
    for (Variant& variant : variants) {
      if (interrupted()) continue;
      variant.run(work, round >= 0);
      progress.step();
      if (round >= 0 && peaks) variant.measurePeak();
    }
    if (round >= 0) compareLabels(variants);
  }
  for (int round = arguments.rounds; peaks && round < kPeakMeasurements && !interrupted(); ++round)
    for (Variant& variant : variants) variant.measurePeak();
}

}  // namespace

Comparison compared(const BenchArguments& arguments) {
  const VariantOptions& wanted = arguments.variants;
  Comparison result{readModelInfo(arguments.model, arguments.options.convert()), {}};
  std::vector<VariantOptions::Variant> ours = wanted.of(arguments.model, arguments.options.convert());
  if (wanted.reductions.empty() && !result.model.converted) {  // a converted one runs as it was made, beside nothing
    VariantOptions full = wanted;
    full.reductions = {kFullModel};
    if (result.model.reduction != kFullModel) {
      const auto before = full.of(arguments.model, arguments.options.convert());
      ours.insert(ours.begin(), before.begin(), before.end());
    }
  }
  if (arguments.reuses() && (arguments.image.empty() || arguments.batch > 1))
    throw UsageError("--reuse needs --image with a sequence of frames, one by one: a video, a folder or demo:");
  if (arguments.reuses() && arguments.head) throw UsageError("--head measures passes of one image: leave out --reuse");
  for (const VariantOptions::Variant& one : ours) result.variants.emplace_back(arguments, one);
  Input input(arguments, result.model);
  measure(result.variants, input, arguments);
  for (Variant& variant : result.variants) variant.unload();
  noteShares(result.variants);
  return result;
}

void expectAlive(const std::vector<Variant>& variants) {
  for (const Variant& variant : variants)
    if (!variant.alive) throw Error(variant.name + ": " + variant.note);
}

}  // namespace mpm::cli
