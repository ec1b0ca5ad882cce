// SPDX-License-Identifier: Apache-2.0
#include "monitor/store/event.h"

namespace mpm::monitor {

const char* toString(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "?";
}

const char* toString(EventKind kind) {
  switch (kind) {
    case EventKind::kSession:
      return "session";
    case EventKind::kSource:
      return "source";
    case EventKind::kModel:
      return "model";
    case EventKind::kStorage:
      return "storage";
    case EventKind::kClock:
      return "clock";
    case EventKind::kAlarm:
      return "alarm";
    case EventKind::kAlarmEnded:
      return "alarm ended";
  }
  return "?";
}

}  // namespace mpm::monitor
