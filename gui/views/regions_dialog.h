// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "charts/chart.h"
#include "gui/views/dialogs.h"
#include "gui/views/image_view.h"

namespace mpm::gui {

/// A picture on which polygons are drawn, and the corners of regions dragged, by the mouse or by the keyboard: the
/// arrow keys move a cross (Shift: by one pixel), the space bar draws or grabs a corner, Enter closes the polygon,
/// Backspace takes a corner back, Esc drops all.
class RegionCanvas : public ImageView {
  Q_OBJECT
 public:
  struct Corner {
    int region = 0;
    qsizetype polygon = 0, corner = 0;
  };

  /// `cross` is of this view alone.
  explicit RegionCanvas(PatchSelection* cross, QWidget* parent = nullptr);

  /// The corners of region `chosen` are marked; negative: of none.
  void choose(int chosen) { setPainted(chosen_, chosen); }
  bool hasPolygon() const { return !pen_.isEmpty(); }

 signals:
  /// A polygon was closed; px of the picture.
  void drawn(const QPolygonF& polygon);
  /// To a place of the picture, 0..1.
  void cornerMoved(const mpm::gui::RegionCanvas::Corner& corner, QPointF to);
  void regionChosen(int region);
  /// A polygon was begun or dropped.
  void polygonChanged();

 protected:
  void paintPicture(QPainter& painter, const Viewport& viewport) override;
  void paintAbove(QPainter&, const Viewport&) const override {}
  bool outlinesCluster() const override { return false; }
  bool beginDrag(QPointF at) override;
  void drag(QPointF at) override;
  void endDrag() override { grabbed_.reset(); }
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::optional<Corner> cornerAt(QPointF at) const;
  void press(QPointF at);
  void moveGrabbed(QPointF at);
  void moveCross(QPointF by);
  void close();
  void drop();

  PatchSelection* cross_;
  QPolygonF pen_;  // the polygon that is drawn, px of the picture
  int chosen_ = -1;
  std::optional<Corner> grabbed_;
};

/// The regions of a source: drawn, changed, read from files and written.
class RegionsDialog : public SettingsDialog {
  Q_OBJECT
 public:
  /// `picture`: what the source shows; `time`: when it was taken, and From and Until begin with it; `clock`: by which
  /// they are shown and lists of PhenoCam are read.
  RegionsDialog(const QString& source, const std::vector<vision::Region>& regions, const cv::Mat& picture, UnixMs time,
                const charts::Clock& clock, QWidget* parent = nullptr);

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
  QWidget* makePicture(const cv::Mat& picture);
  void makeFields();
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
  QString file_;   // that they were last read from or written to
  cv::Size size_;  // of the picture
  UnixMs time_;    // the same
  charts::Clock clock_;
  int index_ = -1;
  bool changed_ = false;  // since the dialog was opened
  bool showing_ = false;  // the fields change because another region is chosen
  PatchSelection cross_;
  RegionCanvas* canvas_;
  QListWidget* list_;
  QLineEdit* name_;
  QCheckBox *ignore_, *from_on_, *to_on_;
  QDateTimeEdit *from_, *to_;
  QPushButton *part_, *remove_, *export_;
  QLabel* said_;
};

}  // namespace mpm::gui
