// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "onnx/cuda/device_net.h"
#include "onnx/graph_builder.h"
#include "support/damaged_model.h"
#include "support/onnx_file.h"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::test {
namespace {

constexpr const char* kMask = "segmenter_mask_ts17.onnx";
constexpr const char* kLinear = "segmenter_linear_ts12.onnx";

ReadOptions with(Schedule schedule, const std::string& device = "cpu") {
  ReadOptions options;
  options.reduce = mpmBefore(schedule);
  options.device = device;
  return options;
}

/// The model on the device does to `batch` images, and then to others, what it does on the CPU. Of one image the third
/// forward is a graph.
void compare(Asked& host, const std::string& file, ReadOptions options, int batch) {
  SCOPED_TRACE(file + " " + toString(*options.reduce));
  options.device = "cuda";
  Asked device(file, options);
  for (unsigned seed = 3; seed < (batch == 1 ? 6 : 5); ++seed) {
    const cv::Mat input = images(host.info.input, batch, seed);
    expectAlike(host, device.run(input), host.run(input));
  }
}

void compare(const std::string& file, const ReadOptions& options, int batch) {
  Asked host(file, options);
  compare(host, file, options, batch);
}

TEST_F(DeviceNetTest, LogitsAtTheSizeOfTheImage) {
  ReadOptions options = with({1});
  options.output = Output::kLogits;
  compare(kLinear, options, 2);
}

ReadOptions reduced(const std::string& how) {
  ReadOptions options;
  options.reduce = parseReduction(how);
  return options;
}

// All models of the tests that are converted at all: DINOv3, EVA-02, AIMv2, InternViT, EoMT, DPT, ViT-Adapter, SAM,
// RF-DETR and so on. None is refused.
TEST_F(DeviceNetTest, EveryModel) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dataPath("."))) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".onnx") continue;
    for (const char* how : {"none", "mpm:blocks=1"}) {
      std::optional<Asked> host;
      try {
        host.emplace(file, reduced(how));
      } catch (const Error&) {  // not a plain ViT, or one that never merges
        EXPECT_THROW(convertedModel(entry.path().string(), reduced(how).convert()), Error) << file << " " << how;
        continue;
      }
      try {
        compare(*host, file, reduced(how), 1);
        ++compared;
      } catch (const std::exception& error) {
        ADD_FAILURE() << file << " " << how << ": " << error.what();
      }
    }
  }
  EXPECT_GE(compared, 85);
}

// Batches of heads, blocks and positions of each kind, beside each method.
TEST_F(DeviceNetTest, EveryMethod) {
  using Texts = std::vector<const char*>;
  const std::pair<Texts, Texts> cases[] = {
      {{kMask, "timm_vit_gap_ts15.onnx", "dpt_ts16.onnx"}, {"none", "mpm:blocks=1,2"}},
      {{kMask}, {"mpm:blocks=1", "mpm:blocks=1,2:attention=proportional"}},
      {{kLinear}, {"mpm:blocks=0,2"}},
      {{"timm_vit_qknorm_dynamo18.onnx", "timm_eva_swiglu_ts17.onnx", "hf_clip_ts17.onnx"}, {"mpm:blocks=1"}},
      {{"timm_dinov3_ts17.onnx", "hf_dinov3_gated_ts17.onnx", "timm_eva02_ts17.onnx", "timm_rope_mixed_dynamo18.onnx"},
       {"none", "mpm:blocks=1", "mpm:blocks=0,1:attention=proportional"}},
      {{"timm_dinov3_ts17.onnx"}, {"mpm:blocks=0,1:positions=centroid", "mpm:blocks=0,1:positions=first"}},
      {{"timm_vit_ts17.onnx", "timm_dinov3_ts17.onnx"},
       {"mpm:blocks=1", "gradual:blocks=0-1:count=3", "gradual:similarity=0.5", "tome:count=2",
        "algm:blocks=0,2:threshold=0.5"}}};
  for (const auto& [files, ways] : cases) {
    for (const char* file : files)
      for (const char* how : ways) compare(file, reduced(how), 2);
  }
}

// Segmenter, DINOv3, gated DINOv3, EoMT, EVA-02, AIMv2, the positions of Perception Encoder. Merging by rounded rows:
// the counts are those of the CPU, the maps but for a rare tie, and results are as near as in full nets.
TEST_F(DeviceNetTest, EveryMethodInEveryPrecision) {
  const std::pair<Precision, double> bounds[] = {
      {Precision::kTf32, 0.02}, {Precision::kFp16, 0.02}, {Precision::kBf16, 0.1}};
  const auto expectNear = [&](const std::string& file, const std::string& how) {
    ReadOptions options = reduced(how);
    Asked host(file, options);
    options.device = "cuda";
    const cv::Mat input = images(host.info.input, 2, 5);
    const std::vector<cv::Mat> expected = host.run(input);
    for (const auto& [precision, bound] : bounds) {
      if (precision == Precision::kBf16 && buildInfo().cuda_devices.front().major < 8) continue;
      SCOPED_TRACE(file + " " + toString(precision) + " " + how);
      options.precision = precision;
      Asked device(file, options);
      const std::vector<cv::Mat> found = device.run(input);
      EXPECT_EQ(cv::norm(found[1], expected[1]), 0) << host.names[1];
      const cv::Mat maps = found[0].reshape(1, 1), expected_maps = expected[0].reshape(1, 1);
      EXPECT_LE(cv::countNonZero(maps != expected_maps), static_cast<int>(maps.total()) / 20);
      // Of all scores: where a patch is equally similar to all classes, the norm over the classes enlarges small ones.
      const double difference = cv::norm(found.back(), expected.back()) / cv::norm(expected.back());
      EXPECT_LT(difference, bound) << host.names.back();
      if (!host.info.hasPixelClasses()) continue;
      EXPECT_EQ(cv::norm(maps, expected_maps), 0) << "before block 0 rows are nearly the same: patches are TF32";
      const cv::Mat labels = found[2].reshape(1, 1), expected_labels = expected[2].reshape(1, 1);
      EXPECT_LE(cv::countNonZero(labels != expected_labels), bound / 3 * static_cast<double>(labels.total()));
      // cuBLASLt may use TF32 or fp32. The emulation always rounds to TF32.
      const bool emulated = buildInfo().cuda_devices.front().name == "emulation on the host";
      if (emulated || precision != Precision::kTf32) {
        EXPECT_GT(difference, 1e-5) << "it is fp32";
      }
    }
  };
  for (const char* how : {"none", "gradual:blocks=0-1:count=3", "tome:count=2", "algm:blocks=0,1:threshold=0.5"})
    expectNear("timm_dinov3_ts17.onnx", how);
  for (const char* file : {kMask, kLinear}) expectNear(file, "mpm:blocks=0");
  for (const char* file : {"hf_dinov3_gated_ts17.onnx", "hf_eomt_ts17.onnx", "timm_eva02_ts17.onnx",
                           "timm_aimv2_dynamo18.onnx", "timm_rope_mixed_dynamo18.onnx"}) {
    expectNear(file, "none");
    expectNear(file, "tome:count=2");
  }
}

// The policy is a mean over the pixels of each window, by layers of OpenCV.
TEST_F(DeviceNetTest, WindowsThatAPolicyChooses) {
  const TemporaryFolder folder;
  saveMeanPolicy(folder / "policy.onnx", 16);
  compare("timm_dinov3_ts17.onnx", reduced("cts:policy=" + (folder / "policy.onnx") + ":share=0.5"), 2);
}

TEST_F(DeviceNetTest, BatchesOfChangingSize) {
  Asked host(kLinear, with({1})), device(kLinear, with({1}, "cuda"));
  for (const int batch : {2, 1, 3}) {
    SCOPED_TRACE(batch);
    const cv::Mat input = images(host.info.input, batch, static_cast<unsigned>(batch));
    expectAlike(host, device.run(input), host.run(input));
  }
}

// Each makes its graphs while the other allocates and waits.
TEST_F(DeviceNetTest, TwoNetsInTwoThreads) {
  for (const Schedule& schedule : {Schedule{1}, Schedule{}}) {
    Asked host(kLinear, with(schedule));
    const cv::Mat inputs[] = {images(host.info.input, 1, 7), images(host.info.input, 1, 8)};
    const std::vector<cv::Mat> expected[] = {host.run(inputs[0]), host.run(inputs[1])};
    std::vector<cv::Mat> found[2];
    const auto work = [&](int k) {
      Asked device(kLinear, with(schedule, "cuda"));
      for (int round = 0; round < 4; ++round) found[k] = device.run(inputs[k]);
    };
    std::thread first(work, 0), second(work, 1);
    first.join();
    second.join();
    for (int k = 0; k < 2; ++k) expectAlike(host, found[k], expected[k]);
  }
}

TEST_F(DeviceNetTest, ANaNIsOneLineAndTheNetGoesOn) {
  Asked host(kLinear, with({1})), device(kLinear, with({1}, "cuda"));
  const cv::Mat good = images(host.info.input, 2, 9);
  cv::Mat bad = good.clone();
  bad.ptr<float>(1, 0, 3)[4] = std::numeric_limits<float>::quiet_NaN();
  for (int round = 0; round < 2; ++round) {
    const auto words =
        AllOf(HasSubstr("MutualPairMerge"), HasSubstr("image 1 of the batch"), HasSubstr("NaN"), Not(HasSubstr("\n")));
    EXPECT_THAT([&] { device.run(bad); }, testing::Throws<cv::Exception>(testing::Field(&cv::Exception::err, words)));
    expectAlike(host, device.run(good), host.run(good));
  }
}

TEST_F(DeviceNetTest, OtherBlobsComeToTheHostWhenAskedFor) {
  ReadOptions on_host = with({1}), on_device = with({1}, "cuda");
  Asked silent(kLinear, on_device);
  on_host.outputs = on_device.outputs = {"backbone/block0"};
  Asked host(kLinear, on_host), device(kLinear, on_device);
  const cv::Mat input = images(host.info.input, 2, 11);
  silent.net.setInput(input);
  for (const cv::String& layer : silent.net.getLayerNames()) {
    if (!layer.ends_with("backbone/block0")) continue;
    EXPECT_TRUE(std::isnan(*silent.net.forward(layer).ptr<float>())) << "values that were not written";
  }
  expectAlike(host, device.run(input), host.run(input));
}

TEST_F(DeviceNetTest, TheSegmenterLabelsImagesOfAnySize) {
  EstimatorOptions options{.reduce = with({1, 2}).reduce};
  for (const Fit fit : {Fit::kResize, Fit::kWindow}) {
    options.fit = fit;
    options.device = "cpu";
    Estimator host(dataPath(kMask), options);
    options.device = "auto";
    Estimator device(dataPath(kMask), options);
    for (const cv::Size size : {cv::Size(70, 40), cv::Size(64, 32), cv::Size(70, 40), cv::Size(130, 99)}) {
      SCOPED_TRACE(size);
      const cv::Mat image = smoothPicture(size.height, size.width);
      const Estimate found = device.estimate(image), expected = host.estimate(image);
      ASSERT_EQ(found.labels.type(), CV_8U);
      ASSERT_EQ(found.labels.size(), size);
      EXPECT_LE(cv::countNonZero(found.labels != expected.labels), size.area() / 1000);
      EXPECT_EQ(found.cluster_of_token, expected.cluster_of_token);
      EXPECT_EQ(found.tokens, expected.tokens);
    }
  }
}

// The argmax of NaNs would be class 0.
TEST_F(DeviceNetTest, LabelsOfNaNAreAnError) {
  const TemporaryFolder folder;
  writeModelThatOverflows(dataPath(kMask), folder / "overflows.onnx");
  for (const char* device : {"cpu", "cuda"}) {
    LoadedNet loaded = readNet(folder / "overflows.onnx", with({}, device));
    loaded.net.setInput(images(loaded.info.input, 1, 1));
    EXPECT_THAT(
        [&] { loaded.net.forward("labels"); },
        testing::Throws<cv::Exception>(testing::Field(&cv::Exception::err, HasSubstr("scores hold NaN or infinity"))))
        << device;
  }
}

TEST_F(DeviceNetTest, TheSegmenterSeesInside) {
  EstimatorOptions options{.reduce = with({1, 2}).reduce, .inspect = true};
  const cv::Mat image = smoothPicture(40, 70);
  const Estimate expected = Estimator(dataPath(kMask), options).estimate(image);
  options.device = "auto";
  Estimator segmenter(dataPath(kMask), options);
  const Estimate found = segmenter.estimate(image);
  EXPECT_EQ(found.cluster_of_token, expected.cluster_of_token);
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_LE(cv::countNonZero(found.labels != expected.labels), 3);
  EXPECT_GT(found.ms.backbone, 0);
  EXPECT_EQ(found.ms.merge, 0) << "a layer that only hands its work over took this long";
  ASSERT_EQ(found.pair_similarity.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    for (std::size_t i = 0; i < found.pair_similarity[k].size(); ++i) {
      const float a = found.pair_similarity[k][i], b = expected.pair_similarity[k][i];
      ASSERT_TRUE((std::isnan(a) && std::isnan(b)) || std::abs(a - b) < 1e-4f) << a << " and " << b;
    }
  }
}

/// The result of the same model on the CPU, for a frame of a camera.
void expectSameFrame(const Estimate& found, const Estimate& expected) {
  ASSERT_TRUE(found.reuse && expected.reuse);
  EXPECT_EQ(found.reuse->key_frame, expected.reuse->key_frame);
  EXPECT_EQ(found.reuse->rows, expected.reuse->rows);
  EXPECT_EQ(found.reuse->patches, expected.reuse->patches);
  EXPECT_EQ(found.reuse->threshold, expected.reuse->threshold);
  ASSERT_EQ(found.reuse->agreement.has_value(), expected.reuse->agreement.has_value());
  EXPECT_NEAR(found.reuse->agreement.value_or(0), expected.reuse->agreement.value_or(0), 0.1);
  EXPECT_GT(found.reuse->kept_bytes, 0u);
  EXPECT_EQ(found.tokens, expected.tokens);
  EXPECT_EQ(found.cluster_of_token, expected.cluster_of_token);
  for (const auto& [a, b] : {std::pair(found.labels, expected.labels), {found.ids, expected.ids}}) {
    ASSERT_EQ(a.size(), b.size());
    if (b.empty()) continue;
    EXPECT_LE(cv::countNonZero(a != b), static_cast<int>(b.total()) / 1000);
  }
  std::vector<std::pair<cv::Mat, cv::Mat>> numbers = {{found.depth, expected.depth}};
  ASSERT_EQ(found.outputs.size(), expected.outputs.size());
  for (std::size_t i = 0; i < found.outputs.size(); ++i) numbers.emplace_back(found.outputs[i], expected.outputs[i]);
  for (const auto& [a, b] : numbers) {
    ASSERT_EQ(a.total(), b.total());
    if (b.empty()) continue;
    const cv::Mat row = b.reshape(1, 1);
    EXPECT_LE(cv::norm(a.reshape(1, 1), row, cv::NORM_INF), 2e-4 * cv::norm(row, cv::NORM_INF));
  }
}

/// Frames of a camera, on the CPU and on the device.
struct Cameras {
  Estimator host, device;

  Cameras(const std::string& file, EstimatorOptions options)
      : host(dataPath(file), options), device(dataPath(file), onDevice(options)) {}
  Cameras(Estimator one, Estimator other) : host(std::move(one)), device(std::move(other)) {}
  static EstimatorOptions onDevice(EstimatorOptions options) {
    options.device = "cuda";
    return options;
  }
  void compare(const cv::Mat& image, double seconds, const std::optional<std::vector<int>>& patches = {}) {
    SCOPED_TRACE(testing::Message() << "at " << seconds << " s");
    expectSameFrame(device.estimate(image, seconds, patches), host.estimate(image, seconds, patches));
  }
};

/// A still picture, small changes, a cut, another size, a key frame that is due.
void compareFrames(Cameras cameras) {
  const Size2 input = cameras.host.model().input;
  const int patches = cameras.host.model().tokens();
  cv::Mat image = smoothPicture(input.height, input.width);
  double second = 0;
  cameras.compare(image, ++second);
  cameras.compare(image, ++second);
  image(cv::Rect(3, 5, 6, 4)) = cv::Scalar(255, 0, 255);
  cameras.compare(image, ++second);
  cameras.compare(image, ++second, std::vector<int>{patches - 1});
  image(cv::Rect(0, 0, input.width / 2, input.height / 3)) *= 0.4;
  cameras.compare(image, ++second);
  cameras.compare(image, ++second, std::vector<int>{});
  std::vector<int> all(static_cast<std::size_t>(patches));
  std::iota(all.begin(), all.end(), 0);
  cameras.compare(smoothPicture(input.height, input.width, 2), ++second, all);
  cameras.compare(smoothPicture(input.height, input.width, 3), ++second);  // a cut
  image(cv::Rect(input.width / 2, 2, 9, 9)) = cv::Scalar(0, 255, 0);
  cameras.compare(image, ++second);
  cv::Mat larger = smoothPicture(input.height + 7, input.width + 30, 3);
  cameras.compare(larger, ++second);
  larger(cv::Rect(10, 10, 12, 8)) = cv::Scalar(0, 0, 255);
  cameras.compare(larger, ++second);
  larger(cv::Rect(25, 3, 12, 8)) = cv::Scalar(0, 200, 255);
  cameras.compare(larger, second + 100);
  larger(cv::Rect(15, 12, 12, 8)) = cv::Scalar(90, 0, 255);
  cameras.compare(larger, second + 101);
}

EstimatorOptions reusing(const std::string& reduction) {
  return {.reduce = parseReduction(reduction), .min_score = 0, .reuse = parseReuse("threshold=12:refresh=50")};
}

// Labels, segments, depth, classes and features, with all kinds of blocks. What cannot reuse rows is refused in the
// same words.
TEST_F(DeviceNetTest, FramesOfACameraInEveryModel) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dataPath("."))) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(file);
    std::optional<Estimator> host;
    const EstimatorOptions options = reusing("none");
    try {
      host.emplace(entry.path().string(), options);
    } catch (const Error& error) {
      EXPECT_MPM_ERROR(Estimator(entry.path().string(), Cameras::onDevice(options)), error.what());
      continue;
    }
    compareFrames({std::move(*host), Estimator(entry.path().string(), Cameras::onDevice(options))});
    ++compared;
  }
  EXPECT_GE(compared, 35);
}

TEST_F(DeviceNetTest, GroupsThatOutliveFrames) {
  for (const char* file : {kMask, kLinear, "timm_dinov3_ts17.onnx", "dpt_ts16.onnx"}) {
    for (const char* how : {"mpm:blocks=1", "mpm:blocks=0,1:attention=proportional", "gradual:blocks=0,1:count=3"}) {
      SCOPED_TRACE(std::string(file) + " " + how);
      compareFrames({file, reusing(how)});
      // Rows that merge among themselves leave gaps among the groups.
      Cameras cameras(file, reusing(how));
      const Size2 input = cameras.host.model().input;
      std::mt19937 random(7);
      for (int frame = 0; frame < 8; ++frame) {
        std::vector<int> patches;
        for (int i = 0; i < cameras.host.model().tokens(); ++i)
          if (random() % 3 == 0) patches.push_back(i);
        cameras.compare(smoothPicture(input.height, input.width, 1 + frame / 3), frame, patches);
      }
    }
  }
}

// Two cameras take turns on one net.
TEST_F(DeviceNetTest, CamerasOfOneNetKeepTheirOwnRows) {
  const EstimatorOptions options = reusing("none");
  Cameras one(kMask, options);
  Cameras two(one.host.another(), one.device.another());
  cv::Mat image = smoothPicture(32, 64, 1), other = smoothPicture(32, 64, 2);
  for (int frame = 0; frame < 3; ++frame) {
    image(cv::Rect(8 * frame, 9, 4, 4)) = cv::Scalar(255, 0, 255);
    other(cv::Rect(40, 4 * frame, 4, 4)) = cv::Scalar(0, 255, 255);
    one.compare(image, frame);
    two.compare(other, frame);
  }
  one.device.reset();
  EXPECT_TRUE(one.device.estimate(image, 3).reuse->key_frame);
  EXPECT_FALSE(two.device.estimate(other, 3).reuse->key_frame);
}

// 16 bits of keys and values are kept as 16 bits.
TEST_F(DeviceNetTest, FramesInEveryPrecision) {
  const std::pair<Precision, double> bounds[] = {
      {Precision::kTf32, 0.01}, {Precision::kFp16, 0.01}, {Precision::kBf16, 0.05}};
  EstimatorOptions options = reusing("none");
  Estimator host(dataPath(kLinear), options), full(dataPath(kLinear), Cameras::onDevice(options));
  const std::size_t kept = full.estimate(smoothPicture(40, 70)).reuse->kept_bytes;
  for (const auto& [precision, bound] : bounds) {
    if (precision == Precision::kBf16 && buildInfo().cuda_devices.front().major < 8) continue;
    SCOPED_TRACE(toString(precision));
    options.precision = precision;
    Estimator device(dataPath(kLinear), Cameras::onDevice(options));
    host.reset();
    cv::Mat image = smoothPicture(40, 70);
    for (int frame = 0; frame < 4; ++frame) {
      image(cv::Rect(9 * frame, 12, 9, 9)) = cv::Scalar(255, 0, 255);
      const Estimate found = device.estimate(image, frame), expected = host.estimate(image, frame);
      EXPECT_EQ(found.reuse->patches, expected.reuse->patches);
      EXPECT_LE(cv::countNonZero(found.labels != expected.labels), bound * static_cast<double>(image.total()));
      EXPECT_EQ(found.reuse->kept_bytes < kept, precision != Precision::kTf32);
    }
  }
}

TEST_F(DeviceNetTest, ADeviceThatIsNotThere) {
  EXPECT_MPM_ERROR(readNet(dataPath(kLinear), with({1}, "cuda:17")), "device 'cuda:17': this machine does not have it");
  EXPECT_MPM_ERROR(readNet(dataPath(kLinear), with({1}, "cuda:17")), "cuda:0 (");
}

}  // namespace
}  // namespace mpm::test
