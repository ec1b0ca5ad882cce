// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/class_paint.h"
#include "gui/models/on_show.h"
#include "mpm/model_info.hpp"

namespace mpm::gui {

/// Colours that the user chose, by the name of the class.
using ClassColors = std::map<QString, QColor>;

/// The classes of the model that measured what is on show: shown or hidden, their colours and the share
/// of the frame each covers.
class LegendModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { kName, kArea, kColumns };
  enum Role { kClassRole = Qt::UserRole, kSortRole };

  using QAbstractTableModel::QAbstractTableModel;

  void setClasses(const ModelInfo& info);
  /// The classes of a model of which nothing else is known; the same again changes nothing.
  void setClasses(const QStringList& names);
  void setAreas(const std::vector<std::pair<int, double>>& shares);  ///< class, 0..1; classes left out cover nothing
  void clearAreas();                                                 ///< nothing was measured
  /// Sets the areas by the names of the classes. `measured`: those of the model that measured; of others no area is
  /// known. Empty: not known, as of the JSON of a snapshot; it was the model of this legend where that has each of the
  /// names.
  void setNamedAreas(const QHash<QString, double>& shares, const QStringList& measured = {});
  /// Those of what is on show, within a region ("": the whole picture). A region that was not measured has none.
  void setAreasOf(const OnShow& on_show, const QString& region);
  void setColor(int index, const QColor& color);
  /// Colours that replace those of the model, from the next setClasses() on.
  void setChosenColors(ClassColors colors) { chosen_ = std::move(colors); }
  /// Colours that those of the same name have, unless they were chosen here: those of another legend.
  void borrowColors(const ClassColors& colors);
  ClassColors colors() const;
  /// Makes the present colour of class `index` a chosen one.
  void chooseColor(int index);
  QColor color(int index) const { return rows_[index].color; }
  QString name(int index) const { return rows_[index].name; }
  int classes() const { return static_cast<int>(rows_.size()); }
  bool visible(int index) const { return solo_ ? *solo_ == index : rows_[index].visible; }

  /// Shows class `index` alone; the same again, or nullopt, ends that.
  void toggleSolo(std::optional<int> index);
  std::optional<int> solo() const { return solo_; }
  void setAllVisible(bool visible);

  /// Fills in the colours and the visibility; of a model of depth those of LiveFrame::map.
  void apply(ClassPaint& paint) const;

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : classes(); }
  int columnCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : kColumns; }
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 signals:
  void paintChanged();
  void colorChosen(const QString& name, const QColor& color);

 private:
  struct Row {
    QString name;
    QColor color;
    bool visible = true;
    std::optional<double> area{};  // of what is on show
  };
  void changed(const QList<int>& roles);
  void setRows(std::vector<Row> rows);
  std::vector<Row> rowsOf(const ModelFacts& facts, const std::vector<std::string>& names) const;
  std::vector<Row> rows_;
  std::optional<int> solo_;
  ClassColors chosen_, borrowed_;
  bool depth_ = false;  // the model has no classes: the colours are those of depths
};

void save(QSettings& settings, const ClassColors& colors);
ClassColors loadClassColors(const QSettings& settings);

}  // namespace mpm::gui
