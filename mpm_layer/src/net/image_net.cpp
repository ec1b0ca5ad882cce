// SPDX-License-Identifier: Apache-2.0
#include "net/image_net.h"

#include <numeric>
#include <opencv2/imgproc.hpp>

#include "kernels/elementwise.h"
#include "net/inspect.h"
#include "onnx/model/graph_proto.h"

namespace mpm {
namespace {

/// `count` clusters of as many tokens.
std::vector<int> toIds(const float* values, int count) {
  std::vector<int> ids(count);
  std::transform(values, values + count, ids.begin(), [&](float v) {
    if (!(v >= 0 && v < static_cast<float>(count))) {
      throw Error("the model's output 'merge_map' holds " + std::to_string(v) + ", no cluster of " +
                  std::to_string(count) + " tokens: convert the original model again");
    }
    return static_cast<int>(v);
  });
  return ids;
}

}  // namespace

PixelValues pixelValues(const ModelFacts& facts) {
  PixelValues values;
  for (int c = 0; c < 3; ++c) {
    values.image_channel[c] = facts.channels == ChannelOrder::kBgr ? c : 2 - c;
    if (!(facts.deviation[c] > 0)) throw Error("the model's std must be positive, in its JSON file");
    for (int v = 0; v < 256; ++v)
      values.of_byte[c][v] = (static_cast<float>(v) / 255.0f - facts.mean[c]) / facts.deviation[c];
  }
  return values;
}

void normalise(const cv::Mat& image, const PixelValues& values, cv::Mat& planes, const Parallel& parallel) {
  CV_Assert(image.type() == CV_8UC3);
  planes.create(std::vector<int>{1, 3, image.rows, image.cols}, CV_32F);
  constexpr int kRows = 16;
  runPieces(parallel, image.rows, kRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      const auto* pixel = image.ptr<cv::Vec3b>(y);
      for (int c = 0; c < 3; ++c) {
        const auto& value = values.of_byte[c];
        const int from = values.image_channel[c];
        float* to = planes.ptr<float>(0, c, y);
        for (int x = 0; x < image.cols; ++x) to[x] = value[pixel[x][from]];
      }
    }
  });
}

std::string restoreLastTokens(onnx::GraphProto& graph, const ModelInfo& info) {
  const std::string tokens = "backbone/block" + std::to_string(info.blocks - 1), name = "restore/tokens";
  for (const onnx::NodeProto& node : graph.node()) {
    if (!onnx_graph::isOurs(node) || node.output(0) != tokens || node.input_size() < 2) continue;
    const std::string& state = node.input(1);
    const std::int64_t special = onnx_graph::attributeOf(node, "special_tokens").i();  // queries may have joined
    onnx::NodeProto& restore = *graph.add_node();
    onnx_graph::describeNode(restore, "RestoreTokens", {tokens, state}, {name},
                             {{"special_tokens", special}, {"keep_special", std::int64_t{0}}});
    restore.set_domain(onnx_graph::kOurDomain);
    return name;
  }
  throw Error("the model has no tokens behind a last block, which a head could read");
}

ImageNet::ImageNet(const std::string& model, const EstimatorOptions& options, const ChooseOutputs& answers)
    : path_(model), threads_(options.threads), reuse_options_(options.reuse) {
  const auto choose = [&](onnx::GraphProto& graph, const ModelInfo& found) {
    std::vector<std::string> names = answers(graph, found);
    answers_ = names.size();
    names.insert(names.begin(), {"merge_map", "token_counts"});
    const bool inspects = options.inspect && options.fit == Fit::kResize && !options.reuse.on;
    for (const onnx::NodeProto& node : graph.node()) {  // the tokens that each merging step reads
      if (inspects && onnx_graph::isOurs(node) && node.input_size() > 0 &&
          (node.op_type() == "MutualPairMerge" || node.op_type() == "MergeTokens"))
        names.push_back(node.input(0));
    }
    outputs_.assign(names.begin(), names.end());
    return names;
  };
  LoadedNet loaded = readNet(model, options.read(), choose, options.reuse.on ? &reuse_ : nullptr);
  net_ = loaded.net;
  info_ = std::move(loaded.info);
  if (info_.image_channels != 3) {
    throw Error(path_ + ": takes " + std::to_string(info_.image_channels) +
                "-channel images, and pictures have 3 channels: run the net itself, with readNet() or mpm.Net");
  }
  pixel_values_ = pixelValues(info_.facts);
  planes_.create(std::vector<int>{1, 3, info_.input.height, info_.input.width}, CV_32F);
  device_image_ = DeviceImage::of(net_, "backbone/patch_embed", pixel_values_, planes_);
  if (device_image_) net_.setInput(planes_);  // once, for its shape
}

void ImageNet::fit(const cv::Mat& image, StageTimes& ms) {
  StopWatch watch;
  fitting_ = image;
  if (image.size() != toCv(info_.input)) {
    cv::resize(image, resized_, toCv(info_.input), 0, 0, cv::INTER_LINEAR);
    fitting_ = resized_;
  }
  ms.preprocess += watch.lap();
}

std::optional<FrameMemory> ImageNet::newMemory() const {
  if (!reuse_options_.on) return std::nullopt;
  return FrameMemory{ReuseGate(reuse_options_, reuse_.places)};
}

ReuseGate::Frame ImageNet::look(FrameMemory& memory, const cv::Mat& image, double seconds,
                                const std::optional<std::vector<int>>& patches, StageTimes& ms) {
  if (image.size() != memory.size) memory.reset();
  memory.size = image.size();
  reuse_.session->memory = memory.rows;
  fit(image, ms);
  StopWatch watch;
  ReuseGate::Frame frame = memory.gate.look(fitting_, seconds, parallel_, patches);
  if (frame.key)
    computeAll();
  else
    reuse_.session->changed = frame.changed;
  ms.preprocess += watch.lap();
  return frame;
}

void ImageNet::run(const cv::Mat& image, RunReport& report) {
  if (!reuse_options_.on) fit(image, report.ms);
  forward(fitting_, report.ms);
  takeMaps(report);
  report.tokens = tokens();
  addSimilarity(report);
}

void ImageNet::forward(const cv::Mat& image, StageTimes& ms) {
  StopWatch watch;
  if (device_image_) {
    device_image_->put(image);
  } else {
    normalise(image, pixel_values_, planes_, parallel_);
    net_.setInput(planes_);
  }
  ms.preprocess += watch.lap();
  try {
    net_.forward(blobs_, outputs_);
  } catch (const cv::Exception& error) {
    const std::vector<int> shape = {1, 3, info_.input.height, info_.input.width};
    throw Error(path_ + ": " + forwardError(net_, shape, error));
  }
  const StageTimes forward_ms = forwardTimes(net_, watch.lap());
  for (double StageTimes::*stage : {&StageTimes::backbone, &StageTimes::merge, &StageTimes::restore, &StageTimes::head})
    ms.*stage += forward_ms.*stage;
  ms.blocks.resize(std::max(ms.blocks.size(), forward_ms.blocks.size()));
  for (std::size_t i = 0; i < forward_ms.blocks.size(); ++i) ms.blocks[i] += forward_ms.blocks[i];
  requireBlob(0, std::max<std::size_t>(info_.schedule().size(), 1) * static_cast<std::size_t>(info_.tokens()));
  requireBlob(1, info_.schedule().size() + 1);
  const auto floats = static_cast<std::size_t>(info_.tokens()) * static_cast<std::size_t>(info_.dim);
  for (std::size_t i = kReports + answers_; i < outputs_.size(); ++i)  // behind special rows, which queries may join
    requireBlob(i, std::max(floats, blobs_[i].total()));
}

void ImageNet::takeMaps(RunReport& report) const {
  const int insertions = static_cast<int>(blobs_[1].total()) - 1;
  for (int k = 0; k < insertions; ++k) {
    report.cluster_of_token.push_back(
        toIds(blobs_[0].ptr<float>() + static_cast<std::ptrdiff_t>(k) * info_.tokens(), info_.tokens()));
  }
}

std::vector<double> ImageNet::tokens() const {
  const float* counts = blobs_[1].ptr<float>();
  return {counts, counts + blobs_[1].total()};
}

void ImageNet::addSimilarity(RunReport& report) const {
  if (outputs_.size() == kReports + answers_) return;
  std::vector<int> before(info_.tokens());
  std::iota(before.begin(), before.end(), 0);
  for (std::size_t k = 0; k < report.cluster_of_token.size(); ++k) {
    const cv::Mat& all = answer(answers_ + k);
    const float* rows = all.ptr<float>() + all.total() - static_cast<std::ptrdiff_t>(info_.tokens()) * info_.dim;
    const std::vector<int>& after = report.cluster_of_token[k];
    report.pair_similarity.push_back(pairSimilarity({rows, info_.tokens(), info_.dim}, before, after));
    before = after;
  }
}

void ImageNet::requireBlob(std::size_t index, std::size_t expected) const {
  const cv::Mat& blob = blobs_[index];
  if (blob.depth() == CV_32F && blob.total() == expected) return;
  throw Error("the model's output '" + outputs_[index] + "' has " + std::to_string(blob.total()) +
              " values, expected " + std::to_string(expected) + " floats: convert the original model again");
}

void ImageNet::requireFinite(std::size_t answer, const std::string& name) const {
  const cv::Mat& blob = this->answer(answer);
  if (blob.depth() == CV_32F && !allFinite(blob.ptr<float>(), blob.total())) failNotFinite(name);
}

cv::Mat ImageNet::tokensOf(std::size_t answer) const {
  requireSize(answer, static_cast<std::size_t>(info_.tokens()) * info_.dim);
  return cv::Mat(info_.tokens(), info_.dim, CV_32F, const_cast<float*>(this->answer(answer).ptr<float>())).clone();
}

void ImageNet::requireLabelsFit() const {
  if (info_.classes > 256) {
    throw Error("'" + path_ + "' has " + std::to_string(info_.classes) +
                " classes, but label maps have 8 bits: at most 256");
  }
}

void failNotFinite(const std::string& name) {
  throw Error("the model's " + name + " hold NaN or infinity: its weights or its input are damaged");
}

}  // namespace mpm
