// SPDX-License-Identifier: Apache-2.0
#include "gui/views/look.h"

#include <QSvgRenderer>

namespace mpm::gui {
namespace {

constexpr char kValueName[] = "value_name";

class LineEngine : public QIconEngine {
 public:
  explicit LineEngine(QByteArray drawing) : drawing_(std::move(drawing)) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
    QColor color = theme().text;
    if (mode == QIcon::Disabled) color = theme().palette().color(QPalette::Disabled, QPalette::Text);
    if (state == QIcon::On) color = theme().on_accent;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const double side = std::min(rect.width(), rect.height());
    const QPointF corner = rect.center() + QPointF(0.5, 0.5) - QPointF(side, side) / 2;
    QSvgRenderer(QByteArray(drawing_).replace("currentColor", color.name().toLatin1()))
        .render(painter, QRectF(corner, QSizeF(side, side)));
    painter->restore();
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap result(size);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return result;
  }
  QIconEngine* clone() const override { return new LineEngine(*this); }

 private:
  QByteArray drawing_;  // SVG
};

class ContentScroll : public QScrollArea {
 public:
  explicit ContentScroll(QWidget* content) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);  // a dialog begins with its first field
    setWidget(content);
    content->installEventFilter(this);
  }
  QSize sizeHint() const override { return widget()->sizeHint() + QSize(bar(), 2); }
  QSize minimumSizeHint() const override {
    constexpr int kWidest = 290;  // of 1280 px, the pictures need the half
    return {std::min(kWidest, widget()->minimumSizeHint().width() + bar()), 60};
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (object == widget() && event->type() == QEvent::LayoutRequest) updateGeometry();
    return QScrollArea::eventFilter(object, event);
  }

 private:
  int bar() const { return verticalScrollBar()->sizeHint().width(); }
};

// A property that the style sheet looks at; it does not look again by itself.
void mark(QWidget* widget, const char* property, const QVariant& value) {
  widget->setProperty(property, value);
  widget->style()->unpolish(widget);
  widget->style()->polish(widget);
}

// Fusion with check boxes, radio buttons and the arrow of a tool bar that is too narrow in the colours of the theme.
// Fusion's own outline is a darker shade of the window, which is invisible on a dark window.
class ThemedStyle : public QProxyStyle {
 public:
  ThemedStyle() : QProxyStyle(QStringLiteral("Fusion")) {}
  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override {
    const bool radio = element == PE_IndicatorRadioButton;
    if (!radio && element != PE_IndicatorCheckBox && element != PE_IndicatorItemViewItemCheck)
      return QProxyStyle::drawPrimitive(element, option, painter, widget);

    const Theme& look = theme();
    const bool enabled = option->state.testFlag(State_Enabled), on = option->state.testFlag(State_On);
    const bool reached = option->state.testAnyFlags(State_MouseOver | State_HasFocus);
    const QColor off = look.palette().color(QPalette::Disabled, QPalette::Text);
    const QColor fill = on && enabled ? look.accent : enabled ? look.field : look.window;
    const QColor border = !enabled ? off : on || reached ? look.accent : look.muted;
    const QColor mark = enabled ? look.on_accent : off;

    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const QRectF box = QRectF(option->rect).adjusted(0.5, 0.5, -0.5, -0.5);
    painter->setPen(QPen(border, 1));
    painter->setBrush(fill);
    if (radio)
      painter->drawEllipse(box);
    else
      painter->drawRoundedRect(box, 2.5, 2.5);
    const auto at = [&](double x, double y) { return box.topLeft() + QPointF(x * box.width(), y * box.height()); };
    painter->setPen(QPen(mark, box.width() / 7, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    if (on && radio) {
      painter->setPen(Qt::NoPen);
      painter->setBrush(mark);
      painter->drawEllipse(box.center(), box.width() / 5, box.height() / 5);
    } else if (on) {
      painter->setBrush(Qt::NoBrush);
      painter->drawPolyline(QPolygonF({at(0.22, 0.52), at(0.42, 0.72), at(0.78, 0.3)}));
    } else if (option->state.testFlag(State_NoChange) && !radio) {
      painter->drawLine(at(0.25, 0.5), at(0.75, 0.5));
    }
    painter->restore();
  }
  QIcon standardIcon(StandardPixmap which, const QStyleOption* option, const QWidget* widget) const override {
    return which == SP_ToolBarHorizontalExtensionButton ? icon("next")
                                                        : QProxyStyle::standardIcon(which, option, widget);
  }
  // Fusion's pictures of a floppy disk and a red cross fit no theme.
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                QStyleHintReturn* more) const override {
    return hint == SH_DialogButtonBox_ButtonsHaveIcons ? 0 : QProxyStyle::styleHint(hint, option, widget, more);
  }
  // The arrow needs space for a finger: Fusion's is hidden by the padding that buttons have here.
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override {
    return metric == PM_ToolBarExtensionExtent ? 28 : QProxyStyle::pixelMetric(metric, option, widget);
  }
  // A class or a file may be called "<b>": a label is plain text unless it says that it is not.
  void polish(QWidget* widget) override {
    QProxyStyle::polish(widget);
    if (auto* label = qobject_cast<QLabel*>(widget); label && label->textFormat() == Qt::AutoText)
      label->setTextFormat(Qt::PlainText);
  }
  using QProxyStyle::polish;
};

class ShortLabel : public QLabel {
 public:
  QSize minimumSizeHint() const override { return {40, QLabel::minimumSizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    const QRect place = contentsRect();
    style()->drawItemText(&painter, place, static_cast<int>(alignment()), palette(), isEnabled(),
                          fontMetrics().elidedText(text(), Qt::ElideRight, place.width()), foregroundRole());
  }
};

class WrappingRow : public QLayout {
 public:
  ~WrappingRow() override { qDeleteAll(items_); }

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override { return index < count() && index >= 0 ? items_.takeAt(index) : nullptr; }

  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
  QSize sizeHint() const override {
    QSize size(0, 0);
    for (const QLayoutItem* item : items_)
      if (!item->isEmpty())
        size = {size.width() + (size.width() > 0 ? spacing() : 0) + item->sizeHint().width(),
                std::max(size.height(), item->sizeHint().height())};
    return size;
  }
  QSize minimumSize() const override {
    QSize size(0, 0);
    for (const QLayoutItem* item : items_)
      if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
    return size;
  }
  void setGeometry(const QRect& rect) override {
    QLayout::setGeometry(rect);
    place(rect, true);
  }

 private:
  // Lays the rows out in `rect`, for real if `move`; returns their height.
  int place(const QRect& rect, bool move) const {
    int x = rect.x(), y = rect.y(), row_height = 0;
    for (QLayoutItem* item : items_) {
      if (item->isEmpty()) continue;
      const QSize size =
          item->sizeHint().boundedTo(QSize(std::max(rect.width(), item->minimumSize().width()), QLAYOUTSIZE_MAX));
      if (x > rect.x() && x + size.width() > rect.x() + rect.width()) {
        x = rect.x();
        y += row_height + spacing();
        row_height = 0;
      }
      if (move) item->setGeometry(QRect(QPoint(x, y), size));
      x += size.width() + spacing();
      row_height = std::max(row_height, size.height());
    }
    return y + row_height - rect.y();
  }

  QList<QLayoutItem*> items_;
};

class RowHeight : public QObject {
 public:
  RowHeight(QTableView* table, int air) : QObject(table), table_(table), air_(air) {
    table->installEventFilter(this);
    apply();
  }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override {
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) apply();
    if (event->type() == QEvent::ShortcutOverride) {  // its pages, not the pictures of a folder
      const int key = static_cast<QKeyEvent*>(event)->key();
      if (key == Qt::Key_PageUp || key == Qt::Key_PageDown) event->accept();
    }
    return QObject::eventFilter(object, event);
  }

 private:
  void apply() {
    table_->verticalHeader()->setMinimumSectionSize(0);
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + air_);
  }
  QTableView* table_;
  int air_;
};

}  // namespace

void applyLook(const Theme& look, int font_percent) {
  setTheme(look);
  static const QFont desktop = QApplication::font();
  QFont font = desktop;
  font.setPointSizeF(desktop.pointSizeF() * font_percent / 100.0);
  static bool styled = false;
  if (!std::exchange(styled, true)) QApplication::setStyle(new ThemedStyle);
  if (QApplication::font() != font) QApplication::setFont(font);  // each of these asks every widget
  QApplication::setPalette(look.palette());
  qApp->setStyleSheet(look.styleSheet());
}

QIcon icon(const QString& name) {
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  return file.open(QIODevice::ReadOnly) ? QIcon(new LineEngine(file.readAll())) : QIcon();
}

QIcon plainIcon(const QPixmap& picture) {
  QIcon icon(picture);
  icon.addPixmap(picture, QIcon::Selected);
  return icon;
}

QLabel* namedValue(QLabel* label, const QString& name) {
  label->setProperty(kValueName, name);
  const QString text = label->text();
  label->setAccessibleName(text.isEmpty() ? name : QStringLiteral("%1: %2").arg(name, text));
  return label;
}

void setValue(QLabel* label, const QString& text) {
  if (label->text() == text) return;
  label->setText(text);
  namedValue(label, label->property(kValueName).toString());
}

void setValue(QLabel* label, const QString& text, Badge badge) {
  setBadge(label, badge);
  setValue(label, text);
}

void showValue(QLabel* label, const QString& text) {
  setValue(label, text);
  label->setVisible(!text.isEmpty());
}

QString breakable(QString text) {
  static const QRegularExpression ends(QStringLiteral("([:,])"));
  return text.replace(ends, QStringLiteral("\\1\u200b"));
}

QLabel* shortLabel() { return new ShortLabel; }

QLabel* wrapped(QLabel* label) {
  label->setWordWrap(true);
  return label;
}

QLabel* muted(QLabel* label) {
  label->setProperty("muted", true);
  return label;
}

QLabel* mutedLabel(const QString& text) { return muted(new QLabel(text)); }

QLabel* headingLabel(const QString& text) {
  auto* label = new QLabel(text);
  label->setProperty("heading", true);
  return label;
}

QLayout* wrappingRow(int spacing, const QWidgetList& widgets) {
  auto* row = unframed(new WrappingRow);
  row->setSpacing(spacing);
  for (QWidget* widget : widgets) row->addWidget(widget);
  return row;
}

QToolButton* actionButton(QAction* action) {
  auto* button = new QToolButton;
  button->setDefaultAction(action);
  return button;
}

QPushButton* pushButton(const QString& text, const QString& tip) {
  auto* button = new QPushButton(text);
  button->setToolTip(tip);
  return button;
}

QPushButton* pushButton(QAction* action, const QString& text, const QString& tip) {
  QPushButton* button = pushButton(text, tip, action, &QAction::trigger);
  button->setEnabled(action->isEnabled());
  QObject::connect(action, &QAction::enabledChanged, button, &QWidget::setEnabled);
  return button;
}

QDoubleSpinBox* numberField(const QString& name, double low, double high, double value, int decimals,
                            const QString& suffix) {
  auto* box = named(new QDoubleSpinBox, name);
  box->setDecimals(decimals);
  box->setRange(low, high);
  box->setValue(value);
  box->setSuffix(suffix);
  return box;
}

QSpinBox* wholeField(const QString& name, int low, int high, double value, const QString& suffix) {
  auto* box = named(new QSpinBox, name);
  box->setRange(low, high);
  box->setValue(static_cast<int>(value));
  box->setSuffix(suffix);
  return box;
}

QComboBox* choiceField(const QString& name, const QStringList& items) {
  auto* box = named(new QComboBox, name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(8);
  box->addItems(items);
  return box;
}

QCheckBox* guarded(QFormLayout* form, const QString& text, bool on, QWidget* field) {
  auto* check = new QCheckBox(text);
  check->setChecked(on);
  field->setEnabled(on);
  QObject::connect(check, &QCheckBox::toggled, field, &QWidget::setEnabled);
  form->addRow(check, leftRow(field));
  return check;
}

QScrollArea* scrolled(QWidget* content) { return new ContentScroll(content); }

void fitToWindow(QDialog* dialog, QSize size) {
  constexpr QSize kFrame(0, 40);  // the title of the window
  if (!size.isValid()) size = dialog->sizeHint();
  if (const QScreen* screen = dialog->screen()) size = size.boundedTo(screen->availableSize() - kFrame);
  if (const QWidget* parent = dialog->parentWidget())
    size = size.boundedTo((parent->window()->size() - kFrame).expandedTo(QSize(480, 320)));
  dialog->resize(size);
}

void openDialog(QDialog* dialog) {
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->open();
}

void makePlain(QTableView* table, int air) {
  new RowHeight(table, air);
  table->verticalHeader()->hide();
  table->setShowGrid(false);
  table->setTabKeyNavigation(false);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->horizontalHeader()->setHighlightSections(false);
  table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
}

QTableWidget* plainTable(const QString& name, const QStringList& titles, int air) {
  auto* table = named(new QTableWidget(0, static_cast<int>(titles.size())), name);
  table->setHorizontalHeaderLabels(titles);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  makePlain(table, air);
  return table;
}

void setRow(QTableWidget* table, int row, const QStringList& texts, int numbers) {
  for (int column = 0; column < texts.size(); ++column) {
    auto* item = new QTableWidgetItem(texts[column]);
    item->setTextAlignment(Qt::AlignVCenter | (column < numbers ? Qt::AlignLeft : Qt::AlignRight));
    table->setItem(row, column, item);
  }
}

void setBadge(QLabel* label, Badge badge) {
  const QString names[] = {QString(), "good", "warning", "bad"}, &value = names[static_cast<int>(badge)];
  if (label->property("badge").toString() != value) mark(label, "badge", value);
}

void makePrimary(QPushButton* button) { mark(button, "primary", true); }

void paintFocus(QPainter& painter, const QWidget* widget) {
  if (!widget->hasFocus()) return;
  painter.setPen(QPen(theme().accent, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(widget->rect().adjusted(0, 0, -1, -1));
}

}  // namespace mpm::gui
