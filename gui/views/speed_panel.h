// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QWidget>

#include "monitor/capture/inference.h"

class QLabel;

namespace mpm::gui {

/// Where the time of a frame goes, as a bar with the names and numbers beside it.
class StageBar : public QWidget {
  Q_OBJECT
 public:
  explicit StageBar(QWidget* parent = nullptr);
  void setTimes(const StageTimes& ms);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::vector<std::pair<QString, double>> stages() const;
  StageTimes ms_;
};

/// Frames per second in, processed and dropped; latency; the stages.
class SpeedPanel : public QWidget {
  Q_OBJECT
 public:
  explicit SpeedPanel(QWidget* parent = nullptr);
  void setStatus(const monitor::CaptureStatus& capture, const monitor::InferenceStatus& inference);
  void setTimes(const StageTimes& ms);
  QString text() const;

 private:
  QLabel *in_, *processed_, *dropped_, *p50_, *p95_;
  StageBar* bar_;
};

}  // namespace mpm::gui
