// SPDX-License-Identifier: Apache-2.0
#include "mpm/reuse.hpp"

#include <algorithm>

#include "base/key_values.h"
#include "base/number_text.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

struct ReuseKey {
  const char* name;
  double min, max;
  const char* unit;
  std::optional<double> (*value)(const Reuse&);
  void (*set)(Reuse&, double);
};

constexpr ReuseKey kReuseKeys[] = {
    {"threshold", 0, 255, "grey levels", [](const Reuse& r) { return r.threshold; },
     [](Reuse& r, double value) { r.threshold = value; }},
    {"budget", 0, 1, "a share of the patches", [](const Reuse& r) { return r.budget; },
     [](Reuse& r, double value) { r.budget = value; }},
    {"cosine", -1, 1, "a similarity", [](const Reuse& r) { return r.cosine; },
     [](Reuse& r, double value) { r.cosine = value; }},
    {"agreement", 50, 100, "percent", [](const Reuse& r) { return r.agreement; },
     [](Reuse& r, double value) { r.agreement = value; }},
    {"refresh", 1, 1e9, "seconds", [](const Reuse& r) { return std::optional(r.refresh); },
     [](Reuse& r, double value) { r.refresh = value; }},
    {"flush", 0, 1, "a share of the patches", [](const Reuse& r) { return std::optional(r.flush); },
     [](Reuse& r, double value) { r.flush = value; }}};

}  // namespace

void Reuse::validate() const {
  for (const ReuseKey& key : kReuseKeys)
    if (const auto value = key.value(*this); value && !(*value >= key.min && *value <= key.max))
      throw Error("reuse: " + std::string(key.name) + " '" + numberText(*value) + "' is not between " +
                  numberText(key.min) + " and " + numberText(key.max) + " (" + key.unit + ")");
  if (threshold.has_value() + budget.has_value() + cosine.has_value() + agreement.has_value() > 1)
    throw Error("reuse: threshold, budget, cosine and agreement each say which patches changed: give one of them");
}

Reuse parseReuse(const std::string& spec) {
  Reuse reuse{.on = spec != "off"};
  if (spec == "off" || spec == "auto") return reuse;
  for (const auto& [name, written] : keyValues(spec)) {
    const std::string value = written.value_or("");
    const auto* const key = std::find_if(std::begin(kReuseKeys), std::end(kReuseKeys),
                                         [&, &wanted = name](auto& one) { return one.name == wanted; });
    if (key == std::end(kReuseKeys))
      throw Error("reuse '" + spec + "': '" + name +
                  "' is none of threshold=12, budget=0.3, cosine=0.98, agreement=99, refresh=600, flush=0.7; off and "
                  "auto stand alone");
    const std::optional<double> number = readNumber<double>(value);
    if (!number) throw Error("reuse '" + spec + "': '" + value + "' is not a number for " + name);
    key->set(reuse, *number);
  }
  reuse.validate();
  return reuse;
}

std::string toString(const Reuse& reuse) {
  if (!reuse.on) return "off";
  std::string text;
  for (const ReuseKey& key : kReuseKeys)
    if (const auto value = key.value(reuse); value != key.value({}))
      text += (text.empty() ? "" : ":") + std::string(key.name) + "=" + numberText(*value);
  return text.empty() ? "auto" : text;
}

}  // namespace mpm
