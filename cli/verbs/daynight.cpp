// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "cli/blocked_mean.h"
#include "cli/left_out.h"
#include "cli/model_options.h"
#include "cli/night.h"
#include "cli/paths.h"
#include "cli/terminal/errors.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "mpm/error.hpp"
#include "mpm/segmenter.hpp"
#include "vision/pictures.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

struct DayNightArguments {
  std::vector<std::string> sources;
  std::string model, folder;
  SegmenterOptions options;
  vision::NightOptions night;
  int max_frames = 0;  // 0: all
  bool json = false;
};

constexpr const char* kEnding = "_daynight.png";

/// A number of each image.
struct Sample {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
  double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  /// Between images; nullopt of one.
  std::optional<double> deviation() const {
    if (values.size() < 2) return std::nullopt;
    double squares = 0;
    for (const double value : values) squares += (value - mean()) * (value - mean());
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
};

/// Tokens after one insertion.
struct Insertion {
  Sample day, night;
  /// How many more there are by night in the same image.
  Sample difference() const {
    Sample result;
    for (std::size_t i = 0; i < day.values.size(); ++i) result.add(night.values[i] - day.values[i]);
    return result;
  }
};

struct Interval {
  double mean = 0;
  std::optional<double> half;  // of 95 %
};

/// What was found of the images.
struct Comparison {
  double tokens = 0;                  // of the full grid
  std::vector<Insertion> insertions;  // by the schedule
  std::vector<int> films;             // of each image
  int by_night = 0;                   // images left out, because they show a night as they are

  std::size_t images() const { return films.size(); }
  Interval difference(std::size_t k) const {
    const Sample each = insertions[k].difference();
    return {each.mean(), halfInterval(each.values, blocksOf(films))};
  }
  /// Tokens merged away by all insertions, as a change from day to night in percent of the day's; none are: no number.
  /// The interval is that of a ratio of means.
  Interval mergedChange() const {
    const Insertion& last = insertions.back();
    const double day = tokens - last.day.mean(), ratio = (tokens - last.night.mean()) / day;
    Sample residual;
    for (std::size_t i = 0; i < images(); ++i)
      residual.add((tokens - last.night.values[i]) - ratio * (tokens - last.day.values[i]));
    std::optional<double> half = halfInterval(residual.values, blocksOf(films));
    if (half) *half *= 100 / day;
    return {100 * (ratio - 1), half};
  }
  int blocks() const { return blocksOf(films).back() + 1; }
};

Json sampleJson(const Sample& sample) {
  const auto deviation = sample.deviation();
  return {{"mean", sample.mean()}, {"sd", deviation ? Json(*deviation) : Json(nullptr)}};
}

Json intervalJson(const Interval& interval) {
  Json json = {{"mean", interval.mean}, {"low", nullptr}, {"high", nullptr}};
  if (interval.half) {
    json["low"] = interval.mean - *interval.half;
    json["high"] = interval.mean + *interval.half;
  }
  return json;
}

Json resultJson(const DayNightArguments& arguments, const Schedule& schedule, const Comparison& found) {
  Json rows = Json::array();
  for (std::size_t k = 0; k < found.insertions.size(); ++k) {
    const Insertion& insertion = found.insertions[k];
    rows.push_back({{"block", schedule[k]},
                    {"day", sampleJson(insertion.day)},
                    {"night", sampleJson(insertion.night)},
                    {"difference", intervalJson(found.difference(k))}});
  }
  const Insertion& last = found.insertions.back();
  const Json change = intervalJson(found.mergedChange());
  return {{"images", found.images()},
          {"left_out_by_night", found.by_night},
          {"blocks", found.blocks()},
          {"night", toJson(arguments.night)},
          {"tokens", found.tokens},
          {"insertions", rows},
          {"merged",
           {{"day", found.tokens - last.day.mean()},
            {"night", found.tokens - last.night.mean()},
            {"change_percent", change["mean"]},
            {"change_low", change["low"]},
            {"change_high", change["high"]}}}};
}

std::string rangeText(const Interval& interval) {
  return interval.half ? fixed(interval.mean - *interval.half, 1) + " .. " + fixed(interval.mean + *interval.half, 1)
                       : std::string();
}

void printTable(const Schedule& schedule, const Comparison& found) {
  const auto cell = [](std::string text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
  };
  const auto spread = [&](const Sample& sample) {
    const auto deviation = sample.deviation();
    return cell(fixed(sample.mean(), 1), 9) + cell(deviation ? fixed(*deviation, 1) : "-", 8);
  };
  printLine("tokens after       day      sd    night      sd   night - day (95 % interval)");
  for (std::size_t k = 0; k < found.insertions.size(); ++k) {
    const Interval difference = found.difference(k);
    std::string name = "block " + std::to_string(schedule[k]);
    name.resize(13, ' ');
    printLine(name + spread(found.insertions[k].day) + spread(found.insertions[k].night) +
              cell(fixed(difference.mean, 1), 9) + "   (" +
              (difference.half ? rangeText(difference) : "one image has no interval") + ")");
  }
  const Insertion& last = found.insertions.back();
  const Interval change = found.mergedChange();
  printLine("of " + fixed(found.tokens, 0) + " tokens, " + fixed(found.tokens - last.day.mean(), 1) +
            " are merged by day and " + fixed(found.tokens - last.night.mean(), 1) + " by night (" +
            (std::isfinite(change.mean) ? fixed(change.mean, 1) + " %" : "-") +
            (std::isfinite(change.mean) && change.half ? ", interval " + rangeText(change) : "") + "), mean over " +
            std::to_string(found.images()) + (found.images() == 1 ? " image" : " images") +
            (change.half ? " in " + std::to_string(found.blocks()) + " blocks" : ""));
}

// Day above night, the image at the left and what became of its tokens at the right.
cv::Mat sideBySide(const cv::Mat& day, const Segmentation& day_result, const cv::Mat& night,
                   const Segmentation& night_result) {
  cv::Mat upper, lower, picture;
  cv::hconcat(day, vision::mergePicture(day, day_result.cluster_of_token.back(), day_result.grid), upper);
  cv::hconcat(night, vision::mergePicture(night, night_result.cluster_of_token.back(), night_result.grid), lower);
  cv::vconcat(upper, lower, picture);
  return picture;
}

int dayNight(const DayNightArguments& arguments) {
  if (!arguments.folder.empty()) requireApart(arguments.sources, arguments.folder, {kEnding});
  Segmenter segmenter(chosenModel(arguments.model), arguments.options);
  const Schedule schedule = segmenter.model().schedule;
  if (schedule.empty()) throw Error("this model merges no tokens: there is nothing to compare (see --schedule)");
  if (!arguments.folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(arguments.folder, error);
    if (error) throw Error("cannot make the folder '" + arguments.folder + "': " + error.message());
  }
  Comparison found;
  found.insertions.resize(schedule.size());
  std::set<std::string> names;
  int film = -1;
  FrameCount count;
  const int& images = count.read;
  {
    std::unique_ptr<Progress> progress;
    const vision::SourceOptions source_options{.stop = &interrupted(), .on_unreadable = [&](const std::string& why) {
                                                 ++count.left_out;
                                                 progress->note("left out: " + why);
                                                 progress->step();
                                               }};
    const auto enough = [&] { return interrupted() || (arguments.max_frames > 0 && images == arguments.max_frames); };
    for (const std::string& text : arguments.sources) {
      if (enough()) break;
      const std::unique_ptr<vision::FrameSource> source = vision::openSource(text, source_options);
      if (!progress) {
        std::optional<int> total = arguments.sources.size() == 1 ? source->size() : std::nullopt;
        if (arguments.max_frames > 0) total = std::min(total.value_or(arguments.max_frames), arguments.max_frames);
        progress = std::make_unique<Progress>(stderrIsTerminal(), total);
      }
      ++film;
      int of_source = 0;
      while (!enough()) {
        const std::optional<vision::Frame> frame = source->next();
        if (!frame) break;
        film += std::exchange(of_source, frame->film) != frame->film;
        if (frame->night.value_or(false)) {
          ++found.by_night;
          progress->step();
          continue;
        }
        const cv::Mat dark = vision::simulateNight(frame->image, arguments.night, static_cast<std::uint64_t>(images));
        const Segmentation day = segmenter.segment(frame->image), night = segmenter.segment(dark);
        found.tokens = day.tokens.front();
        found.films.push_back(film);
        for (std::size_t k = 0; k < found.insertions.size(); ++k) {
          found.insertions[k].day.add(day.tokens[k + 1]);
          found.insertions[k].night.add(night.tokens[k + 1]);
        }
        if (!arguments.folder.empty()) {
          std::string name = frame->name;
          for (int n = 2; !names.insert(name).second; ++n) name = frame->name + "_" + std::to_string(n);
          vision::writePicture((std::filesystem::path(arguments.folder) / (name + kEnding)).string(),
                               sideBySide(frame->image, day, dark, night));
        }
        ++count.read;
        progress->step();
      }
    }
  }
  if (images > 0) {
    if (arguments.json)
      printLine(resultJson(arguments, schedule, found));
    else
      printTable(schedule, found);
  }
  if (found.by_night > 0)
    printNote(std::to_string(found.by_night) + " images of the night were left out: they are dark as they are");
  if (interrupted()) {
    printNote("interrupted after " + std::to_string(images) + " images");
    return kInterrupted;
  }
  count.requireAll();
  if (images == 0) throw Error(found.by_night > 0 ? "all images show the night" : "the sources hold no image");
  return kOk;
}

}  // namespace

Verb addDayNight(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("daynight", "Compare token counts by day and by simulated night");
  const auto arguments = std::make_shared<DayNightArguments>();
  verb->add_option(
          "SOURCE", arguments->sources,
          "Image, folder of images, glob, video, or the built-in scene\n(\"demo:street?speed=600&frames=100\")")
      ->required()
      ->option_text("...");
  addModelOptions(*verb, arguments->model, arguments->options);
  verb->add_option("--night", arguments->night.gain, "Share of the light that is left by night. Default: 0.25")
      ->check(CLI::Range(1e-3, 1.0))
      ->option_text("GAIN");
  addNightNoise(*verb, arguments->night);
  verb->add_option("--out", arguments->folder,
                   "Write NAME_daynight.png there: the image and its merge map,\nby day above, by night below")
      ->type_name("DIR");
  verb->add_option("--max-frames", arguments->max_frames, "Stop after so many images")
      ->check(CLI::Range(1, 1 << 30))
      ->option_text("N");
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer(
      "Each image runs twice, as it is and by night; differences are paired. Images that follow each other are alike,\n"
      "so the intervals count blocks: a film each (the streets of \"seed=1..8\", several videos or folders) where "
      "there "
      "are\nfive or more, else some ten stretches of images.\n"
      "With --json: {\"images\", \"left_out_by_night\", \"blocks\", \"night\", \"tokens\", \"insertions\": "
      "[{\"block\", \"day\": {\"mean\", \"sd\"}, "
      "\"night\", \"difference\":\n{\"mean\", \"low\", \"high\"}}], \"merged\": {\"day\", \"night\", "
      "\"change_percent\", \"change_low\",\n\"change_high\"}}.\n\n"
      "Example:\n"
      "  mpm daynight \"demo:street?weather=auto&speed=20000&frames=100\" --model vit.onnx\n");
  return {verb, [arguments] { return dayNight(*arguments); }};
}

}  // namespace mpm::cli
