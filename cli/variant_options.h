// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "mpm/convert.hpp"
#include "mpm/estimator.hpp"

namespace mpm::cli {

/// The ways to run one model that a verb compares: each precision with each reduction and each reuse.
struct VariantOptions {
  struct Variant {
    ConvertOptions convert;
    Reuse reuse{};
  };

  std::vector<Schedule> schedules{};
  std::optional<Attention> attention{};  ///< of `schedules`
  std::vector<Reduction> reductions{};   ///< instead of both
  std::vector<Precision> precisions{};
  std::vector<Reuse> reuses{};

  /// All of them, each once, with the reduction and the precision that the model then has. `convert`: of all. Throws
  /// mpm::Error for a reduction that the model lacks, and for another one than that of a converted model.
  std::vector<Variant> of(const std::string& model, const ConvertOptions& convert) const;
};

/// --model, --device, --threads, --input-size, and what makes variants: --schedule, --attention, --reduce, --precision
/// and --reuse, of which each can be given several times.
void addVariants(CLI::App& verb, std::string& model, EstimatorOptions& options, VariantOptions& variants);

}  // namespace mpm::cli
