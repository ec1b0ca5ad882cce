// SPDX-License-Identifier: Apache-2.0
// Regions in the app: they are drawn, changed, kept per source, and come from files.

#include <algorithm>

#include "gui/views/image_view.h"
#include "gui/views/legend_panel.h"
#include "gui/views/look.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/region_canvas.h"
#include "gui/views/regions_dialog.h"
#include "monitor/statistics/region_meter.h"
#include "vision/labels/classes.h"
#include "vision/regions/region.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class Regions : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    ASSERT_TRUE(openAndPause());
  }
  RegionsDialog* ask() {
    trigger("regions");
    settle();  // the one before is gone, this one has its size
    return dialog_ = window_->findChild<RegionsDialog*>();
  }
  RegionCanvas* canvas() const { return dialog_->findChild<RegionCanvas*>(); }
  // Of the picture of 320x160.
  QPoint at(double x, double y) const { return canvas()->viewport().toWidget({x, y}).toPoint(); }
  void click(double x, double y) const { QTest::mouseClick(canvas(), Qt::LeftButton, {}, at(x, y)); }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) const { QTest::keyClick(canvas(), key, modifiers); }
  void draw(double left, double top, double right, double bottom) const {
    click(left, top);
    click(right, top);
    click(right, bottom);
    click(left, bottom);
    key(Qt::Key_Return);
  }
  void drag(QPointF from, QPointF to) const {
    QTest::mousePress(canvas(), Qt::LeftButton, {}, at(from.x(), from.y()));
    QTest::mouseMove(canvas(), at(to.x(), to.y()));
    QTest::mouseRelease(canvas(), Qt::LeftButton, {}, at(to.x(), to.y()));
  }
  QPushButton* ok() const { return dialog_->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok); }
  const std::vector<vision::Region>& drawn() const { return dialog_->regions(); }
  int inside(const vision::Region& region) const { return cv::countNonZero(vision::maskOf(region, {320, 160})); }
  // The first region in a list of `panel`, once it is there.
  bool pick(const QWidget* panel, const char* list) const {
    auto* regions = fieldOf<QComboBox>(panel, list);
    if (!regions || !wait([&] { return regions->isVisible() && regions->count() == 2; })) return false;
    QTest::keyClick(regions, Qt::Key_Down);
    return regions->currentIndex() == 1;
  }
  const std::vector<RegionOutline>& live() const { return part<ImagePane>()->image()->regions(); }

  RegionsDialog* dialog_ = nullptr;
};

TEST_F(Regions, DrawnOneIsKeptOverARestart) {
  ask();
  EXPECT_TRUE(drawn().empty());
  draw(40, 20, 240, 120);
  ASSERT_EQ(drawn().size(), 1U);
  EXPECT_NEAR(inside(drawn()[0]), 200 * 100, 900);
  EXPECT_EQ(drawn()[0].name, "Region 1");
  QTest::keyClicks(dialog_->findChild<QLineEdit*>(), "Meadow");
  EXPECT_EQ(drawn()[0].name, "Meadow") << "the name is selected: typing replaces it";
  const QImage before = shot(part<ImagePane>()->image());
  ok()->click();
  ASSERT_EQ(live().size(), 1U);
  EXPECT_NE(shot(part<ImagePane>()->image()), before);
  trigger("region_outlines");
  EXPECT_EQ(shot(part<ImagePane>()->image()), before);

  window_->leave();
  make();
  ASSERT_TRUE(openAndPause());
  EXPECT_FALSE(action("region_outlines")->isChecked()) << "outlines stay hidden";
  trigger("region_outlines");
  ASSERT_EQ(live().size(), 1U);
  EXPECT_EQ(live()[0].region.name, "Meadow");
  ask();
  drag({240, 120}, {300, 150});
  EXPECT_GT(inside(drawn()[0]), 200 * 100 + 2000);
  dialog_->reject();
  EXPECT_TRUE(dialog_->isVisible()) << "it asks before work is lost";
  buttonOf(childOf<QMessageBox>(dialog_), RegionsDialog::tr("Drop"))->click();
  EXPECT_FALSE(dialog_->isVisible());
  EXPECT_NEAR(inside(live()[0].region), 200 * 100, 900) << "Cancel leaves it";
  camera().open(QString::fromStdString(path("street/%1.png", 3)));
  EXPECT_TRUE(live().empty()) << "of another source";
}

TEST_F(Regions, EnterEndsTheNameAndDatesBeginWithThePicture) {
  ask();
  draw(290, 100, 318, 158);
  auto* name = dialog_->findChild<QLineEdit*>();
  QTest::keyClicks(name, "Meadow");
  QTest::keyClick(name, Qt::Key_Return);
  EXPECT_TRUE(dialog_->isVisible()) << "Enter is no OK";
  EXPECT_FALSE(name->hasFocus());
  for (auto* edit : dialog_->findChildren<QDateTimeEdit*>()) {
    EXPECT_EQ(vision::CameraClock::ofMachine().time(edit->dateTime().toMSecsSinceEpoch()) / kMinuteMs,
              frame()->result.frame.time / kMinuteMs);
  }
  auto* image = part<ImagePane>()->image();
  const QImage before = shot(image);
  ok()->click();
  const QImage after = shot(image);
  const QPoint left_of_it = image->viewport().toWidget({284, 108}).toPoint();
  EXPECT_NE(after.pixel(left_of_it), before.pixel(left_of_it)) << "its name does not reach out of the picture";
}

TEST(RegionsDialog, SaysInItsWordsWhatIsRefused) {
  const vision::Region door = {.name = "door", .size = {320, 160}, .polygons = {{{0, 0}, {9, 0}, {9, 9}}}};
  vision::Region unnamed = door, thin = door, before = door, until = door;
  unnamed.name.clear();
  thin.polygons = {{{0, 0}, {9, 0}, {19, 0}}};
  before.from = 2000;
  before.to = until.to = 1000;
  until.from = 500;
  const std::pair<std::vector<vision::Region>, const char*> refused[] = {
      {{unnamed}, "A region has no name"},
      {{thin}, "Region door has no area"},
      {{before}, "Region door ends before it begins"},
      {{door, door}, "Two regions have the name door"},
      {{until, until}, "Two regions with the name door are valid at the same time"}};
  const LiveFramePtr shown = makeLiveFrame(cv::Mat(160, 320, CV_8UC3, cv::Scalar::all(0)));
  for (const auto& [regions, why] : refused) {
    const RegionsDialog dialog("street", regions, *shown, {});
    EXPECT_THAT(textOf(&dialog), Has(why));
  }
}

TEST_F(Regions, KeyboardAloneDrawsAndMoves) {
  ask();
  canvas()->setFocus();
  for (const auto& [way, times] :
       {std::pair(Qt::Key_Right, 10), std::pair(Qt::Key_Down, 5), std::pair(Qt::Key_Left, 10)}) {
    key(Qt::Key_Space);
    for (int i = 0; i < times; ++i) key(way);
  }
  key(Qt::Key_Space);
  EXPECT_FALSE(ok()->isEnabled()) << "a polygon is begun";
  key(Qt::Key_Return);
  ASSERT_EQ(drawn().size(), 1U);
  EXPECT_TRUE(ok()->isEnabled());
  const int area = inside(drawn()[0]);
  key(Qt::Key_Space);  // the last corner is under the cross
  for (int i = 0; i < 5; ++i) key(Qt::Key_Left, Qt::ShiftModifier);
  key(Qt::Key_Space);
  EXPECT_GT(inside(drawn()[0]), area);
  key(Qt::Key_Space);
  EXPECT_EQ(drawn().size(), 1U);
  key(Qt::Key_Escape);
  EXPECT_TRUE(dialog_->isVisible());
  EXPECT_TRUE(ok()->isEnabled());
}

TEST_F(Regions, WhatMakesNoSenseIsRefusedInOneLine) {
  ask();
  draw(10, 10, 100, 60);
  draw(110, 10, 200, 60);
  auto* name = dialog_->findChild<QLineEdit*>();
  const auto refused = [&](const char* text) { return !ok()->isEnabled() && textOf(dialog_).contains(text); };
  EXPECT_TRUE(ok()->isEnabled());
  name->clear();
  QTest::keyClicks(name, "Region 1");
  EXPECT_TRUE(refused("Two regions have the name Region 1")) << textOf(dialog_);
  const auto boxes = dialog_->findChildren<QDateTimeEdit*>();
  ASSERT_EQ(boxes.size(), 2);
  const auto checks = dialog_->findChildren<QCheckBox*>();
  ASSERT_EQ(checks.size(), 4);
  checks[2]->setChecked(true);
  boxes[0]->setDateTime(QDateTime(QDate(2026, 5, 1), QTime(0, 0)));
  EXPECT_TRUE(refused("Two regions with the name Region 1"));
  dialog_->findChild<QListWidget*>()->setCurrentRow(0);
  EXPECT_FALSE(checks[2]->isChecked());
  checks[3]->setChecked(true);
  boxes[1]->setDateTime(QDateTime(QDate(2026, 5, 1), QTime(0, 0)));
  EXPECT_TRUE(ok()->isEnabled()) << "one name, one after the other: " << textOf(dialog_);
  EXPECT_EQ(*drawn()[0].to, *drawn()[1].from);
  dialog_->findChild<QListWidget*>()->setFocus();
  QTest::keyClick(dialog_->findChild<QListWidget*>(), Qt::Key_Delete);
  EXPECT_EQ(drawn().size(), 1U);
}

TEST_F(Regions, FilesAreReadAndWritten) {
  ask();
  draw(10, 10, 100, 60);
  draw(110, 10, 200, 60);
  dialog_->findChildren<QCheckBox*>()[0]->setChecked(true);
  EXPECT_TRUE(drawn()[1].ignore);
  dialog_->findChildren<QCheckBox*>()[1]->setChecked(true);
  EXPECT_TRUE(drawn()[1].cut_out_s);
  dialog_->findChildren<QCheckBox*>()[1]->setChecked(false);
  EXPECT_FALSE(drawn()[1].cut_out_s);
  ok()->click();
  const auto stored = [&] {
    const std::string path = camera().config().regions;
    return wait([&] { return QFile::exists(QString::fromStdString(path)); }) ? vision::readRegions(path)
                                                                             : std::vector<vision::Region>();
  };
  EXPECT_EQ(stored().size(), 2U) << "the watch file names a file that holds them";
  ask();
  dialog_->write(file("zones.json"));
  ok()->click();
  ask();
  dialog_->read(file("zones.json"));
  EXPECT_FALSE(ok()->isEnabled()) << "each name twice";
  while (drawn().size() > 2) buttonOf(dialog_, RegionsDialog::tr("Delete"))->click();
  EXPECT_TRUE(ok()->isEnabled());
  drag({10, 10}, {20, 20});
  ok()->click();
  EXPECT_TRUE(wait([&] {
    return toJson(stored()[0]) != toJson(vision::readRegions(file("zones.json").toStdString())[0]);
  })) << "and is written again";
  ask();
  cv::imwrite(file("m.png").toStdString(), cv::Mat(8, 8, CV_8UC1, cv::Scalar(255)));
  dialog_->read(file("m.png"));
  EXPECT_THAT(textOf(dialog_), Has("m.png"));
  EXPECT_TRUE(ok()->isEnabled()) << "nothing of it came in";
  while (!drawn().empty()) buttonOf(dialog_, RegionsDialog::tr("Delete"))->click();
  ok()->click();
  EXPECT_EQ(camera().config().regions, "none") << "else those of the database would count";
}

TEST(RegionsDialog, DatesAreThoseOfTheCamerasClock) {
  const UnixMs noon = 1780315200000;  // UTC
  const vision::Region lake{.name = "lake", .size = {320, 160}, .polygons = {{{0, 0}, {9, 0}, {9, 9}}}, .from = noon};
  LiveFrame shown = *makeLiveFrame(cv::Mat(160, 320, CV_8UC3, cv::Scalar::all(0)));
  shown.result.frame.time = noon;
  RegionsDialog dialog("yard", {lake}, shown, vision::CameraClock("+09:00"));
  auto* from = fieldOf<QDateTimeEdit>(&dialog, "Valid from");
  EXPECT_EQ(from->text(), "1 Jun 2026 21:00") << "as the app writes it elsewhere";
  from->setTime({22, 0});
  EXPECT_EQ(dialog.regions()[0].from, noon + kHourMs);
  const mpm::test::TemporaryFolder folder;
  const std::string list = folder / "lake_DB_1000_roi.csv";
  cv::imwrite(folder / "mask.png", cv::Mat(160, 320, CV_8UC1, cv::Scalar(0)));
  std::ofstream(list) << "# Veg Type: DB\n# ROI ID Number: 1000\nstart_date,start_time,end_date,end_time,maskfile,"
                         "sample_image\n2026-06-01,21:00:00,9999-12-31,23:59:59,mask.png,a.jpg\n";
  dialog.read(QString::fromStdString(list));
  ASSERT_EQ(dialog.regions().size(), 2U);
  EXPECT_EQ(dialog.regions()[1].from, noon);
}

TEST_F(Regions, DrawnOnAViewThatMovedTheyAreKeptMovedBack) {
  LiveFrame shown = *makeLiveFrame(cv::Mat(160, 320, CV_8UC3, cv::Scalar::all(0)));
  shown.sample.view_offset = {.right = 24, .down = -8};
  const vision::Region lake{.name = "lake", .size = {320, 160}, .polygons = {{{60, 60}, {99, 60}, {99, 99}, {60, 99}}}};
  dialog_ = new RegionsDialog("yard", {lake}, shown, {}, window_.get());
  openDialog(dialog_);
  settle();
  draw(140, 20, 240, 60);
  ASSERT_EQ(drawn().size(), 2U);
  const auto placeOf = [](const vision::Region& region) {
    return cv::boundingRect(vision::maskOf(region, {320, 160}));
  };
  const auto isAbout = [](const cv::Rect& place, const cv::Rect& wanted) {
    return std::abs(place.x - wanted.x) < 3 && std::abs(place.y - wanted.y) < 3 &&
           std::abs(place.width - wanted.width) < 4 && std::abs(place.height - wanted.height) < 4;
  };
  EXPECT_TRUE(isAbout(placeOf(drawn()[1]), {116, 28, 101, 41})) << placeOf(drawn()[1]);
  const cv::Rect measured = cv::boundingRect(monitor::movedMask(drawn()[1], {320, 160}, shown.sample.view_offset));
  EXPECT_TRUE(isAbout(measured, {140, 20, 101, 41})) << measured << " where it was drawn";
  drag({60.5 + 24, 60.5 - 8}, {70, 40});  // a corner of the lake, where it is shown
  EXPECT_TRUE(isAbout(placeOf(drawn()[0]), {46, 48, 54, 52})) << placeOf(drawn()[0]);
  draw(2, 100, 60, 156);
  EXPECT_TRUE(ok()->isEnabled()) << "what reaches out of the view before is cut off: " << textOf(dialog_);
}

TEST_F(Regions, ItsChartIsDrawnAlsoAfterARestart) {
  ask();
  draw(40, 20, 240, 120);
  const cv::Mat mask = vision::maskOf(drawn()[0], {320, 160});
  ok()->click();
  trigger("pause");
  ASSERT_TRUE(pick(part<ChartPanel>(), "Region whose numbers are drawn"));
  part<ChartPanel>()->findChild<QAction*>("gcc")->trigger();
  const auto gcc = [&]() -> std::optional<charts::Spread> {
    const TimeChart& chart = *part<ChartPanel>()->chart();
    const auto& series = chart.series();
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (series[i].quantity.quantity == "gcc" && series[i].quantity.region == "Region 1") {
        for (const charts::ChartBucket& bucket : chart.chart().buckets)
          if (bucket.values[i].samples > 0) return bucket.values[i];
      }
    }
    return std::nullopt;
  };
  ASSERT_TRUE(wait([&] { return gcc().has_value(); }));
  double low = 1, high = 0;
  for (int i = 0; i < 40; ++i) {
    const cv::Scalar mean = cv::mean(mpm::test::smoothPicture(160, 320, i + 1), mask);
    low = std::min(low, mean[1] / (mean[0] + mean[1] + mean[2]));
    high = std::max(high, mean[1] / (mean[0] + mean[1] + mean[2]));
  }
  EXPECT_GE(gcc()->min, low - 0.01);
  EXPECT_LE(gcc()->max, high + 0.01);
  window_->leave();
  make();
  EXPECT_TRUE(wait([&] { return gcc().has_value(); })) << "the same chart";
}

TEST_F(Regions, LegendHasTheAreasWithinOne) {
  ask();
  draw(0, 0, 160, 160);
  draw(20, 20, 60, 60);
  dialog_->findChildren<QCheckBox*>()[0]->setChecked(true);
  cv::Mat mask = vision::maskOf(drawn()[0], {320, 160});
  mask.setTo(0, vision::maskOf(drawn()[1], {320, 160}));
  ok()->click();
  const LiveFramePtr shown = frame();
  ASSERT_TRUE(pick(part<LegendPanel>(), "Where the areas are measured"));
  for (const auto& [label, share] : vision::classAreas(shown->labels(), mask)) {
    EXPECT_NEAR(part<LegendModel>()->index(label, LegendModel::kArea).data(LegendModel::kSortRole).toDouble(), share,
                1e-9);
  }
}

TEST(ImageView, OutlinesFollowTheCamera) {
  PatchSelection cross;
  ImageView view(&cross);
  view.resize(640, 320);
  view.setRegions({{.name = "yard", .size = {320, 160}, .polygons = {{{40, 40}, {90, 40}, {90, 90}, {40, 90}}}}});
  const auto leftEdge = [&](double moved) {
    auto frame = std::make_shared<LiveFrame>(*makeLiveFrame(cv::Mat(160, 320, CV_8UC3, cv::Scalar::all(0))));
    frame->sample.view_offset.right = moved;
    view.setFrame(frame);
    const QImage shown = view.grab().toImage();
    int x = 0;
    while (x < shown.width() - 1 && qGray(shown.pixel(x, 150)) < 100) ++x;
    return x;
  };
  EXPECT_NEAR(leftEdge(0), 80, 4);
  EXPECT_NEAR(leftEdge(12) - leftEdge(0), 24, 1);
}

TEST(ImageView, ANameIsReadWithinThePictureAndBelowABanner) {
  PatchSelection cross;
  ImageView view(&cross);
  view.resize(840, 320);  // 100 px beside the picture
  view.setFrame(makeLiveFrame(cv::Mat(160, 320, CV_8UC3, cv::Scalar::all(255))));
  view.setRegions({{.name = std::string(200, 'x'), .size = {320, 160}, .polygons = {{{0, 0}, {90, 0}, {90, 90}}}}});
  for (const char* banner : {"", "Stored"}) {
    view.setBanner(banner);
    const QImage shown = view.grab().toImage();
    const auto dark = [&](int x, int y) { return qGray(shown.pixel(x, y)) < 150; };
    int below = 0;  // the banner
    while (below < 100 && dark(50, below)) ++below;
    int plate = 0;
    for (int x = 120; x < 740; ++x) plate += dark(x, below + 8);
    EXPECT_GT(plate, 300) << banner;
    for (int y = below; y < shown.height(); ++y) EXPECT_FALSE(dark(760, y)) << banner << y;
  }
}

}  // namespace
}  // namespace mpm::gui
