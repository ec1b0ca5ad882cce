// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

#include "gui/views/reduction_editor.h"
#include "mpm/model_info.hpp"

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
  ReductionEditor* editor_;
  QLabel* state_;
};

}  // namespace mpm::gui
