// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/eval/options.h"
#include "cli/eval/print.h"
#include "cli/measure.h"
#include "cli/verbs/verbs.h"

namespace mpm::cli {
namespace {

struct EvalArguments {
  MeasurePlan plan{};
  std::vector<std::string> combine;
  bool json = false;
};

int eval(const EvalArguments& arguments) {
  if (arguments.combine.empty()) return showMeasured(measure(arguments.plan), arguments.plan, arguments.json);
  printMeasured(combineLines(arguments.combine), arguments.json);
  return kOk;
}

}  // namespace

Verb addEval(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("eval", "Measure accuracy, tokens and time on images");
  const auto arguments = std::make_shared<EvalArguments>();
  MeasurePlan& plan = arguments->plan;
  addOption(*verb, "--per-image", plan.per_image, "FILE.jsonl",
            "Write a line of JSON for each image and variant there. Default: nowhere");
  verb->add_flag("--json", arguments->json, "A JSON object for each variant");
  addMeasureOptions(*verb, plan);
  verb->option_defaults()->group(kJobGroup);
  addShard(*verb, plan.shard);
  addOption(*verb, "--resume", plan.resume, "FILE.jsonl",
            "Append each line to this file at once, and leave out what it holds: a run that was killed goes on, and "
            "more variants and data add to it");
  CLI::Option* const combine =
      addOption(*verb, "--combine", arguments->combine, "FILE...",
                "Add up the lines of --per-image or --resume, of all shards or of several data sets. The sum is exact");
  for (CLI::Option* option : verb->get_options())
    if (option != combine && !option->check_name("--json") && !option->check_name("--help")) combine->excludes(option);
  verb->footer(
      R"(Several --reduce, --precision and --reuse, and --day beside --simulate-night, make variants: all combinations of them.
They run by turns on every image. Where "none" is one of the reductions, all are compared with it, without
reuse and with the first precision: so the row "none int8" says what int8 alone costs.

One confusion matrix over all images. On the scene also one by day and one by night (after civil twilight). seed=1..8
is eight streets; 24 frames that are 8760 h / 24 = 365 h apart (step=1314000 s) show each of them at every hour of the
day once, over a year. mpm-train trains on no seed below a million.

The folders are those of the authors: ADEChallengeData2016 (images, annotations), Cityscapes (leftImg8bit, gtFine with
labelIds), VOC2010 with SegmentationClassContext and ImageSets/SegmentationContext, CamVid as in SegNet (val, valannot)
or as images and labels. Windows are 512 px with stride 480 for ade20k (shorter side 512), 768 with 512 for cityscapes
(1024), 480 with 320 for pascal-context (520). A plain model gets this input size. For camvid the image is resized.

With --json: {"model", "reduce", "precision", "input", "fit", "window_stride", "short_side", "dataset", "ignore",
"label_offset", "simulated_night", "against", "full_precision" (of the full model), "reuse_spec", "refine", "shard",
"images", "miou", "pixel_accuracy", "iou": {name: value}, "tokens_mean": [..], "tokens_sd": [..], "ms_mean": {..},
"confusion": [[..]..]}, in percent and ms.
"ignore" and "label_offset" are null with --dataset, which has its own labels.
tokens_mean is of the input and after each merging step. "miou" is the mean over the classes with true pixels. The IoU
of a class that is neither true nor predicted anywhere is null.
With --reuse also "reuse": {"rows": mean share of the rows that were computed, "key_frames": how many, "agreement": of
those that were due, in percent, "share_of_full_ms": time as a share of the full model's, with --against full}. The
first frame of a film does not count.
tokens_sd is the standard deviation of a sample of images. A row of "confusion" counts the pixels of one true class by
the class that the model gave them. "day" and "night" hold "images" to "confusion" again where the source knows them.
Of several variants each has an object in a line, also with "against_full": {"images" (on which the full model ran too),
"agreement" (share of the pixels, mean over these), "agreement_low", "agreement_high", and so "miou_loss" and "speed_up"
(median)} if the full model is one of them, and "minus_day": {"images", "blocks", "tokens": [{"mean", "low",
"high"}..], "merged_percent"} of a simulated night: 95 % intervals over films or stretches of images.
docs/reduction.md lists the keys of the lines of --per-image and --resume.

Examples:
  mpm eval --model vit.onnx --images val/images --labels val/labels --reduce mpm:blocks=2,5
  mpm eval --model vit.onnx --images val/images --labels val/labels --json --per-image images.jsonl
  mpm eval --model ade20k.onnx --dataset ade20k ADEChallengeData2016
  mpm eval "demo:street?seed=1..8&weather=auto&step=1314000&frames=24" --reduce none
  mpm eval --model vit.onnx --images val/images --labels val/labels --reduce none --reduce mpm --precision fp32 \
    --precision bf16
  mpm eval --model vit.onnx --images images --labels labels --shard 2/8 --resume 2.jsonl
  mpm eval --combine 1.jsonl 2.jsonl 3.jsonl
  mpm eval yard.mp4 --model mine.onnx --against full --reuse auto
)");
  return {verb, [arguments] { return eval(*arguments); }};
}

}  // namespace mpm::cli
