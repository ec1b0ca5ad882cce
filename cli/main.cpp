// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "cli/verbs/verbs.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "scene/demo_source.h"

namespace {

using namespace mpm::cli;
using namespace mpm::program;

/// mpm help [VERB].
Verb addHelp(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("help", "The help of a verb: mpm help run");
  const auto name = std::make_shared<std::string>();
  verb->add_option("VERB", *name, "Default: the list of verbs")->option_text(" ");
  verb->footer("");
  return {verb, [&mpm, name] {
            const CLI::App* of = name->empty() ? &mpm : nullptr;
            for (const CLI::App* one : verbsOf(mpm))
              if (one->get_name() == *name) of = one;
            if (!of) throw UsageError(unknownVerb(mpm, *name));
            const std::string called = of == &mpm ? "mpm" : "mpm " + *name;
            std::istringstream text(mpm.get_formatter()->make_help(of, called, CLI::AppFormatMode::Normal));
            for (std::string line; std::getline(text, line);) printLine(line);
            return kOk;
          }};
}

}  // namespace

int main(int argc, char** argv) {
  mpm::scene::registerDemoSource();
  CLI::App app("Mutual Pair Merging: plain Vision Transformers through OpenCV DNN, with fewer tokens.", "mpm");
  prepare(app);
  app.require_subcommand(0, 1);
  app.footer(R"(Examples:
  mpm run demo:day --out mpm_day
  mpm run street.png --model vit.onnx --out pictures
  mpm convert vit.onnx -o vit_mpm.onnx --reduce mpm:blocks=2,5
  mpm help run

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
Ctrl-C once finishes the current frame and ends; twice ends at once.)");
  std::vector<Verb> verbs;
  const auto add = [&](const char* group, std::vector<Verb> some) {
    for (Verb& verb : some) verbs.emplace_back(std::move(verb)).app->group(group);
  };
  add("Every day", {addRun(app), addInfo(app), addConvert(app), addTeach(app)});
  add("A camera for months", {addMonitor(app), addReport(app), addServe(app)});
  add("Accuracy and speed", {addEval(app), addBench(app), addTune(app), addStudy(app), addDayNight(app)});
  add("Help", {addHelp(app)});
  return runProgram(app, argc, argv, [&] {
    for (const Verb& verb : verbs)
      if (verb.app->parsed()) return verb.run();
    throw UsageError(
        "name a verb: run, info, convert, teach, monitor, report, serve, eval, bench, tune, study or daynight");
  });
}
