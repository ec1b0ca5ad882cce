// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "cli/combined_evaluation.h"
#include "cli/frames.h"
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
#include "vision/label_map.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfusion = "confusion";

struct EvalArguments {
  std::string model, scene, images, labels, per_image, manifest;
  std::vector<std::string> combine;
  SegmenterOptions options;
  Shard shard;
  Night night;
  std::vector<int> ignore;  // empty: the model's
  int label_offset = 0;
  bool json = false;
};

// Label map of each stem in a folder.
std::map<std::string, std::string> labelsByStem(const std::string& folder) {
  std::map<std::string, std::string> labels;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    std::string extension = path.extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (extension != ".png" && extension != ".bmp" && extension != ".tif") continue;
    const auto [other, fresh] = labels.emplace(path.stem().string(), path.string());
    if (!fresh)
      throw Error("two label maps for '" + other->first + "': '" + std::min(other->second, path.string()) + "' and '" +
                  std::max(other->second, path.string()) + "'");
  }
  if (error) throw Error("cannot read the folder of labels '" + folder + "': " + error.message());
  return labels;
}

std::string labelOf(const vision::Frame& frame, const std::map<std::string, std::string>& labels,
                    const std::string& folder) {
  const auto label = labels.find(frame.name);
  if (label == labels.end())
    throw Error("no label map for '" + frame.source + "': there is no " + frame.name + ".png in '" + folder + "'");
  return label->second;
}

// The labels of the demo mean nothing to a model of other classes.
void requireClasses(const ModelInfo& model, const std::vector<std::string>& classes) {
  const auto& own = model.facts.classes;
  if (std::equal(own.begin(), own.end(), classes.begin(), classes.end(),
                 [](const ClassInfo& one, const std::string& name) { return one.name == name; }))
    return;
  std::string names;
  for (const std::string& name : classes) names += (names.empty() ? "" : ", ") + name;
  throw Error("the model's classes are not those of the demo (" + names + "): its labels cannot be compared");
}

vision::SourceSpec sourceOf(const EvalArguments& arguments) {
  return vision::parseSourceSpec(arguments.scene.empty() ? arguments.images : arguments.scene);
}

void requireLabelledSource(const EvalArguments& arguments) {
  if (arguments.scene.empty() && (arguments.images.empty() || arguments.labels.empty()))
    throw UsageError(
        "name what to evaluate on: --images DIR and --labels DIR, or the scene (\"demo:street?frames=100\")");
  if (arguments.scene.empty()) return;
  if (!arguments.images.empty() || !arguments.labels.empty())
    throw UsageError("either the scene or --images and --labels, not both");
  if (sourceOf(arguments).kind != vision::SourceKind::kDemo)
    throw UsageError("'" + arguments.scene + "' has no labels: name --images DIR and --labels DIR");
}

std::vector<int> ignoredLabels(const EvalArguments& arguments, const ModelInfo& model) {
  return arguments.ignore.empty() ? std::vector<int>{model.facts.ignore} : arguments.ignore;
}

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
          {"ignore", ignoredLabels(arguments, model)},
          {"label_offset", arguments.label_offset},
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
  json[kConfusion] = confusion;
  return json;
}

ImageResult fromManifest(Json json, vision::ConfusionMatrix matrix, const std::string& manifest) try {
  for (const Json& count : json.at(kConfusion)) matrix.add(count.at(0), count.at(1), count.at(2).get<std::int64_t>());
  const std::vector<double> tokens = json.at("tokens");
  const StageTimes ms = stageTimesOf(json.at("ms"));
  json.erase("ms");
  json.erase(kConfusion);
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

int eval(const EvalArguments& arguments) {
  if (!arguments.combine.empty()) {
    const CombinedEvaluation combined = combineEvaluations(arguments.combine);
    printResult(arguments, combined.sum, combined.settings, combined.names);
    return kOk;
  }
  const std::string model_path = chosenModel(arguments.model);
  requireLabelledSource(arguments);
  if (arguments.options.window_stride > 0 && arguments.options.fit != Fit::kWindow)
    throw UsageError("--window-stride needs --fit window");
  Segmenter segmenter(model_path, arguments.options);
  const ModelInfo& model = segmenter.model();
  if (!model.segments())
    throw Error("'" + model_path + "' does not segment (its head is '" + toString(model.head) +
                "'): nothing to evaluate");
  const bool rendered = !arguments.scene.empty();
  const std::string& source = rendered ? arguments.scene : arguments.images;
  if (!rendered && !fs::is_directory(source)) throw Error("there is no folder of images '" + source + "'");
  if (!arguments.shard.isWhole()) requireNamedImages("--shard", {source});
  if (!arguments.manifest.empty()) requireNamedImages("--resume", {source});
  const auto labels = rendered ? std::map<std::string, std::string>() : labelsByStem(arguments.labels);
  std::vector<std::string> inputs = vision::sourceFiles(sourceOf(arguments));
  inputs.push_back(model_path);
  for (const auto& [stem, path] : labels) inputs.push_back(path);
  requireOutput("--per-image", arguments.per_image, inputs);
  const Json settings = settingsJson(arguments, model_path, model);
  std::optional<Manifest> manifest;
  if (!arguments.manifest.empty()) {
    requireOutput("--resume", arguments.manifest, inputs);
    Json work = settings;
    work.update({{"model", fileIdentity(model_path)}, {"images", source}, {"labels", arguments.labels}});
    manifest.emplace(arguments.manifest, work);
  }

  const vision::LabelMeaning meaning(ignoredLabels(arguments, model), arguments.label_offset, model.classes);
  const vision::ConfusionMatrix no_pixels(model.classes, meaning.voidLabel());
  const Scores nothing(model.classes, meaning.voidLabel());
  Evaluation evaluation{nothing, nothing, nothing};
  std::string per_image;
  const auto add = [&](const ImageResult& image) {
    evaluation.all.add(image.scores);
    if (image.night) (*image.night ? evaluation.night : evaluation.day).add(image.scores);
    per_image += toLine(image.line) + '\n';
  };
  if (manifest)
    for (const Json& entry : manifest->entries()) add(fromManifest(entry, no_pixels, arguments.manifest));

  // Label maps have no EXIF rotation, so the images must not be rotated either.
  Frames frames({.sources = {source},
                 .leave_out = false,
                 .apply_exif_rotation = false,
                 .chosen =
                     [&](const std::string& path) {
                       return arguments.shard.contains(path) &&
                              !(manifest && manifest->contains(fs::path(path).stem().string()));
                     }},
                stderrIsTerminal());
  if (rendered) requireClasses(model, frames.classNames());
  if (rendered && !frames.size()) throw UsageError("'" + source + "' never ends: add frames=N");
  while (const std::optional<vision::Frame> frame = frames.next()) {
    const std::string label = rendered ? frame->name : labelOf(*frame, labels, arguments.labels);
    cv::Mat truth = rendered ? frame->labels : vision::readLabelMap(label);
    if (truth.size() != frame->image.size())  // before the work, not after
      throw Error("label map '" + label + "' is " + toString(Size2{truth.rows, truth.cols}) + ", its image " +
                  toString(Size2{frame->image.rows, frame->image.cols}));
    try {
      truth = meaning.applied(truth);
      const Segmentation result = segmenter.segment(arguments.night.applied(frame->image, frame->index));
      vision::ConfusionMatrix matrix = no_pixels;
      matrix.add(truth, result.labels);
      const ImageResult image{imageJson(*frame, result, matrix), Scores(matrix, result.tokens, result.ms),
                              frame->night};
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
  addOption(*verb, "SCENE", arguments->scene, " ",
            "The built-in scene with its own labels (\"demo:street?seed=1..8&frames=24\"), instead of --images "
            "and --labels");
  addOption(*verb, "--images", arguments->images, "DIR",
            "Folder of images. EXIF rotation is ignored. An image that cannot be read is an error");
  addOption(*verb, "--labels", arguments->labels, "DIR",
            "Folder of label maps with the names of the images: one channel of 8 bits, the class index of each "
            "pixel, as large as the image");
  addNumber(*verb, "--ignore", arguments->ignore, "LABEL", 0, 255,
            "Label of pixels that do not count, as in the files; can be given several times. Default: the model's, "
            "else 255")
      ->allow_extra_args(false);
  addNumber(*verb, "--label-offset", arguments->label_offset, "N", -255, 255,
            "Add this to every label; what falls below 0 does not count. -1: classes are counted from 1 and 0 is "
            "none of them, as in ADE20K. Default: 0");
  addNight(*verb, arguments->night);
  addChoice<Fit>(*verb, "--fit", arguments->options.fit, {{"resize", Fit::kResize}, {"window", Fit::kWindow}},
                 "resize: one pass over the image resized to the network input; window: sliding windows at the image's "
                 "own scale. Default: resize");
  addNumber(*verb, "--window-stride", arguments->options.window_stride, "PX", 1, 1 << 20,
            "Pixels from window to window (papers: 480 of 512, 320 of 480, 512 of 768). Default: 15/16 of the window");
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

With --json: {"model", "reduce", "schedule", "attention", "precision", "input", "fit", "window_stride", "ignore",
"label_offset", "simulated_night", "shard", "images", "miou", "pixel_accuracy", "iou": {name: value}, "tokens_mean":
[..], "tokens_sd": [..], "ms_mean": {..}, "confusion": [[..]..]}, in percent and ms. "schedule" is null for a reduction
other than mpm. tokens_mean is of the input and after each merging step. The IoU of a class that does not occur is null.
tokens_sd is the standard deviation of a sample of images. A row of "confusion" counts the pixels of one true class by
the class that the model gave them. "day" and "night" hold "images" to "confusion" again where the source knows them.
A line of --per-image is {"source", "name", "pixel_accuracy", "miou": of the classes in the image, "tokens": [..]},
on the scene with "time", "film", "night" and "sun_elevation".

Examples:
  mpm eval --model vit.onnx --images val/images --labels val/labels --schedule 2,5
  mpm eval --model vit.onnx --images val/images --labels val/labels --json --per-image images.jsonl
  mpm eval --model ade20k.onnx --images val/images --labels val/annotations --label-offset -1
  mpm eval "demo:street?seed=1..8&weather=auto&step=1314000&frames=24" --schedule none
  mpm eval --model vit.onnx --images images --labels labels --shard 2/8 --resume 2.jsonl --json > 2.json
  mpm eval --combine 1.json 2.json 3.json
)");
  return {verb, [arguments] { return eval(*arguments); }};
}

}  // namespace mpm::cli
