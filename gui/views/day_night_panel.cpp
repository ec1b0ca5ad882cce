// SPDX-License-Identifier: Apache-2.0
#include "gui/views/day_night_panel.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/tables.h"

namespace mpm::gui {
namespace {

QString signedNumber(double value) {
  return (value < 0 ? QStringLiteral("−") : QStringLiteral("+")) + number(std::abs(value), 1);
}

enum AreaColumn { kClass, kDay, kNight, kCorrected, kIou, kAreaColumns };

}  // namespace

QString DayNightPanel::ruleText(const monitor::NightRule& rule) {
  if (const auto* sun = std::get_if<monitor::NightBySun>(&rule)) {
    return tr("Night: the sun lower than %1° at %2°, %3°")
        .arg(number(sun->night_below), number(sun->latitude, 2), number(sun->longitude, 2));
  }
  if (const auto* brightness = std::get_if<monitor::NightByBrightness>(&rule))
    return tr("Night: the picture darker than %1 of 255, until it is brighter than %2")
        .arg(QLocale().toString(brightness->night_below, 'g', 4), QLocale().toString(brightness->day_above, 'g', 4));
  if (const auto* hours = std::get_if<monitor::NightByHours>(&rule)) {
    return tr("Night: from %1 to %2")
        .arg(QString::fromStdString(monitor::clockText(hours->from)),
             QString::fromStdString(monitor::clockText(hours->to)));
  }
  return tr("Day and night are not distinguished.");
}

QString DayNightPanel::differenceText(const monitor::DayNightStatistics& statistics) {
  const auto& difference = statistics.difference;
  if (!difference && !statistics.brightness) return tr("There are not samples of both day and night yet.");
  if (!difference) {
    return (statistics.day.samples > 0
                ? tr("All samples count as day, with a brightness from %1 to %2 of 255. If some were taken "
                     "at night, change the rule.")
                : tr("All samples count as night, with a brightness from %1 to %2 of 255. If some were "
                     "taken by day, change the rule."))
        .arg(number(statistics.brightness->first), number(statistics.brightness->second));
  }
  const QString value = signedNumber(difference->tokens);
  if (!difference->plus_minus)
    return tr("Night − day: %1 tokens; too little time to tell how certain that is.").arg(value);
  const QString text = tr("Night − day: %1 ± %2 tokens").arg(value, number(*difference->plus_minus, 1));
  const bool periods = difference->block == monitor::Difference::Block::kPeriod;
  const QString basis =
      periods ? tr("%1 days, %2 nights").arg(difference->day_blocks).arg(difference->night_blocks)
              : tr("%1 hours of day, %2 of night").arg(difference->day_blocks).arg(difference->night_blocks);
  return (difference->significant() ? tr("%1: they differ (95 % interval, %2).")
                                    : tr("%1: no difference shown (95 % interval, %2)."))
      .arg(text, basis);
}

DayNightPanel::DayNightPanel(QAction* settings, QWidget* parent)
    : QWidget(parent),
      difference_(wrapped(new QLabel(differenceText({})))),
      rule_label_(wrapped(mutedLabel())),
      heading_(wrapped(namedValue(mutedLabel(), tr("Stretch")))),
      areas_heading_(mutedLabel(tr("Share of the picture in percent"))),
      areas_(plainTable(tr("Share of the picture of each class"),
                        {tr("Class"), tr("Day"), tr("Night"), tr("Corr."), tr("IoU")}, 6)) {
  auto* grid = new QGridLayout;
  grid->setHorizontalSpacing(14);
  grid->setVerticalSpacing(4);
  const QString columns[] = {tr("Day"), tr("Night")};
  const QString rows[] = {tr("Mean"), tr("Median"), tr("90 % below"), tr("Samples"), tr("Since yesterday")};
  for (int c = 0; c < 2; ++c) grid->addWidget(headingLabel(columns[c]), 0, c + 1, Qt::AlignRight);
  for (int r = 0; r < 5; ++r) {
    grid->addWidget(mutedLabel(rows[r]), r + 1, 0);
    for (int c = 0; c < 2; ++c) {
      cells_[r][c] = namedValue(new QLabel(QStringLiteral("–")), QStringLiteral("%1, %2").arg(rows[r], columns[c]));
      grid->addWidget(cells_[r][c], r + 1, c + 1, Qt::AlignRight);
    }
  }
  grid->setColumnStretch(0, 1);
  auto* choice = new QHBoxLayout;
  choice->addStretch();
  if (settings) {
    choice->insertWidget(0, pushButton(settings, tr("Day and night…"),
                                       tr("Choose what counts as night: the sun, the brightness, or fixed hours")));
  }
  areas_->horizontalHeaderItem(kCorrected)
      ->setToolTip(tr("Corrected: day and night together, without the errors that the cross-validation of the model "
                      "found: what it confused there moves to the true classes"));
  areas_->horizontalHeaderItem(kIou)->setToolTip(tr("Of the class in the cross-validation of the model, in percent"));
  for (int column = kDay; column < kAreaColumns; ++column)
    areas_->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignVCenter | Qt::AlignRight);
  areas_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // the panel scrolls
  panelColumn(this, heading_, grid, difference_, rule_label_, choice, areas_heading_, areas_);
  clear();
}

void DayNightPanel::setRule(const std::optional<monitor::NightRule>& rule) {
  rule_ = rule;
  showRule();
}

void DayNightPanel::setJudgedBy(const NightRules& rules) {
  judged_by_ = rules;
  showRule();
}

// A rule that is stored. A newer version may have written one that this one does not know.
QString DayNightPanel::storedText(const std::optional<std::string>& rule) {
  if (!rule) return tr("Day and night as they were stored.");
  const auto known = monitor::readNightRule(*rule);
  return known ? ruleText(*known) : tr("Night where %1").arg(QString::fromStdString(*rule));
}

// Another rule may count by now than that by which these samples were judged.
void DayNightPanel::showRule() {
  QStringList texts;
  for (const auto& rule : judged_by_) texts << storedText(rule);
  if (texts.isEmpty()) texts << (rule_ ? ruleText(*rule_) : storedText(std::nullopt));
  texts.removeDuplicates();  // only their clocks, or by the sun the ends of their bands, differ
  rule_label_->setText(texts.join(QLatin1Char('\n')));
}

void DayNightPanel::setAreas(const std::vector<monitor::ClassArea>& areas) {
  const bool validated = !areas.empty() && areas.front().corrected;
  const auto percent = [](std::optional<double> share) {
    return share ? number(100 * *share, 1) : QStringLiteral("–");
  };
  areas_->setRowCount(static_cast<int>(areas.size()));
  int row = 0;
  for (const monitor::ClassArea& area : areas) {
    setRow(areas_, row++,
           {QString::fromStdString(area.name), percent(area.day), percent(area.night), percent(area.corrected),
            percent(area.iou)},
           kDay);
  }
  for (const int column : {kCorrected, kIou}) areas_->setColumnHidden(column, !validated);
  areas_->setFixedHeight(areas_->horizontalHeader()->sizeHint().height() + areas_->verticalHeader()->length() +
                         2 * areas_->frameWidth());
  areas_heading_->setHidden(areas.empty());
  areas_->setHidden(areas.empty());
}

void DayNightPanel::setStatistics(const monitor::DayNightStatistics& statistics) {
  const auto show = [this](int column, const monitor::Summary& side, const std::optional<double>& change) {
    const QString none = QStringLiteral("–");
    setValue(cells_[0][column], side.samples > 0 ? number(side.mean, 1) : none);
    setValue(cells_[1][column], side.samples > 0 ? number(side.median, 1) : none);
    setValue(cells_[2][column], side.samples > 0 ? number(side.p90, 1) : none);
    setValue(cells_[3][column], QLocale().toString(qlonglong(side.samples)));
    setValue(cells_[4][column], change ? signedNumber(*change) : none);
  };
  show(0, statistics.day, statistics.day_change);
  show(1, statistics.night, statistics.night_change);
  difference_->setText(differenceText(statistics));
}

void DayNightPanel::setPeriod(UnixMs from, UnixMs to, const charts::OptionalClock& clock, const QString& model) {
  const auto day = [&](UnixMs time) { return QLocale().toString(dateTime(time, clock), kDayFormat); };
  QStringList lines{tr("Tokens kept, %1 to %2").arg(day(from), day(to - 1))};
  if (!model.isEmpty()) lines << tr("Measured by %1").arg(breakable(model));
  setValue(heading_, lines.join(QLatin1Char('\n')));
}

void DayNightPanel::clear() {
  setValue(heading_, tr("Tokens kept"));
  setStatistics({});
  setAreas({});
  setJudgedBy({});
}

}  // namespace mpm::gui
