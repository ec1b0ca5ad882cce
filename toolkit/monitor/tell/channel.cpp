// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/channel.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

HostPort parseAddress(const std::string& text) {
  const std::size_t colon = text.find(':', text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0);
  const bool has_port = colon != std::string::npos;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const int port = has_port ? readNumber<std::uint16_t>(text.substr(colon + 1)).value_or(0) : 0;
  if (host.empty() || host.find_first_of("[] /@\t") != std::string::npos || (has_port && port == 0))
    throw Error("'" + visibleText(text) + "' is no address such as localhost:1883 or [::1]:1883");
  return {host, port};
}

std::string topicName(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  std::string name = text;
  for (char& c : name)
    if (kLetters.find(c) == std::string_view::npos) c = '_';
  return name;
}

void throwUnlessTaken(long status) {
  // A message that a server calls wrong is given up after some twenty seconds, one at which it fails after an hour.
  constexpr int kRefusals = 5, kFailures = 120;
  if (status >= 200 && status <= 299) return;
  const std::string why = "it answers with HTTP status " + std::to_string(status);
  // Of these the message is not the cause: who may send, where to, how much at once, a server that is not ready.
  for (const long of_all : {301, 302, 303, 307, 308, 401, 403, 404, 407, 408, 425, 429, 502, 503, 504})
    if (status == of_all) throw Error(why);
  throw Refused(why, status < 500 ? kRefusals : kFailures);
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
