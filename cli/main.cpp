// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/verbs.h"
#include "program/terminal/program.h"
#include "scene/demo_source.h"

int main(int argc, char** argv) {
  using namespace mpm::cli;
  mpm::scene::registerDemoSource();
  CLI::App app("Mutual Pair Merging: plain Vision Transformers through OpenCV DNN, with fewer tokens.", "mpm");
  prepare(app);
  app.require_subcommand(0, 1);
  app.footer(R"(Examples:
  mpm run
  mpm run street.png --model vit.onnx --out pictures
  mpm convert vit.onnx -o vit_mpm.onnx --schedule 2,5
  mpm run --help

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
Ctrl-C once finishes the current frame and ends; twice ends at once.)");
  const std::vector<Verb> verbs = {addConvert(app),  addInfo(app),    addRun(app),         addEval(app),
                                   addDayNight(app), addBench(app),   addBenchWorker(app), addTune(app),
                                   addStudy(app),    addMonitor(app), addReport(app),      addTeach(app, argv)};
  return runProgram(app, argc, argv, [&] {
    for (const Verb& verb : verbs)
      if (verb.app->parsed()) return verb.run();
    throw UsageError("name a verb: convert, info, run, eval, teach, daynight, bench, tune, study, monitor or report");
  });
}
