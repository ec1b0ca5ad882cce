// SPDX-License-Identifier: Apache-2.0
// Going through the pictures of a folder.

#include "gui/views/folder_bar.h"
#include "gui/views/source_dialog.h"
#include "gui/views/source_panel.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class Folder : public Window {
 protected:
  // Opens a folder of so many of the pictures, which is played to its end.
  void playToTheEnd(int pictures) {
    QDir(folder_.path()).mkpath("few");
    for (int i = 0; i < pictures; ++i)
      QFile::copy(QString::fromStdString(path("street/%1.png", i)), QString::fromStdString(path("few/%1.png", i)));
    camera().open(file("few"));
    ASSERT_TRUE(runs());
    ASSERT_TRUE(wait([&] { return session().status().finished; }));
  }
  FolderBar* bar() const { return part<FolderBar>(); }
  bool onShow(const char* name) const {
    return wait(
        [&] { return frame() && frame()->hasGrid() && frame()->result.frame.file == file(name).toStdString(); });
  }
  bool barSays(const char* text) const { return valueOf(bar(), "Picture on show").contains(text); }
};

TEST_F(Folder, KeysAndSliderGoThroughIt) {
  EXPECT_TRUE(bar()->isHidden());
  playToTheEnd(3);
  EXPECT_TRUE(bar()->isVisible());
  EXPECT_TRUE(onShow("few/02.png"));
  EXPECT_TRUE(valueOf(bar(), "Picture on show").startsWith("3 of 3  ·  02.png  ·  "))
      << valueOf(bar(), "Picture on show");
  EXPECT_TRUE(says(part<SourcePanel>(), "\n3 of 3 pictures are stored\n"));
  EXPECT_FALSE(action("next_picture")->isEnabled());
  const auto samples = frame()->result.frame.id;
  QTest::keyClick(window_.get(), Qt::Key_PageUp);
  EXPECT_TRUE(barSays("01.png")) << "the name does not wait for the model";
  EXPECT_TRUE(onShow("few/01.png"));
  EXPECT_THAT(valueOf(window_.get(), "Frame on show"), Begins("01.png"));
  const cv::Mat expected = cv::imread(path("few/%1.png", 1));
  EXPECT_EQ(cv::norm(frame()->image(), expected, cv::NORM_INF), 0);
  bar()->findChild<QSlider*>()->setValue(0);
  EXPECT_TRUE(onShow("few/00.png"));
  QTest::keyClick(window_.get(), Qt::Key_PageDown);
  EXPECT_TRUE(onShow("few/01.png"));
  EXPECT_EQ(frame()->result.frame.id, samples) << "no new frames of the source";
  camera().close();
  EXPECT_TRUE(bar()->isHidden());
  window_.reset();
  EXPECT_EQ(monitor::StoreReader(file("m.db").toStdString()).count(1), 3) << "and no new samples";
}

TEST_F(Folder, ItsBarGoesWithIt) {
  playToTheEnd(2);
  camera().open(file("street/00.png"));
  EXPECT_TRUE(bar()->isHidden());
  camera().open(file("street"));
  camera().open(file("street/00.png"));
  ASSERT_TRUE(runs());
  EXPECT_TRUE(bar()->isHidden()) << "its list comes late";
}

TEST_F(Folder, WhatPlaysIsPausedByAStep) {
  ASSERT_TRUE(openAndWait());
  ASSERT_TRUE(wait([&] { return bar()->isVisible() && session().framesCome(); }));
  QAction* pause = action("pause");
  bar()->findChild<QSlider*>()->setValue(30);
  EXPECT_TRUE(pause->isChecked());
  emit window_->live().frameArrived(frame());  // which was on its way
  EXPECT_TRUE(barSays("31 of 40  ·  30.png"));
  EXPECT_TRUE(onShow("street/30.png"));
  pause->toggle();
  EXPECT_TRUE(wait([&] { return frame()->result.frame.file < file("street/30.png").toStdString(); }))
      << "it goes on where it was";
  EXPECT_FALSE(barSays("30.png"));
  trigger("pause");
  window_->live().change([](monitor::Session&) {});
  EXPECT_TRUE(wait([&] { return frame()->result.repeated; }));
  EXPECT_LT(frame()->result.frame.file, file("street/30.png").toStdString()) << "the frame on show is looked at again";
}

TEST_F(Folder, APauseAtItsEndAndAPictureThatIsGoneAreSaid) {
  playToTheEnd(2);
  trigger("pause");
  EXPECT_THAT(notice(), AllOf(Has("come to its end"), Has("PgUp")));
  EXPECT_FALSE(action("pause")->isChecked());
  EXPECT_FALSE(session().paused());
  EXPECT_NE(buttonOf(part<SourcePanel>(), SourcePanel::tr("Pause")), nullptr);
  ASSERT_TRUE(QFile::remove(file("few/00.png")));
  trigger("previous_picture");
  EXPECT_TRUE(noticed("00.png"));
  EXPECT_TRUE(onShow("few/01.png"));
}

TEST(FolderBar, ShowsNamesAsTheyAre) {
  QAction previous, next;
  FolderBar bar(&previous, &next);
  bar.setPictures({{"yard/%1.png", 0}});
  EXPECT_EQ(valueOf(&bar, "Picture on show"), "1 of 1  ·  %1.png");
}

TEST_F(Folder, OpenRemembersItAndShowsPreviews) {
  playToTheEnd(1);
  auto* dialog = dialogOf<SourceDialog>("open");
  for (auto* button : dialog->findChildren<QAbstractButton*>())
    if (button->text() == SourceDialog::tr("Browse…")) button->isVisible() ? button->click() : void();
  auto* files = childOf<QFileDialog>(dialog);
  EXPECT_EQ(files->directory().absolutePath(), QDir(file("few")).absolutePath());
  auto* preview = childOf<QLabel>(files, "preview");
  emit files->currentChanged(file("few/00.png"));
  EXPECT_EQ(preview->pixmap(Qt::ReturnByValue).size(), QSize(180, 90)) << "of 320 x 160 px";
  emit files->currentChanged(file("m.db"));
  EXPECT_TRUE(preview->pixmap(Qt::ReturnByValue).isNull());
  emit files->currentChanged(file("few"));
  EXPECT_FALSE(preview->pixmap(Qt::ReturnByValue).isNull()) << "of a folder, one of its pictures";
  delete dialog;

  camera().close();
  dialog = dialogOf<SourceDialog>("open");
  EXPECT_EQ(dialog->source(), file("few"));
  EXPECT_EQ(dialog->findChild<QListWidget*>()->currentItem()->text(), SourceDialog::tr("Image folder"));
  dialog->findChild<QListWidget*>()->setCurrentRow(2);
  EXPECT_TRUE(dialog->source().isEmpty()) << "no video was opened";
  delete dialog;
}

}  // namespace
}  // namespace mpm::gui
