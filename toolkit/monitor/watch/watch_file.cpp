// SPDX-License-Identifier: Apache-2.0
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/watch/camera_config.h"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1U << 20;
constexpr std::size_t kMaxText = 8192;  // bytes of one text; a path has at most 4096
constexpr char kListed[] = "; 'mpm monitor --print-watch' lists all keys";

std::string lineOf(const std::string& file, const toml::source_region& source) {
  return file + ", line " + std::to_string(source.begin.line);
}

// The first byte behind the text, a string of TOML, that begins at `open`. One that is never closed ends with its line,
// where the parser stops.
std::size_t endOfString(std::string_view text, std::size_t open) {
  const char quote = text[open];
  const std::string three(3, quote);
  const bool lines = text.substr(open).starts_with(three);
  for (std::size_t at = open + (lines ? 3 : 1); at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"')
      ++at;
    else if (lines && text.substr(at).starts_with(three))
      return at + 3;
    else if (!lines && (text[at] == quote || text[at] == '\n'))
      return at + 1;
  }
  return text.size();
}

// Refuses a text before toml++ reads it: the parser and the tables that it makes recurse once for each part of a dotted
// key, so a line of 100,000 dots would overflow the stack.
void requireShallow(std::string_view text, const std::string& file) {
  constexpr int kDeepest = 8;
  int open = 0, dots = 0;  // brackets, and dots of this key or number
  for (std::size_t at = 0; at < text.size();) {
    const char mark = text[at];
    if (mark == '"' || mark == '\'') {
      at = endOfString(text, at);
      continue;
    }
    if (mark == '#') {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    ++at;
    if (mark == '[' || mark == '{')
      ++open;
    else if (mark == ']' || mark == '}')
      open = std::max(open - 1, 0);
    else if (mark == '\n' || mark == '=' || mark == ',')
      dots = 0;
    else if (mark == '.')
      ++dots;
    if (open > kDeepest || dots > kDeepest) {
      throw Error(file + ", line " + std::to_string(1 + std::count(text.begin(), text.begin() + at, '\n')) +
                  ": nested too deep for a watch file" + kListed);
    }
  }
}

template <typename T>
T valueOf(const toml::node& node, const char* expected) {
  const auto value = node.value_exact<T>();
  if (!value) throw Error(std::string("expected ") + expected);
  return *value;
}

// Reads the value of one field into a table of a file that is in `folder`.
template <typename Table>
struct Taking {
  const TableField<Table>& field;
  const toml::node& node;
  const std::string& folder;
  Table& table;

  void operator()(std::string Table::*member) const { table.*member = textOf(node); }

  void operator()(bool Table::*member) const { table.*member = valueOf<bool>(node, "true or false"); }

  template <typename Number>
  void operator()(std::optional<Number> Table::*member) const {
    const auto number = node.is_number() ? node.value<double>() : std::nullopt;
    if (!number) throw Error("expected a number");
    field.validate(*number);
    table.*member = static_cast<Number>(*number);
  }

  void operator()(std::vector<std::string> Table::*member) const {
    const toml::array* const all = node.as_array();
    if (!all) throw Error("expected a list of texts: [\"...\", \"...\"]");
    for (const toml::node& one : *all) (table.*member).push_back(textOf(one));
  }

  std::string textOf(const toml::node& one) const {
    std::string text = valueOf<std::string>(one, "a text in quotes");
    if (text.empty() || text.find('\0') != std::string::npos) throw Error("expected a text, here is none");
    if (text.size() > kMaxText) throw Error("a text of over " + std::to_string(kMaxText) + " bytes");
    if (field.key == "source") return placed(text, isFile(text));
    const std::string list = "list:";
    if (field.path == FieldPath::kList && text.starts_with(list)) text = list + placed(text.substr(5), true);
    field.validate(text);
    const bool none = (field.key == "regions" || field.key == "hide") && text == "none";
    return placed(text, field.path == FieldPath::kFile && !none);
  }

  std::string placed(const std::string& text, bool path) const {
    return path && fs::path(text).is_relative() ? (fs::path(folder) / text).lexically_normal().string() : text;
  }

  bool isFile(const std::string& text) const {
    const vision::SourceSpec source = vision::parseSourceSpec(placed(text, true));
    return text.find(':') == std::string::npos && (source.isImages() || source.kind == vision::SourceKind::kVideo);
  }
};

// Returns where each key stands.
template <typename Table>
std::map<std::string, std::string> readTable(const toml::table& keys, const std::string& file,
                                             const std::string& folder, Table& table) {
  std::map<std::string, std::string> places;
  for (const auto& [key, node] : keys) {
    const std::string name(key.str());
    const std::string place = lineOf(file, key.source()) + ": ";
    const auto& fields = fieldsOf(table);
    const auto field = std::ranges::find_if(fields, [&](const auto& one) { return one.key == name; });
    if (field == fields.end()) throw Error(place + "there is no key '" + visibleText(name) + "'" + kListed);
    places[name] = place + name;
    try {
      std::visit(Taking<Table>{*field, node, folder, table}, field->member);
    } catch (const Error& error) {
      throw Error(place + name + ": " + error.what());
    }
  }
  return places;
}

// Calls `work` with each table that is about all cameras.
template <typename Tables, typename Work>
void eachTable(Tables& tables, Work work) {
  work(tables.mqtt);
  work(tables.webhook);
  work(tables.page);
}

const std::string& checked(const std::string& text) {
  try {
    (void)Json(text).dump();
  } catch (const Json::exception&) {
    throw Error("'" + visibleText(text) + "' is not UTF-8, as a watch file is: rename it");
  }
  return text;
}

// Writes a field that says something. Each call returns whether it does.
template <typename Table>
struct Printing {
  const TableField<Table>& field;
  const Table& table;
  std::ostream& out;

  bool operator()(std::string Table::*member) const { return print(!(table.*member).empty(), checked(table.*member)); }
  bool operator()(bool Table::*member) const { return print(table.*member, true); }
  template <typename Number>
  bool operator()(std::optional<Number> Table::*member) const {
    const auto& number = table.*member;
    if (!number) return false;
    out << field.key << " = " << numberText(*number) << '\n';
    return true;
  }
  bool operator()(std::vector<std::string> Table::*member) const {
    toml::array all;
    for (const std::string& text : table.*member) all.push_back(checked(text));
    return print(!all.empty(), all);
  }
  template <typename Value>
  bool print(bool says, const Value& value) const {
    toml::table one;
    one.insert(field.key, value);
    if (says) out << one << '\n';
    return says;
  }
};

// A table that says nothing is a comment as a whole.
template <typename Table>
void print(std::ostream& out, const std::string& heading, const Table& table, bool explained) {
  std::ostringstream keys;
  bool said = false;
  for (const auto& field : fieldsOf(table)) {
    const bool says = std::visit(Printing<Table>{field, table, keys}, field.member);
    said = said || says;
    if (says || !explained) continue;
    std::istringstream words(field.help());
    keys << "# " << field.key << " = " << field.unit;
    for (std::string line; std::getline(words, line);) keys << "\n#   " << line;
    keys << '\n';
  }
  const bool camera = std::is_same_v<Table, CameraConfig>;
  if (said || explained || camera) out << (said || camera ? "" : "# ") << heading << '\n' << keys.str();
}

}  // namespace

WatchFile readWatchFile(const std::string& path) {
  const std::string file = "'" + visibleText(path, 1000) + "'";
  const std::string text = readFile(path, kMostBytes);
  requireShallow(text, file);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    throw Error(lineOf(file, parsed.error().source()) + ": " + visibleText(parsed.error().description(), 300));
  const std::string folder = fs::absolute(path).parent_path().string();
  WatchFile read;
  std::set<std::string> names;
  for (const auto& [key, node] : parsed.table()) {
    const toml::array* const cameras = node.as_array();
    bool known = key.str() == "camera" && cameras && cameras->is_array_of_tables();
    if (known) {
      for (const toml::node& table : *cameras) {
        WrittenCamera camera;
        camera.places = readTable(*table.as_table(), file, folder, camera.config);
        const std::string name = cameraName(camera.config);
        if (!names.insert(name).second) {
          throw Error(lineOf(file, table.source()) + ": a camera above is named '" + name +
                      "' too: give each a 'name' of its own");
        }
        read.cameras.push_back(std::move(camera));
      }
    }
    eachTable(read.tables, [&, &key = key, &node = node](auto& table) {
      if (key.str() != fieldsOf(table).front().group || !node.is_table()) return;
      const auto places = readTable(*node.as_table(), file, folder, table);
      if constexpr (std::is_same_v<std::decay_t<decltype(table)>, Mqtt>) {
        if (!table.password_file.empty() && table.user.empty())  // MQTT has no password without a user
          throw Error(places.at("password-file") + ": needs 'user', whose password it is");
      }
      known = true;
    });
    if (!known) {
      throw Error(lineOf(file, key.source()) + ": '" + visibleText(key.str()) +
                  "' stands outside of a camera: write [[camera]] above its keys" + kListed);
    }
  }
  if (read.cameras.empty()) throw Error(file + " has no camera: begin it with the line [[camera]]" + kListed);
  return read;
}

std::string watchText(const std::vector<CameraConfig>& cameras, const FileTables& tables, bool explained) {
  std::ostringstream out;
  for (const CameraConfig& camera : cameras) print(out, "[[camera]]", camera, explained);
  eachTable(tables, [&](const auto& table) {
    print(out, std::string("[") + fieldsOf(table).front().group + "]", table, explained);
  });
  return out.str();
}

}  // namespace mpm::monitor
