// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mpm::program {

/// The man page of a program and its verbs, from the tables of its command line.
std::string manPage(const CLI::App& program);

/// A script for bash, zsh or fish that completes the verbs of a program, its options and their choices. Throws
/// CLI::ValidationError for another shell.
std::string completionScript(const CLI::App& program, const std::string& shell);

}  // namespace mpm::program
