// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <memory>

#include "base/number_text.h"
#include "base/size_text.h"
#include "cli/verbs/verbs.h"
#include "mpm/build_info.hpp"
#include "mpm/convert.hpp"
#include "vision/labels/classes.h"

namespace mpm::cli {
namespace {

struct InfoArguments {
  std::string model;
  bool json = false;
};

std::string nameOf(const CudaDevice& device) { return "cuda:" + std::to_string(device.index); }
std::string capabilityOf(const CudaDevice& device) {
  return std::to_string(device.major) + "." + std::to_string(device.minor);
}

Json devicesJson(const BuildInfo& build) {
  Json devices = Json::array();
  for (const CudaDevice& device : build.cuda_devices) {
    devices.push_back({{"device", nameOf(device)},
                       {"name", device.name},
                       {"memory_bytes", device.memory_bytes},
                       {"compute_capability", capabilityOf(device)}});
  }
  return devices;
}

std::string devicesText(const BuildInfo& build) {
  if (build.cuda_devices.empty()) return "none: " + build.cuda_problem;
  const auto text = [](const CudaDevice& device) {
    return nameOf(device) + " " + device.name + ", " + fixed(static_cast<double>(device.memory_bytes) / (1 << 30), 1) +
           " GiB, compute capability " + capabilityOf(device);
  };
  return CLI::detail::join(build.cuda_devices, text, "; ");
}

// With all digits that a float needs, as Python's info() has them.
std::string threeText(const std::array<float, 3>& values) {
  const auto text = [](float value) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  };
  return CLI::detail::join(values, text, ", ");
}

std::string taskText(const ModelInfo& model) {
  if (!model.task) return "none";
  return toString(*model.task) + (model.task == Task::kDepth ? ", " + toString(model.facts.depth) : "");
}

void printJson(const std::string& path, const ModelInfo& model, const BuildInfo& build) {
  printLine(Json{{"path", path},
                 {"name", model.facts.name},
                 {"converted", model.converted},
                 {"blocks", model.blocks},
                 {"dim", model.dim},
                 {"heads", model.heads},
                 {"patch", sizeJson(model.patch)},
                 {"special_tokens", model.special_tokens},
                 {"tokens", model.tokens()},
                 {"input", sizeJson(model.input)},
                 {"image_channels", model.image_channels},
                 {"grid", sizeJson(model.grid)},
                 {"head", toString(model.head)},
                 {"task", model.task ? Json(toString(*model.task)) : Json(nullptr)},
                 {"depth", model.task == Task::kDepth ? Json(toString(model.facts.depth)) : Json(nullptr)},
                 {"channels", toString(model.facts.channels)},
                 {"mean", Json::parse("[" + threeText(model.facts.mean) + "]")},
                 {"std", Json::parse("[" + threeText(model.facts.deviation) + "]")},
                 {"assumed", model.facts.assumed},
                 {"refine", toString(model.facts.refine)},
                 {"classes", model.classes},
                 {"class_names", vision::classNames(model)},
                 {"ignore", model.facts.ignore},
                 {"reduce", toString(model.reduction)},
                 {"precision", toString(model.precision)},
                 {"opset", model.opset},
                 {"parameters", model.parameters},
                 {"outputs", model.outputs},
                 {"scores", model.scores},
                 {"mpm",
                  {{"version", build.version},
                   {"opencv", build.opencv},
                   {"instruction_set", build.instruction_set},
                   {"instruction_sets", build.instruction_sets},
                   {"bf16", build.bf16},
                   {"fp16", build.fp16},
                   {"int8", build.int8},
                   {"cuda_devices", devicesJson(build)},
                   {"cuda_problem", build.cuda_problem}}}});
}

void printTable(const std::string& path, const ModelInfo& model, const BuildInfo& build) {
  const auto row = [](const std::string& name, const std::string& value) { printLine(tableRow({name, value}, {-16})); };
  const auto join = [](const std::vector<std::string>& words) { return CLI::detail::join(words, ", "); };
  row("path", path);
  row("name", model.facts.name);
  row("file", model.converted ? "converted: ops of ai.mpm" : "a plain ViT");
  row("blocks", std::to_string(model.blocks));
  row("dim", std::to_string(model.dim));
  row("heads", std::to_string(model.heads));
  row("patch", sizeText(model.patch));
  row("special tokens", std::to_string(model.special_tokens));
  row("input",
      sizeText(model.input) + ", " + std::to_string(model.tokens()) + " tokens: " + sizeText(model.grid, "patches"));
  const std::string assumed = model.facts.assumed ? " (assumed)" : "";
  row("channels", model.image_channels == 3 ? toString(model.facts.channels) : std::to_string(model.image_channels));
  row("mean", threeText(model.facts.mean) + assumed);
  row("std", threeText(model.facts.deviation) + assumed);
  row("head", toString(model.head));
  row("task", taskText(model));
  row("classes",
      std::to_string(model.classes) + (model.facts.classes.empty() ? "" : ": " + join(vision::classNames(model))));
  row("reduce", toString(model.reduction) + (model.converted ? "" : " by default"));
  row("precision", toString(model.precision));
  row("opset", std::to_string(model.opset));
  row("parameters", fixed(static_cast<double>(model.parameters) / 1e6, 2) + " million");
  row("outputs", join(model.outputs) + (model.scores ? ", scores" : ""));
  row("mpm", build.version + ", OpenCV " + build.opencv + ", " + build.instruction_set + " (of " +
                 join(build.instruction_sets) + ")");
  row("fast here",
      std::string("fp32") + (build.bf16 ? ", bf16" : "") + (build.fp16 ? ", fp16" : "") + (build.int8 ? ", int8" : ""));
  row("CUDA devices", devicesText(build));
}

}  // namespace

Verb addInfo(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("info", "Describe a model, this build and the GPUs");
  const auto arguments = std::make_shared<InfoArguments>();
  addOption(*verb, "MODEL.onnx", arguments->model, " ",
            "A plain ViT, or a converted one. Default: the model that 'mpm run' takes without --model");
  verb->add_flag("--json", arguments->json, "One JSON object");
  verb->footer("Examples:\n  mpm info\n  mpm info vit.onnx --json\n");
  return {verb, [arguments] {
            const std::string path = chosenModel(arguments->model);
            const ModelInfo model = readModelInfo(path);
            arguments->json ? printJson(path, model, buildInfo()) : printTable(path, model, buildInfo());
            return kOk;
          }};
}

}  // namespace mpm::cli
