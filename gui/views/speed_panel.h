// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "monitor/session.h"

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
  QFormLayout* const form_;
  QLabel* const in_;
  QLabel* const processed_;
  QLabel* const dropped_;
  QLabel* const p50_;
  QLabel* const p95_;
  QLabel* const rows_;
  QLabel* const agreement_;
  QProgressBar* bars_[kStages];
  QLabel* times_[kStages];
};

}  // namespace mpm::gui
