// SPDX-License-Identifier: Apache-2.0
#include "mpm/segmenter.hpp"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "base/size_text.h"
#include "kernels/resample.h"
#include "layers/device_labels.h"
#include "net/estimator_outputs.h"
#include "net/image_net.h"
#include "net/inspect.h"
#include "net/mask_queries.h"
#include "net/windows.h"
#include "onnx/model/node_proto.h"

namespace mpm {
namespace {

/// Maximum number of pixels that windows may cover, the same as OpenCV's limit for files. An image much narrower than a
/// window would be scaled up to many more.
constexpr std::int64_t kMaxWindowedPixels = std::int64_t{1} << 30;

/// px of `image` with this shorter side (0: its own), scaled up until one window fits.
Size2 sizeForWindows(cv::Size image, Size2 window, int short_side) {
  const double wanted = short_side > 0 ? static_cast<double>(short_side) / std::min(image.height, image.width) : 1.0;
  const double scale = std::max(
      {wanted, static_cast<double>(window.height) / image.height, static_cast<double>(window.width) / image.width});
  const auto scaled = [&](int length, int least) {
    return std::max<std::int64_t>(least, std::llround(length * scale));
  };
  const std::int64_t height = scaled(image.height, window.height), width = scaled(image.width, window.width);
  if (height * width > kMaxWindowedPixels)
    throw Error("an image of " + toString(Size2{image.height, image.width}) + " px has more than " +
                std::to_string(kMaxWindowedPixels) + " px where windows of " + toString(window) +
                " fit into it: use the fit 'resize'");
  return {static_cast<int>(height), static_cast<int>(width)};
}

/// The class scores {B, N, classes}: what the one RestoreTokens of a segmentation net writes, whether or not it is an
/// output of the model.
std::string scoresOf(const onnx::GraphProto& graph) {
  for (const onnx::NodeProto& node : graph.node())
    if (onnx_graph::isOurs(node) && node.op_type() == "RestoreTokens") return node.output(0);
  throw Error("the model has no op RestoreTokens: convert the original model again");
}

}  // namespace

std::vector<std::string> labelOutputs(const onnx::GraphProto& graph, const ModelInfo& info) {
  if (info.segments()) return {scoresOf(graph)};
  return info.outputs;
}

struct Segmenter::Impl {
  SegmenterOptions options;
  ImageNet net;
  const ModelInfo& info = net.info();
  Size2 score_grid;                // of scores(): the patch grid, that of the masks of queries or of a map of classes
  std::vector<float> made_scores;  // {pixels of score_grid, classes}, when the net gives none
  cv::Size labels_size;            // of the last image; the two below are for it
  AxisResampling label_rows, label_columns;
  std::unique_ptr<DeviceLabels> device_labels;  // instead of the scores, if nothing else needs them

  Impl(ImageNet read, const SegmenterOptions& opts) : options(opts), net(std::move(read)) {
    if (options.short_side < 0) throw Error("the shorter side must not be negative");
    score_grid = info.grid;
    if (info.givesLabels()) net.requireLabelsFit();
    if (!info.givesLabels() && options.fit == Fit::kWindow)
      throw Error("'" + net.path() +
                  "' does not segment, so its windows have nothing to average: use the fit 'resize'");
    windowStride(options, info.input);
    if (options.fit == Fit::kResize && !options.inspect && info.segments())
      device_labels = DeviceLabels::of(net.net(), net.answerName(0));
  }

  // Checks what the last pass gave, and makes scores of mask queries and of a map of classes.
  void takeScores(StageTimes& ms) {
    if (info.segments())
      net.requireSize(0, static_cast<std::size_t>(info.tokens()) * static_cast<std::size_t>(info.classes));
    if (device_labels) return;
    for (std::size_t i = 0; i < net.answers(); ++i)
      net.requireFinite(i, info.segments() ? "scores" : net.answerName(i));
    if (info.segments() || !info.givesLabels()) return;
    StopWatch watch;
    if (info.head == HeadKind::kMaskQueries) {
      const MaskQueries queries = maskQueries(net);
      score_grid = queries.grid;
      maskQueryScores(queries.masks, queries.classes, net.parallel(), made_scores);
    } else {
      const cv::Mat& map = net.answer(0);
      score_grid = map.dims == 4 ? Size2{map.size[2], map.size[3]} : Size2{};
      const int pixels = score_grid.height * score_grid.width;
      net.requireSize(0, static_cast<std::size_t>(info.classes) * static_cast<std::size_t>(pixels));
      made_scores.resize(map.total());
      cv::transpose(cv::Mat(info.classes, pixels, CV_32F, const_cast<float*>(map.ptr<float>())),
                    cv::Mat(pixels, info.classes, CV_32F, made_scores.data()));
    }
    ms.postprocess += watch.lap();
  }

  MatrixView<const float> scores() const {
    return {info.segments() ? net.answer(0).ptr<float>() : made_scores.data(), score_grid.height * score_grid.width,
            info.classes};
  }

  void segmentResized(const cv::Mat& image, Segmentation& result) {
    net.run(image, result);
    takeScores(result.ms);
    if (options.inspect && info.segments()) result.token_score = bestClassShare(scores());
    if (!info.givesLabels()) return;
    StopWatch watch;
    if (labels_size != image.size()) {
      label_rows = throughInput(score_grid.height, info.input.height, image.rows);
      label_columns = throughInput(score_grid.width, info.input.width, image.cols);
      if (device_labels) device_labels->resize(label_rows, label_columns);
      labels_size = image.size();
    }
    result.labels.create(image.size(), CV_8U);
    if (device_labels) {
      if (!device_labels->run(result.labels)) failNotFinite("scores");
    } else {
      resizeArgmax<unsigned char>(scores(), label_rows, label_columns, {result.labels.data, image.rows, image.cols},
                                  net.parallel());
    }
    result.ms.postprocess += watch.lap();
  }

  void segmentWindows(const cv::Mat& image, Segmentation& result) {
    StopWatch watch;
    const Size2 window = info.input;
    const Size2 scaled = sizeForWindows(image.size(), window, options.short_side);
    cv::Mat source = image;
    if (image.size() != toCv(scaled)) cv::resize(image, source, toCv(scaled), 0, 0, cv::INTER_LINEAR);
    const Size2 stride = windowStride(options, window);
    WindowScores windows{scaled,
                         window,
                         score_grid,
                         windowStarts(scaled.height, window.height, stride.height),
                         windowStarts(scaled.width, window.width, stride.width),
                         {}};
    result.ms.preprocess += watch.lap();
    const double share = 1.0 / static_cast<double>(windows.rows.size() * windows.columns.size());
    for (int y : windows.rows)
      for (int x : windows.columns) {
        net.forward(source(cv::Rect(x, y, window.width, window.height)), result.ms);
        takeScores(result.ms);
        windows.grid = score_grid;
        if (result.cluster_of_token.empty()) net.takeMaps(result);
        net.addTokens(result, share);
        const MatrixView<const float> live = scores();
        windows.scores.push_back(cv::Mat(live.rows, live.cols, CV_32F, const_cast<float*>(live.data)).clone());
      }
    watch.lap();
    result.labels.create(image.size(), CV_8U);
    labelWindows(windows, result.labels, net.parallel());
    result.ms.postprocess += watch.lap();
  }
};

Size2 windowStride(const SegmenterOptions& options, Size2 window) {
  const int stride = options.window_stride;
  if (stride == 0) return {window.height - window.height / 16, window.width - window.width / 16};
  const int most = std::min(window.height, window.width);
  if (stride < 0 || stride > most)
    throw Error("windows of " + toString(window) + " px stand 1 to " + std::to_string(most) + " px apart, not " +
                std::to_string(stride));
  return {stride, stride};
}

Segmenter::Segmenter(const std::string& model, const SegmenterOptions& options)
    : Segmenter(withOurErrors([&] {
                  return ImageNet(model, options.read, options.threads, options.inspect && options.fit == Fit::kResize,
                                  labelOutputs);
                }),
                options) {}
Segmenter::Segmenter(ImageNet net, const SegmenterOptions& options)
    : impl_(withOurErrors([&] { return std::make_unique<Impl>(std::move(net), options); })) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

const ModelInfo& Segmenter::model() const { return impl_->info; }

Segmentation Segmenter::segment(const cv::Mat& image) {
  return impl_->net.timed<Segmentation>(image, [&](Segmentation& result) {
    if (impl_->options.fit == Fit::kWindow)
      impl_->segmentWindows(image, result);
    else
      impl_->segmentResized(image, result);
  });
}

}  // namespace mpm
