// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/eval/print.h"
#include "cli/measure.h"
#include "cli/verbs/verbs.h"

namespace mpm::cli {
namespace {

struct DayNightArguments {
  MeasurePlan plan{};
  bool json = false;
};

}  // namespace

Verb addDayNight(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("daynight", "Compare token counts by day and at a simulated night");
  const auto arguments = std::make_shared<DayNightArguments>();
  MeasurePlan& plan = arguments->plan;
  plan.night.on = plan.by_day = plan.labelled.unlabelled = true;
  addOption(*verb, "SOURCE", plan.labelled.source, " ",
            "Image, folder of images, glob, video, or the built-in scene (\"demo:street?speed=600&frames=100\")")
      ->required();
  addVariants(*verb, plan.model, plan.options, plan.variants);
  addNight(*verb, plan.night);
  addNumber(*verb, "--max-frames", plan.labelled.max_frames, "N", 1, 1 << 30, "Only the first N images");
  addOption(*verb, "-o,--out", plan.per_image, "FILE.jsonl", "Write a line of JSON for each image by day and at night");
  verb->add_flag("--json", arguments->json, "A JSON object by day and one at night");
  verb->footer(
      R"('mpm eval --day --simulate-night' for images without labels. Each image runs twice, as it is and at the simulated
night. Differences are of the same image; images of a real night do not count. Images that follow each other are alike,
so the intervals count blocks: a film each (the streets of "seed=1..8") where there are five or more films, else about
ten stretches of consecutive images. With --json "minus_day" of the night has the differences ('mpm eval --help').

Examples:
  mpm daynight street.png --reduce mpm:blocks=2,5
  mpm daynight "demo:street?weather=auto&speed=20000&frames=100" --model vit.onnx --json
)");
  return {verb, [arguments] { return showMeasured(measure(arguments->plan), arguments->plan, arguments->json); }};
}

}  // namespace mpm::cli
