// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace mpm {

/// Text from outside (a file, a stream, another program) as one line for a terminal, a log or a table: control
/// characters, escape sequences, marks that turn the direction of writing and bytes that are not UTF-8 become visible
/// as "\n", "\x1b" or "\u202e". What is longer than `most` characters ends in "...".
std::string visibleText(std::string_view text, std::size_t most = 60);

/// Text from outside as JSON, CSV and a web page hold it: each byte that is not UTF-8 (file names may hold anything)
/// becomes visible as "\xe9", all else stays as it is. So two names stay two.
std::string utf8Text(std::string_view text);

/// The same on one line: each control character (C0, DEL and C1) becomes a blank.
std::string utf8Line(std::string_view text);

}  // namespace mpm
