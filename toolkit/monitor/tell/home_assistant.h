// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "monitor/statistics/alarms.h"
#include "monitor/store/records.h"
#include "monitor/watch/camera_config.h"

namespace mpm::monitor {

/// The end of the topic of a camera's state.
inline constexpr char kState[] = "/state";

/// What is told of a camera beside its samples and events.
struct CameraFacts {
  std::string title{};          ///< how people call it; empty: by its name
  bool scene = false;           ///< demo: has a clock of its own, and nothing that it shows is past
  std::vector<Alarm> alarms{};  ///< that are watched for
  double usual_s = 0;           ///< Pace::usual_s; 0: not known
};

/// The prefix of all topics of a camera, without its name.
std::string prefixOf(const Mqtt& mqtt);
/// That of Home Assistant; empty: it is told nothing.
std::string discoveryOf(const Mqtt& mqtt);
/// How often a state is sent at most, in seconds.
double stateEvery(const Mqtt& mqtt);

/// Describes a camera to Home Assistant: the payload of homeassistant/device/NAME/config. `topic`: of the camera.
/// `before`: the description before this one, or null. Classes that occurred stay in it while the model has them; what
/// it had and the new one has not is named by its platform alone, by which Home Assistant removes it.
Json discovery(const std::string& camera, const CameraFacts& facts, const std::string& topic, const FileTables& tables,
               const SessionInfo& session, const Sample& sample, const Json& before);

/// The topic of a camera below which are its state and status, by what was announced of it; empty: it does not say.
std::string baseOf(const Json& announced);

/// The description of a camera that has another name, title or topic by now; the rest of it stays until the next
/// sample. Null: `before` is no description.
Json renamed(Json before, const std::string& camera, const CameraFacts& facts, const std::string& topic);

}  // namespace mpm::monitor
