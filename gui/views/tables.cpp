// SPDX-License-Identifier: Apache-2.0
#include "gui/views/tables.h"

#include "gui/views/labels.h"

namespace mpm::gui {
namespace {

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

}  // namespace mpm::gui
