// SPDX-License-Identifier: Apache-2.0
#include <QtWidgets>

#include "text.h"

namespace mpm::gui {
namespace {

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

TEST(Translations, AreInTheProgram) {
  QTranslator french;
  ASSERT_TRUE(french.load(":/i18n/mpm-monitor_fr.qm"));
  EXPECT_EQ(french.translate("mpm::gui::WelcomePage", "Try the demo"), "Essayer la démo");
}

}  // namespace
}  // namespace mpm::gui
