// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include "mpm/source.hpp"

namespace mpm {

std::string withoutCredentials(const std::string& text) {
  // Properties of GStreamer elements, user-id=a user-pw="b c", before the URL: a password may have an '@'.
  static const std::regex property(
      R"re(((?:^|[\s"'!;,({])(?:(?:user|proxy)-(?:id|pw)|(?:[\w-]*[-_])?(?:token|secret|passwd|password|passphrase))\s*=\s*)re"
      R"re((?:\([\w-]+\)\s*)?)(?:"(?:\\.|[^"\\])*"?|'[^']*'?|(?:\\.|[^\s\\])+))re",
      std::regex::icase);
  std::string result = std::regex_replace(text, property, "$1***");
  if (const auto scheme = result.find("://"); scheme != std::string::npos) {
    const auto authority = scheme + 3;
    // The last '@' of all, because passwords with a raw '/', '?' or '@' are common: rather hide too much.
    if (const auto at = result.rfind('@'); at != std::string::npos && at >= authority)
      result.replace(authority, at - authority, "***");
    static const std::regex query(
        R"(([?&](?:user|usr|username|login|pwd|pass|passwd|password|(?:\w+[-_])?token|auth|(?:\w+[-_])?(?:api)?key|)"
        R"((?:\w+[-_])?secret|sig|signature)=)[^&#]*)",
        std::regex::icase);
    result = std::regex_replace(result, query, "$1***");
  }
  return result;
}

}  // namespace mpm
