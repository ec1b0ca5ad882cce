// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <thread>

#include "base/number_text.h"
#include "cli/monitor/cameras.h"
#include "cli/monitor/output.h"
#include "cli/monitor/written_cameras.h"
#include "cli/verb_options.h"
#include "cli/verbs/verbs.h"
#include "monitor/fleet.h"
#include "monitor/service_notify.h"
#include "monitor/session.h"
#include "monitor/store/store_reader.h"
#include "monitor/watch/camera.h"
#include "monitor/watch/camera_plan.h"
#include "mpm/error.hpp"
#include "page/page.h"
#include "vision/labels/classes.h"
#include "vision/sources/source.h"

namespace mpm::cli {
namespace {

using namespace monitor;
using namespace std::chrono_literals;

// Day and night of all that is stored, by the rules of now. The models that measured it may be gone.
int judgeStored(const std::vector<WrittenCamera>& cameras) {
  for (const WrittenCamera& camera : cameras) {
    const std::string& database = camera.config.db;
    std::optional<StoreReader> stored;
    const NightRule rule = orOptionError(
        [&] {
          checkConfig(camera.config);
          return judgingRule(camera.config, stored.emplace(database));
        },
        camera.places);
    const std::string source = vision::parseSourceSpec(camera.config.source).name();
    const auto sources = stored->sources();
    if (std::ranges::find(sources, source, &SourceRecord::name) == sources.end())
      throw Error("'" + database + "' holds no samples of '" + source + "'");
    stored.reset();
    if (rule == NightRule() && camera.config.night.empty()) {
      throw Error("no rule tells day from night of '" + source +
                  "': give --night-brightness, --night-hours, or --lat and --lon. With --night none its samples are "
                  "neither of day nor of night from now on");
    }
    StoreWriter writer(database);
    std::optional<Progress> progress;
    int shown = 0;
    const bool judged = writer.judge(source, rule, [&](double share) {
      constexpr int kSteps = 100;
      if (!progress) progress.emplace(stderrIsTerminal(), kSteps, "percent");
      for (; shown < static_cast<int>(kSteps * share); ++shown) progress->step();
      return !interrupted();
    });
    progress.reset();
    if (!judged) return kInterrupted;
    printNote("day and night of '" + source + "' are judged anew");
  }
  return kOk;
}

// The page of a watch file.
class WatchedPage {
 public:
  explicit WatchedPage(const Fleet& fleet) : page_({.live = [&fleet] { return fleet.status(); }}) {}

  // Where the page is from now on. Returns its address as text for a line; throws mpm::Error where it cannot listen,
  // and then there is none.
  std::string set(const WebPage& table) {
    if (table != std::exchange(table_, table)) server_.reset();
    if (table == WebPage()) return "";
    if (!server_) {
      server_ =
          std::make_unique<page::HttpServer>(table, [this](const auto& request) { return page_.answer(request); });
    }
    return "page: " + server_->url();
  }

 private:
  page::Page page_;  // of the server's thread
  WebPage table_{};
  std::unique_ptr<page::HttpServer> server_;
};

// Reads a watch file and all that it names. Watches nothing, speaks to nobody, and writes nothing.
int checkFile(const MonitorArguments& arguments) {
  const WatchFile file = watchFile(arguments);
  const std::string in_file = "'" + arguments.file + "': ";
  orUsageError([&] { return Teller().set(file.tables); }, in_file);
  if (WebPage page = file.tables.page; page != WebPage()) {
    orUsageError(
        [&] {  // at a free port: that of the file may be in use by the program that watches
          page.address = page.address.substr(0, page.address.rfind(':')) + ":0";
          const page::HttpServer server(page, [](const page::Request&) { return page::Response(); });
        },
        in_file);
  }
  ReadModels models;
  const std::vector<Camera> cameras = camerasOf(arguments, file.cameras, nullptr, models);
  foresee(cameras, models);
  std::string text = arguments.file + ": " + counted(static_cast<std::int64_t>(cameras.size()), "camera");
  for (const Camera& one : cameras) {
    text +=
        "\n" + one.name + "  " + one.plan.source.shownText() + "  " + one.session.database + "  " + one.session.model;
  }
  printData(text);
  return kOk;
}

// Such a file as --watch reads, of all that options and file say.
int printWatch(const WatchFile& file) {
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

// SIGHUP: read the watch file again.
std::atomic<bool> reload = false;

// The watch over all cameras, until it is interrupted or all sources are at their end.
class WatchRun {
 public:
  WatchRun(const MonitorArguments& arguments, const WatchFile& file);
  int run();

 private:
  Fleet::Callbacks callbacks();
  void setCameras(const std::vector<Camera>& cameras);
  std::string readAgain();
  void showStatus();
  bool all(bool CameraStatus::*is) const { return std::ranges::all_of(now_, is); }
  std::vector<std::string> sumUp();

  const MonitorArguments& arguments_;
  const std::string in_file_ = "'" + arguments_.file + "': ";
  std::shared_ptr<Teller> teller_;  // null: nobody is told. It outlives the fleet
  ServiceNotify service_;
  Lines lines_;
  std::atomic<bool> several_ = false;  // there are, or were
  Fleet fleet_;
  WatchedPage page_;
  std::vector<CameraStatus> now_;

  bool counts_ = false;  // how many pictures are measured, of an archive that is watched alone
  std::optional<Progress> progress_;
  std::int64_t progressed_ = 0, next_status_ = 0;
  const bool terminal_ = stderrIsTerminal();
};

WatchRun::WatchRun(const MonitorArguments& arguments, const WatchFile& file)
    : arguments_(arguments),
      teller_(arguments.file.empty() || arguments.recompute ? nullptr
                                                            : std::make_shared<Teller>(arguments.file, arguments.once)),
      fleet_(callbacks()),
      page_(fleet_) {
  if (teller_) orUsageError([&] { return teller_->set(file.tables); }, in_file_);
  ReadModels models;
  std::vector<Camera> cameras = camerasOf(arguments, file.cameras, teller_, models);
  noteSlowPrecision(models.of(cameras.front().session).precision);
  several_ = cameras.size() > 1;
  counts_ = cameras.size() == 1 && cameras.front().plan.archive && !cameras.front().plan.archive->follow;
  if (!arguments.file.empty()) std::signal(SIGHUP, [](int) { reload = true; });
  if (!arguments.once) {
    if (const std::string shown = orUsageError([&] { return page_.set(file.tables.page); }, in_file_); !shown.empty())
      printNote(shown);
  }
  setCameras(cameras);
  fleet_.set(std::move(cameras));
}

Fleet::Callbacks WatchRun::callbacks() {
  Fleet::Callbacks callbacks;
  callbacks.on_event = [this](const Camera& camera, const Event& event) {
    Json line = {{"camera", camera.name}};
    line.update(monitor::toJson(event));
    lines_.add(arguments_.json, arguments_.json ? toLine(line)
                                                : isoTime(event.time) + "  " + (several_ ? camera.name + "  " : "") +
                                                      monitor::toString(event.kind) + ": " + event.message);
  };
  if (arguments_.json) {
    callbacks.on_sample = [this](const Camera& camera, const Sample& sample, const InferenceResult& result) {
      Json line = {{"camera", camera.name}};
      line.update(toJson(sample, vision::classNames(*result.model), toString(result.model->reduction)));
      lines_.add(true, toLine(line));
    };
  }
  return callbacks;
}

// Says to the teller, if there is one, which cameras the file has.
void WatchRun::setCameras(const std::vector<Camera>& cameras) {
  if (!teller_) return;
  std::set<std::string> names;
  for (const Camera& one : cameras) names.insert(one.name);
  teller_->setCameras(names);
}

std::string WatchRun::readAgain() try {
  const auto [written, tables] = watchFile(arguments_);
  ReadModels models;
  std::vector<Camera> cameras = camerasOf(arguments_, written, teller_, models);
  foresee(cameras, models);  // before a camera is stopped for it
  teller_->set(tables);
  setCameras(cameras);
  std::string shown;
  try {
    if (!arguments_.once) shown = page_.set(tables.page);
  } catch (const Error& error) {
    shown = std::string("no page: ") + error.what();
  }
  const auto [started, restarted, ended, unchanged] = fleet_.set(std::move(cameras));
  return arguments_.file + " was read again: " + std::to_string(started) + " new, " + std::to_string(restarted) +
         " restarted, " + std::to_string(ended) + " ended, " + std::to_string(unchanged) + " unchanged" +
         (shown.empty() ? "" : "; " + shown);
} catch (const std::exception& error) {
  return "nothing changes: " + messageOf(error);
}

// Events and samples that came, then the status: of each camera for three seconds on a terminal, of all once a second
// for the supervisor.
void WatchRun::showStatus() {
  const auto shown = static_cast<std::size_t>(steadyNow() / 3000) % now_.size();
  std::string text = statusText(now_[shown]);
  if (now_.size() > 1)
    text = "[" + std::to_string(shown + 1) + "/" + std::to_string(now_.size()) + "] " + now_[shown].name + "  " + text;
  if (const std::int64_t steady = steadyNow(); steady >= next_status_) {
    next_status_ = steady + 1000;
    std::string states;
    for (const CameraStatus& one : now_) states += (states.empty() ? "" : " | ") + one.name + "  " + statusText(one);
    service_.status(now_.size() > 1 ? states : text);
  }
  const CaptureStatus& source = now_.front().session.source;
  if (counts_ && source.frame_count > 0 && !progress_)
    progress_.emplace(stderrIsTerminal(), static_cast<int>(source.frame_count), "picture");
  lines_.print(progress_ ? std::nullopt : std::optional(text));
  for (; progress_ && progressed_ < now_.front().session.inference.processed; ++progressed_) progress_->step();
}

int WatchRun::run() {
  bool ready = false, said = false;  // `said`: that lines of the output are missing
  for (;; std::this_thread::sleep_for(100ms)) {
    now_ = fleet_.status();
    const bool works = std::ranges::any_of(now_, [](const auto& one) { return one.failure.empty(); });
    if (works && all(&CameraStatus::started) && !std::exchange(ready, true)) service_.ready();
    if (!stuck(now_)) service_.alive();
    showStatus();
    if (!lines_.failure.empty() && !std::exchange(said, true))
      fleet_.addEvent({unixNow(), EventKind::kStorage, Severity::kError, lines_.failure + "; storing goes on"});
    if (interrupted() || all(&CameraStatus::over)) break;
    if (reload.exchange(false)) {
      if (terminal_ && !stderrIsTerminal()) break;  // it was closed
      lines_.add(false, readAgain());
      several_ = several_ || fleet_.status().size() > 1;
    }
  }
  progress_.reset();
  service_.stopping();
  const bool ended = fleet_.finish();
  lines_.print("");
  std::vector<std::string> failures = sumUp();
  if (!ended && failures.empty()) failures.emplace_back("a disk does not answer");
  if (!lines_.failure.empty()) failures.push_back(lines_.failure);
  for (; failures.size() > 1; failures.pop_back()) printError("mpm monitor", failures.back());
  if (!ended) {  // the destructor of the fleet would wait for the disk
    printError("mpm monitor", failures.front());
    std::_Exit(kRuntimeError);
  }
  if (!failures.empty()) throw Error(failures.front());
  return kOk;
}

// Prints what was stored. Returns why cameras were not watched.
std::vector<std::string> WatchRun::sumUp() {
  std::vector<std::string> failures;
  now_ = fleet_.status();
  for (const CameraStatus& one : now_) {
    if (!one.failure.empty()) failures.push_back((several_ ? one.name + ": " : "") + one.failure);
    if (!one.session.store) continue;
    const WriterStatus& store = *one.session.store;
    if (!arguments_.json && store.pending == 0 && (store.samples > 0 || one.failure.empty()))
      printNote(storedText(store.samples, one.database));
  }
  return failures;
}

int monitorCameras(const MonitorArguments& arguments) {
#ifdef M_ARENA_MAX
  // glibc keeps freed memory for each thread, and learns to keep blocks as large as a frame. Over months, with a new
  // thread each time a camera is opened again, that grows.
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 1 << 18);
#endif
  const WatchFile file = watchFile(arguments);
  if (arguments.print) return printWatch(file);
  if (arguments.judge) return judgeStored(file.cameras);
  return WatchRun(arguments, file).run();
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
                  "its own, and end. What is stored stays:\n'mpm report --series' shows it. With --snapshots, those of "
                  "the same time\nare replaced")
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
