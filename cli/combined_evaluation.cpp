// SPDX-License-Identifier: Apache-2.0
#include "cli/combined_evaluation.h"

#include <filesystem>
#include <map>
#include <set>

#include "base/json_file.h"
#include "base/visible_text.h"
#include "cli/shard.h"
#include "mpm/error.hpp"
#include "program/terminal/output.h"

namespace mpm::cli {

using namespace program;

namespace {

// A result of --json, and what its scores are of.
struct Part {
  std::string path;
  JsonValue json;
  Json settings;
  std::vector<std::string> names;
};

Part readPart(const std::string& path) {
  Part part{path, readJsonFile(path), {}, {}};
  for (const char* key : {"model", "shard", "images", "iou", "confusion"})
    if (!part.json.has(key)) throw Error("'" + path + "' is not a result of 'mpm eval --json'");
  const JsonValue iou = part.json.at("iou");
  if (!iou.json().is_object()) iou.fail("an object with the classes");
  for (const auto& [name, value] : iou.json().items()) part.names.push_back(name);
  static const std::set<std::string> scores = {"images",      "miou",      "pixel_accuracy", "iou",
                                               "tokens_mean", "tokens_sd", "ms_mean",        "confusion",
                                               "day",         "night",     "reuse"};
  for (const auto& [key, value] : part.json.json().items())
    if (!scores.contains(key)) part.settings[key] = value;
  // Every machine has the model somewhere else.
  part.settings["model"] = std::filesystem::path(part.json.at("model").text()).filename().string();
  return part;
}

// Throws mpm::Error when the parts are not all shards of one work.
void requireAllShards(const std::vector<Part>& parts) {
  std::map<std::string, std::string> file_of_shard;
  std::string whole;
  int of = 0;
  for (const Part& part : parts) {
    const JsonValue shard = part.json.at("shard");
    if (shard.json().is_null()) {
      whole = part.path;
      continue;
    }
    const auto [other, fresh] = file_of_shard.emplace(shard.text(), part.path);
    if (!fresh) throw Error("'" + other->second + "' and '" + part.path + "' are both of shard " + other->first);
    const int shards = shard.parsed(parseShard).of;
    if (of != 0 && shards != of)
      throw Error("'" + part.path + "' is of shard " + other->first + ", others are of " + std::to_string(of));
    of = shards;
  }
  if (of != 0 && !whole.empty())
    throw Error("'" + whole +
                "' is no shard, and others are: their images would count twice. Combine the shards first");
  for (int number = 1; number <= of; ++number)
    if (const std::string text = Shard{number, of}.text(); !file_of_shard.contains(text))
      throw Error("shard " + text + " is missing");
}

void requireOthers(const std::vector<Part>& parts) {
  std::map<std::string, std::string> file_of_result;
  for (const Part& part : parts)
    if (const auto [other, fresh] = file_of_result.emplace(toLine(part.json.json()), part.path); !fresh)
      throw Error("'" + other->second + "' and '" + part.path + "' are the same result: its images would count twice");
}

// Of the key, or of the whole file where there is none.
void add(evaluation::Scores& sum, const Part& part, const char* key) {
  const JsonValue scores = *key ? part.json.at(key) : part.json;
  part.json.named([&] { sum.add(evaluation::Scores(scores, part.names)); });
}

}  // namespace

CombinedEvaluation combineEvaluations(const std::vector<std::string>& files) {
  std::vector<Part> parts;
  for (const std::string& file : files) parts.push_back(readPart(file));
  const Part& first = parts.front();
  for (const Part& part : parts) {
    Json all = first.settings;
    all.update(part.settings);
    for (const auto& [key, value] : all.items()) {
      const Json other = part.settings.value(key, Json()), own = first.settings.value(key, Json());
      if (key != "shard" && other != own)
        throw Error("'" + part.path + "' and '" + first.path + "' differ in '" + visibleText(key) +
                    "': " + visibleText(toLine(other)) + " and " + visibleText(toLine(own)));
    }
    if (part.names != first.names) throw Error("'" + part.path + "' and '" + first.path + "' are of other classes");
  }
  requireAllShards(parts);
  requireOthers(parts);
  const evaluation::Scores nothing =
      first.json.named([&] { return evaluation::Scores(static_cast<int>(first.names.size()), -1); });
  CombinedEvaluation combined{first.settings, first.names, {nothing, nothing, nothing}};
  combined.settings["shard"] = nullptr;
  for (const Part& part : parts) {
    add(combined.sum.all, part, "");
    if (part.json.has("day")) add(combined.sum.day, part, "day");
    if (part.json.has("night")) add(combined.sum.night, part, "night");
  }
  return combined;
}

}  // namespace mpm::cli
