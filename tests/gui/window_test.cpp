// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include "gui/views/compare_panel.h"
#include "gui/views/export_dialog.h"
#include "gui/views/fields.h"
#include "gui/views/image_view.h"
#include "gui/views/inspector_panel.h"
#include "gui/views/legend_panel.h"
#include "gui/views/merge_view.h"
#include "gui/views/reduction_editor.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/welcome_page.h"
#include "monitor/every_field.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

TEST_F(Window, BeginsWithAWelcomeAndRunsLive) {
  EXPECT_TRUE(!part<WelcomePage>()->isHidden());
  ASSERT_TRUE(openAndWait());
  EXPECT_FALSE(!part<WelcomePage>()->isHidden());
  EXPECT_THAT(window_->windowTitle(), Has("street"));
  EXPECT_EQ(part<LegendModel>()->classes(), 4);
  EXPECT_EQ(part<ReductionPanel>()->editor()->reduction(), mpmBefore({1, 2}));
  EXPECT_THAT(status("Tokens"), Begins("tokens 32 → "));
  EXPECT_TRUE(wait([&] { return status("Connection") == "Live" || status("Connection") == "Ended"; }));
  const int first = static_cast<int>(frame()->result.frame.id);
  EXPECT_TRUE(wait([&] { return frame()->result.frame.id > first; }));
  double area = 0;
  for (const auto& [label, share] : frame()->sample.whole().areas) area += share;
  EXPECT_NEAR(area, 1, 1e-6);
}

TEST_F(Window, OnASmallScreenItWasSmallAndIsNotForever) {
  const QSize screen = window_->screen()->availableGeometry().size();
  window_.reset();
  const auto begin = [&](QRect place, QSize screen_before) {
    QSettings settings(options().settings, QSettings::IniFormat);
    settings.setValue("place", place);
    settings.setValue("screen", screen_before);
    settings.sync();
    window_ = std::make_unique<MainWindow>(options());
    const QSize size = window_->size();
    window_->leave();  // stores its place
    window_.reset();
    return size;
  };
  begin({}, {});  // so that there are settings
  const QSize usual(std::min(1280, screen.width()), std::min(800, screen.height()));
  EXPECT_EQ(begin(QRect(0, 0, 500, 400), QSize(500, 400)), usual) << "it filled that screen";
  EXPECT_EQ(begin(QRect(0, 0, 500, 400), screen), QSize(500, 400)) << "a person made it so small";
}

// Those of tests/data/releases, which make.sh there describes.
TEST_F(OwnWindow, ReadsTheSettingsOfEachRelease) {
  for (const QString& release : QDir(MPM_TEST_DATA_DIR "/releases").entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    WindowOptions of_release = options();
    of_release.settings = file("release.ini");
    QFile::remove(of_release.settings);
    ASSERT_TRUE(QFile::copy(MPM_TEST_DATA_DIR "/releases/" + release + "/settings.ini", of_release.settings));
    window_.reset();
    window_ = std::make_unique<MainWindow>(of_release);
    part<LegendModel>()->setClasses(QStringList{"sky", "road, old"});
    EXPECT_EQ(part<LegendModel>()->colors(), (ClassColors{{"sky", "#01fe03"}, {"road, old", "#0203fd"}}));
    EXPECT_EQ(part<ImageView>()->paint().mode, ViewMode::kCurtain);
    EXPECT_NEAR(part<ImageView>()->paint().curtain, 0.25, 1e-9);
    EXPECT_EQ(part<MergeView>()->coloring(), MergeColoring::kSize);
    EXPECT_FALSE(action("merge_map")->isChecked());
    EXPECT_EQ(part<ChartPanel>()->state()["view/chart_values"], (QStringList{"merged", "gcc"}));
    EXPECT_EQ(part<ChartPanel>()->state()["view/chart_region"], "gate");
    const auto recents = loadRecents(QSettings(of_release.settings, QSettings::IniFormat));
    ASSERT_EQ(recents.size(), 1);
    EXPECT_EQ(recents[0].source, "demo:street?frames=2");
    EXPECT_EQ(recents[0].reduce, "mpm:blocks=2");
  }
}

TEST_F(Window, TheModelIsKnownBeforeTheFirstFrame) {
  EXPECT_TRUE(wait([&] { return part<ReductionPanel>()->editor()->blocks() == 3; }));
  part<ReductionPanel>()->editor()->box(2)->click();
  ASSERT_TRUE(openAndWait());
  EXPECT_EQ(frame()->result.model->schedule(), Schedule{1});
}

TEST_F(Window, OpacityModesAndClassesNeedNoInference) {
  ASSERT_TRUE(openAndPause());
  const LiveFramePtr before = frame();
  const auto processed = session().status().inference.processed;
  ImageView* view = part<ImageView>();
  const QImage overlay = shot(view);
  trigger("transparent");
  EXPECT_NEAR(view->paint().opacity, 0.5, 1e-9);
  EXPECT_EQ(opacitySlider()->value(), 50);
  opacitySlider()->setValue(100);
  EXPECT_NE(shot(view), overlay);
  trigger("image");
  const QImage image = shot(view);
  trigger("mask");
  const QImage mask = shot(view);
  EXPECT_NE(image, mask);
  trigger("curtain");
  EXPECT_NE(shot(view), mask);
  trigger("mask");
  part<LegendModel>()->setAllVisible(false);
  EXPECT_NE(shot(view), mask);
  EXPECT_EQ(frame(), before);
  EXPECT_EQ(session().status().inference.processed, processed);
}

TEST_F(Window, MergeMapStepsAndColours) {
  ASSERT_TRUE(openAndPause());
  MergeView* view = part<MergeView>();
  EXPECT_EQ(view->step(), 2) << "begins with what the network ends with";
  const QImage last = shot(view);
  trigger("previous_insertion");
  EXPECT_EQ(view->step(), 1);
  EXPECT_NE(shot(view), last);
  trigger("previous_insertion");
  EXPECT_EQ(view->step(), 0);
  trigger("previous_insertion");
  EXPECT_EQ(view->step(), 0);
  trigger("next_insertion");
  trigger("next_insertion");
  EXPECT_EQ(shot(view), last);
  trigger("coloring");
  EXPECT_EQ(view->coloring(), MergeColoring::kSize);
  const QImage sizes = shot(view);
  trigger("coloring");
  EXPECT_NE(shot(view), sizes);
}

TEST_F(Window, HoverTellsTheClusterInBothViewsWhoseZoomIsLinked) {
  ASSERT_TRUE(openAndPause());
  const MergeLookup& lookup = frame()->lookup;
  int merged = 0;
  while (lookup.mergedAt(2, merged) == 0) ++merged;
  const QImage image = shot(part<ImageView>()), map = shot(part<MergeView>());
  const QPoint at = part<MergeView>()->viewport().tokenRect(merged, lookup.grid()).center().toPoint();
  QTest::mouseMove(part<MergeView>(), at);
  ASSERT_TRUE(wait([&] { return part<PatchSelection>()->token() == merged; }));
  EXPECT_NE(shot(part<ImageView>()), image);
  EXPECT_NE(shot(part<MergeView>()), map);
  const QString text = textIn<InspectorPanel>();
  EXPECT_THAT(text, AllOf(Has(QString("Cluster: %1 of %2").arg(lookup.cluster(2, merged)).arg(lookup.clusters(2))),
                          Has(QString("Merged: before block %1").arg(lookup.block(lookup.mergedAt(2, merged)))),
                          Has("with its pair"), Has("Score: "), Not(Has("not known"))));

  QTest::mouseClick(part<MergeView>(), Qt::LeftButton, {}, at);
  EXPECT_TRUE(part<PatchSelection>()->pinned());
  QTest::keyClick(part<MergeView>(), Qt::Key_Right);
  EXPECT_NE(part<PatchSelection>()->token(), merged);
  trigger("unpin");
  EXPECT_FALSE(part<PatchSelection>()->pinned());

  ImageView* view = part<ImageView>();
  const QPointF place(view->width() / 3.0, view->height() / 2.0);
  QWheelEvent wheel(place, view->mapToGlobal(place), {}, QPoint(0, 480), Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
  QApplication::sendEvent(view, &wheel);
  EXPECT_GT(view->viewState().zoom, 1.5);
  EXPECT_EQ(part<MergeView>()->viewState(), view->viewState());
  const auto cursor = part<PatchSelection>()->cursor();
  QTest::mouseMove(view, place.toPoint());
  EXPECT_TRUE(part<PatchSelection>()->cursor().has_value());
  EXPECT_NE(part<PatchSelection>()->cursor(), cursor);
  trigger("fit");
  EXPECT_EQ(part<MergeView>()->viewState(), ViewState());
}

// Chooses what a person would choose in a list.
void choose(QComboBox* list, const QString& text) {
  const int index = list->findText(text);
  ASSERT_GE(index, 0) << text;
  list->setCurrentIndex(index);
  emit list->activated(index);
}

TEST_F(Window, EveryReductionTakesEffectAndIsWatched) {
  ASSERT_TRUE(openAndWait());
  ReductionEditor* editor = part<ReductionPanel>()->editor();
  const auto runs_as = [&](const char* spec) {
    return wait([&] { return toString(frame()->result.model->reduction) == spec; });
  };
  editor->box(2)->click();
  ASSERT_TRUE(wait([&] { return frame()->lookup.steps() == 2; }));
  EXPECT_EQ(frame()->result.model->schedule(), Schedule{1});
  for (const auto& [method, spec] : {std::pair("Gradual merging", "gradual"), std::pair("ToMe", "tome"),
                                     std::pair("Mutual Pair Merging", "mpm:blocks=2")}) {
    choose(fieldOf<QComboBox>(editor, "Method"), ReductionEditor::tr(method));
    ASSERT_TRUE(runs_as(spec)) << toString(frame()->result.model->reduction);
    EXPECT_EQ(fieldOf<QLineEdit>(editor, "Reduction as text")->text().toStdString(), spec);
    EXPECT_THAT(valueOf(window_.get(), "Frame on show"), Ends(spec));
  }
  fieldOf<QLineEdit>(editor, "Reduction as text")->setText("gradual:blocks=0-2:similarity=1");
  QTest::keyClick(fieldOf<QLineEdit>(editor, "Reduction as text"), Qt::Key_Return);
  ASSERT_TRUE(runs_as("gradual:blocks=0-2:similarity=1"));
  EXPECT_THAT(status("Tokens"), Ends("→ 32 (0 %)"));
  fieldOf<QLineEdit>(editor, "Reduction as text")->setText("gradual:count=3:similarity=0.5");
  QTest::keyClick(fieldOf<QLineEdit>(editor, "Reduction as text"), Qt::Key_Return);
  ASSERT_TRUE(runs_as("gradual:count=3:similarity=0.5"));
  EXPECT_THAT(status("Tokens"), Begins("tokens 32 → … → "));
  EXPECT_EQ(camera().config().reduce, "gradual:count=3:similarity=0.5");

  // What the model lacks is the library's line, and what runs goes on.
  fieldOf<QLineEdit>(editor, "Reduction as text")->setText("tome:blocks=1,7");
  QTest::keyClick(fieldOf<QLineEdit>(editor, "Reduction as text"), Qt::Key_Return);
  ASSERT_TRUE(wait([&] { return !valueOf(editor, "Problem").isEmpty(); }));
  EXPECT_THAT(valueOf(editor, "Problem").remove(QChar(0x200b)),
              Has("segmenter_mask_ts17.onnx: reduction 'tome:blocks=1,7': block 7 does not exist"))
      << valueOf(editor, "Problem");
  EXPECT_EQ(camera().config().reduce, "gradual:count=3:similarity=0.5");
  EXPECT_EQ(fieldOf<QLineEdit>(editor, "Reduction as text")->text(), "gradual:count=3:similarity=0.5");

  choose(fieldOf<QComboBox>(editor, "Method"), ReductionEditor::tr("Full model"));
  ASSERT_TRUE(wait([&] { return frame()->lookup.steps() == 1; }));
  EXPECT_TRUE(valueOf(editor, "Problem").isEmpty());
  EXPECT_EQ(status("Tokens"), "tokens 32");
  EXPECT_EQ(camera().config().reduce, "none");
}

// The command that is copied, as a shell runs it.
TEST_F(OwnWindow, TheCopiedCommandWatchesLikeTheWindow) {
  WindowOptions quoted = options();
  quoted.settings = file("it's/settings.ini");
  quoted.database = QDir().relativeFilePath(file("m.db"));  // the watch file has another folder
  make(quoted);
  ASSERT_TRUE(openAndWait());
  monitor::CameraConfig all = monitor::test::everyField(folder_.path().toStdString());
  part<CameraConfigs>()->write(file("street"), all);
  const QString path = part<CameraConfigs>()->file(file("street"));
  const auto said = [&] {
    monitor::CameraConfig read;
    try {
      read = monitor::readWatchFile(path.toStdString()).cameras.front().config;
    } catch (const Error&) {  // it is not written yet
    }
    return read;
  };
  ASSERT_TRUE(wait([&] { return said() == all; })) << "each field is in the file that the app writes";
  trigger("command");
  const QString line = QApplication::clipboard()->text();
  ASSERT_TRUE(wait([&] { return said() == camera().config(); }));
  EXPECT_EQ(said().db, file("m.db").toStdString());
  QProcess shell;
  shell.start("sh", {"-c", MPM_COMMAND + line.mid(3) + " --print-watch"});
  ASSERT_TRUE(shell.waitForFinished(kPatience));
  const QByteArray printed = shell.readAllStandardOutput();
  EXPECT_THAT(printed, Begins(content(path).trimmed().left(40)));
  std::ofstream(file("again.toml").toStdString()) << printed;
  EXPECT_EQ(monitor::readWatchFile(file("again.toml").toStdString()).cameras.front().config, camera().config());
}

TEST_F(Window, SharpensEdgesAndSaysSoInTheWatch) {
  ASSERT_TRUE(openAndWait());
  const QAction* const sharp = action("sharp_edges");
  ASSERT_TRUE(sharp->isEnabled());
  EXPECT_FALSE(sharp->isChecked());
  EXPECT_EQ(camera().config().refine, "");
  trigger("sharp_edges");
  ASSERT_TRUE(wait([&] { return frame()->result.model->facts.refine == Refine::kGuided; }));
  EXPECT_EQ(camera().config().refine, "guided");
  trigger("sharp_edges");
  ASSERT_TRUE(wait([&] { return frame()->result.model->facts.refine == Refine::kNone; }));
  net().open(MPM_TEST_DATA_DIR "/segmenter_linear_ts12.onnx", std::nullopt);
  EXPECT_EQ(camera().config().refine, "") << "another model has edges of its own";
}

TEST_F(Window, HowLongPicturesAreKeptIsSaidWhereSomeAreStored) {
  ASSERT_TRUE(openAndWait());
  monitor::CameraConfig kept = part<CameraConfigs>()->config(file("street"));
  kept.keep_snapshots = 3;
  kept.merge_maps = true;
  part<CameraConfigs>()->change(file("street"), kept);
  EXPECT_EQ(std::tuple(camera().config().keep_snapshots, camera().config().merge_maps),
            std::tuple(std::nullopt, false));
  kept.snapshot_every = 60;
  part<CameraConfigs>()->change(file("street"), kept);
  EXPECT_EQ(std::tuple(camera().config().keep_snapshots, camera().config().merge_maps), std::tuple(3, true));
}

TEST_F(Window, ComparesWithTheFullModelAndAnyOther) {
  ASSERT_TRUE(openAndWait());
  trigger("compare");
  ASSERT_TRUE(wait([&] {
    return frame()->comparison.has_value() &&
           !fieldOf<QLabel>(part<ComparePanel>(), "Pixels whose class differs")->pixmap().isNull();
  }));
  EXPECT_THAT(textIn<ComparePanel>(), Has("Same label on"));
  EXPECT_GE(frame()->comparison->agreement, 0);
  EXPECT_LE(frame()->comparison->agreement, 100);
  ReductionEditor* other = part<ComparePanel>()->findChild<ReductionEditor*>();
  choose(fieldOf<QComboBox>(other, "Method"), ReductionEditor::tr("ALGM"));
  const auto compares = [&](const char* spec) {
    return wait([&] { return frame()->comparison && toString(frame()->result.compared->variant) == spec; });
  };
  // ALGM merges in blocks 0 and 4, and this model has three.
  EXPECT_TRUE(says(part<ComparePanel>(), "block 4 does not exist"));
  EXPECT_FALSE(part<ComparePanel>()->box()->isChecked() || action("compare")->isChecked());
  other->setReduction(parseReduction("algm:blocks=0,2"));
  trigger("compare");
  ASSERT_TRUE(compares("algm:blocks=0,2"));
  const QString compared = textIn<ComparePanel>().remove(QChar(0x200b));
  EXPECT_THAT(compared, AllOf(Has("mpm:blocks=1,2"), Has("algm:blocks=0,2"))) << compared;
  trigger("compare");
  EXPECT_TRUE(fieldOf<QLabel>(part<ComparePanel>(), "Pixels whose class differs")->pixmap().isNull());
}

TEST_F(Window, SnapshotAndStoredPictureUnderTheCrosshair) {
  ASSERT_TRUE(openAndWait() && stores());
  trigger("snapshot");
  const QDir pictures(folder_.filePath("pictures"));
  ASSERT_TRUE(wait([&] { return !part<PictureStore>()->pictures().empty(); }));
  EXPECT_EQ(pictures.entryList({"*_overlay.png"}).size(), 1);
  EXPECT_EQ(pictures.entryList({"*.json"}).size(), 1);
  trigger("pause");
  emit part<ChartPanel>()->chart()->timePicked(part<PictureStore>()->pictures()[0].time + 0.5);
  ASSERT_TRUE(wait([&] { return !frame()->hasGrid(); })) << "the stored picture is on show";
  EXPECT_FALSE(frame()->overlay.empty());
  trigger("overlay");
  const QImage overlay = shot(part<ImageView>());
  trigger("image");
  EXPECT_NE(shot(part<ImageView>()), overlay);
  EXPECT_THAT(status("Tokens"), Begins("tokens 32 → ")) << "its own";
  double area = 0;
  const LegendModel& legend = *part<LegendModel>();
  for (int c = 0; c < legend.classes(); ++c)
    area += legend.index(c, LegendModel::kArea).data(LegendModel::kSortRole).toDouble();
  EXPECT_NEAR(area, 1, 1e-6);
  trigger("snapshot");
  EXPECT_THAT(notice(), Has("stored already"));
  trigger("unpin");
  EXPECT_TRUE(frame()->hasGrid());
  trigger("pause");
  trigger("record");
  EXPECT_TRUE(wait([&] { return pictures.entryList({"*.png"}).size() >= 5; }));
  trigger("record");
}

TEST_F(Window, WhatIsDroppedAtOnceIsOneSource) {
  const auto opens = [&](const QStringList& paths, const QString& source) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths) urls << QUrl::fromLocalFile(path);
    data.setUrls(urls);
    QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(window_.get(), &enter);
    QDropEvent event(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(window_.get(), &event);
    return wait([&] { return session().source() == source.toStdString(); });
  };
  EXPECT_TRUE(opens({file("street/03.png"), file("street/01.png"), file("street/02.png")}, file("street")));
  EXPECT_TRUE(opens({file("street/03.png")}, file("street/03.png")));
  const QString other = MPM_TEST_DATA_DIR "/segmenter_linear_ts12.onnx";
  EXPECT_TRUE(opens({file("a.mp4"), other, file("b.mp4")}, file("a.mp4")));
  EXPECT_TRUE(noticed("One source at a time")) << "b.mp4 was not opened";
  EXPECT_TRUE(wait([&] { return session().model() == other.toStdString(); }));
}

// Saved on a large screen, opened on a 7 inch one, and the other way round.
TEST_F(Window, EachSizeOfWindowHasItsOwnLayout) {
  const auto again = [&](QSize size) {
    window_->close();
    window_.reset();
    window_ = std::make_unique<MainWindow>(options());
    window_->resize(size);
    window_->show();
  };
  dock("events")->hide();
  again({800, 480});
  ASSERT_TRUE(openAndWait());
  for (const QDockWidget* dock : docks()) EXPECT_TRUE(dock->isHidden()) << dock->objectName();
  EXPECT_GE(part<ImageView>()->width(), 350);
  EXPECT_GE(part<ImageView>()->height(), 300);
  setFont(150);
  settle();
  EXPECT_EQ(window_->size(), QSize(800, 480)) << "larger text does not grow the window beyond the screen";
  setFont(100);
  trigger("dock_source");
  again({800, 480});
  EXPECT_FALSE(dock("source")->isHidden()) << "the small layout comes back too";
  EXPECT_TRUE(dock("legend")->isHidden());
  window_->resize(1280, 800);
  EXPECT_FALSE(dock("legend")->isHidden()) << "as it was in the large window";
  EXPECT_TRUE(dock("events")->isHidden());
  window_->resize(800, 480);
  EXPECT_TRUE(dock("legend")->isHidden());
  check("teach", true);
  window_->resize(1280, 800);
  check("teach", false);
  EXPECT_FALSE(dock("legend")->isHidden()) << "those of the size that it has by then";
}

TEST_F(Window, LargerTextLeavesTheNumbersOfTheStepAndItsColouring) {
  ASSERT_TRUE(openAndPause());
  setFont(150);
  settle();
  const QLabel* const step = labelOf(window_.get(), "Insertion on show");
  EXPECT_GE(step->width(), step->fontMetrics().horizontalAdvance(step->text())) << step->text().toStdString();
  auto* const coloring = fieldOf<QComboBox>(window_.get(), "Colour of the clusters");
  EXPECT_GE(coloring->width(), coloring->fontMetrics().horizontalAdvance(coloring->currentText()) + 20);
  EXPECT_GE(coloring->y(), step->geometry().bottom()) << "below";
  EXPECT_EQ(part<ImageView>()->height(), part<MergeView>()->height());
  setFont(100);
  settle();
  EXPECT_LT(coloring->y(), step->geometry().bottom());
  EXPECT_EQ(part<ImageView>()->height(), part<MergeView>()->height());
}

TEST(Fields, WhatIsCutIsSaidByATip) {
  const std::unique_ptr<QComboBox> choice(choiceField("Choice", {"as short as can be"}));
  choice->resize(60, 20);
  QHelpEvent asks(QEvent::ToolTip, {5, 5}, choice->mapToGlobal(QPoint(5, 5)));
  QApplication::sendEvent(choice.get(), &asks);
  EXPECT_EQ(QToolTip::text(), choice->currentText());
  const std::unique_ptr<QLabel> label(shortLabel());
  EXPECT_EQ(label->minimumSizeHint().width(), 0) << "what says nothing takes no room";
  label->setText("as short as can be");
  label->resize(50, 20);
  QApplication::sendEvent(label.get(), &asks);
  EXPECT_EQ(QToolTip::text(), label->text());
}

// It was closed on a small screen the first time.
TEST(PanelDocks, ALayoutThatWasNeverStoredIsTheUsualOne) {
  QMainWindow window;
  window.resize(800, 480);
  ActionRegistry actions(&window);
  PanelDocks docks({{"legend", "Legend", new QWidget, Qt::RightDockWidgetArea}}, &window, &actions);
  const PanelDocks::Layouts stored = docks.layouts();
  EXPECT_TRUE(docks.docks()[0]->isHidden());
  window.resize(1280, 800);
  docks.setLayouts(stored);
  EXPECT_FALSE(docks.docks()[0]->isHidden());
  EXPECT_EQ(docks.layouts().small, stored.small);
}

TEST_F(Window, ASmallScreenHasRoomForOnePanel) {
  const auto* const bar = part<ChartPanel>();
  EXPECT_LT(bar->minimumSizeHint().width(), 320) << "it goes on below instead of pushing the panels out of the window";
  EXPECT_GT(bar->layout()->heightForWidth(320), bar->layout()->heightForWidth(1200));
  setFont(150);
  settle();
  const auto* const source = dock("source")->findChild<QScrollArea*>()->widget();
  int in_a_row = 0;
  for (const auto* button : source->findChildren<QPushButton*>())
    if (button->text() != "Change model…") in_a_row += button->minimumSizeHint().width();
  EXPECT_LT(source->minimumSizeHint().width(), in_a_row) << "larger text makes more rows";
  setFont(100);
  settle();
  for (const QSize size : {QSize(800, 480), QSize(640, 400)}) {
    window_->resize(size);
    trigger("layout");
    trigger("panels");
    const auto shown = [&] {
      QStringList names;
      for (const QDockWidget* dock : docks())
        if (!dock->isHidden()) names << dock->objectName();
      return names.join(QLatin1Char(' '));
    };
    EXPECT_EQ(shown(), "source");
    trigger("dock_chart");
    EXPECT_EQ(shown(), "chart");
    settle();
    ChartPanel* chart = part<ChartPanel>();
    for (const QAbstractButton* button : chart->findChildren<QAbstractButton*>()) {
      if (button->isVisible()) {
        EXPECT_FALSE(button->geometry().intersects(chart->chart()->geometry())) << button->text();
      }
    }
    EXPECT_EQ(window_->size(), size);
    trigger("panels");
    EXPECT_EQ(shown(), QString());
    trigger("panels");
    EXPECT_EQ(shown(), "chart") << "the one that was on show";
    trigger("panels");
  }
}

TEST_F(Window, AToolBarThatIsTooNarrowHasAnArrow) {
  window_->resize(480, 400);
  settle();
  const auto* arrow = childOf<QToolButton>(window_.get(), "qt_toolbar_ext_button");
  ASSERT_TRUE(arrow->isVisible());
  EXPECT_GE(arrow->width(), 20);
  const QImage image = window_->grab(QRect(arrow->mapTo(window_.get(), QPoint()), arrow->size())).toImage();
  int painted = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) painted += contrast(image.pixelColor(x, y), lightTheme().window) > 3;
  EXPECT_GT(painted, 8);
}

TEST_F(Window, EveryActionHasAKeyOfItsOwnAndHelpListsIt) {
  std::map<QString, QString> seen;
  for (const auto* action : part<ActionRegistry>()->findChildren<QAction*>()) {
    const QString key = action->shortcut().toString();
    EXPECT_FALSE(key.isEmpty()) << action->text();
    EXPECT_TRUE(seen.emplace(key, action->text()).second) << key << ": " << action->text();
  }
  EXPECT_GE(seen.size(), 40U);
  part<ActionRegistry>()->action("export")->setText(QStringLiteral("Words of another language ").repeated(3));
  QDialog* help = part<ActionRegistry>()->showHelp(window_.get());
  const auto* table = childOf<QTableWidget>(help);
  const QAbstractItemView* const lines = table;
  EXPECT_LE(lines->sizeHintForColumn(1), table->columnWidth(1)) << "no line is cut off";
  EXPECT_GE(table->rowCount(), static_cast<int>(seen.size()));
  QStringList groups;
  for (int row = 0; row < table->rowCount(); ++row)
    if (table->columnSpan(row, 0) == 2) groups << table->item(row, 0)->text();
  EXPECT_EQ(groups.join(QLatin1Char(' ')),
            "File View Watch Panels Help In a picture or the chart In a list Teaching "
            "Drawing regions");
  help->close();
}

class Keyboard : public Window {
 protected:
  // In the widget that has the focus.
  void press(Qt::Key key) const {
    QWidget* const focus = window_->focusWidget();
    QTest::keyClick(focus ? focus : window_.get(), key);
  }
};

TEST_F(Keyboard, TheFocusIsInNoPanelBehindAnotherOne) {
  for (const Qt::Key key : {Qt::Key_Tab, Qt::Key_Backtab}) {
    std::set<const QDockWidget*> reached;
    for (int i = 0; i < 100; ++i) {
      press(key);
      EXPECT_FALSE(window_->focusWidget()->inherits("QTabBar") && window_->focusWidget()->x() < 0);
      for (const QDockWidget* dock : docks())
        if (dock->isAncestorOf(window_->focusWidget())) reached.insert(dock);
    }
    for (const QDockWidget* dock : reached)
      EXPECT_TRUE(action(("dock_" + dock->objectName().toStdString()).c_str())->isChecked());
    EXPECT_TRUE(reached.contains(dock("chart")) && reached.contains(dock("source")));
  }
}

TEST_F(Keyboard, APanelIsScrolledByKeys) {
  window_->resize(640, 400);
  trigger("layout");
  trigger("dock_speed");
  setFont(150);
  settle();
  QScrollBar* const bar = dock("speed")->findChild<QScrollArea*>()->verticalScrollBar();
  ASSERT_TRUE(bar->isVisible() && bar->maximum() > 0);
  for (int i = 0; i < 100 && window_->focusWidget() != bar; ++i) press(Qt::Key_Tab);
  ASSERT_EQ(window_->focusWidget(), bar);
  QTest::keyClick(bar, Qt::Key_End);
  EXPECT_EQ(bar->value(), bar->maximum());
  QTest::keyClick(bar, Qt::Key_Home);
  EXPECT_EQ(bar->value(), 0);
  setFont(100);
}

TEST_F(Window, EverythingThatTakesTheFocusHasAName) {
  check("teach", true);
  for (const QWidget* widget : window_->findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith("qt_") ||
        widget->inherits("QScrollArea") || widget->inherits("QComboBoxListView") || widget->inherits("QTabBar") ||
        widget->inherits("QHeaderView") || widget->inherits("QMenuBar") || widget->inherits("QMenu"))
      continue;
    const QVariant text = widget->property("text");
    EXPECT_FALSE(widget->accessibleName().isEmpty() && text.toString().isEmpty()) << widget->metaObject()->className();
  }
}

TEST_F(Window, TheChartIsExportedFromItsDialog) {
  ASSERT_TRUE(openAndWait() && stores() && looks());
  auto* dialog = dialogOf<ExportDialog>("export");
  EXPECT_EQ(dialog->span(), (std::pair<UnixMs, UnixMs>(0, INT64_MAX)));
  EXPECT_THAT(textOf(dialog), Has("Source: street, in m.db"));
  buttonOf(dialog, ExportDialog::tr("The stretch of time on show"))->click();
  const TimeAxis& axis = part<ChartPanel>()->chart()->axis();
  EXPECT_NEAR(static_cast<double>(dialog->span().first), axis.from * 1000, 5000);
  EXPECT_NEAR(static_cast<double>(dialog->span().second), axis.to * 1000, 5000);
  for (const auto& [format, suffix] :
       {std::pair(ExportDialog::Format::kCsv, "csv"), std::pair(ExportDialog::Format::kChartPng, "png"),
        std::pair(ExportDialog::Format::kJsonLines, "jsonl")}) {
    fieldOf<QComboBox>(dialog, "Format")->setCurrentIndex(static_cast<int>(format));
    EXPECT_EQ(dialog->format(), format);
    EXPECT_EQ(dialog->suffix(), suffix);
    EXPECT_EQ(buttonOf(dialog, ExportDialog::tr("Everything that is stored of it"))->isEnabled(),
              format != ExportDialog::Format::kChartPng);
  }
  buttonOf(dialog, ExportDialog::tr("Everything that is stored of it"))->click();
  dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->click();
  QFileDialog* where = nullptr;
  ASSERT_TRUE(wait([&] { return (where = window_->findChild<QFileDialog*>()) != nullptr; }));
  const QStringList proposed = where->selectedFiles();
  ASSERT_EQ(proposed.size(), 1);
  EXPECT_THAT(QFileInfo(proposed[0]).fileName(), Begins("street-20")) << proposed[0];
  where->selectFile(file("all.jsonl"));
  part<HistorySources>()->forget();  // the question was about the one before
  QMetaObject::invokeMethod(where, "accept");
  ASSERT_TRUE(wait([&] { return QFile::exists(file("all.jsonl")); }));
  EXPECT_THAT(content(file("all.jsonl")), Begins('{'));
}

TEST(Exports, ProposeANameThatAnyDiskTakes) {
  const UnixMs noon = 1774008000000;  // 20 March 2026
  EXPECT_EQ(exportName("rtsp://***@yard/1?x=2", noon, noon + 1, vision::CameraClock(), "csv"),
            "rtsp-yard-1-x-2-2026-03-20.csv");
  EXPECT_EQ(exportName("straße.mp4", noon, noon + kDayMs, vision::CameraClock("+14:00"), "jsonl"),
            "straße.mp4-2026-03-21-2026-03-22.jsonl");
  EXPECT_EQ(exportName(QString(300, 'x'), noon, noon, {}, "csv").size(), 80 + 11 + 4);
}

TEST_F(OwnWindow, AnExportThatMakesNoFileSaysWhy) {
  storeSamples("yard", unixNow() - 60 * 1000, 1000, 60);
  make();
  ASSERT_TRUE(stores());
  part<Exports>()->write(ExportDialog::Format::kCsv, 1, 1000, 2000, file("none.csv"));
  EXPECT_TRUE(noticed("No sample lies in that time"));
  EXPECT_FALSE(QFile::exists(file("none.csv")));
  part<Exports>()->write(ExportDialog::Format::kChartPng, 1, 0, 0, file("no/such/folder.png"));
  EXPECT_TRUE(noticed("no/such/folder.png"));
}

// To a FIFO, which takes nothing until somebody reads it.
TEST_F(OwnWindow, AnExportThatTakesLongIsCancelledInItsDialog) {
  storeSamples("/dev/video9", unixNow() - 2000 * 1000, 1000, 2000);
  make();
  ASSERT_TRUE(stores());
  const QByteArray fifo = file("fifo").toLocal8Bit();
  ASSERT_EQ(::mkfifo(fifo.constData(), 0600), 0);
  part<Exports>()->write(ExportDialog::Format::kJsonLines, 1, 0, INT64_MAX, file("fifo"));
  auto* const progress = childOf<QProgressDialog>(window_.get());
  ASSERT_TRUE(wait([&] { return progress->isVisible(); }));
  EXPECT_FALSE(progress->isModal());
  part<Exports>()->write(ExportDialog::Format::kCsv, 1, 0, INT64_MAX, file("other.csv"));
  EXPECT_TRUE(noticed("other.csv")) << "another one does not wait for it";
  window_->close();
  auto* const question = childOf<QMessageBox>(window_.get());
  EXPECT_TRUE(window_->isVisible());
  window_->close();
  EXPECT_EQ(window_->findChildren<QMessageBox*>().size(), 1) << "once";
  buttonOf(question, Exports::tr("Go on"))->click();
  EXPECT_TRUE(window_->isVisible());
  buttonOf(progress, Exports::tr("Cancel"))->click();
  QFile reader;
  ASSERT_TRUE(
      reader.open(::open(fifo.constData(), O_RDONLY | O_NONBLOCK), QIODevice::ReadOnly, QFileDevice::AutoCloseHandle));
  EXPECT_TRUE(wait([&] {
    reader.readAll();
    return notice().startsWith("The export was cancelled");
  })) << notice();
  EXPECT_TRUE(wait([&] { return window_->findChild<QProgressDialog*>() == nullptr; }));
  window_->close();
  EXPECT_FALSE(window_->isVisible()) << "nothing goes on any more";
}

TEST_F(Window, KeysMoveTheCurtainShowOneClassAndGoToAnEvent) {
  ASSERT_TRUE(openAndWait());
  window_->activateWindow();
  ASSERT_TRUE(QTest::qWaitForWindowActive(window_.get()));
  QTest::keyClicks(window_.get(), "4");
  ASSERT_EQ(part<ImageView>()->paint().mode, ViewMode::kCurtain);
  QTest::keyClick(window_.get(), Qt::Key_Less);
  EXPECT_NEAR(part<ImageView>()->paint().curtain, 0.45, 1e-9);
  for (int i = 0; i < 30; ++i) QTest::keyClick(window_.get(), Qt::Key_Greater);
  EXPECT_NEAR(part<ImageView>()->paint().curtain, 1, 1e-9);

  QTableView* classes = fieldOf<QTableView>(part<LegendPanel>(), "Classes");
  classes->setFocus();
  classes->setCurrentIndex(classes->model()->index(1, 0));
  QTest::keyClick(classes, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(part<LegendModel>()->solo(), classes->model()->index(1, 0).data(LegendModel::kClassRole).toInt());
  QTest::keyClick(classes, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(part<LegendModel>()->solo(), std::nullopt);

  part<EventsModel>()->add({1770000000000, monitor::EventKind::kAlarm, monitor::Severity::kWarning, "look here"});
  dock("events")->raise();
  auto* events = fieldOf<QTableView>(window_.get(), "Events");
  events->setFocus();
  events->setCurrentIndex(events->model()->index(0, 0));
  QTest::keyClick(events, Qt::Key_Return);
  const TimeAxis& axis = part<ChartPanel>()->chart()->axis();
  EXPECT_NEAR((axis.from + axis.to) / 2, 1770000000, 1);
  EXPECT_FALSE(part<ChartPanel>()->chart()->following());
}

TEST_F(Window, DialogsFitASmallScreenAndHaveNoStockIcons) {
  ASSERT_TRUE(openAndWait() && stores());
  window_->resize(800, 480);
  trigger("layout");
  for (const int percent : {100, 150}) {
    setFont(percent);
    settle();
    for (const char* id : {"night", "alarms", "keep", "keys", "open", "model", "export", "about"}) {
      auto* dialog = dialogOf<QDialog>(id);
      ASSERT_NE(dialog, nullptr) << id;
      const auto* buttons = childOf<QDialogButtonBox>(dialog);
      for (const QAbstractButton* button : buttons->buttons())
        EXPECT_TRUE(button->icon().isNull()) << id << ": " << button->text();
      if (!dialog->inherits("QFileDialog")) {
        EXPECT_LE(dialog->height(), 480) << id << " at " << percent << " %";
        EXPECT_LE(dialog->width(), 800) << id << " at " << percent << " %";
        EXPECT_THAT(dialog->rect(), Has(buttons->geometry())) << id << " at " << percent << " %";
      }
      delete dialog;
    }
  }
  auto* keep = dialogOf<QDialog>("keep");
  keep->resize(keep->width(), 200);
  settle();
  EXPECT_GT(keep->findChild<QScrollArea*>()->verticalScrollBar()->maximum(), 0) << "what has no room is a scroll away";
  delete keep;
  setFont(100);
}

TEST_F(Window, LargerTextIsLargerEverywhere) {
  ASSERT_TRUE(openAndWait());
  setFont(100);
  settle();
  const auto* classes = fieldOf<QTableView>(part<LegendPanel>(), "Classes");
  const double points = QApplication::font().pointSizeF();
  const int row = classes->rowHeight(0), bar = window_->menuBar()->height(),
            plot = part<ChartPanel>()->chart()->scene().plot.toRect().left();
  QMap<const QLabel*, int> heights;
  for (const QLabel* label : window_->findChildren<QLabel*>()) heights[label] = label->fontMetrics().height();

  setFont(130);
  settle();
  EXPECT_NEAR(QApplication::font().pointSizeF(), 1.3 * points, 0.01);
  EXPECT_GT(classes->rowHeight(0), row);
  EXPECT_GE(classes->rowHeight(0), classes->fontMetrics().height());
  EXPECT_GE(fieldOf<QTableView>(window_.get(), "Events")->verticalHeader()->defaultSectionSize(),
            classes->fontMetrics().height());
  EXPECT_GT(window_->menuBar()->height(), bar);
  EXPECT_GT(part<ChartPanel>()->chart()->scene().plot.left(), plot);
  for (auto it = heights.begin(); it != heights.end(); ++it)
    EXPECT_GT(it.key()->fontMetrics().height(), it.value()) << it.key()->text();
  setFont(100);
}

// Words above the picture say what its cells are, others for the bare grid, none where there is no room for them.
TEST_F(Window, TheMergeMapSaysWhatItIsWhereThereIsRoom) {
  ASSERT_TRUE(openAndPause());
  MergeView* view = part<MergeView>();
  const auto above = [&](QSize size) {
    QImage picture(size, QImage::Format_RGB32);
    const QSize before = view->size();
    view->resize(size);
    view->render(&picture);
    const int top = static_cast<int>(view->viewport().pictureRect().top());
    view->resize(before);
    return picture.copy(0, 0, size.width(), std::max(top, 1));
  };
  const auto isOneColour = [](const QImage& image) {
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x)
        if (image.pixel(x, y) != image.pixel(0, 0)) return false;
    }
    return true;
  };
  const QImage merged = above({360, 700});
  ASSERT_GT(merged.height(), 100);
  EXPECT_FALSE(isOneColour(merged));
  EXPECT_TRUE(isOneColour(above({360, 260})));
  trigger("previous_insertion");
  trigger("previous_insertion");
  EXPECT_NE(above({360, 700}), merged);
}

}  // namespace
}  // namespace mpm::gui
