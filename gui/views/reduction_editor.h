// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/labels.h"
#include "mpm/model_info.hpp"
#include "mpm/options.hpp"

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
  QComboBox* const method_;
  QLabel* const meaning_;
  QWidget* const block_area_;
  QComboBox* const limit_;
  QDoubleSpinBox* const share_;
  QSpinBox* const count_;
  QCheckBox* const similar_;
  QDoubleSpinBox* const similarity_;
  QComboBox* const attention_;
  QWidget* const amount_area_;
  QLineEdit* const spec_;
  QLabel* const problem_;
  std::vector<QCheckBox*> boxes_;  // by the block
};

}  // namespace mpm::gui
