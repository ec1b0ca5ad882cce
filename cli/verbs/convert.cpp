// SPDX-License-Identifier: Apache-2.0
#include "mpm/convert.hpp"

#include <memory>

#include "base/atomic_file.h"
#include "cli/model_options.h"
#include "cli/paths.h"
#include "cli/terminal/errors.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"

namespace mpm::cli {
namespace {

struct ConvertArguments {
  std::string input, output;
  ConvertOptions options;
};

std::string sizeText(Size2 size) { return std::to_string(size.height) + "x" + std::to_string(size.width); }

int convert(const ConvertArguments& arguments) {
  for (const std::string& file : modelFiles(arguments.input))
    if (sameFile(file, arguments.output))
      throw UsageError("the output is " +
                       (file == arguments.input ? "the input" : "'" + file + "', part of the input") +
                       ": name another file with -o");
  requireWritable(arguments.output);
  ModelInfo info;
  const std::string bytes = convertModel(arguments.input, arguments.options, &info);
  if (interrupted()) return kInterrupted;
  writeFileAtomically(arguments.output, bytes, true);
  printNote("wrote " + arguments.output + ": " + std::to_string(info.blocks) + " blocks of width " +
            std::to_string(info.dim) + ", input " + sizeText(info.input) + ", head " + info.head + ", schedule " +
            toString(info.schedule));
  return kOk;
}

}  // namespace

Verb addConvert(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("convert", "Rewrite a plain ViT ONNX to ops that OpenCV runs, with merging");
  const auto arguments = std::make_shared<ConvertArguments>();
  verb->add_option("IN.onnx", arguments->input, "A plain pre-norm ViT as an exporter wrote it")
      ->required()
      ->option_text(" ");
  verb->add_option("-o", arguments->output, "The file to write")->required()->type_name("OUT.onnx");
  addConvertOptions(*verb, arguments->options);
  addChoice<Output>(*verb, "--output", arguments->options.output,
                    {{"labels", Output::kLabels}, {"logits", Output::kLogits}},
                    "What a segmentation net returns: a label map, or logits per class");
  verb->footer(
      "The file is read by cv::dnn::readNetFromONNX of any program that called mpm::registerLayers() (C++) or\n"
      "mpm_register_layers() (ctypes) first. Facts that ONNX lacks (class names, colours, mean, std) are taken from\n"
      "IN.json beside the model and travel inside the converted file.\n\n"
      "Examples:\n"
      "  mpm convert vit.onnx -o vit_mpm.onnx\n"
      "  mpm convert vit.onnx -o vit_full.onnx --schedule none --input-size 512x512\n");
  return {verb, [arguments] { return convert(*arguments); }};
}

}  // namespace mpm::cli
