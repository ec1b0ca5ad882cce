// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "charts/draw_chart.h"
#include "evaluation/confusion_matrix.h"
#include "monitor/statistics/alarms.h"
#include "monitor/store/sample.h"
#include "vision/camera_clock.h"
#include "vision/regions/region.h"
#include "vision/time.h"

namespace mpm::monitor {

/// What samples share that are averaged together. Two measurements with equal values are of one series, unless pictures
/// are measured again.
struct Measuring {
  std::string model_digest{};  ///< modelDigest()
  std::string reduce{};        ///< the model's Reduction as text
  std::string precision{};     ///< of its products: toString(Precision)
  /// What else was asked of the model, as the options are written: "input-size=64x32:refine=guided" (settingsOf()).
  /// Empty: nothing, or an older program wrote it, which did not know.
  std::string settings{};
  int tokens = 0;                      ///< N
  std::vector<std::string> classes{};  ///< names, by index
  friend bool operator==(const Measuring&, const Measuring&) = default;
};

/// How a source is measured from some moment on.
struct SessionInfo : Measuring {
  std::string source{};  ///< vision::SourceSpec::name()
  std::string model{};   ///< path
  std::string model_name{};
  /// How the model did on pictures that it was not trained on (ModelFacts::cross_validation); nullopt: not known.
  std::optional<evaluation::ConfusionMatrix> cross_validation{};
  double every_s = 1;                             ///< how often a sample was meant to come; 0: no fixed time
  std::optional<double> latitude{}, longitude{};  ///< degrees north and east
  std::string time_zone{};                        ///< CameraClock::zone() of an archive; empty: not known
  /// By what the pictures of an archive have their times: vision::toString(TimeOptions), with the absolute path of a
  /// list. Empty: not known.
  std::string times{};
  std::optional<std::string> night_rule{};     ///< toText(NightRule) by which samples are judged; nullopt: not known
  std::map<std::string, std::string> heads{};  ///< StateOptions::digests() of what reads its states
};

struct SessionRecord : SessionInfo {
  std::int64_t id = 0, series = 0;
  UnixMs started = 0;
  std::optional<UnixMs> ended;  ///< nullopt: running, or it was killed and no session of its source began since
};

/// The samples of a source that may be averaged together. Each aggregate is of one series.
struct SeriesRecord : Measuring {
  std::int64_t id = 0;
  int number = 0;  ///< of those of its source, from 1
  std::string model{}, model_name{};
  std::optional<evaluation::ConfusionMatrix> cross_validation{};
};

struct SourceRecord {
  std::int64_t id = 0;
  std::string name;  ///< without credentials
  /// Of what is kept, in any resolution. A clock that was wrong left samples of before 2020 or of the future: these
  /// are not the first or the last, unless all are such. Pictures of an archive and scenes have times of their own.
  /// Both are 0 where nothing is kept.
  UnixMs first = 0, last = 0;
  bool empty() const { return last == 0; }
  /// Times from `end` on, such as that of a picture, are not believed: max(last + 1, now + 1 minute); with own_clock
  /// last + 1.
  UnixMs end = 0;
  bool archive = false;     ///< its times are those of pictures, however old: nothing of it expires
  bool own_clock = false;   ///< an archive or a scene: its times do not say how long ago something was
  std::string time_zone{};  ///< of an archive: the latest SessionRecord::time_zone
  /// Of `time_zone`; UTC where this machine does not know that zone. nullopt: the clock of this machine.
  charts::OptionalClock clock{};

  /// Until when a sample is missed if none comes: StoreReader::awaited().
  std::optional<UnixMs> awaited{};

  /// The end of what there is to know of it: behind its last sample, or later where another one is awaited and the
  /// camera gives none.
  UnixMs knownUntil() const { return std::max(last + 1, awaited.value_or(last + 1)); }
};

struct RegionRecord {
  std::int64_t id = 0;  ///< RegionSample::region of stored samples
  vision::Region region;
  bool current = true;  ///< false: only earlier samples have it
};

/// The view of a source while its camera has not moved, as ViewDetector learns it.
struct ViewReference {
  cv::Size size;        ///< of the pictures, px
  int pictures = 0;     ///< that were averaged; 0: `edges` is empty
  UnixMs learned = 0;   ///< time of the last of them
  ViewMotion motion{};  ///< of the pictures since the view last changed for good
  cv::Mat edges{};      ///< CV_16SC2: edgeDirections() times 4096
};

/// A message of the outbox: sent in the order of the numbers, and deleted once the other side has confirmed it.
struct Message {
  std::string channel{}, topic{};
  std::string payload{};    ///< a JSON object; empty, of `latest`: the broker keeps nothing there any more
  bool latest = false;      ///< the broker keeps it; takes the place of the one of its channel and topic that waits
  std::int64_t number = 0;  ///< given by the store
  std::string id{};         ///< given by the store, unique in the world: a receiver drops what it has
};

/// What a picture or a moment of a source brings.
struct Recorded {
  std::optional<Sample> sample{};
  std::optional<ViewReference> view{};  ///< takes the place of that of the source
  /// Where the alarms of the source stand from now on; those that it does not name do not ring. nullopt: as before.
  std::optional<std::vector<AlarmState>> alarms{};
  std::vector<Event> events{};
};

}  // namespace mpm::monitor
