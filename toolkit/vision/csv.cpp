// SPDX-License-Identifier: Apache-2.0
#include "vision/csv.h"

#include <sstream>

#include "base/atomic_file.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

constexpr const char* kSpaces = " \r\t";

std::vector<std::string> cellsOf(const std::string& line) {
  const char mark = line.find(',') != std::string::npos ? ',' : line.find(';') != std::string::npos ? ';' : '\t';
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == mark && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(kSpaces));
    cell.erase(cell.find_last_not_of(kSpaces) + 1);
  }
  return cells;
}

}  // namespace

std::vector<CsvLine> readCsv(const std::string& path) {
  std::istringstream text(readFile(path, 64U << 20));
  std::vector<CsvLine> lines;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    if (++number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    line.erase(line.find_last_not_of(kSpaces) + 1);
    if (!line.empty()) lines.push_back({number, line, cellsOf(line)});
  }
  return lines;
}

void refuse(const std::string& path, const CsvLine& line, const std::string& why) {
  throw Error("'" + path + "', line " + std::to_string(line.number) + ": " + visibleText(why, 1000));
}

}  // namespace mpm::vision
