// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "monitor/store/bucket.h"
#include "monitor/store/retention.h"
#include "monitor/store/schema.h"
#include "monitor/store/store_writer.h"
#include "monitor/store/sum_up.h"
#include "monitor/store/write_operation.h"

namespace mpm::monitor {

// Writes the operations of a StoreWriter into the rows of its database. The thread of the writer is the only one that
// uses it.
class StoreConnection {
 public:
  StoreConnection(const std::string& path, bool create, const OutboxOptions& outbox);
  std::string id() const { return idOf(database_); }
  bool takeOver(const std::string& damaged, const std::string& unknown_privacy);
  // What is readable for others though it should not be, once; "": nothing.
  std::string takeProblem() { return std::exchange(problem_, {}); }
  // All of `operations` in one transaction, or none. Returns the target that holds afterwards.
  WriteTarget commit(const std::deque<Operation>& operations, WriteTarget target);
  // The last commit put messages into the outbox; and a channel of which the oldest had to go, or "".
  bool told() const { return !told_.empty(); }
  const std::string& dropped() const { return dropped_; }
  // In a transaction of its own. True also where nothing of the source is stored.
  bool judge(const Judge& how);
  Retention maintain(UnixMs now, const RetentionLimits& limits);
  const std::optional<FileIdentity>& identity() const { return identity_; }
  void keepLog() { database_.keepLog(); }

 private:
  // After a full disk the connection is made anew, and the session goes on where its rows were committed.
  bool holds(const WriteTarget& target);

  // One for each kind of Operation.
  void write(Sample sample, WriteTarget& target, BucketUpdate& sums);
  void write(const Event& event, WriteTarget& target, BucketUpdate& sums);
  void write(const ViewReference& view, WriteTarget& target, BucketUpdate& sums);
  void write(const BeginSession& begin, WriteTarget& target, BucketUpdate& sums);
  void write(const SetSource& set, WriteTarget& target, BucketUpdate& sums);
  void write(const SetRegions& set, WriteTarget& target, BucketUpdate& sums);
  void write(const SetPrivacy& set, WriteTarget& target, BucketUpdate& sums);
  void write(const Settle& how, WriteTarget& target, BucketUpdate& sums);
  void write(const Message& message, WriteTarget& target, BucketUpdate& sums);
  void write(const ForgetSent& sent, WriteTarget& target, BucketUpdate& sums);
  void write(const Announce& one, WriteTarget& target, BucketUpdate& sums);
  void write(const SetAlarms& set, WriteTarget& target, BucketUpdate& sums);
  void mark(Unsettled what, const WriteTarget& target);
  void mendStatesAfter(const WriteTarget& target, UnixMs time);
  void put(const std::vector<Message>& messages);  // into the outbox

  // What must not be seen.
  void restrict();
  void restrictIfHiding();
  // Earlier references are in pages that are free by now, and in the log. A reader that is in the way keeps the log as
  // it is until the next change.
  void wipe();

  // Rows of sources, series and sessions: connection_sessions.cpp.
  std::int64_t sourceId(const std::string& source);  // makes the row if there is none
  void makeRow(WriteTarget& target);                 // of its source
  // The newest series that is measured like this, of a camera also with these heads of states, or a new one. The path
  // of a model and what it was validated with may change without its digest. Those of an older program, which knew no
  // settings, take them over, whatever their round.
  std::int64_t seriesFor(const WriteTarget& target, const SessionInfo& info, bool again);
  std::set<std::pair<std::int64_t, std::string>> headsOf(const WriteTarget& target);  // WriteTarget::heads
  std::optional<UnixMs> newestOf(const WriteTarget& target);
  void end(UnixMs time, WriteTarget& target);
  // The database has one writer, so a session that was left open was killed. It ended with its last sample, of a scene
  // when it began: its samples have another clock than its sessions. What the clock says by now does not matter: it may
  // have begun anew in 1970.
  void endKilledSessions(const WriteTarget& target);
  // The first source of this writer: when its samples came, so that a clock that went wrong is noticed.
  void own(WriteTarget& target);

  std::string path_;
  const OutboxOptions& outbox_;
  std::set<std::string> told_{};  // channels that got messages
  std::string dropped_{};
  Database database_;
  std::optional<FileIdentity> identity_;
  HeldFile file_;  // O_PATH: closing another descriptor of the file would let go of SQLite's locks on it
  bool knows_target_ = false;
  bool deleted_ = false;  // something that must not be seen
  bool told_readable_ = false;
  std::string problem_{};
  Statement insert_sample_, insert_region_, insert_state_, insert_change_, forget_event_, insert_event_,
      insert_message_, next_sample_;
};

}  // namespace mpm::monitor
