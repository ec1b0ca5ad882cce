// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/input.h"

#include <opencv2/imgproc.hpp>
#include <string>

#include "mpm/error.hpp"
#include "program/terminal/output.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace program;

Input::Input(const BenchArguments& arguments, const ModelInfo& model) : arguments_(arguments), model_(model) {
  if (!arguments.reuses())
    round_.images = tensorOf(images());
  else
    frames_.emplace(FrameOptions{.sources = {arguments.image}, .leave_out = false, .show_progress = false});
}

const Round& Input::next() {
  if (!frames_) return round_;
  const auto frame = frames_->next();
  if (!frame) {
    throw Error("'" + arguments_.image + "' ends after " + counted(frames_->read(), "frame") + ": --rounds " +
                std::to_string(arguments_.rounds) + " and --warm-up " + std::to_string(arguments_.warmUp()) +
                " need one for each");
  }
  round_.picture = arguments_.night.applied(frame->image, frame->name).clone();
  round_.seconds = frame->seconds();
  return round_;
}

std::vector<cv::Mat> Input::images() const {
  std::vector<cv::Mat> result;
  if (arguments_.image.empty()) {  // smooth colours and some noise: merges about as much as a photograph does
    for (int b = 0; b < arguments_.batch; ++b) {
      cv::RNG random(static_cast<unsigned>(b) + 1);
      const auto drawn = [&random](cv::Size size, int below) {
        cv::Mat picture(size, CV_8UC3);
        random.fill(picture, cv::RNG::UNIFORM, 0, below);
        return picture;
      };
      const cv::Mat colours = drawn({8, 6}, 256), noise = drawn({640, 480}, 16);
      cv::Mat image;
      cv::resize(colours, image, noise.size(), 0, 0, cv::INTER_CUBIC);
      result.push_back(arguments_.night.applied(image + noise, std::to_string(b)));
    }
    return result;
  }
  Frames frames(FrameOptions{
      .sources = {arguments_.image}, .max_frames = arguments_.batch, .leave_out = false, .show_progress = false});
  while (const auto frame = frames.next()) result.push_back(arguments_.night.applied(frame->image, frame->name));
  const std::size_t count = result.size();
  if (count == 0) throw Error("'" + arguments_.image + "' holds no image");
  if (static_cast<int>(count) < arguments_.batch) {
    printNote("--batch " + std::to_string(arguments_.batch) + ", but '" + arguments_.image + "' has " +
              counted(count, "image") + ": repeated to fill the batch");
  }
  for (std::size_t i = 0; static_cast<int>(result.size()) < arguments_.batch; ++i) result.push_back(result[i]);
  return result;
}

cv::Mat Input::tensorOf(const std::vector<cv::Mat>& pictures) const {
  const cv::Size size(model_.input.width, model_.input.height);
  if (model_.image_channels != 3)
    throw Error("the model takes " + std::to_string(model_.image_channels) + "-channel images, and pictures have 3");
  cv::Mat tensor(std::vector<int>{static_cast<int>(pictures.size()), 3, size.height, size.width}, CV_32F);
  for (std::size_t b = 0; b < pictures.size(); ++b) {
    cv::Mat pixels;
    cv::resize(pictures[b], pixels, size, 0, 0, cv::INTER_LINEAR);
    if (model_.facts.channels == ChannelOrder::kRgb) cv::cvtColor(pixels, pixels, cv::COLOR_BGR2RGB);
    pixels.convertTo(pixels, CV_32F, 1.0 / 255);
    for (int c = 0; c < 3; ++c) {
      cv::Mat plane(size, CV_32F, tensor.ptr<float>(static_cast<int>(b), c));
      cv::extractChannel(pixels, plane, c);
      plane -= model_.facts.mean[c];
      plane /= model_.facts.deviation[c];
    }
  }
  return tensor;
}

}  // namespace mpm::cli
