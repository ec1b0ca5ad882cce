// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtWidgets>

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
