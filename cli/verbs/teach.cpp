// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <opencv2/core.hpp>
#include <vector>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "evaluation/confusion_matrix.h"
#include "evaluation/numbers.h"
#include "evaluation/states.h"
#include "evaluation/teaching.h"
#include "mpm/convert.hpp"
#include "program/paths.h"
#include "vision/model_files.h"
#include "vision/pictures/pictures.h"

namespace mpm::cli {
namespace {

namespace fs = std::filesystem;

/// Of `mpm teach --states`.
struct StatesOptions {
  std::string examples;         ///< a folder with one for each state, or a list; empty: not asked for
  std::string regions, region;  ///< a file and a name in it; empty: the whole picture
  vision::TimeOptions times;
};

struct TeachOptions {
  evaluation::TeachJob job;         ///< its model may be empty: the default one; `output` is also that of states
  std::string images, labels;       ///< folders; a label map has the name of its picture
  std::string classes;              ///< JSON file; empty: the classes of the model
  std::optional<Reduction> reduce;  ///< nullopt: none; of states: that of the model
  int threads = 0;                  ///< 0: all
  bool json = false;                ///< results and progress as lines of JSON
  StatesOptions states;
};

vision::ClassList classesOf(const TeachOptions& options) {
  if (!options.classes.empty()) {
    vision::ClassList list = vision::readClassList(options.classes);
    list.validate("'" + options.classes + "'");
    return list;
  }
  const ModelFacts facts = readModelInfo(options.job.model, {.reduce = options.reduce}).facts;
  if (facts.classes.empty()) throw UsageError("the model names no classes: name them with --classes FILE.json");
  return {facts.classes, facts.ignore};
}

// For people: a line per class, the means, then which classes are good and which need more labels.
void printVerdict(const evaluation::CrossValidation& result, const std::vector<ClassInfo>& classes) {
  using Grade = evaluation::ClassVerdict::Grade;
  const std::vector<int> widths = {-18, 9, 10, -3};
  printLine(tableRow({"class", "IoU, %", "pictures", "", "taken for"}, widths));
  std::map<Grade, std::vector<std::string>> groups;
  std::vector<std::string> tiny;
  const auto nameOf = [&](int index) { return classes[static_cast<std::size_t>(index)].name; };
  for (const evaluation::ClassVerdict& one : evaluation::classVerdicts(result.matrix, result.pictures)) {
    std::vector<std::string> taken;
    for (const auto& [given, share] : one.taken_for)
      taken.push_back(nameOf(given) + " (" + fixed(100 * share, 0) + " %)");
    printLine(tableRow(
        {nameOf(one.index), fixed(100 * one.iou, 1), std::to_string(one.pictures), "", CLI::detail::join(taken, ", ")},
        widths));
    const bool explain = one.grade == Grade::kWeak && !taken.empty();
    const bool vanishes = one.grade == Grade::kUntested && one.pictures > 1;
    (vanishes ? tiny : groups[one.grade])
        .push_back(nameOf(one.index) +
                   (explain ? " (often taken for " + nameOf(one.taken_for.front().first) + ")" : ""));
  }
  printLine("mIoU " + fixed(100 * result.matrix.meanIou(), 1) + " %, " + fixed(100 * result.matrix.pixelAccuracy(), 1) +
            " % of the labelled pixels are right, in " + counted(result.rounds, "round"));
  const std::pair<Grade, const char*> titles[] = {{Grade::kGood, "good: "},
                                                  {Grade::kFair, "fair: "},
                                                  {Grade::kWeak, "needs more labels: "},
                                                  {Grade::kUntested, "not tested, label them in more pictures: "}};
  for (const auto& [grade, title] : titles)
    if (!groups[grade].empty()) printLine(title + CLI::detail::join(groups[grade], ", "));
  if (!tiny.empty())
    printLine("not tested, smaller than a pixel of the network's input, label larger areas: " +
              CLI::detail::join(tiny, ", "));
}

// The named region with all that is ignored.
std::vector<vision::Region> regionsOf(const StatesOptions& options) {
  if (options.regions.empty()) {
    if (!options.region.empty()) throw UsageError("--region needs --regions FILE, which says where it lies");
    return {};
  }
  std::vector<vision::Region> all = vision::readRegions(options.regions, options.times.clock());
  const std::string names = CLI::detail::join(
      vision::namesOf(all), [](const std::string& name) { return visibleText(name); }, ", ");
  std::erase_if(all, [&](const vision::Region& one) { return !one.ignore && one.name != options.region; });
  const bool found = std::ranges::any_of(all, [](const vision::Region& one) { return !one.ignore; });
  if (!options.region.empty() && !found)
    throw UsageError("'" + options.regions + "' has no region '" + visibleText(options.region) + "', but " + names);
  return all;
}

std::string percent(double share) { return fixed(100 * share, 1); }

void printStates(const evaluation::StateHead& head, const std::vector<evaluation::StateExample>& examples) {
  const evaluation::StateVerdict& verdict = head.verdict;
  const std::vector<int> widths = {-18, 10, 9, 9, 15};
  printLine(tableRow({"state", "examples", "right, %", "sure, %", "sure: right, %"}, widths));
  for (std::size_t s = 0; s < head.states.size(); ++s) {
    evaluation::StateVerdict of_state;
    std::ranges::copy_if(verdict.answers, std::back_inserter(of_state.answers),
                         [&](const evaluation::StateAnswer& one) { return one.truth == static_cast<int>(s); });
    const auto count = std::ranges::count_if(
        examples, [&](const evaluation::StateExample& one) { return one.state == static_cast<int>(s); });
    printLine(tableRow({head.states[s], std::to_string(count), percent(of_state.right()), percent(of_state.sureShare()),
                        percent(of_state.sureRight())},
                       widths));
  }
  if (verdict.answers.empty()) {
    printLine("nothing could be tested, so no answer is sure");
  } else {
    printLine(
        percent(verdict.right()) + " % of " + counted(static_cast<std::int64_t>(verdict.answers.size()), "answer") +
        (verdict.answers.size() == 1 ? " is right, " : " are right, ") +
        (verdict.by_days ? "each on a day that the training did not see" : "each on a part left out of training") +
        " (" + counted(verdict.rounds, "round") + ")");
    printLine("sure on " + percent(verdict.sureShare()) + " %, from a probability of " + fixed(head.sure, 3) + " on" +
              (verdict.sureShare() > 0 ? "; of these " + percent(verdict.sureRight()) + " % are right" : ""));
  }
  const auto untimed = std::ranges::count_if(examples, [](const evaluation::StateExample& one) { return !one.time; });
  if (!verdict.by_days && !verdict.answers.empty()) {
    printLine(
        "too good, perhaps: " +
        (untimed > 0 ? counted(untimed, "picture") + " without a time" : std::string("all pictures are of one day")) +
        ", so no day could be held out" + (untimed > 0 ? ": --times list:FILE gives times" : ": add other days"));
  }
  if (verdict.untested > 0) {
    printLine(counted(verdict.untested, "example") +
              " could not be tested: the other days do not show its state, or show no other state. Add pictures of "
              "more days");
  }
  for (const bool sure : {true, false}) {
    for (const evaluation::StateAnswer& one : verdict.answers) {
      if (!one.right() && one.sure == sure) {
        printLine("wrong" + std::string(sure ? " and sure: " : ": ") + one.file + " is " +
                  head.states[static_cast<std::size_t>(one.truth)] + ", taken for " +
                  head.states[static_cast<std::size_t>(one.given)] + " (" + fixed(one.probability, 3) + ")");
      }
    }
  }
  for (const evaluation::StateContradiction& one : verdict.contradictions) {
    printLine("contradiction: " + one.file + " is " + head.states[static_cast<std::size_t>(one.state)] +
              ", but looks most like " + one.like + ", which is " +
              head.states[static_cast<std::size_t>(one.like_state)] + ": one of the two may be labelled wrongly");
  }
}

// Trains a head of states on the pictures, prints how often it is right, and writes it. Returns the exit status.
int teachStates(const TeachOptions& teach) {
  const StatesOptions& options = teach.states;
  using Draw = cv::Mat (*)(const evaluation::StateHead&);
  struct Page {
    std::string key, path;  // of the result as JSON; the file
    Draw draw;
    std::string shows;
  };
  const std::string model = chosenModel(teach.job.model), output = teach.job.output;
  if (!output.ends_with(".json")) throw UsageError("-o is '" + output + "'; for states it must end in .json");
  vision::requireNotOfModel(output);
  evaluation::StatesJob job{.model = model, .reduce = teach.reduce, .regions = regionsOf(options)};
  job.name = options.region.empty() ? fs::path(output).stem().string() : options.region;
  evaluation::readStateExamples(options.examples, options.times, job);
  const std::string stem = fs::path(output).replace_extension().string();
  const std::vector<Page> pages = {
      {"wrong_pictures", stem + "_wrong.jpg", evaluation::wrongPictures, "the wrong answers"},
      {"contradicting_pictures", stem + "_contradictions.jpg", evaluation::contradictingPictures,
       "the contradictions"}};
  Inputs inputs{.models = {model}, .files = {options.regions, options.times.list, options.examples}};
  for (const evaluation::StateExample& one : job.examples) inputs.files.push_back(one.file);
  for (const std::string& path : {output, pages[0].path, pages[1].path}) requireOutput("-o", path, inputs);
  Progress bar(!teach.json && stderrIsTerminal(), static_cast<int>(job.examples.size()), "picture");
  job.progress = [&](int done, int of) {
    bar.step();
    if (teach.json) printLine(Json{{"progress", static_cast<double>(done) / of}});
    return !interrupted();
  };
  const auto head = evaluation::teachStates(job);
  bar.clear();
  if (!head) return endInterrupted(": nothing is written");
  std::vector<cv::Mat> drawn;
  for (const Page& page : pages) drawn.push_back(page.draw(*head));
  evaluation::writeStates(output, *head);
  Json result = {{"states", output}};
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    std::error_code none;
    if (drawn[i].empty())
      fs::remove(pages[i].path, none);
    else
      vision::writePicture(pages[i].path, drawn[i]);
    result[pages[i].key] = drawn[i].empty() ? Json() : Json(pages[i].path);
    if (!drawn[i].empty()) notes.push_back(pages[i].path + " shows " + pages[i].shows);
  }
  if (teach.json) {
    result["cross_validation"] = evaluation::toJson(head->verdict, head->states);
    printLine(result);
    return kOk;
  }
  printStates(*head, job.examples);
  for (const std::string& note : notes) printLine(note);
  printLine(output);
  printNote("next: mpm monitor SOURCE --states " + shellWord(output) + " --db FILE");
  return kOk;
}

int teach(TeachOptions options) {
  useThreads(options.threads);
  evaluation::TeachJob& job = options.job;
  if (!options.states.examples.empty()) return teachStates(options);
  if (options.images.empty() || options.labels.empty())
    throw UsageError(std::string(options.images.empty() ? "--images" : "--labels") + " is required");
  options.reduce = options.reduce.value_or(kFullModel);
  if (!job.output.ends_with(".onnx")) throw UsageError("-o is '" + job.output + "'; it must end in .onnx");
  job.model = chosenModel(job.model);
  job.classes = classesOf(options);
  const bool shown = !options.json && stderrIsTerminal();
  if (shown) printNote("reading the labels in '" + options.labels + "'");
  const std::vector<vision::LabelledFile> files = vision::labelledFiles(options.images, options.labels);
  Inputs inputs{.models = {job.model}, .files = {options.classes, options.reduce->policy}};
  for (const vision::LabelledFile& file : files) inputs.files.insert(inputs.files.end(), {file.image, file.labels});
  for (const std::string& output : {job.output, factsFile(job.output)}) requireOutput("-o", output, inputs);

  job.pictures = files.size();
  job.picture = [&](std::size_t i) { return vision::readLabelledPicture(files[i], job.classes); };
  job.reduce = *options.reduce;
  Progress bar(shown, std::nullopt);
  int percent = -1;
  job.progress = [&](int done, int of) {
    bar.setTotal(of);
    bar.step();
    if (options.json && done * 100 / of > percent) printLine(Json{{"progress", (percent = done * 100 / of) / 100.}});
    return !interrupted();
  };
  const auto taught = evaluation::teach(job);
  bar.clear();
  if (!taught) return endInterrupted(": nothing is written");
  if (options.json) {
    Json json = {{"model", job.output}};
    json.update(toJson(*taught));
    printLine(json);
    return kOk;
  }
  if (taught->validation)
    printVerdict(*taught->validation, job.classes.classes);
  else if (job.cross_validation)
    printLine("one picture is labelled: a cross-validation needs at least two");
  printLine(job.output);
  printNote("next: mpm run PICTURE --model " + shellWord(job.output));
  return kOk;
}

}  // namespace

Verb addTeach(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("teach", "Train a model for your camera from a few labelled pictures");
  const auto options = std::make_shared<TeachOptions>();
  addOption(*verb, "--images", options->images, "DIR",
            "Folder of pictures, rotated as their EXIF says. Those without a label map are not used");
  addOption(*verb, "--labels", options->labels, "DIR",
            "Folder of label maps (PNG) with the names of their pictures: one channel of 8 bits, the class index of "
            "each pixel, as large as the picture. Pixels with the label \"ignore\" (255) are not labelled: a few "
            "strokes are enough. Or JSON of LabelMe or COCO, whose labels are names of classes");
  addOption(*verb, "--classes", options->classes, "FILE.json",
            "Names and colours of the classes, in the order of their labels. Default: the classes of the model");
  addOption(*verb, "--model", options->job.model, "M.onnx",
            "A plain ViT as ONNX, whose encoder is used. Default: MPM_MODEL of the environment, else the default "
            "model ('mpm info' names it)");
  addField(*verb, "reduce", options->reduce, parseReduction)
      ->description(monitor::cameraField("reduce").words +
                    std::string(". The head is trained on merged tokens, and the new model merges the same way. "
                                "Default: none"));
  addOption(*verb, "-o,--out", options->job.output, "MINE.onnx",
            "The new model. Its classes and colours go to MINE.json beside it. With --states: MINE.json")
      ->required();
  verb->add_flag_callback(
          "--no-cross-validation", [options] { options->job.cross_validation = false; },
          "Leave out the test on pictures that the head was not trained on. The test takes most of the time")
      ->group("Training");
  addNumber(*verb, "--steps", options->job.steps, "N", 1, 1e6, "Steps of training. Default: 150")->group("Training");
  addNumber(*verb, "--seed", options->job.seed, "N", 0, 1e9,
            "Random seed of the first weights and of the order of pictures. Default: 1")
      ->group("Training");
  addField(*verb, "threads", options->threads);
  verb->add_flag("--json", options->json, "Lines of JSON: {\"progress\": 0.5} while it works, then the result");
  verb->option_defaults()->group("States of a region");
  CLI::Option* const states =
      addOption(*verb, "--states", options->states.examples, "EXAMPLES",
                "Instead of a model of classes: tell states apart, such as open and closed. A folder with a folder of "
                "pictures for each state, or a list: CSV with lines PICTURE,STATE or JSON (docs/states.md)");
  addOption(*verb, "--regions", options->states.regions, "FILE",
            "Regions of the picture, as for mpm monitor. Those that are ignored count nowhere")
      ->needs(states);
  addOption(*verb, "--region", options->states.region, "NAME",
            "The region of --regions that shows the states. Default: the whole picture")
      ->needs(states);
  addTimes(*verb, options->states.times);
  for (const char* of_states : {"--times", "--time-zone"}) verb->get_option(of_states)->needs(states);
  for (const char* other : {"--images", "--labels", "--classes", "--no-cross-validation", "--steps", "--seed"})
    states->excludes(verb->get_option(other));
  verb->footer(
      R"(Trains a new head (LayerNorm, linear, GELU, linear) on the encoder of the model, which stays as it is. Label about
four pictures that differ, by day and by night, each class in at least two of them. Four pictures take seconds.

The cross-validation trains on some pictures and tests on the others. It says which classes are good and which need
more labels. The model itself is then trained on all pictures.

classes.json: {"classes": [{"name": "river", "color": "#2060c0"}, {"name": "bank"}], "ignore": 255}. Colours are
optional; the .json beside any model will do. The result is plain ONNX, which mpm run, eval, monitor, info, convert and
the app open. Both files are written at the end, so an error or a kill leaves an older model as it was.

With --json the last line is {"model", "pictures", "reduce", "cross_validation": {"rounds", "miou", "pixel_accuracy",
"iou": {name: value}, "pictures": [..], "confusion": [[..]..]}}, in percent. "pictures": of each class, in how many it
is labelled. The IoU of a class in too few to be tested is null, and so is "cross_validation" where there was none.

With --states the head reads the mean of the tokens of a region or of the picture. The test holds out
whole days, by the times of the pictures, and says which examples it gets wrong. The result is for mpm monitor. With
--json the last line is {"states", "wrong_pictures", "contradicting_pictures", "cross_validation": {"by", "rounds",
"right", "sure", "sure_right", "untested", "contradictions": [..], "answers": [{"picture", "state", "given",
"probability"}]}}. "right", "sure" and "sure_right" are shares, 0 to 1.

Examples:
  mpm teach --images pictures --labels labels --classes classes.json -o mine.onnx
  mpm teach --images pictures --labels labels --classes classes.json --reduce mpm:blocks=2,5 -o mine.onnx
  mpm run picture.png --model mine.onnx --out results
  mpm teach --states examples --regions yard.json --region gate -o gate.json      examples/open, examples/closed
)");
  return {verb, [options] { return teach(*options); }};
}

}  // namespace mpm::cli
