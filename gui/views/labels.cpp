// SPDX-License-Identifier: Apache-2.0
#include "gui/views/labels.h"

#include "gui/views/look.h"

namespace mpm::gui {
namespace {

constexpr char kValueName[] = "value_name";

class ShortLabel : public QLabel {
 public:
  QSize minimumSizeHint() const override { return {text().isEmpty() ? 0 : 40, QLabel::minimumSizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment()), palette(), isEnabled(), shownText(),
                          foregroundRole());
  }
  bool event(QEvent* event) override {
    if (event->type() != QEvent::ToolTip || !toolTip().isEmpty() || shownText() == text()) return QLabel::event(event);
    QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), text(), this);
    return true;
  }

 private:
  QString shownText() const { return fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width()); }
};

}  // namespace

QLabel* namedValue(QLabel* label, const QString& name) {
  label->setProperty(kValueName, name);
  const QString text = label->text();
  label->setAccessibleName(text.isEmpty() ? name : QStringLiteral("%1: %2").arg(name, text));
  return label;
}

QString valueName(const QLabel* label) { return label->property(kValueName).toString(); }

void setValue(QLabel* label, const QString& text) {
  if (label->text() == text) return;
  label->setText(text);
  namedValue(label, valueName(label));
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
  static const QRegularExpression ends(QStringLiteral("([:,_])"));
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

void setBadge(QLabel* label, Badge badge) {
  const QString names[] = {QString(), "good", "warning", "bad"}, &value = names[static_cast<int>(badge)];
  if (label->property("badge").toString() != value) mark(label, "badge", value);
}

}  // namespace mpm::gui
