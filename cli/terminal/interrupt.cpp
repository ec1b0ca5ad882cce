// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/interrupt.h"

#include <csignal>

namespace mpm::cli {
namespace {

std::atomic<bool> flag = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void onSignal(int) { flag = true; }

}  // namespace

void installSignalHandlers() {
  struct sigaction action {};
  action.sa_handler = onSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is a failed write, like a full disk
}

const std::atomic<bool>& interrupted() { return flag; }

}  // namespace mpm::cli
