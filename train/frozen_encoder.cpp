// SPDX-License-Identifier: Apache-2.0
#include "frozen_encoder.h"

#include <algorithm>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace mpm::train {

FrozenEncoder::FrozenEncoder(const std::string& path, const ModelInfo& model, const Reduction& reduce)
    : last_block_("backbone/block" + std::to_string(model.blocks - 1)),
      net_(readNet(path, {.convert = {.reduce = reduce}, .outputs = {last_block_, "merge_map"}})) {}

cv::Mat FrozenEncoder::tokens(const cv::Mat& image) {
  const ModelInfo& model = net_.info;
  cv::Mat resized, planes;
  cv::resize(image, resized, {model.input.width, model.input.height}, 0, 0, cv::INTER_LINEAR);
  if (model.facts.channels == ChannelOrder::kRgb) cv::cvtColor(resized, resized, cv::COLOR_BGR2RGB);
  std::vector<cv::Mat> channels;
  cv::split(resized, channels);
  const int shape[] = {1, 3, model.input.height, model.input.width};
  planes.create(4, shape, CV_32F);
  for (std::size_t c = 0; c < 3; ++c) {
    cv::Mat plane(model.input.height, model.input.width, CV_32F, planes.ptr<float>(0, static_cast<int>(c)));
    const double scale = 1 / static_cast<double>(model.facts.std[c]);
    channels[c].convertTo(plane, CV_32F, scale / 255, -static_cast<double>(model.facts.mean[c]) * scale);
  }
  net_.net.setInput(planes);
  std::vector<cv::Mat> blobs;
  net_.net.forward(blobs, std::vector<cv::String>{last_block_, "merge_map"});
  cv::Mat rows(model.tokens(), model.dim, CV_32F);
  const int last = blobs[1].size[1] - 1;
  for (int i = 0; i < rows.rows; ++i) {
    const int cluster = static_cast<int>(blobs[1].ptr<float>(0, last)[i]);
    std::copy_n(blobs[0].ptr<float>(0, model.special_tokens + cluster), model.dim, rows.ptr<float>(i));
  }
  return rows;
}

}  // namespace mpm::train
