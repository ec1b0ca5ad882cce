// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "monitor/capture/inference.h"

namespace mpm::gui {

/// Frames per second in, processed and dropped; latency; with reuse, rows and agreement; the time of each stage of the
/// last frame.
class SpeedPanel : public QWidget {
  Q_OBJECT
 public:
  explicit SpeedPanel(QWidget* parent = nullptr);
  void setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference);
  void setTimes(const StageTimes& ms);

 private:
  static constexpr int kStages = 5;
  QLabel *in_, *processed_, *dropped_, *p50_, *p95_, *rows_, *agreement_;
  QFormLayout* form_;
  QProgressBar* bars_[kStages];
  QLabel* times_[kStages];
};

}  // namespace mpm::gui
