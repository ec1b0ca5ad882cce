// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/label_maps.h"
#include "gui/views/image_view.h"
#include "gui/views/label_panels.h"
#include "gui/views/model_panels.h"

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
  Tool tool() const { return tool_; }
  /// The class that is drawn; negative: there is none.
  void setLabel(int label) { label_ = label; }
  /// px of the picture.
  void setBrush(double diameter) { setPainted(brush_, std::clamp(diameter, kMinBrush, kMaxBrush)); }
  double brush() const { return brush_; }
  /// `ignore`: the label that has no colour.
  void setColors(const std::array<QRgb, 256>& colors, int ignore);
  /// 0..1, of the labels; the prediction has half of it.
  void setOpacity(double opacity);
  double opacity() const { return opacity_; }
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
  bool outlinesCluster() const override { return tool_ == Tool::kFill; }
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void enterEvent(QEnterEvent* event) override;

 private:
  bool canDraw();
  void draw(QPointF from, QPointF to);
  void paintLabels(const cv::Rect& where);
  void refreshPaint();

  LabelEditor* editor_ = nullptr;
  Tool tool_ = Tool::kFill;
  int label_ = -1, ignore_ = 255;
  double brush_ = 24, opacity_ = 0.6;
  std::array<QRgb, 256> colors_{};
  QImage labels_;  // of the picture's size
  std::vector<int> unsure_;
  bool shows_unsure_ = false;
  QPolygonF pen_;  // the polygon that is drawn, px of the picture
  bool stroke_ = false;
  QPointF last_;  // of the stroke, px of the picture
};

/// The picture to label with its tools, and beside it pictures, classes and models. Its keys count wherever the focus
/// is inside.
class TeachPane : public QWidget {
  Q_OBJECT
 public:
  explicit TeachPane(QWidget* parent = nullptr);

  TeachCanvas* canvas() const { return canvas_; }
  LabelClassesPanel* classes() const { return classes_; }
  LabelPicturesPanel* pictures() const { return pictures_; }
  LabelTablePanel* labels() const { return labels_; }
  TaughtModelsPanel* models() const { return models_; }
  StatesPanel* states() const { return states_; }

  void chooseTool(TeachCanvas::Tool tool) { tools_[static_cast<std::size_t>(tool)].second->setChecked(true); }
  /// The strokes of the active stack are undone by the buttons and keys.
  QUndoGroup& steps() { return steps_; }
  /// Says below the picture how far the trainer is.
  void setStatus(const QString& text, Badge badge = Badge::kNone);

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* makeTools();
  bool handleKey(const QKeyEvent& event, bool run);

  PatchSelection selection_;
  TeachCanvas* canvas_;
  LabelClassesPanel* classes_;
  LabelPicturesPanel* pictures_;
  LabelTablePanel* labels_;
  TaughtModelsPanel* models_;
  StatesPanel* states_;
  QSpinBox* brush_;
  QLabel* status_;
  QToolButton* unsure_;
  QUndoGroup steps_;
  std::vector<std::pair<Qt::Key, QToolButton*>> tools_;  // in the order of TeachCanvas::Tool
};

}  // namespace mpm::gui
