// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "cli/frames.h"
#include "cli/model_options.h"
#include "cli/night.h"
#include "cli/paths.h"
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

struct EvalArguments {
  std::string model, scene, images, labels, per_image;
  SegmenterOptions options;
  Night night;
  std::vector<int> ignore;  // empty: the model's
  int label_offset = 0;
  bool json = false;
};

struct Means {
  int images = 0;
  std::vector<Sample> tokens;  // before the first insertion and after each
  StageTimes ms;

  void add(const Segmentation& result) {
    ++images;
    tokens.resize(result.tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i].add(result.tokens[i]);
    for (const auto& [name, stage] : kStages) ms.*stage += (result.ms.*stage - ms.*stage) / images;
  }
  std::vector<double> meanTokens() const {
    std::vector<double> means;
    for (const Sample& sample : tokens) means.push_back(sample.mean());
    return means;
  }
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

Json percentJson(double fraction) { return orNull(std::round(fraction * 1e5) / 1e3); }

/// What is counted over some of the images.
struct Scores {
  vision::ConfusionMatrix matrix;
  Means means;

  void add(const cv::Mat& truth, const Segmentation& result) {
    matrix.add(truth, result.labels);
    means.add(result);
  }
};

/// Over all images; of the scene by day and by night, too.
struct Result {
  Scores all, day, night;

  // Columns of the table. Without day and night there is one.
  std::vector<std::pair<std::string, const Scores*>> columns() const {
    std::vector<std::pair<std::string, const Scores*>> columns = {{"all", &all}};
    if (day.means.images > 0) columns.emplace_back("day", &day);
    if (night.means.images > 0) columns.emplace_back("night", &night);
    return columns;
  }
};

Json scoresJson(const Scores& scores, const std::vector<std::string>& names) {
  Json iou = Json::object(), tokens = Json::array(), deviations = Json::array(), confusion = Json::array();
  const std::vector<double> values = scores.matrix.iou();
  for (std::size_t c = 0; c < values.size(); ++c) iou[names[c]] = percentJson(values[c]);
  const auto rounded = [](std::optional<double> count) {
    return orNull(count ? std::round(*count * 100) / 100 : count);
  };
  for (const Sample& sample : scores.means.tokens) {
    tokens.push_back(rounded(sample.mean()));
    deviations.push_back(rounded(sample.deviation()));
  }
  const int classes = static_cast<int>(names.size());
  for (int truth = 0; truth < classes; ++truth) {
    Json row = Json::array();
    for (int predicted = 0; predicted < classes; ++predicted) row.push_back(scores.matrix.count(truth, predicted));
    confusion.push_back(row);
  }
  return {{"images", scores.means.images},
          {"miou", percentJson(scores.matrix.meanIou())},
          {"pixel_accuracy", percentJson(scores.matrix.pixelAccuracy())},
          {"iou", iou},
          {"tokens_mean", tokens},
          {"tokens_sd", deviations},
          {"ms_mean", toJson(scores.means.ms)},
          {"confusion", confusion}};
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
          {"simulated_night", toJson(arguments.night)}};
}

/// One image's line of --per-image.
Json imageJson(const vision::Frame& frame, const Segmentation& result, const vision::ConfusionMatrix& matrix) {
  Json json = {{"source", frame.source}, {"name", frame.name}};
  addMoment(frame, json);
  json["pixel_accuracy"] = percentJson(matrix.pixelAccuracy());
  json["miou"] = percentJson(matrix.meanIou());
  json["tokens"] = result.tokens;
  return json;
}

Json resultJson(Json json, const Result& result, const std::vector<std::string>& names) {
  json.update(scoresJson(result.all, names));
  for (const auto& [name, scores] : result.columns())
    if (name != "all") json[name] = scoresJson(*scores, names);
  return json;
}

void printTable(const Result& result, const std::vector<std::string>& names) {
  const auto columns = result.columns();
  const auto row = [&](const std::string& name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const auto& [title, scores] : columns) cells.push_back(" " + cell(title, *scores));
    printLine(tableRow(cells, {-18, 9}));
  };
  const auto percents = [&](const std::string& name, const auto& value) {
    row(name, [&](const std::string&, const Scores& scores) { return fixed(100 * value(scores.matrix), 2); });
  };
  if (columns.size() > 1) row("IoU, %", [](const std::string& title, const Scores&) { return title; });
  for (std::size_t c = 0; c < names.size(); ++c)
    percents(names[c], [&](const vision::ConfusionMatrix& matrix) { return matrix.iou()[c]; });
  percents("mIoU", [](const vision::ConfusionMatrix& matrix) { return matrix.meanIou(); });
  percents("pixel accuracy", [](const vision::ConfusionMatrix& matrix) { return matrix.pixelAccuracy(); });
  if (columns.size() > 1) {
    row("images", [](const std::string&, const Scores& scores) { return std::to_string(scores.means.images); });
    row("tokens kept",
        [](const std::string&, const Scores& scores) { return fixed(scores.means.tokens.back().mean(), 1); });
  }
  const Means& means = result.all.means;
  printLine("IoU in percent over " + counted(means.images, "image") + "; tokens " + tokensText(means.meanTokens()) +
            "; " + fixed(means.ms.total, 1) + " ms per image");
}

int eval(const EvalArguments& arguments) {
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
  if (!rendered && !fs::is_directory(arguments.images))
    throw Error("there is no folder of images '" + arguments.images + "'");
  // Label maps have no EXIF rotation, so the images must not be rotated either.
  Frames frames(
      {.sources = {rendered ? arguments.scene : arguments.images}, .leave_out = false, .apply_exif_rotation = false},
      stderrIsTerminal());
  if (rendered) requireClasses(model, frames.classNames());
  if (rendered && !frames.size()) throw UsageError("'" + arguments.scene + "' never ends: add frames=N");
  const auto labels = rendered ? std::map<std::string, std::string>() : labelsByStem(arguments.labels);
  std::vector<std::string> inputs = vision::sourceFiles(sourceOf(arguments));
  inputs.push_back(model_path);
  for (const auto& [stem, path] : labels) inputs.push_back(path);
  requireOutput("--per-image", arguments.per_image, inputs);

  const vision::LabelMeaning meaning(ignoredLabels(arguments, model), arguments.label_offset, model.classes);
  const vision::ConfusionMatrix nothing(model.classes, meaning.voidLabel());
  Result scores{{nothing, {}}, {nothing, {}}, {nothing, {}}};
  std::string per_image;
  while (const std::optional<vision::Frame> frame = frames.next()) {
    const std::string label = rendered ? frame->name : labelOf(*frame, labels, arguments.labels);
    cv::Mat truth = rendered ? frame->labels : vision::readLabelMap(label);
    if (truth.size() != frame->image.size())  // before the work, not after
      throw Error("label map '" + label + "' is " + toString(Size2{truth.rows, truth.cols}) + ", its image " +
                  toString(Size2{frame->image.rows, frame->image.cols}));
    try {
      truth = meaning.applied(truth);
      const Segmentation result = segmenter.segment(arguments.night.applied(frame->image, frames.read() - 1));
      scores.all.add(truth, result);
      if (frame->night) (*frame->night ? scores.night : scores.day).add(truth, result);
      if (!arguments.per_image.empty()) {
        vision::ConfusionMatrix matrix = nothing;
        matrix.add(truth, result.labels);
        per_image += toLine(imageJson(*frame, result, matrix)) + '\n';
      }
    } catch (const Error& error) {
      throw Error("'" + label + "': " + error.what());
    }
  }
  if (interrupted()) {
    printNote("interrupted after " + counted(scores.all.means.images, "image") + ": no result");
    return kInterrupted;
  }
  if (!arguments.per_image.empty()) writeFileAtomically(arguments.per_image, per_image);
  const std::vector<std::string> names = vision::classNames(model);
  if (arguments.json)
    printLine(resultJson(settingsJson(arguments, model_path, model), scores, names));
  else
    printTable(scores, names);
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
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer(
      R"(One confusion matrix over all images. On the scene also one by day and one by night (after civil twilight). seed=1..8
is eight streets; 24 frames that are 8760 h / 24 = 365 h apart (step=1314000 s) show each of them at every hour of the
day once, over a year. mpm-train trains on no seed below a million.

With --json: {"model", "reduce", "schedule", "attention", "precision", "input", "fit", "window_stride", "ignore",
"label_offset", "simulated_night", "images", "miou", "pixel_accuracy", "iou": {name: value}, "tokens_mean": [..],
"tokens_sd": [..], "ms_mean": {..}, "confusion": [[..]..]}, in percent and ms. "schedule" is null for a reduction other
than mpm. tokens_mean is of the input and after each merging step. The IoU of a class that does not occur is null.
tokens_sd is the standard deviation of a sample of images. A row of "confusion" counts the pixels of one true class by
the class that the model gave them. "day" and "night" hold "images" to "confusion" again where the source knows them.
A line of --per-image is {"source", "name", "pixel_accuracy", "miou": of the classes in the image, "tokens": [..]},
on the scene with "time", "film", "night" and "sun_elevation".

Examples:
  mpm eval --model vit.onnx --images val/images --labels val/labels --schedule 2,5
  mpm eval --model vit.onnx --images val/images --labels val/labels --json --per-image images.jsonl
  mpm eval --model ade20k.onnx --images val/images --labels val/annotations --label-offset -1
  mpm eval "demo:street?seed=1..8&weather=auto&step=1314000&frames=24" --schedule none
)");
  return {verb, [arguments] { return eval(*arguments); }};
}

}  // namespace mpm::cli
