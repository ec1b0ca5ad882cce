// SPDX-License-Identifier: Apache-2.0
#include "gui/views/regions_dialog.h"

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "gui/views/questions.h"

namespace mpm::gui {
namespace {

// Two regions may share a name at different times.
QString listed(const RegionOutline& outline, const charts::OptionalClock& clock) {
  const auto& [from, to] = std::pair(outline.region.from, outline.region.to);
  const auto day = [&](const std::optional<UnixMs>& time) {
    return time ? QLocale().toString(dateTime(*time, clock), kDayFormat) : QString();
  };
  return from || to ? QStringLiteral("%1 · %2 – %3").arg(outline.title(), day(from), day(to)) : outline.title();
}

QString inWords(const vision::RegionError& error) {
  using Why = vision::RegionError::Why;
  const QString name = QString::fromStdString(error.region);
  switch (error.why) {
    case Why::kNoName:
      return RegionsDialog::tr("A region has no name: give each a name");
    case Why::kNoTime:
      return RegionsDialog::tr("Region %1 ends before it begins").arg(name);
    case Why::kNoArea:
      return RegionsDialog::tr("Region %1 has no area: it needs three corners or more, not on one line").arg(name);
    case Why::kSameName:
      return RegionsDialog::tr("Two regions have the name %1: give each its own").arg(name);
    case Why::kSameTime:
      return RegionsDialog::tr(
                 "Two regions with the name %1 are valid at the same time: let one end before the next begins")
          .arg(name);
    case Why::kOther:
      break;
  }
  return QString::fromStdString(error.what());
}

}  // namespace

RegionsDialog::RegionsDialog(const QString& source, const std::vector<vision::Region>& regions, const LiveFrame& shown,
                             const charts::OptionalClock& clock, QWidget* parent)
    : SettingsDialog(tr("Regions of %1").arg(source), parent),
      edited_(regions),
      size_(shown.image().size()),
      time_(shown.result.frame.time),
      clock_(clock),
      canvas_(named(new RegionCanvas(&cross_), tr("Picture on which regions are drawn"))),
      list_(named(new QListWidget, tr("Regions"))),
      name_(named(new QLineEdit, tr("Name"))),
      ignore_(new QCheckBox(tr("Ignored"))),
      cut_out_(new QCheckBox(tr("At the resolution of the camera"))),
      from_(named(new QDateTimeEdit, tr("Valid from"))),
      to_(named(new QDateTimeEdit, tr("Valid until"))),
      part_(pushButton(tr("Add a part"), tr("The next polygon becomes another part of this region"))),
      remove_(pushButton(tr("Delete"), {}, this, &RegionsDialog::remove)),
      export_(pushButton(tr("Export…"), {}, this, &RegionsDialog::askWhereToExport)),
      said_(wrapped(new QLabel)),
      from_on_(new QCheckBox(tr("From"))),
      to_on_(new QCheckBox(tr("Until"))) {
  QWidget* const beside = makePicture(shown);
  makeFields();
  finish([this] { return refusal(); }, beside);
  fitToWindow(this, {980, 620});
  show(edited_.empty() ? -1 : 0);
  connect(this, &QDialog::accepted, this, [this] { emit chosen(edited_); });
}

// Without its time, for all regions are shown.
QWidget* RegionsDialog::makePicture(const LiveFrame& shown) {
  auto picture = std::make_shared<LiveFrame>(*makeLiveFrame(shown.image()));
  picture->sample.view_offset = shown.sample.view_offset;
  canvas_->setFrame(picture);
  auto* side = new QWidget;
  fill(unframed(new QVBoxLayout(side)), stretched(canvas_),
       wrapped(mutedLabel(tr("Click the corners of a region; double click or Enter closes it. Drag a corner to "
                             "move it. By keyboard: arrow keys, space, Enter."))));
  connect(canvas_, &RegionCanvas::drawn, this, &RegionsDialog::addPolygon);
  connect(canvas_, &RegionCanvas::cornerMoved, this, &RegionsDialog::moveCorner);
  connect(canvas_, &RegionCanvas::regionChosen, this, &RegionsDialog::show);
  connect(canvas_, &RegionCanvas::polygonChanged, this, [this] { check(); });
  return side;
}

void RegionsDialog::askWhereToExport() {
  askWhereToWrite(this, tr("Export regions"), file_, tr("Regions (*.json)"), QStringLiteral("json"),
                  [this](const QString& path) { write(path); });
}

void RegionsDialog::makeFields() {
  list_->setMinimumHeight(70);
  ignore_->setToolTip(tr("Its pixels count nowhere: a time stamp, the sky"));
  cut_out_->setToolTip(tr(
      "For something small: its classes and states are read from a cut-out of the picture around it, once a minute"));
  part_->setCheckable(true);
  auto* read =
      pushButton(tr("Import…"), tr("Our JSON, LabelMe, COCO, or a list of PhenoCam with its masks"), this, [this] {
        askForFile(this, tr("Import regions"), file_, tr("Regions (*.json *.csv);;All files (*)"),
                   [this](const QString& path) { this->read(path); });
      });
  for (auto* edit : {from_, to_}) {
    edit->setCalendarPopup(true);
    edit->setDisplayFormat(kMinuteFormat.toString());
    edit->setTimeSpec(Qt::UTC);  // of dateTime(): its fields show the clock of the camera
  }

  form_->addRow(list_);
  form_->addRow(tr("Name"), name_);
  form_->addRow(QString(), ignore_);
  form_->addRow(QString(), cut_out_);
  guarded(form_, from_on_, false, from_);
  guarded(form_, to_on_, false, to_);
  if (clock_) form_->addRow(QString(), mutedLabel(QString::fromStdString(clock_->name())));
  form_->addRow(fill(new QHBoxLayout, part_, remove_));
  form_->addRow(fill(new QHBoxLayout, read, export_));
  form_->addRow(said_);

  const auto change = [this](auto what) {
    return [this, what] {
      if (showing_ || !current()) return;
      what(*current());
      changed_ = true;
      said_->clear();
      show(index_);
    };
  };
  const auto time = [this](const QCheckBox* on, const QDateTimeEdit* edit) {
    const UnixMs shown = edit->dateTime().toMSecsSinceEpoch();
    return on->isChecked() ? std::optional(vision::clockOrMachine(clock_).time(shown)) : std::nullopt;
  };
  const auto dates = change([this, time](vision::Region& region) {
    region.from = time(from_on_, from_);
    region.to = time(to_on_, to_);
  });
  connect(list_, &QListWidget::currentRowChanged, this, [this](int row) {
    if (!showing_) show(row);
  });
  connect(name_, &QLineEdit::textEdited, this,
          change([this](vision::Region& region) { region.name = name_->text().trimmed().toStdString(); }));
  connect(ignore_, &QCheckBox::toggled, this,
          change([this](vision::Region& region) { region.ignore = ignore_->isChecked(); }));
  connect(cut_out_, &QCheckBox::toggled, this, change([this](vision::Region& region) {
            if (cut_out_->isChecked() != region.cut_out_s.has_value())  // else it keeps its own pace
              region.cut_out_s = cut_out_->isChecked() ? std::optional(vision::kUsualCutOutS) : std::nullopt;
          }));
  for (auto* on : {from_on_, to_on_}) connect(on, &QCheckBox::toggled, this, dates);
  for (auto* edit : {from_, to_}) connect(edit, &QDateTimeEdit::dateTimeChanged, this, dates);
  new QShortcut(QKeySequence::Delete, list_, this, &RegionsDialog::remove, Qt::WidgetShortcut);
}

vision::Region* RegionsDialog::current() {
  return index_ >= 0 && index_ < static_cast<int>(edited_.size()) ? &edited_[index_] : nullptr;
}

void RegionsDialog::show(int index) {
  const bool other = std::exchange(index_, index) != index;
  const vision::Region* region = current();
  canvas_->setRegions(edited_);
  canvas_->choose(index);
  showing_ = true;
  if (list_->count() != static_cast<int>(edited_.size())) {
    list_->clear();
    for (std::size_t i = 0; i < edited_.size(); ++i) list_->addItem(QString());
  }
  for (int i = 0; i < list_->count(); ++i) list_->item(i)->setText(listed(canvas_->regions()[i], clock_));
  list_->setCurrentRow(index);
  for (QWidget* field : QWidgetList{name_, ignore_, cut_out_, from_on_, to_on_, remove_}) field->setEnabled(region);
  part_->setEnabled(region && region->mask.empty());
  const auto setTime = [this](QCheckBox* on, QDateTimeEdit* edit, const std::optional<UnixMs>& time) {
    on->setChecked(time.has_value());
    if (time || !edit->isEnabled()) edit->setDateTime(dateTime(time.value_or(time_), clock_));
  };
  if (other || !region) {
    part_->setChecked(false);
    name_->setText(region ? QString::fromStdString(region->name) : QString());
    ignore_->setChecked(region && region->ignore);
    cut_out_->setChecked(region && region->cut_out_s);
    setTime(from_on_, from_, region ? region->from : std::nullopt);
    setTime(to_on_, to_, region ? region->to : std::nullopt);
  }
  showing_ = false;
  check();
}

// Enter ends the name; it is no OK.
void RegionsDialog::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!enter || focusWidget() != name_) return SettingsDialog::keyPressEvent(event);
  list_->setFocus();
}

void RegionsDialog::reject() {
  if (!changed_) return SettingsDialog::reject();
  openDialog(question(this, tr("Regions"), tr("Drop what was changed here?"), {tr("Drop"), tr("Keep")}, Answer::kNo,
                      [this] { SettingsDialog::reject(); }));
}

QString RegionsDialog::refusal() const {
  QString why;
  try {
    vision::check(edited_);
    for (const vision::Region& region : edited_) vision::maskOf(region, size_);
    if (canvas_->hasPolygon())
      why = tr("A polygon is begun: close it with a double click or Enter, or drop it with Esc.");
  } catch (const vision::RegionError& error) {
    why = inWords(error);
  } catch (const Error& error) {
    why = QString::fromStdString(error.what());
  }
  export_->setEnabled(why.isEmpty() && !edited_.empty());
  return why;
}

void RegionsDialog::addPolygon(const QPolygonF& polygon) {
  const bool part = part_->isChecked() && current();
  vision::Region fresh{.size = size_};
  vision::Region& region = part ? *current() : fresh;
  std::vector<cv::Point2d> corners;
  for (const QPointF& corner : polygon) {
    corners.emplace_back(corner.x() * region.size.width / size_.width - 0.5,
                         corner.y() * region.size.height / size_.height - 0.5);
  }
  region.polygons.push_back(std::move(corners));
  changed_ = true;
  part_->setChecked(false);
  said_->clear();
  if (part) return show(index_);
  const auto taken = [this](const std::string& name) {
    return std::any_of(edited_.begin(), edited_.end(), [&](const auto& one) { return one.name == name; });
  };
  for (int i = 1; fresh.name.empty() || taken(fresh.name); ++i) fresh.name = tr("Region %1").arg(i).toStdString();
  edited_.push_back(std::move(fresh));
  show(static_cast<int>(edited_.size()) - 1);
  name_->setFocus();
  name_->selectAll();
}

void RegionsDialog::moveCorner(const RegionCanvas::Corner& at, QPointF to) {
  vision::Region& moved = edited_[at.region];
  changed_ = true;
  moved.polygons[at.polygon][at.corner] = {to.x() * moved.size.width - 0.5, to.y() * moved.size.height - 0.5};
  show(at.region);
}

void RegionsDialog::remove() {
  if (!current()) return;
  edited_.erase(edited_.begin() + index_);
  changed_ = true;
  const int next = std::min(index_, static_cast<int>(edited_.size()) - 1);
  index_ = -1;  // what stands there now is another region
  show(next);
}

template <typename Action>
void RegionsDialog::act(Action action) {
  try {
    said_->setText(action());
    setBadge(said_, Badge::kGood);
  } catch (const Error& error) {
    said_->setText(QString::fromStdString(error.what()));
    setBadge(said_, Badge::kWarning);
  }
}

void RegionsDialog::read(const QString& path) {
  act([&] {
    const auto found = vision::readRegions(path.toStdString(), vision::clockOrMachine(clock_));
    const auto first = static_cast<int>(edited_.size());
    edited_.insert(edited_.end(), found.begin(), found.end());
    file_ = path;
    changed_ = true;
    show(first);
    return tr("%n region(s) read", nullptr, static_cast<int>(found.size()));
  });
}

void RegionsDialog::write(const QString& path) {
  act([&] {
    vision::writeRegions(path.toStdString(), edited_);
    file_ = path;
    return tr("Written: %1").arg(path);
  });
}

}  // namespace mpm::gui
