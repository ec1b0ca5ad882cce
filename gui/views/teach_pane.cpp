// SPDX-License-Identifier: Apache-2.0
#include "gui/views/teach_pane.h"

namespace mpm::gui {

void TeachCanvas::setEditor(LabelEditor* editor) {
  endDrag();
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
  if (!labels_.isNull()) painter.drawImage(view.pictureRect(), labels_);
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
  if (!editor_ || !frame()) return false;
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
  if (std::exchange(stroke_, false)) editor_->end();
}

void TeachCanvas::draw(QPointF from, QPointF to) {
  cv::Rect changed({}, editor_->labels().size());
  switch (tool_) {
    case Tool::kFill: {
      const MergeLookup& lookup = frame()->lookup;
      const Viewport view = viewport();
      const auto token = tokenAt(view.shareAt(view.toWidget(to)));
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
  editor_->polygon(pen_, label_);
  dropPolygon();
  editor_->end();
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

namespace {

constexpr double kBrushStep = 1.25;
constexpr int kTabsWidth = 325;  // px, at first and at least

}  // namespace

TeachPane::TeachPane(QWidget* parent) : QWidget(parent) {
  canvas_ = named(new TeachCanvas(&selection_), tr("Picture to label"));
  canvas_->setPlaceholder(
      tr("No picture yet. Open a camera and take this picture with K, or add pictures from files on the right"));
  classes_ = new LabelClassesPanel;
  pictures_ = new LabelPicturesPanel;
  labels_ = new LabelTablePanel;
  models_ = new TaughtModelsPanel;
  states_ = new StatesPanel;
  auto* tabs = named(new QTabWidget, tr("Pictures, classes, labels and models"));
  tabs->addTab(pictures_, tr("Pictures"));
  tabs->addTab(classes_, tr("Classes"));
  tabs->addTab(labels_, tr("Labels"));
  tabs->addTab(models_, tr("Model"));
  tabs->setElideMode(Qt::ElideRight);
  tabs->setUsesScrollButtons(false);
  tabs->addTab(states_, tr("States"));
  tabs->setProperty("panel", true);
  tabs->setAttribute(Qt::WA_StyledBackground);
  tabs->setMinimumWidth(kTabsWidth);
  status_ = namedValue(muted(shortLabel()), tr("Training after each stroke"));
  status_->setContentsMargins(10, 4, 6, 4);
  status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);

  auto* left = new QWidget;
  fill(seamless(new QVBoxLayout(left)), makeTools(), stretched(canvas_), status_);
  auto* split = new QSplitter(Qt::Horizontal);
  split->setChildrenCollapsible(false);
  split->setHandleWidth(6);
  split->addWidget(left);
  split->addWidget(tabs);
  split->setStretchFactor(0, 1);
  split->setSizes({3 * kTabsWidth, kTabsWidth});
  fill(unframed(new QVBoxLayout(this)), split);

  connect(classes_, &LabelClassesPanel::chosenChanged, canvas_, &TeachCanvas::setLabel);
  for (auto* list : findChildren<QAbstractItemView*>()) list->installEventFilter(this);
  for (auto* box : findChildren<QComboBox*>()) box->installEventFilter(this);
  chooseTool(TeachCanvas::Tool::kFill);
}

QWidget* TeachPane::makeTools() {
  using Tool = TeachCanvas::Tool;
  auto* bar = new QWidget;
  QLayout* row = wrappingRow(4);
  auto* column = new QVBoxLayout(bar);
  column->setContentsMargins(8, 4, 8, 4);
  column->addLayout(row);
  auto* group = new QButtonGroup(bar);
  const std::tuple<Tool, const char*, QString, Qt::Key> kinds[] = {
      {Tool::kFill, "fill", tr("Cluster: fill what the model merged"), Qt::Key_F},
      {Tool::kBrush, "brush", tr("Brush"), Qt::Key_B},
      {Tool::kPolygon, "polygon", tr("Polygon: click its corners, then Enter"), Qt::Key_G},
      {Tool::kErase, "erase", tr("Eraser"), Qt::Key_E},
      {Tool::kAccept, "accept", tr("Accept: take over a region of the prediction"), Qt::Key_V},
      {Tool::kMove, "move", tr("Move the picture"), Qt::Key_H}};
  const auto button = [&](const char* glyph, const QString& name, const QKeySequence& key) {
    auto* result = named(new QToolButton, name);
    result->setIcon(icon(glyph));
    result->setIconSize(QSize(18, 18));
    result->setToolTip(QStringLiteral("%1 (%2)").arg(name, key.toString(QKeySequence::NativeText)));
    result->setFocusPolicy(Qt::TabFocus);
    row->addWidget(result);
    return result;
  };
  for (const auto& [tool, glyph, name, key] : kinds) {
    QToolButton* one = button(glyph, name, key);
    one->setCheckable(true);
    group->addButton(one);
    tools_.emplace_back(key, one);
    connect(one, &QToolButton::toggled, this, [this, tool = tool](bool on) {
      if (on) canvas_->setTool(tool);
    });
  }
  QToolButton *undo = button("undo", tr("Undo"), QKeySequence::Undo),
              *redo = button("redo", tr("Redo"), QKeySequence::Redo);
  connect(undo, &QToolButton::clicked, &steps_, &QUndoGroup::undo);
  connect(redo, &QToolButton::clicked, &steps_, &QUndoGroup::redo);
  connect(&steps_, &QUndoGroup::canUndoChanged, undo, &QToolButton::setEnabled);
  connect(&steps_, &QUndoGroup::canRedoChanged, redo, &QToolButton::setEnabled);
  for (QToolButton* one : {undo, redo}) one->setEnabled(false);
  unsure_ = button("unsure", tr("Show where the model is not sure"), Qt::Key_Q);
  unsure_->setCheckable(true);
  connect(unsure_, &QToolButton::toggled, canvas_, &TeachCanvas::setShowsUnsure);
  brush_ = wholeField(tr("Size of the brush"), static_cast<int>(TeachCanvas::kMinBrush),
                      static_cast<int>(TeachCanvas::kMaxBrush), canvas_->brush(), tr(" px"));
  brush_->setToolTip(tr("Size of brush and eraser (, and .)"));
  connect(brush_, &QSpinBox::valueChanged, canvas_, &TeachCanvas::setBrush);
  row->addWidget(brush_);
  return bar;
}

void TeachPane::setStatus(const QString& text, Badge badge) {
  setValue(status_, text, badge);
  status_->setToolTip(text);
}

// Keys of the window stand back, unless a text is being written: 1 is a class here and a view mode there.
bool TeachPane::event(QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride) return QWidget::event(event);
  const bool ours = handleKey(*static_cast<QKeyEvent*>(event), false);
  event->setAccepted(ours);
  return ours;
}

// Letters would search in a list or a box.
bool TeachPane::eventFilter(QObject* object, QEvent* event) {
  return (event->type() == QEvent::KeyPress && handleKey(*static_cast<QKeyEvent*>(event), true)) ||
         QWidget::eventFilter(object, event);
}

void TeachPane::keyPressEvent(QKeyEvent* event) {
  if (!handleKey(*event, true)) QWidget::keyPressEvent(event);
}

// Whether the key is one of ours; `run`: does what it stands for.
bool TeachPane::handleKey(const QKeyEvent& event, bool run) {
  const auto take = [run](bool ours, auto&& act) {
    if (ours && run) act();
    return ours;
  };
  if (event.matches(QKeySequence::Undo)) return take(true, [this] { steps_.undo(); });
  if (event.matches(QKeySequence::Redo)) return take(true, [this] { steps_.redo(); });
  if (event.modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return false;
  const int key = event.key();
  if (key >= Qt::Key_1 && key <= Qt::Key_9) return take(true, [&] { classes_->choose(key - Qt::Key_1); });
  for (const auto& [tool_key, button] : tools_)
    if (key == tool_key) return take(true, [button = button] { button->setChecked(true); });
  switch (key) {
    case Qt::Key_Comma:
      return take(true, [this] {
        brush_->setValue(std::min(brush_->value() - 1, static_cast<int>(brush_->value() / kBrushStep)));
      });
    case Qt::Key_Period:
      return take(true, [this] {
        brush_->setValue(std::max(brush_->value() + 1, static_cast<int>(brush_->value() * kBrushStep)));
      });
    case Qt::Key_Q:
      return take(true, [this] { unsure_->toggle(); });
    case Qt::Key_PageUp:
      return take(true, [this] { pictures_->move(-1); });
    case Qt::Key_PageDown:
      return take(true, [this] { pictures_->move(1); });
    case Qt::Key_Escape:
      return take(canvas_->hasPolygon(), [this] { canvas_->dropPolygon(); });
    default:
      return false;
  }
}

}  // namespace mpm::gui
