// SPDX-License-Identifier: Apache-2.0
#include <exception>
#include <new>
#include <opencv2/core.hpp>
#include <vector>

#include "cli/terminal/errors.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/output.h"
#include "cli/terminal/quiet.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "mpm/version.hpp"
#include "scene/demo_source.h"

namespace {

using namespace mpm::cli;

int runVerb(const Verb& verb) {
  const std::string command = "mpm " + verb.app->get_name();
  const auto seeHelp = [&] { return " (see '" + command + " --help')"; };
  try {
    return verb.run();
  } catch (const BrokenPipe&) {
    return kBrokenPipe;
  } catch (const UsageError& error) {
    printError(command, error.what() + seeHelp());
    return kUsageError;
  } catch (const std::bad_alloc&) {
    printError(command, "out of memory");
  } catch (const cv::Exception& error) {
    printError(command, error.err);
  } catch (const std::exception& error) {
    printError(command, error.what());
  }
  return kRuntimeError;
}

}  // namespace

int main(int argc, char** argv) {
  installSignalHandlers();
  quietOpenCv();
  mpm::scene::registerDemoSource();

  CLI::App app("Mutual Pair Merging: plain Vision Transformers through OpenCV DNN, with fewer tokens.", "mpm");
  app.set_version_flag("--version", "mpm " MPM_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  app.footer(
      "Examples:\n"
      "  mpm run\n"
      "  mpm run street.png --model vit.onnx --out pictures\n"
      "  mpm convert vit.onnx -o vit_mpm.onnx --schedule 2,5\n"
      "  mpm run --help\n\n"
      "Data goes to stdout, everything else to stderr. Exit status: 0 done, 1 failed, 2 wrong usage,\n"
      "130 interrupted: Ctrl-C once finishes the frame in hand.");
  const std::vector<Verb> verbs = {addConvert(app),     addInfo(app),     addRun(app),
                                   addEval(app),        addDayNight(app), addBench(app),
                                   addBenchWorker(app), addMonitor(app),  addReport(app)};

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {  // --help or --version was asked for
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::string command = "mpm";
    for (const Verb& verb : verbs)
      if (verb.app->parsed()) command += " " + verb.app->get_name();
    printError(command, std::string(error.what()) + " (see '" + command + " --help')");
    return kUsageError;
  }
  for (const Verb& verb : verbs)
    if (verb.app->parsed()) return runVerb(verb);
  printError("mpm", "which verb? convert, info, run, eval, daynight, bench, monitor or report (see 'mpm --help')");
  return kUsageError;
}
