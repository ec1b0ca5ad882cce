// SPDX-License-Identifier: Apache-2.0
#include "mpm/head_trainer.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>

#include "base/atomic_file.h"
#include "base/json_file.h"
#include "base/training.h"
#include "mpm/convert.hpp"
#include "mpm/estimator.hpp"
#include "mpm/read_net.hpp"
#include "support/in_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kModel = std::string(MPM_TEST_DATA_DIR) + "/timm_vit_ts17.onnx";
const std::vector<ClassInfo> kClasses = {{"left", {{200, 0, 0}}}, {"right"}, {"never"}};

// Dark on the left, bright on the right, with noise of its own.
cv::Mat picture(int seed) {
  cv::Mat image(96, 96, CV_8UC3);
  cv::RNG(static_cast<std::uint64_t>(seed)).fill(image, cv::RNG::UNIFORM, 0, 60);
  image.colRange(48, 96) += cv::Scalar(150, 170, 190);
  return image;
}

cv::Mat halves() {
  cv::Mat labels(96, 96, CV_8U, cv::Scalar(0));
  labels.colRange(48, 96).setTo(1);
  return labels;
}

bool same(const TokenHead& a, const TokenHead& b) {
  return a.norm_weight == b.norm_weight && a.norm_bias == b.norm_bias && a.hidden_weight == b.hidden_weight &&
         a.hidden_bias == b.hidden_bias && a.score_weight == b.score_weight && a.score_bias == b.score_bias;
}

class HeadTrainerTest : public test::InFolder {
 protected:
  void SetUp() override {
    trainer_.setClasses(kClasses);
    for (int i = 0; i < 3; ++i) pictures_.push_back(trainer_.label(trainer_.tokens(picture(i)), halves()));
    for (const LabelledTokens& one : pictures_) all_.push_back(&one);
  }

  HeadTrainer trainer_{kModel};
  std::vector<LabelledTokens> pictures_;
  std::vector<const LabelledTokens*> all_;
};

TEST_F(HeadTrainerTest, TellsPicturesApartThatItHasNotSeen) {
  int steps = 0;
  const TokenHead head = trainer_.train(all_, {.steps = 60, .step = [&] { return ++steps > 0; }});
  EXPECT_EQ(steps, 60);
  const cv::Mat found = trainer_.predict(head, trainer_.tokens(picture(9)));
  EXPECT_EQ(found.size(), cv::Size(trainer_.model().input.width, trainer_.model().input.height));
  const int half = found.cols / 2;
  EXPECT_GT(cv::countNonZero(found.colRange(0, half) == 0), found.rows * half * 9 / 10);
  EXPECT_GT(cv::countNonZero(found.colRange(half, found.cols) == 1), found.rows * half * 9 / 10);
}

TEST_F(HeadTrainerTest, IsTheSameForAnyNumberOfThreads) {
  const int before = cv::getNumThreads();
  cv::setNumThreads(1);
  const TokenHead alone = trainer_.train(all_, {.steps = 5});
  cv::setNumThreads(3);
  EXPECT_TRUE(same(alone, trainer_.train(all_, {.steps = 5})));
  EXPECT_FALSE(same(alone, trainer_.train(all_, {.steps = 5, .seed = 2})));
  cv::setNumThreads(before);
}

TEST_F(HeadTrainerTest, GoesOnFromAHeadAndStopsWhenAsked) {
  int steps = 0;
  const TokenHead first = trainer_.train(all_, {.steps = 50, .step = [&] { return ++steps < 3; }});
  EXPECT_EQ(steps, 3);
  const TokenHead next = trainer_.train(all_, {.steps = 1, .learning_rate = 1e-9, .weight_decay = 0, .start = &first});
  for (std::size_t i = 0; i < first.hidden_weight.size(); ++i)
    EXPECT_NEAR(next.hidden_weight[i], first.hidden_weight[i], 1e-6);
}

TEST_F(HeadTrainerTest, WritesAModelThatPredictsTheSame) {
  const TokenHead head = trainer_.train(all_, {.steps = 40});
  const std::string path = folder_ / "new.onnx";
  trainer_.write(path, head, R"({"pictures": 3})");
  const ModelInfo info = readModelInfo(path);
  EXPECT_EQ(info.facts.name, "new");
  ASSERT_EQ(info.facts.classes.size(), 3U);
  EXPECT_EQ(info.facts.classes[1].name, "right");
  EXPECT_EQ(info.facts.refine, Refine::kGuided);
  EXPECT_EQ(info.reduction, kFullModel);
  EXPECT_EQ(readJsonFile(folder_ / "new.json").at("taught").at("pictures").integer(0, 9), 3);
  cv::Mat image = picture(5);
  cv::resize(image, image, {info.input.width, info.input.height});
  Estimator estimator(path, {.refine = Refine::kNone});
  const cv::Mat found = estimator.estimate(image).labels, expected = trainer_.predict(head, trainer_.tokens(image));
  EXPECT_LE(cv::countNonZero(found != expected), static_cast<int>(found.total()) / 500);
}

TEST_F(HeadTrainerTest, MarginsAreSmallWhereClassesMeet) {
  const TokenHead head = trainer_.train(all_, {.steps = 60});
  const cv::Mat margins = trainer_.margins(head, pictures_[0].tokens);
  EXPECT_EQ(margins.size(), cv::Size(trainer_.model().grid.width, trainer_.model().grid.height));
  double least = 0, most = 0;
  cv::minMaxLoc(margins, &least, &most);
  EXPECT_GE(least, 0);
  EXPECT_LE(most, 1);
  EXPECT_GT(most, 0.9);
}

TEST_F(HeadTrainerTest, AThinStrokeIsTheClassOfItsCells) {
  cv::Mat labels(96, 96, CV_8U, cv::Scalar(255));
  labels.row(40).setTo(1);
  const LabelledTokens one = trainer_.label(pictures_[0].tokens, labels);
  EXPECT_EQ(one.pixels, (std::vector<double>{0, 96, 0}));
  EXPECT_EQ(cv::countNonZero(one.cells == 1), one.cells.cols);
  EXPECT_EQ(cv::countNonZero(one.cells == LabelledTokens::kNoClass), (one.cells.rows - 1) * one.cells.cols);
}

// By the places of centres, in label maps with fewer and with more pixels than cells, and other ones in each direction.
TEST_F(HeadTrainerTest, CellsLieOverTheirPixels) {
  const int height = pictures_[0].cells.rows, width = pictures_[0].cells.cols;
  cv::RNG random(5);
  for (const cv::Size size : {cv::Size(1, 1),
                              {2, 1},
                              {3, 7},
                              {width, height},
                              {width - 1, 3 * height},
                              {5 * width + 3, 2},
                              {2 * width + 1, height + 1}}) {
    cv::Mat labels(size, CV_8U);
    random.fill(labels, cv::RNG::UNIFORM, 0, 3);
    labels.setTo(255, labels == 2);
    const cv::Mat cells = trainer_.label({}, labels).cells;
    const auto pixelsOf = [](int cell, int of, int pixels) {
      const double scale = static_cast<double>(pixels) / of, from = cell * scale - 0.5, to = from + scale;
      std::vector<int> inside, around;  // centres of pixels are whole numbers
      for (int i = 0; i < pixels; ++i) {
        if (i > from - 1e-9 && i < to - 1e-9) inside.push_back(i);
        if (std::abs(i - (from + to) / 2) <= 0.5) around.push_back(i);
      }
      return inside.empty() ? around : inside;
    };
    for (int row = 0; row < height; ++row) {
      for (int column = 0; column < width; ++column) {
        int counts[3] = {0, 0, 0};
        for (const int y : pixelsOf(row, height, size.height))
          for (const int x : pixelsOf(column, width, size.width)) ++counts[std::min<int>(labels.at<uchar>(y, x), 2)];
        const int expected = counts[0] + counts[1] == 0 ? LabelledTokens::kNoClass : counts[1] > counts[0];
        ASSERT_EQ(cells.at<uchar>(row, column), expected) << size << " row " << row << " column " << column;
      }
    }
  }
}

TEST_F(HeadTrainerTest, RefusesWhatMakesNoSense) {
  EXPECT_MPM_ERROR(HeadTrainer(folder_ / "none.onnx"), "none.onnx");
  EXPECT_MPM_ERROR(trainer_.setClasses({{"one"}}), "fewer than two classes");
  EXPECT_MPM_ERROR(trainer_.setClasses(std::vector<ClassInfo>(256)), "256 classes: a head has at most 255");
  for (const char* nothing : {"", " "})
    EXPECT_MPM_ERROR(trainer_.setClasses({{"one"}, {nothing}, {"three"}}), "a class has no name");
  EXPECT_MPM_ERROR(trainer_.setClasses({{"one"}, {"two"}, {"one"}}), "two classes have the name 'one'");
  for (const cv::Mat& image : {cv::Mat(), cv::Mat(0, 9, CV_8UC3), cv::Mat(9, 9, CV_8UC1, cv::Scalar(0))})
    EXPECT_MPM_ERROR(trainer_.tokens(image), "an image to encode must be CV_8UC3 and not empty");
  const cv::Mat tokens = pictures_[0].tokens;
  EXPECT_MPM_ERROR(trainer_.label(tokens, cv::Mat(9, 9, CV_8U, cv::Scalar(3))), "label 3");
  for (const cv::Mat& labels : {cv::Mat(), cv::Mat(9, 9, CV_16U, cv::Scalar(0))})
    EXPECT_MPM_ERROR(trainer_.label(tokens, labels), "CV_8U and not empty");
  EXPECT_MPM_ERROR(trainer_.train({}), "no pixel is labelled");
  const LabelledTokens none = trainer_.label(tokens, cv::Mat(9, 9, CV_8U, cv::Scalar(255)));
  EXPECT_MPM_ERROR(trainer_.train({&none}), "no pixel is labelled");
  for (const HeadTrainingOptions& options : {HeadTrainingOptions{.hidden = 0}, {.steps = 0}, {.batch = 0}})
    EXPECT_MPM_ERROR(trainer_.train(all_, options), "must be at least 1");
  for (const HeadTrainingOptions& options : {HeadTrainingOptions{.learning_rate = 0}, {.weight_decay = -1}})
    EXPECT_MPM_ERROR(trainer_.train(all_, options), "must be positive, and its weight decay not negative");
  const TokenHead right = trainer_.train(all_, {.hidden = 4, .steps = 1});
  for (int TokenHead::*const part : {&TokenHead::dim, &TokenHead::classes}) {
    TokenHead other = right;
    ++(other.*part);
    EXPECT_MPM_ERROR(trainer_.train(all_, {.steps = 1, .start = &other}), "expected ");
  }
  EXPECT_MPM_ERROR(trainer_.write("x.pb", {}), "end in .onnx");
  cv::Mat doubles;
  tokens.convertTo(doubles, CV_64F);
  for (const cv::Mat& other : {doubles, tokens.rowRange(1, tokens.rows), tokens.colRange(1, tokens.cols).clone()})
    EXPECT_MPM_ERROR(trainer_.predict(right, other), "not those of a picture");
}

TEST_F(HeadTrainerTest, ATrainingThatDivergesIsAnError) {
  for (const double rate : {5.0, 50.0, 1e6, 1e30})
    EXPECT_MPM_ERROR(trainer_.train(all_, {.steps = 30, .learning_rate = rate}), "training diverged") << rate;
  for (const HeadTrainingOptions& options :
       {HeadTrainingOptions{.learning_rate = std::numeric_limits<double>::infinity()},
        {.weight_decay = std::numeric_limits<double>::quiet_NaN()}})
    EXPECT_MPM_ERROR(trainer_.train(all_, options), "must be positive");
  EXPECT_MPM_ERROR(trainer_.train(all_, {.hidden = 1 << 30}), "at most 65536, got 1073741824");
  // Labels that contradict each other teach nothing, but that is no divergence. Nor are the first steps alone.
  cv::Mat opposite = halves();
  opposite = 1 - opposite;
  const LabelledTokens other = trainer_.label(pictures_[0].tokens, opposite);
  trainer_.train({&pictures_[0], &other}, {.steps = 60});
  for (const int steps : {1, 2, 5}) trainer_.train(all_, {.steps = steps});
}

TEST_F(HeadTrainerTest, RefusesPicturesThatLabelDidNotMake) {
  const auto expect = [&](LabelledTokens one, const std::string& why) {
    EXPECT_MPM_ERROR(trainer_.train({&one}), why);
  };
  const LabelledTokens& right = pictures_[0];
  cv::Mat broken = right.tokens.clone();
  broken.at<float>(3, 5) = std::numeric_limits<float>::quiet_NaN();
  expect({broken, right.cells, right.pixels}, "a value that is not a number");
  EXPECT_MPM_ERROR(trainer_.label(broken, halves()), "a value that is not a number");
  expect({right.tokens.rowRange(1, right.tokens.rows), right.cells, right.pixels}, "not those of a picture");
  EXPECT_MPM_ERROR(trainer_.label(right.tokens.colRange(1, 9), halves()), "not those of a picture");
  expect(trainer_.label({}, halves()), "not those of a picture");  // the labels alone, to count them
  cv::Mat cells = right.cells.clone();
  cells.at<uchar>(1, 2) = 3;
  expect({right.tokens, cells, right.pixels}, "a cell of class 3, but there are 3 classes");
  expect({right.tokens, right.cells.rowRange(1, right.cells.rows), right.pixels}, "the cells of a picture");
  expect({right.tokens, {}, right.pixels}, "the cells of a picture");
  expect({right.tokens, right.cells, {1, 2}}, "labelled with 2 classes, but now there are 3");
  EXPECT_MPM_ERROR(trainer_.train({&right, nullptr}), "a null pointer");
  trainer_.setClasses({{"one"}, {"two"}});
  EXPECT_MPM_ERROR(trainer_.train(all_), "labelled with 3 classes, but now there are 2");
  EXPECT_MPM_ERROR(trainer_.setClasses(kClasses, 256), "label 256 to ignore");
}

// A part of a larger matrix is as good as a matrix.
TEST_F(HeadTrainerTest, TrainsOnPartsOfMatrices) {
  const auto within = [](const cv::Mat& part) {
    cv::Mat all(part.rows, part.cols + 3, part.type(), cv::Scalar(0));
    part.copyTo(all.colRange(0, part.cols));
    return all.colRange(0, part.cols);
  };
  const LabelledTokens part{within(pictures_[0].tokens), within(pictures_[0].cells), pictures_[0].pixels};
  EXPECT_TRUE(same(trainer_.train({&part}, {.steps = 5}), trainer_.train({&pictures_[0]}, {.steps = 5})));
}

TEST_F(HeadTrainerTest, RefusesHeadsWithOtherWeightsThanTheirSizesSay) {
  const TokenHead right = trainer_.train(all_, {.hidden = 4, .steps = 1});
  const std::string path = folder_ / "new.onnx";
  const auto expect = [&](const TokenHead& head, const std::string& why) {
    EXPECT_MPM_ERROR(trainer_.train(all_, {.steps = 1, .start = &head}), why);
    EXPECT_MPM_ERROR(trainer_.predict(head, pictures_[0].tokens), why);
    EXPECT_MPM_ERROR(trainer_.margins(head, pictures_[0].tokens), why);
    EXPECT_MPM_ERROR(trainer_.write(path, head), why);
  };
  TokenHead wide = right;
  wide.hidden = 900;
  expect(wide, "one of its parts has");
  for (std::vector<float> TokenHead::*const part :
       {&TokenHead::norm_weight, &TokenHead::norm_bias, &TokenHead::hidden_weight, &TokenHead::hidden_bias,
        &TokenHead::score_weight, &TokenHead::score_bias}) {
    TokenHead less = right;
    (less.*part).pop_back();
    expect(less, "one of its parts has");
    TokenHead nan = right;
    (nan.*part).back() = std::numeric_limits<float>::quiet_NaN();
    expect(nan, "a weight that is not a number");
  }
  expect({}, "the head has 0 features");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(HeadTrainerTest, OneThatWasMovedFromSaysSo) {
  HeadTrainer other = std::move(trainer_);
  constexpr const char* kMoved = "this HeadTrainer was moved from";
  EXPECT_MPM_ERROR(trainer_.model(), kMoved);
  EXPECT_MPM_ERROR(trainer_.setClasses(kClasses), kMoved);
  EXPECT_MPM_ERROR(trainer_.tokens(picture(1)), kMoved);
  EXPECT_MPM_ERROR(trainer_.label(pictures_[0].tokens, halves()), kMoved);
  EXPECT_MPM_ERROR(trainer_.train(all_), kMoved);
  EXPECT_MPM_ERROR(trainer_.predict({}, pictures_[0].tokens), kMoved);
  EXPECT_MPM_ERROR(trainer_.margins({}, pictures_[0].tokens), kMoved);
  EXPECT_MPM_ERROR(trainer_.write(folder_ / "new.onnx", {}), kMoved);
  trainer_ = std::move(other);
  EXPECT_EQ(trainer_.train(all_, {.steps = 1}).classes, 3);
}

TEST_F(HeadTrainerTest, WritesNothingThatCouldNotBeReadAgain) {
  const TokenHead head = trainer_.train(all_, {.hidden = 4, .steps = 1});
  const std::string path = folder_ / "new.onnx";
  const auto expect = [&](const std::string& taught, const std::string& why) {
    EXPECT_MPM_ERROR(trainer_.write(path, head, taught), why);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "new.json"));
  };
  expect("{\"pictures\":", "what was taught");
  trainer_.setClasses({{"one"}, {"\xff\xfe"}, {"three"}});
  expect("", "no UTF-8 text");
  trainer_.setClasses({{"one"}, {"two"}});
  expect("", "the head has");
  trainer_.setClasses(kClasses);
  trainer_.write(path, head);
  EXPECT_EQ(readModelInfo(path).classes, 3);
}

TEST_F(HeadTrainerTest, DoesNotReplaceAJsonOfSomethingElse) {
  const TokenHead head = trainer_.train(all_, {.hidden = 4, .steps = 1});
  const std::string path = folder_ / "yard.onnx", json = folder_ / "yard.json";
  std::ofstream(json) << R"({"regions": []})";
  EXPECT_MPM_ERROR(trainer_.requireOutput(path), "'" + json + "', which is there and of no model");
  EXPECT_MPM_ERROR(trainer_.write(path, head), "'" + json + "', which is there and of no model");
  EXPECT_EQ(readFile(json), R"({"regions": []})");
  std::ofstream(json) << R"({"onnx_id": "of a model whose writing was stopped"})";
  trainer_.write(path, head);
  trainer_.write(path, head);  // it replaces its own
}

TEST_F(HeadTrainerTest, RefusesBeforeTheTrainingWhatItCannotWriteAfterIt) {
  const TokenHead head = trainer_.train(all_, {.hidden = 4, .steps = 1});
  std::filesystem::create_directory(std::string(folder_ / "folder.onnx"));
  for (const char* name : {"none/new.onnx", "folder.onnx"}) {
    EXPECT_MPM_ERROR(trainer_.write(folder_ / name, head), "cannot write") << name;
    EXPECT_MPM_ERROR(trainer_.requireOutput(folder_ / name), "cannot write") << name;
  }
  trainer_.requireOutput(folder_ / "new.onnx");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(std::string(folder_ / "")), {}), 1) << "it left a file";
}

TEST_F(HeadTrainerTest, DoesNotReplaceTheModelThatItIsMadeFrom) {
  const std::string own = folder_ / "own.onnx";
  std::filesystem::copy_file(kModel, own);
  HeadTrainer trainer(own);
  trainer.setClasses(kClasses);
  const TokenHead head = trainer.train(all_, {.hidden = 4, .steps = 1});
  EXPECT_MPM_ERROR(trainer.write(own, head), "which it is made from");
  std::filesystem::create_symlink(own, std::string(folder_ / "link.onnx"));
  EXPECT_MPM_ERROR(trainer.write(folder_ / "link.onnx", head), "which it is made from");
  EXPECT_EQ(std::filesystem::file_size(own), std::filesystem::file_size(kModel));
}

// The algorithm as its paper writes it down, element by element.
TEST(AdamW, StepsAreThoseOfDoubleLoops) {
  std::vector<float> weights = {1, -2, 0.5f, 3};
  std::vector<double> expected(weights.begin(), weights.end()), mean(4), square(4);
  AdamW adam({true, false, true, false}, 0.05);
  for (int step = 1; step <= 30; ++step) {
    std::vector<float> gradient(4);
    for (int i = 0; i < 4; ++i) {
      gradient[i] = static_cast<float>((step * 7 + i * 3) % 11 - 4) * 0.1f;
      mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
      square[i] = 0.98 * square[i] + 0.02 * gradient[i] * gradient[i];
      if (i % 2 == 0) expected[i] -= 5e-3 * 0.05 * expected[i];
      expected[i] -=
          5e-3 * (mean[i] / (1 - std::pow(0.9, step))) / (std::sqrt(square[i] / (1 - std::pow(0.98, step))) + 1e-8);
    }
    adam.step(weights.data(), gradient.data(), 5e-3);
  }
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(weights[i], expected[i], 2e-6) << i;
}

}  // namespace
}  // namespace mpm
