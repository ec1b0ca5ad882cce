// SPDX-License-Identifier: Apache-2.0
#include "teach.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <opencv2/imgproc.hpp>
#include <optional>

#include "evaluation/class_verdict.h"
#include "evaluation/cross_validation.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "onnx/token_head.h"
#include "onnx/write_model.h"
#include "program/model_options.h"
#include "program/paths.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "teach_pictures.h"

namespace mpm::train {
namespace {

namespace fs = std::filesystem;
using cli::Json;

constexpr int kMaxRounds = 5;

struct Picture : TaughtPicture {
  vision::LabelledFile file;
  cv::Mat truth;  // CV_8U, as large as the network input
};

std::string inQuotes(const std::string& text) { return "'" + text + "'"; }

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

class Teacher {
 public:
  explicit Teacher(const cli::TeachOptions& options)
      : options_(options),
        path_(teachableModel(options.model)),
        model_(readModelInfo(path_, {.reduce = options.reduce})),
        classes_(taughtClasses(options.classes, model_)) {
    if (!options_.output.ends_with(".onnx"))
      throw cli::UsageError("-o is " + inQuotes(options_.output) + "; it must end in .onnx");
    const std::vector<vision::LabelledFile> files = vision::labelledFiles(options_.images, options_.labels);
    std::vector<std::string> inputs = modelFiles(path_);
    if (!options_.classes.empty()) inputs.push_back(options_.classes);
    if (!model_.reduction.policy.empty()) inputs.push_back(model_.reduction.policy);
    for (const vision::LabelledFile& file : files) inputs.insert(inputs.end(), {file.image, file.labels});
    cli::requireOutput("-o", options_.output, inputs);
    cli::requireOutput("-o", jsonPath(), inputs);
    choosePictures(files);
  }

  int run() {
    const int rounds = options_.cross_validation ? roundsOf(pictures_.size()) : 0;
    Watch watch(options_.json, static_cast<int>(pictures_.size()) + (rounds + 1) * options_.steps);
    std::optional<CrossValidation> validation;
    std::optional<TokenHead> head;
    if (encode(watch)) {
      if (rounds > 1) validation = crossValidate(rounds, watch);
      head = trainWithout(std::nullopt, 1, watch);
    }
    if (!head || cli::interrupted()) {
      cli::printNote("interrupted: nothing is written");
      return cli::kInterrupted;
    }
    write(*head, validation);
    print(validation);
    return cli::kOk;
  }

 private:
  std::string jsonPath() const { return fs::path(options_.output).replace_extension(".json").string(); }
  int classCount() const { return classes_.count(); }

  // One picture alone cannot be tested on another.
  static int roundsOf(std::size_t pictures) {
    return pictures < 2 ? 0 : static_cast<int>(std::min<std::size_t>(pictures, kMaxRounds));
  }

  // Before the encoder works for a minute: every label map is right, and every class occurs. A map without a label
  // would be a round of the cross-validation that tests nothing.
  void choosePictures(const std::vector<vision::LabelledFile>& files) {
    std::vector<double> total(classes_.classes.size());
    for (const vision::LabelledFile& file : files) {
      const auto pixels = pixelsOfClasses(vision::readLabelledPicture(file, classes_).labels, classes_);
      std::transform(total.begin(), total.end(), pixels.begin(), total.begin(), std::plus<>());
      if (std::any_of(pixels.begin(), pixels.end(), [](double count) { return count > 0; }))
        pictures_.push_back({{}, file, {}});
    }
    std::string missing;
    for (std::size_t c = 0; c < total.size(); ++c)
      if (total[c] == 0) missing += (missing.empty() ? "" : ", ") + inQuotes(classes_.classes[c].name);
    if (!missing.empty())
      throw Error("no pixel is labelled " + missing + " in " +
                  cli::counted(static_cast<std::int64_t>(files.size()), "label map") +
                  ": label some, or leave the class out of the list");
  }

  // False once a person interrupts: pictures are left without tokens.
  bool encode(Watch& watch) {
    FrozenEncoder encoder(path_, model_, *options_.reduce);
    const Size2 input = encoder.model().input;
    for (Picture& picture : pictures_) {
      const auto [image, labels] = vision::readLabelledPicture(picture.file, classes_);
      picture.pixels = pixelsOfClasses(labels, classes_);
      cv::resize(labels, picture.truth, {input.width, input.height}, 0, 0, cv::INTER_NEAREST);
      picture.tokens = {encoder.tokens(image), cellsOf(labels, encoder.model().grid, classes_)};
      if (!watch.step()) return false;
    }
    return true;
  }

  TokenHead trainWithout(std::optional<std::size_t> round, std::size_t rounds, Watch& watch) const {
    std::vector<const TaughtPicture*> chosen;
    for (std::size_t i = 0; i < pictures_.size(); ++i)
      if (!round || i % rounds != *round) chosen.push_back(&pictures_[i]);
    return trainOn(chosen, classes_, model_.grid,
                   {.steps = options_.steps, .seed = options_.seed, .threads = options_.threads},
                   [&] { return watch.step(); });
  }

  CrossValidation crossValidate(int rounds, Watch& watch) const {
    CrossValidation result{rounds, {classCount(), classes_.ignore}, std::vector<int>(classes_.classes.size())};
    for (const Picture& picture : pictures_)
      for (std::size_t c = 0; c < picture.pixels.size(); ++c) result.pictures[c] += picture.pixels[c] > 0;
    const auto count = static_cast<std::size_t>(rounds);
    for (std::size_t round = 0; round < count && !cli::interrupted(); ++round) {
      const TokenHead head = trainWithout(round, count, watch);
      for (std::size_t i = round; i < pictures_.size(); i += count)
        result.matrix.add(pictures_[i].truth,
                          predictLabels(head, pictures_[i].tokens.tokens, model_.grid, model_.input));
    }
    return result;
  }

  Json validationJson(const CrossValidation& validation) const {
    Json iou = Json::object();
    const std::vector<double> values = validation.matrix.iou();
    for (std::size_t c = 0; c < values.size(); ++c) iou[classes_.classes[c].name] = cli::percentJson(values[c]);
    return {{"rounds", validation.rounds},
            {"miou", cli::percentJson(validation.matrix.meanIou())},
            {"pixel_accuracy", cli::percentJson(validation.matrix.pixelAccuracy())},
            {"iou", iou},
            {"pictures", validation.pictures},
            {"confusion", vision::toJson(validation.matrix)}};
  }

  Json resultJson(const std::optional<CrossValidation>& validation) const {
    return {{"pictures", pictures_.size()},
            {"reduce", toString(model_.reduction)},
            {"cross_validation", validation ? validationJson(*validation) : Json(nullptr)}};
  }

  void write(const TokenHead& head, const std::optional<CrossValidation>& validation) const {
    ModelFacts facts = model_.facts;
    facts.name = fs::path(options_.output).stem().string();
    facts.classes = classes_.classes;
    facts.ignore = classes_.ignore;
    Json json = onnx_graph::factsJson(facts, model_.input);
    json["refine"] = toString(Refine::kGuided);  // a few pictures teach classes, and no fine edges
    Reduction reduce = model_.reduction;
    if (!reduce.policy.empty()) reduce.policy = fs::absolute(reduce.policy).string();  // else relative to the JSON
    json["reduce"] = toString(reduce);
    json["taught"] = resultJson(validation);
    onnx_graph::writeModel(options_.output, onnx_graph::withTokenHead(path_, head), json);
  }

  void print(const std::optional<CrossValidation>& validation) const {
    if (options_.json) {
      Json json = {{"model", options_.output}};
      json.update(resultJson(validation));
      return cli::printLine(json);
    }
    if (validation) {
      std::vector<std::string> names;
      for (const ClassInfo& one : classes_.classes) names.push_back(one.name);
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
  vision::ClassList classes_;
  std::vector<Picture> pictures_;
};

std::string join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

}  // namespace

std::vector<std::string> verdict(const CrossValidation& result, const std::vector<std::string>& classes) {
  using Grade = vision::ClassVerdict::Grade;
  const std::vector<int> widths = {-18, 9, 10, -3};
  std::vector<std::string> lines = {cli::tableRow({"class", "IoU, %", "pictures", "", "taken for"}, widths)};
  std::map<Grade, std::vector<std::string>> groups;
  const auto nameOf = [&](int index) { return classes[static_cast<std::size_t>(index)]; };
  for (const vision::ClassVerdict& one : vision::classVerdicts(result.matrix, result.pictures)) {
    std::vector<std::string> taken;
    for (const auto& [given, share] : one.taken_for)
      taken.push_back(nameOf(given) + " (" + cli::fixed(100 * share, 0) + " %)");
    lines.push_back(
        cli::tableRow({nameOf(one.index), one.grade == Grade::kUntested ? "-" : cli::fixed(100 * one.iou, 1),
                       std::to_string(one.pictures), "", join(taken)},
                      widths));
    const bool explain = one.grade == Grade::kWeak && !taken.empty();
    groups[one.grade].push_back(nameOf(one.index) +
                                (explain ? " (often taken for " + nameOf(one.taken_for.front().first) + ")" : ""));
  }
  lines.push_back("mIoU " + cli::fixed(100 * result.matrix.meanIou(), 1) + " %, " +
                  cli::fixed(100 * result.matrix.pixelAccuracy(), 1) + " % of the labelled pixels are right, in " +
                  cli::counted(result.rounds, "round"));
  const std::pair<Grade, const char*> titles[] = {{Grade::kGood, "good: "},
                                                  {Grade::kFair, "fair: "},
                                                  {Grade::kWeak, "needs more labels: "},
                                                  {Grade::kUntested, "labelled in one picture only, so not tested: "}};
  for (const auto& [grade, title] : titles)
    if (!groups[grade].empty()) lines.push_back(title + join(groups[grade]));
  return lines;
}

int teach(const cli::TeachOptions& options) { return Teacher(options).run(); }

}  // namespace mpm::train
