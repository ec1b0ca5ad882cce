// SPDX-License-Identifier: Apache-2.0
// What a watch tells others: what is put into the outbox, the texts around it (tell_test.py looks at the sending),
// systemd.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>

#include "monitor/samples.h"
#include "monitor/send.h"
#include "monitor/service_notify.h"
#include "monitor/tell/camera_claims.h"
#include "monitor/tell/channel.h"
#include "monitor/tell/home_assistant.h"
#include "monitor/tell/teller.h"
#include "support/notify_socket.h"
#include "support/throws_with.h"

namespace mpm::monitor::test {
namespace {

using Secret = InFolder;
using StoredTeller = InFolder;

TEST(Teller, TellsNothingOfThePastButOfAScene) {
  Teller teller;
  const std::string why =
      whyNotSent(teller, {.mqtt = {.address = "127.0.0.1:9", .prefix = "mpm", .every = 0}});  // where nobody listens
  if (!why.empty()) GTEST_SKIP() << why;
  const OutboxOptions outbox = teller.outbox("yard");
  for (const auto& [ago, scene, count] :
       {std::tuple(kHourMs + 1, false, 0u), {kHourMs - kMinuteMs, false, 1u}, {kHourMs + 1, true, 1u}}) {
    teller.setFacts("yard", {.scene = scene});
    const UnixMs time = unixNow() - ago;
    const auto events = outbox.of_event(eventAt(time, "x")), states = outbox.of_sample(sampleAt(time), session());
    ASSERT_THAT(events, SizeIs(count));
    ASSERT_THAT(states, SizeIs(count));
    if (count == 0) continue;
    EXPECT_EQ(std::pair(events[0].topic, events[0].latest), std::pair(std::string("mpm/yard/event"), false));
    EXPECT_EQ(std::pair(states[0].topic, states[0].latest), std::pair(std::string("mpm/yard/state"), true));
  }
}

// At most one state in `every`, but at once what a person waits for.
TEST(Teller, SendsAStateSeldomUnlessItChanges) {
  Teller teller;
  const std::string why = whyNotSent(teller, {.mqtt = {.address = "127.0.0.1:9", .every = 86400}});
  if (!why.empty()) GTEST_SKIP() << why;
  const OutboxOptions outbox = teller.outbox("yard");
  Sample sample = sampleAt(unixNow());
  const auto sent = [&] { return outbox.of_sample(sample, session()).size(); };
  EXPECT_EQ(sent(), 1u);
  EXPECT_EQ(sent(), 0u);
  sample.whole().set("tokens", 7);
  EXPECT_EQ(sent(), 0u) << "a number";
  sample.night = true;
  EXPECT_EQ(sent(), 1u);
  sample.whole().set("fogged", 1);
  EXPECT_EQ(sent(), 1u);
  sample.states = {{.name = "gate", .counted = "open"}};
  EXPECT_EQ(sent(), 1u);
  sample.states[0].state = "closed";
  EXPECT_EQ(sent(), 0u) << "which does not count yet";
  EXPECT_EQ(whyNotSent(teller, {.mqtt = {.address = "127.0.0.1:9", .prefix = "other", .every = 86400}}), "");
  EXPECT_EQ(sent(), 1u) << "there is none under the new topic";
}

// What an earlier run announced under another topic is taken back once, not by each later start.
TEST_F(StoredTeller, ForgetsWhatWasAnnouncedUnderAnotherTopic) {
  StoreWriter writer(path_);
  const std::string before = "homeassistant/device/old_yard/config", others = "mpm/gate";
  writer.announce(before, R"({"state_topic":"old/yard/state","components":{}})");
  writer.announce(others, R"({"state_topic":"mpm/gate/state"})");
  writer.tell({.channel = "mqtt", .topic = "old/yard/state", .payload = "{}", .latest = true});
  ASSERT_TRUE(writer.flush());
  Teller teller;
  const std::string why = whyNotSent(teller, {.mqtt = {.address = "127.0.0.1:9", .prefix = "mpm"}});
  if (!why.empty()) GTEST_SKIP() << why;
  teller.setCameras({"yard", "gate"});
  teller.add("yard", path_, writer, [](const Event&) {});
  teller.remove("yard", writer, 0);
  ASSERT_TRUE(writer.flush());
  EXPECT_THAT(StoreReader(path_).announced(), Not(Contains(testing::Key(before))));
  EXPECT_THAT(StoreReader(path_).announced(), Not(Contains(testing::Key(others))));
  std::map<std::string, std::string> waiting;
  for (const Message& one : StoreReader(path_).outbox("mqtt", 0, 99)) waiting[one.topic] = one.payload;
  EXPECT_EQ(waiting, (std::map<std::string, std::string>{{before, ""},
                                                         {"old/yard/alarms", ""},
                                                         {"old/yard/picture", ""},
                                                         {"old/yard/state", ""},
                                                         {"old/yard/status", ""}}))
      << "until the broker is there, also at a later start; the topics of another camera stay";
}

// Also where its next picture comes in an hour.
TEST_F(StoredTeller, ACameraOfAnotherNameOrTitleIsDescribedAtOnce) {
  const FileTables tables{.mqtt = {.address = "127.0.0.1:9", .prefix = "mpm", .picture = true}};
  const auto described = [&](const std::string& name, const std::string& title) {
    const CameraFacts facts{.title = title, .alarms = {parseAlarm("tokens>9")}};
    return toLine(discovery(name, facts, "mpm/" + name, tables, session(), sampleAt(kNoon), {}));
  };
  const auto configOf = [](const std::string& name) { return "homeassistant/device/mpm_" + name + "/config"; };
  StoreWriter writer(path_);
  writer.announce(configOf("yard"), described("yard", ""));
  ASSERT_TRUE(writer.flush());
  Teller teller;
  const std::string why = whyNotSent(teller, tables);
  if (!why.empty()) GTEST_SKIP() << why;
  teller.add("gate", path_, writer, [](const Event&) {});
  for (const char* title : {"", "Front gate"}) {
    teller.setFacts("gate", {.title = title});
    ASSERT_TRUE(writer.flush());
    EXPECT_THAT(StoreReader(path_).announced(), ElementsAre(Pair(configOf("gate"), described("gate", title))));
  }
  teller.remove("gate", writer, 0);
}

// Takes a connection and says nothing.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address_), length), 0);
    EXPECT_EQ(::listen(socket_, 1), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &length), 0);
  }
  ~SilentServer() {
    ::close(connection_);
    ::close(socket_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(ntohs(address_.sin_port)) + "/"; }
  void accept() { connection_ = ::accept(socket_, nullptr, nullptr); }
  // The other side has closed the connection by now.
  bool isClosed() const {
    char buffer[4096];
    ssize_t got = 1;
    while (got > 0) got = ::recv(connection_, buffer, sizeof buffer, MSG_DONTWAIT);
    return got == 0;
  }

 private:
  sockaddr_in address_{};
  int socket_, connection_ = -1;
};

// SIGHUP gave the camera another database: the sender stays, and the store before goes.
TEST_F(StoredTeller, SendsNothingOfAStoreThatWasRemoved) {
  SilentServer server;
  StoreWriter next(folder_ / "next.db");
  Teller teller;
  const std::string why = whyNotSent(teller, {.webhook = {.url = server.url()}});
  if (!why.empty()) GTEST_SKIP() << why;
  StoreWriter writer(path_, {.outbox = teller.outbox("yard")});
  writer.append(eventAt(unixNow(), "x"));
  ASSERT_TRUE(writer.flush());
  teller.add("yard", path_, writer, [](const Event&) {});
  server.accept();
  teller.add("yard", folder_ / "next.db", next, [](const Event&) {});
  teller.remove("yard", writer, 0);
  EXPECT_TRUE(server.isClosed()) << "the message that was under way is given up first";
  EXPECT_THAT(StoreReader(path_).outbox("webhook", 0, 9), SizeIs(1)) << "and waits for the next start";
  teller.remove("yard", next, 0);
}

// What a start hears of the broker, and what it makes of it (tell_test.py: with a real broker).
struct Claims {
  explicit Claims(const std::set<std::string>& cameras, bool stays = false)
      : claims({.address = "x", .prefix = "yard"}, "1", stays, topics) {
    claims.setCameras(cameras);
  }
  void hear(const std::string& topic, const std::string& payload) { heard.take(topic, payload); }
  std::map<std::string, std::string> sent() {
    hear("yard/WATCH/1", "");  // that was all
    return topics.take(false);
  }

  CurrentTopics topics{};
  CameraClaims claims;
  Subscription heard = claims.subscription();
};

constexpr char kGate[] = "homeassistant/device/yard_gate/config";

TEST(CameraClaims, ACameraThatTheFileNamesNoMoreLeavesNothing) {
  Claims one({"door"});
  one.hear("yard/WATCH/1", R"({"cameras": {"door": "", "gate": "homeassistant/device/yard_gate/config", "shed": ""}})");
  one.hear("yard/gate/status", "ended");
  const std::string own = R"({"cameras":{"door":"homeassistant/device/yard_door/config"}})";
  EXPECT_EQ(one.sent(), (std::map<std::string, std::string>{{kGate, ""},
                                                            {"yard/WATCH/1", own},
                                                            {"yard/gate/alarms", ""},
                                                            {"yard/gate/picture", ""},
                                                            {"yard/gate/state", ""},
                                                            {"yard/gate/status", ""},
                                                            {"yard/shed/alarms", ""},
                                                            {"yard/shed/picture", ""},
                                                            {"yard/shed/state", ""},
                                                            {"yard/shed/status", ""}}));
  EXPECT_THAT(one.sent(), IsEmpty()) << "once";
  EXPECT_EQ(one.topics.take(true), (std::map<std::string, std::string>{{"yard/WATCH/1", own}})) << "a new connection";
}

TEST(CameraClaims, ACameraThatIsWatchedIsNotTouchedUntilItEnds) {
  for (const char* status : {"opening", "online", "stalled", "lost", "not_writing"}) {
    Claims one({"door"});
    one.hear("yard/WATCH/1", R"({"cameras": {"gate": ""}})");
    one.hear("yard/gate/status", status);
    EXPECT_THAT(one.sent(), SizeIs(1)) << status;
    EXPECT_THAT(one.topics.of("yard/WATCH/1"), testing::HasSubstr("gate")) << "the next start tries again";
    one.hear("yard/gate/status", "offline");
    EXPECT_TRUE(one.topics.take(false).contains("yard/gate/picture"));
  }
  Claims once({"door"});
  once.hear("yard/WATCH/1", R"({"cameras": {"gate": ""}, "once": true})");
  once.hear("yard/gate/status", "online");
  EXPECT_TRUE(once.sent().contains("yard/gate/status")) << "between runs of --once it stays online";
}

TEST(CameraClaims, ACameraBelongsToTheFileThatStartedLast) {
  Claims one({"door", "gate"});
  one.hear("yard/WATCH/2", R"({"cameras": {"gate": "", "shed": ""}, "once": true})");
  one.hear("yard/WATCH/3", R"({"cameras": {"door": ""}})");
  one.hear("yard/WATCH/4", R"({"cameras": {"other": ""}})");
  auto sent = one.sent();
  EXPECT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent["yard/WATCH/2"], R"({"cameras":{"shed":""},"once":true})");
  EXPECT_EQ(sent["yard/WATCH/3"], "") << "nothing is left of it";
}

// Another program is told of the camera first, and this one then that it names it no more.
TEST(CameraClaims, ACameraThatAnotherFileTookOverIsNotTouched) {
  Claims one({"door", "gate"});
  (void)one.sent();
  one.hear("yard/gate/status", "online");
  const std::string own = R"({"cameras":{"door":"homeassistant/device/yard_door/config"}})";
  one.hear("yard/WATCH/1", own);
  one.hear("yard/WATCH/2", R"({"cameras": {"gate": "homeassistant/device/yard_gate/config"}})");
  EXPECT_EQ(one.topics.take(true), (std::map<std::string, std::string>{{"yard/WATCH/1", own}}))
      << "it takes nothing back, at a new connection neither";
  one.claims.setCameras({"door"});
  EXPECT_EQ(one.topics.of("yard/WATCH/1"), own);
  one.hear("yard/gate/status", "ended");
  EXPECT_FALSE(one.topics.take(false).contains("yard/gate/status"));

  Claims alone({"gate"});
  (void)alone.sent();
  alone.hear("yard/WATCH/2", R"({"cameras": {"gate": ""}})");
  alone.hear("yard/WATCH/1", "");  // nothing is left of its list
  alone.claims.setCameras({"door"});
  alone.hear("yard/gate/status", "offline");
  EXPECT_FALSE(alone.topics.take(false).contains("yard/gate/status"));
}

TEST(CameraClaims, NothingIsSentBeforeTheBrokerHasSaidWhatItKeeps) {
  Claims one({"door"});
  one.hear("yard/WATCH/1", R"({"cameras": {"gate": ""}})");
  EXPECT_THAT(one.topics.take(true), IsEmpty());
  EXPECT_FALSE(one.claims.settled());
}

TEST(CameraClaims, SighupMayTakeACameraAway) {
  Claims one({"door", "gate"});
  (void)one.sent();
  one.hear("yard/gate/status", "online");
  one.claims.setCameras({"door"});
  EXPECT_THAT(one.topics.of("yard/WATCH/1"), testing::HasSubstr("gate")) << "its program may be killed before it ends";
  one.hear("yard/gate/status", "ended");
  EXPECT_EQ(one.topics.of("yard/WATCH/1"), R"({"cameras":{"door":"homeassistant/device/yard_door/config"}})");
}

// Whoever may write at the broker may write a list, too.
TEST(CameraClaims, ListsOfOthersEmptyNoOtherTopics) {
  for (const char* list : {"x", "[]", "3", R"({"cameras": 3})", R"({"cameras": ["gate"]})", R"({"cameras": ""})",
                           R"({"cameras": {"gate": "other/topic"}})", R"({"cameras": {"gate": 3}})",
                           R"({"cameras": {"gate": "homeassistant/device/other_gate/config"}})",
                           R"({"cameras": {"a/b": "", "+": "", "#": ""}})"}) {
    Claims one({"door"});
    one.hear("yard/WATCH/1", list);
    EXPECT_THAT(one.sent(), SizeIs(1)) << list;
  }
}

TEST(CameraClaims, TheIdIsOfTheFile) {
  const std::string id = CameraClaims::idOf("watch.toml");
  EXPECT_EQ(id.size(), 16u);
  EXPECT_EQ(CameraClaims::idOf("./x/../watch.toml"), id);
  EXPECT_NE(CameraClaims::idOf("other.toml"), id);
}

TEST(HomeAssistant, TopicsAreOfThisMachineUnlessAPrefixIsGiven) {
  char host[256] = {};
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(prefixOf({}), "mpm/" + topicName(host)) << "two boards with a /dev/video0 are two devices";
  EXPECT_EQ(prefixOf({.prefix = "yard"}), "yard");
}

Json described(const CameraFacts& facts, const SessionInfo& info, const Sample& sample, const Json& before = {},
               const FileTables& tables = {}) {
  return discovery("yard", facts, "mpm/yard", tables, info, sample, before);
}

TEST(HomeAssistant, ASensorExpiresByWhatIsReached) {
  // Seconds between samples, asked for and reached, and between states.
  for (const auto& [every_s, usual_s, state_s, expires] :
       {std::tuple(1.0, 1.0, 0.0, 70), {1.0, 10.0, 0.0, 85}, {1.0, 10.0, 30.0, 135}, {60.0, 60.0, 30.0, 210}}) {
    Sample sample = sampleAt(kNoon);
    sample.states = {{.name = "gate", .state = "open", .counted = "open"}};
    const Json config =
        described({.usual_s = usual_s}, session("camera 0", every_s), sample, {}, {.mqtt = {.every = state_s}});
    for (const char* id : {"tokens", "night", "dark", "fogged", "state_gate"})
      EXPECT_EQ(config["components"][id]["expire_after"], expires) << id << ", " << every_s;
    for (const char* id : {"status", "event"}) EXPECT_FALSE(config["components"][id].contains("expire_after")) << id;
  }
  EXPECT_FALSE(described({}, session("camera 0", 0), sampleAt(kNoon))["components"]["tokens"].contains("expire_after"));
}

TEST(HomeAssistant, NamesInOtherLettersHaveIdsOfTheirOwn) {
  SessionInfo info = session();
  info.classes = {"汽车", "行人", "sky", "bay 1", "bay.1"};
  Sample sample = sampleAt(kNoon);
  sample.whole().areas = {{0, 0.2}, {1, 0.2}, {2, 0.2}, {3, 0.2}, {4, 0.2}};
  const Json components = described({}, info, sample)["components"];
  std::map<std::string, std::string> ids;  // by name
  for (const auto& [key, entity] : components.items())
    if (key.starts_with("area_")) ids[entity["name"]] = key;
  EXPECT_EQ(ids.size(), 5u) << "also of two that differ in signs";
  EXPECT_EQ(ids["sky"], "area_sky");
  sample.whole().areas = {{4, 1}};
  EXPECT_EQ(described({}, info, sample)["components"][ids["bay.1"]]["name"], "bay.1") << "also where it is the first";
}

TEST(HomeAssistant, FewClassesAreOnFromTheStart) {
  for (const auto& [classes, shown] : {std::pair(20, true), {21, false}}) {
    SessionInfo info = session();
    info.classes.resize(classes, "sky");
    Sample sample = sampleAt(kNoon);
    sample.whole().areas = {{1, 1}};
    EXPECT_EQ(described({}, info, sample)["components"]["area_car"].contains("enabled_by_default"), !shown) << classes;
  }
}

// A file of another program may hold any bytes. The writer of the store describes, and must go on.
TEST(HomeAssistant, NamesThatAreNoUtf8AreDescribed) {
  SessionInfo info = session();
  info.classes = {"caf\xe9"};
  Sample sample = sampleAt(kNoon);
  sample.whole().areas = {{0, 1}};
  sample.regions.push_back({.region = 1, .name = "b\xfcro", .areas = {{0, 1}}});
  sample.states = {{.name = "t\xfcr", .counted = "open"}};
  const CameraFacts facts{.alarms = {parseAlarm("caf\xe9>0.5")}};
  const std::string text = toLine(described(facts, info, sample)["components"]);
  EXPECT_THAT(text, HasSubstr(R"(area_fraction[\"caf\\\\xe9\"])")) << "a template reads two as one";
  for (const char* name : {R"(b\\xfcro)", R"(t\\xfcr)", R"(caf\\xe9>0.5)"}) EXPECT_THAT(text, HasSubstr(name));
}

// What a restart, or another model or file, leaves of the description before.
TEST(HomeAssistant, ClassesStayAndWhatIsGoneIsRemoved) {
  SessionInfo info = session();
  info.classes = {"sky", "car", "tree"};
  Sample sample = sampleAt(kNoon);
  sample.whole().areas = {{0, 0.5}, {1, 0.5}};
  sample.regions.push_back(regionOf(1, {1, 2, 3}, {}, {{2, 1}}, "lake"));
  sample.states = {{.name = "gate", .counted = "open"}};
  const CameraFacts facts{.alarms = {parseAlarm("car>20")}};
  const Json first = described(facts, info, sample, {}, {.mqtt = {.picture = true}});
  ASSERT_EQ(first["components"]["area_car"]["platform"], "sensor");
  ASSERT_TRUE(first["components"].contains("lake_area_tree"));

  sample.whole().areas = {{0, 1}};
  const Json restarted = described(facts, info, sample, first, {.mqtt = {.picture = true}});
  EXPECT_EQ(restarted, first) << "no car is there now";

  sample.regions.pop_back();
  sample.states.clear();
  info.classes = {"sky", "lorry"};
  const Json parts = described({}, info, sample, restarted)["components"];
  for (const auto& [key, platform] : {std::pair("area_car", "sensor"),
                                      {"lake_gcc", "sensor"},
                                      {"lake_area_tree", "sensor"},
                                      {"state_gate", "sensor"},
                                      {"alarm_car_20", "binary_sensor"},
                                      {"picture", "image"}})
    EXPECT_EQ(parts[key], Json({{"platform", platform}})) << key;
  EXPECT_GT(parts["area_sky"].size(), 1u);
  info.classes = {"sky", "car"};
  EXPECT_EQ(described({}, info, sample, {{"components", parts}})["components"]["area_car"], parts["area_car"])
      << "what was removed comes back when it occurs";
}

// All that Home Assistant is told of a camera with a region, a state, an alarm and a picture. Names, units and digits
// of numbers are those of the table of quantities; which of them are diagnostic is said here.
TEST(HomeAssistant, EveryKeyOfEveryEntity) {
  const std::set<std::string> flags = {"flagged", "dark", "overexposed", "blurred", "fogged"},
                              diagnostic = {"tokens",  "merged",    "inference_ms", "rows",      "agreement",
                                            "dropped", "sharpness", "contrast",     "saturated", "unchanged"};
  Json expected = Json::object();
  const auto add = [&](const std::string& id, const std::string& name, const std::string& platform, const Json& more) {
    expected[id] = {{"platform", platform},
                    {"unique_id", "mpm_yard_" + id},
                    {"name", name},
                    {"default_entity_id", platform + ".mpm_yard_" + id}};
    expected[id].update(more);
  };
  const auto addNumber = [&](const std::string& id, const std::string& name, const std::string& place,
                             const std::string& unit, int digits, bool shown, bool is_diagnostic) {
    Json more = {{"state_class", "measurement"},
                 {"suggested_display_precision", digits},
                 {"value_template", "{{ " + place + " }}"},
                 {"expire_after", 135}};
    if (!unit.empty()) more["unit_of_measurement"] = unit;
    if (!shown) more["enabled_by_default"] = false;
    if (is_diagnostic) more["entity_category"] = "diagnostic";
    add(id, name, "sensor", more);
  };
  for (const Quantity& one : quantities()) {
    const std::string key = one.key, name = one.label;
    if (flags.contains(key)) continue;
    addNumber(key, name, "value_json." + key, one.unit, one.digits, key == "brightness" || key == "tokens",
              diagnostic.contains(key));
    if (one.of_regions) {
      addNumber("lake_" + key, "lake " + name, "value_json.regions[\"lake\"]." + key, one.unit, one.digits,
                key == "gcc", diagnostic.contains(key));
    }
  }
  for (const auto& [key, name] : {std::pair<std::string, const char*>("flagged", "Left out"),
                                  {"dark", "Dark"},
                                  {"overexposed", "Overexposed"},
                                  {"blurred", "Blurred"},
                                  {"fogged", "Covered or fogged"}}) {
    Json more = {{"value_template", "{{ 'ON' if value_json." + key + " else 'OFF' }}"},
                 {"entity_category", "diagnostic"},
                 {"expire_after", 135}};
    if (key != "dark") more["device_class"] = "problem";
    if (key == "flagged") more["enabled_by_default"] = false;
    add(key, name, "binary_sensor", more);
  }
  for (const std::string name : {"sky", "car"}) {
    addNumber("area_" + name, name, "(value_json.area_fraction[\"" + name + "\"] | default(0)) * 100", "%", 1, true,
              false);
  }
  addNumber("lake_area_car", "lake car", "(value_json.regions[\"lake\"].area_fraction[\"car\"] | default(0)) * 100",
            "%", 1, false, false);
  add("state_gate", "gate", "sensor",
      {{"value_template", "{{ value_json.states[\"gate\"].counted }}"}, {"expire_after", 135}});
  add("night", "Night", "binary_sensor",
      {{"value_template", "{{ 'ON' if value_json.night else 'OFF' }}"}, {"expire_after", 135}});
  add("alarm_tokens_9", "Alarm tokens>9", "binary_sensor",
      {{"device_class", "problem"},
       {"state_topic", "mpm/yard/alarms"},
       {"value_template", "{{ 'ON' if value_json[\"tokens>9\"] else 'OFF' }}"}});
  add("status", "Problem", "binary_sensor",
      {{"device_class", "problem"},
       {"entity_category", "diagnostic"},
       {"state_topic", "mpm/yard/status"},
       {"value_template", "{{ 'ON' if value not in ['opening', 'online', 'ended'] else 'OFF' }}"},
       {"availability", Json::array()}});
  add("event", "Event", "event",
      {{"state_topic", "mpm/yard/event"},
       {"event_types",
        {"session", "source", "model", "storage", "clock", "alarm", "alarm ended", "view", "reuse", "quality",
         "command", "state", "heartbeat", "tell", "summary", "damaged"}},
       {"value_template",
        "{{ {'event_type': value_json.event, 'severity': value_json.severity, 'message': value_json.message} | to_json "
        "}}"}});
  add("picture", "Picture", "image", {{"image_topic", "mpm/yard/picture"}, {"content_type", "image/jpeg"}});

  SessionInfo info = session();
  info.classes = {"sky", "car", "tree"};
  Sample sample = sampleAt(kNoon);
  sample.whole().areas = {{0, 0.5}, {1, 0.5}};
  sample.regions.push_back(regionOf(1, {1, 2, 3}, {}, {{1, 1}}, "lake"));
  sample.states = {{.name = "gate", .counted = "open"}};
  const Json config = described({.alarms = {parseAlarm("tokens>9")}}, info, sample, {}, {.mqtt = {.picture = true}});
  const auto sorted = [](const Json& json) { return nlohmann::json::parse(json.dump()); };  // by their keys
  for (const auto& [id, entity] : config["components"].items()) {
    EXPECT_TRUE(expected.contains(id)) << id;
    EXPECT_EQ(sorted(entity), sorted(expected.value(id, Json()))) << id;
    expected.erase(id);
  }
  EXPECT_TRUE(expected.empty()) << expected;
}

TEST(HomeAssistant, ADeviceHasItsTitleAndAPageThatOthersReach) {
  const auto config = [](const std::string& address, const std::string& url = "", const std::string& title = "") {
    return described({.title = title}, session(), sampleAt(kNoon), {},
                     {.mqtt = {.url = url}, .page = {.address = address}});
  };
  EXPECT_EQ(config("10.0.0.9:80")["device"]["configuration_url"], "http://10.0.0.9:80/");
  EXPECT_EQ(config("0.0.0.0:80", "https://cameras.home/")["device"]["configuration_url"], "https://cameras.home/");
  for (const char* address : {"", "127.0.0.1:0", "0.0.0.0:80", "[::]:80"})
    EXPECT_FALSE(config(address)["device"].contains("configuration_url")) << address;
  EXPECT_EQ(config("")["device"]["name"], "yard");
  EXPECT_EQ(config("", "", "Vorgarten")["device"]["name"], "Vorgarten");
}

TEST(Teller, AddressesAndTopics) {
  const std::tuple<const char*, const char*, int> good[] = {
      {"broker", "broker", 0}, {"broker:1", "broker", 1}, {"[::1]:65535", "::1", 65535}, {"[::1]", "::1", 0}};
  for (const auto& [text, host, port] : good) {
    const HostPort address = parseAddress(text);
    EXPECT_EQ(std::pair(address.host, address.port), std::pair(std::string(host), port));
  }
  for (const char* text : {"", ":1883", "a b", "me@broker", "broker:", "broker:0", "broker:65536", "[::1", "[]:1",
                           "[::1]x80", "broker:8x"})
    EXPECT_MPM_ERROR(parseAddress(text), "is no address such as");
  EXPECT_EQ(topicName("Yard/9 _-+#"), "Yard_9__-__");
  EXPECT_EQ(baseOf({{"state_topic", "mpm/yard/state"}}), "mpm/yard");
  for (const char* text : {"", "3", "[]", "{}", R"({"state_topic": 3})", R"({"state_topic": "mpm/yard"})"})
    EXPECT_EQ(baseOf(Json::parse(text, nullptr, false)), "") << text;
}

// How often a message is sent before it is given up; 0: until it is taken.
TEST(Teller, AMessageIsRefusedByTheStatusOfTheAnswer) {
  const auto refusals = [](long status) {
    try {
      throwUnlessTaken(status);
    } catch (const Refused& refused) {
      return refused.refusals;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("HTTP status " + std::to_string(status)));
      return 0;
    }
    return -1;
  };
  for (const long taken : {200, 204, 299}) EXPECT_EQ(refusals(taken), -1) << taken;
  for (const long wrong : {199, 300, 400, 405, 413, 422, 499}) EXPECT_EQ(refusals(wrong), 5) << wrong;
  for (const long fails : {500, 501, 505}) EXPECT_EQ(refusals(fails), 120) << fails;
  for (const long any : {301, 302, 303, 307, 308, 401, 403, 404, 407, 408, 425, 429, 502, 503, 504})
    EXPECT_EQ(refusals(any), 0) << any;
}

TEST_F(Secret, IsTheFirstLineOfAFileOfItsOwner) {
  const auto secret = [&](const std::string& text, int mode) {
    std::ofstream(path_) << text;
    fs::permissions(path_, static_cast<fs::perms>(mode));
    return readSecret(path_);
  };
  EXPECT_EQ(secret("geheim\r\nmore\n", 0640), "geheim");
  EXPECT_EQ(secret("geheim", 0600), "geheim");
  EXPECT_MPM_ERROR(secret("geheim", 0604), "can be read by every user");
  EXPECT_MPM_ERROR(secret("\r\ngeheim", 0600), "has no first line");
}

TEST(ServiceNotify, SpeaksToSystemd) {
  const mpm::test::TemporaryFolder folder;
  for (const std::string& path : {folder / "notify", "@mpm_notify_test_" + std::to_string(::getpid())}) {
    const mpm::test::NotifySocket listener(path);
    ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "60000000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
    ServiceNotify service;
    service.ready();
    EXPECT_EQ(listener.next(), "READY=1");
    service.status("12 fps\ntokens 377");
    EXPECT_EQ(listener.next(), "STATUS=12 fps tokens 377");
    service.status("12 fps\ntokens 377");
    EXPECT_EQ(listener.next(), "") << "nothing new";
    service.alive();
    EXPECT_EQ(listener.next(), "WATCHDOG=1");
    service.alive();
    EXPECT_EQ(listener.next(), "") << "half an interval has not passed";
    service.stopping();
    EXPECT_EQ(listener.next(), "STOPPING=1");
    ::setenv("WATCHDOG_PID", "1", 1);
    ServiceNotify not_watched;
    not_watched.alive();
    EXPECT_EQ(listener.next(), "") << "the watchdog is for another process";
  }
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

TEST(ServiceNotify, AListenerThatIsGoneDisturbsNothing) {
  const mpm::test::TemporaryFolder folder;
  ::setenv("NOTIFY_SOCKET", (folder / "none").c_str(), 1);
  ServiceNotify service;
  ::unsetenv("NOTIFY_SOCKET");
  service.ready();
  service.status("x");
}

}  // namespace
}  // namespace mpm::monitor::test
