// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/address.h"

#include <algorithm>
#include <charconv>

#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

}  // namespace

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
    const auto [last, error] = std::from_chars(port.data() + 1, port.data() + port.size(), address.port);
    good = port.front() == ':' && error == std::errc() && last == port.data() + port.size() && address.port > 0 &&
           address.port < 65536;
  }
  if (!good) throw Error("'" + visibleText(text) + "' is no address such as localhost:1883 or [::1]:1883");
  return address;
}

std::string topicName(const std::string& text) {
  std::string name = text;
  for (char& c : name)
    if (std::string_view(kLetters).find(c) == std::string_view::npos) c = '_';
  return name;
}

}  // namespace mpm::monitor
