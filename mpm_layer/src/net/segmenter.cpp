// SPDX-License-Identifier: Apache-2.0
#include "mpm/segmenter.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <opencv2/imgproc.hpp>

#include "base/size_text.h"
#include "kernels/finite.h"
#include "kernels/resample.h"
#include "layers/device_image.h"
#include "layers/device_labels.h"
#include "layers/opencv_adapter.h"
#include "layers/opencv_parallel.h"
#include "mpm/error.hpp"
#include "mpm/read_net.hpp"
#include "net/choose_outputs.h"
#include "net/inspect.h"
#include "net/mask_queries.h"
#include "net/preprocess.h"
#include "net/stage_times.h"
#include "net/windows.h"
#include "onnx/model/node_proto.h"

namespace mpm {
namespace {

class StopWatch {
 public:
  /// ms since the last call, or since it was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double, std::milli>(now - std::exchange(since_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

bool allFinite(const cv::Mat& values) {
  return values.depth() != CV_32F || mpm::allFinite(values.ptr<float>(), values.total());
}

/// `count` clusters of as many tokens.
std::vector<int> toIds(const float* values, int count) {
  std::vector<int> ids(count);
  std::transform(values, values + count, ids.begin(), [&](float v) {
    if (!(v >= 0 && v < static_cast<float>(count)))
      throw Error("the model's output 'merge_map' holds " + std::to_string(v) + ", no cluster of " +
                  std::to_string(count) + " tokens: convert the original model again");
    return static_cast<int>(v);
  });
  return ids;
}

/// Returns the result of `work`. Errors of OpenCV and a lack of memory become mpm::Error.
template <class Work>
auto withOurErrors(Work work) {
  try {
    return work();
  } catch (const cv::Exception& error) {  // of a layer: it names itself and the cause
    throw Error(opencv::oneLine(error));
  } catch (const std::bad_alloc&) {
    throw Error("not enough memory for this image or this model");
  }
}

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

/// The tokens that merge before `block`, or inside it for a reduction that is no schedule.
std::string tokensToMerge(int block, const Reduction& reduction, const onnx::GraphProto& graph) {
  if (!reduction.isSchedule()) return "backbone/block" + std::to_string(block) + "/attention";
  if (block > 0) return "backbone/block" + std::to_string(block - 1);
  const std::string normalised = "backbone/pre_norm";
  const auto& nodes = graph.node();
  const bool found =
      std::any_of(nodes.begin(), nodes.end(), [&](const auto& node) { return node.name() == normalised; });
  return found ? normalised : "backbone/patch_embed";
}

/// merge_map, token_counts, then the scores or what the head gives; behind them what `options.inspect` needs.
std::vector<std::string> outputsFor(const SegmenterOptions& options, const onnx::GraphProto& graph,
                                    const ModelInfo& info) {
  std::vector<std::string> names = {"merge_map", "token_counts"};
  if (info.segments())
    names.push_back(scoresOf(graph));
  else
    names.insert(names.end(), info.outputs.begin(), info.outputs.end());
  if (options.inspect && options.fit == Fit::kResize)
    for (const int block : info.schedule) names.push_back(tokensToMerge(block, info.reduction, graph));
  return names;
}

cv::Size toCv(Size2 size) { return {size.width, size.height}; }

}  // namespace

struct Segmenter::Impl {
  SegmenterOptions options;
  cv::dnn::Net net;
  ModelInfo info;
  std::vector<cv::String> outputs;  // of the net: outputsFor()
  std::vector<cv::Mat> blobs;       // of `outputs`
  std::size_t answers = 0;          // first entries of `outputs`; the others are the input tokens of each insertion
  Normalizer normalize{ModelFacts{}};
  OpenCvParallel parallel;
  cv::Mat resized, planes;
  Size2 score_grid;                 // of scores(): the patch grid, or that of the masks of queries
  std::vector<float> query_scores;  // {pixels of a mask, classes}, of a head of mask queries
  // From the patch grid to the size of the last image, in one step. The result is that of two bilinear steps: the
  // graph's resize to the input size, then cv::resize to the image.
  cv::Size labels_size;
  AxisResampling label_rows, label_columns;
  std::unique_ptr<DeviceLabels> device_labels;  // instead of the scores, if nothing else needs them
  std::unique_ptr<DeviceImage> device_image;    // instead of `planes`

  Impl(const std::string& model, const SegmenterOptions& opts) : options(opts) {
    if (options.threads < 0) throw Error("the number of threads must not be negative");
    if (options.short_side < 0) throw Error("the shorter side must not be negative");
    if (options.threads > 0) cv::setNumThreads(std::min(options.threads, cv::getNumberOfCPUs()));
    LoadedNet loaded = readNet(model, options.read, [&](const onnx::GraphProto& graph, const ModelInfo& found) {
      const std::vector<std::string> names = outputsFor(options, graph, found);
      outputs.assign(names.begin(), names.end());
      return names;
    });
    net = std::move(loaded.net);
    info = std::move(loaded.info);
    normalize = Normalizer(info.facts);
    score_grid = info.grid;
    if (info.givesLabels() && info.classes > 256)
      throw Error("'" + model + "' has " + std::to_string(info.classes) +
                  " classes, but label maps have 8 bits: at most 256");
    if (!info.givesLabels() && options.fit == Fit::kWindow)
      throw Error("'" + model + "' does not segment, so its windows have nothing to average: use the fit 'resize'");
    windowStride(options, info.input);
    answers = 2 + (info.segments() ? 1 : info.outputs.size());
    planes.create(std::vector<int>{1, 3, info.input.height, info.input.width}, CV_32F);
    device_image = DeviceImage::of(net, "backbone/patch_embed", normalize.values(), planes);
    if (device_image) net.setInput(planes);  // once, for its shape
    if (options.fit == Fit::kResize && !options.inspect && info.segments())
      device_labels = DeviceLabels::of(net, outputs[2]);
  }

  // One pass of the net over `image`, of the input's size. Leaves the results in `blobs`.
  void forward(const cv::Mat& image, StageTimes& ms) {
    StopWatch watch;
    if (device_image)
      device_image->put(image);
    else
      normalize(image, planes, parallel);
    if (!device_image) net.setInput(planes);
    ms.preprocess += watch.lap();
    net.forward(blobs, outputs);
    const StageTimes forward_ms = forwardTimes(net, watch.lap());
    for (double StageTimes::*stage :
         {&StageTimes::backbone, &StageTimes::merge, &StageTimes::restore, &StageTimes::head})
      ms.*stage += forward_ms.*stage;
    requireSizes();
    if (device_labels) return;
    for (std::size_t i = 2; i < answers; ++i) expectFinite(allFinite(blobs[i]), nameOf(i));
    if (info.head != HeadKind::kMaskQueries) return;
    watch.lap();
    const cv::Mat &masks = masksOfQueries(), &classes = blobs[&masks == &blobs[2] ? 3 : 2];
    score_grid = {masks.size[2], masks.size[3]};
    maskQueryScores({masks.ptr<float>(), masks.size[1], masks.size[2] * masks.size[3]},
                    {classes.ptr<float>(), masks.size[1], info.classes + 1}, parallel, query_scores);
    ms.postprocess += watch.lap();
  }

  // The converter compared `info` with the declared shapes of the outputs. This checks the outputs themselves.
  void requireSizes() const {
    const auto require = [&](std::size_t i, std::size_t expected) {
      if (blobs[i].depth() == CV_32F && blobs[i].total() == expected) return;
      throw Error("the model's output '" + nameOf(i) + "' has " + std::to_string(blobs[i].total()) +
                  " values, expected " + std::to_string(expected) + " floats: convert the original model again");
    };
    const auto tokens = static_cast<std::size_t>(info.tokens());
    require(0, std::max<std::size_t>(info.schedule.size(), 1) * tokens);
    require(1, info.schedule.size() + 1);
    if (info.segments()) require(2, tokens * static_cast<std::size_t>(info.classes));
    if (info.head == HeadKind::kMaskQueries) {
      if (answers != 4 || masksOfQueries().dims != 4)
        throw Error("the model has no output of masks and one of classes: convert the original model again");
      const cv::Mat& masks = masksOfQueries();
      require(&masks == &blobs[2] ? 3 : 2,
              static_cast<std::size_t>(masks.size[1]) * static_cast<std::size_t>(info.classes + 1));
    }
    for (std::size_t i = answers; i < outputs.size(); ++i)
      require(i, (tokens + static_cast<std::size_t>(info.special_tokens)) * static_cast<std::size_t>(info.dim));
  }

  std::string nameOf(std::size_t output) const {
    return info.segments() && output == 2 ? "scores" : std::string(outputs[output]);
  }

  static void expectFinite(bool finite, const std::string& output) {
    if (!finite) throw Error("the model's " + output + " hold NaN or infinity: its weights or its input are damaged");
  }

  const cv::Mat& masksOfQueries() const { return blobs[blobs[2].dims == 4 ? 2 : 3]; }

  MatrixView<const float> scores() const {
    const bool queries = info.head == HeadKind::kMaskQueries;
    return {queries ? query_scores.data() : blobs[2].ptr<float>(), score_grid.height * score_grid.width, info.classes};
  }

  void takeMaps(Segmentation& result) const {
    const cv::Mat& maps = blobs[0];
    const int insertions = static_cast<int>(blobs[1].total()) - 1;
    for (int k = 0; k < insertions; ++k)
      result.cluster_of_token.push_back(
          toIds(maps.ptr<float>() + static_cast<std::ptrdiff_t>(k) * info.tokens(), info.tokens()));
  }

  void inspect(Segmentation& result) const {
    if (info.segments()) result.token_score = bestClassShare(scores());
    std::vector<int> before(info.tokens());
    std::iota(before.begin(), before.end(), 0);
    for (std::size_t k = 0; k < result.cluster_of_token.size(); ++k) {
      const float* rows = blobs[answers + k].ptr<float>() + static_cast<std::ptrdiff_t>(info.special_tokens) * info.dim;
      const std::vector<int>& after = result.cluster_of_token[k];
      result.pair_similarity.push_back(pairSimilarity({rows, info.tokens(), info.dim}, before, after));
      before = after;
    }
  }

  void addTokens(Segmentation& result, double share) const {
    const float* counts = blobs[1].ptr<float>();
    result.tokens.resize(blobs[1].total());
    for (std::size_t i = 0; i < result.tokens.size(); ++i) result.tokens[i] += share * static_cast<double>(counts[i]);
  }

  void segmentResized(const cv::Mat& image, Segmentation& result) {
    StopWatch watch;
    const cv::Mat* fitting = &image;
    if (image.size() != toCv(info.input)) {
      cv::resize(image, resized, toCv(info.input), 0, 0, cv::INTER_LINEAR);
      fitting = &resized;
    }
    result.ms.preprocess += watch.lap();
    forward(*fitting, result.ms);
    takeMaps(result);
    addTokens(result, 1);
    if (options.inspect) inspect(result);
    if (!info.givesLabels()) return;
    watch.lap();
    if (labels_size != image.size()) {
      const auto axis = [](int grid, int input, int output) {
        return composeAxes(bilinearAxis(grid, input), bilinearAxis(input, output));
      };
      label_rows = axis(score_grid.height, info.input.height, image.rows);
      label_columns = axis(score_grid.width, info.input.width, image.cols);
      if (device_labels) device_labels->resize(label_rows, label_columns);
      labels_size = image.size();
    }
    result.labels.create(image.size(), CV_8U);
    if (device_labels)
      expectFinite(device_labels->run(result.labels), "scores");
    else
      resizeArgmax<unsigned char>(scores(), label_rows, label_columns, {result.labels.data, image.rows, image.cols},
                                  parallel);
    result.ms.postprocess += watch.lap();
  }

  void segmentWindows(const cv::Mat& image, Segmentation& result) {
    StopWatch watch;
    const Size2 window = info.input;
    const Size2 scaled = sizeForWindows(image.size(), window, options.short_side);
    const cv::Mat* source = &image;
    if (image.size() != toCv(scaled)) {
      cv::resize(image, resized, toCv(scaled), 0, 0, cv::INTER_LINEAR);
      source = &resized;
    }
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
        forward((*source)(cv::Rect(x, y, window.width, window.height)), result.ms);
        windows.grid = score_grid;
        if (result.cluster_of_token.empty()) takeMaps(result);
        addTokens(result, share);
        const MatrixView<const float> live = scores();
        windows.scores.push_back(cv::Mat(live.rows, live.cols, CV_32F, const_cast<float*>(live.data)).clone());
      }
    watch.lap();
    result.labels.create(image.size(), CV_8U);
    labelWindows(windows, result.labels, parallel);
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
    : impl_(withOurErrors([&] { return std::make_unique<Impl>(model, options); })) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

const ModelInfo& Segmenter::model() const { return impl_->info; }

Segmentation Segmenter::segment(const cv::Mat& image) {
  if (image.empty()) throw Error("the image is empty");
  if (image.dims != 2 || image.type() != CV_8UC3) throw Error("an image to segment is 8-bit BGR (CV_8UC3)");
  StopWatch watch;
  Segmentation result;
  result.grid = impl_->info.grid;
  withOurErrors([&] {
    if (impl_->options.fit == Fit::kWindow)
      impl_->segmentWindows(image, result);
    else
      impl_->segmentResized(image, result);
  });
  result.ms.total = watch.lap();
  return result;
}

}  // namespace mpm
