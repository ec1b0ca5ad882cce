// SPDX-License-Identifier: Apache-2.0
#include "gui/models/legend_model.h"

#include <algorithm>

#include "gui/models/readout.h"
#include "vision/labels/classes.h"
#include "vision/pictures/pictures.h"

namespace mpm::gui {

std::vector<LegendModel::Row> LegendModel::rowsOf(const ModelFacts& facts,
                                                  const std::vector<std::string>& names) const {
  const auto colors = vision::classColors(facts, static_cast<int>(names.size()));
  std::vector<Row> rows;
  for (std::size_t c = 0; c < names.size(); ++c) {
    Row& row = rows.emplace_back();
    row.name = QString::fromStdString(names[c]);
    row.color = QColor(colors[c][2], colors[c][1], colors[c][0]);
    for (const ClassColors* named : {&borrowed_, &chosen_})
      if (const auto found = named->find(row.name); found != named->end()) row.color = found->second;
  }
  return rows;
}

void LegendModel::setRows(std::vector<Row> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  solo_.reset();
  endResetModel();
  emit paintChanged();
}

void LegendModel::setClasses(const ModelInfo& info) {
  depth_ = info.task == Task::kDepth;
  setRows(rowsOf(info.facts, vision::classNames(info)));
}

void LegendModel::setClasses(const QStringList& names) {
  if (std::ranges::equal(rows_, names, {}, &Row::name)) return;
  ModelFacts facts;
  std::vector<std::string> classes;
  for (const QString& name : names) facts.classes.push_back({classes.emplace_back(name.toStdString())});
  depth_ = false;
  setRows(rowsOf(facts, classes));
}

void LegendModel::setAreas(const std::vector<std::pair<int, double>>& shares) {
  for (Row& row : rows_) row.area = 0;
  for (const auto& [index, share] : shares)
    if (index >= 0 && index < classes()) rows_[index].area = share;
  changed({Qt::DisplayRole, kSortRole});
}

void LegendModel::clearAreas() {
  for (Row& row : rows_) row.area.reset();
  changed({Qt::DisplayRole, kSortRole});
}

void LegendModel::setNamedAreas(const QHash<QString, double>& shares, const QStringList& measured) {
  const auto isHere = [&](const QString& name) {
    return std::ranges::any_of(rows_, [&](const Row& row) { return row.name == name; });
  };
  const bool same_model = measured.isEmpty() && std::ranges::all_of(shares.keys(), isHere);
  for (Row& row : rows_) {
    const bool known = same_model || shares.contains(row.name) || measured.contains(row.name);
    row.area = known ? std::optional(shares.value(row.name)) : std::nullopt;
  }
  changed({Qt::DisplayRole, kSortRole});
}

void LegendModel::changed(const QList<int>& roles) {
  if (!rows_.empty()) emit dataChanged(index(0, 0), index(classes() - 1, kColumns - 1), roles);
}

void LegendModel::setAreasOf(const OnShow& on_show, const QString& region) {
  if (const StoredSample* const stored = on_show.stored()) {
    const auto found = stored->areas.find(region);
    return found == stored->areas.end() ? clearAreas() : setNamedAreas(*found, stored->classes);
  }
  const LiveFramePtr live = on_show.liveFrame();
  const bool segments = live && !live->labels().empty();  // else it has classes and no areas: a classifier
  const monitor::RegionSample* const measured = segments ? live->sample.region(region.toStdString()) : nullptr;
  measured ? setAreas(measured->areas) : clearAreas();
}

void LegendModel::setColor(int row, const QColor& color) {
  rows_[row].color = color;
  emit dataChanged(index(row, 0), index(row, kColumns - 1), {Qt::DecorationRole});
  emit paintChanged();
}

void LegendModel::chooseColor(int row) {
  const auto& [name, color] = *chosen_.insert_or_assign(rows_[row].name, rows_[row].color).first;
  emit colorChosen(name, color);
}

void LegendModel::borrowColors(const ClassColors& colors) {
  borrowed_ = colors;
  for (Row& row : rows_) {
    if (const auto found = colors.find(row.name); found != colors.end() && !chosen_.contains(row.name))
      row.color = found->second;
  }
  changed({Qt::DecorationRole});
  emit paintChanged();
}

ClassColors LegendModel::colors() const {
  ClassColors colors;
  for (const Row& row : rows_) colors[row.name] = row.color;
  return colors;
}

void LegendModel::toggleSolo(std::optional<int> index) {
  solo_ = index == solo_ ? std::nullopt : index;
  changed({Qt::CheckStateRole});
  emit paintChanged();
}

void LegendModel::setAllVisible(bool visible) {
  solo_.reset();
  for (Row& row : rows_) row.visible = visible;
  changed({Qt::CheckStateRole});
  emit paintChanged();
}

void LegendModel::apply(ClassPaint& paint) const {
  paint.color.fill(0);
  paint.visible.fill(false);
  for (int c = 0; c < std::min(classes(), 256); ++c) {
    paint.color[c] = rows_[c].color.rgb();
    paint.visible[c] = visible(c);
  }
  if (!depth_) return;
  paint.visible.fill(true);
  std::transform(vision::depthColors().begin(), vision::depthColors().end(), paint.color.begin(),
                 [](const cv::Vec3b& color) { return qRgb(color[2], color[1], color[0]); });
}

QVariant LegendModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Row& row = rows_[index.row()];
  const bool name = index.column() == kName;
  if (role == Qt::DisplayRole) {
    if (name) return row.name;
    return row.area ? tr("%1 %").arg(number(*row.area * 100, 1)) : QStringLiteral("–");
  }
  if (role == kSortRole) return name ? QVariant(row.name) : QVariant(row.area.value_or(0));
  if (role == kClassRole) return index.row();
  if (role == Qt::ToolTipRole) {
    return tr("%1 (class %2). Double click or Shift+Enter: show it alone. Enter or the context menu: change its "
              "colour.")
        .arg(row.name)
        .arg(index.row());
  }
  if (role == Qt::AccessibleTextRole) {
    return row.area ? tr("%1, %2 % of the frame").arg(row.name, number(*row.area * 100, 1)) : row.name;
  }
  if (role == Qt::CheckStateRole && name) return QVariant(visible(index.row()) ? Qt::Checked : Qt::Unchecked);
  if (role == Qt::DecorationRole && name) return QVariant(row.color);
  if (role == Qt::TextAlignmentRole && !name) return QVariant(Qt::AlignRight | Qt::AlignVCenter);
  return {};
}

bool LegendModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::CheckStateRole || index.column() != kName) return false;
  if (solo_) {  // the marks show the solo: keep what is seen and change this one
    for (int c = 0; c < classes(); ++c) rows_[c].visible = c == *solo_;
    solo_.reset();
  }
  rows_[index.row()].visible = value.toInt() == Qt::Checked;
  changed({Qt::CheckStateRole});
  emit paintChanged();
  return true;
}

QVariant LegendModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return section == kName ? tr("Class") : tr("Area");
}

Qt::ItemFlags LegendModel::flags(const QModelIndex& index) const {
  Qt::ItemFlags result = QAbstractTableModel::flags(index);
  if (index.isValid() && index.column() == kName) result |= Qt::ItemIsUserCheckable;
  return result;
}

// "#rrggbb name" each: a class may have any name, a key of QSettings may not.
void save(QSettings& settings, const ClassColors& colors) {
  QStringList lines;
  for (const auto& [name, color] : colors) lines << color.name() + QLatin1Char(' ') + name;
  settings.setValue(QStringLiteral("colors"), lines);
}

ClassColors loadClassColors(const QSettings& settings) {
  ClassColors colors;
  for (const QString& line : settings.value(QStringLiteral("colors")).toStringList()) {
    const QColor color(line.left(7));
    if (color.isValid() && line.size() > 8) colors[line.mid(8)] = color;
  }
  return colors;
}

}  // namespace mpm::gui
