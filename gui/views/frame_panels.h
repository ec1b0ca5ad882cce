// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/legend_model.h"
#include "gui/models/live_frame.h"
#include "gui/models/viewport.h"
#include "gui/views/look.h"

namespace mpm::gui {

/// The facts about the patch under the mouse or the patch cursor.
class InspectorPanel : public QWidget {
  Q_OBJECT
 public:
  InspectorPanel(PatchSelection* selection, const LegendModel* legend, QWidget* parent = nullptr);

  void setFrame(LiveFramePtr frame);

 private:
  void refresh();

  PatchSelection* selection_;
  const LegendModel* legend_;
  LiveFramePtr frame_;
  QLabel *hint_, *pin_, *class_, *score_, *found_, *similarity_, *cluster_, *size_, *merged_, *patch_, *row_;
  QWidget* facts_;
};

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

/// The legend of the colours over the image: the classes with a search field, the segments, or the scale of depths.
class LegendPanel : public QWidget {
  Q_OBJECT
 public:
  LegendPanel(LegendModel* model, QWidget* parent = nullptr);

  /// The task decides which of the three is shown.
  void setModel(const ModelInfo& model);
  /// Null: no frame.
  void setFrame(const LiveFramePtr& frame);

  /// Offers the areas within each of these; none: of the whole picture only.
  void setRegions(const QStringList& names);
  /// The one whose areas are wanted; empty: the whole picture.
  QString region() const { return regions_->currentData().toString(); }

 signals:
  void regionPicked();

 private:
  QWidget* makeClasses();
  QWidget* makeSegments();
  QWidget* makeDepths();
  void fillSegments();
  void editColor(const QModelIndex& index);
  void showMenu(const QPoint& at);

  LegendModel* model_;
  QTableView* table_;
  QComboBox* regions_;
  QTableWidget* segment_table_;
  std::vector<Segment> segments_;
  std::size_t pixels_ = 0;
  QLabel *low_, *high_, *unit_;  // of depths
  QStackedWidget* pages_;
};

}  // namespace mpm::gui
