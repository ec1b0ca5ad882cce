// SPDX-License-Identifier: Apache-2.0
#include "gui/views/chart_panel.h"

#include "gui/models/recents.h"
#include "gui/models/settings_writer.h"
#include "gui/views/look.h"
#include "gui/views/wrapping_row.h"

namespace mpm::gui {
namespace {

const QStringList kSpans = {"hour", "day", "week", "all"};  // in the settings, in the order of Span

using Kind = charts::SeriesKey::Kind;

QToolButton* toggle(const QString& text, const QString& tip, bool on, QWidget* parent) {
  auto* button = new QToolButton(parent);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  button->setCheckable(true);
  button->setChecked(on);
  return button;
}

// What a person calls the source; with its first day where several are called so.
QString titleOf(const monitor::SourceRecord& record, const std::vector<monitor::SourceRecord>& all) {
  const auto title = [](const monitor::SourceRecord& one) { return sourceTitle(QString::fromStdString(one.name)); };
  const bool alone =
      std::count_if(all.begin(), all.end(), [&](const auto& one) { return title(one) == title(record); }) == 1;
  if (alone || record.first <= 0) return title(record);
  return QStringLiteral("%1 · %2").arg(
      title(record), QLocale().toString(QDateTime::fromMSecsSinceEpoch(record.first), QLocale::ShortFormat));
}

}  // namespace

ChartPanel::ChartPanel(History* history, QWidget* parent)
    : QWidget(parent), history_(history), chart_(named(new TimeChart(this), tr("Chart over time"))) {
  tokens_ = toggle(tr("Tokens"), tr("Draw the tokens kept after the last insertion"), true, this);
  merged_ = toggle(tr("Merged"), tr("Draw the share of the tokens merged away"), false, this);
  inference_ = toggle(tr("Inference"), tr("Draw the time of one frame"), true, this);
  area_ = toggle(tr("Area of"), tr("Draw the share of the picture that a class covers"), false, this);
  reuse_ = toggle(tr("Reuse"), tr("Draw the rows computed and the agreement of key frames"), false, this);
  reuse_->hide();  // until there is some
  classes_ = choiceField(tr("Class whose area is drawn"), {});
  classes_->setMinimumContentsLength(7);
  sources_ = choiceField(tr("Source whose samples are drawn"), {});
  sources_->setMinimumContentsLength(16);  // "Demo street · 20/", enough to distinguish two of them
  sources_->hide();
  regions_ = choiceField(tr("Region whose numbers are drawn"), {});
  regions_->setMinimumContentsLength(9);
  makeColors();
  follow_ = toggle(QStringLiteral("▸▏"), tr("Keep the end of the chart at the present"), true, this);

  auto* bar = new WrappingRow;
  bar->setSpacing(4);
  bar->addWidget(regions_);
  for (QToolButton* button : {tokens_, merged_, inference_, reuse_, area_}) {
    bar->addWidget(button);
    connect(button, &QToolButton::toggled, this, &ChartPanel::updateSeries);
  }
  bar->addWidget(classes_);
  bar->addWidget(colors_);
  auto* gap = new QWidget(this);
  gap->setFixedSize(12, 1);
  bar->addWidget(gap);
  spans_ = new QButtonGroup(this);
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
  bar->addWidget(sources_);

  QBoxLayout* column = fill(new QVBoxLayout(this), makeForeignBar(), bar, chart_);
  column->setContentsMargins(8, 6, 8, 6);
  column->setSpacing(4);
  column->setStretch(2, 1);

  connect(classes_, &QComboBox::activated, this, [this] {
    wanted_class_ = classes_->currentText();
    area_->setChecked(true);
    updateSeries();
  });
  connect(regions_, &QComboBox::activated, this, [this](int index) {
    wanted_region_ = regions_->itemData(index).toString();
    pickRegion(index);
  });
  connect(sources_, &QComboBox::activated, this, [this] {
    if (const auto id = source()) takePicked(*id);
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
  connect(history_, &History::sourcesChanged, this, &ChartPanel::takeSources);
  connect(history_, &History::namesReady, this, [this](const SourceNames& of) {
    if (source() != of.source) return;
    setClasses(of.classes);
    const auto stored = record();
    offerArea(!of.classes.isEmpty() || !stored || stored->samples == 0);
    setRegions(of.regions);
  });
  connect(history_, &History::statesReady, chart_, &TimeChart::setStates);
  connect(history_, &History::chartReady, this, [this](charts::Chart chart, monitor::ChartQuery query) {
    bool reuse = reuse_->isChecked();
    for (charts::ChartBucket& bucket : chart.buckets) {
      reuse = reuse || bucket.values.back().samples > 0;
      bucket.values.pop_back();
    }
    query.quantities.pop_back();
    reuse_->setVisible(reuse && region().isEmpty());
    chart_->setChart(std::move(chart), query.quantities);
  });
  setRegions({});
}

void ChartPanel::makeColors() {
  colors_ = new QToolButton(this);
  colors_->setText(tr("Colour"));
  colors_->setToolTip(tr("Draw the colour and the brightness of the region"));
  colors_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(colors_);
  const auto add = [&](Kind kind, const char* key, const QString& name, int decimals) {
    QAction* action = menu->addAction(name);
    action->setObjectName(QLatin1String(key));
    action->setCheckable(true);
    connect(action, &QAction::toggled, this, &ChartPanel::updateSeries);
    color_kinds_.push_back({kind, action, decimals});
  };
  add(Kind::kGcc, "gcc", tr("Green share, gcc"), 4);
  add(Kind::kRcc, "rcc", tr("Red share, rcc"), 4);
  add(Kind::kExg, "exg", tr("Excess green, ExG"), 1);
  add(Kind::kBrightness, "brightness", tr("Brightness"), 1);
  add(Kind::kRed, "red", tr("Mean red"), 1);
  add(Kind::kGreen, "green", tr("Mean green"), 1);
  add(Kind::kBlue, "blue", tr("Mean blue"), 1);
  color_kinds_.front().action->setChecked(true);
  colors_->setMenu(menu);
}

QWidget* ChartPanel::makeForeignBar() {
  foreign_bar_ = new QWidget(this);
  foreign_ = namedValue(new QLabel(foreign_bar_), tr("Database on show"));
  foreign_->setWordWrap(true);
  setBadge(foreign_, Badge::kWarning);
  back_ = new QPushButton(foreign_bar_);
  auto* row = new QHBoxLayout(foreign_bar_);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(foreign_, 1);
  row->addWidget(back_);
  setForeign({}, false);
  connect(back_, &QPushButton::clicked, this, &ChartPanel::backRequested);
  return foreign_bar_;
}

void ChartPanel::setForeign(const QString& name, bool watching) {
  setValue(foreign_, name.isEmpty() ? QString()
                     : watching     ? tr("%1, read-only: not what is watched here").arg(name)
                                    : tr("%1, read-only").arg(name));
  back_->setText(watching ? tr("Back to the live source") : tr("Back to what is stored here"));
  foreign_bar_->setHidden(name.isEmpty());
}

void ChartPanel::updateSeries() {
  std::vector<TimeChart::Series> series;
  const auto add = [&, of = region()](charts::SeriesKey quantity, const QString& name, const QString& unit,
                                      double factor, int decimals) {
    quantity.region = of.toStdString();
    const QString title = of.isEmpty() ? name : QStringLiteral("%1 · %2").arg(of, name);
    series.push_back({quantity, title.toStdString(), unit.toStdString(), factor, decimals});
  };
  const bool whole = region().isEmpty();
  const QString percent = QStringLiteral("%");
  if (tokens_->isChecked()) add({Kind::kTokens}, tr("Tokens kept"), {}, 1, 0);
  if (whole && merged_->isChecked()) add({Kind::kMerged}, tr("Merged away"), percent, 100, 1);
  if (whole && inference_->isChecked()) add({Kind::kInferenceMs}, tr("Inference"), tr("ms"), 1, 1);
  if (whole && reuse_->isChecked()) {
    add({Kind::kRows}, tr("Rows computed"), percent, 100, 1);
    add({Kind::kAgreement}, tr("Agreement"), percent, 1, 2);
  }
  if (const QString name = classes_->currentText(); area_->isChecked() && classes_->currentIndex() >= 0)
    add({Kind::kClassArea, -1, name.toStdString()}, tr("Area of %1").arg(name), percent, 100, 1);
  for (const auto& [kind, action, decimals] : color_kinds_)
    if (!whole && action->isChecked()) add({kind}, action->text(), {}, 1, decimals);
  chart_->setSeries(std::move(series));
}

void ChartPanel::setSourceName(const QString& name) {
  wanted_ = name;
  takeSources(records_);
  history_->askSources();
}

void ChartPanel::forgetSources() {
  wanted_.clear();
  takeSources({});
  chart_->setChart({}, {});
}

void ChartPanel::setClasses(const QStringList& names) {
  QStringList now;
  for (int i = 0; i < classes_->count(); ++i) now << classes_->itemText(i);
  if (names == now) return;  // a list that is open keeps its place
  const QString current = classes_->currentText();
  const QSignalBlocker quiet(classes_);
  classes_->clear();
  classes_->addItems(names);
  classes_->setCurrentIndex(std::max(0, classes_->findText(current.isEmpty() ? wanted_class_ : current)));
  if (area_->isChecked()) updateSeries();
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
  pickRegion(std::max(0, regions_->findData(wanted_region_)));
}

// What is of the whole picture only steps aside.
void ChartPanel::pickRegion(int index) {
  regions_->setCurrentIndex(index);
  const bool whole = region().isEmpty();
  for (QToolButton* button : {merged_, inference_}) button->setVisible(whole);
  if (!whole) reuse_->hide();  // the next chart shows it again
  colors_->setVisible(!whole);
  updateSeries();
}

void ChartPanel::offerArea(bool possible) {
  area_->setEnabled(possible);
  area_->setToolTip(possible ? area_->accessibleName() : tr("The samples of this source have no classes"));
}

std::optional<std::int64_t> ChartPanel::source() const {
  const QVariant id = sources_->currentData();
  return id.isValid() ? std::optional<std::int64_t>(id.toLongLong()) : std::nullopt;
}

// Only where it changes something: a list that is open would lose the row that is pointed at.
void ChartPanel::fillSources() {
  bool same = sources_->count() == static_cast<int>(records_.size());
  for (int i = 0; same && i < sources_->count(); ++i)
    same = sources_->itemData(i).toLongLong() == records_[i].id &&
           sources_->itemText(i) == titleOf(records_[i], records_) &&
           sources_->itemData(i, Qt::ToolTipRole).toString() == QString::fromStdString(records_[i].name);
  if (same) return;
  sources_->clear();
  for (const auto& record : records_) {
    sources_->addItem(titleOf(record, records_), QVariant::fromValue<qint64>(record.id));
    sources_->setItemData(sources_->count() - 1, QString::fromStdString(record.name), Qt::ToolTipRole);
  }
  sources_->view()->setMinimumWidth(sources_->view()->sizeHintForColumn(0) +
                                    sources_->view()->verticalScrollBar()->sizeHint().width());
}

void ChartPanel::takeSources(const std::vector<monitor::SourceRecord>& sources) {
  const auto before = source();
  records_ = sources;
  const QSignalBlocker quiet(sources_);
  fillSources();
  int index = -1;
  if (!wanted_.isEmpty()) index = sources_->findData(wanted_, Qt::ToolTipRole);
  if (index >= 0) wanted_.clear();       // from now on the choice is the user's
  if (index < 0 && wanted_.isEmpty()) {  // samples of another one would be taken for those of the wanted
    if (before) index = sources_->findData(QVariant::fromValue<qint64>(*before));
    if (index < 0) index = sources_->count() - 1;
  }
  sources_->setCurrentIndex(index);
  if (index < 0 && before) {
    chart_->setChart({}, {});
    setClasses({});
    setRegions({});
  }
  sources_->setVisible(sources_->count() > 1);
  if (const auto id = source(); id && id != before) {
    history_->askNames(*id, sourceName());
    takePicked(*id);
    askAgain();
  }
}

void ChartPanel::takePicked(qint64 id) {
  const bool archive = record() && record()->archive;
  if (archive) showSpan(Span::kAll);
  if (!archive && std::exchange(whole_, false)) showSpan(chosen_span_);
  whole_ = archive;
  emit sourcePicked(id);
}

void ChartPanel::ask(double from, double to, int max_buckets) {
  const auto id = source();
  if (!id) return;
  monitor::ChartQuery query;
  query.source = *id;
  query.from = static_cast<UnixMs>(from * 1000);
  query.to = static_cast<UnixMs>(to * 1000) + 1;
  query.max_buckets = max_buckets;
  for (const auto& series : chart_->series()) query.quantities.push_back(series.quantity);
  if (query.quantities.empty()) return;
  query.quantities.push_back({charts::SeriesKey::Kind::kRows});  // last, for the button
  history_->askChart(query);
}

std::optional<monitor::SourceRecord> ChartPanel::record() const {
  const auto id = source();
  const auto found = std::find_if(records_.begin(), records_.end(), [&](const auto& one) { return one.id == id; });
  return found == records_.end() ? std::nullopt : std::optional(*found);
}

QString ChartPanel::sourceName() const { return sources_->currentData(Qt::ToolTipRole).toString(); }

void ChartPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

// A dock asks for no height that fits a width: without this the rows of buttons would lie over the chart. Not more than
// half of the window, which it would make larger than a small screen.
bool ChartPanel::event(QEvent* event) {
  const bool handled = QWidget::event(event);
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest)
    setMinimumHeight(std::min(layout()->minimumHeightForWidth(width()), window()->height() / 2));
  return handled;
}

void ChartPanel::refresh() {
  history_->askSources();
  if (const auto id = source()) history_->askNames(*id, sourceName());
  if (visibleRegion().isEmpty()) return;  // a tab behind another one lies beyond the edge of the window
  askAgain();
}

void ChartPanel::askAgain() {
  if (chart_->following())
    follow();
  else
    chart_->setRange(chart_->axis().from, chart_->axis().to);
}

void ChartPanel::chooseSpan(Span span) {
  chosen_span_ = span;
  showSpan(span);
}

void ChartPanel::showSpan(Span span) {
  span_ = span;
  if (QAbstractButton* button = spans_->button(static_cast<int>(span))) button->setChecked(true);
  chart_->setFollowing(true);
  follow();
}

std::vector<ChartPanel::Toggle> ChartPanel::toggles() const {
  return {{"view/chart_tokens", tokens_, true},
          {"view/chart_merged", merged_, false},
          {"view/chart_inference", inference_, true},
          {"view/chart_reuse", reuse_, false},
          {"view/chart_area", area_, false}};
}

QVariantMap ChartPanel::state() const {
  QStringList colors;
  for (const ColorKind& one : color_kinds_)
    if (one.action->isChecked()) colors << one.action->objectName();
  QVariantMap state = {{"view/chart_span", kSpans[static_cast<int>(chosen_span_)]},
                       {"view/chart_area_class", wanted_class_},
                       {"view/chart_region", wanted_region_},
                       {"view/chart_colors", colors}};
  for (const Toggle& one : toggles()) state[one.key] = one.button->isChecked();
  return state;
}

void ChartPanel::restore(const QSettings& stored) {
  wanted_class_ = stored.value("view/chart_area_class").toString();
  wanted_region_ = stored.value("view/chart_region").toString();
  const QStringList colors = stored.value("view/chart_colors", QStringList{"gcc"}).toStringList();
  for (const ColorKind& one : color_kinds_) one.action->setChecked(colors.contains(one.action->objectName()));
  for (const Toggle& one : toggles()) one.button->setChecked(stored.value(one.key, one.usual).toBool());
  chooseSpan(static_cast<Span>(storedIndex(stored, "view/chart_span", kSpans, 0)));
}

void ChartPanel::setPresent(const QString& watched, std::optional<double> present) {
  watched_ = watched;
  present_ = present;
}

double ChartPanel::present() const {
  if (const auto on_show = record(); on_show && on_show->last > 0 && (on_show->archive || sourceName() != watched_))
    return static_cast<double>(on_show->last) / 1000;
  return present_.value_or(static_cast<double>(QDateTime::currentMSecsSinceEpoch()) / 1000);
}

// The span that ends now; a source younger than that fills the chart with what there is.
void ChartPanel::follow() {
  constexpr double kShortest = 60;
  constexpr double kLengths[] = {3600, 86400, 7 * 86400, 0};
  double length = kLengths[static_cast<int>(span_)];
  const double end = present();
  if (const auto on_show = record()) {
    const double age = std::max(kShortest, end - static_cast<double>(on_show->first) / 1000) * 1.01;
    length = length == 0 ? age : std::min(length, age);
  }
  if (length == 0) length = 3600;
  chart_->setRange(end - length, end);
}

}  // namespace mpm::gui
