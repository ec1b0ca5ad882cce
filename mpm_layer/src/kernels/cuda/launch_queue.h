// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "kernels/cuda/device.h"

namespace mpm::cuda {

/// Work of the device on its own memory: a kernel with its arguments, a matrix product, a copy, zeros.
class Command {
 public:
  virtual ~Command() = default;
  virtual void run(const Stream& stream) const = 0;
  /// Whether `other` does the same with the same memory.
  virtual bool equals(const Command& other) const = 0;
};

/// Commands that the device repeats in one launch: a CUDA graph.
class Graph {
 public:
  Graph() = default;
  /// Captures what `work` gives to the stream, of which nothing runs. Throws mpm::Error when the device cannot capture
  /// it; the stream is as before.
  Graph(const Stream& stream, const std::function<void()>& work);
  ~Graph();
  Graph(Graph&& other) noexcept { *this = std::move(other); }
  Graph& operator=(Graph&& other) noexcept {
    std::swap(graph_, other.graph_);
    std::swap(device_, other.device_);
    return *this;
  }

  explicit operator bool() const { return graph_ != nullptr; }
  void launch(const Stream& stream) const;

 private:
  void* graph_ = nullptr;
  int device_ = 0;
};

/// The commands of a stream. One image is little work for a GPU: the host's launches take longer than the kernels. With
/// repeat(true), commands that came before in the same order wait here until the host needs what they compute. Then the
/// device repeats all of them in one launch.
///
/// Only the commands themselves say whether they came before: kernel, grid, and every argument, thus every address and
/// size. So no graph can be stale. Another image size, memory that grew or another number of merged rows makes other
/// commands. At the first that differs, all that wait run, and those that follow run at once.
///
/// A segment is what comes between two points at which the host copies, waits, marks an event or frees memory. The
/// second time that a segment comes, its graph is made. No function of an operator is called during the capture, so
/// nothing can allocate, copy from the host or wait then, which CUDA forbids. If a capture fails all the same, commands
/// run at once from then on, until forget().
class LaunchQueue {
 public:
  /// false: from now on commands run at once.
  void repeat(const Stream& stream, bool on) {
    if (on != repeats_) flush(stream);
    repeats_ = on;
  }
  bool repeats() const { return repeats_ && !refused_ && !running_; }

  /// Runs the command, or keeps it until flush(). Call it only if repeats().
  void add(const Stream& stream, std::unique_ptr<Command> command);
  /// Ends the segment: everything added so far is handed to the device.
  void flush(const Stream& stream);
  /// flush() from a destructor. The next add() or flush() throws what went wrong.
  void flushQuietly(const Stream& stream) noexcept;
  /// After an error: commands that wait never run, and all graphs are freed.
  void forget();

 private:
  struct Segment {
    std::vector<std::unique_ptr<Command>> commands;
    Graph graph;
  };
  static constexpr std::size_t kMostSegments = 128;
  static constexpr std::size_t kFewestCommands = 4;  ///< a graph of less is not faster

  void throwEarlierError();
  void runHeld(const Stream& stream);
  void run(const Stream& stream, Segment& segment);

  std::list<Segment> known_;                            ///< the last used first
  std::vector<std::list<Segment>::iterator> matching_;  ///< those that begin as `now_`; none if anything of it ran
  std::vector<std::unique_ptr<Command>> now_;           ///< the segment so far
  std::size_t ran_ = 0;                                 ///< how many of `now_`
  bool repeats_ = false, running_ = false;
  bool refused_ = false;  ///< the device did not capture a segment
  std::exception_ptr error_;
};

/// A command from a `Call` that can be compared and has run(stream).
template <class Call>
class CallCommand final : public Command {
 public:
  explicit CallCommand(Call call) : call_(std::move(call)) {}
  void run(const Stream& stream) const override { call_.run(stream); }
  bool equals(const Command& other) const override {
    return typeid(other) == typeid(*this) && static_cast<const CallCommand&>(other).call_ == call_;
  }

 private:
  Call call_;
};

template <class Call>
void enqueue(const Stream& stream, Call call) {
  if (stream.queue().repeats())
    stream.queue().add(stream, std::make_unique<CallCommand<Call>>(std::move(call)));
  else
    call.run(stream);
}

}  // namespace mpm::cuda
