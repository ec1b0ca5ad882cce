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
  explicit ReductionPanel(QWidget* parent = nullptr);

  /// Shows how this model merges.
  void setModel(const ModelInfo& info);
  ReductionEditor* editor() const { return editor_; }

 signals:
  void tuneRequested();
  void copyRequested();

 private:
  ReductionEditor* editor_;
  QLabel* state_;
  QPushButton *tune_, *copy_;
};

}  // namespace mpm::gui
