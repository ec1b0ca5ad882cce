// SPDX-License-Identifier: Apache-2.0
#include "program/model_options.h"

#include <sstream>

#include "base/device_spec.h"
#include "base/size_text.h"
#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/default_model.h"

namespace mpm::program {

std::string rangeProblem(const std::string& text, double min, double max) {
  double number = 0;
  if (CLI::detail::lexical_cast(text, number) && number >= min && number <= max) return {};  // NaN is in no range
  std::ostringstream problem;
  problem << "'" << text << "' is not a number from " << min << (max < 1e6 ? " to " : " upwards");
  if (max < 1e6) problem << max;
  return problem.str();
}

std::function<std::string(const std::string&)> problemOf(std::function<void(const std::string&)> take) {
  return [take = std::move(take)](const std::string& text) -> std::string {
    try {
      take(text);
      return {};
    } catch (const Error& error) {
      return error.what();
    }
  };
}

namespace {

std::function<void(const std::string&)> readerOf(const std::string& name,
                                                 std::function<void(const std::string&)> take) {
  return [name, problem_of = problemOf(std::move(take))](const std::string& text) {
    if (const std::string problem = problem_of(text); !problem.empty()) throw CLI::ValidationError(name, problem);
  };
}

}  // namespace

CLI::Option* addText(CLI::App& verb, const std::string& name, const std::string& value, const std::string& description,
                     std::function<void(const std::string&)> take) {
  return verb.add_option_function<std::string>(name, readerOf(name, std::move(take)), description)->option_text(value);
}

CLI::Option* addTexts(CLI::App& verb, const std::string& name, const std::string& value, const std::string& description,
                      std::function<void(const std::string&)> take) {
  const auto read = [one = readerOf(name, std::move(take))](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) one(text);
  };
  return verb.add_option_function<std::vector<std::string>>(name, read, description)
      ->allow_extra_args(false)
      ->option_text(value);
}

void addInputSize(CLI::App& verb, std::optional<Size2>& size) {
  addText(verb, "--input-size", "HxW",
          "Network input in pixels, height x width, multiples of the patch. The position embedding is resized. "
          "Default: the model's own",
          [&size](const std::string& text) { size = parseSize(text); })
      ->group(kNetworkGroup);
}

void addPrecision(CLI::App& verb, Precision& precision) {
  addChoice(verb, "--precision", precision,
            {Precision::kFp32, Precision::kBf16, Precision::kTf32, Precision::kFp16, Precision::kInt8},
            "Arithmetic of the matrix products. bf16 needs a CPU that supports it, tf32 needs a GPU, fp16 a GPU or an "
            "Arm CPU such as the Cortex-A76. int8 is for CPUs, and no faster than fp32 without AVX512-VNNI, AMX or "
            "Arm's SDOT")
      ->group(kNetworkGroup);
}

void addReduction(CLI::App& verb, std::optional<Reduction>& reduction, const std::string& schedule_description) {
  CLI::Option* const schedule =
      addText(verb, "--schedule", "S",
              "Short for --reduce mpm:blocks=S: merge tokens before these blocks, counted from 0 and increasing: 2,5 "
              "or 1,3,5; none runs the full model. " +
                  schedule_description,
              [&reduction](const std::string& text) {
                reduction = mpmBefore(parseSchedule(text), reduction ? reduction->attention : std::nullopt);
              })
          ->group(kMergingGroup);
  CLI::Option* const attention = addAttention(verb, [&reduction](Attention chosen) {
    if (!reduction) reduction.emplace();
    if (reduction->method == ReductionMethod::kMpm) reduction->attention = chosen;
  });
  addText(verb, "--reduce", "SPEC", kReduceDescription,
          [&reduction](const std::string& text) { reduction = parseReduction(text); })
      ->excludes(schedule)
      ->excludes(attention)
      ->group(kMergingGroup);
}

CLI::Option* addAttention(CLI::App& verb, std::function<void(Attention)> take) {
  return addText(
             verb, "--attention", "plain|proportional",
             "Short for --reduce mpm:attention=A, beside --schedule. plain, as in the paper; proportional: a merged "
             "token counts as many times as it has members. Default: plain",
             [take = std::move(take)](const std::string& text) { take(parseAttention(text)); })
      ->group(kMergingGroup);
}

void noteAssumed(const ModelInfo& model) {
  if (model.facts.assumed)
    printNote(
        "assumed: mean and std 0.5, because no JSON of the model '" + model.facts.name + "' says them. " +
        (model.converted ? "Convert it again with --mean and --std" : "Write \"mean\" and \"std\" into its JSON") +
        " (docs/converter.md)");
}

void addConvertOptions(CLI::App& verb, ConvertOptions& options) {
  addReduction(
      verb, options.reduce,
      "Default: that of the model's JSON file, else 2,5 for a plain ViT (those of them that it has), else what "
      "the model was converted with");
  addInputSize(verb, options.input_size);
  addPrecision(verb, options.precision);
}

void addDevice(CLI::App& verb, std::string& device) {
  addOption(verb, "--device", device, "D",
            "Where the net runs: cpu, cuda or cuda:1 (an NVIDIA GPU by its index), auto (the first GPU if there "
            "is one, else the CPU). 'mpm info' lists the GPUs. Default: cpu")
      ->check(problemOf(parseDeviceSpec))
      ->group(kNetworkGroup);
}

void addThreads(CLI::App& verb, int& threads, const std::string& description) {
  addNumber(verb, "--threads", threads, "N", 1, 4096, description)->group(kNetworkGroup);
}

void addModelOptions(CLI::App& verb, std::string& model, EstimatorOptions& options) {
  addOption(verb, "--model", model, "M.onnx",
            "A plain ViT as ONNX, converted in memory, or a converted one. Default: MPM_MODEL of the "
            "environment, else the default model ('mpm info' names it)");
  addConvertOptions(verb, options.read.convert);
  addDevice(verb, options.read.device);
  addThreads(verb, options.threads);
}

void addRefine(CLI::App& verb, std::optional<Refine>& refine) {
  addText(verb, "--refine", "none|guided",
          "guided: the edges of classes follow those of the picture, by a guided filter of the class probabilities "
          "(docs/refine.md); none: they are as coarse as the patches. Default: what the model says, else none",
          [&refine](const std::string& text) { refine = parseRefine(text); });
}

CLI::Option* addReuse(CLI::App& verb, Reuse& reuse, const std::string& usual) {
  return addText(verb, "--reuse", "SPEC", kReuseDescription + usual,
                 [&reuse](const std::string& text) { reuse = parseReuse(text); })
      ->group(kNetworkGroup);
}

std::string chosenModel(const std::string& named) {
  if (!named.empty()) return named;
  const std::string model = vision::defaultModel();
  if (model.empty())
    throw UsageError(
        "no model, and no default one (share/mpm/models/outdoor_vit_t16.onnx above libmpm_layer): name one with "
        "--model "
        "M.onnx, a plain ViT exported to ONNX (torch.onnx.export(vit, image, 'M.onnx', opset_version=17), facts like "
        "class names in M.json beside it) or what 'mpm convert' made of one");
  return model;
}

}  // namespace mpm::program
