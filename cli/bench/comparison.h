// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/bench/variant.h"

namespace mpm::cli {

/// One model, and its variants, which took turns.
struct Comparison {
  ModelInfo model;
  std::vector<Variant> variants;
};

/// Reads the model, and measures all its variants. Throws UsageError or mpm::Error; a variant that fails says so in its
/// note.
Comparison compared(const BenchArguments& arguments);

/// Throws mpm::Error with the note of a variant that failed.
void expectAlive(const std::vector<Variant>& variants);

}  // namespace mpm::cli
