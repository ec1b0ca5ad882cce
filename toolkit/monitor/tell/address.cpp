// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/address.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

HostPort parseAddress(const std::string& text) {
  HostPort address;
  std::string port;
  const bool bracket = text.starts_with('[');
  const auto end = bracket ? text.find(']') : std::min(text.find(':'), text.size());
  if (end != std::string::npos) {
    address.host = text.substr(bracket, end - bracket);
    port = text.substr(end + bracket);
  }
  bool good = !address.host.empty() && address.host.find_first_of(" /@\t") == std::string::npos;
  if (good && !port.empty()) {
    const auto number = port.front() == ':' ? readNumber<std::uint16_t>(port.substr(1)) : std::nullopt;
    good = (address.port = number.value_or(0)) > 0;
  }
  if (!good) throw Error("'" + visibleText(text) + "' is no address such as localhost:1883 or [::1]:1883");
  return address;
}

std::string topicName(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  std::string name = text;
  for (char& c : name)
    if (kLetters.find(c) == std::string_view::npos) c = '_';
  return name;
}

std::string readSecret(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0)
    throw Error("'" + path + "' can be read by every user: chmod o-r it");
  const std::string text = readFile(path, 1 << 16);
  const std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (line.empty()) throw Error("'" + path + "' has no first line");
  return line;
}

}  // namespace mpm::monitor
