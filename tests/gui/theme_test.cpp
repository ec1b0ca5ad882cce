// SPDX-License-Identifier: Apache-2.0
// The looks and the languages of the app.
#include <QTest>
#include <QtWidgets>
#include <algorithm>
#include <cstdlib>

#include "gui/models/theme.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "text.h"

namespace mpm::gui {
namespace {

// Texts and the backgrounds on which they stand on the screen.
std::vector<std::pair<QColor, QColor>> textPairs(const Theme& t) {
  std::vector<std::pair<QColor, QColor>> pairs = {
      {t.on_accent, t.accent}, {t.on_canvas, t.canvas}, {t.text, t.chart.night}, {t.muted, t.chart.night}};
  for (const QColor& background : {t.window, t.panel, t.field, QColor(t.chart.background)}) {
    pairs.emplace_back(t.text, background);
    pairs.emplace_back(t.muted, background);  // also the outline of what is not checked
  }
  for (const QColor& background : {t.window, t.panel})
    for (const QColor& state : {t.good, t.warning, t.bad, t.accent}) pairs.emplace_back(state, background);
  for (const std::uint32_t line : t.chart.series) pairs.emplace_back(QColor(line), QColor(t.chart.background));
  for (const std::uint32_t line : {t.chart.by_day, t.chart.by_night})
    pairs.emplace_back(QColor(line), QColor(t.chart.background));
  return pairs;
}

TEST(Theme, EveryTextIsReadable) {
  for (const Theme& theme : {lightTheme(), darkTheme()}) {
    for (const auto& [text, background] : textPairs(theme)) {
      EXPECT_GE(contrast(text, background), 4.5)
          << (theme.dark ? "dark: " : "light: ") << text.name() << " on " << background.name();
    }
  }
}

// As it is drawn: something within the square of the indicator stands out from the panel.
TEST(Theme, WhatIsNotCheckedIsSeen) {
  for (const Theme& theme : {lightTheme(), darkTheme()}) {
    applyLook(theme, 100);
    QWidget panel;
    panel.setProperty("panel", true);
    panel.setAttribute(Qt::WA_StyledBackground);
    QCheckBox check(&panel);
    QRadioButton radio(&panel);
    radio.move(0, 40);
    panel.resize(100, 80);
    panel.ensurePolished();
    for (QAbstractButton* button : {static_cast<QAbstractButton*>(&check), static_cast<QAbstractButton*>(&radio)}) {
      button->resize(button->sizeHint());
      const auto strongest = [&](bool on) {
        button->setChecked(on);
        const QImage image = panel.grab(button->geometry()).toImage();
        double most = 1;
        for (int y = 0; y < image.height(); ++y)
          for (int x = 0; x < image.width(); ++x) most = std::max(most, contrast(image.pixelColor(x, y), theme.panel));
        return most;
      };
      EXPECT_GE(strongest(false), 3) << (theme.dark ? "dark" : "light");
      EXPECT_GE(strongest(true), 3) << (theme.dark ? "dark" : "light");
    }
  }
  applyLook(lightTheme(), 100);
}

TEST(Theme, APrimaryButtonThatIsDisabledLooksIt) {
  QPushButton button("Save");
  button.resize(button.sizeHint());
  makePrimary(&button);
  const auto fill = [&] { return button.grab().toImage().pixelColor(button.width() / 2, 4); };
  EXPECT_EQ(fill(), lightTheme().accent);
  button.setEnabled(false);
  EXPECT_EQ(fill(), lightTheme().window);
}

TEST(Theme, FocusIsSeenAlsoOnTheAccent) {
  for (const Theme& theme : {lightTheme(), darkTheme()}) {
    applyLook(theme, 100);
    QWidget window;
    QPushButton other("Other"), primary("Save"), checked("Day");
    QToolButton tool;
    makePrimary(&primary);
    for (QAbstractButton* button : {static_cast<QAbstractButton*>(&checked), static_cast<QAbstractButton*>(&tool)}) {
      button->setCheckable(true);
      button->setChecked(true);
    }
    fill(new QVBoxLayout(&window), &other, &primary, &checked, &tool);
    window.show();
    window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
    for (QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
      if (button == &other) continue;
      other.setFocus();
      const QImage before = button->grab().toImage();
      button->setFocus();
      EXPECT_NE(button->grab().toImage(), before) << button->metaObject()->className();
    }
  }
  applyLook(lightTheme(), 100);
}

TEST(Theme, DrawsEveryIconInItsTextColour) {
  QStringList names = QDir(":/icons").entryList({"*.svg"});
  names.removeOne("mpm-monitor.svg");
  ASSERT_GT(names.size(), 30);
  std::vector<QImage> drawn;
  for (const Theme& theme : {lightTheme(), darkTheme()}) {
    applyLook(theme, 100);
    for (const QString& name : names) {
      const QImage image = icon(QFileInfo(name).baseName()).pixmap(48, 48).toImage();
      int ink = 0;
      for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
          const QColor pixel = image.pixelColor(x, y);
          if (pixel.alpha() < 255) continue;
          for (const int off :
               {pixel.red() - theme.text.red(), pixel.green() - theme.text.green(), pixel.blue() - theme.text.blue()})
            EXPECT_LE(std::abs(off), 2) << name << ", beyond the rounding where shapes overlap";
          ++ink;
        }
      }
      EXPECT_GT(ink, 60) << name;
      EXPECT_EQ(std::count(drawn.begin(), drawn.end(), image), 0) << name << " looks like another icon";
      drawn.push_back(image);
    }
  }
  applyLook(lightTheme(), 100);
}

// A class, a file or a camera may be called anything.
TEST(Theme, ShowsTextFromOutsideAsItIs) {
  applyLook(lightTheme(), 100);
  QWidget window;
  QLabel plain("<b>road</b>", &window), meant("<b>road</b>", &window);
  meant.setTextFormat(Qt::RichText);
  plain.ensurePolished();
  meant.ensurePolished();
  EXPECT_GT(plain.sizeHint().width(), 2 * meant.sizeHint().width());
}

TEST(Theme, StyleSheetIsComplete) {
  for (const Theme& theme : {lightTheme(), darkTheme()}) EXPECT_THAT(theme.styleSheet(), Not(Has(QLatin1Char('%'))));
}

TEST(Theme, ContrastIsThatOfWcag) {
  EXPECT_NEAR(contrast(Qt::black, Qt::white), 21, 1e-6);
  EXPECT_NEAR(contrast(QColor(0x777777), Qt::white), 4.48, 0.01);
  EXPECT_EQ(readableOn(QColor(Qt::yellow)), QColor(Qt::black));
  EXPECT_EQ(readableOn(QColor(Qt::darkBlue)), QColor(Qt::white));
}

// Every message of the .ts file has a translation that is finished and keeps its place holders.
void expectComplete(const QString& language) {
  QFile file(QStringLiteral(MPM_SOURCE_DIR "/gui/i18n/mpm-monitor_%1.ts").arg(language));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly)) << file.fileName();
  QXmlStreamReader xml(&file);
  int messages = 0;
  QString source;
  const auto holders = [](const QString& text) {
    QStringList found;
    static const QRegularExpression holder("%[0-9n]");
    for (auto it = holder.globalMatch(text); it.hasNext();) found << it.next().captured();
    found.sort();
    return found;
  };
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    if (xml.name() == QLatin1String("source")) source = xml.readElementText();
    if (xml.name() != QLatin1String("translation")) continue;
    EXPECT_TRUE(xml.attributes().value("type").isEmpty()) << language << ": " << source;
    QStringList forms;
    QString text;
    while (!(xml.readNext() == QXmlStreamReader::EndElement && xml.name() == QLatin1String("translation")) &&
           !xml.atEnd()) {
      if (xml.isStartElement() && xml.name() == QLatin1String("numerusform")) forms << xml.readElementText();
      if (xml.isCharacters()) text += xml.text();
    }
    if (forms.isEmpty()) forms << text;
    for (const QString& form : forms) {
      EXPECT_FALSE(form.trimmed().isEmpty()) << language << ": " << source;
      static const QRegularExpression alone(" [:;?!»]| %(?![0-9nL])");  // it would begin a line
      if (language == "fr") {
        EXPECT_THAT(form, Not(Has(alone)));
      }
      if (forms.size() == 1) {
        EXPECT_EQ(holders(form), holders(source)) << form;
      }
    }
    ++messages;
  }
  EXPECT_GT(messages, language == "en" ? 5 : 300);
}

TEST(Translations, FrenchIsComplete) { expectComplete("fr"); }
TEST(Translations, EnglishPluralsAreComplete) { expectComplete("en"); }

}  // namespace
}  // namespace mpm::gui
