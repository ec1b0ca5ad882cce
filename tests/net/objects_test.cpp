// SPDX-License-Identifier: Apache-2.0
// Objects of box queries: the rules against double loops, then whole models.
#include "net/objects.h"

#include <cmath>
#include <fstream>
#include <tuple>

#include "base/segment_limits.h"
#include "layers/opencv_parallel.h"
#include "mpm/convert.hpp"
#include "support/pictures.h"
#include "support/temporary_folder.h"
#include "support/throws_with.h"

namespace mpm {
namespace {

const std::string kRfDetr = std::string(MPM_TEST_DATA_DIR) + "/hf_rf_detr_dynamo18.onnx";  // 6 queries, 4 classes
const std::string kRfDetrSeg = std::string(MPM_TEST_DATA_DIR) + "/hf_rf_detr_seg_dynamo18.onnx";  // the same, masks 8x8

// Queries with memory of their own.
struct OwnQueries {
  int count, classes;
  Size2 grid;
  std::vector<float> boxes, scores, masks;

  OwnQueries(int queries, int class_count, Size2 mask, int seed)
      : count(queries), classes(class_count), grid(mask), boxes(4 * queries), scores(queries * class_count) {
    masks.resize(static_cast<std::size_t>(queries) * mask.height * mask.width);
    cv::RNG random(static_cast<std::uint64_t>(seed));
    for (float& value : boxes) value = random.uniform(0.05F, 0.95F);
    for (float& value : scores) value = random.uniform(-3.0F, 3.0F);
    for (float& value : masks) value = random.uniform(-2.0F, 1.5F);
  }
  BoxQueries view() const {
    BoxQueries queries{{boxes.data(), count, 4}, {scores.data(), count, classes}, {}, grid};
    if (!masks.empty()) queries.masks = {masks.data(), count, grid.height * grid.width};
    return queries;
  }
  // The mask of a query at the centre of a pixel, bilinear between the centres of its cells.
  double mask(int query, double x, double y, cv::Size image) const {
    const auto cell = [](double at, int pixels, int cells) {
      return std::clamp((at + 0.5) * cells / pixels - 0.5, 0.0, cells - 1.0);
    };
    const double u = cell(x, image.width, grid.width), v = cell(y, image.height, grid.height);
    double sum = 0;
    for (int i = 0; i < grid.height; ++i) {
      for (int j = 0; j < grid.width; ++j) {
        sum += std::max(0.0, 1 - std::abs(u - j)) * std::max(0.0, 1 - std::abs(v - i)) *
               static_cast<double>(masks[(static_cast<std::size_t>(query) * grid.height + i) * grid.width + j]);
      }
    }
    return sum;
  }
};

struct FoundObjects {
  std::vector<Segment> objects;
  cv::Mat ids;

  FoundObjects(const OwnQueries& queries, double min_score, cv::Size image) : ids(image, CV_16U, cv::Scalar(7)) {
    objects = objectsOf(queries.view(), min_score, OpenCvParallel(), ids);
  }
};

TEST(ObjectRules, AreThoseOfADoubleLoop) {
  for (const bool masked : {false, true}) {
    for (const double min_score : {0.0, 0.5, 0.8, 1.0}) {
      for (const cv::Size image : {cv::Size(13, 9), cv::Size(5, 17), cv::Size(1, 1), cv::Size(40, 24)}) {
        for (int seed = 1; seed <= 4; ++seed) {
          SCOPED_TRACE(::testing::Message() << masked << " " << min_score << " " << image << " " << seed);
          OwnQueries queries(7, 3, masked ? Size2{5, 4} : Size2{}, seed);
          const FoundObjects found(queries, min_score, image);
          // Score, query and class of all pairs, the best first.
          std::vector<std::tuple<double, int, int>> pairs;
          for (int q = 0; q < 7; ++q) {
            for (int c = 0; c < 3; ++c)
              pairs.emplace_back(-1 / (1 + std::exp(-static_cast<double>(queries.scores[3 * q + c]))), q, c);
          }
          std::sort(pairs.begin(), pairs.end());
          pairs.resize(7);
          std::erase_if(pairs, [&](const auto& pair) { return -std::get<0>(pair) <= min_score; });
          std::vector<std::int64_t> areas(pairs.size());
          cv::Mat own(image, CV_32S, cv::Scalar(-1));
          for (int y = 0; y < image.height; ++y) {
            for (int x = 0; x < image.width; ++x) {
              for (std::size_t k = 0; k < pairs.size() && own.at<int>(y, x) < 0; ++k) {
                const int q = std::get<1>(pairs[k]);
                const float* const box = &queries.boxes[4 * static_cast<std::size_t>(q)];
                const double dx = std::abs((x + 0.5) / image.width - static_cast<double>(box[0])),
                             dy = std::abs((y + 0.5) / image.height - static_cast<double>(box[1]));
                const bool in_box = dx < static_cast<double>(box[2]) / 2 && dy < static_cast<double>(box[3]) / 2;
                if (!(masked ? queries.mask(q, x, y, image) > 0 : in_box)) continue;
                own.at<int>(y, x) = static_cast<int>(k);
                ++areas[k];
              }
            }
          }
          std::vector<int> id_of(pairs.size());
          std::size_t next = 0;
          for (std::size_t k = 0; k < pairs.size(); ++k) {
            if (masked && areas[k] == 0) continue;
            ASSERT_LT(next, found.objects.size());
            const Segment& object = found.objects[next];
            EXPECT_EQ(object.id, static_cast<int>(++next));
            id_of[k] = object.id;
            const auto [score, query, label] = pairs[k];
            EXPECT_NEAR(object.score, -score, 1e-6);
            EXPECT_EQ(object.label, label);
            EXPECT_EQ(object.area, areas[k]);
            ASSERT_TRUE(object.box);
            const float* const box = &queries.boxes[4 * static_cast<std::size_t>(query)];
            const auto edge = [&](int centre, int side, double sign, int pixels) {
              return (static_cast<double>(box[centre]) + sign * static_cast<double>(box[side]) / 2) * pixels;
            };
            EXPECT_NEAR(object.box->x, edge(0, 2, -1, image.width), 1e-9);
            EXPECT_NEAR(object.box->y, edge(1, 3, -1, image.height), 1e-9);
            EXPECT_NEAR(object.box->br().x, edge(0, 2, 1, image.width), 1e-9);
            EXPECT_NEAR(object.box->br().y, edge(1, 3, 1, image.height), 1e-9);
          }
          EXPECT_EQ(found.objects.size(), next);
          for (int y = 0; y < image.height; ++y) {
            for (int x = 0; x < image.width; ++x) {
              ASSERT_EQ(found.ids.at<std::uint16_t>(y, x),
                        own.at<int>(y, x) < 0 ? 0 : id_of[static_cast<std::size_t>(own.at<int>(y, x))])
                  << x << " " << y;
            }
          }
        }
      }
    }
  }
}

TEST(ObjectRules, IdsHave16Bits) {
  const OwnQueries queries(65536, 1, {}, 1);
  EXPECT_MPM_ERROR(FoundObjects(queries, 0.5, {2, 2}), "65536 queries: at most 65535 fit into an id map");
}

TEST(Objects, OfAModelWithMasksAndOfOneWithBoxes) {
  const test::TemporaryFolder folder;
  const std::string boxes = folder / "boxes.onnx", converted = folder / "converted.onnx";
  fs::copy_file(kRfDetr, boxes);
  std::ofstream(folder / "boxes.json")
      << R"({"task": "boxes", "classes": [{"name": "a"}, {"name": "b"}, {"name": "c"}, {"name": "d"}]})";
  convertFile(boxes, converted, {});
  const cv::Mat image = test::noisePicture(45, 61);
  for (const auto& [model, own] :
       {std::pair(kRfDetrSeg, Task::kInstance), {boxes, Task::kBoxes}, {converted, Task::kBoxes}}) {
    SCOPED_TRACE(model);
    Estimator estimator(model, {.labels = true});
    EXPECT_EQ(estimator.model().head, HeadKind::kBoxQueries);
    EXPECT_EQ(estimator.model().classes, 4);
    EXPECT_EQ(estimator.task(), own);
    const Estimate result = estimator.estimate(image);
    ASSERT_FALSE(result.segments.empty()) << "nothing found proves nothing";
    ASSERT_EQ(result.ids.size(), image.size());
    for (std::size_t i = 0; i < result.segments.size(); ++i) {
      const Segment& one = result.segments[i];
      EXPECT_GT(one.score, 0.5) << "the publisher's limit";
      EXPECT_TRUE(i == 0 || one.score <= result.segments[i - 1].score);
      EXPECT_EQ(one.area, cv::countNonZero(result.ids == one.id));
      EXPECT_TRUE(one.box);
    }
    EXPECT_EQ(cv::norm(result.labels, segmentClasses(result.ids, result.segments), cv::NORM_INF), 0);
    EXPECT_TRUE(Estimator(model).estimate(image).labels.empty());
    EXPECT_EQ(Estimator(model, {.task = Task::kBoxes, .min_score = 0}).estimate(image).segments.size(), 6u)
        << "as many as there are queries";
    EXPECT_EQ(defaultMinScore(HeadKind::kBoxQueries), 0.5) << "the publisher's limit";
    EXPECT_EQ(Estimator(model, {.task = Task::kBoxes}).estimate(image).task, Task::kBoxes);
    EXPECT_MPM_ERROR(Estimator(model, {.task = Task::kPanoptic}), "gives no segments (its head is 'box_queries'");
    EXPECT_MPM_ERROR(Estimator(model, {.task = Task::kSemantic}),
                     "does not segment (its task is '" + toString(own) + "')");
    EXPECT_MPM_ERROR(Estimator(model, {.fit = Fit::kWindow}), "gives no labels");
  }
  EXPECT_MPM_ERROR(Estimator(boxes, {.task = Task::kInstance}), "gives no masks of its objects, only boxes");
  EXPECT_MPM_ERROR(Estimator(std::string(MPM_TEST_DATA_DIR) + "/hf_eomt_ts17.onnx", {.task = Task::kBoxes}),
                   "gives no boxes (its head is 'mask_queries', but they need 'box_queries')");
  std::ofstream(folder / "boxes.json") << R"({"task": "boxes", "classes": [{"name": "a"}]})";
  EXPECT_MPM_ERROR(Estimator(boxes, {}), "its JSON names 1 classes, the graph has 4");
}

}  // namespace
}  // namespace mpm
