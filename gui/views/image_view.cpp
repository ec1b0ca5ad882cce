// SPDX-License-Identifier: Apache-2.0
#include "gui/views/image_view.h"

#include "gui/models/readout.h"
#include "gui/models/theme.h"
#include "monitor/statistics/region_meter.h"
#include "monitor/statistics/view_detector.h"
#include "vision/labels/classes.h"

namespace mpm::gui {
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

QTransform ImageView::followed() const {
  const cv::Size size = frame()->image().size();
  const monitor::ViewMotion& place = frame()->sample.view_offset;
  if (!monitor::followsView({}, place, size)) return {};
  const cv::Matx23d to = monitor::matrixOf(place, size);
  // Pixel centres are whole numbers there.
  return QTransform::fromTranslate(-0.5, -0.5) *
         QTransform(to(0, 0), to(1, 0), to(0, 1), to(1, 1), to(0, 2), to(1, 2)) * QTransform::fromTranslate(0.5, 0.5);
}

// An ignored region has a broken line: its name alone would not tell it from the others at a glance.
void ImageView::paintRegions(QPainter& painter, const Viewport& view) const {
  const UnixMs time = frame()->result.frame.time;
  const QTransform to_picture = followed();
  for (const RegionOutline& outline : regions_) {
    const vision::Region& region = outline.region;
    if (outline.polygons.isEmpty() || (time > 0 && !region.validAt(time))) continue;
    const auto placed = [&](const QPolygonF& polygon) { return to_picture.map(view.fromShares(polygon)); };
    for (const QPolygonF& polygon : outline.polygons)
      paintPolygon(painter, view, placed(polygon), 0, region.ignore ? Qt::DashLine : Qt::SolidLine);
    const QPointF corner = view.toWidget(placed(outline.polygons.front()).boundingRect().topLeft());
    paintTitle(painter, view, corner, outline.title());
  }
}

void ImageView::paintTitle(QPainter& painter, const Viewport& view, QPointF at, const QString& title) const {
  constexpr int kAir = 3;
  const QRectF shown = view.pictureRect() & QRectF(rect().adjusted(0, bannerHeight(), 0, 0));
  const QString text = fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(shown.width()) - 2 * kAir);
  QRectF box = QRectF(fontMetrics().boundingRect(text)).adjusted(-kAir, -kAir, kAir, kAir);
  box.moveTopLeft({std::clamp(at.x() + kAir, shown.left(), std::max(shown.left(), shown.right() - box.width())),
                   std::clamp(at.y() + kAir, shown.top(), std::max(shown.top(), shown.bottom() - box.height()))});
  painter.fillRect(box, QColor(0, 0, 0, 170));
  painter.setPen(Qt::white);
  painter.drawText(box, Qt::AlignCenter, text);
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
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      if (x + 1 < grid.width && computed(y, x) != computed(y, x + 1))
        lines.append({view.corner(x + 1, y, grid), view.corner(x + 1, y + 1, grid)});
      if (y + 1 < grid.height && computed(y, x) != computed(y + 1, x))
        lines.append({view.corner(x, y + 1, grid), view.corner(x + 1, y + 1, grid)});
    }
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
