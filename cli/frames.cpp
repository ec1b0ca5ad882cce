// SPDX-License-Identifier: Apache-2.0
#include "cli/frames.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <opencv2/videoio.hpp>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/key_values.h"
#include "base/number_text.h"
#include "base/quantiles.h"
#include "cli/verb_options.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "program/model_options.h"
#include "program/terminal/program.h"
#include "scene/street.h"
#include "vision/time.h"

namespace mpm::cli {

using namespace program;

namespace fs = std::filesystem;

namespace {

constexpr int kMaxFitPixels = 1 << 20;

/// The folder that all files of a source lie in or below.
fs::path fixedFolder(const vision::SourceSpec& source) {
  if (source.kind == vision::SourceKind::kFolder) return source.target;
  fs::path fixed;
  for (const fs::path& part : fs::path(source.target).parent_path()) {
    if (source.kind == vision::SourceKind::kGlob && part.string().find_first_of("*?[") != std::string::npos) break;
    fixed /= part;
  }
  return fixed.empty() ? "." : fixed;
}

}  // namespace

double frameRateOf(const std::vector<std::string>& sources) {
  for (const std::string& source : sources) {
    const vision::SourceSpec spec = vision::parseSourceSpec(source);
    if (spec.kind == vision::SourceKind::kDemo) return scene::parseStreets(spec.target).front().fps;
    if (spec.kind != vision::SourceKind::kVideo) continue;
    const double rate = cv::VideoCapture(vision::sourceFiles(spec).front()).get(cv::CAP_PROP_FPS);
    if (rate > 0 && rate < 1e4) return rate;
  }
  return 25;
}

Frames::Frames(FrameOptions options) : options_(std::move(options)) {
  images_only_ = std::ranges::all_of(options_.sources, [](const std::string& source) {
    return vision::parseSourceSpec(source).kind == vision::SourceKind::kImage;
  });
  open();
  progress_.emplace(options_.show_progress && stderrIsTerminal(), size(), "frame");
}

void Frames::open() {
  vision::SourceOptions options{.timeout_s = options_.timeout_s, .stop = &interrupted(), .chosen = options_.chosen};
  if (options_.leave_out) {
    options.on_unreadable = [this](const std::string& why, std::optional<UnixMs>) {
      ++left_out_;
      progress_->note("left out: " + why);
      progress_->step();
    };
  }
  opened_ = vision::openSource(options_.sources[source_], options);
  images_ = vision::parseSourceSpec(options_.sources[source_]).isImages();
}

std::optional<vision::Frame> Frames::next() {
  if (std::exchange(in_hand_, false)) progress_->step();
  while (!interrupted() && (options_.max_frames == 0 || read_ < options_.max_frames)) {
    if (std::optional<vision::Frame> frame = opened_->next()) {
      ++read_;
      index_ = frame->index;
      in_hand_ = true;
      return frame;
    }
    if (source_ + 1 == options_.sources.size()) break;
    const vision::SourceSpec spec = vision::parseSourceSpec(options_.sources[source_]);
    before_ += spec.isImages() ? static_cast<int>(vision::sourceFiles(spec).size()) : index_ + 1;
    index_ = -1;
    ++source_;
    if (!interrupted()) open();
  }
  progress_.reset();  // the next output starts on a new line
  return std::nullopt;
}

std::optional<int> Frames::size() const {
  const auto count = static_cast<int>(options_.sources.size());
  std::optional<int> frames = count == 1 ? opened_->size() : std::nullopt;
  if (count > 1 && images_only_) frames = count;
  if (options_.max_frames > 0) frames = std::min(frames.value_or(options_.max_frames), options_.max_frames);
  return frames;
}

void Frames::requireAll() const {
  if (left_out_ > 0)
    throw Error(std::to_string(left_out_) + " of " + counted(read_ + left_out_, "picture") + " could not be read");
}

void addMoment(const vision::Frame& frame, Json& json) {
  if (frame.unix_time) json["time"] = isoTime(std::llround(*frame.unix_time * kSecondMs), true);
  if (frame.night) json["night"] = *frame.night;
  if (frame.sun_elevation) json["sun_elevation"] = std::round(*frame.sun_elevation * 1e3) / 1e3;
}

std::string Frames::filmOf(const vision::Frame& frame) const {
  if (images_only_) return "";
  return std::to_string(source_) + " " + std::to_string(frame.film) + " " +
         (images_ ? fs::path(frame.source).parent_path().string() : "");
}

std::string LabelledFrames::filmOf(const vision::Frame& frame) const {
  if (options_.dataset) return toString(*options_.dataset) + "/" + evaluation::filmOf(*options_.dataset, frame.source);
  const vision::SourceSpec data = vision::parseSourceSpec(options_.source.empty() ? options_.images : options_.source);
  if (!data.isImages()) return vision::redactCredentials(frame.source) + "#" + std::to_string(frame.film);
  const auto absolute = [](const fs::path& path) { return fs::absolute(path).lexically_normal(); };
  const fs::path folder = absolute(frame.source).parent_path();
  const fs::path top = absolute(fixedFolder(data) / "").parent_path(), below = folder.lexically_relative(top);
  // Of a single folder two names, for several data in the files of one shard.
  const fs::path name = below != "." ? below : folder.parent_path().filename() / folder.filename();
  // Lines may be published, so the digest stands for the path of the folder.
  return name.string() + (options_.anywhere ? "" : " " + digestText(hashBytes(top.string())));
}

vision::LabelledFile LabelledFrames::filesOf(const std::string& name) const {
  if (const auto found = files_of_name_.find(name); found != files_of_name_.end()) return found->second.file;
  return {files_of_name_.empty() ? sources_.front() : "", ""};
}

bool LabelledFrames::leavesOut(const std::string& name, int index) {
  std::optional<int> total;
  if (areFiles()) {
    const auto found = files_of_name_.find(name);
    if (found == files_of_name_.end()) return false;
    index = found->second.index;
    total = static_cast<int>(files_of_name_.size());
  } else if (options_.spread > 0) {
    total = open()->size();
  }
  return (options_.max_frames > 0 && index >= options_.max_frames) || !isWanted(static_cast<std::size_t>(index), total);
}

std::vector<int> ignoredLabels(const LabelledOptions& options, const ModelInfo& model) {
  // The model's own label is a number of the model, these are numbers in files. 255 is no class in either.
  const int own = model.facts.ignore;
  if (options.ignore.empty()) return {own == 255 ? own : own - options.label_offset};
  const std::set<int> labels(options.ignore.begin(), options.ignore.end());  // the same work in every order
  return {labels.begin(), labels.end()};
}

void addDataset(CLI::App& verb, LabelledOptions& labelled, const std::string& description) {
  using enum evaluation::Dataset;
  static constexpr std::array kAll = {kAde20k, kCityscapes, kPascalContext, kCamVid};
  std::string names;
  for (const evaluation::Dataset one : kAll) names += (names.empty() ? "" : "|") + toString(one);
  addText(verb, "--dataset", names, description, [&labelled, names](const std::string& text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto* const found =
        std::ranges::find_if(kAll, [&](evaluation::Dataset one) { return toString(one) == text.substr(0, colon); });
    if (found == kAll.end()) throw Error("'" + text.substr(0, colon) + "' is not one of " + names);
    labelled.dataset = *found;
    labelled.split = colon < text.size() ? text.substr(colon + 1) : "";
    if (colon + 1 == text.size()) throw Error("'" + text + "' names no part behind ':'");
  });
}

void LabelledOptions::validate() const {
  if (dataset) {
    if (source.empty()) throw UsageError("--dataset " + toString(*dataset) + " needs its folder");
    if (!images.empty() || !labels.empty() || !ignore.empty() || label_offset != 0)
      throw UsageError("--dataset knows its files and labels: leave out --images, --labels, --ignore, --label-offset");
    return;
  }
  if (source.empty() && (images.empty() || labels.empty())) {
    throw UsageError(
        "name what to evaluate on: --images DIR and --labels DIR, --dataset NAME DIR, or the scene "
        "(\"demo:street?frames=100\")");
  }
  if (source.empty()) return;
  if (!images.empty() || !labels.empty()) throw UsageError("either the scene or --images and --labels, not both");
  if (!unlabelled && vision::parseSourceSpec(source).kind != vision::SourceKind::kDemo) {
    throw UsageError("'" + source + "' has no labels: name --images DIR and --labels DIR, or --dataset NAME, or " +
                     "compare with --against full");
  }
}

std::string LabelledOptions::datasetText() const {
  const bool usual = split.empty() || split == evaluation::protocolOf(dataset.value()).split;
  return toString(dataset.value()) + (usual ? "" : ":" + split);
}

FitOptions parseFit(const std::string& text) {
  FitOptions fit;
  if (text == "resize") return fit;
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (text.substr(0, colon) != "window") throw Error("'" + text.substr(0, colon) + "' is not resize or window");
  fit.fit = Fit::kWindow;
  if (colon < text.size()) {
    for (const auto& [key, value] : keyValues(text.substr(colon + 1))) {
      if (key != "stride" && key != "short-side") throw Error("'" + key + "' is neither stride=PX nor short-side=PX");
      const auto pixels = readNumber<int>(value.value_or(""));
      if (!pixels || *pixels < 1 || *pixels > kMaxFitPixels)
        throw Error(key + ": '" + value.value_or("") + "' is not a number from 1 to " + std::to_string(kMaxFitPixels));
      (key == "stride" ? fit.stride : fit.short_side) = *pixels;
    }
  }
  return fit;
}

void applyProtocol(const LabelledOptions& labelled, const std::optional<FitOptions>& chosen, const std::string& model,
                   EstimatorOptions& options) {
  const auto protocol = labelled.dataset ? evaluation::protocolOf(*labelled.dataset) : evaluation::DatasetProtocol();
  const bool windows = protocol.window != Size2{};
  const FitOptions fit = chosen.value_or(FitOptions{.fit = windows ? Fit::kWindow : Fit::kResize});
  options.fit = fit.fit;
  options.window_stride = fit.stride;
  options.short_side = fit.short_side;
  if (!windows || options.fit != Fit::kWindow) return;
  const ModelInfo info = readModelInfo(model, options.convert());
  if (!options.input_size && !info.converted) options.input_size = protocol.window;
  const Size2 window = options.input_size.value_or(info.input);
  if (options.short_side == 0) options.short_side = protocol.short_side;
  if (options.window_stride == 0 && window == protocol.window) options.window_stride = protocol.window_stride;
}

LabelledFrames::LabelledFrames(const LabelledOptions& options, const ModelInfo& model, Chosen chosen)
    : options_(options),
      chosen_(std::move(chosen)),
      meaning_(options.dataset
                   ? evaluation::labelMeaningOf(*options.dataset)
                   : vision::LabelMeaning(ignoredLabels(options, model), options.label_offset, model.classes)) {
  for (const ClassInfo& one : model.facts.classes) classes_.push_back(one.name);
  if (options.dataset) {
    const evaluation::DatasetProtocol protocol = evaluation::protocolOf(*options.dataset);
    if (model.classes != protocol.classes) {
      throw Error(toString(*options.dataset) + " has " + std::to_string(protocol.classes) + " classes, the model " +
                  std::to_string(model.classes));
    }
    pictures_ = evaluation::datasetFiles(*options.dataset, options.source,
                                         options.split.empty() ? protocol.split : options.split);
  } else if (!options.source.empty()) {
    sources_ = {options.source};
  } else {
    vision::requireFolder(options.images, "images");
    const auto maps = vision::labelMapFiles(options.labels);
    for (const auto& [stem, path] : maps) files_.push_back(path);
    for (const std::string& image : vision::sourceFiles(vision::parseSourceSpec(options.images))) {
      const auto map = maps.find(fs::path(image).stem().string());
      pictures_.push_back({image, map == maps.end() ? "" : map->second});
    }
  }
  for (const vision::LabelledFile& picture : pictures_) {
    sources_.push_back(picture.image);
    files_.insert(files_.end(), {picture.image, picture.labels});
    files_of_name_[imageName(picture.image)] = {picture, static_cast<int>(files_of_name_.size())};
  }
  if (const auto data = vision::parseSourceSpec(options.source); pictures_.empty() && data.isImages()) {
    for (const std::string& image : vision::sourceFiles(data))
      files_of_name_[imageName(image)] = {{image, ""}, static_cast<int>(files_of_name_.size())};
  }
}

Frames* LabelledFrames::open() {
  if (std::exchange(opened_, true)) return frames_ ? &*frames_ : nullptr;
  FrameOptions frames{.sources = sources_, .leave_out = false, .chosen = chosen_};
  if (!pictures_.empty()) {
    frames.sources.clear();
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      if (isWanted(i, static_cast<int>(pictures_.size())) && (!chosen_ || chosen_(pictures_[i].image))) {
        frames.sources.push_back(pictures_[i].image);
        index_.push_back(i);
      }
    }
    if (frames.sources.empty()) return nullptr;
  }
  frames_.emplace(frames);
  if (!pictures_.empty()) return &*frames_;
  // The labels of the demo mean nothing to a model of other classes.
  if (const auto classes = frames_->classNames(); !options_.unlabelled && classes_ != classes) {
    throw Error("the model's classes are not those of the demo (" + CLI::detail::join(classes, ", ") +
                "): its labels cannot be compared");
  }
  if (!frames_->size() && options_.max_frames == 0)
    throw UsageError("'" + options_.source + "' never ends: add frames=N");
  return &*frames_;
}

bool LabelledFrames::isWanted(std::size_t index, std::optional<int> total) const {
  int count = total.value_or(options_.max_frames);
  if (options_.max_frames > 0) count = std::min(count, options_.max_frames);
  return options_.spread == 0 || isInSpread(static_cast<int>(index), count, options_.spread);
}

std::optional<LabelledFrame> LabelledFrames::next() {
  Frames* const frames = open();
  std::optional<vision::Frame> frame = frames ? frames->next() : std::nullopt;
  while (frame && pictures_.empty() && !isWanted(static_cast<std::size_t>(frame->index), frames->size()))
    frame = frames->next();
  if (!frame) return std::nullopt;
  LabelledFrame result{std::move(*frame), {}, {}, {}};
  result.film = filmOf(result.frame);
  const bool rendered = pictures_.empty();
  result.label = result.frame.name;
  if (!rendered) {
    const std::size_t index = index_[frames->source()];
    result.label = pictures_[index].labels;
    result.frame.index = static_cast<int>(index);
    if (result.label.empty()) {
      throw Error("no label map for '" + result.frame.source + "': there is no " + result.frame.name + ".png in '" +
                  options_.labels + "'" + vision::otherFormatText(options_.labels, result.frame.name));
    }
  }
  if (options_.max_frames > 0 && result.frame.index >= options_.max_frames) return std::nullopt;
  if (options_.unlabelled) return result;
  result.truth = vision::meantLabels(rendered ? result.frame.labels : vision::readLabelMap(result.label), result.label,
                                     result.frame.image.size(), meaning_);
  return result;
}

}  // namespace mpm::cli
