// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QCheckBox>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QLabel>
#include <QMimeData>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <thread>

#include "action_registry.h"
#include "application.h"
#include "main_window.h"
#include "views/chart_panel.h"
#include "views/compare_panel.h"
#include "views/image_view.h"
#include "views/inspector_panel.h"
#include "views/merge_view.h"
#include "views/schedule_panel.h"
#include "views/speed_panel.h"
#include "views/time_chart.h"
#include "views/welcome_page.h"

namespace mpm {
namespace {

constexpr int kPatience = 15000;

// A window on a folder of pictures with a model of three blocks: input 32x64, patch 8, four classes.
class Window : public ::testing::Test {
 protected:
  void SetUp() override {
    QDir(folder_.path()).mkpath(QStringLiteral("street"));
    for (int i = 0; i < 40; ++i) {
      cv::Mat small(7, 9, CV_8UC3), image;
      cv::RNG(i + 1).fill(small, cv::RNG::UNIFORM, 0, 256);
      cv::resize(small, image, {320, 160}, 0, 0, cv::INTER_CUBIC);
      cv::imwrite(path("street/%1.png", i), image);
    }
    make();
  }
  void TearDown() override { window_.reset(); }

  void make() {
    WindowOptions options;
    options.model = QStringLiteral(MPM_TEST_DATA_DIR "/segmenter_mask_ts17.onnx");
    options.schedule = Schedule{1, 2};
    options.database = folder_.filePath(QStringLiteral("m.db"));
    options.pictures = folder_.filePath(QStringLiteral("pictures"));
    options.settings = folder_.filePath(QStringLiteral("settings.ini"));
    options.threads = 1;
    window_ = std::make_unique<MainWindow>(options);
    window_->resize(1280, 800);
    window_->restoreDefaultLayout();
    window_->show();
  }
  std::string path(const char* pattern, int i) const {
    return folder_.filePath(QString::fromLatin1(pattern).arg(i, 2, 10, QLatin1Char('0'))).toStdString();
  }

  static bool wait(const std::function<bool()>& done) { return QTest::qWaitFor(done, kPatience); }
  const LiveFramePtr& frame() const { return window_->imageView()->frame(); }
  bool openAndWait() {
    window_->openSource(folder_.filePath(QStringLiteral("street")));
    return wait([&] { return frame() && frame()->hasGrid(); });
  }
  void trigger(const char* id) const { window_->actions().action(QString::fromLatin1(id))->trigger(); }
  QImage shot(QWidget* widget) const { return widget->grab().toImage(); }

  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
};

TEST_F(Window, BeginsWithAWelcomeAndRunsLive) {
  EXPECT_TRUE(window_->showsWelcome());
  ASSERT_TRUE(openAndWait());
  EXPECT_FALSE(window_->showsWelcome());
  EXPECT_TRUE(window_->windowTitle().contains(QStringLiteral("street")));
  EXPECT_EQ(window_->legend().classes(), 4);
  EXPECT_EQ(window_->schedulePanel()->schedule(), (Schedule{1, 2}));
  EXPECT_TRUE(window_->tokensText().startsWith(QStringLiteral("tokens 32 → "))) << window_->tokensText().toStdString();
  EXPECT_TRUE(wait([&] {
    return window_->stateText() == QStringLiteral("Live") || window_->stateText() == QStringLiteral("Ended");
  }));
  const int first = static_cast<int>(frame()->result.frame.id);
  EXPECT_TRUE(wait([&] { return frame()->result.frame.id > first; }));
  double area = 0;
  for (const auto& [label, share] : frame()->areas) area += share;
  EXPECT_NEAR(area, 1, 1e-9);
}

TEST_F(Window, OpacityModesAndClassesNeedNoInference) {
  ASSERT_TRUE(openAndWait());
  trigger("pause");
  QTest::qWait(300);
  const LiveFramePtr before = frame();
  const auto processed = window_->live().inferenceStatus().processed;
  ImageView* view = window_->imageView();
  const QImage overlay = shot(view);
  trigger("transparent");
  EXPECT_NEAR(view->paint().opacity, 0.5, 1e-9);
  EXPECT_EQ(window_->opacitySlider()->value(), 50);
  window_->opacitySlider()->setValue(100);
  EXPECT_NE(shot(view), overlay);
  trigger("image");
  const QImage image = shot(view);
  trigger("mask");
  const QImage mask = shot(view);
  EXPECT_NE(image, mask);
  trigger("curtain");
  EXPECT_NE(shot(view), mask);
  trigger("mask");
  window_->legend().setAllVisible(false);
  EXPECT_NE(shot(view), mask);
  EXPECT_EQ(frame(), before);
  EXPECT_EQ(window_->live().inferenceStatus().processed, processed);
}

TEST_F(Window, MergeMapStepsAndColours) {
  ASSERT_TRUE(openAndWait());
  trigger("pause");
  QTest::qWait(300);
  MergeView* view = window_->mergeView();
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

TEST_F(Window, HoverOutlinesTheClusterInBothViewsAndTellsOfIt) {
  ASSERT_TRUE(openAndWait());
  trigger("pause");
  QTest::qWait(300);
  const MergeLookup& lookup = frame()->lookup;
  int merged = 0;
  while (lookup.mergedAt(2, merged) == 0) ++merged;
  const QImage image = shot(window_->imageView()), map = shot(window_->mergeView());
  const QPoint at = window_->mergeView()->viewport().tokenRect(merged, lookup.grid()).center().toPoint();
  QTest::mouseMove(window_->mergeView(), at);
  ASSERT_TRUE(wait([&] { return window_->selection().token() == merged; }));
  EXPECT_NE(shot(window_->imageView()), image);
  EXPECT_NE(shot(window_->mergeView()), map);
  const QString text = window_->inspector()->text();
  for (const QString& part :
       {QStringLiteral("Cluster: %1 of %2").arg(lookup.cluster(2, merged)).arg(lookup.clusters(2)),
        QStringLiteral("Merged: before block %1").arg(lookup.block(lookup.mergedAt(2, merged))),
        QStringLiteral("with its pair"), QStringLiteral("Score: ")})
    EXPECT_TRUE(text.contains(part)) << part.toStdString() << " in\n" << text.toStdString();
  EXPECT_FALSE(text.contains(QStringLiteral("not known")));

  QTest::mouseClick(window_->mergeView(), Qt::LeftButton, {}, at);
  EXPECT_TRUE(window_->selection().pinned());
  QTest::keyClick(window_->mergeView(), Qt::Key_Right);
  EXPECT_NE(window_->selection().token(), merged);
  trigger("unpin");
  EXPECT_FALSE(window_->selection().pinned());
}

TEST_F(Window, ZoomAndCursorAreLinked) {
  ASSERT_TRUE(openAndWait());
  ImageView* image = window_->imageView();
  const QPointF at(image->width() / 3.0, image->height() / 2.0);
  QWheelEvent wheel(at, image->mapToGlobal(at), {}, QPoint(0, 480), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                    false);
  QApplication::sendEvent(image, &wheel);
  EXPECT_GT(image->viewState().zoom, 1.5);
  EXPECT_EQ(window_->mergeView()->viewState(), image->viewState());
  QTest::mouseMove(image, at.toPoint());
  EXPECT_TRUE(window_->selection().cursor().has_value());
  trigger("fit");
  EXPECT_EQ(window_->mergeView()->viewState(), ViewState());
}

TEST_F(Window, ScheduleTakesEffectAndIsACommandLine) {
  ASSERT_TRUE(openAndWait());
  window_->schedulePanel()->box(2)->click();
  ASSERT_TRUE(wait([&] { return frame()->lookup.steps() == 2; }));
  EXPECT_EQ(frame()->result.model->schedule, Schedule{1});
  window_->schedulePanel()->box(1)->click();
  ASSERT_TRUE(wait([&] { return frame()->lookup.steps() == 1; }));
  EXPECT_EQ(window_->tokensText(), QStringLiteral("tokens 32"));
  trigger("command");
  const QString line = QApplication::clipboard()->text();
  EXPECT_TRUE(line.startsWith(QStringLiteral("mpm monitor "))) << line.toStdString();
  EXPECT_TRUE(line.contains(QStringLiteral("--schedule none"))) << line.toStdString();
  EXPECT_TRUE(line.contains(QStringLiteral("segmenter_mask_ts17.onnx")));
}

TEST_F(Window, ComparesWithTheFullModel) {
  ASSERT_TRUE(openAndWait());
  trigger("compare");
  ASSERT_TRUE(wait([&] { return frame()->comparison.has_value() && !window_->comparePanel()->picture().isNull(); }));
  EXPECT_TRUE(window_->comparePanel()->text().contains(QStringLiteral("Same label on")))
      << window_->comparePanel()->text().toStdString();
  EXPECT_GE(frame()->comparison->agreement, 0);
  EXPECT_LE(frame()->comparison->agreement, 1);
  EXPECT_GT(frame()->comparison->speed_up, 0);
  trigger("compare");
  EXPECT_TRUE(window_->comparePanel()->picture().isNull());
}

TEST_F(Window, StoresSamplesDrawsAndExportsThem) {
  ASSERT_TRUE(openAndWait());
  TimeChart* chart = window_->chartPanel()->chart();
  ASSERT_TRUE(wait([&] { return chart->chart().buckets.size() >= 2; }));
  for (const auto& [format, name, mark] :
       {std::tuple(ExportDialog::Format::kCsv, "a.csv", ""), std::tuple(ExportDialog::Format::kPhenoCam, "b.csv", "#"),
        std::tuple(ExportDialog::Format::kJsonLines, "c.jsonl", "{"),
        std::tuple(ExportDialog::Format::kChartPng, "d.png", "\x89PNG")}) {
    const QString file = folder_.filePath(QString::fromLatin1(name));
    window_->exportSamples(format, 0, INT64_MAX, file);
    ASSERT_TRUE(wait([&] { return QFile::exists(file); })) << name;
    QFile text(file);
    ASSERT_TRUE(text.open(QIODevice::ReadOnly));
    EXPECT_TRUE(text.readAll().startsWith(mark)) << name;
  }
}

TEST_F(Window, SnapshotAndStoredPictureUnderTheCrosshair) {
  ASSERT_TRUE(openAndWait());
  trigger("snapshot");
  const QDir pictures(folder_.filePath(QStringLiteral("pictures")));
  ASSERT_TRUE(wait([&] { return !window_->pictures().pictures().empty(); }));
  EXPECT_EQ(pictures.entryList({QStringLiteral("*_overlay.png")}).size(), 1);
  EXPECT_EQ(pictures.entryList({QStringLiteral("*.json")}).size(), 1);
  trigger("pause");
  emit window_->chartPanel()->chart()->timePicked(window_->pictures().pictures()[0].time + 0.5);
  ASSERT_TRUE(wait([&] { return !frame()->hasGrid(); })) << "the stored picture is on show";
  trigger("unpin");
  EXPECT_TRUE(frame()->hasGrid());
  trigger("pause");
  trigger("record");
  EXPECT_TRUE(wait([&] { return pictures.entryList({QStringLiteral("*.png")}).size() >= 5; }));
  trigger("record");
}

TEST_F(Window, ASourceThatCannotBeOpenedSaysSoAndKeepsNoPassword) {
  window_->openSource(QStringLiteral("rtsp://anna:geheim@127.0.0.1:9/none"));
  EXPECT_FALSE(window_->windowTitle().contains(QStringLiteral("geheim")));
  ASSERT_TRUE(wait([&] { return window_->stateText().startsWith(QStringLiteral("Retrying")); }))
      << window_->stateText().toStdString();
  for (const QLabel* label : window_->findChildren<QLabel*>())
    EXPECT_FALSE(label->text().contains(QStringLiteral("geheim")));
  for (int row = 0; row < window_->events().rowCount(); ++row)
    EXPECT_FALSE(
        window_->events().index(row, EventsModel::kMessage).data().toString().contains(QStringLiteral("geheim")));
  EXPECT_FALSE(window_->commandLine().contains(QStringLiteral("geheim")));
  QFile settings(folder_.filePath(QStringLiteral("settings.ini")));
  if (settings.open(QIODevice::ReadOnly)) {
    EXPECT_FALSE(settings.readAll().contains("geheim"));
  }
  window_->closeSource();
  EXPECT_TRUE(window_->showsWelcome());
}

TEST_F(Window, DroppedFolderOpensAndBrokenModelKeepsTheOldOne) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(folder_.filePath(QStringLiteral("street")))});
  QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(window_.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, {});
  QApplication::sendEvent(window_.get(), &drop);
  ASSERT_TRUE(wait([&] { return frame() && frame()->hasGrid(); }));
  QFile file(folder_.filePath(QStringLiteral("broken.onnx")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("garbage");
  file.close();
  window_->openDropped(file.fileName());
  const auto said = [&] {
    for (int row = 0; row < window_->events().rowCount(); ++row)
      if (window_->events().eventAt(row).kind == monitor::EventKind::kModel &&
          window_->events().eventAt(row).severity == monitor::Severity::kError)
        return true;
    return false;
  };
  EXPECT_TRUE(wait(said));
  window_->openSource(folder_.filePath(QStringLiteral("street")));
  EXPECT_TRUE(wait([&] { return frame() && frame()->hasGrid(); })) << "the model before goes on";
}

TEST_F(Window, RemembersItsSourceAndItsLayout) {
  ASSERT_TRUE(openAndWait());
  window_->docks().first()->hide();
  window_->close();
  window_.reset();
  WindowOptions options;
  options.settings = folder_.filePath(QStringLiteral("settings.ini"));
  options.pictures = folder_.filePath(QStringLiteral("pictures"));
  MainWindow again(options);
  again.show();
  EXPECT_TRUE(again.docks().first()->isHidden());
  QSettings settings(options.settings, QSettings::IniFormat);
  const auto recents = loadRecents(settings);
  ASSERT_EQ(recents.size(), 1);
  EXPECT_EQ(recents[0].source, folder_.filePath(QStringLiteral("street")));
  again.resize(1280, 800);
  again.restoreDefaultLayout();
  EXPECT_FALSE(again.docks().first()->isHidden());
}

TEST_F(Window, WorksAt800x480WithDocksHidden) {
  window_->resize(800, 480);
  window_->restoreDefaultLayout();
  ASSERT_TRUE(openAndWait());
  EXPECT_EQ(window_->size(), QSize(800, 480));
  for (const QDockWidget* dock : window_->docks()) EXPECT_TRUE(dock->isHidden()) << dock->objectName().toStdString();
  EXPECT_GE(window_->imageView()->width(), 350);
  EXPECT_GE(window_->imageView()->height(), 300);
  window_->setFontPercent(150);
  QTest::qWait(100);
  EXPECT_EQ(window_->size(), QSize(800, 480)) << "larger text does not grow the window beyond the screen";
  window_->setFontPercent(100);
}

TEST_F(Window, EveryActionHasAKeyOfItsOwnAndHelpListsIt) {
  std::map<QString, QString> seen;
  for (const auto& entry : window_->actions().entries()) {
    const QString key = entry.action->shortcut().toString();
    EXPECT_FALSE(key.isEmpty()) << entry.action->text().toStdString();
    EXPECT_TRUE(seen.emplace(key, entry.action->text()).second)
        << key.toStdString() << ": " << entry.action->text().toStdString();
  }
  EXPECT_GE(seen.size(), 40U);
  QDialog* help = window_->actions().showHelp(window_.get());
  auto* table = help->findChild<QAbstractItemView*>();
  ASSERT_NE(table, nullptr);
  EXPECT_GE(table->model()->rowCount(), static_cast<int>(seen.size()));
  help->close();
}

TEST_F(Window, EverythingThatTakesTheFocusHasAName) {
  for (const QWidget* widget : window_->findChildren<QWidget*>()) {
    if (widget->focusPolicy() == Qt::NoFocus || widget->objectName().startsWith(QLatin1String("qt_")) ||
        widget->inherits("QScrollArea") || widget->inherits("QComboBoxListView") || widget->inherits("QTabBar") ||
        widget->inherits("QHeaderView") || widget->inherits("QMenuBar") || widget->inherits("QMenu"))
      continue;
    const QVariant text = widget->property("text");
    EXPECT_FALSE(widget->accessibleName().isEmpty() && text.toString().isEmpty()) << widget->metaObject()->className();
  }
}

TEST_F(Window, DarkAndLightDiffer) {
  ASSERT_TRUE(openAndWait());
  window_->setDark(false);
  const QColor light = shot(window_.get()).pixelColor(5, 5);
  window_->setDark(true);
  const QColor dark = shot(window_.get()).pixelColor(5, 5);
  EXPECT_GT(light.lightness(), 200);
  EXPECT_LT(dark.lightness(), 60);
  window_->setDark(false);
}

// Nothing that a person does may hold the window up; see Application for what is measured.
TEST_F(Window, TheUiThreadNeverWaits) {
  auto* app = static_cast<Application*>(qApp);
  ASSERT_TRUE(openAndWait());
  QTest::qWait(500);
  app->resetWatchdog();
  for (const char* id :
       {"transparent", "mask", "curtain", "overlay", "previous_insertion", "next_insertion", "coloring"}) {
    trigger(id);
    QTest::qWait(60);
  }
  for (int i = 0; i < 30; ++i) {
    QTest::mouseMove(window_->imageView(), QPoint(20 + 10 * i, 150));
    QTest::qWait(10);
  }
  window_->schedulePanel()->box(2)->click();
  trigger("snapshot");
  trigger("compare");
  QTest::qWait(1000);
  window_->closeSource();
  QTest::qWait(100);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "under a sanitizer everything is slow";
#endif
  EXPECT_EQ(app->slowEvents(), 0) << app->longestMs() << " ms in " << app->slowest().toStdString();
}

TEST(Watchdog, SeesAThreadThatBlocksOrComputes) {
  auto* app = static_cast<Application*>(qApp);
  app->resetWatchdog();
  bool done = false;
  QMetaObject::invokeMethod(
      app,
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
        done = true;
      },
      Qt::QueuedConnection);
  ASSERT_TRUE(QTest::qWaitFor([&] { return done; }, 5000));
  EXPECT_EQ(app->slowEvents(), 1);
  EXPECT_GE(app->longestMs(), 35);
}

}  // namespace
}  // namespace mpm
