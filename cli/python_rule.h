// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpm/options.hpp"

namespace mpm::cli {

/// "FILE.py:FUNCTION", then keys as in --reduce: the reduction that merges by this function, named "FILE.py#FUNCTION".
/// Throws mpm::Error for any other text.
Reduction parseRule(const std::string& text);

/// Its FILE.py; "" for a reduction that is no rule.
std::string ruleFile(const Reduction& rule);

/// The function of parseRule(), in a Python process of its own (study/rule.py), which ends with the last copy of it.
/// Throws mpm::Error for a missing file, and, as its calls do, std::runtime_error for what goes wrong there.
MergeFunction pythonRule(const Reduction& rule);

}  // namespace mpm::cli
