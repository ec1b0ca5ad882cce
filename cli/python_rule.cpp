// SPDX-License-Identifier: Apache-2.0
#include "cli/python_rule.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "cli/python_program.h"
#include "mpm/error.hpp"
#include "program/paths.h"

namespace mpm::cli {

using namespace program;

Reduction parseRule(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string function =
      colon == std::string::npos ? "" : text.substr(colon + 1, text.find(':', colon + 1) - colon - 1);
  if (colon == 0 || function.empty() || function.find_first_of("=#") != std::string::npos)
    throw Error("'" + text + "' is not FILE.py:FUNCTION");
  return parseReduction("rule:function=" + text.substr(0, colon) + "#" + text.substr(colon + 1));
}

std::string ruleFile(const Reduction& rule) { return rule.function.substr(0, rule.function.rfind('#')); }

MergeFunction pythonRule(const Reduction& rule) {
  constexpr double kSeconds = 600;
  const std::size_t hash = rule.function.rfind('#');
  const std::string file = ruleFile(rule);
  if (!std::filesystem::is_regular_file(file)) throw Error("--rule: there is no file '" + file + "'");
  struct State {
    std::unique_ptr<PythonProcess> process;
    ScratchFolder folder{};
  };
  const auto asked = [name = rule.function](const nlohmann::json& answer) {
    if (!answer["ok"].get<bool>()) throw std::runtime_error("rule '" + name + "': " + answer.value("why", "no answer"));
  };
  PythonProgram program = startPython("study/rule.py", {file, rule.function.substr(hash + 1)});
  asked(program.answer);
  const std::shared_ptr<State> state(new State{std::move(program.process)});  // NOLINT: an aggregate
  return [state, asked](const RuleInput& input) {
    const std::string path = state->folder / "numbers";
    std::ofstream numbers(path, std::ios::binary);
    const auto write = [&](const auto& values) {
      numbers.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    };
    write(input.rows);
    write(input.sizes);
    write(input.keys);
    write(input.image);
    write(input.row_of_patch);
    numbers.close();
    if (!numbers) throw Error("cannot write '" + path + "'");
    const nlohmann::json answer = state->process->ask({{"numbers", path},
                                                       {"rows", input.sizes.size()},
                                                       {"dim", input.rows.size() / input.sizes.size()},
                                                       {"key_width", input.keys.size() / input.sizes.size()},
                                                       {"grid", {input.grid.height, input.grid.width}},
                                                       {"image", {input.image_size.height, input.image_size.width}},
                                                       {"block", input.block}},
                                                      kSeconds);
    asked(answer);
    return answer.at("groups").get<std::vector<std::int64_t>>();
  };
}

}  // namespace mpm::cli
