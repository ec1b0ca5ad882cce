// SPDX-License-Identifier: Apache-2.0
#include "vision/times/picture_times.h"

#include <libexif/exif-data.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "vision/csv.h"

namespace mpm::vision {
namespace {

namespace fs = std::filesystem;

// The time in the cells after the name.
std::optional<WrittenTime> timeOf(const std::vector<std::string>& cells) {
  if (cells.size() == 2) return readTime(cells[1]);
  if (cells.size() != 7) return std::nullopt;
  std::array<int, 5> whole{};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto number = readNumber<int>(cells[i + 1]);
    if (!number) return std::nullopt;
    whole[i] = *number;
  }
  const auto second = readNumber<double>(cells[6]);
  if (!second || !(*second >= 0 && *second < 60)) return std::nullopt;
  const auto time = unixTime(whole[0], whole[1], whole[2], whole[3], whole[4], static_cast<int>(*second));
  if (!time) return std::nullopt;
  return WrittenTime{*time + std::min<UnixMs>(999, std::llround((*second - std::floor(*second)) * 1000))};
}

// The EXIF of a PNG file, which stands before its pixels, as libexif takes it; empty: none.
std::string exifOfPng(const std::string& path) {
  constexpr std::uint32_t kMost = 1 << 20;
  std::ifstream file(path, std::ios::binary);
  std::string head(8, '\0');
  if (!file.read(head.data(), 8) || head != "\x89PNG\r\n\x1a\n") return "";
  while (file.read(head.data(), 8) && !head.ends_with("IDAT")) {
    std::uint32_t size = 0;
    for (int i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(head[static_cast<std::size_t>(i)]);
    if (head.ends_with("eXIf")) {
      std::string data("Exif\0\0", 6);
      data.resize(6 + std::min(size, kMost));
      return size <= kMost && file.read(data.data() + 6, size) ? data : "";
    }
    file.seekg(std::int64_t{size} + 4, std::ios::cur);
  }
  return "";
}

std::string exifText(ExifData* data, ExifTag tag) {
  ExifEntry* const entry = exif_content_get_entry(data->ifd[EXIF_IFD_EXIF], tag);
  if (!entry || entry->format != EXIF_FORMAT_ASCII || !entry->data) return "";
  const auto* const text = reinterpret_cast<const char*>(entry->data);
  std::string result(text, ::strnlen(text, entry->size));
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

std::optional<UnixMs> modifiedTime(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  return file.st_mtim.tv_sec * kSecondMs + file.st_mtim.tv_nsec / 1'000'000;
}

// Behind the name of the picture, where a header has words.
bool writesDigit(const std::vector<std::string>& cells) {
  return std::any_of(cells.begin() + 1, cells.end(),
                     [](const std::string& cell) { return cell.find_first_of("0123456789") != std::string::npos; });
}

constexpr std::pair<const char*, TimeFrom> kWords[] = {
    {"exif", TimeFrom::kExif}, {"name", TimeFrom::kName}, {"modified", TimeFrom::kModified}};

}  // namespace

TimeOptions parseTimes(const std::string& text) {
  if (text == "auto") return {};
  for (const auto& [word, from] : kWords)
    if (text == word) return {.from = from};
  if (text.starts_with("list:") && text.size() > 5) return {.from = TimeFrom::kList, .list = text.substr(5)};
  throw Error("'" + text + "' is not auto, exif, name, modified or list:FILE");
}

std::string toString(const TimeOptions& options) {
  for (const auto& [word, from] : kWords)
    if (options.from == from) return word;
  return options.list.empty() ? "auto" : "list:" + options.list;
}

const char* toString(TimeFrom from) {
  constexpr const char* kNames[] = {"a list", "EXIF", "the name", "the date of the file"};
  return kNames[static_cast<int>(from)];
}

std::map<std::string, WrittenTime> readTimeList(const std::string& path) {
  std::map<std::string, WrittenTime> list;
  std::map<std::string, int> lines;
  bool header = true;
  for (const CsvLine& line : readCsv(path)) {
    if (line.isComment()) continue;
    const auto time = timeOf(line.cells);
    const bool first = std::exchange(header, false);
    if (!time && first && !writesDigit(line.cells)) continue;
    if (!time)
      refuse(path, line,
             "'" + visibleText(line.text) +
                 "' is not a name with year, month, day, hour, minute and second, or with a time such as "
                 "2013-07-08T05:54:13");
    const std::string name = fs::path(line.cells[0]).lexically_normal().string();
    if (name.empty()) refuse(path, line, "the name of the picture is missing");
    if (const auto [before, fresh] = lines.emplace(name, line.number); !fresh)
      refuse(path, line, "'" + visibleText(name) + "' is in line " + std::to_string(before->second) + " already");
    list.emplace(name, *time);
  }
  if (list.empty()) throw Error("'" + path + "' lists no picture with its time");
  return list;
}

std::optional<WrittenTime> exifTime(const std::string& path) {
  const std::string png = exifOfPng(path);
  const std::unique_ptr<ExifData, void (*)(ExifData*)> data(
      png.empty() ? exif_data_new_from_file(path.c_str())
                  : exif_data_new_from_data(reinterpret_cast<const unsigned char*>(png.data()),
                                            static_cast<unsigned int>(png.size())),
      exif_data_unref);
  if (!data) return std::nullopt;
  std::string text = exifText(data.get(), EXIF_TAG_DATE_TIME_ORIGINAL);
  const std::string fine = text + "." + exifText(data.get(), EXIF_TAG_SUB_SEC_TIME_ORIGINAL);
  if (readTime(fine)) text = fine;  // some cameras write no number there
  const auto time = readTime(text);
  const auto whole = readTime(text + exifText(data.get(), EXIF_TAG_OFFSET_TIME_ORIGINAL));
  return whole ? whole : time;
}

PictureTimes::PictureTimes(TimeOptions options) : options_(std::move(options)), time_zone_(options_.zone()) {
  if (!options_.list.empty()) list_ = readTimeList(options_.list);
}

std::optional<PictureTime> PictureTimes::of(const std::string& path) const {
  const auto found = [&](const WrittenTime& written, TimeFrom from) {
    return PictureTime{written.utc(time_zone_), from, !written.offset};
  };
  if (!list_.empty())  // the whole path, then one folder less each time
    for (std::string name = fs::absolute(path).lexically_normal().string(), rest;; name = rest) {
      if (const auto entry = list_.find(name); entry != list_.end()) return found(entry->second, TimeFrom::kList);
      rest = name.substr(name.find('/') + 1);
      if (rest.size() == name.size()) break;
    }
  const bool any = !options_.from || options_.from == TimeFrom::kList;
  std::optional<WrittenTime> named;
  if (any || options_.from == TimeFrom::kName) named = timeInName(fs::path(path).stem().string());
  if (any || options_.from == TimeFrom::kExif)
    if (const auto written = exifTime(path)) {
      PictureTime time = found(*written, TimeFrom::kExif);
      if (named && std::abs(named->utc(time_zone_) - time.time) > kDayMs) time.in_name = named->utc(time_zone_);
      return time;
    }
  if (named) return found(*named, TimeFrom::kName);
  if (options_.from == TimeFrom::kModified)
    if (const auto time = modifiedTime(path)) return PictureTime{*time, TimeFrom::kModified};
  return std::nullopt;
}

}  // namespace mpm::vision
