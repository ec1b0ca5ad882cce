// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "cli/camera_options.h"
#include "cli/combined_evaluation.h"
#include "cli/labelled_frames.h"
#include "cli/manifest.h"
#include "cli/shard.h"
#include "cli/verbs/verbs.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/numbers.h"
#include "evaluation/scores.h"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "program/paths.h"
#include "vision/labels/classes.h"
#include "vision/sources/source.h"

namespace mpm::cli {

namespace {

namespace fs = std::filesystem;

struct EvalArguments {
  std::string model, dataset, per_image, manifest;
  std::vector<std::string> combine;
  LabelledOptions labelled;
  ChosenFit fit;
  EstimatorOptions options;
  Shard shard;
  Night night;
  std::string against;
  bool json = false;
};

/// What the reuse of rows did over all frames.
struct ReuseTotals {
  int frames = 0, key_frames = 0, comparisons = 0;
  double rows = 0, agreement = 0, ms = 0, full_ms = 0;  // full_ms: of --against full

  /// The first frame of a film has nothing to reuse, so it does not count.
  void add(const ReuseReport& report, double frame_ms, double frame_full_ms) {
    ++frames;
    ms += frame_ms;
    full_ms += frame_full_ms;
    rows += report.rows;
    key_frames += report.key_frame ? 1 : 0;
    if (!report.agreement) return;
    ++comparisons;
    agreement += *report.agreement;
  }
  Json toJson() const {
    return {{"rows", frames > 0 ? Json(rows / frames) : Json(nullptr)},
            {"key_frames", key_frames},
            {"agreement", comparisons > 0 ? Json(agreement / comparisons) : Json(nullptr)},
            {"share_of_full_ms", full_ms > 0 ? Json(ms / full_ms) : Json(nullptr)}};
  }
};

/// What the scores are of: enough to measure them again.
Json settingsJson(const EvalArguments& arguments, const std::string& model_path, const ModelInfo& model) {
  const bool windowed = arguments.options.fit == Fit::kWindow;
  return {{"model", model_path},
          {"reduce", toString(model.reduction)},
          {"precision", toString(model.precision)},
          {"input", sizeJson(model.input)},
          {"fit", windowed ? "window" : "resize"},
          {"window_stride", windowed ? sizeJson(windowStride(arguments.options, model.input)) : Json(nullptr)},
          {"short_side", arguments.options.short_side > 0 ? Json(arguments.options.short_side) : Json(nullptr)},
          {"dataset", arguments.dataset.empty() ? Json(nullptr) : Json(arguments.dataset)},
          {"ignore", ignoredLabels(arguments.labelled, model)},
          {"label_offset", arguments.labelled.label_offset},
          {"simulated_night", toJson(arguments.night)},
          {"against", arguments.against.empty() ? Json(nullptr) : Json(arguments.against)},
          {"reuse_spec", toString(arguments.options.reuse)},
          {"shard", arguments.shard.isWhole() ? Json(nullptr) : Json(arguments.shard.text())}};
}

/// What is measured on one image.
struct ImageResult {
  Json line;  // of --per-image
  evaluation::Scores scores;
  std::optional<bool> night;
};

Json imageJson(const vision::Frame& frame, const Estimate& result, const evaluation::ConfusionMatrix& matrix) {
  Json json = {{"source", frame.source}, {"name", frame.name}};
  addMoment(frame, json);
  json["pixel_accuracy"] = evaluation::percentJson(matrix.pixelAccuracy());
  json["miou"] = evaluation::percentJson(matrix.meanIou());
  json["tokens"] = result.tokens;
  if (result.reuse) json["rows"] = result.reuse->rows;
  return json;
}

// A line of the manifest: that of --per-image, the time, and the pairs of classes that occur.
Json manifestLine(const ImageResult& image) {
  Json json = image.line;
  json["ms"] = evaluation::toJson(image.scores.ms());
  json["confusion"] = image.scores.matrix().pairs();
  return json;
}

ImageResult fromManifest(const JsonValue& entry, evaluation::ConfusionMatrix matrix) {
  const int last = matrix.classes() - 1;
  for (const JsonValue& pair : entry.at("confusion").list()) {
    const auto counts = pair.list(3, 3);
    pair.named([&] { matrix.add(counts[0].integer(0, last), counts[1].integer(0, last), counts[2].count()); });
  }
  const std::pair<const char*, double> shares[] = {{"miou", matrix.meanIou()},
                                                   {"pixel_accuracy", matrix.pixelAccuracy()}};
  for (const auto& [key, share] : shares)
    if (entry.at(key).json() != evaluation::percentJson(share))
      throw Error(entry.at(key).place() +
                  " is not what its counts give: remove that line, and its image is done again");
  std::vector<double> tokens;
  for (const JsonValue& count : entry.at("tokens").list()) tokens.push_back(count.number(0));
  const StageTimes ms = evaluation::stageTimesOf(entry.at("ms"));
  Json json = entry.json();
  json.erase("ms");
  json.erase("confusion");
  return {json, evaluation::Scores(std::move(matrix), tokens, ms), std::nullopt};
}

void printTable(const evaluation::Evaluation& evaluation, const std::vector<std::string>& names) {
  const auto columns = evaluation.columns();
  const auto row = [&columns](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const auto& [title, scores] : columns) cells.push_back(" " + cell(title, *scores));
    printLine(tableRow(cells, {-18, 9}));
  };
  const auto percents = [&](const std::string& name, const auto& value) {
    row(name,
        [&](const std::string&, const evaluation::Scores& scores) { return fixed(100 * value(scores.matrix()), 2); });
  };
  const bool split = columns.size() > 1;
  if (split) row("IoU, %", [](const std::string& title, const evaluation::Scores&) { return title; });
  for (std::size_t c = 0; c < names.size(); ++c)
    percents(names[c], [&](const evaluation::ConfusionMatrix& matrix) { return matrix.iou()[c]; });
  percents("mIoU", [](const evaluation::ConfusionMatrix& matrix) { return matrix.meanIou(); });
  percents("pixel accuracy", [](const evaluation::ConfusionMatrix& matrix) { return matrix.pixelAccuracy(); });
  if (split) {
    row("images", [](const std::string&, const evaluation::Scores& scores) { return std::to_string(scores.images()); });
    row("tokens kept",
        [](const std::string&, const evaluation::Scores& scores) { return fixed(scores.tokens().back(), 1); });
  }
  printLine("IoU in percent over " + counted(evaluation.all.images(), "image") + "; tokens " +
            tokensText(evaluation.all.tokens()) + "; " + fixed(evaluation.all.ms().total, 1) + " ms per image");
}

void printResult(const EvalArguments& arguments, const evaluation::Evaluation& result, const Json& settings,
                 const std::vector<std::string>& names, const ReuseTotals& reuse = {}) {
  if (arguments.json) {
    Json json = result.toJson(settings, names);
    if (reuse.frames > 0) json["reuse"] = reuse.toJson();
    return printLine(json);
  }
  printTable(result, names);
  if (reuse.frames > 0)
    printLine("reuse: " + fixed(100 * reuse.rows / reuse.frames, 1) + " % of the rows computed, " +
              counted(reuse.key_frames, "key frame") + " after the first of each film");
}

int eval(EvalArguments arguments) {
  if (!arguments.combine.empty()) {
    const CombinedEvaluation combined = combineEvaluations(arguments.combine);
    printResult(arguments, combined.sum, combined.settings, combined.names);
    return kOk;
  }
  LabelledOptions& labelled = arguments.labelled;
  if (!arguments.dataset.empty()) labelled.dataset = parseDataset(arguments.dataset);
  if (!arguments.against.empty()) labelled.truth = [](const vision::Frame&) { return cv::Mat(); };  // set below
  labelled.validate();
  const std::string model_path = chosenModel(arguments.model);
  applyProtocol(labelled, arguments.fit, model_path, arguments.options);
  arguments.options.task = Task::kSemantic;
  requireAllFrames(arguments.options.reuse, arguments.shard, !arguments.manifest.empty());
  std::optional<Estimator> full;  // the labels that the others are compared with
  double full_ms = 0;             // of its last frame
  if (!arguments.against.empty()) {
    if (labelled.source.empty() || labelled.dataset)
      throw UsageError(
          "--against full makes the labels itself: name a SOURCE, without --dataset, --images and --labels");
    EstimatorOptions options = arguments.options;
    options.reuse = {};
    options.read.convert.reduce = Reduction{.method = ReductionMethod::kNone};
    full.emplace(model_path, options);
    labelled.truth = [&](const vision::Frame& frame) {
      const Estimate whole = full->estimate(arguments.night.applied(frame.image, frame.index));
      full_ms = whole.ms.total;
      return whole.labels;
    };
  }
  Estimator segmenter(model_path, arguments.options);
  const ModelInfo& model = segmenter.model();
  std::optional<Manifest> manifest;
  LabelledFrames frames(labelled, model, stderrIsTerminal(), [&](const std::string& path) {
    return arguments.shard.contains(path) && !(manifest && manifest->contains(fs::path(path).stem().string()));
  });
  if (!arguments.shard.isWhole()) requireNamedImages("--shard", frames.sources());
  std::set<std::string> images;
  if (!arguments.manifest.empty()) images = requireNamedImages("--resume", frames.sources());
  std::vector<std::string> inputs = frames.files();
  inputs.push_back(model_path);
  requireOutput("--per-image", arguments.per_image, inputs);
  const Json settings = settingsJson(arguments, model_path, model);
  if (!arguments.manifest.empty()) {
    requireOutput("--resume", arguments.manifest, inputs);
    Json work = settings;
    work.update({{"model", fileIdentity(model_path)},
                 {"images", labelled.dataset ? labelled.source : labelled.images},
                 {"labels", labelled.labels}});
    manifest.emplace(arguments.manifest, work, images);
  }

  const evaluation::ConfusionMatrix no_pixels(model.classes, frames.voidLabel());
  const evaluation::Scores nothing(model.classes, frames.voidLabel());
  evaluation::Evaluation evaluation{nothing, nothing, nothing};
  std::string per_image;
  ReuseTotals reuse;
  std::optional<int> film;
  const auto add = [&](const ImageResult& image) {
    evaluation.all.add(image.scores);
    if (image.night) (*image.night ? evaluation.night : evaluation.day).add(image.scores);
    per_image += toLine(image.line) + '\n';
  };
  if (manifest)
    for (const JsonValue& entry : manifest->entries()) entry.named([&] { add(fromManifest(entry, no_pixels)); });

  while (const std::optional<LabelledFrame> one = frames.next()) {
    const auto& [frame, truth, label] = *one;
    try {
      const bool first = film != frame.film;
      if (first) segmenter.reset();
      film = frame.film;
      const Estimate result = segmenter.estimate(arguments.night.applied(frame.image, frame.index), frame.seconds());
      if (result.reuse && !first) reuse.add(*result.reuse, result.ms.total, full_ms);
      evaluation::ConfusionMatrix matrix = no_pixels;
      matrix.add(truth, result.labels);
      const ImageResult image{imageJson(frame, result, matrix), evaluation::Scores(matrix, result.tokens, result.ms),
                              frame.night};
      add(image);
      if (manifest) manifest->append(manifestLine(image));
    } catch (const Error& error) {
      throw Error("'" + label + "': " + error.what());
    }
  }
  if (interrupted()) {
    printNote("interrupted after " + counted(evaluation.all.images(), "image") +
              (manifest ? ": the same command goes on from here" : ": no result"));
    return kInterrupted;
  }
  if (!arguments.per_image.empty()) writeFileAtomically(arguments.per_image, per_image);
  printResult(arguments, evaluation, settings, vision::classNames(model), reuse);
  return kOk;
}

}  // namespace

Verb addEval(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("eval", "Measure mIoU on images with labels");
  const auto arguments = std::make_shared<EvalArguments>();
  addModelOptions(*verb, arguments->model, arguments->options);
  addReuse(*verb, arguments->options.reuse);
  addNight(*verb, arguments->night);
  addOption(*verb, "SOURCE", arguments->labelled.source, " ",
            "The built-in scene with its own labels (\"demo:street?seed=1..8&frames=24\"), or the folder of --dataset");
  addOption(*verb, "--dataset", arguments->dataset, "NAME",
            "ade20k, cityscapes, pascal-context or camvid, unpacked in the folder SOURCE. Labels, windows and stride "
            "are those of the papers unless options say otherwise");
  addOption(*verb, "--images", arguments->labelled.images, "DIR",
            "Folder of images. EXIF rotation is ignored. An image that cannot be read is an error");
  addOption(*verb, "--labels", arguments->labelled.labels, "DIR",
            "Folder of label maps with the names of the images: one channel of 8 bits, the class index of each "
            "pixel, as large as the image");
  addChoice(*verb, "--against", arguments->against, std::vector{std::pair<std::string, std::string>("full", "full")},
            "full: compare with the labels that the full model gives, without merging and reuse, instead "
            "of true labels. SOURCE may then be a video or a folder without labels");
  addOption(*verb, "--per-image", arguments->per_image, "FILE.jsonl",
            "Write a line of JSON for each image there. Default: nowhere");
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->option_defaults()->group("Labels and windows");
  addOption(*verb, "--split", arguments->labelled.split, "NAME",
            "Part of the data set. Default: validation of ade20k, else val");
  addNumber(*verb, "--ignore", arguments->labelled.ignore, "LABEL", 0, 255,
            "Label of pixels that do not count, as in the files; can be given several times. Default: the model's, "
            "else 255")
      ->allow_extra_args(false);
  addNumber(*verb, "--label-offset", arguments->labelled.label_offset, "N", -255, 255,
            "Add this to every label; what falls below 0 does not count. -1: classes are counted from 1 and 0 is "
            "none of them, as in ADE20K. Default: 0");
  addRefine(*verb, arguments->options.refine);
  addChoice<std::optional<Fit>>(
      *verb, "--fit", arguments->fit.fit, {{"resize", Fit::kResize}, {"window", Fit::kWindow}},
      "resize: one pass over the image resized to the network input; window: sliding windows at the image's "
      "own scale. Default: resize, or that of the data set");
  addNumber(*verb, "--window-stride", arguments->fit.window_stride, "PX", 1, 1 << 20,
            "Pixels from window to window (papers: 480 of 512, 320 of 480, 512 of 768). Default: 15/16 of the window");
  addNumber(*verb, "--short-side", arguments->fit.short_side, "PX", 1, 1 << 14,
            "Shorter side of the images before the windows. Default: that of the data set, else their own scale");
  verb->option_defaults()->group(kJobGroup);
  addShard(*verb, arguments->shard);
  addOption(*verb, "--resume", arguments->manifest, "FILE.jsonl",
            "Note every finished image in this file, and leave out those that it names: a run that was killed goes on");
  CLI::Option* const combine =
      addOption(*verb, "--combine", arguments->combine, "FILE...",
                "Add up results of --json, of all shards or of several data sets. The sum is exact");
  for (CLI::Option* option : verb->get_options())
    if (option != combine && !option->check_name("--json") && !option->check_name("--help")) combine->excludes(option);
  verb->footer(
      R"(One confusion matrix over all images. On the scene also one by day and one by night (after civil twilight). seed=1..8
is eight streets; 24 frames that are 8760 h / 24 = 365 h apart (step=1314000 s) show each of them at every hour of the
day once, over a year. mpm-train trains on no seed below a million.

The folders are those of the authors: ADEChallengeData2016 (images, annotations), Cityscapes (leftImg8bit, gtFine with
labelIds), VOC2010 with SegmentationClassContext and ImageSets/SegmentationContext, CamVid as in SegNet (val, valannot)
or as images and labels. Windows are 512 px with stride 480 for ade20k (shorter side 512), 768 with 512 for cityscapes
(1024), 480 with 320 for pascal-context (520). A plain model gets this input size. For camvid the image is resized.

With --json: {"model", "reduce", "precision", "input", "fit", "window_stride", "short_side", "dataset", "ignore",
"label_offset", "simulated_night", "against", "reuse_spec", "shard", "images", "miou", "pixel_accuracy", "iou":
{name: value}, "tokens_mean": [..], "tokens_sd": [..], "ms_mean": {..}, "confusion": [[..]..]}, in percent and ms.
tokens_mean is of the input and after each merging step. "miou" is the mean over the classes with true pixels. The IoU
of a class that is neither true nor predicted anywhere is null.
With --reuse also "reuse": {"rows": mean share of the rows that were computed, "key_frames": how many, "agreement": of
those that were due, in percent, "share_of_full_ms": time as a share of the full model's, with --against full}. The
first frame of a film does not count.
tokens_sd is the standard deviation of a sample of images. A row of "confusion" counts the pixels of one true class by
the class that the model gave them. "day" and "night" hold "images" to "confusion" again where the source knows them.
A line of --per-image is {"source", "name", "pixel_accuracy", "miou": of the classes in the image, "tokens": [..]},
on the scene with "time", "film", "night" and "sun_elevation".

Examples:
  mpm eval --model vit.onnx --images val/images --labels val/labels --schedule 2,5
  mpm eval --model vit.onnx --images val/images --labels val/labels --json --per-image images.jsonl
  mpm eval --model ade20k.onnx --images val/images --labels val/annotations --label-offset -1
  mpm eval --model ade20k.onnx --dataset ade20k ADEChallengeData2016
  mpm eval "demo:street?seed=1..8&weather=auto&step=1314000&frames=24" --schedule none
  mpm eval --model vit.onnx --images images --labels labels --shard 2/8 --resume 2.jsonl --json > 2.json
  mpm eval --combine 1.json 2.json 3.json
  mpm eval yard.mp4 --model mine.onnx --against full --reuse auto
)");
  return {verb, [arguments] { return eval(*arguments); }};
}

}  // namespace mpm::cli
