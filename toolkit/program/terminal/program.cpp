// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/program.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <sstream>
#include <system_error>

#include "mpm/build_info.hpp"
#include "mpm/version.hpp"
#include "program/terminal/output.h"
#include "vision/sources/source_reader.h"

namespace mpm::program {
namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void onSignal(int) { flag = true; }

constexpr std::size_t kNames = 36, kDescriptions = 78;  // columns of the help

class WrappingFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override { return valueText(*option); }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::istringstream words(CLI::Formatter::make_option_desc(option));
    std::string text;
    std::size_t column = 0;
    for (std::string word; words >> word; column += word.size()) {
      if (!text.empty() && column + 1 + word.size() > kDescriptions) {
        text += '\n';
        column = 0;
      } else if (!text.empty()) {
        text += ' ';
        ++column;
      }
      text += word;
    }
    return text;
  }
};

/// Letters to add, to leave out, to change, or to swap with the next one to make `a` of `b`.
std::size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      const bool same = a[i - 1] == b[j - 1];
      steps[i][j] =
          std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + static_cast<std::size_t>(!same)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

/// ": did you mean 'WORD'?" with the word of `known` that `word` is nearly; empty when there is none.
std::string didYouMean(const std::string& word, const std::vector<std::string>& known) {
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string best;
  for (const std::string& one : known) {
    // The first letters of a long word are enough: --sched.
    if (const std::size_t steps = word.size() > 3 && one.starts_with(word) ? 1 : editDistance(word, one);
        steps < least && word.size() > 1) {
      least = steps;
      best = one;
    }
  }
  return best.empty() ? "" : ": did you mean '" + best + "'?";
}

// The verb on the command line; the program itself where there is none.
const CLI::App& verbOf(const CLI::App& program) {
  const CLI::App* verb = &program;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands().back();
  return *verb;
}

/// The problem with the words that no option and no verb took; empty: none. An option that is missing explains a
/// word too many, but not an option that there is not.
std::string problemOfRest(const CLI::App& program, const CLI::ParseError& error) {
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error);
  if (!missing && !dynamic_cast<const CLI::ExtrasError*>(&error)) return {};
  const CLI::App* const verb = &verbOf(program);
  std::vector<std::string> options;
  for (const CLI::Option* option : verb->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  const std::vector<std::string> rest = program.remaining(true);
  for (const std::string& word : rest) {
    const std::string name = word.substr(0, word.find('='));
    if (name.size() > 1 && name[0] == '-' && name != "--" && !verb->get_option_no_throw(name))
      return "there is no option '" + name + "'" + didYouMean(name, options);
  }
  if (rest.empty() || missing) return {};
  return verbsOf(*verb).empty() ? "'" + rest.front() + "' is one argument too many" : unknownVerb(*verb, rest.front());
}

/// The problem with the values of an option; empty: none that CLI11 does not say itself.
std::string problemOfValues(const CLI::App& program, const CLI::ParseError& error) {
  if (!dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return {};
  const CLI::App* const verb = &verbOf(program);
  const std::string text = error.what(), name = text.substr(0, text.find(':'));
  const CLI::Option* const option = verb->get_option_no_throw(name);
  if (!option || option->get_items_expected_max() != 1) return {};
  return option->count() > 1 ? name + " was given " + std::to_string(option->count()) + " times: give it once"
                             : name + " needs a value";
}

// The library goes on with the best one, and whoever measures would not know.
void noteUnknownInstructionSet() {
  const char* const wanted = std::getenv("MPM_INSTRUCTION_SET");
  if (!wanted || !*wanted) return;
  const BuildInfo build = buildInfo();
  if (std::ranges::find(build.instruction_sets, wanted) != build.instruction_sets.end()) return;
  std::string names;
  for (const std::string& one : build.instruction_sets) names += (names.empty() ? "" : ", ") + one;
  printNote("MPM_INSTRUCTION_SET is '" + std::string(wanted) + "', which is not one of " + names + ": " +
            build.instruction_set + " is used");
}

int parseAndWork(CLI::App& program, int argc, char** argv, const std::function<int()>& work) {
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is a failed write, like a full disk
  if (!std::getenv("OPENCV_LOG_LEVEL")) cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  ::setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);  // AV_LOG_QUIET
  const auto fail = [&](const std::string& message, ExitCode code = kRuntimeError) {
    std::string command = program.get_name();
    for (const CLI::App* verb : program.get_subcommands()) command += " " + verb->get_name();
    printError(command, message + (code == kUsageError ? " (see '" + command + " --help')" : ""));
    return code;
  };
  try {
    program.parse(argc, argv);
    noteUnknownInstructionSet();
    return work();
  } catch (const CLI::Success& help) {  // --help or --version
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    std::string problem = problemOfRest(program, error);
    if (problem.empty()) problem = problemOfValues(program, error);
    return fail(problem.empty() ? error.what() : problem, kUsageError);
  } catch (const UsageError& error) {
    return fail(error.what(), kUsageError);
  } catch (const BrokenPipe&) {
    return kBrokenPipe;
  } catch (const std::exception& error) {
    return fail(messageOf(error));
  }
}

}  // namespace

std::vector<const CLI::App*> verbsOf(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

std::string unknownVerb(const CLI::App& program, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* verb : verbsOf(program)) names.push_back(verb->get_name());
  return "there is no verb '" + word + "'" + didYouMean(word, names);
}

std::string valueText(const CLI::Option& option) {
  const bool flag = option.get_option_text().empty() && option.get_items_expected_max() == 0;
  return flag ? "" : CLI::Formatter().make_option_opts(&option);
}

void prepare(CLI::App& program) {
  const auto formatter = std::make_shared<WrappingFormatter>();
  formatter->column_width(kNames);
  formatter->label("Positionals", "Arguments");
  formatter->label("SUBCOMMAND", "VERB");
  program.formatter(formatter);
  program.set_version_flag("--version", program.get_name() + " " MPM_VERSION, "Print the version and exit");
  program.set_help_flag("-h,--help", "Print this help and exit");
  program.add_flag_callback(
      "--man", [&program] { throw CLI::CallForVersion(manPage(program), 0); }, "Print the man page and exit");
  program
      .add_option_function<std::string>(
          "--completion",
          [&program](const std::string& shell) { throw CLI::CallForVersion(completionScript(program, shell), 0); },
          "Print the completion script for this shell and exit")
      ->option_text("bash|zsh|fish");
}

int runProgram(CLI::App& program, int argc, char** argv, const std::function<int()>& work) {
  return endProgram(parseAndWork(program, argc, argv, work));
}

int endProgram(int status) {
  if (vision::SourceReader::allReturn(std::chrono::seconds(1))) return status;
  std::fflush(nullptr);
  std::_Exit(status);
}

std::string messageOf(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return "out of memory";
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return "cannot use '" + file->path1().string() + "': " + file->code().message();
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) return system->code().message();
  if (dynamic_cast<const nlohmann::json::exception*>(&error))
    return "another program answered what this one does not know";
  const auto* opencv = dynamic_cast<const cv::Exception*>(&error);
  return opencv ? opencv->err : error.what();
}

const std::atomic<bool>& interrupted() { return flag; }

int endInterrupted(const std::string& what) {
  printNote("interrupted" + what);
  return kInterrupted;
}

}  // namespace mpm::program
