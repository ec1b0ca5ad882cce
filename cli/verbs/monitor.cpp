// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "base/atomic_file.h"
#include "base/number_text.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "evaluation/numbers.h"
#include "monitor/fleet.h"
#include "monitor/service_notify.h"
#include "monitor/session.h"
#include "monitor/store/export.h"
#include "monitor/watch/camera.h"
#include "monitor/watch/camera_plan.h"
#include "mpm/convert.hpp"
#include "mpm/error.hpp"
#include "page/page.h"
#include "program/paths.h"
#include "vision/labels/classes.h"
#include "vision/model_files.h"
#include "vision/sources/source.h"

namespace mpm::cli {
namespace {

using namespace monitor;
using namespace std::chrono_literals;

struct MonitorArguments {
  CameraConfig config;  // what the options say
  std::string file;     // --watch, --check
  std::string check;    // --check
  bool print = false, json = false, recompute = false, judge = false, once = false;
  Shard shard;
};

// The variable of the environment that has the source of a camera with a password: MPM_SOURCE_YARD_1 of "yard-1".
std::string variableOf(const std::string& name) {
  std::string variable = "MPM_SOURCE_" + name;
  for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

// Takes the sources of named cameras from the environment. Throws UsageError for a variable that is that of two
// cameras: one of them would be watched under the name, and with the hidden parts, of the other.
void takeSources(std::vector<WrittenCamera>& cameras) {
  std::map<std::string, std::string> names;  // by variable
  for (WrittenCamera& one : cameras) {
    const std::string& name = one.config.name;
    const std::string variable = name.empty() ? "" : variableOf(name);
    const char* const source = name.empty() ? nullptr : std::getenv(variable.c_str());
    if (!source || !*source) continue;
    if (const auto [before, first] = names.emplace(variable, name); !first)
      throw UsageError(variable + " of the environment is the source of both cameras '" + before->second + "' and '" +
                       name + "': give one of them another 'name'");
    one.config.source = source;
    one.places.erase("source");
  }
}

// A watch file, with what the options say in place of keys of its cameras.
WatchFile watchFile(const MonitorArguments& arguments) {
  WatchFile file{.cameras = std::vector<WrittenCamera>(1)};
  if (!arguments.file.empty()) file = orUsageError([&] { return readWatchFile(arguments.file); });
  auto& cameras = file.cameras;
  const CameraConfig& given = arguments.config;
  const bool several = cameras.size() > 1;
  if (several && !(given.source + given.name + given.db).empty())
    throw UsageError("'" + arguments.file + "' has " + counted(static_cast<std::int64_t>(cameras.size()), "camera") +
                     ": SOURCE, MPM_SOURCE, --name and --db are for one");
  if (several && (arguments.recompute || !arguments.shard.isWhole()))
    throw UsageError("--recompute and --shard are for one camera");
  if (given.source.empty()) takeSources(cameras);
  for (WrittenCamera& written : cameras) {
    std::erase_if(written.places, [&](const auto& place) {
      return std::visit([&](auto member) { return given.*member != CameraConfig().*member; },
                        cameraField(place.first).member);
    });
    take(written.config, given);
  }
  return file;
}

// Names of the regions that will be measured: those of the file, else those that the database has.
std::vector<std::string> regionNames(const CameraPlan& plan, const std::string& database) try {
  return vision::namesOf(plan.regions ? *plan.regions : currentRegions(StoreReader(database), plan.source.name()));
} catch (const Error&) {  // the same
  return {};
}

// What the models of the cameras are. Each is read once, however many cameras have it.
class ReadModels {
 public:
  const ModelInfo& of(const SessionOptions& session) {
    const ConvertOptions convert = session.inference.convert();
    const auto parts = [](const ConvertOptions& of) {
      return std::tie(of.reduce, of.input_size, of.mean, of.deviation, of.precision, of.output, of.scores);
    };
    auto found = std::ranges::find_if(
        read_, [&](const Read& one) { return one.model == session.model && parts(one.convert) == parts(convert); });
    if (found == read_.end())
      found = read_.insert(found, {session.model, convert, readModelInfo(session.model, convert)});
    return found->info;
  }

  // vision::modelDigest() of a file, which reads all of it.
  const std::string& digestOf(const std::string& model) {
    std::string& digest = digests_[model];
    if (digest.empty()) digest = vision::modelDigest(model);
    return digest;
  }

 private:
  struct Read {
    std::string model;
    ConvertOptions convert;
    ModelInfo info;
  };
  std::list<Read> read_;
  std::map<std::string, std::string> digests_;
};

// An alarm or a blur of a class, a region or a state that there is not is a typing error, reported at once. A service
// goes on after a restart with a model that was replaced: the alarm rests, and all is blurred, until a model knows the
// class.
void checkNames(const SessionOptions& session, const CameraPlan& plan, ReadModels& models) {
  std::optional<std::vector<std::string>> classes, regions;
  const auto needClass = [&](const char* field, const std::string& name) {
    if (isService()) return;
    if (!classes) classes = vision::classNames(models.of(session));
    if (std::ranges::find(*classes, name) == classes->end())
      throw CameraConfigError(field, "the model has no class '" + name + "' ('mpm info' lists them)");
  };
  const auto& heads = plan.states.heads;
  for (const Alarm& alarm : plan.alarms.alarms) {
    const auto head = std::ranges::find(heads, alarm.quantity, &evaluation::StateHead::name);
    if (!alarm.state.empty() && head == heads.end())
      throw CameraConfigError("alarm", "no states are named '" + alarm.quantity + "': give their file with --states");
    if (!alarm.state.empty() && head->indexOf(alarm.state) < 0)
      throw CameraConfigError("alarm", "'" + alarm.quantity + "' has no state '" + alarm.state + "'");
    if (!alarm.region.empty() && !regions) regions = regionNames(plan, session.database);
    if (!alarm.region.empty() && std::ranges::find(*regions, alarm.region) == regions->end())
      throw CameraConfigError("alarm", "there is no region '" + alarm.region + "'" +
                                           (regions->empty() ? ": give a file with --regions" : ""));
    if (alarm.isArea()) needClass("alarm", alarm.quantity);
  }
  for (const std::string& name : plan.privacy.blurred.value_or(std::vector<std::string>())) needClass("blur", name);
}

// As in checkNames(): a service that starts after its model was taught anew waits for the states of the new one.
void checkStates(const CameraConfig& config, const CameraPlan& plan, const std::string& model, ReadModels& models) {
  if (isService()) return;
  for (std::size_t i = 0; i < config.states.size(); ++i)
    if (const evaluation::StateHead& head = plan.states.heads[i]; head.model_digest != models.digestOf(model))
      throw CameraConfigError("states", "'" + config.states[i] + "' reads the tokens of another model, '" +
                                            head.model_name + "' (" + head.model_digest + "), than '" + model +
                                            "': run that one, or teach the states again with --model");
}

std::string statusText(const CameraStatus& camera) {
  const SessionStatus& status = camera.session;
  if (camera.over) return camera.failure.empty() ? "over" : "not watched: " + camera.failure;
  std::string text = monitor::toString(status.source);
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

// nullopt: there is no database yet, or the session says what is wrong with it.
std::optional<StoreReader> stored(const std::string& database) try {
  return StoreReader(database);
} catch (const Error&) {
  return std::nullopt;
}

// Day and night of all that is stored, by the rules of now. The models that measured it may be gone.
int judgeStored(const std::vector<WrittenCamera>& cameras) {
  for (const WrittenCamera& camera : cameras) {
    const std::string& database = camera.config.db;
    const CameraPlan plan = orOptionError(
        [&] {
          checkConfig(camera.config);
          return cameraPlan(continued(camera.config, StoreReader(database)));
        },
        camera.places);
    const auto stored = StoreReader(database).sources();
    if (std::ranges::find(stored, plan.source.name(), &SourceRecord::name) == stored.end())
      throw Error("'" + database + "' holds no samples of '" + plan.source.name() + "'");
    StoreWriter writer(database);
    std::optional<Progress> progress;
    int shown = 0;
    const bool judged = writer.judge(plan.source.name(), plan.night, [&](double share) {
      constexpr int kSteps = 100;
      if (!progress) progress.emplace(stderrIsTerminal(), kSteps, "percent");
      for (; shown < static_cast<int>(kSteps * share); ++shown) progress->step();
      return !interrupted();
    });
    progress.reset();
    if (!judged) return kInterrupted;
    printNote("day and night of '" + plan.source.name() + "' are judged anew");
  }
  return kOk;
}

Camera cameraOf(const MonitorArguments& arguments, const WrittenCamera& written, ReadModels& models) {
  const CameraConfig& said = written.config;
  const vision::SourceKind kind = vision::parseSourceSpec(said.source).kind;
  if (!arguments.shard.isWhole() && kind != vision::SourceKind::kFolder && kind != vision::SourceKind::kGlob)
    throw UsageError("--shard needs a folder or a glob");
  Camera camera = orOptionError(
      [&] {
        checkConfig(said);
        const auto store = stored(said.db);
        Camera one = monitor::cameraOf(said, store ? &*store : nullptr);
        one.session.model = chosenModel(one.session.model);
        checkStates(said, one.plan, one.session.model, models);
        checkNames(one.session, one.plan, models);
        return one;
      },
      written.places);
  CameraPlan& plan = camera.plan;
  SessionOptions& session = camera.session;
  if (!arguments.shard.isWhole())
    plan.chosen = [shard = arguments.shard](const std::string& path) { return shard.contains(path); };
  if (plan.archive) requireAllFrames(session.inference.reuse, arguments.shard, false);
  if (arguments.recompute) {
    if (!plan.archive)
      throw UsageError("--recompute needs pictures: '" + plan.source.shownText() + "' is no folder of pictures");
    (void)StoreReader(session.database);  // else the writer makes one
    plan.again = true;
    plan.archive->follow = false;
    session.snapshots = {};
    session.on_event = {};
  }
  if (arguments.once && (plan.archive || (!plan.source.isLive() && kind != vision::SourceKind::kDemo)))
    throw UsageError("--once is for a camera; files are read to their end");
  if (arguments.once) {
    plan.every_frame = false;
    plan.once = true;
    plan.every_s = std::max(plan.every_s, 60.0);  // runs are minutes apart: each sample counts alone
  }
  return camera;
}

std::vector<Camera> camerasOf(const MonitorArguments& arguments, const std::vector<WrittenCamera>& written,
                              const std::shared_ptr<Teller>& teller, ReadModels& models) {
  std::vector<Camera> cameras;
  std::map<std::string, std::string> writers;  // names of cameras by the keys of their databases
  for (const WrittenCamera& one : written) {
    const std::string which = written.size() > 1 ? "camera '" + cameraName(one.config) + "': " : "";
    Camera camera;
    try {
      camera = cameraOf(arguments, one, models);
    } catch (const UsageError& error) {
      throw UsageError(which + error.what());
    } catch (const Error& error) {
      throw Error(which + error.what());
    }
    const auto [other, alone] = writers.try_emplace(fileKey(camera.session.database), camera.name);
    if (!alone)
      throw UsageError("cameras '" + other->second + "' and '" + camera.name + "' would both write '" +
                       camera.session.database + "': give each a 'db' of its own; 'mpm report' reads several");
    camera.session.teller = teller;
    camera.session.camera = camera.name;
    cameras.push_back(std::move(camera));
  }
  return cameras;
}

// The output of `mpm monitor`, on one thread: where a terminal is stopped (Ctrl-S), or a reader is slow, only this
// thread waits, and storing goes on.
class Lines {
 public:
  void add(bool data, std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(data, std::move(line));
  }
  // Then the status, on a terminal. nullopt: something else draws there, unless lines wait.
  void print(const std::optional<std::string>& status) {
    std::vector<std::pair<bool, std::string>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(lines_);
    }
    if (!status && waiting.empty()) return;
    const char* const clear = stderrIsTerminal() ? "\r\033[K" : "";
    std::fputs(clear, stderr);
    for (const auto& [data, line] : waiting) {
      try {
        if (!data) printNote(line);
        if (data && failure.empty()) printData(line);
      } catch (const Error& error) {
        failure = error.what();
      }
    }
    if (*clear && status) std::fputs(status->c_str(), stderr);
  }

  std::string failure;  // of the output

 private:
  std::mutex mutex_;
  std::vector<std::pair<bool, std::string>> lines_;  // for stdout (data) or stderr
};

// The page of a watch file.
class WatchedPage {
 public:
  explicit WatchedPage(const Fleet& fleet) : page_({.live = [&fleet] { return fleet.status(); }}) {}

  // Where the page is from now on. Returns its address as text for a line; throws mpm::Error where it cannot listen,
  // and then there is none.
  std::string set(const WebPage& table) {
    if (table != std::exchange(table_, table)) server_.reset();
    if (table == WebPage()) return "";
    if (!server_)
      server_ =
          std::make_unique<page::HttpServer>(table, [this](const auto& request) { return page_.answer(request); });
    return "page: " + server_->url();
  }

 private:
  page::Page page_;  // of the server's thread
  WebPage table_{};
  std::unique_ptr<page::HttpServer> server_;
};

// What can be known before a camera is watched: its model and its database can be read.
void foresee(const std::vector<Camera>& cameras, ReadModels& models) {
  for (const Camera& one : cameras) {
    if (interrupted()) throw Error("interrupted");
    (void)models.of(one.session);
    const std::filesystem::path database = std::filesystem::absolute(one.session.database);
    if (std::filesystem::exists(database)) (void)StoreReader(database);
    if (!std::filesystem::is_directory(database.parent_path()))
      throw Error("there is no folder '" + database.parent_path().string() + "'");
  }
}

// Reads a watch file and all that it names. Watches nothing, speaks to nobody, and writes nothing.
int checkFile(const MonitorArguments& arguments) {
  const WatchFile file = watchFile(arguments);
  const std::string in_file = "'" + arguments.file + "': ";
  orUsageError([&] { return Teller().set(file.tables); }, in_file);
  if (WebPage page = file.tables.page; page != WebPage())
    orUsageError(
        [&] {  // at a free port: that of the file may be in use by the program that watches
          page.address = page.address.substr(0, page.address.rfind(':')) + ":0";
          const page::HttpServer server(page, [](const page::Request&) { return page::Response(); });
        },
        in_file);
  ReadModels models;
  const std::vector<Camera> cameras = camerasOf(arguments, file.cameras, nullptr, models);
  foresee(cameras, models);
  std::string text = arguments.file + ": " + counted(static_cast<std::int64_t>(cameras.size()), "camera");
  for (const Camera& one : cameras)
    text +=
        "\n" + one.name + "  " + one.plan.source.shownText() + "  " + one.session.database + "  " + one.session.model;
  printData(text);
  return kOk;
}

// SIGHUP: read the watch file again.
std::atomic<bool> reload = false;

// Says to the teller, if there is one, which cameras the file has.
void setCameras(const std::shared_ptr<Teller>& teller, const std::vector<Camera>& cameras) {
  if (!teller) return;
  std::set<std::string> names;
  for (const Camera& one : cameras) names.insert(one.name);
  teller->setCameras(names);
}

std::string readAgain(const MonitorArguments& arguments, Fleet& fleet, const std::shared_ptr<Teller>& teller,
                      WatchedPage& page) try {
  const auto [written, tables] = watchFile(arguments);
  ReadModels models;
  std::vector<Camera> cameras = camerasOf(arguments, written, teller, models);
  foresee(cameras, models);  // before a camera is stopped for it
  teller->set(tables);
  setCameras(teller, cameras);
  std::string shown;
  try {
    if (!arguments.once) shown = page.set(tables.page);
  } catch (const Error& error) {
    shown = std::string("no page: ") + error.what();
  }
  const auto [started, restarted, ended, unchanged] = fleet.set(std::move(cameras));
  return arguments.file + " was read again: " + std::to_string(started) + " new, " + std::to_string(restarted) +
         " restarted, " + std::to_string(ended) + " ended, " + std::to_string(unchanged) + " unchanged" +
         (shown.empty() ? "" : "; " + shown);
} catch (const std::exception& error) {
  return "nothing changes: " + messageOf(error);
}

int monitorCameras(const MonitorArguments& arguments) {
#ifdef M_ARENA_MAX
  // glibc keeps freed memory for each thread, and learns to keep blocks as large as a frame. Over months, with a new
  // thread each time a camera is opened again, that grows.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 1 << 18);
#endif
  const WatchFile file = watchFile(arguments);
  if (arguments.print) {
    std::vector<CameraConfig> shown;
    for (const WrittenCamera& one : file.cameras)
      shown.emplace_back(one.config).source = vision::redactCredentials(one.config.source);
    FileTables tables = file.tables;
    tables.webhook.url = vision::redactCredentials(tables.webhook.url);
    std::string text = watchText(shown, tables, true);
    text.pop_back();  // printData() ends the line
    printData(text);
    return kOk;
  }
  if (arguments.judge) return judgeStored(file.cameras);
  std::shared_ptr<Teller> teller;  // outlives the fleet
  if (!arguments.file.empty() && !arguments.recompute)
    teller = std::make_shared<Teller>(arguments.file, arguments.once);
  const std::string in_file = "'" + arguments.file + "': ";
  if (teller) orUsageError([&] { return teller->set(file.tables); }, in_file);
  ReadModels models;
  std::vector<Camera> cameras = camerasOf(arguments, file.cameras, teller, models);
  noteSlowPrecision(cameras.front().session.inference.precision);
  // of an archive, which is watched alone
  const bool counts = cameras.size() == 1 && cameras.front().plan.archive && !cameras.front().plan.archive->follow;

  ServiceNotify service;
  Lines lines;
  std::atomic<bool> several = cameras.size() > 1;
  Fleet::Callbacks callbacks;
  callbacks.on_event = [&](const Camera& camera, const Event& event) {
    Json line = {{"camera", camera.name}};
    line.update(monitor::toJson(event));
    lines.add(arguments.json, arguments.json ? toLine(line)
                                             : isoTime(event.time) + "  " + (several ? camera.name + "  " : "") +
                                                   monitor::toString(event.kind) + ": " + event.message);
  };
  if (arguments.json)
    callbacks.on_sample = [&](const Camera& camera, const Sample& sample, const InferenceResult& result) {
      Json line = {{"camera", camera.name}};
      line.update(toJson(sample, vision::classNames(*result.model), toString(result.model->reduction)));
      lines.add(true, toLine(line));
    };
  if (!arguments.file.empty()) std::signal(SIGHUP, [](int) { reload = true; });
  Fleet fleet(std::move(callbacks));
  WatchedPage page(fleet);
  if (!arguments.once)
    if (const std::string shown = orUsageError([&] { return page.set(file.tables.page); }, in_file); !shown.empty())
      printNote(shown);
  setCameras(teller, cameras);
  fleet.set(std::move(cameras));

  std::optional<Progress> progress;
  std::int64_t progressed = 0, next_status = 0;
  bool ready = false, said = false;  // `said`: that lines of the output are missing
  const bool terminal = stderrIsTerminal();
  std::vector<CameraStatus> now;
  const auto all = [&](bool CameraStatus::*is) { return std::ranges::all_of(now, is); };
  for (;; std::this_thread::sleep_for(100ms)) {
    now = fleet.status();
    const bool works = std::ranges::any_of(now, [](const auto& one) { return one.failure.empty(); });
    if (works && all(&CameraStatus::started) && !std::exchange(ready, true)) service.ready();
    const auto shown = static_cast<std::size_t>(steadyNow() / 3000) % now.size();
    std::string text = statusText(now[shown]), states;
    if (now.size() > 1)
      text = "[" + std::to_string(shown + 1) + "/" + std::to_string(now.size()) + "] " + now[shown].name + "  " + text;
    if (const std::int64_t steady = steadyNow(); steady >= next_status) {
      next_status = steady + 1000;
      for (const CameraStatus& one : now) states += (states.empty() ? "" : " | ") + one.name + "  " + statusText(one);
      service.status(now.size() > 1 ? states : text);
    }
    if (!stuck(now)) service.alive();
    const CaptureStatus& source = now.front().session.source;
    if (counts && source.of > 0 && !progress)
      progress.emplace(stderrIsTerminal(), static_cast<int>(source.of), "picture");
    lines.print(progress ? std::nullopt : std::optional(text));
    for (; progress && progressed < now.front().session.inference.processed; ++progressed) progress->step();
    if (!lines.failure.empty() && !std::exchange(said, true))
      fleet.addEvent({unixNow(), EventKind::kStorage, Severity::kError, lines.failure + "; storing goes on"});
    if (interrupted() || all(&CameraStatus::over)) break;
    if (reload.exchange(false)) {
      if (terminal && !stderrIsTerminal()) break;  // it was closed
      lines.add(false, readAgain(arguments, fleet, teller, page));
      several = several || fleet.status().size() > 1;
    }
  }
  progress.reset();
  service.stopping();
  const bool ended = fleet.finish();
  lines.print("");
  std::vector<std::string> failures;
  for (const CameraStatus& one : now = fleet.status()) {
    if (!one.failure.empty()) failures.push_back((several ? one.name + ": " : "") + one.failure);
    if (!one.session.store) continue;
    const WriterStatus& store = *one.session.store;
    if (!arguments.json && store.pending == 0 && (store.samples > 0 || one.failure.empty()))
      printNote(storedText(store.samples, one.database));
  }
  if (!ended && failures.empty()) failures.emplace_back("a disk does not answer");
  if (!lines.failure.empty()) failures.push_back(lines.failure);
  for (; failures.size() > 1; failures.pop_back()) printError("mpm monitor", failures.back());
  if (!ended) {  // the destructor of the fleet would wait for the disk
    printError("mpm monitor", failures.front());
    std::_Exit(kRuntimeError);
  }
  if (!failures.empty()) throw Error(failures.front());
  return kOk;
}

}  // namespace

Verb addMonitor(CLI::App& mpm) {
  CLI::App* verb = mpm.add_subcommand("monitor", "Watch a camera for months and store what it sees");
  const auto arguments = std::make_shared<MonitorArguments>();
  addCameraFields(*verb, arguments->config);
  addOption(*verb, "--watch", arguments->file, "FILE.toml",
            "Watch what this file says (docs/watch.md); options count in place\nof its keys")
      ->group("Options");
  verb->add_flag("--print-watch", arguments->print, "Watch nothing: print such a file of these options, with all keys")
      ->group("Options");
  verb->add_flag("--json", arguments->json, "One JSON object per sample and per event, one per line")->group("Options");
  verb->add_flag("--once", arguments->once,
                 "Store one sample of a camera and end: for a timer, or a board that sleeps between")
      ->group("Options");
  verb->add_flag(
          "--judge", arguments->judge,
          "Watch nothing: decide whether it was night, for all stored samples\nof the source, by the options of day "
          "and night, and end")
      ->group(kDayNightGroup);
  addOption(
      *verb, "--check", arguments->check, "FILE.toml",
      "Watch nothing: read such a file and the models, databases and other\nfiles that it names, and say what is wrong")
      ->group("Options");
  addShard(*verb, arguments->shard);
  addChoice<bool>(*verb, "--recompute", arguments->recompute, {{"all", true}},
                  "Measure all pictures of a folder again, with this model, these regions\nand states, as a series of "
                  "its own, and end. What is stored stays:\n'mpm report --series' shows it")
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
      "  mpm monitor --check yard.toml                                    before a service reads it\n"
      "  mpm monitor archive/ --db archive.db --lat 48.1 --lon 11.6       pictures with times in EXIF or name\n"
      "  mpm report street.db\n");
  return {verb, [arguments] {
            if (arguments->check.empty()) return monitorCameras(*arguments);
            if (!std::exchange(arguments->file, arguments->check).empty())
              throw UsageError("--check names the file: leave --watch out");
            return checkFile(*arguments);
          }};
}

}  // namespace mpm::cli
