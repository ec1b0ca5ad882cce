// SPDX-License-Identifier: Apache-2.0
#include "mpm/convert.hpp"

#include <array>
#include <memory>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "cli/verbs/verbs.h"
#include "mpm/error.hpp"
#include "program/paths.h"

namespace mpm::cli {
namespace {

struct ConvertArguments {
  std::string input, output;
  ConvertOptions options;
};

/// --mean or --std.
void addThree(CLI::App& verb, const std::string& name, std::optional<std::array<float, 3>>& three,
              const std::string& description) {
  addText(verb, name, "A,B,C", description, [&three](const std::string& text) {
    const std::vector<std::string> parts = CLI::detail::split(text, ',');
    three.emplace();
    for (std::size_t i = 0; i < three->size(); ++i) {
      const auto number = parts.size() == three->size() ? readNumber<float>(parts[i]) : std::nullopt;
      if (!number) throw Error("'" + text + "' is not three numbers such as 0.485,0.456,0.406");
      (*three)[i] = *number;
    }
  })->group(kNetworkGroup);
}

int convert(const ConvertArguments& arguments) {
  const std::string policy = arguments.options.reduce ? arguments.options.reduce->policy : "";
  requireOutput("--out", arguments.output, {.models = {arguments.input}, .files = {policy}});
  requireEnding("--out", arguments.output, ".onnx");
  const ModelInfo info = convertFile(arguments.input, arguments.output, arguments.options);
  printNote("wrote " + arguments.output + ": " + std::to_string(info.blocks) + " blocks of width " +
            std::to_string(info.dim) + ", input " + sizeText(info.input) + ", head " + toString(info.head) +
            ", reduction " + toString(info.reduction));
  noteAssumed(info);
  return kOk;
}

}  // namespace

Verb addConvert(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("convert", "Rewrite a plain ViT ONNX to ops that OpenCV runs, with merging");
  const auto arguments = std::make_shared<ConvertArguments>();
  addOption(*verb, "IN.onnx", arguments->input, " ", "A plain pre-norm ViT, as an exporter wrote it")->required();
  addOption(*verb, "-o,--out", arguments->output, "OUT.onnx", "The file to write")->required();
  addConvertOptions(*verb, arguments->options);
  addThree(
      *verb, "--mean", arguments->options.mean,
      "Mean of the pixel values 0 to 1 that the model was trained with, in the order of its channels. Default: that in "
      "IN.json, else 0.5. With --std");
  addThree(*verb, "--std", arguments->options.deviation,
           "Standard deviation of the same values. Default: that in IN.json, else 0.5. With --mean");
  addChoice(*verb, "--output", arguments->options.output, {Output::kLabels, Output::kLogits},
            "What a segmentation net returns: the label map 'labels', or the logits of the original model under their "
            "own name. Default: labels")
      ->group("Outputs");
  verb->add_flag("--scores", arguments->options.scores,
                 "Also return 'scores', the class scores of each patch (segmentation only)")
      ->group("Outputs");
  verb->footer(R"(cv::dnn::readNetFromONNX reads the file in every program that called mpm::registerLayers() (C++) or
mpm_register_layers() (ctypes) before. Facts that ONNX lacks (class names, colours, mean, std) are taken from IN.json
in the folder of the model and travel inside the converted file.

Examples:
  mpm convert vit.onnx -o vit_mpm.onnx
  mpm convert vit.onnx -o vit_full.onnx --reduce none --input-size 512x512
  mpm convert vit.onnx -o vit_gradual.onnx --reduce gradual:blocks=0-7:count=48
  mpm convert dinov2.onnx -o fast.onnx --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225
)");
  return {verb, [arguments] { return convert(*arguments); }};
}

}  // namespace mpm::cli
