// SPDX-License-Identifier: Apache-2.0
#include "gui/views/events_panel.h"

#include "gui/views/look.h"

namespace mpm::gui {
namespace {

// Colours the word; nothing is said by colour alone.
class SeverityDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const auto& event = static_cast<const EventsModel*>(index.model())->eventAt(index.row());
    if (event.severity == monitor::Severity::kInfo) return;
    option->palette.setColor(QPalette::Text,
                             event.severity == monitor::Severity::kError ? theme().bad : theme().warning);
    option->font.setBold(true);
  }
};

}  // namespace

EventsPanel::EventsPanel(EventsModel* model, QWidget* parent) : QTableView(parent) {
  setModel(model);
  setAccessibleName(tr("Events"));
  setWordWrap(false);
  makePlain(this, 6);
  horizontalHeader()->setStretchLastSection(true);
  fitTimes();
  setItemDelegateForColumn(EventsModel::kSeverity, new SeverityDelegate(this));
  connect(this, &QTableView::activated, this, [this, model](const QModelIndex& index) {
    emit timePicked(static_cast<double>(model->eventAt(index.row()).time) / 1000);
  });
}

void EventsPanel::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fitTimes();
}

void EventsPanel::fitTimes() {
  horizontalHeader()->resizeSection(EventsModel::kTime,
                                    fontMetrics().horizontalAdvance(QStringLiteral("30 Sept 2026 00:00:00")) + 16);
}

}  // namespace mpm::gui
