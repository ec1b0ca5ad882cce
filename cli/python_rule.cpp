// SPDX-License-Identifier: Apache-2.0
#include "cli/python_rule.h"

#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "cli/worker_process.h"
#include "mpm/error.hpp"

namespace mpm::cli {
namespace {

/// Numbers for another process, which reads them as a file of this one.
class SharedNumbers {
 public:
  SharedNumbers() : file_(::memfd_create("numbers of a rule", MFD_CLOEXEC)) {}
  ~SharedNumbers() { ::close(file_); }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  std::string path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_); }

  void clear() {
    end_ = 0;
    if (::ftruncate(file_, 0) != 0) throw Error("there is no memory to share with the rule");
  }
  template <class T>
  void add(std::span<const T> values) {
    const auto bytes = static_cast<ssize_t>(values.size_bytes());
    if (::pwrite(file_, values.data(), values.size_bytes(), end_) != bytes)
      throw Error("there is no memory to share with the rule");
    end_ += bytes;
  }

 private:
  int file_;
  off_t end_ = 0;
};

}  // namespace

Reduction parseRule(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string function =
      colon == std::string::npos ? "" : text.substr(colon + 1, text.find(':', colon + 1) - colon - 1);
  if (colon == 0 || function.empty() || function.find_first_of("=#") != std::string::npos)
    throw Error("'" + text + "' is not FILE.py:FUNCTION");
  return parseReduction("rule:function=" + text.substr(0, colon) + "#" + text.substr(colon + 1));
}

MergeFunction pythonRule(const Reduction& rule) {
  constexpr double kSeconds = 600;
  const std::size_t hash = rule.function.rfind('#');
  const std::string file = rule.function.substr(0, hash);
  if (!std::filesystem::is_regular_file(file)) throw Error("--rule: there is no file '" + file + "'");
  struct State {
    WorkerProcess process;
    SharedNumbers numbers;
  };
  const auto asked = [name = rule.function](const nlohmann::json& answer) {
    if (!answer["ok"].get<bool>()) throw std::runtime_error("rule '" + name + "': " + answer.value("why", "no answer"));
  };
  PythonProgram program = startPython("study/rule.py", {file, rule.function.substr(hash + 1)});
  asked(program.answer);
  const std::shared_ptr<State> state(new State{std::move(program.process), {}});  // NOLINT: an aggregate
  return [state, asked](const RuleInput& input) {
    SharedNumbers& numbers = state->numbers;
    numbers.clear();
    numbers.add(input.rows);
    numbers.add(input.sizes);
    numbers.add(input.keys);
    numbers.add(input.image);
    numbers.add(input.row_of_patch);
    const nlohmann::json answer = state->process.ask({{"numbers", numbers.path()},
                                                      {"rows", input.sizes.size()},
                                                      {"dim", input.rows.size() / input.sizes.size()},
                                                      {"key_width", input.keys.size() / input.sizes.size()},
                                                      {"grid", {input.grid.height, input.grid.width}},
                                                      {"image", {input.image_size.height, input.image_size.width}},
                                                      {"image_values", input.image.size()},
                                                      {"block", input.block}},
                                                     kSeconds);
    asked(answer);
    return answer.at("groups").get<std::vector<std::int64_t>>();
  };
}

}  // namespace mpm::cli
