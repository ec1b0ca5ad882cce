// SPDX-License-Identifier: Apache-2.0
#include "gui/views/tune_dialog.h"

#include "gui/models/readout.h"

namespace mpm::gui {

/// Speed against agreement of the reductions that were measured.
class TradeChart : public QWidget {
 public:
  /// `wanted`: the agreement that was asked for, percent. The point of `row` is filled.
  void setResult(const TuneDialog::Result& result, double wanted, int row) {
    result_ = result;
    wanted_ = wanted;
    row_ = row;
    update();
  }
  QSize sizeHint() const override { return {320, 150}; }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.fillRect(rect(), theme().chart);
    if (!result_ || result_->rows.empty()) return;
    painter.setRenderHint(QPainter::Antialiasing);
    const QFontMetrics metrics = painter.fontMetrics();
    const auto percent = [&](double value) { return number(value, 1) + QStringLiteral(" %"); };
    double slow = 1, fast = 1, low = wanted_;
    for (const evaluation::TuneRow& row : result_->rows) {
      slow = std::min(slow, row.speed_up);
      fast = std::max(fast, row.speed_up);
      low = std::min(low, row.agreement);
    }
    const double span = std::max(0.1, 100 - low);
    const int line = metrics.height();
    const QRectF area = QRectF(rect()).adjusted(metrics.horizontalAdvance(percent(100)) + 14, line, -16, -line - 8);
    const auto at = [&](double speed_up, double agreement) {
      return QPointF(area.left() + (speed_up - slow) / std::max(0.01, fast - slow) * area.width(),
                     area.top() + (100 - agreement) / span * area.height());
    };

    painter.setPen(theme().muted);
    const auto label = [&](double agreement) {
      painter.drawText(QRectF(0, at(slow, agreement).y() - line / 2.0, area.left() - 8, line),
                       Qt::AlignRight | Qt::AlignVCenter, percent(agreement));
    };
    label(100);
    for (const double agreement : {wanted_, low})
      if (at(slow, agreement).y() > area.top() + line) label(agreement);
    const QRectF below(area.left(), area.bottom() + 4, area.width(), line);
    painter.drawText(below, Qt::AlignLeft, number(slow, 2));
    painter.drawText(below, Qt::AlignHCenter, TuneDialog::tr("times as fast"));
    painter.drawText(below, Qt::AlignRight, number(fast, 2));
    painter.setPen(QPen(theme().muted, 1, Qt::DashLine));
    painter.drawLine(at(slow, wanted_), at(fast, wanted_));

    for (std::size_t i = 0; i < result_->rows.size(); ++i) {
      const evaluation::TuneRow& row = result_->rows[i];
      const bool chosen = static_cast<int>(i) == row_;
      painter.setPen(QPen(row.front ? theme().accent : theme().muted, 1.5));
      painter.setBrush(chosen ? theme().accent : theme().chart);
      const double radius = chosen ? 5 : 3.5;
      painter.drawEllipse(at(row.speed_up, row.agreement), radius, radius);
    }
  }

 private:
  TuneDialog::Result result_;
  double wanted_ = 0;
  int row_ = -1;
};

namespace {

enum Page { kQuestion, kProgress, kResult };
enum Column { kReduction, kSpeedUp, kSame, kAtLeast, kTokens, kColumns };

QString percent(double value) { return number(value, 2); }

// The example of a result under the labels of one of its rows.
LiveFramePtr exampleOf(const evaluation::TuneResult& result, const evaluation::TuneRow& row) {
  auto frame = std::make_shared<LiveFrame>(*makeLiveFrame(result.example));
  frame->map = row.example;
  return frame;
}

QString nameOf(const Reduction& variant) {
  return variant == kFullModel ? TuneDialog::tr("the full model") : QString::fromStdString(toString(variant));
}

}  // namespace

TuneDialog::TuneDialog(int stored, double next_every_s, const ClassPaint& paint, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Tune for this camera"));
  pages_ = new QStackedWidget;
  for (QWidget* page : {makeQuestion(stored, next_every_s), makeProgress(), makeResult(paint)}) pages_->addWidget(page);
  start_ = pushButton(tr("Start"), {}, this, &TuneDialog::startRequested);
  use_ = pushButton(tr("Use it"), {}, this, [this] {
    emit used(result_->rows[static_cast<std::size_t>(table_->currentRow())].variant);
    accept();
  });
  close_ = pushButton({}, {}, this, &QDialog::reject);
  for (QPushButton* button : {start_, use_}) makePrimary(button);
  QBoxLayout* buttons = fill(new QHBoxLayout, start_, use_, close_);
  buttons->insertStretch(0);
  fill(new QVBoxLayout(this), pages_, buttons)->setContentsMargins(16, 14, 16, 14);
  showPage(kQuestion);
  fitToWindow(this, QSize(900, 560));
}

QWidget* TuneDialog::makeQuestion(int stored, double next_every_s) {
  auto* text = wrapped(new QLabel(
      tr("A reduction merges tokens: the model is faster, and a few pixels get another class. How many depends "
         "on what the camera sees. This tries many reductions on your pictures and finds the fastest one that "
         "keeps the labels of the full model. You need no labels of your own.")));
  next_ = new QRadioButton(tr("The next frames of this source, one every"));
  every_ = numberField(tr("Seconds between two frames"), 0, 3600, next_every_s, 1, tr(" s"));
  stored_ = new QRadioButton(tr("The %n stored picture(s) of this source", nullptr, stored));
  stored_->setEnabled(stored >= evaluation::kMinTunePictures);
  stored_->setToolTip(tr("Snapshots, recordings and time-lapses; at least %1").arg(evaluation::kMinTunePictures));
  count_ = wholeField(tr("Most pictures"), evaluation::kMinTunePictures, 200, Choice().pictures, tr(" pictures"));
  agreement_ = numberField(tr("Least agreement"), 50, 100, Choice().agreement, 2, tr(" % of the pixels"));
  (stored_->isEnabled() ? stored_ : next_)->setChecked(true);
  problem_ = wrapped(new QLabel);
  setBadge(problem_, Badge::kBad);
  problem_->hide();

  auto* content = new QWidget;
  auto* form = unframed(new QFormLayout(content));
  form->addRow(text);
  form->addRow(problem_);
  form->addRow(headingLabel(tr("Pictures")));
  form->addRow(stored_);
  form->addRow(leftRow(next_, every_));
  form->addRow(tr("At most"), leftRow(count_));
  form->addRow(headingLabel(tr("What to keep")));
  form->addRow(tr("The same class on at least"), leftRow(agreement_));
  form->addRow(
      wrapped(mutedLabel(tr("Pictures of day and night, of dry and wet days, make the choice safer: a time-lapse "
                            "collects them. The search takes a few minutes and measures time, so the live "
                            "picture pauses meanwhile."))));
  return scrolled(content);
}

QWidget* TuneDialog::makeProgress() {
  auto* page = new QWidget;
  doing_ = wrapped(headingLabel());
  bar_ = named(new QProgressBar, tr("Progress"));
  bar_->setTextVisible(false);
  left_ = namedValue(mutedLabel(), tr("Time left"));
  QBoxLayout* column = fill(unframed(new QVBoxLayout(page)), doing_, bar_, left_);
  column->insertStretch(0);
  column->addStretch();
  return page;
}

QWidget* TuneDialog::makeResult(const ClassPaint& paint) {
  auto* page = new QWidget;
  explanation_ = wrapped(new QLabel);
  explanation_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  table_ = plainTable(tr("Reductions, the fastest first"),
                      {tr("Reduction"), tr("Speed"), tr("Same"), tr("At least"), tr("Tokens")}, 6);
  const QString tips[] = {tr("What --reduce takes"), tr("Times as fast as the full model"),
                          tr("Pixels with the class of the full model, in percent"),
                          tr("The lower end of the 95 % interval of that number. It decides"),
                          tr("Tokens at the end, on average")};
  for (int i = 0; i < kColumns; ++i) table_->horizontalHeaderItem(i)->setToolTip(tips[i]);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setMinimumWidth(300);
  ClassPaint with_differences = paint;
  with_differences.mode = ViewMode::kOverlay;
  with_differences.color[kDiffers] = kDifference;
  with_differences.visible[kDiffers] = true;
  before_ = named(new ImageView(&pointed_at_), tr("Labels of the full model"));
  after_ = named(new ImageView(&pointed_at_), tr("Labels of the chosen reduction"));
  for (ImageView* picture : {before_, after_}) {
    picture->setPaint(with_differences);
    picture->setMinimumSize(120, 70);
    connect(picture, &ImageView::viewStateChanged, before_, &ImageView::setViewState);
    connect(picture, &ImageView::viewStateChanged, after_, &ImageView::setViewState);
  }
  row_text_ = wrapped(mutedLabel());
  QBoxLayout* pictures =
      fill(new QVBoxLayout, mutedLabel(tr("Full model")), stretched(before_), row_text_, stretched(after_));
  chart_ = named(new TradeChart, tr("Speed against agreement"));
  QBoxLayout* trade = fill(new QVBoxLayout, stretched(table_), chart_);
  fill(unframed(new QVBoxLayout(page)), explanation_,
       stretched(fill(new QHBoxLayout, stretched(trade, 3), stretched(pictures, 2))));
  constexpr int kEnough = 520;  // px; a lower dialog needs its height for the table
  chart_->setVisible(!parentWidget() || parentWidget()->window()->height() > kEnough);
  connect(table_, &QTableWidget::currentCellChanged, this, &TuneDialog::showRow);
  return page;
}

void TuneDialog::showPage(int page) {
  pages_->setCurrentIndex(page);
  start_->setVisible(page == kQuestion);
  use_->setVisible(page == kResult);
  close_->setText(page == kResult ? tr("Leave it as it is") : tr("Cancel"));
  QPushButton* const chosen[] = {start_, close_, use_};
  chosen[page]->setDefault(true);
  QWidget* const focused[] = {start_, close_, table_};
  focused[page]->setFocus();
}

void TuneDialog::showCollecting(int pictures, int wanted) {
  doing_->setText(tr("Collecting frames: %1 of %2. The live picture goes on.").arg(pictures).arg(wanted));
  bar_->setRange(0, wanted);
  bar_->setValue(pictures);
  const double left = (wanted - pictures) * every_->value();
  setValue(left_, left > 0 ? tr("about %1 left, then it measures").arg(spanText(left)) : QString());
  if (pages_->currentIndex() != kProgress) showPage(kProgress);
}

void TuneDialog::showMeasuring() {
  started_ = steadyNow();
  doing_->setText(tr("Measuring reductions. The live picture is paused."));
  bar_->setRange(0, 0);
  setValue(left_, {});
  if (pages_->currentIndex() != kProgress) showPage(kProgress);
}

void TuneDialog::showProgress(int done, int estimate) {
  const double seconds = static_cast<double>(steadyNow() - started_) / 1000;
  bar_->setRange(0, estimate);
  bar_->setValue(done);
  constexpr double kSure = 1;  // s
  if (done > 0 && seconds > kSure)
    setValue(left_, tr("%1 of about %2 runs, about %3 left")
                        .arg(done)
                        .arg(estimate)
                        .arg(spanText(std::ceil(seconds / done * (estimate - done)))));
}

void TuneDialog::showResult(const Result& result) {
  result_ = result;
  const evaluation::TuneRow& best = result->choice();
  const QString speed = number(best.speed_up, 2);
  if (best.variant == kFullModel)
    explanation_->setText(tr("None of the %1 reductions that were tried is faster and keeps enough labels, so the full "
                             "model stays. Ask for a little less agreement to have a choice.")
                              .arg(result->tried));
  else
    explanation_->setText(tr("Of the %1 reductions in the table, %2 is the fastest that keeps the labels: %3 times as "
                             "fast as the full model. On %4 pictures that the search did not use, %5 % of the pixels "
                             "have the same class (95 % interval from %6 %).")
                              .arg(result->rows.size())
                              .arg(breakable(nameOf(best.variant)), speed)
                              .arg(result->held_back)
                              .arg(percent(best.agreement), percent(best.agreement_low)));
  table_->setRowCount(static_cast<int>(result->rows.size()));
  for (int i = 0; i < table_->rowCount(); ++i) {
    const evaluation::TuneRow& row = result->rows[static_cast<std::size_t>(i)];
    setRow(table_, i,
           {nameOf(row.variant), number(row.speed_up, 2), percent(row.agreement),
            (row.passes ? QStringLiteral("✓ ") : QString()) + percent(row.agreement_low), number(row.tokens)},
           kSpeedUp);
    for (int column = 0; column < kColumns; ++column) {
      QTableWidgetItem* cell = table_->item(i, column);
      QFont font = cell->font();
      font.setBold(static_cast<std::size_t>(i) == result->chosen);
      cell->setFont(font);
      cell->setToolTip(nameOf(row.variant));
    }
  }
  showPage(kResult);
  table_->setCurrentCell(static_cast<int>(result->chosen), kReduction);
  showRow();
}

void TuneDialog::showRow() {
  if (!result_ || table_->currentRow() < 0) return;
  const evaluation::TuneRow& row = result_->rows[static_cast<std::size_t>(table_->currentRow())];
  for (const evaluation::TuneRow& other : result_->rows)
    if (other.variant == kFullModel) before_->setFrame(exampleOf(*result_, other));
  after_->setFrame(exampleOf(*result_, row));
  chart_->setResult(result_, agreement_->value(), table_->currentRow());
  row_text_->setText(tr("%1. Orange: another class").arg(breakable(nameOf(row.variant))));
}

void TuneDialog::showProblem(const QString& message) {
  problem_->setText(message);
  problem_->show();
  showPage(kQuestion);
}

}  // namespace mpm::gui
