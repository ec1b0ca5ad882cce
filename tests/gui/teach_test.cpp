// SPDX-License-Identifier: Apache-2.0
// The Teach mode: pictures are labelled, a model is trained on them and used.

#include "gui/views/image_view.h"
#include "gui/views/label_classes_panel.h"
#include "gui/views/label_pictures_panel.h"
#include "gui/views/look.h"
#include "gui/views/pictures_pane.h"
#include "gui/views/states_panel.h"
#include "gui/views/taught_models_panel.h"
#include "gui/views/teach_canvas.h"
#include "gui/views/teach_pane.h"
#include "support/demo.h"
#include "vision/pictures/pictures.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

using monitor::EventKind;

class Teach : public Window {
 protected:
  WindowOptions options() const override {
    WindowOptions options = Window::options();
    options.teach.live = false;
    return options;
  }

  TeachCanvas* canvas() const { return window_->findChild<TeachCanvas*>(); }
  TeachPane* pane() const { return window_->findChild<TeachPane*>(); }
  TeachMode* teach() const { return part<TeachMode>(); }
  const LabelState& state() const { return teach()->state(); }
  vision::LabelFolder labels() const { return vision::LabelFolder(file("m.labels").toStdString()); }
  // Of the labelled pixels of a picture on the disk, those of a class.
  int onDisk(const QString& picture, int label) const {
    return cv::countNonZero(labels().labels(picture.toStdString()) == label);
  }
  void key(Qt::Key key, Qt::KeyboardModifiers modifiers = {}) const { QTest::keyClick(canvas(), key, modifiers); }
  // Draws at the middle of a patch.
  void draw(int token) const {
    EXPECT_TRUE(wait([&] { return teach()->editor() && canvas()->frame()->hasGrid(); })) << "after labels were changed";
    const QPointF at = canvas()->viewport().tokenRect(token, canvas()->frame()->lookup.grid()).center();
    QTest::mouseClick(canvas(), Qt::LeftButton, {}, at.toPoint());
  }
  // The prediction lies over the picture, half as opaque as the labels, and is seen.
  bool paintsPrediction() const {
    const double opacity = canvas()->opacity();
    const QImage painted = shot(canvas());
    canvas()->setOpacity(0);
    const QImage plain = shot(canvas());
    canvas()->setOpacity(opacity);
    const LiveFrame& frame = *canvas()->frame();
    return !frame.labels().empty() && frame.map.data == frame.labels().data &&
           canvas()->paint().opacity == opacity / 2 && painted != plain;
  }
  void addClass(const char* name) {
    auto* text = pane()->classes()->findChild<QLineEdit*>();
    const int before = state().classes.count();
    text->setText(name);
    QTest::keyClick(text, Qt::Key_Return);
    ASSERT_TRUE(wait([&] { return state().classes.count() > before; }));
  }
  // Not the canvas, which shows a picture too.
  ImageView& live() const { return *part<ImagePane>()->image(); }
  // Takes the frame on show, which is then the picture on show.
  void take() {
    const QString before = teach() ? teach()->shown() : QString();
    trigger("take");
    ASSERT_TRUE(wait([&] { return teach()->shown() != before; }));
    check("teach", true);
    ASSERT_TRUE(wait([&] { return canvas()->frame() && canvas()->frame()->hasGrid(); }));
  }
};

class TeachOnePicture : public Teach {
 protected:
  void SetUp() override {
    Teach::SetUp();
    ASSERT_TRUE(openAndPause());
    take();
  }
};

TEST_F(TeachOnePicture, StrokesAreOnTheDiskAtOnceAndAfterARestart) {
  for (const QDockWidget* dock : docks()) EXPECT_TRUE(dock->isHidden());
  const QString picture = state().pictures.front();
  addClass("road");
  addClass("sky");
  EXPECT_EQ(pane()->classes()->chosen(), 1);
  draw(0);
  ASSERT_TRUE(wait([&] { return state().labelled.size() == 1; }));
  const int cluster = onDisk(picture, 1);
  const MergeLookup& lookup = canvas()->frame()->lookup;
  const auto cells = lookup.members(lookup.steps() - 1, lookup.cluster(lookup.steps() - 1, 0)).size();
  EXPECT_EQ(cluster, static_cast<int>(cells) * 320 * 160 / lookup.tokens());

  key(Qt::Key_1);
  EXPECT_EQ(pane()->classes()->chosen(), 0) << "a key of the live view means a class here";
  key(Qt::Key_B);
  draw(20);
  ASSERT_TRUE(wait([&] { return onDisk(picture, 0) > 0; }));
  key(Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(wait([&] { return onDisk(picture, 0) == 0; }));
  EXPECT_EQ(onDisk(picture, 1), cluster);
  key(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_TRUE(wait([&] { return onDisk(picture, 0) > 0; }));
  const int brushed = onDisk(picture, 0);

  make();
  check("teach", true);
  ASSERT_TRUE(wait([&] { return teach()->editor() != nullptr; }));
  EXPECT_EQ(state().classes.classes[1].name, "sky");
  EXPECT_EQ(cv::countNonZero(teach()->editor()->labels() == 0), brushed);
  check("teach", false);
  EXPECT_FALSE(dock("chart")->isHidden()) << "the panels are back";
}

TEST_F(TeachOnePicture, TheKeyboardAloneDraws) {
  addClass("road");
  canvas()->setFocus();
  key(Qt::Key_Right);
  key(Qt::Key_Space);
  ASSERT_TRUE(wait([&] { return state().labelled.size() == 1; }));
  key(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(state().labels.isEmpty()) << "nothing is trained on a picture without labels";
  ASSERT_TRUE(wait([&] { return state().labelled.isEmpty(); }));
  key(Qt::Key_G);
  for (const Qt::Key way : {Qt::Key_Right, Qt::Key_Down, Qt::Key_Left}) {
    key(Qt::Key_Space);
    key(way);
  }
  EXPECT_TRUE(canvas()->hasPolygon());
  key(Qt::Key_Return);
  EXPECT_FALSE(canvas()->hasPolygon());
  ASSERT_TRUE(wait([&] { return state().labelled.size() == 1; }));
}

TEST_F(Teach, WithoutAModelThePictureThatIsChosenIsShown) {
  WindowOptions none = options();
  none.model = file("none.onnx");
  make(none);
  camera().open(file("street"));
  cv::Mat before;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(wait([&] { return frame() && frame()->image().data != before.data; }));
    const cv::Mat taken = before = frame()->image();
    const QString shown = teach() ? teach()->shown() : QString();
    trigger("take");
    ASSERT_TRUE(wait([&] { return teach()->shown() != shown; }));
    ASSERT_NE(canvas()->frame(), nullptr);
    EXPECT_EQ(cv::norm(canvas()->frame()->image(), taken, cv::NORM_INF), 0) << i;
  }
}

TEST_F(TeachOnePicture, APredictionIsAcceptedAndClassesAreMerged) {
  const QString picture = state().pictures.front();
  addClass("of my own");  // so that the numbers of the classes are not those of the model
  ASSERT_NE(buttonOf(pane(), LabelClassesPanel::tr("Take the classes of the model")), nullptr);
  buttonOf(pane(), LabelClassesPanel::tr("Take the classes of the model"))->click();
  ASSERT_TRUE(wait([&] { return state().classes.count() == 5; }));
  EXPECT_TRUE(paintsPrediction());
  key(Qt::Key_V);
  draw(9);
  const int accepted = *canvas()->frame()->classOfToken(9);
  ASSERT_TRUE(wait([&] { return state().labelled.size() == 1; }));
  const cv::Mat map = labels().labels(picture.toStdString());
  double top = 0;
  cv::minMaxLoc(map, nullptr, &top, nullptr, nullptr, map != 255);
  const int label = static_cast<int>(top), pixels = onDisk(picture, label);
  EXPECT_GT(pixels, 0);
  EXPECT_GE(accepted, 0);

  const int into = label == 0 ? 1 : 0;
  emit pane()->classes()->merged(label, into);
  emit pane()->labels()->removeRequested(picture, into);  // changes nothing meanwhile
  ASSERT_TRUE(wait([&] { return state().classes.count() == 4 && teach()->editor(); }));
  EXPECT_EQ(onDisk(picture, into < label ? into : into - 1), pixels);
  EXPECT_FALSE(teach()->editor()->steps().canUndo());
}

TEST_F(Teach, PicturesReuseNoRowsOfThoseBefore) {
  WindowOptions reusing = options();
  reusing.inference.reuse = parseReuse("threshold=12");
  make(reusing);
  ASSERT_TRUE(openAndPause());
  ASSERT_TRUE(frame()->result.estimate.reuse);
  take();
  EXPECT_FALSE(canvas()->frame()->result.estimate.reuse);
}

TEST_F(TeachOnePicture, ClassesThatAreTypedFastAreAllKept) {
  const int before = state().classes.count();
  for (const char* name : {"pole", "fence", "hedge"}) emit pane()->classes()->added(name);
  ASSERT_TRUE(wait([&] { return state().classes.count() == before + 3; }));
  emit pane()->classes()->merged(before, std::nullopt);
  emit pane()->classes()->renamed(before + 2, "shrub");  // before the other class has gone
  ASSERT_TRUE(wait([&] { return state().classes.count() == before + 2; }));
  ASSERT_TRUE(wait([&] { return state().classes.classes.back().name == "shrub"; }));
  EXPECT_EQ(state().classes.classes[static_cast<std::size_t>(before)].name, "fence");
}

// How new classes differ: tests/vision/classes_test.cpp.
TEST_F(TeachOnePicture, NewClassesHaveColoursOfTheirOwnOrOfTheModelAndDarkenNothing) {
  const auto painted = [&](double opacity) {
    canvas()->setOpacity(opacity);
    return shot(canvas());
  };
  ASSERT_FALSE(canvas()->frame()->labels().empty());
  EXPECT_EQ(painted(1), painted(0)) << "no class is there to be painted";
  addClass("road");
  EXPECT_EQ(painted(1), painted(0)) << "the model does not know it";
  const LegendModel& legend = *part<LegendModel>();
  addClass(qUtf8Printable(legend.name(2)));
  const auto& classes = state().classes.classes;
  ASSERT_TRUE(classes[0].rgb && classes[1].rgb);
  EXPECT_NE(classes[0].rgb, classes[1].rgb);
  const auto& rgb = *classes[1].rgb;
  EXPECT_EQ(QColor(rgb[0], rgb[1], rgb[2]), legend.color(2)) << "a class of the model has one colour everywhere";
}

TEST_F(TeachOnePicture, TheListShowsThumbnails) {
  const auto* list = pane()->pictures()->findChild<QListWidget*>();
  const auto shown = [&] { return list->item(0)->icon().pixmap(list->iconSize()).toImage(); };
  const auto middle = [&] { return shown().pixelColor(shown().rect().center()); };
  ASSERT_TRUE(wait([&] { return !shown().isNull(); }));
  cv::Mat small;
  cv::resize(canvas()->frame()->image(), small, {64, 32}, 0, 0, cv::INTER_AREA);
  const auto& expected = small.at<cv::Vec3b>(16, 32);
  EXPECT_NEAR(middle().blue(), expected[0], 40);
  EXPECT_NEAR(middle().green(), expected[1], 40);
  EXPECT_NEAR(middle().red(), expected[2], 40);
  EXPECT_EQ(list->item(0)->checkState(), Qt::Unchecked);
  addClass("road");
  draw(0);
  ASSERT_TRUE(wait([&] { return !state().labelled.isEmpty(); }));
  EXPECT_EQ(list->item(0)->checkState(), Qt::Checked);
}

TEST_F(TeachOnePicture, ImportedLabelsOutliveTheNextStroke) {
  addClass("road");
  addClass("sky");
  const QString picture = teach()->shown();
  vision::LabelFolder other(file("other").toStdString(), vision::LabelFolder::Access::kWrite);
  other.setClasses({{"road"}, {"sky"}});
  const cv::Mat image = labels().picture(picture.toStdString());
  other.saveLabels(other.addPicture(picture.toStdString(), image), cv::Mat(image.size(), CV_8U, cv::Scalar(0)));
  emit pane()->pictures()->importChosen(file("other"));
  ASSERT_TRUE(wait([&] { return teach()->editor() && canvas()->frame()->hasGrid() && onDisk(picture, 0) > 0; }));
  draw(0);
  ASSERT_TRUE(wait([&] { return onDisk(picture, 1) > 0; }));
  EXPECT_EQ(onDisk(picture, 255), 0);
}

TEST_F(TeachOnePicture, AStrokeEndsWithItsPicture) {
  addClass("road");
  key(Qt::Key_B);
  const QString first = teach()->shown();
  cv::imwrite(file("other.png").toStdString(), mpm::test::smoothPicture(160, 320));
  const auto add = [&] {
    emit pane()->pictures()->filesChosen({file("other.png")});
    return wait([&] { return teach()->shown() == "other" && canvas()->frame()->hasGrid(); });
  };
  const auto press = [&] { QTest::mousePress(canvas(), Qt::LeftButton, {}, canvas()->rect().center()); };
  canvas()->setUnsure({9});
  const auto release = [&] {
    QTest::mouseMove(canvas(), canvas()->rect().center() + QPoint(40, 0));
    QTest::mouseRelease(canvas(), Qt::LeftButton, {}, canvas()->rect().center() + QPoint(40, 0));
  };
  press();
  ASSERT_TRUE(add());
  release();
  EXPECT_TRUE(wait([&] { return onDisk(first, 0) > 0; }));
  EXPECT_FALSE(teach()->editor()->steps().canUndo()) << "nothing is drawn in the other one";
  const QImage sure = shot(canvas());
  canvas()->setShowsUnsure(true);
  EXPECT_EQ(shot(canvas()), sure) << "of the picture before";

  draw(9);
  EXPECT_TRUE(teach()->editor()->steps().canUndo());
  press();
  emit pane()->pictures()->removeRequested("other");
  ASSERT_TRUE(wait([&] { return teach()->shown() == first; }));
  release();
  EXPECT_EQ(cv::countNonZero(teach()->editor()->labels() == 0), onDisk(first, 0)) << "nor in what stands there then";
  ASSERT_TRUE(add());
  EXPECT_FALSE(teach()->editor()->steps().canUndo()) << "a new picture of this name";
  EXPECT_EQ(state().labelled, QStringList(first));
  for (const QString& name : {first, teach()->shown()}) emit pane()->pictures()->removeRequested(name);
  ASSERT_TRUE(wait([&] { return state().pictures.isEmpty(); }));
  addClass("sky");
  EXPECT_FALSE(canvas()->frame()) << "no picture is left";
}

TEST_F(TeachOnePicture, LabelsOfAnotherPictureAreCopied) {
  addClass("road");
  addClass("sky");
  auto* copy = static_cast<QPushButton*>(buttonOf(pane()->pictures(), LabelPicturesPanel::tr("Copy labels of")));
  EXPECT_FALSE(copy->isEnabled()) << "there is no other picture";
  key(Qt::Key_B);
  draw(9);
  ASSERT_TRUE(wait([&] { return state().labelled.size() == 1; }));
  const QString first = state().labelled.front();
  const cv::Mat from = labels().labels(first.toStdString());
  check("teach", false);
  const std::string before = live().frame()->result.frame.file;
  trigger("next_picture");
  ASSERT_TRUE(wait([&] { return live().frame()->result.frame.file != before; }));
  take();
  const QString second = teach()->shown();
  key(Qt::Key_1);
  draw(20);
  ASSERT_TRUE(wait([&] { return state().labelled.size() == 2; }));
  const cv::Mat own = labels().labels(second.toStdString());
  ASSERT_TRUE(copy->isEnabled());
  emit copy->menu()->aboutToShow();
  ASSERT_EQ(copy->menu()->actions().size(), 1);
  EXPECT_EQ(copy->menu()->actions()[0]->text(), first);
  EXPECT_TRUE(QFile::exists(file("street/%1.png").arg(second))) << "it has the name of its file";
  copy->menu()->actions()[0]->trigger();
  cv::Mat expected = from.clone();
  own.copyTo(expected, own != 255);
  const auto differs = [&](const cv::Mat& map) {
    return cv::countNonZero(labels().labels(second.toStdString()) != map);
  };
  EXPECT_TRUE(wait([&] { return differs(expected) == 0; })) << "what is drawn stays";
  key(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(wait([&] { return differs(own) == 0; }));
  cv::imwrite(file("small.png").toStdString(), mpm::test::smoothPicture(80, 160));
  emit pane()->pictures()->filesChosen({file("small.png")});
  ASSERT_TRUE(wait([&] { return teach()->shown() == "small"; }));
  emit pane()->pictures()->copyRequested(first);
  EXPECT_TRUE(noticed("another size"));
  EXPECT_EQ(state().labelled.size(), 2);
  QStringList marked;
  QObject::connect(pane()->pictures()->findChild<QListWidget*>()->selectionModel(),
                   &QItemSelectionModel::currentChanged, [&](const auto& now) { marked << now.data().toString(); });
  for (const QString& name : {first, second}) emit pane()->pictures()->picked(name);
  EXPECT_TRUE(wait([&] { return teach()->shown() == second; }));
  EXPECT_THAT(marked, Not(Has(first))) << "another one was asked for before it came";
}

TEST_F(TeachOnePicture, TheTableOfLabelsLeadsToThemAndRemovesThem) {
  addClass("road");
  addClass("sky");
  auto* table = pane()->labels()->findChild<QTableWidget*>();
  const auto rows = [&](int count) { return wait([&] { return table->rowCount() == count; }); };
  const auto select = [&](const QString& tip) {
    for (int row = 0; row < table->rowCount(); ++row)
      if (table->item(row, 0)->toolTip().startsWith(tip)) return table->setCurrentCell(row, 0);
    ADD_FAILURE() << tip;
  };
  const QString first = teach()->shown();
  draw(0);
  key(Qt::Key_1);
  key(Qt::Key_B);
  draw(20);
  ASSERT_TRUE(rows(2));
  check("teach", false);
  trigger("next_picture");
  ASSERT_TRUE(wait([&] { return QString::fromStdString(live().frame()->result.frame.file) != first; }));
  take();
  const QString second = teach()->shown();
  ASSERT_NE(second, first);
  draw(9);
  ASSERT_TRUE(rows(3));

  const int pixels = onDisk(first, 1);
  const QString sky = QString("sky: %1 px of %2, %3 % of the picture")
                          .arg(QLocale().toString(pixels), first, QLocale().toString(pixels / 512.0, 'f', 1));
  table->sortByColumn(2, Qt::DescendingOrder);
  EXPECT_EQ(table->item(0, 0)->toolTip(), sky) << "a number is not sorted as a text";
  pane()->findChild<QTabWidget*>()->setCurrentWidget(pane()->labels());
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualItemRect(table->item(0, 1)).center());
  EXPECT_TRUE(wait([&] { return teach()->shown() == first; }));
  EXPECT_EQ(pane()->classes()->chosen(), 1);
  table->setFocus();
  QTest::keyClick(table, Qt::Key_Delete);
  ASSERT_TRUE(rows(2));
  EXPECT_EQ(onDisk(first, 1), 0);
  QTest::keyClick(table, Qt::Key_Z, Qt::ControlModifier);
  ASSERT_TRUE(rows(3));
  EXPECT_EQ(onDisk(first, 1), pixels);

  select(QStringLiteral("road: %1 px of %2").arg(QLocale().toString(onDisk(second, 0)), second));
  QTest::keyClick(table, Qt::Key_Delete);
  ASSERT_TRUE(rows(2));
  EXPECT_EQ(teach()->shown(), second) << "where they can be brought back";
  EXPECT_EQ(state().labelled, QStringList(first));
  select("road");
  QTest::keyClick(table, Qt::Key_Return);
  EXPECT_TRUE(wait([&] { return teach()->shown() == first; }));
  EXPECT_EQ(pane()->classes()->chosen(), 0);
}

TEST_F(TeachOnePicture, StatesOfTheSourceOfAStoredPictureAreNotThoseOfTheLiveOne) {
  auto head = std::make_shared<evaluation::StateHead>(
      evaluation::StateHead{.name = "gate", .states = {"closed", "open"}, .model_name = "m", .model_digest = "a1"});
  head->weights = cv::Mat(2, 4, CV_64F, cv::Scalar(0));
  QDir().mkpath(file("m.labels/states"));
  evaluation::writeStates(file("m.labels/states/gate.json").toStdString(), *head);
  // Another frame of the live source has what states are read from.
  const auto reads = [&] {
    const LiveFramePtr before = live().frame();
    window_->live().change([](monitor::Session&) {});
    return wait([&] { return live().frame() != before; }) && !live().frame()->result.estimate.features.empty();
  };
  emit pane()->states()->useRequested(head, true);
  ASSERT_TRUE(wait(reads));
  emit part<ChartPanel>()->chart()->timePicked(0);
  emit part<PictureStore>()->loaded(
      {.frame = live().frame(), .source = "garden", .question = onShow().question().value()});
  emit pane()->states()->useRequested(head, false);
  trigger("unpin");
  EXPECT_TRUE(reads());
}

TEST_F(TeachOnePicture, KnowsTheRegionsAndTheFolderOfItsSource) {
  const auto* regions = childOf<QComboBox>(pane()->states());
  EXPECT_LT(regions->findText("gate"), 0);
  part<CameraConfigs>()->setRegions(
      file("street"), {{.name = "gate", .size = {320, 160}, .polygons = {{{10, 10}, {90, 10}, {90, 90}}}}});
  EXPECT_TRUE(wait([&] { return regions->findText("gate") > 0; }));
  buttonOf(pane()->pictures(), LabelPicturesPanel::tr("From files…"))->click();
  EXPECT_EQ(childOf<QFileDialog>(pane()->pictures())->directory().absolutePath(), file("street"));
}

TEST(StatesPanel, AddsNothingToASetThatIsNotReadYet) {
  StatesPanel panel;
  panel.setPictures({"a", "b"});
  panel.setThumbnail("b", QImage(8, 8, QImage::Format_RGB32));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(panel.findChild<QListWidget*>()->item(i)->icon().isNull(), i == 0);
  panel.setExamples({{"a", "open"}});
  std::optional<ShownStates> changed;
  QObject::connect(&panel, &StatesPanel::examplesChanged, [&](const ShownStates& shown) { changed = shown; });
  const auto press = [&](const char* state) {
    auto* name = panel.findChild<QLineEdit*>();
    name->setText("shut");
    QTest::keyClick(name, Qt::Key_Return);
    panel.findChild<QListWidget*>()->item(1)->setSelected(true);
    buttonOf(&panel, state)->click();
  };
  panel.setRegions({"gate"});
  childOf<QComboBox>(&panel)->setCurrentIndex(1);
  EXPECT_EQ(panel.findChild<QListWidget*>()->item(0)->text(), "a") << "nor shows those of the set before";
  press("shut (0)");
  EXPECT_FALSE(changed);
  panel.setExamples({{"a", "locked"}});
  press("shut (0)");
  EXPECT_EQ(changed, (ShownStates{{"a", "locked"}, {"b", "shut"}})) << "without those of the other set";
  panel.setExamples({{"a", "open"}, {"b", "shut"}, {"c", "shut"}, {"d", "open"}});
  buttonOf(&panel, StatesPanel::tr("Train"))->click();
  EXPECT_EQ(changed->size(), 4) << "saved anew: a picture may be gone";
}

// A press on the state that is right for both labels them anew.
TEST(StatesPanel, ShowsWhatContradictsSideBySide) {
  StatesPanel panel;
  panel.setPictures({"a", "b", "c"});
  QImage red(64, 40, QImage::Format_RGB32), blue = red;
  red.fill(Qt::red);
  blue.fill(Qt::blue);
  panel.setExamples({{"a", "shut"}, {"b", "open"}, {"c", "open"}});
  evaluation::StateHead head{.states = {"open", "shut"}};
  head.verdict.contradictions = {{.file = "x/c.png", .like = "x/a.png", .state = 0, .like_state = 1}};
  panel.setThumbnail("a", blue);
  panel.setHead(std::make_shared<evaluation::StateHead>(head));
  panel.setThumbnail("c", red);
  auto* pictures = panel.findChildren<QListWidget*>()[0];
  auto* wrong = panel.findChildren<QListWidget*>()[1];
  ASSERT_EQ(wrong->count(), 1);
  EXPECT_EQ(wrong->item(0)->text(), "c is open, but looks most like a, which is shut");
  const QImage icon = wrong->item(0)->icon().pixmap(wrong->iconSize()).toImage();
  EXPECT_EQ(icon.pixelColor(10, 20), Qt::red);
  EXPECT_EQ(icon.pixelColor(icon.width() - 10, 20), Qt::blue);
  panel.resize(240, 620);
  panel.show();
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return wrong->visualItemRect(wrong->item(0)).height() >= 4 * wrong->fontMetrics().height(); }, 60000))
      << "the words are wrapped beside the pictures";
  QSignalSpy shown(&panel, &StatesPanel::picked), changed(&panel, &StatesPanel::examplesChanged);
  emit wrong->itemClicked(wrong->item(0));
  EXPECT_EQ(shown.back()[0], "c");
  for (const int i : {0, 1, 2}) EXPECT_EQ(pictures->item(i)->isSelected(), i != 1);
  buttonOf(&panel, "shut (1)")->click();
  EXPECT_EQ(changed.back()[0].value<ShownStates>(), (ShownStates{{"a", "shut"}, {"b", "open"}, {"c", "shut"}}));
}

TEST(TaughtModelsPanel, VerdictsHaveTheColoursOfTheTheme) {
  TaughtModelsPanel panel;
  TaughtModel model;
  model.path = "v1.onnx";
  model.verdict = TaughtModel::Verdict();
  model.verdict->classes = {"road"};
  model.verdict->verdicts.resize(1);
  model.verdict->verdicts[0].grade = evaluation::ClassVerdict::Grade::kGood;
  panel.setModels({model});
  panel.show();
  const auto color = [&] { return panel.findChild<QTableWidget*>()->item(0, 2)->foreground().color(); };
  for (const bool dark : {false, true, false}) {
    applyLook(dark ? darkTheme() : lightTheme(), 100);
    EXPECT_EQ(color(), theme().good);
  }
}

TEST_F(TeachOnePicture, WhatMakesNoSenseIsOneLineAndChangesNothing) {
  const QString picture = state().pictures.front();
  draw(3);
  EXPECT_EQ(notice(), TeachCanvas::tr("Add a class first"));
  addClass("road");
  addClass("sky");
  const auto refused = [&](const char* part_of_line) { return noticed(part_of_line); };
  emit pane()->classes()->added("road");
  EXPECT_TRUE(refused("two classes 'road'"));
  EXPECT_EQ(pane()->classes()->findChild<QListWidget*>()->count(), 2);
  emit pane()->classes()->renamed(1, "road");
  EXPECT_TRUE(refused("two classes 'road'"));
  EXPECT_EQ(pane()->classes()->findChild<QListWidget*>()->item(1)->text(), "sky");
  emit pane()->pictures()->importChosen(file("nowhere"));
  EXPECT_TRUE(refused("nowhere"));

  // A disk that takes no labels: they stay on the screen, and the next stroke writes them.
  const std::filesystem::path folder = file("m.labels/labels").toStdString();
  std::filesystem::rename(folder, folder.string() + ".away");
  write(file("m.labels/labels"), "");
  draw(3);
  EXPECT_TRUE(refused("cannot make the folder"));
  ASSERT_TRUE(QFile::remove(file("m.labels/labels")));
  draw(20);
  const auto differing = [&] {
    return cv::countNonZero(labels().labels(picture.toStdString()) != teach()->editor()->labels());
  };
  EXPECT_TRUE(wait([&] { return differing() == 0; }));
}

TEST_F(Teach, FitsOnASmallScreen) {
  check("teach", true);
  window_->resize(800, 480);
  settle();
  EXPECT_EQ(window_->size(), QSize(800, 480));
  EXPECT_GE(canvas()->width(), 400);
  EXPECT_GE(canvas()->height(), 240);
}

TEST_F(TeachOnePicture, ShowsHowFarTheLabelsAreFromAGoodStart) {
  const auto says = [&](const char* text) { return textOf(pane()->pictures()).contains(text); };
  EXPECT_TRUE(says("– 0 of 4 pictures are labelled"));
  addClass("road");
  addClass("sky");
  draw(0);
  ASSERT_TRUE(wait([&] { return says("– 1 of 4 pictures are labelled"); }));
  EXPECT_TRUE(says("– one by night"));
  EXPECT_TRUE(says("not yet: road, sky"));

  vision::LabelFolder folder(file("m.labels").toStdString(), vision::LabelFolder::Access::kWrite);
  for (const char* name : {"1", "2", "3"}) {
    cv::Mat labels(20, 20, CV_8U, cv::Scalar(255));
    labels.at<uchar>(3, 3) = 1;
    folder.saveLabels(folder.addPicture(name, cv::Mat(20, 20, CV_8UC3, cv::Scalar::all(20))), labels);
  }
  make();
  check("teach", true);
  ASSERT_TRUE(wait([&] { return says("✓ 4 of 4 pictures are labelled"); }));
  EXPECT_TRUE(says("✓ one by night"));
  EXPECT_TRUE(says("not yet: road"));
  EXPECT_FALSE(says("sky"));
}

class TeachTrained : public Teach {
 protected:
  void SetUp() override {
    MPM_NEEDS_DEMO();
    Teach::SetUp();
  }
  WindowOptions options() const override {
    WindowOptions options = Teach::options();
    options.teach.live = true;
    options.teach.steps = steps_;
    return options;
  }
  // Pictures of a street at these hours, the sky and the ground of each labelled with a cluster.
  void label(const std::vector<const char*>& hours) {
    for (const char* hour : hours) {
      camera().open(QString("demo:street?seed=3&size=240x320&frames=1&start=2026-06-20T%1:00").arg(hour));
      ASSERT_TRUE(wait([&] { return live().frame() && live().frame()->hasGrid(); }));
      take();
      if (state().classes.count() == 0) {
        addClass("air");
        addClass("ground");
      }
      const Size2 grid = canvas()->frame()->lookup.grid();
      for (const auto& [digit, token] : {std::pair(Qt::Key_1, grid.width / 2),
                                         std::pair(Qt::Key_2, grid.width * (grid.height - 1) + grid.width / 2)}) {
        key(digit);
        draw(token);
      }
    }
    ASSERT_TRUE(wait([&] { return state().labelled.size() == static_cast<int>(hours.size()); }));
  }
  // The head on the labels has answered: the stand-in itself knows none of the two classes.
  bool predicted() const {
    const LiveFramePtr& frame = canvas()->frame();
    return frame && frame->hasGrid() && frame->labels().size() == cv::Size(64, 32) &&
           cv::countNonZero(frame->labels() > 1) == 0;
  }
  QAbstractButton* button(const QString& text) const { return buttonOf(pane()->models(), text); }
  int steps_ = 5;
};

TEST_F(TeachTrained, FromAStreetToAModelOfItAndBack) {
  label({"03", "09", "15", "23"});
  EXPECT_TRUE(wait([&] { return predicted(); })) << "the overlay follows the strokes";
  EXPECT_TRUE(paintsPrediction());

  const QString street = QString::fromStdString(session().model());
  pane()->models()->setProblem("of before");
  button(TaughtModelsPanel::tr("Train"))->click();
  EXPECT_THAT(textOf(pane()->models()), Not(Has("of before")));
  ASSERT_TRUE(wait([&] { return state().models.size() == 1; }));
  ASSERT_TRUE(state().models[0].verdict);
  EXPECT_EQ(pane()->models()->findChild<QTableWidget*>()->rowCount(), 2);
  const QString mine = file("m.labels/models/v1.onnx");
  EXPECT_EQ(state().models[0].path, mine);
  button(TaughtModelsPanel::tr("Use it"))->click();
  ASSERT_TRUE(wait([&] { return QString::fromStdString(session().model()) == mine; }));
  ASSERT_TRUE(wait([&] { return part<LegendModel>()->classes() == 2; }));
  EXPECT_EQ(part<LegendModel>()->name(1), "ground");
  EXPECT_TRUE(wait([&] { return reported(EventKind::kModel, "v1.onnx"); }));
  EXPECT_TRUE(wait([&] {
    return QSettings(file("settings.ini"), QSettings::IniFormat).value("teach/before") == street;
  })) << "the way back is there at the next start";

  make();
  check("teach", true);
  ASSERT_TRUE(wait([&] { return state().models.size() == 1 && state().labelled.size() == 4; }));
  EXPECT_EQ(state().classes.classes[1].name, "ground");
  ASSERT_TRUE(wait([&] { return session().status().inference.info != nullptr; }));
  button(TaughtModelsPanel::tr("Use it"))->click();
  ASSERT_TRUE(wait([&] { return QString::fromStdString(session().model()) == mine; }));
  const QString back = TaughtModelsPanel::tr("Back to %1").arg(QFileInfo(street).fileName());
  ASSERT_TRUE(wait([&] {
    const auto buttons = pane()->models()->findChildren<QAbstractButton*>();
    return std::any_of(buttons.begin(), buttons.end(), [&](const auto* one) { return one->text() == back; });
  }));
  button(back)->click();
  ASSERT_TRUE(wait([&] { return QString::fromStdString(session().model()) == street; }));
}

TEST_F(TeachTrained, StatesAreLearntAndReadLive) {
  for (const char* when : {"20T12", "21T23", "22T12", "23T23"}) {
    camera().open(QStringLiteral("demo:street?seed=3&size=240x320&frames=1&start=2026-06-%1:00").arg(when));
    ASSERT_TRUE(wait([&] { return live().frame() && live().frame()->hasGrid(); }));
    take();
  }
  StatesPanel* panel = pane()->states();
  auto* pictures = panel->findChildren<QListWidget*>()[0];
  ASSERT_TRUE(wait([&] { return pictures->count() == 4; }));
  EXPECT_FALSE(buttonOf(panel, StatesPanel::tr("Train"))->isEnabled());
  for (const char* state : {"day", "night"}) {
    auto* name = panel->findChild<QLineEdit*>();
    name->setText(state);
    QTest::keyClick(name, Qt::Key_Return);
    pictures->clearSelection();
    for (int i = state == std::string("day") ? 0 : 1; i < 4; i += 2) pictures->item(i)->setSelected(true);
    buttonOf(panel, QStringLiteral("%1 (0)").arg(state))->click();
  }
  EXPECT_THAT(pictures->item(1)->text(), Begins("night · "));
  buttonOf(panel, StatesPanel::tr("Train"))->click();
  QAbstractButton* use = buttonOf(panel, StatesPanel::tr("Use it"));
  ASSERT_TRUE(wait([&] { return use->isEnabled(); }));
  EXPECT_THAT(textOf(panel), Has("100.0 % of 4 answers are right"));
  EXPECT_THAT(textOf(panel), Not(Has("Too good"))) << "the names of the pictures have their days";
  EXPECT_TRUE(QFile::exists(file("m.labels/states/picture.csv")));
  use->click();
  EXPECT_TRUE(use->isChecked());
  EXPECT_EQ(camera().config().states, std::vector<std::string>{file("m.labels/states/picture.json").toStdString()});
  EXPECT_EQ(use->text(), StatesPanel::tr("In use"));

  // Another set of states of the same pictures.
  auto* set = fieldOf<QComboBox>(panel, "Name of these states");
  const auto choose = [set](const char* name) {
    set->clearEditText();
    QTest::keyClicks(set, name);  // letters of tools among them
    QTest::keyClick(set->lineEdit(), Qt::Key_Return);
  };
  choose("rain");
  EXPECT_TRUE(wait([&] { return !pictures->item(1)->text().startsWith("night"); }));
  EXPECT_FALSE(use->isChecked());
  // A set whose file cannot be read gets nothing of the one that was chosen before it.
  QDir().mkpath(file("m.labels/states/broken.csv"));
  choose("picture");
  choose("broken");
  EXPECT_TRUE(says(panel, "broken.csv"));
  EXPECT_THAT(pictures->item(1)->text(), Not(Begins("night")));
  EXPECT_FALSE(use->isEnabled());
  choose("picture");
  EXPECT_TRUE(wait([&] { return use->isChecked(); }));

  make();
  check("teach", true);
  ASSERT_TRUE(wait([&] { return pane()->states()->findChildren<QListWidget*>()[0]->count() == 4; }));
  EXPECT_TRUE(says(pane()->states(), "100.0 % of 4 answers")) << "it is there after a restart";

  // The set that is in use comes first.
  const QString source = "demo:street?seed=3&size=240x320&frames=1";
  evaluation::StateHead head = evaluation::readStates(file("m.labels/states/picture.json").toStdString());
  part<CameraConfigs>()->useStates(source, head, file("m.labels/states/picture.json"), false);
  head.name = "dusk";
  evaluation::writeStates(file("m.labels/states/dusk.json").toStdString(), head);
  QFile::copy(file("m.labels/states/picture.csv"), file("m.labels/states/dusk.csv"));
  part<CameraConfigs>()->useStates(source, head, file("m.labels/states/dusk.json"), true);
  make();
  camera().open(source);
  ASSERT_TRUE(wait([&] { return live().frame() && live().frame()->hasGrid(); }));
  check("teach", true);
  EXPECT_TRUE(wait([&] { return pane()->states()->set() == "dusk"; }));
  EXPECT_TRUE(says(pane()->states(), "100.0 % of 4 answers"));
}

TEST_F(TeachTrained, ProposesThePictureThatDiffersMost) {
  label({"09", "15"});
  const QString source = "demo:street?seed=3&size=240x320&frames=1&start=2026-06-20T23:30";
  camera().open(source);
  ASSERT_TRUE(
      wait([&] { return live().frame() && live().frame()->hasGrid() && cv::mean(live().frame()->image())[1] < 100; }));
  check("teach", true);
  buttonOf(pane()->pictures(), LabelPicturesPanel::tr("What to label next?"))->click();
  const auto suggestions = [&] { return pane()->pictures()->findChildren<QToolButton*>("suggestion"); };
  ASSERT_TRUE(wait([&] { return suggestions().size() == 1; })) << "the live picture: nothing is stored";
  EXPECT_FALSE(suggestions()[0]->icon().isNull());
  suggestions()[0]->click();
  ASSERT_TRUE(wait([&] { return state().pictures.size() == 3; }));
  EXPECT_TRUE(suggestions().isEmpty());
  EXPECT_THAT(textOf(pane()->pictures()), Not(Has(LabelPicturesPanel::tr("Press one to label it"))));

  ASSERT_TRUE(wait([&] { return predicted(); })) << "the head has looked at it";
  EXPECT_TRUE(wait([&] {
    const QImage plain = shot(canvas());
    key(Qt::Key_Q);
    return shot(canvas()) != plain;  // else they come later
  })) << "cells of which the head is not sure are hatched";
}

TEST_F(TeachTrained, ProposesPicturesOfTheOpenFolder) {
  for (int i = 3; i < kPictures; ++i) QFile::remove(QString::fromStdString(path("street/%1.png", i)));
  label({"09"});
  camera().open(file("street"));
  ASSERT_TRUE(wait([&] { return live().frame() && live().frame()->result.frame.file == path("street/%1.png", 2); }));
  take();
  buttonOf(pane()->pictures(), LabelPicturesPanel::tr("What to label next?"))->click();
  const auto suggestions = [&] { return pane()->pictures()->findChildren<QToolButton*>("suggestion"); };
  ASSERT_TRUE(wait([&] { return suggestions().size() == 2; })) << "the third is there already";
  for (const QToolButton* button : suggestions()) {
    const QString name = button->toolTip().section(QLatin1Char(' '), -1);
    EXPECT_TRUE(QFile::exists(file("street/%1.png").arg(name))) << name;
  }
  check("teach", false);
  check("teach", true);
  EXPECT_EQ(suggestions().size(), 2) << "still";
  buttonOf(pane()->pictures(), LabelPicturesPanel::tr("What to label next?"))->click();
  EXPECT_THAT(textOf(pane()->pictures()), Has("Comparing 2"));
  check("teach", false);
  check("teach", true);
  EXPECT_THAT(textOf(pane()->pictures()), Not(Has("Comparing"))) << "it was given up";
  addClass("water");
  addClass("ice");  // on the disk, behind the pictures that were to be compared
  EXPECT_TRUE(suggestions().isEmpty());
}

TEST_F(TeachTrained, ACancelledTrainingLeavesAllAsItWas) {
  steps_ = 100000;
  make();
  label({"09", "15"});
  const QByteArray before = content(file("m.labels/labels/%1.png").arg(state().pictures[0]));
  button(TaughtModelsPanel::tr("Train"))->click();
  ASSERT_TRUE(wait([&] { return teach()->training(); }));
  EXPECT_FALSE(button(TaughtModelsPanel::tr("Train"))->isEnabled());
  QSignalSpy said(teach(), &TeachMode::said);  // not the notice, which may tell of the archive by then
  button(TaughtModelsPanel::tr("Cancel"))->click();
  ASSERT_TRUE(wait([&] { return !teach()->training(); }));
  ASSERT_EQ(said.size(), 1);
  EXPECT_THAT(said[0][0].toString(), Has("cancelled"));
  EXPECT_EQ(content(file("m.labels/labels/%1.png").arg(state().pictures[0])), before);
  EXPECT_TRUE(state().models.empty());
  EXPECT_TRUE(QDir(file("m.labels/models")).entryList(QDir::Files).isEmpty());
  button(TaughtModelsPanel::tr("Train"))->click();
  ASSERT_TRUE(wait([&] { return teach()->training(); }));
  window_->close();
  EXPECT_TRUE(window_->isVisible()) << "it asks first";
  buttonOf(childOf<QMessageBox>(window_.get()), Exports::tr("Go on"))->click();
  EXPECT_TRUE(teach()->training());
  window_.reset();
  EXPECT_TRUE(QDir(file("m.labels/models")).entryList(QDir::Files).isEmpty()) << "closing the window ends it too";
}

}  // namespace
}  // namespace mpm::gui
