// SPDX-License-Identifier: Apache-2.0
#include "cli/model_options.h"

#include <charconv>

#include "cli/terminal/errors.h"
#include "mpm/error.hpp"
#include "vision/default_model.h"

namespace mpm::cli {
namespace {

Size2 parseSize(const std::string& text) {
  Size2 size;
  const char* end = text.data() + text.size();
  const auto height = std::from_chars(text.data(), end, size.height);
  const bool separated = height.ec == std::errc() && height.ptr != end && *height.ptr == 'x';
  const auto width = std::from_chars(separated ? height.ptr + 1 : end, end, size.width);
  if (!separated || width.ec != std::errc() || width.ptr != end || size.height < 1 || size.width < 1)
    throw CLI::ValidationError("--input-size", "'" + text + "' is not HEIGHTxWIDTH in pixels, for example 512x512");
  return size;
}

template <typename T>
std::vector<std::pair<std::string, T>> wordsOf(std::initializer_list<T> values) {
  std::vector<std::pair<std::string, T>> words;
  for (const T value : values) words.emplace_back(toString(value), value);
  return words;
}

constexpr auto kPrecisions = {Precision::kFp32, Precision::kBf16, Precision::kTf32, Precision::kFp16};

}  // namespace

void addInputSize(CLI::App& verb, std::optional<Size2>& size) {
  verb.add_option_function<std::string>(
          "--input-size", [&size](const std::string& text) { size = parseSize(text); },
          "Input of the net in pixels, multiples of the patch; the position embedding\nis resized. Default: the "
          "model's own")
      ->type_name("HxW");
}

void addConvertOptions(CLI::App& verb, ConvertOptions& options) {
  verb.add_option_function<std::string>(
          "--schedule",
          [&options](const std::string& text) {
            try {
              options.schedule = parseSchedule(text);
              options.validate();
            } catch (const Error& error) {
              throw CLI::ValidationError("--schedule", error.what());
            }
          },
          "Merge tokens before these blocks, 0-based and increasing: 2,5 or 1,3,5;\n"
          "none runs the full model. Default: 2,5 for a plain ViT (those of them\nthat it has), else what the model "
          "was converted with")
      ->type_name("S");
  addInputSize(verb, options.input_size);
  addChoice<Attention>(verb, "--attention", options.attention, wordsOf({Attention::kPlain, Attention::kProportional}),
                       "plain (the paper), or proportional: a merged token counts as many times\nas it has members");
  addChoice<Precision>(verb, "--precision", options.precision, wordsOf(kPrecisions),
                       "Arithmetic of the matrix products; bf16 needs a CPU that has it, tf32 and\nfp16 a GPU");
}

void addDevice(CLI::App& verb, std::string& device) {
  verb.add_option_function<std::string>(
          "--device",
          [&device](const std::string& text) {
            try {
              ConvertOptions options;
              options.device = text;
              options.validate();
            } catch (const Error& error) {
              throw CLI::ValidationError("--device", error.what());
            }
            device = text;
          },
          "Where the net runs: cpu, cuda or cuda:1 (an NVIDIA GPU by its index),\nauto (the first GPU where there is "
          "one, else the CPU). 'mpm info' lists\nthem. Default: cpu")
      ->option_text("D");
}

void addModelOptions(CLI::App& verb, std::string& model, SegmenterOptions& options) {
  verb.add_option("--model", model,
                  "A plain ViT as ONNX, converted in memory, or a converted one.\nDefault: MPM_MODEL of the "
                  "environment, else the default model ('mpm info'\nsays which)")
      ->type_name("M.onnx");
  addConvertOptions(verb, options);
  addDevice(verb, options.device);
  verb.add_option("--threads", options.threads, "CPU threads. Default: all")
      ->check(CLI::Range(1, 4096))
      ->type_name("N")
      ->option_text("N");
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
