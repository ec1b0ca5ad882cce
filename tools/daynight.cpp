// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>

#include "errors.h"
#include "interrupt.h"
#include "left_out.h"
#include "model_options.h"
#include "mpm/error.hpp"
#include "mpm/pictures.hpp"
#include "mpm/segmenter.hpp"
#include "mpm/source.hpp"
#include "night.h"
#include "output.h"
#include "paths.h"
#include "terminal.h"
#include "verbs.h"

namespace mpm::cli {
namespace {

struct DayNightArguments {
  std::vector<std::string> sources;
  std::string model, folder;
  SegmenterOptions options;
  scene::NightOptions night;
  int max_frames = 0;  // 0: all
  bool json = false;
};

constexpr const char* kEnding = "_daynight.png";

/// Mean and spread of numbers that come one by one (Welford).
class Sample {
 public:
  void add(double value) {
    const double step = value - mean_;
    mean_ += step / ++count_;
    squares_ += step * (value - mean_);
  }
  int count() const { return count_; }
  double mean() const { return mean_; }
  double deviation() const { return count_ > 1 ? std::sqrt(squares_ / (count_ - 1)) : std::nan(""); }
  /// Half the width of the 95 % confidence interval of the mean, by Student's t.
  double halfInterval() const {
    if (count_ < 2) return std::nan("");
    constexpr std::array<double, 10> kStudent = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    const int freedom = count_ - 1;
    constexpr double z = 1.959964;
    const double t = freedom <= 10 ? kStudent[freedom - 1]
                                   : z + (z * z * z + z) / (4 * freedom) +
                                         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96.0 * freedom * freedom);
    return t * deviation() / std::sqrt(count_);
  }

 private:
  int count_ = 0;
  double mean_ = 0, squares_ = 0;
};

/// Tokens after one insertion, and how many more there are by night in the same image.
struct Insertion {
  Sample day, night, difference;
};

Json sampleJson(const Sample& sample) {
  return {{"mean", sample.mean()}, {"sd", sample.count() > 1 ? Json(sample.deviation()) : Json(nullptr)}};
}

// Tokens merged away by all insertions, as a change from day to night in percent of the day's; none are: no number.
double mergedChange(double tokens, const Insertion& last) {
  return 100 * ((tokens - last.night.mean()) / (tokens - last.day.mean()) - 1);
}

Json resultJson(const DayNightArguments& arguments, const Schedule& schedule, double tokens,
                const std::vector<Insertion>& insertions) {
  Json rows = Json::array();
  for (std::size_t k = 0; k < insertions.size(); ++k) {
    const Insertion& insertion = insertions[k];
    const double mean = insertion.difference.mean(), half = insertion.difference.halfInterval();
    Json difference = {{"mean", mean}, {"low", nullptr}, {"high", nullptr}};
    if (!std::isnan(half)) {
      difference["low"] = mean - half;
      difference["high"] = mean + half;
    }
    rows.push_back({{"block", schedule[k]},
                    {"day", sampleJson(insertion.day)},
                    {"night", sampleJson(insertion.night)},
                    {"difference", difference}});
  }
  const Insertion& last = insertions.back();
  return {{"images", last.day.count()},
          {"night",
           {{"gain", arguments.night.gain},
            {"electrons", arguments.night.electrons},
            {"thermal", arguments.night.thermal}}},
          {"tokens", tokens},
          {"insertions", rows},
          {"merged",
           {{"day", tokens - last.day.mean()},
            {"night", tokens - last.night.mean()},
            {"change_percent", mergedChange(tokens, last)}}}};
}

void printTable(const Schedule& schedule, double tokens, const std::vector<Insertion>& insertions) {
  const auto cell = [](std::string text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
  };
  const auto spread = [&](const Sample& sample) {
    return cell(fixed(sample.mean(), 1), 9) + cell(sample.count() > 1 ? fixed(sample.deviation(), 1) : "-", 8);
  };
  printLine("tokens after       day      sd    night      sd   night - day (95 % interval)");
  for (std::size_t k = 0; k < insertions.size(); ++k) {
    const Sample& difference = insertions[k].difference;
    const double half = difference.halfInterval();
    std::string name = "block " + std::to_string(schedule[k]);
    name.resize(13, ' ');
    printLine(name + spread(insertions[k].day) + spread(insertions[k].night) + cell(fixed(difference.mean(), 1), 9) +
              (std::isnan(half)
                   ? "   (one image has no interval)"
                   : "   (" + fixed(difference.mean() - half, 1) + " .. " + fixed(difference.mean() + half, 1) + ")"));
  }
  const Insertion& last = insertions.back();
  const double change = mergedChange(tokens, last);
  printLine("of " + fixed(tokens, 0) + " tokens, " + fixed(tokens - last.day.mean(), 1) + " are merged by day and " +
            fixed(tokens - last.night.mean(), 1) + " by night (" +
            (std::isfinite(change) ? fixed(change, 1) + " %" : "-") + "), mean over " +
            std::to_string(last.day.count()) + (last.day.count() == 1 ? " image" : " images"));
}

// Day above night, the image at the left and what became of its tokens at the right.
cv::Mat sideBySide(const cv::Mat& day, const Segmentation& day_result, const cv::Mat& night,
                   const Segmentation& night_result) {
  cv::Mat upper, lower, picture;
  cv::hconcat(day, mergePicture(day, day_result.cluster_of_token.back(), day_result.grid), upper);
  cv::hconcat(night, mergePicture(night, night_result.cluster_of_token.back(), night_result.grid), lower);
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
  std::vector<Insertion> insertions(schedule.size());
  std::set<std::string> names;
  double tokens = 0;
  FrameCount count;
  const int& images = count.read;
  {
    std::unique_ptr<Progress> progress;
    const SourceOptions source_options{.stop = &interrupted(), .on_unreadable = [&](const std::string& why) {
                                         ++count.left_out;
                                         progress->note("left out: " + why);
                                         progress->step();
                                       }};
    const auto enough = [&] { return interrupted() || (arguments.max_frames > 0 && images == arguments.max_frames); };
    for (const std::string& text : arguments.sources) {
      if (enough()) break;
      const std::unique_ptr<FrameSource> source = openSource(text, source_options);
      if (!progress) {
        std::optional<int> total = arguments.sources.size() == 1 ? source->size() : std::nullopt;
        if (arguments.max_frames > 0) total = std::min(total.value_or(arguments.max_frames), arguments.max_frames);
        progress = std::make_unique<Progress>(stderrIsTerminal(), total);
      }
      while (!enough()) {
        const std::optional<Frame> frame = source->next();
        if (!frame) break;
        const cv::Mat dark = scene::simulateNight(frame->image, arguments.night, static_cast<std::uint64_t>(images));
        const Segmentation day = segmenter.segment(frame->image), night = segmenter.segment(dark);
        tokens = day.tokens.front();
        for (std::size_t k = 0; k < insertions.size(); ++k) {
          insertions[k].day.add(day.tokens[k + 1]);
          insertions[k].night.add(night.tokens[k + 1]);
          insertions[k].difference.add(night.tokens[k + 1] - day.tokens[k + 1]);
        }
        if (!arguments.folder.empty()) {
          std::string name = frame->name;
          for (int n = 2; !names.insert(name).second; ++n) name = frame->name + "_" + std::to_string(n);
          writePicture((std::filesystem::path(arguments.folder) / (name + kEnding)).string(),
                       sideBySide(frame->image, day, dark, night));
        }
        ++count.read;
        progress->step();
      }
    }
  }
  if (images > 0) {
    if (arguments.json)
      printLine(resultJson(arguments, schedule, tokens, insertions));
    else
      printTable(schedule, tokens, insertions);
  }
  if (interrupted()) {
    printNote("interrupted after " + std::to_string(images) + " images");
    return kInterrupted;
  }
  count.requireAll();
  if (images == 0) throw Error("the sources hold no image");
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
      "Each image runs twice, as it is and by night; differences are paired and their interval is Student's.\n"
      "With --json: {\"images\", \"night\", \"tokens\", \"insertions\": [{\"block\", \"day\": {\"mean\", \"sd\"}, "
      "\"night\", \"difference\":\n{\"mean\", \"low\", \"high\"}}], \"merged\": {\"day\", \"night\", "
      "\"change_percent\"}}.\n\n"
      "Example:\n"
      "  mpm daynight \"demo:street?weather=auto&speed=20000&frames=100\" --model vit.onnx\n");
  return {verb, [arguments] { return dayNight(*arguments); }};
}

}  // namespace mpm::cli
