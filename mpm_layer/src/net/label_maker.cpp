// SPDX-License-Identifier: Apache-2.0
#include "net/label_maker.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "base/size_text.h"
#include "kernels/resample.h"
#include "net/inspect.h"
#include "net/segments.h"
#include "net/windows.h"

namespace mpm {
namespace {

/// Maximum number of pixels that windows may cover, the same as OpenCV's limit for files. An image much narrower than a
/// window would be scaled up to many more.
constexpr std::int64_t kMaxWindowedPixels = std::int64_t{1} << 30;
/// Maximum length of an image that is scaled up only because a window does not fit into its shorter side, in windows.
/// One of 1x3000 px would take thousands of passes for a few pixels.
constexpr std::int64_t kMaxWindowsInARow = 64;

/// px of `image` with this shorter side (0: its own), scaled up until one window fits. Throws mpm::Error for an image
/// that takes too many windows.
Size2 sizeForWindows(cv::Size image, Size2 window, int short_side) {
  const double wanted = short_side > 0 ? static_cast<double>(short_side) / std::min(image.height, image.width) : 1.0;
  const double scale = std::max(
      {wanted, static_cast<double>(window.height) / image.height, static_cast<double>(window.width) / image.width});
  const auto scaled = [&](int length, int least) {
    return std::max<std::int64_t>(least, std::llround(length * scale));
  };
  const std::int64_t height = scaled(image.height, window.height), width = scaled(image.width, window.width);
  if (height * width > kMaxWindowedPixels) {
    throw Error("an image of " + sizeText({image.height, image.width}) + " has more than " +
                std::to_string(kMaxWindowedPixels) + " px where windows of " + sizeText(window) +
                " fit into it: use the fit 'resize'");
  }
  const std::int64_t in_a_row = std::max(height / window.height, width / window.width);
  if (scale > wanted && in_a_row > kMaxWindowsInARow) {
    throw Error("an image of " + sizeText({image.height, image.width}) + " is so narrow that it takes more than " +
                std::to_string(kMaxWindowsInARow) + " windows of " + sizeText(window) +
                " in a row where one fits into its shorter side: use the fit 'resize'");
  }
  return {static_cast<int>(height), static_cast<int>(width)};
}

}  // namespace

LabelMaker::LabelMaker(ImageNet& net, const EstimatorOptions& options, ScoreRows scores, bool probabilities)
    : options_(options),
      net_(net),
      refine_(options.refine.value_or(info_.facts.refine)),
      rows_(std::move(scores)),
      probabilities_(probabilities) {
  score_grid_ = info_.grid;
  net_.requireLabelsFit();
  windowStride(options_, info_.input);
  if (options_.fit == Fit::kResize && !options_.inspect && !options_.scores && refine_ == Refine::kNone &&
      info_.hasPixelClasses())
    device_labels_ = DeviceLabels::of(net_.net(), net_.answerName(0));
}

// Checks what the last pass gave, and makes scores of mask queries and of a map of classes.
void LabelMaker::takeScores(StageTimes& ms) {
  if (info_.hasPixelClasses()) net_.requireSize(0, static_cast<std::size_t>(info_.tokens()) * info_.classes);
  if (device_labels_) return;
  for (std::size_t i = 0; i < net_.answers(); ++i) net_.requireFinite(i, rows_.exist() ? "scores" : net_.answerName(i));
  if (info_.hasPixelClasses()) return;
  StopWatch watch;
  if (info_.head == HeadKind::kMaskQueries) {
    const MaskQueries queries = maskQueries(net_);
    score_grid_ = queries.grid;
    maskQueryScores(queries.masks, queries.classes, net_.parallel(), made_scores_);
  } else {
    const cv::Mat& map = net_.answer(0);
    const int first = rows_.exist() ? 1 : 2;  // {1, H, W, classes} or {1, classes, H, W}
    score_grid_ = map.dims == 4 ? Size2{map.size[first], map.size[first + 1]} : Size2{};
    const int pixels = score_grid_.height * score_grid_.width;
    net_.requireSize(0, static_cast<std::size_t>(info_.classes) * pixels);
    if (rows_.exist()) return;
    made_scores_.resize(map.total());
    cv::transpose(cv::Mat(info_.classes, pixels, CV_32F, const_cast<float*>(map.ptr<float>())),
                  cv::Mat(pixels, info_.classes, CV_32F, made_scores_.data()));
  }
  ms.postprocess += watch.lap();
}

MatrixView<const float> LabelMaker::scores() const {
  return {rows_.exist() ? net_.answer(0).ptr<float>() : made_scores_.data(), score_grid_.height * score_grid_.width,
          info_.classes};
}

// Where the head has finer scores than the patch grid, these are the ones in the middle of each patch.
std::vector<float> LabelMaker::tokenScores() const {
  cv::Mat all(std::vector<int>{info_.classes, info_.grid.height, info_.grid.width}, CV_32F);
  resizeLogits(scores(), bilinearAxis(score_grid_.height, info_.grid.height),
               bilinearAxis(score_grid_.width, info_.grid.width), all.ptr<float>(), net_.parallel());
  toProbabilities(all, !probabilities_, net_.parallel());
  std::vector<float> best(info_.tokens(), 0.0F);
  for (int c = 0; c < info_.classes; ++c) {
    const float* const shares = all.ptr<float>(c);
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = std::max(best[i], shares[i]);
  }
  return best;
}

AxisResampling LabelMaker::toImage(const AxisTaps& own, int grid, int input, int image) const {
  if (own.taps == 0) return throughInput(grid, input, image);
  const AxisResampling resized = own.of(grid);
  return composeAxes(resized, throughInput(resized.outputs(), input, image));
}

// The radius is half a patch: scores are known at the middle of patches.
void LabelMaker::runGuided(const cv::Mat& image, const GuidedLabels::Scores& logits, cv::Mat& labels) {
  const bool windows = options_.fit == Fit::kWindow;
  const Size2 covers = windows ? sizeForWindows(image.size(), info_.input, options_.short_side) : info_.input;
  const double radius = std::sqrt(static_cast<double>(info_.patch.height) * info_.patch.width * image.rows *
                                  image.cols / (static_cast<double>(covers.height) * covers.width)) /
                        2;
  const auto scores = [&](cv::Size size, float* values) {
    logits(size, values);
    if (!probabilities_) return;
    const auto end = values + static_cast<std::ptrdiff_t>(info_.classes) * size.area();
    std::transform(values, end, values, [](float value) { return std::log(std::max(value, 1e-6f)); });
  };
  guided_.run(image, info_.classes, radius, scores, labels, net_.parallel());
}

// `resize` gives the scores of the classes at a size. `label` fills the labels where they are not refined.
void LabelMaker::takeLabels(const cv::Mat& image, const GuidedLabels::Scores& resize, Estimate& result,
                            const std::function<void()>& label) {
  if (options_.scores) {  // the probabilities before the edges of classes are refined
    result.scores.create(std::vector<int>{info_.classes, image.rows, image.cols}, CV_32F);
    resize(image.size(), result.scores.ptr<float>());
    toProbabilities(result.scores, !probabilities_, net_.parallel());
  }
  if (refine_ == Refine::kGuided) return runGuided(image, resize, result.labels);
  result.labels.create(image.size(), CV_8U);
  label();
}

void LabelMaker::runResized(const cv::Mat& image, Estimate& result) {
  net_.run(image, result);
  takeScores(result.ms);
  if (options_.inspect) result.token_score = tokenScores();
  StopWatch watch;
  const auto resize = [&](cv::Size size, float* logits) {
    resizeLogits(scores(), toImage(rows_.rows, score_grid_.height, info_.input.height, size.height),
                 toImage(rows_.columns, score_grid_.width, info_.input.width, size.width), logits, net_.parallel());
  };
  takeLabels(image, resize, result, [&] {
    if (labels_size_ != image.size()) {
      label_rows_ = toImage(rows_.rows, score_grid_.height, info_.input.height, image.rows);
      label_columns_ = toImage(rows_.columns, score_grid_.width, info_.input.width, image.cols);
      if (device_labels_) device_labels_->resize(label_rows_, label_columns_);
      labels_size_ = image.size();
    }
    if (device_labels_) {
      device_labels_->run(result.labels);
    } else {
      resizeArgmax<unsigned char>(scores(), label_rows_, label_columns_, {result.labels.data, image.rows, image.cols},
                                  net_.parallel());
    }
  });
  result.ms.postprocess += watch.lap();
}

void LabelMaker::runWindows(const cv::Mat& image, Estimate& result) {
  StopWatch watch;
  const Size2 window = info_.input;
  const Size2 scaled = sizeForWindows(image.size(), window, options_.short_side);
  cv::Mat source = image;
  if (image.size() != toCv(scaled)) cv::resize(image, source, toCv(scaled), 0, 0, cv::INTER_LINEAR);
  const Size2 stride = windowStride(options_, window);
  WindowScores windows{scaled,
                       window,
                       score_grid_,
                       windowStarts(scaled.height, window.height, stride.height),
                       windowStarts(scaled.width, window.width, stride.width),
                       {}};
  result.ms.preprocess += watch.lap();
  for (int y : windows.rows) {
    for (int x : windows.columns) {
      net_.forward(source(cv::Rect(x, y, window.width, window.height)), result.ms);
      takeScores(result.ms);
      windows.grid = score_grid_;
      if (result.cluster_of_token.empty()) net_.takeMaps(result);
      result.window_tokens.push_back(net_.tokens());
      const MatrixView<const float> live = scores();
      windows.scores.push_back(cv::Mat(live.rows, live.cols, CV_32F, const_cast<float*>(live.data)).clone());
    }
  }
  result.tokens.resize(result.window_tokens.front().size());
  for (std::size_t k = 0; k < result.tokens.size(); ++k) {
    for (const std::vector<double>& counts : result.window_tokens) result.tokens[k] += counts[k];
    result.tokens[k] /= static_cast<double>(result.window_tokens.size());
  }
  watch.lap();
  const auto resize = [&](cv::Size size, float* logits) { resizeWindows(windows, size, logits, net_.parallel()); };
  takeLabels(image, resize, result, [&] { labelWindows(windows, result.labels, net_.parallel()); });
  result.ms.postprocess += watch.lap();
}

Size2 windowStride(const EstimatorOptions& options, Size2 window) {
  const int stride = options.window_stride;
  if (stride == 0) return {window.height - window.height / 16, window.width - window.width / 16};
  const int most = std::min(window.height, window.width);
  if (stride < 0 || stride > most) {
    throw Error("windows of " + sizeText(window) + " stand 1 to " + std::to_string(most) + " px apart, not " +
                std::to_string(stride));
  }
  return {stride, stride};
}

}  // namespace mpm
