// SPDX-License-Identifier: Apache-2.0
#include "net/guided_labels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <opencv2/imgproc.hpp>

#include "kernels/resample.h"
#include "net/inspect.h"

namespace mpm {
namespace {

constexpr double kEpsilon = 1e-4;  // of the squared values of a pixel, 0..1: flatter parts of the picture are no edges
constexpr int kRadius = 2;         // of a window of the small picture, in its pixels

// Means over the windows around each pixel.
cv::Mat windowMeans(const cv::Mat& values) {
  cv::Mat means;
  cv::boxFilter(values, means, -1, cv::Size(2 * kRadius + 1, 2 * kRadius + 1), {-1, -1}, true, cv::BORDER_REFLECT);
  return means;
}

// Sums over the guide that the linear models of all classes share.
class Guide {
 public:
  explicit Guide(const cv::Mat& picture) : picture_(picture) {
    products_.create(picture.size(), CV_32FC(6));
    inverse_.create(picture.size(), CV_32FC(6));
    means_ = windowMeans(picture);
    for (int i = 0; i < pixels(); ++i) {
      const float* const p = picture_.ptr<float>() + 3 * i;
      float* const product = products_.ptr<float>() + 6 * i;
      for (int v = 0, k = 0; v < 3; ++v)
        for (int w = v; w < 3; ++w) product[k++] = p[v] * p[w];
    }
    products_ = windowMeans(products_);
    for (int i = 0; i < pixels(); ++i) invert(i);
  }

  int pixels() const { return static_cast<int>(picture_.total()); }

  /// The models {4} of each pixel for one class with these probabilities: factors, then the constant.
  cv::Mat models(const float* probability) const {
    cv::Mat products(picture_.size(), CV_32FC4), models(picture_.size(), CV_32FC4);
    for (int i = 0; i < pixels(); ++i) {
      const float* const p = picture_.ptr<float>() + 3 * i;
      float* const product = products.ptr<float>() + 4 * i;
      for (int v = 0; v < 3; ++v) product[v] = p[v] * probability[i];
      product[3] = probability[i];
    }
    products = windowMeans(products);
    for (int i = 0; i < pixels(); ++i) {
      const float* const product = products.ptr<float>() + 4 * i;
      const float* const mean = means_.ptr<float>() + 3 * i;
      const float* const s = inverse_.ptr<float>() + 6 * i;
      float* const model = models.ptr<float>() + 4 * i;
      float covariance[3];
      for (int v = 0; v < 3; ++v) covariance[v] = product[v] - mean[v] * product[3];
      model[0] = s[0] * covariance[0] + s[1] * covariance[1] + s[2] * covariance[2];
      model[1] = s[1] * covariance[0] + s[3] * covariance[1] + s[4] * covariance[2];
      model[2] = s[2] * covariance[0] + s[4] * covariance[1] + s[5] * covariance[2];
      model[3] = product[3] - model[0] * mean[0] - model[1] * mean[1] - model[2] * mean[2];
    }
    return windowMeans(models);
  }

 private:
  // The inverse covariance of the values in a window, in double: by night it is near singular.
  void invert(int i) {
    const float* const mean = means_.ptr<float>() + 3 * i;
    const float* const product = products_.ptr<float>() + 6 * i;
    cv::Matx33d covariance;
    for (int v = 0, k = 0; v < 3; ++v) {
      for (int w = v; w < 3; ++w, ++k) {
        covariance(v, w) = covariance(w, v) =
            static_cast<double>(product[k]) - static_cast<double>(mean[v]) * mean[w] + (v == w ? kEpsilon : 0);
      }
    }
    const cv::Matx33d inverse = covariance.inv();
    float* const to = inverse_.ptr<float>() + 6 * i;
    for (int v = 0, k = 0; v < 3; ++v)
      for (int w = v; w < 3; ++w) to[k++] = static_cast<float>(inverse(v, w));
  }

  cv::Mat picture_;  // CV_32FC3, 0..1
  cv::Mat means_, products_, inverse_;
};

// The classes that are the best of a pixel in scores {classes, pixels}.
std::vector<std::uint8_t> bestClasses(const float* scores, int classes, int pixels, const Parallel& parallel) {
  std::vector<std::uint8_t> best(pixels), found;
  const auto at = [&](int c, int i) { return scores[static_cast<std::size_t>(c) * pixels + i]; };
  runPieces(parallel, pixels, 256, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      for (int c = 1; c < classes; ++c)
        if (at(c, i) > at(best[i], i)) best[i] = static_cast<std::uint8_t>(c);
    }
  });
  for (int c = 0; c < classes; ++c)
    if (std::find(best.begin(), best.end(), c) != best.end()) found.push_back(static_cast<std::uint8_t>(c));
  return found;
}

}  // namespace

void GuidedLabels::run(const cv::Mat& image, int classes, double radius, const Scores& scores, cv::Mat& labels,
                       const Parallel& parallel) {
  const double step = std::max(1.0, radius / kRadius);
  const cv::Size size(std::max(1, static_cast<int>(std::lround(image.cols / step))),
                      std::max(1, static_cast<int>(std::lround(image.rows / step))));
  scores_.resize(static_cast<std::size_t>(classes) * size.area());
  scores(size, scores_.data());
  const std::vector<std::uint8_t> found = bestClasses(scores_.data(), classes, size.area(), parallel);
  labels.create(image.size(), CV_8U);
  if (found.size() == 1) {
    labels.setTo(found[0]);
    return;
  }
  cv::Mat probabilities(std::vector<int>{classes, size.height, size.width}, CV_32F, scores_.data());
  toProbabilities(probabilities, true, parallel);
  cv::Mat small;
  cv::resize(image, small, size, 0, 0, cv::INTER_AREA);
  small.convertTo(small, CV_32F, 1.0 / 255);
  const Guide guide(small);
  LinearModels models(size.height, size.width, static_cast<int>(found.size()));
  parallel.run(models.classes, [&](int k) {
    const cv::Mat of_class = guide.models(scores_.data() + static_cast<std::ptrdiff_t>(found[k]) * size.area());
    for (int i = 0; i < size.area(); ++i) {
      for (int v = 0; v < 4; ++v)
        models.data[(static_cast<std::size_t>(i) * 4 + v) * models.padded + k] = of_class.ptr<float>()[4 * i + v];
    }
  });
  labelByLinearModels(models, bilinearAxis(size.height, image.rows), bilinearAxis(size.width, image.cols),
                      {image.data, image.rows, 3 * image.cols, static_cast<std::ptrdiff_t>(image.step)}, found,
                      {labels.data, labels.rows, labels.cols, static_cast<std::ptrdiff_t>(labels.step)}, parallel);
}

}  // namespace mpm
