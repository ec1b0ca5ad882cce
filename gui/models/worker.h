// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtGui>
#include <thread>

namespace mpm::gui {

/// A thread that does one thing after another for an object, so that the window never waits. It is the last member of
/// that object, because its destructor waits for what it does.
class Worker {
 public:
  /// `failed`: gets on the thread of `owner` what some work threw.
  explicit Worker(QObject* owner, std::function<void(const QString& why)> failed = {},
                  QThread::Priority priority = QThread::InheritPriority);

  /// Behind what waits already; of higher `rank` before it.
  template <typename Work>
  void run(Work work, int rank = 0) {
    auto guarded = [this, work = std::move(work), turn = turn_.load()]() mutable {
      if (turn != turn_) return;
      running_ = turn;
      try {
        work();
      } catch (const std::exception& error) {
        if (failed_) answer([this, why = QString::fromUtf8(error.what())] { failed_(why); });
      }
    };
    pool_.start(std::move(guarded), rank);
  }
  /// For a work: does this on the thread of the owner, where signals are emitted.
  template <typename Answer>
  void answer(Answer answer) const {
    QMetaObject::invokeMethod(owner_, [this, answer = std::move(answer), turn = running_]() mutable {
      if (turn == turn_) answer();
    });
  }
  /// Forgets what has not begun; what is being done is not answered any more.
  void giveUp() { ++turn_; }
  /// For a work: it was not given up.
  bool goesOn() const { return running_ == turn_; }

 private:
  QObject* owner_;
  std::function<void(const QString&)> failed_;
  std::atomic<int> turn_ = 0;  // how often it was given up
  int running_ = 0;            // the turn of the work that runs; touched on the thread only
  QThreadPool pool_;
};

/// One work that takes long, on its own thread: it says how far it is, and can be cancelled.
class Job : public QObject {
  Q_OBJECT
 public:
  /// `done` of about `of` parts; false: it was cancelled.
  using Progress = std::function<bool(int done, int of)>;
  /// The result; nullopt: it was cancelled. Throws what went wrong.
  using Work = std::function<std::optional<QVariant>(const Progress& progress)>;

  /// Begins at once. Ends in finished(), failed() or cancelled().
  explicit Job(Work work, QObject* parent = nullptr);
  void cancel() { thread_.request_stop(); }

 signals:
  /// At most once for each percent.
  void progressed(int done, int of);
  /// Before one of the others.
  void ended();
  void finished(const QVariant& result);
  void failed(const QString& why);
  void cancelled();

 private:
  void run(const std::stop_token& stop, const Work& work);

  std::jthread thread_;  // last: asked to stop and waited for before the rest goes
};

/// Changes settings on its own thread: writing them waits for the disk, which on an SD card takes long enough to
/// be noticed. Each change reaches the disk soon after it is made, in order.
class SettingsWriter {
 public:
  /// `file`: empty for the user's settings. `failed`: as of Worker; settings that cannot be written are reported once,
  /// until they can.
  explicit SettingsWriter(const QString& file, QObject* owner = nullptr,
                          std::function<void(const QString&)> failed = {})
      : file_(file), thread_(owner, std::move(failed), QThread::LowPriority) {}

  std::unique_ptr<QSettings> read() const;
  void change(std::function<void(QSettings&)> what);
  void set(const QString& key, const QVariant& value);
  /// Writes another file, in the same order.
  void run(std::function<void()> what) { thread_.run(std::move(what)); }

 private:
  const QString file_;
  bool lost_ = false;  // the last change did not reach the disk; touched on thread_ only
  Worker thread_;
};

/// Where the value of `key` stands in `names`; `otherwise` where it is none of them.
int storedIndex(const QSettings& settings, const QString& key, const QStringList& names, int otherwise);

/// The stored value, where it is a number from `low` to `high`, else `otherwise`.
double storedNumber(const QSettings& settings, const QString& key, double low, double high, double otherwise);

}  // namespace mpm::gui
