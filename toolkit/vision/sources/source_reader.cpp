// SPDX-License-Identifier: Apache-2.0
#include "vision/sources/source_reader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "mpm/error.hpp"
#include "vision/sources/sources.h"

namespace mpm::vision {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = SourceReader::Event::Kind;

constexpr int kMaxAbandoned = 8;

// A source behind a reader, with a deadline for each frame.
class GuardedSource final : public FrameSource {
 public:
  GuardedSource(const std::string& shown, SourceReader::Open open, const SourceOptions& options)
      : options_(options), reader_(shown, std::move(open), options) {
    (void)wait();  // for Opened
  }

  std::optional<Frame> next() override {
    SourceReader::Event event = wait();
    if (event.kind != Kind::kFrame) return std::nullopt;
    return std::move(event.frame);
  }

 private:
  // kNone: options_.stop is set. Wakes up regularly, because a signal handler can only set a flag.
  SourceReader::Event wait() {
    const auto patience = std::chrono::duration<double>(options_.timeout_s);
    auto deadline = Clock::now() + patience;
    while (!stopped(options_)) {
      const std::chrono::duration<double, std::milli> left = deadline - Clock::now();
      SourceReader::Event event =
          reader_.next(std::chrono::milliseconds(static_cast<int>(std::clamp(left.count(), 0.0, 50.0))));
      if (event.kind == Kind::kFailed) throw Error(event.text);
      if (event.kind == Kind::kNote) {
        if (options_.on_note) options_.on_note(event.text);
        deadline = Clock::now() + patience;
        continue;
      }
      if (event.kind == Kind::kUnreadable)
        options_.on_unreadable(event.text, event.taken);
      else if (event.kind != Kind::kNone)
        return event;
      if (left.count() <= 0) throw Error(reader_.hangMessage());
    }
    return {};
  }

  SourceOptions options_;
  SourceReader reader_;
};

}  // namespace

// The reader's thread holds a reference: a call that never returns may outlive the reader.
struct SourceReader::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Event> events;
  std::optional<std::string> latest_only_stem;
  std::atomic<bool> closing = false;
  bool woken = false;
  bool finished = false;   // the last event is there
  bool abandoned = false;  // and counted in abandoned_reads
  std::shared_ptr<std::atomic<int>> abandoned_reads;

  void put(Event event) {
    std::unique_lock lock(mutex);
    if (!latest_only_stem)
      changed.wait(lock, [&] { return closing || events.empty(); });
    else if (event.kind == Kind::kFrame && !events.empty() && events.back().kind == Kind::kFrame)
      events.pop_back();
    if (event.kind == Kind::kEnded || event.kind == Kind::kFailed) {
      finished = true;
      if (abandoned) --*abandoned_reads;
    }
    events.push_back(std::move(event));
    changed.notify_all();
  }

  void read(Open open, SourceOptions options) {
    Event last{.kind = Kind::kEnded};
    try {
      options.stop = &closing;
      if (options.on_unreadable) {
        options.on_unreadable = [this](const std::string& why, std::optional<UnixMs> taken) {
          put({.kind = Kind::kUnreadable, .text = redactCredentials(why), .taken = taken});
        };
      }
      options.on_note = [this](const std::string& text) {
        put({.kind = Kind::kNote, .text = redactCredentials(text)});
      };
      const std::unique_ptr<FrameSource> source = open(options);
      if (!source) throw Error("there is no source");
      {
        const std::lock_guard lock(mutex);
        latest_only_stem = source->latestOnlyStem();
      }
      put({.kind = Kind::kOpened, .size = source->size()});
      while (!closing) {
        std::optional<Frame> frame = source->next();
        if (!frame) break;
        if (frame->image.empty()) throw Error("the source gave an empty frame");
        put({.kind = Kind::kFrame, .frame = std::move(*frame)});
      }
    } catch (const std::exception& error) {
      last = {.kind = Kind::kFailed, .text = redactCredentials(error.what())};
    }
    open = {};  // may hang as well
    put(std::move(last));
  }
};

// The threads of all readers. Never destroyed: one that hangs may return while the program ends.
struct SourceReader::Threads {
  std::mutex mutex;
  std::condition_variable changed;
  int running = 0;

  void add(int number) {
    const std::lock_guard lock(mutex);
    running += number;
    changed.notify_all();
  }
  static Threads& all() {
    static auto* const threads = new Threads;
    return *threads;
  }
};

SourceReader::SourceReader(std::string shown, Open open, SourceOptions options)
    : shown_(std::move(shown)), timeout_s_(options.timeout_s), shared_(std::make_shared<Shared>()) {
  static const auto common = std::make_shared<std::atomic<int>>(0);
  shared_->abandoned_reads = options.abandoned_reads ? options.abandoned_reads : common;
  if (const int hanging = *shared_->abandoned_reads; hanging >= kMaxAbandoned)
    throw Error("cannot open " + shown_ + ": " + std::to_string(hanging) + " reads hang and none has returned");
  Threads::all().add(1);
  try {
    std::thread([shared = shared_, open = std::move(open), options = std::move(options)]() mutable {
      shared->read(std::move(open), std::move(options));
      shared.reset();
      Threads::all().add(-1);
    }).detach();
  } catch (const std::system_error& error) {
    Threads::all().add(-1);
    throw Error("cannot open " + shown_ + ": cannot start a thread: " + error.what());
  }
}

SourceReader::~SourceReader() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closing = true;
  shared_->events.clear();
  shared_->changed.notify_all();
  if (shared_->finished) return;
  shared_->abandoned = true;
  ++*shared_->abandoned_reads;
}

SourceReader::Event SourceReader::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, patience, [&] { return shared_->woken || !shared_->events.empty(); });
  if (std::exchange(shared_->woken, false) || shared_->events.empty()) return {};
  Event event = shared_->events.front();
  if (event.kind == Kind::kEnded || event.kind == Kind::kFailed) return event;  // again at the next call
  shared_->events.pop_front();
  shared_->changed.notify_all();
  if (event.kind == Kind::kOpened) opened_ = true;
  if (event.kind == Kind::kFrame && shared_->latest_only_stem) {
    event.frame.index = taken_++;
    event.frame.name = frameName(*shared_->latest_only_stem, event.frame.index);
  }
  return event;
}

void SourceReader::wake() {
  const std::lock_guard lock(shared_->mutex);
  shared_->woken = true;
  shared_->changed.notify_all();
}

bool SourceReader::allReturn(std::chrono::milliseconds patience) {
  Threads& threads = Threads::all();
  std::unique_lock lock(threads.mutex);
  return threads.changed.wait_for(lock, patience, [&] { return threads.running == 0; });
}

std::string SourceReader::hangMessage() const {
  std::ostringstream text;
  text << (opened_ ? "" : "cannot open ") << shown_ << (opened_ ? " gave no frame for " : ": no answer within ")
       << timeout_s_ << " s";
  return text.str();
}

std::unique_ptr<FrameSource> openGuarded(const std::string& shown, SourceReader::Open open,
                                         const SourceOptions& options) {
  return std::make_unique<GuardedSource>(shown, std::move(open), options);
}

}  // namespace mpm::vision
