// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <opencv2/imgcodecs.hpp>

#include "base/atomic_file.h"
#include "cli/class_names.h"
#include "cli/model_options.h"
#include "cli/moment.h"
#include "cli/night.h"
#include "cli/paths.h"
#include "cli/terminal/errors.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "mpm/error.hpp"
#include "mpm/segmenter.hpp"
#include "scene/street.h"
#include "vision/confusion_matrix.h"
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
  std::vector<double> tokens, tokens_squares;  // the latter of the deviations from the mean, summed
  StageTimes ms;

  void add(const Segmentation& result) {
    ++images;
    tokens.resize(result.tokens.size());
    tokens_squares.resize(result.tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const double off = result.tokens[i] - tokens[i];
      tokens[i] += off / images;
      tokens_squares[i] += off * (result.tokens[i] - tokens[i]);
    }
    for (double StageTimes::*stage :
         {&StageTimes::total, &StageTimes::preprocess, &StageTimes::backbone, &StageTimes::merge, &StageTimes::restore,
          &StageTimes::head, &StageTimes::postprocess})
      ms.*stage += (result.ms.*stage - ms.*stage) / images;
  }

  /// Of a sample: over images - 1. NaN of a single image.
  double tokensDeviation(std::size_t insertion) const {
    return images > 1 ? std::sqrt(tokens_squares[insertion] / (images - 1)) : std::nan("");
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

// OpenCV gives the colours of a palette, never the indices.
bool hasPalette(const std::string& path) {
  char header[26];  // of a PNG: its signature, then length, name, width, height, depth and kind of colours
  std::ifstream file(path, std::ios::binary);
  return file.read(header, sizeof header) && std::string(header + 12, 4) == "IHDR" && header[25] == 3;
}

cv::Mat readLabels(const std::string& path) {
  cv::Mat labels;
  try {
    labels = cv::imread(path, cv::IMREAD_UNCHANGED);
  } catch (const cv::Exception&) {
  }
  if (labels.empty()) throw Error("cannot read label map '" + path + "': damaged or not an image");
  if (labels.type() != CV_8UC1 && hasPalette(path))
    throw Error("label map '" + path + "' has a palette: write the class indices as grey values, without one");
  if (labels.type() != CV_8UC1)
    throw Error("label map '" + path + "' must have one channel of 8 bits, the class index of each pixel");
  return labels;
}

// Labels of the scene mean nothing to a model of other classes.
void requireSceneClasses(const ModelInfo& model) {
  bool same = model.facts.classes.size() == scene::kClasses;
  for (int c = 0; same && c < scene::kClasses; ++c) same = model.facts.classes[c].name == scene::kClassStyles[c].name;
  if (same) return;
  std::string names;
  for (const scene::ClassStyle& style : scene::kClassStyles)
    names += std::string(names.empty() ? "" : ", ") + style.name;
  throw Error("the model's classes are not those of the scene (" + names + "): its labels cannot be compared");
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

// What the labels of files mean: a class, void, or nothing that can be evaluated.
class LabelMeaning {
 public:
  LabelMeaning(const std::vector<int>& ignored, int offset, int classes) : offset_(offset), classes_(classes) {
    for (int label = 0; label < 256; ++label) {
      const bool is_ignored = std::find(ignored.begin(), ignored.end(), label) != ignored.end();
      class_of_[label] = is_ignored ? kVoid : std::max(label + offset, kVoid);
    }
    while (void_ >= 0 && std::find(class_of_.begin(), class_of_.end(), void_) != class_of_.end()) --void_;
  }

  /// What void becomes: a number that no label does, since all 256 may be classes. -1 where nothing is void.
  int voidLabel() const { return void_; }

  cv::Mat applied(const cv::Mat& labels) const {
    std::array<bool, 256> occurs{};
    for (int y = 0; y < labels.rows; ++y)
      for (int x = 0; x < labels.cols; ++x) occurs[labels.ptr<unsigned char>(y)[x]] = true;
    cv::Mat table(1, 256, CV_8U, cv::Scalar(0)), classes;
    for (int label = 0; label < 256; ++label) {
      const int value = class_of_[label];
      if (value >= classes_ && occurs[label])
        throw Error("the label map holds " + std::to_string(label) +
                    (offset_ == 0 ? "" : ", with the offset " + std::to_string(value)) +
                    ", which is neither one of the " + std::to_string(classes_) + " classes nor ignored");
      table.at<unsigned char>(label) = static_cast<unsigned char>(value == kVoid ? void_ : value);
    }
    cv::LUT(labels, table, classes);
    return classes;
  }

 private:
  static constexpr int kVoid = -1;
  int offset_, classes_;
  int void_ = 255;
  std::array<int, 256> class_of_{};
};

double percent(double fraction) { return std::round(fraction * 1e5) / 1e3; }
Json percentJson(double fraction) { return std::isnan(fraction) ? Json(nullptr) : Json(percent(fraction)); }

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
  const auto rounded = [](double count) {
    return std::isnan(count) ? Json(nullptr) : Json(std::round(count * 100) / 100);
  };
  for (std::size_t i = 0; i < scores.means.tokens.size(); ++i) {
    tokens.push_back(rounded(scores.means.tokens[i]));
    deviations.push_back(rounded(scores.means.tokensDeviation(i)));
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
  const Night& night = arguments.night;
  const bool windowed = arguments.options.fit == Fit::kWindow;
  return {{"model", model_path},
          {"schedule", model.schedule},
          {"attention", toString(model.attention)},
          {"precision", toString(model.precision)},
          {"input", toJson(model.input)},
          {"fit", windowed ? "window" : "resize"},
          {"window_stride", windowed ? toJson(windowStride(arguments.options, model.input)) : Json(nullptr)},
          {"ignore", ignoredLabels(arguments, model)},
          {"label_offset", arguments.label_offset},
          {"simulated_night", night.on ? toJson(night.options) : Json(nullptr)}};
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
  const auto row = [&](std::string name, const auto& cell) {
    name.resize(std::max<std::size_t>(name.size() + 1, 18), ' ');
    for (const auto& [title, scores] : columns) {
      const std::string text = cell(title, *scores);
      name += std::string(static_cast<std::size_t>(std::max(1, 9 - static_cast<int>(text.size()))), ' ') + text;
    }
    printLine(name);
  };
  const auto percentText = [](double value) { return std::isnan(value) ? std::string("-") : fixed(100 * value, 2); };
  if (columns.size() > 1) row("IoU, %", [](const std::string& title, const Scores&) { return title; });
  for (std::size_t c = 0; c < names.size(); ++c)
    row(names[c], [&](const std::string&, const Scores& scores) { return percentText(scores.matrix.iou()[c]); });
  row("mIoU", [&](const std::string&, const Scores& scores) { return percentText(scores.matrix.meanIou()); });
  row("pixel accuracy",
      [&](const std::string&, const Scores& scores) { return percentText(scores.matrix.pixelAccuracy()); });
  if (columns.size() > 1) {
    row("images", [](const std::string&, const Scores& scores) { return std::to_string(scores.means.images); });
    row("tokens kept", [](const std::string&, const Scores& scores) { return fixed(scores.means.tokens.back(), 1); });
  }
  const Means& means = result.all.means;
  printLine("IoU in percent over " + std::to_string(means.images) + " images; tokens " + tokensText(means.tokens) +
            "; " + fixed(means.ms.total, 1) + " ms per image");
}

// The file of --per-image replaces nothing that it is made from, and can be written.
void requirePerImage(const EvalArguments& arguments, const std::string& model,
                     const std::map<std::string, std::string>& labels) {
  if (arguments.per_image.empty()) return;
  std::vector<std::string> inputs = vision::sourceFiles(sourceOf(arguments));
  inputs.push_back(model);
  for (const auto& [stem, path] : labels) inputs.push_back(path);
  for (const std::string& input : inputs)
    if (sameFile(arguments.per_image, input))
      throw UsageError("--per-image would replace '" + input + "': name another file");
  requireWritable(arguments.per_image);
}

int eval(const EvalArguments& arguments) {
  const std::string model_path = chosenModel(arguments.model);
  requireLabelledSource(arguments);
  if (arguments.options.window_stride > 0 && arguments.options.fit != Fit::kWindow)
    throw UsageError("--window-stride needs --fit window");
  Segmenter segmenter(model_path, arguments.options);
  const ModelInfo& model = segmenter.model();
  if (!model.segments())
    throw Error("'" + model_path + "' does not segment (its head is '" + model.head + "'): nothing to evaluate");
  const bool rendered = !arguments.scene.empty();
  if (!rendered && !fs::is_directory(arguments.images))
    throw Error("there is no folder of images '" + arguments.images + "'");
  // EXIF turns the image alone, never its label map.
  const auto source = vision::openSource(sourceOf(arguments), {.stop = &interrupted(), .upright = false});
  if (rendered) requireSceneClasses(model);
  if (rendered && !source->size()) throw UsageError("'" + arguments.scene + "' never ends: add frames=N");
  const auto labels = rendered ? std::map<std::string, std::string>() : labelsByStem(arguments.labels);

  requirePerImage(arguments, model_path, labels);

  const LabelMeaning meaning(ignoredLabels(arguments, model), arguments.label_offset, model.classes);
  const vision::ConfusionMatrix nothing(model.classes, meaning.voidLabel());
  Result scores{{nothing, {}}, {nothing, {}}, {nothing, {}}};
  const int& images = scores.all.means.images;
  std::string per_image;
  {
    Progress progress(stderrIsTerminal(), source->size());
    while (const std::optional<vision::Frame> frame = source->next()) {
      const std::string label = rendered ? frame->name : labelOf(*frame, labels, arguments.labels);
      cv::Mat truth = rendered ? frame->labels : readLabels(label);
      if (truth.size() != frame->image.size())  // before the work, not after
        throw Error("label map '" + label + "' is " + std::to_string(truth.cols) + "x" + std::to_string(truth.rows) +
                    ", its image " + std::to_string(frame->image.cols) + "x" + std::to_string(frame->image.rows));
      try {
        truth = meaning.applied(truth);
        const Segmentation result = segmenter.segment(arguments.night.applied(frame->image, images));
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
      progress.step();
    }
  }
  if (interrupted()) {
    printNote("interrupted after " + std::to_string(images) + " images: no result");
    return kInterrupted;
  }
  if (!arguments.per_image.empty()) writeFileAtomically(arguments.per_image, per_image);
  const std::vector<std::string> names = classNames(model);
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
  verb->add_option("SCENE", arguments->scene,
                   "The built-in scene with its own labels (\"demo:street?seed=1..8&frames=24\"),\ninstead of --images "
                   "and --labels")
      ->option_text(" ");
  verb->add_option("--images", arguments->images,
                   "Folder of images, not turned by EXIF; one that cannot be read ends it")
      ->type_name("DIR");
  verb->add_option(
          "--labels", arguments->labels,
          "Folder of label maps with the same names: one channel of 8 bits,\nthe class index, the image's size")
      ->type_name("DIR");
  verb->add_option("--ignore", arguments->ignore,
                   "Label of pixels that do not count, as the files have it; several times for\nseveral. Default: "
                   "the model's, else 255")
      ->check(CLI::Range(0, 255))
      ->allow_extra_args(false)
      ->option_text("LABEL");
  verb->add_option("--label-offset", arguments->label_offset,
                   "Add this to every label; what falls below 0 does not count. -1: classes\nthat are counted from 1, "
                   "with 0 for the rest, as in ADE20K. Default: 0")
      ->check(CLI::Range(-255, 255))
      ->option_text("N");
  addNight(*verb, arguments->night);
  addChoice<Fit>(*verb, "--fit", arguments->options.fit, {{"resize", Fit::kResize}, {"window", Fit::kWindow}},
                 "resize: one pass over the image resized to the input;\n"
                 "window: sliding windows at the image's own scale");
  verb->add_option("--window-stride", arguments->options.window_stride,
                   "Pixels from window to window (papers: 480 of 512, 320 of 480, 512 of\n768). Default: 15/16 of the "
                   "window")
      ->check(CLI::Range(1, 1 << 20))
      ->option_text("PX");
  verb->add_option("--per-image", arguments->per_image, "Write a line of JSON for each image there. Default: nowhere")
      ->option_text("FILE.jsonl");
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer(
      "One confusion matrix over all images; of the scene one by day and one by night (civil twilight is over), too. "
      "seed=1..8\nis eight streets, and 24 frames 8760 h / 24 = 365 h (step=1314000 s) apart take each every hour of "
      "the "
      "day once, over a\nyear. mpm-train trains on no seed below a million.\n\n"
      "With --json: {\"model\", \"schedule\", \"attention\", \"precision\", \"input\", \"fit\", \"window_stride\", "
      "\"ignore\", "
      "\"label_offset\","
      "\n\"simulated_night\", \"images\", \"miou\", \"pixel_accuracy\", \"iou\": {name: value}, "
      "\"tokens_mean\": [..],\n\"tokens_sd\": [..], \"ms_mean\": {..},\n"
      "\"confusion\": [[..]..]}, percent and ms; the IoU of a class that does not occur is null; the standard "
      "deviation "
      "is that\n"
      "of a sample of images; a row of \"confusion\" counts the pixels of one true class by the class they were "
      "given;\n"
      "\"day\" and \"night\" hold \"images\" to \"confusion\" again where the source knows them.\n"
      "A line of --per-image is {\"source\", \"name\", \"pixel_accuracy\", \"miou\": of the classes in the image, "
      "\"tokens\": [..]},\n"
      "of the scene with \"time\", \"film\", \"night\" and \"sun_elevation\".\n\n"
      "Examples:\n"
      "  mpm eval --model vit.onnx --images val/images --labels val/labels --schedule 2,5\n"
      "  mpm eval --model vit.onnx --images val/images --labels val/labels --json --per-image images.jsonl\n"
      "  mpm eval --model ade20k.onnx --images val/images --labels val/annotations --label-offset -1\n"
      "  mpm eval \"demo:street?seed=1..8&weather=auto&step=1314000&frames=24\" --schedule none\n");
  return {verb, [arguments] { return eval(*arguments); }};
}

}  // namespace mpm::cli
