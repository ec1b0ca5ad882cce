// SPDX-License-Identifier: Apache-2.0
#include "monitor/watch/model_settings.h"

#include <optional>
#include <utility>

#include "base/key_values.h"
#include "base/number_text.h"
#include "base/segment_limits.h"
#include "base/size_text.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"

namespace mpm::monitor {
namespace {

// Of a model without EstimatorOptions::input_size; nullopt: it does not say one.
std::optional<Size2> ownInput(const std::string& file, const EstimatorOptions& options) try {
  ConvertOptions plain = options.convert();
  plain.input_size.reset();
  return readModelInfo(file, plain).input;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace

std::string settingsOf(const std::string& file, const ModelInfo& info, const EstimatorOptions& options) {
  std::string text;
  const auto add = [&](const std::string& key, const std::string& value) {
    text += (text.empty() ? "" : ":") + key + "=" + value;
  };
  if (options.input_size && ownInput(file, options) != options.input_size)
    add("input-size", toString(*options.input_size));
  if (info.task == Task::kSemantic && options.refine && *options.refine != info.facts.refine)
    add("refine", toString(*options.refine));
  if (givesSegments(info.task) && options.min_score && *options.min_score != defaultMinScore(info.head))
    add("min-score", numberText(*options.min_score));
  if (info.task == Task::kPanoptic && options.min_overlap != EstimatorOptions().min_overlap)
    add("min-overlap", numberText(options.min_overlap));
  return text;
}

void goOnWith(const std::string& settings, CameraConfig& config) {
  CameraConfig stored;
  for (const auto& [key, written] : keyValues(settings)) {
    const std::string value = written.value_or("");
    if (key == "input-size") stored.input_size = value;
    if (key == "refine") stored.refine = value;
    if (key == "min-score") stored.min_score = readNumber<double>(value);
    if (key == "min-overlap") stored.min_overlap = readNumber<double>(value);
  }
  take(stored, config);
  config = std::move(stored);
}

}  // namespace mpm::monitor
