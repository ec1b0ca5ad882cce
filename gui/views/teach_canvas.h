// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/label_maps.h"
#include "gui/views/image_view.h"

namespace mpm::gui {

/// A picture on which labels are drawn. Below them stands what the model predicts, paler.
class TeachCanvas : public ImageView {
  Q_OBJECT
 public:
  /// kFill: the merge cluster, or the cell where nothing was merged. kAccept: the region of the prediction.
  enum class Tool { kFill, kBrush, kPolygon, kErase, kAccept, kMove };
  static constexpr double kMinBrush = 1, kMaxBrush = 400;

  using ImageView::ImageView;

  /// Draws into this one, which outlives the canvas; null: nothing to draw on. A stroke ends in the one before.
  void setEditor(LabelEditor* editor);
  void setTool(Tool tool);
  Tool tool() const { return pencil_.tool; }
  /// The class that is drawn; negative: there is none.
  void setLabel(int label) { pencil_.label = label; }
  /// px of the picture.
  void setBrush(double diameter) { setPainted(pencil_.diameter, std::clamp(diameter, kMinBrush, kMaxBrush)); }
  double brush() const { return pencil_.diameter; }
  /// `ignore`: the label that has no colour.
  void setColors(const std::array<QRgb, 256>& colors, int ignore);
  /// 0..1, of the labels; the prediction has half of it.
  void setOpacity(double opacity);
  double opacity() const { return label_paint_.opacity; }
  /// Tokens of which the model is not sure are hatched while setShowsUnsure() is on.
  void setUnsure(const std::vector<int>& tokens) { setPainted(unsure_, tokens); }
  void setShowsUnsure(bool on) { setPainted(shows_unsure_, on); }
  /// The labels changed, or there are others.
  void refreshLabels();
  bool hasPolygon() const { return !pen_.isEmpty(); }
  void closePolygon();
  void dropPolygon();

 signals:
  /// A tool was used without a class, or a model that it needs.
  void said(const QString& text);

 protected:
  void paintPicture(QPainter& painter, const Viewport& viewport) override;
  bool beginDrag(QPointF at) override;
  void drag(QPointF at) override;
  void endDrag() override;
  void clicked(QPointF) override {}
  bool outlinesCluster() const override { return pencil_.tool == Tool::kFill; }
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void enterEvent(QEnterEvent* event) override;

 private:
  bool canDraw();
  void draw(QPointF from, QPointF to);
  void paintLabels(const cv::Rect& where);
  void refreshPaint();

  LabelEditor* editor_ = nullptr;
  // What a stroke draws.
  struct Pencil {
    Tool tool = Tool::kFill;
    int label = -1;        // negative: there is no class
    double diameter = 24;  // px of the picture
  };
  // How labels are painted.
  struct LabelPaint {
    std::array<QRgb, 256> colors{};
    int ignore = 255;
    double opacity = 0.6;
  };

  Pencil pencil_;
  LabelPaint label_paint_;
  QImage labels_;  // of the picture's size
  std::vector<int> unsure_;
  bool shows_unsure_ = false;
  QPolygonF pen_;                  // the polygon that is drawn, px of the picture
  std::optional<QPointF> stroke_;  // where it is, px of the picture; nullopt: none is drawn
};

}  // namespace mpm::gui
