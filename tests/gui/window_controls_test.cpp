// SPDX-License-Identifier: Apache-2.0
// What a person does with mouse and keys, and what comes of it.

#include "gui/controllers/window_look.h"
#include "gui/views/day_night_panel.h"
#include "gui/views/image_view.h"
#include "gui/views/legend_panel.h"
#include "gui/views/merge_view.h"
#include "gui/views/pictures_pane.h"
#include "support/demo.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class Controls : public Window {
 protected:
  QList<QAction*> areas() const {
    return static_cast<QToolButton*>(buttonOf(part<ChartPanel>(), "Areas"))->menu()->actions();
  }
  QTableView* classes() const { return fieldOf<QTableView>(part<LegendPanel>(), "Classes"); }
  /// The dialog that Enter on the first class opens, and that class.
  QColorDialog* colorDialog(int& chosen) {
    window_->activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(window_.get()));
    classes()->setFocus();
    classes()->setCurrentIndex(classes()->model()->index(0, 0));
    chosen = classes()->model()->index(0, 0).data(LegendModel::kClassRole).toInt();
    QTest::keyClick(classes(), Qt::Key_Return);
    return childOf<QColorDialog>(part<LegendPanel>());
  }
};

TEST_F(Controls, TheCurtainIsDraggedAndADragBesideItMovesThePicture) {
  ASSERT_TRUE(openAndPause());
  ImageView* view = part<ImageView>();
  trigger("curtain");
  ASSERT_NEAR(view->paint().curtain, 0.5, 1e-9);
  const QRectF picture = view->viewport().pictureRect();
  const auto at = [&](double share) {
    return QPointF(picture.left() + share * picture.width(), picture.center().y()).toPoint();
  };
  const QImage before = shot(view);
  const ViewState place = view->viewState();
  QTest::mousePress(view, Qt::LeftButton, {}, at(0.5));
  QTest::mouseMove(view, at(0.4));
  QTest::mouseMove(view, at(0.25));
  EXPECT_NEAR(view->paint().curtain, 0.25, 0.01) << "while it is dragged";
  QTest::mouseMove(view, QPoint(-50, at(0.25).y()));
  EXPECT_EQ(view->paint().curtain, 0) << "not beyond the picture";
  QTest::mouseMove(view, at(0.75));
  QTest::mouseRelease(view, Qt::LeftButton, {}, at(0.75));
  EXPECT_NEAR(view->paint().curtain, 0.75, 0.01);
  EXPECT_EQ(view->viewState(), place) << "the picture stays";
  EXPECT_NE(shot(view), before);
  QTest::mouseMove(view, at(0.1));
  EXPECT_NEAR(view->paint().curtain, 0.75, 0.01) << "let go";

  const double curtain = view->paint().curtain;
  QTest::keyClick(view, Qt::Key_Plus);
  QTest::keyClick(view, Qt::Key_Plus);
  const ViewState zoomed = view->viewState();
  const QPoint from(view->width() / 4, view->height() / 2);
  QTest::mousePress(view, Qt::LeftButton, {}, from);
  QTest::mouseMove(view, from + QPoint(20, 10));
  QTest::mouseMove(view, from + QPoint(40, 20));
  QTest::mouseRelease(view, Qt::LeftButton, {}, from + QPoint(40, 20));
  EXPECT_NE(view->viewState(), zoomed);
  EXPECT_EQ(view->paint().curtain, curtain);
}

TEST_F(Controls, TheColourOfAClassIsChangedByKeysAndRemembered) {
  ASSERT_TRUE(openAndPause());
  trigger("mask");
  int chosen = -1;
  QColorDialog* dialog = colorDialog(chosen);
  const QColor before = part<LegendModel>()->color(chosen), other(1, 254, 3);
  const QImage picture = shot(part<ImageView>());
  dialog->setCurrentColor(other);
  EXPECT_EQ(part<LegendModel>()->color(chosen), other) << "the picture follows the choice";
  EXPECT_NE(shot(part<ImageView>()), picture);
  QTest::keyClick(dialog, Qt::Key_Escape);
  EXPECT_EQ(part<LegendModel>()->color(chosen), before) << "and comes back";
  EXPECT_EQ(shot(part<ImageView>()), picture);
  ASSERT_TRUE(wait([&] { return part<LegendPanel>()->findChild<QColorDialog*>() == nullptr; }));

  dialog = colorDialog(chosen);
  dialog->setCurrentColor(other);
  // Not Return: the offscreen platform leaves the focus, and with it that shortcut, in the table behind.
  QTest::keyClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok), Qt::Key_Space);
  EXPECT_EQ(part<LegendModel>()->color(chosen), other);
  ASSERT_TRUE(wait([&] { return content(file("settings.ini")).contains("#01fe03"); })) << content(file("settings.ini"));
  make();
  ASSERT_TRUE(openAndWait());
  EXPECT_EQ(part<LegendModel>()->color(chosen), other) << "after a new start";
}

TEST_F(Controls, ColourBeingChosenDoesNotOutliveItsClass) {
  ASSERT_TRUE(openAndPause());
  int chosen = -1;
  QPointer<QColorDialog> dialog = colorDialog(chosen);
  ModelInfo two;
  two.classes = 2;
  part<LegendModel>()->setClasses(two);
  if (dialog) dialog->setCurrentColor(QColor(9, 9, 9));
  EXPECT_TRUE(wait([&] { return dialog.isNull(); }));
  for (int c = 0; c < 2; ++c) EXPECT_NE(part<LegendModel>()->color(c), QColor(9, 9, 9));
}

TEST_F(Controls, TheChartDrawsWhatIsChosen) {
  ASSERT_TRUE(openAndWait());
  ChartPanel* panel = part<ChartPanel>();
  TimeChart* chart = panel->chart();
  ASSERT_TRUE(wait([&] { return chart->chart().buckets.size() >= 2; }));
  using Keys = std::vector<std::string>;
  const auto keys = [&] {
    Keys result;
    for (const auto& series : chart->series())
      result.push_back(series.quantity.quantity.empty() ? "area" : series.quantity.quantity);
    return result;
  };
  // What is drawn was measured: the answer of the database has a value of every quantity.
  const auto answered = [&] {
    return wait([&] {
      const auto& buckets = chart->chart().buckets;
      return !buckets.empty() && std::all_of(buckets.back().values.begin(), buckets.back().values.end(),
                                             [](const charts::Spread& spread) { return spread.samples > 0; });
    });
  };
  EXPECT_EQ(keys(), (Keys{"tokens", "inference_ms"}));
  panel->findChild<QAction*>("merged")->trigger();
  EXPECT_EQ(keys(), (Keys{"tokens", "merged", "inference_ms"}));
  EXPECT_TRUE(chart->chart().buckets.empty()) << "no value of one quantity below the name of another";
  ASSERT_TRUE(answered());
  const auto& values = chart->chart().buckets.back().values;
  EXPECT_NEAR(values[1].mean, 100 - values[0].mean / 0.32, 1e-4) << "merged away of the 32 tokens";
  panel->findChild<QAction*>("tokens")->trigger();
  panel->findChild<QAction*>("inference_ms")->trigger();
  EXPECT_EQ(keys(), Keys{"merged"});
  ASSERT_TRUE(wait([&] { return areas().size() == 4; })) << "the classes of the samples";
  areas()[2]->trigger();
  ASSERT_EQ(keys(), (Keys{"merged", "area"}));
  EXPECT_EQ(QString::fromStdString(chart->series()[1].quantity.class_name), part<LegendModel>()->name(2));
  EXPECT_THAT(QString::fromStdString(chart->series()[1].name), Has(part<LegendModel>()->name(2)));
  ASSERT_TRUE(answered());
  EXPECT_GE(chart->chart().buckets.back().values[1].mean, 0);
  EXPECT_LE(chart->chart().buckets.back().values[1].mean, 100);
  areas()[0]->trigger();
  EXPECT_EQ(keys(), (Keys{"merged", "area", "area"})) << "several classes in one chart";
  areas()[2]->trigger();
  EXPECT_EQ(QString::fromStdString(chart->series()[1].quantity.class_name), part<LegendModel>()->name(0));
}

TEST_F(OwnWindow, TheChartShowsAnHourADayAWeekOrEverything) {
  const UnixMs now = unixNow();
  storeSamples(file("street").toStdString(), now - 40 * kDayMs, kDayMs, 40);
  make();
  ASSERT_TRUE(openAndWait());
  ChartPanel* panel = part<ChartPanel>();
  ASSERT_TRUE(wait([&] { return part<HistorySources>()->id().has_value(); }));
  const auto length = [&] { return panel->chart()->axis().to - panel->chart()->axis().from; };
  for (const auto& [text, seconds] : {std::pair("Day", 86400.0), std::pair("Week", 7 * 86400.0),
                                      std::pair("All", 40 * 86400.0), std::pair("Hour", 3600.0)}) {
    auto* span = buttonOf(panel, text);
    span->click();
    EXPECT_TRUE(span->isChecked()) << text;
    EXPECT_NEAR(length(), seconds, seconds * 0.02) << text;
    EXPECT_NEAR(panel->chart()->axis().to, static_cast<double>(now) / 1000, 120) << text;
    EXPECT_TRUE(panel->chart()->following()) << text;
  }
}

TEST_F(Controls, AReductionThatIsChosenIsThatOfTheSourceAtOnce) {
  ASSERT_TRUE(openAndPause());
  net().chooseReduction(mpmBefore({2}));
  EXPECT_EQ(camera().config().reduce, "mpm:blocks=2") << "before a picture was measured with it";
}

TEST_F(Controls, ActionsSayWhatIsOnShow) {
  QAction* map = action("merge_map");
  trigger("merge_map");
  EXPECT_FALSE(map->isChecked());
  trigger("layout");
  EXPECT_TRUE(map->isChecked()) << "the default layout has the map";
  trigger("fullscreen");
  ASSERT_TRUE(wait([&] { return window_->isFullScreen(); }));
  window_->close();
  window_ = std::make_unique<MainWindow>(options());
  window_->show();
  ASSERT_TRUE(wait([&] { return window_->isFullScreen(); })) << "as it was closed";
  EXPECT_TRUE(action("fullscreen")->isChecked());
  trigger("fullscreen");
  EXPECT_TRUE(wait([&] { return !window_->isFullScreen(); }));
}

TEST_F(Controls, ThePanelsKeyBringsItToTheFrontAndThenHidesIt) {
  QDockWidget *chart = dock("chart"), *events = dock("events");
  const auto inFront = [](const QDockWidget* dock) { return dock->isVisible() && !dock->visibleRegion().isEmpty(); };
  ASSERT_TRUE(wait([&] { return inFront(chart) && !inFront(events); }));
  QAction* const action = this->action("dock_events");
  EXPECT_FALSE(action->isChecked());
  trigger("dock_events");
  EXPECT_TRUE(wait([&] { return inFront(events) && !inFront(chart); }));
  EXPECT_TRUE(wait([&] { return action->isChecked(); }));
  EXPECT_FALSE(this->action("dock_chart")->isChecked());
  trigger("dock_events");
  EXPECT_TRUE(wait([&] { return events->isHidden() && (inFront(chart) || inFront(dock("log"))); }));
  trigger("dock_events");
  EXPECT_TRUE(wait([&] { return inFront(events); })) << "hidden, it comes back in front";
  EXPECT_TRUE(events->isAncestorOf(QApplication::focusWidget()));
  const auto titled = [&] {  // of the others the name is on a tab
    QStringList names;
    for (const QDockWidget* one : docks())
      if (!one->titleBarWidget()) names << one->objectName();
    return names;
  };
  settle();
  EXPECT_EQ(titled(), QStringList({"source", "schedule", "legend"}));
  for (const char* id : {"inspector", "speed", "compare"}) dock(id)->hide();
  EXPECT_TRUE(wait([&] { return titled().contains("day_night"); })) << "no tab is left";
  dock("speed")->show();
  EXPECT_TRUE(wait([&] { return !titled().contains("day_night"); }));
}

TEST_F(Controls, PanelsThatAreAsideAreRemembered) {
  ASSERT_TRUE(openAndWait());
  const QByteArray panels = window_->saveState();
  part<WindowLook>()->remember();
  check("teach", true);
  ASSERT_NE(window_->saveState(), panels);
  part<WindowLook>()->remember();
  setFont(110);  // which is stored behind it
  ASSERT_TRUE(wait([&] { return content(file("settings.ini")).contains("font=110"); }));
  const QSettings stored(file("settings.ini"), QSettings::IniFormat);
  EXPECT_TRUE(stored.value("layout") == panels || stored.value("layout_small") == panels) << "where the power goes now";
  setFont(100);
}

// What is stored is looked at every other second, also while a source is being chosen.
TEST_F(Controls, HowThingsAreLookedAtIsRemembered) {
  ASSERT_TRUE(openAndWait());
  ChartPanel* panel = part<ChartPanel>();
  ASSERT_TRUE(wait([&] { return areas().size() == 4; }));
  areas()[2]->trigger();
  panel->findChild<QAction*>("tokens")->trigger();
  buttonOf(panel, "Week")->click();
  const std::string series = panel->chart()->series().back().name;
  trigger("curtain");
  trigger("curtain_left");
  trigger("transparent");
  trigger("coloring");
  trigger("region_outlines");
  dock("source")->hide();
  auto* pane = window_->findChild<PicturesPane*>();
  pane->setSizes({pane->width() / 3, pane->width() - pane->width() / 3});
  // Another screen may leave the window less space.
  const auto share = [&] {
    return static_cast<double>(part<ImageView>()->width()) / window_->findChild<PicturesPane*>()->width();
  };
  const double narrow = share();
  EXPECT_LT(narrow, 0.4);
  ASSERT_TRUE(wait([&] { return content(file("settings.ini")).contains("regions=false"); })) << "without a close";
  QFile::copy(file("settings.ini"), file("after.ini"));  // the power goes
  WindowOptions again = options();
  again.settings = file("after.ini");
  window_.reset();
  window_ = std::make_unique<MainWindow>(again);
  window_->show();
  ASSERT_TRUE(openAndWait());
  EXPECT_TRUE(dock("source")->isHidden());
  EXPECT_FALSE(action("region_outlines")->isChecked());
  panel = part<ChartPanel>();
  EXPECT_EQ(part<ImageView>()->paint().mode, ViewMode::kCurtain);
  EXPECT_TRUE(action("curtain")->isChecked());
  EXPECT_TRUE(action("curtain_left")->isEnabled());
  EXPECT_NEAR(part<ImageView>()->paint().curtain, 0.45, 1e-9);
  EXPECT_NEAR(part<ImageView>()->paint().opacity, 0.5, 1e-9);
  EXPECT_EQ(opacitySlider()->value(), 50);
  EXPECT_EQ(part<MergeView>()->coloring(), MergeColoring::kSize);
  EXPECT_TRUE(wait([&] { return std::abs(share() - narrow) <= 0.01; })) << share() << " instead of " << narrow;
  EXPECT_TRUE(buttonOf(panel, "Week")->isChecked());
  EXPECT_FALSE(panel->findChild<QAction*>("tokens")->isChecked());
  EXPECT_TRUE(wait([&] { return panel->chart()->series().back().name == series; })) << "the class, by its name";

  trigger("merge_map");
  window_->close();
  window_ = std::make_unique<MainWindow>(again);
  window_->show();
  ASSERT_TRUE(openAndWait());
  EXPECT_FALSE(part<MergeView>()->isVisible());
  EXPECT_FALSE(action("merge_map")->isChecked());
  trigger("layout");
  EXPECT_TRUE(part<MergeView>()->isVisible());
  EXPECT_TRUE(wait([&] { return std::abs(part<MergeView>()->width() - part<ImageView>()->width()) <= 3; }))
      << "as at first: " << part<MergeView>()->width() << " and " << part<ImageView>()->width();
}

TEST_F(OwnWindow, AListOfSourcesThatIsOpenKeepsItsPlace) {
  for (const char* name : {"/dev/video7", "/dev/video8", "/dev/video9"}) storeSamples(name, unixNow() - 60000, 0, 1);
  make();
  auto* sources = fieldOf<QComboBox>(part<ChartPanel>(), "Source whose samples are drawn");
  ASSERT_TRUE(wait([&] { return sources->count() == 3 && sources->currentIndex() == 2; }));
  sources->showPopup();
  QTest::keyClick(sources->view(), Qt::Key_Up);
  const QPersistentModelIndex row = sources->view()->currentIndex();
  QSignalSpy asked(part<History>(), &History::sourcesChanged);
  part<ChartPanel>()->refresh();
  ASSERT_TRUE(asked.wait(kPatience));
  EXPECT_TRUE(row.isValid());
  EXPECT_EQ(sources->view()->currentIndex().row(), 1);
  QTest::keyClick(sources->view(), Qt::Key_Return);
  EXPECT_EQ(sources->currentIndex(), 1);
}

// The demo's clock is its own: the samples of any other source end where they end.
TEST_F(OwnWindow, TheChartOfAnotherSourceEndsWithItsOwnSamples) {
  MPM_NEEDS_DEMO();
  const UnixMs last = unixNow() - 2 * kDayMs;
  storeSamples("/dev/video9", last - 60 * kMinuteMs, kMinuteMs, 61, [last](monitor::Sample& sample) {
    sample.whole().set("brightness", sample.time > last - 30 * kMinuteMs ? 10 : 200);
    sample.night = sample.time > last - 30 * kMinuteMs;
  });
  make();
  camera().open("demo:");
  ASSERT_TRUE(runs());
  ChartPanel* panel = part<ChartPanel>();
  auto* sources = fieldOf<QComboBox>(panel, "Source whose samples are drawn");
  ASSERT_TRUE(wait([&] { return sources->count() == 2 && part<HistorySources>()->id().has_value(); }));
  ASSERT_TRUE(looks()) << "the demo's time is reported with each look";
  pickSource("/dev/video9");
  EXPECT_TRUE(wait([&] { return panel->chart()->chart().buckets.size() > 10; }));
  EXPECT_NEAR(panel->chart()->axis().to, static_cast<double>(last) / 1000, 40);
  EXPECT_TRUE(wait([&] { return !textIn<DayNightPanel>().contains("not samples of both"); }))
      << textIn<DayNightPanel>();
  const auto before = textIn<DayNightPanel>();
  pickSource("/dev/video9");
  EXPECT_NE(textIn<DayNightPanel>(), before) << "what was another source's is not seen until the answer comes";
  trigger("close");
  camera().tick();
  settle();
  EXPECT_NEAR(panel->chart()->axis().to, static_cast<double>(last) / 1000, 40);
}

// Night by the default, which asks for less than 40; the darkest of these has 52.
TEST_F(Controls, TheNightOfASceneIsThatOfItsPlace) {
  camera().open("demo:street?size=64x64&frames=1");
  const auto* dialog = dialogOf<CameraFieldsDialog>("night");
  EXPECT_EQ(fieldOf<QComboBox>(dialog, "Night by")->currentText(), "– (sun)");
  EXPECT_EQ(fieldOf<QDoubleSpinBox>(dialog, "Latitude")->value(), 48);
  EXPECT_EQ(dialog->config().night, "") << "nothing was chosen";
  EXPECT_EQ(dialog->config().lat, std::nullopt);
}

TEST_F(OwnWindow, AChangedNightRuleJudgesWhatIsStored) {
  const UnixMs last = unixNow();
  storeSamples("/dev/video9", last - 40 * kMinuteMs, kMinuteMs, 40, [last](monitor::Sample& sample) {
    sample.whole().set("brightness", sample.time >= last - 10 * kMinuteMs ? 52 : 120);
    sample.night = true;  // by the rule that was wrong
  });
  make();
  auto* const panel = part<DayNightPanel>();
  EXPECT_TRUE(says(panel, "Samples, Night: 40"));
  EXPECT_TRUE(says(panel, "count as night, with a brightness from 52 to 120 of 255"));
  auto* dialog = dialogOf<CameraFieldsDialog>("night");
  fieldOf<QDoubleSpinBox>(dialog, "Night below the brightness")->setValue(70);
  EXPECT_EQ(fieldOf<QDoubleSpinBox>(dialog, "Day above the brightness")->value(), 96) << "1.3 times 70, and 5";
  for (const char* name : {"Night below the brightness", "Day above the brightness"}) {
    buttonOf(dialog, name)->click();
    fieldOf<QDoubleSpinBox>(dialog, name)->setValue(70);
  }
  QTest::keyClick(dialog, Qt::Key_Return);
  EXPECT_TRUE(says(panel, "Samples, Night: 10"));
  EXPECT_TRUE(says(panel, "Samples, Day: 30"));
  settle();
  const QString judged = textOf(panel);
  part<CameraDialogs>()->ask("garden", "Night", monitor::kDayNightGroup);
  monitor::CameraConfig garden = childOf<CameraFieldsDialog>(window_.get())->config();
  garden.night_brightness = garden.day_brightness = 150;
  emit childOf<CameraFieldsDialog>(window_.get())->chosen(garden);
  EXPECT_EQ(textOf(panel), judged) << "by the rule of its own source";
  window_->opener().open(file("m.db"));
  EXPECT_TRUE(says(panel, "Night: the picture darker than 70 of 255")) << "the rule by which it judged";
  EXPECT_TRUE(says(panel, "Samples, Night: 10")) << "the one answer, whoever reads";
}

TEST_F(Controls, TheRuleOfNightIsThatOfTheSourceAlsoBeforeAnythingIsStoredOfIt) {
  fs::copy(street().path(), file("yard").toStdString());
  for (const auto& [source, limit] : {std::pair("street", 70), {"yard", 30}}) {
    monitor::CameraConfig config = part<CameraConfigs>()->config(file(source));
    config.night_brightness = config.day_brightness = limit;
    part<CameraConfigs>()->change(file(source), config);
  }
  WindowOptions nowhere = options();
  nowhere.database.clear();
  make(nowhere);
  for (const auto& [source, rule] : {std::pair("street", "darker than 70 of"), {"yard", "darker than 30 of"}}) {
    camera().open(file(source));
    EXPECT_THAT(textIn<DayNightPanel>(), Has(rule));
  }
  monitor::CameraConfig config = part<CameraConfigs>()->config(file("yard"));
  config.night_brightness = config.day_brightness = 50;
  part<CameraConfigs>()->change(file("yard"), config);
  EXPECT_THAT(textIn<DayNightPanel>(), Has("darker than 50 of"));
  trigger("close");
  EXPECT_THAT(textIn<DayNightPanel>(), Not(Has("darker than 50"))) << "it goes with its source";
}

TEST_F(OwnWindow, WhatIsStoredIsJudgedByTheLastRuleWhateverIsOnShow) {
  const auto at = [](double brightness) {
    return [=](monitor::Sample& sample) { sample.whole().set("brightness", brightness); };
  };
  store(file("other.db"), "/dev/video8", unixNow() - kHourMs, kMinuteMs, 4, at(20));
  storeSamples("/dev/video9", unixNow() - kHourMs, kMinuteMs, 40, at(100));
  make();
  openOther(file("other.db"));
  ASSERT_TRUE(wait([&] { return part<HistorySources>()->name() == "/dev/video8"; }));
  lookAtMain();
  monitor::CameraConfig config = part<CameraConfigs>()->config("/dev/video9");
  for (const double limit : {30, 120, 40, 130, 50, 140, 60, 150, 110, 90}) {
    config.night_brightness = config.day_brightness = limit;
    part<CameraConfigs>()->change("/dev/video9", config);
  }
  ASSERT_TRUE(wait([&] { return !part<Judging>()->running(); }));
  const monitor::StoreReader reader(file("m.db").toStdString());
  EXPECT_EQ(reader.sessions(1).at(0).night_rule, monitor::toText(monitor::NightByBrightness{90, 90}));
}

// Else what is recorded in between would keep the rule before.
TEST_F(Controls, WhoRecordsKnowsTheRuleOfNightBeforeWhatIsStoredIsJudged) {
  auto* const configs = part<CameraConfigs>();
  QStringList heard;
  QObject::connect(configs, &CameraConfigs::nightChanged, configs, [&] { heard << "judge"; });
  QObject::connect(configs, &CameraConfigs::changed, configs, [&] { heard << "record"; });
  monitor::CameraConfig config = configs->config("/dev/video9");
  config.night_brightness = config.day_brightness = 70;
  configs->change("/dev/video9", config);
  EXPECT_EQ(heard, QStringList({"record", "judge"}));
}

TEST_F(Controls, WhatCountsAsNightIsChosenAndHolds) {
  ASSERT_TRUE(openAndWait());
  auto* dialog = dialogOf<CameraFieldsDialog>("night");
  // All day is night but for a minute twelve hours from now.
  const QTime other = QTime::currentTime().addSecs(12 * 3600);
  fieldOf<QLineEdit>(dialog, "Night hours")->setText(other.addSecs(60).toString("HH:mm-") + other.toString("HH:mm"));
  auto* rule = fieldOf<QComboBox>(dialog, "Night by");
  rule->setCurrentIndex(rule->findData("hours"));
  QTest::keyClick(dialog, Qt::Key_Return);
  ASSERT_EQ(part<CameraConfigs>()->config(file("street")).night, "hours");
  EXPECT_THAT(textIn<DayNightPanel>(), Has("Night: from "));
  const auto lastNight = [&] {
    const auto samples = allSamples(file("m.db"));
    return !samples.empty() && samples.back().night == true;
  };
  EXPECT_TRUE(wait(lastNight)) << "samples are of the night from now on";
}

}  // namespace
}  // namespace mpm::gui
