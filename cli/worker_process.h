// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mpm/options.hpp"

namespace mpm::cli {

/// The path of this program.
std::string ownProgram();

/// A process that answers JSON lines with JSON lines (bench/baselines/README.md). Whatever happens to it (it does not
/// start, crashes, hangs, prints nonsense) is an answer {"ok": false, "why": "one line"}. Ends with this object.
class WorkerProcess {
 public:
  explicit WorkerProcess(const std::vector<std::string>& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  nlohmann::json ask(const nlohmann::json& question, double timeout_s);

 private:
  std::string lastComplaint() const;

  int child_ = -1;
  int to_ = -1, from_ = -1;
  int complaints_ = -1;  // what it writes to stderr
  std::string received_;
};

/// A program of share/mpm in Python, and its first line of JSON: {"ok", "why"}.
struct PythonProgram {
  std::unique_ptr<WorkerProcess> process;
  nlohmann::json answer;
};

/// Starts `file` of share/mpm. Where the python3 of the PATH, as of a virtual environment, lacks a package, that of the
/// system may have it.
PythonProgram startPython(const std::string& file, const std::vector<std::string>& arguments);

/// "FILE.py:FUNCTION", then keys as in --reduce: the reduction that merges by this function, named "FILE.py#FUNCTION".
/// Throws mpm::Error for any other text.
Reduction parseRule(const std::string& text);

/// The function of parseRule(), in a Python process of its own (study/rule.py), which ends with the last copy of it.
/// Throws mpm::Error for a missing file, and, as its calls do, std::runtime_error for what goes wrong there.
MergeFunction pythonRule(const Reduction& rule);

}  // namespace mpm::cli
