// SPDX-License-Identifier: Apache-2.0
#include "gui/controllers/live_monitor.h"

#include <gtest/gtest.h>

#include <QTest>
#include <chrono>
#include <thread>

#include "monitor/fake_source.h"
#include "support/data_path.h"
#include "support/gate.h"
#include "support/pictures.h"

namespace mpm::gui {
namespace {

// Two pictures come while the window is busy, the last of the folder among them. Then a rule is changed.
TEST(LiveMonitor, ShowsTheLastFrameOnceMore) {
  mpm::test::Gate gate;
  LiveMonitor live({.model = mpm::test::dataPath("segmenter_mask_ts17.onnx")});
  LiveFramePtr shown;
  QObject::connect(&live, &LiveMonitor::frameArrived, [&](const LiveFramePtr& frame) { shown = frame; });
  monitor::CameraPlan plan{.source = vision::parseSourceSpec("folder"), .every_s = 0, .every_frame = true};
  plan.factory = monitor::test::always([&](int call) -> std::optional<vision::Frame> {
    if (call > 0) gate.wait();
    if (call > 2) return std::nullopt;
    return vision::Frame{mpm::test::noisePicture(48, 64, call), std::to_string(call), "folder", call};
  });
  live.open(plan);
  ASSERT_TRUE(QTest::qWaitFor([&] { return shown && shown->result.model; }, 60000));
  gate.open();
  for (int i = 0; i < 6000 && !live.session().status().finished; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  live.change([](monitor::Session&) {});
  ASSERT_TRUE(QTest::qWaitFor([&] { return shown->result.repeated; }, 60000));
  EXPECT_EQ(shown->result.frame.name, "2");
}

// A rule is changed while the next picture is read, and there is none: the last one was measured by the rule before.
TEST(LiveMonitor, ShowsAChangeInTheLastFrameOfASourceThatThenEnds) {
  mpm::test::Gate gate;
  LiveMonitor live({.model = mpm::test::dataPath("segmenter_mask_ts17.onnx")});
  LiveFramePtr shown;
  QObject::connect(&live, &LiveMonitor::frameArrived, [&](const LiveFramePtr& frame) { shown = frame; });
  monitor::CameraPlan plan{.source = vision::parseSourceSpec("folder"), .every_s = 0, .every_frame = true};
  plan.factory = monitor::test::always([&](int call) -> std::optional<vision::Frame> {
    if (call > 0) gate.wait();
    if (call > 0) return std::nullopt;
    return vision::Frame{mpm::test::noisePicture(48, 64, call), std::to_string(call), "folder", call};
  });
  live.open(plan);
  ASSERT_TRUE(QTest::qWaitFor([&] { return shown && shown->result.model; }, 60000));
  live.change([](monitor::Session&) {});
  gate.open();
  EXPECT_TRUE(QTest::qWaitFor([&] { return shown->result.repeated; }, 60000));
}

}  // namespace
}  // namespace mpm::gui
