// SPDX-License-Identifier: Apache-2.0
#include "gui/views/fields.h"

#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {
namespace {

// As shortLabel().
class ShortChoice : public QComboBox {
 protected:
  void paintEvent(QPaintEvent*) override {
    QStylePainter painter(this);
    QStyleOptionComboBox option;
    initStyleOption(&option);
    option.currentText = shownText(option);
    painter.drawComplexControl(QStyle::CC_ComboBox, option);
    painter.drawControl(QStyle::CE_ComboBoxLabel, option);
  }
  bool event(QEvent* event) override {
    QStyleOptionComboBox option;
    initStyleOption(&option);
    if (event->type() != QEvent::ToolTip || !toolTip().isEmpty() || shownText(option) == currentText())
      return QComboBox::event(event);
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), currentText(), this);
    return true;
  }

 private:
  QString shownText(const QStyleOptionComboBox& option) const {
    const QRect place = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
    return fontMetrics().elidedText(currentText(), Qt::ElideRight, place.width());
  }
};

}  // namespace

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
  auto* box = named(new ShortChoice, name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(8);
  box->addItems(items);
  return box;
}

QCheckBox* guarded(QFormLayout* form, QCheckBox* check, bool on, QWidget* field) {
  check->setChecked(on);
  field->setEnabled(on);
  QObject::connect(check, &QCheckBox::toggled, field, &QWidget::setEnabled);
  form->addRow(check, leftRow(field));
  return check;
}

}  // namespace mpm::gui
