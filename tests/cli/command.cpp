// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>

namespace mpm::test {
namespace {

struct Channel {
  int ours = -1, theirs = -1;
};

Channel makePipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {ends[0], ends[1]};
}

Channel makeStuckPipe() {
  const Channel channel = makePipe();
  ::fcntl(channel.theirs, F_SETFL, O_NONBLOCK);
  const std::string block(4096, ' ');
  while (::write(channel.theirs, block.data(), block.size()) > 0) continue;
  ::fcntl(channel.theirs, F_SETFL, 0);
  return channel;
}

Channel makeTerminal() {
  Channel channel;
  if (::openpty(&channel.ours, &channel.theirs, nullptr, nullptr, nullptr) != 0)
    throw std::runtime_error("no terminal");
  return channel;
}

[[noreturn]] void become(const Words& arguments, const CommandOptions& options, int out, int err) {
  ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
  if (options.stdin_is_closed) ::close(STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::setenv("TERM", "xterm", 1);  // whatever the terminal is that the tests run on
  ::unsetenv("NO_COLOR");
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(127);
  if (options.file_size_limit) {
    const rlimit limit{*options.file_size_limit, *options.file_size_limit};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  const std::string program = std::string(MPM_BINARY_DIR) + "/" + options.program;
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  ::_exit(127);
}

}  // namespace

Words CommandResult::lines() const {
  Words result;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::vector<nlohmann::json> CommandResult::jsonLines() const {
  std::vector<nlohmann::json> result;
  for (const std::string& line : lines()) result.push_back(nlohmann::json::parse(line));
  return result;
}

CommandResult mpmCommand(const Words& arguments, const CommandOptions& options) {
  const auto makeOutput = [&] { return options.output_is_stuck ? makeStuckPipe() : makePipe(); };
  const Channel out = makeOutput();
  const Channel err = options.stderr_is_terminal ? makeTerminal() : makeOutput();
  const int full = options.stdout_is_full ? ::open("/dev/full", O_WRONLY | O_CLOEXEC) : -1;
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) become(arguments, options, options.stdout_is_full ? full : out.theirs, err.theirs);
  ::close(out.theirs);
  ::close(err.theirs);
  if (full >= 0) ::close(full);

  CommandResult result;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(options.timeout_s);
  pollfd channels[] = {{out.ours, POLLIN, 0}, {err.ours, POLLIN, 0}};
  bool first_line_seen = false, stderr_seen = options.signal_at_stderr.empty(), signalled = false;
  while (channels[0].fd >= 0 || channels[1].fd >= 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << options.program << " did not end within " << options.timeout_s << " s; stderr: " << result.err;
      ::kill(child, SIGKILL);
      break;
    }
    if (options.signal_when && !signalled && options.signal_when()) {
      signalled = true;
      ::kill(child, options.signal_after_first_line.value());
    }
    if (options.output_is_stuck) {
      siginfo_t ended{};
      if (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == child)
        break;
      ::poll(nullptr, 0, 100);
      continue;
    }
    ::poll(channels, 2, 100);
    for (int i = 0; i < 2; ++i) {
      if (channels[i].fd < 0 || channels[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = ::read(channels[i].fd, buffer, sizeof buffer);
      if (got <= 0) {  // a terminal says EIO where a pipe says end of file
        ::close(std::exchange(channels[i].fd, -1));
        continue;
      }
      (i == 0 ? result.out : result.err).append(buffer, static_cast<std::size_t>(got));
    }
    if (!stderr_seen && result.err.find(options.signal_at_stderr) != std::string::npos) {
      stderr_seen = true;
      ::kill(child, options.signal_after_first_line.value());
    }
    if (!first_line_seen && result.out.find('\n') != std::string::npos) {
      first_line_seen = true;
      if (options.signal_after_first_line && options.signal_at_stderr.empty() && !options.signal_when)
        ::kill(child, *options.signal_after_first_line);
      if (options.close_stdout_after_first_line) ::close(std::exchange(channels[0].fd, -1));
    }
  }
  for (const pollfd& channel : channels)
    if (channel.fd >= 0) ::close(channel.fd);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

CommandResult succeeded(CommandResult result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result;
}

void expectFailure(const CommandResult& result, int exit_code, const Words& parts) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err;
  for (const std::string& part : parts) EXPECT_THAT(result.err, HasSubstr(part));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << "one line, not: " << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("\033")));
}

}  // namespace mpm::test
