// SPDX-License-Identifier: Apache-2.0
#include "page/asked.h"

#include <algorithm>

#include "base/visible_text.h"
#include "vision/time.h"

namespace mpm::page {

using namespace monitor;

Json Shown::clockJson(UnixMs now) const {
  constexpr UnixMs kYear = 366 * kDayMs;
  const UnixMs first = std::max(source.first, now - 100 * kYear);
  // The clock of a camera may have been wrong; an archive and a scene have times of their own.
  const UnixMs last = std::max({first, now, source.own_clock ? source.last : std::min(source.last, now + kYear)});
  return {{"name", clock().name()}, {"zone", clock().zone()}, {"offsets", clock().offsets(first, last)}};
}

UnixMs timeIn(Request& request, const std::string& name, UnixMs usual) {
  const std::string& text = request.arguments[name];
  const auto time = text.empty() ? usual : vision::timeOfIso(text);
  if (!time) throw Refusal(400, name + ": '" + visibleText(text) + "' is no time such as 2026-11-03T17:04:05Z");
  return *time;
}

const char* stateOf(const Shown& camera, UnixMs now) {
  if (camera.live) return camera.live->word();
  const SourceRecord& source = camera.source;
  if (source.archive) return "archive";
  if (!camera.store || !camera.store->running(source.id)) return "ended";
  return source.own_clock || camera.store->pace(source.id).alive(source.last, now) ? "online" : "stalled";
}

SeriesRecord seriesIn(const Shown& camera, Request& request) {
  const auto all = camera.store->series(camera.source.id);
  const std::string& number = request.arguments["series"];
  for (const SeriesRecord& one : all)
    if (std::to_string(one.number) == number) return one;
  if (!number.empty() || all.empty()) throw Refusal(400, "series: there is no '" + visibleText(number) + "'");
  return all.back();
}

}  // namespace mpm::page
