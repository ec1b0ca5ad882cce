// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

namespace mpm::cli {

/// What a command ends with.
enum ExitCode { kOk = 0, kRuntimeError = 1, kUsageError = 2, kInterrupted = 130, kBrokenPipe = 141 };

/// The command line asks for something that makes no sense, whatever the files hold.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whoever read our output has gone: end quietly.
class BrokenPipe : public std::runtime_error {
 public:
  BrokenPipe() : std::runtime_error("broken pipe") {}
};

}  // namespace mpm::cli
