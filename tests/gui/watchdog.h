// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QApplication>
#include <QStringList>

namespace mpm::gui {

/// Measures how long each event of the UI thread kept the user waiting, computing or blocked. Time that the machine
/// gave to other programs does not count.
class WatchedApplication : public QApplication {
 public:
  static constexpr double kPatienceMs = 100;  ///< what a person feels, computing or blocked, on a slow machine too

  WatchedApplication(int& argc, char** argv);
  ~WatchedApplication() override;
  bool notify(QObject* receiver, QEvent* event) override;

  int slowEvents() const { return slow_; }
  double longestMs() const { return longest_; }
  /// The first of the slow events: "27.1 ms (25.0 computing): Paint of mpm::gui::TimeChart".
  const QStringList& slowList() const { return slow_list_; }
  void resetWatchdog();

 private:
  struct Times {
    double spent = 0, computing = 0;  // ms
    long pauses = 0;                  // how often the thread waited for something of its own accord
  };
  Times now() const;
  int schedstat_ = -1;
  int depth_ = 0;
  int slow_ = 0;
  double longest_ = 0;
  QStringList slow_list_;
};

}  // namespace mpm::gui
