// SPDX-License-Identifier: Apache-2.0
#include "cli/combined_evaluation.h"

#include <filesystem>
#include <map>

#include "base/atomic_file.h"
#include "cli/shard.h"
#include "mpm/error.hpp"
#include "program/terminal/output.h"

namespace mpm::cli {
namespace {

// A result of --json, and what its scores are of.
struct Part {
  std::string path;
  Json json, settings;
  std::vector<std::string> names;
};

Part readPart(const std::string& path) {
  Part part{path, Json::parse(readFile(path), nullptr, false), {}, {}};
  if (!part.json.is_object() || !part.json.contains("confusion") || !part.json.contains("shard"))
    throw Error("'" + path + "' is not a result of 'mpm eval --json'");
  for (const auto& [name, iou] : part.json["iou"].items()) part.names.push_back(name);
  for (const auto& [key, value] : part.json.items()) {
    if (key == "images") break;  // from here on it is the scores
    part.settings[key] = value;
  }
  // Every machine has the model somewhere else.
  part.settings["model"] = std::filesystem::path(part.settings["model"].get<std::string>()).filename().string();
  return part;
}

// Throws mpm::Error when the parts are not all shards of one work.
void requireAllShards(const std::vector<Part>& parts) {
  std::map<std::string, std::string> file_of_shard;
  int of = 0;
  for (const Part& part : parts) {
    const Json& shard = part.json["shard"];
    if (shard.is_null()) continue;
    const auto [other, fresh] = file_of_shard.emplace(shard.get<std::string>(), part.path);
    if (!fresh) throw Error("'" + other->second + "' and '" + part.path + "' are both of shard " + other->first);
    const int shards = parseShard(other->first).of;
    if (of != 0 && shards != of)
      throw Error("'" + part.path + "' is of shard " + other->first + ", others are of " + std::to_string(of));
    of = shards;
  }
  for (int number = 1; number <= of; ++number)
    if (const std::string text = Shard{number, of}.text(); !file_of_shard.contains(text))
      throw Error("shard " + text + " is missing");
}

}  // namespace

CombinedEvaluation combineEvaluations(const std::vector<std::string>& files) {
  std::vector<Part> parts;
  for (const std::string& file : files) parts.push_back(readPart(file));
  const Part& first = parts.front();
  for (const Part& part : parts) {
    for (const auto& [key, value] : first.settings.items()) {
      const Json other = part.settings.value(key, Json());
      if (key != "shard" && other != value)
        throw Error("'" + part.path + "' and '" + first.path + "' differ in '" + key + "': " + toLine(other) + " and " +
                    toLine(value));
    }
    if (part.names != first.names) throw Error("'" + part.path + "' and '" + first.path + "' are of other classes");
  }
  requireAllShards(parts);
  const Scores nothing(static_cast<int>(first.names.size()), -1);
  CombinedEvaluation combined{first.settings, first.names, {nothing, nothing, nothing}};
  combined.settings["shard"] = nullptr;
  for (const Part& part : parts) {
    try {
      combined.sum.all.add(Scores(part.json, first.names));
      if (part.json.contains("day")) combined.sum.day.add(Scores(part.json["day"], first.names));
      if (part.json.contains("night")) combined.sum.night.add(Scores(part.json["night"], first.names));
    } catch (const Json::exception& error) {
      throw Error("'" + part.path + "' is damaged: " + error.what());
    }
  }
  return combined;
}

}  // namespace mpm::cli
