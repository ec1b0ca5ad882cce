// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "charts/draw_chart.h"
#include "evaluation/confusion_matrix.h"
#include "monitor/pace.h"
#include "monitor/statistics/alarms.h"
#include "monitor/statistics/day_night.h"
#include "monitor/store/bucket.h"
#include "monitor/store/sample.h"
#include "mpm/error.hpp"
#include "mpm/options.hpp"
#include "vision/camera_clock.h"
#include "vision/regions/region.h"
#include "vision/time.h"

namespace mpm::monitor {

using charts::Chart, charts::ChartBucket, charts::SeriesKey;

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

/// What is put into the outbox: in the transaction of what it tells. Called on the writer's thread.
struct OutboxOptions {
  std::function<std::vector<Message>(const Event&)> of_event{};
  std::function<std::vector<Message>(const Sample&, const SessionInfo&)> of_sample{};
  std::function<void()> on_stored{};  ///< messages wait
  int max_waiting = 10000;            ///< of a channel; beyond it the oldest go, which is an event
};

struct StoreOptions {
  /// False: the writer's thread opens the file, and tries again until it can; the constructor does not wait for a disk.
  bool open_at_once = true;
  /// Shortest time between two commits, s; an alarm does not wait. A kill loses at most the samples since the last one.
  double commit_s = 1;
  /// Deletes samples, minutes and events that are older than this; 0: keeps all. Those of the source that is written
  /// and events of no source; never those of an archive. Deletion waits up to one hour if the clock jumped more than a
  /// day past the last sample, because a wrong clock must not delete everything.
  double keep_days = 0;
  double max_megabytes = 0;        ///< deletes the oldest samples of any source while the file is larger; 0: no limit
  double retry_s = 10;             ///< after a full disk: how long until the next try
  double report_s = 600;           ///< trouble that comes and goes is reported once in this time
  double patience_s = 30;          ///< an attempt to write that takes longer: the disk does not answer
  double maintenance_s = 60;       ///< how often retention is looked at
  std::size_t max_pending = 3600;  ///< samples kept in memory while nothing can be written; older ones are lost
  std::function<UnixMs()> now = unixNow;
  OutboxOptions outbox{};
  std::function<void()> on_stored{};  ///< after each commit, and each maintenance_s; on the writer's thread
};

struct WriterStatus {
  bool writing = true;   ///< false: the disk is full, fails or does not answer, or `stopped`; `problem` says it
  bool stopped = false;  ///< nothing is written any more, because no waiting would help
  bool answers = true;   ///< false: the current attempt takes longer than StoreOptions::patience_s
  double busy_s = 0;     ///< for how long an attempt has been running; 0: none is
  std::string problem{};
  std::int64_t samples = 0;  ///< committed by this writer
  std::int64_t pending = 0;  ///< not yet committed
  std::int64_t lost = 0;     ///< given up while the disk was full, or when it stopped
  /// The supervisor may restart the process, but not soon: a restart loses the samples that wait in memory.
  bool stuck() const { return busy_s >= 600; }
};

/// What a picture or a moment of a source brings.
struct Recorded {
  std::optional<Sample> sample{};
  std::optional<ViewReference> view{};  ///< takes the place of that of the source
  /// Where the alarms of the source stand from now on; those that it does not name do not ring. nullopt: as before.
  std::optional<std::vector<AlarmState>> alarms{};
  std::vector<Event> events{};
};

/// Writes a database (SQLite in WAL mode) from its own thread: append() and similar calls never wait for the disk.
///
/// `kill -9` at any moment loses what came after the last commit, at most StoreOptions::commit_s, and nothing before;
/// a power cut at most about a minute. A disk that is full or does not answer, or a file that was moved, stops the
/// writing for as long as that lasts; what comes then is kept in memory (max_pending). A file that turns out to be
/// damaged, was deleted or replaced ends the writing, with an event; a damaged one is renamed by the next writer. A
/// database has one writer and any number of readers. Thread-safe.
class StoreWriter {
 public:
  /// Called on the writer's thread (or in the constructor) for events of the storage itself, also while nothing can be
  /// written.
  using EventCallback = std::function<void(const Event&)>;

  /// Opens or makes the file. A damaged one of ours is renamed, with an event, and a new one begins. With open_at_once
  /// throws mpm::Error naming the file: not a database, not of ours, of another schema, not writable, another program
  /// stores in it; else these end the writing. A full disk is no error: it is tried again.
  explicit StoreWriter(const std::string& path, StoreOptions options = {}, EventCallback on_event = {});
  ~StoreWriter();  ///< ends the session, commits what is pending if the disk lets it

  /// Ends the session before it, if any. Samples and events that follow belong to the new one. If a session of the
  /// same source was killed, it ends with its last sample.
  /// `archive`: the time of the first picture, for samples that have the times of pictures and not of the clock. Such a
  /// session begins with its first sample and ends with its last. A sample is left out if its picture, digest and time
  /// are stored already.
  /// The session goes on with the newest series of the source that has equal `Measuring` values. One of an older
  /// program, which did not know its settings, has those of the first session that goes on with it. It begins a new
  /// series with `again`, for pictures that are measured again, and for a camera whose head of states is another one
  /// than that of this name in the series. Of an archive, only pictures to come are read by such a head.
  void beginSession(const SessionInfo& info, std::optional<UnixMs> archive = {}, bool again = false);
  void endSession();  ///< and its source: events belong to none
  /// Ends the session; events belong to this source from now on. As long as the database does not know it, they are
  /// kept for its first session.
  void setSource(const std::string& name);
  /// The regions of this source from now on: RegionSample::region of samples that follow counts among them. One
  /// that changed is a new one, and stored samples keep the old one. Ends no session.
  void setRegions(const std::string& source, const std::vector<vision::Region>& regions);
  /// What must not be seen of this source from now on (PrivacyOptions::json()). Another text than the stored one
  /// deletes what was learned of its view until now, also from the pages of the file that nothing uses any more; how
  /// far the view has moved stays. Where something must not be seen, nobody but the owner and the group of the database
  /// may read it from then on. Ends no session.
  void setPrivacy(const std::string& source, const std::string& json);
  /// Decides for every sample of a source anew whether it is night, and makes the sums anew: by this rule, from the
  /// first sample on, as if it had held when they were stored. Where samples were forgotten, whole minutes and hours
  /// are judged by their mean brightness. `progress` is called on the writer's thread with the share that is done,
  /// 0..1; all stays as it was when it returns false. Waits until it is done, and returns false where it was not.
  /// Of a source that the database does not have nothing is to do. Throws mpm::Error where the disk fails.
  bool judge(const std::string& source, const NightRule& rule, const std::function<bool(double share)>& progress = {});
  /// Pictures of an archive that came later may be older than others that are stored. Then what depends on the picture
  /// before is decided anew by the order of their times: whether a picture is unchanged, night by a band of brightness
  /// that held for all of them, and which state counts, after `state_after` sure results in turn. Does nothing where
  /// they came in order.
  void settle(const std::string& source, int state_after);
  /// Where the writing has ended: goes on in this file, which may be the same one, as a new writer would.
  void storeIn(const std::string& path);

  /// Sample::id and ::session are ignored. Without a session: does nothing.
  /// With a view, that of the source is replaced in the same commit.
  void append(const Sample& sample, const std::optional<ViewReference>& view = {});
  void append(const Event& event);

  /// Stores all of it in one commit. An alarm is committed at once, so that it does not ring again after a kill.
  void append(const Recorded& recorded);

  /// Keeps what was announced under a topic of a broker, for StoreReader::announced(); empty: nothing any more.
  void announce(const std::string& topic, const std::string& payload);

  /// Puts a message into the outbox, behind what waits there.
  void tell(const Message& message);
  /// Messages of this channel up to this number were sent.
  void forgetSent(const std::string& channel, std::int64_t number);

  /// Waits until all that was appended is committed and its events are reported; false when it failed, or took longer
  /// than the limit.
  bool flush(std::optional<double> seconds = {});

  /// StoreOptions::keep_days and max_megabytes, from the next look on.
  void setRetention(double keep_days, double max_megabytes);

  WriterStatus status() const;
  /// StoreReader::id(); nullopt: the file was not opened yet.
  std::optional<std::string> id() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// From when on which state of a head counted, ascending; "": none. The first may have begun before.
using StateChanges = std::vector<std::pair<UnixMs, std::string>>;

/// The states that counted, of one head.
struct StateSeries {
  std::string name{};
  StateChanges changes{};
  std::map<std::string, std::int64_t> samples{};  ///< that are kept, by the state that counted
  std::int64_t sure = 0;                          ///< of them, those whose result was sure
  std::set<std::string> known{};                  ///< that ever counted of this head of the source
};

/// Adds the samples of `part`.
void addTo(Spread& all, const Spread& part);

struct ChartQuery {
  std::int64_t source = 0;          ///< SourceRecord::id
  UnixMs from = 0, to = 0;          ///< [from, to)
  std::vector<SeriesKey> series{};  ///< quantities, classes and regions to draw
  int max_buckets = 2000;
  std::int64_t least_ms = 0;    ///< no bucket is narrower; kDayMs: whole days
  vision::CameraClock clock{};  ///< of the camera: where buckets wider than an hour begin
  /// SeriesRecord::id. nullopt: each value of a bucket comes from the latest series that has samples in that bucket, so
  /// that a chart goes on where the model was changed.
  std::optional<std::int64_t> only{};
};

/// Sums of samples by day, by night, and of those that nobody judged.
struct DayNightSums {
  std::array<Bucket, 3> sides{};  ///< by Side
  const Bucket& of(Side side) const { return sides[static_cast<std::size_t>(side)]; }
  Bucket& of(Side side) { return sides[static_cast<std::size_t>(side)]; }
  Bucket all() const;
  Spread spread(const std::string& quantity) const;  ///< of all sides; by its key
  Spread area(int label) const;                      ///< of a class, percent
  std::int64_t samples() const { return sides[0].samples + sides[1].samples + sides[2].samples; }
};

/// The sums of a series in a stretch of time, by the names of regions; "": the whole picture. Regions of one name,
/// which differ in their dates, are one.
using SumsOfRegions = std::map<std::string, DayNightSums>;

struct RollupQuery {
  std::int64_t series = 0;  ///< SeriesRecord::id
  UnixMs from = 0, to = 0;  ///< [from, to)
  /// Of the rows, ms; 0: one row of all. Up to an hour they begin at whole multiples since 1970; wider ones where
  /// `clock` shows a multiple, so that days are days of the camera, which have 23 to 25 hours.
  std::int64_t width = 0;
  vision::CameraClock clock{};  ///< of the camera; it changes where rows begin, and no sum of a row of all
  bool regions = false;         ///< with those of the regions, not only of the whole picture
};

struct RollupRow {
  UnixMs start = 0, end = 0;  ///< [start, end)
  SumsOfRegions regions{};
};

/// Gaps that lie in a span, or reach into it. Of each counts the part within: the time between two samples.
struct Gaps {
  int count = 0;
  UnixMs longest = 0, total = 0;
};

/// Why a stretch of time has no samples, or none that count. Where several hold, the first one counts.
enum class OutageCause {
  kGap,          ///< no sample came: findGaps()
  kDamaged,      ///< pictures could not be read (EventKind::kDamaged), of a camera within a gap only
  kDark,         ///< the flags of a sample; dark by night is no outage
  kOverexposed,  //
  kBlurred,      //
  kFogged,       //
  kStuck,        ///< the same picture for an hour or longer, to the last pixel
  kSlow,         ///< samples come in more than twice the time that was asked for
  kMoved,        ///< the camera was moved far: a moment, from which on everything is of another view
};
/// "gap", "damaged", "dark", "overexposed", "blurred", "fogged", "stuck", "slow", "moved".
const char* toString(OutageCause cause);
/// For people: "no samples", "covered or fogged".
std::string toText(OutageCause cause);

/// A gap lasts from the sample before it to the sample after it. Another outage lasts from the first sample that is so
/// to the first one that is not.
struct Outage {
  UnixMs begin = 0, end = 0;
  OutageCause cause = OutageCause::kGap;
  friend bool operator==(const Outage&, const Outage&) = default;
};
/// {"begin", "end", "cause", "text"}: the last is toText() of the cause.
Json toJson(const Outage& outage);

struct SourceRecord {
  std::int64_t id = 0;
  std::string name;  ///< without credentials
  /// Of what is kept, in any resolution. A clock that was wrong left samples of before 2020 or of the future: these
  /// are not the first or the last, unless all are such. Pictures of an archive and scenes have times of their own.
  /// Both are 0 where nothing is kept.
  UnixMs first = 0, last = 0;
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
  UnixMs knownUntil() const { return std::max(last + 1, awaited.value_or(0)); }
};

struct RegionRecord {
  std::int64_t id = 0;  ///< RegionSample::region of stored samples
  vision::Region region;
  bool current = true;  ///< false: only earlier samples have it
};

/// A database file without tables: its writer is about to create them, or was stopped before.
class EmptyDatabase : public Error {
 public:
  using Error::Error;
};

/// The last sample of a source: StoreReader::lastSample().
struct LastSample {
  SeriesRecord series{};
  Sample sample{};
};

/// Reads a database, also while another process writes it; never changes it. Not thread-safe: one per thread.
class StoreReader {
 public:
  /// Throws mpm::Error naming the file: none there, not a database of ours, of another schema version.
  explicit StoreReader(const std::string& path);
  ~StoreReader();
  StoreReader(StoreReader&&) noexcept;
  StoreReader& operator=(StoreReader&&) noexcept;

  /// What is read later than this, of steadyNow(), throws mpm::Error: the file of another person may hold more than
  /// anybody waits for.
  void setDeadline(std::int64_t steady);

  /// The name of the database: 16 hexadecimal digits. A copy has the same. Empty if only version 0.1.0 wrote it.
  std::string id() const;
  /// `now`: the clock against which times in the future are not believed.
  std::vector<SourceRecord> sources(UnixMs now = unixNow()) const;
  std::vector<SessionRecord> sessions(std::int64_t source) const;  ///< ascending
  /// Its last session has not ended: it is watched, or the program that watched it was killed.
  bool running(std::int64_t source) const;
  /// All series of a source, ordered by their latest session; the last one is being measured, or was measured last.
  std::vector<SeriesRecord> series(std::int64_t source) const;
  /// With which a session that is measured like this goes on; nullopt: it begins a new one.
  std::optional<std::int64_t> seriesOf(std::int64_t source, const Measuring& measuring) const;

  /// The view of the source with this name; nullopt: not stored.
  std::optional<ViewReference> view(const std::string& source) const;
  /// What must not be seen of it, PrivacyOptions::json(); "": nothing, or it is not stored.
  std::string privacy(const std::string& source) const;

  /// The regions that the source with this name has, or had, by id; none where it is not stored.
  std::vector<RegionRecord> regions(const std::string& source) const;

  /// The states of each head that was read in [from, to), by name.
  std::vector<StateSeries> states(std::int64_t series, UnixMs from, UnixMs to) const;
  /// The changes alone of each of these heads, by name.
  std::map<std::string, StateChanges> stateChanges(std::int64_t series, UnixMs from, UnixMs to) const;
  /// Those of the time of a chart, the answer to `query`, which goes on where the model was changed: in each bucket
  /// they are of the latest series that has a sample there and any state of that head.
  std::map<std::string, StateChanges> stateChanges(const Chart& chart, const ChartQuery& query) const;
  /// The states that ever counted of each head of a source, in any series, by the name of the head.
  std::map<std::string, std::set<std::string>> knownStates(std::int64_t source) const;

  /// The rows that have samples, ascending. Exact also where a row, or [from, to), begins or ends within a stored sum,
  /// as long as its samples are kept; else with all of that minute, hour or day.
  std::vector<RollupRow> rollup(const RollupQuery& query) const;

  /// What a chart of one bucket for all of [from, to) has, of one series.
  std::vector<Spread> means(const SeriesRecord& series, UnixMs from, UnixMs to,
                            const std::vector<SeriesKey>& keys) const;
  /// At most max_buckets buckets with mean, min and max, from the finest stored resolution (sample, minute, hour, day)
  /// that needs no more than some ten thousand rows: a year opens in well under a second.
  Chart chart(const ChartQuery& query) const;

  /// Where samples are missing in [from, to), by the pace of the source there: findGaps(). Samples that are forgotten,
  /// or more than 500,000, are looked at by hours. Before its first sample a source has no gap. With `now`, also the
  /// time from its last one on, unless it is alive.
  Gaps gaps(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now = {}) const;
  /// Each gap of gaps(), from a sample to the next, also where pictures between them were damaged.
  std::vector<Outage> eachGap(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now = {}) const;
  /// When the camera gave nothing that counts in [from, to), by their beginning: gaps() and samples of any series that
  /// show nothing. They do not overlap, but kMoved may lie within another one. Where samples are looked at by hours, an
  /// hour has a flag if more than half of its samples have it.
  std::vector<Outage> outages(std::int64_t source, UnixMs from, UnixMs to, std::optional<UnixMs> now = {}) const;
  /// Until when a sample of a source is missed if none comes, for gaps() and outages(): `now` while a camera is
  /// watched. nullopt: nothing watches it, or its times are not those of this machine, as of an archive and of a scene.
  /// `watched`: where the caller knows it; else it is watched until its last session has ended.
  std::optional<UnixMs> awaited(std::int64_t source, UnixMs now, std::optional<bool> watched = {}) const;
  /// The pace of its last samples.
  Pace pace(std::int64_t source) const;

  /// The rules by which samples of a series in [from, to) may have been judged: those of its sessions that ran then or
  /// have samples there; of all, where none has. nullopt: one that is not known.
  std::set<std::optional<std::string>> nightRules(std::int64_t series, UnixMs from, UnixMs to) const;

  /// Every sample in [from, to), by time; `visit` returns false to stop. With `series` only those of it.
  void samples(std::int64_t source, UnixMs from, UnixMs to, const std::function<bool(const Sample&)>& visit,
               std::optional<std::int64_t> series = {}) const;
  /// Of those that are kept one by one, how many lie in [from, to), with `series` only those of it. Read from sums:
  /// takes less than a millisecond for a year.
  std::int64_t count(std::int64_t source, UnixMs from = INT64_MIN, UnixMs to = INT64_MAX,
                     std::optional<std::int64_t> series = {}) const;
  /// The last `limit` samples before `until`, ascending by time; more if several have the earliest of these times.
  std::vector<Sample> lastSamples(std::int64_t source, int limit, UnixMs until = INT64_MAX,
                                  std::optional<std::int64_t> series = {}) const;
  /// The last one of a series in SourceRecord::first to last, without its view_offset, which may have to be looked for
  /// far back; nullopt: none is kept one by one.
  std::optional<Sample> lastSample(const SourceRecord& source, std::int64_t series) const;
  /// Behind the last sample of a series; where it is forgotten, behind its hour or, if that is forgotten, its day.
  UnixMs endOf(const SourceRecord& source, std::int64_t series) const;
  /// The last one of the source: that of its latest series that keeps one. A later one of an older series, as of a
  /// picture that was deleted before the others were measured again, counts no more than in the numbers.
  /// `all`: series() of the source.
  std::optional<LastSample> lastSample(const SourceRecord& source, std::vector<SeriesRecord> all) const;
  /// Name, time and digest of each of a series.
  void pictures(std::int64_t series,
                const std::function<void(const std::string& name, UnixMs time, std::int64_t digest)>& visit) const;

  /// Where the alarms stand.
  std::vector<AlarmState> alarms(std::int64_t source) const;

  /// The latest `limit` in [from, to), ascending by time.
  std::vector<Event> events(std::int64_t source, UnixMs from, UnixMs to, int limit = 1000) const;

  /// What waits for a channel, by number; the first `limit` after a number.
  std::vector<Message> outbox(const std::string& channel, std::int64_t after, int limit) const;
  std::int64_t waiting() const;  ///< messages, for all channels
  /// What was announced, by topic.
  std::map<std::string, std::string> announced() const;

  /// Token counts of a series in [from, to), by hours: exact as rollup().
  std::vector<HourOfTokens> hoursOfTokens(std::int64_t series, UnixMs from, UnixMs to) const;
  /// compareDayNight() of them.
  DayNightStatistics dayNight(std::int64_t series, UnixMs from, UnixMs to) const;

  /// An earlier program wrote the file, so that this is a converted copy of it. To make one takes long of a large file.
  bool isCopy() const;

  /// False when this reader would miss what is written from now on: another file lies under the path, or the file was
  /// read as a read-only one. Then make a new reader.
  bool current() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The strips below a chart: StoreReader::stateChanges(), and the outages of its source where it has any. `known`:
/// StoreReader::knownStates() of the source, so that each state has its colour.
std::vector<charts::ChartBand> chartBands(const std::map<std::string, StateChanges>& states,
                                          const std::map<std::string, std::set<std::string>>& known,
                                          const std::vector<Outage>& outages);

/// The regions that samples to come are measured in.
std::vector<vision::Region> currentRegions(const StoreReader& store, const std::string& source);

}  // namespace mpm::monitor
