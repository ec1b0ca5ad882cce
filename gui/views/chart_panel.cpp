// SPDX-License-Identifier: Apache-2.0
#include "gui/views/chart_panel.h"

#include "gui/models/readout.h"
#include "gui/models/recents.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"

namespace mpm::gui {
namespace {

const QStringList kSpans = {"hour", "day", "week", "all"};  // in the settings, in the order of Span
const QStringList kUsual = {"tokens", "inference_ms"};

QToolButton* toggle(const QString& text, const QString& tip, bool on, QWidget* parent) {
  auto* button = named(new QToolButton(parent), tip);
  button->setText(text);
  button->setToolTip(tip);
  button->setCheckable(true);
  button->setChecked(on);
  return button;
}

// The source in a person's words; with its first day where several have the same.
QString titleOf(const monitor::SourceRecord& record, const std::vector<monitor::SourceRecord>& all) {
  const auto title = [](const monitor::SourceRecord& one) { return sourceTitle(QString::fromStdString(one.name)); };
  const bool alone =
      std::count_if(all.begin(), all.end(), [&](const auto& one) { return title(one) == title(record); }) == 1;
  if (alone || record.first <= 0) return title(record);
  return QStringLiteral("%1 · %2").arg(title(record),
                                       QLocale().toString(dateTime(record.first, record.clock), kMinuteFormat));
}

}  // namespace

ChartPanel::ChartPanel(History* history, HistorySources* sources, QWidget* parent)
    : QWidget(parent),
      history_(history),
      sources_(sources),
      chart_(named(new TimeChart(this), tr("Chart over time"))),
      list_(choiceField(tr("Source whose samples are drawn"), {})),
      regions_(choiceField(tr("Region whose numbers are drawn"), {})),
      values_(menuButton(tr("Values"), tr("Choose the numbers that are drawn"))),
      areas_(menuButton(tr("Areas"), tr("Choose the classes whose share of the picture is drawn"))),
      follow_(toggle(QStringLiteral("▸▏"), tr("Keep the end of the chart at the present"), true, this)),
      spans_(new QButtonGroup(this)) {
  addQuantities();
  arrange();
  connectParts();
  setRegions({});
}

void ChartPanel::addQuantities() {
  for (const monitor::Quantity& one : monitor::quantities()) {
    QAction* action = values_->menu()->addAction(quantityName(one));
    action->setObjectName(QLatin1String(one.key));
    action->setCheckable(true);
    action->setChecked(kUsual.contains(QLatin1String(one.key)));
    connect(action, &QAction::toggled, this, &ChartPanel::updateSeries);
  }
}

void ChartPanel::arrange() {
  list_->setMinimumContentsLength(16);  // "Demo street · 20/", enough to distinguish two of them
  list_->hide();
  regions_->setMinimumContentsLength(9);
  auto* gap = new QWidget(this);
  gap->setFixedSize(12, 1);
  QLayout* bar = wrappingRow(4, {regions_, values_, areas_, gap});
  const std::pair<QString, QString> names[] = {{tr("Hour"), tr("Show the last hour")},
                                               {tr("Day"), tr("Show the last day")},
                                               {tr("Week"), tr("Show the last week")},
                                               {tr("All"), tr("Show everything that is stored")}};
  for (int i = 0; i < 4; ++i) {
    QToolButton* button = toggle(names[i].first, names[i].second, i == 0, this);
    spans_->addButton(button, i);
    bar->addWidget(button);
  }
  bar->addWidget(follow_);
  bar->addWidget(list_);

  QBoxLayout* column = fill(new QVBoxLayout(this), bar, chart_);
  column->setContentsMargins(8, 6, 8, 6);
  column->setSpacing(4);
  column->setStretch(1, 1);
}

void ChartPanel::connectParts() {
  connect(regions_, &QComboBox::activated, this, [this](int index) {
    chosen_.region = regions_->itemData(index).toString();
    pickRegion(index);
  });
  connect(list_, &QComboBox::activated, this, [this] {
    sources_->choose(list_->currentData().toLongLong());
    refresh();
  });
  connect(spans_, &QButtonGroup::idClicked, this, [this](int id) { chooseSpan(static_cast<Span>(id)); });
  connect(follow_, &QToolButton::toggled, this, [this](bool on) {
    chart_->setFollowing(on);
    if (on) refresh();
  });
  connect(chart_, &TimeChart::followingChanged, this, [this](bool on) {
    const QSignalBlocker quiet(follow_);
    follow_->setChecked(on);
    if (!on && spans_->checkedButton()) {  // no span is exactly on show any more
      spans_->setExclusive(false);
      spans_->checkedButton()->setChecked(false);
      spans_->setExclusive(true);
    }
  });
  connect(chart_, &TimeChart::allAsked, this, [this] { chooseSpan(Span::kAll); });
  connect(chart_, &TimeChart::rangeChanged, this, &ChartPanel::ask);
  connect(sources_, &HistorySources::listed, this, &ChartPanel::fillList);
  connect(sources_, &HistorySources::changed, this, &ChartPanel::takeSource);
  connect(history_, &History::namesReady, this, [this](const SourceNames& of) {
    if (sources_->id() != of.source) return;
    setClasses(of.classes);
    areas_->setEnabled(!of.classes.isEmpty());
    setRegions(of.regions);
  });
  connect(history_, &History::chartReady, this,
          [this](charts::Chart chart, std::vector<charts::ChartBand> bands, const monitor::ChartQuery& query) {
            // Else what is drawn was changed in between, and the answer to that is on its way.
            if (query.source != sources_->id() || query.series != chart_->quantities()) return;
            chart_->setBands(std::move(bands));
            chart_->setChart(std::move(chart));
          });
}

QToolButton* ChartPanel::menuButton(const QString& text, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setToolTip(tip);
  button->setPopupMode(QToolButton::InstantPopup);
  button->setMenu(new QMenu(button));
  return button;
}

void ChartPanel::updateSeries() {
  std::vector<ChartSeries> series;
  for (const QAction* action : values_->menu()->actions()) {
    const monitor::Quantity& one = *monitor::findQuantity(action->objectName().toStdString());
    if (action->isChecked() && action->isVisible()) {
      series.push_back({.quantity = {.quantity = one.key},
                        .name = action->text().toStdString(),
                        .unit = one.unit,
                        .decimals = one.meanDigits(),
                        .sparse = one.ofFrame()});
    }
  }
  for (const QString& name : classes()) {
    if (!chosen_.areas.contains(name)) continue;
    series.push_back({.quantity = {.class_name = name.toStdString()},
                      .name = tr("Area of %1").arg(name).toStdString(),
                      .unit = "%",
                      .decimals = 1});
    if (const auto color = colors_.find(name); color != colors_.end())
      series.back().color = color->second.rgb() & 0xffffff;
  }
  const std::string of = region().toStdString();
  for (ChartSeries& one : series) {
    one.quantity.region = of;
    if (!of.empty()) one.name = of + " · " + one.name;
  }
  chart_->setSeries(std::move(series));
}

void ChartPanel::setClassColors(ClassColors colors) {
  if (std::exchange(colors_, std::move(colors)) != colors_) updateSeries();
}

QStringList ChartPanel::classes() const {
  QStringList names;
  for (const QAction* action : areas_->menu()->actions()) names << action->data().toString();
  return names;
}

void ChartPanel::setClasses(const QStringList& names) {
  if (names == classes()) return;  // a menu that is open keeps its place
  areas_->menu()->clear();
  for (const QString& name : names) {
    QAction* action = areas_->menu()->addAction(QString(name).replace(QLatin1Char('&'), QStringLiteral("&&")));
    action->setData(name);
    action->setCheckable(true);
    action->setChecked(chosen_.areas.contains(name));
    connect(action, &QAction::toggled, this, [this, name](bool on) {
      on ? chosen_.areas.append(name) : static_cast<void>(chosen_.areas.removeAll(name));
      updateSeries();
    });
  }
  updateSeries();
}

void ChartPanel::setRegions(const QStringList& names) {
  QStringList now;
  for (int i = 1; i < regions_->count(); ++i) now << regions_->itemText(i);
  if (regions_->count() > 0 && names == now) return;  // as in setClasses()
  const QSignalBlocker quiet(regions_);
  regions_->clear();
  regions_->addItem(tr("Whole picture"), QString());
  for (const QString& name : names) regions_->addItem(name, name);
  regions_->setVisible(!names.isEmpty());
  pickRegion(std::max(0, regions_->findData(chosen_.region)));
}

// Numbers that only the whole picture has are hidden.
void ChartPanel::pickRegion(int index) {
  regions_->setCurrentIndex(index);
  for (QAction* action : values_->menu()->actions())
    action->setVisible(region().isEmpty() || monitor::findQuantity(action->objectName().toStdString())->of_regions);
  updateSeries();
}

// The rows only where they are others: a list that is open would lose the row that is pointed at.
void ChartPanel::fillList() {
  using Row = std::tuple<qint64, QString, QString>;  // id, title and name
  const auto& all = sources_->all();
  std::vector<Row> rows, before;
  for (const auto& record : all)
    rows.emplace_back(record.id, titleOf(record, all), QString::fromStdString(record.name));
  for (int i = 0; i < list_->count(); ++i) {
    before.emplace_back(list_->itemData(i).toLongLong(), list_->itemText(i),
                        list_->itemData(i, Qt::ToolTipRole).toString());
  }
  const QSignalBlocker quiet(list_);
  if (rows != before) {
    list_->clear();
    for (const auto& [id, title, name] : rows) {
      list_->addItem(title, QVariant::fromValue<qint64>(id));
      list_->setItemData(list_->count() - 1, name, Qt::ToolTipRole);
    }
    list_->view()->setMinimumWidth(list_->view()->sizeHintForColumn(0) +
                                   list_->view()->verticalScrollBar()->sizeHint().width());
  }
  const auto id = sources_->id();
  list_->setCurrentIndex(id ? list_->findData(QVariant::fromValue<qint64>(*id)) : -1);
  list_->setVisible(list_->count() > 1);
}

// What was drawn, and what can be drawn, is of the source before.
void ChartPanel::takeSource() {
  chart_->setChart({});
  chart_->setBands({});
  setClasses({});
  setRegions({});
  const auto record = sources_->current();
  if (!record) return;
  history_->askNames(record->id, QString::fromStdString(record->name));
  if (record->archive) showSpan(Span::kAll);
  if (!record->archive && std::exchange(whole_, false)) showSpan(chosen_.span);
  whole_ = record->archive;
  askAgain();
}

void ChartPanel::ask(double from, double to, int max_buckets) {
  const auto source = sources_->current();
  chart_->setClock(source ? source->clock : std::nullopt);
  // A tab behind another one lies beyond the edge of the window.
  const bool unseen = visibleRegion().isEmpty() && !chart_->chart().buckets.empty();
  if (!source || chart_->series().empty() || unseen) return;
  history_->askChart({.source = source->id,
                      .from = static_cast<UnixMs>(from * 1000),
                      .to = static_cast<UnixMs>(to * 1000) + 1,
                      .series = chart_->quantities(),
                      .max_buckets = max_buckets,
                      .clock = vision::clockOrMachine(chart_->clock())});
}

// A dock asks for no height that fits a width: without this the rows of buttons would lie over the chart. Not more than
// half of the window, which it would make larger than a small screen.
bool ChartPanel::event(QEvent* event) {
  const bool handled = QWidget::event(event);
  if (event->type() == QEvent::Show) refresh();
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) {
    setMinimumHeight(std::min(layout()->minimumHeightForWidth(width()), window()->height() / 2));
    // A panel that is about to be shown has no event for the height that it just got.
    if (layout()->geometry() != rect()) layout()->setGeometry(rect());
  }
  return handled;
}

void ChartPanel::refresh() {
  history_->askSources();
  if (const auto id = sources_->id()) history_->askNames(*id, sources_->name());
  askAgain();
}

void ChartPanel::askAgain() {
  if (chart_->following())
    follow();
  else
    chart_->setRange(chart_->axis().from, chart_->axis().to);
}

void ChartPanel::chooseSpan(Span span) {
  chosen_.span = span;
  showSpan(span);
}

void ChartPanel::showSpan(Span span) {
  span_ = span;
  if (QAbstractButton* button = spans_->button(static_cast<int>(span))) button->setChecked(true);
  chart_->setFollowing(true);
  follow();
}

QVariantMap ChartPanel::state() const {
  QStringList values;
  for (const QAction* action : values_->menu()->actions())
    if (action->isChecked()) values << action->objectName();
  return {{"view/chart_span", kSpans[static_cast<int>(chosen_.span)]},
          {"view/chart_areas", chosen_.areas},
          {"view/chart_region", chosen_.region},
          {"view/chart_values", values}};
}

void ChartPanel::restore(const QSettings& stored) {
  chosen_.areas = stored.value("view/chart_areas").toStringList();
  chosen_.region = stored.value("view/chart_region").toString();
  const QStringList values = stored.value("view/chart_values", kUsual).toStringList();
  for (QAction* action : values_->menu()->actions()) action->setChecked(values.contains(action->objectName()));
  chooseSpan(static_cast<Span>(storedIndex(stored, "view/chart_span", kSpans, 0)));
}

// The span that ends now; a source younger than that fills the chart with what there is.
void ChartPanel::follow() {
  constexpr double kShortest = 60;
  constexpr double kLengths[] = {3600, 86400, 7 * 86400, 0};
  double length = kLengths[static_cast<int>(span_)];
  const double end = sources_->present();
  if (const auto on_show = sources_->current(); on_show && !on_show->empty()) {
    const double age = std::max(kShortest, end - static_cast<double>(on_show->first) / 1000) * 1.01;
    length = length == 0 ? age : std::min(length, age);
  }
  if (length == 0) length = 3600;
  chart_->setRange(end - length, sources_->ended() ? end + length / 100 : end);  // the last sample is seen
}

}  // namespace mpm::gui
