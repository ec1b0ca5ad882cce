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
  SessionOptions session{.snapshots = {.every_minutes = 60}};
  WatchOptions watch{.every_frame = true, .samples_only = true, .resume_demo = true};
  std::string source;
  std::optional<double> every_s;
  vision::TimeOptions times;
  std::string start;  // of a video
  bool follow = false;
  Shard shard;
  NightRuleOptions night;
  std::string regions;  // a file, or "none"
  bool recompute = false;
  std::vector<std::string> alarm_areas, alarm_regions;
  std::vector<std::string> states, alarm_states;  // files; NAME=STATE
  std::string on_event;
  bool json = false;
};

// How the times of pictures are read; nullopt: the source is none of pictures, or of a video without --start.
std::optional<vision::ArchiveOptions> archiveOptions(const MonitorArguments& arguments,
                                                     const vision::SourceSpec& source) {
  using enum vision::SourceKind;
  const bool many = source.kind == kFolder || source.kind == kGlob;
  if (!many && (arguments.follow || !arguments.shard.isWhole()))
    throw UsageError(std::string(arguments.follow ? "--follow" : "--shard") + " needs a folder or a glob");
  vision::ArchiveOptions archive{
      .times = arguments.times, .every_s = arguments.every_s.value_or(0), .follow = arguments.follow};
  if (!arguments.start.empty()) {
    if (source.kind != kVideo) throw UsageError("--start is for a video");
    const auto start = vision::readTime(arguments.start);
    if (!start) throw UsageError("--start: '" + arguments.start + "' is no time such as 2013-07-08T05:54:13+02:00");
    archive.start = start->utc(vision::PictureTimes(arguments.times).timeZone());
  }
  if (!vision::isArchive(source, archive)) {
    if (arguments.times != vision::TimeOptions()) throw UsageError("--times and --time-zone are for pictures");
    return std::nullopt;
  }
  if (arguments.session.store.keep_days > 0 || arguments.session.store.max_megabytes > 0)
    throw UsageError("--keep and --max-size are for a camera: pictures with times of their own are old from the first");
  requireAllFrames(arguments.session.inference.reuse, arguments.shard, false);
  return archive;
}

NightRule nightRule(const MonitorArguments& arguments, const vision::SourceSpec& source) {
  const NightRule rule = arguments.night.rule();
  if (source.kind == vision::SourceKind::kDemo && std::holds_alternative<std::monostate>(rule))
    if (const auto place = vision::openSource(source, {.frame_step_s = arguments.every_s.value_or(1)})->place())
      return NightBySun{.latitude = place->latitude, .longitude = place->longitude};
  return rule;
}

// "car>20" as {"car", '>', 20}. `what` says in errors how it is written.
struct WrittenLimit {
  std::string name;
  bool above;
  double value;
};
WrittenLimit parseLimit(const std::string& text, const std::string& what) {
  const auto at = text.find_last_of("<>");
  char* end = nullptr;
  const double value = at == std::string::npos ? 0 : std::strtod(text.c_str() + at + 1, &end);
  if (at == std::string::npos || end == text.c_str() + at + 1 || *end != '\0' || !std::isfinite(value))
    throw UsageError("'" + text + "' is not " + what + ">NUMBER or " + what + "<NUMBER");
  return {text.substr(0, at), text[at] == '>', value};
}

double shareOf(const WrittenLimit& limit, const std::string& text) {
  if (!(limit.value >= 0 && limit.value <= 100))
    throw UsageError("'" + text + "': an area lies between 0 and 100 percent");
  return limit.value / 100;
}

// Throws where the model has no such class: a typing error is reported at once. A service (NOTIFY_SOCKET) goes on after
// a restart with a model that was replaced: the alarm rests until a model knows the class.
int labelOf(const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() && std::getenv("NOTIFY_SOCKET") == nullptr)
    throw UsageError("the model has no class '" + name + "' ('mpm info' lists them)");
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

AreaAlarm parseAreaAlarm(const std::string& text, const std::vector<std::string>& names) {
  const WrittenLimit limit = parseLimit(text, "CLASS");
  AreaAlarm alarm{.label = labelOf(limit.name, names), .name = limit.name};
  (limit.above ? alarm.above : alarm.below) = shareOf(limit, text);
  return alarm;
}

// "tree:gcc<0.35", "lake:ice>20": of a region, a number or the area of a class.
RegionAlarm parseRegionAlarm(const std::string& text, const std::vector<std::string>& names,
                             const std::vector<std::string>& regions) {
  const WrittenLimit limit = parseLimit(text, "REGION:NUMBER");
  const auto colon = limit.name.rfind(':');
  if (colon == std::string::npos)
    throw UsageError("'" + text + "' names no region: write REGION:gcc<0.35 or REGION:CLASS>20");
  RegionAlarm alarm{.region = limit.name.substr(0, colon), .quantity = limit.name.substr(colon + 1)};
  if (std::find(regions.begin(), regions.end(), alarm.region) == regions.end())
    throw UsageError("there is no region '" + alarm.region + "'" +
                     (regions.empty() ? ": give a file with --regions" : ""));
  double value = limit.value;
  if (!findQuantity(alarm.quantity)) {
    (void)labelOf(alarm.quantity, names);
    value = shareOf(limit, text);
  }
  (limit.above ? alarm.above : alarm.below) = value;
  return alarm;
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

AlarmOptions alarmOptions(const MonitorArguments& arguments, const WatchOptions& watch) {
  AlarmOptions alarms = arguments.watch.alarms;
  std::vector<std::string> names, regions;
  if (!arguments.alarm_areas.empty() || !arguments.alarm_regions.empty())
    names = vision::classNames(readModelInfo(arguments.session.model, arguments.session.inference.read.convert));
  if (!arguments.alarm_regions.empty()) regions = regionNames(watch, arguments.session.database);
  for (const std::string& text : arguments.alarm_areas) alarms.areas.push_back(parseAreaAlarm(text, names));
  for (const std::string& text : arguments.alarm_regions)
    alarms.regions.push_back(parseRegionAlarm(text, names, regions));
  orUsageError([&] { alarms.validate(); });
  return alarms;
}

// Throws where the model is another one than that of the states, or an alarm is for none of them.
StateOptions stateOptions(const MonitorArguments& arguments) {
  StateOptions options = arguments.watch.states;
  const std::string& model = arguments.session.model;
  for (const std::string& path : arguments.states) {
    options.heads.push_back(evaluation::readStates(path));
    const evaluation::StateHead& head = options.heads.back();
    if (head.model_digest != vision::modelDigest(model))
      throw UsageError("'" + path + "' reads the tokens of another model, '" + head.model_name + "' (" +
                       head.model_digest + "), than '" + model +
                       "': run that one, or teach the states again with --model");
  }
  for (const std::string& text : arguments.alarm_states) {
    const auto at = text.find('=');
    if (at == std::string::npos) throw UsageError("'" + text + "' is not NAME=STATE");
    options.alarms.emplace_back(text.substr(0, at), text.substr(at + 1));
  }
  orUsageError([&] { options.validate(); });
  return options;
}

Json sampleJson(const monitor::Sample& sample, const std::vector<std::string>& names) {
  Json areas = Json::object(), regions = Json::object();
  for (const auto& [label, area] : sample.areas) areas[vision::className(names, label)] = area;
  for (const RegionSample& region : sample.regions) regions[region.name] = regionJson(region, names);
  return {{"time", isoTime(sample.time, true)},
          {"tokens", sample.tokens},
          {"inference_ms", std::round(sample.inference_ms * 1e3) / 1e3},
          {"classes", areas},
          {"night", sample.night ? Json(*sample.night) : Json(nullptr)},
          {"brightness", std::round(sample.brightness * 100) / 100},
          {"dropped", sample.dropped},
          {"quality", sample.quality ? Json{{"sharpness", std::round(sample.quality->sharpness * 10) / 10},
                                            {"contrast", std::round(sample.quality->contrast * 10) / 10},
                                            {"saturated_fraction", sample.quality->saturated},
                                            {"is", toText(*sample.quality)}}
                                     : Json()},
          {"reuse",
           sample.rows ? Json{{"rows", *sample.rows}, {"agreement", evaluation::orNull(sample.agreement)}} : Json()},
          {"picture", sample.picture},
          {"regions", regions},
          {"states", statesJson(sample)}};
}

Json eventJson(const Event& event) {
  return {{"time", isoTime(event.time, true)},
          {"event", monitor::toString(event.kind)},
          {"severity", monitor::toString(event.severity)},
          {"message", event.message}};
}

std::string statusText(const SessionStatus& status, const std::optional<monitor::Sample>& sample) {
  std::string text = monitor::toString(status.source);
  if (status.inference.loading) text += "  loading the model";
  if (status.source.fps > 0) text += "  " + fixed(status.source.fps, 1) + " fps in";
  if (sample) {
    text += "  " + fixed(status.inference.p50_ms, 1) + " ms  tokens " + tokensText(sample->tokens);
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

WatchOptions watchOptions(const MonitorArguments& arguments, const vision::SourceSpec& source) {
  WatchOptions watch = arguments.watch;
  watch.source = source;
  watch.archive = archiveOptions(arguments, source);
  watch.every_s = arguments.every_s.value_or(watch.archive ? 0 : 1);
  watch.night = nightRule(arguments, source);
  watch.states = stateOptions(arguments);
  if (!arguments.shard.isWhole())
    watch.chosen = [shard = arguments.shard](const std::string& path) { return shard.contains(path); };
  if (watch.every_s > 0 && !watch.archive) watch.max_fps = 1 / watch.every_s;
  if (!arguments.regions.empty())
    watch.regions =
        arguments.regions == "none"
            ? std::vector<vision::Region>()
            : vision::readRegions(arguments.regions,
                                  arguments.times.time_zone.value_or(vision::machineTimeZone()) * kMinuteMs);
  watch.alarms = alarmOptions(arguments, watch);
  return watch;
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

int monitorSource(MonitorArguments arguments) {
  SessionOptions& options = arguments.session;
  if (arguments.source.empty()) throw UsageError("no source: name a camera, a URL, a video or a folder of images");
  const vision::SourceSpec source = vision::parseSourceSpec(arguments.source);
  orUsageError([&] { vision::checkSource(source); });  // an error that no retry can mend is reported at once
  options.model = chosenModel(options.model);
  if (options.database.empty()) throw UsageError("no database: name a file with --db FILE");
  options.snapshots.keep_days = options.store.keep_days;
  options.inference.features = !arguments.states.empty();
  if (!arguments.on_event.empty())
    options.on_event = orUsageError([&] { return parseCommand(arguments.on_event); }, "--on-event: ");
  const WatchOptions watch = watchOptions(arguments, source);
  if (arguments.recompute) return measureArchiveAgain(options, watch);

  ServiceNotify service;
  std::mutex mutex;
  // For stdout (data) or stderr. This thread prints them: where a terminal is stopped (Ctrl-S), or a reader is slow,
  // only this one waits, and storing goes on. Guarded by the mutex.
  std::vector<std::pair<bool, std::string>> lines;
  std::optional<monitor::Sample> last;  // guarded by the mutex
  std::string load_problem;             // guarded by the mutex
  std::atomic<bool> ready = false;      // the first model is there
  std::atomic<bool> failed = false;     // the source: the command reports it once, at its end
  std::vector<std::string> names;       // of the classes; of the model's thread
  int names_of = 0;                     // InferenceResult::session

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
  callbacks.on_sample = [&](const monitor::Sample& sample, const InferenceResult& result) {
    if (std::exchange(names_of, result.session) != result.session) names = vision::classNames(*result.model);
    const std::lock_guard lock(mutex);
    if (arguments.json) lines.emplace_back(true, toLine(sampleJson(sample, names)));
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
    {
      const std::lock_guard lock(mutex);
      text = statusText(status, last);
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
    if (status.finished || status.store->stopped) {
      failure = status.source.message;
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
  SessionOptions& session = arguments->session;
  WatchOptions& watch = arguments->watch;
  addOption(
      *verb, "SOURCE", arguments->source, " ",
      "Camera (0, /dev/video0), URL (rtsp://, http://), pipeline\n(gst:... ! appsink), video, folder of images, or the "
      "built-in\nscene (demo:). Or set it as MPM_SOURCE in the environment, where\nother users cannot see a password")
      ->envname("MPM_SOURCE");
  addModelOptions(*verb, session.model, session.inference);
  addRefine(*verb, session.inference.refine);
  const CLI::Option* const reuse = addReuse(*verb, session.inference.reuse, kReuseOfWatched);
  addSegmentLimits(*verb, session.inference.min_score, session.inference.min_overlap);
  addOption(*verb, "--db", session.database, "FILE", "The SQLite database to write; an existing one is continued");
  addNumber(*verb, "--every", arguments->every_s, "SECONDS", 0, 86400,
            "At most one sample in this time; 0: every frame. Default: 1.\nOf pictures by the times when they were "
            "taken, default: 0");
  addNumber(*verb, "--timeout", watch.timeout_s, "SECONDS", 0.01, 1e6,
            "Reopen a camera or URL that gives no frame for this long.\nDefault: 10");
  verb->add_flag("--json", arguments->json, "One JSON object per sample and per event, one per line");

  verb->option_defaults()->group(kTimesGroup);
  addTimes(*verb, arguments->times);
  addOption(*verb, "--start", arguments->start, "TIME",
            "When the first frame of a video was taken: 2013-07-08T05:54:13Z");
  verb->add_flag("--follow", arguments->follow, "Do not end with the pictures of a folder: wait for new ones");
  addShard(*verb, arguments->shard);

  verb->option_defaults()->group("Day and night");
  addNightRule(*verb, arguments->night);

  verb->option_defaults()->group("Regions");
  addOption(*verb, "--regions", arguments->regions, "FILE",
            "Measure these parts of the picture: a file of ours, LabelMe,\nCOCO or PhenoCam (docs/regions.md). 'none': "
            "none. Default: those\nthat the database has for this source");

  addChoice<bool>(*verb, "--recompute", arguments->recompute, {{"all", true}},
                  "Watch nothing: measure all pictures of a folder again, with this\nmodel, these regions and states, "
                  "and end. What is stored stays until\nall are measured");

  verb->option_defaults()->group("States");
  addOption(*verb, "--states", arguments->states, "FILE ...",
            "Read states such as open and closed: files of mpm teach\n--states (docs/states.md)")
      ->allow_extra_args(false);
  addNumber(
      *verb, "--state-after", watch.states.after, "N", 1, 1000,
      "A state counts after so many sure results in turn that agree.\nOf samples a minute or more apart each sure "
      "one counts. Default: 3");

  verb->option_defaults()->group("What is kept");
  addNumber(
      *verb, "--keep", session.store.keep_days, "DAYS", 0, 1e6,
      "Delete samples, events and snapshots of this source after so\nmany days; means of hours stay. Default: never");
  addNumber(*verb, "--max-size", session.store.max_megabytes, "MB", 0, 1e9,
            "Delete the oldest samples, of any source, when the database\ngrows larger");
  addOption(*verb, "--snapshots", session.snapshots.folder, "DIR",
            "Write the frame, its overlay, segments or depth, and a JSON file\nthere");
  addNumber(*verb, "--snapshot-every", session.snapshots.every_minutes, "MINUTES", 0, 1e6, "How often. Default: 60");
  addNumber(*verb, "--min-free", session.snapshots.min_free_megabytes, "MB", 0, 1e9,
            "Delete the oldest snapshots of this source while their disk\nhas less free space. Default: 0, none");

  verb->option_defaults()->group("Alarms");
  addNumber(*verb, "--alarm-no-frame", watch.alarms.no_frame_s, "SECONDS", 0, 1e6, "No frame for this long");
  addOption(*verb, "--alarm-tokens-above", watch.alarms.tokens_above, "N", "More tokens kept than this");
  addOption(*verb, "--alarm-tokens-below", watch.alarms.tokens_below, "N", "Fewer tokens kept than this");
  addOption(*verb, "--alarm-area", arguments->alarm_areas, "CLASS>PERCENT ...",
            "Area of a class: 'car>20' or 'sky<5', percent of the image")
      ->allow_extra_args(false);
  addOption(
      *verb, "--alarm-region", arguments->alarm_regions, "REGION:NUMBER ...",
      "Number of a region: 'tree:gcc<0.35', also rcc, exg, red, green,\nblue, brightness and tokens; 'lake:ice>20': "
      "area of a class,\npercent of the region")
      ->allow_extra_args(false);
  addOption(*verb, "--alarm-state", arguments->alarm_states, "NAME=STATE ...",
            "A state begins to count: 'gate=open'. Ends with the next state")
      ->allow_extra_args(false);
  addNumber(*verb, "--alarm-minutes", watch.alarms.minutes, "MINUTES", 0, 1e6,
            "How long before the alarms of tokens, areas and regions go off. Default: 1");
  addText(*verb, "--quality", "SPEC",
          "Which pictures are flagged, left out by 'mpm report', and an\nevent: dark=25 when less than 1 % of the "
          "pixels exceed this grey\nlevel; white=50 when more percent are white; contrast=3 and\nsharp=0 when they "
          "have less; pictures=5 in a row make an event.\nSeveral keys are joined by ':'. See docs/monitor.md. "
          "Default: auto",
          [&watch](const std::string& text) { watch.quality = parseQuality(text); });
  addOption(*verb, "--on-event", arguments->on_event, "COMMAND",
            "Run this program for each event: a program and its arguments,\nno shell. The facts are in MPM_EVENT_KIND, "
            "_SEVERITY, _MESSAGE,\n_TIME and _SOURCE, and as JSON on its standard input. See\ndocs/monitor.md");
  verb->footer(
      "Runs until Ctrl-C or SIGTERM, or the end of a file. A camera that is lost or hangs is opened again after 1, 2, "
      "5,\n10, then every 30 s; a full disk is tried again every 10 s; a model file that changes is read again.\n"
      "A kill loses at most the last second. As a service: systemctl enable --now mpm-monitor@NAME.\n\n"
      "Examples:\n"
      "  mpm monitor 0 --model vit.onnx --db street.db --lat 48.1 --lon 11.6\n"
      "  mpm monitor rtsp://user:password@camera/stream --model vit.onnx --db yard.db --keep 90\n"
      "  mpm monitor 0 --db gate.db --alarm-no-frame 60 --on-event 'sh tell.sh'\n"
      "  mpm monitor 0 --db yard.db --regions yard.json\n"
      "  mpm monitor 0 --db gate.db --states gate.json --alarm-state gate=open\n"
      "  mpm monitor archive/ --db archive.db --lat 48.1 --lon 11.6       pictures with times in EXIF or name\n"
      "  mpm report street.db\n");
  return {verb, [arguments, reuse] {
            arguments->session.choose_reuse = reuse->empty();
            return monitorSource(*arguments);
          }};
}

}  // namespace mpm::cli
