// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "cli/bench/variant.h"

namespace mpm::cli {

/// The numbers of a variant in the table and the JSON, which need the other variants too.
struct Row {
  Row(const Variant& v, const std::vector<Variant>& all);

  const Variant& variant;
  double ms, ratio, peak;
  std::optional<double> peak_share;
  Json stages = Json::object();  // ms
};

/// Everything needed to repeat the measurement.
Json resultJson(const std::vector<Variant>& variants, const BenchArguments& arguments, const ModelInfo& model,
                int threads);

void printTable(const std::vector<Variant>& variants, const BenchArguments& arguments, int threads);

}  // namespace mpm::cli
