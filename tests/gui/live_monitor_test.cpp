// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/live_monitor.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>
#include <chrono>
#include <thread>

#include "monitor/fake_source.h"
#include "support/data_path.h"
#include "support/gate.h"
#include "support/pictures.h"

namespace mpm::gui {
namespace {

/// A folder of pictures, opened: the first one is on show, and the others, or the end, come when the gate opens.
struct Folder {
  explicit Folder(int pictures) {
    QObject::connect(&live, &LiveMonitor::frameArrived, [this](const LiveFramePtr& frame) { shown = frame; });
    monitor::CameraPlan plan{.source = vision::parseSourceSpec("folder"), .every_s = 0, .every_frame = true};
    plan.factory = monitor::test::always([this, pictures](int call) -> std::optional<vision::Frame> {
      if (call > 0) gate.wait();
      if (call == pictures) return std::nullopt;
      return vision::Frame{mpm::test::noisePicture(48, 64, call), std::to_string(call), "folder", call};
    });
    live.open(plan);
    EXPECT_TRUE(QTest::qWaitFor([&] { return shown && shown->result.model; }, 60000));
  }

  bool repeats() const {
    return QTest::qWaitFor([&] { return shown->result.repeated; }, 60000);
  }

  mpm::test::Gate gate;
  LiveFramePtr shown;
  LiveMonitor live{{.model = mpm::test::dataPath("segmenter_mask_ts17.onnx")}};
};

// Two pictures come while the window is busy, the last of the folder among them. Then a rule is changed.
TEST(LiveMonitor, ShowsTheLastFrameOnceMore) {
  Folder folder(3);
  folder.gate.open();
  for (int i = 0; i < 6000 && !folder.live.session().status().finished; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  folder.live.change([](monitor::Session&) {});
  ASSERT_TRUE(folder.repeats());
  EXPECT_EQ(folder.shown->result.frame.name, "2");
}

// A rule is changed while the next picture is read, and there is none: the last one was measured by the rule before.
TEST(LiveMonitor, ShowsAChangeInTheLastFrameOfASourceThatThenEnds) {
  Folder folder(1);
  folder.live.change([](monitor::Session&) {});
  folder.gate.open();
  EXPECT_TRUE(folder.repeats());
}

TEST(LiveMonitor, APictureThatWasChosenIsOfItsFolderAlone) {
  Folder folder(1);
  folder.gate.open();
  const auto ends = [&] { return QTest::qWaitFor([&] { return folder.live.session().status().finished; }, 60000); };
  ASSERT_TRUE(ends());
  folder.live.showPicture("chosen.png", mpm::test::noisePicture(48, 64, 9), 1);
  ASSERT_TRUE(folder.repeats());
  monitor::CameraPlan empty{.source = vision::parseSourceSpec("empty")};
  empty.factory = monitor::test::always([](int) { return std::nullopt; });
  folder.live.open(empty);
  folder.shown = nullptr;
  ASSERT_TRUE(ends());
  const QSignalSpy ticks(&folder.live, &LiveMonitor::ticked);
  ASSERT_TRUE(QTest::qWaitFor([&] { return ticks.count() >= 2; }, 60000));
  EXPECT_EQ(folder.shown, nullptr);
}

}  // namespace
}  // namespace mpm::gui
