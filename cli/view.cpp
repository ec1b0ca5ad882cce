// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <opencv2/highgui.hpp>
#include <opencv2/imgproc.hpp>

#include "base/number_text.h"
#include "mpm/error.hpp"
#include "program/model_options.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"
#include "scene/demo_source.h"
#include "vision/pictures/estimate_files.h"
#include "vision/pictures/pictures.h"
#include "vision/sources/source.h"

// A separate program, because Debian's highgui brings Qt 5, which nothing else here may load.
namespace {

using namespace mpm;
using namespace mpm::program;

constexpr const char* kWindow = "mpm";
constexpr int kEscape = 27;

struct ViewArguments {
  std::string source, model;
  EstimatorOptions options;
};

struct ViewState {
  char picture = 'o';  // the key that shows it
  double opacity = 0.5;
  bool paused = false;
  bool closed = false;
};

void draw(const vision::Frame& frame, const Estimate& result, const ModelInfo& model,
          const std::vector<cv::Vec3b>& colors, const ViewState& state) {
  cv::Mat picture = frame.image.clone();
  if (state.picture == 'm') picture = vision::mergePicture(frame.image, result);
  if (state.picture == 'o' && model.head == HeadKind::kBoxQueries)
    picture = vision::segmentsOverlay(result, frame.image, model, colors, state.opacity);
  else if (state.picture == 'o' && !result.labels.empty())
    picture = vision::overlayPicture(frame.image, result.labels, colors, state.opacity);
  const std::string text = "tokens " + tokensText(result.tokens) + "  " + fixed(result.ms.total, 1) + " ms";
  const cv::Point at(10, picture.rows - 12);
  cv::putText(picture, text, at, cv::FONT_HERSHEY_SIMPLEX, 0.5, cv::Scalar::all(0), 3, cv::LINE_AA);
  cv::putText(picture, text, at, cv::FONT_HERSHEY_SIMPLEX, 0.5, cv::Scalar::all(255), 1, cv::LINE_AA);
  cv::imshow(kWindow, picture);
}

void handleKey(int key, ViewState& state) {
  if (key == 'o' || key == 'm' || key == 'i') state.picture = static_cast<char>(key);
  if (key == '[') state.opacity = std::max(0.0, state.opacity - 0.1);
  if (key == ']') state.opacity = std::min(1.0, state.opacity + 0.1);
  if (key == ' ') state.paused = !state.paused;
  if (key == 'q' || key == kEscape) state.closed = true;
}

int view(ViewArguments arguments) {
  const std::string model = chosenModel(arguments.model);
  // Without a display Qt would abort the process.
  if (!isSet("DISPLAY") && !isSet("WAYLAND_DISPLAY") && !isSet("QT_QPA_PLATFORM"))
    throw Error("there is no display; 'mpm run --out DIR' writes the same pictures as files");
  arguments.options.labels = true;
  Estimator segmenter(model, arguments.options);
  if (segmenter.model().task == Task::kDepth)
    throw Error("'" + model + "': its task is 'depth', which is not shown: use 'mpm run'");
  const std::vector<cv::Vec3b> colors = vision::classColors(segmenter.model().facts, segmenter.model().classes);
  const auto source = vision::openSource(
      arguments.source, {.stop = &interrupted(), .on_unreadable = [](const std::string& why, std::optional<UnixMs>) {
                           printNote("left out: " + why);
                         }});
  const bool still = source->size() == 1;
  cv::namedWindow(kWindow, cv::WINDOW_NORMAL | cv::WINDOW_KEEPRATIO);

  ViewState state;
  std::optional<vision::Frame> frame = source->next();
  while (frame && !state.closed && !interrupted()) {
    const Estimate result = segmenter.estimate(frame->image);
    do {
      draw(*frame, result, segmenter.model(), colors, state);
      handleKey(cv::waitKey(state.paused || still ? 30 : 1) & 0xff, state);
      if (cv::getWindowProperty(kWindow, cv::WND_PROP_VISIBLE) < 1) state.closed = true;
    } while ((state.paused || still) && !state.closed && !interrupted());
    if (!state.closed) frame = source->next();
  }
  return interrupted() ? kInterrupted : kOk;
}

}  // namespace

int main(int argc, char** argv) {
  mpm::scene::registerDemoSource();
  CLI::App app("Watch a ViT segment a video or a camera, with Mutual Pair Merging.", "mpm-view");
  prepare(app);
  ViewArguments arguments;
  app.add_option("SOURCE", arguments.source,
                 "Image, folder, glob, video, camera (0), URL or the built-in scene (demo:)")
      ->required()
      ->option_text(" ");
  addModelOptions(app, arguments.model, arguments.options);
  app.footer(R"(Keys: o overlay, m merge map, i image, [ and ] opacity, space pause, q quit.
It is a program of its own because OpenCV's windows load Qt 5. One of DISPLAY, WAYLAND_DISPLAY and QT_QPA_PLATFORM must be set.
Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

Examples:
  mpm-view demo:
  mpm-view 0 --model vit.onnx
)");
  return runProgram(app, argc, argv, [&] { return view(arguments); });
}
