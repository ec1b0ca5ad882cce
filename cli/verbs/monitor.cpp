// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

#include "base/number_text.h"
#include "cli/camera_options.h"
#include "cli/shard.h"
#include "cli/verbs/verbs.h"
#include "evaluation/numbers.h"
#include "monitor/event_command.h"
#include "monitor/measure_again.h"
#include "monitor/service_notify.h"
#include "monitor/session.h"
#include "monitor/store/export.h"
#include "monitor/watch/watch_options.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "vision/labels/classes.h"
#include "vision/model_digest.h"
#include "vision/sources/source.h"

namespace mpm::cli {

namespace {

using namespace monitor;
using namespace std::chrono_literals;

constexpr double kPatienceS = 20;  // at the end, for a disk that may not answer

struct MonitorArguments {
  Watch watch;                      // what the options say
  std::optional<Reduction> reduce;  // --reduce, --schedule, --attention
  std::string file;                 // --watch
  bool print = false, json = false, recompute = false, once = false;
  Shard shard;
};

// The camera of a watch file, with what the options say in its place. Sets `tables` to those of the file.
WrittenWatch writtenWatch(const MonitorArguments& arguments, FileTables& tables) {
  WrittenWatch written;
  if (!arguments.file.empty()) {
    const auto [cameras, others] = orUsageError([&] { return readWatches(arguments.file); });
    tables = others;
    if (cameras.size() > 1)
      throw UsageError("'" + arguments.file + "' has " + counted(static_cast<std::int64_t>(cameras.size()), "camera") +
                       ": 'mpm monitor' watches one, give each a file of its own");
    written = cameras.front();
  }
  Watch given = arguments.watch;
  if (arguments.reduce) given.reduce = toString(*arguments.reduce);
  std::erase_if(written.places, [&](const auto& place) {
    return std::visit([&](auto member) { return given.*member != Watch().*member; }, watchField(place.first).member);
  });
  take(written.watch, given);
  return written;
}

// Those that will be measured: of the file, or those that the database has.
std::vector<std::string> regionNames(const WatchOptions& watch, const std::string& database) {
  if (watch.regions) return vision::namesOf(*watch.regions);
  try {
    return vision::namesOf(currentRegions(StoreReader(database), watch.source.name()));
  } catch (const Error&) {  // there is no database yet, or the session says what is wrong with it
    return {};
  }
}

// An alarm or a blur of a class, a region or a state that there is not is a typing error, reported at once. A service
// (NOTIFY_SOCKET) goes on after a restart with a model that was replaced: the alarm rests, and all is blurred, until a
// model knows the class.
void checkNames(const SessionOptions& session, const WatchOptions& watch) {
  std::optional<std::vector<std::string>> classes, regions;
  const auto needClass = [&](const char* field, const std::string& name) {
    if (std::getenv("NOTIFY_SOCKET")) return;
    if (!classes) classes = vision::classNames(readModelInfo(session.model, session.inference.read.convert));
    if (std::find(classes->begin(), classes->end(), name) == classes->end())
      throw WatchError(field, "the model has no class '" + name + "' ('mpm info' lists them)");
  };
  const auto& heads = watch.states.heads;
  for (const Alarm& alarm : watch.alarms.alarms) {
    const auto head =
        std::find_if(heads.begin(), heads.end(), [&](const auto& one) { return one.name == alarm.quantity; });
    if (!alarm.state.empty() && head == heads.end())
      throw WatchError("alarm", "no states are named '" + alarm.quantity + "'");
    if (!alarm.state.empty() && head->indexOf(alarm.state) < 0)
      throw WatchError("alarm", "'" + alarm.quantity + "' has no state '" + alarm.state + "'");
    if (!alarm.region.empty() && !regions) regions = regionNames(watch, session.database);
    if (!alarm.region.empty() && std::find(regions->begin(), regions->end(), alarm.region) == regions->end())
      throw WatchError("alarm", "there is no region '" + alarm.region + "'" +
                                    (regions->empty() ? ": give a file with --regions" : ""));
    if (alarm.isArea()) needClass("alarm", alarm.quantity);
  }
  for (const std::string& name : watch.privacy.blurred) needClass("blur", name);
}

void checkStates(const Watch& watch, const WatchOptions& options, const std::string& model) {
  for (std::size_t i = 0; i < watch.states.size(); ++i)
    if (const evaluation::StateHead& head = options.states.heads[i]; head.model_digest != vision::modelDigest(model))
      throw WatchError("states", "'" + watch.states[i] + "' reads the tokens of another model, '" + head.model_name +
                                     "' (" + head.model_digest + "), than '" + model +
                                     "': run that one, or teach the states again with --model");
}

Json eventJson(const Event& event) {
  return {{"time", isoTime(event.time, true)},
          {"event", monitor::toString(event.kind)},
          {"severity", monitor::toString(event.severity)},
          {"message", event.message}};
}

std::string statusText(const SessionStatus& status, const std::optional<Sample>& sample) {
  std::string text = monitor::toString(status.source);
  if (status.inference.loading) text += "  loading the model";
  if (status.source.fps > 0) text += "  " + fixed(status.source.fps, 1) + " fps in";
  if (sample) {
    text += "  " + fixed(status.inference.p50_ms, 1) + " ms  tokens " + tokensText(sample->token_counts);
    if (sample->night) text += *sample->night ? "  night" : "  day";
  }
  return text + "  " + std::to_string(status.store->samples) +
         (status.store->writing ? " samples" : " samples, NOT WRITING");
}

std::string storedText(std::int64_t added, const std::string& database) {
  std::int64_t kept = 0;
  for (const SourceRecord& stored : StoreReader(database).sources()) kept += stored.samples;
  return std::to_string(added) + (added == 1 ? " new sample, " : " new samples, ") + std::to_string(kept) + " in " +
         database + "; 'mpm report " + database + "' sums them up";
}

int measureArchiveAgain(const SessionOptions& session, const WatchOptions& watch) {
  if (!watch.archive)
    throw UsageError("--recompute needs pictures: '" + watch.source.shownText() + "' is no folder of pictures");
  (void)StoreReader(session.database);   // else the writer makes one
  StoreWriter writer(session.database);  // first: nobody else writes until all are measured
  std::optional<Progress> progress;
  std::int64_t progressed = 0;
  const auto again = measureAgain(session, watch, [&](std::int64_t done, std::int64_t all) {
    if (all > 0 && !progress) progress.emplace(stderrIsTerminal(), static_cast<int>(all), "picture");
    for (; progress && progressed < done; ++progressed) progress->step();
    return !interrupted();
  });
  progress.reset();
  if (!again) return kInterrupted;
  writer.replaceSamples(again->database);
  if (!writer.flush()) throw Error(writer.status().problem);
  const std::int64_t unread = again->pictures - again->samples;
  printNote(counted(again->samples, "picture") + " measured again" +
            (unread > 0 ? "; " + counted(unread, "picture") + " cannot be read" : ""));
  return kOk;
}

int monitorSource(const MonitorArguments& arguments) {
  FileTables tables;
  const WrittenWatch all = writtenWatch(arguments, tables);
  const Watch& said = all.watch;
  if (arguments.print) {
    Watch shown = said;
    shown.source = vision::redactCredentials(shown.source);
    std::string text = watchText({shown}, tables, true);
    text.pop_back();  // printData() ends the line
    printData(text);
    return kOk;
  }
  if (tables.mqtt != Mqtt()) throw UsageError("'" + arguments.file + "', [mqtt]: this build has no libmosquitto");
  if (tables.webhook != Webhook()) throw UsageError("'" + arguments.file + "', [webhook]: this build has no libcurl");
  const vision::SourceKind kind = vision::parseSourceSpec(said.source).kind;
  if (!arguments.shard.isWhole() && kind != vision::SourceKind::kFolder && kind != vision::SourceKind::kGlob)
    throw UsageError("--shard needs a folder or a glob");
  auto [options, watch] = orOptionError(
      [&] {
        SessionOptions session = sessionOptions(said);
        WatchOptions watched = watchOptions(said);
        session.model = chosenModel(session.model);
        checkStates(said, watched, session.model);
        checkNames(session, watched);
        return std::pair(std::move(session), std::move(watched));
      },
      all.places);
  if (!arguments.shard.isWhole())
    watch.chosen = [shard = arguments.shard](const std::string& path) { return shard.contains(path); };
  if (watch.archive) requireAllFrames(options.inference.reuse, arguments.shard, false);
  noteSlowPrecision(options.inference.read.convert.precision);
  if (arguments.recompute) return measureArchiveAgain(options, watch);
  if (arguments.once && (watch.archive || (!watch.source.isLive() && kind != vision::SourceKind::kDemo)))
    throw UsageError("--once is for a camera; files are read to their end");
  if (arguments.once) {
    watch.every_frame = false;
    watch.adapt_s = 1;
    watch.every_s = std::max(watch.every_s, 60.0);  // runs are minutes apart: each sample counts alone
  }

  ServiceNotify service;
  std::mutex mutex;
  // For stdout (data) or stderr. This thread prints them: where a terminal is stopped (Ctrl-S), or a reader is slow,
  // only this one waits, and storing goes on. Guarded by the mutex.
  std::vector<std::pair<bool, std::string>> lines;
  std::optional<Sample> last;        // guarded by the mutex
  std::string load_problem;          // guarded by the mutex
  std::atomic<bool> ready = false;   // the first model is there
  std::atomic<bool> failed = false;  // the source: the command reports it once, at its end
  std::vector<std::string> names;    // of the classes; of the model's thread
  int names_of = 0;                  // InferenceResult::session

  Session::Callbacks callbacks;
  callbacks.on_event = [&](const Event& event) {
    if (event.kind == EventKind::kSource && failed) return;
    const std::lock_guard lock(mutex);
    if (event.kind == EventKind::kModel && !ready)
      load_problem = event.message;
    else
      lines.emplace_back(arguments.json, arguments.json ? toLine(eventJson(event))
                                                        : isoTime(event.time) + "  " + monitor::toString(event.kind) +
                                                              ": " + event.message);
  };
  callbacks.on_state = [&](const CaptureStatus& status) {
    failed = status.state == CaptureState::kEnded && !status.message.empty();
  };
  callbacks.on_sample = [&](const Sample& sample, const InferenceResult& result) {
    if (std::exchange(names_of, result.session) != result.session) names = vision::classNames(*result.model);
    const std::lock_guard lock(mutex);
    if (arguments.json) lines.emplace_back(true, toLine(toJson(sample, names, toString(result.model->reduction))));
    last = sample;
  };
  if (watch.archive) options.choose_reuse = false;  // pictures are far apart, and after a kill some are left out
  std::optional<Session> session;
  session.emplace(options, callbacks);
  InferenceStatus loading = session->status().inference;
  for (; loading.loading && !interrupted(); loading = session->status().inference) std::this_thread::sleep_for(10ms);
  if (!loading.ready && !interrupted()) {
    const std::lock_guard lock(mutex);
    throw Error(load_problem.empty() ? "cannot load '" + options.model + "'" : load_problem);
  }
  ready = true;
  session->open(watch);
  service.ready();

  std::string failure, output_failure;
  std::optional<Progress> progress;  // of an archive
  std::int64_t progressed = 0;
  const auto print = [&](const std::string& status) {
    std::vector<std::pair<bool, std::string>> waiting;
    {
      const std::lock_guard lock(mutex);
      waiting.swap(lines);
    }
    if (progress && waiting.empty()) return;
    const char* const clear = stderrIsTerminal() ? "\r\033[K" : "";
    std::fputs(clear, stderr);
    for (const auto& [data, line] : waiting) {
      try {
        if (!data) printNote(line);
        if (data && output_failure.empty()) printData(line);
      } catch (const Error& error) {
        output_failure = error.what();
        session->addEvent({unixNow(), EventKind::kStorage, Severity::kError, output_failure + "; storing goes on"});
      }
    }
    if (*clear) std::fputs(status.c_str(), stderr);
  };
  std::int64_t next_tick = 0;
  while (!interrupted()) {
    const SessionStatus status = session->status();
    std::string text;
    bool sampled = false;
    {
      const std::lock_guard lock(mutex);
      text = statusText(status, last);
      sampled = last.has_value();
    }
    if (const std::int64_t now = steadyNow(); now >= next_tick) {
      next_tick = now + 1000;
      session->tick();
      service.status(text);
    }
    if (!status.stuck()) service.alive();
    const bool counts = watch.archive && !watch.archive->follow && status.source.of > 0;
    print(counts ? "" : text);
    if (counts && !progress) progress.emplace(stderrIsTerminal(), static_cast<int>(status.source.of), "picture");
    for (; counts && progressed < status.inference.processed; ++progressed) progress->step();
    const bool silent = status.source.attempt > 0 || status.source.state == CaptureState::kStalled;
    if (status.finished || status.store->stopped || (arguments.once && (sampled || silent))) {
      if (!sampled || !arguments.once) failure = status.source.message;
      if (arguments.once && !sampled && failure.empty()) failure = "no frame came";
      break;
    }
    std::this_thread::sleep_for(100ms);
  }
  progress.reset();
  service.stopping();
  const bool all_stored = session->finish(kPatienceS);
  const WriterStatus written = *session->status().store;
  print("");
  if (written.stopped) {
    failure = written.problem;
  } else if (!all_stored) {
    const bool hangs = written.busy_s > kPatienceS / 2;
    failure = "the last " + std::to_string(written.pending) + " samples could not be written: " +
              (hangs ? "the disk of '" + options.database + "' does not answer" : written.problem);
    if (hangs) {  // so would the destructor of the session
      printError("mpm monitor", failure);
      std::_Exit(kRuntimeError);
    }
  }
  session.reset();
  if (failure.empty()) failure = output_failure;
  if (!arguments.json && all_stored && (written.samples > 0 || failure.empty()))
    printNote(storedText(written.samples, options.database));
  if (!failure.empty()) throw Error(failure);
  return kOk;
}

}  // namespace

Verb addMonitor(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("monitor", "Watch a camera for months and store what it sees");
  const auto arguments = std::make_shared<MonitorArguments>();
  addReduction(
      *verb, arguments->reduce,
      "Default: that of the model's JSON file, else 2,5 for a plain ViT (those of them that it has), else what "
      "the model was converted with");
  addWatchFields(*verb, arguments->watch);
  addOption(*verb, "--watch", arguments->file, "FILE.toml",
            "Watch what this file says (docs/watch.md); options count in place\nof its keys")
      ->group("Options");
  verb->add_flag("--print-watch", arguments->print, "Watch nothing: print such a file of these options, with all keys")
      ->group("Options");
  verb->add_flag("--json", arguments->json, "One JSON object per sample and per event, one per line")->group("Options");
  verb->add_flag("--once", arguments->once,
                 "Store one sample of a camera and end: for a timer, or a board that sleeps between")
      ->group("Options");
  addShard(*verb, arguments->shard);
  addChoice<bool>(*verb, "--recompute", arguments->recompute, {{"all", true}},
                  "Watch nothing: measure all pictures of a folder again, with this\nmodel, these regions and states, "
                  "and end. What is stored stays until\nall are measured")
      ->group(kRegionsGroup);
  verb->footer(
      "Runs until Ctrl-C or SIGTERM, or the end of a file. A camera that is lost or hangs is opened again after 1, 2, "
      "5,\n10, then every 30 s; a full disk is tried again every 10 s; a model file that changes is read again.\n"
      "A kill loses at most the last second. As a service: systemctl enable --now mpm-monitor@NAME.\n\n"
      "Examples:\n"
      "  mpm monitor 0 --model vit.onnx --db street.db --lat 48.1 --lon 11.6\n"
      "  mpm monitor rtsp://user:password@camera/stream --model vit.onnx --db yard.db --keep 90\n"
      "  mpm monitor 0 --db gate.db --alarm 'no-frame>60' --on-event 'sh tell.sh'\n"
      "  mpm monitor 0 --db yard.db --regions yard.json\n"
      "  mpm monitor 0 --db gate.db --states gate.json --alarm gate=open\n"
      "  mpm monitor --watch yard.toml --once                             one sample, from a timer\n"
      "  mpm monitor archive/ --db archive.db --lat 48.1 --lon 11.6       pictures with times in EXIF or name\n"
      "  mpm report street.db\n");
  return {verb, [arguments] { return monitorSource(*arguments); }};
}

}  // namespace mpm::cli
