// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include "cli/model_options.h"
#include "cli/terminal/console.h"
#include "cli/terminal/output.h"
#include "cli/terminal/program.h"
#include "cli/verbs/verbs.h"
#include "monitor/recorder.h"
#include "monitor/service_notify.h"
#include "monitor/store/snapshot.h"
#include "monitor/time.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "scene/street.h"
#include "vision/classes.h"
#include "vision/source.h"

namespace mpm::cli {
namespace {

using namespace monitor;
using namespace std::chrono_literals;

constexpr std::int64_t kSnapshotCareMs = kHourMs;
constexpr double kPatienceS = 20;  // with a disk that may not answer, at the start and at the end

struct MonitorArguments {
  std::string source, model, database;
  SegmenterOptions options;
  double timeout_s = vision::SourceOptions{}.timeout_s, every_s = 1;
  std::optional<double> latitude, longitude, night_brightness;
  std::optional<std::string> night_hours;
  double keep_days = 0, max_megabytes = 0;
  std::string snapshots;
  double snapshot_minutes = 60, min_free_megabytes = 0;
  double alarm_no_frame_s = 0, alarm_minutes = 1;
  std::optional<double> alarm_tokens_above, alarm_tokens_below;
  std::vector<std::string> alarm_areas;
  bool json = false;
};

NightRule nightRule(const MonitorArguments& arguments, const vision::SourceSpec& source) {
  const bool sun = arguments.latitude || arguments.longitude;
  if (sun + arguments.night_brightness.has_value() + arguments.night_hours.has_value() > 1)
    throw UsageError("day and night come from one of --lat with --lon, --night-brightness, --night-hours");
  if (sun && !(arguments.latitude && arguments.longitude)) throw UsageError("--lat and --lon go together");
  NightRule rule;
  if (source.kind == vision::SourceKind::kDemo)
    if (const auto place = vision::openSource(source)->place())
      rule = NightBySun{.latitude = place->latitude, .longitude = place->longitude};
  try {
    if (sun) rule = NightBySun{.latitude = *arguments.latitude, .longitude = *arguments.longitude};
    if (arguments.night_brightness)
      rule = NightByBrightness{.night_below = *arguments.night_brightness,
                               .day_above = std::min(255.0, 1.3 * *arguments.night_brightness + 5)};
    if (arguments.night_hours) rule = parseNightHours(*arguments.night_hours);
    validate(rule);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return rule;
}

// The built-in scene as a camera: its frames are --every seconds apart on its own clock, which `speed` makes faster and
// `step` replaces, and it goes on after what the database holds of it.
vision::SourceSpec sceneAsCamera(const MonitorArguments& arguments, vision::SourceSpec source, bool database_is_there) {
  std::string& text = source.target;
  const auto append = [&](const char* key, double value) {
    char pair[64];
    std::snprintf(pair, sizeof pair, "%s=%.17g", key, value);
    text += (text.find('?') == std::string::npos ? '?' : '&') + std::string(pair);
  };
  constexpr double kHighestRate = 1000;  // that the scene allows
  if (arguments.every_s > 1 / kHighestRate) append("fps", 1 / arguments.every_s);
  const scene::StreetOptions film = scene::parseStreet(text);
  if (!database_is_there) return source;  // the disk is full
  try {
    for (const SourceRecord& stored : StoreReader(arguments.database).sources()) {
      const double last = static_cast<double>(stored.last) / kSecondMs;
      if (stored.name == source.shownText() && film.speed > 0 && last >= film.start)
        append("start", last + film.speed / film.fps);
    }
  } catch (const Error&) {  // what is wrong with it the writer meets as well, and mends or tells
  }
  return source;
}

// "car>20": the area of class car above 20 %.
AreaAlarm parseAreaAlarm(const std::string& text, const std::vector<std::string>& names) {
  const auto at = text.find_last_of("<>");
  char* end = nullptr;
  const double percent = at == std::string::npos ? -1 : std::strtod(text.c_str() + at + 1, &end);
  if (at == std::string::npos || end == text.c_str() + at + 1 || *end != '\0' || !(percent >= 0 && percent <= 100))
    throw UsageError("'" + text + "' is not CLASS>PERCENT or CLASS<PERCENT");
  AreaAlarm alarm;
  alarm.name = text.substr(0, at);
  const auto found = std::find(names.begin(), names.end(), alarm.name);
  // A slip of the hand is told whoever typed it. A service (NOTIFY_SOCKET) goes on after a restart with a model that
  // was replaced: the alarm rests until one that knows the class comes.
  if (found == names.end() && std::getenv("NOTIFY_SOCKET") == nullptr)
    throw UsageError("the model has no class '" + alarm.name + "' ('mpm info' lists them)");
  alarm.label = found == names.end() ? -1 : static_cast<int>(found - names.begin());
  (text[at] == '>' ? alarm.above : alarm.below) = percent / 100;
  return alarm;
}

AlarmOptions alarmOptions(const MonitorArguments& arguments, const std::vector<std::string>& names) {
  AlarmOptions alarms;
  alarms.no_frame_s = arguments.alarm_no_frame_s;
  alarms.tokens_above = arguments.alarm_tokens_above;
  alarms.tokens_below = arguments.alarm_tokens_below;
  alarms.minutes = arguments.alarm_minutes;
  for (const std::string& text : arguments.alarm_areas) alarms.areas.push_back(parseAreaAlarm(text, names));
  try {
    alarms.validate();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return alarms;
}

// Pictures of the scene now and then. A failed one is an event, and the next one is tried.
class TimeLapse {
 public:
  TimeLapse(const MonitorArguments& arguments, Recorder& recorder) : arguments_(arguments), recorder_(recorder) {}

  void add(const InferenceResult& result, const Sample& sample) {
    if (arguments_.snapshots.empty() || result.frame.steady < next_) return;
    next_ = result.frame.steady + static_cast<std::int64_t>(arguments_.snapshot_minutes * kMinuteMs);
    const bool clock_is_right = clock_.believes(result.frame.time, result.frame.steady);
    std::string problem;
    const auto attempt = [&](const auto& work) {
      try {
        work();
      } catch (const std::exception& error) {
        problem = error.what();
      }
    };
    // What is old goes first, and whether or not the new one can be written: it may be what fills the disk.
    if (arguments_.keep_days > 0 && clock_is_right && result.frame.steady >= next_care_) {
      attempt([&] {
        forgetSnapshots(arguments_.snapshots, result.frame.time, arguments_.keep_days, 0, arguments_.source);
      });
      next_care_ = result.frame.steady + kSnapshotCareMs;
    }
    if (const double least = arguments_.min_free_megabytes;
        least > 0 && std::filesystem::is_directory(arguments_.snapshots))
      attempt([&] {
        if (freeMegabytes(arguments_.snapshots) < least)
          forgetSnapshots(arguments_.snapshots, result.frame.time, 0, least, arguments_.source);
      });
    attempt([&] { writeSnapshot(arguments_.snapshots, result, sample, arguments_.source); });
    if (!problem.empty() && !failed_)
      recorder_.add(Event{result.frame.time, EventKind::kStorage, Severity::kError, problem});
    failed_ = !problem.empty();
  }

 private:
  const MonitorArguments& arguments_;
  Recorder& recorder_;
  std::int64_t next_ = 0, next_care_ = 0;
  SettledClock clock_{0};  // a doubtful one for its first hour
  bool failed_ = false;
};

Json sampleJson(const Sample& sample, const std::vector<std::string>& names) {
  Json areas = Json::object();
  for (const auto& [label, area] : sample.areas) areas[vision::className(names, label)] = area;
  return {{"time", isoTime(sample.time, true)},
          {"tokens", sample.tokens},
          {"inference_ms", std::round(sample.inference_ms * 1e3) / 1e3},
          {"classes", areas},
          {"night", sample.night ? Json(*sample.night) : Json(nullptr)},
          {"brightness", std::round(sample.brightness * 100) / 100},
          {"dropped", sample.dropped}};
}

std::string lineOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json eventJson(const Event& event) {
  return {{"time", isoTime(event.time, true)},
          {"event", monitor::toString(event.kind)},
          {"severity", monitor::toString(event.severity)},
          {"message", event.message}};
}

std::string statusText(const CaptureStatus& capture, const InferenceStatus& inference, const WriterStatus& store,
                       const std::optional<Sample>& sample) {
  std::string text = monitor::toString(capture);
  if (inference.loading) text += "  loading the model";
  if (capture.fps > 0) text += "  " + fixed(capture.fps, 1) + " fps in";
  if (sample) {
    text += "  " + fixed(inference.p50_ms, 1) + " ms  tokens " + tokensText(sample->tokens);
    if (sample->night) text += *sample->night ? "  night" : "  day";
  }
  text += "  " + std::to_string(store.samples) + (store.writing ? " samples" : " samples, NOT WRITING");
  return text;
}

std::string storedText(std::int64_t added, const std::string& database) {
  std::int64_t kept = 0;
  for (const SourceRecord& stored : StoreReader(database).sources()) kept += stored.samples;
  return std::to_string(added) + (added == 1 ? " new sample, " : " new samples, ") + std::to_string(kept) + " in " +
         database + "; 'mpm report " + database + "' sums them up";
}

// Which the ranges of options let pass.
void refuseNan(const MonitorArguments& arguments) {
  const std::pair<const char*, double> numbers[] = {{"--every", arguments.every_s},
                                                    {"--timeout", arguments.timeout_s},
                                                    {"--keep", arguments.keep_days},
                                                    {"--max-size", arguments.max_megabytes},
                                                    {"--snapshot-every", arguments.snapshot_minutes},
                                                    {"--min-free", arguments.min_free_megabytes}};
  for (const auto& [option, value] : numbers)
    if (std::isnan(value)) throw UsageError(std::string(option) + ": nan is not a number");
}

int monitorSource(const MonitorArguments& arguments) {
  refuseNan(arguments);
  if (arguments.source.empty()) throw UsageError("no source: name a camera, an address, a video or a folder of images");
  const vision::SourceSpec source = vision::parseSourceSpec(arguments.source);
  try {  // what no wait mends is said at once, and not tried for a year
    vision::checkSource(source);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  const std::string model_path = chosenModel(arguments.model);
  if (arguments.database.empty()) throw UsageError("no database: name a file with --db FILE");
  RecorderOptions recording{
      .source = arguments.source, .every_s = arguments.every_s, .night = nightRule(arguments, source)};
  recording.alarms =
      alarmOptions(arguments, vision::classNames(readModelInfo(model_path, arguments.options.read.convert)));
  CaptureOptions capturing = captureOptions(source);
  capturing.source.timeout_s = arguments.timeout_s;
  // A picture that was read long before its turn would count as one that came too early.
  if (capturing.lossless && arguments.every_s > 0) capturing.max_fps = 1 / arguments.every_s;

  ServiceNotify service;
  Console console;
  std::mutex mutex;  // of what follows
  std::string
      load_problem;  // why there is no model at the start: what this command fails with is said once, at its end
  std::optional<Sample> last;
  std::atomic<bool> ready = false;
  const auto tell = [&](const Event& event) {
    if (event.kind == EventKind::kModel && !ready) {
      const std::lock_guard lock(mutex);
      load_problem = event.message;
    } else if (arguments.json && !console.failure()) {
      console.data(lineOf(eventJson(event)));
    } else {
      console.note(isoTime(event.time) + "  " + monitor::toString(event.kind) + ": " + event.message);
    }
  };
  StoreOptions storing;
  storing.keep_days = arguments.keep_days;
  storing.max_megabytes = arguments.max_megabytes;
  std::optional<StoreWriter> store;
  store.emplace(arguments.database, storing, tell);
  const auto refuseWhere = [&](bool taken) {
    if (taken)
      throw Error("another program stores '" + source.shownText() + "' in '" + arguments.database +
                  "' at this moment: end it, or name another file");
  };
  refuseWhere(store->isTaken(arguments.source));
  store->setSource(arguments.source);
  store->flush(kPatienceS);
  refuseWhere(store->status().taken);  // of two that were started together neither was there when it looked
  Recorder recorder(recording, &*store, tell);
  TimeLapse time_lapse(arguments, recorder);

  const auto frames = std::make_shared<FrameMailbox>();
  capturing.source.on_unreadable = [&](const std::string& why) {
    recorder.add(Event{unixNow(), EventKind::kSource, Severity::kWarning, "left out: " + why});
  };
  const vision::SourceSpec read_from =
      source.kind == vision::SourceKind::kDemo ? sceneAsCamera(arguments, source, store->status().writing) : source;
  Capture capture(sourceFactory(read_from), capturing, frames, [&](const CaptureStatus& status) {
    const auto event = sourceEvent(status, unixNow());
    if (!event) return;
    if (status.state == CaptureState::kEnded && !status.message.empty())
      store->append(*event);  // what this command fails with is said once, at its end
    else
      recorder.add(*event);
  });
  std::vector<std::string> names;
  int session = 0;
  std::optional<InferenceWorker> worker;
  worker.emplace(frames, model_path, arguments.options,
                 InferenceWorker::Callbacks{.on_result =
                                                [&](const InferenceResult& result) {
                                                  if (std::exchange(session, result.session) != result.session) {
                                                    ready = true;
                                                    names = vision::classNames(*result.model);
                                                    recorder.setClasses(names);
                                                  }
                                                  const auto sample = recorder.add(result, capture.status().dropped);
                                                  if (!sample) return;
                                                  time_lapse.add(result, *sample);
                                                  if (arguments.json) console.data(lineOf(sampleJson(*sample, names)));
                                                  const std::lock_guard lock(mutex);
                                                  last = *sample;
                                                },
                                            .on_event = [&](const Event& event) { recorder.add(event); }});
  worker->setFollowFile(true);
  worker->setInterval(arguments.every_s);

  while (worker->status().loading && !interrupted()) std::this_thread::sleep_for(10ms);
  if (!worker->status().ready && !interrupted()) {
    worker.reset();
    throw Error(load_problem.empty() ? "cannot load '" + model_path + "'" : load_problem);
  }
  ready = true;
  capture.start();
  service.ready();
  std::string failure;
  bool output_failed = false, output_waits = false;
  const auto lookAtOutput = [&] {
    if (console.failure() && !console.nobodyReads() && !std::exchange(output_failed, true))
      recorder.add({unixNow(), EventKind::kStorage, Severity::kError, *console.failure() + "; storing goes on"});
    if (console.leftOut() > 0 && !std::exchange(output_waits, true))
      recorder.add({unixNow(), EventKind::kStorage, Severity::kError,
                    "nobody reads standard output: lines are left out; storing goes on"});
  };
  std::int64_t next_tick = 0;
  while (!interrupted() && !console.nobodyReads()) {
    const CaptureStatus captured = capture.status();
    const InferenceStatus inference = worker->status();
    std::string text;
    {
      const std::lock_guard lock(mutex);
      text = statusText(captured, inference, store->status(), last);
    }
    if (const std::int64_t now = steadyNow(); now >= next_tick) {
      next_tick = now + 1000;
      recorder.tick(captured, unixNow(), now);
      service.status(text);
    }
    if (!inference.stuck() && !captured.stuck() && !store->status().stuck()) service.alive();
    lookAtOutput();
    console.status(text);
    if (captured.state == CaptureState::kEnded &&
        captured.in == captured.dropped + inference.processed + inference.failed + inference.stale) {
      failure = captured.message;
      break;
    }
    std::this_thread::sleep_for(100ms);
  }
  service.stopping();
  capture.stop();
  worker.reset();  // stores the frame in hand
  console.status("");
  bool all_said = console.drain(interrupted());
  lookAtOutput();
  const bool all_stored = store->flush(kPatienceS);
  const WriterStatus written = store->status();
  const bool hangs = !all_stored && written.busy_s > kPatienceS / 2;
  if (!all_stored)
    failure = "the last " + std::to_string(written.pending) + " samples could not be written: " +
              (hangs ? "the disk of '" + arguments.database + "' does not answer" : written.problem);
  if (hangs) {  // as would whoever waits for the writer's thread
    printError("mpm monitor", failure);
    std::_Exit(kRuntimeError);
  }
  store.reset();  // ends the session, however long what is left to say may wait
  if (failure.empty() && console.failure()) failure = *console.failure();
  if (failure.empty() && console.leftOut() > 0)
    failure = std::to_string(console.leftOut()) + " lines were left out, for nobody read standard output";
  if (!arguments.json && all_stored && (written.samples > 0 || failure.empty()))
    console.note(storedText(written.samples, arguments.database));
  all_said = all_said && console.drain(interrupted());
  if (!all_said) return arguments.json || !failure.empty() ? kRuntimeError : kOk;  // a message would wait as well
  if (console.nobodyReads()) throw BrokenPipe();
  if (!failure.empty()) throw Error(failure);
  return kOk;
}

}  // namespace

Verb addMonitor(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("monitor", "Watch a camera for months and store what it sees");
  const auto arguments = std::make_shared<MonitorArguments>();
  verb->add_option("SOURCE", arguments->source,
                   "Camera (0, /dev/video0), address (rtsp://, http://), pipeline\n(gst:... ! appsink), video, folder "
                   "of images, or the built-in\nscene (demo:). "
                   "The environment's MPM_SOURCE, where others cannot\nsee a password, serves as well")
      ->envname("MPM_SOURCE")
      ->option_text(" ");
  addModelOptions(*verb, arguments->model, arguments->options);
  verb->add_option("--db", arguments->database, "The SQLite database to write; goes on with one that exists")
      ->type_name("FILE");
  verb->add_option("--every", arguments->every_s, "One sample in so many seconds; 0: every frame. Default: 1")
      ->check(CLI::Range(0.0, 86400.0))
      ->option_text("SECONDS");
  verb->add_option("--timeout", arguments->timeout_s,
                   "Open a camera or address anew that is silent for so long.\nDefault: 10")
      ->check(CLI::Range(0.01, 1e6))
      ->option_text("SECONDS");
  const std::string night = "Day and night";
  verb->add_option("--lat", arguments->latitude, "By the sun: night while it is 6 degrees below the horizon")
      ->check(CLI::Range(-90.0, 90.0))
      ->option_text("DEGREES")
      ->group(night);
  verb->add_option("--lon", arguments->longitude, "Degrees north and east")
      ->check(CLI::Range(-180.0, 180.0))
      ->option_text("DEGREES")
      ->group(night);
  verb->add_option("--night-brightness", arguments->night_brightness, "By the image: night below this mean grey value")
      ->check(CLI::Range(0.0, 255.0))
      ->option_text("0..255")
      ->group(night);
  verb->add_option("--night-hours", arguments->night_hours, "By the clock: 21:00-06:30, local time")
      ->option_text("FROM-TO")
      ->group(night);
  const std::string keep = "What is kept";
  verb->add_option("--keep", arguments->keep_days,
                   "Forget samples, events and snapshots of this source after so\nmany days; means of hours stay. "
                   "Default: never")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("DAYS")
      ->group(keep);
  verb->add_option("--max-size", arguments->max_megabytes,
                   "Forget the oldest samples, of any source, when the database\ngrows larger")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("MB")
      ->group(keep);
  verb->add_option("--snapshots", arguments->snapshots, "Write the frame, its overlay and a JSON file there")
      ->option_text("DIR")
      ->group(keep);
  verb->add_option("--snapshot-every", arguments->snapshot_minutes, "How often. Default: 60")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("MINUTES")
      ->group(keep);
  verb->add_option("--min-free", arguments->min_free_megabytes,
                   "Forget the oldest snapshots of this source while their disk\nhas less room. Default: 0, none")
      ->check(CLI::Range(0.0, 1e9))
      ->option_text("MB")
      ->group(keep);
  const std::string alarms = "Alarms";
  verb->add_option("--alarm-no-frame", arguments->alarm_no_frame_s, "No frame for so long")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("SECONDS")
      ->group(alarms);
  verb->add_option("--alarm-tokens-above", arguments->alarm_tokens_above, "More tokens kept than this")
      ->option_text("N")
      ->group(alarms);
  verb->add_option("--alarm-tokens-below", arguments->alarm_tokens_below, "Fewer tokens kept than this")
      ->option_text("N")
      ->group(alarms);
  verb->add_option("--alarm-area", arguments->alarm_areas, "Area of a class: 'car>20' or 'sky<5', percent of the image")
      ->option_text("CLASS>PERCENT ...")
      ->allow_extra_args(false)
      ->group(alarms);
  verb->add_option("--alarm-minutes", arguments->alarm_minutes,
                   "For so long before the alarms of tokens and areas go off. Default: 1")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text("MINUTES")
      ->group(alarms);
  verb->add_flag("--json", arguments->json, "One JSON object per sample and per event, one per line");
  verb->footer(
      "Runs until Ctrl-C or SIGTERM, or the end of a file. A camera that goes away or hangs is opened anew after 1, 2, "
      "5,\n10, then every 30 s; a disk that is full is tried again every 10 s; a model file that changes is read "
      "anew.\n"
      "A kill loses at most the last second. As a service: systemctl enable --now mpm-monitor@NAME.\n\n"
      "Examples:\n"
      "  mpm monitor 0 --model vit.onnx --db street.db --lat 48.1 --lon 11.6\n"
      "  mpm monitor rtsp://user:password@camera/stream --model vit.onnx --db yard.db --keep 90\n"
      "  mpm report street.db\n");
  return {verb, [arguments] { return monitorSource(*arguments); }};
}

}  // namespace mpm::cli
