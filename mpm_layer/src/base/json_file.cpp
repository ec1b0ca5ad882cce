// SPDX-License-Identifier: Apache-2.0
#include "base/json_file.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/atomic_file.h"
#include "base/number_text.h"

namespace mpm {
namespace {

// Chooses the parts of a text that are parsed. Refuses a text that would take too long, and leaves out long strings:
// pictures in them cost more than all other work, and nobody reads them here. (The callbacks of nlohmann's parser take
// a time that grows with the square of a list of objects: 25 s for 100,000.)
std::string limited(std::string text, const std::string& what) {
  constexpr std::size_t kDeepest = 16, kLongText = 64U << 10;
  constexpr std::size_t kMaxKeys = 10000;  // nlohmann looks for a key in all keys before it
  std::vector<std::size_t> keys;           // of each object or list that is open
  std::string kept;
  std::size_t from = 0;  // of what is not in `kept` yet
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char mark = text[at];
    if (mark == '"') {
      const std::size_t open = at;
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
      if (at >= text.size() || at - open <= kLongText) continue;
      kept.append(text, from, open + 1 - from).append("\\u0000");
      from = at;
    } else if (mark == '{' || mark == '[') {
      if (keys.size() >= kDeepest) throw Error(what + " is nested too deep");
      keys.push_back(0);
    } else if (mark == '}' || mark == ']') {
      if (!keys.empty()) keys.pop_back();
    } else if (mark == ':' && !keys.empty() && ++keys.back() > kMaxKeys) {
      throw Error(what + " has an object of over " + std::to_string(kMaxKeys) + " keys");
    }
  }
  if (from == 0) return text;
  kept.append(text, from);
  return kept;
}

Json parse(const std::string& text, const std::string& what) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto at = text.begin() + (std::min(error.byte, text.size()));
    throw Error(what + " is not valid JSON: see line " + std::to_string(1 + std::count(text.begin(), at, '\n')));
  } catch (const Json::exception&) {
    throw Error(what + " is not valid JSON: it holds a number that is too large");
  }
}

// The way from `value` to the part of it with this address, as ".classes[2].color". False: it is not there.
bool wayTo(const Json& part, const Json& value, std::string& way) {
  if (&part == &value) return true;
  const std::size_t length = way.size();
  std::size_t index = 0;
  for (auto one = value.begin(); value.is_structured() && one != value.end(); ++one, ++index) {
    way += value.is_object() ? "." + visibleText(one.key()) : "[" + std::to_string(index) + "]";
    if (wayTo(part, *one, way)) return true;
    way.resize(length);
  }
  return false;
}

Json withUtf8(const Json& json) {
  if (json.is_string()) return utf8Text(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json copy = json.is_object() ? Json::object() : Json::array();
  for (const auto& [key, value] : json.items()) {
    if (json.is_object())
      copy[utf8Text(key)] = withUtf8(value);
    else
      copy.push_back(withUtf8(value));
  }
  return copy;
}

std::string dumped(const Json& json, int indent) {
  try {
    return json.dump(indent);
  } catch (const Json::type_error&) {  // some text is not UTF-8
    return withUtf8(json).dump(indent);
  }
}

}  // namespace

JsonValue::JsonValue(std::string text, std::string what) {
  Json root = parse(limited(std::move(text), what), what);
  document_ = std::make_shared<const Document>(Document{std::move(what), std::move(root)});
  value_ = &document_->root;
}

std::optional<JsonValue> JsonValue::find(const std::string& key) const {
  if (!value_->is_object()) fail("an object with \"" + key + "\"");
  const auto found = value_->find(key);
  return found == value_->end() ? std::nullopt : std::optional(JsonValue(document_, *found));
}

JsonValue JsonValue::at(const std::string& key) const {
  auto found = find(key);
  if (!found) fail("an object with \"" + key + "\"");
  return *std::move(found);
}

std::vector<JsonValue> JsonValue::list(std::size_t least, std::size_t most) const {
  if (!value_->is_array()) fail("a list");
  if (value_->size() < least || value_->size() > most) {
    fail("a list of " + std::to_string(least) +
         (most == least      ? ""
          : most > kMaxCount ? " or more"
                             : " to " + std::to_string(most)));
  }
  std::vector<JsonValue> values;
  values.reserve(value_->size());
  for (const Json& one : *value_) values.push_back({document_, one});
  return values;
}

std::string JsonValue::text() const {
  if (!value_->is_string()) fail("a text");
  std::string text = value_->get<std::string>();
  if (text.find('\0') != std::string::npos) throw Error(place() + " is a text of over 64 KiB, or with NUL");
  return text;
}

bool JsonValue::flag() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

std::int64_t JsonValue::whole(std::int64_t least, std::int64_t most) const {
  const bool beyond = value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (!value_->is_number_integer() || beyond || value_->get<std::int64_t>() < least ||
      value_->get<std::int64_t>() > most)
    fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  return value_->get<std::int64_t>();
}

double JsonValue::number(double least, double most) const {
  const double number = value_->is_number() ? value_->get<double>() : NAN;
  if (!(number >= least && number <= most)) {
    fail(most < std::numeric_limits<double>::max() ? "a number from " + numberText(least) + " to " + numberText(most)
         : least == 0                              ? "a number that is not negative"
                                                   : "a number");
  }
  return number;
}

std::string JsonValue::place() const {
  std::string way;
  wayTo(*value_, document_->root, way);
  return document_->what + (way.empty() ? "" : ": " + way.substr(way.starts_with('.') ? 1 : 0));
}

void JsonValue::fail(const std::string& expected) const {
  throw Error(place() + ": found " + visibleText(toLine(*value_)) + ", expected " + expected);
}

std::string toLine(const Json& json) { return dumped(json, -1); }

std::string toLines(const Json& json) { return dumped(json, 2); }

JsonValue readJsonFile(const std::string& path, std::uintmax_t most) {
  return {readFile(path, most), "'" + visibleText(path, 200) + "'"};
}

}  // namespace mpm
