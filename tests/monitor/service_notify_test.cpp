// SPDX-License-Identifier: Apache-2.0
#include "monitor/service_notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <cstring>

#include "support/temporary_folder.h"

namespace mpm::monitor {
namespace {

// What systemd would read.
class Listener {
 public:
  explicit Listener(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    socklen_t length = sizeof address;
    if (path[0] == '@') {
      address.sun_path[0] = '\0';
      length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    }
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), length), 0);
  }
  ~Listener() { ::close(socket_); }
  std::string next() const {
    char buffer[512];
    const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
    return got < 0 ? "" : std::string(buffer, static_cast<std::size_t>(got));
  }

 private:
  int socket_;
};

TEST(ServiceNotify, SpeaksToSystemd) {
  const mpm::test::TemporaryFolder folder;
  for (const std::string& path : {folder / "notify", "@mpm_notify_test_" + std::to_string(::getpid())}) {
    const Listener listener(path);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "60000000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    ServiceNotify service;
    service.ready();
    EXPECT_EQ(listener.next(), "READY=1");
    service.status("12 fps\ntokens 377");
    EXPECT_EQ(listener.next(), "STATUS=12 fps tokens 377");
    service.status("12 fps\ntokens 377");
    EXPECT_EQ(listener.next(), "") << "nothing new";
    service.alive();
    EXPECT_EQ(listener.next(), "WATCHDOG=1");
    service.alive();
    EXPECT_EQ(listener.next(), "") << "half an interval has not passed";
    service.stopping();
    EXPECT_EQ(listener.next(), "STOPPING=1");
    ::setenv("WATCHDOG_PID", "1", 1);
    ServiceNotify not_watched;
    not_watched.alive();
    EXPECT_EQ(listener.next(), "") << "the watchdog is for another process";
  }
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

TEST(ServiceNotify, AListenerThatIsGoneDisturbsNothing) {
  const mpm::test::TemporaryFolder folder;
  ::setenv("NOTIFY_SOCKET", (folder / "none").c_str(), 1);
  ServiceNotify service;
  ::unsetenv("NOTIFY_SOCKET");
  service.ready();
  service.status("x");
}

}  // namespace
}  // namespace mpm::monitor
