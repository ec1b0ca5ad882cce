// SPDX-License-Identifier: Apache-2.0
#include "watchdog.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <QEvent>
#include <QMetaEnum>
#include <QThread>
#include <algorithm>
#include <chrono>
#include <cstdio>

namespace mpm::gui {
namespace {

constexpr int kListed = 20;
// Qt shares the filling of an area with a pool of threads, which on a busy machine wait for a core.
bool paints(QEvent::Type type) {
  return type == QEvent::UpdateRequest || type == QEvent::Expose || type == QEvent::Paint;
}

}  // namespace

WatchedApplication::WatchedApplication(int& argc, char** argv) : QApplication(argc, argv) {
  schedstat_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

WatchedApplication::~WatchedApplication() {
  if (schedstat_ >= 0) ::close(schedstat_);
}

// `spent` is wall time less the time this thread was ready to run and no core was free for it.
WatchedApplication::Times WatchedApplication::now() const {
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  Times times;
  times.spent = std::chrono::duration<double, std::milli>(wall).count();
  char text[96];
  const ssize_t length = schedstat_ >= 0 ? ::pread(schedstat_, text, sizeof(text) - 1, 0) : 0;
  if (length > 0) {
    text[length] = 0;
    unsigned long long running = 0, waiting = 0;
    if (std::sscanf(text, "%llu %llu", &running, &waiting) == 2) times.spent -= static_cast<double>(waiting) / 1e6;
  }
  timespec computing{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &computing);
  times.computing = static_cast<double>(computing.tv_sec) * 1e3 + static_cast<double>(computing.tv_nsec) / 1e6;
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  times.pauses = usage.ru_nvcsw;
  return times;
}

bool WatchedApplication::notify(QObject* receiver, QEvent* event) {
  // Other threads with an event loop come here as well: they may take their time.
  if (QThread::currentThread() != thread() || depth_ > 0) return QApplication::notify(receiver, event);
  const QEvent::Type type = event->type();
  const char* name = receiver->metaObject()->className();  // the receiver may be gone afterwards
  ++depth_;
  const Times begin = now();
  const bool result = QApplication::notify(receiver, event);
  const Times end = now();
  const double computing = end.computing - begin.computing;
  // Who computed less than the wall says, and waited for nothing, was held up by a machine that is shared or throttled.
  const bool waited = end.pauses != begin.pauses && !paints(type);
  const double spent = waited ? end.spent - begin.spent : computing;
  --depth_;
  longest_ = std::max(longest_, spent);
  if (spent > kPatienceMs && ++slow_ <= kListed) {
    const char* key = QMetaEnum::fromType<QEvent::Type>().valueToKey(type);
    slow_list_ << QStringLiteral("%1 ms (%2 computing): %3 of %4")
                      .arg(QString::number(spent, 'f', 1), QString::number(computing, 'f', 1),
                           QLatin1String(key ? key : "event"), QLatin1String(name));
  }
  return result;
}

void WatchedApplication::resetWatchdog() {
  slow_ = 0;
  longest_ = 0;
  slow_list_.clear();
}

}  // namespace mpm::gui
