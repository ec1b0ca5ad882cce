// SPDX-License-Identifier: Apache-2.0
// Reductions for a camera, from the key to the choice.

#include "gui/views/reduction_panel.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class TuningTest : public Window {
 protected:
  TuneDialog* ask() {
    buttonOf(part<ReductionPanel>(), ReductionPanel::tr("Tune for this camera…"))->click();
    return window_->findChild<TuneDialog*>();
  }
  bool paused() const { return session().paused(); }
  static bool found(const TuneDialog* dialog) {
    return wait([&] { return buttonOf(dialog, "Use it")->isVisibleTo(dialog); });
  }
};

TEST_F(TuningTest, TakesTheNextFramesAndUsesWhatIsChosen) {
  ASSERT_TRUE(openAndWait());
  TuneDialog* dialog = ask();
  ASSERT_NE(dialog, nullptr);
  ASSERT_TRUE(found(dialog)) << textOf(dialog);
  EXPECT_FALSE(paused()) << "it went on again";
  auto* table = dialog->findChild<QTableWidget*>();
  ASSERT_GT(table->rowCount(), 4);
  EXPECT_GE(table->currentRow(), 0) << "the choice";
  QString other;
  for (int row = 0; row < table->rowCount() && other.isEmpty(); ++row) {
    const QString spec = table->item(row, 0)->text();
    if (spec == "the full model" || spec == "mpm:blocks=1,2") continue;
    table->setCurrentCell(row, 0);
    other = spec;
  }
  ASSERT_FALSE(other.isEmpty());
  buttonOf(dialog, "Use it")->click();
  ASSERT_TRUE(wait([&] { return toString(frame()->result.model->reduction) == other.toStdString(); })) << other;
  EXPECT_EQ(toString(part<ReductionPanel>()->editor()->reduction()), other.toStdString());
  EXPECT_TRUE(wait([&] { return !window_->findChild<TuneDialog*>() && session().status().finished; }));
  ASSERT_NE(ask(), nullptr) << "a folder that has ended has its pictures";
}

TEST_F(TuningTest, TakesStoredPicturesAndIsCancelled) {
  camera().open(file("street"));
  trigger("record");
  ASSERT_TRUE(wait([&] { return session().snapshots().recording().written >= 12; }));
  trigger("record");
  ASSERT_TRUE(wait([&] { return part<PictureStore>()->pictures().size() >= 12; }));
  TuneDialog* dialog = ask();
  ASSERT_NE(dialog, nullptr);
  EXPECT_TRUE(paused()) << "nothing has to be collected";
  EXPECT_THAT(textOf(dialog), Has("Measuring"));
  const QSignalSpy cancelled(window_->findChild<Job*>(), &Job::cancelled);
  dialog->reject();
  EXPECT_FALSE(paused());
  EXPECT_TRUE(wait([&] { return !window_->findChild<Job*>(); })) << "its thread ends";
  EXPECT_EQ(cancelled.count(), 1) << "before it has measured all";
  EXPECT_EQ(frame()->result.model->schedule(), (Schedule{1, 2})) << "nothing changed";

  // What was paused stays paused.
  EXPECT_TRUE(wait([&] { return !window_->findChild<TuneDialog*>(); }));
  trigger("pause");
  dialog = ask();
  ASSERT_TRUE(found(dialog)) << textOf(dialog);
  EXPECT_TRUE(paused());
  dialog->reject();
  EXPECT_TRUE(paused());
}

TEST(TuneDialog, ShowsTheTableAndWhatTheAgreementChooses) {
  TuneDialog dialog;
  dialog.showCollecting(10, 40);
  EXPECT_THAT(textOf(&dialog), Has("10 of 40"));
  auto rows = std::make_shared<std::vector<evaluation::TuneRow>>();
  for (const auto& [spec, speed_up, agreement] :
       {std::tuple("mpm:blocks=2,5", 1.6, 97.2), std::tuple("gradual:blocks=0-5:count=46", 1.5, 99.31),
        std::tuple("none", 1.0, 100.0)}) {
    rows->push_back({.variant = parseReduction(spec),
                     .against_full = {.agreement = {agreement, agreement - 0.125, agreement},
                                      .loss = {},
                                      .speed_up = {speed_up, speed_up - 0.05, speed_up + 0.05}}});
  }
  rows->back().against_full.agreement.low = 100;
  dialog.showRows(rows);
  EXPECT_THAT(textOf(&dialog).remove(QChar(0x200b)),
              Has("gradual:blocks=0-5:count=46 is the fastest that keeps the labels: 1.50 times as fast"));
  const auto* table = dialog.findChild<QTableWidget*>();
  EXPECT_EQ(table->currentRow(), 1);
  EXPECT_THAT(table->item(0, 3)->text(), Not(Begins("✓")));
  EXPECT_THAT(table->item(1, 3)->text(), Begins("✓"));

  auto* agreement = fieldOf<QDoubleSpinBox>(&dialog, "Least agreement");
  agreement->setValue(97);
  EXPECT_EQ(table->currentRow(), 0) << "97.075 by the lower end";
  agreement->setValue(99.9);
  EXPECT_EQ(table->currentRow(), 2);
  EXPECT_THAT(textOf(&dialog), Has("the full model stays"));
  agreement->setValue(99);
  QSignalSpy used(&dialog, &TuneDialog::used);
  buttonOf(&dialog, "Use it")->click();
  ASSERT_EQ(used.count(), 1);
  EXPECT_EQ(toString(used[0][0].value<Reduction>()), "gradual:blocks=0-5:count=46");
}

TEST_F(TuningTest, SaysWhatIsWrong) {
  ASSERT_TRUE(openAndPause());
  notices_.all.clear();
  EXPECT_EQ(ask(), nullptr) << "no picture is stored and none comes";
  EXPECT_THAT(notices_.all.join("\n"), Has("No frames come"));
  camera().close();
  trigger("tune");
  EXPECT_EQ(window_->findChild<TuneDialog*>(), nullptr) << "there is nothing to tune for";

  TuneDialog dialog;
  dialog.showProblem("tuning needs at least 8 pictures, not 3");
  EXPECT_THAT(textOf(&dialog), Has("not 3"));
  EXPECT_FALSE(buttonOf(&dialog, "Use it")->isVisibleTo(&dialog));
}

}  // namespace
}  // namespace mpm::gui
