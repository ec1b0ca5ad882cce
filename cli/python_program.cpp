// SPDX-License-Identifier: Apache-2.0
#include "cli/python_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

namespace {

namespace fs = std::filesystem;

nlohmann::json failed(const std::string& why) { return {{"ok", false}, {"why", why}}; }

// Where one of our own is closed, its number is given away; dup2 onto itself would leave it to be closed by exec.
void moveOffStandardFiles(int& file) {
  if (file < 0 || file > STDERR_FILENO) return;
  const int moved = ::fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::close(std::exchange(file, moved));
}

}  // namespace

PythonProgram startPython(const std::string& file, const std::vector<std::string>& arguments) {
  constexpr double kSeconds = 3600;
  const fs::path path =
      (fs::read_symlink("/proc/self/exe").parent_path() / MPM_DATA_FROM_PROGRAM / file).lexically_normal();
  const auto start = [&](const char* python) {
    std::vector<std::string> command = {python, path.string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto process = std::make_unique<PythonProcess>(command);
    nlohmann::json answer = process->ask(nlohmann::json::object(), kSeconds);
    return PythonProgram{std::move(process), std::move(answer)};
  };
  PythonProgram found = start("python3");
  return found.answer["ok"].get<bool>() ? std::move(found) : start("/usr/bin/python3");
}

PythonProcess::PythonProcess(const std::vector<std::string>& command) {
  int question[2], answer[2];
  if (::pipe2(question, O_CLOEXEC) != 0 || ::pipe2(answer, O_CLOEXEC) != 0)
    throw Error(std::string("cannot make a pipe: ") + std::strerror(errno));
  complaints_ = ::memfd_create("stderr of a worker", MFD_CLOEXEC);
  for (int* file : {&question[0], &question[1], &answer[0], &answer[1], &complaints_}) moveOffStandardFiles(*file);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  child_ = ::fork();
  if (child_ < 0) throw Error(std::string("cannot start a process: ") + std::strerror(errno));
  if (child_ == 0) {
    ::setpgid(0, 0);  // Ctrl-C is ours: the workers end when we do
    ::dup2(question[0], STDIN_FILENO);
    ::dup2(answer[1], STDOUT_FILENO);
    ::dup2(complaints_, STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(question[0]);
  ::close(answer[1]);
  to_ = question[1];
  from_ = answer[0];
}

PythonProcess::~PythonProcess() {
  for (const int file : {to_, from_, complaints_}) ::close(file);
  if (child_ < 0) return;
  // The end of stdin ends a worker; one that hangs is not waited for.
  for (int i = 0; i < 50; ++i) {
    if (::waitpid(child_, nullptr, WNOHANG) != 0) return;
    ::usleep(20'000);
  }
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

std::string PythonProcess::lastComplaint() const {
  char text[400];
  const off_t end = ::lseek(complaints_, 0, SEEK_END);
  const ssize_t got =
      ::pread(complaints_, text, sizeof text, std::max<off_t>(0, end - static_cast<off_t>(sizeof text)));
  std::string tail(text, static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  const auto line = tail.rfind('\n');
  return line == std::string::npos ? tail : tail.substr(line + 1);
}

nlohmann::json PythonProcess::ask(const nlohmann::json& question, double timeout_s) {
  const std::string line = question.dump() + "\n";
  if (child_ < 0) return failed("the worker has ended");
  // A worker that ended before it was asked says why below, as one that ends meanwhile does.
  if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size()) && errno != EPIPE)
    return failed(std::string("cannot ask the worker: ") + std::strerror(errno));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  for (;;) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      const std::string answer = received_.substr(0, end);
      received_.erase(0, end + 1);
      const nlohmann::json parsed = nlohmann::json::parse(answer, nullptr, false);
      return parsed.is_object() && parsed.contains("ok") ? parsed : failed("the worker answered nonsense");
    }
    if (interrupted()) return failed("interrupted");
    if (std::chrono::steady_clock::now() > deadline) return failed("no answer in time");
    pollfd channel{from_, POLLIN, 0};
    if (::poll(&channel, 1, 200) <= 0) continue;
    char buffer[4096];
    const ssize_t got = ::read(from_, buffer, sizeof buffer);
    if (got <= 0) {
      int status = 0;
      ::waitpid(std::exchange(child_, -1), &status, 0);
      if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return failed("it could not be started");
      return failed(WIFSIGNALED(status) ? std::string("it crashed: ") + ::strsignal(WTERMSIG(status))
                                        : "it ended without an answer: " + lastComplaint());
    }
    received_.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace mpm::cli
