// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/read_picture.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <climits>
#include <filesystem>
#include <fstream>
#include <opencv2/imgcodecs.hpp>
#include <string_view>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "mpm/error.hpp"

namespace mpm::vision {
namespace {

unsigned byteAt(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

// Whether a JPEG has its end marker. Without one the decoder fills the rest with grey and only prints a warning.
bool isWholeJpeg(std::string_view jpeg) {
  for (std::size_t at = 2; at + 1 < jpeg.size();) {
    if (byteAt(jpeg, at) != 0xff || byteAt(jpeg, at + 1) == 0xff) {  // pixels, or filling before a marker
      ++at;
      continue;
    }
    const unsigned marker = byteAt(jpeg, at + 1);
    if (marker == 0xd9) return true;
    const bool alone = marker <= 1 || (marker >= 0xd0 && marker <= 0xd7);
    if (!alone && at + 3 >= jpeg.size()) return false;
    at += alone ? 2 : 2u + (byteAt(jpeg, at + 2) << 8 | byteAt(jpeg, at + 3));
  }
  return false;
}

// Leaves the chunks that pixels and orientation need. libpng warns of others, such as a colour profile that it does not
// like. False: a chunk is damaged, or the end is missing.
bool keepPixels(std::string& png) {
  const auto number = [&](std::size_t at) {
    return byteAt(png, at) << 24 | byteAt(png, at + 1) << 16 | byteAt(png, at + 2) << 8 | byteAt(png, at + 3);
  };
  std::string kept = png.substr(0, 8);
  for (std::size_t at = 8; png.size() - at >= 12;) {
    const std::size_t length = number(at);
    if (length > png.size() - at - 12) return false;
    const std::string_view name = std::string_view(png).substr(at + 4, 4);
    boost::crc_32_type sum;
    sum.process_bytes(name.data(), 4 + length);
    if (sum.checksum() != number(at + 8 + length)) return false;
    const bool needed = (name[0] & 0x20) == 0 || name == "tRNS" || name == "eXIf";  // a capital letter, and two more
    if (needed) kept.append(png, at, 12 + length);
    if (name == "IEND") {
      png.swap(kept);
      return true;
    }
    at += 12 + length;
  }
  return false;
}

}  // namespace

cv::Mat readPictureFile(const std::string& path, int flags) {
  std::string bytes = readFile(path, INT_MAX);
  const auto refuse = [&](const char* why) { throw Error("cannot read image '" + path + "': " + why); };
  if (bytes.starts_with("\xff\xd8\xff") && !isWholeJpeg(bytes)) refuse("the file is cut off before its end");
  if (bytes.starts_with("\x89PNG\r\n\x1a\n") && !keepPixels(bytes)) refuse("the file is damaged or cut off");
  cv::Mat image;
  try {
    if (!bytes.empty()) image = cv::imdecode(cv::Mat(1, static_cast<int>(bytes.size()), CV_8U, bytes.data()), flags);
  } catch (const cv::Exception&) {  // larger than OpenCV allows, or damaged
  }
  if (image.empty()) refuse("damaged, or not an image");
  return image;
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
