// SPDX-License-Identifier: Apache-2.0
#include "gui/models/viewport.h"

#include <gtest/gtest.h>

namespace mpm::gui {
namespace {

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
    EXPECT_EQ(view.tokenAt(rect.center(), grid), token);
    if (token % 5 < 4) {
      EXPECT_NEAR(rect.right(), view.tokenRect(token + 1, grid).left(), 1e-9);
    }
  }
  EXPECT_EQ(view.tokenAt(view.pictureRect().topLeft() - QPointF(1, 1), grid), std::nullopt);
  EXPECT_EQ(view.tokenAt({100, 100}, {}), std::nullopt);
  EXPECT_TRUE(Viewport({}, {100, 100}, {}).empty());
}

}  // namespace
}  // namespace mpm::gui
