// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>
#include <vector>

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

/// The words of a command line, in which the old name of an option is the new one: "--schedule 2,5" of older scripts is
/// "--reduce mpm:blocks=2,5", and "--schedule none" is "--reduce none".
std::vector<std::string> withNewNames(int argc, char** argv) {
  const std::string old = "--schedule";
  const auto reduction = [](const std::string& schedule) {
    return schedule == "none" ? schedule : "mpm:blocks=" + schedule;
  };
  std::vector<std::string> words(argv, argv + argc);
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (words[i].starts_with(old + "=")) words[i] = "--reduce=" + reduction(words[i].substr(old.size() + 1));
    if (words[i] != old || i + 1 == words.size()) continue;
    words[i] = "--reduce";
    ++i;
    words[i] = reduction(words[i]);
  }
  return words;
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

Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 wrong usage, 130
interrupted, but 0 of monitor and serve, which end that way.
Ctrl-C once finishes the current frame and ends; twice ends at once.)");
  std::vector<Verb> verbs;
  const auto add = [&](const char* group, std::vector<Verb> some) {
    for (Verb& verb : some) verbs.emplace_back(std::move(verb)).app->group(group);
  };
  add("Every day", {addRun(app), addInfo(app), addConvert(app), addTeach(app)});
  add("A camera for months", {addMonitor(app), addReport(app), addServe(app)});
  add("Accuracy and speed", {addEval(app), addBench(app), addTune(app), addStudy(app), addDayNight(app)});
  add("Help", {addHelp(app)});
  std::vector<std::string> words = withNewNames(argc, argv);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return runProgram(app, static_cast<int>(pointers.size()), pointers.data(), [&] {
    for (const Verb& verb : verbs)
      if (verb.app->parsed()) return verb.run();
    throw UsageError(
        "name a verb: run, info, convert, teach, monitor, report, serve, eval, bench, tune, study or daynight");
  });
}
