// SPDX-License-Identifier: Apache-2.0
#include "vision/csv.h"

#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <sstream>
#include <utility>

#include "base/atomic_file.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

// Of a cell that begins with a quote: the place behind the quote that ends it. npos: none does, and it is a letter.
std::size_t endOfQuoted(const std::string& line, std::size_t begin) {
  for (std::size_t at = begin + 1; (at = line.find('"', at)) != std::string::npos; at += 2)
    if (at + 1 == line.size() || line[at + 1] != '"') return at + 1;
  return std::string::npos;
}

// Calls `visit` with each character outside quoted cells, and with where quoted ones begin and end.
template <class Visit, class VisitQuoted>
void eachOf(const std::string& line, const std::string& marks, const Visit& visit, const VisitQuoted& visit_quoted) {
  bool begins = true;  // a cell
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = begins && line[at] == '"' ? endOfQuoted(line, at) : std::string::npos;
    if (end != std::string::npos) {
      visit_quoted(at, end);
      begins = false;
      at = end;
      continue;
    }
    const bool is_mark = marks.find(line[at]) != std::string::npos;
    begins = is_mark || (begins && line[at] == ' ');
    visit(line[at++]);
  }
}

constexpr char kMarks[] = ",;\t";

// The one that stands outside quotes; 0: none does.
char separatorOf(const std::string& line) {
  std::string bare;
  eachOf(
      line, kMarks, [&](char c) { bare += c; }, [](std::size_t, std::size_t) {});
  for (const char mark : std::string(kMarks))
    if (bare.find(mark) != std::string::npos) return mark;
  return 0;
}

// As in RFC 4180: quotes that begin a cell stand around it, and two of them inside are one.
std::vector<std::string> cellsOf(const std::string& line, char mark) {
  std::vector<std::string> cells(1);
  bool quoted = false;  // this cell: spaces inside the quotes stay
  const auto end = [&] {
    if (!std::exchange(quoted, false)) boost::algorithm::trim(cells.back());
  };
  eachOf(
      line, std::string(1, mark),
      [&](char c) {
        if (c == mark) {
          end();
          cells.emplace_back();
        } else if (!quoted || c != ' ') {
          cells.back() += c;
        }
      },
      [&](std::size_t from, std::size_t to) {
        cells.back() = line.substr(from + 1, to - from - 2);
        boost::algorithm::replace_all(cells.back(), "\"\"", "\"");
        quoted = true;
      });
  end();
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

std::string csvCell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  return '"' + boost::algorithm::replace_all_copy(text, "\"", "\"\"") + '"';
}

void refuse(const std::string& path, const CsvLine& line, const std::string& why) {
  throw Error("'" + path + "', line " + std::to_string(line.number) + ": " + visibleText(why, 1000));
}

}  // namespace mpm::vision
