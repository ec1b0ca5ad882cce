// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "base/number_text.h"
#include "cli/eval/print.h"
#include "cli/manifest.h"
#include "cli/measure.h"
#include "cli/verbs/verbs.h"
#include "evaluation/tuning.h"
#include "mpm/convert.hpp"
#include "program/paths.h"
#include "vision/sources/source.h"

namespace mpm::cli {
namespace {

struct TuneArguments {
  MeasurePlan plan{};
  std::string output{};
  double agreement = evaluation::kTuneAgreement;
  bool json = false;
};

// The lines of `mpm eval --against full` with the usual reductions, and the choice.
int tune(const TuneArguments& arguments) {
  MeasurePlan plan = arguments.plan;
  plan.model = chosenModel(plan.model);
  plan.against_full = true;
  requireOutput("--out", arguments.output, {.models = {plan.model}, .sources = {plan.labelled.source}});
  requireEnding("--out", arguments.output, ".onnx");
  if (const auto source = vision::parseSourceSpec(plan.labelled.source); source.isImages())
    evaluation::requireTunePictures(vision::sourceFiles(source).size());
  plan.variants.reductions = evaluation::usualReductions(plan.model, plan.options.read());
  plan.variants.reductions.insert(plan.variants.reductions.begin(), kFullModel);
  const Measured measured = measure(plan);
  if (!measured.finished) return endInterrupted(": no result");
  evaluation::requireTunePictures(static_cast<std::size_t>(measured.variants.front().result.all.images()));
  std::vector<evaluation::TuneRow> rows;
  for (const MeasuredVariant& variant : measured.variants) {
    rows.push_back({parseReduction(variant.settings["reduce"]), variant.result.all.tokens().back(),
                    againstFull(variant, measured).value_or(evaluation::AgainstFull())});
  }
  const evaluation::TuneRow& chosen = rows[evaluation::fastestRow(rows, arguments.agreement)];
  printMeasured(measured, arguments.json);
  const std::string name = toString(chosen.variant);
  if (arguments.json) {
    printLine(Json{{"chosen", name}, {"wanted_agreement", arguments.agreement}});
  } else {
    printLine("chosen: " + name + ", the fastest whose agreement is at least " + fixed(arguments.agreement, 2) +
              " % by the lower end of its interval; of those as fast within noise, the one that agrees most");
  }
  if (!arguments.output.empty()) convertFile(plan.model, arguments.output, plan.options.convert().with(chosen.variant));
  return kOk;
}

}  // namespace

Verb addTune(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("tune", "Find the fastest reduction that keeps the labels of your pictures");
  const auto arguments = std::make_shared<TuneArguments>();
  MeasurePlan& plan = arguments->plan;
  plan.options.task = Task::kSemantic;
  plan.labelled.spread = evaluation::kTunePictures;
  addOption(*verb, "SOURCE", plan.labelled.source, " ",
            "Pictures of your scene: a folder, a glob, a video or the built-in scene (\"demo:street?frames=40\")")
      ->required();
  addOption(*verb, "--model", plan.model, "M.onnx", "A plain ViT as ONNX. Default: as in 'mpm run'");
  addNumber(
      *verb, "--agreement", arguments->agreement, "PERCENT", 50, 100,
      "Mean share of a picture's pixels with the full model's label. Default: " + fixed(evaluation::kTuneAgreement, 0));
  addNumber(*verb, "--pictures", plan.labelled.spread, "N", evaluation::kMinTunePictures, 10000,
            "Use at most so many pictures, spread evenly over the source. Default: " +
                std::to_string(evaluation::kTunePictures));
  addOption(*verb, "-o,--out", arguments->output, "OUT.onnx", "Write the converted model with the choice");
  addField(*verb, "input-size", plan.options.input_size, parseSize);
  addPrecision(*verb, plan.options.precision);
  addDevice(*verb, plan.options.device);
  addField(*verb, "threads", plan.options.threads);
  verb->add_flag("--json", arguments->json, "The JSON objects of 'mpm eval', then one with the choice");
  verb->footer(
      R"('mpm eval SOURCE --against full' with usual reductions, and the choice: of the rows whose agreement is high enough by
the lower end of its 95 % interval, the fastest. Where several are as fast within noise (the upper end of their interval
reaches the speed-up of the fastest), the one that agrees most. Use pictures of all that the camera sees: day and night,
empty and crowded. Times are of this machine: use it for nothing else meanwhile. To measure with labels: 'mpm study'.

With --json the last line is {"chosen", "wanted_agreement"}.

Examples:
  mpm tune pictures --model vit.onnx -o tuned.onnx
  mpm tune "demo:street?weather=auto&step=7200&frames=40" --agreement 98.5
)");
  return {verb, [arguments] { return tune(*arguments); }};
}

}  // namespace mpm::cli
