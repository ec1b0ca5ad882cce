// SPDX-License-Identifier: Apache-2.0
// Folders of pictures that have a time.

#include "gui/models/readout.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/folder_bar.h"
#include "gui/views/image_view.h"
#include "gui/views/regions_dialog.h"
#include "vision/regions/region.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

vision::CameraClock machineClock() { return vision::CameraClock::ofMachine().standardTime(unixNow()); }

class Times : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    QDir(folder_.path()).mkpath("dated");
    for (int i = 0; i < 3; ++i) fs::copy_file(path("street/%1.png", i), path("dated/20130708_0554%1.png", 12 - i));
  }
  // The dialog that comes when a folder is opened for the first time, with what it found.
  TimesDialog* ask(const char* folder) {
    window_->opener().open(file(folder));
    auto* dialog = dialogThatComes<TimesDialog>();
    EXPECT_TRUE(wait([&] { return dialog->isVisible(); }));
    return dialog;
  }
  void measure(const char* folder) {
    ask(folder)->accept();
    ASSERT_TRUE(ends());
  }
  bool ends() {
    return wait([&] { return session().isOpen() && session().status().finished; });
  }
  bool allAreStored(int samples = 3) {
    return wait([&] {
      const auto record = part<HistorySources>()->current();
      return record && monitor::StoreReader(file("m.db").toStdString()).count(record->id) == samples;
    });
  }
  std::vector<monitor::Sample> samples() {
    window_.reset();  // stores all
    return allSamples(file("m.db"));
  }
};

TEST_F(Times, AFolderIsAskedForOnce) {
  TimesDialog* dialog = ask("dated");
  EXPECT_FALSE(session().isOpen()) << "not before the answer";
  fieldOf<QLineEdit>(dialog, "Time zone")->setText("+02:00");
  ASSERT_TRUE(wait([&] { return valueOf(dialog, "Found").contains("UTC+02:00"); }));
  EXPECT_EQ(valueOf(dialog, "Found"),
            "20130708_055410.png: 2013-07-08 05:54:10 UTC+02:00, name\n"
            "20130708_055411.png: 2013-07-08 05:54:11 UTC+02:00, name\n"
            "20130708_055412.png: 2013-07-08 05:54:12 UTC+02:00, name");
  dialog->accept();
  ASSERT_TRUE(ends());
  EXPECT_EQ(camera().config().times, "auto");
  EXPECT_EQ(camera().config().time_zone, "+02:00");
  const auto stored = samples();
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_EQ(isoTime(stored[0].time), "2013-07-08T03:54:10Z");
  EXPECT_EQ(stored[2].picture, "20130708_055412.png");

  make();
  window_->opener().open(file("dated"));
  EXPECT_EQ(window_->findChild<TimesDialog*>(), nullptr) << "it is remembered";
  ASSERT_TRUE(ends());
  EXPECT_TRUE(runs()) << "the last one is there to look at";
  EXPECT_EQ(samples().size(), 3u) << "each picture once";
}

// As `mpm monitor` measures it: the pictures of an archive are far apart.
TEST_F(Times, AnArchiveReusesNoRowsUnlessAsked) {
  WindowOptions chosen = options();
  chosen.inference.reduce = kFullModel;
  chosen.choose_reuse = true;
  make(chosen);
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(frame()->result.reuse.on) << "of pictures without times";
  measure("dated");
  EXPECT_FALSE(frame()->result.reuse.on);
}

// Settings may be lost, or those of another computer: pictures with other times would all be measured again.
TEST_F(Times, ADatabaseKnowsTheClockOfItsArchive) {
  TimesDialog* first = ask("dated");
  fieldOf<QLineEdit>(first, "Time zone")->setText("+09:00");
  for (const auto& [field, degrees] : {std::pair("Latitude", 48), {"Longitude", 11}}) {
    buttonOf(first, field)->click();
    fieldOf<QDoubleSpinBox>(first, field)->setValue(degrees);
  }
  first->accept();
  ASSERT_TRUE(ends());
  ASSERT_TRUE(allAreStored());
  window_.reset();

  WindowOptions other = options();
  other.settings = file("other/settings.ini");
  make(other);
  ask("dated")->accept();
  ASSERT_TRUE(ends());
  EXPECT_EQ(camera().config().time_zone, "+09:00");
  EXPECT_EQ(camera().config().lat, 48);
  EXPECT_EQ(camera().config().night, "sun");
  EXPECT_EQ(samples().size(), 3u) << "each picture once";
}

TEST_F(Times, AnArchiveIsShownByTheClockOfItsCamera) {
  TimesDialog* dialog = ask("dated");
  fieldOf<QLineEdit>(dialog, "Time zone")->setText("+09:00");
  ASSERT_TRUE(wait([&] { return valueOf(dialog, "Found").contains("UTC+09:00"); }));
  dialog->accept();
  ASSERT_TRUE(ends());
  ASSERT_TRUE(allAreStored());
  const QString last = QLocale().toString(QDate(2013, 7, 8), "d MMM yyyy") + QStringLiteral(" 05:54:12 UTC+09:00");
  for (const char* text : {"Picture on show", "Frame on show"})
    EXPECT_TRUE(wait([&] { return valueOf(window_.get(), text).contains(last); })) << valueOf(window_.get(), text);
  auto* chart = part<ChartPanel>();
  chart->refresh();
  ASSERT_TRUE(wait([&] { return !chart->chart()->chart().buckets.empty(); }));
  ChartScene scene = chart->chart()->scene();
  scene.crosshair = static_cast<double>(part<HistorySources>()->current()->last) / 1000;
  EXPECT_TRUE(QRegularExpression("2013 05:54:1\\d UTC.09:00").match(scene.crosshairText()).hasMatch())
      << scene.crosshairText();
  emit part<PictureStore>()->failed("the disk");
  EXPECT_THAT(log(), Has(QRegularExpression(R"(\d\d:\d\d:\d\d UTC\+09:00  the disk$)"))) << "as its events";

  const auto same_on_show = [&] {
    EXPECT_THAT(valueOf(window_.get(), "Frame on show"), Has(last));
    EXPECT_EQ(part<ImageView>()->banner(), StoredMoments::tr("Stored picture of %1. Esc: back to live").arg(last));
  };
  emit chart->chart()->timePicked(static_cast<double>(part<HistorySources>()->current()->last) / 1000);
  ASSERT_TRUE(wait([&] { return onShow().stored(); })) << "one of the pictures of the archive";
  same_on_show();
  trigger("unpin");
  ASSERT_FALSE(onShow().stored());
  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  part<PictureStore>()->load(part<PictureStore>()->pictures()[0].path, {}, onShow().ask());
  ASSERT_TRUE(wait([&] { return onShow().stored(); })) << "a snapshot";
  same_on_show();

  WindowOptions other = options();
  other.database = file("other.db");
  other.settings = file("other/settings.ini");  // which say nothing of its times
  make(other);
  openOther(file("m.db"));
  ASSERT_TRUE(wait([&] { return frame() != nullptr; }));
  EXPECT_THAT(valueOf(looked(), "Frame on show"), Has(last)) << "the database knows the clock";
}

TEST_F(Times, PicturesThatHaveOtherTimesAreMeasuredAgain) {
  measure("dated");
  ASSERT_TRUE(allAreStored());
  QFile list(file("times.csv"));
  ASSERT_TRUE(list.open(QIODevice::WriteOnly));
  for (const char* second : {"10", "11", "12"})
    list.write(QStringLiteral("20130708_0554%1.png,2014-01-01 12:00:%1Z\n").arg(second).toUtf8());
  list.close();
  auto* dialog = dialogOf<TimesDialog>("times");
  fieldOf<QComboBox>(dialog, "Their time")->setCurrentIndex(3);
  fieldOf<QLineEdit>(dialog, "List of names and times")->setText(list.fileName());
  dialog->accept();
  ASSERT_TRUE(ends());
  window_.reset();
  std::vector<std::string> times;
  for (const monitor::Sample& sample : monitor::test::latestSamples(monitor::StoreReader(file("m.db").toStdString())))
    times.push_back(isoTime(sample.time));
  EXPECT_THAT(times, ElementsAre("2014-01-01T12:00:10Z", "2014-01-01T12:00:11Z", "2014-01-01T12:00:12Z"))
      << "none of them twice in one series";
}

// Of another clock are all times: what is stored is not judged by a rule of that clock.
TEST_F(Times, AnotherZoneIsMeasuredAgainAndNotJudged) {
  measure("dated");
  ASSERT_TRUE(allAreStored());
  auto* dialog = dialogOf<TimesDialog>("times");
  fieldOf<QLineEdit>(dialog, "Time zone")->setText("+09:00");
  for (const auto& [field, degrees] : {std::pair("Latitude", 48), {"Longitude", 11}}) {
    buttonOf(dialog, field)->click();
    fieldOf<QDoubleSpinBox>(dialog, field)->setValue(degrees);
  }
  dialog->accept();
  ASSERT_TRUE(ends());
  EXPECT_TRUE(allAreStored(6));
  EXPECT_THAT(log(), Not(Has("leave it out")));
  EXPECT_TRUE(says(part<DayNightPanel>(), "48.00°")) << "the new rule";
}

TEST_F(Times, APictureThatIsSteppedToHasTheSameTimeEverywhere) {
  measure("dated");
  ASSERT_TRUE(runs());
  ASSERT_TRUE(noticed("3 of 3 pictures are stored"));
  ASSERT_TRUE(wait([&] { return frame()->result.frame.name == "20130708_055412"; })) << "the last one";
  trigger("previous_picture");
  ASSERT_TRUE(wait([&] { return frame()->result.frame.name == "20130708_055411"; }));
  const UnixMs taken = frame()->result.frame.time;
  EXPECT_EQ(taken - 11000, vision::timeInName("20130708_055400.png")->utc(machineClock()));
  for (const QString& text : {valueOf(part<FolderBar>(), "Picture on show"), valueOf(window_.get(), "Frame on show")})
    EXPECT_THAT(text, Has(timeText(taken, machineClock())));
  ASSERT_TRUE(allAreStored());
  auto* chart = part<ChartPanel>();
  camera().tick();
  chart->refresh();
  EXPECT_EQ(part<HistorySources>()->present(), static_cast<double>(taken + 1000) / 1000)
      << "the last sample of the archive";
}

TEST_F(Times, TheBarOfTheFolderGoesToAStoredPictureOfIt) {
  measure("dated");
  ASSERT_TRUE(allAreStored() && runs());
  const auto barSays = [&](const char* text) {
    return comes(text, [&] { return valueOf(part<FolderBar>(), "Picture on show"); });
  };
  ASSERT_TRUE(barSays("3 of 3  ·  20130708_055412.png"));
  const double first = static_cast<double>(part<HistorySources>()->current()->first) / 1000;
  emit part<ChartPanel>()->chart()->timePicked(first);
  ASSERT_TRUE(wait([&] { return onShow().stored(); }));
  EXPECT_TRUE(barSays("1 of 3  ·  20130708_055410.png"));
  trigger("next_picture");
  EXPECT_TRUE(barSays("2 of 3  ·  20130708_055411.png"));
  EXPECT_TRUE(wait([&] { return frame()->result.frame.name == "20130708_055411"; }));
  emit part<ChartPanel>()->chart()->timePicked(first);
  ASSERT_TRUE(wait([&] { return onShow().stored(); }));
  trigger("unpin");
  EXPECT_TRUE(barSays("2 of 3  ·  20130708_055411.png")) << "that of the picture behind it";
}

TEST_F(Times, TheChartOfAnArchiveAndDayNightShowAllOfIt) {
  measure("dated");
  ASSERT_TRUE(allAreStored());
  auto* chart = part<ChartPanel>();
  const auto shown = [&] { return chart->chart()->axis(); };
  EXPECT_LE(shown().from, static_cast<double>(part<HistorySources>()->current()->first) / 1000);
  EXPECT_TRUE(wait([&] { return shown().to >= static_cast<double>(part<HistorySources>()->current()->last) / 1000; }));
  EXPECT_LT(shown().to - shown().from, 3600);
  const auto* panel = part<DayNightPanel>();
  const auto counted = [&] {
    return valueOf(panel, "Samples, Day").toInt() + valueOf(panel, "Samples, Night").toInt();
  };
  EXPECT_TRUE(wait([&] { return counted() == 3; })) << textOf(panel);
  EXPECT_THAT(valueOf(panel, "Stretch"), Has("8 Jul 2013 to 8 Jul 2013")) << "no day before its first";
  EXPECT_THAT(valueOf(panel, "Stretch"), Has("Measured by ")) << "the model that runs may be another one";
  chart->showSpan(ChartPanel::Span::kHour);
  EXPECT_GT(shown().to, static_cast<double>(part<HistorySources>()->current()->last) / 1000)
      << "the last picture is seen";
  chart->chart()->setFollowing(false);
  chart->chart()->setRange(shown().from - 9e6, shown().from - 8e6);
  EXPECT_TRUE(wait([&] { return counted() == 0; })) << "nothing lies in that stretch";
  EXPECT_EQ(chart->state()["view/chart_span"].toString(), "hour") << "that of a camera stays";
}

TEST_F(Times, StoredPicturesAreMeasuredAgain) {
  measure("dated");
  ASSERT_TRUE(allAreStored());
  ASSERT_TRUE(runs());
  net().chooseReduction(mpmBefore({2}));
  ASSERT_TRUE(wait([&] { return net().model()->schedule() == Schedule{2}; }));
  emit part<CameraConfigs>()->regionsChanged();
  auto* question = childOf<QMessageBox>(window_.get());
  EXPECT_EQ(question->text(), "Measure all pictures of this folder again?");
  buttonOf(question, MeasureAgain::tr("Measure again"))->click();
  ASSERT_TRUE(allAreStored(6)) << "what was stored stays";
  EXPECT_TRUE(runs()) << "the archive is on show again";
  const monitor::StoreReader store(file("m.db").toStdString());
  const auto series = store.series(1);
  ASSERT_EQ(series.size(), 2u);
  EXPECT_EQ(series.back().reduce, "mpm:blocks=2") << "the new one counts";
  EXPECT_EQ(store.count(1, INT64_MIN, INT64_MAX, series.back().id), 3);
  trigger("measure");
  buttonOf(childOf<QMessageBox>(window_.get()), MeasureAgain::tr("Measure again"))->click();
  EXPECT_TRUE(allAreStored(9)) << "with the same model, too";
}

TEST_F(Times, OnlyOtherRegionsAreAReasonToMeasureAgain) {
  measure("dated");
  ASSERT_TRUE(allAreStored() && runs());
  const auto asks = [&] {
    auto* dialog = dialogOf<RegionsDialog>("regions");
    dialog->accept();
    delete dialog;
    return window_->findChild<QMessageBox*>() != nullptr;
  };
  EXPECT_FALSE(asks()) << "there is none";
  const std::vector<vision::Region> door = {
      {.name = "door", .size = {320, 160}, .polygons = {{{0, 0}, {9, 0}, {9, 9}}}}};
  part<CameraConfigs>()->setRegions(file("dated"), door);
  delete childOf<QMessageBox>(window_.get());
  EXPECT_FALSE(asks()) << "they are as before";
  auto moved = door;
  moved[0].polygons[0][1].x = 8;
  part<CameraConfigs>()->setRegions(file("dated"), moved);
  EXPECT_NE(window_->findChild<QMessageBox*>(), nullptr);
}

TEST_F(Times, OnlyAnArchiveThatIsOpenAndStoredIsMeasuredAgain) {
  measure("dated");
  ASSERT_TRUE(allAreStored());
  auto sources = part<HistorySources>()->all();
  ASSERT_EQ(sources.size(), 1U);
  sources[0].first = sources[0].last = 0;
  emit part<History>()->sourcesChanged(sources);
  emit part<CameraConfigs>()->regionsChanged();
  EXPECT_EQ(window_->findChild<QMessageBox*>(), nullptr) << "nothing is stored of it yet";

  ASSERT_TRUE(openAndWait());
  emit part<CameraConfigs>()->regionsChanged();
  trigger("measure");
  EXPECT_EQ(window_->findChild<QMessageBox*>(), nullptr) << "its pictures have no times";
  EXPECT_THAT(notice(), Begins("Open a folder of pictures with times first"));
  ASSERT_TRUE(wait([&] { return part<HistorySources>()->name() == file("street"); }));
  pickSource(file("dated"));
  ASSERT_TRUE(wait([&] { return part<HistorySources>()->name() == file("dated"); }));
  trigger("measure");
  EXPECT_EQ(window_->findChild<QMessageBox*>(), nullptr) << "it is not open";
}

TEST_F(Times, AClickInTheChartShowsTheNearestPicture) {
  measure("dated");
  ASSERT_TRUE(allAreStored() && runs());
  trigger("snapshot");
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  auto* chart = part<ChartPanel>()->chart();
  const double first = static_cast<double>(part<HistorySources>()->current()->first) / 1000;
  chart->setFollowing(false);
  chart->setRange(first - 100, first + 100);
  ASSERT_TRUE(wait([&] { return part<HistoryBrowser>()->nearness() == 100; }));
  const auto shows = [&](double time, const char* name) {
    emit chart->timePicked(time);
    return wait([&] { return onShow().stored() && frame() && frame()->result.frame.name == name; });
  };
  EXPECT_TRUE(shows(first + 90, "20130708_055412"));
  EXPECT_TRUE(shows(first - 90, "20130708_055410")) << "and not the snapshot of the last one";
  EXPECT_TRUE(shows(first + 1.3, "20130708_055411"));
  emit chart->timePicked(first - 101);
  EXPECT_TRUE(noticed("No picture is stored near that time"));
}

TEST_F(Times, WhatIsHiddenStaysSoInAStoredPicture) {
  measure("dated");
  ASSERT_TRUE(allAreStored());
  vision::writeRegions(file("hide.json").toStdString(),
                       {{.name = "window", .size = {320, 160}, .polygons = {{{0, 0}, {99, 0}, {99, 99}, {0, 99}}}}});
  const auto clicked = [&](double second, const std::string& hide, const std::vector<std::string>& blur) {
    monitor::CameraConfig watch = part<CameraConfigs>()->config(file("dated"));
    watch.hide = hide;
    watch.blur = blur;
    part<CameraConfigs>()->follow(watch);
    const LiveFramePtr before = frame();
    const auto* chart = part<ChartPanel>();
    emit chart->chart()->timePicked(static_cast<double>(part<HistorySources>()->current()->first) / 1000 + second);
    EXPECT_TRUE(wait([&] { return frame() && frame() != before; }));
    return frame()->scales[0];
  };
  const cv::Mat raw = clicked(0, {}, {});
  EXPECT_EQ(cv::norm(raw, cv::imread(path("dated/20130708_0554%1.png", 10)), cv::NORM_INF), 0);
  const cv::Mat hidden = clicked(0, file("hide.json").toStdString(), {});
  EXPECT_EQ(cv::countNonZero(hidden({2, 2, 90, 90}).reshape(1)), 0);
  EXPECT_EQ(cv::norm(hidden.colRange(110, 320), raw.colRange(110, 320), cv::NORM_INF), 0);
  EXPECT_EQ(frame()->image().data, hidden.data) << "also for who takes it";
  EXPECT_GT(cv::norm(clicked(0, {}, {"person"}), raw, cv::NORM_INF), 0);
}

TEST_F(Times, WithoutAnyTheyCountAsReadNow) {
  const UnixMs before = unixNow();
  window_->opener().open(file("street"));
  ASSERT_TRUE(runs()) << "without a question";
  EXPECT_EQ(camera().config().times, "none");
  ASSERT_FALSE(samples().empty());
  EXPECT_GE(samples()[0].time, before);
}

TEST_F(Times, AZoneThatIsNoneAndAListThatIsMissingAreRefused) {
  TimesDialog* dialog = ask("dated");
  fieldOf<QLineEdit>(dialog, "Time zone")->setText("Mars");
  const auto* const ok = dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok);
  EXPECT_THAT(textOf(dialog), Has("\nTime zone: 'Mars' is neither"));
  EXPECT_FALSE(ok->isEnabled());
  auto* const from = fieldOf<QComboBox>(dialog, "Their time");
  from->setCurrentIndex(5);
  EXPECT_TRUE(ok->isEnabled()) << "pictures without a time need none";
  from->setCurrentIndex(3);
  fieldOf<QLineEdit>(dialog, "Time zone")->setText("+02:00");
  EXPECT_THAT(textOf(dialog), Has("Choose the list of names and times."));
  EXPECT_FALSE(ok->isEnabled());
  fieldOf<QLineEdit>(dialog, "List of names and times")->setText(file("times.csv"));
  EXPECT_FALSE(ok->isEnabled()) << "until it was read";
  EXPECT_TRUE(wait([&] { return textOf(dialog).contains("times.csv"); })) << textOf(dialog);
  EXPECT_FALSE(ok->isEnabled()) << "there is none";
  std::ofstream(file("times.csv").toStdString()) << "20130708_055410.png,2014-01-01 12:00:10Z\n";
  from->setCurrentIndex(0);
  EXPECT_TRUE(ok->isEnabled());
  from->setCurrentIndex(3);
  EXPECT_TRUE(wait([&] { return ok->isEnabled(); }));
  dialog->reject();
  EXPECT_FALSE(session().isOpen());
}

TEST_F(Times, TheyCanBeChosenAgain) {
  camera().open(file("dated"));
  ASSERT_TRUE(runs());
  ASSERT_TRUE(ends());
  auto* dialog = dialogOf<TimesDialog>("times");
  auto* from = dialog->findChild<QComboBox*>();
  from->setCurrentIndex(4);
  ASSERT_TRUE(wait([&] { return valueOf(dialog, "Found").contains(TimesDialog::tr("date of the file")); }));
  dialog->accept();
  ASSERT_TRUE(wait([&] { return camera().config().times == "modified"; }));
}

// Two archives, of two continents.
TEST_F(Times, EachSourceKeepsItsPlace) {
  QDir(folder_.path()).mkpath("far");
  for (int i = 0; i < 3; ++i) {
    QFile::copy(QString::fromStdString(path("street/%1.png", i)),
                file(qUtf8Printable(QStringLiteral("far/%1_20130708_0554%2.png").arg(9 - i).arg(10 + i))));
  }
  const auto open = [&](const char* folder, double lat, double lon) {
    TimesDialog* dialog = ask(folder);
    for (const auto& [name, value] : {std::pair("Latitude", lat), std::pair("Longitude", lon)}) {
      buttonOf(dialog, name)->click();
      const bool half = name == std::string("Latitude");
      EXPECT_EQ(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->isEnabled(), !half);
      fieldOf<QDoubleSpinBox>(dialog, name)->setValue(value);
    }
    fieldOf<QLineEdit>(dialog, "Time zone")->setText("+00:00");
    dialog->accept();
    ASSERT_TRUE(ends());
    ASSERT_TRUE(wait([&] { return !window_->findChild<TimesDialog*>(); }));
  };
  open("dated", 48.1372, 11.5755);  // at 5:54 UTC it is day there
  open("far", 41.8781, -87.6298);   // and night here
  const auto& shown = part<FolderBar>()->pictures();
  ASSERT_TRUE(wait([&] { return shown.size() == 3 && shown[0].file.contains("far"); }));
  EXPECT_TRUE(std::ranges::is_sorted(shown, {}, &FolderPicture::time)) << "not by their names";
  const auto placeOf = [&](const char* folder) {
    const monitor::CameraConfig& watch = part<CameraConfigs>()->config(file(folder));
    return std::tuple(watch.night, watch.lat, watch.lon);
  };
  EXPECT_EQ(placeOf("dated"), std::tuple("sun", 48.1372, 11.5755));
  EXPECT_EQ(placeOf("far"), std::tuple("sun", 41.8781, -87.6298));
  make();
  EXPECT_EQ(placeOf("dated"), std::tuple("sun", 48.1372, 11.5755)) << "also after a restart";
  EXPECT_EQ(placeOf("street"), std::tuple("brightness", std::nullopt, std::nullopt)) << "a new one has none";
  window_.reset();
  for (const int source : {1, 2}) {
    for (const monitor::Sample& sample : allSamples(file("m.db"), source))
      EXPECT_EQ(sample.night, source == 2) << isoTime(sample.time);
  }
}

}  // namespace
}  // namespace mpm::gui
