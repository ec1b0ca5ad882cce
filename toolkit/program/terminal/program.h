// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpm/error.hpp"

namespace mpm::program {

/// The exit status of a program.
enum ExitCode { kOk = 0, kRuntimeError = 1, kUsageError = 2, kInterrupted = 130, kBrokenPipe = 141 };

/// The command line asks for something that makes no sense, whatever the files hold.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs `work`. An mpm::Error becomes a UsageError whose message begins with `of`.
template <typename Work>
auto orUsageError(Work&& work, const std::string& of = "") {
  try {
    return work();
  } catch (const Error& error) {
    throw UsageError(of + error.what());
  }
}

/// The reader of our output is gone: end without a message.
class BrokenPipe : public std::runtime_error {
 public:
  BrokenPipe() : std::runtime_error("broken pipe") {}
};

/// What stands behind the names of an option in help and man page: " FILE"; of a flag nothing. What an option needs and
/// excludes is said in its description, not in the words of CLI11.
std::string valueText(const CLI::Option& option);

/// Gives a program --version, --help, --man, --completion, and help texts that are wrapped. Call it before adding
/// verbs: they inherit it.
void prepare(CLI::App& program);

/// Parses the command line, then does `work`. Returns the exit status: that of `work`, or that of its error, after one
/// line on stderr. From now on the first Ctrl-C (or SIGTERM) only sets interrupted(), so that the current frame is
/// finished and nothing is half-written; the second one kills. Writing to a closed pipe is an error, not a signal.
/// OpenCV and FFmpeg write nothing to stderr (they would show passwords of URLs, too) unless OPENCV_LOG_LEVEL and
/// OPENCV_FFMPEG_LOGLEVEL in the environment say so.
int runProgram(CLI::App& program, int argc, char** argv, const std::function<int()>& work);

/// Returns `status`, with which main() then ends. Where a source still hangs in a read it ends the program itself, as
/// soon as all that was written is flushed: a library that is destroyed while a thread reads with it crashes.
int endProgram(int status);

/// The message of an error for a person: the words of the libraries below us only where they are meant for one.
std::string messageOf(const std::exception& error);

const std::atomic<bool>& interrupted();
/// Prints "interrupted" and `what` as a note. Returns the exit status.
int endInterrupted(const std::string& what);

/// The verbs that the help shows.
std::vector<const CLI::App*> verbsOf(const CLI::App& program);

/// "there is no verb 'rnu': did you mean 'run'?"
std::string unknownVerb(const CLI::App& program, const std::string& word);

/// The man page of a program and its verbs, from the tables of its command line.
std::string manPage(const CLI::App& program);

/// A script for bash, zsh or fish that completes the verbs of a program, its options and their choices. Throws
/// CLI::ValidationError for another shell.
std::string completionScript(const CLI::App& program, const std::string& shell);

}  // namespace mpm::program
