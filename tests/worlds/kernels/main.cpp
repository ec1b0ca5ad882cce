// SPDX-License-Identifier: Apache-2.0
// kernel_worlds FIRST LAST [KERNEL...]: each kernel on the sizes and values of each seed, with each instruction set of
// this CPU, against plain loops in double precision. cuda_worlds: the same of the kernels for a GPU. run.py calls both;
// --list prints the kernels.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>

#include "trial.h"

namespace mpm::worlds {
namespace {

char now[200];  // what runs, for the handler

void touchedForbiddenPage(int) {
  const ssize_t written = ::write(STDOUT_FILENO, now, std::strlen(now));
  static_cast<void>(written);
  ::_exit(1);
}

int run(unsigned first, unsigned last, const std::set<std::string>& only) {
  struct sigaction action {};
  action.sa_handler = touchedForbiddenPage;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
  ::sigaction(SIGABRT, &action, nullptr);
  long trials = 0, disagree = 0;
  for (const std::string& machine : everyMachine()) {
    for (const Kernel& kernel : everyKernel()) {
      if (!only.empty() && only.count(kernel.name) == 0) continue;
      for (unsigned seed = first; seed <= last; ++seed, ++trials) {
        std::snprintf(now, sizeof(now), "%s, seed %u, %s: reads or writes beside an array\n", kernel.name, seed,
                      machine.c_str());
        prepare(machine, seed);
        std::string problem;
        try {
          Trial trial(seed);
          kernel.trial(trial);
          problem = trial.problem();
        } catch (const std::exception& error) {
          problem = std::string("throws: ") + error.what();
        }
        if (problem.empty()) continue;
        ++disagree;
        std::printf("%s, seed %u, %s: %s\n", kernel.name, seed, machine.c_str(), problem.c_str());
      }
    }
  }
  std::printf("%ld trials, %ld disagree\n", trials, disagree);
  return disagree > 0 ? 1 : 0;
}

}  // namespace
}  // namespace mpm::worlds

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "--list") {
    for (const mpm::worlds::Kernel& kernel : mpm::worlds::everyKernel()) std::puts(kernel.name);
    return 0;
  }
  if (argc < 3) {
    std::fputs("usage: FIRST LAST [KERNEL...], or --list\n", stderr);
    return 2;
  }
  return mpm::worlds::run(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)),
                          static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), {argv + 3, argv + argc});
}
