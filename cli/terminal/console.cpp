// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/console.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "cli/terminal/output.h"

namespace mpm::cli {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMaxWaiting = 10000;
constexpr auto kPatience = 2s;
constexpr std::string_view kClear = "\r\033[K";

}  // namespace

struct Console::Impl {
  struct Line {
    int file;
    std::string text;
  };

  const bool shows_status = stderrIsTerminal(), shares_terminal = shows_status && stdoutIsTerminal();

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Line> lines;
  std::string status, failure;
  bool closed_pipe = false, stopping = false;
  std::atomic<bool> gave_up = false;  // drain() found that nothing goes out
  bool writes = false;                // the thread is writing
  std::int64_t left_out = 0;
  std::int64_t moved = 0;  // pieces that went out
  std::string drawn;       // the status that is on the terminal

  void add(int file, std::string text) {
    const std::lock_guard lock(mutex);
    if (lines.size() >= kMaxWaiting) {
      left_out += file == STDOUT_FILENO ? 1 : 0;
      return;
    }
    lines.push_back({file, std::move(text)});
    changed.notify_all();
  }

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      writes = false;
      changed.notify_all();
      changed.wait(lock, [&] { return stopping || !lines.empty() || drawIsDue(); });
      if (stopping) break;
      writes = true;
      if (lines.empty()) {
        draw(lock, status);
        continue;
      }
      const Line line = std::move(lines.front());
      lines.pop_front();
      if (line.file == STDOUT_FILENO && !failure.empty()) continue;
      if (line.file == STDERR_FILENO || shares_terminal) draw(lock, "");
      const int problem = write(lock, line.file, line.text + '\n');
      if (problem == 0 || line.file != STDOUT_FILENO) continue;
      failure = std::string("cannot write to standard output: ") + std::strerror(problem);
      closed_pipe = problem == EPIPE;
    }
  }

  bool drawIsDue() const { return shows_status && status != drawn; }

  void draw(std::unique_lock<std::mutex>& lock, const std::string& text) {
    if (!shows_status || text == drawn) return;
    drawn = text;
    write(lock, STDERR_FILENO, std::string(kClear) + text);
  }

  // Past stdio, whose lock a write that never returns would hold when the process exits. The error, or 0.
  int write(std::unique_lock<std::mutex>& lock, int file, const std::string& text) {
    lock.unlock();
    std::string_view left = text;
    int problem = 0;
    while (!left.empty() && problem == 0) {
      const ssize_t written = ::write(file, left.data(), left.size());
      if (written < 0 && errno == EAGAIN) {  // another program set the terminal to non-blocking
        pollfd waiting{file, POLLOUT, 0};
        ::poll(&waiting, 1, 1000);
      } else if (written < 0 && errno != EINTR) {
        problem = errno;
      } else if (written > 0) {
        left.remove_prefix(static_cast<std::size_t>(written));
        const std::lock_guard counting(mutex);
        ++moved;
      }
    }
    lock.lock();
    return problem;
  }
};

Console::Console() : impl_(std::make_shared<Impl>()) {
  std::thread([impl = impl_] { impl->run(); }).detach();
}

Console::~Console() {
  static const std::atomic<bool> hurry = true;
  if (!impl_->gave_up) drain(hurry);
  const std::lock_guard lock(impl_->mutex);
  impl_->stopping = true;
  impl_->changed.notify_all();
}

void Console::data(std::string line) { impl_->add(STDOUT_FILENO, std::move(line)); }

void Console::note(std::string line) { impl_->add(STDERR_FILENO, std::move(line)); }

void Console::status(std::string line) {
  const std::lock_guard lock(impl_->mutex);
  impl_->status = std::move(line);
  impl_->changed.notify_all();
}

std::optional<std::string> Console::failure() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->failure.empty() ? std::nullopt : std::optional(impl_->failure);
}

bool Console::readerIsGone() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->closed_pipe;
}

std::int64_t Console::leftOut() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->left_out;
}

bool Console::drain(const std::atomic<bool>& hurry) {
  std::unique_lock lock(impl_->mutex);
  const auto done = [&] { return impl_->lines.empty() && !impl_->writes && !impl_->drawIsDue(); };
  std::int64_t seen = impl_->moved;
  for (auto since = SteadyClock::now(); !done() && !(hurry && SteadyClock::now() - since >= kPatience);) {
    impl_->changed.wait_for(lock, 100ms);
    if (std::exchange(seen, impl_->moved) != impl_->moved || !hurry) since = SteadyClock::now();
  }
  impl_->gave_up = !done();
  return done();
}

}  // namespace mpm::cli
