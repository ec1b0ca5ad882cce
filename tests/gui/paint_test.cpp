// SPDX-License-Identifier: Apache-2.0
// Where a picture stands in a view, and what is painted there.
#include <gtest/gtest.h>

#include "gui/models/class_paint.h"
#include "gui/models/viewport.h"

namespace mpm::gui {
namespace {

struct Scene {
  cv::Mat image = cv::Mat(8, 8, CV_8UC3, cv::Scalar(100, 150, 200));
  cv::Mat labels = cv::Mat(8, 8, CV_8U, cv::Scalar(1));
  ClassPaint paint;
  QImage target = QImage(16, 16, QImage::Format_RGB32);

  Scene() {
    labels.colRange(4, 8).setTo(2);
    paint.color[1] = qRgb(255, 0, 0);
    paint.color[2] = qRgb(0, 0, 255);
    paint.visible[1] = paint.visible[2] = true;
    target.fill(Qt::black);
  }
  void draw(const QRectF& rect = QRectF(0, 0, 16, 16)) { paintClasses(image, labels, paint, rect, target); }
};

TEST(ClassPaint, ModesDiffer) {
  constexpr QRgb kImage = qRgb(200, 150, 100), kRed = qRgb(255, 0, 0), kBlue = qRgb(0, 0, 255);
  const struct {
    ViewMode mode;
    double opacity;
    bool shows_blue;
    QRgb left, right;
  } cases[] = {{ViewMode::kImage, 1, true, kImage, kImage},
               {ViewMode::kComputed, 1, true, kImage, kImage},
               {ViewMode::kMask, 0.5, true, kRed, kBlue},
               {ViewMode::kMask, 0.5, false, kRed, ClassPaint().hidden},
               {ViewMode::kOverlay, 0, true, kImage, kImage},
               {ViewMode::kOverlay, 0.5, true, qRgb(227, 75, 50), qRgb(100, 75, 177)},
               {ViewMode::kOverlay, 1.5, true, kRed, kBlue},  // of settings that were edited by hand
               {ViewMode::kOverlay, 1, false, kRed, kImage},
               {ViewMode::kCurtain, 1, true, kImage, kBlue}};
  for (const auto& [mode, opacity, shows_blue, left, right] : cases) {
    Scene s;
    s.paint.mode = mode;
    s.paint.curtain = 0.5;
    s.paint.opacity = opacity;
    s.paint.visible[2] = shows_blue;
    s.draw();
    EXPECT_EQ(s.target.pixel(7, 5), left) << static_cast<int>(mode) << ", opacity " << opacity;
    EXPECT_EQ(s.target.pixel(8, 5), right) << static_cast<int>(mode) << ", opacity " << opacity;
    s.labels = cv::Mat();
    s.draw();
    EXPECT_EQ(s.target.pixel(12, 12), kImage) << "without labels";
  }
  Scene s;
  s.paint.opacity = 1;
  s.paint.mode = ViewMode::kOverlay;
  s.labels = s.labels(cv::Rect(2, 0, 4, 2)).t();
  s.draw();
  EXPECT_EQ(s.target.pixel(12, 7), qRgb(255, 0, 0)) << "a smaller map lies over the whole picture";
  EXPECT_EQ(s.target.pixel(3, 8), qRgb(0, 0, 255));
}

TEST(ClassPaint, AnOldFrameIsGrey) {
  Scene s;
  s.paint.faded = true;
  s.draw();
  const QRgb pixel = s.target.pixel(3, 3);
  EXPECT_EQ(qRed(pixel), qGreen(pixel));
  EXPECT_EQ(qGreen(pixel), qBlue(pixel));
}

TEST(ClassPaint, KeepsInsideItsRectangleAndTheTarget) {
  Scene s;
  s.draw(QRectF(4, 4, 4, 4));
  EXPECT_EQ(s.target.pixel(3, 5), qRgb(0, 0, 0));
  EXPECT_NE(s.target.pixel(4, 4), qRgb(0, 0, 0));
  EXPECT_EQ(s.target.pixel(8, 8), qRgb(0, 0, 0));
  s.draw(QRectF(-300, -200, 700, 650));  // zoomed in: most of it is outside
  EXPECT_NE(s.target.pixel(15, 15), qRgb(0, 0, 0));
  s.draw(QRectF(100, 100, 10, 10));  // wholly outside
}

TEST(ClassPaint, LinesStandBetweenSegments) {
  Scene s;
  s.labels.setTo(1);
  cv::Mat ids(8, 8, CV_16U, cv::Scalar(1));
  ids.colRange(3, 6).setTo(2);  // of the same class
  ids.colRange(6, 8).setTo(0);
  s.labels.colRange(6, 8).setTo(255);
  s.paint.mode = ViewMode::kOverlay;
  s.paint.opacity = 1;
  const auto lines = [&] {
    paintClasses(s.image, s.labels, s.paint, QRectF(0, 0, 16, 16), s.target, ids);
    std::vector<int> columns;
    for (int x = 0; x < 16; ++x) {
      if (const QRgb pixel = s.target.pixel(x, 8); pixel != qRgb(255, 0, 0) && pixel != qRgb(200, 150, 100))
        columns.push_back(x);
    }
    return columns;
  };
  EXPECT_EQ(lines(), (std::vector<int>{5, 11})) << "one pixel of the screen, whatever the zoom";
  EXPECT_EQ(s.target.pixel(5, 8), s.target.pixel(11, 2));
  s.paint.visible[1] = false;
  EXPECT_EQ(lines(), std::vector<int>()) << "a hidden class has no lines";
  s.paint.visible[1] = true;
  s.paint.mode = ViewMode::kImage;
  EXPECT_EQ(lines(), std::vector<int>());
}

TEST(ClassPaint, EnlargesSmoothly) {
  Scene s;
  s.image = cv::Mat(1, 2, CV_8UC3, cv::Scalar::all(0));
  s.image.at<cv::Vec3b>(0, 1) = cv::Vec3b::all(200);
  s.labels = cv::Mat();
  s.draw();
  for (int x = 1; x < 16; ++x) EXPECT_GE(qRed(s.target.pixel(x, 8)), qRed(s.target.pixel(x - 1, 8)));
  EXPECT_EQ(qRed(s.target.pixel(0, 8)), 0);
  EXPECT_EQ(qRed(s.target.pixel(15, 8)), 200);
  EXPECT_NEAR(qRed(s.target.pixel(8, 8)), 200 * 0.5625, 1.5);  // 9/16 of the way between the two
  const QImage across = s.target;
  s.image = s.image.t();
  s.draw();
  for (int i = 0; i < 16; ++i) EXPECT_EQ(s.target.pixel(8, i), across.pixel(i, 8)) << "the same from top to bottom";
}

TEST(ClassPaint, WhatWasKeptForAFrameIsDarker) {
  Scene s;
  paintComputed(s.image, {0, 1, 0, 0, 0, 2}, {3, 2}, false, QRectF(0, 0, 16, 16), s.target);
  for (const QPoint& at : {QPoint(3, 3), {3, 8}, {12, 8}, {3, 13}}) EXPECT_EQ(s.target.pixel(at), qRgb(200, 150, 100));
  for (const QPoint& at : {QPoint(12, 2), {12, 14}}) EXPECT_LT(qRed(s.target.pixel(at)), 100);
  s.image.setTo(0);
  paintComputed(s.image, {0, 1, 0, 0, 0, -1}, {3, 2}, false, QRectF(0, 0, 16, 16), s.target);
  EXPECT_NE(s.target.pixel(12, 2), qRgb(0, 0, 0));
  EXPECT_EQ(s.target.pixel(12, 14), qRgb(0, 0, 0)) << "hidden";
}

TEST(Viewport, FitsThePictureIntoTheMiddle) {
  const Viewport view({200, 100}, {400, 400}, {});
  EXPECT_DOUBLE_EQ(view.scale(), 2);
  EXPECT_EQ(view.pictureRect(), QRectF(0, 100, 400, 200));
  EXPECT_EQ(view.toPicture({400, 300}), QPointF(200, 100));
  EXPECT_EQ(view.corner(1, 1, {2, 4}), QPoint(100, 200));
}

TEST(Viewport, ZoomKeepsThePointUnderTheMouse) {
  const Viewport view({640, 480}, {500, 400}, {3, {0.5, 0.5}});
  const QPointF mouse(123, 321);
  const QPointF before = view.toPicture(mouse);
  const Viewport zoomed({640, 480}, {500, 400}, view.zoomedAt(mouse, 1.7));
  EXPECT_NEAR(zoomed.state().zoom, 5.1, 1e-9);
  EXPECT_NEAR(zoomed.toPicture(mouse).x(), before.x(), 1e-6);
  EXPECT_NEAR(zoomed.toPicture(mouse).y(), before.y(), 1e-6);
  const Viewport panned({640, 480}, {500, 400}, view.pannedBy({30, -20}));
  EXPECT_EQ((panned.pictureRect().topLeft() - view.pictureRect().topLeft()).toPoint(), QPoint(30, -20));
}

TEST(Viewport, NeverShowsBeyondThePictureWhenItIsLarger) {
  const ViewState far = Viewport({100, 100}, {100, 100}, {4, {0.5, 0.5}}).pannedBy({1e6, -1e6});
  const Viewport view({100, 100}, {100, 100}, far);
  EXPECT_DOUBLE_EQ(view.pictureRect().left(), 0);
  EXPECT_DOUBLE_EQ(view.pictureRect().bottom(), 100);
  EXPECT_EQ(Viewport({100, 100}, {100, 100}, {0.01, {0.5, 0.5}}).state().zoom, 1);
  EXPECT_EQ(Viewport({100, 100}, {100, 100}, {1e9, {0.5, 0.5}}).state().zoom, ViewState::kMaxZoom);
}

TEST(Viewport, OneStateShowsTheSamePlaceInViewsOfOtherSizes) {
  const ViewState state{6, {0.3, 0.7}};
  for (const QSizeF size : {QSizeF(300, 200), QSizeF(900, 700), QSizeF(64, 48)}) {
    const Viewport view({640, 480}, size, state);
    const QPointF middle = view.toPicture({size.width() / 2, size.height() / 2});
    EXPECT_NEAR(middle.x(), 0.3 * 640, 1e-6);
    EXPECT_NEAR(middle.y(), 0.7 * 480, 1e-6);
  }
}

TEST(Viewport, TokensTileThePictureInRasterOrder) {
  const Size2 grid{3, 5};
  const Viewport view({333, 200}, {501, 299}, {2.5, {0.4, 0.6}});
  for (int token = 0; token < 15; ++token) {
    const QRectF rect = view.tokenRect(token, grid);
    const QPointF share = view.shareAt(rect.center()).value();
    EXPECT_NEAR(share.x() * 5, token % 5 + 0.5, 1e-9);
    EXPECT_NEAR(share.y() * 3, token / 5 + 0.5, 1e-9);
    if (token % 5 < 4) {
      EXPECT_NEAR(rect.right(), view.tokenRect(token + 1, grid).left(), 1e-9);
    }
  }
  EXPECT_FALSE(view.shareAt(view.pictureRect().topLeft() - QPointF(1, 1)));
  EXPECT_FALSE(Viewport({}, {100, 100}, {}).shareAt({}));
  EXPECT_TRUE(Viewport({}, {100, 100}, {}).empty());
}

}  // namespace
}  // namespace mpm::gui
