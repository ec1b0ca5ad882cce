// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mpm::program {

/// The man page of a program and its verbs, from the tables of its command line.
std::string manPage(const CLI::App& program);

}  // namespace mpm::program
