// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <ctime>
#include <memory>

#include "base/number_text.h"
#include "base/quantiles.h"
#include "base/size_text.h"
#include "cli/frames.h"
#include "cli/verbs/verbs.h"
#include "evaluation/numbers.h"
#include "evaluation/tuning.h"
#include "mpm/convert.hpp"
#include "program/paths.h"

namespace mpm::cli {
namespace {

struct TuneArguments {
  std::string source, labels, output;
  std::optional<evaluation::Dataset> dataset;
  evaluation::TuneOptions tune;
  int pictures = 40;
  bool json = false;
};

/// `next` gives an object with the frame in hand, as long as there is one.
/// `sequence` takes the first of them, all that follow each other.
template <class Next, class Make>
std::vector<evaluation::TunePicture> spread(std::optional<int> total, int wanted, Next next, Make make,
                                            std::vector<cv::Mat>* sequence = nullptr) {
  std::vector<evaluation::TunePicture> pictures;
  for (int index = 0; static_cast<int>(pictures.size()) < wanted; ++index) {
    auto item = next();
    if (!item) break;
    if (sequence && static_cast<int>(sequence->size()) < wanted) sequence->push_back(make(*item).image);
    if (isInSpread(index, total.value_or(wanted), wanted)) pictures.push_back(make(*item));
  }
  return pictures;
}

std::vector<evaluation::TunePicture> picturesOf(const TuneArguments& arguments, evaluation::TuneOptions& tune) {
  requireOutput("--out", arguments.output, {.models = {tune.model}, .sources = {arguments.source}});
  Frames frames(FrameOptions{.sources = {arguments.source}});
  auto pictures = spread(
      frames.size(), arguments.pictures, [&] { return frames.next(); },
      [](const vision::Frame& frame) {
        return evaluation::TunePicture{.image = frame.image.clone(), .film = frame.film};
      },
      tune.reuse.on ? &tune.sequence : nullptr);
  if (!interrupted()) frames.requireAll();
  return pictures;
}

std::vector<evaluation::TunePicture> labelledPicturesOf(const TuneArguments& arguments, const LabelledOptions& labelled,
                                                        evaluation::TuneOptions& tune) {
  const ModelInfo model = readModelInfo(tune.model, tune.segmenter.read.convert.with(kFullModel));
  LabelledFrames frames(labelled, model);
  requireOutput("--out", arguments.output,
                {.models = {tune.model}, .sources = frames.sources(), .files = frames.files()});
  tune.void_label = frames.voidLabel();
  return spread(
      frames.size(), arguments.pictures, [&] { return frames.next(); },
      [](const LabelledFrame& labelled_frame) {
        const vision::Frame& frame = labelled_frame.frame;
        return evaluation::TunePicture{frame.image.clone(), labelled_frame.truth.clone(), frame.film};
      });
}

LabelledOptions labelledOf(const TuneArguments& arguments) {
  LabelledOptions labelled;
  labelled.dataset = arguments.dataset;
  labelled.labels = arguments.labels;
  (arguments.labels.empty() ? labelled.source : labelled.images) = arguments.source;
  labelled.validate();
  return labelled;
}

double cpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double rounded(double value) { return std::round(value * 1e3) / 1e3; }
Json rounded(std::optional<double> value) { return value ? Json(rounded(*value)) : Json(nullptr); }

Json rowJson(const evaluation::TuneRow& row) {
  return {{"reduce", mpm::toString(row.variant)},
          {"reuse", mpm::toString(row.reuse)},
          {"ms", rounded(row.ms)},
          {"speed_up", rounded(row.speed_up)},
          {"tokens", rounded(row.tokens)},
          {"agreement", rounded(row.agreement)},
          {"agreement_low", rounded(row.agreement_low)},
          {"miou_loss", rounded(row.loss)},
          {"miou_loss_low", rounded(row.loss_low)},
          {"miou_loss_high", rounded(row.loss_high)},
          {"passes", row.passes},
          {"front", row.front}};
}

void printTable(const evaluation::TuneResult& result, bool with_loss) {
  int width = 10;
  for (const evaluation::TuneRow& row : result.rows) width = std::max(width, static_cast<int>(toString(row).size()));
  const auto line = [&](std::vector<std::string> cells) {
    if (!with_loss) cells.erase(cells.end() - 3, cells.end() - 1);
    printLine(tableRow(cells, {-2, -width, 9, 9, 9, 12, 10, with_loss ? 8 : -1, 16, -1}));
  };
  line({"", "reduction", "ms", "speed-up", "tokens", "agreement %", "from", "loss", "interval", ""});
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const evaluation::TuneRow& row = result.rows[i];
    line({row.front ? "*" : "", toString(row), fixed(row.ms, 1), fixed(row.speed_up, 2), fixed(row.tokens, 1),
          fixed(row.agreement, 2), fixed(row.agreement_low, 2), fixed(row.loss, 2),
          fixed(row.loss_low, 2) + " to " + fixed(row.loss_high, 2),
          i == result.chosen ? "  chosen"
          : row.passes       ? "  passes"
                             : ""});
  }
}

int tuneVerb(TuneArguments arguments) {
  const auto start = std::chrono::steady_clock::now();
  evaluation::TuneOptions& tuning = arguments.tune;
  tuning.model = chosenModel(tuning.model);
  noteSlowPrecision(tuning.segmenter.read.convert.precision);
  if (!tuning.loss && (!arguments.labels.empty() || arguments.dataset))
    throw UsageError("labels are for --loss: add it, or leave out " +
                     std::string(arguments.labels.empty() ? "--dataset" : "--labels"));
  std::optional<LabelledOptions> labelled;
  if (tuning.loss) {
    labelled = labelledOf(arguments);
    applyProtocol(*labelled, {}, tuning.model, tuning.segmenter);
  }
  const std::vector<evaluation::TunePicture> pictures =
      labelled ? labelledPicturesOf(arguments, *labelled, tuning) : picturesOf(arguments, tuning);
  std::optional<Progress> progress;
  progress.emplace(stderrIsTerminal(), 1);
  tuning.progress = [&](int, int estimate) {
    progress->setTotal(estimate);
    progress->step();
    return !interrupted();
  };
  std::optional<evaluation::TuneResult> result;
  if (!interrupted()) result = evaluation::tune(pictures, tuning);
  progress.reset();
  if (!result) return endInterrupted(": no result");
  const Reduction& chosen = result->choice().variant;
  if (!arguments.output.empty())
    convertFile(tuning.model, arguments.output, tuning.segmenter.read.convert.with(chosen));
  const std::string text = evaluation::explanation(*result, tuning);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!arguments.json) {
    printTable(*result, tuning.loss.has_value());
    printLine(text);
    printNote("* no other row is faster and better; " + fixed(seconds, 0) + " s, " + fixed(cpuSeconds(), 0) +
              " s of CPU time" + (arguments.output.empty() ? "" : "; wrote " + arguments.output));
    return kOk;
  }
  Json rows = Json::array();
  for (const evaluation::TuneRow& row : result->rows) rows.push_back(rowJson(row));
  printLine(Json{{"model", tuning.model},
                 {"source", vision::redactCredentials(arguments.source)},
                 {"precision", toString(tuning.segmenter.read.convert.precision)},
                 {"wanted_agreement", tuning.loss ? Json(nullptr) : Json(tuning.agreement)},
                 {"wanted_loss", evaluation::orNull(tuning.loss)},
                 {"searched", result->searched},
                 {"held_back", result->held_back},
                 {"tried", result->tried},
                 {"seconds", rounded(seconds)},
                 {"cpu_seconds", rounded(cpuSeconds())},
                 {"chosen", rowJson(result->choice())},
                 {"rows", rows},
                 {"explanation", text}});
  return kOk;
}

}  // namespace

Verb addTune(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("tune", "Find the fastest reduction that keeps the labels of your pictures");
  const auto arguments = std::make_shared<TuneArguments>();
  evaluation::TuneOptions& tuning = arguments->tune;
  addOption(*verb, "SOURCE", arguments->source, " ",
            "Pictures of your scene: a folder, a glob, a video or the built-in scene (\"demo:street?frames=40\")")
      ->required();
  addOption(*verb, "--model", tuning.model, "M.onnx", "A plain ViT as ONNX. Default: as in 'mpm run'");
  CLI::Option* const reuse = addReuse(*verb, tuning.reuse);
  CLI::Option* const agreement =
      addNumber(*verb, "--agreement", tuning.agreement, "PERCENT", 50, 100,
                "Share of the pixels that keep the label of the full model: the lower end of a 95 % interval over "
                "the pictures. Default: 99");
  addNumber(*verb, "--loss", tuning.loss, "POINTS", 0, 100,
            "Instead, with labels: mIoU that may be lost on the pictures, in percentage points")
      ->excludes(agreement)
      ->excludes(reuse);
  addOption(*verb, "--labels", arguments->labels, "DIR",
            "Folder of label maps with the names of the pictures. The built-in scene has its own");
  addDataset(*verb, arguments->dataset, "SOURCE is the folder of this data set, as in 'mpm eval'");
  addNumber(*verb, "--pictures", arguments->pictures, "N", evaluation::kMinTunePictures, 10000,
            "Use at most so many pictures, 8 at least, spread evenly over the source. Default: 40");
  addOption(*verb, "-o,--out", arguments->output, "OUT.onnx", "Write the converted model with the choice");
  addField(*verb, "input-size", tuning.segmenter.read.convert.input_size, parseSize);
  addPrecision(*verb, tuning.segmenter.read.convert.precision);
  addDevice(*verb, tuning.segmenter.read.device);
  addField(*verb, "threads", tuning.segmenter.threads);
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer(
      R"(Use pictures of all that the camera sees: day and night, empty and crowded. A fifth of them (a third with --loss)
serves to find how much each method may merge. The best of each and some steps around them then run on the other
pictures, in turns with the full model, and the fastest that passes there is chosen. Times are of this machine: use it
for nothing else meanwhile. On a GPU only schedules of mpm are tried. With --reuse auto, for a fixed camera, the full
model with reuse is tried as well, on the first frames of the source as they follow each other (--pictures of them).

With --json: {"model", "source", "precision", "wanted_agreement", "wanted_loss", "searched", "held_back", "tried",
"seconds", "cpu_seconds", "chosen": a row, "rows": [{"reduce", "reuse", "ms", "speed_up", "tokens", "agreement",
"agreement_low", "miou_loss", "miou_loss_low", "miou_loss_high", "passes", "front"}..], "explanation"}. The numbers of a
row are of the pictures that the search did not use: speed_up is a median, ms the median of the full model divided by
it, tokens a mean at the end. The choice is by speed_up, agreement_low and miou_loss with the two decimals that the
table shows. Intervals are of 95 %.

Examples:
  mpm tune pictures --model vit.onnx -o tuned.onnx
  mpm tune camera.mp4 --reuse auto --agreement 98.5 --json
  mpm tune val/images --labels val/labels --loss 0.3 --model vit.onnx
  mpm tune "demo:street?weather=auto&step=7200&frames=40" -o tuned.onnx
)");
  return {verb, [arguments] { return tuneVerb(*arguments); }};
}

}  // namespace mpm::cli
