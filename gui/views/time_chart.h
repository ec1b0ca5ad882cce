// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/views/chart_scene.h"

namespace mpm::gui {

/// Samples over time: one lane per quantity above a common time axis, the night shaded. What is on show is asked for
/// by rangeChanged(); until the answer is there, the buckets at hand are drawn where they belong.
class TimeChart : public QWidget {
  Q_OBJECT
 public:
  explicit TimeChart(QWidget* parent = nullptr);

  /// Other quantities than before have no values until setChart().
  void setSeries(std::vector<ChartSeries> series);
  const std::vector<ChartSeries>& series() const { return scene_.series; }
  std::vector<charts::SeriesKey> quantities() const;
  /// The values of quantities().
  void setChart(charts::Chart chart);
  const charts::Chart& chart() const { return scene_.chart; }
  /// The outages among them are shown in the words of the language.
  void setBands(std::vector<charts::ChartBand> bands);
  /// Times, in seconds, that have a stored picture.
  void setPictures(std::vector<double> times);

  /// By which times are shown.
  void setClock(const charts::OptionalClock& clock);
  charts::OptionalClock clock() const { return scene_.clock; }
  void setRange(double from, double to);
  const TimeAxis& axis() const { return scene_.axis; }
  /// The end of the axis follows the clock.
  void setFollowing(bool following);
  bool following() const { return following_; }

  std::optional<double> crosshair() const { return scene_.crosshair; }
  QString crosshairText() const { return scene_.crosshairText(); }

  /// The lines, axes and marks on show, from which a picture can be drawn.
  const ChartScene& scene() const { return scene_; }

  QSize sizeHint() const override { return {700, 220}; }
  QSize minimumSizeHint() const override { return {200, 90}; }

 signals:
  void rangeChanged(double from, double to, int max_buckets);
  void followingChanged(bool following);
  /// A click, in seconds.
  void timePicked(double time);
  /// Key 0.
  void allAsked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent*) override { moveCrosshair(std::nullopt); }
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void moveAxis(const TimeAxis& axis);  // by hand: it follows no more
  void moveCrosshair(std::optional<double> time);

  ChartScene scene_;
  bool following_ = true;
  std::optional<QPointF> pressed_;
  QPointF last_;
  bool moved_ = false;
  QTimer ask_;
};

}  // namespace mpm::gui
