// SPDX-License-Identifier: Apache-2.0
#include "evaluation/teaching.h"

#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm::evaluation {
namespace {

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
  job.output = folder / "mine.json";
  EXPECT_MPM_ERROR(teach(job), "its name must end in .onnx");
}

}  // namespace
}  // namespace mpm::evaluation
