// SPDX-License-Identifier: Apache-2.0
#include "gui/views/cameras_page.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

TEST_F(Window, ShowsTheCamerasOfAWatchFileAndEachOfThem) {
  store(file("yard.db"), "demo:yard", 1780315200000, 1000, 5);
  QDir(folder_.path()).mkpath("shots");
  cv::imwrite(file("shots/2026-06-01T12-00-00.000Z.png").toStdString(), mpm::test::smoothPicture(32, 64, 1));
  std::ofstream(file("shots/2026-06-01T12-00-00.000Z.json").toStdString())
      << R"({"source": "demo:yard", "database": ")" << monitor::StoreReader(file("yard.db").toStdString()).id()
      << R"("})";
  std::ofstream(file("two.toml").toStdString())
      << "[[camera]]\nname = 'yard'\ntitle = 'Our yard'\nsource = 'demo:yard'\ndb = 'yard.db'\nsnapshots = 'shots'\n"
         "[[camera]]\nname = 'road'\ntitle = 'The road, east'\n"
         "source = 'street'\ndb = 'road.db'\nreduce = 'mpm:blocks=2'\nmodel = '"
      << MPM_TEST_DATA_DIR "/segmenter_mask_ts17.onnx"
      << "'\nrefine = 'guided'\nthreads = 2\nmin-score = 0.25\nprecision = 'int8'\nreuse = 'off'\nalarm = "
         "['tokens>9']\n"
         "hide = 'hide.json'\nkeep = 1\non-event = 'touch x'\n";
  std::ofstream(file("hide.json").toStdString())
      << R"({"regions": [{"name": "window", "width": 320, "height": 160, "polygons": [[[0, 0], [159, 0], [159, 159], [0, 159]]]}]})";
  EXPECT_FALSE(action("cameras")->isVisible()) << "there is no file yet";
  window_->opener().openNamed(file("two.toml"));
  auto* page = part<CamerasPage>();
  ASSERT_TRUE(page->isVisible());
  EXPECT_EQ(window_->focusWidget(), page);
  EXPECT_FALSE(dock("chart")->isVisible()) << "the panels are of one camera";
  EXPECT_TRUE(wait([&] { return page->model()->index(0, 0).data().toString().contains("5 sample(s)"); }));

  const auto choose = [page](int row) { emit page->activated(page->model()->index(row, 0)); };
  QTest::keyClick(page, Qt::Key_Return);
  EXPECT_TRUE(page->isVisible()) << "behind the window of what is stored";
  lookAtOther();
  EXPECT_EQ(looked()->windowTitle(), "Our yard, stored in yard.db – MPM Monitor");
  ASSERT_TRUE(wait([&] { return frame() != nullptr; })) << "its last picture, from the folder of the file";
  EXPECT_EQ(frame()->image().cols, 64);
  trigger("next_camera");
  EXPECT_EQ(looked()->windowTitle(), "The road, east, stored in road.db – MPM Monitor");
  EXPECT_EQ(frame(), nullptr);
  trigger("previous_camera");
  ASSERT_TRUE(wait([&] { return frame() && frame()->image().cols == 64; }));
  window_->hide();
  trigger("cameras");
  EXPECT_TRUE(window_->isVisible() && page->isVisible());
  lookAtMain();

  choose(1);
  EXPECT_EQ(window_->windowTitle(), "The road, east – MPM Monitor");
  EXPECT_FALSE(page->isVisible());
  EXPECT_TRUE(dock("chart")->isVisible());
  ASSERT_TRUE(runs()) << "nothing is stored of it, so it is watched here";
  EXPECT_EQ(session().source(), file("street").toStdString());
  EXPECT_EQ(cv::countNonZero(frame()->image().colRange(0, 159).reshape(1)), 0) << "what the file hides";
  EXPECT_GT(cv::countNonZero(frame()->image().colRange(161, 320).reshape(1)), 0);
  const monitor::CameraConfig road = camera().config();
  EXPECT_EQ(road.alarm, std::vector<std::string>{"tokens>9"});
  EXPECT_EQ(road.reduce, "mpm:blocks=2");
  EXPECT_EQ(std::tuple(road.refine, road.threads, road.min_score, road.precision, road.reuse),
            std::tuple("guided", 2, 0.25, "int8", "off"));
  EXPECT_EQ(frame()->result.model->facts.refine, Refine::kGuided) << "it is measured as the file says";
  EXPECT_EQ(frame()->result.model->precision, Precision::kInt8);
  EXPECT_FALSE(road.keep) << "of the database that the file names";
  EXPECT_EQ(road.on_event, "") << "a file that is opened runs nothing";
  trigger("cameras");
  QFile::remove(file("hide.json"));
  choose(1);
  ASSERT_TRUE(runs());
  EXPECT_TRUE(noticed("hide.json"));
  EXPECT_EQ(part<CameraConfigs>()->plan(file("street")).privacy.blurred, std::vector<std::string>{"*"}) << "all";
  trigger("close");
  EXPECT_TRUE(page->isVisible());
  const QSignalSpy chosen(page, &CamerasPage::chosen);
  QTest::mouseClick(page->viewport(), Qt::LeftButton, {}, page->visualRect(page->model()->index(1, 0)).center());
  emit page->activated(page->model()->index(1, 0));
  EXPECT_EQ(chosen.count(), 1) << "also on a desktop where a click activates";
  EXPECT_EQ(window_->windowTitle(), "The road, east – MPM Monitor");
  trigger("close");
  EXPECT_TRUE(page->isVisible());

  window_->opener().open(file("street"));
  ASSERT_TRUE(runs());
  EXPECT_EQ(window_->windowTitle(), "street – MPM Monitor") << "no camera of the file";
  window_->opener().open(file("none.toml"));
  EXPECT_TRUE(noticed("none.toml"));
  trigger("cameras");
  EXPECT_TRUE(page->isVisible());
  window_->close();
  EXPECT_TRUE(dock("chart")->isVisibleTo(window_.get())) << "and is there at the next start";
}

}  // namespace
}  // namespace mpm::gui
