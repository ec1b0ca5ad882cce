// SPDX-License-Identifier: Apache-2.0
#include "vision/times/picture_times.h"

#include <libexif/exif-data.h>
#include <libexif/exif-loader.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <tuple>
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

using Exif = std::unique_ptr<ExifData, void (*)(ExifData*)>;

// With the tags that its specification does not know in this place: 0x882A is of TIFF/EP. Null: there is none.
Exif readExif(const std::string& path) {
  Exif exif(exif_data_new(), exif_data_unref);
  if (!exif) return exif;
  exif_data_unset_option(exif.get(), EXIF_DATA_OPTION_IGNORE_UNKNOWN_TAGS);
  exif_data_unset_option(exif.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  if (const std::string png = exifOfPng(path); !png.empty()) {
    exif_data_load_data(exif.get(), reinterpret_cast<const unsigned char*>(png.data()),
                        static_cast<unsigned int>(png.size()));
    return exif;
  }
  const std::unique_ptr<ExifLoader, void (*)(ExifLoader*)> loader(exif_loader_new(), exif_loader_unref);
  const unsigned char* bytes = nullptr;
  unsigned int size = 0;
  if (loader) {
    exif_loader_write_file(loader.get(), path.c_str());
    exif_loader_get_buf(loader.get(), &bytes, &size);
  }
  if (bytes) exif_data_load_data(exif.get(), bytes, size);
  return exif;
}

// Some programs write tags of the EXIF directory into the main one.
const ExifEntry* exifEntry(ExifData* data, ExifTag tag) {
  for (const ExifIfd part : {EXIF_IFD_EXIF, EXIF_IFD_0})
    if (const ExifEntry* const entry = exif_content_get_entry(data->ifd[part], tag); entry && entry->data) return entry;
  return nullptr;
}

std::string exifText(ExifData* data, ExifTag tag) {
  const ExifEntry* const entry = exifEntry(data, tag);
  if (!entry || entry->format != EXIF_FORMAT_ASCII) return "";
  const auto* const text = reinterpret_cast<const char*>(entry->data);
  std::string result(text, ::strnlen(text, entry->size));
  while (result.ends_with(' ')) result.pop_back();
  return result;
}

// Hours east of UTC of TimeZoneOffset, which Motion writes; its first number is of DateTimeOriginal.
std::optional<int> exifHours(ExifData* data) {
  const ExifEntry* const entry = exifEntry(data, EXIF_TAG_TIME_ZONE_OFFSET);
  const ExifByteOrder order = exif_data_get_byte_order(data);
  if (!entry || entry->components == 0) return std::nullopt;
  std::optional<int> hours;
  if ((entry->format == EXIF_FORMAT_SHORT || entry->format == EXIF_FORMAT_SSHORT) && entry->size >= 2)
    hours = exif_get_sshort(entry->data, order);
  if (entry->format == EXIF_FORMAT_SLONG && entry->size >= 4) hours = exif_get_slong(entry->data, order);
  return hours && *hours >= -12 && *hours <= 14 ? hours : std::nullopt;
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
    if (!time) {
      refuse(path, line,
             "'" + visibleText(line.text) +
                 "' is not a name with year, month, day, hour, minute and second, or with a time such as "
                 "2013-07-08T05:54:13");
    }
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
  const Exif exif = readExif(path);
  if (!exif) return std::nullopt;
  constexpr std::tuple<ExifTag, ExifTag, ExifTag> kTimes[] = {
      {EXIF_TAG_DATE_TIME_ORIGINAL, EXIF_TAG_SUB_SEC_TIME_ORIGINAL, EXIF_TAG_OFFSET_TIME_ORIGINAL},
      {EXIF_TAG_DATE_TIME_DIGITIZED, EXIF_TAG_SUB_SEC_TIME_DIGITIZED, EXIF_TAG_OFFSET_TIME_DIGITIZED}};
  for (const auto& [moment, part, own_offset] : kTimes) {
    std::string text = exifText(exif.get(), moment);
    const std::string fine = text + "." + exifText(exif.get(), part);
    if (readTime(fine)) text = fine;  // some cameras write no number there
    auto time = readTime(text);
    if (!time) continue;
    for (const ExifTag tag :
         {own_offset, EXIF_TAG_OFFSET_TIME, EXIF_TAG_OFFSET_TIME_ORIGINAL, EXIF_TAG_OFFSET_TIME_DIGITIZED})
      if (!time->offset) time->offset = readOffset(exifText(exif.get(), tag));
    if (const auto hours = exifHours(exif.get()); hours && !time->offset) {
      time->offset = 60 * *hours;
      time->whole_hours = true;
    }
    return time;
  }
  return std::nullopt;
}

PictureTimes::PictureTimes(TimeOptions options) : options_(std::move(options)), clock_(options_.clock()) {
  if (!options_.list.empty()) list_ = readTimeList(options_.list);
}

std::optional<PictureTime> PictureTimes::of(const std::string& path) const {
  const auto found = [&](const WrittenTime& written, TimeFrom from) {
    return PictureTime{written.utc(clock_), from, !written.offset};
  };
  if (!list_.empty()) {  // the whole path, then one folder less each time
    for (std::string name = fs::absolute(path).lexically_normal().string(), rest;; name = rest) {
      if (const auto entry = list_.find(name); entry != list_.end()) return found(entry->second, TimeFrom::kList);
      rest = name.substr(name.find('/') + 1);
      if (rest.size() == name.size()) break;
    }
  }
  const bool any = !options_.from || options_.from == TimeFrom::kList;
  std::optional<WrittenTime> named;
  if (any || options_.from == TimeFrom::kName) named = names_.of(path);
  if (any || options_.from == TimeFrom::kExif) {
    if (const auto written = exifTime(path)) {
      PictureTime time = found(*written, TimeFrom::kExif);
      if (named && std::abs(named->utc(clock_) - time.time) > kDayMs) time.in_name = named->utc(clock_);
      return time;
    }
  }
  if (named) return found(*named, TimeFrom::kName);
  if (options_.from == TimeFrom::kModified)
    if (const auto time = modifiedTime(path)) return PictureTime{*time, TimeFrom::kModified};
  return std::nullopt;
}

}  // namespace mpm::vision
