// SPDX-License-Identifier: Apache-2.0
#include "mpm/reuse.hpp"

#include <algorithm>

#include "base/number_text.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

struct Range {
  const char* key;
  double min, max;
  const char* unit;
};

constexpr Range kThreshold{"threshold", 0, 255, "grey levels"}, kAgreement{"agreement", 50, 100, "percent"},
    kRefresh{"refresh", 1, 1e9, "seconds"}, kFlush{"flush", 0, 1, "a share of the patches"};

void require(const Range& range, double value) {
  if (value >= range.min && value <= range.max) return;
  throw Error("reuse: " + std::string(range.key) + " '" + numberText(value) + "' is not between " +
              numberText(range.min) + " and " + numberText(range.max) + " (" + range.unit + ")");
}

}  // namespace

void Reuse::validate() const {
  if (threshold) require(kThreshold, *threshold);
  if (agreement) require(kAgreement, *agreement);
  require(kRefresh, refresh);
  require(kFlush, flush);
  if (threshold && agreement)
    throw Error("reuse: an agreement steers the threshold, so give one of the two: threshold=N or agreement=N");
}

Reuse parseReuse(const std::string& spec) {
  Reuse reuse;
  if (spec == "off") return reuse;
  reuse.on = true;
  if (spec == "auto") return reuse;
  for (std::size_t begin = 0; begin <= spec.size();) {
    const std::size_t end = std::min(spec.find(':', begin), spec.size()), sign = spec.find('=', begin);
    const std::string key = spec.substr(begin, std::min(sign, end) - begin),
                      value = sign < end ? spec.substr(sign + 1, end - sign - 1) : "";
    const std::optional<double> number = readNumber<double>(value);
    if (key == "threshold")
      reuse.threshold = number.value_or(0);
    else if (key == "agreement")
      reuse.agreement = number.value_or(0);
    else if (key == "refresh")
      reuse.refresh = number.value_or(0);
    else if (key == "flush")
      reuse.flush = number.value_or(0);
    else
      throw Error("reuse '" + spec + "': '" + key +
                  "' is none of threshold=12, agreement=99, refresh=600, flush=0.7; off and auto stand alone");
    if (!number) throw Error("reuse '" + spec + "': '" + value + "' is not a number for " + key);
    begin = end + 1;
  }
  reuse.validate();
  return reuse;
}

std::string toString(const Reuse& reuse) {
  if (!reuse.on) return "off";
  const Reuse usual;
  std::string text;
  const auto add = [&](const Range& range, double value) {
    text += (text.empty() ? "" : ":") + std::string(range.key) + "=" + numberText(value);
  };
  if (reuse.threshold) add(kThreshold, *reuse.threshold);
  if (reuse.agreement) add(kAgreement, *reuse.agreement);
  if (reuse.refresh != usual.refresh) add(kRefresh, reuse.refresh);
  if (reuse.flush != usual.flush) add(kFlush, reuse.flush);
  return text.empty() ? "auto" : text;
}

}  // namespace mpm
