// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "mpm/error.hpp"

namespace mpm {

struct KeyValue {
  std::string key;
  std::optional<std::string> value;  ///< nullopt: there is no "="
};

/// "a=1:b=2" key by key. Throws mpm::Error for a key that is there twice.
inline std::vector<KeyValue> keyValues(const std::string& text) {
  std::vector<KeyValue> all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size()), sign = std::min(text.find('=', begin), end);
    const std::string key = text.substr(begin, sign - begin);
    if (std::any_of(all.begin(), all.end(), [&](const KeyValue& one) { return one.key == key; }))
      throw Error("'" + key + "' is there twice");
    all.push_back({key, sign < end ? std::optional(text.substr(sign + 1, end - sign - 1)) : std::nullopt});
    begin = end + 1;
  }
  return all;
}

}  // namespace mpm
