// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include <cmath>

#include "mpm/read_net.hpp"
#include "support/damaged_model.h"
#include "support/in_folder.h"
#include "support/pictures.h"
#include "support/plain_net.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

using Labels = test::InFolder;

const std::string kData = MPM_TEST_DATA_DIR;
const std::string kMask = kData + "/segmenter_mask_ts17.onnx";  // input 32x64, patch 8, 3 blocks, 4 classes
const std::string kLinear = kData + "/segmenter_linear_ts12.onnx";

EstimatorOptions merging(Schedule schedule, Fit fit = Fit::kResize) {
  return {.reduce = mpmBefore(schedule), .fit = fit};
}

// Logits of an image of the net's input size, at that size, one plane per class.
class PlainNet {
 public:
  PlainNet(const std::string& model, const Schedule& schedule)
      : loaded_(readNet(model, {.reduce = mpmBefore(schedule), .output = Output::kLogits})) {}

  cv::Size input() const { return {loaded_.info.input.width, loaded_.info.input.height}; }

  std::vector<cv::Mat> logits(const cv::Mat& image) {
    const cv::Mat all = test::forwardPlain(loaded_.net, image, loaded_.info.outputs[0]);
    std::vector<cv::Mat> planes;
    for (int c = 0; c < loaded_.info.classes; ++c)
      planes.push_back(cv::Mat(image.size(), CV_32F, const_cast<float*>(all.ptr<float>(0, c))).clone());
    return planes;
  }

 private:
  LoadedNet loaded_;
};

cv::Mat resized(const cv::Mat& image, cv::Size size) {
  cv::Mat result;
  cv::resize(image, result, size, 0, 0, cv::INTER_LINEAR);
  return result;
}

// The class whose plane, resized, is the largest.
cv::Mat labelsOf(const std::vector<cv::Mat>& logits, cv::Size size) {
  cv::Mat labels(size, CV_8U, cv::Scalar(0)), best = resized(logits[0], size);
  for (std::size_t c = 1; c < logits.size(); ++c) {
    const cv::Mat plane = resized(logits[c], size);
    labels.setTo(c, plane > best);
    best = cv::max(best, plane);
  }
  return labels;
}

// Windows whose corners stand at these rows and columns of the image resized to `scaled`; where they overlap, the mean
// of their logits.
std::vector<cv::Mat> plainWindowLogits(const Schedule& schedule, const cv::Mat& image, cv::Size scaled,
                                       const std::vector<int>& rows, const std::vector<int>& columns) {
  PlainNet net(kMask, schedule);
  const cv::Mat source = resized(image, scaled);
  cv::Mat count(scaled, CV_32F, cv::Scalar(0));
  std::vector<cv::Mat> sums;
  for (const int y : rows) {
    for (const int x : columns) {
      const cv::Rect window({x, y}, net.input());
      const std::vector<cv::Mat> logits = net.logits(source(window).clone());
      for (std::size_t c = sums.size(); c < logits.size(); ++c) sums.emplace_back(scaled, CV_32F, cv::Scalar(0));
      for (std::size_t c = 0; c < logits.size(); ++c) sums[c](window) += logits[c];
      count(window) += 1;
    }
  }
  EXPECT_EQ(cv::countNonZero(count), scaled.area()) << "the windows were meant to cover the image";
  for (cv::Mat& sum : sums) sum /= count;
  return sums;
}

// Pixels where two classes tie to within rounding may differ.
void expectSameLabels(const cv::Mat& actual, const cv::Mat& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  ASSERT_EQ(actual.type(), CV_8U);
  EXPECT_LE(cv::countNonZero(actual != expected), static_cast<int>(expected.total()) / 500);
  double most = 0;
  cv::minMaxLoc(expected, nullptr, &most);
  EXPECT_GT(most, 0) << "one label alone would prove nothing";
}

// The scores of the classes are the softmax of these logits, one plane per class.
void expectSoftmax(const cv::Mat& scores, const std::vector<cv::Mat>& logits) {
  const cv::Size size = logits[0].size();
  std::vector<cv::Mat> planes(logits.size());
  cv::Mat sum(size, CV_32F, cv::Scalar(0));
  for (std::size_t c = 0; c < planes.size(); ++c) {
    cv::exp(logits[c], planes[c]);
    sum += planes[c];
  }
  ASSERT_EQ(scores.dims, 3);
  ASSERT_EQ(cv::Size(scores.size[2], scores.size[1]), size);
  for (std::size_t c = 0; c < planes.size(); ++c) {
    const cv::Mat found(size, CV_32F, const_cast<float*>(scores.ptr<float>(static_cast<int>(c))));
    EXPECT_LE(cv::norm(found, planes[c] / sum, cv::NORM_INF), 1e-3) << c;
  }
}

// Queries with a mask and a class each: the label with the largest sum of softmax(class) x sigmoid(mask).
TEST_F(Labels, FromMaskQueries) {
  const std::string model = kData + "/hf_eomt_ts17.onnx";  // input 32x32, masks 16x16
  for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
    EstimatorOptions options = merging(schedule);
    options.scores = true;
    Estimator segmenter(model, options);
    EXPECT_EQ(segmenter.model().head, HeadKind::kMaskQueries);
    const int count = segmenter.model().classes;
    EXPECT_EQ(count, 4);
    const cv::Mat image = test::smoothPicture(32, 32, 3);
    const Estimate result = segmenter.estimate(image);
    LoadedNet loaded = readNet(model, {.reduce = mpmBefore(schedule)});
    const cv::Mat masks = test::forwardPlain(loaded.net, image, loaded.info.outputs[0]);
    const cv::Mat classes = loaded.net.forward(loaded.info.outputs[1]).clone();
    std::vector<cv::Mat> planes;
    cv::Mat all(image.size(), CV_32F, cv::Scalar(0));
    for (int c = 0; c < count; ++c) {
      cv::Mat& sum = planes.emplace_back(masks.size[2], masks.size[3], CV_32F, cv::Scalar(0));
      for (int q = 0; q < masks.size[1]; ++q) {
        const float* const logits = classes.ptr<float>(0, q);
        double total = 0;
        for (int k = 0; k <= count; ++k) total += std::exp(static_cast<double>(logits[k]));
        for (int p = 0; p < static_cast<int>(sum.total()); ++p) {
          sum.ptr<float>()[p] += static_cast<float>(std::exp(static_cast<double>(logits[c])) / total /
                                                    (1 + std::exp(-static_cast<double>(masks.ptr<float>(0, q)[p]))));
        }
      }
      all += resized(sum, image.size());
    }
    expectSameLabels(result.labels, labelsOf(planes, image.size()));
    for (int c = 0; c < count; ++c) {
      const cv::Mat scores(image.size(), CV_32F, const_cast<float*>(result.scores.ptr<float>(c)));
      EXPECT_LE(cv::norm(scores, resized(planes[c], image.size()) / all, cv::NORM_INF), 1e-4);
    }
    EXPECT_EQ(result.tokens.size(), schedule.size() + 1);
  }
  Estimator windows(model, merging({1}, Fit::kWindow));
  EXPECT_EQ(windows.estimate(test::smoothPicture(50, 70, 4)).labels.size(), cv::Size(70, 50));
}

// A head without a name of its own whose output has a channel for each class.
TEST_F(Labels, FromAMapOfClasses) {
  const std::string model = folder_ / "m.onnx";
  fs::copy_file(kData + "/hf_dpt_seg_dynamo18.onnx", model);  // input 32x32, 3 maps of 64x64
  EXPECT_FALSE(readModelInfo(model).givesLabels());
  std::ofstream(folder_ / "m.json") << R"({"task": "semantic"})";
  // The map that the net resizes at its end: to the size of the input, then to that of the picture.
  const auto compare = [&](const Schedule& schedule, const cv::Mat& image) {
    LoadedNet loaded = readNet(model, {.reduce = mpmBefore(schedule)});
    const cv::Mat input = resized(image, {32, 32});
    const cv::Mat map = test::forwardPlain(loaded.net, input, loaded.info.outputs[0]);
    std::vector<cv::Mat> planes;
    for (int c = 0; c < 3; ++c) {
      const cv::Mat plane(map.size[2], map.size[3], CV_32F, const_cast<float*>(map.ptr<float>(0, c)));
      planes.push_back(resized(plane, input.size()));
    }
    EstimatorOptions options = merging(schedule);
    options.scores = true;
    const Estimate found = Estimator(model, options).estimate(image);
    expectSameLabels(found.labels, labelsOf(planes, image.size()));
    for (cv::Mat& plane : planes) plane = resized(plane, image.size());
    expectSoftmax(found.scores, planes);
  };
  for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
    compare(schedule, test::smoothPicture(32, 32, 7));
    compare(schedule, test::smoothPicture(50, 77, 7));
  }
  const cv::Mat image = test::smoothPicture(32, 32, 7);
  expectSameLabels(Estimator(model, merging({1}, Fit::kWindow)).estimate(image).labels,
                   Estimator(model, merging({1})).estimate(image).labels);
  EXPECT_EQ(Estimator(model, merging({1}, Fit::kWindow)).estimate(test::smoothPicture(50, 70)).labels.size(),
            cv::Size(70, 50));
}

/// A copy of kMask that ends in these operators instead of its logits. The axis of each is that of the classes.
void writeMaskEndingIn(const fs::path& to, const std::vector<std::string>& ops) {
  onnx::ModelProto model = test::modelAt(kMask);
  onnx::GraphProto& graph = *model.mutable_graph();
  for (const std::string& op : ops) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op);
    node.add_input(graph.output(0).name());
    node.add_output("scores" + std::to_string(graph.node_size()));
    graph.mutable_output(0)->set_name(node.output(0));
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(op == "Transpose" ? "perm" : "axis");
    attribute.set_type(op == "Transpose" ? onnx::AttributeProto::INTS : onnx::AttributeProto::INT);
    attribute.set_i(1);
    for (const int axis : {0, 1, 3, 2}) attribute.add_ints(axis);
    if (op == "Sigmoid" || op == "Exp") node.clear_attribute();
  }
  test::saveModel(model, to);
  std::ofstream(fs::path(to).replace_extension(".json")) << R"({"task": "semantic"})";
}

// The scores of such a graph are no logits. Two Transposes are as none.
TEST_F(Labels, OfAGraphThatEndsInProbabilities) {
  const cv::Mat image = test::smoothPicture(32, 64, 3);
  PlainNet plain(kMask, {});
  EstimatorOptions options = merging({});
  options.scores = true;
  options.refine = Refine::kGuided;
  const cv::Mat guided = Estimator(kMask, options).estimate(image).labels;
  for (const std::vector<std::string>& ops : {std::vector<std::string>{"Softmax"},
                                              {"Softmax", "Transpose", "Transpose"},
                                              {"LogSoftmax", "Exp"},
                                              {"Sigmoid"},
                                              {"LogSoftmax"}}) {
    SCOPED_TRACE(testing::PrintToString(ops));
    writeMaskEndingIn(folder_ / "m.onnx", ops);
    const bool sigmoid = ops[0] == "Sigmoid";
    std::vector<cv::Mat> expected = plain.logits(image);
    cv::Mat sum(image.size(), CV_32F, cv::Scalar(0));
    for (cv::Mat& plane : expected) {
      cv::exp(plane, plane);
      if (sigmoid) plane /= 1 + plane;
      sum += plane;
    }
    const Estimate found = Estimator(folder_ / "m.onnx", options).estimate(image);
    for (int c = 0; c < 4; ++c) {
      const cv::Mat scores(image.size(), CV_32F, const_cast<float*>(found.scores.ptr<float>(c)));
      EXPECT_LE(cv::norm(scores, expected[c] / sum, cv::NORM_INF), 1e-4);
    }
    if (!sigmoid) expectSameLabels(found.labels, guided);
  }
}

TEST_F(Labels, AreThoseOfTheProtocolAtAnySize) {
  for (const std::string& model : {kMask, kLinear}) {
    for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
      EstimatorOptions options = merging(schedule);
      Estimator segmenter(model, options);
      options.scores = true;
      Estimator scoring(model, options);
      PlainNet plain(model, schedule);
      for (const cv::Size size : {cv::Size(64, 32), cv::Size(97, 61), cv::Size(97, 50), cv::Size(1, 1)}) {
        const cv::Mat image = test::smoothPicture(size.height, size.width);
        const cv::Mat labels = segmenter.estimate(image).labels;
        std::vector<cv::Mat> logits = plain.logits(resized(image, plain.input()));
        if (size.area() == 1) {
          EXPECT_EQ(labels.size(), size);
          continue;
        }
        expectSameLabels(labels, labelsOf(logits, size));
        for (cv::Mat& plane : logits) plane = resized(plane, size);
        expectSoftmax(scoring.estimate(image).scores, logits);
      }
    }
  }
}

TEST_F(Labels, GivesTheSameTwiceAndForAnyNumberOfThreads) {
  const cv::Mat first = test::smoothPicture(48, 70, 1), second = test::smoothPicture(48, 70, 2);
  EstimatorOptions options = merging({1, 2});
  options.threads = 1;
  Estimator segmenter(kMask, options);
  const Estimate once = segmenter.estimate(first);
  const cv::Mat kept = once.labels.clone();
  segmenter.estimate(second);
  EXPECT_EQ(cv::countNonZero(once.labels != kept), 0) << "results share no memory with the next frame";
  const Estimate again = segmenter.estimate(first);
  options.threads = 4;
  const Estimate threaded = Estimator(kMask, options).estimate(first);
  for (const Estimate* other : {&again, &threaded}) {
    EXPECT_EQ(cv::countNonZero(once.labels != other->labels), 0);
    EXPECT_EQ(once.cluster_of_token, other->cluster_of_token);
  }
}

TEST_F(Labels, StagesAddUpToNoMoreThanTheTotal) {
  Estimator segmenter(kMask, merging({1, 2}));
  const StageTimes ms = segmenter.estimate(test::smoothPicture(32, 64)).ms;
  for (double stage : {ms.preprocess, ms.backbone, ms.merge, ms.head, ms.postprocess}) EXPECT_GT(stage, 0);
  EXPECT_GE(ms.restore, 0);
  EXPECT_LE(ms.preprocess + ms.backbone + ms.merge + ms.restore + ms.head + ms.postprocess, ms.total * 1.001);
}

TEST_F(Labels, TokensOfWindowsAreTheirMean) {
  const cv::Mat image = test::smoothPicture(32, 64 + 60);
  const Estimate both = Estimator(kMask, merging({1, 2}, Fit::kWindow)).estimate(image);
  Estimator one(kMask, merging({1, 2}));
  const Estimate left = one.estimate(image.colRange(0, 64).clone());
  const Estimate right = one.estimate(image.colRange(60, 124).clone());
  for (std::size_t k = 0; k < both.tokens.size(); ++k)
    EXPECT_DOUBLE_EQ(both.tokens[k], (left.tokens[k] + right.tokens[k]) / 2);
  EXPECT_EQ(both.window_tokens, (std::vector{left.tokens, right.tokens}));
  EXPECT_EQ(both.cluster_of_token, left.cluster_of_token) << "of the first window";
}

/// Windows of 32 x 64: by themselves 30 and 60 apart, the last one flush with the end, and averaged where they overlap.
TEST_F(Labels, WindowsHaveTheScaleAndTheStrideOfTheOptions) {
  struct Case {
    cv::Size image;
    int stride, short_side;
    cv::Size scaled;
    std::vector<int> rows, columns;
  };
  const std::vector<Case> cases = {
      {{190, 97}, 0, 0, {190, 97}, {0, 30, 60, 65}, {0, 60, 120, 126}},
      {{100, 50}, 16, 0, {100, 50}, {0, 16, 18}, {0, 16, 32, 36}},
      {{200, 80}, 0, 40, {100, 40}, {0, 8}, {0, 36}},
      {{50, 20}, 0, 40, {100, 40}, {0, 8}, {0, 36}},
      {{80, 200}, 0, 96, {96, 240}, {0, 30, 60, 90, 120, 150, 180, 208}, {0, 32}},
      {{200, 80}, 0, 10, {80, 32}, {0}, {0, 16}},
      // An image that is smaller than a window keeps its aspect.
      {{20, 20}, 0, 0, {64, 64}, {0, 30, 32}, {0}},
      {{63, 40}, 0, 0, {64, 41}, {0, 9}, {0}},
      {{100, 16}, 0, 0, {200, 32}, {0}, {0, 60, 120, 136}},
  };
  for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
    EstimatorOptions options = merging(schedule, Fit::kWindow);
    for (const Case& c : cases) {
      SCOPED_TRACE(::testing::Message() << c.image << " by " << c.stride << ", shorter side " << c.short_side);
      options.window_stride = c.stride;
      options.short_side = c.short_side;
      options.scores = c.scaled == c.image;
      const cv::Mat image = test::smoothPicture(c.image.height, c.image.width);
      const Estimate result = Estimator(kMask, options).estimate(image);
      const std::vector<cv::Mat> logits = plainWindowLogits(schedule, image, c.scaled, c.rows, c.columns);
      expectSameLabels(result.labels, labelsOf(logits, c.image));
      if (options.scores) expectSoftmax(result.scores, logits);
    }
  }
  EstimatorOptions options = merging({1, 2}, Fit::kWindow);
  options.window_stride = 33;
  EXPECT_MPM_ERROR(Estimator(kMask, options), "windows of 64 x 32 px (width x height) stand 1 to 32 px apart");
}

TEST_F(Labels, WindowsRefuseAnImageThatWouldBecomeTooLarge) {
  Estimator segmenter(kMask, merging({1, 2}, Fit::kWindow));
  for (const int width : {2'000'000, 70'000'000}) {  // of the second the sides do not fit into an int
    const cv::Mat image(1, width, CV_8UC3);          // never touched
    EXPECT_MPM_ERROR(segmenter.estimate(image), "more than 1073741824 px");
  }
}

TEST_F(Labels, WindowsRefuseAnImageThatIsTooNarrow) {
  Estimator segmenter(kMask, merging({1, 2}, Fit::kWindow));
  for (const cv::Size size : {cv::Size(3000, 1), cv::Size(1, 3000)}) {
    EXPECT_MPM_ERROR(segmenter.estimate(cv::Mat(size, CV_8UC3, cv::Scalar(9, 9, 9))),
                     "is so narrow that it takes more than 64 windows");
  }
}

TEST_F(Labels, RefusesWhatIsNoImage) {
  Estimator segmenter(kMask, merging({1, 2}));
  EXPECT_MPM_ERROR(segmenter.estimate(cv::Mat()), "the image is empty");
  EXPECT_MPM_ERROR(segmenter.estimate(cv::Mat::zeros(32, 64, CV_32FC3)), "8-bit BGR");
  EXPECT_MPM_ERROR(segmenter.estimate(cv::Mat::zeros(32, 64, CV_8U)), "8-bit BGR");
  EXPECT_MPM_ERROR(segmenter.estimate(cv::Mat(std::vector<int>{2, 32, 64}, CV_8UC3, cv::Scalar(0))), "8-bit BGR");
}

TEST_F(Labels, RefusesMoreClassesThanALabelMapHolds) {
  test::writeLinearSegmenterWithClasses(kLinear, folder_ / "256.onnx", 256);
  test::writeLinearSegmenterWithClasses(kLinear, folder_ / "257.onnx", 257);
  EXPECT_EQ(Estimator(folder_ / "256.onnx", merging({1})).estimate(test::smoothPicture(32, 64)).labels.type(), CV_8U);
  EXPECT_MPM_ERROR(Estimator(folder_ / "257.onnx", merging({1})),
                   "257.onnx' has 257 classes, but label maps have 8 bits: at most 256");
}

// Metadata and shapes agree, and the net gives something else.
TEST_F(Labels, BelievesNoShapeThatTheNetDoesNotHave) {
  const std::string path = folder_ / "lie.onnx";
  onnx::ModelProto model = test::convertedModel(kMask, {.reduce = mpmBefore({1, 2})});
  const onnx::ModelProto truth = model;
  std::string& info = test::metadataOf(model, "mpm.info");
  info.replace(info.find("\"class_count\":4"), 15, "\"class_count\":250");
  test::saveModel(model, path);
  EXPECT_MPM_ERROR(Estimator{path}, "says class_count 250, the graph has 4");

  model = truth;
  test::nodeOf(model, "MergeReport").set_output(0, "clusters");
  onnx::NodeProto& negative = *model.mutable_graph()->add_node();
  negative.set_op_type("Neg");
  negative.set_name("negative");
  negative.add_input("clusters");
  negative.add_output("merge_map");
  test::saveModel(model, path);
  EXPECT_MPM_ERROR(Estimator(path).estimate(test::smoothPicture(32, 64)), "'merge_map' holds");
}

TEST_F(Labels, NamesNanInTheNet) {
  test::writeModelThatOverflows(kMask, folder_ / "overflows.onnx");
  Estimator full(folder_ / "overflows.onnx", merging({}));
  EXPECT_MPM_ERROR(full.estimate(test::smoothPicture(32, 64)), "scores hold NaN or infinity");
  Estimator merged(folder_ / "overflows.onnx", merging({1, 2}));
  EXPECT_MPM_ERROR(merged.estimate(test::smoothPicture(32, 64)), "merge/before_block1");
  test::writeModelThatOverflows(std::string(MPM_TEST_DATA_DIR) + "/timm_vit_ts17.onnx", folder_ / "scores.onnx");
  Estimator of_no_labels(folder_ / "scores.onnx", merging({}));
  EXPECT_MPM_ERROR(of_no_labels.estimate(test::smoothPicture(32, 64)), "hold NaN or infinity");
  test::writeModelWithNan(kMask, folder_ / "nan.onnx");
  EXPECT_MPM_ERROR(Estimator(folder_ / "nan.onnx", merging({})), "NaN");
}

}  // namespace
}  // namespace mpm
