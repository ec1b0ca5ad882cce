// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/pictures.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <opencv2/imgcodecs.hpp>
#include <string_view>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "mpm/error.hpp"
#include "vision/pictures/jpeg_damage.h"

namespace mpm::vision {
namespace {

// While it lives, std::cerr and stderr lead nowhere: libpng and OpenCV's readers write of damaged files there, several
// lines that name no file, and neither can be told not to. The streams belong to the whole process and threads
// overlap: the first object takes them away, the last one gives them back.
class QuietDecoders {
 public:
  QuietDecoders() {
    static std::FILE* const nowhere = std::fopen("/dev/null", "we");
    const std::lock_guard lock(mutex_);
    if (running_++ > 0) return;
    cerr_ = std::cerr.rdbuf(nullptr);
    stderr_ = stderr;
    if (nowhere) stderr = nowhere;
  }
  ~QuietDecoders() {
    const std::lock_guard lock(mutex_);
    if (--running_ > 0) return;
    std::cerr.rdbuf(cerr_);
    stderr = stderr_;
  }
  QuietDecoders(const QuietDecoders&) = delete;
  QuietDecoders& operator=(const QuietDecoders&) = delete;

 private:
  static inline std::mutex mutex_;
  static inline int running_ = 0;
  static inline std::streambuf* cerr_ = nullptr;
  static inline std::FILE* stderr_ = nullptr;
};

unsigned byteAt(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool isPng(std::string_view bytes) { return bytes.starts_with("\x89PNG\r\n\x1a\n"); }

// The first chunk of a PNG with this name, with its length and its checksum. Empty: there is none, or a chunk before it
// is damaged or cut off.
std::string_view pngChunk(std::string_view png, std::string_view name) {
  const auto number = [&](std::size_t at) {
    return byteAt(png, at) << 24 | byteAt(png, at + 1) << 16 | byteAt(png, at + 2) << 8 | byteAt(png, at + 3);
  };
  for (std::size_t at = 8; png.size() - at >= 12;) {
    const std::size_t length = number(at);
    if (length > png.size() - at - 12) return {};
    const std::string_view named = png.substr(at + 4, 4 + length);
    boost::crc_32_type sum;
    sum.process_bytes(named.data(), named.size());
    if (sum.checksum() != number(at + 8 + length)) return {};
    if (named.starts_with(name)) return png.substr(at, 12 + length);
    at += 12 + length;
  }
  return {};
}

cv::Mat decodeFile(const std::string& path, std::string_view bytes, int flags) {
  try {
    return decodePicture(bytes, flags);
  } catch (const Error& error) {
    throw Error("cannot read image '" + path + "': " + error.what());
  }
}

}  // namespace

cv::Mat decodePicture(std::string_view bytes, int flags) {
  if (bytes.starts_with("\xff\xd8\xff"))
    if (const std::string damage = jpegDamage(bytes); !damage.empty()) throw Error(damage);
  if (isPng(bytes) && pngChunk(bytes, "IEND").empty()) throw Error("the file is damaged or cut off");
  cv::Mat image;
  try {
    const QuietDecoders quiet;
    if (!bytes.empty() && bytes.size() <= INT_MAX)
      image = cv::imdecode(cv::Mat(1, static_cast<int>(bytes.size()), CV_8U, const_cast<char*>(bytes.data())), flags);
  } catch (const cv::Exception&) {  // larger than OpenCV allows, or damaged
  }
  if (image.empty()) throw Error("damaged, or not an image");
  return image;
}

cv::Mat readPictureFile(const std::string& path, int flags) { return decodeFile(path, readFile(path, INT_MAX), flags); }

cv::Mat readPicture(const std::string& path) { return readPictureFile(path, cv::IMREAD_COLOR); }

cv::Mat readOpacity(const std::string& path) {
  const std::string bytes = readFile(path, INT_MAX);
  const cv::Mat whole = decodeFile(path, bytes, cv::IMREAD_UNCHANGED);
  if (whole.channels() != 4) return {};
  cv::Mat opacity;
  cv::extractChannel(whole, opacity, 3);
  const std::string_view exif = isPng(bytes) ? pngChunk(bytes, "eXIf") : std::string_view();
  if (exif.empty()) return opacity;
  // OpenCV rotates no picture that it reads with its transparency. A grey one with the same EXIF it rotates as the
  // colours of this one.
  std::vector<uchar> grey;
  if (!cv::imencode(".png", opacity, grey)) throw Error("cannot read image '" + path + "': its transparency");
  constexpr std::ptrdiff_t kHead = 8 + 25;  // the signature and the first chunk
  grey.insert(grey.begin() + kHead, exif.begin(), exif.end());
  const std::string_view rotated(reinterpret_cast<const char*>(grey.data()), grey.size());
  return decodeFile(path, rotated, cv::IMREAD_GRAYSCALE | cv::IMREAD_ANYDEPTH);
}

std::int64_t pictureDigest(const std::string& path) {
  constexpr std::int64_t kPart = 16 << 10;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = file.tellg();
  std::uint64_t digest = hash(static_cast<std::uint64_t>(size));
  std::string part(kPart, '\0');
  for (const std::int64_t from : {std::int64_t{0}, (size - kPart) / 2, size - kPart}) {
    file.clear();
    file.seekg(std::max<std::int64_t>(from, 0));
    file.read(part.data(), kPart);
    digest = hashBytes(std::string_view(part).substr(0, static_cast<std::size_t>(file.gcount())), digest);
  }
  return file.bad() || size < 0 ? 0 : static_cast<std::int64_t>(digest);
}

}  // namespace mpm::vision
