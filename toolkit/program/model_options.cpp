// SPDX-License-Identifier: Apache-2.0
#include "program/model_options.h"

#include <cmath>

#include "base/number_text.h"
#include "base/size_text.h"
#include "mpm/build_info.hpp"
#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "vision/model_files.h"

namespace mpm::program {

std::string rangeProblem(const std::string& text, double min, double max) {
  double number = 0;
  if (!CLI::detail::lexical_cast(text, number)) number = std::nan("");
  const std::string problem = mpm::rangeProblem(number, min, max);
  return problem.empty() ? "" : "'" + text + "'" + problem;
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

CLI::Option* addField(CLI::App& verb, const std::string& key, std::function<void(const std::string&)> take) {
  const monitor::CameraField& field = monitor::cameraField(key);
  return addText(verb, "--" + key, field.unit, field.help(), std::move(take))->group(field.group);
}

void addPrecision(CLI::App& verb, std::optional<Precision>& precision) {
  addField(verb, "precision", [&precision](const std::string& text) {
    monitor::cameraField("precision").validate(text);
    precision = parsePrecision(text);
  });
}

void noteAssumed(const ModelInfo& model) {
  if (model.facts.assumed) {
    printNote(
        "assumed: mean and std 0.5, because no JSON of the model '" + model.facts.name + "' says them. " +
        (model.converted ? "Convert it again with --mean and --std" : "Write \"mean\" and \"std\" into its JSON") +
        " (docs/converter.md)");
  }
}

void noteSlowPrecision(Precision precision) {
  static bool noted = false;
  if (precision != Precision::kInt8 || noted || buildInfo().int8) return;
  noted = true;
  printNote("precision int8 is no faster than fp32 here, and fp32 loses nothing: this CPU does not multiply int8");
}

void addDevice(CLI::App& verb, std::string& device) {
  addField(verb, "device", [&device](const std::string& text) {
    parseDeviceSpec(text);
    device = text;
  });
}

void addModelOptions(CLI::App& verb, std::string& model, EstimatorOptions& options) {
  addField(verb, "model", [&model](const std::string& text) { model = text; });
  addConvertOptions(verb, options);
  addDevice(verb, options.device);
  addField(verb, "threads", options.threads);
}

CLI::Option* addReuse(CLI::App& verb, Reuse& reuse, const std::string& usual) {
  return addField(verb, "reuse", reuse, parseReuse)
      ->description(monitor::cameraField("reuse").words + (". Default: " + usual));
}

std::string chosenModel(const std::string& named) {
  if (!named.empty()) return named;
  const std::string model = vision::defaultModel();
  if (model.empty()) {
    throw UsageError(
        "no model, and no default one (share/mpm/models/outdoor_vit_t16.onnx above libmpm_layer): name one with "
        "--model "
        "M.onnx, a plain ViT exported to ONNX (torch.onnx.export(vit, image, 'M.onnx', opset_version=17), facts like "
        "class names in M.json beside it) or what 'mpm convert' made of one");
  }
  return model;
}

}  // namespace mpm::program
