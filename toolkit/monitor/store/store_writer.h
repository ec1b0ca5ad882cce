// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/statistics/day_night.h"
#include "monitor/store/records.h"

namespace mpm::monitor {

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
  /// that held for all of them, and which state counts, after `state_after` sure results in turn. Where pictures were
  /// measured again with other times, earlier series take these first: takeCorrectedTimes(). Does nothing where
  /// pictures came in order and their times are those that are stored.
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

}  // namespace mpm::monitor
