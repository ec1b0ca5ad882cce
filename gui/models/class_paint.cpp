// SPDX-License-Identifier: Apache-2.0
#include "gui/models/class_paint.h"

#include "vision/pictures/pictures.h"

namespace mpm::gui {
namespace {

struct Blend {
  int alpha;  // of 256
  int blue, green, red;
};
using Blends = std::array<Blend, 256>;

Blends blends(const ClassPaint& paint, bool with_labels) {
  Blends result{};
  for (int c = 0; c < 256; ++c) {
    int alpha = 0;
    QRgb color = paint.color[c];
    if (with_labels && paint.mode == ViewMode::kMask) {
      alpha = 256;
      if (!paint.visible[c]) color = paint.hidden;
    } else if (with_labels && paint.mode != ViewMode::kImage && paint.mode != ViewMode::kComputed && paint.visible[c]) {
      alpha = static_cast<int>(std::lround(std::clamp(paint.opacity, 0.0, 1.0) * 256));
    }
    result[c] = {alpha, qBlue(color) * alpha, qGreen(color) * alpha, qRed(color) * alpha};
  }
  return result;
}

// Colour of the lines between segments.
Blends outlineBlends(const ClassPaint& paint, const Blends& classes) {
  Blends result = classes;
  for (int c = 0; c < 256; ++c) {
    if (!paint.visible[c] || classes[c].alpha == 0) continue;
    const QRgb fill = paint.color[c];
    const cv::Vec3b line =
        vision::outlineColor({static_cast<std::uint8_t>(qBlue(fill)), static_cast<std::uint8_t>(qGreen(fill)),
                              static_cast<std::uint8_t>(qRed(fill))});
    result[c] = {256, line[0] * 256, line[1] * 256, line[2] * 256};
  }
  return result;
}

// Where a row or column of the target samples the image: between `from` and `to`, `weight` of 256 to the latter.
struct Sample {
  int from, to, weight, label;
};

std::vector<Sample> samples(int first, int last, double origin, double extent, int pixels, int labels) {
  std::vector<Sample> result(std::max(0, last - first));
  for (int i = first; i < last; ++i) {
    const double unit = (i + 0.5 - origin) / extent;
    const double position = std::clamp(unit * pixels - 0.5, 0.0, pixels - 1.0);
    const int from = static_cast<int>(position);
    result[i - first] = {from, std::min(from + 1, pixels - 1), static_cast<int>((position - from) * 256),
                         std::clamp(static_cast<int>(unit * labels), 0, std::max(labels - 1, 0))};
  }
  return result;
}

}  // namespace

void paintClasses(const cv::Mat& image, const cv::Mat& labels, const ClassPaint& paint, const QRectF& picture_rect,
                  QImage& target, const cv::Mat& ids) {
  if (image.empty() || picture_rect.isEmpty()) return;
  const int left = std::max(0, static_cast<int>(std::floor(picture_rect.left() + 0.5)));
  const int top = std::max(0, static_cast<int>(std::floor(picture_rect.top() + 0.5)));
  const int right = std::min(target.width(), static_cast<int>(std::floor(picture_rect.right() + 0.5)));
  const int bottom = std::min(target.height(), static_cast<int>(std::floor(picture_rect.bottom() + 0.5)));
  const auto columns = samples(left, right, picture_rect.left(), picture_rect.width(), image.cols, labels.cols);
  const auto rows = samples(top, bottom, picture_rect.top(), picture_rect.height(), image.rows, labels.rows);

  const Blends plain = blends(paint, false);
  const Blends classes = blends(paint, !labels.empty());
  const Blends outlines = ids.empty() ? Blends() : outlineBlends(paint, classes);
  const int curtain = paint.mode == ViewMode::kCurtain
                          ? static_cast<int>(std::lround(picture_rect.left() + paint.curtain * picture_rect.width()))
                          : 0;

  for (int y = top; y < bottom; ++y) {
    const Sample& row = rows[y - top];
    const std::uint8_t* upper = image.ptr<std::uint8_t>(row.from);
    const std::uint8_t* lower = image.ptr<std::uint8_t>(row.to);
    const std::uint8_t* label = labels.empty() ? nullptr : labels.ptr<std::uint8_t>(row.label);
    const int below_row = rows[std::min(y + 1, bottom - 1) - top].label;
    const std::uint16_t* id = ids.empty() ? nullptr : ids.ptr<std::uint16_t>(row.label);
    const std::uint16_t* id_below = ids.empty() ? nullptr : ids.ptr<std::uint16_t>(below_row);
    const std::uint8_t* label_below = labels.empty() ? nullptr : labels.ptr<std::uint8_t>(below_row);
    auto* out = reinterpret_cast<QRgb*>(target.scanLine(y));
    const int wy = row.weight;
    for (int x = left; x < right; ++x) {
      const Sample& column = columns[x - left];
      const std::uint8_t *a = upper + 3 * column.from, *b = upper + 3 * column.to;
      const std::uint8_t *c = lower + 3 * column.from, *d = lower + 3 * column.to;
      const int wx = column.weight;
      const auto pixel = [&](int channel) {
        const int above = a[channel] * (256 - wx) + b[channel] * wx;
        const int below = c[channel] * (256 - wx) + d[channel] * wx;
        return (above * (256 - wy) + below * wy) >> 16;
      };
      int shown = label ? label[column.label] : 0;
      bool outline = false;
      if (id && x >= curtain) {
        const int right_of = columns[std::min(x + 1, right - 1) - left].label;
        const std::uint16_t own = id[column.label];
        const bool beside = own != id[right_of];
        outline = beside || own != id_below[column.label];
        // Where there is no segment, the line is that of the segment beside or below.
        if (outline && own == 0) shown = beside ? label[right_of] : label_below[column.label];
      }
      const Blend& blend = (x < curtain ? plain : outline ? outlines : classes)[shown];
      const int keep = 256 - blend.alpha;
      int blue = (pixel(0) * keep + blend.blue) >> 8;
      int green = (pixel(1) * keep + blend.green) >> 8;
      int red = (pixel(2) * keep + blend.red) >> 8;
      if (paint.faded) {
        const int grey = (blue * 29 + green * 150 + red * 77) >> 8;
        blue = green = red = 40 + grey * 5 / 8;
      }
      out[x] = qRgb(red, green, blue);
    }
  }
}

void paintComputed(const cv::Mat& image, const std::vector<int>& row_age, Size2 grid, bool faded,
                   const QRectF& picture_rect, QImage& target) {
  constexpr std::uint8_t kKept = 1, kHidden = 2;
  cv::Mat labels(grid.height, grid.width, CV_8U);
  for (int i = 0; i < static_cast<int>(row_age.size()); ++i)
    labels.at<std::uint8_t>(i / grid.width, i % grid.width) = row_age[i] < 0 ? kHidden : row_age[i] > 0 ? kKept : 0;
  ClassPaint paint{.mode = ViewMode::kOverlay, .opacity = 0.75, .faded = faded};
  paint.color[kKept] = qRgb(24, 26, 32);
  paint.color[kHidden] = qRgb(0, 0, 0);
  paint.visible[kKept] = paint.visible[kHidden] = true;
  paintClasses(image, labels, paint, picture_rect, target);
}

}  // namespace mpm::gui
