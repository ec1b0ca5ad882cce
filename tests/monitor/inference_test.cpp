// SPDX-License-Identifier: Apache-2.0
#include "monitor/capture/inference.h"

#include "monitor/capture/followed_files.h"
#include "monitor/samples.h"
#include "monitor/wait.h"
#include "support/damaged_model.h"
#include "support/pictures.h"
#include "support/throws_with.h"
#include "vision/model_files.h"

namespace mpm::monitor::test {
namespace {

using mpm::test::writeModelThatOverflows;

class InferenceWorkerTest : public InFolder {
 protected:
  std::shared_ptr<FrameMailbox> frames_ = std::make_shared<FrameMailbox>();
  Collected<InferenceResult> results_;
  Collected<Event> events_;
  std::int64_t id_ = 0;

  InferenceWorker::Callbacks callbacks() {
    return {.on_result = [this](InferenceResult result) { results_.add(std::move(result)); },
            .on_event = [this](const Event& event) { events_.add(event); }};
  }

  static EstimatorOptions options(Schedule schedule = {1, 2}) {
    EstimatorOptions options;
    options.reduce = mpmBefore(schedule);
    return options;
  }

  void put(int stream = 0) {
    const cv::Mat image = mpm::test::noisePicture(48, 96);
    frames_->put({.image = image, .id = ++id_, .stream = stream, .time = 1000 * id_, .steady = steadyNow()});
  }

  // Frames until a result satisfies the condition, which it returns. Fails where none does.
  InferenceResult until(const std::function<bool(const InferenceResult&)>& condition) {
    const std::size_t before = results_.size();
    if (!eventually([&] {
          put();
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
          const auto all = results_.all();
          return all.size() > before && condition(all.back());
        }))
      throw std::runtime_error("no such result");
    return results_.all().back();
  }
  InferenceResult one() {
    return until([](const InferenceResult&) { return true; });
  }
  bool toldOf(const std::string& part) const {
    for (const Event& event : events_.all())
      if (event.message.find(part) != std::string::npos) return true;
    return false;
  }
};

/// With a worker that has given its first result.
class RunningInference : public InferenceWorkerTest {
 protected:
  InferenceWorker worker_{frames_, kModel, options(), callbacks()};
  const InferenceResult first_ = one();
};

void overwrite(const std::string& path, const std::string& with) {  // as a copy that replaces the file does
  fs::copy_file(with, path + ".new", fs::copy_options::overwrite_existing);
  fs::rename(path + ".new", path);
}

// While it is read, the facts of the model before are not those of the new one.
TEST_F(RunningInference, SaysWhatIsWantedAndNotWhatStillRuns) {
  ASSERT_TRUE(worker_.wanted().info);
  for (const Schedule& blocks : {Schedule{1}, {2}, {1, 2}, {1}, {2}}) {
    worker_.setReduction(mpmBefore(blocks));
    EXPECT_TRUE(eventually([&] {
      const InferenceWorker::Wanted wanted = worker_.wanted();
      EXPECT_EQ(wanted.model, kModel);
      EXPECT_EQ(wanted.options.reduce, mpmBefore(blocks));
      if (wanted.info) {
        EXPECT_EQ(wanted.info->schedule(), blocks);
      }
      return wanted.info != nullptr;
    }));
  }
}

TEST_F(InferenceWorkerTest, GivesResultsWithTheirFrames) {
  const InferenceWorker worker(frames_, kModel, options(), callbacks());
  const auto result = one();
  EXPECT_EQ(result.frame.time, 1000 * result.frame.id);
  EXPECT_EQ(result.estimate.labels.size(), cv::Size(96, 48));
  EXPECT_EQ(result.estimate.tokens.size(), 3u);
  EXPECT_EQ(result.model->schedule(), (Schedule{1, 2}));
  EXPECT_EQ(result.model_path, kModel);
  EXPECT_EQ(result.model_digest, vision::modelDigest(kModel));
  EXPECT_FALSE(result.compared);
  Estimator direct(kModel, options());
  EXPECT_EQ(cv::countNonZero(direct.estimate(result.frame.image).labels != result.estimate.labels), 0);
  EXPECT_GT(worker.status().processed, 0);
  EXPECT_GT(worker.status().p50_ms, 0);
  EXPECT_GE(worker.status().p95_ms, worker.status().p50_ms);
  EXPECT_TRUE(events_.all().empty());
}

// What keeps the watchdog of a service from biting, and what lets it bite.
TEST_F(InferenceWorkerTest, TellsForHowLongItHasBeenBusy) {
  std::atomic<bool> go_on = false;
  std::atomic<int> handed_over = 0;
  InferenceWorker::Callbacks blocking;
  blocking.on_result = [&](const InferenceResult&) {
    ++handed_over;
    while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const InferenceWorker worker(frames_, kModel, options(), blocking);
  EXPECT_EQ(worker.status().busy_s, 0);
  put();
  const bool stands = eventually([&] { return handed_over > 0 && worker.status().busy_s > 0.05; });
  const InferenceStatus status = worker.status();
  go_on = true;
  EXPECT_TRUE(stands);
  EXPECT_FALSE(status.stuck());
  EXPECT_TRUE(eventually([&] { return worker.status().busy_s == 0; }));
  InferenceStatus later = status;
  later.busy_s = 119;
  EXPECT_FALSE(later.stuck());
  later.busy_s = 121;
  EXPECT_TRUE(later.stuck());
}

TEST_F(RunningInference, AScheduleTakesEffectOnTheNextFrame) {
  for (const Schedule& schedule : {Schedule{}, Schedule{2}, Schedule{0, 1, 2}}) {
    worker_.setReduction(mpmBefore(schedule));
    const std::size_t before = results_.size();
    const auto result = until([&](const InferenceResult& now) { return now.model->schedule() == schedule; });
    const auto all = results_.all();
    const auto late = std::count_if(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(),
                                    [&](const InferenceResult& now) { return now.model->schedule() != schedule; });
    EXPECT_LE(late, 1) << "none of the schedule before but the one that was being delivered";
    EXPECT_EQ(result.estimate.tokens.size(), schedule.size() + 1);
    EXPECT_GT(result.session, first_.session);
  }
  EXPECT_MPM_ERROR(worker_.setReduction(mpmBefore({2, 1})), "");
}

TEST_F(RunningInference, RefinesUntilAnotherModelComes) {
  EXPECT_EQ(first_.model->facts.refine, Refine::kNone);
  EXPECT_EQ(first_.settings, "");
  worker_.setRefine(Refine::kGuided);
  EXPECT_TRUE(eventually([&] { return worker_.wanted().settings == "refine=guided"; }));
  EXPECT_EQ(worker_.wanted().info->facts.refine, Refine::kGuided);
  const auto refined = until([](const InferenceResult& now) { return now.model->facts.refine == Refine::kGuided; });
  EXPECT_GT(refined.session, first_.session) << "areas of classes are not those of before";
  EXPECT_EQ(refined.settings, "refine=guided");
  EstimatorOptions oracle = options();
  oracle.refine = Refine::kGuided;
  oracle.labels = true;
  EXPECT_EQ(
      cv::norm(refined.estimate.labels, Estimator(kModel, oracle).estimate(refined.frame.image).labels, cv::NORM_INF),
      0);
  worker_.setModel(kOther);
  until(
      [](const InferenceResult& now) { return now.model_path == kOther && now.model->facts.refine == Refine::kNone; });
}

TEST_F(RunningInference, AScheduleThatDoesNotFitLeavesTheOldOne) {
  worker_.setReduction(mpmBefore({1, 99}));
  ASSERT_TRUE(eventually([&] { return events_.size() > 0; }));
  EXPECT_EQ(events_.all()[0].kind, EventKind::kModel);
  EXPECT_THAT(events_.all()[0].message, HasSubstr("goes on"));
  const auto result = one();
  EXPECT_EQ(result.model->schedule(), (Schedule{1, 2}));
}

TEST_F(InferenceWorkerTest, AModelReplacedByGarbageChangesNothing) {
  const std::string path = folder_ / "m.onnx";
  fs::copy_file(kModel, path);
  InferenceWorker worker(frames_, path, options(), callbacks());
  const auto before = one();
  std::ofstream(path, std::ios::trunc) << "garbage";
  ASSERT_TRUE(eventually([&] { return toldOf("cannot load"); }));
  auto result = one();
  EXPECT_EQ(result.session, before.session);
  EXPECT_EQ(result.estimate.tokens, before.estimate.tokens);
  worker.setReduction(mpmBefore({2}));  // needs the file, which is garbage
  ASSERT_TRUE(eventually([&] { return events_.size() == 2; }));
  result = one();
  EXPECT_EQ(result.model->schedule(), (Schedule{1, 2}));
  overwrite(path, kOther);  // repaired: taken up again
  until([&](const InferenceResult& now) { return now.session > before.session; });
  EXPECT_EQ(events_.size(), 2u);
}

// docs/models.md: the JSON beside a model belongs to it. Meanwhile the files of another worker are written once more
// with the same bytes, which is no other model.
TEST_F(InferenceWorkerTest, AnotherJsonIsAnotherModel) {
  const std::string path = folder_ / "m.onnx", same_path = folder_ / "same.onnx";
  const auto writeSame = [&] { writeFileAtomically(folder_ / "same.json", R"({"name": "same"})"); };
  fs::copy_file(kModel, path);
  fs::copy_file(kModel, same_path);
  writeSame();
  const auto frames = std::make_shared<FrameMailbox>();
  Collected<InferenceResult> results;
  InferenceWorker worker(frames_, path, options(), callbacks());
  const InferenceWorker other(frames, same_path, options(),
                              {.on_result = [&](InferenceResult result) { results.add(std::move(result)); },
                               .on_event = [this](const Event& event) { events_.add(event); }});
  const auto sessionOfTheOther = [&] {
    const std::size_t count = results.size();
    frames->put({.image = mpm::test::noisePicture(48, 96), .id = 1, .time = 1000, .steady = steadyNow()});
    EXPECT_TRUE(eventually([&] { return results.size() > count; }));
    return results.all().back().session;
  };
  const auto before = one();
  const int session = sessionOfTheOther();

  const std::int64_t begin = steadyNow();
  overwrite(same_path, kModel);
  writeSame();
  writeFileAtomically(folder_ / "m.json", R"({"name": "renamed"})");
  const auto renamed = until([&](const InferenceResult& now) { return now.model->facts.name == "renamed"; });
  EXPECT_GT(renamed.session, before.session);
  EXPECT_EQ(renamed.model_digest, vision::modelDigest(path));
  EXPECT_NE(renamed.model_digest, before.model_digest);
  std::this_thread::sleep_for(std::chrono::milliseconds(begin + 5000 - steadyNow()));  // two looks and more
  EXPECT_EQ(sessionOfTheOther(), session);
  EXPECT_EQ(events_.size(), 0u);
}

TEST(FollowedFiles, AChangeCountsOnceTwoLooksAgree) {
  const mpm::test::TemporaryFolder folder;
  const std::string first = folder / "a", second = folder / "b";
  writeFileAtomically(first, "1");
  FollowedFiles files({first, second});
  std::int64_t now = 0;
  const auto look = [&] { return files.changed(now += 2000); };
  EXPECT_FALSE(look());
  writeFileAtomically(second, "1");
  EXPECT_FALSE(files.asBefore());
  EXPECT_FALSE(look()) << "it may be half written";
  writeFileAtomically(second, "22");
  EXPECT_FALSE(look()) << "it still changes";
  EXPECT_FALSE(files.changed(now + 1999)) << "too early for a look";
  EXPECT_TRUE(look());
  EXPECT_TRUE(files.asBefore());
  EXPECT_FALSE(look());
  fs::remove(second);
  look();
  EXPECT_TRUE(look());
  fs::remove(first);
  look();
  EXPECT_FALSE(look()) << "without the first one there is nothing to read";
  writeFileAtomically(first, "2");
  look();
  EXPECT_TRUE(look());
  FollowedFiles earlier({first}, FollowedFiles::Read::kEarlier);
  earlier.changed(now += 2000);
  EXPECT_TRUE(earlier.changed(now += 2000));
  EXPECT_FALSE(earlier.changed(now += 2000));
}

TEST_F(RunningInference, AModelOfDepthTakesOver) {
  const std::string path = std::string(MPM_TEST_DATA_DIR) + "/hf_dpt_depth_ts17.onnx";
  worker_.setModel(path, mpmBefore({1, 2}));
  worker_.setCompare(kFullModel);
  const auto result = until([&](const InferenceResult& now) { return now.model_path == path && now.compared; });
  EXPECT_EQ(result.estimate.task, Task::kDepth);
  EXPECT_EQ(result.estimate.depth.size(), result.frame.image.size());
  EXPECT_TRUE(result.estimate.labels.empty());
  EXPECT_EQ(result.estimate.tokens.size(), 3u);
  EXPECT_LT(result.estimate.depth_range.min, result.estimate.depth_range.max);
  EXPECT_EQ(result.compared->estimate.tokens.size(), 1u);
  EXPECT_FALSE(result.compared->estimate.depth.empty());
  worker_.setRefine(Refine::kGuided);
  ASSERT_TRUE(eventually([&] { return toldOf("the model before it goes on"); })) << "it has no labels";
  worker_.setReduction(mpmBefore({1}));
  until([](const InferenceResult& now) { return now.estimate.tokens.size() == 2; });
}

TEST_F(InferenceWorkerTest, ChoosesReuseForAModelThatDoesNotMerge) {
  InferenceWorker worker(frames_, kModel, options({}), callbacks(), true);
  const auto whole = one();
  EXPECT_TRUE(whole.reuse.on);
  EXPECT_TRUE(whole.estimate.reuse);
  worker.setReduction(mpmBefore({1, 2}));
  until([](const InferenceResult& result) { return !result.reuse.on && !result.estimate.reuse; });  // counts tokens
  worker.setModel(std::string(MPM_TEST_DATA_DIR) + "/beit_ts17.onnx", kFullModel);
  // Attention with biases of pairs cannot reuse rows.
  until([](const InferenceResult& result) { return result.model_path != kModel && !result.reuse.on; });
  EXPECT_TRUE(events_.all().empty());
}

// What is reused of a frame, or of a part that was looked at before, is not of this part.
TEST_F(InferenceWorkerTest, LooksAtAPartOfTheFrameAsAtAPictureOfItsOwn) {
  for (const bool reuse : {false, true}) {
    SCOPED_TRACE(reuse);
    EstimatorOptions with = options(reuse ? Schedule{} : Schedule{1, 2});
    with.features = true;
    Estimator direct(kModel, with);
    Collected<double> differences;
    const auto look = [&](const InferenceResult& result) {
      const cv::Mat part = result.frame.image(cv::Rect(0, 0, 24, 12)).clone(), nearly = part + cv::Scalar::all(1);
      for (const cv::Mat& picture : {part, nearly, result.frame.image(cv::Rect(50, 20, 24, 12)).clone(), part}) {
        differences.add(cv::norm(result.look(picture).features, direct.estimate(picture).features, cv::NORM_INF));
      }
    };
    const InferenceWorker worker(frames_, kModel, with, {.on_result = look, .on_event = {}}, reuse);
    EXPECT_TRUE(eventually([&] {
      put();
      return differences.size() >= 9;
    }));
    for (const double difference : differences.all()) EXPECT_EQ(difference, 0);
  }
}

TEST_F(InferenceWorkerTest, SegmentsComeWithTheLabels) {
  const std::string path = folder_ / "m.onnx";
  fs::copy_file(std::string(MPM_TEST_DATA_DIR) + "/hf_eomt_ts17.onnx", path);
  std::ofstream(folder_ / "m.json") << R"({"task": "panoptic"})";
  EstimatorOptions loose = options();
  loose.min_score = 0.2;
  loose.min_overlap = 0.1;
  const InferenceWorker worker(frames_, path, loose, callbacks());
  const auto result = one();
  EXPECT_EQ(result.estimate.task, Task::kPanoptic);
  EXPECT_GT(result.estimate.segments.size(), 0u);
  EXPECT_EQ(result.estimate.ids.size(), result.frame.image.size());
  EXPECT_EQ(result.estimate.labels.size(), result.frame.image.size()) << "the areas of classes are those of labels";
}

TEST_F(InferenceWorkerTest, AModelThatFailsOnItsFirstFrameIsTakenBack) {
  writeModelThatOverflows(kModel, folder_ / "large.onnx");
  InferenceWorker worker(frames_, kModel, options(), callbacks());
  const auto before = one();
  worker.setModel(folder_ / "large.onnx", mpmBefore({1, 2}));
  const auto after = one();  // the frame that the new one failed on goes to the old one
  EXPECT_EQ(after.model_path, kModel);
  EXPECT_EQ(after.session, before.session);
  EXPECT_TRUE(eventually([&] { return toldOf("fails on its first frame"); })) << "told after the frame";
  EXPECT_EQ(worker.status().failed, 0);
  EXPECT_EQ(worker.status().model, kModel);
}

TEST_F(InferenceWorkerTest, AnErrorOfEveryFrameIsReportedOnce) {
  writeModelThatOverflows(kModel, folder_ / "large.onnx");
  InferenceWorker worker(frames_, folder_ / "large.onnx", options(), callbacks());
  ASSERT_TRUE(eventually([&] {
    put();
    return worker.status().failed >= 5;
  }));
  EXPECT_EQ(events_.size(), 1u);
  EXPECT_EQ(results_.size(), 0u);
  worker.setModel(kModel, mpmBefore({1}));
  one();  // it goes on with a good one
}

TEST_F(InferenceWorkerTest, AReceiverThatFailsGetsTheNextResult) {
  InferenceWorker::Callbacks failing = callbacks();
  std::atomic<int> handed_over = 0;
  failing.on_result = [&](const InferenceResult&) {
    ++handed_over;
    throw std::runtime_error("no such disk");
  };
  const InferenceWorker worker(frames_, kModel, options(), failing);
  ASSERT_TRUE(eventually([&] {
    put();
    return handed_over >= 3;
  }));
  EXPECT_TRUE(toldOf("no such disk"));
  EXPECT_EQ(events_.size(), 1u) << "reported once, not with every frame";
  EXPECT_TRUE(eventually([&] { return worker.status().lost >= 3; }));
  EXPECT_EQ(worker.status().failure, "a result was lost: no such disk");
}

TEST_F(InferenceWorkerTest, WaitsForItsFirstModel) {
  InferenceWorker worker(frames_, "", options(), callbacks());
  put();
  EXPECT_EQ(worker.status().processed, 0);
  worker.setModel(folder_ / "none.onnx");
  ASSERT_TRUE(eventually([&] { return toldOf("none.onnx"); }));
  worker.setModel(kModel, mpmBefore({}));
  one();
}

TEST_F(RunningInference, FramesOfAnotherStreamAreDropped) {
  worker_.setStream(1);
  ASSERT_TRUE(eventually([&] {
    put(0);
    return worker_.status().stale >= 3;
  }));
  const std::int64_t processed = worker_.status().processed, stale = worker_.status().stale;
  put(0);
  ASSERT_TRUE(eventually([&] { return worker_.status().stale > stale; }));
  EXPECT_EQ(worker_.status().processed, processed);
  put(1);
  ASSERT_TRUE(eventually([&] { return results_.size() > 0 && results_.all().back().frame.stream == 1; }));
}

TEST_F(RunningInference, AResultIsDroppedWhereTheSettingsChangedMeanwhile) {
  EXPECT_TRUE(eventually([&, block = 1]() mutable {
    put();
    worker_.setReduction(mpmBefore({block = 3 - block}));
    return worker_.status().stale > 0;
  })) << "a frame of a camera, where the next one comes anyway, is not run again";
}

TEST_F(InferenceWorkerTest, ComparesWithTheFullModel) {
  InferenceWorker worker(frames_, kModel, options(), callbacks());
  worker.setCompare(kFullModel);
  const auto result = until([](const InferenceResult& now) { return now.compared.has_value(); });
  EXPECT_EQ(result.compared->estimate.tokens.size(), 1u);
  EXPECT_EQ(result.compared->estimate.labels.size(), result.estimate.labels.size());
  Estimator full(kModel, options({}));
  EXPECT_EQ(cv::countNonZero(full.estimate(result.frame.image).labels != result.compared->estimate.labels), 0);
  EXPECT_MPM_ERROR(worker.setCompare(mpmBefore({2, 1})), "");
}

// What was looked at when the source was paused answers to a change.
TEST_F(RunningInference, AFrameIsRepeatedWhilePaused) {
  EXPECT_FALSE(first_.repeated);
  worker_.setPaused(true);
  worker_.setReduction(mpmBefore({1}));
  worker_.repeat(first_.frame);
  ASSERT_TRUE(eventually([&] { return results_.all().back().repeated; }));
  const InferenceResult again = results_.all().back();
  EXPECT_EQ(again.frame.id, first_.frame.id);
  EXPECT_EQ(again.frame.image.data, first_.frame.image.data);
  EXPECT_EQ(again.model->schedule(), Schedule{1});
  const auto dropped = worker_.status().stale;
  worker_.setStream(1);
  worker_.repeat(first_.frame);
  EXPECT_TRUE(eventually([&] { return worker_.status().stale > dropped; })) << "of a source that is closed";
  EXPECT_TRUE(results_.all().back().repeated);
  worker_.setStream(0);
  worker_.setPaused(false);
  const auto next = one();
  EXPECT_FALSE(next.repeated);
}

TEST_F(RunningInference, PausesAndKeepsItsPace) {
  worker_.setPaused(true);
  ASSERT_TRUE(eventually([&] {  // the one in hand may still come
    const auto before = worker_.status().processed;
    put();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    return worker_.status().processed == before;
  }));
  worker_.setPaused(false);
  worker_.setStream(0, 0.2);
  const std::int64_t start = steadyNow();
  const std::int64_t before = worker_.status().processed;
  ASSERT_TRUE(eventually([&] {
    put();
    return worker_.status().processed >= before + 5;
  }));
  EXPECT_GE(steadyNow() - start, 3 * 200) << "five results, four intervals, the first may have begun before";
}

}  // namespace
}  // namespace mpm::monitor::test
