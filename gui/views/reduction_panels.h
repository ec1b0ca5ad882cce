// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/live_frame.h"
#include "gui/views/look.h"

namespace mpm::gui {

/// A reduction: its method, its blocks, how much it merges, and its spec as text. The controls show the defaults that
/// the library uses; what a person has not changed is not written into the spec.
class ReductionEditor : public QWidget {
  Q_OBJECT
 public:
  /// `explains`: with a sentence about the method.
  explicit ReductionEditor(bool explains = true, QWidget* parent = nullptr);

  /// The model that the reduction is for: its blocks and tokens.
  void setModel(const ModelInfo& info);
  void setReduction(const Reduction& reduction);
  /// The last one that is valid.
  const Reduction& reduction() const { return reduction_; }
  /// Why the reduction cannot be had; empty: nothing is wrong. It goes with the next change.
  void setProblem(const QString& problem) { showValue(problem_, problem); }
  QCheckBox* box(int block) const { return boxes_[static_cast<std::size_t>(block)]; }
  int blocks() const { return static_cast<int>(boxes_.size()); }

 signals:
  /// A person chose another one, which is valid.
  void reductionChanged(const mpm::Reduction& variant);

 private:
  void take(const Reduction& reduction);
  void change(const std::function<void(Reduction&)>& apply);
  double share() const { return std::round(share_->value() * 100) / 1e4; }
  void display(const Reduction& reduction);

  int tokens_ = 0;
  Reduction reduction_ = kFullModel, shown_ = kFullModel;  // shown: may be half chosen
  QComboBox *method_, *limit_, *attention_;
  QWidget *block_area_, *amount_area_;
  std::vector<QCheckBox*> boxes_;  // by the block
  QDoubleSpinBox *share_, *similarity_;
  QSpinBox* count_;
  QCheckBox* similar_;
  QLineEdit* spec_;
  QLabel *meaning_, *problem_;
};

/// How the tokens of the live picture merge.
class ReductionPanel : public QWidget {
  Q_OBJECT
 public:
  /// `tune` and `copy`: the actions of its buttons.
  ReductionPanel(QAction* tune, QAction* copy, QWidget* parent = nullptr);

  /// Shows how this model merges.
  void setModel(const ModelInfo& info);
  ReductionEditor* editor() const { return editor_; }

 private:
  ReductionEditor* editor_;
  QLabel* state_;
};

/// Compares two reductions on one frame: time, tokens, agreement, and where the labels differ.
class ComparePanel : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePanel(QWidget* parent = nullptr);
  void setModel(const ModelInfo& info) { editor_->setModel(info); }
  void setFrame(const LiveFramePtr& frame);
  /// Switches the comparison off because it is impossible, and shows why.
  void refuse(const QString& why);
  QCheckBox* box() const { return on_; }

 signals:
  /// nullopt: with nothing.
  void compareChosen(const std::optional<mpm::Reduction>& variant);

 protected:
  void resizeEvent(QResizeEvent*) override { showPicture(); }

 private:
  void showPicture();
  QCheckBox* on_;
  ReductionEditor* editor_;
  QWidget* numbers_;
  QLabel *names_[2], *ms_[2], *tokens_[2];  // of the live reduction and of the other one
  QLabel *facts_, *difference_;
  QImage picture_;
  QString refused_;
};

}  // namespace mpm::gui
