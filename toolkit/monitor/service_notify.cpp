// SPDX-License-Identifier: Apache-2.0
#include "monitor/service_notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "vision/time.h"

namespace mpm::monitor {
namespace {

const char* notifySocket() { return std::getenv("NOTIFY_SOCKET"); }

}  // namespace

bool isService() { return notifySocket() != nullptr; }

ServiceNotify::ServiceNotify() {
  const char* path = notifySocket();
  if (!path || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof(sockaddr_un::sun_path)) return;
  address_ = path;
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const char* interval = std::getenv("WATCHDOG_USEC");
  const char* process = std::getenv("WATCHDOG_PID");  // set when the watchdog is meant for one process alone
  if (interval && (!process || std::atol(process) == static_cast<long>(::getpid())))
    watchdog_ms_ = std::max<std::int64_t>(1, std::atoll(interval) / 1000);
}

ServiceNotify::~ServiceNotify() {
  if (socket_ >= 0) ::close(socket_);
}

void ServiceNotify::status(const std::string& text) {
  if (text == last_status_) return;
  last_status_ = text;
  std::string line = text;
  std::ranges::replace(line, '\n', ' ');
  send("STATUS=" + line);
}

void ServiceNotify::alive() {
  const std::int64_t now = steadyNow();
  if (watchdog_ms_ == 0 || now - last_alive_ < watchdog_ms_ / 2) return;
  last_alive_ = now;
  send("WATCHDOG=1");
}

void ServiceNotify::send(const std::string& message) {
  if (socket_ < 0) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, address_.data(), address_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // The listener may be gone. Monitoring continues.
  (void)::sendto(socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace mpm::monitor
