// SPDX-License-Identifier: Apache-2.0
#include "mpm/reuse.hpp"

#include <algorithm>

#include "base/key_values.h"
#include "base/number_text.h"
#include "base/reuse_patches.h"
#include "mpm/error.hpp"

namespace mpm {
namespace {

struct ReuseKey {
  const char* name;
  double min, max;
  const char* unit;
  std::optional<double> Reuse::*optional;
  double Reuse::*number = nullptr;  // where the value is not optional

  std::optional<double> value(const Reuse& reuse) const { return number ? reuse.*number : reuse.*optional; }
};

constexpr ReuseKey kReuseKeys[] = {{"threshold", 0, 255, "grey levels", &Reuse::threshold},
                                   {"budget", 0, 1, "a share of the patches", &Reuse::budget},
                                   {"cosine", -1, 1, "a similarity", &Reuse::cosine},
                                   {"agreement", 50, 100, "percent", &Reuse::agreement},
                                   {"refresh", 1, 1e9, "seconds", nullptr, &Reuse::refresh},
                                   {"flush", 0, 1, "a share of the patches", nullptr, &Reuse::flush}};

}  // namespace

void Reuse::validate() const {
  for (const ReuseKey& key : kReuseKeys) {
    if (const auto value = key.value(*this); value && !(*value >= key.min && *value <= key.max)) {
      throw Error("reuse: " + std::string(key.name) + " '" + numberText(*value) + "' is not between " +
                  numberText(key.min) + " and " + numberText(key.max) + " (" + key.unit + ")");
    }
  }
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
    if (key == std::end(kReuseKeys)) {
      throw Error("reuse '" + spec + "': '" + name +
                  "' is none of threshold=12, budget=0.3, cosine=0.98, agreement=99, refresh=600, flush=0.7; off and "
                  "auto stand alone");
    }
    const std::optional<double> number = readNumber<double>(value);
    if (!number) throw Error("reuse '" + spec + "': '" + value + "' is not a number for " + name);
    if (key->number)
      reuse.*key->number = *number;
    else
      reuse.*key->optional = number;
  }
  reuse.validate();
  return reuse;
}

std::string toString(const Reuse& reuse) {
  if (!reuse.on) return "off";
  std::string text;
  for (const ReuseKey& key : kReuseKeys) {
    if (const auto value = key.value(reuse); value != key.value({}))
      text += (text.empty() ? "" : ":") + std::string(key.name) + "=" + numberText(*value);
  }
  return text.empty() ? "auto" : text;
}

void requirePatches(const std::vector<int>& patches, int count, bool reuses) {
  if (!reuses) throw Error("patches that changed are for an Estimator that reuses rows");
  for (std::size_t i = 0; i < patches.size(); ++i) {
    if (patches[i] < 0 || patches[i] >= count || (i > 0 && patches[i] <= patches[i - 1])) {
      throw Error("patches that changed are ascending numbers from 0 to " + std::to_string(count - 1) + ", got " +
                  std::to_string(patches[i]) + " at place " + std::to_string(i));
    }
  }
}

}  // namespace mpm
