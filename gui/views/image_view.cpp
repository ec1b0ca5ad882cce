// SPDX-License-Identifier: Apache-2.0
#include "gui/views/image_view.h"

#include "gui/models/readout.h"
#include "monitor/statistics/region_meter.h"
#include "monitor/statistics/view_detector.h"
#include "vision/labels/classes.h"

namespace mpm::gui {

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
  if (!banner_.isEmpty()) paintBanner(painter);
  paintFocus(painter, this);
}

void PictureView::paintBanner(QPainter& painter) const {
  constexpr int kLines = 2, kSide = 10, kAir = 5;
  const int room = std::max(40, width() - 2 * kSide);
  const QFontMetrics metrics = fontMetrics();
  QTextOption wrapping(Qt::AlignLeft | Qt::AlignVCenter);
  wrapping.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  const auto lines = [&](const QString& text) {
    const QRectF needed = painter.boundingRect(QRectF(0, 0, room, 1e4), text, wrapping);
    return static_cast<int>(std::lround(needed.height() / metrics.lineSpacing()));
  };
  QString text = banner_;
  // A line that ends with a whole word is not full, so what fits is tried.
  for (int length = kLines * room; lines(text) > kLines && length > room; length -= metrics.averageCharWidth())
    text = metrics.elidedText(banner_, Qt::ElideRight, length);
  const QRect strip(0, 0, width(), std::min(lines(text), kLines) * metrics.lineSpacing() + 2 * kAir);
  painter.fillRect(strip, QColor(0, 0, 0, 185));
  painter.setPen(Qt::white);
  painter.drawText(QRectF(strip.adjusted(kSide, kAir, -kSide, -kAir)), text, wrapping);
}

void PictureView::paintCluster(QPainter& painter, const Viewport& view) {
  const auto token = selection_->token();
  const MergeLookup& lookup = frame_->lookup;
  if (!token || *token >= lookup.tokens()) return;
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
  pressed_at_ = last_at_ = event->position();
  moved_ = false;
  drag_ = event->button() == Qt::LeftButton && frame_ && beginDrag(event->position()) ? Drag::kView : Drag::kPan;
}

void PictureView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF at = event->position();
  if ((at - pressed_at_).manhattanLength() > 4) moved_ = true;
  if (drag_ == Drag::kView)
    drag(at);
  else if (drag_ == Drag::kPan && moved_)
    changeState(viewport().pannedBy(at - last_at_));
  last_at_ = at;
  if (!frame_) return;
  const std::optional<QPointF> place = viewport().shareAt(at);
  selection_->point(tokenAt(place), place);
}

void PictureView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag was = std::exchange(drag_, Drag::kNone);
  if (was == Drag::kView) endDrag();
  if (was == Drag::kPan && !moved_ && event->button() == Qt::LeftButton && frame_) clicked(event->position());
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
  for (qsizetype i = 0; i < polygon.size(); ++i)
    if (const double distance = QLineF(polygon[i], at).length(); distance <= reach) {
      reach = distance;
      best = i;
    }
  return best;
}

void paintPen(QPainter& painter, const Viewport& view, QPolygonF corners, std::optional<QPointF> next) {
  if (corners.isEmpty()) return;
  const qsizetype drawn = corners.size();
  if (next) corners << *next;
  paintPolygon(painter, view, corners, drawn);
}

namespace {

// A picture that was saved with its classes needs no labels to be painted.
const cv::Mat* savedOverlay(const LiveFrame& frame, ViewMode mode) {
  return mode == ViewMode::kOverlay && frame.map.empty() && !frame.overlay.empty() ? &frame.overlay : nullptr;
}

// The smallest picture that still has a pixel for every pixel of the screen.
const cv::Mat& scaleFor(const LiveFrame& frame, double device_px_per_picture_px) {
  std::size_t best = 0;
  while (best + 1 < frame.scales.size() &&
         device_px_per_picture_px * frame.image().cols <= frame.scales[best + 1].cols * 1.15)
    ++best;
  return frame.scales[best];
}

}  // namespace

void ImageView::paintPicture(QPainter& painter, const Viewport& view) {
  const double ratio = devicePixelRatioF();
  const QSize device = size() * ratio;
  if (canvas_.size() != device) {
    canvas_ = QImage(device, QImage::Format_RGB32);
    stale_ = true;
  }
  if (stale_) {
    canvas_.fill(theme().canvas);
    canvas_.setDevicePixelRatio(1);
    const QRectF picture(view.pictureRect().topLeft() * ratio, view.pictureRect().size() * ratio);
    const cv::Mat* saved = savedOverlay(*frame(), paint_.mode);
    const cv::Mat& image = saved ? *saved : scaleFor(*frame(), view.scale() * ratio);
    if (showsComputed())
      paintComputed(image, frame()->row_age, frame()->lookup.grid(), paint_.faded, picture, canvas_);
    else
      paintClasses(image, frame()->map, paint_, picture, canvas_, frame()->map.empty() ? cv::Mat() : frame()->ids());
    canvas_.setDevicePixelRatio(ratio);
    stale_ = false;
  }
  painter.drawImage(0, 0, canvas_);
  if (shows_regions_) paintRegions(painter, view);
  if (paint_.mode != ViewMode::kImage && paint_.mode != ViewMode::kComputed) paintBoxes(painter, view);
  if (showsComputed()) outlineComputed(painter, view);
  if (paint_.mode == ViewMode::kCurtain) {
    const double x = std::round(curtainX(view)) + 0.5;
    const QRectF picture = view.pictureRect().intersected(QRectF(rect()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(QColor(0, 0, 0, 140), 3));
    painter.drawLine(QPointF(x, picture.top()), QPointF(x, picture.bottom()));
    painter.setPen(QPen(Qt::white, 1.5));
    painter.drawLine(QPointF(x, picture.top()), QPointF(x, picture.bottom()));
    const QPointF knob(x, picture.center().y());
    painter.setBrush(Qt::white);
    painter.setPen(QPen(QColor(0, 0, 0, 140), 1));
    painter.drawEllipse(knob, 10, 10);
    painter.setPen(QPen(QColor(40, 40, 40), 1.8, Qt::SolidLine, Qt::RoundCap));
    for (const double side : {-1.0, 1.0}) {
      painter.drawLine(knob + QPointF(side * 6, 0), knob + QPointF(side * 2.5, -3.5));
      painter.drawLine(knob + QPointF(side * 6, 0), knob + QPointF(side * 2.5, 3.5));
    }
  }
}

void ImageView::setRegions(const std::vector<vision::Region>& regions) {
  regions_.clear();
  for (const vision::Region& region : regions) regions_.push_back(outlineOf(region));
  update();
}

// An ignored region has a broken line: its name alone would not tell it from the others at a glance.
void ImageView::paintRegions(QPainter& painter, const Viewport& view) const {
  const UnixMs time = frame()->result.frame.time;
  const cv::Size size = frame()->image().size();
  const monitor::ViewMotion& place = frame()->sample.view_offset;
  const bool follows = monitor::followsView({}, place, size);
  const cv::Matx23d to = monitor::matrixOf(place, size);
  // Pixel centres are whole numbers there.
  const QTransform moved = QTransform::fromTranslate(-0.5, -0.5) *
                           QTransform(to(0, 0), to(1, 0), to(0, 1), to(1, 1), to(0, 2), to(1, 2)) *
                           QTransform::fromTranslate(0.5, 0.5);
  for (const RegionOutline& outline : regions_) {
    const vision::Region& region = outline.region;
    if (outline.polygons.isEmpty() || (time > 0 && !region.validAt(time))) continue;
    const auto placed = [&](const QPolygonF& polygon) { return follows ? moved.map(polygon) : polygon; };
    for (const QPolygonF& polygon : outline.polygons)
      paintPolygon(painter, view, placed(view.fromShares(polygon)), 0, region.ignore ? Qt::DashLine : Qt::SolidLine);
    const QPointF corner = view.toWidget(placed(view.fromShares(outline.polygons.front())).boundingRect().topLeft());
    paintTitle(painter, view, corner, outline.title());
  }
}

void ImageView::paintTitle(QPainter& painter, const Viewport& view, QPointF at, const QString& title) const {
  constexpr int kAir = 3;
  QRectF box = QRectF(fontMetrics().boundingRect(title)).adjusted(-kAir, -kAir, kAir, kAir);
  const QRectF shown = view.pictureRect() & QRectF(rect());
  box.moveTopLeft({std::clamp(at.x() + kAir, shown.left(), std::max(shown.left(), shown.right() - box.width())),
                   std::clamp(at.y() + kAir, shown.top(), std::max(shown.top(), shown.bottom() - box.height()))});
  painter.fillRect(box, QColor(0, 0, 0, 170));
  painter.setPen(Qt::white);
  painter.drawText(box, Qt::AlignCenter, title);
}

void ImageView::paintBoxes(QPainter& painter, const Viewport& view) const {
  const std::vector<Segment>& segments = frame()->result.estimate.segments;
  for (auto one = segments.rbegin(); one != segments.rend(); ++one) {  // the best last, above the others
    const auto label = static_cast<std::size_t>(one->label);
    if (!one->box || !paint_.visible.at(label)) continue;
    const cv::Rect2d& box = *one->box;
    const QRectF place(view.toWidget({box.x, box.y}), view.toWidget({box.br().x, box.br().y}));
    painter.setBrush(Qt::NoBrush);
    for (const QPen& pen : {QPen(QColor(0, 0, 0, 160), 4), QPen(QColor(paint_.color.at(label)), 2)}) {
      painter.setPen(pen);
      painter.drawRect(place);
    }
    const std::string name = vision::classNames(*frame()->result.model)[label];
    paintTitle(painter, view, place.topLeft(),
               tr("%1 %2 %").arg(QString::fromStdString(name), number(100 * one->score, 0)));
  }
}

// A line around the patches that were computed: brightness alone says little by night.
void ImageView::outlineComputed(QPainter& painter, const Viewport& view) const {
  const Size2 grid = frame()->lookup.grid();
  const auto computed = [&](int y, int x) { return frame()->row_age[y * grid.width + x] == 0; };
  QVector<QLine> lines;
  for (int y = 0; y < grid.height; ++y)
    for (int x = 0; x < grid.width; ++x) {
      if (x + 1 < grid.width && computed(y, x) != computed(y, x + 1))
        lines.append({view.corner(x + 1, y, grid), view.corner(x + 1, y + 1, grid)});
      if (y + 1 < grid.height && computed(y, x) != computed(y + 1, x))
        lines.append({view.corner(x, y + 1, grid), view.corner(x + 1, y + 1, grid)});
    }
  painter.setPen(QPen(QColor(255, 190, 0), 0));
  painter.drawLines(lines);
}

void ImageView::paintMeaning(QPainter& painter) const {
  if (!frame()->hasGrid()) return;  // a stored picture
  const auto& reuse = frame()->result.estimate.reuse;
  const QString meaning =
      !reuse ? tr("Every patch is computed for each frame. Start with --reuse auto to compute only those that changed.")
      : reuse->key_frame ? tr("A key frame: every patch was computed.")
                         : tr("%1 % of the patches, those outlined, were computed for this frame. Dark ones are kept "
                              "from earlier frames.")
                               .arg(number(100 * reuse->rows, 1));
  constexpr int kAir = 6;
  const QRect room = rect().adjusted(2 * kAir, 2 * kAir, -2 * kAir, -2 * kAir);
  const QRect text = fontMetrics().boundingRect(room, Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap, meaning);
  painter.fillRect(text.adjusted(-kAir, -kAir, kAir, kAir), QColor(0, 0, 0, 190));
  painter.setPen(Qt::white);
  painter.drawText(text, Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap, meaning);
}

void ImageView::paintAbove(QPainter& painter, const Viewport& view) const {
  if (paint_.mode == ViewMode::kComputed) paintMeaning(painter);
  const auto cursor = selection().cursor();
  const QString text = !cursor                              ? QString()
                       : paint_.mode == ViewMode::kComputed ? rowAge(*frame(), *cursor)
                                                            : readout(*frame(), *cursor);
  if (text.isEmpty()) return;
  constexpr int kAway = 14, kAir = 5;
  const QPointF at = view.toWidget(*cursorPlace());
  QRectF box = QRectF(fontMetrics().boundingRect(text)).adjusted(-kAir, -kAir, kAir, kAir);
  box.moveTopLeft(at + QPointF(kAway, kAway));
  if (box.right() > width()) box.moveRight(at.x() - kAway);
  if (box.bottom() > height()) box.moveBottom(at.y() - kAway);
  painter.fillRect(box, QColor(0, 0, 0, 190));
  painter.setPen(Qt::white);
  painter.drawText(box, Qt::AlignCenter, text);
}

double ImageView::curtainX(const Viewport& view) const {
  return view.pictureRect().left() + paint_.curtain * view.pictureRect().width();
}

bool ImageView::beginDrag(QPointF at) {
  return paint_.mode == ViewMode::kCurtain && std::abs(at.x() - curtainX(viewport())) < 12;
}

void ImageView::drag(QPointF at) {
  const QRectF picture = viewport().pictureRect();
  emit curtainMoved(std::clamp((at.x() - picture.left()) / picture.width(), 0.0, 1.0));
}

}  // namespace mpm::gui
