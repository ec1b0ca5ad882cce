// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/views/label_classes_panel.h"
#include "gui/views/label_pictures_panel.h"
#include "gui/views/label_table_panel.h"
#include "gui/views/states_panel.h"
#include "gui/views/taught_models_panel.h"
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
  /// The strokes of the active stack are undone by the buttons and keys.
  QUndoGroup& steps() { return steps_; }
  /// Says below the picture how far the trainer is.
  void setStatus(const QString& text, Badge badge = Badge::kNone);

 protected:
  bool event(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* makeTools();
  bool handleKey(const QKeyEvent& event, bool run);

  PatchSelection selection_;
  TeachCanvas* const canvas_;
  QSpinBox* const brush_;
  LabelClassesPanel* const classes_;
  LabelPicturesPanel* const pictures_;
  LabelTablePanel* const labels_;
  TaughtModelsPanel* const models_;
  StatesPanel* const states_;
  QLabel* const status_;
  QToolButton* unsure_;
  QUndoGroup steps_;
  std::vector<std::pair<Qt::Key, QToolButton*>> tools_;  // in the order of TeachCanvas::Tool
};

}  // namespace mpm::gui
