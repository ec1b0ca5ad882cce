// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtCore>
#include <string>

#include "mpm/error.hpp"

namespace mpm::worlds {

/// Runs the event loop until `there()` holds. Throws mpm::Error naming `what` after a minute.
template <typename Condition>
void waitFor(const std::string& what, Condition there) {
  QElapsedTimer timer;
  timer.start();
  while (!there()) {
    if (timer.elapsed() > 60000) throw Error("the app did not answer: " + what);
    QCoreApplication::processEvents();
    QThread::usleep(300);
  }
}

}  // namespace mpm::worlds
