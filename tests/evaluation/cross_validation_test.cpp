// SPDX-License-Identifier: Apache-2.0
#include "evaluation/confusion_matrix.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "evaluation/teaching.h"
#include "mpm/convert.hpp"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::Pointwise;

ConfusionMatrix matrixOf(const std::vector<std::vector<int>>& rows) {
  ConfusionMatrix matrix(static_cast<int>(rows.size()), -1);
  for (std::size_t truth = 0; truth < rows.size(); ++truth) {
    for (std::size_t given = 0; given < rows.size(); ++given)
      matrix.add(static_cast<int>(truth), static_cast<int>(given), rows[truth][given]);
  }
  return matrix;
}

const std::string kPlain = std::string(MPM_TEST_DATA_DIR) + "/timm_vit_ts17.onnx";

TeachJob jobOfTwoPictures(const std::string& output) {
  TeachJob job{.model = kPlain, .classes = {{{"low"}, {"high"}}}, .output = output, .pictures = 2};
  job.picture = [](std::size_t i) {
    vision::LabelledPicture picture{cv::Mat(40, 60, CV_8UC3, cv::Scalar(10, 90, 200)),
                                    cv::Mat(40, 60, CV_8U, cv::Scalar(0))};
    picture.labels.rowRange(0, 10 + 10 * static_cast<int>(i)).setTo(1);
    return picture;
  };
  job.steps = 3;
  return job;
}

// Rows of a class each: true ones, and what the model gave.
std::vector<std::vector<int>> rowsOf(const ConfusionMatrix& matrix) {
  std::vector<std::vector<int>> rows(matrix.classes(), std::vector<int>(matrix.classes()));
  for (int truth = 0; truth < matrix.classes(); ++truth) {
    for (int given = 0; given < matrix.classes(); ++given)
      rows[truth][given] = static_cast<int>(matrix.count(truth, given));
  }
  return rows;
}

TEST(CrossValidation, IsAFactOfTheModelAlsoWhenItIsConverted) {
  const test::TemporaryFolder folder;
  TeachJob job = jobOfTwoPictures(folder / "mine.onnx");
  const auto rows = rowsOf(teach(job).value().validation.value().matrix);
  EXPECT_EQ(rowsOf(crossValidationOf(readModelInfo(job.output).facts).value()), rows);
  convertFile(job.output, folder / "converted.onnx", {.reduce = mpmBefore({1})});
  EXPECT_EQ(rowsOf(crossValidationOf(readModelInfo(folder / "converted.onnx").facts).value()), rows);
  job.cross_validation = false;
  teach(job);
  EXPECT_FALSE(crossValidationOf(readModelInfo(job.output).facts));
}

TEST(CrossValidation, IsRefusedWhereItIsNoneOfTheModel) {
  const test::TemporaryFolder folder;
  const std::string model = folder / "mine.onnx";
  fs::copy_file(MPM_TEST_DATA_DIR "/segmenter_linear_ts12.onnx", model);
  const auto refused = [&](const std::string& confusion, const std::string& why) {
    std::ofstream(folder / "mine.json") << R"({"taught": {"cross_validation": {"confusion": )" + confusion + "}}}";
    EXPECT_MPM_ERROR(readModelInfo(model), why);
  };
  refused("[[1, 2], [3, 4]]", "has a cross-validation of 2 classes, the graph has 4");
  refused("[[1, 2], [3]]", "confusion[1]");
  refused("[[1, 2], [3, -4]]", "confusion[1][1]");
  refused("7", "confusion");
}

// Label maps of three times the size: of each three pixels the middle one counts.
TEST(CrossValidation, TruthIsThePixelInTheMiddle) {
  const test::TemporaryFolder folder;
  const Size2 input = readModelInfo(kPlain).input;
  cv::Mat labels(3 * input.height, 3 * input.width, CV_8U, cv::Scalar(0));
  for (int y = 1; y < labels.rows; y += 3)
    for (int x = 1; x < labels.cols; x += 3) labels.at<uchar>(y, x) = 1;
  TeachJob job;
  job.model = kPlain;
  job.output = folder / "mine.onnx";
  job.pictures = 2;
  job.steps = 1;
  job.classes.classes = {{"around"}, {"middle"}};
  job.picture = [&](std::size_t) {
    return vision::LabelledPicture{cv::Mat(labels.size(), CV_8UC3, cv::Scalar(9, 90, 200)), labels};
  };
  const ConfusionMatrix matrix = teach(job).value().validation.value().matrix;
  EXPECT_EQ(matrix.truePixels(1), 2 * input.height * input.width);
  EXPECT_EQ(matrix.truePixels(0), 0);
}

// Pictures that hold the classes in the same shares as the validation: the correction must find these.
TEST(CrossValidation, ACorrectionFindsTheTrueShares) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 20; ++trial) {
    const int classes = 2 + trial % 6;
    std::vector<std::vector<int>> rows(classes, std::vector<int>(classes));
    std::vector<double> truth(classes), given(classes);
    double pixels = 0;
    for (int t = 0; t < classes; ++t) {
      for (int g = 0; g < classes; ++g) {
        rows[t][g] = static_cast<int>((t == g ? 500 : 1) + random() % 100);
        truth[t] += rows[t][g];
        given[g] += rows[t][g];
        pixels += rows[t][g];
      }
    }
    for (int c = 0; c < classes; ++c) {
      truth[c] /= pixels;
      given[c] /= pixels;
    }
    EXPECT_THAT(correctedShares(given, matrixOf(rows)), Pointwise(DoubleNear(1e-12), truth)) << trial;
  }
}

TEST(CrossValidation, ACorrectionKeepsWhatItKnowsNothingAbout) {
  const std::vector<double> shares = {0.5, 0.3, 0.2};
  EXPECT_THAT(correctedShares(shares, matrixOf({{5, 0, 0}, {0, 7, 0}, {0, 0, 1}})),
              Pointwise(DoubleNear(1e-12), shares))
      << "a model without errors";
  EXPECT_THAT(correctedShares(shares, matrixOf({{0, 0, 0}, {0, 0, 0}, {0, 0, 0}})),
              Pointwise(DoubleNear(1e-12), shares))
      << "no labelled pixel";
  // Class 2 was labelled and never found: its share stays, and a third of what is called 1 is truly 2.
  EXPECT_THAT(correctedShares(shares, matrixOf({{5, 0, 0}, {0, 8, 0}, {0, 4, 0}})),
              Pointwise(DoubleNear(1e-12), std::vector{0.5, 0.2, 0.3}));
  EXPECT_THAT(correctedShares(shares, matrixOf({{5, 0, 2}, {0, 7, 0}, {0, 0, 0}})),
              Pointwise(DoubleNear(1e-12), shares))
      << "class 2 was never held out, so that it could only be wrong";
}

// Of ten pictures a round holds out two. Every fifth picture is red, and one is green.
TEST(Teaching, TestsAClassOnlyWhereOthersOfItWereTrainedOn) {
  const test::TemporaryFolder folder;
  TeachJob job{.model = kPlain,
               .classes = {{{"blue"}, {"red"}, {"green"}}},
               .output = folder / "mine.onnx",
               .pictures = 10,
               .steps = 40};
  job.picture = [](std::size_t i) {
    const int label = i % 5 == 0 ? 1 : i == 3 ? 2 : 0;
    const cv::Scalar colors[] = {{250, 10, 10}, {10, 10, 250}, {10, 250, 10}};
    return vision::LabelledPicture{cv::Mat(40, 60, CV_8UC3, colors[label]), cv::Mat(40, 60, CV_8U, cv::Scalar(label))};
  };
  const Taught taught = teach(job).value();
  const Json json = toJson(taught)["cross_validation"];
  EXPECT_EQ(json["pictures"], Json({7, 2, 1}));
  EXPECT_EQ(json["iou"]["red"], 100) << json;
  EXPECT_TRUE(json["iou"]["green"].is_null()) << json;
  EXPECT_EQ(taught.validation->matrix.truePixels(2), 0);
}

TEST(Teaching, AHeadOfOneClassIsNoTest) {
  const test::TemporaryFolder folder;
  TeachJob job{
      .model = kPlain, .classes = {{{"blue"}, {"red"}}}, .output = folder / "mine.onnx", .pictures = 2, .steps = 5};
  job.picture = [](std::size_t i) {
    cv::Mat labels(40, 60, CV_8U, cv::Scalar(0));
    if (i == 0) labels.colRange(0, 30).setTo(1);
    return vision::LabelledPicture{cv::Mat(40, 60, CV_8UC3, cv::Scalar(250, 10, 10)), labels};
  };
  const Size2 input = readModelInfo(kPlain).input;
  EXPECT_EQ(teach(job)->validation->matrix.truePixels(0), input.height * input.width) << "the picture of one class";
}

// Two pictures are read, then encoded; then three steps in each of three trainings.
TEST(Teaching, StopsInEachPartOfTheWork) {
  const test::TemporaryFolder folder;
  TeachJob job = jobOfTwoPictures(folder / "mine.onnx");
  int calls = 0, last = 0;
  for (const int stop : {1, 2, 3, 4, 5, 8, 12, 13}) {
    calls = 0;
    job.progress = [&](int done, int of) {
      EXPECT_EQ(done, ++calls);
      EXPECT_EQ(of, 13);
      return calls < stop;
    };
    EXPECT_FALSE(teach(job)) << stop;
    EXPECT_EQ(calls, stop) << "nothing is done after it";
    EXPECT_TRUE(fs::is_empty(folder.path())) << stop;
  }
  job.progress = [&](int done, int) { return (last = done) > 0; };
  EXPECT_TRUE(teach(job));
  EXPECT_EQ(last, 13);
}

TEST(Teaching, NamesAClassThatNoPixelHas) {
  const test::TemporaryFolder folder;
  TeachJob job = jobOfTwoPictures(folder / "mine.onnx");
  job.classes.classes.push_back({"none"});
  EXPECT_MPM_ERROR(teach(job), "no pixel is labelled 'none' in 2 label maps");
  job.output = folder / "none/mine.onnx";
  EXPECT_MPM_ERROR(teach(job), "cannot write '" + job.output + "': No such file") << "before it reads the label maps";
  job.output = folder / "mine.json";
  EXPECT_MPM_ERROR(teach(job), "its name must end in .onnx");
  job.output = job.model;
  EXPECT_MPM_ERROR(teach(job), "would replace '" + job.model + "', which it is made from");
}

}  // namespace
}  // namespace mpm::evaluation
