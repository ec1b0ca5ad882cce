// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/reduction_editor.h"

namespace mpm::gui {

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
  ReductionEditor* const editor_;
  QLabel* const state_;
};

}  // namespace mpm::gui
