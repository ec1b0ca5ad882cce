// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mpm::cli {

/// A process that answers a line of JSON with a line of JSON. It is a process of its own because a function of a person
/// may crash or hang (python_rule.h), and because the command links no Python. Whatever happens to it (it does not
/// start, crashes, hangs, prints nonsense) is an answer {"ok": false, "why": "one line"}. Ends with this object.
class PythonProcess {
 public:
  explicit PythonProcess(const std::vector<std::string>& command);
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

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
  std::unique_ptr<PythonProcess> process;
  nlohmann::json answer;
};

/// Starts `file` of share/mpm. Where the python3 of the PATH, as of a virtual environment, lacks a package, that of the
/// system may have it.
PythonProgram startPython(const std::string& file, const std::vector<std::string>& arguments);

}  // namespace mpm::cli
