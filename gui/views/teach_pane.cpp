// SPDX-License-Identifier: Apache-2.0
#include "gui/views/teach_pane.h"

#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr double kBrushStep = 1.25;

constexpr int kTabsWidth = 325;  // px, at first and at least

}  // namespace

TeachPane::TeachPane(QWidget* parent)
    : QWidget(parent),
      canvas_(named(new TeachCanvas(&selection_), tr("Picture to label"))),
      brush_(wholeField(tr("Size of the brush"), static_cast<int>(TeachCanvas::kMinBrush),
                        static_cast<int>(TeachCanvas::kMaxBrush), canvas_->brush(), tr(" px"))),
      classes_(new LabelClassesPanel),
      pictures_(new LabelPicturesPanel),
      labels_(new LabelTablePanel),
      models_(new TaughtModelsPanel),
      states_(new StatesPanel),
      status_(namedValue(muted(shortLabel()), tr("Training after each stroke"))) {
  canvas_->setPlaceholder(
      tr("No picture yet. Open a camera and take this picture with K, or add pictures from files on the right"));
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
  for (auto* box : findChildren<QComboBox*>())
    if (!box->isEditable()) box->installEventFilter(this);
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
