// SPDX-License-Identifier: Apache-2.0
#include "monitor/event_command.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/json_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/clocks.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct ReportedEvent {
  Event event;
  std::string source;
};

// Ours less what an earlier command got, and less the sources as they were given, which may hold passwords.
std::vector<std::string> environmentOf(const ReportedEvent& reported) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    if (const std::string_view text = *entry; !text.starts_with("MPM_EVENT_") && !text.starts_with("MPM_SOURCE"))
      all.emplace_back(text);
  }
  const Event& event = reported.event;
  for (const auto& [name, value] : {std::pair<std::string, std::string>("KIND", toString(event.kind)),
                                    {"SEVERITY", toString(event.severity)},
                                    {"MESSAGE", event.message},
                                    {"TIME", isoTime(event.time, true)},
                                    {"SOURCE", reported.source}})
    all.push_back("MPM_EVENT_" + name + "=" + value);
  return all;
}

// A pipe from which `text` can be read, also by a reader that never does: it fits into the pipe.
int inputWith(const std::string& text) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, 0);
  return ends[0];
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Returns an error number; 0: `child` runs, as the leader of its own group.
int start(std::vector<std::string> arguments, const ReportedEvent& reported, pid_t& child) {
  Json json = toJson(reported.event);
  json["source"] = reported.source;
  const int input = inputWith(toLine(json) + "\n");
  if (input < 0) return errno;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);  // cameras are not opened with O_CLOEXEC
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&how, &signals);
  sigaddset(&signals, SIGPIPE);
  posix_spawnattr_setsigdefault(&how, &signals);
  std::vector<std::string> environment = environmentOf(reported);
  const int error = ::posix_spawnp(&child, arguments.front().c_str(), &files, &how, pointers(arguments).data(),
                                   pointers(environment).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  ::close(input);
  return error;
}

bool isProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access(((folder.empty() ? "." : folder) + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

std::vector<std::string> splitCommand(const std::string& line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (quote == 0 && blank) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == '\\' && quote != '\'' && i + 1 < line.size())
      *word += line[++i];
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '\'' || c == '"'))
      quote = c;
    else
      *word += c;
  }
  if (quote != 0) {
    throw Error("the command '" + visibleText(line) + "' has a " + quote + " that is not closed: add it, or write \\" +
                quote);
  }
  if (word) words.push_back(*word);
  if (words.empty() || words.front().empty()) throw Error("the command is empty: name a program");
  return words;
}

std::vector<std::string> parseCommand(const std::string& line) {
  std::vector<std::string> words = splitCommand(line);
  if (!isProgram(words.front()))
    throw Error("there is no program '" + visibleText(words.front()) + "': install it, or name its path");
  return words;
}

struct EventCommand::Impl {
  std::vector<std::string> arguments;
  std::function<void(const Event&)> report;
  EventCommandLimits limits;

  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<ReportedEvent> waiting{};          // guarded by the mutex, as is what follows
  std::size_t dropped = 0;                      // since this was reported
  std::optional<Clock::time_point> patience{};  // finish() was called
  std::thread thread{};

  void problem(const std::string& what) const {
    report({unixNow(), EventKind::kCommand, Severity::kWarning, "'" + visibleText(arguments.front()) + "' " + what});
  }

  // Waits for a child, at most until the limit or, once finish() was called, its patience.
  void waitFor(pid_t child) {
    const Clock::time_point limit = Clock::now() + inSeconds(limits.run_s);
    int status = 0;
    for (auto step = 1ms; ::waitpid(child, &status, WNOHANG) == 0; step = std::min(2 * step, 100ms)) {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, step);
      const Clock::time_point now = Clock::now();
      const bool ends = patience && now >= *patience;
      lock.unlock();
      if (now < limit && !ends) continue;
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return problem(ends ? "was killed: the watch ends"
                          : "was killed: it took longer than " + numberText(limits.run_s) + " s");
    }
    if (WIFSIGNALED(status)) problem(std::string("was ended by a signal: ") + ::strsignal(WTERMSIG(status)));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      problem("ended with exit status " + std::to_string(WEXITSTATUS(status)));
  }

  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return patience || !waiting.empty(); });
      const bool ends = patience && Clock::now() >= *patience;
      if (ends) dropped += std::exchange(waiting, {}).size();
      const std::size_t lost = std::exchange(dropped, 0);
      std::optional<ReportedEvent> next;
      if (!waiting.empty()) {
        next = std::move(waiting.front());
        waiting.pop_front();
      }
      lock.unlock();
      if (lost > 0) {
        problem("was not run for " + std::to_string(lost) + (lost == 1 ? " event" : " events") +
                (ends ? ": the watch ends" : ": it is slower than they come"));
      }
      if (!next) return;
      pid_t child = 0;
      if (const int error = start(arguments, *next, child))
        problem(std::string("cannot be run: ") + std::strerror(error));
      else
        waitFor(child);
      lock.lock();
    }
  }
};

EventCommand::EventCommand(std::vector<std::string> arguments, std::function<void(const Event&)> report,
                           EventCommandLimits limits)
    : impl_(new Impl{.arguments = std::move(arguments), .report = std::move(report), .limits = limits}) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

EventCommand::~EventCommand() { finish(0); }

void EventCommand::add(const Event& event, const std::string& source) {
  if (event.kind == EventKind::kCommand) return;
  const std::lock_guard lock(impl_->mutex);
  if (impl_->patience) return;
  if (impl_->waiting.size() < impl_->limits.max_waiting)
    impl_->waiting.push_back({event, source});
  else
    ++impl_->dropped;
  impl_->changed.notify_all();
}

void EventCommand::finish(double patience_s) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->patience) impl_->patience = Clock::now() + inSeconds(patience_s);
    impl_->changed.notify_all();
  }
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace mpm::monitor
