// SPDX-License-Identifier: Apache-2.0
// kernel_worlds FIRST LAST [KERNEL]: each kernel on the sizes and values of each seed, with each instruction set of
// this CPU, against plain loops in double precision. run.py calls it; --list prints the kernels.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "kernels/instruction_set.h"
#include "trial.h"

namespace mpm::worlds {
namespace {

std::vector<Kernel> everyKernel() {
  std::vector<Kernel> all;
  for (const auto& some : {elementwiseKernels(), roundingKernels(), productKernels(), attentionKernels(),
                           pairingKernels(), resamplingKernels(), headKernels()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

char now[200];  // what runs, for the handler

void touchedForbiddenPage(int) {
  const ssize_t written = ::write(STDOUT_FILENO, now, std::strlen(now));
  static_cast<void>(written);
  ::_exit(1);
}

int run(unsigned first, unsigned last, const std::string& only) {
  struct sigaction action {};
  action.sa_handler = touchedForbiddenPage;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
  long trials = 0, disagree = 0;
  for (const std::string& set : availableInstructionSets()) {
    setInstructionSet(set);
    for (const Kernel& kernel : everyKernel()) {
      if (!only.empty() && only != kernel.name) continue;
      for (unsigned seed = first; seed <= last; ++seed, ++trials) {
        std::snprintf(now, sizeof(now), "%s, seed %u, %s: reads or writes beside an array\n", kernel.name, seed,
                      set.c_str());
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
        std::printf("%s, seed %u, %s: %s\n", kernel.name, seed, set.c_str(), problem.c_str());
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
    std::fputs("usage: kernel_worlds FIRST LAST [KERNEL], or --list\n", stderr);
    return 2;
  }
  return mpm::worlds::run(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)),
                          static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)), argc > 3 ? argv[3] : "");
}
