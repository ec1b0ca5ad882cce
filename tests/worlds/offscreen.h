// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>
#include <functional>
#include <iostream>
#include <opencv2/core/utils/logger.hpp>
#include <string>

namespace mpm::worlds {

/// The application of a program without a screen. Python keeps one such process running and writes lines to it.
class OffscreenApp {
 public:
  OffscreenApp(int& argc, char** argv) : app_(withoutScreen(argc), argv) {
    QApplication::setOrganizationName(QStringLiteral("mpm-test"));
    QLocale::setDefault(QLocale::c());
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
  }

  /// Answers each line of JSON on the standard input with a line, until the input ends.
  void answerLines(const std::function<QJsonObject(const QJsonObject& asked)>& answer) const {
    for (std::string line; std::getline(std::cin, line);) {
      const QJsonObject asked = QJsonDocument::fromJson(QByteArray::fromStdString(line)).object();
      std::cout << QJsonDocument(answer(asked)).toJson(QJsonDocument::Compact).toStdString() << std::endl;
    }
  }

 private:
  static int& withoutScreen(int& argc) {  // to be said before Qt begins
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return argc;
  }

  QApplication app_;
};

}  // namespace mpm::worlds
