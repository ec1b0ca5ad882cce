// SPDX-License-Identifier: Apache-2.0
// The search for a reduction, from the question to the choice.

#include "window_fixture.h"

namespace mpm::gui {
namespace {

// The choice of the stored pictures, the first of the question.
QRadioButton* stored(const TuneDialog& dialog) { return dialog.findChild<QRadioButton*>(); }

class TuningTest : public Window {
 protected:
  /// The question, for so many pictures.
  TuneDialog* ask(int pictures) {
    buttonOf(part<ReductionPanel>(), ReductionPanel::tr("Tune for this camera…"))->click();
    auto* dialog = childOf<TuneDialog>(window_.get());
    fieldOf<QSpinBox>(dialog, "Most pictures")->setValue(pictures);
    return dialog;
  }
  bool paused() const { return session().paused(); }
  static bool found(const TuneDialog* dialog) {
    return wait([&] { return buttonOf(dialog, "Use it")->isVisibleTo(dialog); });
  }
};

TEST_F(TuningTest, TakesTheNextFramesAndUsesWhatIsChosen) {
  ASSERT_TRUE(openAndWait());
  TuneDialog* dialog = ask(10);
  EXPECT_FALSE(stored(*dialog)->isEnabled()) << "none is stored";
  EXPECT_EQ(fieldOf<QDoubleSpinBox>(dialog, "Seconds between two frames")->value(), 0)
      << "a folder has no pictures to wait for";
  fieldOf<QDoubleSpinBox>(dialog, "Least agreement")->setValue(80);
  buttonOf(dialog, "Start")->click();
  EXPECT_THAT(textOf(dialog), Has("Collecting frames"));
  EXPECT_FALSE(paused()) << "the live picture goes on";
  ASSERT_TRUE(says(dialog, "The live picture is paused"));
  EXPECT_TRUE(paused());
  ASSERT_TRUE(found(dialog)) << textOf(dialog);
  EXPECT_FALSE(paused()) << "and goes on again";
  EXPECT_THAT(textOf(dialog), Has(" reductions "));
  const QTableWidget* table = dialog->findChild<QTableWidget*>();
  ASSERT_GT(table->rowCount(), 1);
  EXPECT_GE(table->currentRow(), 0) << "the choice of the search";
  QString other;
  for (int row = 0; row < table->rowCount() && other.isEmpty(); ++row) {
    const QString spec = table->item(row, 0)->text();
    if (spec == "the full model" || spec == "mpm:blocks=1,2") continue;
    dialog->findChild<QTableWidget*>()->setCurrentCell(row, 0);
    other = spec;
  }
  ASSERT_FALSE(other.isEmpty());
  EXPECT_THAT(textOf(dialog).remove(QChar(0x200b)), Has(other)) << "beside its picture";
  buttonOf(dialog, "Use it")->click();
  ASSERT_TRUE(wait([&] { return toString(frame()->result.model->reduction) == other.toStdString(); })) << other;
  EXPECT_EQ(toString(part<ReductionPanel>()->editor()->reduction()), other.toStdString());
  EXPECT_TRUE(wait([&] { return !window_->findChild<TuneDialog*>() && session().status().finished; }));
  EXPECT_TRUE(stored(*ask(10))->isEnabled()) << "a folder that has ended has its pictures";
}

TEST_F(TuningTest, TakesStoredPicturesAndIsCancelled) {
  watching().open(file("street"));
  trigger("record");
  ASSERT_TRUE(wait([&] { return session().snapshots().recording().written >= 12; }));
  trigger("record");
  ASSERT_TRUE(wait([&] { return part<PictureStore>()->pictures().size() >= 12; }));
  TuneDialog* dialog = ask(12);
  ASSERT_TRUE(stored(*dialog)->isChecked()) << "they show more than the next minute does";
  buttonOf(dialog, "Start")->click();
  EXPECT_TRUE(paused());
  EXPECT_THAT(textOf(dialog), Has("Measuring"));
  dialog->reject();
  EXPECT_FALSE(paused());
  EXPECT_TRUE(wait([&] { return !window_->findChild<Job*>(); })) << "its thread ends";
  EXPECT_EQ(frame()->result.model->schedule(), (Schedule{1, 2})) << "nothing changed";

  // What was paused stays paused.
  trigger("pause");
  dialog = ask(12);
  buttonOf(dialog, "Start")->click();
  ASSERT_TRUE(found(dialog)) << textOf(dialog);
  EXPECT_TRUE(paused());
  dialog->reject();
  EXPECT_TRUE(paused());

  for (int i = 3; i < kPictures; ++i) QFile::remove(QString::fromStdString(path("street/%1.png", i)));
  watching().open(file("street"));
  ASSERT_TRUE(wait([&] { return session().status().finished; }));
  dialog = ask(12);
  notices_.all.clear();
  buttonOf(dialog, "Start")->click();
  EXPECT_TRUE(notices_.all.isEmpty()) << "what has ended needs no pause";
  dialog->reject();
}

TEST(TuneDialog, ShowsHowLongItTakesAndWhatWasFound) {
  TuneDialog dialog(12, 2, {});
  EXPECT_TRUE(stored(dialog)->isChecked());
  dialog.showCollecting(10, 40);
  EXPECT_THAT(textOf(&dialog), Has("about 1 min 00 s left"));
  dialog.showMeasuring();
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        dialog.showProgress(20, 400);
        return textOf(&dialog).contains("20 of about 400 runs, about ");
      },
      kPatience))
      << "once the time of a run is known";
  dialog.showProgress(0, 400);
  EXPECT_THAT(textOf(&dialog), Has("20 of about 400 runs, about "));

  auto result = std::make_shared<evaluation::TuneResult>();
  result->tried = 44;
  result->held_back = 30;
  result->example = cv::Mat(32, 48, CV_8UC3, cv::Scalar(90, 90, 90));
  for (const auto& [spec, speed_up, agreement] :
       {std::tuple("mpm:blocks=2,5", 1.6, 97.2), std::tuple("gradual:blocks=0-5:count=46", 1.5, 99.31),
        std::tuple("none", 1.0, 100.0)})
    result->rows.push_back({.variant = parseReduction(spec),
                            .speed_up = speed_up,
                            .agreement = agreement,
                            .agreement_low = agreement - 0.125,
                            .passes = agreement > 99,
                            .front = true,
                            .example = cv::Mat(32, 48, CV_8U, cv::Scalar(1))});
  result->chosen = 1;
  dialog.showResult(result);
  const QString text = textOf(&dialog).remove(QChar(0x200b));
  EXPECT_THAT(text, Has("Of the 3 reductions in the table, gradual:blocks=0-5:count=46 is the "
                        "fastest that keeps the labels: 1.50 times as fast"));
  EXPECT_THAT(text, Has("On 30 pictures"));
  EXPECT_EQ(dialog.findChild<QTableWidget*>()->currentRow(), 1);
  EXPECT_THAT(dialog.findChild<QTableWidget*>()->item(0, 3)->text(), Not(Begins("✓")));
  EXPECT_THAT(dialog.findChild<QTableWidget*>()->item(1, 3)->text(), Begins("✓"));
  QSignalSpy used(&dialog, &TuneDialog::used);
  buttonOf(&dialog, "Use it")->click();
  ASSERT_EQ(used.count(), 1);
  EXPECT_EQ(toString(used[0][0].value<Reduction>()), "gradual:blocks=0-5:count=46");

  result->chosen = 2;
  dialog.showResult(result);
  EXPECT_THAT(textOf(&dialog), Has("the full model stays"));
}

TEST_F(TuningTest, SaysWhatIsWrong) {
  ASSERT_TRUE(openAndPause());
  TuneDialog* dialog = ask(8);
  buttonOf(dialog, "Start")->click();
  EXPECT_THAT(textOf(dialog), Has("No frames come"));
  dialog->reject();

  // The end of the source comes before there are enough pictures, on a busy machine even before the question.
  for (int i = 3; i < 40; ++i) QFile::remove(QString::fromStdString(path("street/%1.png", i)));
  ASSERT_TRUE(wait([&] {
    if (!openAndWait()) return false;
    dialog = ask(8);
    buttonOf(dialog, "Start")->click();
    if (!textOf(dialog).contains("No frames come")) return true;
    dialog->reject();
    return false;
  }));
  ASSERT_TRUE(says(dialog, "tuning needs at least 8 pictures, not "));
  EXPECT_TRUE(buttonOf(dialog, "Start")->isVisibleTo(dialog));
  EXPECT_FALSE(paused());
  dialog->reject();
  watching().close();
  trigger("tune");
  EXPECT_TRUE(wait([&] { return !window_->findChild<TuneDialog*>(); })) << "there is nothing to tune for";
}

}  // namespace
}  // namespace mpm::gui
