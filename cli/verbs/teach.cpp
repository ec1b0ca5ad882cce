// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/verbs/verbs.h"
#include "mpm/error.hpp"
#include "program/teach_options.h"
#include "program/terminal/program.h"

namespace mpm::cli {
namespace {

constexpr const char* kTrainer = "mpm-train";

// Replaces this process, so that Ctrl-C, output and exit status are those of the trainer.
int startTrainer(char** words) {
  const std::string beside = std::filesystem::read_symlink("/proc/self/exe").replace_filename(kTrainer).string();
  words[0] = const_cast<char*>(kTrainer);
  // The threads of LibTorch wait thousands of times a second. Waiting in a loop they take the time of other programs:
  // on two busy cores training took 3 times as long.
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::execv(beside.c_str(), words);
  if (errno == ENOENT) ::execvp(kTrainer, words);
  if (errno == ENOENT)
    throw Error(
        "training needs mpm-train, which is neither beside mpm nor in PATH: install it (it needs LibTorch), or run "
        "'mpm teach' with the same folders on a computer that has it and copy the model back");
  throw Error(std::string("cannot start mpm-train: ") + std::strerror(errno));
}

}  // namespace

Verb addTeach(CLI::App& mpm, char** words) {
  CLI::App* verb = mpm.add_subcommand("teach", "Train a model for your camera from a few labelled pictures");
  const auto options = std::make_shared<TeachOptions>();  // only parsed here; the trainer parses the same words again
  addTeachOptions(*verb, *options);
  return {verb, [options, words] { return startTrainer(words); }};
}

}  // namespace mpm::cli
