// SPDX-License-Identifier: Apache-2.0
#include "application.h"

#include <fcntl.h>
#include <unistd.h>

#include <QEvent>
#include <QMetaEnum>
#include <chrono>
#include <cstdio>

namespace mpm {

Application::Application(int& argc, char** argv) : QApplication(argc, argv) {
  schedstat_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

Application::~Application() {
  if (schedstat_ >= 0) ::close(schedstat_);
}

// Wall time less the time this thread was ready to run and no core was free for it.
double Application::spentMs() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  double ms = std::chrono::duration<double, std::milli>(now).count();
  char text[96];
  const ssize_t length = schedstat_ >= 0 ? ::pread(schedstat_, text, sizeof(text) - 1, 0) : 0;
  if (length > 0) {
    text[length] = 0;
    unsigned long long running = 0, waiting = 0;
    if (std::sscanf(text, "%llu %llu", &running, &waiting) == 2) ms -= static_cast<double>(waiting) / 1e6;
  }
  return ms;
}

bool Application::notify(QObject* receiver, QEvent* event) {
  if (depth_ > 0) return QApplication::notify(receiver, event);
  const QEvent::Type type = event->type();
  const char* name = receiver->metaObject()->className();  // the receiver may be gone afterwards
  ++depth_;
  const double begin = spentMs();
  const bool result = QApplication::notify(receiver, event);
  const double spent = spentMs() - begin;
  --depth_;
  if (spent > kPatienceMs) ++slow_;
  if (spent > longest_) {
    longest_ = spent;
    const char* key = QMetaEnum::fromType<QEvent::Type>().valueToKey(type);
    slowest_ = QStringLiteral("%1 of %2").arg(QLatin1String(key ? key : "event"), QLatin1String(name));
  }
  return result;
}

void Application::resetWatchdog() {
  slow_ = 0;
  longest_ = 0;
  slowest_.clear();
}

}  // namespace mpm
