// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <set>

#include "base/atomic_file.h"
#include "cli/class_names.h"
#include "cli/left_out.h"
#include "cli/model_options.h"
#include "cli/moment.h"
#include "cli/night.h"
#include "cli/paths.h"
#include "cli/pictures/contact_sheet.h"
#include "cli/pictures/legend.h"
#include "cli/pictures/token_history.h"
#include "cli/terminal/errors.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "mpm/error.hpp"
#include "mpm/segmenter.hpp"
#include "scene/street.h"
#include "vision/pictures.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

struct RunArguments {
  std::vector<std::string> sources;
  std::string model, folder, chart;
  SegmenterOptions options;
  Night night;
  double timeout_s = vision::SourceOptions{}.timeout_s;
  int max_frames = 0;  // 0: all
  bool maps = false, json = false;
};

// Ten minutes from frame to frame; the days are about as long as the nights, and the trees green.
constexpr const char* kDay = "demo:street?seed=7&start=2026-09-20T00:00&step=600&frames=144";
constexpr const char* kDayFolder = "mpm_day";
constexpr std::array<std::pair<const char*, int>, 4> kMoments = {
    {{"dawn", 34}, {"noon", 72}, {"dusk", 109}, {"night", 126}}};

constexpr const char *kLabels = "_labels.png", *kOverlay = "_overlay.png", *kMerge = "_merge.png";
constexpr const char* kLegend = "legend.png";

std::string mapEnding(int insertion) { return "_map" + std::to_string(insertion + 1) + ".png"; }

// What the pictures of a frame are called, behind its name.
std::vector<std::string> endings(const ModelInfo& model, bool maps) {
  std::vector<std::string> all = {kLabels, kOverlay, kMerge};
  for (int k = 0; maps && k < static_cast<int>(model.schedule.size()); ++k) all.push_back(mapEnding(k));
  return all;
}

// The cluster of each token, the merge map as data: CV_16U of the grid's size.
cv::Mat clusterMap(const std::vector<int>& cluster_of_token, Size2 grid) {
  cv::Mat map(grid.height, grid.width, CV_16U);
  for (int i = 0; i < static_cast<int>(cluster_of_token.size()); ++i) {
    if (cluster_of_token[i] > 65535)
      throw Error("--maps writes clusters 0 to 65535, and this grid of " + std::to_string(grid.height) + "x" +
                  std::to_string(grid.width) + " tokens has more: choose a smaller --input-size");
    map.at<std::uint16_t>(i / grid.width, i % grid.width) = static_cast<std::uint16_t>(cluster_of_token[i]);
  }
  return map;
}

// Share of the pixels of each class that occurs, in the order of the classes.
std::vector<std::pair<int, double>> classAreas(const cv::Mat& labels) {
  std::vector<std::int64_t> counts(256);
  for (int y = 0; y < labels.rows; ++y)
    for (int x = 0; x < labels.cols; ++x) ++counts[labels.ptr<unsigned char>(y)[x]];
  std::vector<std::pair<int, double>> areas;
  for (int c = 0; c < 256; ++c)
    if (counts[c] > 0) areas.emplace_back(c, static_cast<double>(counts[c]) / static_cast<double>(labels.total()));
  return areas;
}

std::string frameText(const vision::Frame& frame, const Segmentation& result, const std::vector<std::string>& names) {
  std::string text = frame.name + "  tokens " + tokensText(result.tokens) + "  " + fixed(result.ms.total, 1) + " ms";
  auto areas = classAreas(result.labels);
  std::stable_sort(areas.begin(), areas.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < std::min<std::size_t>(areas.size(), 3); ++i)
    text += (i == 0 ? "  " : ", ") + names[areas[i].first] + " " + fixed(100 * areas[i].second, 0) + " %";
  return text;
}

// `outputs`: names of the files written; null when nothing is to be.
Json frameJson(int number, const vision::Frame& frame, const Segmentation& result,
               const std::vector<std::string>& names, const Json& outputs) {
  Json tokens = Json::array();
  for (double count : result.tokens) tokens.push_back(static_cast<int>(count));
  Json classes = Json::object();
  if (!result.labels.empty())  // every class in every line: a table needs no filling in
    for (const std::string& name : names) classes[name] = 0.0;
  for (const auto& [label, area] : classAreas(result.labels)) classes[names[label]] = area;
  Json json = {{"frame", number}, {"source", frame.source}, {"name", frame.name}};
  addMoment(frame, json);
  json["tokens"] = tokens;
  json["classes"] = classes;
  json["ms"] = toJson(result.ms);
  if (!outputs.is_null()) json["outputs"] = outputs;
  return json;
}

std::string timeOfDay(const vision::Frame& frame) {
  return scene::formatTime(frame.unix_time.value_or(0)).substr(11, 5);
}

// What to look at and what to do next, in words that can be pasted.
void printHints(const RunArguments& arguments, const std::string& pictures) {
  namespace fs = std::filesystem;
  const std::string program = program_invocation_name;
  const std::string model = arguments.model.empty() ? "" : " --model " + arguments.model;
  printNote("\nlook at   " + pictures);
  const auto named = [](const char* variable) {
    const char* value = std::getenv(variable);
    return value && *value;
  };
  const fs::path app = fs::path(program).replace_filename("mpm-monitor");
  const bool display = named("DISPLAY") || named("WAYLAND_DISPLAY");
  std::error_code error;
  const bool has_app = app.has_parent_path() ? fs::exists(app, error) : true;
  if (display && has_app) printNote("live      " + app.string() + model + " demo:");
  printNote("yours     " + program + " run PICTURE" + model + " --out pictures");
  printNote("how good  " + program + " eval \"demo:street?seed=1..4&step=1314000&frames=24\"" + model);
  printNote("how fast  " + program + " bench" + model + " --image demo:");
}

// Writes the pictures of each frame, under names that no other frame of this run has.
class PictureFolder {
 public:
  PictureFolder(std::string folder, const ModelInfo& model, bool maps)
      : folder_(std::move(folder)),
        model_(model),
        maps_(maps),
        colors_(vision::classColors(model.facts, model.classes)) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    if (error || !std::filesystem::is_directory(folder_))
      throw Error("cannot make the folder '" + folder_ + "'" + (error ? ": " + error.message() : ""));
  }

  /// Names of the files in the folder.
  std::vector<std::string> write(const vision::Frame& frame, const Segmentation& result) {
    std::string name = frame.name;
    for (int n = 2; !names_.insert(name).second; ++n) name = frame.name + "_" + std::to_string(n);
    std::vector<std::string> written;
    const auto put = [&](const std::string& ending, const cv::Mat& picture) {
      written.push_back(name + ending);
      vision::writePicture((std::filesystem::path(folder_) / written.back()).string(), picture);
      ++pictures_;
    };
    if (!result.labels.empty()) {
      put(kLabels, result.labels);
      put(kOverlay, vision::overlayPicture(frame.image, result.labels, colors_));
      for (const auto& [label, area] : classAreas(result.labels)) classes_.insert(label);
    }
    std::vector<int> every_token(static_cast<std::size_t>(result.grid.height) * result.grid.width);
    std::iota(every_token.begin(), every_token.end(), 0);
    const auto& map = result.cluster_of_token.empty() ? every_token : result.cluster_of_token.back();
    put(kMerge, vision::mergePicture(frame.image, map, result.grid));
    for (int k = 0; maps_ && k < static_cast<int>(result.cluster_of_token.size()); ++k)
      put(mapEnding(k), clusterMap(result.cluster_of_token[k], result.grid));
    return written;
  }

  /// What the colours of the overlays mean.
  void writeLegend() const {
    if (!classes_.empty())
      vision::writePicture((std::filesystem::path(folder_) / kLegend).string(), legendPicture(model_, classes_));
  }

  std::string summary() const {
    return std::to_string(pictures_) + " pictures" + (classes_.empty() ? "" : std::string(" and ") + kLegend) + " in " +
           folder_;
  }

 private:
  std::string folder_;
  const ModelInfo& model_;
  bool maps_;
  std::vector<cv::Vec3b> colors_;
  std::set<int> classes_;  // that occurred
  std::set<std::string> names_;
  int pictures_ = 0;
};

// How many frames the sources have, if that is known before they are read.
std::optional<int> expectedFrames(const vision::FrameSource& source, const RunArguments& arguments) {
  std::optional<int> frames = arguments.sources.size() == 1 ? source.size() : std::nullopt;
  if (arguments.max_frames > 0) frames = std::min(frames.value_or(arguments.max_frames), arguments.max_frames);
  return frames;
}

// Every frame of every source to `take`.
FrameCount forEachFrame(const RunArguments& arguments, Segmenter& segmenter, bool show_progress,
                        const std::function<void(int, const vision::Frame&, const Segmentation&)>& take) {
  std::optional<Progress> progress;
  FrameCount count;
  const vision::SourceOptions source_options{
      .timeout_s = arguments.timeout_s, .stop = &interrupted(), .on_unreadable = [&](const std::string& why) {
        ++count.left_out;
        progress->note("left out: " + why);
        progress->step();
      }};
  const auto enough = [&] { return interrupted() || (arguments.max_frames > 0 && count.read == arguments.max_frames); };
  for (const std::string& text : arguments.sources) {
    if (enough()) break;
    const std::unique_ptr<vision::FrameSource> source = vision::openSource(text, source_options);
    if (!progress) progress.emplace(show_progress, expectedFrames(*source, arguments));
    while (!enough()) {
      std::optional<vision::Frame> frame = source->next();
      if (!frame) break;
      frame->image = arguments.night.applied(frame->image, count.read);
      Segmentation result;
      try {
        result = segmenter.segment(frame->image);
      } catch (const Error& error) {
        throw Error(frame->name + ": " + error.what());
      }
      take(count.read++, *frame, result);
      progress->step();
    }
  }
  return count;
}

void requireWritableChart(const RunArguments& arguments, const std::string& model) {
  if (arguments.chart.empty()) return;
  if (sameFile(arguments.chart, model)) throw UsageError("--chart is the model: name another file");
  requireWritable(arguments.chart);
}

int run(const RunArguments& arguments) {
  if (arguments.maps && arguments.folder.empty()) throw UsageError("--maps needs --out DIR");
  Segmenter segmenter(chosenModel(arguments.model), arguments.options);
  if (!arguments.folder.empty())
    requireApart(arguments.sources, arguments.folder, endings(segmenter.model(), arguments.maps), kLegend);
  const std::vector<std::string> names = classNames(segmenter.model());
  std::optional<PictureFolder> pictures;
  if (!arguments.folder.empty()) pictures.emplace(arguments.folder, segmenter.model(), arguments.maps);
  requireWritableChart(arguments, chosenModel(arguments.model));
  std::optional<TokenHistory> history;
  if (!arguments.chart.empty()) history.emplace(segmenter.model());

  // Lines on the same terminal are progress enough.
  const FrameCount count = forEachFrame(arguments, segmenter, stderrIsTerminal() && !stdoutIsTerminal(),
                                        [&](int number, const vision::Frame& frame, const Segmentation& result) {
                                          if (history) history->add(frame, result);
                                          const Json outputs =
                                              pictures ? Json(pictures->write(frame, result)) : Json(nullptr);
                                          if (arguments.json)
                                            printLine(frameJson(number, frame, result, names, outputs));
                                          else
                                            printLine(frameText(frame, result, names));
                                        });
  if (pictures) pictures->writeLegend();
  std::string written = pictures ? pictures->summary() : "";
  if (history && !interrupted()) {  // half a day's chart is no chart
    vision::writePicture(arguments.chart, history->chart());
    written += (written.empty() ? "" : ", ") + arguments.chart;
  }
  if (written.empty()) written = "nothing written: --out DIR keeps label maps, overlays and merge maps";
  if (!arguments.json) printNote(std::to_string(count.read) + (count.read == 1 ? " frame, " : " frames, ") + written);
  if (interrupted()) return kInterrupted;
  count.requireAll();
  return kOk;
}

// Mutual Pair Merging over a day of the built-in scene: what there is to see before anything is named.
int runDay(RunArguments arguments) {
  arguments.sources = {kDay};
  if (arguments.folder.empty()) arguments.folder = kDayFolder;
  Segmenter segmenter(chosenModel(arguments.model), arguments.options);
  PictureFolder pictures(arguments.folder, segmenter.model(), arguments.maps);
  if (arguments.chart.empty()) arguments.chart = (std::filesystem::path(arguments.folder) / "tokens.png").string();
  requireWritableChart(arguments, chosenModel(arguments.model));
  TokenHistory history(segmenter.model());
  ContactSheet sheet(segmenter.model());
  const std::vector<std::string> names = classNames(segmenter.model());
  forEachFrame(arguments, segmenter, stderrIsTerminal(),
               [&](int number, const vision::Frame& frame, const Segmentation& result) {
                 history.add(frame, result);
                 Json outputs = Json::array();  // of a few moments
                 for (const auto& [name, moment] : kMoments) {
                   if (moment != number) continue;
                   vision::Frame named = frame;
                   named.name = name;
                   outputs = pictures.write(named, result);
                   sheet.add(timeOfDay(frame) + " UTC, " + name, frame.image, result);
                 }
                 if (arguments.json) printLine(frameJson(number, frame, result, names, outputs));
               });
  if (interrupted()) return kInterrupted;
  pictures.writeLegend();
  if (!arguments.json)
    for (const std::string& line : history.hours()) printLine(line);
  vision::writePicture(arguments.chart, history.chart());
  std::string made = arguments.chart;
  if (!sheet.empty()) {
    const std::string day = (std::filesystem::path(arguments.folder) / "day.png").string();
    vision::writePicture(day, sheet.picture());
    made = day + ", then " + made;
  }
  if (!arguments.json) printHints(arguments, made);
  return kOk;
}

}  // namespace

Verb addRun(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("run", "Segment images, videos and cameras");
  const auto arguments = std::make_shared<RunArguments>();
  verb->add_option(
          "SOURCE", arguments->sources,
          "Image, folder of images, glob (\"street/*.png\"), video,\ncamera (0, /dev/video0), address (rtsp://, "
          "http://),\npipeline (gst:... ! appsink) or the built-in scene\n(\"demo:street?weather=rain\"). Without one: "
          "a day of the\nscene, its pictures and its tokens by hour")
      ->option_text("...");
  addModelOptions(*verb, arguments->model, arguments->options);
  verb->add_option(
          "--out", arguments->folder,
          "Write NAME_labels.png (8-bit class index, the image's size: almost\nblack to the eye), NAME_overlay.png, "
          "NAME_merge.png (each cluster in its\nmean colour) and legend.png (colours of the overlays) there.\n"
          "Default: nowhere; mpm_day without SOURCE")
      ->type_name("DIR");
  verb->add_flag("--maps", arguments->maps,
                 "Write the merge maps as data there, too: NAME_map1.png, NAME_map2.png, ...,\none per insertion; see "
                 "below");
  verb->add_option("--chart", arguments->chart,
                   "Draw the tokens over time (built-in scene only: others do not know\ntheir time). Default: nowhere; "
                   "mpm_day/tokens.png without SOURCE")
      ->option_text("FILE.png");
  addNight(*verb, arguments->night);
  verb->add_option("--max-frames", arguments->max_frames, "Stop after so many frames")
      ->check(CLI::Range(1, 1 << 30))
      ->option_text("N");
  verb->add_option("--timeout", arguments->timeout_s,
                   "Give up on a camera or address that is silent for so long.\nDefault: 10")
      ->check(CLI::Range(0.01, 1e6))
      ->option_text("SECONDS");
  verb->add_flag("--json", arguments->json, "One JSON object per frame, one per line");
  verb->footer(
      "With --json each line is {\"frame\", \"source\", \"name\", \"tokens\": [N, N after each insertion], "
      "\"classes\": {name: area\n"
      "fraction}, \"ms\": {\"total\", \"preprocess\", \"backbone\", \"merge\", \"restore\", \"head\", "
      "\"postprocess\"}}; with --out,\n"
      "\"outputs\": the names of the files written; of the scene, \"time\" (ISO 8601, UTC), \"film\" (which "
      "street),\n\"night\" and \"sun_elevation\" (degrees).\n\n"
      "A map of --maps is a PNG of 16-bit grey, one pixel per token, the value its cluster after this insertion and "
      "all\n"
      "before it: tokens of one value were merged. They may lie apart: pairs are mutual nearest neighbours in "
      "features,\n"
      "not in the picture. Read it as it is (cv::IMREAD_UNCHANGED); to the eye it is almost black.\n\n"
      "The built-in scene takes seed, start, speed, step, fps, frames, size, weather, latitude, longitude, shake, "
      "noise "
      "and\njpeg: 'man mpm' and docs/scene.md tell what they mean.\n\n"
      "Examples:\n"
      "  mpm run\n"
      "  mpm run street.png --model vit.onnx --out pictures\n"
      "  mpm run street.png --model vit.onnx --schedule 2,5 --out pictures --maps\n"
      "  mpm run 0 --model vit.onnx --json | jq .tokens\n"
      "  mpm run \"demo:street?seed=7&step=600&frames=144\" --model vit.onnx --chart day.png\n"
      "  mpm run video.avi --model vit.onnx --schedule none --max-frames 100\n"
      "  mpm run rtsp://user:password@camera/stream --model vit.onnx --json\n");
  return {verb, [arguments] { return arguments->sources.empty() ? runDay(*arguments) : run(*arguments); }};
}

}  // namespace mpm::cli
