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

// The one that stands outside quotes; 0: none does.
char separatorOf(const std::string& line) {
  std::string bare;
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"');
    if (!quoted) bare += c;
  }
  for (const char mark : {',', ';', '\t'})
    if (bare.find(mark) != std::string::npos) return mark;
  return 0;
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
  char separator = 0;  // of the file, by the first line that has one: later lines may have others in their cells
  for (std::string line; std::getline(text, line);) {
    if (++number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    boost::algorithm::trim_right(line);
    if (separator == 0 && !line.starts_with('#')) separator = separatorOf(line);
    const char mark = separator == 0 ? ',' : separator;
    if (!line.empty()) lines.push_back({number, line, mark, cellsOf(line, mark)});
  }
  return lines;
}

void refuse(const std::string& path, const CsvLine& line, const std::string& why) {
  throw Error("'" + path + "', line " + std::to_string(line.number) + ": " + visibleText(why, 1000));
}

}  // namespace mpm::vision
