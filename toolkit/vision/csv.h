// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpm::vision {

/// A line of a list that a person, a spreadsheet or a program wrote.
struct CsvLine {
  int number = 0;  ///< from 1
  std::string text;
  char separator = ',';            ///< between the cells
  std::vector<std::string> cells;  ///< without the spaces and quotes around them (RFC 4180)

  bool isComment() const { return text.starts_with('#'); }
};

/// The lines of a regular file that are not empty, comments as well. One mark stands between cells in the whole file.
/// The first line that has one outside quotes decides: a comma, else a semicolon, else a tab. Throws mpm::Error naming
/// the file where it cannot be read or has over 64 MiB.
std::vector<CsvLine> readCsv(const std::string& path);

/// `text` as a cell between commas (RFC 4180).
std::string csvCell(const std::string& text);

/// Throws mpm::Error: "'list.csv', line 3: why".
[[noreturn]] void refuse(const std::string& path, const CsvLine& line, const std::string& why);

}  // namespace mpm::vision
