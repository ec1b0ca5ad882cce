// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "monitor/store/store_writer.h"

// store_victim DATABASE FIRST: appends samples number FIRST, FIRST + 1, ... until it is killed. Each time a commit is
// done it writes the number of committed samples to stdout, 8 bytes.
int main(int argc, char** argv) {
  using namespace mpm::monitor;
  if (argc != 3) return 2;
  StoreWriter store(argv[1], {.commit_s = 0.02, .maintenance_s = 0.05});
  SessionInfo session;
  session.source = "camera 0";
  store.beginSession(session);
  std::int64_t committed = 0;
  for (std::int64_t number = std::atoll(argv[2]);; ++number) {
    store.append(
        Sample{.time = number * 1000, .night = false, .token_counts = {100, static_cast<double>(number % 100)}});
    if (const std::int64_t now = store.status().samples; now != committed) {
      committed = now;
      if (::write(STDOUT_FILENO, &committed, sizeof committed) != sizeof committed) return 1;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
}
