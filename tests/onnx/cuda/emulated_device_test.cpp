// SPDX-License-Identifier: Apache-2.0
// What only the emulation can tell: each copy between host and device, and a device that is full.
#include "kernels/cuda/emulation.h"
#include "layers/cuda/net.h"
#include "onnx/cuda/device_net.h"
#include "onnx/graph_builder.h"
#include "support/onnx_file.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

using cuda::test::Copies;
using cuda::test::failNextCapture;
using cuda::test::heldMemory;
using cuda::test::Launches;
using cuda::test::limitMemory;
using cuda::test::takeCopies;
using cuda::test::takeLaunches;

ReadOptions onDevice(Schedule schedule) {
  ReadOptions options;
  options.reduce = mpmBefore(schedule);
  options.device = "cuda";
  return options;
}

/// The copies of a run whose weights are on the device already.
Copies copiesOf(Asked& device, const cv::Mat& input) {
  device.run(input);  // the weights go up
  takeCopies();
  device.run(input);
  return takeCopies();
}

TEST(EmulatedDevice, OnlyTheImageGoesUpAndOnlyTheOutputsComeDown) {
  for (const char* file : {"segmenter_mask_ts17.onnx", "segmenter_linear_ts12.onnx"}) {
    SCOPED_TRACE(file);
    constexpr std::size_t kBatch = 2, kMerges = 2;
    Asked device(file, onDevice({1, 2}));
    const cv::Mat input = images(device.info.input, kBatch, 1);
    const Copies copies = copiesOf(device, input);
    EXPECT_EQ(copies.uploads, 1);
    EXPECT_EQ(copies.uploaded_bytes, input.total() * sizeof(float));
    const auto pixels = static_cast<std::size_t>(device.info.input.height * device.info.input.width);
    const auto tokens = static_cast<std::size_t>(device.info.tokens()),
               classes = static_cast<std::size_t>(device.info.classes);
    // Labels, scores, maps, counts, and whether a score is a NaN. What the host must know of a merge, the device writes
    // to it.
    EXPECT_EQ(copies.downloads, 5);
    EXPECT_EQ(copies.downloaded_bytes,
              kBatch * (pixels + 4 * (tokens * classes + kMerges * tokens + kMerges + 1)) + sizeof(int));
  }
}

// Values that no operator of the device computes would come down and go up again.
TEST(EmulatedDevice, NoOperatorNeedsTheHost) {
  const struct {
    const char *file, *how;
    int batch;
    bool only_the_result;  // comes down
  } cases[] = {
      {"hf_depth_anything_dynamo18.onnx", "mpm:blocks=1", 1, true},
      {"hf_eomt_ts17.onnx", "mpm:blocks=1", 1, true},
      // DPT with and without class tokens in its readout.
      {"dpt_ts16.onnx", "mpm:blocks=1", 1, true},
      {"hf_dpt_seg_dynamo18.onnx", "mpm:blocks=1", 1, true},
      {"hf_dpt_depth_ts17.onnx", "mpm:blocks=1", 1, true},
      {"hf_vitpose_ts17.onnx", "mpm:blocks=1", 1, true},
      // Pools that divide their map, and one that does not.
      {"hf_upernet_dynamo18.onnx", "mpm:blocks=1", 1, true},
      // Every method.
      {"timm_dinov3_ts17.onnx", "mpm:blocks=1", 2, true},
      {"timm_dinov3_ts17.onnx", "gradual:blocks=0-1:count=3", 2, true},
      {"timm_dinov3_ts17.onnx", "tome:count=2", 2, true},
      {"timm_dinov3_ts17.onnx", "algm:blocks=0,2:threshold=0.5", 2, true},
      // Detectors: sampling by a grid, the best queries.
      {"hf_rf_detr_dynamo18.onnx", "none", 1, false},
      {"hf_rf_detr_seg_dynamo18.onnx", "none", 1, false},
      {"hf_yolos_dynamo18.onnx", "none", 1, false},
      // Depth of any view, a pooled query, SAM.
      {"da3_ts17.onnx", "none", 1, false},
      {"timm_map_dynamo18.onnx", "none", 1, false},
      {"timm_deit_distilled_dynamo19.onnx", "none", 1, false},
      {"hf_sam_dynamo18.onnx", "none", 1, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(std::string(c.file) + " " + c.how);
    ReadOptions options = onDevice({});
    options.reduce = parseReduction(c.how);
    Asked device(c.file, options);
    const Copies copies = copiesOf(device, images(device.info.input, c.batch, 1));
    EXPECT_EQ(copies.uploads, 1);
    if (c.only_the_result) {
      EXPECT_EQ(copies.downloads, static_cast<int>(device.names.size()));
    }
  }
}

// As the TorchScript exporter writes the coarsest pool of UPerNet.
TEST(EmulatedDevice, TheMeanOfAWholeMapStaysOnTheDevice) {
  const TemporaryFolder folder;
  GraphBuilder graph(modelAt(dataPath("hf_vitpose_ts17.onnx")));
  const std::string map = graph.model().graph().output(0).name();
  graph.result(graph.node("Add", {map, graph.node("GlobalAveragePool", {map})}));
  graph.save(folder / "pooled.onnx");
  Asked device(folder / "pooled.onnx", onDevice({1})), host(folder / "pooled.onnx", {.reduce = mpmBefore({1})});
  const cv::Mat input = images(device.info.input, 1, 1);
  expectAlike(host, device.run(input), host.run(input));
  const Copies copies = copiesOf(device, input);
  EXPECT_EQ(copies.uploads, 1);
  EXPECT_EQ(copies.downloads, static_cast<int>(device.names.size()));
}

TEST(EmulatedDevice, OfALabelledImageOnlyBytesGoUpAndComeDown) {
  EstimatorOptions options;
  options.reduce = mpmBefore({1});
  options.device = "cuda";
  Estimator segmenter(dataPath("segmenter_mask_ts17.onnx"), options);
  const cv::Mat image(50, 90, CV_8UC3, cv::Scalar(10, 100, 200));
  segmenter.estimate(image);
  takeCopies();
  segmenter.estimate(image);
  const Copies copies = takeCopies();
  const auto tokens = static_cast<std::size_t>(segmenter.model().tokens());
  EXPECT_EQ(copies.uploads, 1);
  EXPECT_EQ(copies.uploaded_bytes, 3 * static_cast<std::size_t>(segmenter.model().input.height) *
                                       static_cast<std::size_t>(segmenter.model().input.width));
  // Map, counts, labels, whether a score is a NaN.
  EXPECT_EQ(copies.downloads, 4);
  EXPECT_EQ(copies.downloaded_bytes, 4 * (tokens + 2 + 1) + image.total());
}

// Layers only enqueue their work, unless they are measured. The results are the same.
TEST(EmulatedDevice, LayersThatWaitHaveTheirTimes) {
  ReadOptions options = onDevice({1});
  std::vector<cv::Mat> results;
  for (const bool measured : {false, true}) {
    options.measure_layers = measured;
    LoadedNet loaded = readNet(dataPath("hf_depth_anything_dynamo18.onnx"), options);
    loaded.net.setInput(images(loaded.info.input, 1, 1));
    results.push_back(loaded.net.forward(loaded.info.outputs[0]).clone());
    const StageTimes times = forwardTimes(loaded.net, 1e6);
    const std::vector<OperatorTime> head = headTimes(loaded.net);
    EXPECT_EQ(times.backbone == 1e6, !measured);
    EXPECT_EQ(times.head > 0, measured);
    EXPECT_EQ(head.empty(), !measured);
    double sum = 0;
    for (const OperatorTime& time : head) sum += time.ms;
    EXPECT_NEAR(sum, times.head, 1e-6);
  }
  EXPECT_EQ(cv::norm(results[0], results[1], cv::NORM_INF), 0);
}

EstimatorOptions reusing() {
  EstimatorOptions options;
  options.reduce = parseReduction("none");
  options.device = "cuda";
  options.reuse = parseReuse("threshold=12");
  return options;
}

// The bytes of the image and the list of patches go up. What comes down is that of a net without reuse.
TEST(EmulatedDevice, OfAFrameTheListOfPatchesGoesUp) {
  const char* const file = "segmenter_mask_ts17.onnx";
  Estimator camera(dataPath(file), reusing());
  cv::Mat image(32, 64, CV_8UC3, cv::Scalar(10, 100, 200));
  camera.estimate(image);
  for (const int patches : {1, 3}) {
    image(cv::Rect(0, 8 * patches, 8 * patches, 8)) = cv::Scalar(200, 10, 100);
    takeCopies();
    ASSERT_EQ(camera.estimate(image).reuse->patches.size(), static_cast<std::size_t>(patches));
    const Copies copies = takeCopies();
    EXPECT_EQ(copies.uploads, 2);
    EXPECT_EQ(copies.uploaded_bytes, 3 * image.total() + static_cast<std::size_t>(patches) * sizeof(int));
    EXPECT_EQ(copies.downloads, 4);
  }
  takeCopies();
  camera.estimate(image);
  EXPECT_EQ(takeCopies().uploads, 0) << "a frame without a change does not run the net";
}

// Keys and values of each block, and the rows in front of the scores.
TEST(EmulatedDevice, KeptRowsAreFreedWithTheirCamera) {
  Estimator first(dataPath("segmenter_mask_ts17.onnx"), reusing());
  const cv::Mat image(32, 64, CV_8UC3, cv::Scalar(10, 100, 200));
  const std::size_t kept = first.estimate(image).reuse->kept_bytes;
  const std::size_t held = heldMemory();
  {
    Estimator second = first.another();
    EXPECT_EQ(second.estimate(image).reuse->kept_bytes, kept);
    EXPECT_EQ(heldMemory(), held + kept);
  }
  EXPECT_EQ(heldMemory(), held);
  first.reset();
  EXPECT_EQ(heldMemory(), held - kept);
  first.estimate(image);
  EXPECT_EQ(heldMemory(), held);
}

TEST(EmulatedDevice, KeptMemoryIsZerosAtFirst) {
  cuda::Net net(0);
  ReuseSession session;
  const auto kept = [&](const char* layer, std::size_t floats) {
    return static_cast<float*>(net.kept({&session, layer}, floats * sizeof(float)));
  };
  float* const one = kept("one", 3);
  EXPECT_NE(kept("other", 3), one);
  EXPECT_EQ(std::vector<float>(one, one + 3), std::vector<float>(3));
  one[1] = 5;
  EXPECT_EQ(kept("one", 3), one);
  EXPECT_EQ(one[1], 5);
  float* const larger = kept("one", 4);
  EXPECT_EQ(std::vector<float>(larger, larger + 4), std::vector<float>(4)) << "of another size";
  EXPECT_EQ(session.bytes(), 7 * sizeof(float));
}

// What is kept may be half of one frame and half of another. The list of patches is the first that does not fit.
TEST(EmulatedDevice, AFrameAfterAnErrorIsAKeyFrame) {
  Estimator camera(dataPath("segmenter_mask_ts17.onnx"), reusing());
  EstimatorOptions on_host = reusing();
  on_host.device = "cpu";
  cv::Mat image(32, 64, CV_8UC3, cv::Scalar(10, 100, 200));
  camera.estimate(image);
  limitMemory(heldMemory());
  EXPECT_MPM_ERROR(camera.estimate(image, {}, std::vector<int>{0}), "memory");
  limitMemory(cuda::test::kNoLimit);
  image(cv::Rect(8, 8, 20, 8)) = cv::Scalar(200, 10, 100);
  const Estimate found = camera.estimate(image);
  EXPECT_TRUE(found.reuse->key_frame);
  const Estimate expected = Estimator(dataPath("segmenter_mask_ts17.onnx"), on_host).estimate(image);
  EXPECT_LE(cv::countNonZero(found.labels != expected.labels), 2);
}

/// What a forward gives whose work was never captured, as it is the first of its net.
std::vector<cv::Mat> byLaunches(const std::string& file, const ReadOptions& options, int batch, unsigned seed) {
  Asked device(file, options);
  return device.run(images(device.info.input, batch, seed));
}

void expectSameBytes(const std::vector<cv::Mat>& found, const std::vector<cv::Mat>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].total(), expected[i].total());
    EXPECT_EQ(std::memcmp(found[i].data, expected[i].data, found[i].total() * found[i].elemSize()), 0) << i;
  }
}

// Merging by a count needs the host once per merge. MPM ends what can be repeated at its first merge, and a head on
// restored tokens goes on with it. docs/cuda.md has these numbers.
TEST(EmulatedDevice, OfOneImageLaunchesAreRepeated) {
  struct Case {
    const char *file, *how;
    int launches, still, graphs;  // without graphs; beside them; their number
  };
  for (const auto& [file, how, launches, still, graphs] :
       {Case{"segmenter_mask_ts17.onnx", "none", 64, 4, 1},
        {"hf_depth_anything_dynamo18.onnx", "none", 144, 1, 1},
        {"timm_dinov3_ts17.onnx", "none", 36, 1, 1},
        {"timm_dinov3_ts17.onnx", "gradual:blocks=0-1:count=1", 66, 7, 3},
        {"timm_dinov3_ts17.onnx", "tome:count=2", 72, 6, 5},
        {"timm_dinov3_ts17.onnx", "mpm:blocks=1", 48, 26, 1},
        {"hf_depth_anything_dynamo18.onnx", "mpm:blocks=1", 153, 38, 2}}) {
    SCOPED_TRACE(std::string(file) + " " + how);
    ReadOptions options = onDevice({});
    options.reduce = parseReduction(how);
    Asked device(file, options);
    std::vector<cv::Mat> expected;
    // The last three are one image: then MPM's launches are those of the forward before, too, but are not repeated.
    for (int forward = 1; forward <= 5; ++forward) {
      const auto seed = static_cast<unsigned>(std::min(forward, 3));
      if (forward <= 3) expected = byLaunches(file, options, 1, seed);
      takeLaunches();
      expectSameBytes(device.run(images(device.info.input, 1, seed)), expected);
      const Launches found = takeLaunches();
      EXPECT_EQ(found.refused, 0);
      if (forward == 2 && found.graphs == 0) {
        EXPECT_EQ(found.commands, launches);
      }
      if (forward < 3) continue;  // the first makes the memory, the second is the first with these addresses
      EXPECT_LE(found.made, forward == 3 ? graphs : 0) << forward;
      EXPECT_EQ(found.graphs, graphs) << forward;
      EXPECT_EQ(found.commands, still) << forward;
    }
  }
}

// Another batch, an error, a refused capture, another net at work on the device: results are those of launches, and
// graphs come back.
TEST(EmulatedDevice, WhatHappensBetweenRepeatedForwards) {
  const char* const file = "segmenter_linear_ts12.onnx";
  const ReadOptions options = onDevice({});
  Asked device(file, options), other("segmenter_mask_ts17.onnx", options);
  const std::vector<cv::Mat> one = byLaunches(file, options, 1, 1), three = byLaunches(file, options, 3, 1),
                             of_other = byLaunches("segmenter_mask_ts17.onnx", options, 1, 1);
  const cv::Mat input = images(device.info.input, 1, 1), more = images(device.info.input, 3, 1),
                others = images(other.info.input, 1, 1);
  cv::Mat damaged = input.clone();
  damaged.ptr<float>(0, 0, 3)[4] = std::numeric_limits<float>::quiet_NaN();
  const auto expectGraphs = [&](int graphs) {
    takeLaunches();
    expectSameBytes(device.run(input), one);
    EXPECT_EQ(takeLaunches().graphs, graphs);
  };
  for (const int graphs : {0, 0, 1, 1}) expectGraphs(graphs);
  for (int round = 0; round < 3; ++round) expectSameBytes(device.run(more), three);
  EXPECT_EQ(takeLaunches().graphs, 0) << "of a batch that keeps the device busy";
  for (int round = 0; round < 3; ++round) expectSameBytes(other.run(others), of_other);
  for (int round = 0; round < 3; ++round) device.run(input);
  expectGraphs(1);
  EXPECT_CV_ERROR(device.run(damaged), "NaN");
  for (const int graphs : {0, 1, 1}) expectGraphs(graphs);
  EXPECT_CV_ERROR(device.run(damaged), "NaN");
  expectGraphs(0);
  failNextCapture();
  for (const int graphs : {0, 0, 0}) expectGraphs(graphs);
  EXPECT_CV_ERROR(device.run(damaged), "NaN");  // which frees memory, so a graph may have a place again
  for (const int graphs : {0, 1, 1}) expectGraphs(graphs);
}

// Full at the last allocation, when all that came before stands there.
TEST(EmulatedDevice, AFullDeviceIsOneLineAndASmallerBatchStillFits) {
  const char* const file = "segmenter_linear_ts12.onnx";
  Asked host(file, {.reduce = mpmBefore({1})});
  const cv::Mat one = images(host.info.input, 1, 2), many = images(host.info.input, 6, 2);
  std::size_t full = 0;
  {
    Asked device(file, onDevice({1}));
    device.run(many);
    full = heldMemory();
  }
  Asked device(file, onDevice({1}));
  limitMemory(full - 1);
  const auto words = AllOf(HasSubstr("memory"), Not(HasSubstr("\n")));
  EXPECT_THAT([&] { device.run(many); }, testing::Throws<cv::Exception>(testing::Field(&cv::Exception::err, words)));
  EXPECT_LT(heldMemory(), full / 2) << "values of a forward that failed";
  expectAlike(host, device.run(one), host.run(one));
  limitMemory(cuda::test::kNoLimit);
  expectAlike(host, device.run(many), host.run(many));
}

// Blobs that OpenCV allocates anew, as it does when the batch changes, leave nothing behind.
TEST(EmulatedDevice, MemoryDoesNotGrow) {
  Asked device("segmenter_linear_ts12.onnx", onDevice({1}));
  std::vector<std::vector<cv::Mat>> kept;  // so that the next blobs lie elsewhere
  const auto run = [&](int batch) {
    device.net.setInput(images(device.info.input, batch, 1));
    device.net.forward(kept.emplace_back(), device.names);
  };
  for (const int batch : {3, 1, 3, 1}) run(batch);
  const std::size_t held = heldMemory();
  for (int round = 0; round < 6; ++round)
    for (const int batch : {3, 1}) run(batch);
  // Blobs of two forwards may lie at the same address by chance, which is worth some percent. Values that are never
  // dropped are 2.5 times as many.
  EXPECT_LT(heldMemory(), held * 3 / 2);
}

// Methods such as CTS cut patches twice. What ran before the first cut is still read after the second, and what a
// forward did not write goes at the next one.
TEST(EmulatedDevice, ANetThatCutsPatchesTwiceRunsOneForward) {
  cuda::Net net(0);
  const std::vector<float> weight(4 * 3 * 2 * 2, 1.0f), position(4 * 4), special(4);
  PatchEmbedSpec spec;
  spec.geometry = {.channels = 3, .height = 4, .width = 4, .kernel_h = 2, .kernel_w = 2, .stride_h = 2, .stride_w = 2};
  spec.weight = {weight.data(), 4, 12};
  spec.position = {position.data(), 4, 4};
  spec.special = {special.data(), 1, 4};
  const cv::Mat image({1, 3, 4, 4}, CV_32F, cv::Scalar(1)), before(1, 3, CV_32F);
  struct Cut {
    std::unique_ptr<DeviceOp> op;
    std::vector<cv::Mat> inputs, outputs;
  };
  std::vector<Cut> cuts;
  for (int i = 0; i < 2; ++i) {
    cuts.push_back(
        {net.patchEmbed(spec, nullptr), {image}, {cv::Mat({1, 5, 4}, CV_32F), cv::Mat(1, 1 + 2 * 4, CV_32F)}});
  }
  const auto cut = [&] {
    net.upload(image);
    for (const Cut& one : cuts) one.op->compute({one.inputs, one.outputs, false});
  };
  for (int forward = 0; forward < 3; ++forward) {
    net.newDense(before);
    cut();
    EXPECT_NO_THROW(net.dense(before)) << forward;
  }
  cut();
  cut();
  EXPECT_MPM_ERROR(net.dense(before), "not a plain blob");
}

// Packed rows of an image begin where those before it end: the state of another block would shift all of them.
TEST(EmulatedDevice, TokensWithTheStateOfOthersAreAnError) {
  constexpr int kBatch = 2, kPatches = 6, kOther = 5, kSpecial = 1, kDim = 4;
  cuda::Net net(0);
  const cv::Mat tokens({kBatch, kSpecial + kPatches, kDim}, CV_32F), out({kBatch, kPatches, kDim}, CV_32F);
  const cv::Mat own(kBatch, 1 + 2 * kPatches, CV_32F), other = own.clone();
  const auto newState = [&](const cv::Mat& blob, int patches) -> cuda::TokenState& {
    cuda::TokenState& state = net.newState(blob);
    state.reset(net.stream, kBatch, patches, kSpecial);
    return state;
  };
  const std::size_t floats = tokens.total();
  cuda::clear(net.stream, net.newRows(tokens, newState(own, kPatches), kDim), floats * sizeof(float));
  newState(other, kOther);

  std::vector<std::unique_ptr<DeviceOp>> ops;
  ops.push_back(net.restoreTokens(kSpecial, false));
  ops.push_back(net.meanOfPatches(kSpecial));
  ops.push_back(net.someSpecialRows(kSpecial, 0, 1));
  ops.push_back(net.mergeTokens({}, kSpecial));
  for (const auto& op : ops) {
    const std::vector<cv::Mat> inputs = {tokens, other}, outputs = {out, cv::Mat(kBatch, 1 + 2 * kPatches, CV_32F)};
    EXPECT_MPM_ERROR(op->compute({inputs, outputs, false}), "image 0 has 7 rows of tokens and 6 in its state");
  }
  const std::vector<cv::Mat> inputs = {tokens, own}, outputs = {out};
  ops.front()->compute({inputs, outputs, false});
  net.wait();
}

// Along the middle axis: whole slices, single elements, and slices with a batch in front.
TEST(EmulatedDevice, GathersOfEveryKind) {
  cuda::Net net(0);
  cv::Mat x(std::vector<int>{2, 5, 3}, CV_32F), rows(std::vector<int>{1, 4}, CV_32F),
      elements(std::vector<int>{2, 4, 3}, CV_32F), slices(std::vector<int>{2, 4, 1}, CV_32F);
  for (int i = 0; i < 30; ++i) x.ptr<float>()[i] = static_cast<float>(i);
  for (int i = 0; i < 4; ++i) rows.ptr<float>()[i] = static_cast<float>(i * 3 % 5);
  for (int i = 0; i < 24; ++i) elements.ptr<float>()[i] = static_cast<float>(i * 7 % 5 - (i % 2) * 5);
  for (int i = 0; i < 8; ++i) slices.ptr<float>()[i] = static_cast<float>(i * 2 % 5);
  const auto place = [](const cv::Mat& indices, int i) {
    const int index = static_cast<int>(indices.ptr<float>()[i]);
    return 3 * (index < 0 ? index + 5 : index);
  };
  for (const auto& [function, indices] :
       {std::pair("Gather", rows), {"GatherElements", elements}, {"GatherND", slices}}) {
    SCOPED_TRACE(function);
    const std::vector<cv::Mat> inputs = {x, indices}, outputs = {cv::Mat(std::vector<int>{2, 4, 3}, CV_32F)};
    for (const cv::Mat& input : inputs) net.upload(input);
    const std::unique_ptr<DeviceOp> op = net.gather(function, 1, {});
    op->compute({inputs, outputs, false});
    net.download(outputs[0]);
    net.wait();
    for (int i = 0; i < 24; ++i) {
      const int at = std::string(function) == "Gather"     ? place(rows, i / 3 % 4)
                     : std::string(function) == "GatherND" ? place(slices, i / 3)
                                                           : place(elements, i);
      EXPECT_EQ(outputs[0].ptr<float>()[i], static_cast<float>(i / 12 * 15 + at + i % 3)) << i;
    }
  }
  slices.ptr<float>()[5] = 5;
  const std::vector<cv::Mat> inputs = {x, slices}, outputs = {cv::Mat(std::vector<int>{2, 4, 3}, CV_32F)};
  net.upload(slices);
  EXPECT_MPM_ERROR(net.gather("GatherND", 1, {})->compute({inputs, outputs, false}), "an index outside of its operand");
}

// As a damaged net may have it: each row of an image is in one window.
TEST(EmulatedDevice, WindowsOfOtherTokensAreAnError) {
  constexpr int kDim = 4, kPatches = 6;
  cuda::Net net(0);
  const std::vector<float> zeros(3 * kDim * kDim), rows = {0, 1, 2, 3, 4};
  WindowAttentionSpec spec;
  spec.dim = kDim;
  spec.heads = 1;
  spec.head_dim = kDim;
  spec.norm1 = {zeros.data(), zeros.data()};
  spec.qkv = {{zeros.data(), 3 * kDim, kDim}, zeros.data()};
  spec.proj = {{zeros.data(), kDim, kDim}, zeros.data()};
  spec.windows = {1, 5, rows.data()};
  const cv::Mat tokens(std::vector<int>{1, kPatches, kDim}, CV_32F), state(1, 1 + 2 * kPatches, CV_32F);
  cuda::TokenState& on_device = net.newState(state);
  on_device.reset(net.stream, 1, kPatches, 0);
  net.newRows(tokens, on_device, kDim);
  const std::vector<cv::Mat> inputs = {tokens, state}, outputs = {tokens.clone()};
  EXPECT_MPM_ERROR(net.windowAttention(spec, 0)->compute({inputs, outputs, false}), "has windows for 5 tokens, got 6");
}

}  // namespace
}  // namespace mpm::test
