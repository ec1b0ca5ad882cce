// SPDX-License-Identifier: Apache-2.0
// What a person hid is not seen in the app, and no picture of another camera is.

#include <sys/stat.h>

#include "gui/controllers/calendar_browser.h"
#include "gui/views/label_pictures_panel.h"
#include "monitor/store/snapshot.h"
#include "vision/pictures/pictures.h"
#include "vision/regions/region.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class PrivacyInTheApp : public OwnWindow {
 protected:
  // Of pictures of 320 x 160 px.
  static std::vector<vision::Region> left() {
    return {{.name = "left", .size = {320, 160}, .polygons = {{{0, 0}, {99, 0}, {99, 159}, {0, 159}}}}};
  }
  static monitor::PrivacyOptions hidesLeft() { return {.hidden = left()}; }
  static bool covers(const cv::Mat& image) {
    return cv::countNonZero(image.colRange(2, 95).reshape(1)) == 0 &&
           cv::countNonZero(image.colRange(105, 320).reshape(1)) > 0;
  }
  /// Instead of the window.
  void storePrivacy() {
    window_.reset();
    monitor::StoreWriter writer(file("m.db").toStdString());
    writer.setPrivacy(file("street").toStdString(), hidesLeft().json());
    EXPECT_TRUE(writer.flush());
  }
  // The watch file of the app says it of the source that it opens next.
  void hide(const std::string& of) {
    monitor::CameraConfig watch = part<CameraConfigs>()->config(file("street"));
    watch.hide = of;
    part<CameraConfigs>()->follow(watch);
  }
  void hide() {
    vision::writeRegions(file("hide.json").toStdString(), left());
    hide(file("hide.json").toStdString());
  }
  bool takesSnapshot() {
    const auto before = part<PictureStore>()->pictures().size();
    trigger("snapshot");
    return wait([&] { return part<PictureStore>()->pictures().size() > before; });
  }
  void click(double time) { emit part<ChartPanel>()->chart()->timePicked(time); }
  static int rights(const QString& file) {
    struct stat status {};
    EXPECT_EQ(stat(file.toStdString().c_str(), &status), 0) << file;
    return status.st_mode & 0777;
  }
};

TEST_F(PrivacyInTheApp, ASourceKeepsItUntilAPersonSaysOtherwise) {
  storePrivacy();
  make();
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(covers(frame()->image())) << "nothing was said here: the database says it";
  EXPECT_TRUE(wait([&] { return reported(monitor::EventKind::kSource, "pictures hide left"); }));
  camera().close();
  hide("none");
  ASSERT_TRUE(openAndWait());
  EXPECT_FALSE(covers(frame()->image()));
}

TEST_F(PrivacyInTheApp, AStoredPictureDoesNotShowWhatIsHiddenByNow) {
  make();
  ASSERT_TRUE(openAndPause() && stores() && takesSnapshot());
  const double time = part<PictureStore>()->pictures()[0].time;
  storePrivacy();
  make();
  ASSERT_TRUE(stores() && wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  click(time);
  ASSERT_TRUE(wait([&] { return frame() != nullptr; }));
  EXPECT_TRUE(covers(frame()->image()));
  EXPECT_TRUE(covers(frame()->overlay));
  check("teach", true);
  trigger("take");
  const QDir taken(file("m.labels/pictures"));
  ASSERT_TRUE(wait([&] { return !taken.entryList({"*.png"}).isEmpty(); }));
  const QString copy = taken.filePath(taken.entryList({"*.png"})[0]);
  EXPECT_TRUE(covers(cv::imread(copy.toStdString())));
  EXPECT_EQ(rights(copy) & 0007, 0);
}

// Two cameras of one stream store into one folder.
TEST_F(PrivacyInTheApp, PicturesOfAnotherCameraAreNotShown) {
  make();
  ASSERT_TRUE(openAndPause() && stores() && takesSnapshot());
  const monitor::StoredFrame own =
      monitor::readStored(part<PictureStore>()->pictures()[0].path.chopped(4).toStdString());
  ASSERT_NE(own.owner.database, "");
  const LiveFramePtr live = frame();
  monitor::InferenceResult later = live->result;
  later.frame.time = own.time + 3600 * 1000;
  monitor::writeSnapshot(file("pictures").toStdString(), later, live->sample, {own.owner.source, "another"});
  part<PictureStore>()->list();
  ASSERT_TRUE(wait([&] { return part<PictureStore>()->pictures().size() == 2; }));
  EXPECT_EQ(part<ChartPanel>()->chart()->scene().pictures.size(), 1U);
  click(static_cast<double>(later.frame.time) / 1000);
  EXPECT_TRUE(noticed("No picture is stored near that time"));
  EXPECT_EQ(frame(), live);
  click(static_cast<double>(own.time) / 1000);
  EXPECT_TRUE(wait([&] { return frame() != live; }));
}

TEST_F(PrivacyInTheApp, WhatIsSaidNowIsHiddenInTheFrameThatStandsStill) {
  make();
  ASSERT_TRUE(openAndPause() && stores());
  ASSERT_FALSE(covers(frame()->image()));
  hide();
  emit part<CameraConfigs>()->changed(file("street"));
  EXPECT_TRUE(wait([&] { return covers(frame()->image()); }));
  ASSERT_TRUE(takesSnapshot());
  const QString picture = part<PictureStore>()->pictures()[0].path;
  EXPECT_TRUE(covers(cv::imread(picture.toStdString())));
  EXPECT_EQ(rights(picture) & 0007, 0);
}

// The database does not know yet what its file says: the source was not opened since.
TEST_F(PrivacyInTheApp, WhatIsSaidOfASourceIsHiddenInItsLastPicture) {
  fs::copy(street().path(), folder_.filePath("yard").toStdString());
  storeSamples(file("street").toStdString(), unixNow() - kDayMs, kSecondMs, 3,
               [](monitor::Sample& sample) { sample.picture = "00.png"; });
  make();
  hide();
  camera().open(file("yard"));
  ASSERT_TRUE(runs() && wait([&] { return part<HistorySources>()->name() == file("yard"); }));
  pickSource(file("street"));
  ASSERT_TRUE(wait([&] { return onShow().source().name == file("street") && frame(); }));
  EXPECT_TRUE(covers(frame()->image()));
}

TEST_F(PrivacyInTheApp, OurOwnDatabaseIsNoOtherOneWhereItIsOpenedByItsName) {
  storeSamples(file("street").toStdString(), unixNow() - kDayMs, kSecondMs, 3,
               [](monitor::Sample& sample) { sample.picture = "00.png"; });
  make();
  hide();
  QFile::link(file("m.db"), file("link.db"));
  window_->opener().open(file("link.db"));
  ASSERT_TRUE(wait([&] { return onShow().source().name == file("street") && frame(); }));
  EXPECT_TRUE(covers(frame()->image()));
  EXPECT_FALSE(window_->showsOnlyOthers()) << "in the window that watches";
}

TEST_F(PrivacyInTheApp, ACalendarHasPicturesAtOnceAndHidesThemAtOnce) {
  make();
  ASSERT_TRUE(openAndPause() && stores());
  part<CalendarBrowser>()->setPace(kHourMs);  // how soon it looks by itself
  dock("calendar")->show();
  dock("calendar")->raise();
  CalendarView* const view = part<CalendarPanel>()->view();
  ASSERT_TRUE(wait([&] { return view->calendar().days.size() == 1; }));
  ASSERT_TRUE(view->drawnPictures().empty() && takesSnapshot());
  ASSERT_TRUE(wait([&] { return view->drawnPictures().size() == 1; }));
  const auto isBlack = [&] {
    if (view->drawnPictures().empty()) return false;
    const QRectF place = view->placeOf(0);
    return shot(view).pixelColor(QPointF(place.left() + place.width() / 6, place.center().y()).toPoint()) == Qt::black;
  };
  EXPECT_FALSE(isBlack());
  hide();
  EXPECT_TRUE(wait(isBlack));
}

TEST_F(PrivacyInTheApp, TeachProposesAndKeepsNothingThatIsHidden) {
  make();
  ASSERT_TRUE(openAndPause() && stores() && takesSnapshot()) << "a picture of before";
  camera().close();
  hide();
  ASSERT_TRUE(openAndPause());
  check("teach", true);
  auto* pictures = window_->findChild<LabelPicturesPanel*>();
  trigger("take");
  const QDir taken(file("m.labels/pictures"));
  ASSERT_TRUE(wait([&] { return taken.entryList({"*.png"}).size() == 1; }));
  EXPECT_EQ(rights(taken.filePath(taken.entryList({"*.png"})[0])) & 0007, 0);

  buttonOf(pictures, LabelPicturesPanel::tr("What to label next?"))->click();
  const auto suggestions = [&] { return pictures->findChildren<QToolButton*>("suggestion"); };
  ASSERT_TRUE(wait([&] { return !suggestions().isEmpty(); }));
  QStringList names;
  for (const QToolButton* button : suggestions()) names << button->toolTip().section(QLatin1Char(' '), -1);
  EXPECT_THAT(names, Contains(QFileInfo(part<PictureStore>()->pictures()[0].path).completeBaseName()));
  for (QToolButton* button : suggestions()) button->click();
  ASSERT_TRUE(wait([&] { return taken.entryList({"*.png"}).size() == 1 + names.size(); }));
  for (const QString& name : taken.entryList({"*.png"})) {
    EXPECT_TRUE(covers(cv::imread(taken.filePath(name).toStdString()))) << name;
    EXPECT_EQ(rights(taken.filePath(name)) & 0007, 0) << name;
  }
}

}  // namespace
}  // namespace mpm::gui
