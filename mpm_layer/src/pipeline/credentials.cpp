// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "mpm/source.hpp"

namespace mpm {

std::string withoutCredentials(const std::string& text) {
  const auto scheme = text.find("://");
  if (scheme == std::string::npos) return text;
  const auto authority = scheme + 3;
  std::string result = text;
  // The last '@' of all, because passwords with a raw '/', '?' or '@' are common: rather hide too much.
  if (const auto at = text.rfind('@'); at != std::string::npos && at >= authority)
    result = text.substr(0, authority) + "***" + text.substr(at);
  static const std::regex secret(
      "([?&](?:user|usr|username|login|pwd|pass|passwd|password|token|auth|key|apikey)=)[^&#]*", std::regex::icase);
  return std::regex_replace(result, secret, "$1***");
}

}  // namespace mpm
