// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "cli/manifest.h"
#include "cli/measure.h"
#include "cli/python_program.h"
#include "cli/python_rule.h"
#include "cli/verbs/verbs.h"
#include "evaluation/numbers.h"
#include "evaluation/study.h"
#include "evaluation/tuning.h"
#include "mpm/convert.hpp"
#include "program/paths.h"
#include "vision/sources/source.h"

namespace mpm::cli {
namespace {

using evaluation::ConfusionMatrix;
using evaluation::Scores;

void printClasses(const evaluation::VariantResult& result, const std::vector<std::string>& names) {
  const auto columns = result.columns();
  const auto row = [&columns](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const auto& [title, scores] : columns) cells.push_back(" " + cell(title, *scores));
    printLine(tableRow(cells, {-18, 9}));
  };
  const auto percents = [&](const std::string& name, const auto& value) {
    row(name, [&](const std::string&, const Scores& scores) { return fixed(100 * value(scores.matrix()), 2); });
  };
  const bool split = columns.size() > 1;
  if (split) row("IoU, %", [](const std::string& title, const Scores&) { return title; });
  for (std::size_t c = 0; c < names.size(); ++c)
    percents(names[c], [&](const ConfusionMatrix& matrix) { return matrix.iou()[c]; });
  percents("mIoU", [](const ConfusionMatrix& matrix) { return matrix.meanIou(); });
  percents("pixel accuracy", [](const ConfusionMatrix& matrix) { return matrix.pixelAccuracy(); });
  if (split) {
    row("images", [](const std::string&, const Scores& scores) { return std::to_string(scores.images()); });
    row("tokens kept", [](const std::string&, const Scores& scores) { return fixed(scores.tokens().back(), 1); });
  }
  printLine("IoU in percent over " + counted(result.all.images(), "image") + "; tokens " +
            tokensText(result.all.tokens()) + "; " + fixed(result.all.ms().total, 1) + " ms per image");
}

// nullopt: the full model did not run beside it.
std::optional<evaluation::AgainstFull> againstFull(const MeasuredVariant& variant, const Measured& all) {
  if (!variant.full && !variant.result.besideFull()) return std::nullopt;
  return variant.result.against(variant.full ? &all.variants[*variant.full].result : nullptr,
                                variant.settings.value("against", Json()) == "full");
}

Json resultJson(const MeasuredVariant& variant, const Measured& all) {
  Json json = variant.settings;
  for (const char* only_in_lines : {"model_digest", "reduce_digest", "net", "classes", "data", "labels"})
    json.erase(only_in_lines);
  json = variant.result.toJson(json, all.classes);
  if (!variant.result.labelled)
    for (const char* of_labels : {"miou", "pixel_accuracy", "iou", "confusion"})
      for (const char* part : {"", "day", "night"})
        if (Json& scores = *part && json.contains(part) ? json[part] : json; scores.is_object())
          scores.erase(of_labels);
  if (const Json reuse = variant.result.reuseJson(); !reuse.is_null()) json["reuse"] = reuse;
  if (all.variants.size() == 1) return json;
  if (const auto full = againstFull(variant, all)) {
    json["against_full"]["images"] = full->images;
    for (const auto& [key, interval] :
         {std::pair("agreement", full->agreement), {"miou_loss", full->loss}, {"speed_up", full->speed_up}})
      evaluation::addInterval(json["against_full"], key, interval);
  }
  if (variant.day) json["minus_day"] = variant.result.minus(all.variants[*variant.day].result);
  return json;
}

std::string rangeText(const evaluation::Interval& interval) {
  const std::string value = fixed(interval.value, 2);
  if (std::isnan(interval.low) || interval.low == interval.high) return value;
  return value + " (" + fixed(interval.low, 2) + " to " + fixed(interval.high, 2) + ")";
}

std::string rangeText(const Json& interval, const std::string& unit = "") {
  if (interval.is_null() || interval["mean"].is_null()) return "-";
  const std::string mean = fixed(interval["mean"].get<double>(), 1) + unit;
  if (interval["low"].is_null()) return mean;
  return mean + " (" + fixed(interval["low"].get<double>(), 1) + " to " + fixed(interval["high"].get<double>(), 1) +
         ")";
}

void printVariants(const Measured& all) {
  int width = 9;
  for (const MeasuredVariant& variant : all.variants) width = std::max(width, static_cast<int>(variant.label.size()));
  const std::vector<int> widths = {-width, 9, 9, 23, 26, 9, 10};
  printLine(tableRow({"reduction", "tokens", "mIoU %", "loss", "agreement %", "mean ms", "speed-up"}, widths));
  std::set<int> counts, compared;
  std::set<std::string> precisions, of_full;
  for (const MeasuredVariant& variant : all.variants) {
    const Scores& scores = variant.result.all;
    if (scores.images() == 0) continue;
    const auto beside = againstFull(variant, all);
    const evaluation::AgainstFull full = beside.value_or(evaluation::AgainstFull());
    counts.insert(scores.images());
    precisions.insert(variant.settings["precision"].get<std::string>());
    if (beside) {
      compared.insert(full.images);
      of_full.insert(variant.settings["full_precision"].get<std::string>());
    }
    printLine(tableRow({variant.label, fixed(scores.tokens().back(), 1),
                        variant.result.labelled ? fixed(100 * scores.matrix().meanIou(), 2) : "-", rangeText(full.loss),
                        rangeText(full.agreement), fixed(scores.ms().total, 1), fixed(full.speed_up.value, 2)},
                       widths));
  }
  for (const MeasuredVariant& variant : all.variants)
    if (variant.day) {
      const Json more = variant.result.minus(all.variants[*variant.day].result);
      std::string steps;
      for (std::size_t k = 1; k < more["tokens"].size(); ++k)
        steps += (k > 1 ? ", " : "") + rangeText(more["tokens"][k]);
      printLine(variant.label + ": more tokens than by day after each step: " + (steps.empty() ? "-" : steps) +
                "; merged: " + rangeText(more["merged_percent"], " %") + "; 95 % intervals of " +
                counted(more["images"].get<int>(), "image") + " in " + counted(more["blocks"].get<int>(), "block"));
    }
  const auto rangeOf = [](const std::set<int>& numbers) {
    if (numbers.empty()) return counted(0, "image");
    return (numbers.size() > 1 ? std::to_string(*numbers.begin()) + " to " : "") + counted(*numbers.rbegin(), "image");
  };
  std::string line = "over " + rangeOf(counts);
  if (!of_full.empty()) {
    line += "; loss in points of mIoU; agreement, loss and speed-up (median) against the full model";
    if (precisions.size() > 1 && of_full.size() == 1) line += " with " + *of_full.begin();
    if (compared != counts) line += ", agreement and speed-up over " + rangeOf(compared);
    line += "; in brackets 95 % intervals";
  }
  printLine(line);
}

void printMeasured(const Measured& all, bool json) {
  const MeasuredVariant& first = all.variants.front();
  std::set<std::string> sessions;
  for (const MeasuredVariant& variant : all.variants)
    sessions.insert(variant.result.sessions.begin(), variant.result.sessions.end());
  if (sessions.size() > 1)
    printNote("the ms are of " + counted(static_cast<int>(sessions.size()), "session") + ": compare the speed-up only");
  if (json)
    for (const MeasuredVariant& variant : all.variants) printLine(resultJson(variant, all));
  else if (all.variants.size() > 1)
    printVariants(all);
  else
    printClasses(first.result, all.classes);
  for (const MeasuredVariant& variant : all.variants)
    if (const Json reuse = variant.result.reuseJson(); !json && !reuse.is_null())
      printLine((all.variants.size() > 1 ? variant.label + ": " : "reuse: ") +
                fixed(100 * reuse["rows"].get<double>(), 1) + " % of the rows computed, " +
                counted(reuse["key_frames"].get<int>(), "key frame") + " after the first of each film");
}

struct EvalArguments {
  MeasurePlan plan{};
  std::vector<std::string> combine;
  bool json = false;
};

// Prints a table of the classes of one variant, or a row for each of several; with `json` an object for each variant
// instead. Returns the exit code.
int show(const Measured& measured, const MeasurePlan& plan, bool json) {
  if (!measured.finished)
    return endInterrupted(" after " + counted(measured.variants.front().result.all.images(), "image") +
                          (plan.resume.empty() ? ": no result" : ": the same command goes on from here"));
  printMeasured(measured, json);
  noteAssumed(readModelInfo(chosenModel(plan.model), plan.options.convert()));
  return kOk;
}

int eval(const EvalArguments& arguments) {
  if (arguments.combine.empty()) return show(measure(arguments.plan), arguments.plan, arguments.json);
  printMeasured(combineLines(arguments.combine), arguments.json);
  return kOk;
}

struct StudyArguments {
  MeasurePlan plan{};
  std::string folder{};
  int sweep_images = 24;
  bool sweep_pairs = false;
};

// The lines in a file of the folder, without those of images that the run was not asked for.
std::vector<evaluation::Measurement> measurementsIn(const std::string& file, const Measured& run) {
  std::vector<evaluation::Measurement> all;
  if (!std::filesystem::exists(file)) return all;
  for (const JsonValue& line : readMeasurements(file)) {
    if (isLeftOut(line.json(), run)) continue;
    all.push_back(evaluation::Measurement::read(line));
    for (const char* key : {"confusion", "confusion_near", "blocks_ms", "pairs_at_distance"})
      all.back().line.erase(key);  // is in the other fields
  }
  return all;
}

std::string csvCell(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : toLine(value);
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
  return quoted + '"';
}

// summary.jsonl and pairs.jsonl have all numbers; results.csv has those of a variant that are no lists.
void writeNumbers(const std::string& folder, const Measured& results, const Measured& sweep) {
  const evaluation::StudyNumbers numbers = evaluation::studyNumbers(measurementsIn(folder + "/results.jsonl", results),
                                                                    measurementsIn(folder + "/sweep.jsonl", sweep));
  if (numbers.rows.empty())
    throw Error("'" + folder + "/results.jsonl' has no labelled image that the full model ran on");
  const auto write = [&](const char* name, const std::vector<Json>& rows) {
    std::string lines;
    for (const Json& row : rows) lines += toLine(row) + '\n';
    writeFileAtomically(folder + "/" + name, lines);
  };
  write("summary.jsonl", numbers.rows);
  write("pairs.jsonl", numbers.pairs);
  std::vector<std::string> columns;
  for (const auto& [key, value] : numbers.rows.front().items())
    if (!value.is_array()) columns.push_back(key);
  std::string csv = CLI::detail::join(columns, ",") + '\n';
  for (const Json& row : numbers.rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) cells.push_back(csvCell(row.value(column, Json())));
    csv += CLI::detail::join(cells, ",") + '\n';
  }
  writeFileAtomically(folder + "/results.csv", csv);
}

int study(const StudyArguments& arguments) {
  MeasurePlan plan = arguments.plan;
  plan.model = chosenModel(plan.model);
  std::vector<Reduction>& reductions = plan.variants.reductions;
  applyProtocol(plan.labelled, plan.fit, plan.model, plan.options);  // the size decides how many tokens there are
  if (reductions.empty()) reductions = evaluation::usualReductions(plan.model, plan.options.read());
  reductions.insert(reductions.begin(), kFullModel);
  makeFolder(arguments.folder);
  // Before the measurement, which may take hours.
  const nlohmann::json ready = startPython("study/report.py", {"--check"}).answer;
  if (!ready["ok"].get<bool>())
    printNote("there will be no report and no figures, python3 says: " + ready.value("why", "") +
              "; once that is mended, the same command draws them");
  plan.resume = arguments.folder + "/results.jsonl";
  const Measured results = measure(plan);
  if (const int code = show(results, plan, false); code != kOk) return code;
  Measured sweep{results.classes, results.variants};  // of no images
  if (arguments.sweep_images > 0) {                   // one step of mpm before each block in turn, or also two
    reductions = {kFullModel};
    const int blocks = readModelInfo(plan.model, plan.options.convert()).blocks;
    for (int block = 0; block < blocks; ++block) {
      reductions.push_back(mpmBefore({block}));
      for (int second = block + 1; arguments.sweep_pairs && second < blocks; ++second)
        reductions.push_back(mpmBefore({block, second}));
    }
    if (plan.variants.precisions.size() > 1) plan.variants.precisions.resize(1);
    plan.labelled.spread = arguments.sweep_images;
    plan.resume = arguments.folder + "/sweep.jsonl";
    sweep = measure(plan);
    if (!sweep.finished) return kInterrupted;
  }
  writeNumbers(arguments.folder, results, sweep);
  std::string made = arguments.folder + "/summary.jsonl";
  if (ready["ok"].get<bool>()) {
    const nlohmann::json report = startPython("study/report.py", {arguments.folder}).answer;
    if (!report["ok"].get<bool>()) throw Error("no report, python3 says: " + report.value("why", ""));
    made = arguments.folder + "/report.html";
  }
  printLine(made);
  return kOk;
}

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
  for (const MeasuredVariant& variant : measured.variants)
    rows.push_back({parseReduction(variant.settings["reduce"]), variant.result.all.tokens().back(),
                    againstFull(variant, measured).value_or(evaluation::AgainstFull())});
  const evaluation::TuneRow& chosen = rows[evaluation::fastestRow(rows, arguments.agreement)];
  printMeasured(measured, arguments.json);
  const std::string name = toString(chosen.variant);
  if (arguments.json)
    printLine(Json{{"chosen", name}, {"wanted_agreement", arguments.agreement}});
  else
    printLine("chosen: " + name + ", the fastest whose agreement is at least " + fixed(arguments.agreement, 2) +
              " % by the lower end of its interval; of those as fast within noise, the one that agrees most");
  if (!arguments.output.empty()) convertFile(plan.model, arguments.output, plan.options.convert().with(chosen.variant));
  return kOk;
}

// The options that say what is measured.
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

Verb addDayNight(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("daynight", "Compare token counts by day and at a simulated night");
  const auto arguments = std::make_shared<EvalArguments>();
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
  return {verb, [arguments] { return eval(*arguments); }};
}

Verb addStudy(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("study", "Measure reductions on labelled images and write a report with figures");
  const auto arguments = std::make_shared<StudyArguments>();
  addOption(*verb, "-o,--out", arguments->folder, "DIR", "Folder of lines, report and figures")->required();
  addNumber(*verb, "--sweep-images", arguments->sweep_images, "N", 0, 1 << 30,
            "Images of the depth sweep, spread evenly over all. 0: no sweep. Default: 24");
  verb->add_flag("--sweep-pairs", arguments->sweep_pairs,
                 "Measure merging before each pair of blocks, too: heat maps of loss and speed-up");
  addMeasureOptions(*verb, arguments->plan);
  verb->remove_option(
      verb->get_option("--reuse"));  // it needs all frames in their order, and a study goes on after a kill
  verb->footer(
      R"('mpm eval --reduce none --reduce ... --resume DIR/results.jsonl', by default with the reductions of 'mpm tune'; one
step of mpm before each block in turn, or before each two (sweep.jsonl); their numbers with 95 % intervals
(summary.jsonl, results.csv), also of each two reductions (pairs.jsonl); a report with figures (Debian:
python3-matplotlib). The same command goes on after a kill. Other models, data and reductions add to the folder.

Examples:
  mpm study "demo:street?seed=1..8&frames=6&step=7200&weather=auto" -o study
  mpm study --dataset camvid CamVid --model vit.onnx --reduce mpm:blocks=2,5 --reduce gradual:count=48 -o study
)");
  return {verb, [arguments] { return study(*arguments); }};
}

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
