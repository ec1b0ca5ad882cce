// SPDX-License-Identifier: Apache-2.0
// The guided filter of labels, against plain loops in double precision.
#include "net/guided_labels.h"

#include <cmath>
#include <fstream>

#include "kernels/random.h"
#include "kernels/threads.h"
#include "mpm/convert.hpp"
#include "mpm/estimator.hpp"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kMaskModel = std::string(MPM_TEST_DATA_DIR) + "/segmenter_mask_ts17.onnx";

using Plane = std::vector<double>;

int reflected(int i, int length) {
  if (i < 0) i = -i - 1;
  return i >= length ? 2 * length - 1 - i : i;
}

Plane windowMean(const Plane& values, int h, int w, int radius) {
  Plane means(values.size());
  for (int y = 0; y < h; ++y) {
    for (int x = 0; x < w; ++x) {
      double sum = 0;
      for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -radius; dx <= radius; ++dx) sum += values[reflected(y + dy, h) * w + reflected(x + dx, w)];
      means[y * w + x] = sum / ((2 * radius + 1) * (2 * radius + 1));
    }
  }
  return means;
}

Plane product(const Plane& a, const Plane& b) {
  Plane result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::multiplies<>());
  return result;
}

// A filtered probability, {h, w}: at full size, so without the fast form.
Plane filtered(const Plane (&guide)[3], const Plane& p, int h, int w, int radius) {
  const Plane mean_p = windowMean(p, h, w, radius);
  Plane mean[3], with_p[3], squares[3][3], model[4];
  for (int v = 0; v < 3; ++v) {
    mean[v] = windowMean(guide[v], h, w, radius);
    with_p[v] = windowMean(product(guide[v], p), h, w, radius);
    for (int u = 0; u < 3; ++u) squares[v][u] = windowMean(product(guide[v], guide[u]), h, w, radius);
  }
  for (Plane& part : model) part.resize(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    cv::Matx33d covariance;
    cv::Vec3d right;
    for (int v = 0; v < 3; ++v) {
      right[v] = with_p[v][i] - mean[v][i] * mean_p[i];
      for (int u = 0; u < 3; ++u) covariance(v, u) = squares[v][u][i] - mean[v][i] * mean[u][i] + (v == u ? 1e-4 : 0);
    }
    const cv::Vec3d a = covariance.solve(right, cv::DECOMP_LU);
    model[3][i] = mean_p[i];
    for (int v = 0; v < 3; ++v) {
      model[v][i] = a[v];
      model[3][i] -= a[v] * mean[v][i];
    }
  }
  Plane result = windowMean(model[3], h, w, radius);
  for (int v = 0; v < 3; ++v) {
    const Plane factor = windowMean(model[v], h, w, radius);
    for (std::size_t i = 0; i < p.size(); ++i) result[i] += factor[i] * guide[v][i];
  }
  return result;
}

TEST(GuidedLabels, AreThoseOfTheFilter) {
  constexpr int kH = 11, kW = 14, kClassCount = 5, kPixels = kH * kW;
  const cv::Mat picture = test::noisePicture(kH, kW, 4);
  const std::vector<float> logits = test::normal(static_cast<std::size_t>(kClassCount) * kPixels, 3, 1, 2.f);
  const auto scores = [&](cv::Size size, float* to) {
    ASSERT_EQ(size, cv::Size(kW, kH)) << "a radius of 2 px needs every pixel";
    std::copy(logits.begin(), logits.end(), to);
  };
  cv::Mat labels, threaded;
  GuidedLabels().run(picture, kClassCount, 2, scores, labels, Serial());
  GuidedLabels().run(picture, kClassCount, 2, scores, threaded, test::Threads(3));
  EXPECT_EQ(cv::norm(labels, threaded, cv::NORM_INF), 0);

  Plane guide[3], sum(kPixels), probability[kClassCount], value[kClassCount];
  for (int v = 0; v < 3; ++v)
    for (int i = 0; i < kPixels; ++i) guide[v].push_back(picture.at<cv::Vec3b>(i / kW, i % kW)[v] / 255.0);
  for (int c = 0; c < kClassCount; ++c) {
    for (int i = 0; i < kPixels; ++i) {
      probability[c].push_back(std::exp(static_cast<double>(logits[c * kPixels + i])));
      sum[i] += probability[c][i];
    }
  }
  for (int c = 0; c < kClassCount; ++c) {
    for (int i = 0; i < kPixels; ++i) probability[c][i] /= sum[i];
    value[c] = filtered(guide, probability[c], kH, kW, 2);
  }
  for (int i = 0; i < kPixels; ++i) {
    double most = -1e9;
    for (const Plane& plane : value) most = std::max(most, plane[i]);
    ASSERT_NEAR(value[labels.at<std::uint8_t>(i / kW, i % kW)][i], most, 1e-4) << "pixel " << i;
  }
}

// A red and a green half, and scores that change slowly and in the wrong column.
TEST(GuidedLabels, FollowTheEdgesOfThePicture) {
  cv::Mat picture(64, 64, CV_8UC3, cv::Scalar(40, 40, 200));
  picture.colRange(32, 64).setTo(cv::Scalar(40, 180, 40));
  cv::Mat labels;
  GuidedLabels().run(
      picture, 3, 8,
      [](cv::Size size, float* to) {
        std::fill_n(to, 3 * size.area(), 0.f);
        for (int i = 0; i < size.area(); ++i)
          to[size.area() + i] = 0.4f * static_cast<float>(i % size.width) * 64 / size.width - 14;  // 0 at column 35
      },
      labels, Serial());
  EXPECT_EQ(cv::countNonZero(labels.colRange(0, 32) != 0), 0);
  EXPECT_EQ(cv::countNonZero(labels.colRange(32, 64) != 1), 0);
}

TEST(GuidedLabels, OneClassIsEverywhere) {
  cv::Mat labels;
  GuidedLabels().run(
      test::noisePicture(9, 9, 4), 2, 100,
      [](cv::Size size, float* to) {
        ASSERT_EQ(size, cv::Size(1, 1));
        to[0] = 0;
        to[1] = 1;
      },
      labels, Serial());
  EXPECT_EQ(cv::countNonZero(labels != 1), 0);
}

class RefinedLabels : public ::testing::Test {
 protected:
  static cv::Mat labels(const std::string& model, std::optional<Refine> refine) {
    return Estimator(model, {.refine = refine}).estimate(picture_).labels;
  }
  static double difference(const cv::Mat& a, const cv::Mat& b) { return cv::norm(a, b, cv::NORM_INF); }

  inline static const cv::Mat picture_ = test::noisePicture(48, 64, 4);
};

TEST_F(RefinedLabels, AreWhatTheModelSaysUnlessAsked) {
  const test::TemporaryFolder folder;
  const std::string own = folder / "own.onnx", converted = folder / "converted.onnx";
  fs::copy_file(kMaskModel, own);
  std::ofstream(folder / "own.json") << R"({"refine": "guided"})";
  const cv::Mat plain = labels(kMaskModel, std::nullopt), guided = labels(kMaskModel, Refine::kGuided);
  EXPECT_GT(difference(plain, guided), 0);
  EXPECT_EQ(difference(labels(own, std::nullopt), guided), 0);
  EXPECT_EQ(difference(labels(own, Refine::kNone), plain), 0);
  convertFile(own, converted, {});
  EXPECT_EQ(difference(labels(converted, std::nullopt), guided), 0) << "the converted file keeps it";
}

TEST_F(RefinedLabels, OfOneWindowAreThoseOfTheImage) {
  const cv::Size input(readModelInfo(kMaskModel).input.width, readModelInfo(kMaskModel).input.height);
  const cv::Mat image = test::noisePicture(input.height, input.width, 4);
  const cv::Mat whole = Estimator(kMaskModel, {.refine = Refine::kGuided}).estimate(image).labels;
  const cv::Mat windows =
      Estimator(kMaskModel, {.fit = Fit::kWindow, .refine = Refine::kGuided}).estimate(image).labels;
  EXPECT_LE(cv::countNonZero(whole != windows), static_cast<int>(whole.total()) / 200) << "rounding";
}

TEST_F(RefinedLabels, NeedLabels) {
  const std::string depth = std::string(MPM_TEST_DATA_DIR) + "/hf_depth_anything_dynamo18.onnx";
  EXPECT_MPM_ERROR(Estimator(depth, {.refine = Refine::kGuided}),
                   "gives no labels, so there are no edges of classes to refine");
}

}  // namespace
}  // namespace mpm
