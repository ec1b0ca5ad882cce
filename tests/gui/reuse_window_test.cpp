// SPDX-License-Identifier: Apache-2.0
// The window with the reuse of rows.

#include <cmath>

#include "gui/models/readout.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

// A camera that stands still: one corner changes from frame to frame.
class ReuseWindow : public Window {
 protected:
  bool openYard(const std::string& spec) {
    WindowOptions reusing = options();
    reusing.inference.reuse = parseReuse(spec);
    make(reusing);
    QDir(folder_.path()).mkpath("yard");
    for (int i = 0; i < 40; ++i) {
      cv::Mat yard = mpm::test::smoothPicture(160, 320, 2);
      mpm::test::smoothPicture(80, 80, 101 + i).copyTo(yard(cv::Rect(0, 0, 80, 80)));  // 2x2 of 8x4 patches
      cv::imwrite(path("yard/%1.png", i), yard);
    }
    watching().open(file("yard"));
    return wait([&] { return frame() && !frame()->row_age.empty() && frame()->row_age.back() > 1; });
  }
};

TEST_F(ReuseWindow, ShowsWhatWasComputedAndHowLongTheRestIsKept) {
  ASSERT_TRUE(openYard("threshold=12"));
  trigger("pause");
  ASSERT_TRUE(wait([&] { return session().status().inference.busy_s == 0; }));
  settle();
  ASSERT_FALSE(frame()->result.estimate.reuse->key_frame);
  auto* const view = part<ImageView>();
  trigger("image");
  const QImage image = shot(view);
  trigger("computed");
  EXPECT_EQ(view->paint().mode, ViewMode::kComputed);
  const QImage computed = shot(view);
  int shown = 0;
  for (int token = 0; token < 32; ++token) {
    const bool corner = token % 8 < 2 && token / 8 < 2;
    EXPECT_EQ(frame()->row_age[token] == 0, corner) << token;
    const QPoint at = view->viewport().tokenRect(token, {4, 8}).center().toPoint();
    const QColor bare = image.pixelColor(at), seen = computed.pixelColor(at);
    const double share = corner ? 0 : 0.75;
    shown += corner;
    EXPECT_NEAR(seen.red(), bare.red() * (1 - share) + 24 * share, 2) << token;
    EXPECT_NEAR(seen.blue(), bare.blue() * (1 - share) + 32 * share, 2) << token;
  }
  EXPECT_EQ(shown, 4);
  const QRectF corner = view->viewport().tokenRect(1, {4, 8});
  EXPECT_EQ(
      computed.pixelColor(QPoint(static_cast<int>(std::lround(corner.right())), static_cast<int>(corner.center().y()))),
      QColor(255, 190, 0))
      << "the outline of the corner";

  EXPECT_EQ(rowAge(*frame(), {0.1, 0.1}), "computed for this frame");
  const int age = frame()->row_age.back();
  EXPECT_EQ(rowAge(*frame(), {0.99, 0.99}), QStringLiteral("kept for %1 frame(s)").arg(age));
  part<PatchSelection>()->point(31, QPointF(0.99, 0.99));
  EXPECT_THAT(textIn<InspectorPanel>(), Has(QStringLiteral("kept for %1 frame(s)").arg(age)));
}

}  // namespace
}  // namespace mpm::gui
