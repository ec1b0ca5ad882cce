// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/atomic_file.h"
#include "base/class_json.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"

namespace mpm {

bool ModelInfo::can(Task wanted) const {
  const bool one_map = head == HeadKind::kOther && task == wanted && outputs.size() == 1;
  switch (wanted) {
    case Task::kSemantic:
      return hasPixelClasses() || head == HeadKind::kMaskQueries || one_map;
    case Task::kDepth:
      return one_map;
    case Task::kPanoptic:
      return head == HeadKind::kMaskQueries;
    case Task::kInstance:  // box queries have boxes and scores, and the third output are masks
      return head == HeadKind::kMaskQueries || (head == HeadKind::kBoxQueries && outputs.size() == 3);
    case Task::kBoxes:
      return head == HeadKind::kBoxQueries;
  }
  return false;
}

namespace onnx_graph {
namespace {

std::array<float, 3> three(const JsonValue& value, bool positive) {
  constexpr double kMost = 1e6;
  const double least = positive ? 1 / kMost : -kMost;
  const Json& list = value.json();
  const auto fits = [least](const Json& number) {
    return number.is_number() && number.get<double>() >= least && number.get<double>() <= kMost;
  };
  if (!list.is_array() || list.size() != 3 || !std::ranges::all_of(list, fits))
    value.fail("three numbers from " + numberText(least) + " to " + numberText(kMost));
  return list.get<std::array<float, 3>>();
}

// "taught": {"cross_validation": {"confusion": [[..]..]}}, as `mpm teach` writes it; null where nothing was tested.
void readVerdict(const JsonValue& taught, ModelFacts& facts) {
  const auto validation = taught.find("cross_validation");
  if (!validation || validation->json().is_null()) return;
  const JsonValue confusion = validation->at("confusion");
  const auto rows = confusion.list(1, 256);
  for (const JsonValue& row : rows) {
    facts.cross_validation.emplace_back();
    for (const JsonValue& count : row.list(rows.size(), rows.size()))
      facts.cross_validation.back().push_back(count.count());
  }
}

void readCommon(const JsonValue& json, ModelFacts& facts) {
  if (const auto name = json.find("name")) facts.name = name->text();
  if (const auto mean = json.find("mean")) facts.mean = three(*mean, false);
  if (const auto std = json.find("std")) facts.deviation = three(*std, true);
  if (json.has("mean") != json.has("std")) {
    throw Error(json.place() + " has " + (json.has("mean") ? "\"mean\" without \"std\"" : "\"std\" without \"mean\"") +
                ": give both or none of them");
  }
  facts.assumed = !json.has("mean");
  if (const auto ignore = json.find("ignore")) facts.ignore = ignore->integer(0, 255);
  if (const auto task = json.find("task")) facts.task = task->parsed(parseTask);
  if (const auto depth = json.find("depth")) facts.depth = depth->parsed(parseDepthUnit);
  if (const auto refine = json.find("refine")) facts.refine = refine->parsed(parseRefine);
  if (const auto classes = json.find("classes")) facts.classes = classesFromJson(*classes);
  if (const auto taught = json.find("taught")) readVerdict(*taught, facts);
}

void readChannels(const JsonValue& json, ModelFacts& facts) {
  const auto channels = json.find("channels");
  if (!channels) return;
  if (channels->json() != "RGB" && channels->json() != "BGR") channels->fail("\"RGB\" or \"BGR\"");
  facts.channels = parseChannelOrder(channels->text());
}

constexpr int kMax = 1 << 30;

}  // namespace

FactsFile readFacts(const std::filesystem::path& onnx_path) {
  const std::filesystem::path path = factsFile(onnx_path.string());
  std::error_code status;
  if (std::filesystem::exists(path, status)) return factsFrom(readJsonFile(path.string()), path);
  FactsFile file;
  file.facts.name = path.stem().string();
  return file;
}

FactsFile factsFrom(const JsonValue& json, const std::filesystem::path& path) {
  FactsFile file;
  file.facts.name = path.stem().string();
  readCommon(json, file.facts);
  if (const auto input = json.find("input")) {
    readChannels(*input, file.facts);
    constexpr int kMaxSide = 1 << 20;
    if (const auto height = input->find("height")) file.input.height = height->integer(0, kMaxSide);
    if (const auto width = input->find("width")) file.input.width = width->integer(0, kMaxSide);
  }
  if (const auto reduce = json.find("reduce")) file.reduce = reduce->parsed(parseReduction);
  if (const auto id = json.find("onnx_id")) file.onnx_id = id->text();
  return file;
}

void requireClasses(const ModelFacts& facts, int classes) {
  const auto require = [&](const char* what, std::size_t count) {
    if (count == 0 || static_cast<int>(count) == classes) return;
    throw Error(std::string("its JSON ") + what + " " + std::to_string(count) + " classes, the graph has " +
                std::to_string(classes));
  };
  require("names", facts.classes.size());
  require("has a cross-validation of", facts.cross_validation.size());
}

void requireTask(const ModelInfo& info) {
  if (!info.task || info.can(*info.task)) return;
  const std::string says = "its JSON says task '" + mpm::toString(*info.task) + "', ";
  ModelInfo alone = info;
  alone.outputs.resize(1);
  if (alone.can(*info.task)) {
    std::string names;
    for (const std::string& name : info.outputs) names += (names.empty() ? "'" : ", '") + name + "'";
    throw Error(says + "but the graph has " + std::to_string(info.outputs.size()) + " outputs (" + names +
                "), and the map of this task must be the only one");
  }
  throw Error(says + "which the head '" + mpm::toString(info.head) + "' does not do");
}

std::string toJson(const ModelInfo& info) {
  Json json = {{"name", info.facts.name},
               {"channels", toString(info.facts.channels)},
               {"mean", info.facts.mean},
               {"std", info.facts.deviation},
               {"classes", mpm::toJson(info.facts.classes)},
               {"ignore", info.facts.ignore},
               {"head", toString(info.head)},
               {"class_count", info.classes},
               {"reduce", toString(info.reduction)},
               {"opset", info.opset},
               {"parameters", info.parameters},
               {"outputs", info.outputs}};
  if (info.facts.assumed) json["assumed"] = true;
  if (info.task) json["task"] = toString(*info.task);
  if (info.facts.refine != Refine::kNone) json["refine"] = toString(info.facts.refine);
  if (info.task == Task::kDepth) json["depth"] = toString(info.facts.depth);
  if (const auto& counts = info.facts.cross_validation; !counts.empty())
    json["taught"]["cross_validation"]["confusion"] = counts;
  return toLine(json);
}

ModelInfo fromJson(const std::string& text) {
  const JsonValue json(text, "metadata 'mpm.info'");
  ModelInfo info;
  info.converted = true;
  readCommon(json, info.facts);
  readChannels(json, info.facts);
  if (const auto assumed = json.find("assumed")) info.facts.assumed = assumed->flag();
  if (const auto classes = json.find("class_count")) info.classes = classes->integer(0, kMax);
  if (const auto opset = json.find("opset")) info.opset = opset->integer(0, kMax);
  info.head = json.at("head").parsed(parseHeadKind);
  info.reduction = json.at("reduce").parsed(parseReduction);
  info.task = info.facts.task;
  if (const auto parameters = json.find("parameters")) info.parameters = parameters->count();
  for (const JsonValue& name : json.at("outputs").list()) info.outputs.push_back(name.text());
  return info;
}

Json factsJson(const ModelFacts& facts, Size2 input) {
  Json json;
  json["name"] = facts.name;
  json["input"] = {{"height", input.height}, {"width", input.width}, {"channels", toString(facts.channels)}};
  if (!facts.assumed) {
    json["mean"] = facts.mean;
    json["std"] = facts.deviation;
  }
  json["classes"] = mpm::toJson(facts.classes);
  json["ignore"] = facts.ignore;
  return json;
}

void writeModel(const std::string& path, const std::string& onnx, Json json) {
  const std::string id = digestText(hashBytes(json.dump(), hashBytes(onnx)));
  json["onnx_id"] = id;
  // A new JSON without its model does no harm.
  writeFilesAtomically({{factsFile(path), json.dump(2) + "\n"}, {path, withMetadata(onnx, kIdKey, id)}});
}

}  // namespace onnx_graph

std::string factsFile(const std::string& onnx_path) {
  return std::filesystem::path(onnx_path).replace_extension(".json").string();
}

}  // namespace mpm
