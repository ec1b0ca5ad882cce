// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "mpm/error.hpp"
#include "onnx/model/model_info_json.h"

namespace mpm::onnx_graph {
namespace {

using Json = nlohmann::json;

/// Reads JSON with limited nesting: recursive functions such as dump() would exhaust the stack on a malicious file.
/// `what` names the text in errors.
template <class Input>
Json parse(Input&& input, const std::string& what) {
  constexpr int kDeepest = 16;
  const auto shallow = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > kDeepest) throw Error(what + ": nested too deep");
    return true;
  };
  Json json = Json::parse(std::forward<Input>(input), shallow, false);
  if (json.is_discarded()) throw Error(what + ": not valid JSON");
  return json;
}

/// Reads fields and says which one is wrong.
class Fields {
 public:
  Fields(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) fail("an object", object);
  }

  const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  Fields child(const char* name, const Json& value) const { return {value, path_ + "." + name}; }

  void read(const char* name, std::string& value) const {
    if (const Json* found = find(name)) {
      if (!found->is_string()) fail(std::string("a text in '") + name + "'", *found);
      value = found->get<std::string>();
    }
  }
  /// Errors of `parse` name the field.
  template <class T>
  void read(const char* name, std::optional<T>& value, T (*parse)(const std::string&)) const {
    std::string text;
    read(name, text);
    try {
      if (!text.empty()) value = parse(text);
    } catch (const Error& error) {
      throw Error(path_ + ": '" + name + "': " + error.what());
    }
  }
  void read(const char* name, bool& value) const {
    if (const Json* found = find(name)) {
      if (!found->is_boolean()) fail(std::string("true or false in '") + name + "'", *found);
      value = found->get<bool>();
    }
  }
  void read(const char* name, int& value, int least, int most) const {
    if (const Json* found = find(name)) {
      const bool fits = found->is_number_integer() && *found >= least && *found <= most;
      if (!fits)
        fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " in '" + name + "'",
             *found);
      value = found->get<int>();
    }
  }
  void read(const char* name, std::array<float, 3>& value, bool positive) const {
    const Json* found = find(name);
    if (!found) return;
    const std::string expected = std::string("three ") + (positive ? "positive " : "") + "numbers in '" + name + "'";
    if (!found->is_array() || found->size() != 3) fail(expected, *found);
    for (std::size_t i = 0; i < 3; ++i) {
      const Json& number = (*found)[i];
      if (!number.is_number() || !std::isfinite(number.get<float>()) || (positive && !(number.get<float>() > 0)))
        fail(expected, *found);
      value[i] = number.get<float>();
    }
  }

  [[noreturn]] void fail(const std::string& expected, const Json& found) const {
    std::string text = found.dump(-1, ' ', true, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    throw Error(path_ + ": found " + text + ", expected " + expected);
  }

 private:
  const Json& object_;
  std::string path_;
};

std::array<std::uint8_t, 3> colour(const Fields& fields, const Json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  std::array<std::uint8_t, 3> rgb{};
  const bool shaped =
      text.size() == 7 && text[0] == '#' && text.find_first_not_of("0123456789abcdefABCDEF", 1) == std::string::npos;
  if (!shaped) fields.fail("a colour such as \"#8040ff\" in 'color'", value);
  for (std::size_t c = 0; c < 3; ++c)
    rgb[c] = static_cast<std::uint8_t>(std::stoi(text.substr(1 + 2 * c, 2), nullptr, 16));
  return rgb;
}

void readCommon(const Fields& fields, ModelFacts& facts) {
  fields.read("name", facts.name);
  fields.read("mean", facts.mean, false);
  fields.read("std", facts.std, true);
  fields.read("ignore", facts.ignore, 0, 255);
  fields.read("task", facts.task, parseTask);
  std::optional<DepthUnit> depth;
  fields.read("depth", depth, parseDepthUnit);
  facts.depth = depth.value_or(facts.depth);
  std::optional<Refine> refine;
  fields.read("refine", refine, parseRefine);
  facts.refine = refine.value_or(facts.refine);
  const Json* classes = fields.find("classes");
  if (!classes) return;
  if (!classes->is_array()) fields.fail("a list in 'classes'", *classes);
  for (const Json& entry : *classes) {
    const Fields one = fields.child("classes", entry);
    ClassInfo info;
    one.read("name", info.name);
    if (info.name.empty()) one.fail("a class with a name", entry);
    if (const Json* color = one.find("color")) info.rgb = colour(one, *color);
    one.read("thing", info.thing);
    facts.classes.push_back(std::move(info));
  }
}

void readChannels(const Fields& fields, ModelFacts& facts) {
  std::string text = toString(facts.channels);
  fields.read("channels", text);
  if (text != "RGB" && text != "BGR") fields.fail("\"RGB\" or \"BGR\" in 'channels'", text);
  facts.channels = parseChannelOrder(text);
}

std::string toString(const std::array<std::uint8_t, 3>& rgb) {
  char color[8];
  std::snprintf(color, sizeof color, "#%02x%02x%02x", rgb[0], rgb[1], rgb[2]);
  return color;
}

Size2 readSize(const Fields& fields, const char* name) {
  Size2 result;
  const Json* found = fields.find(name);
  if (!found) return result;
  const Fields sides = fields.child(name, *found);
  sides.read("height", result.height, 0, 1 << 20);
  sides.read("width", result.width, 0, 1 << 20);
  return result;
}

constexpr int kMax = 1 << 30;

}  // namespace

std::filesystem::path factsPath(std::filesystem::path onnx_path) { return onnx_path.replace_extension(".json"); }

FactsFile readFacts(const std::filesystem::path& onnx_path) {
  FactsFile file;
  const std::filesystem::path path = factsPath(onnx_path);
  file.facts.name = path.stem().string();
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) return file;
  std::ifstream stream(path);
  const Json json = parse(stream, path.string());
  const Fields fields(json, path.string());
  readCommon(fields, file.facts);
  if (const Json* input = fields.find("input")) {
    readChannels(fields.child("input", *input), file.facts);
    file.input = readSize(fields, "input");
  }
  fields.read("reduce", file.reduce, parseReduction);
  return file;
}

void requireClasses(const ModelFacts& facts, int classes) {
  if (facts.classes.empty() || static_cast<int>(facts.classes.size()) == classes) return;
  throw Error("its JSON names " + std::to_string(facts.classes.size()) + " classes, the graph has " +
              std::to_string(classes));
}

void requireTask(const ModelInfo& info) {
  if (!info.task) return;
  const bool other = info.head == HeadKind::kOther;
  const bool fits = *info.task == Task::kSemantic ? info.givesLabels()
                    : *info.task == Task::kDepth  ? other
                                                  : info.head == HeadKind::kMaskQueries;
  if (fits && (!other || info.outputs.size() == 1)) return;
  throw Error("its JSON says task '" + mpm::toString(*info.task) + "', which the head '" + mpm::toString(info.head) +
              "' does not do");
}

std::string toJson(const ModelInfo& info) {
  Json classes = Json::array();
  for (const ClassInfo& one : info.facts.classes) {
    Json& entry = classes.emplace_back(Json{{"name", one.name}});
    if (one.rgb) entry["color"] = toString(*one.rgb);
    if (!one.thing) entry["thing"] = false;
  }
  Json json = {{"name", info.facts.name},
               {"channels", toString(info.facts.channels)},
               {"mean", info.facts.mean},
               {"std", info.facts.std},
               {"classes", classes},
               {"ignore", info.facts.ignore},
               {"head", toString(info.head)},
               {"class_count", info.classes},
               {"reduce", toString(info.reduction)},
               {"opset", info.opset},
               {"parameters", info.parameters},
               {"outputs", info.outputs}};
  if (info.task) json["task"] = toString(*info.task);
  if (info.facts.refine != Refine::kNone) json["refine"] = toString(info.facts.refine);
  if (info.task == Task::kDepth) json["depth"] = toString(info.facts.depth);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ModelInfo fromJson(const std::string& text) {
  const std::string what = "metadata 'mpm.info'";
  const Json json = parse(text, what);
  const Fields fields(json, what);
  ModelInfo info;
  info.converted = true;
  readCommon(fields, info.facts);
  readChannels(fields, info.facts);
  fields.read("class_count", info.classes, 0, kMax);
  fields.read("opset", info.opset, 0, kMax);
  std::string head, reduce;
  fields.read("head", head);
  fields.read("reduce", reduce);
  info.head = parseHeadKind(head);
  info.reduction = parseReduction(reduce);
  info.task = info.facts.task;
  const Json* parameters = fields.find("parameters");
  if (parameters && parameters->is_number_integer()) info.parameters = parameters->get<std::int64_t>();
  const Json* outputs = fields.find("outputs");
  if (!outputs || !outputs->is_array()) fields.fail("the list 'outputs'", json);
  for (const Json& name : *outputs) {
    if (!name.is_string()) fields.fail("names in 'outputs'", *outputs);
    info.outputs.push_back(name.get<std::string>());
  }
  return info;
}

}  // namespace mpm::onnx_graph
