// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/program.h"

#include <csignal>
#include <cstdlib>
#include <new>
#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <sstream>

#include "mpm/version.hpp"
#include "program/terminal/output.h"

namespace mpm::cli {
namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void onSignal(int) { flag = true; }

constexpr std::size_t kNames = 34, kDescriptions = 78;  // columns of the help

class WrappingFormatter : public CLI::Formatter {
 public:
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

}  // namespace

void prepare(CLI::App& program) {
  const auto formatter = std::make_shared<WrappingFormatter>();
  formatter->column_width(kNames);
  program.formatter(formatter);
  program.set_version_flag("--version", program.get_name() + " " MPM_VERSION, "Print the version and exit");
  program.set_help_flag("-h,--help", "Print this help and exit");
}

int runProgram(CLI::App& program, int argc, char** argv, const std::function<int()>& work) {
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
    return work();
  } catch (const CLI::Success& help) {  // --help or --version
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    return fail(error.what(), kUsageError);
  } catch (const UsageError& error) {
    return fail(error.what(), kUsageError);
  } catch (const BrokenPipe&) {
    return kBrokenPipe;
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const cv::Exception& error) {
    return fail(error.err);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

const std::atomic<bool>& interrupted() { return flag; }

}  // namespace mpm::cli
