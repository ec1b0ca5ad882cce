// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <stop_token>
#include <thread>

#include "evaluation/tuning.h"

namespace mpm::gui {

/// One search for the fastest reduction, as `mpm tune` makes it, with its own thread.
class TuneJob : public QObject {
  Q_OBJECT
 public:
  using Pictures = std::function<std::vector<cli::TunePicture>()>;
  using Result = std::shared_ptr<const cli::TuneResult>;

  /// In the `example` labels of a result: the full model says something else there. No model has so many classes.
  static constexpr int kDiffers = 255;

  /// Begins at once; `pictures` is called on the thread. Ends in finished(), failed() or cancelled(). The progress of
  /// `options` is replaced.
  TuneJob(Pictures pictures, const cli::TuneOptions& options, QObject* parent = nullptr);
  /// Takes effect after the picture that is being measured.
  void cancel() { thread_.request_stop(); }

 signals:
  void progressed(int done, int estimate);
  void finished(const mpm::gui::TuneJob::Result& result);
  void failed(const QString& message);
  void cancelled();

 private:
  void run(const std::stop_token& stop, const Pictures& pictures, cli::TuneOptions options);
  // Signals are emitted on the thread of this object.
  template <typename Emit>
  void queue(Emit emission) {
    QMetaObject::invokeMethod(this, std::move(emission), Qt::QueuedConnection);
  }

  std::jthread thread_;  // last: asked to stop and waited for before the rest goes
};

}  // namespace mpm::gui
