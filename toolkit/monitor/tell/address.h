// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace mpm::monitor {

/// Where a server listens.
struct HostPort {
  std::string host;
  int port = 0;  ///< 0: not said
};

/// "broker", "broker:1883", "[::1]:1883". Throws mpm::Error.
HostPort parseAddress(const std::string& text);

/// One level of an MQTT topic, or an id of Home Assistant: each other byte than a-z, A-Z, 0-9, _ and - becomes _.
std::string topicName(const std::string& text);

/// The first line of a file that holds a secret. Throws mpm::Error naming the file, also for one that every user may
/// read.
std::string readSecret(const std::string& path);

}  // namespace mpm::monitor
