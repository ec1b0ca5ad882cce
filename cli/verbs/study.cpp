// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "cli/verbs/eval.h"
#include "cli/verbs/verbs.h"
#include "cli/worker_process.h"
#include "program/paths.h"

namespace mpm::cli {
namespace {

struct StudyArguments : MeasureOptions {
  std::string folder{};
  int sweep_images = 24;
  bool sweep_pairs = false;
};

int study(const StudyArguments& arguments) {
  MeasurePlan plan = arguments.checked();
  std::vector<Reduction>& reductions = plan.variants.reductions;
  if (reductions.empty() && plan.variants.schedules.empty())  // one or two of each method but cts
    for (const char* text : {"mpm", "gradual", "gradual:share=0.1", "gradual:similarity=0.95",
                             "gradual:similarity=0.98", "tome", "tome:share=0.055", "algm", "algm:threshold=0.94"})
      reductions.push_back(parseReduction(text));
  reductions.insert(reductions.begin(), kFullModel);
  makeFolder(arguments.folder);
  plan.resume = arguments.folder + "/results.jsonl";
  if (const int code = evaluate(plan, false); code != kOk) return code;
  if (arguments.sweep_images > 0) {  // one step of mpm before each block in turn, or also two
    reductions = {kFullModel};
    plan.variants.schedules.clear();
    const int blocks = readModelInfo(chosenModel(plan.model), plan.options.read.convert).blocks;
    for (int block = 0; block < blocks; ++block) {
      reductions.push_back(mpmBefore({block}));
      for (int second = block + 1; arguments.sweep_pairs && second < blocks; ++second)
        reductions.push_back(mpmBefore({block, second}));
    }
    int& images = plan.labelled.max_frames;
    if (images == 0 || images > arguments.sweep_images) images = arguments.sweep_images;
    plan.resume = arguments.folder + "/sweep.jsonl";
    if (!measure(plan).finished) return kInterrupted;
  }
  const nlohmann::json report = startPython("study/report.py", {arguments.folder}).answer;
  const bool drawn = report["ok"].get<bool>();
  if (!drawn) printNote("no report, python3 says: " + report.value("why", "") + "; the same command draws it later");
  printLine(arguments.folder + (drawn ? "/report.html" : "/results.jsonl"));
  return kOk;
}

}  // namespace

Verb addStudy(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("study", "Measure reductions on labelled images and write a report with figures");
  const auto arguments = std::make_shared<StudyArguments>();
  addOption(*verb, "-o,--out", arguments->folder, "DIR", "Folder of lines, report and figures")->required();
  addNumber(*verb, "--sweep-images", arguments->sweep_images, "N", 0, 1 << 30,
            "Images of the depth sweep. Default: 24");
  verb->add_flag("--sweep-pairs", arguments->sweep_pairs,
                 "Two steps before each two blocks, too: heat maps of loss and speed-up");
  addMeasureOptions(*verb, *arguments);
  verb->footer(
      R"('mpm eval --reduce none --reduce ... --resume DIR/results.jsonl', by default with one or two reductions of each method;
one step of mpm before each block in turn, or before each two (sweep.jsonl); a report with figures (Debian:
python3-matplotlib). The same command goes on after a kill. Other models, data and reductions add to the folder.

Examples:
  mpm study "demo:street?seed=1..4&frames=12&step=7200&weather=auto" -o study
  mpm study --dataset camvid CamVid --model vit.onnx --reduce mpm:blocks=2,5 --reduce gradual:count=48 -o study
)");
  return {verb, [arguments] { return study(*arguments); }};
}

}  // namespace mpm::cli
