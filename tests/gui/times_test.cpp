// SPDX-License-Identifier: Apache-2.0
// Folders of pictures that have a time.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>

#include "gui/views/times_dialog.h"
#include "window_fixture.h"

namespace mpm::gui {
namespace {

class Times : public Window {
 protected:
  void SetUp() override {
    Window::SetUp();
    QDir(folder_.path()).mkpath(QStringLiteral("dated"));
    for (int i = 0; i < 3; ++i)
      QFile::copy(QString::fromStdString(path("street/%1.png", i)),
                  QString::fromStdString(path("dated/20130708_0554%1.png", 12 - i)));
  }
  // The dialog that comes when a folder is opened for the first time, with what it found.
  TimesDialog* ask(const char* folder) {
    window_->opener().open(file(folder));
    auto* dialog = window_->findChild<TimesDialog*>();
    return dialog && wait([&] { return dialog->isVisible(); }) ? dialog : nullptr;
  }
  bool ends() {
    return wait([&] { return window_->live().session().isOpen() && window_->live().session().status().finished; });
  }
  std::vector<monitor::Sample> samples() {
    window_.reset();  // stores all
    std::vector<monitor::Sample> found;
    const monitor::StoreReader store(file("m.db").toStdString());
    store.samples(1, INT64_MIN, INT64_MAX, [&](const monitor::Sample& sample) {
      found.push_back(sample);
      return true;
    });
    return found;
  }
};

TEST_F(Times, AFolderIsAskedForOnce) {
  TimesDialog* dialog = ask("dated");
  ASSERT_NE(dialog, nullptr);
  EXPECT_FALSE(window_->live().session().isOpen()) << "not before the answer";
  for (auto* edit : dialog->findChildren<QLineEdit*>())
    if (edit->accessibleName() == TimesDialog::tr("Time zone")) edit->setText(QStringLiteral("+02:00"));
  ASSERT_TRUE(wait([&] { return valueOf(dialog, "Found").contains(QStringLiteral("UTC+02:00")); }));
  EXPECT_EQ(valueOf(dialog, "Found"), QStringLiteral("20130708_055410.png: 2013-07-08 05:54:10 UTC+02:00, name\n"
                                                     "20130708_055411.png: 2013-07-08 05:54:11 UTC+02:00, name\n"
                                                     "20130708_055412.png: 2013-07-08 05:54:12 UTC+02:00, name"));
  dialog->accept();
  ASSERT_TRUE(ends());
  EXPECT_TRUE(watching().commandLine().endsWith(QStringLiteral("--times auto --time-zone +02:00")));
  const auto stored = samples();
  ASSERT_EQ(stored.size(), 3u);
  EXPECT_EQ(isoTime(stored[0].time), "2013-07-08T03:54:10Z");
  EXPECT_EQ(stored[2].picture, "20130708_055412.png");

  make();
  EXPECT_EQ(ask("dated"), nullptr) << "it is remembered";
  ASSERT_TRUE(ends());
  EXPECT_TRUE(runs()) << "the last one is there to look at";
  EXPECT_EQ(samples().size(), 3u) << "each picture once";
}

TEST_F(Times, WithoutAnyTheyCountAsReadNow) {
  const UnixMs before = unixNow();
  window_->opener().open(file("street"));
  lookForTimes();
  ASSERT_TRUE(runs()) << "without a question";
  EXPECT_FALSE(watching().commandLine().contains(QStringLiteral("--times")));
  ASSERT_FALSE(samples().empty());
  EXPECT_GE(samples()[0].time, before);
}

TEST_F(Times, AZoneThatIsNoneIsSaid) {
  TimesDialog* dialog = ask("dated");
  ASSERT_NE(dialog, nullptr);
  for (auto* edit : dialog->findChildren<QLineEdit*>())
    if (edit->accessibleName() == TimesDialog::tr("Time zone")) edit->setText(QStringLiteral("Mars"));
  EXPECT_TRUE(valueOf(dialog, "Found").startsWith(QStringLiteral("'Mars' is neither")));
  dialog->reject();
  EXPECT_FALSE(window_->live().session().isOpen());
}

TEST_F(Times, TheyCanBeChosenAgain) {
  watching().open(file("dated"));
  ASSERT_TRUE(runs());
  ASSERT_TRUE(ends());
  auto* dialog = dialogOf<TimesDialog>("times");
  ASSERT_NE(dialog, nullptr);
  auto* from = dialog->findChild<QComboBox*>();
  from->setCurrentIndex(4);
  ASSERT_TRUE(wait([&] { return valueOf(dialog, "Found").contains(TimesDialog::tr("date of the file")); }));
  dialog->accept();
  ASSERT_TRUE(wait([&] { return watching().commandLine().contains(QStringLiteral("--times modified")); }));
}

}  // namespace
}  // namespace mpm::gui
