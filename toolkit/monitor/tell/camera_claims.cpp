// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/camera_claims.h"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/json_file.h"
#include "monitor/tell/home_assistant.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

CameraTopics::CameraTopics(const Mqtt& mqtt, const std::string& camera)
    : base(prefixOf(mqtt) + "/" + camera), config(discoveryOf(mqtt)) {
  if (!config.empty()) config += "/device/" + topicName(base) + "/config";
}

std::vector<std::string> CameraTopics::keptBelow(const std::string& base) {
  std::vector<std::string> kept;
  for (const char* one : {"/status", "/state", "/alarms", "/picture"}) kept.push_back(base + one);
  return kept;
}

std::string CameraClaims::idOf(const std::string& file) {
  std::array<char, 256> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  std::error_code unseen;
  const std::filesystem::path path = std::filesystem::weakly_canonical(std::filesystem::absolute(file, unseen), unseen);
  return digestText(hashBytes(unseen ? file : path.string(), hashBytes(std::string(host.data()))));
}

CameraClaims::CameraClaims(const Mqtt& mqtt, const std::string& id, bool stays, CurrentTopics& topics)
    : mqtt_(mqtt), prefix_(prefixOf(mqtt)), own_(prefix_ + "/WATCH/" + id), stays_(stays), topics_(topics) {}

void CameraClaims::setCameras(const std::set<std::string>& names) {
  const std::lock_guard lock(mutex_);
  left_.stays = left_.stays && !left_.cameras.empty();  // of the earlier run
  for (const std::string& name : takenOver()) cameras_.erase(name);
  left_.cameras.merge(cameras_);
  cameras_.clear();
  for (const std::string& name : names) {
    cameras_[name] = CameraTopics(mqtt_, name).config;
    left_.cameras.erase(name);
  }
  if (!settled_) return;
  takeOver();
  settle();
}

void CameraClaims::withdraw() { topics_.sendOnce(own_, ""); }

Subscription CameraClaims::subscription() {
  return {.topics = {prefix_ + "/+/status", prefix_ + "/WATCH/+"},
          .last = own_,
          .take = [this](const std::string& topic, const std::string& payload) { take(topic, payload); }};
}

CameraClaims::List CameraClaims::read(const std::string& payload, const std::string& prefix) try {
  const JsonValue json(payload, "a list of cameras");
  List list{.stays = json.has("once")};
  const Json cameras = json.at("cameras").json();
  if (!cameras.is_object()) return {};
  for (const auto& [name, config] : cameras.items()) {
    // Another one than a program of ours may have written it: no other topic may be emptied for it.
    const std::string end = "/device/" + topicName(prefix + "/" + name) + "/config";
    if (topicName(name) == name && config.is_string() && (config == "" || config.get<std::string>().ends_with(end)))
      list.cameras[name] = config;
  }
  return list;
} catch (const Error&) {
  return {};
}

std::string CameraClaims::text(const List& list) {
  Json json = {{"cameras", list.cameras}};
  if (list.stays) json["once"] = true;
  return toLine(json);
}

void CameraClaims::take(const std::string& topic, const std::string& payload) {
  const std::lock_guard lock(mutex_);
  if (topic == own_) {
    if (payload.empty()) {
      if (!settled_) takeOver();
      settled_ = true;
    } else if (!settled_) {
      left_ = read(payload, prefix_);
      for (const auto& [name, config] : cameras_) left_.cameras.erase(name);
    }
  } else if (topic.starts_with(prefix_ + "/WATCH/")) {
    others_[topic] = read(payload, prefix_);
  } else {
    const std::size_t from = prefix_.size() + 1;
    statuses_[topic.substr(from, topic.find('/', from) - from)] = payload;
  }
  if (settled_) settle();
}

// Cameras that another file lists since this one was read belong to that.
std::set<std::string> CameraClaims::takenOver() const {
  std::set<std::string> names;
  for (const auto& [topic, list] : others_) {
    for (const auto& [name, config] : list.cameras)
      if (settled_ && cameras_.contains(name)) names.insert(name);
  }
  return names;
}

// At the start, and when the file is read again. At any other time two programs that name one camera would take it from
// each other.
void CameraClaims::takeOver() {
  for (auto& [topic, list] : others_) {
    const List before = list;
    for (const auto& [name, config] : cameras_) list.cameras.erase(name);
    if (list != before) topics_.sendOnce(topic, list.cameras.empty() ? "" : text(list));
  }
}

void CameraClaims::settle() {
  std::erase_if(left_.cameras, [&](const auto& one) {
    const auto& [name, config] = one;
    const std::string& status = statuses_[name];
    if (!left_.stays && !status.empty() && status != "offline" && status != "ended") return false;
    for (const std::string& topic : CameraTopics::keptBelow(prefix_ + "/" + name)) topics_.sendOnce(topic, "");
    if (!config.empty()) topics_.sendOnce(config, "");
    return true;
  });
  List own{.cameras = cameras_, .stays = stays_};
  for (const std::string& name : takenOver()) own.cameras.erase(name);
  own.cameras.insert(left_.cameras.begin(), left_.cameras.end());
  topics_.set(own_, text(own));
}

}  // namespace mpm::monitor
