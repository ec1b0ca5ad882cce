// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <memory>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "cli/combined_evaluation.h"
#include "cli/labelled_frames.h"
#include "cli/manifest.h"
#include "cli/model_options.h"
#include "cli/night.h"
#include "cli/paths.h"
#include "cli/scores.h"
#include "cli/shard.h"
#include "cli/terminal/output.h"
#include "cli/terminal/program.h"
#include "cli/verbs/verbs.h"
#include "mpm/error.hpp"
#include "mpm/segmenter.hpp"
#include "vision/classes.h"
#include "vision/confusion_matrix.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

struct EvalArguments {
  std::string model, dataset, per_image, manifest;
  std::vector<std::string> combine;
  LabelledOptions labelled;
  ChosenFit fit;
  SegmenterOptions options;
  Shard shard;
  Night night;
  bool json = false;
};

/// What the scores are of: enough to measure them again.
Json settingsJson(const EvalArguments& arguments, const std::string& model_path, const ModelInfo& model) {
  const bool windowed = arguments.options.fit == Fit::kWindow;
  return {{"model", model_path},
          {"reduce", toString(model.reduction)},
          {"schedule", scheduleJson(model)},
          {"attention", toString(model.attention)},
          {"precision", toString(model.precision)},
          {"input", toJson(model.input)},
          {"fit", windowed ? "window" : "resize"},
          {"window_stride", windowed ? toJson(windowStride(arguments.options, model.input)) : Json(nullptr)},
          {"short_side", arguments.options.short_side > 0 ? Json(arguments.options.short_side) : Json(nullptr)},
          {"dataset", arguments.dataset.empty() ? Json(nullptr) : Json(arguments.dataset)},
          {"ignore", ignoredLabels(arguments.labelled, model)},
          {"label_offset", arguments.labelled.label_offset},
          {"simulated_night", toJson(arguments.night)},
          {"shard", arguments.shard.isWhole() ? Json(nullptr) : Json(arguments.shard.text())}};
}

/// What is measured on one image.
struct ImageResult {
  Json line;  // of --per-image
  Scores scores;
  std::optional<bool> night;
};

Json imageJson(const vision::Frame& frame, const Segmentation& result, const vision::ConfusionMatrix& matrix) {
  Json json = {{"source", frame.source}, {"name", frame.name}};
  addMoment(frame, json);
  json["pixel_accuracy"] = percentJson(matrix.pixelAccuracy());
  json["miou"] = percentJson(matrix.meanIou());
  json["tokens"] = result.tokens;
  return json;
}

// A line of the manifest: that of --per-image, the time, and the pairs of classes that occur.
Json manifestLine(const ImageResult& image) {
  Json json = image.line, confusion = Json::array();
  const vision::ConfusionMatrix& matrix = image.scores.matrix();
  for (int truth = 0; truth < matrix.classes(); ++truth)
    for (int predicted = 0; predicted < matrix.classes(); ++predicted)
      if (const std::int64_t pixels = matrix.count(truth, predicted)) confusion.push_back({truth, predicted, pixels});
  json["ms"] = toJson(image.scores.ms());
  json["confusion"] = confusion;
  return json;
}

ImageResult fromManifest(Json json, vision::ConfusionMatrix matrix, const std::string& manifest) try {
  for (const Json& count : json.at("confusion")) matrix.add(count.at(0), count.at(1), count.at(2).get<std::int64_t>());
  const std::vector<double> tokens = json.at("tokens");
  const StageTimes ms = stageTimesOf(json.at("ms"));
  json.erase("ms");
  json.erase("confusion");
  return {json, Scores(std::move(matrix), tokens, ms), std::nullopt};
} catch (const Json::exception& error) {
  throw Error("the manifest '" + manifest + "' is damaged: " + error.what());
}

void printResult(const EvalArguments& arguments, const Evaluation& result, const Json& settings,
                 const std::vector<std::string>& names) {
  if (arguments.json)
    printLine(result.toJson(settings, names));
  else
    result.print(names);
}

int eval(EvalArguments arguments) {
  if (!arguments.combine.empty()) {
    const CombinedEvaluation combined = combineEvaluations(arguments.combine);
    printResult(arguments, combined.sum, combined.settings, combined.names);
    return kOk;
  }
  LabelledOptions& labelled = arguments.labelled;
  if (!arguments.dataset.empty()) labelled.dataset = parseDataset(arguments.dataset);
  labelled.validate();
  const std::string model_path = chosenModel(arguments.model);
  applyProtocol(labelled, arguments.fit, model_path, arguments.options);
  Segmenter segmenter(model_path, arguments.options);
  const ModelInfo& model = segmenter.model();
  if (!model.givesLabels())
    throw Error("'" + model_path + "' does not segment (" +
                (model.task ? "its task is '" + toString(*model.task) : "its head is '" + toString(model.head)) +
                "'): nothing to evaluate");
  std::optional<Manifest> manifest;
  LabelledFrames frames(labelled, model, stderrIsTerminal(), [&](const std::string& path) {
    return arguments.shard.contains(path) && !(manifest && manifest->contains(fs::path(path).stem().string()));
  });
  if (!arguments.shard.isWhole()) requireNamedImages("--shard", frames.sources());
  if (!arguments.manifest.empty()) requireNamedImages("--resume", frames.sources());
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
    manifest.emplace(arguments.manifest, work);
  }

  const vision::ConfusionMatrix no_pixels(model.classes, frames.voidLabel());
  const Scores nothing(model.classes, frames.voidLabel());
  Evaluation evaluation{nothing, nothing, nothing};
  std::string per_image;
  const auto add = [&](const ImageResult& image) {
    evaluation.all.add(image.scores);
    if (image.night) (*image.night ? evaluation.night : evaluation.day).add(image.scores);
    per_image += toLine(image.line) + '\n';
  };
  if (manifest)
    for (const Json& entry : manifest->entries()) add(fromManifest(entry, no_pixels, arguments.manifest));

  while (const std::optional<LabelledFrame> one = frames.next()) {
    const auto& [frame, truth, label] = *one;
    try {
      const Segmentation result = segmenter.segment(arguments.night.applied(frame.image, frame.index));
      vision::ConfusionMatrix matrix = no_pixels;
      matrix.add(truth, result.labels);
      const ImageResult image{imageJson(frame, result, matrix), Scores(matrix, result.tokens, result.ms), frame.night};
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
  printResult(arguments, evaluation, settings, vision::classNames(model));
  return kOk;
}

}  // namespace

Verb addEval(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("eval", "Measure mIoU on images with labels");
  const auto arguments = std::make_shared<EvalArguments>();
  addModelOptions(*verb, arguments->model, arguments->options);
  addOption(*verb, "SOURCE", arguments->labelled.source, " ",
            "The built-in scene with its own labels (\"demo:street?seed=1..8&frames=24\"), or the folder of --dataset");
  addOption(*verb, "--dataset", arguments->dataset, "NAME",
            "ade20k, cityscapes, pascal-context or camvid, unpacked in the folder SOURCE. Labels, windows and stride "
            "are those of the papers unless options say otherwise");
  addOption(*verb, "--split", arguments->labelled.split, "NAME",
            "Part of the data set. Default: validation of ade20k, else val");
  addOption(*verb, "--images", arguments->labelled.images, "DIR",
            "Folder of images. EXIF rotation is ignored. An image that cannot be read is an error");
  addOption(*verb, "--labels", arguments->labelled.labels, "DIR",
            "Folder of label maps with the names of the images: one channel of 8 bits, the class index of each "
            "pixel, as large as the image");
  addNumber(*verb, "--ignore", arguments->labelled.ignore, "LABEL", 0, 255,
            "Label of pixels that do not count, as in the files; can be given several times. Default: the model's, "
            "else 255")
      ->allow_extra_args(false);
  addNumber(*verb, "--label-offset", arguments->labelled.label_offset, "N", -255, 255,
            "Add this to every label; what falls below 0 does not count. -1: classes are counted from 1 and 0 is "
            "none of them, as in ADE20K. Default: 0");
  addNight(*verb, arguments->night);
  addChoice<std::optional<Fit>>(
      *verb, "--fit", arguments->fit.fit, {{"resize", Fit::kResize}, {"window", Fit::kWindow}},
      "resize: one pass over the image resized to the network input; window: sliding windows at the image's "
      "own scale. Default: resize, or that of the data set");
  addNumber(*verb, "--window-stride", arguments->fit.window_stride, "PX", 1, 1 << 20,
            "Pixels from window to window (papers: 480 of 512, 320 of 480, 512 of 768). Default: 15/16 of the window");
  addNumber(*verb, "--short-side", arguments->fit.short_side, "PX", 1, 1 << 14,
            "Shorter side of the images before the windows. Default: that of the data set, else their own scale");
  addOption(*verb, "--per-image", arguments->per_image, "FILE.jsonl",
            "Write a line of JSON for each image there. Default: nowhere");
  addShard(*verb, arguments->shard);
  addOption(*verb, "--resume", arguments->manifest, "FILE.jsonl",
            "Note every finished image in this file, and leave out those that it names: a run that was killed goes on");
  CLI::Option* const combine =
      addOption(*verb, "--combine", arguments->combine, "FILE...",
                "Add up results of --json, of all shards or of several data sets. The sum is exact");
  for (CLI::Option* option : verb->get_options())
    if (option != combine && !option->check_name("--json") && !option->check_name("--help")) combine->excludes(option);
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer(
      R"(One confusion matrix over all images. On the scene also one by day and one by night (after civil twilight). seed=1..8
is eight streets; 24 frames that are 8760 h / 24 = 365 h apart (step=1314000 s) show each of them at every hour of the
day once, over a year. mpm-train trains on no seed below a million.

The folders are those of the authors: ADEChallengeData2016 (images, annotations), Cityscapes (leftImg8bit, gtFine with
labelIds), VOC2010 with SegmentationClassContext and ImageSets/SegmentationContext, CamVid as in SegNet (val, valannot)
or as images and labels. Windows are 512 px with stride 480 for ade20k (shorter side 512), 768 with 512 for cityscapes
(1024), 480 with 320 for pascal-context (520). A plain model gets this input size. For camvid the image is resized.

With --json: {"model", "reduce", "schedule", "attention", "precision", "input", "fit", "window_stride", "short_side",
"dataset", "ignore", "label_offset", "simulated_night", "shard", "images", "miou", "pixel_accuracy", "iou": {name:
value}, "tokens_mean": [..], "tokens_sd": [..], "ms_mean": {..}, "confusion": [[..]..]}, in percent and ms. "schedule"
is null for a reduction other than mpm. tokens_mean is of the input and after each merging step. The IoU of a class that
does not occur is null.
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
)");
  return {verb, [arguments] { return eval(*arguments); }};
}

}  // namespace mpm::cli
