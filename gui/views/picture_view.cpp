// SPDX-License-Identifier: Apache-2.0
#include "gui/views/picture_view.h"

#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr int kBannerSide = 10, kBannerAir = 5;  // px

QTextOption bannerOption() {
  QTextOption option(Qt::AlignLeft | Qt::AlignVCenter);
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  return option;
}

}  // namespace

PictureView::PictureView(PatchSelection* selection, QWidget* parent) : QWidget(parent), selection_(selection) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  connect(selection, &PatchSelection::changed, this, qOverload<>(&QWidget::update));
}

void PictureView::setFrame(LiveFramePtr frame) {
  frame_ = std::move(frame);
  stale_ = true;
  update();
}

void PictureView::changeState(const ViewState& state) {
  if (state == state_) return;
  setViewState(state);
  emit viewStateChanged(state);
}

std::optional<QPointF> PictureView::cursorPlace() const {
  const auto at = selection_->cursor();
  if (!at) return std::nullopt;
  return QPointF(at->x() * frame_->size().width(), at->y() * frame_->size().height());
}

void PictureView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().canvas);
  const auto [banner, strip] = placedBanner(painter);
  banner_height_ = strip.height();
  if (!frame_) {
    painter.setPen(theme().on_canvas);
    painter.drawText(rect().adjusted(16, 16, -16, -16), Qt::AlignCenter | Qt::TextWordWrap, placeholder_);
  } else {
    const Viewport view = viewport();
    paintPicture(painter, view);
    if (frame_->hasGrid() && outlinesCluster()) paintCluster(painter, view);
    paintCursor(painter, view);
    paintAbove(painter, view);
  }
  if (!banner.isEmpty()) {
    painter.fillRect(strip, QColor(0, 0, 0, 185));
    painter.setPen(Qt::white);
    painter.drawText(QRectF(strip.adjusted(kBannerSide, kBannerAir, -kBannerSide, -kBannerAir)), banner,
                     bannerOption());
  }
  paintFocus(painter, this);
}

// The banner, or as much of it as two lines hold, and the strip at the top that it covers.
std::pair<QString, QRect> PictureView::placedBanner(QPainter& painter) const {
  if (banner_.isEmpty()) return {};
  constexpr int kLines = 2;
  const int room = std::max(40, width() - 2 * kBannerSide);
  const QFontMetrics metrics = fontMetrics();
  const auto lines = [&](const QString& text) {
    const QRectF needed = painter.boundingRect(QRectF(0, 0, room, 1e4), text, bannerOption());
    return static_cast<int>(std::lround(needed.height() / metrics.lineSpacing()));
  };
  QString text = banner_;
  // A line that ends with a whole word is not full, so what fits is tried.
  for (int length = kLines * room; lines(text) > kLines && length > room; length -= metrics.averageCharWidth())
    text = metrics.elidedText(banner_, Qt::ElideRight, length);
  return {text, QRect(0, 0, width(), std::min(lines(text), kLines) * metrics.lineSpacing() + 2 * kBannerAir)};
}

void PictureView::paintCluster(QPainter& painter, const Viewport& view) {
  const auto token = selection_->token();
  const MergeLookup& lookup = frame_->lookup;
  if (!token || *token >= lookup.tokens() || lookup.hidden(*token)) return;
  const int step = std::min(selection_->step(), lookup.steps() - 1);
  const int cluster = lookup.cluster(step, *token);
  const Size2 grid = lookup.grid();
  QVector<QLine> outline;
  for (const GridLine& line : clusterOutline(lookup, step, cluster))
    outline.append({view.corner(line.x1, line.y1, grid), view.corner(line.x2, line.y2, grid)});
  const QRectF here = view.tokenRect(*token, grid);
  QVector<QLineF> links;
  for (int member : lookup.members(step, cluster))
    if (member != *token) links.append({here.center(), view.tokenRect(member, grid).center()});

  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(QColor(0, 0, 0, 150), 3));
  painter.drawLines(links);
  painter.setPen(QPen(QColor(255, 220, 60), 1.3, Qt::DashLine));
  painter.drawLines(links);
  painter.setPen(QPen(QColor(0, 0, 0, 200), 4, Qt::SolidLine, Qt::SquareCap));
  painter.drawLines(outline);
  painter.setPen(QPen(QColor(255, 220, 60), 2, Qt::SolidLine, Qt::SquareCap));
  painter.drawLines(outline);
  // The patch itself, so that it is known among its cluster.
  painter.setBrush(QColor(255, 255, 255, 60));
  painter.setPen(QPen(Qt::white, 1, selection_->pinned() ? Qt::SolidLine : Qt::DotLine));
  painter.drawRect(here.adjusted(1.5, 1.5, -1.5, -1.5));
  painter.restore();
}

void PictureView::paintCursor(QPainter& painter, const Viewport& view) {
  const auto there = cursorPlace();
  if (!there || underMouse()) return;
  const QPointF at = view.toWidget(*there);
  const QVector<QLineF> cross = {{at - QPointF(9, 0), at - QPointF(3, 0)},
                                 {at + QPointF(3, 0), at + QPointF(9, 0)},
                                 {at - QPointF(0, 9), at - QPointF(0, 3)},
                                 {at + QPointF(0, 3), at + QPointF(0, 9)}};
  painter.setPen(QPen(Qt::black, 3));
  painter.drawLines(cross);
  painter.setPen(QPen(Qt::white, 1));
  painter.drawLines(cross);
}

void PictureView::wheelEvent(QWheelEvent* event) {
  changeState(viewport().zoomedAt(event->position(), std::pow(1.0015, event->angleDelta().y())));
  event->accept();
}

void PictureView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return QWidget::mousePressEvent(event);
  const QPointF at = event->position();
  const bool of_view = event->button() == Qt::LeftButton && frame_ && beginDrag(at);
  drag_ = Drag{.of_view = of_view, .pressed_at = at, .last_at = at};
}

void PictureView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if (drag_) {
    if ((at - drag_->pressed_at).manhattanLength() > 4) drag_->moved = true;
    if (drag_->of_view)
      drag(at);
    else if (drag_->moved)
      changeState(viewport().pannedBy(at - drag_->last_at));
    drag_->last_at = at;
  }
  if (!frame_) return;
  const std::optional<QPointF> place = viewport().shareAt(at);
  selection_->point(tokenAt(place), place);
}

void PictureView::mouseReleaseEvent(QMouseEvent* event) {
  const auto was = std::exchange(drag_, std::nullopt);
  if (!was) return;
  if (was->of_view)
    endDrag();
  else if (!was->moved && event->button() == Qt::LeftButton && frame_)
    clicked(event->position());
}

void PictureView::keyPressEvent(QKeyEvent* event) {
  const Size2 grid = frame_ ? frame_->lookup.grid() : Size2{};
  const QPointF middle(width() / 2.0, height() / 2.0);
  const QPoint arrow = arrowOf(*event);
  if (!arrow.isNull()) return selection_->move(arrow.x(), arrow.y(), grid.width, grid.height);
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Space:
      return selection_->togglePin(selection_->token());
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return changeState(viewport().zoomedAt(middle, 1.25));
    case Qt::Key_Minus:
      return changeState(viewport().zoomedAt(middle, 0.8));
    case Qt::Key_0:
      return changeState({});
    default:
      QWidget::keyPressEvent(event);
  }
}

void paintPolygon(QPainter& painter, const Viewport& view, const QPolygonF& polygon, qsizetype handles,
                  Qt::PenStyle style) {
  QPolygonF corners;
  for (const QPointF& corner : polygon) corners << view.toWidget(corner);
  strokeOnPicture(
      painter, [&] { painter.drawPolygon(corners); }, style);
  for (qsizetype i = 0; i < handles; ++i) strokeOnPicture(painter, [&] { painter.drawEllipse(corners[i], 3, 3); });
}

qsizetype cornerNear(const QPolygonF& polygon, QPointF at, double reach) {
  qsizetype best = -1;
  for (qsizetype i = 0; i < polygon.size(); ++i) {
    if (const double distance = QLineF(polygon[i], at).length(); distance <= reach) {
      reach = distance;
      best = i;
    }
  }
  return best;
}

void paintPen(QPainter& painter, const Viewport& view, QPolygonF corners, std::optional<QPointF> next) {
  if (corners.isEmpty()) return;
  const qsizetype drawn = corners.size();
  if (next) corners << *next;
  paintPolygon(painter, view, corners, drawn);
}

}  // namespace mpm::gui
