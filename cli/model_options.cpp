// SPDX-License-Identifier: Apache-2.0
#include "cli/model_options.h"

#include <sstream>

#include "base/size_text.h"
#include "cli/terminal/program.h"
#include "mpm/error.hpp"
#include "vision/default_model.h"

namespace mpm::cli {
namespace {

// The error of `use`; empty: there is none.
template <typename Use>
std::string problemOf(Use&& use) {
  try {
    use();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::string deviceProblem(const std::string& text) {
  return problemOf([&] { ReadOptions{.device = text}.validate(); });
}

}  // namespace

std::string rangeProblem(const std::string& text, double min, double max) {
  double number = 0;
  if (CLI::detail::lexical_cast(text, number) && number >= min && number <= max) return {};  // NaN is in no range
  std::ostringstream problem;
  problem << "'" << text << "' is not a number from " << min << (max < 1e6 ? " to " : " upwards");
  if (max < 1e6) problem << max;
  return problem.str();
}

std::string reductionProblem(const std::string& text) {
  return problemOf([&] { parseReduction(text); });
}

std::string scheduleProblem(const std::string& text) {
  return problemOf([&] { parseSchedule(text); });
}

void addInputSize(CLI::App& verb, std::optional<Size2>& size) {
  verb.add_option_function<std::string>(
          "--input-size",
          [&size](const std::string& text) {
            try {
              size = parseSize(text);
            } catch (const Error& error) {
              throw CLI::ValidationError("--input-size", error.what());
            }
          },
          "Network input in pixels, height x width, multiples of the patch. The position embedding is resized. "
          "Default: the model's own")
      ->option_text("HxW");
}

CLI::Option* addReduce(CLI::Option* option, CLI::Option* schedule) {
  return option->check(reductionProblem)->excludes(schedule)->option_text("SPEC");
}

void addAttention(CLI::App& verb, Attention& attention, std::function<std::string()> other_reduction) {
  addChoice(
      verb, "--attention", attention, {Attention::kPlain, Attention::kProportional},
      "Of Mutual Pair Merging. plain, as in the paper; proportional: a merged token counts as many times as it has "
      "members. Default: plain");
  verb.parse_complete_callback([&verb, other_reduction = std::move(other_reduction)] {
    const std::string other = other_reduction();
    if (!other.empty() && verb.count("--attention") > 0)
      throw CLI::ValidationError("--attention", "is for mpm, not for '" + other + "'");
  });
}

void addPrecision(CLI::App& verb, Precision& precision) {
  addChoice(verb, "--precision", precision, {Precision::kFp32, Precision::kBf16, Precision::kTf32, Precision::kFp16},
            "Arithmetic of the matrix products. bf16 needs a CPU that supports it, tf32 and fp16 need a GPU");
}

void addReduction(CLI::App& verb, const std::string& schedule_description,
                  std::function<void(const Schedule&)> take_schedule,
                  std::function<void(const Reduction&)> take_reduce) {
  CLI::Option* const schedule =
      verb.add_option_function<std::string>(
              "--schedule", [take = std::move(take_schedule)](const std::string& text) { take(parseSchedule(text)); },
              "Short for --reduce mpm:blocks=S: merge tokens before these blocks, counted from 0 and increasing: 2,5 "
              "or 1,3,5; none runs the full model. " +
                  schedule_description)
          ->check(scheduleProblem)
          ->option_text("S");
  addReduce(verb.add_option_function<std::string>(
                "--reduce", [take = std::move(take_reduce)](const std::string& text) { take(parseReduction(text)); },
                kReduceDescription),
            schedule);
}

void addConvertOptions(CLI::App& verb, ConvertOptions& options) {
  addReduction(
      verb,
      "Default: that of the model's JSON file, else 2,5 for a plain ViT (those of them that it has), else what the "
      "model was converted with",
      [&options](const Schedule& schedule) { options.schedule = schedule; },
      [&options](const Reduction& reduce) { options.reduce = reduce; });
  addInputSize(verb, options.input_size);
  addAttention(verb, options.attention, [&options] {
    const bool other = options.reduce && !options.reduce->isSchedule();
    return other ? toString(*options.reduce) : std::string();
  });
  addChoice(
      verb, "--merged-positions", options.merged_positions,
      {MergedPositions::kMean, MergedPositions::kCentroid, MergedPositions::kFirst},
      "Rotary position of a merged token: mean of the cosines and sines of its members, angle of their mean place, "
      "or that of the first. Default: mean");
  addPrecision(verb, options.precision);
}

void addDevice(CLI::App& verb, std::string& device) {
  addOption(verb, "--device", device, "D",
            "Where the net runs: cpu, cuda or cuda:1 (an NVIDIA GPU by its index), auto (the first GPU if there "
            "is one, else the CPU). 'mpm info' lists the GPUs. Default: cpu")
      ->check(deviceProblem);
}

void addModelOptions(CLI::App& verb, std::string& model, SegmenterOptions& options) {
  addOption(verb, "--model", model, "M.onnx",
            "A plain ViT as ONNX, converted in memory, or a converted one. Default: MPM_MODEL of the "
            "environment, else the default model ('mpm info' names it)");
  addConvertOptions(verb, options.read.convert);
  addDevice(verb, options.read.device);
  addNumber(verb, "--threads", options.threads, "N", 1, 4096, "CPU threads. Default: all");
}

std::string chosenModel(const std::string& named) {
  if (!named.empty()) return named;
  const std::string model = vision::defaultModel();
  if (model.empty())
    throw UsageError(
        "no model, and no default one (share/mpm/models/street_vit_t16.onnx above libmpm_layer): name one with --model "
        "M.onnx, a plain ViT exported to ONNX (torch.onnx.export(vit, image, 'M.onnx', opset_version=17), facts like "
        "class names in M.json beside it) or what 'mpm convert' made of one");
  return model;
}

}  // namespace mpm::cli
