// SPDX-License-Identifier: Apache-2.0
#include "cli/measure.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "cli/build_commit.h"
#include "cli/manifest.h"
#include "cli/python_rule.h"
#include "evaluation/machine.h"
#include "evaluation/turns.h"
#include "mpm/build_info.hpp"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/program.h"
#include "vision/labels/classes.h"
#include "vision/model_files.h"
#include "vision/time.h"

namespace mpm::cli {

using namespace program;
using evaluation::Measurement;

namespace {

namespace fs = std::filesystem;

/// The settings that decide the scores of a variant, on every machine.
const std::vector<std::string> kWork = {"model_digest", "reduce",  "reduce_digest",   "precision", "input",
                                        "fit",          "dataset", "window_stride",   "ignore",    "short_side",
                                        "label_offset", "against", "simulated_night", "refine",    "full_precision",
                                        "reuse_spec",   "classes"};

/// By these keys the files of lines of this version are known.
const std::vector<std::string> kKeysOfLines = {"model_digest", "reduce",         "session",
                                               "name",         "full_precision", "picture_digest"};

std::string keyOf(const Json& line, bool with_data) {
  Json key = Json::array();
  for (const std::string& name : kWork) key.push_back(line.value(name, Json()));
  for (const char* name : {"data", "labels"})
    if (with_data) key.push_back(line.value(name, Json()));
  return toLine(nlohmann::json(key));  // which sorts the keys of objects, unlike Json
}

// Of which model and data a line is.
Json dataOf(const Json& line) {
  Json key = Json::array();
  for (const char* name : {"model_digest", "dataset", "data", "labels"}) key.push_back(line.value(name, Json()));
  return key;
}

// The command line of this process, as a shell reads it, with what decides the numbers in its environment.
std::string commandText() {
  std::string text, word;
  for (const std::string name : {"MPM_MODEL", "MPM_INSTRUCTION_SET"})
    if (const char* value = std::getenv(name.c_str()); value && *value) text += name + "=" + shellWord(value) + " ";
  std::ifstream words("/proc/self/cmdline");
  std::getline(words, word, '\0');
  for (text += "mpm"; std::getline(words, word, '\0');) text += " " + shellWord(vision::redactCredentials(word));
  return text;
}

/// The tools of a measurement by this process. Only times of one session can be compared. `threads`: as
/// EstimatorOptions has it.
Json sessionJson(const std::string& device, int threads) {
  static const std::string start = isoTime(unixNow(), true);
  return {{"session", start},
          {"cpu", evaluation::cpuName()},
          {"instruction_set", buildInfo().instruction_set},
          {"threads", evaluation::usedThreads(threads)},
          {"device", device},
          {"version", buildInfo().version},
          {"commit", buildCommit().empty() ? Json(nullptr) : Json(buildCommit())},
          {"command", commandText()}};
}

// `full`: the precision of the full model that all variants are compared with.
Json settingsJson(const MeasurePlan& plan, const EstimatorOptions& options, const ModelInfo& model,
                  const std::string& digest, Precision full, bool night) {
  const bool windowed = options.fit == Fit::kWindow;
  const LabelledOptions& labelled = plan.labelled;
  const std::string& data = labelled.source.empty() ? labelled.images : labelled.source;
  return {{"model", plan.model},
          {"reduce", toString(model.reduction)},
          {"precision", toString(model.precision)},
          {"input", sizeJson(model.input)},
          {"fit", windowed ? "window" : "resize"},
          {"window_stride", windowed ? sizeJson(windowStride(options, model.input)) : Json(nullptr)},
          {"short_side", options.short_side > 0 ? Json(options.short_side) : Json(nullptr)},
          {"dataset", labelled.dataset ? Json(labelled.datasetText()) : Json(nullptr)},
          {"ignore", labelled.dataset ? Json(nullptr) : Json(ignoredLabels(labelled, model))},
          {"label_offset", labelled.dataset ? Json(nullptr) : Json(labelled.label_offset)},
          {"simulated_night", night ? toJson(plan.night) : Json(nullptr)},
          {"against", plan.against_full ? Json("full") : Json(nullptr)},
          {"full_precision", toString(full)},
          {"reuse_spec", toString(options.reuse)},
          {"refine", toString(options.refine.value_or(model.facts.refine))},
          {"shard", plan.shard.isWhole() ? Json(nullptr) : Json(plan.shard.text())},
          {"model_digest", digest},
          {"reduce_digest", reduceDigest(model.reduction)},
          {"net", toString(model.head) + " " + std::to_string(model.dim) + "/" + std::to_string(model.patch.height) +
                      " " + toString(model.input)},
          {"classes", vision::classNames(model)},
          {"data", vision::redactCredentials(data)},
          {"labels", labelled.labels.empty() ? Json(nullptr) : Json(labelled.labels)}};
}

/// Fills MeasuredVariant::full and day. Lines that are combined may be of several folders.
void findPartners(std::vector<MeasuredVariant>& variants) {
  std::map<std::string, std::size_t> index;
  for (std::size_t v = 0; v < variants.size(); ++v) index.emplace(keyOf(variants[v].settings, false), v);
  const auto find = [&](Json settings, const char* key, const Json& value) {
    settings[key] = value;
    const auto found = index.find(keyOf(settings, false));
    return found == index.end() ? std::nullopt : std::optional(found->second);
  };
  for (MeasuredVariant& variant : variants) {
    Json full = variant.settings;
    full["reduce"] = toString(kFullModel);
    full["reduce_digest"] = nullptr;
    full["precision"] = full["full_precision"];
    variant.full = find(full, "reuse_spec", "off");
    if (!variant.settings["simulated_night"].is_null())
      variant.day = find(variant.settings, "simulated_night", nullptr);
  }
}

/// Labels each variant by the settings in which the variants differ.
void nameVariants(std::vector<MeasuredVariant>& variants) {
  for (MeasuredVariant& variant : variants) {
    variant.label = variant.settings["reduce"].get<std::string>();
    if (const auto folder = variant.label.rfind('/'); variant.label.starts_with("rule:") && folder != std::string::npos)
      variant.label = "rule:" + variant.label.substr(folder + 1);  // without the folder of its file
  }
  const auto differ = [&](const char* key) {
    const auto valueOf = [&](const MeasuredVariant& one) { return one.settings.value(key, Json()); };
    return std::ranges::any_of(variants, [&](const auto& one) { return valueOf(one) != valueOf(variants.front()); });
  };
  const bool precision = differ("precision"), reuse = differ("reuse_spec"), night = differ("simulated_night"),
             model = differ("model"), retrained = differ("model_digest"), against = differ("against"),
             refine = differ("refine"), input = differ("input"), full = differ("full_precision"),
             ignore = differ("ignore"), offset = differ("label_offset"), dataset = differ("dataset"),
             fit = differ("fit") || differ("window_stride") || differ("short_side");
  std::map<std::string, std::set<double>> nights;  // the values of each key
  for (const MeasuredVariant& variant : variants) {
    for (const auto& [key, value] : variant.settings["simulated_night"].items())
      nights[key].insert(value.get<double>());
  }
  const auto nameOf = [](const MeasuredVariant& one) {
    return fs::path(one.settings["model"].get<std::string>()).stem().string();
  };
  std::map<std::string, std::set<std::string>> digests;  // of the models of a name
  for (const MeasuredVariant& variant : variants)
    digests[nameOf(variant)].insert(variant.settings["model_digest"].get<std::string>());
  for (MeasuredVariant& variant : variants) {
    if (model || retrained) {
      std::string name = nameOf(variant);
      const std::string digest = variant.settings["model_digest"].get<std::string>();
      if (digests[name].size() > 1) name += " (" + digest.substr(0, 6) + ")";
      variant.label = name + " " + variant.label;
    }
    if (against && !variant.settings["against"].is_null())
      variant.label += " against " + variant.settings["against"].get<std::string>();
    if (const Json& size = variant.settings["input"]; input)
      variant.label += " " + size["height"].dump() + "x" + size["width"].dump();
    if (refine) variant.label += " refine " + variant.settings["refine"].get<std::string>();
    if (precision) variant.label += " " + variant.settings["precision"].get<std::string>();
    if (reuse) variant.label += " reuse " + variant.settings["reuse_spec"].get<std::string>();
    if (const Json& stride = variant.settings["window_stride"]; fit) {
      variant.label +=
          stride.is_null() ? " resize" : " window " + stride["height"].dump() + "x" + stride["width"].dump();
    }
    if (const Json& side = variant.settings["short_side"]; fit && !side.is_null())
      variant.label += " of " + side.dump();
    if (dataset && !variant.settings["dataset"].is_null())
      variant.label += " of " + variant.settings["dataset"].get<std::string>();
    if (const Json& labels = variant.settings["ignore"]; ignore && !labels.is_null())
      variant.label += " ignore " + labels.dump();
    if (const Json& number = variant.settings["label_offset"]; offset && !number.is_null() && number != 0)
      variant.label += " offset " + number.dump();
    if (const Json& dark = variant.settings["simulated_night"]; night) {
      variant.label += dark.is_null() ? " day" : " night";
      for (const auto& [key, value] : dark.items())
        if (nights[key].size() > 1) variant.label += " " + key + " " + value.dump();
    }
    if (full) variant.label += " against full " + variant.settings["full_precision"].get<std::string>();
  }
}

/// Lines of images that are not what they were.
class RefusedLines {
 public:
  void add(const std::string& place, const std::string& image) {
    if (first_.empty()) first_ = place;
    images_.insert(image);
  }
  /// Throws mpm::Error if there is a line: it names the first one, `why`, the first images, and `then`, what follows
  /// when their lines are removed.
  void refuse(const std::string& why, const std::string& then) const {
    if (images_.empty()) return;
    constexpr std::size_t kNamed = 5;
    std::string names;
    std::size_t count = 0;
    for (const std::string& image : images_)
      if (count++ < kNamed) names += (names.empty() ? "'" : ", '") + visibleText(image) + "'";
    if (images_.size() > kNamed) names += " and " + std::to_string(images_.size() - kNamed) + " more";
    throw Error(first_ + " " + why + ": remove the lines of " + names + then);
  }

 private:
  std::string first_;
  std::set<std::string> images_;
};

class Runner {
 public:
  explicit Runner(const MeasurePlan& plan) : plan_(plan) {
    LabelledOptions& labelled = plan_.labelled;
    if (plan_.against_full) {
      if (labelled.source.empty() || labelled.dataset) {
        throw UsageError(
            "--against full makes the labels itself: name a SOURCE, without --dataset, --images and --labels");
      }
      if (labelled.label_offset != 0)
        throw UsageError("--against full makes the labels itself: leave out --label-offset");
      labelled.unlabelled = true;
    }
    labelled.anywhere = !plan_.shard.isWhole();
    labelled.validate();
    plan_.model = chosenModel(plan_.model);
    digest_ = vision::modelDigest(plan_.model);
    applyProtocol(labelled, plan_.fit, plan_.model, plan_.options);
    const std::vector<VariantOptions::Variant> variants = plan_.variants.of(plan_.model, plan_.options.convert());
    full_precision_ = *variants.front().convert.precision;
    for (const VariantOptions::Variant& one : variants) {
      requireAllFrames(one.reuse, plan_.shard, !plan_.resume.empty());
      for (const bool night : {false, true})
        if (night ? plan_.night.on : !plan_.night.on || plan_.by_day) add(one, night);
    }
    findPartners(measured_.variants);
    nameVariants(measured_.variants);
    shown_ = measured_.variants.size();
    for (std::size_t v = 0; plan_.against_full && v < shown_; ++v) {
      if (measured_.variants[v].full) continue;
      VariantOptions::Variant full{variants_[v].options.convert().with(kFullModel)};
      full.convert.precision = full_precision_;
      add(full, variants_[v].by_night);
      findPartners(measured_.variants);
    }
    measured_.classes = vision::classNames(info_);
  }

  Measured run() {
    openFiles();
    const Json session = sessionJson(plan_.options.device, plan_.options.threads);
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      variants_[v].full = measured_.variants[v].full;
      measured_.variants[v].result.labelled = !plan_.labelled.unlabelled || plan_.against_full;
      measured_.variants[v].result.beside_full = variants_[v].full.has_value();
      variants_[v].line = measured_.variants[v].settings;
      variants_[v].line.update(session);
    }
    for (const evaluation::TurnGroup& group : evaluation::turnGroups(shown_, info_.parameters))
      if (measured_.finished) run(group);
    measured_.variants.erase(measured_.variants.begin() + static_cast<std::ptrdiff_t>(shown_),
                             measured_.variants.end());
    for (MeasuredVariant& variant : measured_.variants)
      if (variant.full && *variant.full >= shown_) variant.full.reset();
    if (measured_.finished && !plan_.per_image.empty()) writeFileAtomically(plan_.per_image, lines_);
    return std::move(measured_);
  }

 private:
  void add(const VariantOptions::Variant& variant, bool night) {
    EstimatorOptions options = plan_.options;
    options.reduce = variant.convert.reduce;
    options.precision = variant.convert.precision;
    options.reuse = variant.reuse;
    info_ = readModelInfo(plan_.model, variant.convert);
    if (variant.convert.reduce->method == ReductionMethod::kRule) options.rule = pythonRule(*variant.convert.reduce);
    variants_.push_back({.options = options, .by_night = night});
    const Json settings = settingsJson(plan_, options, info_, digest_, full_precision_, night);
    keys_.push_back(keyOf(settings, true));
    measured_.variants.push_back({settings, {}, evaluation::VariantResult(std::max(1, info_.classes))});
  }

  LabelledFrames frames(std::size_t first, std::size_t last) {
    return {plan_.labelled, info_, [this, first, last](const std::string& path) {
              return plan_.shard.contains(path) && !todo(first, last, imageName(path)).empty();
            }};
  }

  // Whether the outputs can be written, and what is there already.
  void openFiles() {
    LabelledFrames all = frames(0, shown_);
    const bool files = plan_.labelled.source.empty() || plan_.labelled.dataset;
    if (!plan_.shard.isWhole()) {
      requireNamedImages("--shard", all.sources());
      for (const std::string& source : all.sources())
        of_images_ += vision::sourceFiles(vision::parseSourceSpec(source)).size();
      if (plan_.labelled.max_frames > 0) of_images_ = std::min<std::size_t>(of_images_, plan_.labelled.max_frames);
    }
    if (files) requireNamedImages(plan_.resume.empty() ? "mpm eval" : "--resume", all.sources());
    const Inputs inputs{.models = {plan_.model}, .sources = all.sources(), .files = all.files()};
    requireOutput("--per-image", plan_.per_image, inputs);
    if (plan_.resume.empty()) return;
    requireOutput("--resume", plan_.resume, inputs);
    if (!plan_.per_image.empty() && sameFile(plan_.per_image, plan_.resume)) {
      throw UsageError("--per-image and --resume are one file, '" + plan_.resume +
                       "': leave out --per-image, as --resume has its lines");
    }
    log_.emplace(plan_.resume, kKeysOfLines);
    takeSpelling(all);
    std::map<std::string, std::size_t> variant_of_key;
    std::map<std::string, Json> digests_of_name;
    RefusedLines changed, gone;
    for (std::size_t v = 0; v < shown_; ++v) variant_of_key[keys_[v]] = v;
    for (const JsonValue& line : log_->lines()) {
      const Measurement one = Measurement::read(line);
      const std::string key = keyOf(one.line, true);
      if (!done_.insert(key + line.at("name").text()).second)
        throw Error(line.place() + " is of the same image as a line before it: remove that line");
      const auto found = variant_of_key.find(key);
      if (found == variant_of_key.end() || all.leavesOut(one.name, one.index)) continue;
      if (all.filesOf(one.name).image.empty()) {
        gone.add(line.place(), line.at("name").text());
        continue;
      }
      if (all.areFiles() && !plan_.shard.contains(all.filesOf(one.name).image)) continue;
      const auto [digests, fresh] = digests_of_name.try_emplace(line.at("name").text());
      if (fresh) {
        const vision::LabelledFile of = all.filesOf(digests->first);
        digests->second = digestsOf(of.image, of.labels);
      }
      for (const auto& [which, digest] : digests->second.items())
        if (one.line.value(which, Json()) != digest) changed.add(line.place(), digests->first);
      line.named([&] { keep(found->second, one); });
    }
    gone.refuse("is of a picture that is none of the images", ", or put the pictures back");
    changed.refuse("is not of the picture and label map as they are now", ", and their images are done again");
  }

  // The file may have the folder of the same images under another spelling: new lines say what it says.
  void takeSpelling(const LabelledFrames& all) {
    const Json own = dataOf(measured_.variants.front().settings);
    const auto isOwn = [&own](const JsonValue& line) { return dataOf(line.json()) == own; };
    if (std::ranges::any_of(log_->lines(), isOwn)) return;
    for (const JsonValue& line : log_->lines()) {
      const Measurement one = Measurement::read(line);
      const vision::LabelledFile of = all.filesOf(one.name);
      Json same = {{"name", one.name}};
      same.update(digestsOf(of.image, of.labels));
      if (same["picture_digest"].is_null() || evaluation::imageOf(same) != one.image) continue;
      if (one.line.value("dataset", Json()) != measured_.variants.front().settings["dataset"]) continue;
      for (std::size_t v = 0; v < variants_.size(); ++v) {
        Json& settings = measured_.variants[v].settings;
        for (const char* key : {"data", "labels"}) settings[key] = one.line.value(key, Json());
        keys_[v] = keyOf(settings, true);
      }
      return;
    }
  }

  static Json digestsOf(const std::string& image, const std::string& labels) {
    return {{"picture_digest", fileDigest(image)}, {"labels_digest", fileDigest(labels)}};
  }

  void keep(std::size_t variant, const Measurement& one) {
    measured_.variants[variant].result.add(one);
    measured_.names.insert(one.name);
    if (!plan_.per_image.empty()) lines_ += toLine(one.line) + '\n';
  }

  std::vector<std::size_t> todo(std::size_t first, std::size_t last, const std::string& name) const {
    std::vector<std::size_t> variants;
    for (std::size_t v = first; v < last; ++v)
      if (!done_.contains(keys_[v] + name)) variants.push_back(v);
    return variants;
  }

  void run(const evaluation::TurnGroup& group) {
    evaluation::Turns turns(plan_.model, variants_, group,
                            {.labels_of_full = plan_.against_full, .count_operations = true});
    LabelledFrames images = frames(group.first, group.last);
    while (const std::optional<LabelledFrame> one = images.next()) {
      const vision::Frame& frame = one->frame;
      const std::string name = utf8Text(frame.name);
      Json about = {{"source", utf8Text(frame.source)}, {"name", name}, {"film", utf8Text(one->film)}};
      if (!images.areFiles()) about["index"] = frame.index;
      about.update(digestsOf(frame.source, images.filesOf(name).labels));
      if (of_images_ > 0) about["of_images"] = of_images_;
      addMoment(frame, about);
      const auto measured = turns.measure({.image = frame.image,
                                           .dark = plan_.night.applied(frame.image, frame.name),
                                           .truth = evaluation::Truth(one->truth, images.voidLabel()),
                                           .line = about,
                                           .variants = todo(group.first, group.last, name),
                                           .name = frame.source,
                                           .label = one->label,
                                           .index = frame.index,
                                           .seconds = frame.seconds()});
      for (const auto& [v, done] : measured.value()) {
        if (log_) log_->append(done.line);
        keep(v, done);
      }
    }
    measured_.finished = !interrupted();
  }

  MeasurePlan plan_;
  Measured measured_;
  std::vector<evaluation::TurnVariant> variants_;  // each of measured_.variants, as it runs
  std::vector<std::string> keys_;                  // of each
  std::string digest_;                             // of the model
  Precision full_precision_ = Precision::kFp32;    // of the full model that all variants are compared with
  std::size_t of_images_ = 0;                      // in all shards; 0: there are none
  std::size_t shown_ = 0;                          // the variants behind these only serve for --against full
  ModelInfo info_;
  std::optional<JsonLog> log_;
  std::set<std::string> done_;
  std::string lines_;
};

}  // namespace

Measured measure(const MeasurePlan& plan) { return Runner(plan).run(); }

std::optional<evaluation::AgainstFull> againstFull(const MeasuredVariant& variant, const Measured& all) {
  if (!variant.full && !variant.result.beside_full) return std::nullopt;
  return variant.result.against(variant.full ? &all.variants[*variant.full].result : nullptr,
                                variant.settings.value("against", Json()) == "full");
}

bool isLeftOut(const Json& line, const Measured& run) {
  const auto isEarlierVersion = [&](const MeasuredVariant& one) {  // of a policy or a rule
    return one.settings["reduce"] == line.value("reduce", Json()) &&
           one.settings["reduce_digest"] != line.value("reduce_digest", Json());
  };
  if (std::ranges::any_of(run.variants, isEarlierVersion)) return true;
  return dataOf(line) == dataOf(run.variants.front().settings) && !run.names.contains(evaluation::textOf(line, "name"));
}

std::vector<JsonValue> readMeasurements(const std::string& file) { return readJsonLines(file, kKeysOfLines); }

Measured combineLines(const std::vector<std::string>& files) {
  Measured measured;
  std::map<std::string, std::size_t> variant_of_key;
  std::map<std::string, std::string> place_of_image, file_of_shard;
  // Of each variant and shard: how many images all shards have, for each data set. The folder of a data set may have
  // another name on each machine, but each shard has lines of each data set.
  std::vector<std::map<std::string, std::map<std::string, std::int64_t>>> of_images;
  std::size_t empty = 0;
  int of = 0;
  for (const std::string& file : files) {
    const std::vector<JsonValue> lines = readMeasurements(file);
    empty += lines.empty();
    for (const JsonValue& line : lines) {
      Measurement one = Measurement::read(line);
      const auto [other, fresh] = place_of_image.emplace(keyOf(one.line, false) + one.image, line.place());
      if (!fresh)
        throw Error(other->second + " and " + line.place() + " are of the same image, which would count twice");
      const Json shard = one.line.value("shard", Json());
      const std::string text = shard.is_null() ? "" : line.at("shard").text();
      const int shards = shard.is_null() ? 0 : line.at("shard").parsed(parseShard).of;
      if (!file_of_shard.empty() && shards != of)
        throw Error(line.place() + " is of " + (text.empty() ? "no shard" : "shard " + text) + ", others are of " +
                    (of == 0 ? "none" : std::to_string(of) + " shards"));
      of = shards;
      if (const auto [first, only] = file_of_shard.emplace(text, file); of > 0 && !only && first->second != file)
        throw Error("'" + first->second + "' and '" + file + "' are both of shard " + text);
      const auto [place, is_new] = variant_of_key.emplace(keyOf(one.line, false), measured.variants.size());
      std::vector<std::string> classes;
      for (const JsonValue& name : line.at("classes").list()) classes.push_back(name.text());
      if (is_new) {
        Json settings;
        for (const auto& [key, value] : one.line.items()) {
          if (key == "session" || key == "source") break;
          settings[key] = value;
        }
        settings["shard"] = nullptr;
        measured.variants.push_back({settings, {}, evaluation::VariantResult(std::max<int>(1, classes.size()))});
      }
      if (measured.variants.size() == 1) measured.classes = classes;
      if (classes != measured.classes) throw Error(line.place() + " is of other classes than the lines before it");
      line.named([&, &place = place] { measured.variants[place->second].result.add(one); });
      of_images.resize(measured.variants.size());
      if (const auto count = line.find("of_images")) {
        std::int64_t& most = of_images[place->second][text][toLine(dataOf(one.line))];
        most = std::max(most, count->count());
      }
    }
  }
  if (measured.variants.empty()) throw Error("the files hold no line of an image");
  for (int number = 1; number <= of; ++number) {
    if (const std::string text = Shard{number, of}.text(); !file_of_shard.contains(text) && empty-- == 0)
      throw Error("shard " + text + " is missing");
  }
  for (std::size_t v = 0; v < measured.variants.size(); ++v) {
    std::int64_t wanted = 0;
    for (const auto& [shard, data] : of_images[v]) {
      std::int64_t sum = 0;
      for (const auto& [folder, count] : data) sum += count;
      wanted = std::max(wanted, sum);
    }
    if (const std::int64_t images = measured.variants[v].result.all.images(); images < wanted) {
      throw Error("the shards have lines of " + std::to_string(images) + " of " + counted(wanted, "image") +
                  ": a run was cut off; run it again with --resume");
    } else if (wanted > 0 && images > wanted) {
      throw Error("the shards have lines of " + counted(images, "image") + ", and each knows of at most " +
                  std::to_string(wanted) + ": one lacks a data set that another has");
    }
  }
  findPartners(measured.variants);
  nameVariants(measured.variants);
  return measured;
}

}  // namespace mpm::cli
