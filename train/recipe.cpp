// SPDX-License-Identifier: Apache-2.0
#include "recipe.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/class_json.h"
#include "base/size_text.h"
#include "mpm/error.hpp"
#include "vision/labels/class_list.h"

namespace mpm::train {
namespace {

template <class T>
void put(Json& json, const char* name, const T& value) {
  json[name] = value;
}
void put(Json& json, const char* name, const Size2& value) {
  json[name] = {{"height", value.height}, {"width", value.width}};
}

constexpr int kMost = 1 << 30;

void get(const JsonValue& json, std::string& value) { value = json.text(); }
void get(const JsonValue& json, int& value) { value = json.integer(-kMost, kMost); }
void get(const JsonValue& json, std::uint64_t& value) {
  if (!json.json().is_number_unsigned()) json.fail("a whole number that is not negative");
  value = json.json().get<std::uint64_t>();
}
void get(const JsonValue& json, double& value) { value = json.number(); }
void get(const JsonValue& json, Size2& value) {
  value = {json.at("height").integer(1, kMost), json.at("width").integer(1, kMost)};
}

void require(bool holds, const std::string& message) {
  if (!holds) throw Error(message);
}

}  // namespace

void Recipe::validate() const {
  require(dim >= 0 && blocks >= 0, "--dim and --blocks must not be negative");
  require(steps >= 1 || (steps == 0 && !init.empty()),
          "--steps must be at least 1, or 0 to write the weights of --init");
  startingParts();
  require(batch >= 1, "--batch must be at least 1");
  require(lr > 0, "--lr must be positive");
  require(warmup >= 0 && final_share >= 0 && final_share <= 1,
          "--warmup and --final-lr must not be negative, --final-lr not above 1");
  require(weight_decay >= 0 && clip >= 0, "--weight-decay and --clip must not be negative");
  require(label_smoothing >= 0 && label_smoothing < 1, "--label-smoothing must be at least 0 and below 1");
  require(drop_path >= 0 && drop_path < 1, "--drop-path must be at least 0 and below 1");
  require(average >= 0 && average < 1, "--average must be at least 0 and below 1");
  require(class_balance >= 0 && class_balance <= 1, "--class-balance must be between 0 and 1");
  require(precision == "auto" || precision == "fp32" || precision == "bf16",
          "--precision is '" + precision + "'; it can be fp32, bf16 or auto");
  require(label_stride == 1 || label_stride == 2 || label_stride == 4, "--label-stride must be 1, 2 or 4");
  require(optimizer == "adamw" || optimizer == "muon", "--optimizer is '" + optimizer + "'; it can be adamw or muon");
  require(positions == "absolute" || positions == "rotary",
          "--positions is '" + positions + "'; it can be absolute or rotary");
  require(ignore >= 0 && ignore <= 255, "--ignore must be between 0 and 255");
  require(scene.samples_per_street >= 1 && scene.windows_per_view >= 1 && scene.held_out_streets >= 1 &&
              scene.held_out_per_street >= 1,
          "--per-street, --per-view, --eval-streets and --eval-hours must be at least 1");
  require(scene.varied >= 0 && scene.varied <= 1, "--varied must be between 0 and 1");
  require(!data.empty() || (validation.empty() && classes.empty()), "--validation and --classes belong to --data");
  augmentation.validate();
  networkConfig(2).validate();
}

NetworkConfig Recipe::networkConfig(int class_count) const {
  NetworkConfig config = train::networkConfig(network);
  if (dim > 0) config.dim = dim;
  if (blocks > 0) config.blocks = blocks;
  config.positions = positions == "rotary" ? Positions::kRotary : Positions::kAbsolute;
  config.input = size;
  config.classes = class_count;
  return config;
}

std::vector<Recipe::StartingPart> Recipe::startingParts() const {
  std::vector<StartingPart> parts;
  double sum = 0;
  for (std::size_t begin = 0; begin <= init.size();) {
    const std::size_t end = std::min(init.find(',', begin), init.size()), colon = init.rfind(':', end);
    const char *first = init.data() + colon + 1, *last = init.data() + end;
    StartingPart part;
    if (colon == std::string::npos || colon < begin || std::from_chars(first, last, part.share).ptr != last ||
        first == last)
      return {{init}};  // the name of one file
    part.path = init.substr(begin, colon - begin);
    sum += part.share;
    parts.push_back(std::move(part));
    begin = end + 1;
  }
  require(std::abs(sum - 1) < 1e-3, "the shares of --init '" + init + "' must sum to 1");
  return parts;
}

Json toJson(const Recipe& recipe) {
  Json json;
  Recipe copy = recipe;  // the list of fields is written once, for readers and writers
  visit(copy, [&](const char*, const char* name, const auto& value, const char*) { put(json, name, value); });
  if (!recipe.classes.empty()) json["classes"] = mpm::toJson(recipe.classes);
  return json;
}

Recipe recipeFromJson(const JsonValue& json) {
  Recipe recipe;
  visit(recipe, [&](const char*, const char* name, auto& value, const char*) {
    if (const auto found = json.find(name)) get(*found, value);
  });
  if (const auto classes = json.find("classes")) recipe.classes = classesFromJson(*classes);
  return recipe;
}

std::vector<ClassInfo> readClasses(const std::string& path) {
  const std::vector<ClassInfo> classes = vision::readClassList(path).classes;
  if (classes.size() < 2) throw Error("'" + path + "' names fewer than two classes");
  return classes;
}

}  // namespace mpm::train
