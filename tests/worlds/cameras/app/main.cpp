// SPDX-License-Identifier: Apache-2.0
// Answers each line of JSON on the standard input with a line: what the app shows of a database ("database"), or, once
// it has measured a folder ("folder"), how many pictures are stored.

#include <iostream>
#include <opencv2/core/utils/logger.hpp>

#include "gui/views/look.h"
#include "reader.h"
#include "watcher.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("mpm-test"));
  QLocale::setDefault(QLocale::c());
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  for (std::string line; std::getline(std::cin, line);) {
    const QJsonObject asked = QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
    QJsonObject answer;
    try {
      answer = asked.contains("folder") ? mpm::worlds::watch(asked) : mpm::worlds::read(asked);
    } catch (const std::exception& error) {
      answer = {{"error", QString::fromUtf8(error.what())}};
    }
    std::cout << QJsonDocument(answer).toJson(QJsonDocument::Compact).toStdString() << std::endl;
  }
  return 0;
}
