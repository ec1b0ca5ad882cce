// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/duration_text.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "program/terminal/program.h"

namespace mpm::program {
namespace {

bool isTerminal(int file) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(file) && !(terminal && std::strcmp(terminal, "dumb") == 0);
}

bool colors() { return stderrIsTerminal() && !isSet("NO_COLOR"); }

std::FILE* const terminal = stderr;  // also while a decoder of pictures finds `stderr` closed (read_picture.cpp)

constexpr std::size_t kMaxLine = 4000, kMaxCell = 60;  // characters

// Errors of other libraries may have several lines; a person gets one.
std::string oneLine(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return visibleText(text, kMaxLine);
}

}  // namespace

bool isSet(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value;
}

void printLine(const std::string& text) { printData(visibleText(text, kMaxLine)); }

void printData(const std::string& line) {
  if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fputc('\n', stdout) != EOF &&
      std::fflush(stdout) == 0)
    return;
  if (errno == EPIPE) throw BrokenPipe();
  throw Error(std::string("cannot write to standard output: ") + std::strerror(errno));
}

Json sizeJson(Size2 size) { return {{"height", size.height}, {"width", size.width}}; }

std::string tokensText(const std::vector<double>& tokens) {
  std::string text;
  for (double count : tokens) text += (text.empty() ? "" : " -> ") + fixed(count, count == std::floor(count) ? 0 : 1);
  if (tokens.size() > 1) {
    const std::string fewer = fixed(100 * (1 - tokens.back() / tokens.front()), 0);
    text += fewer == "0" ? " (0 %)" : " (-" + fewer + " %)";
  }
  return text;
}

std::string tableRow(const std::vector<std::string>& cells, const std::vector<int>& widths) {
  std::string row;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string cell = visibleText(cells[i], i + 1 < cells.size() ? kMaxCell : kMaxLine);
    const int width = widths[std::min(i, widths.size() - 1)];  // the last one is that of all further cells
    const auto shown = std::ranges::count_if(cell, [](char c) { return (c & 0xc0) != 0x80; });  // characters of UTF-8
    const std::string padding(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, std::abs(width) - shown)), ' ');
    const std::string text = width < 0 ? cell + padding : padding + cell;
    // A cell that is wider than its column must not touch the one before.
    if (!row.empty() && row.back() != ' ' && !text.empty() && text.front() != ' ') row += ' ';
    row += text;
  }
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

bool stderrIsTerminal() { return isTerminal(STDERR_FILENO); }
bool stdoutIsTerminal() { return isTerminal(STDOUT_FILENO); }

void printError(const std::string& command, const std::string& message) {
  std::fprintf(terminal, colors() ? "%s: \033[1;31merror:\033[0m %s\n" : "%s: error: %s\n", command.c_str(),
               oneLine(message).c_str());
}

void printNote(const std::string& message) { std::fprintf(terminal, "%s\n", visibleText(message, kMaxLine).c_str()); }

void drawText(const std::string& text) { std::fputs(text.c_str(), terminal); }

Progress::Progress(bool shown, std::optional<int> total, const std::string& step)
    : shown_(shown), total_(total), name_(step.empty() ? step : step + " ") {}

Progress::~Progress() { clear(); }

void Progress::clear() const {
  if (shown_ && done_ > 0) drawText("\r\033[K");
  drawn_ = {};
}

void Progress::note(const std::string& message) const {
  clear();
  printNote(message);
}

std::string Progress::text() const {
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate = done_ / std::max(1e-3, seconds);
  const std::string speed = rate >= 1 ? fixed(rate, 1) + "/s" : fixed(1 / rate, 2) + " s each";
  if (!total_) return std::to_string(done_) + " frames  " + speed;
  return name_ + std::to_string(done_) + " of " + std::to_string(*total_) + "  " + speed + "  " +
         durationText(std::max(0, *total_ - done_) / rate) + " left";
}

void Progress::step(const std::string& detail) {
  ++done_;
  const auto now = std::chrono::steady_clock::now();
  if (!shown_ || now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  constexpr int kWidth = 30;
  std::string bar;
  if (total_) {
    bar.assign(static_cast<std::size_t>(std::min(1.0, static_cast<double>(done_) / std::max(1, *total_)) * kWidth),
               '#');
    bar.resize(kWidth, '.');
    bar = "[" + bar + "] ";
  }
  std::fprintf(terminal, "\r\033[K%s%s%s", bar.c_str(), text().c_str(), detail.c_str());
}

}  // namespace mpm::program
