// SPDX-License-Identifier: Apache-2.0
#include "cli/study/study.h"

#include <filesystem>
#include <memory>

#include "cli/study/summary.h"
#include "cli/verbs/verbs.h"
#include "cli/worker_process.h"
#include "program/paths.h"

namespace mpm::cli {

namespace {

struct StudyArguments {
  std::vector<std::string> models, data, reduces, precisions;
  std::string folder;
  StudyPlan plan;
  bool json = false;
};

// Of each method that needs no policy network; shares fit models of any size.
const std::vector<std::string> kDefaultReductions = {"mpm",
                                                     "gradual",
                                                     "gradual:share=0.1",
                                                     "gradual:similarity=0.95",
                                                     "gradual:similarity=0.98",
                                                     "tome",
                                                     "tome:share=0.055",
                                                     "algm",
                                                     "algm:threshold=0.94"};

std::string commandText(const StudyArguments& arguments) {
  std::string text = "mpm study";
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) text += std::string(" ") + option + " '" + value + "'";
  };
  add("--model", arguments.models);
  add("--data", arguments.data);
  add("--reduce", arguments.reduces);
  add("--precision", arguments.precisions);
  if (arguments.plan.max_images > 0) text += " --max-images " + std::to_string(arguments.plan.max_images);
  return text + " --out " + arguments.folder;
}

/// What the Python program says that draws the report: {"ok", "why"}. Where the python3 of the PATH, as of a virtual
/// environment, lacks matplotlib, that of the system may have it.
nlohmann::json drawReport(const std::string& folder, const std::string& command) {
  constexpr double kSeconds = 600;
  const std::string program = ownFile("study/report.py", "cli/study/report.py");
  nlohmann::json answer;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    answer = WorkerProcess({python, program, folder, command}).ask(nlohmann::json::object(), kSeconds);
    if (answer["ok"].get<bool>()) break;
  }
  return answer;
}

int study(StudyArguments arguments) {
  StudyPlan& plan = arguments.plan;
  if (arguments.models.empty()) arguments.models = {chosenModel("")};
  if (arguments.reduces.empty()) arguments.reduces = kDefaultReductions;
  if (arguments.precisions.empty()) arguments.precisions = {toString(Precision::kFp32)};
  plan.models = arguments.models;
  for (const std::string& text : arguments.data) plan.data.push_back(parseStudyData(text));
  for (const std::string& text : arguments.reduces)
    if (const Reduction reduction = parseReduction(text); reduction != kFullModel) plan.variants.push_back(reduction);
  for (const std::string& text : arguments.precisions) plan.precisions.push_back(parsePrecision(text));
  makeFolder(arguments.folder);
  const std::filesystem::path folder = arguments.folder;
  const std::string file = (folder / "results.jsonl").string();
  const bool finished = measureStudy(plan, file, stderrIsTerminal());
  writeSummary(readStudy(file), arguments.folder);
  if (!finished) {
    printNote("interrupted: the same command goes on; results.csv is of what is there");
    return kInterrupted;
  }
  const nlohmann::json report = drawReport(arguments.folder, commandText(arguments));
  if (!report["ok"].get<bool>())
    printNote("no report and no figures, python3 says: " + report.value("why", "") +
              "; the numbers are in results.csv, and the same command draws them later");
  printLine((folder / (report["ok"].get<bool>() ? "report.html" : "results.csv")).string());
  return kOk;
}

}  // namespace

Verb addStudy(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("study", "Measure reductions on data sets and write a report with figures");
  const auto arguments = std::make_shared<StudyArguments>();
  StudyPlan& plan = arguments->plan;
  addOption(*verb, "--model", arguments->models, "M.onnx",
            "A plain ViT as ONNX; can be given several times. Default: as in 'mpm run'")
      ->allow_extra_args(false);
  addOption(*verb, "--data", arguments->data, "NAME:DIR",
            "ade20k:DIR, cityscapes:DIR, pascal-context:DIR, camvid:DIR or the built-in scene "
            "(\"demo:street?seed=1..4&frames=12\"); can be given several times")
      ->required()
      ->allow_extra_args(false);
  addOption(*verb, "--reduce", arguments->reduces, "SPEC",
            "How tokens merge, as in 'mpm run'; can be given several times. The full model always runs. Default: "
            "one or two of each method but cts")
      ->check(problemOf(parseReduction))
      ->allow_extra_args(false);
  addOption(*verb, "--precision", arguments->precisions, "fp32|bf16|tf32|fp16|int8",
            "Can be given several times. Default: fp32")
      ->check(CLI::IsMember({"fp32", "bf16", "tf32", "fp16", "int8"}))
      ->allow_extra_args(false)
      ->group(kNetworkGroup);
  addOption(*verb, "-o,--out", arguments->folder, "DIR", "Folder of the results")->required();
  addNumber(*verb, "--max-images", plan.max_images, "N", 1, 1 << 30, "Only the first N images of each data set");
  addNumber(*verb, "--sweep-images", plan.sweep_images, "N", 0, 1 << 30,
            "Images of the depth sweep, one step of mpm before each block in turn; 0: no sweep. Default: 24");
  addDevice(*verb, plan.options.read.device);
  addThreads(*verb, plan.options.threads);
  verb->footer(
      R"(Writes results.jsonl (all measurements), summary.jsonl (a line for each row of the report) and results.csv (the same
without lists). All reductions of a model take turns on each image, so other work of the machine slows them alike.
_low and _high are the ends of a 95 % interval by bootstrap over the images.

With Python's matplotlib (Debian: python3-matplotlib) also report.html (one file, no network) and figures as SVG and
PNG: mIoU against time and GFLOP with the Pareto front, tokens kept per image, loss per class and near
boundaries (8 px), locality of merges, where the time goes, the time of each block, and the depth sweep. The cost of
ragged, padded and equally merged batches of 1 to 32 images is computed from the token counts, not measured. On all of
ADE20K, models of the sizes in the paper get its mIoU and GFLOP beside theirs.

In summary.jsonl block_ms is a list of the blocks, padded_percent and minimum_percent of batches of 1, 2, 4, 8, 16, 32
images, iou and iou_loss of the classes (percent; null without true pixels), tokens of the images.

After Ctrl-C or a kill the same command goes on with what is missing: measurements are in results.jsonl every 64 images.
More --reduce, --data or --model add to a folder. Prints a table of the rows and, in its last line, the path of the
report, or of results.csv without one.

Examples:
  mpm study --data "demo:street?seed=1..4&frames=12&step=7200&weather=auto" -o study
  mpm study --model vit.onnx --data camvid:CamVid --reduce mpm:blocks=2,5 --reduce gradual:count=48 -o study
)");
  return {verb, [arguments] { return study(*arguments); }};
}

}  // namespace mpm::cli
