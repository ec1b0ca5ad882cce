// SPDX-License-Identifier: Apache-2.0
#include "vision/pictures/pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "base/size_text.h"
#include "mpm/error.hpp"
#include "vision/pictures/lettering.h"

namespace mpm::vision {
namespace {

void checkImage(const cv::Mat& image) {
  if (image.empty() || image.type() != CV_8UC3) throw Error("a picture is made from an 8-bit BGR image");
}

// Which of `cells` equal parts each of `pixels` pixels lies in.
std::vector<int> cellOfPixel(int pixels, int cells) {
  std::vector<int> result(pixels);
  for (int i = 0; i < pixels; ++i) result[i] = static_cast<int>(static_cast<std::int64_t>(i) * cells / pixels);
  return result;
}

// 8 bits after the point.
int fixedPoint(double opacity) {
  if (!(opacity >= 0 && opacity <= 1)) throw Error("the opacity of an overlay lies between 0 and 1");
  return static_cast<int>(std::lround(opacity * 256));
}

cv::Vec3b blend(const cv::Vec3b& below, const cv::Vec3b& color, int alpha) {
  cv::Vec3b result;
  for (int c = 0; c < 3; ++c)
    result[c] = static_cast<std::uint8_t>((below[c] * (256 - alpha) + color[c] * alpha + 128) >> 8);
  return result;
}

// A picture of this size; color(y, x) is that of a pixel.
template <class Color>
cv::Mat painted(cv::Size size, Color&& color) {
  cv::Mat picture(size, CV_8UC3);
  for (int y = 0; y < size.height; ++y) {
    auto* row = picture.ptr<cv::Vec3b>(y);
    for (int x = 0; x < size.width; ++x) row[x] = color(y, x);
  }
  return picture;
}

}  // namespace

// White would vanish in the sky, black in the night.
cv::Vec3b outlineColor(const cv::Vec3b& fill) {
  const bool bright = 114 * fill[0] + 587 * fill[1] + 299 * fill[2] > 140 * 1000;
  cv::Vec3b color;
  for (int c = 0; c < 3; ++c)
    color[c] = static_cast<std::uint8_t>(bright ? fill[c] * 5 / 9 : 255 - (255 - fill[c]) * 5 / 9);
  return color;
}

cv::Mat overlayPicture(const cv::Mat& image, const cv::Mat& labels, const std::vector<cv::Vec3b>& colors,
                       double opacity) {
  checkImage(image);
  if (labels.type() != CV_8UC1 || labels.size() != image.size())
    throw Error("an overlay needs a label map of 8 bits and of the image's size");

  const int alpha = fixedPoint(opacity);
  const int with_color = static_cast<int>(std::min<std::size_t>(colors.size(), 256));
  return painted(image.size(), [&](int y, int x) {
    const auto& pixel = image.at<cv::Vec3b>(y, x);
    const int label = labels.at<std::uint8_t>(y, x);
    return label < with_color ? blend(pixel, colors[label], alpha) : pixel;
  });
}

cv::Mat segmentsPicture(const cv::Mat& image, const cv::Mat& ids, const std::vector<cv::Vec3b>& colors,
                        double opacity) {
  checkImage(image);
  if (ids.type() != CV_16UC1 || ids.size() != image.size())
    throw Error("a picture of segments needs ids of 16 bits, of the image's size");
  const int alpha = fixedPoint(opacity);
  return painted(image.size(), [&](int y, int x) {
    const auto& pixel = image.at<cv::Vec3b>(y, x);
    const auto own = ids.at<std::uint16_t>(y, x);
    const bool has_color = own > 0 && own <= colors.size();
    const bool edge = own != ids.at<std::uint16_t>(std::min(y + 1, image.rows - 1), x) ||
                      own != ids.at<std::uint16_t>(y, std::min(x + 1, image.cols - 1));
    if (edge) return outlineColor(has_color ? colors[own - 1u] : pixel);
    return has_color ? blend(pixel, colors[own - 1u], alpha) : pixel;
  });
}

cv::Mat withBoxes(const cv::Mat& picture, const std::vector<Segment>& segments, const std::vector<std::string>& names,
                  const std::vector<cv::Vec3b>& colors) {
  checkImage(picture);
  constexpr double kLetters = 11, kAir = 3;
  cv::Mat drawn = picture.clone();
  const cv::Rect whole({}, drawn.size());
  for (auto one = segments.rbegin(); one != segments.rend(); ++one) {
    if (!one->box) continue;
    const cv::Vec3b& color = colors[static_cast<std::size_t>(one->label)];
    const auto corner = [](double x, double y) {  // of the pixel whose area holds the point
      const auto pixel = [](double at) { return static_cast<int>(std::clamp(std::floor(at), -1e6, 1e6)); };
      return cv::Point(pixel(x), pixel(y));
    };
    const cv::Point top_left = corner(one->box->x, one->box->y),
                    bottom_right = corner(one->box->br().x, one->box->br().y);
    cv::rectangle(drawn, top_left, bottom_right, color, 2);
    const std::string text = names[static_cast<std::size_t>(one->label)] + " " + fixed(100 * one->score, 0) + " %";
    const cv::Point size = at(textWidth(text, kLetters) + 2 * kAir, kLetters + 2 * kAir);
    cv::Mat plate(size.y, size.x, CV_8UC3, cv::Scalar(color));
    write(plate, text, kAir, kAir + kLetters - 1, 0, kLetters, cv::Scalar(outlineColor(color)));
    plate = reduced(plate);
    cv::Rect place(top_left, plate.size());  // moved into the picture: names of boxes at its edges are read, too
    place.x = std::clamp(place.x, 0, std::max(0, whole.width - place.width));
    place.y = std::clamp(place.y, 0, std::max(0, whole.height - place.height));
    const cv::Rect seen = place & whole;
    plate(cv::Rect({}, seen.size())).copyTo(drawn(seen));
  }
  return drawn;
}

cv::Mat mergePicture(const cv::Mat& image, const std::vector<int>& cluster_of_token, Size2 grid) {
  checkImage(image);
  if (grid.height < 1 || grid.width < 1 ||
      cluster_of_token.size() != static_cast<std::size_t>(grid.height) * grid.width) {
    throw Error("the merge map has " + std::to_string(cluster_of_token.size()) + " tokens, its grid " +
                sizeText(grid, "patches"));
  }
  const auto [lowest, highest] = std::minmax_element(cluster_of_token.begin(), cluster_of_token.end());
  if (*lowest < 0) throw Error("the merge map holds a negative cluster");

  const std::vector<int> cell_row = cellOfPixel(image.rows, grid.height);
  const std::vector<int> cell_column = cellOfPixel(image.cols, grid.width);
  const auto clusterAt = [&](int y, int x) {
    return cluster_of_token[static_cast<std::size_t>(cell_row[y]) * grid.width + cell_column[x]];
  };

  struct Sum {
    std::array<std::int64_t, 3> bgr{};
    std::int64_t pixels = 0;
  };
  std::vector<Sum> sums(*highest + 1);
  for (int y = 0; y < image.rows; ++y) {
    const auto* pixel = image.ptr<cv::Vec3b>(y);
    for (int x = 0; x < image.cols; ++x) {
      Sum& sum = sums[clusterAt(y, x)];
      for (int c = 0; c < 3; ++c) sum.bgr[c] += pixel[x][c];
      ++sum.pixels;
    }
  }
  std::vector<cv::Vec3b> fill(sums.size()), border(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].pixels == 0) continue;
    for (int c = 0; c < 3; ++c)
      fill[i][c] = static_cast<std::uint8_t>((sums[i].bgr[c] + sums[i].pixels / 2) / sums[i].pixels);
    border[i] = outlineColor(fill[i]);
  }

  return painted(image.size(), [&](int y, int x) {
    const int cluster = clusterAt(y, x);
    const bool edge = (x + 1 < image.cols && clusterAt(y, x + 1) != cluster) ||
                      (y + 1 < image.rows && clusterAt(y + 1, x) != cluster);
    return edge ? border[cluster] : fill[cluster];
  });
}

cv::Mat computedPicture(const cv::Mat& image, const ReuseReport& reuse, Size2 grid) {
  checkImage(image);
  if (reuse.key_frame) return image.clone();
  std::vector<char> computed(static_cast<std::size_t>(grid.height) * grid.width);
  for (const int patch : reuse.patches) computed.at(patch) = 1;
  const std::vector<int> cell_row = cellOfPixel(image.rows, grid.height);
  const std::vector<int> cell_column = cellOfPixel(image.cols, grid.width);
  const auto computedAt = [&](int y, int x) {
    return computed[static_cast<std::size_t>(cell_row[std::clamp(y, 0, image.rows - 1)]) * grid.width +
                    cell_column[std::clamp(x, 0, image.cols - 1)]] != 0;
  };
  const cv::Vec3b line(0, 190, 255);  // orange
  return painted(image.size(), [&](int y, int x) {
    const auto& pixel = image.at<cv::Vec3b>(y, x);
    const int grey = (114 * pixel[0] + 587 * pixel[1] + 299 * pixel[2]) / 1000;
    if (!computedAt(y, x)) return cv::Vec3b::all(static_cast<std::uint8_t>(20 + grey / 3));
    const bool inside = computedAt(y - 1, x) && computedAt(y + 1, x) && computedAt(y, x - 1) && computedAt(y, x + 1);
    return inside ? pixel : line;
  });
}

cv::Mat mergePicture(const cv::Mat& image, const RunReport& result) {
  if (!result.cluster_of_token.empty()) return mergePicture(image, result.cluster_of_token.back(), result.grid);
  std::vector<int> every_token(static_cast<std::size_t>(result.grid.height) * result.grid.width);
  std::iota(every_token.begin(), every_token.end(), 0);
  return mergePicture(image, every_token, result.grid);
}

void writePicture(const std::string& path, const cv::Mat& picture, Readers readers) {
  std::vector<unsigned char> bytes;
  const bool jpeg = path.ends_with(".jpg");
  try {
    if (!cv::imencode(jpeg ? ".jpg" : ".png", picture, bytes)) bytes.clear();
  } catch (const cv::Exception&) {
    bytes.clear();
  }
  if (bytes.empty())
    throw Error("cannot write '" + path + "': the picture does not encode as " + (jpeg ? "JPEG" : "PNG"));
  writeFileAtomically(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, false, readers);
}

}  // namespace mpm::vision
