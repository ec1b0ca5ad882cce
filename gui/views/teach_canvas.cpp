// SPDX-License-Identifier: Apache-2.0
#include "gui/views/teach_canvas.h"

namespace mpm::gui {

void TeachCanvas::setEditor(LabelEditor* editor) {
  editor_ = editor;
  pen_.clear();
  refreshLabels();
}

void TeachCanvas::setTool(Tool tool) {
  tool_ = tool;
  dropPolygon();
  setCursor(tool == Tool::kMove ? Qt::OpenHandCursor : Qt::CrossCursor);
}

void TeachCanvas::setColors(const std::array<QRgb, 256>& colors, int ignore) {
  colors_ = colors;
  ignore_ = ignore;
  refreshPaint();
}

void TeachCanvas::setOpacity(double opacity) {
  opacity_ = std::clamp(std::round(opacity * 100) / 100, 0.0, 1.0);
  refreshPaint();
}

void TeachCanvas::refreshPaint() {
  ClassPaint paint;
  paint.color = colors_;
  paint.visible.fill(true);
  paint.visible[static_cast<std::size_t>(ignore_)] = false;
  paint.opacity = opacity_ / 2;
  setPaint(paint);
  refreshLabels();
}

void TeachCanvas::refreshLabels() {
  const QSize size = editor_ ? QSize(editor_->labels().cols, editor_->labels().rows) : QSize();
  if (labels_.size() != size) labels_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
  if (editor_) paintLabels({{}, editor_->labels().size()});
  update();
}

// A line around each region keeps it apart from the prediction of the same class.
void TeachCanvas::paintLabels(const cv::Rect& where) {
  const cv::Mat& map = editor_->labels();
  std::array<QRgb, 256> inside{}, border{};
  for (std::size_t c = 0; c < 256; ++c) {
    if (static_cast<int>(c) == ignore_) continue;
    const QRgb color = colors_[c];
    inside[c] = qPremultiply(qRgba(qRed(color), qGreen(color), qBlue(color), static_cast<int>(opacity_ * 255)));
    border[c] = qRgb(qRed(color), qGreen(color), qBlue(color));
  }
  const cv::Rect all({}, map.size()), area = cv::Rect(where.tl() - cv::Point(1, 1), where.br() + cv::Point(1, 1)) & all;
  for (int y = area.y; y < area.br().y; ++y) {
    const uchar *row = map.ptr(y), *above = map.ptr(std::max(0, y - 1)),
                *below = map.ptr(std::min(map.rows - 1, y + 1));
    auto* out = reinterpret_cast<QRgb*>(labels_.scanLine(y));
    for (int x = area.x; x < area.br().x; ++x) {
      const uchar label = row[x];
      const bool edge = label != above[x] || label != below[x] || label != row[std::max(0, x - 1)] ||
                        label != row[std::min(map.cols - 1, x + 1)];
      out[x] = (edge ? border : inside)[label];
    }
  }
}

void TeachCanvas::paintPicture(QPainter& painter, const Viewport& view) {
  ImageView::paintPicture(painter, view);
  const QImage& above = showsChanges() && !stroke_ ? changes_ : labels_;
  if (!above.isNull()) painter.drawImage(view.pictureRect(), above);
  if (shows_unsure_ && frame()->hasGrid())
    for (const int token : unsure_) {
      const QRectF cell = view.tokenRect(token, frame()->lookup.grid());
      painter.fillRect(cell, QBrush(Qt::black, Qt::BDiagPattern));
      painter.fillRect(cell.translated(1, 0), QBrush(Qt::white, Qt::BDiagPattern));
    }
  const auto at = cursorPlace();
  paintPen(painter, view, pen_, at);
  if (at && (tool_ == Tool::kBrush || tool_ == Tool::kErase))
    strokeOnPicture(painter, [&] {
      painter.drawEllipse(view.toWidget(*at), brush_ * view.scale() / 2, brush_ * view.scale() / 2);
    });
}

bool TeachCanvas::canDraw() {
  if (!editor_ || editor_->empty() || !frame()) return false;
  const bool needs_class = tool_ == Tool::kFill || tool_ == Tool::kBrush || tool_ == Tool::kPolygon;
  QString missing;
  if (needs_class && label_ < 0)
    missing = tr("Add a class first");
  else if (tool_ == Tool::kFill && !frame()->hasGrid())
    missing = tr("The clusters of this picture come with the model: wait, or use the brush");
  else if (tool_ == Tool::kAccept && frame()->labels().empty())
    missing = tr("There is no prediction of this picture yet");
  if (!missing.isEmpty()) emit said(missing);
  return missing.isEmpty();
}

bool TeachCanvas::beginDrag(QPointF at) {
  if (tool_ == Tool::kMove) return false;
  if (!canDraw()) return true;  // and nothing moves
  last_ = viewport().toPicture(at);
  if (tool_ == Tool::kPolygon) {
    pen_ << last_;
    update();
    return true;
  }
  editor_->begin();
  stroke_ = true;
  draw(last_, last_);
  return true;
}

void TeachCanvas::drag(QPointF at) {
  if (!stroke_) return;
  const QPointF to = viewport().toPicture(at);
  draw(last_, to);
  last_ = to;
}

void TeachCanvas::endDrag() {
  if (std::exchange(stroke_, false) && editor_->end()) emit stroked();
}

void TeachCanvas::draw(QPointF from, QPointF to) {
  cv::Rect changed({}, editor_->labels().size());
  switch (tool_) {
    case Tool::kFill: {
      const MergeLookup& lookup = frame()->lookup;
      const Viewport view = viewport();
      const auto token = view.tokenAt(view.toWidget(to), lookup.grid());
      if (!token) return;
      const int step = lookup.steps() - 1;
      editor_->cells(lookup.grid(), lookup.members(step, lookup.cluster(step, *token)), label_);
      break;
    }
    case Tool::kBrush:
    case Tool::kErase: {
      editor_->brush(from, to, brush_, tool_ == Tool::kErase ? ignore_ : label_);
      const double reach = brush_ / 2 + 2;
      const QRect near = QRectF(from, to).normalized().adjusted(-reach, -reach, reach, reach).toAlignedRect();
      changed &= cv::Rect(near.x(), near.y(), near.width(), near.height());
      break;
    }
    case Tool::kAccept:
      editor_->region(frame()->labels(), to);
      break;
    case Tool::kPolygon:
    case Tool::kMove:
      return;
  }
  paintLabels(changed);
  update();
}

void TeachCanvas::closePolygon() {
  if (pen_.isEmpty() || !canDraw()) return;
  editor_->begin();
  editor_->polygon(std::exchange(pen_, {}), label_);
  refreshLabels();
  if (editor_->end()) emit stroked();
}

void TeachCanvas::dropPolygon() {
  pen_.clear();
  update();
}

void TeachCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (tool_ == Tool::kPolygon)
    closePolygon();
  else if (tool_ == Tool::kMove)
    ImageView::mouseDoubleClickEvent(event);
  else
    mousePressEvent(event);  // the second of two quick strokes
}

// The cross of the arrow keys draws as the mouse does.
void TeachCanvas::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && hasPolygon()) return closePolygon();
  if (!enter && event->key() != Qt::Key_Space) return ImageView::keyPressEvent(event);
  const auto at = frame() ? cursorPlace() : std::nullopt;
  if (at && beginDrag(viewport().toWidget(*at))) endDrag();
}

// The keys of classes and tools are for the picture under the mouse, not for the name of a class.
void TeachCanvas::enterEvent(QEnterEvent* event) {
  setFocus();
  ImageView::enterEvent(event);
}

}  // namespace mpm::gui
