// SPDX-License-Identifier: Apache-2.0
#include "gui/views/reduction_editor.h"

#include "base/reduction_defaults.h"
#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/layouts.h"
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

ReductionEditor::ReductionEditor(bool explains, QWidget* parent)
    : QWidget(parent),
      method_(choiceField(tr("Method"), {tr("Full model"), tr("Mutual Pair Merging"), tr("Gradual merging"), tr("ToMe"),
                                         tr("ALGM"), tr("CTS")})),
      meaning_(wrapped(mutedLabel())),
      block_area_(new QWidget),
      limit_(choiceField(tr("How much merges in each block"),
                         {tr("A share of the tokens"), tr("A number of pairs"), tr("All similar pairs")})),
      share_(finelyTuned(numberField(tr("Share of the tokens, per block"), 0.01, 100, 5, 2, tr(" % per block")), 0.5)),
      count_(wholeField(tr("Pairs, per block"), 1, 1'000'000, 1, tr(" per block"))),
      similar_(new QCheckBox(tr("Only similar ones"))),
      similarity_(finelyTuned(numberField(tr("Least similarity"), -1, 1, kProposedSimilarity, 4), 0.01)),
      attention_(choiceField(tr("Attention"), {tr("Plain attention"), tr("Proportional attention")})),
      amount_area_(new QWidget),
      spec_(named(new QLineEdit, tr("Reduction as text"))),
      problem_(wrapped(namedValue(new QLabel, tr("Problem")))) {
  meaning_->setVisible(explains);
  auto* grid = unframed(new QGridLayout(block_area_));
  grid->setHorizontalSpacing(10);
  grid->setVerticalSpacing(4);

  count_->setKeyboardTracking(false);
  similarity_->setPrefix(QStringLiteral("≥ "));
  similarity_->setToolTip(tr("Cosine similarity: 1 is equal. Nearer to 1 merges less"));
  attention_->setToolTip(tr("Proportional: a merged token counts as many times as it has members"));
  fill(unframed(new QVBoxLayout(amount_area_)), limit_, share_, count_, similar_, similarity_, attention_);

  spec_->setToolTip(
      tr("What --reduce takes on the command line. It can be copied, and changed here: Enter applies it"));
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

}  // namespace mpm::gui
