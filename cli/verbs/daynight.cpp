// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/number_text.h"
#include "cli/camera_options.h"
#include "cli/frames.h"
#include "cli/verbs/verbs.h"
#include "evaluation/block_mean.h"
#include "evaluation/numbers.h"
#include "mpm/error.hpp"
#include "mpm/estimator.hpp"
#include "program/paths.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {

namespace {

struct DayNightArguments {
  FrameOptions frames;
  std::string model, folder;
  EstimatorOptions options;
  Night night{.on = true};
  bool json = false;
};

constexpr const char* kEnding = "_daynight.png";

struct Interval {
  double mean = 0;
  std::optional<double> half;  // of 95 %
};

/// Tokens of each image after one insertion.
struct Insertion {
  evaluation::Sample day, night;
};

struct Comparison {
  double tokens = 0;                  // of the full grid
  std::vector<Insertion> insertions;  // by the schedule
  std::vector<int> films;             // of each image
  int by_night = 0;                   // images left out, because they show a night as they are

  std::size_t images() const { return films.size(); }
  int blocks() const { return evaluation::blocksOf(films).back() + 1; }

  /// How many more tokens there are by night in the same image.
  Interval difference(const Insertion& insertion) const {
    evaluation::Sample each;
    for (std::size_t i = 0; i < images(); ++i) each.add(insertion.night.values[i] - insertion.day.values[i]);
    return {each.mean(), halfOf(each)};
  }
  /// Tokens merged away by all insertions, as a change from day to night in percent of the day's; none are: no number.
  /// The interval is that of a ratio of means.
  Interval mergedChange() const {
    const Insertion& last = insertions.back();
    const double day = tokens - last.day.mean(), ratio = (tokens - last.night.mean()) / day;
    evaluation::Sample residual;
    for (std::size_t i = 0; i < images(); ++i)
      residual.add((tokens - last.night.values[i]) - ratio * (tokens - last.day.values[i]));
    std::optional<double> half = halfOf(residual);
    if (half) *half *= 100 / day;
    return {100 * (ratio - 1), half};
  }

 private:
  std::optional<double> halfOf(const evaluation::Sample& sample) const {
    return evaluation::halfInterval(sample.values, evaluation::blocksOf(films));
  }
};

Json sampleJson(const evaluation::Sample& sample) {
  return {{"mean", sample.mean()}, {"sd", evaluation::orNull(sample.deviation())}};
}

Json intervalJson(const Interval& interval) {
  const double half = interval.half.value_or(std::nan(""));
  return {{"mean", evaluation::orNull(interval.mean)},
          {"low", evaluation::orNull(interval.mean - half)},
          {"high", evaluation::orNull(interval.mean + half)}};
}

Json resultJson(const DayNightArguments& arguments, const ModelInfo& model, const Comparison& found) {
  const Schedule schedule = model.schedule();
  Json rows = Json::array();
  for (std::size_t k = 0; k < found.insertions.size(); ++k) {
    const Insertion& insertion = found.insertions[k];
    rows.push_back({{"block", schedule[k]},
                    {"day", sampleJson(insertion.day)},
                    {"night", sampleJson(insertion.night)},
                    {"difference", intervalJson(found.difference(insertion))}});
  }
  const Insertion& last = found.insertions.back();
  const Json change = intervalJson(found.mergedChange());
  return {{"images", found.images()},
          {"left_out_by_night", found.by_night},
          {"blocks", found.blocks()},
          {"simulated_night", toJson(arguments.night)},
          {"reduce", toString(model.reduction)},
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
  return fixed(interval.mean - *interval.half, 1) + " .. " + fixed(interval.mean + *interval.half, 1);
}

void printTable(const Schedule& schedule, const Comparison& found) {
  const std::vector<int> widths = {-13, 9, 8, 9, 8, 9, -1};
  printLine("tokens after       day      sd    night      sd   night - day (95 % interval)");
  for (std::size_t k = 0; k < found.insertions.size(); ++k) {
    const auto& [day, night] = found.insertions[k];
    const Interval difference = found.difference(found.insertions[k]);
    printLine(tableRow({"block " + std::to_string(schedule[k]), fixed(day.mean(), 1), fixed(day.deviation(), 1),
                        fixed(night.mean(), 1), fixed(night.deviation(), 1), fixed(difference.mean, 1),
                        "   (" + (difference.half ? rangeText(difference) : "one image has no interval") + ")"},
                       widths));
  }
  const Insertion& last = found.insertions.back();
  const Interval change = found.mergedChange();
  const bool merges = std::isfinite(change.mean);
  printLine("of " + fixed(found.tokens, 0) + " tokens, " + fixed(found.tokens - last.day.mean(), 1) +
            " are merged by day and " + fixed(found.tokens - last.night.mean(), 1) + " by night (" +
            (merges ? fixed(change.mean, 1) + " %" : "-") +
            (merges && change.half ? ", interval " + rangeText(change) : "") + "), mean over " +
            counted(found.images(), "image") +
            (change.half ? " in " + std::to_string(found.blocks()) + " blocks" : ""));
}

// Day above night, the image at the left and what became of its tokens at the right.
cv::Mat sideBySide(const cv::Mat& day, const Estimate& day_result, const cv::Mat& night, const Estimate& night_result) {
  cv::Mat upper, lower, picture;
  cv::hconcat(day, vision::mergePicture(day, day_result), upper);
  cv::hconcat(night, vision::mergePicture(night, night_result), lower);
  cv::vconcat(upper, lower, picture);
  return picture;
}

int dayNight(const DayNightArguments& arguments) {
  const std::string& folder = arguments.folder;
  if (!folder.empty()) requireApart(arguments.frames.sources, folder, {kEnding});
  Estimator segmenter(chosenModel(arguments.model), arguments.options);
  const Schedule schedule = segmenter.model().schedule();
  if (schedule.empty()) throw Error("this model merges no tokens, so there is nothing to compare (see --reduce)");
  if (!folder.empty()) makeFolder(folder);
  Comparison found;
  found.insertions.resize(schedule.size());
  UniqueNames unique;
  Frames frames(arguments.frames, stderrIsTerminal());
  std::pair<std::size_t, int> last_film;  // source and film of it
  int film = 0;
  while (const std::optional<vision::Frame> frame = frames.next()) {
    const std::pair this_film(frames.source(), frame->film);
    film += std::exchange(last_film, this_film) != this_film;
    if (frame->night.value_or(false)) {
      ++found.by_night;
      frames.skip();
      continue;
    }
    const cv::Mat dark = arguments.night.applied(frame->image, frames.read() - 1);
    const Estimate day = segmenter.estimate(frame->image), night = segmenter.estimate(dark);
    found.tokens = day.tokens.front();
    found.films.push_back(film);
    for (std::size_t k = 0; k < found.insertions.size(); ++k) {
      found.insertions[k].day.add(day.tokens[k + 1]);
      found.insertions[k].night.add(night.tokens[k + 1]);
    }
    if (!folder.empty())
      vision::writePicture((std::filesystem::path(folder) / (unique(frame->name) + kEnding)).string(),
                           sideBySide(frame->image, day, dark, night));
  }
  const bool any = !found.films.empty();
  if (any && arguments.json) printLine(resultJson(arguments, segmenter.model(), found));
  if (any && !arguments.json) printTable(schedule, found);
  if (found.by_night > 0)
    printNote(counted(found.by_night, "image") + " taken at night left out: they are dark already");
  if (interrupted()) {
    printNote("interrupted after " + counted(frames.read(), "image"));
    return kInterrupted;
  }
  frames.requireAll();
  if (!any) throw Error(found.by_night > 0 ? "all images were taken at night" : "the sources hold no image");
  return kOk;
}

}  // namespace

Verb addDayNight(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("daynight", "Compare token counts by day and at a simulated night");
  const auto arguments = std::make_shared<DayNightArguments>();
  addOption(*verb, "SOURCE", arguments->frames.sources, "...",
            "Image, folder of images, glob, video, or the built-in scene (\"demo:street?speed=600&frames=100\")")
      ->required();
  addModelOptions(*verb, arguments->model, arguments->options);
  addNight(*verb, arguments->night);
  addOption(*verb, "-o,--out", arguments->folder, "DIR",
            "Write NAME_daynight.png into this folder: the image and its merge map, by day above, at night below");
  addNumber(*verb, "--max-frames", arguments->frames.max_frames, "N", 1, 1 << 30, "Stop after this many images");
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer(
      R"(Each image runs twice, as it is and at the simulated night. Differences are of the same image. Images that follow each
other are alike, so the intervals count blocks: a film each (the streets of "seed=1..8", several videos or folders)
where there are five or more films, else about ten stretches of consecutive images.

With --json: {"images", "left_out_by_night", "blocks", "simulated_night", "reduce", "tokens",
"insertions": [{"block", "day": {"mean", "sd"}, "night", "difference": {"mean", "low", "high"}}], "merged": {"day",
"night", "change_percent", "change_low", "change_high"}}.

Examples:
  mpm daynight street.png --schedule 2,5 --out pictures
  mpm daynight "demo:street?weather=auto&speed=20000&frames=100" --model vit.onnx
)");
  return {verb, [arguments] { return dayNight(*arguments); }};
}

}  // namespace mpm::cli
