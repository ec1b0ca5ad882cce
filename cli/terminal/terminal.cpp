// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mpm::cli {
namespace {

bool isTerminal(int file) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(file) && !(terminal && std::strcmp(terminal, "dumb") == 0);
}

bool colors() {
  const char* no_color = std::getenv("NO_COLOR");
  return stderrIsTerminal() && !(no_color && *no_color);
}

// Errors of other libraries may have several lines; a person gets one.
std::string oneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

bool stderrIsTerminal() { return isTerminal(STDERR_FILENO); }
bool stdoutIsTerminal() { return isTerminal(STDOUT_FILENO); }

void printError(const std::string& command, const std::string& message) {
  std::fprintf(stderr, colors() ? "%s: \033[1;31merror:\033[0m %s\n" : "%s: error: %s\n", command.c_str(),
               oneLine(message).c_str());
}

void printNote(const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); }

Progress::Progress(bool shown, std::optional<int> total) : shown_(shown), total_(total) {}

Progress::~Progress() {
  if (shown_ && done_ > 0) std::fputs("\r\033[K", stderr);
}

void Progress::note(const std::string& message) {
  if (shown_ && done_ > 0) std::fputs("\r\033[K", stderr);
  printNote(message);
}

void Progress::step() {
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  const double rate = done_ / std::max(1e-3, std::chrono::duration<double>(now - start_).count());
  if (!total_) {
    std::fprintf(stderr, "\r\033[K%d frames  %.1f/s", done_, rate);
    return;
  }
  constexpr int kWidth = 30;
  const int filled = std::min(kWidth, kWidth * done_ / std::max(1, *total_));
  std::string bar(filled, '#');
  bar.resize(kWidth, '.');
  std::fprintf(stderr, "\r\033[K[%s] %d/%d  %.1f/s  %.0f s left", bar.c_str(), done_, *total_, rate,
               std::max(0, *total_ - done_) / rate);
}

}  // namespace mpm::cli
