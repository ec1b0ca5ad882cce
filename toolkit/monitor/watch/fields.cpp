// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/size_text.h"
#include "base/visible_text.h"
#include "monitor/event_command.h"
#include "monitor/statistics/alarms.h"
#include "monitor/statistics/day_night.h"
#include "monitor/statistics/picture_quality.h"
#include "monitor/tell/channel.h"
#include "monitor/watch/camera_config.h"
#include "mpm/options.hpp"
#include "mpm/reuse.hpp"
#include "vision/sources/source_spec.h"
#include "vision/times/picture_times.h"

// Marks a text that the app translates (gui/i18n/update.cmake).
#define MPM_SAID(context, text) text

namespace mpm::monitor {
namespace {

// A check by a function that returns what it read.
template <auto Read>
void readBy(const std::string& text) {
  (void)Read(text);
}

constexpr std::size_t kMaxName = 64;

bool isOfName(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; }

void checkName(const std::string& text) {
  if (text.size() > kMaxName || !std::ranges::all_of(text, isOfName))
    throw Error("'" + visibleText(text) + "' is no name of a camera: at most 64 of a-z, 0-9, - and _");
}

void checkTimes(const std::string& text) {
  if (text != "none") (void)vision::parseTimes(text);
}

void checkZone(const std::string& text) { const vision::CameraClock checked(text); }

void checkStart(const std::string& text) {
  if (!vision::readTime(text)) throw Error("'" + visibleText(text) + "' is no time such as 2013-07-08T05:54:13+02:00");
}

// Of the letters of a topic: one level, no wildcard.
void checkTopic(const std::string& text) {
  if (topicName(text) != text) throw Error("'" + visibleText(text) + "' has other letters than a-z, A-Z, 0-9, _ and -");
}

void checkWebUrl(const std::string& text) {
  if (!text.starts_with("http://") && !text.starts_with("https://"))
    throw Error("'" + visibleText(text) + "' does not begin with https:// or http://");
  if (text.find(vision::kHiddenCredential) != std::string::npos)
    throw Error("its password was not written down: put the whole URL into a file and name it by 'url-file'");
}

// The words of the choices that the app shows.
[[maybe_unused]] constexpr const char* kChoices[] = {
    MPM_SAID("camera fields", "none"), MPM_SAID("camera fields", "sun"), MPM_SAID("camera fields", "brightness"),
    MPM_SAID("camera fields", "hours")};

// The field without an option of `mpm monitor`.
CameraField inFile(CameraField field) {
  field.option = false;
  return field;
}

constexpr FieldLimits kNoLimits;  // of a text
constexpr FieldLimits from(double min, double max) { return {min, max}; }

}  // namespace

const std::vector<CameraField>& cameraFields() {
  using enum FieldPath;
  using W = CameraConfig;
  static const std::vector<CameraField> fields = {
      {"source", &W::source, kOptionsGroup, "SOURCE",
       "Camera (0, /dev/video0), URL (rtsp://, http://), pipeline\n(gst:... ! appsink), video, folder of images, or "
       "the built-in\nscene (demo:). Or set it as MPM_SOURCE in the environment, where\nother users cannot see a "
       "password",
       ""},
      {"name", &W::name, kOptionsGroup, "NAME", "How messages, pages and topics name this camera: a-z, 0-9, - and _",
       "made from the source", kNoLimits, checkName},
      inFile({"title", &W::title, kOptionsGroup, "TEXT",
              "How people call this camera: in Home Assistant, on pages and in the app", "the name"}),
      {"model", &W::model, kOptionsGroup, "M.onnx", "A plain ViT as ONNX, converted in memory, or a converted one",
       "MPM_MODEL of the environment, else the default model ('mpm info' names it)", kNoLimits, nullptr, kFile},
      {"db", &W::db, kOptionsGroup, "FILE", "The SQLite database to write; an existing one is continued", "", kNoLimits,
       nullptr, kFile},
      {"every", &W::every, kOptionsGroup, "SECONDS", "At most one sample in this time; 0: every frame",
       "1.\nOf pictures by the times when they were taken, default: 0", from(0, 86400)},
      inFile({"timeout", &W::timeout, kOptionsGroup, "SECONDS",
              "Reopen a camera or URL that gives no frame for this long", "10", from(0.01, 1e6)}),
      {"refine", &W::refine, kOptionsGroup, "none|guided",
       "guided: the edges of classes follow those of the picture, by a guided filter of the class probabilities "
       "(docs/refine.md); none: they are as coarse as the patches",
       "what the model says, else none"},
      {"reduce", &W::reduce, kMergingGroup, "SPEC",
       "How tokens merge: none, mpm:blocks=2,5, gradual:blocks=0-7:count=48, gradual:similarity=0.95, tome:count=36, "
       "algm:threshold=0.88, cts:policy=FILE.onnx:share=0.4. Blocks count from 0. docs/reduction.md has all keys",
       "that of the model's JSON file, else mpm:blocks=2,5 for a plain ViT, else what the model was converted with",
       kNoLimits, readBy<parseReduction>},
      {"input-size", &W::input_size, kNetworkGroup, "HxW",
       "Network input in pixels, height x width, multiples of the patch. The position embedding is resized",
       "the model's own", kNoLimits, readBy<parseSize>},
      {"precision", &W::precision, kNetworkGroup, "fp32|bf16|tf32|fp16|int8",
       "Arithmetic of the matrix products. bf16 needs a CPU that supports it, tf32 needs a GPU, fp16 a GPU or an Arm "
       "CPU such as the Cortex-A76. int8 is for CPUs, and no faster than fp32 on Arm without SDOT, such as the "
       "Cortex-A72",
       "fp32; of a converted model its own"},
      {"device", &W::device, kNetworkGroup, "D",
       "Where the net runs: cpu, cuda or cuda:1 (an NVIDIA GPU by its index), auto (the first GPU if there is one, "
       "else the CPU). 'mpm info' lists the GPUs",
       "cpu", kNoLimits, readBy<parseDeviceSpec>},
      {"threads", &W::threads, kNetworkGroup, "N", "CPU threads of the network", "all", from(1, 4096)},
      {"reuse", &W::reuse, kNetworkGroup, "SPEC",
       "For frames of a fixed camera: compute only what changed since earlier frames. auto takes the threshold from "
       "the noise of the camera; threshold=12 is in grey levels; agreement=99 steers it, in percent; refresh=600 is "
       "the seconds between frames that are computed whole; flush=0.7 the share of changed patches that makes one. "
       "Several keys are joined by ':'. See docs/reuse.md",
       "auto for a model that does not merge, else off", kNoLimits, readBy<parseReuse>},
      inFile({"min-score", &W::min_score, kNetworkGroup, "0..1",
              "For the tasks panoptic, instance and boxes: leave out segments with a lower score",
              "0.8; of a model with boxes 0.5", from(0, 1)}),
      inFile({"min-overlap", &W::min_overlap, kNetworkGroup, "0..1",
              "For the task panoptic: keep a segment if the pixels where its product of class and mask is the largest, "
              "in its mask or not, are more than this share of the number of pixels of its mask",
              "0.8", from(0, 1)}),
      {"times", &W::times, kTimesGroup, "auto|exif|name|list:FILE|modified",
       "When pictures were taken. auto: their EXIF, else their names, such as 20130708_055413; list: a CSV file of "
       "names and times, and auto for pictures that it lacks; modified: the dates of the files",
       "that of the database, else auto", kNoLimits, checkTimes, kList},
      {"time-zone", &W::time_zone, kTimesGroup, "ZONE",
       MPM_SAID("camera fields",
                "The zone of times without an offset: +01:00 all year, or a name such as Europe/Paris, with its summer "
                "time"),
       "that of the database, else of this machine", kNoLimits, checkZone},
      {"start", &W::start, kTimesGroup, "TIME", "When the first frame of a video was taken: 2013-07-08T05:54:13Z", "",
       kNoLimits, checkStart},
      {"follow", &W::follow, kTimesGroup, "true", "Do not end with the pictures of a folder: wait for new ones", ""},
      {"night", &W::night, kDayNightGroup, "none|sun|brightness|hours",
       MPM_SAID("camera fields",
                "By what night is told from day: the sun at the place of the camera, the brightness of the picture, or "
                "the clock"),
       "what the other options say", kNoLimits, nullptr, kNone, MPM_SAID("camera fields", "Night by")},
      {"lat", &W::lat, kDayNightGroup, "DEGREES", MPM_SAID("camera fields", "Place of the camera, degrees north"), "",
       from(-90, 90), nullptr, kNone, MPM_SAID("camera fields", "Latitude"), 0, 4},
      {"lon", &W::lon, kDayNightGroup, "DEGREES", MPM_SAID("camera fields", "Place of the camera, degrees east"), "",
       from(-180, 180), nullptr, kNone, MPM_SAID("camera fields", "Longitude"), 0, 4},
      inFile({"night-elevation", &W::night_elevation, kDayNightGroup, "DEGREES",
              MPM_SAID("camera fields", "By the sun: night while it is lower than this above the horizon"), "-6",
              from(-18, 10), nullptr, kNone, MPM_SAID("camera fields", "Night when the sun is below"),
              NightBySun().night_below, 1}),
      {"night-brightness", &W::night_brightness, kDayNightGroup, "0..255",
       MPM_SAID("camera fields", "By the brightness: night below this mean grey value"), "40", from(0, 255), nullptr,
       kNone, MPM_SAID("camera fields", "Night below the brightness"), NightByBrightness().night_below, 1},
      {"day-brightness", &W::day_brightness, kDayNightGroup, "0..255",
       MPM_SAID("camera fields", "By the brightness: day above this mean grey value"),
       "1.3 times that of the night, and 5 more", from(0, 255), nullptr, kNone,
       MPM_SAID("camera fields", "Day above the brightness"), NightByBrightness().day_above, 1},
      {"night-hours", &W::night_hours, kDayNightGroup, "FROM-TO",
       MPM_SAID("camera fields", "By the clock of the camera: 21:00-06:30"), "", kNoLimits, readBy<parseNightHours>,
       kNone, MPM_SAID("camera fields", "Night hours")},
      {"regions", &W::regions, kRegionsGroup, "FILE",
       "Measure these parts of the picture: a file of ours, LabelMe,\nCOCO or PhenoCam (docs/regions.md). 'none': "
       "none",
       "those\nthat the database has for this source", kNoLimits, nullptr, kFile},
      {"states", &W::states, kStatesGroup, "FILE ...",
       "Read states such as open and closed: files of mpm teach\n--states (docs/states.md)", "", kNoLimits, nullptr,
       kFile},
      {"state-after", &W::state_after, kStatesGroup, "N",
       "How many sure results in turn must agree before a state counts.\nOf samples a minute or more apart each sure "
       "one counts",
       "3", from(1, 1000)},
      {"keep", &W::keep, kKeepGroup, "DAYS",
       MPM_SAID("camera fields",
                "Delete samples, events and snapshots of this source after so many days; means of hours stay"),
       "never", from(0, 1e6), nullptr, kNone, MPM_SAID("camera fields", "Forget samples older than"), 365},
      inFile(
          {"max-size", &W::max_size, kKeepGroup, "MB",
           MPM_SAID("camera fields", "Delete the oldest samples, of each camera in it, when the database grows larger"),
           "", from(0, 1e9), nullptr, kNone, MPM_SAID("camera fields", "Forget the oldest samples above"), 2000}),
      {"snapshots", &W::snapshots, kKeepGroup, "DIR",
       "Write the frame, its overlay, segments or depth, and a JSON file\nthere", "", kNoLimits, nullptr, kFile},
      {"snapshot-every", &W::snapshot_every, kKeepGroup, "MINUTES",
       MPM_SAID("camera fields", "How often a picture is written"), "60", from(0, 1e6), nullptr, kNone,
       MPM_SAID("camera fields", "Time-lapse: one picture every"), 15, 1},
      inFile({"merge-maps", &W::merge_maps, kKeepGroup, "true",
              MPM_SAID("camera fields", "Write the merge map of each snapshot as a picture, too"), "", kNoLimits,
              nullptr, kNone, MPM_SAID("camera fields", "With a picture of the merge map")}),
      inFile({"keep-snapshots", &W::keep_snapshots, kKeepGroup, "DAYS",
              MPM_SAID("camera fields", "Delete snapshots of this source after so many days"), "as 'keep'",
              from(0, 1e6), nullptr, kNone, MPM_SAID("camera fields", "Forget pictures older than"), 90}),
      inFile(
          {"min-free", &W::min_free, kKeepGroup, "MB",
           MPM_SAID("camera fields", "Delete the oldest snapshots of this source while their disk has less free space"),
           "0, none", from(0, 1e9), nullptr, kNone,
           MPM_SAID("camera fields", "Forget the oldest pictures to leave free"), 500}),
      {"hide", &W::hide, kPrivacyGroup, "FILE",
       "Black out these parts in every picture that is written, sent or shown: a file of the same form as for "
       "--regions. 'none': none",
       "those that the database has for this source", kNoLimits, nullptr, kFile},
      {"blur", &W::blur, kPrivacyGroup, "CLASS ...",
       "Blur, in every picture that is written, sent or shown, what the model takes for one of these classes, such as "
       "person or car. What it misses stays visible (docs/monitor.md). 'none': none",
       "those that the database has for this source"},
      {"alarm", &W::alarm, kAlarmsGroup, "SPEC ...",
       MPM_SAID(
           "camera fields",
           "Ring when a number leaves its limit: 'car>20', percent of the picture; 'tree:gcc<0.35', "
           "'lake:ice>20', of a region; 'tokens>900'; 'no-frame>60', seconds; or when a state begins: 'gate=open'"),
       "", kNoLimits, readBy<parseAlarm>, kNone, MPM_SAID("camera fields", "Alarms, one a line")},
      {"alarm-minutes", &W::alarm_minutes, kAlarmsGroup, "MINUTES",
       MPM_SAID("camera fields", "How long a number must stay beyond its limit before its alarm rings"), "1",
       from(0, 1e6), nullptr, kNone, MPM_SAID("camera fields", "They ring after"), 1, 1},
      {"quality", &W::quality, kAlarmsGroup, "SPEC",
       MPM_SAID("camera fields",
                "Which pictures are flagged, so that 'mpm report' leaves them out. dark=25: less than 1 % of the "
                "pixels exceed this grey level; white=50: more percent of them are white; contrast=3, sharp=0: they "
                "have less. pictures=5: so many flagged ones in a row are an event. Several keys are joined by ':'. "
                "See docs/monitor.md"),
       "auto", kNoLimits, readBy<parseQuality>, kNone, MPM_SAID("camera fields", "Bad pictures")},
      {"on-event", &W::on_event, kAlarmsGroup, "COMMAND",
       MPM_SAID("camera fields",
                "Run this program for each event: a program and its arguments, no shell. The facts are in "
                "MPM_EVENT_KIND, _SEVERITY, _MESSAGE, _TIME and _SOURCE, and as JSON on its standard input. See "
                "docs/monitor.md"),
       "", kNoLimits, readBy<parseCommand>, kNone, MPM_SAID("camera fields", "Run for each event")},
      inFile({"summary", &W::summary, kAlarmsGroup, "HOUR",
              "Sum up the day before, each day at this hour of the local time: an event with means by day and by "
              "night, gaps "
              "and alarms (docs/tell.md)",
              "none", from(0, 23)})};
  return fields;
}

const std::vector<TableField<Mqtt>>& fieldsOf(const Mqtt&) {
  using enum FieldPath;
  static const std::vector<TableField<Mqtt>> fields = {
      {"address", &Mqtt::address, "mqtt", "HOST:PORT",
       "The broker that is told of samples and events (docs/tell.md). Port by default: 1883, with TLS 8883", "",
       kNoLimits, readBy<parseAddress>},
      {"prefix", &Mqtt::prefix, "mqtt", "NAME", "What the topics of this program begin with",
       "mpm/HOST, by the name of this machine", kNoLimits, checkTopic},
      {"user", &Mqtt::user, "mqtt", "NAME", "The user at the broker", ""},
      {"password-file", &Mqtt::password_file, "mqtt", "FILE", "The password of this user is the first line of it", "",
       kNoLimits, nullptr, kFile},
      {"ca-file", &Mqtt::ca_file, "mqtt", "FILE",
       "TLS: the certificate (PEM) that signed that of the broker, which is always verified", "", kNoLimits, nullptr,
       kFile},
      {"tls", &Mqtt::tls, "mqtt", "true", "TLS with the certificate authorities of this machine", ""},
      {"discovery", &Mqtt::discovery, "mqtt", "NAME",
       "What the topics of Home Assistant's discovery begin with; none: no discovery", "homeassistant", kNoLimits,
       checkTopic},
      {"url", &Mqtt::url, "mqtt", "URL", "Where Home Assistant's link of each camera leads to",
       "the address of [page], unless that is 0.0.0.0, [::] or has port 0", kNoLimits, checkWebUrl},
      {"every", &Mqtt::every, "mqtt", "SECONDS",
       "Send the state of a camera at most once in this time; at once where night, a flag or a state changes", "30",
       from(0, 86400)},
      {"picture", &Mqtt::picture, "mqtt", "true", "Send the last overlay of each camera too", ""}};
  return fields;
}

const std::vector<TableField<Webhook>>& fieldsOf(const Webhook&) {
  using enum FieldPath;
  static const std::vector<TableField<Webhook>> fields = {
      {"url", &Webhook::url, "webhook", "URL", "POST each event there, as JSON (docs/tell.md)", "", kNoLimits,
       checkWebUrl},
      {"url-file", &Webhook::url_file, "webhook", "FILE",
       "The same, for a URL with a password or token: it is the first line of this file", "", kNoLimits, nullptr,
       kFile},
      {"token-file", &Webhook::token_file, "webhook", "FILE",
       "The first line of this file is sent as 'Authorization: Bearer ...'", "", kNoLimits, nullptr, kFile},
      {"ca-file", &Webhook::ca_file, "webhook", "FILE",
       "The certificate (PEM) that signed that of the server, which is always verified",
       "the certificate authorities of this machine", kNoLimits, nullptr, kFile},
      {"picture", &Webhook::picture, "webhook", "true", "Add the last overlay of the camera, as base64", ""}};
  return fields;
}

const std::vector<TableField<WebPage>>& fieldsOf(const WebPage&) {
  static const std::vector<TableField<WebPage>> fields = {
      {"address", &WebPage::address, "page", "IP:PORT",
       "Show the cameras there while they are watched, as 'mpm serve' does (docs/page.md). An address that other "
       "machines reach needs token-file or proxy",
       ""},
      {"token-file", &WebPage::token_file, "page", "FILE",
       "Show cameras only to those who know the first line of this file, 16 characters or more", "", kNoLimits, nullptr,
       FieldPath::kFile},
      {"proxy", &WebPage::proxy, "page", "IP",
       "Show cameras without a token to this address: a proxy that lets in only those who may see them, such as that "
       "of Home Assistant",
       ""}};
  return fields;
}

const CameraField& cameraField(const std::string& key) {
  const auto& all = cameraFields();
  return *std::ranges::find_if(all, [&](const CameraField& field) { return field.key == key; });
}

std::string cameraName(const CameraConfig& config) {
  if (!config.name.empty()) return config.name;
  const vision::SourceSpec source = vision::parseSourceSpec(config.source);
  std::string text = source.name();
  using enum vision::SourceKind;
  if (source.kind == kUrl)
    text.erase(0, std::max(text.find("://") + 3, text.find('@') + 1));
  else if (source.kind != kDemo && source.kind != kPipeline)
    text.erase(0, text.find_last_of('/') + 1);
  std::string name;
  for (const char c : text) {
    const char lower = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (isOfName(lower))
      name += lower;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  name.resize(std::min(name.size(), kMaxName));
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "camera" : name;
}

void take(CameraConfig& config, const CameraConfig& more) {
  static const CameraConfig none;
  for (const CameraField& field : cameraFields()) {
    std::visit(
        [&](auto member) {
          if (more.*member != none.*member) config.*member = more.*member;
        },
        field.member);
  }
}

}  // namespace mpm::monitor
