// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <ctime>
#include <string>

namespace mpm::test {

/// Local time is that of this zone, as TZ writes it, while this lives.
class LocalZone {
 public:
  explicit LocalZone(const char* zone) { set(zone); }
  ~LocalZone() { set(before_.empty() ? nullptr : before_.c_str()); }
  LocalZone(const LocalZone&) = delete;
  LocalZone& operator=(const LocalZone&) = delete;

 private:
  static void set(const char* zone) {
    zone ? ::setenv("TZ", zone, 1) : ::unsetenv("TZ");
    ::tzset();
  }
  const std::string before_ = std::getenv("TZ") ? std::getenv("TZ") : "";
};

}  // namespace mpm::test
