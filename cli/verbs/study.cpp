// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>

#include "base/atomic_file.h"
#include "cli/eval/options.h"
#include "cli/eval/print.h"
#include "cli/manifest.h"
#include "cli/measure.h"
#include "cli/python_program.h"
#include "cli/verbs/verbs.h"
#include "evaluation/study.h"
#include "evaluation/tuning.h"
#include "mpm/convert.hpp"
#include "program/paths.h"
#include "vision/csv.h"

namespace mpm::cli {
namespace {

struct StudyArguments {
  MeasurePlan plan{};
  std::string folder{};
  int sweep_images = 24;
  bool sweep_pairs = false;
};

// The lines in a file of the folder, without those of images that the run was not asked for.
std::vector<evaluation::Measurement> measurementsIn(const std::string& file, const Measured& run) {
  std::vector<evaluation::Measurement> all;
  if (!std::filesystem::exists(file)) return all;
  for (const JsonValue& line : readMeasurements(file)) {
    if (isLeftOut(line.json(), run)) continue;
    all.push_back(evaluation::Measurement::read(line));
    for (const char* key : {"confusion", "confusion_near", "blocks_ms", "pairs_at_distance"})
      all.back().line.erase(key);  // is in the other fields
  }
  return all;
}

std::string cellOf(const Json& value) {
  if (value.is_null()) return "";
  return vision::csvCell(value.is_string() ? value.get<std::string>() : toLine(value));
}

// summary.jsonl and pairs.jsonl have all numbers; results.csv has those of a variant that are no lists.
void writeNumbers(const std::string& folder, const Measured& results, const Measured& sweep) {
  const evaluation::StudyNumbers numbers = evaluation::studyNumbers(measurementsIn(folder + "/results.jsonl", results),
                                                                    measurementsIn(folder + "/sweep.jsonl", sweep));
  if (numbers.rows.empty())
    throw Error("'" + folder + "/results.jsonl' has no labelled image that the full model ran on");
  const auto write = [&](const char* name, const std::vector<Json>& rows) {
    std::string lines;
    for (const Json& row : rows) lines += toLine(row) + '\n';
    writeFileAtomically(folder + "/" + name, lines);
  };
  write("summary.jsonl", numbers.rows);
  write("pairs.jsonl", numbers.pairs);
  std::vector<std::string> columns;
  for (const auto& [key, value] : numbers.rows.front().items())
    if (!value.is_array()) columns.push_back(key);
  std::string csv = CLI::detail::join(columns, ",") + '\n';
  for (const Json& row : numbers.rows) {
    std::vector<std::string> cells;
    for (const std::string& column : columns) cells.push_back(cellOf(row.value(column, Json())));
    csv += CLI::detail::join(cells, ",") + '\n';
  }
  writeFileAtomically(folder + "/results.csv", csv);
}

int study(const StudyArguments& arguments) {
  MeasurePlan plan = arguments.plan;
  plan.model = chosenModel(plan.model);
  std::vector<Reduction>& reductions = plan.variants.reductions;
  applyProtocol(plan.labelled, plan.fit, plan.model, plan.options);  // the size decides how many tokens there are
  if (reductions.empty()) reductions = evaluation::usualReductions(plan.model, plan.options.read());
  reductions.insert(reductions.begin(), kFullModel);
  makeFolder(arguments.folder);
  // Before the measurement, which may take hours.
  const nlohmann::json ready = startPython("study/report.py", {"--check"}).answer;
  if (!ready["ok"].get<bool>()) {
    printNote("there will be no report and no figures, python3 says: " + ready.value("why", "") +
              "; once that is mended, the same command draws them");
  }
  plan.resume = arguments.folder + "/results.jsonl";
  const Measured results = measure(plan);
  if (const int code = showMeasured(results, plan, false); code != kOk) return code;
  Measured sweep{results.classes, results.variants};  // of no images
  if (arguments.sweep_images > 0) {                   // one step of mpm before each block in turn, or also two
    reductions = {kFullModel};
    const int blocks = readModelInfo(plan.model, plan.options.convert()).blocks;
    for (int block = 0; block < blocks; ++block) {
      reductions.push_back(mpmBefore({block}));
      for (int second = block + 1; arguments.sweep_pairs && second < blocks; ++second)
        reductions.push_back(mpmBefore({block, second}));
    }
    if (plan.variants.precisions.size() > 1) plan.variants.precisions.resize(1);
    plan.labelled.spread = arguments.sweep_images;
    plan.resume = arguments.folder + "/sweep.jsonl";
    sweep = measure(plan);
    if (!sweep.finished) return kInterrupted;
  }
  writeNumbers(arguments.folder, results, sweep);
  std::string made = arguments.folder + "/summary.jsonl";
  if (ready["ok"].get<bool>()) {
    const nlohmann::json report = startPython("study/report.py", {arguments.folder}).answer;
    if (!report["ok"].get<bool>()) throw Error("no report, python3 says: " + report.value("why", ""));
    made = arguments.folder + "/report.html";
  }
  printLine(made);
  return kOk;
}

}  // namespace

Verb addStudy(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("study", "Measure reductions on labelled images and write a report with figures");
  const auto arguments = std::make_shared<StudyArguments>();
  addOption(*verb, "-o,--out", arguments->folder, "DIR", "Folder of lines, report and figures")->required();
  addNumber(*verb, "--sweep-images", arguments->sweep_images, "N", 0, 1 << 30,
            "Images of the depth sweep, spread evenly over all. 0: no sweep. Default: 24");
  verb->add_flag("--sweep-pairs", arguments->sweep_pairs,
                 "Measure merging before each pair of blocks, too: heat maps of loss and speed-up");
  addMeasureOptions(*verb, arguments->plan);
  verb->remove_option(
      verb->get_option("--reuse"));  // it needs all frames in their order, and a study goes on after a kill
  verb->footer(
      R"('mpm eval --reduce none --reduce ... --resume DIR/results.jsonl', by default with the reductions of 'mpm tune'; one
step of mpm before each block in turn, or before each two (sweep.jsonl); their numbers with 95 % intervals
(summary.jsonl, results.csv), also of each two reductions (pairs.jsonl); a report with figures (Debian:
python3-matplotlib). The same command goes on after a kill. Other models, data and reductions add to the folder.

Examples:
  mpm study "demo:street?seed=1..8&frames=6&step=7200&weather=auto" -o study
  mpm study --dataset camvid CamVid --model vit.onnx --reduce mpm:blocks=2,5 --reduce gradual:count=48 -o study
)");
  return {verb, [arguments] { return study(*arguments); }};
}

}  // namespace mpm::cli
