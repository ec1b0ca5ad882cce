// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "mpm/segmenter.hpp"

namespace mpm::cli {

/// --schedule, --input-size, --attention, --precision: how a plain ViT is converted.
void addConvertOptions(CLI::App& verb, ConvertOptions& options);

/// --model, --threads, and those of addConvertOptions.
void addModelOptions(CLI::App& verb, std::string& model, SegmenterOptions& options);

/// Throws UsageError that says how to get a model when none is named.
void requireModel(const std::string& model);

}  // namespace mpm::cli
