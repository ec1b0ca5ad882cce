// SPDX-License-Identifier: Apache-2.0
#include "train/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/atomic_file.h"
#include "support/temporary_folder.h"

namespace mpm::test {

ProgramResult mpmTrain(const std::vector<std::string>& arguments, const std::function<int()>& signal_now) {
  const TemporaryFolder folder;
  const std::string out = folder / "out", err = folder / "err";
  std::vector<std::string> words = {MPM_TRAIN_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  bool sent = !signal_now;
  while (::waitpid(child, &status, sent ? 0 : WNOHANG) == 0) {
    if (const int signal = signal_now(); signal != 0) {
      ::kill(child, signal);
      sent = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readFile(out), readFile(err)};
}

}  // namespace mpm::test
