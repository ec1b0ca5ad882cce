// SPDX-License-Identifier: Apache-2.0
#include "gui/views/teach_canvas.h"

#include "gui/views/picture_view.h"

namespace mpm::gui {

void TeachCanvas::setEditor(LabelEditor* editor) {
  endDrag();
  editor_ = editor;
  pen_.clear();
  refreshLabels();
}

void TeachCanvas::setTool(Tool tool) {
  pencil_.tool = tool;
  dropPolygon();
  setCursor(tool == Tool::kMove ? Qt::OpenHandCursor : Qt::CrossCursor);
}

void TeachCanvas::setColors(const std::array<QRgb, 256>& colors, int ignore) {
  label_paint_.colors = colors;
  label_paint_.ignore = ignore;
  refreshPaint();
}

void TeachCanvas::setOpacity(double opacity) {
  label_paint_.opacity = std::clamp(std::round(opacity * 100) / 100, 0.0, 1.0);
  refreshPaint();
}

void TeachCanvas::refreshPaint() {
  ClassPaint paint;
  paint.color = label_paint_.colors;
  paint.visible.fill(true);
  paint.visible[static_cast<std::size_t>(label_paint_.ignore)] = false;
  paint.opacity = label_paint_.opacity / 2;
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
    if (static_cast<int>(c) == label_paint_.ignore) continue;
    const QRgb color = label_paint_.colors[c];
    inside[c] =
        qPremultiply(qRgba(qRed(color), qGreen(color), qBlue(color), static_cast<int>(label_paint_.opacity * 255)));
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
  if (!labels_.isNull()) painter.drawImage(view.pictureRect(), labels_);
  if (shows_unsure_ && frame()->hasGrid()) {
    for (const int token : unsure_) {
      const QRectF cell = view.tokenRect(token, frame()->lookup.grid());
      painter.fillRect(cell, QBrush(Qt::black, Qt::BDiagPattern));
      painter.fillRect(cell.translated(1, 0), QBrush(Qt::white, Qt::BDiagPattern));
    }
  }
  const auto at = cursorPlace();
  paintPen(painter, view, pen_, at);
  if (at && (pencil_.tool == Tool::kBrush || pencil_.tool == Tool::kErase)) {
    strokeOnPicture(painter, [&] {
      painter.drawEllipse(view.toWidget(*at), pencil_.diameter * view.scale() / 2, pencil_.diameter * view.scale() / 2);
    });
  }
}

bool TeachCanvas::canDraw() {
  if (!editor_ || !frame()) return false;
  const bool needs_class =
      pencil_.tool == Tool::kFill || pencil_.tool == Tool::kBrush || pencil_.tool == Tool::kPolygon;
  QString missing;
  if (needs_class && pencil_.label < 0)
    missing = tr("Add a class first");
  else if (pencil_.tool == Tool::kFill && !frame()->hasGrid())
    missing = tr("The clusters of this picture come with the model: wait, or use the brush");
  else if (pencil_.tool == Tool::kAccept && frame()->labels().empty())
    missing = tr("There is no prediction of this picture yet");
  if (!missing.isEmpty()) emit said(missing);
  return missing.isEmpty();
}

bool TeachCanvas::beginDrag(QPointF at) {
  if (pencil_.tool == Tool::kMove) return false;
  if (!canDraw()) return true;  // and nothing moves
  const QPointF place = viewport().toPicture(at);
  if (pencil_.tool == Tool::kPolygon) {
    pen_ << place;
    update();
    return true;
  }
  editor_->begin();
  stroke_ = place;
  draw(place, place);
  return true;
}

void TeachCanvas::drag(QPointF at) {
  if (!stroke_) return;
  const QPointF to = viewport().toPicture(at);
  draw(*stroke_, to);
  stroke_ = to;
}

void TeachCanvas::endDrag() {
  if (std::exchange(stroke_, std::nullopt)) editor_->end();
}

void TeachCanvas::draw(QPointF from, QPointF to) {
  cv::Rect changed({}, editor_->labels().size());
  switch (pencil_.tool) {
    case Tool::kFill: {
      const MergeLookup& lookup = frame()->lookup;
      const Viewport view = viewport();
      const auto token = tokenAt(view.shareAt(view.toWidget(to)));
      if (!token) return;
      const int step = lookup.steps() - 1;
      editor_->cells(lookup.grid(), lookup.members(step, lookup.cluster(step, *token)), pencil_.label);
      break;
    }
    case Tool::kBrush:
    case Tool::kErase: {
      editor_->brush(from, to, pencil_.diameter, pencil_.tool == Tool::kErase ? label_paint_.ignore : pencil_.label);
      const double reach = pencil_.diameter / 2 + 2;
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
  editor_->polygon(pen_, pencil_.label);
  dropPolygon();
  editor_->end();
}

void TeachCanvas::dropPolygon() {
  pen_.clear();
  update();
}

void TeachCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (pencil_.tool == Tool::kPolygon)
    closePolygon();
  else if (pencil_.tool == Tool::kMove)
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
