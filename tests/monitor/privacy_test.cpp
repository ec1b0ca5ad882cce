// SPDX-License-Identifier: Apache-2.0
// What is hidden in pictures, pixel by pixel; how much of persons and cars stays visible on the built-in street.
#include "monitor/privacy.h"

#include <algorithm>
#include <cstdio>

#include "monitor/results.h"
#include "mpm/estimator.hpp"
#include "scene/demo_source.h"
#include "support/pictures.h"
#include "support/throws_with.h"
#include "vision/labels/classes.h"
#include "vision/sources/source.h"

namespace mpm::monitor::test {
namespace {

constexpr int kPerson = 1, kCar = 2;

// A result of a model that tells road, person and car; all is road. Its picture is of an archive: the clock of this
// machine stands still between two of them.
InferenceResult roadOf(cv::Size size, UnixMs later) {
  InferenceResult result =
      resultOf({{"road"}, {"person"}, {"car"}}, mpm::test::noisePicture(size.height, size.width, 1), kNoon + later);
  result.frame.steady = 0;
  return result;
}

template <typename Hiding>
cv::Mat hiddenBy(Hiding&& privacy, InferenceResult result, const ViewMotion& place) {
  privacy.hide(result, place);
  return result.frame.image;
}

// 255 where a picture is another than that of the result.
cv::Mat changed(const InferenceResult& result, const cv::Mat& hidden) {
  cv::Mat difference, channels[3];
  cv::absdiff(result.frame.image, hidden, difference);
  cv::split(difference, channels);
  return (channels[0] | channels[1] | channels[2]) > 0;
}

double distanceTo(const cv::Mat& changed, cv::Point from) {
  double far = 0;
  for (int y = 0; y < changed.rows; ++y) {
    for (int x = 0; x < changed.cols; ++x)
      if (changed.at<uchar>(y, x)) far = std::max(far, cv::norm(cv::Point(x, y) - from));
  }
  return far;
}

TEST(Privacy, BlursEachPixelOfItsClassesWithAMargin) {
  constexpr double kNoise = 0.95;  // of the pixels of noise, at least this share changes
  for (const cv::Size size : {cv::Size(64, 48), cv::Size(61, 47), cv::Size(640, 360), cv::Size(7, 5)}) {
    for (const int label : {kPerson, kCar}) {
      for (const cv::Point at : {cv::Point(0, 0), cv::Point(size.width - 1, size.height - 1),
                                 cv::Point(size.width / 2, 0), cv::Point(size.width / 3, size.height / 3)}) {
        SCOPED_TRACE(::testing::Message() << size << " " << label << " at " << at);
        const double share = at.x == 0 ? 0 : 0.02;
        Privacy privacy({.blurred = {"person", "car"}, .margin = share});
        InferenceResult result = roadOf(size, 0);
        const cv::Mat before = result.frame.image.clone();
        result.estimate.labels.at<uchar>(at) = static_cast<uchar>(label);
        const cv::Mat where = changed(result, hiddenBy(privacy, result, {}));
        EXPECT_EQ(cv::norm(before, result.frame.image, cv::NORM_INF), 0) << "the picture that was measured";
        const double margin = share * std::max(size.width, size.height);
        const cv::Rect around = cv::Rect(at - cv::Point(static_cast<int>(margin), static_cast<int>(margin)),
                                         cv::Size(2 * static_cast<int>(margin) + 1, 2 * static_cast<int>(margin) + 1)) &
                                cv::Rect({}, size);
        EXPECT_GE(cv::countNonZero(where(around)), kNoise * around.area());
        EXPECT_LE(distanceTo(where, at), std::sqrt(2) * (16 + 8 * std::ceil(margin / 8))) << "a cell beyond, at most";
      }
    }
  }
  Privacy privacy({.blurred = {"car"}});
  InferenceResult result = roadOf({64, 48}, 0);
  result.estimate.labels.setTo(kPerson);
  EXPECT_EQ(cv::countNonZero(changed(result, hiddenBy(privacy, result, {}))), 0);
}

TEST(Privacy, RemembersForSeconds) {
  Privacy privacy({.blurred = {"person"}, .memory_s = 3});
  InferenceResult result = roadOf({64, 48}, 10'000);
  result.estimate.labels.at<uchar>(20, 20) = kPerson;
  const int pixels = cv::countNonZero(changed(result, hiddenBy(privacy, result, {})));
  EXPECT_GT(pixels, 0);
  for (const auto& [at, stays] :
       {std::pair(11'000, true), {13'000, true}, {13'001, false}, {9'000, false}, {20'000, false}}) {
    const InferenceResult later = roadOf({64, 48}, at);
    EXPECT_EQ(cv::countNonZero(changed(later, hiddenBy(privacy, later, {}))) == pixels, stays) << at;
  }
  const InferenceResult larger = roadOf({64, 96}, 20'500);
  EXPECT_EQ(cv::countNonZero(changed(larger, hiddenBy(privacy, larger, {}))), 0);
}

TEST(Privacy, ALargePictureShowsNoMoreThanASmallOne) {
  InferenceResult result = roadOf({1920, 64}, 0);
  result.estimate.labels.setTo(kPerson);
  for (int x = 0; x < 1920; ++x) result.frame.image.col(x).setTo(cv::Scalar::all(x / 10 % 2 * 255));
  double darkest = 0, brightest = 0;
  cv::minMaxLoc(hiddenBy(Privacy({.blurred = {"person"}}), result, {}).reshape(1), &darkest, &brightest);
  EXPECT_LT(brightest - darkest, 30) << "stripes of 10 px";
}

TEST(Privacy, BlursAllWhereClassesCannotBeTold) {
  InferenceResult without = roadOf({64, 48}, 0);
  without.estimate.labels.release();
  EXPECT_GT(cv::countNonZero(changed(without, hiddenBy(Privacy({.blurred = {"car"}}), without, {}))), 64 * 48 * 0.95);
  InferenceResult unseen = without;
  unseen.model.reset();
  Privacy privacy({.blurred = {"car"}});
  EXPECT_GT(cv::countNonZero(changed(unseen, hiddenBy(privacy, unseen, {}))), 64 * 48 * 0.95);
  const InferenceResult first = roadOf({64, 48}, 1);
  EXPECT_EQ(cv::countNonZero(changed(first, hiddenBy(privacy, first, {}))), 0) << "nothing was seen there";
  const InferenceResult other = roadOf({64, 48}, 0);
  EXPECT_GT(cv::countNonZero(changed(other, hiddenBy(Privacy({.blurred = {"person", "dog"}}), other, {}))),
            64 * 48 * 0.95);
}

TEST(Privacy, BlacksOutRegionsThatFollowTheView) {
  vision::Region window = regionNamed("window");  // 10x10 px of 64x48
  window.to = kNoon + 100;
  Privacy privacy({.hidden = {window}});
  const auto black = [&](const InferenceResult& result, const ViewMotion& place) {
    const cv::Mat hidden = hiddenBy(privacy, result, place);
    return std::pair(cv::countNonZero(changed(result, hidden)), cv::countNonZero(hidden.reshape(1)));
  };
  const auto [pixels, bright] = black(roadOf({64, 48}, 0), {});
  EXPECT_EQ(pixels, 100);
  EXPECT_NEAR(bright, 3 * (64 * 48 - 100), 64);
  InferenceResult result = roadOf({64, 48}, 0);
  const cv::Mat labels = result.estimate.labels;
  result.compared.emplace().estimate.labels = labels.clone();
  result.estimate.depth = cv::Mat(48, 64, CV_32F, cv::Scalar::all(3));
  privacy.hide(result, {});
  EXPECT_EQ(cv::countNonZero(result.estimate.labels == 255), 100) << "nor do overlays show what was there";
  EXPECT_EQ(cv::countNonZero(result.estimate.depth != 3), 100);
  EXPECT_EQ(cv::countNonZero(result.compared->estimate.labels == 255), 100) << "nor does a comparison";
  EXPECT_EQ(cv::countNonZero(result.hidden), 100);
  EXPECT_EQ(cv::countNonZero(labels == 255), 0) << "those of the Estimator stay";
  Privacy({.blurred = {"dog"}}).hide(result, {});
  EXPECT_TRUE(result.estimate.depth.empty()) << "it would show persons, too";
  EXPECT_EQ(black(roadOf({128, 96}, 0), {}).first, 19 * 19) << "from centre to centre, as the picture scales";
  EXPECT_EQ(black(roadOf({64, 48}, 0), {.right = 4}).first, 140) << "the old place, too: a text does not move";
  EXPECT_EQ(black(roadOf({64, 48}, 100), {}).first, 0) << "no longer valid";
  EXPECT_EQ((PrivacyOptions{.hidden = {window}, .blurred = {"car", "person"}}).text(),
            "pictures hide window and blur car, person");
  vision::Region mask = window;
  mask.polygons.clear();
  mask.mask = cv::Mat(48, 64, CV_8U, cv::Scalar::all(255));
  Privacy masked({.hidden = {mask}});
  std::vector<std::string> problems;
  const auto hidden = [&](InferenceResult one) {
    masked.hide(one, {}, [&](const std::string& problem) { problems.push_back(problem); });
    return one.frame.image;
  };
  EXPECT_EQ(cv::countNonZero(hidden(roadOf({64, 48}, 0)).reshape(1)), 0);
  EXPECT_THAT(problems, IsEmpty());
  const InferenceResult larger = roadOf({128, 96}, 0);
  EXPECT_GT(cv::countNonZero(changed(larger, hidden(larger))), 128 * 96 * 0.95) << "blurred";
  hidden(larger);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("the mask of region 'window' is 64 x 48 px (width x height), the picture"
                                              " 128 x 96 px")))
      << "once";
  const PrivacyOptions nothing{.hidden = {{.name = "nothing", .size = {64, 48}}}};
  EXPECT_MPM_ERROR(Privacy(nothing), "nothing");
}

// docs/monitor.md has the printed numbers.
TEST(Privacy, NamesNoObjectThatIsHidden) {
  const vision::Region window = regionNamed("window");  // 10x10 px of 64x48
  const cv::Rect hidden = [&] {
    cv::Mat mask = vision::maskOf(window, {64, 48});
    return cv::boundingRect(mask);
  }();
  InferenceResult result = roadOf({64, 48}, 0);
  Estimate& estimate = result.estimate;
  estimate.task = Task::kBoxes;
  estimate.ids = cv::Mat::zeros(48, 64, CV_16U);
  const auto add = [&](const cv::Rect2d& box) {
    const int id = static_cast<int>(estimate.segments.size()) + 1;
    const cv::Rect pixels = cv::Rect(box) & cv::Rect({}, estimate.ids.size());
    estimate.ids(pixels).setTo(id);
    estimate.segments.push_back({.id = id, .label = kPerson, .score = 0.9, .area = pixels.area(), .box = box});
  };
  add({hidden.x + 2.25, hidden.y + 2.5, 4.5, 5});              // under the region
  add(cv::Rect2d(hidden.x + 5, hidden.y, 25, hidden.height));  // half of it
  add({0, 40, 5.5, 12});                                       // elsewhere, over the edge of the picture
  add({-13, 4, 11, 9});                                        // beside it
  estimate.ids.setTo(0, estimate.ids == 1);                    // the better one covers the first one
  estimate.ids.at<std::uint16_t>(47, 63) = 1;                  // a pixel outside of its box
  Privacy({.hidden = {window}}).hide(result, {});
  EXPECT_EQ(cv::countNonZero(estimate.ids == 1), 0) << "what is not listed";
  ASSERT_EQ(estimate.segments.size(), 3u);
  EXPECT_EQ(estimate.segments[0].id, 2);
  EXPECT_EQ(estimate.segments[0].box->x, hidden.br().x) << "its box does not reach under the region";
  EXPECT_EQ(estimate.segments[0].box->br().x, hidden.x + 30);
  EXPECT_EQ(estimate.segments[0].area, cv::countNonZero(estimate.ids == 2));
  EXPECT_EQ(estimate.segments[1].box, cv::Rect2d(0, 40, 5.5, 12));
  EXPECT_EQ(estimate.segments[2].box, cv::Rect2d(-13, 4, 11, 9)) << "nothing hides it";
  InferenceResult segments = roadOf({64, 48}, 0);
  segments.estimate.ids = cv::Mat::zeros(48, 64, CV_16U);
  segments.estimate.ids(hidden).setTo(1);
  segments.estimate.segments = {{.id = 1, .label = kPerson, .score = 0.9, .area = 100},
                                {.id = 2, .label = kCar, .score = 0.9, .area = 0},
                                {.id = 3, .label = kPerson, .score = 0.9, .area = 1}};
  segments.estimate.ids.at<std::uint16_t>(hidden.tl()) = 3;
  Privacy({.hidden = {window}}).hide(segments, {});
  ASSERT_EQ(segments.estimate.segments.size(), 1u) << "one that was covered before stays";
  EXPECT_EQ(segments.estimate.segments[0].id, 2);
}

TEST(PrivacyOnTheStreet, LongShareThatStaysVisible) {
  scene::registerDemoSource();
  Estimator estimator(std::string(MPM_SOURCE_DIR) + "/models/street_vit_t16.onnx");
  const auto model = std::make_shared<const ModelInfo>(estimator.model());
  const auto names = vision::classNames(*model);
  struct Visible {
    std::int64_t pixels = 0, visible = 0;
    int things = 0, seen = 0;  // seen: a quarter of it and more stays visible
  };
  std::map<std::string, Visible> table;
  Visible others;
  const auto source =
      vision::openSource(vision::parseSourceSpec("demo:street?seed=1..8&weather=auto&step=1314000&frames=24"));
  while (const auto frame = source->next()) {
    InferenceResult result;
    result.frame.image = frame->image;
    result.estimate = estimator.estimate(frame->image);
    result.model = model;
    Privacy privacy({.blurred = {"person", "cyclist", "car"}});  // no memory of another frame
    const cv::Mat where = changed(result, hiddenBy(privacy, result, {}));
    const auto labelOf = [&](const char* name) {
      return static_cast<int>(std::ranges::find(names, name) - names.begin());
    };
    const cv::Mat other = (frame->labels != labelOf("person")) & (frame->labels != labelOf("cyclist")) &
                          (frame->labels != labelOf("car"));
    others.pixels += cv::countNonZero(other);
    others.visible += cv::countNonZero(other & ~where);
    for (const char* name : {"person", "car"}) {
      cv::Mat things, statistics, middles;
      const int count = cv::connectedComponentsWithStats(frame->labels == labelOf(name), things, statistics, middles);
      for (int thing = 1; thing < count; ++thing) {
        const int area = statistics.at<int>(thing, cv::CC_STAT_AREA);
        const char* size = area < 100 ? "below 100 px" : area < 1000 ? "100 to 1000 px" : "1000 px and more";
        const int visible = cv::countNonZero((things == thing) & ~where);
        Visible& row = table[std::string(name) + ", " + size + (frame->night.value_or(false) ? ", night" : ", day")];
        row.pixels += area;
        row.visible += visible;
        ++row.things;
        row.seen += 4 * visible >= area;
      }
    }
  }
  for (const auto& [what, row] : table) {
    std::printf("%-32s %5d things, %5.1f %% of their pixels visible, %5.1f %% of them by a quarter and more\n",
                what.c_str(), row.things, 100.0 * static_cast<double>(row.visible) / static_cast<double>(row.pixels),
                100.0 * row.seen / row.things);
  }
  std::printf("all else: %.1f %% of the pixels visible\n",
              100.0 * static_cast<double>(others.visible) / static_cast<double>(others.pixels));
  const auto share = [&](const std::string& what) {
    return static_cast<double>(table[what].visible) / static_cast<double>(table[what].pixels);
  };
  EXPECT_LT(share("car, 1000 px and more, day"), 0.02);
  EXPECT_LT(share("person, 1000 px and more, day"), 0.1);
}

}  // namespace
}  // namespace mpm::monitor::test
