// SPDX-License-Identifier: Apache-2.0
// What the thread of the window has to do for one frame of 1280x720, and how long a year of samples takes to open.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QEventLoop>
#include <QImage>

#include "gui/models/history.h"
#include "gui/models/legend_model.h"
#include "gui/views/chart_scene.h"
#include "gui/views/image_view.h"
#include "gui/views/look.h"
#include "gui/views/merge_view.h"
#include "monitor/store/store.h"
#include "mpm/estimator.hpp"
#include "scene/demo_source.h"
#include "support/temporary_folder.h"
#include "vision/sources/source.h"

namespace mpm::gui {
namespace {

monitor::InferenceResult streetResult() {
  Estimator estimator(MPM_SOURCE_DIR "/models/street_vit_t16.onnx");
  monitor::InferenceResult result;
  scene::registerDemoSource();
  result.frame.image = vision::openSource("demo:street?size=720x1280&frames=1")->next()->image;
  result.estimate = estimator.estimate(result.frame.image);
  result.model = std::make_shared<ModelInfo>(estimator.model());
  return result;
}

LiveFramePtr streetFrame() {
  static const LiveFramePtr frame = makeLiveFrame(streetResult());
  return frame;
}

// A new frame arrives: the view takes it and paints it in full.
void paint(benchmark::State& state, PictureView& view) {
  view.resize(1280, 720);
  QImage screen(view.size(), QImage::Format_RGB32);
  const LiveFramePtr frames[] = {streetFrame(), std::make_shared<LiveFrame>(*streetFrame())};
  bool second = false;
  for (auto _ : state) {
    view.setFrame(frames[second = !second]);
    view.render(&screen);
  }
  state.counters["fps"] = benchmark::Counter(1, benchmark::Counter::kIsIterationInvariantRate);
}

void BM_PaintImage(benchmark::State& state) {
  PatchSelection selection;
  ImageView view(&selection);
  LegendModel legend;
  legend.setClasses(*streetFrame()->result.model);
  ClassPaint look;
  look.mode = static_cast<ViewMode>(state.range(0));
  legend.apply(look);
  view.setPaint(look);
  paint(state, view);
}
BENCHMARK(BM_PaintImage)->ArgName("mode")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void BM_PaintMergeMap(benchmark::State& state) {
  PatchSelection selection;
  MergeView view(&selection);
  selection.setStep(static_cast<int>(state.range(0)));
  paint(state, view);
}
BENCHMARK(BM_PaintMergeMap)->ArgName("step")->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

// What is made of a result off the window's thread.
void BM_MakeFrame(benchmark::State& state) {
  const monitor::InferenceResult result = streetResult();
  for (auto _ : state) benchmark::DoNotOptimize(makeLiveFrame(result));
}
BENCHMARK(BM_MakeFrame)->Unit(benchmark::kMillisecond);

/// A year, a sample a minute; the chart reads the hours and days that the store sums up, however many samples they had.
class Year {
 public:
  Year() {
    monitor::StoreWriter writer(path());
    monitor::SessionInfo session;
    session.source = "camera";
    session.tokens = 1120;
    session.reduce = "mpm:blocks=2,5";
    writer.beginSession(session);
    const UnixMs end = unixNow();
    for (int minute = 365 * 24 * 60; minute > 0; --minute) {
      monitor::Sample sample;
      sample.time = end - minute * kMinuteMs;
      sample.night = minute / 60 % 24 >= 12;
      sample.token_counts = {1120, 800.0 + minute % 61, 650.0 + minute % 53 + (*sample.night ? 6 : 0)};
      sample.whole().set("tokens", sample.token_counts.back());
      sample.whole().set("inference_ms", 40 + minute % 7);
      for (int c = 0; c < 9; ++c) sample.whole().areas.emplace_back(c, (minute + c) % 9 / 36.0);
      writer.append(sample);
      if (minute % 50000 == 0) writer.flush();
    }
    writer.flush();
  }
  std::string path() const { return folder_ / "year.db"; }

 private:
  test::TemporaryFolder folder_;
};

// From the file to the chart of everything and the table of day and night.
void BM_OpenYear(benchmark::State& state) {
  static const Year year;
  for (auto _ : state) {
    const monitor::StoreReader reader(year.path());
    const auto source = reader.sources().at(0);
    ChartScene scene;
    scene.look = lightTheme();
    scene.series = {{{.quantity = "tokens"}, "Tokens", {}, 0}, {{.quantity = "inference_ms"}, "Inference", "ms", 1}};
    monitor::ChartQuery query;
    query.source = source.id;
    query.from = source.first;
    query.to = source.last + 1;
    for (const auto& series : scene.series) query.series.push_back(series.quantity);
    scene.chart = reader.chart(query);
    scene.answered = query.series;
    scene.axis.from = static_cast<double>(source.first) / 1000;
    scene.axis.to = static_cast<double>(source.last) / 1000;
    benchmark::DoNotOptimize(reader.dayNight(source.id, source.last - 30 * kDayMs, source.last + 1));
    benchmark::DoNotOptimize(scene.picture({1200, 300}));
  }
}
BENCHMARK(BM_OpenYear)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mpm::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  mpm::gui::applyLook(mpm::gui::lightTheme(), 100);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
