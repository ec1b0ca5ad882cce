// SPDX-License-Identifier: Apache-2.0
#include "mpm/estimator.hpp"

#include <fstream>

#include "layers/opencv_parallel.h"
#include "mpm/convert.hpp"
#include "net/segments.h"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kEomt = std::string(MPM_TEST_DATA_DIR) + "/hf_eomt_ts17.onnx";  // input 32x32, masks 16x16, 6 queries

// Six queries with masks of 3x4 px, three classes; transformers 5.23 makes segments of 6x8 px of them.
class SegmentRules : public ::testing::Test {
 protected:
  using Rule = decltype(panopticSegments);

  struct Found {
    std::vector<Segment> segments;
    std::vector<std::string> ids;
  };

  Found run(Rule rule, EstimatorOptions options, const std::vector<bool>& things) const {
    const int count = static_cast<int>(classes_.size() / 4);
    const MaskQueries queries{{masks_.data(), count, 12}, {classes_.data(), count, 4}, {3, 4}};
    const AxisResampling rows = bilinearAxis(3, 6), columns = bilinearAxis(4, 8);
    cv::Mat ids(6, 8, CV_16U);
    Found found{rule({queries, rows, columns}, options, things, OpenCvParallel(), ids), {}};
    for (int y = 0; y < 6; ++y) {
      std::string& row = found.ids.emplace_back();
      for (int x = 0; x < 8; ++x) row += static_cast<char>('0' + ids.at<std::uint16_t>(y, x));
    }
    return found;
  }

  static void expectSegments(const std::vector<Segment>& found, const std::vector<std::pair<int, double>>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].id, static_cast<int>(i) + 1);
      EXPECT_EQ(found[i].label, expected[i].first);
      EXPECT_NEAR(found[i].score, expected[i].second, 1e-6);
    }
  }

  std::vector<float> masks_ = {3,    3,    -2,   -3, 3,    2.5f,  -2, -3,    2,     1.5f, -2.5f, -3,  // class 0, left
                               -3,   -2.5, 2,    3,  -3,   -2.5f, 2,  3,     -3,    -2,   -1.5f, -1,  // 1, right, top
                               -2.5, -2.5, -2.5, -2, -2.5, -2.5f, -2, -1.5f, -2,    -1,   2.5f,  3,  // 1, right, bottom
                               1.5f, 1,    -3,   -3, 1,    0.5f,  -3, -3,    -1.5f, -2,   -3,    -3,   // 0, covered
                               2,    2,    2,    2,  2,    2,     2,  2,     2,     2,    2,     2,    // no object
                               -3,   -3,   -3,   -3, -3,   -3,    -3, -3,    2.5f,  3,    -3,    -3};  // 2, low score
  std::vector<float> classes_ = {6, 0, 0, 0, 0, 8, 0, 1, 0, 7, 1, 0, 5, 0, 0, 1, 0, 0, 0, 6, 1, 0, 3, 1};
};

TEST(SegmentClasses, OfSomeOfTheSegmentsAndOfNone) {
  const cv::Mat ids = (cv::Mat_<std::uint16_t>(2, 3) << 0, 1, 2, 3, 3, 65535);
  const auto classesOf = [&](const std::vector<Segment>& segments) {
    const cv::Mat map = segmentClasses(ids, segments);
    return std::vector<int>(map.begin<std::uint8_t>(), map.end<std::uint8_t>());
  };
  EXPECT_EQ(classesOf({{.id = 3, .label = 7}}), (std::vector<int>{255, 255, 255, 7, 7, 255}));
  EXPECT_EQ(classesOf({{.id = 65535, .label = 1}, {.id = 1, .label = 0}}),
            (std::vector<int>{255, 0, 255, 255, 255, 1}));
  EXPECT_EQ(classesOf({}), std::vector<int>(6, 255));
  for (const Segment& wrong :
       {Segment{.id = 0}, {.id = -1}, {.id = 65536}, {.id = 1, .label = 256}, {.id = 1, .label = -1}})
    EXPECT_MPM_ERROR(segmentClasses(ids, {wrong}), "expected 1 to 65535 and 0 to 255");
  EXPECT_MPM_ERROR(segmentClasses(cv::Mat(2, 3, CV_8U, cv::Scalar(0)), {}), "must be CV_16U");
  EXPECT_TRUE(segmentClasses({}, {}).empty());
}

TEST_F(SegmentRules, OfPanopticMapsAreThoseOfTransformers) {
  const EstimatorOptions options{.min_score = 0.7, .min_overlap = 0.6};
  const Found things = run(panopticSegments, options, {true, true, true});
  EXPECT_THAT(things.ids, ElementsAre("11112222", "11112222", "11112222", "11112222", "11113333", "11103333"));
  expectSegments(things.segments, {{0, 0.992619}, {1, 0.99842}, {1, 0.995716}});
  EXPECT_EQ(things.segments[0].area, 23);
  EXPECT_EQ(things.segments[2].area, 8);
  const Found stuff = run(panopticSegments, options, {true, false, true});
  EXPECT_THAT(stuff.ids, ElementsAre("11112222", "11112222", "11112222", "11112222", "11112222", "11102222"));
  expectSegments(stuff.segments, {{0, 0.992619}, {1, 0.99842}});
  EXPECT_EQ(stuff.segments[1].area, 24);
}

TEST_F(SegmentRules, OfInstanceMapsAreThoseOfTransformers) {
  const EstimatorOptions options{.min_score = 0.6};
  const Found found = run(instanceSegments, options, {true, true, true});
  EXPECT_THAT(found.ids, ElementsAre("44412222", "44412222", "44412222", "44112222", "55553333", "55553333"));
  expectSegments(found.segments, {{0, 0.874498}, {1, 0.8487}, {1, 0.854957}, {0, 0.704619}, {2, 0.619422}});
  EXPECT_EQ(run(instanceSegments, options, {true, false, true}).segments.size(), 3u) << "stuff has no instances";
  EXPECT_EQ(run(instanceSegments, {.min_score = 0}, {true, true, true}).segments.size(), 6u) << "no object is no class";
  std::fill(masks_.end() - 12, masks_.end(), -3.0f);
  EXPECT_EQ(run(instanceSegments, {.min_score = 0}, {true, true, true}).segments.size(), 5u) << "none without a pixel";
}

TEST_F(SegmentRules, WithoutACandidateThereAreNone) {
  for (Rule* const rule : {&panopticSegments, &instanceSegments}) {
    const Found found = run(*rule, {.min_score = 1}, {true, true, true});
    EXPECT_TRUE(found.segments.empty());
    EXPECT_EQ(found.ids[3], "00000000");
  }
  masks_.resize(65536 * 12);
  classes_.resize(65536 * 4);
  EXPECT_MPM_ERROR(run(panopticSegments, {}, {true, true, true}), "65536 queries: at most 65535 fit into an id map");
}

TEST(Segments, FindsSegmentsAtTheSizeOfTheImage) {
  for (const Task task : {Task::kPanoptic, Task::kInstance}) {
    for (const Schedule& schedule : {Schedule{}, Schedule{1, 2}}) {
      const EstimatorOptions options{.reduce = mpmBefore(schedule), .task = task, .min_score = 0.2, .min_overlap = 0.1};
      Estimator segmenter(kEomt, options);
      EXPECT_EQ(segmenter.task(), task);
      for (const cv::Size size :
           {cv::Size(32, 32), cv::Size(71, 43), cv::Size(71, 29), cv::Size(20, 29), cv::Size(1, 1)}) {
        const Estimate result = segmenter.estimate(test::smoothPicture(size.height, size.width, 11));
        const cv::Mat alone = Estimator(kEomt, options).estimate(test::smoothPicture(size.height, size.width, 11)).ids;
        EXPECT_EQ(cv::norm(result.ids, alone, cv::NORM_INF), 0) << size << " behind another size";
        ASSERT_EQ(result.ids.type(), CV_16U);
        ASSERT_EQ(result.ids.size(), size);
        std::vector<std::int64_t> areas(result.segments.size() + 1);
        for (int i = 0; i < size.area(); ++i) ++areas.at(result.ids.at<std::uint16_t>(i / size.width, i % size.width));
        for (const Segment& segment : result.segments) {
          EXPECT_EQ(segment.area, areas[segment.id]);
          EXPECT_GE(segment.score, 0.2);
          EXPECT_LT(segment.label, 4);
        }
        EXPECT_TRUE(size.area() == 1 || !result.segments.empty()) << "nothing found proves nothing";
        EXPECT_EQ(result.tokens.size(), schedule.size() + 1);
      }
    }
  }
}

TEST(Segments, TakesTheTaskAndTheThingsFromTheJson) {
  const test::TemporaryFolder folder;
  const std::string model = folder / "m.onnx", converted = folder / "converted.onnx";
  fs::copy_file(kEomt, model);
  std::ofstream(folder / "m.json") << R"({"task": "instance", "classes": [{"name": "road", "thing": false},
    {"name": "car"}, {"name": "sky", "thing": false}, {"name": "person", "thing": true}]})";
  convertFile(model, converted, {.reduce = mpmBefore({1})});
  for (const std::string& file : {model, converted}) {
    Estimator segmenter(file, {.min_score = 0});
    EXPECT_EQ(segmenter.task(), Task::kInstance);
    for (const Segment& segment : segmenter.estimate(test::smoothPicture(32, 32, 11)).segments)
      EXPECT_THAT(segment.label, ::testing::AnyOf(1, 3));
  }
}

}  // namespace
}  // namespace mpm
