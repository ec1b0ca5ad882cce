// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_file.h"
#include "cli/frames.h"
#include "cli/verb_options.h"
#include "evaluation/measurement.h"

namespace mpm::cli {

/// Which images are measured with which variants of a model.
struct MeasurePlan {
  std::string model{};
  LabelledOptions labelled{};
  std::optional<FitOptions> fit{};  ///< that the user chose
  EstimatorOptions options{};       ///< of all variants
  VariantOptions variants{};
  Night night{};
  bool by_day = false;        ///< as the images are, too, beside the simulated night
  bool against_full = false;  ///< the full model makes the labels that count as true
  Shard shard{};
  std::string per_image{};  ///< file that gets the lines at the end
  std::string resume{};     ///< file that has lines of earlier runs and gets each new line at once
};

/// One way to run the model, with all of its images.
struct MeasuredVariant {
  Json settings;      ///< model, data and options
  std::string label;  ///< the settings in which it differs from the others
  evaluation::VariantResult result;
  /// Index of the full model by this light, with the first precision of the run that measured; nullopt: it is none of
  /// the variants, though it may have taken its turn beside them.
  std::optional<std::size_t> full{};
  std::optional<std::size_t> day{};  ///< index of the same by day, of one at the simulated night
};

struct Measured {
  std::vector<std::string> classes;
  std::vector<MeasuredVariant> variants;
  std::set<std::string> names{};  ///< of the images that were asked for; a file of --resume may have lines of others
  bool finished = true;           ///< false: a person interrupted it
};

/// Runs all variants by turns on each image, so that other work of the machine slows all alike, and in another order
/// for each image, because whatever follows the full model finds its data in the caches. Nets that do not fit into 2 GB
/// together run in groups, each beside the full model. Makes a line of JSON per image and variant.
Measured measure(const MeasurePlan& plan);

/// A variant beside the full model; nullopt: the full model did not run beside it. `all`: what it was measured with.
std::optional<evaluation::AgainstFull> againstFull(const MeasuredVariant& variant, const Measured& all);

/// Whether the line is of the model and the data of `run`, but of an image that it was not asked for, or of an earlier
/// version of a policy or a rule.
bool isLeftOut(const Json& line, const Measured& run);

/// The lines of --per-image or --resume in a file. Throws mpm::Error as readJsonLines().
std::vector<JsonValue> readMeasurements(const std::string& file);

/// The lines in these files, of all shards or of several data sets. Throws mpm::Error when a file holds no such lines,
/// when an image is there twice, or when some of N shards are there and others are missing.
Measured combineLines(const std::vector<std::string>& files);

}  // namespace mpm::cli
