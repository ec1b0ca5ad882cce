// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "program/model_options.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;  // the words of every verb

/// A verb of the command: its options, and what it does once they are parsed. Returns the exit code.
struct Verb {
  CLI::App* app;
  std::function<int()> run;
};

Verb addConvert(CLI::App& mpm);
Verb addInfo(CLI::App& mpm);
Verb addRun(CLI::App& mpm);
Verb addEval(CLI::App& mpm);
Verb addDayNight(CLI::App& mpm);
Verb addBench(CLI::App& mpm);
Verb addStudy(CLI::App& mpm);
Verb addTune(CLI::App& mpm);
Verb addMonitor(CLI::App& mpm);
Verb addReport(CLI::App& mpm);
Verb addServe(CLI::App& mpm);
Verb addTeach(CLI::App& mpm);

}  // namespace mpm::cli
