// SPDX-License-Identifier: Apache-2.0
// The processes of the Teach mode, with a script in place of mpm-train.
#include "gui/models/trainer.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "gui/models/label_store.h"
#include "gui/models/taught_model.h"

namespace mpm::gui {
namespace {

class Trainer : public ::testing::Test {
 protected:
  QString program(const char* script) const {
    const QString path = folder_.filePath(QStringLiteral("trainer"));
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\n");
    file.write(script);
    file.close();
    file.setPermissions(file.permissions() | QFile::ExeOwner);
    return path;
  }
  TrainerJob job() const { return {folder_.path(), QStringLiteral("m.onnx")}; }
  static bool wait(const std::function<bool()>& done) { return QTest::qWaitFor(done, 20000); }

  QTemporaryDir folder_;
};

TEST_F(Trainer, AnswersTheLastOfSeveralQuestions) {
  LiveTrainer trainer(program(R"(while read -r line; do
  sleep 0.3
  echo '{"ok": true, "size": {"height": 2, "width": 3}, "runs": [1, 4, 0, 2]}'
done)"));
  QStringList answered;
  cv::Mat labels;
  QObject::connect(&trainer, &LiveTrainer::predicted, [&](const QString& picture, const cv::Mat& what) {
    answered << picture;
    labels = what;
  });
  for (const char* picture : {"a", "b", "c", "d"}) trainer.ask(job(), QString::fromLatin1(picture));
  ASSERT_TRUE(wait([&] { return answered.size() == 2; }));
  EXPECT_EQ(answered, (QStringList{QStringLiteral("a"), QStringLiteral("d")}));
  EXPECT_EQ(labels.size(), cv::Size(3, 2));
  EXPECT_EQ(cv::countNonZero(labels == 1), 4);
  EXPECT_FALSE(trainer.busy());
}

TEST_F(Trainer, ComparesFilesBehindThePictureOnShow) {
  LiveTrainer trainer(program(R"(while read -r line; do
  case $line in
    *candidates*) echo "$line" >> "$0.asked"; echo '{"ok": true, "next": ["/b.png"]}' ;;
    *) sleep 0.3; echo '{"ok": true, "size": {"height": 1, "width": 2}, "runs": [0, 2], "unsure": [3, 5]}' ;;
  esac
done)"));
  QStringList order;
  QObject::connect(&trainer, &LiveTrainer::predicted,
                   [&](const QString& picture, const cv::Mat&, const std::vector<int>& unsure) {
                     order << picture;
                     EXPECT_EQ(unsure, (std::vector<int>{3, 5}));
                   });
  QObject::connect(&trainer, &LiveTrainer::suggested, [&](const QStringList& files) { order << files; });
  trainer.ask(job(), QStringLiteral("x"));
  trainer.suggest(job(), {QStringLiteral("/a.png"), QStringLiteral("/b.png")}, 2);
  trainer.ask(job(), QStringLiteral("y"));
  ASSERT_TRUE(wait([&] { return order.size() == 3; }));
  EXPECT_EQ(order, (QStringList{QStringLiteral("x"), QStringLiteral("y"), QStringLiteral("/b.png")}));
  QFile asked(folder_.filePath(QStringLiteral("trainer.asked")));
  ASSERT_TRUE(asked.open(QIODevice::ReadOnly));
  EXPECT_EQ(asked.readAll(), "{\"candidates\":[\"/a.png\",\"/b.png\"],\"count\":2}\n");
}

TEST_F(Trainer, ItsDeathIsOneLineAndTheNextStrokeStartsItAgain) {
  LiveTrainer trainer(program(R"(read -r line
if [ -e "$0.again" ]; then echo '{"ok": false, "why": "nothing is labelled yet"}'; fi
touch "$0.again"
sleep 60)"));
  QSignalSpy failed(&trainer, &LiveTrainer::failed);
  trainer.ask(job(), QStringLiteral("a"));
  ASSERT_TRUE(wait([&] { return QFile::exists(folder_.filePath(QStringLiteral("trainer.again"))); }));
  ::kill(static_cast<pid_t>(trainer.processId()), SIGKILL);
  ASSERT_TRUE(wait([&] { return failed.count() == 1; }));
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("killed")));
  trainer.ask(job(), QStringLiteral("a"));
  ASSERT_TRUE(wait([&] { return failed.count() == 2; }));
  EXPECT_EQ(failed[1][0].toString(), QStringLiteral("nothing is labelled yet"));
}

TEST_F(Trainer, SaysWhyItCannotBegin) {
  LiveTrainer refusing(program("echo 'mpm-train: error: no model m.onnx' >&2; exit 1"));
  QSignalSpy refused(&refusing, &LiveTrainer::failed);
  refusing.ask(job(), QStringLiteral("a"));
  ASSERT_TRUE(wait([&] { return refused.count() == 1; }));
  EXPECT_EQ(refused[0][0].toString(), QStringLiteral("no model m.onnx"));
  LiveTrainer missing(folder_.filePath(QStringLiteral("nowhere")));
  QSignalSpy failed(&missing, &LiveTrainer::failed);
  missing.ask(job(), QStringLiteral("a"));
  ASSERT_TRUE(wait([&] { return failed.count() == 1; }));
  EXPECT_TRUE(failed[0][0].toString().contains(QStringLiteral("nowhere")));
}

TEST_F(Trainer, ATrainingTellsHowFarItIsAndHowItEnds) {
  const QString model = folder_.filePath(QStringLiteral("v1.onnx"));
  QStringList ends;
  QList<double> shares;
  const auto run = [&](const char* script, bool cancel) {
    TrainingRun training(program(script), job(), model);
    QObject::connect(&training, &TrainingRun::progressed, [&](double share, double) { shares << share; });
    QObject::connect(&training, &TrainingRun::finished, [&](const QString& path) { ends << path; });
    QObject::connect(&training, &TrainingRun::failed, [&](const QString& why) { ends << why; });
    QObject::connect(&training, &TrainingRun::cancelled, [&] { ends << QStringLiteral("cancelled"); });
    const auto before = ends.size();
    if (cancel) {
      EXPECT_TRUE(wait([&] { return !shares.isEmpty(); }));
      training.cancel();
    }
    EXPECT_TRUE(wait([&] { return ends.size() > before; }));
  };
  run(R"(echo '{"progress": 0.5}'; echo '{"progress": 1.0}'; echo '{"model": "v1"}')", false);
  EXPECT_EQ(shares, (QList<double>{0.5, 1.0}));
  run("echo 'mpm-train: error: no pixel is labelled' >&2; exit 1", false);
  shares.clear();
  run(R"(echo '{"progress": 0.1}'; exec sleep 60)", true);
  run("kill -9 $$", false);
  ASSERT_EQ(ends.size(), 4);
  EXPECT_EQ(ends[0], model);
  EXPECT_EQ(ends[1], QStringLiteral("no pixel is labelled"));
  EXPECT_EQ(ends[2], QStringLiteral("cancelled"));
  EXPECT_TRUE(ends[3].contains(QStringLiteral("killed")));
}

TEST_F(Trainer, ReadsTheVerdictOfItsModels) {
  const auto write = [&](const char* name, const QByteArray& text) {
    QFile file(folder_.filePath(QString::fromLatin1(name)));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  };
  write("v1.onnx", "x");
  write("v1.json", R"({"classes": [{"name": "ice"}, {"name": "rock"}], "taught": {"pictures": 3, "cross_validation":
    {"rounds": 3, "miou": 61.5, "pixel_accuracy": 80.1, "iou": {}, "pictures": [3, 1], "confusion": [[90, 10], [5, 5]]}}})");
  write("v2.onnx", "x");
  write("v2.json", R"({"taught": {"pictures": 1, "cross_validation": null}})");
  write("v3.onnx", "x");
  write("v3.json", R"({"classes": []})");
  write("v4.onnx", "x");
  const auto models = taughtModels(folder_.path().toStdString());
  ASSERT_EQ(models.size(), 2U);
  const auto first = readTaughtModel(folder_.filePath(QStringLiteral("v1.onnx")).toStdString());
  ASSERT_TRUE(first && first->verdict);
  EXPECT_EQ(first->pictures, 3);
  EXPECT_EQ(first->verdict->miou, 61.5);
  ASSERT_EQ(first->verdict->verdicts.size(), 2U);
  using Grade = vision::ClassVerdict::Grade;
  EXPECT_EQ(first->verdict->verdicts[0].grade, Grade::kGood);
  EXPECT_EQ(first->verdict->verdicts[0].taken_for.front().first, 1);
  EXPECT_EQ(first->verdict->verdicts[1].grade, Grade::kUntested);
  EXPECT_FALSE(readTaughtModel(folder_.filePath(QStringLiteral("v2.onnx")).toStdString())->verdict);
}

// The app stays, and says what is wrong.
TEST_F(Trainer, NonsenseInClassesJsonIsSaid) {
  for (const char* text :
       {"", "[7]", R"({"classes": [{"name": "a"}], "ignore": 255.7})", R"({"classes": {"a": []}})"}) {
    QFile file(folder_.filePath(QStringLiteral("classes.json")));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write(text);
    file.close();
    LabelStore store(folder_.path());
    QString why;
    QObject::connect(&store, &LabelStore::failed, [&](const QString& message) { why = message; });
    store.open();
    ASSERT_TRUE(wait([&] { return !why.isEmpty(); })) << text;
    EXPECT_TRUE(why.contains(QStringLiteral("classes.json"))) << why.toStdString();
    EXPECT_FALSE(why.contains(QStringLiteral("exception"))) << why.toStdString();
  }
}

}  // namespace
}  // namespace mpm::gui
