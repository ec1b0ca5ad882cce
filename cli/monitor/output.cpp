// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor/output.h"

#include <cstdio>

#include "base/number_text.h"
#include "cli/verb_options.h"
#include "evaluation/numbers.h"
#include "monitor/store/store_reader.h"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/output.h"
#include "program/terminal/program.h"

namespace mpm::cli {

using namespace monitor;
using namespace program;

std::string statusText(const CameraStatus& camera) {
  const SessionStatus& status = camera.session;
  if (camera.over) return camera.failure.empty() ? "over" : "not watched: " + camera.failure;
  std::string text = monitor::toString(status.shownSource());
  if (status.inference.loading) text += "  loading the model";
  if (status.source.fps > 0) text += "  " + fixed(status.source.fps, 1) + " fps in";
  if (camera.sample) {
    text += "  " + fixed(status.inference.p50_ms, 1) + " ms  tokens " + tokensText(camera.sample->token_counts);
    if (camera.sample->night) text += *camera.sample->night ? "  night" : "  day";
  }
  if (status.source.stalls + status.source.reconnects > 0)
    text += "  " + counted(status.source.stalls, "stall") + ", " + counted(status.source.reconnects, "reconnect");
  if (!status.store) return text;
  return text + "  " + std::to_string(status.store->samples) +
         (status.store->writing ? " samples" : " samples, NOT WRITING");
}

std::string storedText(std::int64_t added, const std::string& database) {
  const StoreReader store(database);
  std::int64_t kept = 0;
  for (const SourceRecord& source : store.sources()) kept += store.count(source.id);
  return std::to_string(added) + (added == 1 ? " new sample, " : " new samples, ") + std::to_string(kept) + " in " +
         database + "; mpm report " + program::shellWord((database.starts_with('-') ? "./" : "") + database) +
         " sums them up";
}

void Lines::add(bool data, std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.emplace_back(data, std::move(line));
}

void Lines::print(const std::optional<std::string>& status) {
  std::vector<std::pair<bool, std::string>> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(lines_);
  }
  if (!status && waiting.empty()) return;
  const bool drawn = stderrIsTerminal();
  if (drawn) drawText("\r\033[K");
  for (const auto& [data, line] : waiting) {
    try {
      if (!data) printNote(line);
      if (data && failure.empty()) printData(line);
    } catch (const Error& error) {
      failure = error.what();
    }
  }
  if (drawn && status) drawText(*status);
}

}  // namespace mpm::cli
