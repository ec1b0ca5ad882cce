// SPDX-License-Identifier: Apache-2.0
#include "monitor/tell/channel.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"
#include "mpm/version.hpp"
#include "vision/labels/classes.h"

namespace mpm::monitor {

HostPort parseAddress(const std::string& text) {
  const std::size_t colon = text.find(':', text.starts_with('[') ? std::min(text.find(']'), text.size()) : 0);
  const bool has_port = colon != std::string::npos;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const int port = has_port ? readNumber<std::uint16_t>(text.substr(colon + 1)).value_or(0) : 0;
  if (host.empty() || host.find_first_of("[] /@\t") != std::string::npos || (has_port && port == 0))
    throw Error("'" + visibleText(text) + "' is no address such as localhost:1883 or [::1]:1883");
  return {host, port};
}

std::string topicName(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  std::string name = text;
  for (char& c : name)
    if (kLetters.find(c) == std::string_view::npos) c = '_';
  return name;
}

std::string readSecret(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0)
    throw Error("'" + path + "' can be read by every user: chmod o-r it");
  const std::string text = readFile(path, 1 << 16);
  const std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (line.empty()) throw Error("'" + path + "' has no first line");
  return line;
}

Json discovery(const std::string& camera, const std::string& topic, const FileTables& tables,
               const SessionInfo& session, const Sample& sample, const std::set<int>& occurred) {
  constexpr double kLeastExpiryS = 10;
  const std::string device = topicName(topic);
  Json components = Json::object();
  const auto add = [&](const std::string& key, const std::string& name, const char* platform, const Json& more) {
    std::string own = topicName(key);
    // Else names of equal length, or that differ in signs only, collide.
    if (std::ranges::any_of(key, [](unsigned char c) { return c > 127; }) || components.contains(own))
      own += "_" + std::to_string(hashBytes(key) >> 32);
    const std::string id = device + "_" + own;
    Json& entity = components[own];
    entity = {{"platform", platform}, {"unique_id", id}, {"name", name}};
    entity["default_entity_id"] = std::string(platform) + "." + id;
    entity.update(more);
  };
  // One number of the state, at this place in its JSON.
  const auto sensor = [&](const std::string& key, const std::string& name, const std::string& place, const char* unit,
                          int digits, bool diagnostic) {
    Json more = {{"state_class", "measurement"}, {"suggested_display_precision", digits}};
    more["value_template"] = "{{ " + place + " }}";
    if (*unit) more["unit_of_measurement"] = unit;
    if (diagnostic) more["entity_category"] = "diagnostic";
    if (session.every_s > 0)
      more["expire_after"] = std::lround(std::ceil(std::max(3 * session.every_s, kLeastExpiryS)));
    add(key, name, "sensor", more);
  };
  for (const RegionSample& region : sample.regions) {
    const bool whole = region.region == 0;
    const std::string of = whole ? "" : region.name + " ",
                      place = whole ? "value_json" : "value_json.regions[" + Json(region.name).dump() + "]";
    for (const Quantity& one : quantities())
      if (whole || one.ofRegions())
        sensor(of + one.key, of + one.label, place + "." + one.key, one.unit, one.digits,
               one.scope == Quantity::Scope::kFrame || &one == findQuantity("tokens"));
    for (const int label : occurred) {
      const std::string name = vision::className(session.classes, label);
      sensor(of + "area " + name, of + name,
             "(" + place + ".area_fraction[" + Json(name).dump() + "] | default(0)) * 100", "%", 1, false);
    }
  }
  for (const StateSample& one : sample.states)
    add("state " + one.name, one.name, "sensor",
        {{"value_template", "{{ value_json.states[" + Json(one.name).dump() + "].counted }}"}});
  add("status", "Problem", "binary_sensor",
      {{"device_class", "problem"},
       {"entity_category", "diagnostic"},
       {"state_topic", topic + "/status"},
       {"value_template", "{{ 'OFF' if value == 'online' else 'ON' }}"}});
  Json kinds = Json::array();
  for (int kind = 0; *toString(static_cast<EventKind>(kind)) != '?'; ++kind)
    kinds.push_back(toString(static_cast<EventKind>(kind)));
  add("event", "Event", "event",
      {{"state_topic", topic + "/event"},
       {"event_types", kinds},
       {"value_template",
        "{{ {'event_type': value_json.event, 'severity': value_json.severity, 'message': value_json.message} | to_json "
        "}}"}});
  if (tables.mqtt.picture)
    add("picture", "Picture", "image", {{"image_topic", topic + "/picture"}, {"content_type", "image/jpeg"}});
  Json about = {{"identifiers", {device}},
                {"name", camera},
                {"manufacturer", "mpm_layer"},
                {"model", session.model_name},
                {"sw_version", MPM_VERSION}};
  // An address that means any port or any interface is none for a browser.
  const std::string& page = tables.page.address;
  if (!page.empty() && !page.ends_with(":0") && !page.starts_with("0.0.0.0") && !page.starts_with("[::]"))
    about["configuration_url"] = "http://" + page + "/";
  return {{"device", about},
          {"origin",
           {{"name", "mpm monitor"}, {"sw_version", MPM_VERSION}, {"support_url", "https://arxiv.org/abs/2604.05718"}}},
          {"availability",
           {{{"topic", prefixOf(tables.mqtt) + "/available"},
             {"payload_available", "online"},
             {"payload_not_available", "offline"}}}},
          {"state_topic", topic + "/state"},
          {"qos", 1},
          {"components", components}};
}

}  // namespace mpm::monitor
