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

}  // namespace

bool isDamage(int code) { return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB; }

bool passesByItself(int code) {
  constexpr std::array kStay = {SQLITE_ERROR,    SQLITE_CORRUPT, SQLITE_TOOBIG, SQLITE_CONSTRAINT,
                                SQLITE_MISMATCH, SQLITE_MISUSE,  SQLITE_RANGE,  SQLITE_NOTADB};
  return std::find(kStay.begin(), kStay.end(), code & 0xff) == kStay.end();
}

bool isOurs(const std::string& database) {
  constexpr std::size_t kApplicationIdAt = 68;  // https://www.sqlite.org/fileformat.html
  std::array<unsigned char, kApplicationIdAt + 4> header{};
  std::ifstream(database, std::ios::binary).read(reinterpret_cast<char*>(header.data()), header.size());
  std::int64_t id = 0;
  for (std::size_t i = kApplicationIdAt; i < header.size(); ++i) id = id << 8 | header[i];
  return id == kApplicationId;
}

std::string setAside(const std::string& database, UnixMs now) {
  const fs::path file = fs::canonical(database);  // not the link to it
  const std::string first = file.string() + ".damaged-" + fileTime(now);
  std::string name = first;
  const auto anyIsThere = [&] {
    return std::any_of(kEndings.begin(), kEndings.end(), [&](const char* ending) { return fs::exists(name + ending); });
  };
  for (int number = 2; anyIsThere(); ++number) name = first + "." + std::to_string(number);
  for (const char* ending : kEndings) {
    if (*ending != '\0' && !fs::exists(file.string() + ending)) continue;
    fs::rename(file.string() + ending, name + ending);
  }
  return name;
}

}  // namespace mpm::monitor
