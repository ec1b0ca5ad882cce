// SPDX-License-Identifier: Apache-2.0
// The one reader for JSON from outside. Nothing of nlohmann's errors leaves it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm {

using Json = nlohmann::ordered_json;

/// The largest count, and the largest size of one, that every reader of JSON reads as the same number.
inline constexpr std::int64_t kMaxCount = std::int64_t{1} << 53;

/// A value of JSON that somebody else may have written. What is read as something that it is not throws mpm::Error in
/// one line: the file, the place in it, what is there and what is expected. Cheap to copy; keeps its file alive.
class JsonValue {
 public:
  /// Parses text. `what` names it in errors. Throws mpm::Error for what is not JSON, is nested deeper than 16 or has
  /// an object of over 10,000 keys. A text value of over 64 KiB is not kept (LabelMe's "imageData"): text() throws.
  JsonValue(std::string text, std::string what);

  /// As nlohmann sees it.
  const Json& json() const { return *value_; }

  /// Whether this is an object that has the key.
  bool has(const std::string& key) const { return value_->contains(key); }
  /// The value of a key; nullopt: there is none. Throws unless this is an object.
  std::optional<JsonValue> find(const std::string& key) const;
  /// The value of a key that must be there.
  JsonValue at(const std::string& key) const;
  /// The elements of a list.
  std::vector<JsonValue> list(std::size_t least = 0, std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  std::string text() const;
  bool flag() const;
  /// A whole number, written as one.
  std::int64_t whole(std::int64_t least, std::int64_t most) const;
  int integer(int least, int most) const { return static_cast<int>(whole(least, most)); }
  std::int64_t count() const { return whole(0, kMaxCount); }
  double number(double least = std::numeric_limits<double>::lowest(),
                double most = std::numeric_limits<double>::max()) const;
  /// Returns read(text). Its mpm::Error gets the place.
  template <class Read>
  auto parsed(Read&& read) const {
    return named([&] { return read(text()); });
  }
  /// Does the work on this value. Its mpm::Error gets the place.
  template <class Work>
  auto named(Work&& work) const {
    try {
      return work();
    } catch (const Error& error) {
      const std::string why = error.what();
      throw Error(why.starts_with(document_->what) ? why : place() + ": " + visibleText(why, 1000));
    }
  }

  /// "'m.json': classes[2].color".
  std::string place() const;
  [[noreturn]] void fail(const std::string& expected) const;

 private:
  struct Document {
    std::string what;
    Json root;
  };
  JsonValue(std::shared_ptr<const Document> document, const Json& value)
      : document_(std::move(document)), value_(&value) {}

  std::shared_ptr<const Document> document_;
  const Json* value_ = nullptr;
};

/// Makes an object of many keys: nlohmann looks through all that are there for each new one.
class JsonObject {
 public:
  /// Of equal keys the last counts.
  void set(const std::string& key, Json value) {
    const auto [at, is_new] = places_.try_emplace(key, object_.size());
    if (is_new)
      object_.emplace_back(key, std::move(value));
    else
      (object_.begin() + static_cast<std::ptrdiff_t>(at->second))->second = std::move(value);
  }
  Json take() { return Json(std::move(object_)); }

 private:
  Json::object_t object_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// One line, without its end. Text that is not UTF-8 is written as utf8Text() has it.
std::string toLine(const Json& json);
/// The same on several lines.
std::string toLines(const Json& json);

/// The value in a regular file of at most `most` bytes. Throws mpm::Error naming the file.
JsonValue readJsonFile(const std::string& path, std::uintmax_t most = 64U << 20);

}  // namespace mpm
