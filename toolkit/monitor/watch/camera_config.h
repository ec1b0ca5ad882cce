// SPDX-License-Identifier: Apache-2.0
// One notation for what is watched, how, and who is told: the options of `mpm monitor`, a watch file, the dialogs of
// the app.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "base/number_text.h"
#include "base/visible_text.h"
#include "mpm/error.hpp"

namespace mpm::monitor {

/// The settings of one camera: a table [[camera]] of a watch file. An empty text or list, a number without
/// value and a flag that is off mean the default. Units and ranges: cameraFields(). every, timeout: s. keep,
/// keep_snapshots: days. snapshot_every, alarm_minutes: minutes. max_size, min_free: MB. summary: an hour of the day.
/// lat, lon, night_elevation: degrees. night_brightness, day_brightness: 0..255. min_score, min_overlap: 0..1.
struct CameraConfig {
  std::string name{}, title{}, source{}, model{}, reduce{}, refine{}, reuse{}, input_size{}, precision{}, device{},
      db{};
  std::optional<int> threads{};
  std::optional<double> min_score{}, min_overlap{}, every{}, timeout{};
  std::string times{}, time_zone{}, start{};
  bool follow = false;
  std::string night{}, night_hours{};
  std::optional<double> lat{}, lon{}, night_elevation{}, night_brightness{}, day_brightness{};
  std::string regions{};
  std::vector<std::string> states{};
  std::optional<int> state_after{};
  std::string snapshots{};
  bool merge_maps = false;
  std::string hide{};
  std::vector<std::string> blur{};
  std::optional<double> keep{}, max_size{}, snapshot_every{}, keep_snapshots{}, min_free{};
  std::vector<std::string> alarm{};
  std::optional<double> alarm_minutes{};
  std::string quality{}, on_event{};
  std::optional<int> summary{};

  friend bool operator==(const CameraConfig&, const CameraConfig&) = default;
};

/// The broker that is told of all cameras of the file: the table [mqtt] of a watch file.
struct Mqtt {
  std::string address{}, prefix{}, user{}, password_file{}, ca_file{};
  bool tls = false;
  std::string discovery{}, url{};
  std::optional<double> every{};
  bool picture = false;

  friend bool operator==(const Mqtt&, const Mqtt&) = default;
};

/// The server that gets each event of all cameras of the file: the table [webhook] of a watch file.
struct Webhook {
  std::string url{}, url_file{}, token_file{}, ca_file{};
  bool picture = false;

  friend bool operator==(const Webhook&, const Webhook&) = default;
};

/// The page that shows all cameras of the file while they are watched: the table [page] of a watch file.
struct WebPage {
  std::string address{}, token_file{}, proxy{};

  friend bool operator==(const WebPage&, const WebPage&) = default;
};

// Headings of the help and of a watch file.
inline constexpr const char *kOptionsGroup = "Options", *kMergingGroup = "How tokens merge",
                            *kNetworkGroup = "Network and computer", *kTimesGroup = "Times of pictures",
                            *kDayNightGroup = "Day and night", *kRegionsGroup = "Regions", *kStatesGroup = "States",
                            *kKeepGroup = "What is kept", *kPrivacyGroup = "Privacy", *kAlarmsGroup = "Alarms";

/// A path: a relative one counts from the folder of the watch file.
enum class FieldPath { kNone, kFile, kList };

/// The range of a number, with both ends.
struct FieldLimits {
  double min = 0, max = 0;
};

/// One field of a table of a watch file. Its words are written here and nowhere else.
template <typename Table>
struct TableField {
  using Whole = std::optional<int> Table::*;
  using Member = std::variant<std::string Table::*, std::optional<double> Table::*, Whole,
                              std::vector<std::string> Table::*, bool Table::*>;

  std::string key;  ///< in a watch file; `option` of `mpm monitor` is "--key", or the argument SOURCE
  Member member;
  const char* group;     ///< the heading of the help; of a table other than a camera: its name in the file
  const char* unit;      ///< what the help calls the value: "SECONDS"; of a choice all its words: "none|guided"
  const char* words;     ///< what it says: a sentence or two, without its default
  const char* usual;     ///< the default; empty: there is none to speak of
  FieldLimits limits{};  ///< of a number
  void (*check)(const std::string& text) = nullptr;  ///< of each text; throws mpm::Error
  FieldPath path = FieldPath::kNone;
  const char* label = "";  ///< in a dialog of the app; empty: it is asked elsewhere
  double start = 0;        ///< what the app proposes for a number
  int digits = 0;          ///< of it, after the point
  bool option = true;      ///< `mpm monitor` has it as an option; false: it is asked for rarely, in a file or the app

  /// `words` with its default, for a help text.
  std::string help() const { return words + (*usual ? std::string(". Default: ") + usual : ""); }
  /// Throws mpm::Error for a text that is none of the choices or that `check` refuses.
  void validate(const std::string& text) const {
    if (check) check(text);
    const auto known = choices();
    if (!known.empty() && std::ranges::find(known, text) == known.end())
      throw Error("'" + visibleText(text) + "' is not one of " + unit);
  }
  /// Throws mpm::Error for a number out of range, and for a part of one where whole ones count.
  void validate(double number) const {
    const std::string problem = rangeProblem(number, limits.min, limits.max);
    if (!problem.empty()) throw Error(numberText(number) + problem);
    if (std::holds_alternative<Whole>(member) && number != std::floor(number))
      throw Error(numberText(number) + " is not a whole number");
  }
  /// The words of a choice; empty: any text.
  std::vector<std::string> choices() const {
    std::vector<std::string> result;
    std::istringstream all(check || std::string(unit).find('|') == std::string::npos ? "" : unit);
    for (std::string word; std::getline(all, word, '|');) result.push_back(word);
    return result;
  }
};
using CameraField = TableField<CameraConfig>;

/// All fields of a table, in the order of a watch file.
const std::vector<CameraField>& cameraFields();
inline const std::vector<CameraField>& fieldsOf(const CameraConfig&) { return cameraFields(); }
const std::vector<TableField<Mqtt>>& fieldsOf(const Mqtt&);
const std::vector<TableField<Webhook>>& fieldsOf(const Webhook&);
const std::vector<TableField<WebPage>>& fieldsOf(const WebPage&);
/// The field of this key, which must exist.
const CameraField& cameraField(const std::string& key);

/// Takes over what `more` says, field by field.
void take(CameraConfig& config, const CameraConfig& more);

/// An error in what is said of a camera, with the key of the field.
class CameraConfigError : public Error {
 public:
  /// `of_file`: what is wrong is in the file that the field names.
  CameraConfigError(const std::string& field, const std::string& why, bool of_file = false)
      : Error(why), key(field), in_file(of_file) {}
  std::string key;
  bool in_file;
};

/// CameraConfig::name, else one made from the source: "/dev/video0" gives "video0", "rtsp://yard/1" gives "yard-1". It
/// matches [a-z0-9_-]{1,64}: topics, pages and metrics name the camera by it.
std::string cameraName(const CameraConfig& config);

/// What a watch file says of a camera, and where.
struct WrittenCamera {
  CameraConfig config{};
  std::map<std::string, std::string> places{};  ///< by key: "'yard.toml', line 3: every"
};

/// The tables of a watch file that are about all its cameras.
struct FileTables {
  Mqtt mqtt{};
  Webhook webhook{};
  WebPage page{};

  friend bool operator==(const FileTables&, const FileTables&) = default;
};

/// A watch file: its cameras, at least one, and what is about all of them.
struct WatchFile {
  std::vector<WrittenCamera> cameras{};
  FileTables tables{};
};

/// Throws mpm::Error, which names file, line and key, for what is no TOML, an unknown table or key, a value of another
/// type or out of range, a text that its field does not understand, and two cameras of one name.
WatchFile readWatchFile(const std::string& path);

/// The text of a watch file: the fields that say something. `explained`: the others follow as comments, each with its
/// words. Throws mpm::Error for a text that is not UTF-8.
std::string watchText(const std::vector<CameraConfig>& cameras, const FileTables& tables = {}, bool explained = false);

}  // namespace mpm::monitor
