// SPDX-License-Identifier: Apache-2.0
#include "cli/verb_options.h"

#include <algorithm>
#include <filesystem>
#include <opencv2/core/utility.hpp>

#include "base/hash.h"
#include "base/key_values.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "base/visible_text.h"
#include "evaluation/machine.h"
#include "mpm/error.hpp"
#include "vision/sources/source.h"

namespace mpm::cli {

using namespace program;
namespace fs = std::filesystem;

bool Shard::contains(const std::string& path) const {
  return hashBytes(fs::path(path).filename().string()) % static_cast<std::uint64_t>(of) ==
         static_cast<std::uint64_t>(number - 1);
}

Shard parseShard(const std::string& text) {
  const auto shard = readNumbers(text, '/');
  if (!shard || shard->first < 1 || shard->first > shard->second)
    throw Error("'" + text + "' is not I/N with I from 1 to N, such as 2/8");
  return {shard->first, shard->second};
}

void addShard(CLI::App& verb, Shard& shard) {
  addText(verb, "--shard", "I/N",
          "Only part I of N of the images, for one of N machines. The name of an image decides which part it is in",
          [&shard](const std::string& text) { shard = parseShard(text); })
      ->group(kJobGroup);
}

std::string imageName(const std::string& path) { return utf8Text(fs::path(path).stem().string()); }

std::map<std::string, std::string> requireNamedImages(const std::string& option,
                                                      const std::vector<std::string>& sources) {
  std::map<std::string, std::string> file_of_name;
  for (const std::string& source : sources) {
    const vision::SourceSpec spec = vision::parseSourceSpec(source);
    if (!spec.isImages())
      throw UsageError(option + " needs images, a folder or a glob, and '" + spec.shownText() + "' is none of these");
    for (const std::string& file : vision::sourceFiles(spec)) {
      const auto [other, fresh] = file_of_name.emplace(imageName(file), file);
      if (!fresh) {
        throw UsageError(option + " needs images of different names, and '" + other->second + "' and '" + file +
                         "' have the same: work on them one after the other");
      }
    }
  }
  return file_of_name;
}

void requireAllFrames(const Reuse& reuse, const Shard& shard, bool resumes) {
  if (reuse.on && (!shard.isWhole() || resumes)) {
    throw UsageError(std::string("--reuse needs all frames in their order, and ") +
                     (resumes ? "--resume leaves out those that are done" : "--shard takes some of them"));
  }
}

void addTimes(CLI::App& verb, vision::TimeOptions& options) {
  addField(verb, "times", [&options](const std::string& text) {
    const auto zone = options.time_zone;
    options = vision::parseTimes(text);
    options.time_zone = zone;
  })->description(monitor::cameraField("times").words + std::string(". Default: auto"));
  addField(verb, "time-zone", options.time_zone, [](const std::string& text) {
    return vision::CameraClock(text);
  })->description(monitor::cameraField("time-zone").words + std::string(". Default: that of this machine"));
}

namespace {

// Adds the option of a field to a verb.
struct AddField {
  CLI::App& verb;
  monitor::CameraConfig& config;
  const monitor::CameraField& field;
  std::string name = field.key == "source" ? "SOURCE" : "--" + field.key;

  CLI::Option* operator()(bool monitor::CameraConfig::*member) const {
    return verb.add_flag(name, config.*member, field.help());
  }
  template <typename Number>
  CLI::Option* operator()(std::optional<Number> monitor::CameraConfig::*member) const {
    return addNumber(verb, name, config.*member, field.unit, field.limits.min, field.limits.max, field.help());
  }
  template <typename Texts>
  CLI::Option* operator()(Texts monitor::CameraConfig::*member) const {
    const auto problem = problemOf([&of = field](const std::string& text) { of.validate(text); });
    CLI::Option* const option =
        addOption(verb, name, config.*member, field.key == "source" ? " " : field.unit, field.help())->check(problem);
    return std::is_same_v<Texts, std::string> ? option : option->allow_extra_args(false);
  }
};

}  // namespace

void addCameraFields(CLI::App& verb, monitor::CameraConfig& config) {
  for (const monitor::CameraField& field : monitor::cameraFields()) {
    if (!field.option) continue;
    CLI::Option* const option = std::visit(AddField{verb, config, field}, field.member);
    option->group(field.group);
    if (field.key == "source") option->envname("MPM_SOURCE");
  }
}

Json toJson(const Night& night) {
  if (!night.on) return nullptr;
  const vision::NightOptions& options = night.options;
  return {{"gain", options.gain}, {"electrons", options.electrons}, {"thermal", options.thermal}};
}

vision::NightOptions parseNight(const std::string& text) {
  vision::NightOptions night;
  const auto read = [](const std::string& number, double& value) {
    const auto parsed = readNumber<double>(number);
    if (!parsed) throw Error("'" + number + "' is not a number");
    value = *parsed;
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  read(text.substr(0, colon), night.gain);
  if (colon < text.size()) {
    for (const auto& [key, value] : keyValues(text.substr(colon + 1))) {
      if (key != "electrons" && key != "thermal") throw Error("'" + key + "' is neither electrons=N nor thermal=SD");
      read(value.value_or(""), key == "electrons" ? night.electrons : night.thermal);
    }
  }
  night.validate();
  return night;
}

void addNight(CLI::App& verb, Night& night) {
  const std::string what = night.on ? "The night: the share of the light that is left. Default: 0.25. "
                                    : "Simulate night: keep this share of the light, and add noise. ";
  addText(verb, "--simulate-night", "GAIN",
          what +
              ":electrons=N after it sets how many electrons a white pixel collects by day, for shot noise (1500), and "
              ":thermal=SD the thermal noise, its standard deviation as a share of white (0.008): 0.25:electrons=500",
          [&night](const std::string& text) { night = {.on = true, .options = parseNight(text)}; })
      ->group(kNightGroup);
}

std::vector<VariantOptions::Variant> VariantOptions::of(const std::string& model, const ConvertOptions& convert) const {
  std::vector<std::optional<Reduction>> wanted(reductions.begin(), reductions.end());
  if (wanted.empty()) wanted.emplace_back();
  std::vector<ConvertOptions> conversions;
  std::vector<std::optional<Precision>> of(precisions.begin(), precisions.end());
  if (of.empty()) of.emplace_back(convert.precision);
  for (const std::optional<Precision>& precision : of) {
    for (const std::optional<Reduction>& reduction : wanted) {
      ConvertOptions& one = conversions.emplace_back(convert);
      if (reduction) one.reduce = reduction;
      one.precision = precision;
      const ModelInfo info = readModelInfo(model, one);
      one.reduce = info.reduction;
      one.precision = info.precision;
      noteSlowPrecision(info.precision);
    }
  }
  std::vector<Variant> variants;
  for (const ConvertOptions& conversion : conversions) {
    for (const Reuse& reuse : reuses.empty() ? std::vector{Reuse()} : reuses) {
      if (std::ranges::none_of(variants, [&](const Variant& other) {
            return other.convert.reduce == conversion.reduce && other.convert.precision == conversion.precision &&
                   other.reuse == reuse;
          }))
        variants.push_back({conversion, reuse});
    }
  }
  return variants;
}

int useThreads(int wanted) {
  const int used = evaluation::usedThreads(wanted);
  if (wanted > used) {
    printNote("--threads " + std::to_string(wanted) +
              " is more than the CPUs of this machine: " + std::to_string(used) + " are used");
  }
  if (wanted > 0) cv::setNumThreads(used);
  return used;
}

void addVariants(CLI::App& verb, std::string& model, EstimatorOptions& options, VariantOptions& variants) {
  const std::string several = "Can be given several times. ";
  addField(verb, "model", [&model](const std::string& text) { model = text; });
  addField(verb, "input-size", options.input_size, parseSize);
  addDevice(verb, options.device);
  addField(verb, "threads", options.threads);
  const auto addFields = [&](const std::string& key, const std::string& usual, auto& values, auto read) {
    const monitor::CameraField& field = monitor::cameraField(key);
    return addTexts(verb, "--" + key, field.unit, several + field.words + ". Default: " + usual,
                    [&values, read](const std::string& text) { values.push_back(read(text)); })
        ->group(field.group);
  };
  addFields("reduce", monitor::cameraField("reduce").usual, variants.reductions, parseReduction);
  addFields("precision", monitor::cameraField("precision").usual, variants.precisions, parsePrecision);
  addFields("reuse", "off", variants.reuses, parseReuse);
}

}  // namespace mpm::cli
