// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mpm/estimator.hpp"

namespace mpm::program {

// Headings of the help for options that many verbs have. What people use every day stands above them, under "Options".
constexpr const char *kMergingGroup = "How tokens merge", *kNetworkGroup = "Network and computer",
                     *kJobGroup = "Large jobs", *kNightGroup = "Simulated night", *kTimesGroup = "Times of pictures";

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
            for (const auto& [word, value] : choices)
              if (word == text) {
                target = value;
                return;
              }
            throw CLI::ValidationError(name, "'" + text + "' is not " + words);
          },
          description)
      ->option_text(shown);
}

/// Adds an option whose words are those of toString().
template <typename T>
CLI::Option* addChoice(CLI::App& verb, const std::string& name, T& target, std::initializer_list<T> values,
                       const std::string& description) {
  std::vector<std::pair<std::string, T>> choices;
  for (const T value : values) choices.emplace_back(toString(value), value);
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

/// --reduce, --schedule, --attention, --input-size, --precision: how a plain ViT is converted.
void addConvertOptions(CLI::App& verb, ConvertOptions& options);

/// The help of every --reduce.
constexpr const char* kReduceDescription =
    "How tokens merge: none, mpm:blocks=2,5, gradual:blocks=0-7:count=48, gradual:similarity=0.95, tome:count=36, "
    "algm:threshold=0.88, cts:policy=FILE.onnx:share=0.4. docs/reduction.md and 'man mpm' have all keys. Not with "
    "--schedule or --attention";

/// --reduce, and its short form: --schedule, with this description, and --attention.
void addReduction(CLI::App& verb, std::optional<Reduction>& reduction, const std::string& schedule_description);

CLI::Option* addAttention(CLI::App& verb, std::function<void(Attention)> take);

void addPrecision(CLI::App& verb, Precision& precision);

void addInputSize(CLI::App& verb, std::optional<Size2>& size);

void addDevice(CLI::App& verb, std::string& device);

void addThreads(CLI::App& verb, int& threads, const std::string& description = "CPU threads. Default: all");

/// --model, --device, --threads, and those of addConvertOptions.
void addModelOptions(CLI::App& verb, std::string& model, EstimatorOptions& options);

/// --refine: how labels of patches become labels of pixels.
void addRefine(CLI::App& verb, std::optional<Refine>& refine);

/// What every --reuse says of itself.
constexpr const char* kReuseDescription =
    "For frames of a fixed camera: compute only what changed since earlier frames. auto takes the threshold from the "
    "noise of the camera; threshold=12 is in grey levels; agreement=99 steers it, in percent; refresh=600 is the "
    "seconds between frames that are computed whole; flush=0.7 the share of changed patches that makes one. Several "
    "keys are joined by ':'. See docs/reuse.md. Default: ";

/// --reuse: of the frames of a fixed camera, only what changed is computed. `usual`: what the help calls its default.
CLI::Option* addReuse(CLI::App& verb, Reuse& reuse, const std::string& usual = "off");

/// The default where a camera is watched (monitor::InferenceWorker).
constexpr const char* kReuseOfWatched = "auto for a model that does not merge, else off";

/// --min-score and --min-overlap: the limits of segments.
template <typename T>
void addSegmentLimits(CLI::App& verb, T& min_score, T& min_overlap) {
  addNumber(verb, "--min-score", min_score, "0..1", 0, 1,
            "For the tasks panoptic and instance: leave out segments with a lower score. Default: 0.8")
      ->group(kNetworkGroup);
  addNumber(verb, "--min-overlap", min_overlap, "0..1", 0, 1,
            "For the task panoptic: leave out a segment when other segments cover its mask and no more than this share "
            "is left. Default: 0.8")
      ->group(kNetworkGroup);
}

/// `named`, or the default model where none is named. Throws UsageError that says how to get a model.
std::string chosenModel(const std::string& named);

}  // namespace mpm::program
