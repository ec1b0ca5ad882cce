// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace mpm::monitor {

/// Whether a service manager such as systemd runs this process, by NOTIFY_SOCKET of the environment.
bool isService();

/// Reports the state of the service to systemd with the datagrams that sd_notify(3) documents: no library needed. Does
/// nothing when isService() is false. Not thread-safe.
class ServiceNotify {
 public:
  /// From the environment: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID.
  ServiceNotify();
  ~ServiceNotify();
  ServiceNotify(const ServiceNotify&) = delete;
  ServiceNotify& operator=(const ServiceNotify&) = delete;

  void ready() { send("READY=1"); }
  void stopping() { send("STOPPING=1"); }
  /// One line, shown by `systemctl status`.
  void status(const std::string& text);
  /// To be called often while all is well: sends at most twice per watchdog interval.
  void alive();

 private:
  void send(const std::string& message);

  int socket_ = -1;
  std::string address_;
  std::int64_t watchdog_ms_ = 0, last_alive_ = 0;
  std::string last_status_;
};

}  // namespace mpm::monitor
