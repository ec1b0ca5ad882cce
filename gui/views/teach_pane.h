// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/label_panels.h"
#include "gui/views/model_panels.h"
#include "gui/views/teach_canvas.h"

namespace mpm::gui {

/// The picture to label with its tools, and beside it pictures, classes and models. Its keys count wherever the focus
/// is inside.
class TeachPane : public QWidget {
  Q_OBJECT
 public:
  explicit TeachPane(QWidget* parent = nullptr);

  TeachCanvas* canvas() const { return canvas_; }
  LabelClassesPanel* classes() const { return classes_; }
  LabelPicturesPanel* pictures() const { return pictures_; }
  LabelTablePanel* labels() const { return labels_; }
  TaughtModelsPanel* models() const { return models_; }
  StatesPanel* states() const { return states_; }

  void chooseTool(TeachCanvas::Tool tool) { tools_[static_cast<std::size_t>(tool)].second->setChecked(true); }
  void setUndo(bool undo, bool redo);
  /// Says below the picture how far the trainer is.
  void setStatus(const QString& text, Badge badge = Badge::kNone);
  /// Whether to show where the last version of the model differs.
  bool wantsChanges() const { return changes_->isChecked(); }
  /// It in words, below the picture.
  void setChanged(const QString& text) { showValue(changed_, text); }

 signals:
  void undoRequested();
  void redoRequested();
  void changesWanted(bool on);

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void showEvent(QShowEvent* event) override;

 private:
  QWidget* makeTools();
  bool handleKey(const QKeyEvent& event, bool run);

  PatchSelection selection_;
  TeachCanvas* canvas_;
  LabelClassesPanel* classes_;
  LabelPicturesPanel* pictures_;
  LabelTablePanel* labels_;
  TaughtModelsPanel* models_;
  StatesPanel* states_;
  QSplitter* split_;
  bool sized_ = false;  // the side has its share
  QSpinBox* brush_;
  QLabel *status_, *changed_;
  QToolButton *undo_, *redo_, *unsure_, *changes_;
  std::vector<std::pair<Qt::Key, QToolButton*>> tools_;  // in the order of TeachCanvas::Tool
};

}  // namespace mpm::gui
