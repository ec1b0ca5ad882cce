// SPDX-License-Identifier: Apache-2.0
// The window with models of depth and of segments, and with the reuse of rows.

#include <cmath>

#include "gui/models/readout.h"
#include "gui/views/compare_panel.h"
#include "gui/views/image_view.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/legend_panel.h"
#include "gui/views/pictures_pane.h"
#include "vision/pictures/pictures.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

const QString kDepthNet = MPM_TEST_DATA_DIR "/hf_dpt_depth_ts17.onnx";

// The endings of the files of the one picture that was saved.
QStringList saved(const QString& folder) {
  QStringList endings;
  for (const QString& name : QDir(folder).entryList(QDir::Files, QDir::Name)) endings << name.mid(24);
  return endings;
}

class DepthWindow : public Window {
 protected:
  WindowOptions options() const override {
    WindowOptions options = Window::options();
    options.model = kDepthNet;
    return options;
  }
};

TEST_F(DepthWindow, ShowsColoursScaleAndDepthUnderTheMouse) {
  ASSERT_TRUE(openAndPause());
  const Estimate& estimate = frame()->result.estimate;
  ASSERT_EQ(estimate.depth.size(), frame()->image().size());
  EXPECT_EQ(estimate.tokens.size(), 3U) << "tokens merge as before";
  trigger("mask");
  const auto* const image = part<ImageView>();
  cv::Point lowest, highest;
  cv::minMaxLoc(estimate.depth, nullptr, nullptr, &lowest, &highest);
  const QRectF shown = image->viewport().pictureRect();
  const QImage shot = this->shot(part<ImageView>());
  const auto colorAt = [&](cv::Point at) {
    return shot.pixel(QPointF(shown.left() + (at.x + 0.5) / estimate.depth.cols * shown.width(),
                              shown.top() + (at.y + 0.5) / estimate.depth.rows * shown.height())
                          .toPoint());
  };
  const auto near = [](QRgb color, const cv::Vec3b& expected) {
    return std::abs(qBlue(color) - expected[0]) + std::abs(qGreen(color) - expected[1]) +
           std::abs(qRed(color) - expected[2]);
  };
  EXPECT_LT(near(colorAt(lowest), vision::depthColors().front()), 40) << "the pixel of the screen may be beside it";
  EXPECT_LT(near(colorAt(highest), vision::depthColors().back()), 40);

  const QString scale = textIn<LegendPanel>();
  const auto number = [](double depth) { return QLocale().toString(depth, 'g', 4); };
  EXPECT_THAT(scale,
              AllOf(Has(number(estimate.depth_range.min)), Has(number(estimate.depth_range.max)), Has("relative")));

  const QPointF there((highest.x + 0.5) / estimate.depth.cols, (highest.y + 0.5) / estimate.depth.rows);
  EXPECT_EQ(readout(*frame(), there), depthValue(estimate.depth_range.max, DepthUnit::kRelative));
  part<PatchSelection>()->point(0, there);
  EXPECT_THAT(textIn<InspectorPanel>(), AllOf(Has(number(estimate.depth_range.max)), Not(Has("does not segment"))));

  part<PatchSelection>()->point(0, QPointF(0.25, 0.25));
  const QPoint corner = (shown.topLeft() + QPointF(shown.width(), shown.height()) / 4).toPoint() + QPoint(16, 16);
  EXPECT_LT(qGray(this->shot(part<ImageView>()).pixel(corner)), qGray(shot.pixel(corner)) / 2)
      << "the depth stands on black beside the cursor";
}

TEST_F(DepthWindow, SaysWhyItTeachesNothingAndStoresTokens) {
  ASSERT_TRUE(openAndWait());
  for (const char* id : {"teach", "take", "tune", "classes"}) {
    const QAction* const action = this->action(id);
    EXPECT_FALSE(action->isEnabled()) << id;
    EXPECT_THAT(action->toolTip(), Has("not with a model of depth")) << id;
  }
  ASSERT_TRUE(wait([&] { return session().status().store->samples > 0; }));
  trigger("compare");
  ASSERT_TRUE(wait([&] { return frame()->comparison.has_value(); }));
  EXPECT_FALSE(frame()->comparison->agreement);
  EXPECT_GT(frame()->comparison->depth_difference.value_or(0), 0);
  EXPECT_TRUE(says(part<ComparePanel>(), "The depths differ by"));

  window_->opener().open(Window::options().model);
  ASSERT_TRUE(wait([&] { return frame() && !frame()->labels().empty(); }));
  EXPECT_TRUE(action("teach")->isEnabled());
  EXPECT_THAT(textIn<LegendPanel>(), Not(Has("Depth of this frame"))) << "the classes are back";
  EXPECT_NE(part<ImagePane>()->paint().color[1], qRgb(0, 0, 0));
}

TEST_F(DepthWindow, SavesDepthAndShowsItAgain) {
  ASSERT_TRUE(openAndWait() && stores());
  trigger("pause");
  QSignalSpy listed(part<PictureStore>(), &PictureStore::listed), loaded(part<PictureStore>(), &PictureStore::loaded);
  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  EXPECT_EQ(part<PictureStore>()->pictures().size(), 1U) << "the maps are no pictures of their own";
  EXPECT_EQ(saved(file("pictures")), (QStringList{".json", ".png", "_depth.png", "_depth_colors.png"}));
  emit part<ChartPanel>()->chart()->timePicked(part<PictureStore>()->pictures().front().time);
  ASSERT_TRUE(wait([&] { return loaded.count() == 1; }));
  EXPECT_EQ(frame()->overlay.size(), frame()->image().size());
  trigger("unpin");
  EXPECT_FALSE(frame()->map.empty());
}

// A window with a model of segments, which has these facts beside it.
class ModelWindow : public Window {
 protected:
  WindowOptions optionsWith(const char* model, const char* facts) const {
    WindowOptions options = Window::options();
    options.model = file("model.onnx");
    QFile::copy(QStringLiteral(MPM_TEST_DATA_DIR "/") + model, options.model);
    write(file("model.json"), facts);
    options.inference.min_score = 0.2;
    return options;
  }
};

class SegmentsWindow : public ModelWindow {
 protected:
  WindowOptions options() const override {
    WindowOptions options =
        optionsWith("hf_eomt_ts17.onnx", R"({"task": "panoptic", "classes": [{"name": "road", "color": "#c80000"},
                                {"name": "car"}, {"name": "tree"}, {"name": "sky"}]})");
    options.inference.min_overlap = 0.1;
    return options;
  }
};

TEST_F(SegmentsWindow, ListsNamesAndSavesTheSegments) {
  // The model finds no segments in smooth pictures.
  cv::imwrite(file("noise.png").toStdString(), mpm::test::noisePicture(48, 96));
  camera().open(file("noise.png"));
  ASSERT_TRUE(runs());
  const Estimate& estimate = frame()->result.estimate;
  ASSERT_GT(estimate.segments.size(), 0U);
  const auto* const tables = part<LegendPanel>();
  const QTableView* segments = nullptr;
  for (const auto* table : tables->findChildren<QTableView*>())
    if (table->isVisible()) segments = table;
  ASSERT_NE(segments, nullptr);
  ASSERT_EQ(segments->accessibleName(), "Segments");
  const QAbstractItemModel* const rows = segments->model();
  EXPECT_EQ(static_cast<std::size_t>(rows->rowCount()), estimate.segments.size());
  const auto largest = std::max_element(estimate.segments.begin(), estimate.segments.end(),
                                        [](const Segment& a, const Segment& b) { return a.area < b.area; });
  EXPECT_EQ(rows->index(0, 0).data().toString(), part<LegendModel>()->name(largest->label));
  EXPECT_EQ(rows->index(0, 0).data(Qt::DecorationRole).value<QColor>(), part<LegendModel>()->color(largest->label));

  for (int y = 0; y < estimate.ids.rows; y += 7) {
    for (int x = 0; x < estimate.ids.cols; x += 7) {
      const QPointF at((x + 0.5) / estimate.ids.cols, (y + 0.5) / estimate.ids.rows);
      const int id = estimate.ids.at<std::uint16_t>(y, x);
      const Segment* const there = frame()->segmentAt(at);
      ASSERT_EQ(there ? there->id : 0, id);
      ASSERT_EQ(frame()->map.at<std::uint8_t>(y, x), there ? there->label : 255);
      ASSERT_THAT(readout(*frame(), at), Begins(there ? part<LegendModel>()->name(there->label) : "no segment"));
    }
  }
  EXPECT_FALSE(frame()->sample.whole().areas.empty()) << "classes are stored as those of any model";

  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  EXPECT_EQ(saved(file("pictures")), (QStringList{".json", ".png", "_overlay.png", "_segments.json", "_segments.png"}));
  EXPECT_EQ(camera().config().min_score, 0.2);
  EXPECT_EQ(camera().config().min_overlap, 0.1);
}

class BoxesWindow : public ModelWindow {
 protected:
  WindowOptions options() const override {
    WindowOptions options =
        optionsWith("hf_rf_detr_dynamo18.onnx", R"({"task": "boxes", "classes": [{"name": "person", "color": "#c80000"},
                                {"name": "car", "color": "#00c800"}, {"name": "dog", "color": "#0000c8"},
                                {"name": "cat", "color": "#c8c800"}]})");
    options.inference.reduce = kFullModel;  // its windows do not merge
    return options;
  }
};

TEST_F(BoxesWindow, ShowsNamesScoresAndBoxes) {
  cv::imwrite(file("noise.png").toStdString(), mpm::test::noisePicture(48, 96));
  camera().open(file("noise.png"));
  ASSERT_TRUE(wait([&] { return frame() && frame()->result.estimate.task == Task::kBoxes; }));
  const Estimate& estimate = frame()->result.estimate;
  ASSERT_GT(estimate.segments.size(), 0U);
  const QTableView* segments = nullptr;
  for (const auto* table : part<LegendPanel>()->findChildren<QTableView*>())
    if (table->isVisible()) segments = table;
  ASSERT_NE(segments, nullptr);
  ASSERT_EQ(static_cast<std::size_t>(segments->model()->rowCount()), estimate.segments.size());
  std::vector<std::string> listed, expected;
  for (int row = 0; row < segments->model()->rowCount(); ++row) {
    listed.push_back((segments->model()->index(row, 0).data().toString() + QLatin1Char(' ') +
                      segments->model()->index(row, 1).data().toString())
                         .toStdString());
  }
  for (const Segment& one : estimate.segments) {
    expected.push_back(
        (part<LegendModel>()->name(one.label) + QStringLiteral(" %1 %").arg(std::lround(100 * one.score)))
            .toStdString());
  }
  EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(expected));
  EXPECT_TRUE(frame()->map.empty()) << "what is in a box is seen";

  // Pixels in the colour of the best object on the sides of its box; none when the picture alone or another class is
  // shown.
  const auto* const view = part<ImageView>();
  const Segment& best = estimate.segments.front();
  const QColor color = part<LegendModel>()->color(best.label);
  const auto onSides = [&] {
    const QImage shot = this->shot(part<ImageView>());
    const cv::Rect2d& box = *best.box;
    const QRectF place(view->viewport().toWidget({box.x, box.y}), view->viewport().toWidget({box.br().x, box.br().y}));
    int found = 0;
    for (int y = 0; y < shot.height(); ++y) {
      for (int x = 0; x < shot.width(); ++x) {
        const bool near = place.adjusted(-2, -2, 2, 2).contains(x, y) && !place.adjusted(2, 2, -2, -2).contains(x, y);
        found += near && shot.pixelColor(x, y) == color;
      }
    }
    return found;
  };
  trigger("overlay");
  EXPECT_GT(onSides(), 20);
  trigger("image");
  EXPECT_EQ(onSides(), 0);
  trigger("overlay");
  part<LegendModel>()->setAllVisible(false);
  EXPECT_EQ(onSides(), 0);
  part<LegendModel>()->setAllVisible(true);

  const cv::Point inside(std::clamp(static_cast<int>(best.box->x + best.box->width / 2), 0, 95),
                         std::clamp(static_cast<int>(best.box->y + best.box->height / 2), 0, 47));
  EXPECT_THAT(readout(*frame(), {(inside.x + 0.5) / 96, (inside.y + 0.5) / 48}),
              Begins(part<LegendModel>()->name(best.label)));
  for (const auto& [label, area] : frame()->sample.whole().areas) EXPECT_LT(label, 4) << "no area of no class";
  EXPECT_FALSE(frame()->sample.whole().areas.empty());
  EXPECT_FALSE(action("tune")->isEnabled());

  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  EXPECT_EQ(saved(file("pictures")), (QStringList{".json", ".png", "_overlay.png", "_segments.json", "_segments.png"}));
}

// A camera that stands still: one corner changes from frame to frame.
class ReuseWindow : public Window {
 protected:
  WindowOptions options() const override {
    WindowOptions options = Window::options();
    options.inference.reuse = parseReuse("threshold=12");
    return options;
  }
  bool openYard() {
    QDir(folder_.path()).mkpath("yard");
    for (int i = 0; i < 40; ++i) {
      cv::Mat yard = mpm::test::smoothPicture(160, 320, 2);
      mpm::test::smoothPicture(80, 80, 101 + i).copyTo(yard(cv::Rect(0, 0, 80, 80)));  // 2x2 of 8x4 patches
      cv::imwrite(path("yard/%1.png", i), yard);
    }
    camera().open(file("yard"));
    return wait([&] { return frame() && !frame()->row_age.empty() && frame()->row_age.back() > 1; });
  }
};

TEST_F(ReuseWindow, ShowsWhatWasComputedAndHowLongTheRestIsKept) {
  ASSERT_TRUE(openYard());
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
