// SPDX-License-Identifier: Apache-2.0
#include "cli/labelled_frames.h"

#include <algorithm>
#include <filesystem>

#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

namespace {

namespace fs = std::filesystem;

// The labels of the demo mean nothing to a model of other classes.
void requireClasses(const std::vector<std::string>& own, const std::vector<std::string>& classes) {
  if (own == classes) return;
  throw Error("the model's classes are not those of the demo (" + CLI::detail::join(classes, ", ") +
              "): its labels cannot be compared");
}

std::string splitOf(const LabelledOptions& options) {
  return options.split.empty() ? evaluation::protocolOf(*options.dataset).split : options.split;
}

}  // namespace

std::vector<int> ignoredLabels(const LabelledOptions& options, const ModelInfo& model) {
  if (options.dataset) return {};
  return options.ignore.empty() ? std::vector<int>{model.facts.ignore} : options.ignore;
}

evaluation::Dataset parseDataset(const std::string& name) {
  using evaluation::Dataset;
  std::string names;
  for (const Dataset set : {Dataset::kAde20k, Dataset::kCityscapes, Dataset::kPascalContext, Dataset::kCamVid}) {
    if (toString(set) == name) return set;
    names += (names.empty() ? "" : ", ") + toString(set);
  }
  throw UsageError("'" + name + "' is no data set: name one of " + names);
}

void LabelledOptions::validate() const {
  if (!split.empty() && !dataset) throw UsageError("--split needs --dataset");
  if (dataset) {
    if (source.empty()) throw UsageError("--dataset " + toString(*dataset) + " needs its folder");
    if (!images.empty() || !labels.empty() || !ignore.empty() || label_offset != 0)
      throw UsageError("--dataset knows its files and labels: leave out --images, --labels, --ignore, --label-offset");
    return;
  }
  if (source.empty() && (images.empty() || labels.empty()))
    throw UsageError(
        "name what to evaluate on: --images DIR and --labels DIR, --dataset NAME DIR, or the scene "
        "(\"demo:street?frames=100\")");
  if (source.empty()) return;
  if (!images.empty() || !labels.empty()) throw UsageError("either the scene or --images and --labels, not both");
  if (!unlabelled && vision::parseSourceSpec(source).kind != vision::SourceKind::kDemo)
    throw UsageError("'" + source + "' has no labels: name --images DIR and --labels DIR, or --dataset NAME, or " +
                     "compare with --against full");
}

void applyProtocol(const LabelledOptions& labelled, const ChosenFit& chosen, const std::string& model,
                   EstimatorOptions& options) {
  const auto protocol = labelled.dataset ? evaluation::protocolOf(*labelled.dataset) : evaluation::DatasetProtocol();
  const bool windows = protocol.window != Size2{};
  options.fit = chosen.fit.value_or(windows ? Fit::kWindow : Fit::kResize);
  if (options.fit != Fit::kWindow && (chosen.window_stride > 0 || chosen.short_side > 0))
    throw UsageError(std::string(chosen.short_side > 0 ? "--short-side" : "--window-stride") + " needs --fit window");
  options.window_stride = chosen.window_stride;
  options.short_side = chosen.short_side;
  if (!windows || options.fit != Fit::kWindow) return;
  ConvertOptions& convert = options.read.convert;
  const ModelInfo info = readModelInfo(model, convert);
  if (!convert.input_size && !info.converted) convert.input_size = protocol.window;
  const Size2 window = convert.input_size.value_or(info.input);
  if (options.short_side == 0) options.short_side = protocol.short_side;
  if (options.window_stride == 0 && window == protocol.window) options.window_stride = protocol.window_stride;
}

LabelledFrames::LabelledFrames(const LabelledOptions& options, const ModelInfo& model, bool show_progress,
                               Chosen chosen)
    : options_(options),
      show_progress_(show_progress),
      chosen_(std::move(chosen)),
      meaning_(options.dataset
                   ? evaluation::labelMeaningOf(*options.dataset)
                   : vision::LabelMeaning(ignoredLabels(options, model), options.label_offset, model.classes)) {
  for (const ClassInfo& one : model.facts.classes) classes_.push_back(one.name);
  if (options.dataset) {
    const int classes = evaluation::protocolOf(*options.dataset).classes;
    if (model.classes != classes)
      throw Error(toString(*options.dataset) + " has " + std::to_string(classes) + " classes, the model " +
                  std::to_string(model.classes));
    of_dataset_ = evaluation::datasetFiles(*options.dataset, options.source, splitOf(options));
    for (const vision::LabelledFile& file : of_dataset_) {
      sources_.push_back(file.image);
      files_.insert(files_.end(), {file.image, file.labels});
    }
  } else if (!options.source.empty()) {
    sources_ = {options.source};
  } else {
    if (!fs::is_directory(options.images)) throw Error("there is no folder of images '" + options.images + "'");
    sources_ = {options.images};
    by_stem_ = vision::labelMapFiles(options.labels);
    files_ = vision::sourceFiles(vision::parseSourceSpec(options.images));
    for (const auto& [stem, path] : by_stem_) files_.push_back(path);
  }
}

Frames* LabelledFrames::open() {
  if (opened_) return frames_ ? &*frames_ : nullptr;
  opened_ = true;
  FrameOptions frames{.sources = sources_, .leave_out = false, .apply_exif_rotation = false, .chosen = chosen_};
  if (options_.dataset) {
    frames.sources.clear();
    for (std::size_t i = 0; i < of_dataset_.size(); ++i)
      if (!chosen_ || chosen_(of_dataset_[i].image)) {
        frames.sources.push_back(of_dataset_[i].image);
        index_.push_back(i);
      }
    frames.chosen = {};
    if (frames.sources.empty()) return nullptr;
  }
  frames_.emplace(frames, show_progress_);
  if (options_.dataset || options_.source.empty()) return &*frames_;
  if (!options_.unlabelled) requireClasses(classes_, frames_->classNames());
  if (!frames_->size() && options_.max_frames == 0)
    throw UsageError("'" + options_.source + "' never ends: add frames=N");
  return &*frames_;
}

std::optional<int> LabelledFrames::size() {
  Frames* const frames = open();
  const std::optional<int> all = frames ? frames->size() : 0;
  return all && options_.max_frames > 0 ? std::min(*all, options_.max_frames) : all;
}

std::optional<LabelledFrame> LabelledFrames::next() {
  Frames* const frames = open();
  std::optional<vision::Frame> frame = frames ? frames->next() : std::nullopt;
  if (!frame) return std::nullopt;
  LabelledFrame result{std::move(*frame), {}, {}};
  if (options_.dataset) {
    const std::size_t index = index_[frames_->source()];
    result.label = of_dataset_[index].labels;
    result.frame.index = static_cast<int>(index);
  } else if (!options_.source.empty()) {
    result.label = result.frame.name;
  } else {
    const auto label = by_stem_.find(result.frame.name);
    if (label == by_stem_.end())
      throw Error("no label map for '" + result.frame.source + "': there is no " + result.frame.name + ".png in '" +
                  options_.labels + "'");
    result.label = label->second;
  }
  if (options_.max_frames > 0 && result.frame.index >= options_.max_frames) return std::nullopt;
  if (options_.unlabelled) return result;
  const bool rendered = !options_.dataset && !options_.source.empty();
  result.truth = vision::meantLabels(rendered ? result.frame.labels : vision::readLabelMap(result.label), result.label,
                                     result.frame.image.size(), meaning_);
  return result;
}

}  // namespace mpm::cli
