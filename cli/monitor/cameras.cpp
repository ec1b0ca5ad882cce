// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor/cameras.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <tuple>

#include "evaluation/numbers.h"
#include "monitor/service_notify.h"
#include "monitor/store/store_reader.h"
#include "mpm/error.hpp"
#include "program/paths.h"
#include "program/terminal/program.h"
#include "vision/labels/classes.h"
#include "vision/model_files.h"
#include "vision/sources/source.h"

namespace mpm::cli {

using namespace monitor;
using namespace program;

const ModelInfo& ReadModels::of(const SessionOptions& session) {
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

const std::string& ReadModels::digestOf(const std::string& model) {
  std::string& digest = digests_[model];
  if (digest.empty()) digest = vision::modelDigest(model);
  return digest;
}

namespace {

// Names of the regions that will be measured: those of the file, else those that the database has.
std::vector<std::string> regionNames(const CameraPlan& plan, const std::string& database) try {
  return vision::namesOf(plan.regions ? *plan.regions : currentRegions(StoreReader(database), plan.source.name()));
} catch (const Error&) {  // the same
  return {};
}

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
    if (!alarm.region.empty() && std::ranges::find(*regions, alarm.region) == regions->end()) {
      throw CameraConfigError("alarm", "there is no region '" + alarm.region + "'" +
                                           (regions->empty() ? ": give a file with --regions" : ""));
    }
    if (alarm.isArea()) needClass("alarm", alarm.quantity);
  }
  for (const std::string& name : plan.privacy.blurred.value_or(std::vector<std::string>())) needClass("blur", name);
}

// As in checkNames(): a service that starts after its model was taught anew waits for the states of the new one.
void checkStates(const CameraConfig& config, const CameraPlan& plan, const std::string& model, ReadModels& models) {
  if (isService()) return;
  for (std::size_t i = 0; i < config.states.size(); ++i) {
    if (const evaluation::StateHead& head = plan.states.heads[i]; head.model_digest != models.digestOf(model)) {
      throw CameraConfigError("states", "'" + config.states[i] + "' reads the tokens of another model, '" +
                                            head.model_name + "' (" + head.model_digest + "), than '" + model +
                                            "': run that one, or teach the states again with --model");
    }
  }
}

// nullopt: there is no database yet, or the session says what is wrong with it.
std::optional<StoreReader> stored(const std::string& database) try {
  return StoreReader(database);
} catch (const Error&) {
  return std::nullopt;
}

Camera cameraOf(const MonitorArguments& arguments, const WrittenCamera& written, ReadModels& models) {
  const CameraConfig& said = written.config;
  const vision::SourceKind kind = vision::parseSourceSpec(said.source).kind;
  if (!arguments.shard.isWhole() && kind != vision::SourceKind::kFolder && kind != vision::SourceKind::kGlob)
    throw UsageError("--shard needs a folder or a glob");
  Camera camera = orOptionError(
      [&] {
        checkConfig(said);
        if (std::error_code error; !said.model.empty() && !std::filesystem::exists(said.model, error))
          throw CameraConfigError("model", "'" + said.model + "': no such file");
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

}  // namespace

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
    if (!alone) {
      throw UsageError("cameras '" + other->second + "' and '" + camera.name + "' would both write '" +
                       camera.session.database + "': give each a 'db' of its own; 'mpm report' reads several");
    }
    camera.session.teller = teller;
    camera.session.camera = camera.name;
    cameras.push_back(std::move(camera));
  }
  return cameras;
}

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

}  // namespace mpm::cli
