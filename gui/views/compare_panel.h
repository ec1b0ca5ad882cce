// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/live_frame.h"
#include "gui/views/reduction_editor.h"

namespace mpm::gui {

/// Compares two reductions on one frame: time, tokens, agreement, and where the labels differ.
class ComparePanel : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePanel(QWidget* parent = nullptr);
  void setModel(const ModelInfo& info) { editor_->setModel(info); }
  void setFrame(const LiveFramePtr& frame);
  /// Switches the comparison off where it is impossible, and shows why.
  void setStatus(const monitor::InferenceStatus& status);
  QCheckBox* box() const { return on_; }

 signals:
  /// nullopt: with nothing.
  void compareChosen(const std::optional<mpm::Reduction>& variant);

 protected:
  void resizeEvent(QResizeEvent*) override { showPicture(); }

 private:
  void showPicture();
  QCheckBox* const on_;
  ReductionEditor* const editor_;
  QWidget* const numbers_;
  QLabel* const facts_;
  QLabel* const difference_;
  QLabel *names_[2], *ms_[2], *tokens_[2];  // of the live reduction and of the other one
  QImage picture_;
  QString refused_;
};

}  // namespace mpm::gui
