// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/size_text.h"
#include "monitor/watch/camera_config.h"
#include "mpm/estimator.hpp"

namespace mpm::program {

// Headings of the help for options that many verbs have. What people use every day stands above them, under "Options".
using monitor::kMergingGroup, monitor::kNetworkGroup, monitor::kTimesGroup;
constexpr const char *kJobGroup = "Large jobs", *kNightGroup = "Simulated night";

/// An option that takes one of a few words, each for a value.
template <typename T>
CLI::Option* addChoice(CLI::App& verb, const std::string& name, T& target,
                       std::vector<std::pair<std::string, T>> choices, const std::string& description) {
  std::string words, shown;
  for (const auto& [word, value] : choices) {
    words += (words.empty() ? "" : " or ") + word;
    shown += (shown.empty() ? "" : "|") + word;
  }
  return verb
      .add_option_function<std::string>(
          name,
          [name, words, &target, choices = std::move(choices)](const std::string& text) {
            for (const auto& [word, value] : choices) {
              if (word == text) {
                target = value;
                return;
              }
            }
            throw CLI::ValidationError(name, "'" + text + "' is not " + words);
          },
          description)
      ->option_text(shown);
}

/// Adds an option whose words are those of toString().
template <typename T, typename Value>
CLI::Option* addChoice(CLI::App& verb, const std::string& name, T& target, std::initializer_list<Value> values,
                       const std::string& description) {
  std::vector<std::pair<std::string, T>> choices;
  for (const Value value : values) choices.emplace_back(toString(value), value);
  return addChoice(verb, name, target, std::move(choices), description);
}

/// An option whose value the help calls `value`.
template <typename T>
CLI::Option* addOption(CLI::App& verb, const std::string& name, T& target, const std::string& value,
                       const std::string& description) {
  return verb.add_option(name, target, description)->option_text(value);
}

/// An option whose text `take` reads, or throws mpm::Error for.
CLI::Option* addText(CLI::App& verb, const std::string& name, const std::string& value, const std::string& description,
                     std::function<void(const std::string&)> take);

/// The same for an option that can be given several times.
CLI::Option* addTexts(CLI::App& verb, const std::string& name, const std::string& value, const std::string& description,
                      std::function<void(const std::string&)> take);

/// A check: what is wrong with a text that `take` reads, or throws mpm::Error for; empty: nothing.
std::function<std::string(const std::string&)> problemOf(std::function<void(const std::string&)> take);

/// Why `text` is no number from `min` to `max`; empty: it is one.
std::string rangeProblem(const std::string& text, double min, double max);

/// An option that takes a number from `min` to `max`, of this unit.
template <typename T>
CLI::Option* addNumber(CLI::App& verb, const std::string& name, T& target, const std::string& unit, double min,
                       double max, const std::string& description) {
  return addOption(verb, name, target, unit, description)->check([min, max](const std::string& text) {
    return rangeProblem(text, min, max);
  });
}

/// Prints a line if nothing says which mean and std the model was trained with.
void noteAssumed(const ModelInfo& model);

/// Prints a line, once, if this CPU computes int8 no faster than fp32.
void noteSlowPrecision(Precision precision);

void addPrecision(CLI::App& verb, std::optional<Precision>& precision);

void addDevice(CLI::App& verb, std::string& device);

/// --model, --device, --threads, and those of addConvertOptions.
void addModelOptions(CLI::App& verb, std::string& model, EstimatorOptions& options);

/// --reuse: of the frames of a fixed camera, only what changed is computed. `usual`: what the help calls its default.
CLI::Option* addReuse(CLI::App& verb, Reuse& reuse, const std::string& usual = "off");

/// The option of a field of watch files, whose text `take` reads. The field has its words.
CLI::Option* addField(CLI::App& verb, const std::string& key, std::function<void(const std::string&)> take);

/// The same for what `read` makes of the text.
template <typename T, typename Read>
CLI::Option* addField(CLI::App& verb, const std::string& key, T& target, Read read) {
  return addField(verb, key, [&target, read](const std::string& text) { target = read(text); });
}

/// The same for its number.
template <typename T>
CLI::Option* addField(CLI::App& verb, const std::string& key, T& target) {
  const monitor::CameraField& field = monitor::cameraField(key);
  return addNumber(verb, "--" + key, target, field.unit, field.limits.min, field.limits.max, field.help())
      ->group(field.group);
}

/// --reduce, --input-size, --precision: how a plain ViT is converted.
template <typename Options>
void addConvertOptions(CLI::App& verb, Options& options) {
  addField(verb, "reduce", options.reduce, parseReduction);
  addField(verb, "input-size", options.input_size, parseSize);
  addPrecision(verb, options.precision);
}

/// --min-score and --min-overlap: the limits of segments.
template <typename Score, typename Overlap>
void addSegmentLimits(CLI::App& verb, Score& min_score, Overlap& min_overlap) {
  addField(verb, "min-score", min_score);
  addField(verb, "min-overlap", min_overlap);
}

/// `named`, or the default model where none is named. Throws UsageError that says how to get a model.
std::string chosenModel(const std::string& named);

}  // namespace mpm::program
