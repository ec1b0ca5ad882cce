// SPDX-License-Identifier: Apache-2.0
// https://www.home-assistant.io/integrations/mqtt/#device-discovery-payload
#include "monitor/tell/home_assistant.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/hash.h"
#include "base/json_file.h"
#include "monitor/pace.h"
#include "monitor/tell/channel.h"
#include "mpm/version.hpp"
#include "vision/labels/classes.h"

namespace mpm::monitor {
namespace {

constexpr int kMaxClassesShown = 20;  // of the whole picture, by default
constexpr double kUsualEveryS = 30;

// Gives an entity the ids by which Home Assistant knows it.
void identify(Json& entity, const std::string& device, const std::string& id) {
  const std::string unique = device + "_" + id;
  entity["unique_id"] = unique;
  entity["default_entity_id"] = entity.at("platform").get<std::string>() + "." + unique;
}

std::string nameOf(const std::string& camera, const CameraFacts& facts) {
  return facts.title.empty() ? camera : facts.title;
}

// Its components by their ids. An id depends on the whole list of what there may be, not on what has occurred: it stays
// the same for ever.
class Components {
 public:
  Components(std::string device, const Json& before) : device_(std::move(device)), before_(before) {}

  // The id of what has this key. Each must be asked for once, in the same order each time.
  std::string idOf(const std::string& key) {
    std::string id = topicName(key);
    // Else names of equal length, or that differ in signs only, collide.
    if (std::ranges::any_of(key, [](unsigned char c) { return c > 127; }) || ids_.contains(id))
      id += "_" + std::to_string(hashBytes(key) >> 32);
    ids_.insert(id);
    return id;
  }
  bool wasThere(const std::string& id) const { return before_.contains(id) && before_[id].size() > 1; }

  Json& add(const std::string& id, const std::string& name, const char* platform) {
    Json& entity = all[id];
    entity = {{"platform", platform}, {"name", name}};
    identify(entity, device_, id);
    return entity;
  }

  // What was there and is not any more.
  void removeOthers() {
    for (const auto& [id, entity] : before_.items()) {
      if (!all.contains(id) && entity.is_object() && entity.contains("platform"))
        all[id] = {{"platform", entity["platform"]}};
    }
  }

  Json all = Json::object();

 private:
  const std::string device_;
  const Json before_;
  std::set<std::string> ids_{};
};

std::string isOn(const std::string& place) { return "{{ 'ON' if " + place + " else 'OFF' }}"; }

// The address of the page for a browser; empty: it has none that others reach.
std::string linkOf(const FileTables& tables) {
  if (!tables.mqtt.url.empty()) return tables.mqtt.url;
  const std::string& page = tables.page.address;
  const bool any = page.empty() || page.ends_with(":0") || page.starts_with("0.0.0.0") || page.starts_with("[::]");
  return any ? "" : "http://" + page + "/";
}

// The entities of what a sample holds, each a place in the JSON of a state.
class SampleEntities {
 public:
  SampleEntities(Components& components, const CameraFacts& facts, const SessionInfo& session, double state_every_s)
      : components_(components),
        facts_(facts),
        session_(session),
        pace_{std::max({session.every_s, facts.usual_s, state_every_s})} {}

  void add(const Sample& sample) {
    for (const RegionSample& region : sample.regions) {
      addQuantities(region);
      addAreas(region);
    }
    for (const StateSample& one : sample.states) {
      Json& entity = components_.add(components_.idOf("state " + one.name), one.name, "sensor");
      entity["value_template"] = "{{ value_json.states[" + toLine(one.name) + "].counted }}";
      expire(entity);
    }
    if (!sample.night) return;
    Json& entity = components_.add(components_.idOf("night"), "Night", "binary_sensor");
    entity["value_template"] = isOn("value_json.night");
    expire(entity);
  }

 private:
  void addQuantities(const RegionSample& region) {
    const bool whole = region.region == 0;
    for (const Quantity& one : quantities()) {
      if (!whole && !one.of_regions) continue;
      const std::string id = components_.idOf(prefixOf(region) + one.key), name = prefixOf(region) + one.label,
                        at = placeOf(region) + "." + one.key, key = one.key;
      if (one.isFlag() || key == "flagged") {
        Json& entity = components_.add(id, name, "binary_sensor");
        entity["value_template"] = isOn(at);
        entity["entity_category"] = "diagnostic";
        expire(entity);
        if (key != "dark") entity["device_class"] = "problem";  // each night is dark
        if (!one.isFlag()) entity["enabled_by_default"] = false;
        continue;
      }
      Json& entity = addNumber(id, name, at, one.unit, one.digits,
                               rings(region.name, key) || key == (whole ? "brightness" : "gcc"));
      // What is measured of the whole picture alone tells of the measurement, not of the scene; so do the tokens.
      if (!one.of_regions || key == "tokens") entity["entity_category"] = "diagnostic";
    }
  }
  void addAreas(const RegionSample& region) {
    const bool few = region.region == 0 && session_.classes.size() <= kMaxClassesShown;
    for (int label = 0; label < static_cast<int>(session_.classes.size()); ++label) {
      const std::string name = vision::className(session_.classes, label),
                        id = components_.idOf(prefixOf(region) + "area " + name);
      const bool occurs = std::ranges::any_of(region.areas, [&](const auto& one) { return one.first == label; });
      if (occurs || components_.wasThere(id)) {
        addNumber(id, prefixOf(region) + name,
                  "(" + placeOf(region) + ".area_fraction[" + toLine(name) + "] | default(0)) * 100", "%", 1,
                  rings(region.name, name) || few);
      }
    }
  }
  Json& addNumber(const std::string& id, const std::string& name, const std::string& place, const char* unit,
                  int digits, bool shown) {
    Json& entity = components_.add(id, name, "sensor");
    entity["state_class"] = "measurement";
    entity["suggested_display_precision"] = digits;
    entity["value_template"] = "{{ " + place + " }}";
    if (*unit) entity["unit_of_measurement"] = unit;
    expire(entity);
    if (!shown) entity["enabled_by_default"] = false;
    return entity;
  }
  // A state comes as often as samples do, and no more often than it is sent. Without a meant interval none is missed.
  void expire(Json& entity) const {
    if (session_.every_s > 0) entity["expire_after"] = std::lround(std::ceil(pace_.aliveFor()));
  }
  bool rings(const std::string& region, const std::string& quantity) const {
    return std::ranges::any_of(facts_.alarms,
                               [&](const Alarm& one) { return one.region == region && one.quantity == quantity; });
  }
  static std::string prefixOf(const RegionSample& region) { return region.region == 0 ? "" : region.name + " "; }
  static std::string placeOf(const RegionSample& region) {
    return region.region == 0 ? "value_json" : "value_json.regions[" + toLine(region.name) + "]";
  }

  Components& components_;
  const CameraFacts& facts_;
  const SessionInfo& session_;
  const Pace pace_;
};

// The entities of the watch: alarms, problems, events, the picture.
void addWatch(Components& components, const CameraFacts& facts, const std::string& topic, bool has_picture) {
  for (const Alarm& alarm : facts.alarms) {
    const std::string text = toString(alarm);
    Json& entity = components.add(components.idOf("alarm " + text), "Alarm " + text, "binary_sensor");
    entity["device_class"] = "problem";
    entity["state_topic"] = topic + "/alarms";
    entity["value_template"] = isOn("value_json[" + toLine(text) + "]");
  }
  // It is there also when the process is not: a kill is a problem. What opens or ended is none.
  Json& problem = components.add(components.idOf("status"), "Problem", "binary_sensor");
  problem["device_class"] = "problem";
  problem["entity_category"] = "diagnostic";
  problem["state_topic"] = topic + "/status";
  problem["value_template"] = isOn("value not in ['opening', 'online', 'ended']");
  problem["availability"] = Json::array();
  Json& event = components.add(components.idOf("event"), "Event", "event");
  event["state_topic"] = topic + "/event";
  event["event_types"] = Json::array();
  for (std::size_t kind = 0; kind < kEventKinds; ++kind)
    event["event_types"].push_back(toString(static_cast<EventKind>(kind)));
  event["value_template"] =
      "{{ {'event_type': value_json.event, 'severity': value_json.severity, 'message': value_json.message} | to_json "
      "}}";
  const std::string picture = components.idOf("picture");
  if (has_picture) {
    Json& entity = components.add(picture, "Picture", "image");
    entity["image_topic"] = topic + "/picture";
    entity["content_type"] = "image/jpeg";
  }
}

}  // namespace

std::string prefixOf(const Mqtt& mqtt) {
  if (!mqtt.prefix.empty()) return mqtt.prefix;
  std::array<char, 256> host{};
  const bool named = ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  return std::string("mpm/") + (named ? topicName(host.data()) : "host");
}

std::string discoveryOf(const Mqtt& mqtt) {
  if (mqtt == Mqtt() || mqtt.discovery == "none") return "";
  return mqtt.discovery.empty() ? "homeassistant" : mqtt.discovery;
}

double stateEvery(const Mqtt& mqtt) { return mqtt.every.value_or(kUsualEveryS); }

Json discovery(const std::string& camera, const CameraFacts& facts, const std::string& topic, const FileTables& tables,
               const SessionInfo& session, const Sample& sample, const Json& before) {
  const std::string device = topicName(topic);
  const bool described = before.is_object() && before.contains("components") && before["components"].is_object();
  Components components(device, described ? before["components"] : Json::object());
  SampleEntities(components, facts, session, stateEvery(tables.mqtt)).add(sample);
  addWatch(components, facts, topic, tables.mqtt.picture);
  components.removeOthers();
  Json about = {{"identifiers", {device}},
                {"name", nameOf(camera, facts)},
                {"manufacturer", "mpm_layer"},
                {"model", session.model_name},
                {"sw_version", MPM_VERSION}};
  if (const std::string link = linkOf(tables); !link.empty()) about["configuration_url"] = link;
  return {{"device", about},
          {"origin",
           {{"name", "mpm monitor"}, {"sw_version", MPM_VERSION}, {"support_url", "https://arxiv.org/abs/2604.05718"}}},
          {"availability",
           {{{"topic", topic + "/status"},
             {"value_template", "{{ 'offline' if value in ['offline', 'ended'] else 'online' }}"},
             {"payload_available", "online"},
             {"payload_not_available", "offline"}}}},
          {"state_topic", topic + kState},
          {"qos", 1},
          {"components", components.all}};
}

std::string baseOf(const Json& announced) {
  const bool says = announced.is_object() && announced.contains("state_topic") && announced["state_topic"].is_string();
  const std::string topic = says ? announced["state_topic"].get<std::string>() : "";
  return topic.ends_with(kState) ? topic.substr(0, topic.size() - std::string_view(kState).size()) : "";
}

Json renamed(Json before, const std::string& camera, const CameraFacts& facts, const std::string& topic) try {
  const std::string base = baseOf(before), device = topicName(topic);
  if (base.empty()) return {};
  const auto move = [&](Json& of, const char* key) {
    if (!of.contains(key)) return;
    const std::string at = of[key];
    if (at.starts_with(base + "/")) of[key] = topic + at.substr(base.size());
  };
  before.at("device").update({{"identifiers", {device}}, {"name", nameOf(camera, facts)}});
  move(before, "state_topic");
  for (Json& one : before.at("availability")) move(one, "topic");
  for (auto& [id, entity] : before.at("components").items()) {
    if (!entity.contains("unique_id")) continue;  // it was removed
    identify(entity, device, id);
    for (const char* key : {"state_topic", "image_topic"}) move(entity, key);
  }
  return before;
} catch (const Json::exception&) {
  return {};
}

}  // namespace mpm::monitor
