// SPDX-License-Identifier: Apache-2.0
// The window with the reuse of rows.
#include <gtest/gtest.h>

#include <QAction>
#include <algorithm>
#include <cmath>

#include "gui/controllers/live_monitor.h"
#include "gui/models/readout.h"
#include "gui/views/chart_panel.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/speed_panel.h"
#include "gui/views/time_chart.h"
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
    QDir(folder_.path()).mkpath(QStringLiteral("yard"));
    for (int i = 0; i < 40; ++i) {
      cv::Mat yard = picture(1, {320, 160});
      picture(100 + i, {80, 80}).copyTo(yard(cv::Rect(0, 0, 80, 80)));  // 2x2 of 8x4 patches
      cv::imwrite(path("yard/%1.png", i), yard);
    }
    watching().open(file("yard"));
    return wait([&] { return frame() && !frame()->row_age.empty() && frame()->row_age.back() > 1; });
  }
};

TEST_F(ReuseWindow, ShowsWhatWasComputedAndHowLongTheRestIsKept) {
  ASSERT_TRUE(openYard("threshold=12"));
  trigger("pause");
  ASSERT_TRUE(wait([&] { return window_->live().session().status().inference.busy_s == 0; }));
  settle();
  ASSERT_FALSE(frame()->result.estimate.reuse->key_frame);
  auto* const view = part<ImageView>(*window_);
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

  EXPECT_EQ(rowAge(*frame(), {0.1, 0.1}), QStringLiteral("computed for this frame"));
  const int age = frame()->row_age.back();
  EXPECT_EQ(rowAge(*frame(), {0.99, 0.99}), QStringLiteral("kept for %1 frame(s)").arg(age));
  part<PatchSelection>(*window_)->point(31, QPointF(0.99, 0.99));
  EXPECT_TRUE(textOf(part<InspectorPanel>(*window_)).contains(QStringLiteral("kept for %1 frame(s)").arg(age)));
}

}  // namespace
}  // namespace mpm::gui
