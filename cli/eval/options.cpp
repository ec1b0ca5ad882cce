// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/options.h"

#include "cli/python_rule.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"

namespace mpm::cli {

void addMeasureOptions(CLI::App& verb, MeasurePlan& plan) {
  LabelledOptions& labelled = plan.labelled;
  plan.options.task = Task::kSemantic;
  addVariants(verb, plan.model, plan.options, plan.variants);
  addTexts(
      verb, "--rule", "FILE.py:FUNCTION",
      "Merge by a Python function of rows, sizes and info, slowly, on the CPU (docs/adding-a-method.md), as one more "
      "--reduce. Its keys follow: veto.py:groups:blocks=0-7:where=inside. Can be given several times",
      [&plan](const std::string& text) { plan.variants.reductions.push_back(parseRule(text)); })
      ->group(kMergingGroup);
  addNight(verb, plan.night);
  verb.add_flag("--day", plan.by_day, "Measure the images as they are, too, beside --simulate-night")
      ->needs("--simulate-night")
      ->group(kNightGroup);
  addOption(verb, "SOURCE", labelled.source, " ",
            "The built-in scene with its own labels (\"demo:street?seed=1..8&frames=24\"), or the folder of --dataset");
  addDataset(
      verb, labelled,
      "SOURCE is the unpacked folder of this data set. Labels, windows and stride are those of the papers "
      "unless options say otherwise. A part of it after a colon: camvid:test. Default: validation of ade20k, else val");
  addOption(verb, "--images", labelled.images, "DIR",
            "Folder of images, rotated as their EXIF says. An image that cannot be read is an error");
  addOption(verb, "--labels", labelled.labels, "DIR",
            "Folder of label maps with the names of the images: one channel of 8 bits, the class index of each "
            "pixel, as large as the image");
  addChoice<bool>(
      verb, "--against", plan.against_full, {{"full", true}},
      "full: compare with the labels that the full model gives, without merging and reuse and with the first "
      "precision, instead of true labels. SOURCE may then be a video or a folder without labels");
  addNumber(verb, "--max-frames", labelled.max_frames, "N", 1, 1 << 30, "Only the first N images");
  verb.option_defaults()->group("Labels and windows");
  addNumber(verb, "--ignore", labelled.ignore, "LABEL", 0, 255,
            "Label of pixels that do not count, as in the files; can be given several times. Default: the model's, "
            "less the offset of labels, else 255")
      ->allow_extra_args(false);
  addNumber(verb, "--label-offset", labelled.label_offset, "N", -255, 255,
            "Add this to every label; what falls below 0 does not count. -1: classes are counted from 1 and 0 is "
            "none of them, as in ADE20K. Default: 0");
  addField(verb, "refine", plan.options.refine, parseRefine);
  addText(
      verb, "--fit", "SPEC",
      "resize: one pass over the image resized to the network input; window: sliding windows. The last ones end at the "
      "edges of the image, and scores are averaged where windows overlap. An image that is smaller than a window is "
      "enlarged first and keeps its shape. Add :stride=PX, the step "
      "from window to window (papers: 480 of 512, 320 of 480, 512 of 768; else 15/16 of the window), and "
      ":short-side=PX of the images before the windows (else their own scale): window:stride=480:short-side=512. "
      "Default: resize, or that of the data set",
      [&plan](const std::string& text) { plan.fit = parseFit(text); });
}

}  // namespace mpm::cli
