// SPDX-License-Identifier: Apache-2.0
#include "net/preprocess.h"

#include "mpm/error.hpp"

namespace mpm {

Normalizer::Normalizer(const ModelFacts& facts) {
  for (int c = 0; c < 3; ++c) {
    values_.image_channel[c] = facts.channels == ChannelOrder::kBgr ? c : 2 - c;
    if (!(facts.deviation[c] > 0)) throw Error("the model's std must be positive, in its JSON file");
    for (int v = 0; v < 256; ++v)
      values_.of_byte[c][v] = (static_cast<float>(v) / 255.0f - facts.mean[c]) / facts.deviation[c];
  }
}

void Normalizer::operator()(const cv::Mat& image, cv::Mat& planes, const Parallel& parallel) const {
  CV_Assert(image.type() == CV_8UC3);
  const int shape[] = {1, 3, image.rows, image.cols};
  planes.create(4, shape, CV_32F);
  constexpr int kRows = 16;
  runPieces(parallel, image.rows, kRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const auto* pixel = image.ptr<cv::Vec3b>(y);
      for (int c = 0; c < 3; ++c) {
        const auto& value = values_.of_byte[c];
        const int from = values_.image_channel[c];
        float* to = planes.ptr<float>(0, c, y);
        for (int x = 0; x < image.cols; ++x) to[x] = value[pixel[x][from]];
      }
    }
  });
}

}  // namespace mpm
