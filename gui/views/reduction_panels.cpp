// SPDX-License-Identifier: Apache-2.0
#include "gui/views/reduction_panels.h"

#include "base/reduction_defaults.h"
#include "gui/models/readout.h"
#include "mpm/error.hpp"

namespace mpm::gui {
namespace {

// In the order of the list.
constexpr ReductionMethod kMethods[] = {ReductionMethod::kNone, ReductionMethod::kMpm,  ReductionMethod::kGradual,
                                        ReductionMethod::kTome, ReductionMethod::kAlgm, ReductionMethod::kCts};

// The bounds of how much merges, in the order of the list.
enum Limit { kShareOfTokens, kNumberOfPairs, kSimilarPairs };

constexpr double kProposedSimilarity = 0.95;  // for gradual merging, which has none by default

QDoubleSpinBox* finelyTuned(QDoubleSpinBox* box, double step) {
  box->setSingleStep(step);
  box->setKeyboardTracking(false);
  return box;
}

Limit limitOf(const Reduction& reduction) {
  if (reduction.count) return kNumberOfPairs;
  return reduction.similarity && !reduction.share ? kSimilarPairs : kShareOfTokens;
}

}  // namespace

ReductionEditor::ReductionEditor(bool explains, QWidget* parent) : QWidget(parent) {
  method_ = choiceField(tr("Method"), {tr("Full model"), tr("Mutual Pair Merging"), tr("Gradual merging"), tr("ToMe"),
                                       tr("ALGM"), tr("CTS")});
  meaning_ = wrapped(mutedLabel());
  meaning_->setVisible(explains);
  block_area_ = new QWidget;
  auto* grid = unframed(new QGridLayout(block_area_));
  grid->setHorizontalSpacing(10);
  grid->setVerticalSpacing(4);

  limit_ = choiceField(tr("How much merges in each block"),
                       {tr("A share of the tokens"), tr("A number of pairs"), tr("All similar pairs")});
  share_ = finelyTuned(numberField(tr("Share of the tokens, per block"), 0.01, 100, 5, 2, tr(" % per block")), 0.5);
  count_ = wholeField(tr("Pairs, per block"), 1, 1'000'000, 1, tr(" per block"));
  count_->setKeyboardTracking(false);
  similar_ = new QCheckBox(tr("Only similar ones"));
  similarity_ = finelyTuned(numberField(tr("Least similarity"), -1, 1, kProposedSimilarity, 4), 0.01);
  similarity_->setPrefix(QStringLiteral("≥ "));
  similarity_->setToolTip(tr("Cosine similarity: 1 is equal. Nearer to 1 merges less"));
  attention_ = choiceField(tr("Attention"), {tr("Plain attention"), tr("Proportional attention")});
  attention_->setToolTip(tr("Proportional: a merged token counts as many times as it has members"));
  amount_area_ = new QWidget;
  fill(unframed(new QVBoxLayout(amount_area_)), limit_, share_, count_, similar_, similarity_, attention_);

  spec_ = named(new QLineEdit, tr("Reduction as text"));
  spec_->setToolTip(
      tr("What --reduce takes on the command line. It can be copied, and changed here: Enter applies it"));
  problem_ = wrapped(namedValue(new QLabel, tr("Problem")));
  setBadge(problem_, Badge::kBad);
  fill(unframed(new QVBoxLayout(this)), method_, meaning_, block_area_, amount_area_, spec_, problem_);

  connect(method_, &QComboBox::activated, this, [this](int index) {
    if (kMethods[index] != shown_.method) take({.method = kMethods[index]});
  });
  connect(limit_, &QComboBox::activated, this, [this](int limit) {
    change([this, limit](Reduction& reduction) {
      reduction.count = limit == kNumberOfPairs ? std::optional(count_->value()) : std::nullopt;
      reduction.share = limit == kShareOfTokens ? std::optional(share()) : std::nullopt;
      if (limit == kSimilarPairs) reduction.similarity = similarity_->value();
    });
  });
  connect(share_, &QDoubleSpinBox::valueChanged, this, [this] { change([this](auto& r) { r.share = share(); }); });
  connect(count_, &QSpinBox::valueChanged, this, [this](int pairs) { change([pairs](auto& r) { r.count = pairs; }); });
  connect(similar_, &QCheckBox::toggled, this, [this](bool on) {
    change([this, on](Reduction& reduction) {
      if (!reduction.count) reduction.share = share();  // else the similarity would stand alone
      reduction.similarity = on ? std::optional(similarity_->value()) : std::nullopt;
    });
  });
  connect(similarity_, &QDoubleSpinBox::valueChanged, this,
          [this](double least) { change([least](auto& r) { r.similarity = least; }); });
  connect(attention_, &QComboBox::activated, this, [this](int index) {
    change([index](Reduction& reduction) {
      reduction.attention = static_cast<Attention>(index);
      if (reduction.attention == defaultAttention(reduction.method)) reduction.attention.reset();
    });
  });
  connect(spec_, &QLineEdit::returnPressed, this, [this] {
    try {
      take(parseReduction(spec_->text().trimmed().toStdString()));
    } catch (const Error& error) {
      setProblem(QString::fromStdString(error.what()));
    }
  });
  setEnabled(false);
  display(reduction_);
}

void ReductionEditor::setModel(const ModelInfo& info) {
  tokens_ = info.tokens();
  setEnabled(!info.converted);
  constexpr int kColumns = 4;
  auto* grid = static_cast<QGridLayout*>(block_area_->layout());
  if (blocks() != info.blocks) qDeleteAll(std::exchange(boxes_, {}));
  for (int block = blocks(); block < info.blocks; ++block) {
    auto* check = named(new QCheckBox(QString::number(block)), tr("Merge at block %1").arg(block));
    connect(check, &QCheckBox::toggled, this, [this] {
      change([this](Reduction& reduction) {
        reduction.blocks.emplace();
        for (int one = 0; one < blocks(); ++one)
          if (box(one)->isChecked()) reduction.blocks->push_back(one);
      });
    });
    grid->addWidget(check, block / kColumns, block % kColumns);
    boxes_.push_back(check);
  }
  display(shown_);
}

void ReductionEditor::setReduction(const Reduction& reduction) {
  reduction_ = reduction;
  setProblem({});
  display(reduction);
}

void ReductionEditor::take(const Reduction& reduction) {
  setProblem({});
  display(reduction);
  try {
    reduction.validate();
  } catch (const Error& error) {
    return setProblem(QString::fromStdString(error.what()));
  }
  if (std::exchange(reduction_, reduction) != reduction) emit reductionChanged(reduction);
}

void ReductionEditor::change(const std::function<void(Reduction&)>& apply) {
  Reduction reduction = shown_;
  apply(reduction);
  take(reduction);
}

void ReductionEditor::display(const Reduction& reduction) {
  using enum ReductionMethod;
  shown_ = reduction;
  const ReductionMethod method = reduction.method;
  const Reduction full = withDefaults(reduction, blocks());
  const QString meanings[] = {tr("Nothing merges. All other methods are compared with it."),
                              tr("All pairs that are each other's nearest neighbour, before a few blocks: the paper."),
                              tr("The most similar pairs, a few in each of many blocks. Start here."),
                              tr("In each block even tokens merge into odd ones, the most similar first."),
                              tr("First windows of 2x2 patches, in a later block single tokens."),
                              tr("Windows of 2x2 patches that a policy network chooses share one token.")};
  const auto index = static_cast<int>(std::find(std::begin(kMethods), std::end(kMethods), method) - kMethods);
  const QSignalBlocker quiet[] = {QSignalBlocker(method_),   QSignalBlocker(limit_),   QSignalBlocker(share_),
                                  QSignalBlocker(count_),    QSignalBlocker(similar_), QSignalBlocker(similarity_),
                                  QSignalBlocker(attention_)};
  method_->setCurrentIndex(index);
  meaning_->setText(meanings[index]);
  block_area_->setVisible(method != kNone && method != kCts);
  for (int block = 0; block < blocks(); ++block) {
    const QSignalBlocker still(box(block));
    box(block)->setChecked(std::find(full.blocks->begin(), full.blocks->end(), block) != full.blocks->end());
  }

  const bool gradual = method == kGradual, limited = gradual || method == kTome;
  const Limit limit = limitOf(full);
  amount_area_->setVisible(method != kNone && method != kCts);
  limit_->setVisible(limited);
  const bool offers_similar = limit_->count() > kSimilarPairs;
  if (gradual && !offers_similar) limit_->addItem(tr("All similar pairs"));
  if (!gradual && offers_similar) limit_->removeItem(kSimilarPairs);
  limit_->setCurrentIndex(limit);
  share_->setVisible(limited && limit == kShareOfTokens);
  count_->setVisible(limited && limit == kNumberOfPairs);
  similar_->setVisible(gradual && limit != kSimilarPairs);
  similar_->setChecked(full.similarity.has_value());
  similarity_->setVisible(method == kAlgm || (gradual && full.similarity));
  if (full.share) share_->setValue(*full.share * 100);
  // A number that is chosen anew begins with as many pairs as the share.
  count_->setValue(
      full.count.value_or(std::max(1, static_cast<int>(std::lround(full.share.value_or(0.05) * tokens_)))));
  similarity_->setValue(full.similarity.value_or(kProposedSimilarity));
  attention_->setCurrentIndex(static_cast<int>(full.attention.value_or(Attention::kPlain)));
  spec_->setText(QString::fromStdString(toString(reduction)));
  spec_->setCursorPosition(0);
}

ReductionPanel::ReductionPanel(QAction* tune, QAction* copy, QWidget* parent) : QWidget(parent) {
  editor_ = new ReductionEditor;
  state_ = wrapped(mutedLabel(tr("No model is loaded")));
  panelColumn(this, state_, editor_,
              pushButton(tune, tr("Tune for this camera…"),
                         tr("Finds the fastest reduction that keeps the labels, on pictures of this source")),
              pushButton(copy, tr("Copy as command line"),
                         tr("The command that watches this source with this model and reduction without a window")));
}

void ReductionPanel::setModel(const ModelInfo& info) {
  editor_->setModel(info);
  editor_->setReduction(info.reduction);
  state_->setText(tr("This file is converted, so its reduction is fixed. Open the plain model to choose another one."));
  state_->setVisible(info.converted);
}

ComparePanel::ComparePanel(QWidget* parent) : QWidget(parent) {
  on_ = new QCheckBox(tr("Compare with another reduction"));
  on_->setToolTip(tr("Each frame is processed twice, so fewer frames a second are"));
  editor_ = new ReductionEditor(false);
  numbers_ = new QWidget;
  auto* grid = unframed(new QGridLayout(numbers_));
  grid->setColumnStretch(0, 1);
  const QString columns[] = {tr("Reduction"), tr("Time"), tr("Tokens")};
  for (int column = 0; column < 3; ++column) grid->addWidget(mutedLabel(columns[column]), 0, column);
  for (int row = 0; row < 2; ++row) {
    const QString which = row == 0 ? tr("Live") : tr("Compared");
    QLabel** const cells[] = {&names_[row], &ms_[row], &tokens_[row]};
    for (int column = 0; column < 3; ++column) {
      *cells[column] = namedValue(new QLabel, QStringLiteral("%1, %2").arg(columns[column], which));
      grid->addWidget(*cells[column], row + 1, column);
    }
    wrapped(names_[row]);
  }
  facts_ = wrapped(new QLabel);
  difference_ = named(new QLabel, tr("Pixels whose class differs"));
  difference_->setMinimumHeight(140);
  difference_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
  panelColumn(this, on_, editor_, numbers_, facts_, stretched(difference_));
  connect(on_, &QCheckBox::toggled, this, [this](bool on) {
    refused_.clear();
    if (!on) setFrame(nullptr);
    emit compareChosen(on ? std::optional(editor_->reduction()) : std::nullopt);
  });
  connect(editor_, &ReductionEditor::reductionChanged, this, [this](const Reduction& variant) {
    if (on_->isChecked()) emit compareChosen(variant);
  });
  setFrame(nullptr);
}

void ComparePanel::setFrame(const LiveFramePtr& frame) {
  picture_ = {};
  const bool compared = on_->isChecked() && frame && frame->comparison;
  numbers_->setVisible(compared);
  if (!on_->isChecked()) {
    facts_->setText(!refused_.isEmpty()
                        ? refused_
                        : tr("Shows how far a reduction changes the labels of the very same frame, and its time."));
  } else if (!compared) {
    facts_->setText(tr("Waiting for the first frame…"));
  } else {
    const Comparison& c = *frame->comparison;
    const monitor::InferenceResult& live = frame->result;
    const auto show = [this](int row, const Reduction& variant, const Estimate& estimate) {
      setValue(names_[row], breakable(QString::fromStdString(toString(variant))));
      setValue(ms_[row], tr("%1 ms").arg(number(estimate.ms.total, 1)));
      setValue(tokens_[row], number(estimate.tokens.back()));
    };
    show(0, live.model->reduction, live.estimate);
    show(1, live.compared->variant, live.compared->estimate);
    const double speed_up = live.compared->estimate.ms.total / live.estimate.ms.total;
    QString found = tr("This model gives no labels to compare.");
    if (c.agreement)
      found = tr("Same label on %1 % of the pixels. Orange: the label differs").arg(number(*c.agreement, 2));
    else if (c.depth_difference)
      found = tr("The depths differ by %1 % of their range on average.").arg(number(*c.depth_difference * 100, 2));
    facts_->setText(tr("The live one is %1 times as fast.").arg(number(speed_up, 2)) + QLatin1Char('\n') + found);
    picture_ = c.picture;
  }
  showPicture();
}

void ComparePanel::refuse(const QString& why) {
  on_->setChecked(false);
  refused_ = tr("No comparison: %1").arg(why);
  setFrame(nullptr);
}

void ComparePanel::showPicture() {
  if (picture_.isNull()) return difference_->clear();
  difference_->setPixmap(QPixmap::fromImage(picture_.scaled(difference_->size(), Qt::KeepAspectRatio)));
}

}  // namespace mpm::gui
