// SPDX-License-Identifier: Apache-2.0
#include "onnx/write_model.h"

#include <cinttypes>
#include <cstdio>

#include "base/atomic_file.h"
#include "base/class_json.h"
#include "base/hash.h"
#include "onnx/model/model_file.h"
#include "onnx/model/model_info_json.h"

namespace mpm::onnx_graph {

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
  char id[17];
  std::snprintf(id, sizeof id, "%016" PRIx64, hashBytes(json.dump(), hashBytes(onnx)));
  json["onnx_id"] = id;
  // A new JSON without its model does no harm.
  writeFilesAtomically({{factsPath(path).string(), json.dump(2) + "\n"}, {path, withMetadata(onnx, kIdKey, id)}});
}

}  // namespace mpm::onnx_graph
