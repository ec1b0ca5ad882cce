// SPDX-License-Identifier: Apache-2.0
// Confusion matrices, and the intervals of means over blocks of images.
#include <cmath>
#include <tuple>

#include "evaluation/confusion_matrix.h"
#include "evaluation/measurement.h"
#include "evaluation/statistics.h"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

cv::Mat labels(std::vector<unsigned char> values) { return cv::Mat(values, true).reshape(1, 1); }

TEST(ConfusionMatrix, CountsPairsAndLeavesOutTheIgnored) {
  ConfusionMatrix matrix(3, 11);
  matrix.add(labels({0, 0, 1, 1, 11, 11}), labels({0, 1, 1, 1, 0, 2}));
  EXPECT_EQ(matrix.count(0, 0), 1);
  EXPECT_EQ(matrix.count(0, 1), 1);
  EXPECT_EQ(matrix.count(1, 1), 2);
  EXPECT_EQ(matrix.count(2, 2), 0);
  EXPECT_DOUBLE_EQ(matrix.pixelAccuracy(), 3.0 / 4);
  const auto iou = matrix.iou();
  EXPECT_DOUBLE_EQ(iou[0], 1.0 / 2);
  EXPECT_DOUBLE_EQ(iou[1], 2.0 / 3);
  EXPECT_TRUE(std::isnan(iou[2]));
  EXPECT_DOUBLE_EQ(matrix.meanIou(), (1.0 / 2 + 2.0 / 3) / 2);
}

// As lines of --resume are, once the folder has another picture.
TEST(VariantResult, ComparesImagesOfOneNameWhateverTheirOrder) {
  VariantResult day(2), night(2);
  const auto add = [](VariantResult& to, const std::string& name, double rows) {
    to.add({.image = "street/" + name, .tokens = {100, rows}});
  };
  for (const auto& [name, rows] : {std::pair("a", 40.0), {"c", 60.0}, {"b", 50.0}}) add(day, name, rows);
  for (const auto& [name, rows] : {std::pair("a", 50.0), {"b", 60.0}, {"c", 70.0}}) add(night, name, rows);
  const Json more = night.minus(day);
  EXPECT_EQ(more["images"], 3);
  EXPECT_EQ(more["tokens"][1], (Json{{"mean", 10}, {"low", 10}, {"high", 10}}));
}

TEST(VariantResult, HasNoShareOfWhatIsMergedWhereNothingIsMergedByDay) {
  VariantResult day(2), night(2);
  day.add({.image = "a", .tokens = {100, 100}});
  night.add({.image = "a", .tokens = {100, 90}});
  EXPECT_EQ(night.minus(day)["tokens"][1]["mean"], -10);
  EXPECT_EQ(night.minus(day)["merged_percent"]["mean"], nullptr);
}

TEST(ClassVerdicts, GradeByIouAndNameTheClassesThatAreTakenForAnother) {
  using Grade = ClassVerdict::Grade;
  ConfusionMatrix limits(3, -1), often(4, -1);
  limits.add(PairCounts{{0, 0, 7}, {0, 2, 3}, {1, 1, 5}, {1, 2, 5}, {2, 2, 4}});
  std::vector<Grade> grades;
  for (const ClassVerdict& one : classVerdicts(limits, {2, 2, 2})) grades.push_back(one.grade);
  EXPECT_EQ(grades, (std::vector{Grade::kGood, Grade::kFair, Grade::kWeak})) << "IoU 0.7, 0.5 and 0.33";
  often.add(PairCounts{{0, 0, 80}, {0, 1, 6}, {0, 2, 5}, {0, 3, 9}, {1, 0, 5}, {1, 1, 95}, {2, 0, 4}, {2, 2, 96}});
  const auto verdicts = classVerdicts(often, {2, 2, 1, 2});
  using Taken = std::vector<std::pair<int, double>>;
  EXPECT_EQ(verdicts[0].taken_for, (Taken{{3, 0.09}, {1, 0.06}})) << "the two most often";
  EXPECT_EQ(verdicts[1].taken_for, (Taken{{0, 0.05}}));
  EXPECT_EQ(verdicts[2].taken_for, Taken()) << "seldom";
  EXPECT_EQ(verdicts[2].grade, Grade::kUntested) << "labelled in one picture";
  EXPECT_EQ(verdicts[3].grade, Grade::kUntested) << "no pixel was tested";
}

TEST(ConfusionMatrix, IsTheSumOfItsPairs) {
  ConfusionMatrix matrix(3, 255), copy(3, 255);
  matrix.add(labels({0, 0, 1}), labels({0, 2, 1}));
  EXPECT_EQ(matrix.pairs(), (PairCounts{{0, 0, 1}, {0, 2, 1}, {1, 1, 1}}));
  copy.add(matrix.pairs());
  EXPECT_EQ(copy.pairs(), matrix.pairs());
  EXPECT_DOUBLE_EQ(copy.meanIou(), (1.0 / 2 + 1.0) / 2) << "class 2: predicted, never true";
  EXPECT_MPM_ERROR(copy.add(PairCounts{{0, 3, 1}}), "of 3");
}

// As mmsegmentation's IoUMetric: intersections and unions are summed over the images, and ignored pixels are left out
// of both. A class that is predicted but never true has an IoU of 0 there, which would count in the mean of one
// prediction and not in that of another.
TEST(ConfusionMatrix, MeansOverClassesWithTruePixels) {
  ConfusionMatrix matrix(4, 255);
  matrix.add(labels({0, 0, 0, 1, 255}), labels({0, 0, 1, 1, 2}));
  matrix.add(labels({1, 1, 255, 0}), labels({1, 0, 3, 0}));
  // Class 0: 3 of 5. Class 1: 2 of 4. Classes 2 and 3 are predicted only where the truth is ignored.
  EXPECT_DOUBLE_EQ(matrix.iou()[0], 3.0 / 5);
  EXPECT_DOUBLE_EQ(matrix.iou()[1], 2.0 / 4);
  EXPECT_TRUE(std::isnan(matrix.iou()[2]));
  EXPECT_DOUBLE_EQ(matrix.meanIou(), (3.0 / 5 + 2.0 / 4) / 2);
  EXPECT_DOUBLE_EQ(matrix.pixelAccuracy(), 5.0 / 7);
  matrix.add(labels({1}), labels({2}));
  EXPECT_DOUBLE_EQ(matrix.iou()[2], 0) << "class 2 is predicted and never true";
  EXPECT_DOUBLE_EQ(matrix.meanIou(), (3.0 / 5 + 2.0 / 5) / 2);
  EXPECT_TRUE(std::isnan(ConfusionMatrix(2, 255).meanIou()));
}

// A grid of one row, 60 tokens, of which 59 are one cluster; the last one is void.
TEST(Measurement, CountsThePairsOfAClusterWhereTheGridIsTheImage) {
  cv::Mat labels(1, 60, CV_8U, cv::Scalar(0));
  labels.colRange(30, 60).setTo(1);
  labels.at<uchar>(59) = 255;
  Estimate result;
  result.grid = {1, 60};
  result.cluster_of_token.emplace_back(60)[58] = 1;
  result.labels = cv::Mat(1, 60, CV_8U, cv::Scalar(0));
  const auto lineOf = [&](const char* fit) {
    return measurementOf({{"classes", {"a", "b"}}, {"fit", fit}}, result, nullptr, Truth(labels, 255), false, nullptr)
        .line;
  };
  const Json line = lineOf("resize");
  EXPECT_EQ(line["pairs_with_class"], 58 * 57 / 2);
  EXPECT_EQ(line["pairs_of_one_class"], 30 * 29 / 2 + 28 * 27 / 2);
  EXPECT_EQ(line["pairs_at_distance"][1], 57) << "two neighbours of 58 are parted";
  EXPECT_EQ(line["confusion_near"], Json({{0, 0, 8}, {1, 0, 8}})) << "void is no boundary";
  EXPECT_FALSE(lineOf("window").contains("pairs_with_class")) << "its tokens are those of the first window";
}

TEST(ConfusionMatrix, ReadsRowsOfAnyStride) {
  cv::Mat wide(4, 10, CV_8U, cv::Scalar(1));
  wide.colRange(2, 5).setTo(0);
  ConfusionMatrix matrix(2, 255);
  matrix.add(wide.colRange(2, 5), cv::Mat(4, 3, CV_8U, cv::Scalar(0)));
  EXPECT_EQ(matrix.count(0, 0), 12);
  EXPECT_EQ(matrix.count(1, 0), 0);
}

TEST(ConfusionMatrix, RefusesWhatItCannotCount) {
  ConfusionMatrix matrix(2, 255);
  EXPECT_MPM_ERROR(matrix.add(cv::Mat::zeros(2, 3, CV_8U), cv::Mat::zeros(4, 5, CV_8U)),
                   "is 3 x 2 px (width x height), the image 5 x 4 px");
  for (const auto& types : {std::pair(CV_8UC3, CV_8U), std::pair(CV_8U, CV_16U)}) {
    EXPECT_MPM_ERROR(matrix.add(cv::Mat::zeros(2, 2, types.first), cv::Mat::zeros(2, 2, types.second)),
                     "one channel of 8 bits");
  }
  EXPECT_MPM_ERROR(matrix.add(labels({0, 7}), labels({0, 0})), "holds 7, which is neither one of the 2 classes");
  EXPECT_MPM_ERROR(matrix.add(labels({0, 0}), labels({0, 9})), "prediction holds a label beyond the 2 classes");
  EXPECT_EQ(matrix.count(0, 0), 0) << "nothing of a refused image is counted";
  for (const int classes : {-1, 0, 257}) EXPECT_MPM_ERROR(ConfusionMatrix(classes, 255), "1 to 256 classes");
  const std::int64_t most = std::int64_t{1} << 46;
  for (const cv::Vec3i& one : {cv::Vec3i(-1, 0, 1), {0, -1, 1}, {2, 0, 1}, {0, 2, 1}, {0, 0, -1}})
    EXPECT_MPM_ERROR(matrix.add(one[0], one[1], one[2]), "there is no count of");
  matrix.add(1, 0, most - 1);
  EXPECT_MPM_ERROR(matrix.add(1, 0, 2), "more pixels of a class than can be counted");
  EXPECT_NO_THROW(matrix.add(1, 0, 1));
  EXPECT_EQ(matrix.count(1, 0), most);
  Scores scores(2);
  scores.add({.tokens = {32, 16}});
  EXPECT_MPM_ERROR(scores.add({.tokens = {32}}), "the tokens are of 1 steps, those before of 2");
}

TEST(BlockMean, StudentQuantilesOfTheTables) {
  const std::pair<double, double> table[] = {{1, 12.706}, {2, 4.303},  {3, 3.182},   {5, 2.571},
                                             {10, 2.228}, {30, 2.042}, {120, 1.980}, {100000, 1.960}};
  for (const auto& [degrees, quantile] : table) EXPECT_NEAR(studentQuantile(degrees), quantile, 6e-4) << degrees;
  EXPECT_NEAR(studentQuantile(0.5), 12.706, 6e-4) << "fewer than 1 count as 1";
}

TEST(BlockMean, WelchsIntervalOfADifference) {
  const MeanEstimate a{.mean = 10, .variance = 4, .blocks = 5}, b{.mean = 12, .variance = 1, .blocks = 11};
  const double degrees = 25 / (16 / 4. + 1 / 10.);  // 6.0976
  EXPECT_NEAR(halfInterval(a, b), 2.43745 * std::sqrt(5), 1e-4) << degrees;
  EXPECT_EQ(halfInterval({.mean = 1, .variance = 0, .blocks = 2}, {.mean = 1, .variance = 0, .blocks = 2}), 0);
}

// Lines come in the order of shards; stretches are of images that follow each other in their film.
TEST(VariantResult, BlocksDoNotDependOnTheOrderOfLines) {
  std::vector<Measurement> lines;
  for (int i = 0; i < 20; ++i)
    lines.push_back({.image = std::to_string(i), .film = i < 15 ? "a" : "b", .index = i, .tokens = {100, 50.0 + i}});
  const auto resultOf = [&](int step) {
    VariantResult night(2), day(2);
    for (int i = 0; i < 20; ++i) {
      night.add(lines[i * step % 20]);
      day.add({.image = std::to_string(i), .tokens = {100, 40}});
    }
    return night.minus(day);
  };
  EXPECT_EQ(resultOf(7), resultOf(1));
  EXPECT_EQ(resultOf(1)["blocks"], 11) << "eight of the first film, three of the second";
}

}  // namespace
}  // namespace mpm::evaluation
