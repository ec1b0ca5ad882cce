// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "vision/sources/source.h"

namespace mpm::vision {

/// Opens and reads one source on its own thread, so that a camera, driver or disk that hangs blocks no other
/// thread. A call of the source that never returns is abandoned with its thread. It costs the thread's memory and is
/// counted in SourceOptions::abandoned_reads until it returns.
///
/// Threads: one thread constructs the reader, calls next() and destroys it; any thread may call wake(). `open` and its
/// source are called and destroyed on the reader's thread, and may outlive the reader: they must own what they use.
class SourceReader {
 public:
  /// Opens the source with the reader's options and other `stop`, `on_unreadable` and `on_note`. May throw and hang.
  using Open = std::function<std::unique_ptr<FrameSource>(const SourceOptions& options)>;

  struct Event {
    enum class Kind {
      kNone,        ///< nothing happened in time, or wake() was called
      kOpened,      ///< first event of a source that opens
      kFrame,       ///< `frame`
      kUnreadable,  ///< `text`, `taken`: see SourceOptions::on_unreadable
      kNote,        ///< `text`: see SourceOptions::on_note
      kEnded,       ///< last event, repeated: the source has no more frames, and was closed
      kFailed,      ///< last event, repeated: `text` says why, without credentials
    };
    Kind kind = Kind::kNone;
    Frame frame{};
    std::string text{};
    std::optional<UnixMs> taken{};
    std::optional<int> size{};  ///< kOpened: FrameSource::size()
  };

  /// Starts the thread. `shown`: name of the source in messages. Throws mpm::Error when no thread starts, or when 8
  /// abandoned reads have not returned (SourceOptions::abandoned_reads).
  SourceReader(std::string shown, Open open, SourceOptions options);
  /// Abandons the call in progress; never waits.
  ~SourceReader();
  SourceReader(const SourceReader&) = delete;
  SourceReader& operator=(const SourceReader&) = delete;

  /// Waits up to `patience` for the next event. Frames of a source with latestOnlyStem() that arrived before the last
  /// one are dropped; another source waits until its frame is taken.
  Event next(std::chrono::milliseconds patience);
  /// Ends the next() that waits, or the next call of it.
  void wake();

  /// For the end of a program: waits until the threads of readers that are gone have returned, for `patience` at most.
  /// False: one hangs. Then only std::_Exit() is safe, for a thread that reads meets the destructors of its libraries.
  static bool allReturn(std::chrono::milliseconds patience);

  /// "camera 0 gave no frame for 10 s", "cannot open camera 0: no answer within 10 s".
  std::string hangMessage() const;

 private:
  struct Shared;
  struct Threads;
  std::string shown_;
  double timeout_s_;
  bool opened_ = false;
  int taken_ = 0;
  std::shared_ptr<Shared> shared_;
};

}  // namespace mpm::vision
