// SPDX-License-Identifier: Apache-2.0
#include "gui/views/day_night_panel.h"
#include "gui/views/events_table.h"
#include "gui/views/label_table_panel.h"
#include "gui/views/look.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/reduction_editor.h"
#include "gui/views/reduction_panel.h"
#include "gui/views/source_dialog.h"
#include "gui/views/source_panel.h"
#include "gui/views/speed_panel.h"
#include "gui/views/welcome_page.h"
#include "monitor/every_field.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

/// An editor for a model of 12 blocks and 660 tokens.
struct Editor : ReductionEditor {
  Editor() {
    ModelInfo info;
    info.blocks = 12;
    info.grid = {22, 30};
    setModel(info);
  }
  void choose(QComboBox* list, int index) {
    list->setCurrentIndex(index);
    emit list->activated(index);
  }
  QComboBox* method() const { return fieldOf<QComboBox>(this, "Method"); }
  QComboBox* limit() const { return fieldOf<QComboBox>(this, "How much merges in each block"); }
  QSpinBox* count() const { return fieldOf<QSpinBox>(this, "Pairs, per block"); }
  QDoubleSpinBox* similarity() const { return fieldOf<QDoubleSpinBox>(this, "Least similarity"); }
  QLineEdit* spec() const { return fieldOf<QLineEdit>(this, "Reduction as text"); }
  std::string text() const { return toString(reduction()); }
};

enum Methods { kFull, kPaper, kGradual, kToMe, kAlgm, kCts };

TEST(ReductionEditor, EachMethodHasDefaultsThatWork) {
  Editor editor;
  QSignalSpy spy(&editor, &ReductionEditor::reductionChanged);
  const std::pair<int, const char*> methods[] = {
      {kPaper, "mpm"}, {kGradual, "gradual"}, {kToMe, "tome"}, {kAlgm, "algm"}, {kFull, "none"}};
  for (const auto& [method, spec] : methods) {
    editor.choose(editor.method(), method);
    EXPECT_EQ(editor.text(), spec);
    EXPECT_EQ(editor.spec()->text(), spec);
    EXPECT_TRUE(valueOf(&editor, "Problem").isEmpty()) << valueOf(&editor, "Problem");
  }
  EXPECT_EQ(spy.count(), 5);
  editor.choose(editor.method(), kFull);
  EXPECT_EQ(spy.count(), 5) << "nothing changed";
}

TEST(ReductionEditor, ADecisionNetworkIsNamedInTheText) {
  Editor editor;
  editor.choose(editor.method(), kCts);
  EXPECT_THAT(valueOf(&editor, "Problem"), Has("'cts' needs a policy network")) << "until there is one";
  editor.spec()->setText("cts:policy=p.onnx:share=0.3");
  emit editor.spec()->returnPressed();
  EXPECT_EQ(editor.text(), "cts:policy=p.onnx:share=0.3");
  EXPECT_EQ(editor.method()->currentIndex(), kCts);
  EXPECT_TRUE(valueOf(&editor, "Problem").isEmpty());
}

TEST(ReductionEditor, ControlsAreTheSpec) {
  Editor editor;
  editor.setReduction(mpmBefore({2, 5}));
  EXPECT_EQ(editor.method()->currentIndex(), kPaper);
  editor.box(7)->click();
  EXPECT_EQ(editor.text(), "mpm:blocks=2,5,7");

  editor.choose(editor.method(), kGradual);
  for (int block = 0; block < 12; ++block) EXPECT_EQ(editor.box(block)->isChecked(), block < 8) << block;
  editor.choose(editor.limit(), 1);
  EXPECT_EQ(editor.text(), "gradual:count=48") << "the share of 7.3 % as a number";
  editor.count()->setValue(30);
  EXPECT_EQ(editor.text(), "gradual:count=30");
  buttonOf(&editor, ReductionEditor::tr("Only similar ones"))->click();
  EXPECT_EQ(editor.text(), "gradual:count=30:similarity=0.95");
  editor.choose(editor.limit(), 2);
  EXPECT_EQ(editor.text(), "gradual:similarity=0.95");
  editor.similarity()->setValue(0.9);
  EXPECT_EQ(editor.text(), "gradual:similarity=0.9");
  editor.choose(editor.limit(), 0);
  EXPECT_EQ(editor.text(), "gradual:share=0.073:similarity=0.9");

  editor.choose(editor.method(), kToMe);
  EXPECT_EQ(editor.limit()->count(), 2) << "ToMe has no similarity";
  editor.choose(editor.limit(), 1);
  EXPECT_EQ(editor.text(), "tome:count=26");
  editor.choose(editor.method(), kAlgm);
  editor.similarity()->setValue(0.93);
  EXPECT_EQ(editor.text(), "algm:threshold=0.93");
}

TEST(ReductionEditor, TheTextIsTheControls) {
  Editor editor;
  QSignalSpy spy(&editor, &ReductionEditor::reductionChanged);
  const auto type = [&](const char* spec) {
    editor.spec()->setText(spec);
    QTest::keyClick(editor.spec(), Qt::Key_Return);
  };
  type(" gradual:blocks=0-3:share=0.0625:similarity=0.87654321 ");
  EXPECT_EQ(editor.text(), "gradual:blocks=0-3:share=0.0625:similarity=0.87654321");
  EXPECT_EQ(editor.method()->currentIndex(), kGradual);
  EXPECT_TRUE(editor.box(3)->isChecked());
  EXPECT_FALSE(editor.box(4)->isChecked());
  editor.box(4)->click();
  EXPECT_EQ(editor.text(), "gradual:blocks=0-4:share=0.0625:similarity=0.87654321") << "no digit is lost";
  type("gradual:colour=3");
  EXPECT_EQ(valueOf(&editor, "Problem"),
            "reduction 'gradual:colour=3': 'gradual' has no key 'colour'; it has blocks, count, share, "
            "similarity, attention, positions, head");
  EXPECT_EQ(spy.count(), 2) << "what is wrong changes nothing";
  editor.setReduction(mpmBefore({3}, Attention::kProportional));
  editor.box(4)->click();
  EXPECT_EQ(editor.text(), "mpm:blocks=3,4:attention=proportional");
}

TEST(ReductionEditor, AHalfChosenReductionSaysWhatItLacks) {
  Editor editor;
  editor.choose(editor.method(), kAlgm);
  QSignalSpy spy(&editor, &ReductionEditor::reductionChanged);
  editor.box(5)->click();
  EXPECT_THAT(valueOf(&editor, "Problem"), Has("'algm' merges in two blocks, not in 3"));
  EXPECT_EQ(editor.text(), "algm") << "the last that is valid";
  editor.box(4)->click();
  EXPECT_TRUE(valueOf(&editor, "Problem").isEmpty());
  EXPECT_EQ(editor.text(), "algm:blocks=0,5");
  EXPECT_EQ(spy.count(), 1);
}

TEST(ReductionPanel, OfAConvertedFileItIsFixed) {
  QAction tune, copy;
  ReductionPanel panel(&tune, &copy);
  EXPECT_FALSE(panel.editor()->isEnabled()) << "no model";
  ModelInfo info;
  info.blocks = 12;
  info.head = HeadKind::kLinear;
  info.reduction = mpmBefore({2, 5});
  panel.setModel(info);
  EXPECT_TRUE(panel.editor()->isEnabled());
  EXPECT_EQ(panel.editor()->reduction(), mpmBefore({2, 5}));
  info.converted = true;
  panel.setModel(info);
  EXPECT_FALSE(panel.editor()->isEnabled());
  tune.setEnabled(false);
  EXPECT_FALSE(buttonOf(&panel, ReductionPanel::tr("Tune for this camera…"))->isEnabled());
  EXPECT_THAT(textOf(&panel), Has("its reduction is fixed"));
}

TEST(DayNightPanel, SaysWhatTheStatisticsSay) {
  monitor::DayNightStatistics statistics;
  EXPECT_THAT(DayNightPanel::differenceText(statistics), Has("not samples of both"));
  statistics.night.samples = 40;
  statistics.brightness = {52.4, 180};
  EXPECT_THAT(DayNightPanel::differenceText(statistics), Has("count as night, with a brightness from 52 to 180"));
  statistics.day = {100, 500.25, 498.5, 520, 450, 560};
  statistics.night = {80, 480.5, 479, 500, 430, 540};
  statistics.difference = {-19.75, 4.5, monitor::Difference::Block::kPeriod, 5, 4};
  statistics.night_change = -3.2;
  QAction ask;
  DayNightPanel panel(&ask);
  panel.setStatistics(statistics);
  const QString text = textOf(&panel);
  EXPECT_TRUE(text.contains("500.2") || text.contains("500.3")) << text;
  for (const char* cell :
       {"Median, Day: 498.5", "Median, Night: 479.0", "90 % below, Day: 520.0", "90 % below, Night: 500.0",
        "Samples, Day: 100", "Samples, Night: 80", "Since yesterday, Day: –"})
    EXPECT_THAT(text, Has(cell));
  EXPECT_THAT(text, AllOf(Has("−19.8 ± 4.5"), Has("they differ"), Has("5 days, 4 nights"), Has("−3.2")));
  statistics.difference->plus_minus = 30;
  EXPECT_THAT(DayNightPanel::differenceText(statistics), Has("no difference shown"));
}

// Another rule may count by now.
TEST(DayNightPanel, ShowsTheRuleByWhichTheSamplesWereJudged) {
  QAction ask;
  DayNightPanel panel(&ask);
  const monitor::NightRule dark = monitor::NightByBrightness{.night_below = 70, .day_above = 80};
  panel.setRule(dark);
  EXPECT_THAT(textOf(&panel), Has("the picture darker than 70 of 255, until it is brighter than 80"))
      << "there are no samples yet";
  panel.setJudgedBy({monitor::toText(monitor::NightByHours{})});
  EXPECT_THAT(textOf(&panel), Has("Night: from 21:00 to 06:00"));
  EXPECT_THAT(textOf(&panel), Not(Has("darker")));
  panel.setJudgedBy({monitor::toText(dark)});
  EXPECT_THAT(textOf(&panel), Has("the picture darker than 70 of 255"));
  panel.setJudgedBy({monitor::toText(dark), ""});
  EXPECT_THAT(textOf(&panel), AllOf(Has("darker than 70"), Has("not distinguished"))) << "of an earlier session";
  panel.setJudgedBy({monitor::toText(monitor::NightBySun{.latitude = -33.8675, .longitude = 151.207})});
  EXPECT_THAT(textOf(&panel), Has("the sun lower than -6° at -33.87°, 151.21°")) << "in the language of the window";
  panel.setJudgedBy({monitor::toText(monitor::NightByHours{0, 24 * 60})});
  EXPECT_THAT(textOf(&panel), Has("from 00:00 to 24:00"));
  panel.setJudgedBy({"the moon is full"});
  EXPECT_THAT(textOf(&panel), Has("Night where the moon is full")) << "of a newer version";
  panel.setJudgedBy({std::nullopt});
  EXPECT_THAT(textOf(&panel), Has("as they were stored"));
  panel.clear();
  EXPECT_THAT(textOf(&panel), Has("darker than 70"));
}

TEST(DayNightPanel, ShowsAreasAndTheKnownErrorsOfTheModel) {
  QAction ask;
  DayNightPanel panel(&ask);
  auto* table = childOf<QTableWidget>(&panel);
  EXPECT_TRUE(table->isHidden()) << "no areas yet";
  const auto texts = [&](const auto& item) {
    QStringList shown;
    for (int c = 0; c < table->columnCount(); ++c)
      if (!table->isColumnHidden(c)) shown << item(c)->text();
    return shown.join(QLatin1Char(' '));
  };
  const auto headings = [&] { return texts([&](int column) { return table->horizontalHeaderItem(column); }); };
  const auto cells = [&](int row) { return texts([&](int column) { return table->item(row, column); }); };
  panel.setAreas({{"river", 0.25, 0.3, 0.2}, {"ice", 0.75, 0.7, std::nullopt}});
  EXPECT_FALSE(table->isHidden());
  EXPECT_EQ(headings(), "Class Day Night") << "this model has no cross-validation";
  EXPECT_EQ(cells(1), "ice 70.0 –");
  EXPECT_GE(table->maximumHeight(), 2 * table->rowHeight(1)) << "room for both rows: the panel scrolls, not the table";
  EXPECT_LT(table->maximumHeight(), 100);
  panel.setAreas({{"river", 0.25, 0.3, 0.2, 0.221, 0.876}});
  EXPECT_EQ(headings(), "Class Day Night Corr. IoU");
  EXPECT_EQ(table->rowCount(), 1);
  EXPECT_EQ(cells(0), "river 30.0 20.0 22.1 87.6");
  panel.clear();
  EXPECT_TRUE(table->isHidden());
}

TEST(EventsTable, ShowsSeverityAndSubjectInFull) {
  EventsModel model;
  model.add({0, monitor::EventKind::kDamaged, monitor::Severity::kWarning, "a.png"});
  const std::unique_ptr<QTableView> table(eventsTable(&model));
  QFont large = table->font();
  large.setPointSize(20);
  table->setFont(large);
  table->resize(900, 200);
  table->grab();
  const QAbstractItemView* const view = table.get();
  for (const int column : {EventsModel::kTime, EventsModel::kSeverity, EventsModel::kKind})
    EXPECT_GE(table->columnWidth(column), view->sizeHintForColumn(column)) << column;
}

TEST(SourcePanel, StatesReadAsTheyAre) {
  monitor::SessionStatus all;
  all.source.state = monitor::CaptureState::kRetrying;
  all.source.attempt = 3;
  all.source.retry_in_s = 4.2;
  EXPECT_EQ(SourcePanel::stateText(all.shownSource()), "Retrying (3, next in 5 s)");
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kBad);
  all.source.state = monitor::CaptureState::kStalled;
  EXPECT_EQ(SourcePanel::stateText(all.shownSource()), "Stalled");
  all.source.state = monitor::CaptureState::kLive;
  EXPECT_EQ(SourcePanel::stateText(all.shownSource()), "Live");
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kGood);
  all.pace = monitor::Pace{.usual_s = 1};
  all.sample_age_s = 3600;
  EXPECT_EQ(SourcePanel::stateText(all.shownSource()), "Stalled") << "frames come, and the model hangs";
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kWarning);
  all = {};
  all.source.state = monitor::CaptureState::kEnded;
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kBad) << "before the first frame";
  all.source.frames_in = 7;
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kNone);
  all.source.message = "the stream broke";
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kBad) << "lost, as the page says";
  all.source.unreadable = 1;
  EXPECT_EQ(SourcePanel::stateBadge(all), Badge::kNone) << "a folder with a damaged picture has ended";
}

TEST(SourcePanel, CountsPicturesInTheLanguageOfTheWindow) {
  QTranslator french;
  ASSERT_TRUE(french.load(":/i18n/mpm-monitor_fr.qm"));
  QCoreApplication::installTranslator(&french);
  EXPECT_EQ(SourcePanel::messageText({.frames_in = 522, .unreadable = 1}), "1 image sur 523 n’a pas pu être lue");
  EXPECT_EQ(SourcePanel::messageText({.frames_in = 1, .unreadable = 2}), "2 images sur 3 n’ont pas pu être lues");
  EXPECT_EQ(SourcePanel::messageText({.message = "the stream ended"}), "the stream ended");
  monitor::SessionStatus all;
  all.stored = 1;
  all.pictures = 523;
  EXPECT_EQ(SourcePanel::storedText(all), "") << "more may come";
  all.finished = true;
  EXPECT_EQ(SourcePanel::storedText(all), "1 image sur 523 enregistrée");
  all.stored = all.pictures = 0;
  EXPECT_EQ(SourcePanel::storedText(all), "") << "of a folder without a database";
  QCoreApplication::removeTranslator(&french);
}

TEST(SpeedPanel, ShowsCountersAndStages) {
  SpeedPanel panel;
  monitor::CaptureStatus capture{.frames_in = 200, .dropped = 50, .fps = 24.96};
  monitor::InferenceStatus inference;
  inference.p50_ms = 41.5;
  inference.p95_ms = 55.25;
  panel.setStatus(capture, inference);
  StageTimes ms{.backbone = 30, .merge = 2, .restore = 0.5, .head = 5};
  panel.setTimes(ms);
  const QString text = textOf(&panel);
  for (const char* part : {"25.0 fps, 200 in all", "50 (25 %)", "41.5 ms", "Backbone: 30.0 ms", "Merge: 2.0 ms",
                           "Restore: 0.5 ms", "Head: 5.0 ms"})
    EXPECT_THAT(text, Has(part));
}

TEST(SpeedPanel, ShowsReuseWhereThereIsSome) {
  SpeedPanel panel;
  monitor::InferenceStatus inference;
  panel.setStatus({}, inference);
  EXPECT_THAT(textOf(&panel), Not(Has("Rows computed")));
  inference.reuse.emplace();
  inference.reuse->add({.rows = 1});
  inference.reuse->add({.rows = 0.25});
  panel.setStatus({}, inference);
  EXPECT_THAT(textOf(&panel), AllOf(Has("Rows computed: 25.0 %, mean 62.5 %"), Has("no key frame compared yet")));
  inference.reuse->add({.agreement = 97});
  inference.reuse->add({.agreement = 99});
  panel.setStatus({}, inference);
  const QString expected = "Agreement: 99.00 %, mean 98.00 %, lowest 97.00 %";
  EXPECT_THAT(textOf(&panel), Has(expected));
}

TEST(Exports, WithoutADatabaseThereIsNothingToWrite) {
  const QTemporaryDir folder;
  Job job(Exports::exporting(folder.filePath("none.db"), {.source = 1}, folder.filePath("out.csv")));
  QSignalSpy failed(&job, &Job::failed);
  ASSERT_TRUE(failed.wait(60000));
  EXPECT_THAT(failed[0][0].toString(), Has("There is no database to export from yet"));
}

TEST(CameraFieldsDialog, GivesBackWhatItWasGiven) {
  for (const monitor::CameraConfig& watch : {monitor::CameraConfig(), monitor::test::everyField("/x")}) {
    for (const char* group : {monitor::kDayNightGroup, monitor::kAlarmsGroup, monitor::kKeepGroup})
      EXPECT_EQ(CameraFieldsDialog(QString(), group, watch).config(), watch) << group;
  }
}

TEST(CameraFieldsDialog, AsksForEachFieldThatHasALabel) {
  int asked = 0;
  for (const monitor::CameraField& field : monitor::cameraFields()) {
    if (!*field.label) continue;
    ++asked;
    const CameraFieldsDialog dialog(QString(), field.group, {});
    QStringList names;
    for (const QWidget* widget : dialog.findChildren<QWidget*>()) names << widget->accessibleName();
    EXPECT_THAT(names, Has(field.label)) << field.key;
  }
  EXPECT_GT(asked, 15);
}

TEST(CameraFieldsDialog, RunsTheCommandOnce) {
  QTemporaryDir folder;
  const QString file = folder.filePath("told");
  CameraFieldsDialog dialog(QString(), monitor::kAlarmsGroup, {.source = "/dev/video0"});
  auto* command = fieldOf<QLineEdit>(&dialog, "Run for each event");
  for (const auto& [line, answer] :
       {std::pair(QString("sh -c 'echo $MPM_EVENT_KIND > %1'").arg(file), "without an error"),
        {"false", "exit"},
        {"no-such-program", "there is no program"},
        {QString(), "empty"}}) {
    command->setText(line);
    buttonOf(&dialog, "Test it")->click();
    EXPECT_TRUE(QTest::qWaitFor(
        [&, answer = answer] { return labelOf(&dialog, "Result of the test")->text().contains(answer); }, 60000))
        << labelOf(&dialog, "Result of the test")->text();
  }
  EXPECT_EQ(content(file), "alarm\n");
}

TEST(CameraFieldsDialog, SaysWhatCannotBeAccepted) {
  const auto refused = [](QDialog& dialog, const QString& why) {
    const bool possible = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Ok)->isEnabled();
    for (const QLabel* label : dialog.findChildren<QLabel*>())
      if (label->text().contains(why) && !label->text().isEmpty()) return !possible && !label->isHidden();
    return !possible;
  };
  monitor::CameraConfig watch;
  watch.source = "/dev/video0";
  watch.night = "brightness";
  CameraFieldsDialog alarms(QString(), monitor::kAlarmsGroup, watch);
  auto* list = fieldOf<QPlainTextEdit>(&alarms, "Alarms, one a line");
  EXPECT_FALSE(refused(alarms, QString()));
  alarms.show();
  const auto* fields = alarms.findChild<QScrollArea*>();
  const int height = fields->height();
  list->setPlainText("tokens>900\ncar");
  EXPECT_TRUE(refused(alarms, "'car' is no alarm"));
  alarms.layout()->activate();
  EXPECT_EQ(fields->height(), height) << "nothing is pushed out of sight";
  list->setPlainText("tokens>400\ntokens<500");
  EXPECT_TRUE(refused(alarms, "lower limit must be less than its upper one"));
  list->setPlainText("\n tokens<400 \ngate:gcc<0.3\nno-frame>60");
  EXPECT_FALSE(refused(alarms, QString()));
  EXPECT_EQ(alarms.config().alarm, (std::vector<std::string>{"tokens<400", "gate:gcc<0.3", "no-frame>60"}));
  auto* command = fieldOf<QLineEdit>(&alarms, "Run for each event");
  command->setText("no-such-program-of-mpm");
  EXPECT_TRUE(refused(alarms, "there is no program 'no-such-program-of-mpm'"));
  command->setText("sh tell.sh");
  EXPECT_FALSE(refused(alarms, QString()));
  fieldOf<QLineEdit>(&alarms, "Bad pictures")->setText("bright=3");
  EXPECT_TRUE(refused(alarms, "Bad pictures: 'bright' is none of"));

  watch.night_brightness = 33;
  watch.day_brightness = 50;
  CameraFieldsDialog night(QString(), monitor::kDayNightGroup, watch);
  EXPECT_FALSE(refused(night, QString()));
  fieldOf<QDoubleSpinBox>(&night, "Night below the brightness")->setValue(60);
  EXPECT_TRUE(refused(night, "the day must begin at a brightness not below that of the night"));
  auto* by = fieldOf<QComboBox>(&night, "Night by");
  by->setCurrentIndex(by->findData("sun"));
  EXPECT_TRUE(refused(night, "both, lat and lon"));
  by->setCurrentIndex(by->findData("hours"));
  fieldOf<QLineEdit>(&night, "Night hours")->setText("21:00-21:00");
  EXPECT_TRUE(refused(night, "a night that begins when it ends is none"));
}

TEST(SourceDialog, TestsASourceAndShowsItsFirstFrame) {
  QTemporaryDir folder;
  cv::imwrite(folder.filePath("a.png").toStdString(), cv::Mat(60, 80, CV_8UC3, cv::Scalar(1, 2, 3)));
  SourceDialog dialog(vision::SourceKind::kFolder);
  dialog.setSource(folder.path());
  EXPECT_EQ(dialog.source(), folder.path());
  QSignalSpy tested(&dialog, &SourceDialog::tested);
  dialog.test();
  ASSERT_TRUE(tested.wait(60000));
  EXPECT_TRUE(tested[0][0].toBool());
  EXPECT_TRUE(!labelOf(&dialog, "The frame that was read")->pixmap(Qt::ReturnByValue).isNull());
  EXPECT_THAT(valueOf(&dialog, "Result of the test"), Has("80 × 60 px (width × height)"));
}

TEST(SourceDialog, EnterOpensTheSource) {
  const std::pair<vision::SourceKind, const char*> fields[] = {{vision::SourceKind::kVideo, "Video file"},
                                                               {vision::SourceKind::kUrl, "Address"}};
  for (const auto& [kind, name] : fields) {
    SourceDialog dialog(kind);
    dialog.show();
    const QSignalSpy chosen(&dialog, &SourceDialog::chosen);
    auto* field = fieldOf<QLineEdit>(&dialog, name);
    field->setFocus();
    QTest::keyClicks(field, "rtsp://yard/1");
    QTest::keyClick(field, Qt::Key_Return);
    ASSERT_EQ(chosen.count(), 1) << name;
    EXPECT_EQ(chosen[0][0].toString(), "rtsp://yard/1");
  }
}

TEST(SourceDialog, ATestIsOfItsSource) {
  QTemporaryDir folder;
  cv::imwrite(folder.filePath("a.png").toStdString(), cv::Mat(60, 80, CV_8UC3, cv::Scalar(1, 2, 3)));
  SourceDialog of_another_folder(vision::SourceKind::kFolder), of_another_kind(vision::SourceKind::kFolder);
  const QSignalSpy folder_tested(&of_another_folder, &SourceDialog::tested);
  const QSignalSpy kind_tested(&of_another_kind, &SourceDialog::tested);
  for (SourceDialog* dialog : {&of_another_folder, &of_another_kind}) {
    dialog->setSource(folder.path());
    dialog->test();
  }
  fieldOf<QLineEdit>(&of_another_folder, "Folder")->setText("/another");
  childOf<QListWidget>(&of_another_kind)->setCurrentRow(2);
  QTest::qWait(300);
  EXPECT_EQ(folder_tested.count() + kind_tested.count(), 0);
  for (const SourceDialog* dialog : {&of_another_folder, &of_another_kind})
    EXPECT_EQ(valueOf(dialog, "Result of the test"), "");
}

TEST(SourceDialog, SaysInItsOwnWordsThatAFileIsMissing) {
  SourceDialog dialog(vision::SourceKind::kVideo);
  fieldOf<QLineEdit>(&dialog, "Video file")->setText("/nowhere/street.mp4");
  dialog.test();
  EXPECT_EQ(valueOf(&dialog, "Result of the test"), "There is no file or folder /nowhere/street.mp4");
}

TEST(SourceDialog, SaysWhyASourceFailsAndHidesThePassword) {
  SourceDialog dialog(vision::SourceKind::kUrl);
  dialog.setSource("rtsp://***@127.0.0.1:9/none");
  fieldOf<QLineEdit>(&dialog, "User")->setText("anna");
  auto* password = fieldOf<QLineEdit>(&dialog, "Password");
  EXPECT_EQ(password->echoMode(), QLineEdit::Password);
  password->setText("geheim");
  EXPECT_EQ(dialog.source(), "rtsp://anna:geheim@127.0.0.1:9/none");
  QSignalSpy tested(&dialog, &SourceDialog::tested);
  dialog.test();
  ASSERT_TRUE(tested.wait(20000));
  EXPECT_FALSE(tested[0][0].toBool());
  EXPECT_THAT(valueOf(&dialog, "Result of the test"), AllOf(Not(Has("geheim")), Has("127.0.0.1")));
}

TEST(WelcomePage, OffersEveryWayToBegin) {
  QAction demo_action;
  WelcomePage page(&demo_action);
  page.setRecents({{"video.avi", {}, {}, 0}});
  QSignalSpy demo(&demo_action, &QAction::triggered), kind(&page, &WelcomePage::kindRequested),
      recent(&page, &WelcomePage::recentRequested);
  QStringList texts;
  for (auto* button : page.findChildren<QPushButton*>()) {
    texts << button->text();
    button->click();
  }
  EXPECT_TRUE(texts.contains("video.avi")) << "without a time that nobody knows";
  EXPECT_EQ(demo.count(), 1);
  EXPECT_EQ(kind.count(), 4);
  EXPECT_EQ(recent.count(), 1);
}

// A database of a day and a half: samples every minute, a gap in the middle, nights by the clock.
QString database(QTemporaryDir& folder) {
  const QString path = folder.filePath("m.db");
  monitor::SessionInfo session = monitor::test::session("camera");
  session.classes = {"road", "sky"};
  std::vector<monitor::Sample> samples;
  const UnixMs end = unixNow();
  for (int minute = 36 * 60; minute > 0; --minute) {
    if (minute > 600 && minute < 900) continue;
    const bool night = minute / 60 % 24 > 12;
    monitor::Sample& sample =
        samples.emplace_back(monitor::test::sampleAt(end - minute * kMinuteMs, night ? 420 : 400, night));
    sample.whole().set("merged", 38);
    sample.whole().areas = {{0, 0.25}, {1, 0.5}};
  }
  monitor::test::record(path.toStdString(), samples, session);
  return path;
}

// A bucket of a day has its point in the middle; the day before has no samples.
TEST(ChartScene, TheCrosshairReadsTheBucketThatItStandsIn) {
  using monitor::test::kNoon;
  ChartScene scene;
  scene.series = {{.quantity = {.quantity = "tokens"}, .name = "Tokens"}};
  scene.chart.bucket_ms = kDayMs;
  scene.chart.buckets = {
      {.start = kNoon, .middle = kNoon + 12 * kHourMs, .samples = 1, .values = {{1, 400, 400, 400}}}};
  scene.axis.from = static_cast<double>(kNoon - 2 * kDayMs) / 1000;
  scene.axis.to = static_cast<double>(kNoon + 4 * kDayMs) / 1000;
  scene.axis.width = 1000;
  for (const auto& [hours, reads] : {std::pair(1, true), {23, true}, {-6, false}, {30, false}}) {
    scene.crosshair = static_cast<double>(kNoon + hours * kHourMs) / 1000;
    EXPECT_EQ(scene.crosshairText().contains("Tokens: 400"), reads) << hours << scene.crosshairText();
    EXPECT_EQ(scene.crosshairText().contains("nothing recorded"), !reads) << hours << scene.crosshairText();
  }
}

TEST(ChartPanel, DrawsTheDatabaseWithItsGapAndItsNights) {
  QTemporaryDir folder;
  History history;
  HistorySources sources(&history);
  ChartPanel panel(&history, &sources);
  panel.resize(900, 300);
  panel.show();
  applyLook(darkTheme(), 100);
  history.setDatabase(database(folder));
  ASSERT_TRUE(QTest::qWaitFor([&] { return sources.id().has_value(); }, 60000));
  TimeChart* chart = panel.chart();
  panel.showSpan(ChartPanel::Span::kAll);
  ASSERT_TRUE(QTest::qWaitFor([&] { return chart->chart().buckets.size() > 100; }, 60000));
  EXPECT_EQ(std::count_if(chart->chart().buckets.begin() + 1, chart->chart().buckets.end(),
                          [](const auto& b) { return b.gap_before; }),
            1);
  EXPECT_GE(nightStretches(chart->chart(), chart->axis()).size(), 1U);

  // Crosshair: values of the bucket under the mouse; in the gap it says so.
  const auto hover = [&](double time) {
    QTest::mouseMove(chart, QPoint(static_cast<int>(chart->axis().x(time)), chart->height() / 2));
    QCoreApplication::processEvents();
    return chart->crosshairText();
  };
  const double now = static_cast<double>(unixNow()) / 1000;
  EXPECT_THAT(hover(now - 60 * 60), Has("Tokens kept: 400")) << chart->crosshairText();
  EXPECT_THAT(hover(now - 20 * 3600), Has("night")) << chart->crosshairText();
  EXPECT_THAT(hover(now - 750 * 60), AllOf(Has("nothing recorded"), Has("outages: no samples")))
      << chart->crosshairText();
  EXPECT_THAT(chart->crosshairText(), Has("nearest: "));
  // The time that is reported is one of the data.
  hover(now - 60 * 60);
  const auto& buckets = chart->chart().buckets;
  const auto nearest = static_cast<std::size_t>(nearestBucket(chart->chart(), *chart->crosshair()));
  EXPECT_THAT(chart->crosshairText(), Begins(QLocale().toString(QDateTime::fromMSecsSinceEpoch(buckets[nearest].start),
                                                                "ddd d MMM yyyy HH:mm:ss")));

  // The wheel zooms about the mouse and stops following; a drag pans.
  const TimeAxis before = chart->axis();
  const QPointF at(chart->width() / 2.0, chart->height() / 2.0);
  const auto turn = [&](int by) {
    QWheelEvent wheel(at, chart->mapToGlobal(at), {}, QPoint(0, by), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(chart, &wheel);
  };
  turn(0);
  EXPECT_TRUE(chart->following());
  turn(240);
  EXPECT_LT(chart->axis().to - chart->axis().from, before.to - before.from);
  EXPECT_NEAR(chart->axis().time(at.x()), before.time(at.x()), 1);
  EXPECT_FALSE(chart->following());
  const double from = chart->axis().from;
  QTest::mousePress(chart, Qt::LeftButton, {}, at.toPoint());
  QTest::mouseMove(chart, at.toPoint() + QPoint(100, 0));
  QTest::mouseRelease(chart, Qt::LeftButton, {}, at.toPoint() + QPoint(100, 0));
  EXPECT_LT(chart->axis().from, from);
  panel.showSpan(ChartPanel::Span::kHour);
  EXPECT_TRUE(chart->following());
  EXPECT_NEAR(chart->axis().to - chart->axis().from, 3600, 40);

  // As a picture for a file: not one colour.
  chart->setPictures({now - 3600});
  const QImage picture = chart->scene().picture({600, 300});
  EXPECT_EQ(picture.size(), QSize(1200, 600));
  EXPECT_EQ(picture.pixelColor(2, 2), QColor(Qt::white)) << "whatever the colours of the window";
  QSet<QRgb> colors;
  for (int x = 0; x < picture.width(); x += 3)
    for (int y = 0; y < picture.height(); y += 3) colors.insert(picture.pixel(x, y));
  EXPECT_GT(colors.size(), 8);

  // While the watched source has no samples yet, another one can be chosen.
  sources.want("yard");
  EXPECT_FALSE(sources.id());
  auto* list = fieldOf<QComboBox>(&panel, "Source whose samples are drawn");
  list->setCurrentIndex(0);
  emit list->activated(0);
  QSignalSpy looked(&history, &History::sourcesChanged);
  ASSERT_TRUE(looked.wait(60000));
  EXPECT_EQ(sources.name(), "camera");
  applyLook(lightTheme(), 100);
}

TEST(ChartPanel, GrowsWithItsRowsOfButtonsAlsoWhenItComes) {
  History history;
  HistorySources sources(&history);
  QWidget window;
  window.resize(240, 600);
  auto* panel = new ChartPanel(&history, &sources);
  panel->setParent(&window);
  panel->resize(240, 100);
  panel->show();
  window.show();
  EXPECT_GE(panel->chart()->height(), panel->chart()->minimumSizeHint().height());
  EXPECT_EQ(panel->layout()->geometry(), panel->rect());
}

// Of the pictures and the chart: what was chosen comes back, and what is edited by hand must make sense.
TEST(ViewSettings, ComeBackAndMakeSense) {
  QTemporaryDir folder;
  QSettings settings(folder.filePath("v.ini"), QSettings::IniFormat);
  PatchSelection selection;
  const LegendModel legend;
  QAction previous, next;
  History history;
  auto* image = new ImagePane(&selection, &legend);
  PicturesPane pictures(image, &selection, &previous, &next);
  HistorySources sources(&history);
  ChartPanel chart(&history, &sources);
  const auto restored = [&] {
    image->restore(settings);
    pictures.restore(settings);
    chart.restore(settings);
    QVariantMap state = image->state();
    state.insert(pictures.state());
    state.insert(chart.state());
    state.remove("view/split");
    return state;
  };
  const QVariantMap usual = restored();
  EXPECT_EQ(usual["view/chart_span"], "hour");
  QVariantMap chosen = {{"view/opacity", 0.3},
                        {"view/curtain", 0.75},
                        {"view/coloring", "insertion"},
                        {"view/chart_span", "week"},
                        {"view/chart_areas", QStringList{"road, \"old\"", "sky"}},
                        {"view/chart_region", "gate, \"old\""},
                        {"view/chart_values", QStringList{"merged", "gcc", "red"}}};
  for (auto value = chosen.begin(); value != chosen.end(); ++value) settings.setValue(value.key(), *value);
  EXPECT_EQ(restored(), chosen);
  EXPECT_EQ(pictures.map()->coloring(), MergeColoring::kInsertion);
  const std::pair<const char*, QVariant> wrong[] = {
      {"view/coloring", "upside down"}, {"view/opacity", "7"}, {"view/curtain", "nan"}, {"view/chart_span", 12}};
  for (const auto& [key, value] : wrong) {
    settings.setValue(key, value);
    chosen[key] = usual[key];
  }
  EXPECT_EQ(restored(), chosen);
}

TEST(LabelTable, ShowsTimesByTheClockOfTheCamera) {
  LabelTablePanel panel;
  const auto shows = [&](const QString& picture, const charts::OptionalClock& clock) {
    panel.setLabels({{.picture = picture, .pixels = 9, .share = 0.5}}, {"road"}, {Qt::red}, clock);
    return childOf<QTableWidget>(&panel)->item(0, 0)->text();
  };
  EXPECT_EQ(shows("2013-07-07T20-54-12Z", vision::CameraClock("+09:00")), "8 Jul 2013 05:54");
  EXPECT_EQ(shows("2013-07-07T20-54-12Z", vision::CameraClock("-03:30")), "7 Jul 2013 17:24") << "of another source";
  EXPECT_EQ(shows("20130708_055412", vision::CameraClock("+09:00")), "8 Jul 2013 05:54") << "as its clock showed it";
  EXPECT_EQ(shows("gate", vision::CameraClock("+09:00")), "gate");
}

TEST(History, AnswersTheLastOfManyQuestions) {
  QTemporaryDir folder;
  History history;
  history.setDatabase(database(folder));
  QSignalSpy charts(&history, &History::chartReady), statistics(&history, &History::statisticsReady);
  monitor::ChartQuery query{.source = 1, .from = unixNow() - 2 * kDayMs, .to = unixNow()};
  query.series = {{.quantity = "merged"}};
  for (int i = 1; i <= 20; ++i) {
    query.max_buckets = 100 + i;
    history.askChart(query);
  }
  const UnixMs now = unixNow();
  history.askStatistics(1, 0, now);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !statistics.isEmpty(); }, kPatience));
  EXPECT_LT(charts.count(), 20) << "questions that a later one made pointless are dropped";
  EXPECT_EQ(charts.last()[2].value<monitor::ChartQuery>().max_buckets, 120);
  const auto answer = statistics[0][0].value<JudgedHistory>();
  EXPECT_EQ(std::tuple(answer.source, answer.from, answer.to), std::tuple(1, 0, now)) << "it says what was asked";
  EXPECT_NEAR(answer.statistics.night.mean - answer.statistics.day.mean, 20, 1);
  EXPECT_FALSE(answer.areas.empty());
}

TEST(History, ADatabaseThatIsJustBeingMadeIsNoFailure) {
  QTemporaryDir folder;
  write(folder.filePath("empty.db"), "");
  History history;
  const QSignalSpy failed(&history, &History::failed), sources(&history, &History::sourcesChanged);
  history.setDatabase(folder.filePath("empty.db"));
  history.askEvents(1);
  history.setDatabase(database(folder));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !sources.isEmpty(); }, kPatience));
  EXPECT_EQ(failed.count(), 0);
}

}  // namespace
}  // namespace mpm::gui
