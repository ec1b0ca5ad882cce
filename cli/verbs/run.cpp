// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "cli/frames.h"
#include "cli/manifest.h"
#include "cli/run_pictures.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "cli/video.h"
#include "evaluation/numbers.h"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "program/paths.h"
#include "vision/model_files.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"
#include "vision/time.h"

namespace mpm::cli {
namespace {

constexpr const char* kDay = "demo:day";
constexpr const char* kDaySheet = "day.png";  // of its moments, in the folder

/// "_overlay.png" is of --only overlay.
std::string nameOf(const std::string& ending) { return ending.substr(1, ending.find('.') - 1); }

struct RunArguments {
  FrameOptions frames;
  std::string model, folder, chart, video;
  std::vector<std::string> only;  ///< names of files; empty: all
  EstimatorOptions options;
  std::optional<double> min_score, min_overlap;
  Night night;
  vision::TimeOptions times;
  Shard shard;
  bool maps = false, resume = false, json = false;

  /// The source demo:day alone.
  bool isDay() const {
    const std::string& first = frames.sources.front();
    return frames.sources.size() == 1 && first.substr(0, first.find('?')) == kDay;
  }

  /// Whether files whose names end so are to be written.
  bool wants(const std::string& ending) const { return only.empty() || std::ranges::count(only, nameOf(ending)) > 0; }

  /// The name of a file in the folder that is of all images. Each shard has its own, because several may share the
  /// folder.
  std::string ofAll(const std::string& stem, const std::string& ending) const {
    const std::string of_shard = "-" + std::to_string(shard.number) + "-of-" + std::to_string(shard.of);
    return stem + (shard.isWhole() ? "" : of_shard) + ending;
  }
  std::string legend() const { return ofAll("legend", ".png"); }
  /// The file that --resume keeps in the folder.
  std::string manifest() const { return (std::filesystem::path(folder) / ofAll("manifest", ".jsonl")).string(); }
};

// Minutes after midnight, UTC.
constexpr std::array<std::pair<const char*, int>, 4> kMoments = {
    {{"dawn", 340}, {"noon", 720}, {"dusk", 1090}, {"night", 1260}}};

constexpr const char* kMerge = vision::EstimateFiles::kMerge;
constexpr const char* kComputed = "_computed.png";
constexpr const char* kPicture = "_picture.jpg";  // only where --only names it
constexpr const char* kTruth = "_truth.png";      // the same, of the built-in scene

std::string mapEnding(int insertion) { return "_map" + std::to_string(insertion + 1) + ".png"; }

// The ends of the names of the pictures of a frame. Throws UsageError when --only names one that there is not.
std::vector<std::string> endings(const RunArguments& arguments, const EstimateWriter& writer, std::size_t maps) {
  std::vector<std::string> all = writer.endings();
  all.emplace_back(kMerge);
  if (arguments.options.reuse.on) all.emplace_back(kComputed);
  if (!arguments.only.empty()) all.emplace_back(kPicture);
  const bool rendered = std::ranges::all_of(arguments.frames.sources, [](const std::string& source) {
    return vision::parseSourceSpec(source).kind == vision::SourceKind::kDemo;
  });
  if (!arguments.only.empty() && rendered) all.emplace_back(kTruth);
  std::set<std::string> names;
  for (const std::string& ending : all) names.insert(nameOf(ending));
  for (const std::string& name : arguments.only) {
    if (!names.contains(name))
      throw UsageError("--only " + name + ": the files of this model are " + CLI::detail::join(names, ", "));
  }
  std::erase_if(all, [&](const std::string& ending) { return !arguments.wants(ending); });
  for (int k = 0; k < static_cast<int>(maps); ++k) all.push_back(mapEnding(k));
  return all;
}

// The cluster of each token, the merge map as data: CV_16U of the grid's size.
cv::Mat clusterMap(const std::vector<int>& cluster_of_token, Size2 grid) {
  cv::Mat map(grid.height, grid.width, CV_16U);
  for (int i = 0; i < static_cast<int>(cluster_of_token.size()); ++i) {
    if (cluster_of_token[i] > 65535) {
      throw Error("--maps writes clusters 0 to 65535, and this grid of " + sizeText(grid, "tokens") +
                  " has more: choose a smaller --input-size");
    }
    map.at<std::uint16_t>(i / grid.width, i % grid.width) = static_cast<std::uint16_t>(cluster_of_token[i]);
  }
  return map;
}

// `outputs`: names of the files written; null when nothing is to be.
Json frameJson(int number, const vision::Frame& frame, const Estimate& estimate, const Json& fields,
               const Json& outputs) {
  Json tokens = Json::array();
  for (const double count : estimate.tokens)  // whole, but for the mean over windows
    tokens.push_back(count == std::floor(count) ? Json(static_cast<int>(count)) : Json(count));
  Json json = {{"frame", number}, {"source", frame.source}, {"name", utf8Text(frame.name)}};
  addMoment(frame, json);
  if (frame.sun_elevation) json["film"] = frame.film;
  json["tokens"] = tokens;
  json.update(fields);
  if (estimate.reuse) {
    json["reuse"] = {{"rows", estimate.reuse->rows},
                     {"key_frame", estimate.reuse->key_frame},
                     {"agreement", evaluation::orNull(estimate.reuse->agreement)}};
  }
  json["ms"] = evaluation::toJson(estimate.ms);
  if (!outputs.is_null()) json["outputs"] = outputs;
  return json;
}

// The settings that --resume must find unchanged.
Json workJson(const RunArguments& arguments, const std::string& model_path, const ModelInfo& model) {
  return {{"model", {{"path", model_path}, {"digest", vision::modelDigest(model_path)}}},
          {"reduce", toString(model.reduction)},
          {"reduce_digest", reduceDigest(model.reduction)},
          {"precision", toString(model.precision)},
          {"input", sizeJson(model.input)},
          {"maps", arguments.maps},
          {"only", std::set<std::string>(arguments.only.begin(), arguments.only.end())},
          {"task", arguments.options.task ? Json(toString(*arguments.options.task)) : Json(nullptr)},
          {"refine", toString(arguments.options.refine.value_or(model.facts.refine))},
          {"min_score", evaluation::orNull(arguments.min_score)},
          {"min_overlap", evaluation::orNull(arguments.min_overlap)},
          {"simulated_night", toJson(arguments.night)},
          {"times", {{"from", toString(arguments.times)}, {"digest", fileDigest(arguments.times.list)}}},
          {"time_zone", arguments.times.clock().zone()}};
}

// Hints: the picture to look at, and commands that can be pasted. `of_scene`: the model has the classes of the scene.
void printHints(const RunArguments& arguments, const std::string& pictures, bool of_scene) {
  namespace fs = std::filesystem;
  const std::string program = shellWord(program_invocation_name);
  const std::string model = arguments.model.empty() ? "" : " --model " + shellWord(arguments.model);
  printNote("");
  printNote(pictures.empty() ? "pictures  " + program + " run " + kDay + model + " --out mpm_day"
                             : "look at   " + pictures);
  const fs::path app = fs::path(program_invocation_name).replace_filename("mpm-monitor");
  const bool display = isSet("DISPLAY") || isSet("WAYLAND_DISPLAY");
  std::error_code error;
  const bool has_app = app.has_parent_path() ? fs::exists(app, error) : true;
  if (display && has_app) printNote("live      " + shellWord(app.string()) + model + " demo:");
  printNote("yours     " + program + " run PICTURE" + model + " --out pictures");
  if (of_scene) printNote("how good  " + program + " eval \"demo:street?seed=1..4&step=1314000&frames=24\"" + model);
  printNote("how fast  " + program + " bench" + model + " --image demo:");
}

// Writes the pictures of each frame, under names that no other frame of this run has.
class PictureFolder {
 public:
  PictureFolder(const RunArguments& arguments, EstimateWriter& writer) : arguments_(arguments), writer_(writer) {
    makeFolder(arguments.folder);
  }

  /// Names of the files in the folder.
  std::vector<std::string> write(const std::string& wanted, const vision::Frame& frame, const Estimate& estimate,
                                 const vision::EstimateFiles& files) {
    const cv::Mat& image = frame.image;
    std::string name = wanted;
    for (int n = 2; !taken_.insert(name).second; ++n) name = wanted + "_" + std::to_string(n);
    std::vector<std::string> written;
    const auto put = [&](const std::string& ending, const cv::Mat& picture) {
      written.push_back(name + ending);
      vision::writePicture((std::filesystem::path(arguments_.folder) / written.back()).string(), picture);
      ++pictures_;
    };
    for (const auto& [ending, picture] : files.pictures)
      if (arguments_.wants(ending)) put(ending, picture);
    for (const auto& [ending, text] : files.texts) {
      if (!arguments_.wants(ending)) continue;
      written.push_back(name + ending);
      writeFileAtomically((std::filesystem::path(arguments_.folder) / written.back()).string(), text);
    }
    if (arguments_.wants(kMerge)) put(kMerge, vision::mergePicture(image, estimate));
    if (estimate.reuse && arguments_.wants(kComputed))
      put(kComputed, vision::computedPicture(image, *estimate.reuse, estimate.grid));
    if (!arguments_.only.empty() && arguments_.wants(kPicture)) put(kPicture, image);
    if (!arguments_.only.empty() && arguments_.wants(kTruth)) put(kTruth, frame.labels);
    for (int k = 0; arguments_.maps && k < static_cast<int>(estimate.cluster_of_token.size()); ++k)
      put(mapEnding(k), clusterMap(estimate.cluster_of_token[k], estimate.grid));
    return written;
  }

  /// A frame whose pictures are in the folder already: the legend is of all of them.
  void addEarlier(const JsonValue& frame_json) {
    writer_.addEarlier(frame_json);
    if (const auto outputs = frame_json.find("outputs")) {
      for (const JsonValue& name : outputs->list())
        pictures_ += name.text().ends_with(".png") || name.text().ends_with(".jpg");
    }
  }

  /// Writes the legend. Returns what there is in the folder.
  std::string finish() const {
    std::string summary = counted(pictures_, "picture");
    if (const cv::Mat legend = writer_.legend(); !legend.empty() && arguments_.wants(vision::EstimateFiles::kOverlay)) {
      vision::writePicture((std::filesystem::path(arguments_.folder) / arguments_.legend()).string(), legend);
      summary += " and " + arguments_.legend();
    }
    return summary + " in " + arguments_.folder;
  }

 private:
  const RunArguments& arguments_;
  EstimateWriter& writer_;
  std::set<std::string> taken_;  // names
  int pictures_ = 0;
};

int printUsage() {
  const std::string program = program_invocation_name;
  for (const std::string& line : {std::string("Usage: mpm run [OPTIONS] SOURCE..."), std::string(),
                                  std::string("A day of the built-in scene, its tokens by hour and its pictures:"),
                                  "  " + program + " run " + kDay + " --out mpm_day", std::string(),
                                  "Sources and options: " + program + " help run"})
    printNote(line);
  return kUsageError;
}

// What can be said of the options before the model is read, and what follows from them.
RunArguments checked(RunArguments arguments) {
  for (const auto& [option, used] : {std::pair("--maps", arguments.maps), std::pair("--resume", arguments.resume),
                                     std::pair("--only", !arguments.only.empty())})
    if (used && arguments.folder.empty()) throw UsageError(std::string(option) + " needs --out DIR");
  if (!arguments.shard.isWhole()) requireNamedImages("--shard", arguments.frames.sources);
  requireAllFrames(arguments.options.reuse, arguments.shard, arguments.resume);
  if (arguments.isDay() && arguments.chart.empty() && !arguments.folder.empty())
    arguments.chart = (std::filesystem::path(arguments.folder) / "tokens.png").string();
  arguments.options.min_score = arguments.min_score;
  arguments.options.min_overlap = arguments.min_overlap.value_or(arguments.options.min_overlap);
  return arguments;
}

// The model on all frames, and what is written of them. Of the source demo:day that is a table by hour, and pictures of
// a few moments.
class Run {
 public:
  explicit Run(RunArguments given);
  int all();

 private:
  void prepareOutputs();
  void requireOwnName(const std::vector<std::string>& names) const;
  std::optional<vision::Frame> next();
  void add(vision::Frame frame);
  Estimate estimate(const vision::Frame& frame);
  Json write(const vision::Frame& frame, const Estimate& estimate);
  void print(const Json& line, const std::string& name, const Estimate& estimate) const;
  std::vector<std::string> finishFiles();
  void sumUp(const std::vector<std::string>& written) const;

  const RunArguments arguments_;
  const bool day_ = arguments_.isDay();
  std::map<std::string, std::string> images_;  // with --resume: names of the images of the sources
  const std::string model_path_;
  Estimator estimator_;
  const ModelInfo& model_ = estimator_.model();
  EstimateWriter writer_;
  TokenHistory history_;
  ContactSheet sheet_;
  std::optional<PictureFolder> pictures_;
  std::optional<VideoFile> video_;
  std::optional<Manifest> manifest_;
  vision::PictureTimes times_;
  std::optional<Frames> frames_;
  std::string film_;           // of the frame before: reuse begins anew with another one
  std::exception_ptr silent_;  // why a camera gives no more frames
};

Run::Run(RunArguments given)
    : arguments_(checked(std::move(given))),
      images_(arguments_.resume ? requireNamedImages("--resume", arguments_.frames.sources)
                                : std::map<std::string, std::string>()),
      model_path_(chosenModel(arguments_.model)),
      estimator_(model_path_, arguments_.options),
      writer_(model_, estimator_.task()),
      history_(model_),
      sheet_(model_),
      times_(arguments_.times) {
  if (!givesSegments(estimator_.task()) && (arguments_.min_score || arguments_.min_overlap))
    throw UsageError("--min-score and --min-overlap are for the tasks panoptic, instance and boxes");
  prepareOutputs();
  FrameOptions frames = arguments_.frames;
  frames.chosen = [this](const std::string& path) {
    return arguments_.shard.contains(path) && !(manifest_ && manifest_->contains(imageName(path)));
  };
  for (const std::string& source : frames.sources) times_.learn(vision::sourceFiles(vision::parseSourceSpec(source)));
  frames_.emplace(frames);
}

void Run::prepareOutputs() {
  const std::vector<std::string>& sources = arguments_.frames.sources;
  if (!arguments_.folder.empty()) {
    const std::vector<std::string> names = endings(arguments_, writer_, arguments_.maps ? model_.schedule().size() : 0);
    requireApart(sources, arguments_.folder, names, arguments_.legend());
    pictures_.emplace(arguments_, writer_);
    requireOwnName(names);
  }
  const Inputs inputs{
      .models = {model_path_}, .sources = sources, .files = {arguments_.times.list, model_.reduction.policy}};
  requireOutput("--chart", arguments_.chart, inputs);
  requireEnding("--chart", arguments_.chart, ".png");
  requireOutput("--video", arguments_.video, inputs);
  if (!arguments_.video.empty()) video_.emplace(arguments_.video, frameRateOf(sources));
  if (!arguments_.resume) return;
  manifest_.emplace(arguments_.manifest(), workJson(arguments_, model_path_, model_), std::move(images_));
  for (const JsonValue& entry : manifest_->entries()) pictures_->addEarlier(entry);
}

// A chart among the pictures of the frames must not have a name that is theirs. `names`: the ends of these.
void Run::requireOwnName(const std::vector<std::string>& names) const {
  const std::filesystem::path chart = arguments_.chart;
  const std::string name = chart.filename().string();
  const bool taken = name == arguments_.legend() || (day_ && name == kDaySheet) ||
                     std::ranges::any_of(names, [&](const std::string& ending) { return name.ends_with(ending); });
  if (taken && sameFile(chart.parent_path().empty() ? "." : chart.parent_path().string(), arguments_.folder))
    throw UsageError("--chart is '" + arguments_.chart + "', a name of the pictures of --out: name another file");
}

// A camera that falls silent has ended, as one that is interrupted: what it gave before is kept.
std::optional<vision::Frame> Run::next() {
  try {
    return frames_->next();
  } catch (const Error&) {
    if (frames_->size()) throw;
    silent_ = std::current_exception();
    return std::nullopt;
  }
}

int Run::all() {
  while (std::optional<vision::Frame> frame = next()) add(std::move(*frame));
  if (day_ && !arguments_.json && !interrupted())
    for (const std::string& line : history_.hours()) printLine(line);
  sumUp(finishFiles());
  noteAssumed(model_);
  noteSlowPrecision(model_.precision);
  if (interrupted()) return kInterrupted;
  if (silent_) std::rethrow_exception(silent_);
  frames_->requireAll();
  return kOk;
}

void Run::add(vision::Frame frame) {
  frame.image = arguments_.night.applied(frame.image, frame.name);
  if (const auto taken = frame.seconds() ? std::nullopt : times_.of(frame.source))
    frame.unix_time = static_cast<double>(taken->time) / kSecondMs;
  const Estimate result = estimate(frame);
  if (day_ || !arguments_.chart.empty()) history_.add(frame, result);
  const Json outputs = write(frame, result);
  const Json line = frameJson(frames_->number(), frame, result, writer_.fields(result), outputs);
  if (manifest_) manifest_->append(line);
  print(line, frame.name, result);
}

Estimate Run::estimate(const vision::Frame& frame) try {
  const std::string film = frames_->filmOf(frame);
  if (film != std::exchange(film_, film)) estimator_.reset();
  return estimator_.estimate(frame.image, frame.seconds());
} catch (const Error& error) {
  throw Error(frame.name + ": " + error.what());
}

// Returns the names of its files in the folder; null where nothing is to be there.
Json Run::write(const vision::Frame& frame, const Estimate& estimate) {
  const auto minute = std::llround(frame.unix_time.value_or(0) / 60) % 1440;
  const auto moment = std::ranges::find_if(kMoments, [&](const auto& named) { return named.second == minute; });
  const bool draws = pictures_ && (!day_ || moment != kMoments.end());
  vision::EstimateFiles files;
  if (draws || video_) files = writer_.files(estimate, frame.image);
  if (video_) video_->add(EstimateWriter::annotated(files), frame.name);
  if (!draws) return day_ && pictures_ ? Json::array() : Json();
  if (!day_) return pictures_->write(frame.name, frame, estimate, files);
  const auto time = std::llround(frame.unix_time.value_or(0) * kSecondMs);
  sheet_.add(isoTime(time).substr(11, 5) + " UTC, " + moment->first, frame.image, estimate,
             estimate.task == Task::kSemantic ? estimate.labels : cv::Mat());
  return pictures_->write(moment->first, frame, estimate, files);
}

void Run::print(const Json& line, const std::string& name, const Estimate& estimate) const {
  if (stdoutIsTerminal()) frames_->clearProgress();
  if (arguments_.json) return printLine(line);
  if (day_) return;
  const std::string text = writer_.text(estimate);
  printLine(name + "  tokens " + tokensText(estimate.tokens) + "  " + fixed(estimate.ms.total, 1) + " ms" +
            (text.empty() ? "" : "  " + text));
}

// Writes what is of all frames. Returns what a person is told of.
std::vector<std::string> Run::finishFiles() {
  std::vector<std::string> written;
  if (pictures_) written.push_back(pictures_->finish());
  if (day_ && !interrupted()) {
    written.clear();
    if (!sheet_.empty()) {
      written.push_back((std::filesystem::path(arguments_.folder) / kDaySheet).string());
      vision::writePicture(written.back(), sheet_.picture());
    }
  }
  const bool any = frames_->read() > 0;
  if (any && !arguments_.chart.empty() && !interrupted()) {  // half a chart would pass for a whole one
    vision::writePicture(arguments_.chart, history_.chart());
    written.push_back(arguments_.chart);
  }
  if (any && video_ && (!interrupted() || !frames_->size())) {  // the end of a camera's video is an interruption
    video_->finish();
    written.push_back(arguments_.video);
  }
  return written;
}

void Run::sumUp(const std::vector<std::string>& written) const {
  if (arguments_.json) return;
  std::string text;
  for (const std::string& one : written) text += (text.empty() ? "" : day_ ? ", then " : ", ") + one;
  if (day_ && !interrupted()) {
    const bool of_scene = std::ranges::equal(model_.facts.classes, frames_->classNames(), {}, &ClassInfo::name);
    return printHints(arguments_, text, of_scene);
  }
  const std::size_t before = manifest_ ? manifest_->entries().size() : 0;
  printNote(counted(frames_->read(), "frame") + (before > 0 ? " and " + std::to_string(before) + " before" : "") +
            ", " + (text.empty() ? "nothing written: --out DIR keeps the results" : text));
}

int run(RunArguments arguments) {
  if (arguments.frames.sources.empty()) return printUsage();
  return Run(std::move(arguments)).all();
}

}  // namespace

Verb addRun(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("run", "Labels, segments, objects or depth of images, videos and cameras");
  const auto arguments = std::make_shared<RunArguments>();
  addOption(*verb, "SOURCE", arguments->frames.sources, "...",
            "Image, folder of images, glob (\"street/*.png\"), video, camera (0, /dev/video0), URL (rtsp://, "
            "http://), pipeline (gst:... ! appsink) or the built-in scene (\"demo:street?weather=rain\"). "
            "demo:day: a day of the scene, its tokens by hour, and with --out pictures of four moments");
  addModelOptions(*verb, arguments->model, arguments->options);
  addField(*verb, "refine", arguments->options.refine, parseRefine);
  addReuse(*verb, arguments->options.reuse);
  addChoice(*verb, "--task", arguments->options.task,
            {Task::kSemantic, Task::kPanoptic, Task::kInstance, Task::kDepth, Task::kBoxes},
            "What to make of the net's output. Default: the task in the model's JSON, else what the head does ('mpm "
            "info' names it)")
      ->group(kNetworkGroup);
  addSegmentLimits(*verb, arguments->min_score, arguments->min_overlap);
  addOption(*verb, "-o,--out", arguments->folder, "DIR",
            "Write into this folder: NAME_labels.png (8-bit class index, as large as the image; almost black to "
            "the eye), NAME_overlay.png, NAME_merge.png (each cluster in its mean colour) and legend.png "
            "(colours of the overlays). Of segments and objects instead of labels: "
            "NAME_segments.png (16 bits, the segment of each pixel, 0 for none) and NAME_segments.json. For depth "
            "instead of labels and "
            "overlay: NAME_depth.png (16 bits) and NAME_depth_colors.png. With --reuse also NAME_computed.png (patches "
            "that were kept are dark). Of a model without a task NAME_output.npy, for NumPy, and NAME_output.png where "
            "it is an image of one channel, stretched to black and white; then _output2 and so on. Default: nowhere");
  addOption(
      *verb, "--only", arguments->only, "NAME,NAME",
      "Of these files write only those: labels, overlay, merge, segments, depth, depth_colors, output or computed; "
      "or "
      "picture: the frame itself, NAME_picture.jpg; or of the built-in scene truth: the exact class of each pixel, "
      "NAME_truth.png, as NAME_labels.png")
      ->delimiter(',')
      ->allow_extra_args(false);
  CLI::Option* const video = addOption(
      *verb, "--video", arguments->video, "FILE.mp4",
      "Write the overlays (of depth, its colours) of all frames as a video: .mp4, .mkv, .mov or .avi. It has the "
      "frame rate of the first video or scene that it is made of, else 25. Its sides are even: of odd frames the "
      "last row and column are left out");
  addNumber(*verb, "--max-frames", arguments->frames.max_frames, "N", 1, 1 << 30,
            "Stop after this many frames, of this shard and this call");
  verb->add_flag("--json", arguments->json, "One JSON object per frame, one per line");
  verb->option_defaults()->group("More files");
  verb->add_flag("--maps", arguments->maps,
                 "Write the merge maps as data into DIR: NAME_map1.png, NAME_map2.png, ..., one per insertion");
  addOption(*verb, "--chart", arguments->chart, "FILE.png",
            "Draw the tokens of the built-in scene over time. Default: nowhere; DIR/tokens.png for demo:day with --out "
            "DIR");
  verb->option_defaults()->group(kJobGroup);
  addNight(*verb, arguments->night);
  addShard(*verb, arguments->shard);
  addTimes(*verb, arguments->times);
  verb->add_flag("--resume", arguments->resume,
                 "Note every finished image in DIR/manifest.jsonl, as a line of --json, and leave out those that it "
                 "names: a run that was killed goes on. Of shard 2/8 the file is manifest-2-of-8.jsonl")
      ->excludes(video)
      ->option_text(" ");
  addNumber(*verb, "--timeout", arguments->frames.timeout_s, "SECONDS", 0.01, 1e6,
            "Give up when a camera or URL sends nothing for this long. Default: 10");
  verb->footer(
      R"(With --json each line is {"frame", "source", "name", "tokens": [N, N after each insertion], "classes": {name: area
fraction}, "ms": {"total", "preprocess", "backbone", "merge", "restore", "head", "postprocess"}}. "frame" counts
from 0 through all sources; images of other shards and of earlier runs count, too. Instead of
"classes" it has "segments": [{"id", "class", "score", "area" (px), "thing"}] for the tasks panoptic, instance and boxes,
of a model with boxes also "box": [left, top, right, bottom] (px), and
"depth": {"unit", "min", "median", "max", "offset", "step"} for depth; in NAME_depth.png, depth = offset + step x pixel.
Without a task there is "output": [{"name", "shape", "min", "max"}].
With --reuse there is "reuse": {"rows": share of the rows that were computed, "key_frame", "agreement": in percent}.
With --out there is also "outputs": the names of the files written. "time" (ISO 8601, UTC) is that of the scene, or what a
picture's EXIF data or its name say; of the scene alone are "film" (which street of this source, from 0), "night" and
"sun_elevation" (degrees).

A map of --maps is a PNG of 16-bit grey with one pixel per token. The value is the token's cluster after this insertion
and all before it: tokens with the same value were merged. They may lie apart, because pairs are nearest neighbours in
features, not in the picture. Read it with cv::IMREAD_UNCHANGED; to the eye it is almost black.

The built-in scene takes seed, start, speed, step, fps, frames, size, weather, latitude, longitude, shake, noise,
variety and jpeg: 'man mpm' and docs/scene.md explain them.

Examples:
  mpm run demo:day --out mpm_day
  mpm run street.png --model vit.onnx --out pictures
  mpm run street.mp4 --model vit.onnx --video annotated.mp4
  mpm run street.png --model vit.onnx --reduce mpm:blocks=2,5 --out pictures --maps
  mpm run 0 --model vit.onnx --json | jq .tokens
  mpm run "demo:street?seed=7&step=600&frames=144" --model vit.onnx --chart day.png
  mpm run video.avi --model vit.onnx --reduce none --max-frames 100
  mpm run rtsp://user:password@camera/stream --model vit.onnx --json
  mpm run images --model vit.onnx --out pictures --shard 2/8 --resume
)");
  return {verb, [arguments] { return run(*arguments); }};
}

}  // namespace mpm::cli
