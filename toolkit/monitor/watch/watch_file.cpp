// SPDX-License-Identifier: Apache-2.0
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <filesystem>
#include <sstream>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "monitor/watch/watch.h"
#include "vision/sources/source_spec.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1U << 20;
constexpr char kListed[] = "; 'mpm monitor --print-watch' lists all keys";

std::string lineOf(const std::string& file, const toml::source_region& source) {
  return file + ", line " + std::to_string(source.begin.line);
}

template <typename T>
T valueOf(const toml::node& node, const char* expected) {
  const auto value = node.value_exact<T>();
  if (!value) throw Error(std::string("expected ") + expected);
  return *value;
}

// Reads the value of one field into a watch whose file is in `folder`.
class Taking {
 public:
  Taking(const WatchField& field, const toml::node& node, const std::string& folder, Watch& watch)
      : field_(field), node_(node), folder_(folder), watch_(watch) {}

  void operator()(std::string Watch::*member) const { watch_.*member = textOf(node_); }

  void operator()(bool Watch::*member) const { watch_.*member = valueOf<bool>(node_, "true or false"); }

  void operator()(std::optional<double> Watch::*member) const {
    const auto number = node_.is_number() ? node_.value<double>() : std::nullopt;
    if (!number) throw Error("expected a number");
    field_.validate(*number);
    watch_.*member = number;
  }

  void operator()(std::vector<std::string> Watch::*member) const {
    const toml::array* const all = node_.as_array();
    if (!all) throw Error("expected a list of texts: [\"...\", \"...\"]");
    for (const toml::node& one : *all) (watch_.*member).push_back(textOf(one));
  }

 private:
  std::string textOf(const toml::node& node) const {
    std::string text = valueOf<std::string>(node, "a text in quotes");
    if (text.empty() || text.find('\0') != std::string::npos) throw Error("expected a text, here is none");
    if (field_.key == "source") return placed(text, isFile(text));
    const std::string list = "list:";
    if (field_.path == WatchField::Path::kList && text.starts_with(list)) text = list + placed(text.substr(5), true);
    field_.validate(text);
    return placed(text, field_.path == WatchField::Path::kFile && !(field_.key == "regions" && text == "none"));
  }

  std::string placed(const std::string& text, bool path) const {
    return path && fs::path(text).is_relative() ? (fs::path(folder_) / text).lexically_normal().string() : text;
  }

  bool isFile(const std::string& text) const {
    using enum vision::SourceKind;
    const auto kind = vision::parseSourceSpec(placed(text, true)).kind;
    return text.find(':') == std::string::npos &&
           (kind == kFolder || kind == kImage || kind == kVideo || kind == kGlob);
  }

  const WatchField& field_;
  const toml::node& node_;
  const std::string& folder_;
  Watch& watch_;
};

WrittenWatch readWatch(const toml::table& table, const std::string& file, const std::string& folder) {
  WrittenWatch written;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const std::string place = lineOf(file, key.source()) + ": ";
    const auto& fields = watchFields();
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const WatchField& one) { return one.key == name; });
    if (field == fields.end()) throw Error(place + "there is no key '" + visibleText(name) + "'" + kListed);
    written.places[name] = place + name;
    try {
      std::visit(Taking(*field, node, folder, written.watch), field->member);
    } catch (const Error& error) {
      throw Error(place + name + ": " + error.what());
    }
  }
  return written;
}

// A key and its value as TOML.
void print(std::ostream& out, const std::string& key, const toml::node& value) {
  toml::table one;
  one.insert(key, value);
  out << one << '\n';
}

const std::string& checked(const std::string& text) {
  try {
    (void)Json(text).dump();
  } catch (const Json::exception&) {
    throw Error("'" + visibleText(text) + "' is not UTF-8, as a watch file is: rename it");
  }
  return text;
}

struct Printing {
  const WatchField& field;
  const Watch& watch;
  std::ostream& out;
  // Whether the field says something.
  bool operator()(std::string Watch::*member) const {
    const std::string& text = checked(watch.*member);
    if (!text.empty()) print(out, field.key, toml::value<std::string>(text));
    return !text.empty();
  }
  bool operator()(bool Watch::*member) const {
    if (watch.*member) print(out, field.key, toml::value<bool>(true));
    return watch.*member;
  }
  bool operator()(std::optional<double> Watch::*member) const {
    const auto& number = watch.*member;
    if (!number) return false;
    out << field.key << " = " << numberText(*number) << '\n';
    return true;
  }
  bool operator()(std::vector<std::string> Watch::*member) const {
    toml::array all;
    for (const std::string& text : watch.*member) all.push_back(checked(text));
    if (!all.empty()) print(out, field.key, all);
    return !all.empty();
  }
};

}  // namespace

std::vector<WrittenWatch> readWatches(const std::string& path) {
  const std::string file = "'" + visibleText(path, 1000) + "'";
  const toml::parse_result parsed = toml::parse(readFile(path, kMostBytes));
  if (!parsed)
    throw Error(lineOf(file, parsed.error().source()) + ": " + visibleText(parsed.error().description(), 300));
  const std::string folder = fs::absolute(path).parent_path().string();
  std::vector<WrittenWatch> cameras;
  for (const auto& [key, node] : parsed.table()) {
    const toml::array* const tables = node.as_array();
    if (key.str() != "camera" || !tables || !tables->is_array_of_tables())
      throw Error(lineOf(file, key.source()) + ": '" + visibleText(key.str()) +
                  "' stands outside of a camera: write [[camera]] above its keys" + kListed);
    for (const toml::node& table : *tables) {
      WrittenWatch camera = readWatch(*table.as_table(), file, folder);
      const std::string name = cameraName(camera.watch);
      for (const WrittenWatch& other : cameras)
        if (cameraName(other.watch) == name)
          throw Error(lineOf(file, table.source()) + ": a camera above is named '" + name +
                      "' too: give each a 'name' of its own");
      cameras.push_back(std::move(camera));
    }
  }
  if (cameras.empty()) throw Error(file + " has no camera: begin it with the line [[camera]]" + kListed);
  return cameras;
}

std::string watchText(const Watch& watch, bool explained) {
  std::ostringstream out;
  out << "[[camera]]\n";
  for (const WatchField& field : watchFields()) {
    if (std::visit(Printing{field, watch, out}, field.member) || !explained) continue;
    std::istringstream words(field.help());
    out << "# " << field.key << " = " << field.unit;
    for (std::string line; std::getline(words, line);) out << "\n#   " << line;
    out << '\n';
  }
  return out.str();
}

}  // namespace mpm::monitor
