// SPDX-License-Identifier: Apache-2.0
#include "teach.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <set>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "class_balance.h"
#include "cli/model_options.h"
#include "cli/paths.h"
#include "cli/terminal/output.h"
#include "cli/terminal/program.h"
#include "head_learner.h"
#include "labelme.h"
#include "model_files.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "mpm/read_net.hpp"
#include "onnx/token_head.h"
#include "recipe.h"
#include "samples.h"
#include "vision/classes.h"
#include "vision/cross_validation.h"
#include "vision/label_map.h"
#include "vision/source.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;
using cli::Json;

constexpr int kMaxRounds = 5;
constexpr double kGood = 0.7, kFair = 0.5;  // IoU

struct LabelledFile {
  std::string name, image, labels;
};

struct Picture {
  LabelledFile pair;
  LabelledTokens tokens;
  cv::Mat truth;               // CV_8U, as large as the network input
  std::vector<double> pixels;  // of each class, in the label map
};

struct Classes {
  std::vector<ClassInfo> list;
  int ignore = 255;
};

std::string inQuotes(const std::string& text) { return "'" + text + "'"; }

Classes chosenClasses(const cli::TeachOptions& options, const ModelInfo& model) {
  Classes classes{model.facts.classes, model.facts.ignore};
  if (!options.classes.empty()) {
    classes.list = readClasses(options.classes);
    const auto json = nlohmann::json::parse(readFile(options.classes));
    classes.ignore = json.is_object() ? json.value("ignore", 255) : 255;
  }
  if (classes.list.empty()) throw cli::UsageError("the model names no classes: name them with --classes FILE.json");
  if (classes.list.size() > 255)
    throw Error(inQuotes(options.classes) + " names " + std::to_string(classes.list.size()) +
                " classes; 255 are possible");
  if (classes.ignore < 0 || classes.ignore > 255)
    throw Error(inQuotes(options.classes) + ": \"ignore\" must be from 0 to 255");
  std::set<std::string> names;
  for (const ClassInfo& one : classes.list)
    if (!names.insert(one.name).second)
      throw Error(inQuotes(options.classes) + " names two classes " + inQuotes(one.name));
  return classes;
}

std::vector<LabelledFile> pairsOf(const cli::TeachOptions& options) {
  if (!fs::is_directory(options.images)) throw Error("there is no folder of images " + inQuotes(options.images));
  std::map<std::string, std::string> images;
  for (const std::string& file : vision::sourceFiles(vision::parseSourceSpec(options.images)))
    images.emplace(fs::path(file).stem().string(), file);
  std::vector<LabelledFile> pairs;
  std::map<std::string, std::string> files = vision::labelMapFiles(options.labels);
  files.merge(labelMeFiles(options.labels));  // a label map wins: other tools write it from the same shapes
  for (const auto& [name, labels] : files) {
    const auto image = images.find(name);
    if (image == images.end())
      throw Error("no picture for the label map " + inQuotes(labels) + ": there is no " + name + ".png (or .jpg) in " +
                  inQuotes(options.images));
    pairs.push_back({name, image->second, labels});
  }
  if (pairs.empty()) throw Error("there are no label maps (PNG, or LabelMe's JSON) in " + inQuotes(options.labels));
  return pairs;
}

// The class with most labelled pixels in each cell, so that a stroke thinner than a cell counts.
cv::Mat cellsOf(const cv::Mat& labels, Size2 grid, const Classes& classes) {
  const Size2 size{grid.height * kCellsPerPatch, grid.width * kCellsPerPatch};
  const int count = static_cast<int>(classes.list.size());
  std::vector<int> pixels(static_cast<std::size_t>(size.width * count));
  cv::Mat cells(size.height, size.width, CV_8U, cv::Scalar(classes.ignore));
  for (int row = 0; row < size.height; ++row) {
    std::fill(pixels.begin(), pixels.end(), 0);
    const int from = row * labels.rows / size.height, to = std::max(from + 1, (row + 1) * labels.rows / size.height);
    for (int y = from; y < to; ++y)
      for (int x = 0; x < labels.cols; ++x)
        if (const int label = labels.at<uchar>(y, x); label != classes.ignore)
          ++pixels[static_cast<std::size_t>(static_cast<std::int64_t>(x) * size.width / labels.cols * count + label)];
    for (int column = 0; column < size.width; ++column) {
      const auto first = pixels.begin() + column * count, best = std::max_element(first, first + count);
      if (*best > 0) cells.at<uchar>(row, column) = static_cast<uchar>(best - first);
    }
  }
  return cells;
}

/// The frozen encoder, through the same code that will run the new model.
class Encoder {
 public:
  Encoder(const std::string& path, const ModelInfo& model, const Reduction& reduce)
      : net_(readNet(path, {.convert = {.reduce = reduce},
                            .outputs = {"backbone/block" + std::to_string(model.blocks - 1), "merge_map"}})) {}

  const ModelInfo& model() const { return net_.info; }

  /// {N, dim}: the row of each image token behind the last block, merging undone.
  cv::Mat tokens(const cv::Mat& image) {
    const ModelInfo& model = net_.info;
    cv::Mat resized, planes;
    cv::resize(image, resized, {model.input.width, model.input.height}, 0, 0, cv::INTER_LINEAR);
    if (model.facts.channels == ChannelOrder::kRgb) cv::cvtColor(resized, resized, cv::COLOR_BGR2RGB);
    std::vector<cv::Mat> channels;
    cv::split(resized, channels);
    const int shape[] = {1, 3, model.input.height, model.input.width};
    planes.create(4, shape, CV_32F);
    for (std::size_t c = 0; c < 3; ++c) {
      cv::Mat plane(model.input.height, model.input.width, CV_32F, planes.ptr<float>(0, static_cast<int>(c)));
      const double scale = 1 / static_cast<double>(model.facts.std[c]);
      channels[c].convertTo(plane, CV_32F, scale / 255, -static_cast<double>(model.facts.mean[c]) * scale);
    }
    net_.net.setInput(planes);
    std::vector<cv::Mat> blobs;
    net_.net.forward(blobs, std::vector<cv::String>{"backbone/block" + std::to_string(model.blocks - 1), "merge_map"});
    cv::Mat rows(model.tokens(), model.dim, CV_32F);
    const int last = blobs[1].size[1] - 1;
    for (int i = 0; i < rows.rows; ++i) {
      const int cluster = static_cast<int>(blobs[1].ptr<float>(0, last)[i]);
      std::copy_n(blobs[0].ptr<float>(0, model.special_tokens + cluster), model.dim, rows.ptr<float>(i));
    }
    return rows;
  }

 private:
  LoadedNet net_;
};

/// Progress for people or, with --json, for programs.
class Watch {
 public:
  Watch(bool json, int steps) : json_(json), steps_(steps), bar_(!json && cli::stderrIsTerminal(), steps) {}

  /// False once a person interrupts.
  bool step() {
    bar_.step();
    const int percent = ++done_ * 100 / steps_;
    if (json_ && percent > percent_) cli::printLine(Json{{"progress", percent / 100.}});
    percent_ = percent;
    return !cli::interrupted();
  }

 private:
  bool json_;
  int steps_, done_ = 0, percent_ = -1;
  cli::Progress bar_;
};

std::string trainable(std::string model) {
  onnx_graph::requireTokenHeadFits(model);
  return model;
}

class Teacher {
 public:
  explicit Teacher(const cli::TeachOptions& options)
      : options_(options),
        path_(trainable(cli::chosenModel(options.model))),
        model_(readModelInfo(path_, {.reduce = options.reduce})),
        classes_(chosenClasses(options, model_)) {
    if (!options_.output.ends_with(".onnx"))
      throw cli::UsageError("-o is " + inQuotes(options_.output) + "; it must end in .onnx");
    const std::vector<LabelledFile> pairs = pairsOf(options_);
    std::vector<std::string> inputs = modelFiles(path_);
    if (!options_.classes.empty()) inputs.push_back(options_.classes);
    for (const LabelledFile& pair : pairs) inputs.insert(inputs.end(), {pair.image, pair.labels});
    cli::requireOutput("-o", options_.output, inputs);
    cli::requireOutput("-o", jsonPath(), inputs);
    requireLabels(pairs);
    for (const LabelledFile& pair : pairs) pictures_.push_back({pair, {}, {}, {}});
  }

  int run() {
    const int rounds = options_.cross_validation ? roundsOf(pictures_.size()) : 0;
    Watch watch(options_.json, static_cast<int>(pictures_.size()) + (rounds + 1) * options_.steps);
    encode(watch);
    std::optional<CrossValidation> validation;
    if (rounds > 1) validation = crossValidate(rounds, watch);
    std::vector<std::size_t> all(pictures_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const onnx_graph::TokenHead head = trainOn(all, watch);
    if (cli::interrupted()) {
      cli::printNote("interrupted: nothing is written");
      return cli::kInterrupted;
    }
    write(head, validation);
    print(validation);
    return cli::kOk;
  }

 private:
  std::string jsonPath() const { return fs::path(options_.output).replace_extension(".json").string(); }
  int classCount() const { return static_cast<int>(classes_.list.size()); }

  // One picture alone cannot be tested on another.
  static int roundsOf(std::size_t pictures) {
    return pictures < 2 ? 0 : static_cast<int>(std::min<std::size_t>(pictures, kMaxRounds));
  }

  // Before the encoder works for a minute: every label map is right, and every class occurs.
  void requireLabels(const std::vector<LabelledFile>& pairs) const {
    std::vector<double> total(classes_.list.size());
    for (const LabelledFile& pair : pairs) count(read(pair).labels, total);
    std::string missing;
    for (std::size_t c = 0; c < total.size(); ++c)
      if (total[c] == 0) missing += (missing.empty() ? "" : ", ") + inQuotes(classes_.list[c].name);
    if (!missing.empty())
      throw Error("no pixel is labelled " + missing + " in " +
                  cli::counted(static_cast<std::int64_t>(pairs.size()), "label map") +
                  ": label some, or leave the class out of the list");
  }

  Sample read(const LabelledFile& pair) const {
    if (pair.labels.ends_with(".json")) {
      const cv::Mat image = readStoredImage(pair.image);
      return {image, readLabelMe(pair.labels, classes_.list, classes_.ignore, image.size()), false};
    }
    return readLabelledImage(pair.image, pair.labels, {{classes_.ignore}, 0, classCount(), classes_.ignore});
  }

  void count(const cv::Mat& labels, std::vector<double>& pixels) const {
    for (int y = 0; y < labels.rows; ++y)
      for (int x = 0; x < labels.cols; ++x)
        if (const int label = labels.at<uchar>(y, x); label != classes_.ignore)
          ++pixels[static_cast<std::size_t>(label)];
  }

  void encode(Watch& watch) {
    Encoder encoder(path_, model_, options_.reduce);
    const Size2 grid = encoder.model().grid, input = encoder.model().input;
    for (Picture& picture : pictures_) {
      Sample sample = read(picture.pair);
      picture.pixels.resize(classes_.list.size());
      count(sample.labels, picture.pixels);
      cv::resize(sample.labels, picture.truth, {input.width, input.height}, 0, 0, cv::INTER_NEAREST);
      picture.tokens = {encoder.tokens(sample.image), cellsOf(sample.labels, grid, classes_)};
      if (!watch.step()) return;
    }
  }

  onnx_graph::TokenHead trainOn(const std::vector<std::size_t>& indices, Watch& watch) const {
    HeadRecipe recipe;
    recipe.grid = model_.grid;
    recipe.classes = classCount();
    recipe.ignore = classes_.ignore;
    recipe.steps = options_.steps;
    recipe.seed = options_.seed;
    recipe.threads = options_.threads;
    std::vector<const LabelledTokens*> tokens;
    std::vector<double> pixels(classes_.list.size());
    for (const std::size_t index : indices) {
      const Picture& picture = pictures_[index];
      tokens.push_back(&picture.tokens);
      std::transform(pixels.begin(), pixels.end(), picture.pixels.begin(), pixels.begin(), std::plus<>());
    }
    recipe.class_weights = balancedWeights(pixels, 0.5);
    return trainHead(recipe, tokens, [&] { return watch.step(); });
  }

  CrossValidation crossValidate(int rounds, Watch& watch) const {
    CrossValidation result{rounds, {classCount(), classes_.ignore}, std::vector<int>(classes_.list.size())};
    for (const Picture& picture : pictures_)
      for (std::size_t c = 0; c < picture.pixels.size(); ++c) result.pictures[c] += picture.pixels[c] > 0;
    const auto count = static_cast<std::size_t>(rounds);
    for (std::size_t round = 0; round < count && !cli::interrupted(); ++round) {
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < pictures_.size(); ++i)
        if (i % count != round) others.push_back(i);
      const onnx_graph::TokenHead head = trainOn(others, watch);
      for (std::size_t i = round; i < pictures_.size(); i += count)
        result.matrix.add(pictures_[i].truth,
                          predictLabels(head, pictures_[i].tokens.tokens, model_.grid, model_.input));
    }
    return result;
  }

  Json validationJson(const CrossValidation& validation) const {
    const auto percent = [](double share) { return cli::orNull(std::round(share * 1e5) / 1e3); };
    Json iou = Json::object();
    const std::vector<double> values = validation.matrix.iou();
    for (std::size_t c = 0; c < values.size(); ++c) iou[classes_.list[c].name] = percent(values[c]);
    return {{"rounds", validation.rounds},
            {"miou", percent(validation.matrix.meanIou())},
            {"pixel_accuracy", percent(validation.matrix.pixelAccuracy())},
            {"iou", iou},
            {"confusion", vision::toJson(validation.matrix)}};
  }

  Json resultJson(const std::optional<CrossValidation>& validation) const {
    return {{"pictures", pictures_.size()},
            {"reduce", toString(model_.reduction)},
            {"cross_validation", validation ? validationJson(*validation) : Json(nullptr)}};
  }

  void write(const onnx_graph::TokenHead& head, const std::optional<CrossValidation>& validation) const {
    ModelFacts facts = model_.facts;
    facts.name = fs::path(options_.output).stem().string();
    facts.classes = classes_.list;
    facts.ignore = classes_.ignore;
    Json json = toJson(facts, model_.input);
    json["reduce"] = toString(model_.reduction);
    json["taught"] = resultJson(validation);
    writeModel(options_.output, onnx_graph::withTokenHead(path_, head), json);
  }

  void print(const std::optional<CrossValidation>& validation) const {
    if (options_.json) {
      Json json = {{"model", options_.output}};
      json.update(resultJson(validation));
      return cli::printLine(json);
    }
    if (validation) {
      std::vector<std::string> names;
      for (const ClassInfo& one : classes_.list) names.push_back(one.name);
      for (const std::string& line : verdict(*validation, names)) cli::printLine(line);
    } else if (options_.cross_validation) {
      cli::printLine("one picture is labelled: a cross-validation needs at least two");
    }
    cli::printLine(options_.output);
    cli::printNote("next: mpm run PICTURE --model " + options_.output);
  }

  cli::TeachOptions options_;
  std::string path_;
  ModelInfo model_;
  Classes classes_;
  std::vector<Picture> pictures_;
};

std::string join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

}  // namespace

std::vector<std::string> verdict(const CrossValidation& result, const std::vector<std::string>& classes) {
  const std::vector<int> widths = {-18, 9, 10, -3};
  std::vector<std::string> lines = {cli::tableRow({"class", "IoU, %", "pictures", "", "taken for"}, widths)};
  std::vector<std::string> good, fair, weak, untested;
  const std::vector<double> iou = result.matrix.iou();
  const int count = static_cast<int>(classes.size());
  for (int c = 0; c < count; ++c) {
    const auto index = static_cast<std::size_t>(c);
    std::vector<std::pair<double, int>> others;
    double pixels = 0;
    for (int given = 0; given < count; ++given) pixels += static_cast<double>(result.matrix.count(c, given));
    for (int given = 0; given < count; ++given)
      if (given != c)
        others.emplace_back(static_cast<double>(result.matrix.count(c, given)) / std::max(1., pixels), given);
    std::sort(others.rbegin(), others.rend());
    std::vector<std::string> taken;
    for (const auto& [share, given] : others)
      if (share >= 0.05 && taken.size() < 2)
        taken.push_back(classes[static_cast<std::size_t>(given)] + " (" + cli::fixed(100 * share, 0) + " %)");
    const bool tested = result.pictures[index] > 1;
    lines.push_back(cli::tableRow({classes[index], tested ? cli::fixed(100 * iou[index], 1) : "-",
                                   std::to_string(result.pictures[index]), "", join(taken)},
                                  widths));
    std::vector<std::string>& group = !tested               ? untested
                                      : iou[index] >= kGood ? good
                                      : iou[index] >= kFair ? fair
                                                            : weak;
    const bool explain = &group == &weak && !taken.empty();
    group.push_back(classes[index] +
                    (explain ? " (often taken for " + classes[static_cast<std::size_t>(others[0].second)] + ")" : ""));
  }
  lines.push_back("mIoU " + cli::fixed(100 * result.matrix.meanIou(), 1) + " %, " +
                  cli::fixed(100 * result.matrix.pixelAccuracy(), 1) + " % of the labelled pixels are right, in " +
                  cli::counted(result.rounds, "round"));
  const auto say = [&](const std::string& what, const std::vector<std::string>& group) {
    if (!group.empty()) lines.push_back(what + join(group));
  };
  say("good: ", good);
  say("fair: ", fair);
  say("needs more labels: ", weak);
  say("labelled in one picture only, so not tested: ", untested);
  return lines;
}

int teach(const cli::TeachOptions& options) { return Teacher(options).run(); }

}  // namespace mpm::train
