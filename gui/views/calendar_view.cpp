// SPDX-License-Identifier: Apache-2.0
#include "gui/views/calendar_view.h"

#include "gui/models/readout.h"
#include "gui/views/look.h"
#include "gui/views/painter_canvas.h"

namespace mpm::gui {
namespace {

constexpr int kLeastWidth = 200;

QRectF rectOf(const cv::Rect2d& box) { return {box.x, box.y, box.width, box.height}; }

}  // namespace

CalendarView::CalendarView(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMinimumWidth(kLeastWidth);
}

void CalendarView::setCalendar(charts::CalendarDrawing calendar) {
  const charts::CalendarDrawing before = std::exchange(calendar_, std::move(calendar));
  calendar_.month = [clock = calendar_.clock](UnixMs time) {
    return QLocale().toString(dateTime(time, clock), QStringLiteral("MMMM yyyy")).toStdString();
  };
  layout_ = {};
  std::map<std::string, QImage> drawn;
  for (const auto& [day, picture] : pictures_) drawn[before.days[static_cast<std::size_t>(day)].picture] = picture;
  const bool had_mark = marked_ >= 0;
  const UnixMs marked = had_mark ? before.days[static_cast<std::size_t>(marked_)].start : 0;
  pictures_.clear();
  marked_ = -1;
  for (int i = 0; const charts::DayCell& day : calendar_.days) {
    if (const auto picture = drawn.find(day.picture); picture != drawn.end()) pictures_[i] = picture->second;
    if (had_mark && day.start == marked) marked_ = i;
    ++i;
  }
  arrange();
}

void CalendarView::setPicture(int day, const QImage& picture) {
  pictures_[day] = picture;
  update(placeOf(day).toAlignedRect());
}

std::set<std::string> CalendarView::drawnPictures() const {
  std::set<std::string> files;
  for (const auto& [day, picture] : pictures_) files.insert(calendar_.days[static_cast<std::size_t>(day)].picture);
  return files;
}

QString CalendarView::textOf(int day) const {
  if (day < 0 || day >= static_cast<int>(calendar_.days.size())) return {};
  const charts::DayCell& one = calendar_.days[static_cast<std::size_t>(day)];
  QString text = QLocale().toString(dateTime(one.start, calendar_.clock), QStringLiteral("ddd d MMM yyyy"));
  if (one.value) {
    text += QStringLiteral(": ") + number(*one.value, calendar_.decimals);
    if (!calendar_.unit.empty()) text += QChar(0x202f) + QString::fromStdString(calendar_.unit);
  }
  if (!one.picture.empty()) {
    text +=
        tr(", picture of %1").arg(QLocale().toString(dateTime(one.taken, calendar_.clock), QStringLiteral("HH:mm")));
  }
  return text;
}

QRectF CalendarView::placeOf(int day) const { return rectOf(layout_.days[static_cast<std::size_t>(day)]); }

int CalendarView::dayAt(QPointF at) const {
  const auto found = std::ranges::find_if(layout_.days, [&](const auto& box) { return rectOf(box).contains(at); });
  return found == layout_.days.end() ? -1 : static_cast<int>(found - layout_.days.begin());
}

// The next day of this weekday above or below the mark that has samples or a picture; where there is none, the mark.
int CalendarView::sameWeekday(int weeks) const {
  const auto& days = calendar_.days;
  const vision::CameraClock& clock = calendar_.clock;
  for (UnixMs day = days[static_cast<std::size_t>(marked_)].start;;) {
    day = clock.startOfDay(day, 7 * weeks);
    const UnixMs end = clock.startOfDay(day, 1);
    if (end <= days.front().start || day > days.back().start) return marked_;
    const auto found = std::ranges::lower_bound(days, day, {}, &charts::DayCell::start);
    if (found != days.end() && found->start < end) return static_cast<int>(found - days.begin());
  }
}

void CalendarView::arrange() {
  if (calendar_.to <= calendar_.from) return;
  layout_ = charts::layoutOf(calendar_, std::max(kLeastWidth, width()));
  setMinimumHeight(static_cast<int>(std::ceil(layout_.size.height)));
  update();
}

void CalendarView::mark(int day) {
  marked_ = day;
  setAccessibleDescription(textOf(day));
  emit marked(day);
  update();
}

void CalendarView::pick(int day) {
  if (day < 0) return;
  mark(day);
  const charts::DayCell& one = calendar_.days[static_cast<std::size_t>(day)];
  if (!one.picture.empty()) emit picked(one.taken);
}

bool CalendarView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), textOf(dayAt(help->pos())), this);
  return true;
}

void CalendarView::paintEvent(QPaintEvent* event) {
  if (layout_.days.size() != calendar_.days.size()) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::SmoothPixmapTransform);
  PainterCanvas canvas(&painter, font());
  calendar_.colors = theme().chart;
  charts::drawCalendar(calendar_, layout_, canvas);
  for (const auto& [day, picture] : pictures_) {
    const QRectF box = rectOf(charts::pictureIn(layout_.days[static_cast<std::size_t>(day)]));
    if (!event->rect().intersects(box.toAlignedRect())) continue;
    // All of the box: a picture of another shape loses its edges.
    QSizeF part = box.size().scaled(picture.size(), Qt::KeepAspectRatio);
    painter.drawImage(box, picture,
                      QRectF({(picture.width() - part.width()) / 2, (picture.height() - part.height()) / 2}, part));
  }
  if (marked_ >= 0) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme().accent, 2));
    painter.drawRect(placeOf(marked_));
  }
  paintFocus(painter, this);
}

void CalendarView::resizeEvent(QResizeEvent*) { arrange(); }

void CalendarView::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) pick(dayAt(event->position()));
}

void CalendarView::keyPressEvent(QKeyEvent* event) {
  const int last = static_cast<int>(calendar_.days.size()) - 1;
  const std::map<int, int> steps = {{Qt::Key_Left, -1}, {Qt::Key_Right, 1}, {Qt::Key_Home, -last}, {Qt::Key_End, last}};
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)
    return pick(marked_);
  const bool up = event->key() == Qt::Key_Up;
  if (last >= 0 && (up || event->key() == Qt::Key_Down)) return mark(marked_ < 0 ? 0 : sameWeekday(up ? -1 : 1));
  const auto step = steps.find(event->key());
  if (step == steps.end() || last < 0) return QWidget::keyPressEvent(event);
  mark(std::clamp(marked_ + step->second, 0, last));
}

}  // namespace mpm::gui
