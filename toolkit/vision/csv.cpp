// SPDX-License-Identifier: Apache-2.0
#include "vision/csv.h"

#include <boost/algorithm/string/trim.hpp>
#include <boost/tokenizer.hpp>
#include <sstream>

#include "base/atomic_file.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

char separatorOf(const std::string& line) {
  return line.find(',') != std::string::npos ? ',' : line.find(';') != std::string::npos ? ';' : '\t';
}

std::vector<std::string> cellsOf(const std::string& line, char mark) {
  const boost::escaped_list_separator<char> separator("", std::string(1, mark), "\"");
  const boost::tokenizer<boost::escaped_list_separator<char>> fields(line, separator);
  std::vector<std::string> cells(fields.begin(), fields.end());
  for (std::string& cell : cells) boost::algorithm::trim(cell);
  return cells;
}

}  // namespace

std::vector<CsvLine> readCsv(const std::string& path) {
  std::istringstream text(readFile(path, 64U << 20));
  std::vector<CsvLine> lines;
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    if (++number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    boost::algorithm::trim_right(line);
    const char separator = separatorOf(line);
    if (!line.empty()) lines.push_back({number, line, separator, cellsOf(line, separator)});
  }
  return lines;
}

void refuse(const std::string& path, const CsvLine& line, const std::string& why) {
  throw Error("'" + path + "', line " + std::to_string(line.number) + ": " + visibleText(why, 1000));
}

}  // namespace mpm::vision
