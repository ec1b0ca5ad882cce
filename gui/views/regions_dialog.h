// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "charts/chart.h"
#include "gui/views/region_canvas.h"
#include "gui/views/settings_dialog.h"

namespace mpm::gui {

/// The regions of a source: drawn, changed, read from files and written.
class RegionsDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `shown`: of the source; From and Until begin with its time, and regions lie where its view has moved to; `clock`:
  /// by which times are shown and lists of PhenoCam are read.
  RegionsDialog(const QString& source, const std::vector<vision::Region>& regions, const LiveFrame& shown,
                const charts::OptionalClock& clock, QWidget* parent = nullptr);

  const std::vector<vision::Region>& regions() const { return edited_; }
  /// Adds those of a file. What is wrong with it stands below the buttons.
  void read(const QString& path);
  void write(const QString& path);
  /// Asks first, where something was changed: Esc also drops a polygon.
  void reject() override;

 signals:
  void chosen(const std::vector<mpm::vision::Region>& regions);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QWidget* makePicture(const LiveFrame& shown);
  void makeFields();
  void askWhereToExport();
  void addPolygon(const QPolygonF& polygon);
  void moveCorner(const RegionCanvas::Corner& at, QPointF to);
  void remove();
  template <typename Action>
  void act(Action action);
  /// Shows the regions as they are now, with one of them chosen.
  void show(int index);
  vision::Region* current();
  QString refusal() const;

  std::vector<vision::Region> edited_;
  const cv::Size size_;  // of the picture
  const UnixMs time_;    // the same
  const charts::OptionalClock clock_;
  PatchSelection cross_;
  RegionCanvas* const canvas_;
  QListWidget* const list_;
  QLineEdit* const name_;
  QCheckBox* const ignore_;
  QCheckBox* const cut_out_;
  QDateTimeEdit* const from_;
  QDateTimeEdit* const to_;
  QPushButton* const part_;
  QPushButton* const remove_;
  QPushButton* const export_;
  QLabel* const said_;
  QCheckBox* const from_on_;
  QCheckBox* const to_on_;
  QString file_;  // that they were last read from or written to
  int index_ = -1;
  bool changed_ = false;  // since the dialog was opened
  bool showing_ = false;  // the fields change because another region is chosen
};

}  // namespace mpm::gui
