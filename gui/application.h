// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QApplication>

namespace mpm {

/// The application with a watchdog over its own thread: how long each event kept the user waiting. Time that the
/// machine gave to other programs does not count, time spent blocked does.
class Application : public QApplication {
  Q_OBJECT
 public:
  static constexpr double kPatienceMs = 16;

  Application(int& argc, char** argv);
  ~Application() override;
  bool notify(QObject* receiver, QEvent* event) override;

  int slowEvents() const { return slow_; }
  double longestMs() const { return longest_; }
  QString slowest() const { return slowest_; }
  void resetWatchdog();

 private:
  double spentMs() const;
  int schedstat_ = -1;
  int depth_ = 0;
  int slow_ = 0;
  double longest_ = 0;
  QString slowest_;
};

}  // namespace mpm
