// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/damage.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "monitor/store/schema.h"

namespace mpm::monitor {
namespace {

namespace fs = std::filesystem;

// The log first: a power cut in between leaves an older state of the database, which opens; the other way round
// SQLite would delete the log that has no database.
constexpr std::array kEndings = {"-wal", "-shm", ""};
constexpr std::array kLogs = {"-wal", "-journal"};

// The first bytes of a database: https://www.sqlite.org/fileformat.html.
class Header {
 public:
  explicit Header(const std::string& database) {
    std::ifstream(database, std::ios::binary).read(reinterpret_cast<char*>(bytes_.data()), bytes_.size());
  }
  std::int64_t number(std::size_t at, std::size_t size) const {
    std::int64_t value = 0;
    for (std::size_t i = at; i < at + size; ++i) value = value << 8 | bytes_[i];
    return value;
  }

 private:
  std::array<unsigned char, 100> bytes_{};
};

}  // namespace

bool isDamage(int code) { return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB; }

bool passesByItself(int code) {
  constexpr std::array kStay = {SQLITE_ERROR,    SQLITE_CORRUPT, SQLITE_TOOBIG, SQLITE_CONSTRAINT,
                                SQLITE_MISMATCH, SQLITE_MISUSE,  SQLITE_RANGE,  SQLITE_NOTADB};
  return std::ranges::find(kStay, code & 0xff) == kStay.end();
}

bool isOurs(const std::string& database) { return Header(database).number(68, 4) == kApplicationId; }

bool isCutOff(const std::string& database) {
  std::error_code error;
  const auto hasLog = [&] {  // which its owner may move into the file at this moment
    return std::ranges::any_of(
        kLogs, [&](const char* ending) { return fs::file_size(database + ending, error) > 0 && !error; });
  };
  if (hasLog()) return false;
  const Header header(database);
  const std::int64_t page = header.number(16, 2), pages = header.number(28, 4);
  const bool counted = header.number(24, 4) == header.number(92, 4);
  const std::uintmax_t size = fs::file_size(database, error);
  return counted && !error && size < static_cast<std::uintmax_t>(pages * (page == 1 ? 65536 : page)) && !hasLog();
}

std::string setAside(const std::string& database, UnixMs now) {
  const fs::path file = fs::canonical(database);  // not the link to it
  const std::string first = file.string() + ".damaged-" + fileTime(now);
  std::string name = first;
  const auto anyIsThere = [&] {
    return std::ranges::any_of(kEndings, [&](const char* ending) { return fs::exists(name + ending); });
  };
  for (int number = 2; anyIsThere(); ++number) name = first + "." + std::to_string(number);
  for (const char* ending : kEndings) {
    if (*ending != '\0' && !fs::exists(file.string() + ending)) continue;
    fs::rename(file.string() + ending, name + ending);
  }
  return name;
}

}  // namespace mpm::monitor
