// SPDX-License-Identifier: Apache-2.0
// The trainings of the Teach mode, on a small ViT.
#include "gui/models/trainer.h"

#include <QTest>
#include <QtWidgets>
#include <filesystem>
#include <latch>
#include <opencv2/imgcodecs.hpp>

#include "gui/models/label_store.h"
#include "text.h"
#include "vision/labels/label_folder.h"

namespace mpm::gui {
namespace {

class Trainer : public ::testing::Test {
 protected:
  Trainer() {
    QObject::connect(&trainer_, &LiveTrainer::predicted, [this](const QString& picture) { answered_ << picture; });
    QObject::connect(&trainer_, &LiveTrainer::failed, [this](const QString& why) { failures_ << why; });
  }
  TrainerJob job() const {
    const vision::LabelFolder folder(folder_.path().toStdString());
    TrainerJob job{folder_.path(), MPM_TEST_DATA_DIR "/timm_vit_ts17.onnx", kFullModel, 5, folder.classes()};
    for (const std::string& name : folder.labelled()) job.labels[QString::fromStdString(name)] = folder.labels(name);
    return job;
  }
  // Dark above, bright below; labelled so where `strokes`.
  void add(const std::string& name, bool strokes) const {
    vision::LabelFolder folder(folder_.path().toStdString(), vision::LabelFolder::Access::kWrite);
    if (folder.classes().count() == 0) folder.setClasses({{"low"}, {"high"}});
    cv::Mat picture(64, 64, CV_8UC3, cv::Scalar(20, 30, 40)), labels(64, 64, CV_8U, cv::Scalar(0));
    picture.rowRange(32, 64).setTo(cv::Scalar(200, 220, 240));
    labels.rowRange(32, 64).setTo(1);
    folder.addPicture(name, picture);
    if (strokes) folder.saveLabels(name, labels);
  }
  QString picture(const char* name) const { return folder_.filePath(QStringLiteral("pictures/%1.png").arg(name)); }
  static bool wait(const std::function<bool()>& done) { return QTest::qWaitFor(done, 20000); }
  // Until all that was asked is answered: a question that fails comes behind it.
  void waitForAll() {
    trainer_.suggest(job(), {}, 1);
    ASSERT_TRUE(wait([&] { return !failures_.isEmpty(); }));
  }

  QTemporaryDir folder_;
  LiveTrainer trainer_;
  QStringList answered_, failures_;
};

TEST_F(Trainer, AnswersTheLastOfSeveralQuestions) {
  for (const char* name : {"a", "b", "c"}) add(name, true);
  cv::Mat labels;
  std::size_t unsure = 0;
  QObject::connect(&trainer_, &LiveTrainer::predicted, [&](const auto&, const auto& what, const auto& cells) {
    labels = what;
    unsure = cells.size();
  });
  for (const char* name : {"a", "b", "a", "c"}) trainer_.ask(job(), name);
  ASSERT_TRUE(wait([&] { return answered_.contains("c"); }));
  EXPECT_LE(answered_.size(), 2) << "the one that was in work, and the last";
  const int half = labels.rows / 2, area = half * labels.cols;
  EXPECT_GT(cv::countNonZero(labels.rowRange(0, half) == 0), area * 8 / 10);
  EXPECT_GT(cv::countNonZero(labels.rowRange(half, labels.rows) == 1), area * 8 / 10);
  EXPECT_LT(unsure, 8U) << "of 16 cells";
}

// Everything that was read once stays in memory: files that changed behind the app must not matter.
TEST_F(Trainer, AStrokeReadsNoFileAgain) {
  for (const char* name : {"a", "b", "c"}) add(name, true);
  LabelStore store(folder_.path());
  LabelState state;
  int announced = 0;
  QObject::connect(&store, &LabelStore::changed, [&](const LabelState& now) {
    state = now;
    ++announced;
  });
  QObject::connect(&store, &LabelStore::failed, [&](const QString& why) { failures_ << why; });
  store.open();
  ASSERT_TRUE(wait([&] { return announced == 1; }));
  ASSERT_EQ(state.labels.size(), 3);
  TrainerJob work = job();
  work.labels = state.labels;
  trainer_.ask(work, "a");
  ASSERT_TRUE(wait([&] { return answered_.size() == 2; })) << "with a, and with all";

  namespace fs = std::filesystem;
  for (const char* kind : {"pictures", "labels"}) {
    for (const auto& file : fs::directory_iterator(folder_.filePath(kind).toStdString())) {
      const auto written = fs::last_write_time(file);
      std::ofstream(file.path(), std::ios::trunc) << "no picture";
      fs::last_write_time(file, written);
    }
  }
  bool read = false;
  store.read("nothing", [&](const cv::Mat&, const cv::Mat&) { read = true; });
  ASSERT_TRUE(wait([&] { return !failures_.isEmpty(); }));
  EXPECT_EQ(announced, 1) << "reading announces nothing";
  failures_.clear();
  cv::Mat stroke(64, 64, CV_8U, cv::Scalar(1));
  stroke(cv::Rect(0, 0, 8, 8)).setTo(0);
  store.save("a", stroke);
  ASSERT_TRUE(wait([&] { return announced == 2; }));
  EXPECT_EQ(state.progress.pictures, 3);
  ASSERT_EQ(state.counts.size(), 6U);
  EXPECT_EQ(state.counts[0], (LabelCount{"a", 0, 64, 64 / 4096.0}));
  work.labels = state.labels;
  trainer_.ask(work, "a");
  ASSERT_TRUE(wait([&] { return answered_.size() == 3 || !failures_.isEmpty(); }));
  EXPECT_EQ(failures_, QStringList());
  EXPECT_FALSE(read);
  const fs::path written_again = picture("a").toStdString();
  fs::last_write_time(written_again, fs::last_write_time(written_again) + std::chrono::hours(1));
  trainer_.ask(work, "a");
  EXPECT_TRUE(wait([&] { return !failures_.isEmpty(); })) << "it is no picture any more";
}

TEST_F(Trainer, StatesThatWaitToBeSavedAreWhenTheWindowCloses) {
  add("a", false);
  {
    StateTrainer states(folder_.path());
    for (int i = 0; i < 50; ++i) states.open(QStringLiteral("picture"));  // save() waits behind them
    states.save(QStringLiteral("picture"), {{QStringLiteral("a"), QStringLiteral("high")}});
  }
  QFile file(folder_.filePath(QStringLiteral("states/picture.csv")));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll(), "picture,state\n../pictures/a.png,high\n");
}

TEST_F(Trainer, StatesOfPicturesThatAreGoneAreForgottenAndEachSetHasItsFile) {
  for (const char* name : {"a", "b", "c"}) add(name, false);
  StateTrainer states(folder_.path());
  QMap<QString, ShownStates> opened;
  QStringList names;
  QObject::connect(&states, &StateTrainer::listed, [&](const QStringList& all) { names = all; });
  QObject::connect(&states, &StateTrainer::opened, [&](const auto& name, const auto& shown) { opened[name] = shown; });
  QObject::connect(&states, &StateTrainer::failed, [&](const QString& why) { failures_ << why; });
  const QString gate = QStringLiteral("ворота"), lights = QStringLiteral("фонари");  // as many bytes
  states.save(gate, {{"a", "open"}, {"b", "shut"}, {"c", "open"}});                  // of equal pictures
  states.save(lights, {{"a", "on"}});
  states.open(lights);
  ASSERT_TRUE(wait([&] { return !opened.isEmpty(); }));
  ASSERT_TRUE(QFile::remove(picture("c")));
  write(states.file(gate), "no head");
  states.open(gate);
  ASSERT_TRUE(wait([&] { return !failures_.isEmpty(); }));
  EXPECT_EQ(opened[gate], (ShownStates{{"a", "open"}, {"b", "shut"}}));
  EXPECT_EQ(opened[lights], (ShownStates{{"a", "on"}}));
  EXPECT_EQ(names, QStringList({gate, lights}));
}

TEST_F(Trainer, FilesThatAreNoPicturesAreLeftOut) {
  for (const char* name : {"1.png", "3.png"})
    cv::imwrite(folder_.filePath(name).toStdString(), cv::Mat(64, 64, CV_8UC3, cv::Scalar::all(9)));
  write(folder_.filePath("2.png"), "no picture");
  LabelStore store(folder_.path());
  QStringList added, pictures;
  QObject::connect(&store, &LabelStore::added, [&](const QString& name) { added << name; });
  QObject::connect(&store, &LabelStore::failed, [&](const QString& why) { failures_ << why; });
  QObject::connect(&store, &LabelStore::changed, [&](const LabelState& now) { pictures = now.pictures; });
  store.addFiles({folder_.filePath("1.png"), folder_.filePath("2.png"), folder_.filePath("3.png")});
  ASSERT_TRUE(wait([&] { return !pictures.isEmpty(); }));
  EXPECT_EQ(pictures, QStringList({"1", "3"}));
  EXPECT_EQ(added, QStringList("3")) << "once";
  ASSERT_EQ(failures_.size(), 1);
  EXPECT_THAT(failures_[0], Has("2.png"));
}

TEST_F(Trainer, AnotherWindowDoesNotWriteTheseLabels) {
  add("a", false);
  LabelStore store(folder_.path()), other(folder_.path());
  bool opened = false, changed = false;
  QObject::connect(&store, &LabelStore::changed, [&] { opened = true; });
  QObject::connect(&other, &LabelStore::failed, [&](const QString& why) { failures_ << why; });
  store.open();
  ASSERT_TRUE(wait([&] { return opened; }));
  other.change([&](vision::LabelFolder&) { changed = true; });
  ASSERT_TRUE(wait([&] { return !failures_.isEmpty(); }));
  EXPECT_THAT(failures_[0], Has("is open in another window"));
  EXPECT_FALSE(changed);
}

TEST_F(Trainer, AStrokeThatWaitsForTheDiskIsInTheState) {
  add("a", true);
  std::latch gate(1);
  LabelStore store(folder_.path());
  std::optional<LabelState> state;
  QObject::connect(&store, &LabelStore::changed, [&](const LabelState& now) { state = now; });
  store.open();
  store.look([&](const vision::LabelFolder&) { gate.wait(); }, {});
  store.save("a", cv::Mat(64, 64, CV_8U, cv::Scalar(1)));
  EXPECT_TRUE(wait([&] { return state.has_value(); }));
  gate.count_down();
  EXPECT_EQ(cv::countNonZero(state->labels["a"]), 64 * 64);
  store.change([](vision::LabelFolder& folder) { folder.mergeClass(1, 0); });
  EXPECT_TRUE(wait([&] { return state->classes.count() == 1; }));
  EXPECT_EQ(cv::countNonZero(state->labels["a"]), 0);
  store.save("a", cv::Mat(64, 64, CV_8U, cv::Scalar(255)));
  EXPECT_TRUE(wait([&] { return state->labels.isEmpty() && state->progress.pictures == 0; })) << "all is erased";
  store.change([](vision::LabelFolder& folder) { folder.removePicture("a"); });
  EXPECT_TRUE(wait([&] { return state->pictures.isEmpty(); }));
  EXPECT_TRUE(state->labels.isEmpty() && state->counts.empty());
  store.change([](vision::LabelFolder& folder) {
    folder.addPicture("a", cv::Mat(8, 4, CV_8UC3, cv::Scalar::all(9)));
    folder.saveLabels("a", cv::Mat(8, 4, CV_8U, cv::Scalar(0)));
  });
  EXPECT_TRUE(wait([&] { return !state->counts.empty(); }));
  EXPECT_EQ(state->counts[0], (LabelCount{"a", 0, 32, 1})) << "of the picture that has the name now";
}

TEST_F(Trainer, OtherClassesBeginAnew) {
  for (const char* name : {"a", "b"}) add(name, true);
  TrainerJob work = job();
  trainer_.ask(work, "a");
  ASSERT_TRUE(wait([&] { return answered_.size() == 2; })) << "with a, and with both";
  work.classes.classes.push_back({"more"});
  trainer_.ask(work, "a");
  ASSERT_TRUE(wait([&] { return answered_.size() == 3; }));
  EXPECT_EQ(failures_, QStringList());
  TrainerJob ignored = work, erased = work;
  ignored.classes.ignore = 1;  // what was bright
  for (cv::Mat& map : erased.labels) map = cv::Mat(64, 64, CV_8U, cv::Scalar(0));
  for (const TrainerJob* one : {&ignored, &work, &erased}) {
    trainer_.ask(*one, "a");
    answered_.clear();
    failures_.clear();
    ASSERT_TRUE(wait([&] { return !answered_.isEmpty() || !failures_.isEmpty(); }));
    EXPECT_THAT(failures_.value(0, "answer"), Has(one == &work ? "answer" : "label two classes"));
  }
}

TEST_F(Trainer, ComparesFilesBehindThePictureOnShow) {
  add("a", true);
  add("b", false);
  cv::imwrite(picture("other").toStdString(), cv::Mat(64, 64, CV_8UC3, cv::Scalar(0, 0, 250)));
  QObject::connect(&trainer_, &LiveTrainer::suggested, [&](const QStringList& files) { answered_ << files; });
  trainer_.ask(job(), "a");
  trainer_.suggest(job(), {picture("gone"), picture("b"), picture("other")}, 2);
  trainer_.ask(job(), "b");
  ASSERT_TRUE(wait([&] { return answered_.contains(picture("other")); }));
  answered_.removeAll("a");  // which a fast answer is about
  EXPECT_EQ(answered_, (QStringList{"b", picture("other")})) << "b is like a, which is labelled";
}

TEST_F(Trainer, AnswersFirstWithWhatItHasLookedAt) {
  for (const char* name : {"a", "b", "c"}) add(name, true);
  trainer_.ask(job(), "b");
  ASSERT_TRUE(wait([&] { return answered_.size() == 2; })) << "with b, and with all";
  trainer_.ask(job(), "a");
  ASSERT_TRUE(wait([&] { return answered_.size() == 3; }));
  waitForAll();
  EXPECT_EQ(answered_.size(), 3) << "all are known";
}

TEST_F(Trainer, SaysWhyThereIsNoAnswer) {
  add("a", false);
  TrainerJob nowhere = job();
  nowhere.model = folder_.filePath("none.onnx");
  for (const TrainerJob& work : {nowhere, job(), nowhere}) {
    trainer_.ask(work, "a");
    const auto before = failures_.size();
    ASSERT_TRUE(wait([&] { return failures_.size() > before; }));
  }
  add("b", true);
  trainer_.ask(job(), "missing");
  ASSERT_TRUE(wait([&] { return failures_.size() == 4; }));
  for (const int i : {0, 2}) EXPECT_THAT(failures_[i], Has("none.onnx"));
  EXPECT_THAT(failures_[1], Has("label two classes"));
  EXPECT_THAT(failures_[3], Has("missing"));
}

TEST_F(Trainer, GivesNoAnswerOnceStoppedAndBeginsAgain) {
  add("a", true);
  trainer_.ask(job(), "a");
  trainer_.stop();
  trainer_.ask(job(), "a");
  ASSERT_TRUE(wait([&] { return !answered_.isEmpty(); }));
  waitForAll();
  EXPECT_EQ(answered_.size(), 1);
}

TEST_F(Trainer, ATrainingTellsHowFarItIsAndHowItEnds) {
  add("a", true);
  add("b", true);
  QStringList ends;
  QList<double> shares;
  const auto run = [&](const TrainerJob& work, const char* name, bool cancel) {
    shares.clear();
    Job job(training(work, folder_.filePath(name)));
    QObject::connect(&job, &Job::progressed, [&](int done, int of) { shares << static_cast<double>(done) / of; });
    QObject::connect(&job, &Job::finished, [&](const QVariant& path) { ends << path.toString(); });
    QObject::connect(&job, &Job::failed, [&](const QString& why) { ends << why; });
    QObject::connect(&job, &Job::cancelled, [&] { ends << "cancelled"; });
    const auto before = ends.size();
    if (cancel) {
      EXPECT_TRUE(wait([&] { return !shares.isEmpty(); }));
      job.cancel();
    }
    EXPECT_TRUE(wait([&] { return ends.size() > before; }));
  };
  run(job(), "v1.onnx", false);
  EXPECT_EQ(shares.back(), 1);
  const auto model = readTaughtModel(folder_.filePath("v1.onnx"));
  ASSERT_TRUE(model && model->verdict);
  EXPECT_EQ(model->pictures, 2);
  TrainerJob endless = job();
  endless.steps = 1000000;
  run(endless, "v2.onnx", true);
  vision::LabelFolder(folder_.path().toStdString(), vision::LabelFolder::Access::kWrite)
      .setClasses({{"low"}, {"high"}, {"more"}});
  run(job(), "v4.onnx", false);
  ASSERT_EQ(ends.size(), 3);
  EXPECT_EQ(ends[0], folder_.filePath("v1.onnx"));
  EXPECT_EQ(ends[1], "cancelled");
  EXPECT_THAT(ends[2], Has("no pixel is labelled 'more'"));
  for (const char* name : {"v2.onnx", "v4.onnx"}) EXPECT_FALSE(QFile::exists(folder_.filePath(name)));
}

TEST_F(Trainer, ReadsTheVerdictOfItsModels) {
  for (const char* name : {"v1.onnx", "v2.onnx", "v3.onnx", "v4.onnx"}) write(folder_.filePath(name), "x");
  write(folder_.filePath("v1.json"),
        R"({"classes": [{"name": "ice"}, {"name": "rock"}], "taught": {"pictures": 3, "cross_validation":
    {"rounds": 3, "miou": 61.5, "pixel_accuracy": 80.1, "iou": {}, "pictures": [3, 1], "confusion": [[90, 10], [5, 5]]}}})");
  write(folder_.filePath("v2.json"), R"({"taught": {"pictures": 1, "cross_validation": null}})");
  write(folder_.filePath("v3.json"), R"({"classes": []})");
  const auto models = taughtModels(folder_.path());
  ASSERT_EQ(models.size(), 2U);
  EXPECT_THAT(models[0].path, Has("v2.onnx")) << "the newest";
  const auto first = readTaughtModel(folder_.filePath("v1.onnx"));
  ASSERT_TRUE(first && first->verdict);
  EXPECT_EQ(first->pictures, 3);
  EXPECT_EQ(first->verdict->miou, 61.5);
  ASSERT_EQ(first->verdict->verdicts.size(), 2U);
  using Grade = evaluation::ClassVerdict::Grade;
  EXPECT_EQ(first->verdict->verdicts[0].grade, Grade::kGood);
  EXPECT_EQ(first->verdict->verdicts[0].taken_for.front().first, 1);
  EXPECT_EQ(first->verdict->verdicts[1].grade, Grade::kUntested);
  EXPECT_FALSE(readTaughtModel(folder_.filePath("v2.onnx"))->verdict);
}

// The app stays, and says what is wrong.
TEST_F(Trainer, NonsenseInClassesJsonIsSaid) {
  for (const char* text :
       {"", "[7]", R"({"classes": [{"name": "a"}], "ignore": 255.7})", R"({"classes": {"a": []}})"}) {
    write(folder_.filePath("classes.json"), text);
    LabelStore store(folder_.path());
    QString why;
    QObject::connect(&store, &LabelStore::failed, [&](const QString& message) { why = message; });
    store.open();
    ASSERT_TRUE(wait([&] { return !why.isEmpty(); })) << text;
    EXPECT_THAT(why, AllOf(Has("classes.json"), Not(Has("exception"))));
  }
}

}  // namespace
}  // namespace mpm::gui
