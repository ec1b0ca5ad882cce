// SPDX-License-Identifier: Apache-2.0
#include "gui/views/watch_dialogs.h"

#include <filesystem>

#include "gui/models/readout.h"
#include "gui/views/fields.h"
#include "gui/views/file_dialogs.h"
#include "gui/views/labels.h"
#include "gui/views/layouts.h"
#include "gui/views/look.h"
#include "monitor/event_command.h"
#include "monitor/watch/camera_plan.h"
#include "vision/times/archive.h"

namespace mpm::gui {
namespace {

using monitor::CameraConfig;
using monitor::CameraConfigError;
using monitor::CameraField;
using CameraFields = std::vector<const CameraField*>;

QString translated(const std::string& text) { return QCoreApplication::translate("watch", text.c_str()); }

QString suffixOf(const CameraField& field) {
  const std::map<std::string, QString> suffixes = {{"SECONDS", WatchDialog::tr(" s")},
                                                   {"MINUTES", WatchDialog::tr(" min")},
                                                   {"DAYS", WatchDialog::tr(" days")},
                                                   {"MB", WatchDialog::tr(" MB")},
                                                   {"DEGREES", QStringLiteral("°")}};
  const auto found = suffixes.find(field.unit);
  return found == suffixes.end() ? QString() : found->second;
}

// Makes the row of a field; returns what takes its value into a watch.
struct MakeRow {
  QFormLayout* form;
  const CameraConfig& watch;
  const CameraField& field;

  using Take = std::function<void(CameraConfig&)>;

  template <typename Widget>
  Widget* described(Widget* widget) const {
    widget->setToolTip(QStringLiteral("<p>%1</p>").arg(translated(field.words).toHtmlEscaped()));
    return named(widget, translated(field.label));
  }

  template <typename Number>
  Take operator()(std::optional<Number> CameraConfig::*member) const {
    const std::optional<double> given = watch.*member;
    auto* box =
        described(numberField({}, field.min, field.max, given.value_or(field.start), field.digits, suffixOf(field)));
    auto* on = guarded(form, new QCheckBox(translated(field.label)), given.has_value(), box);
    return [=, shown = box->value()](CameraConfig& to) {
      const std::optional<double> chosen = box->value();  // a number with more digits than are shown stays
      if (!on->isChecked())
        (to.*member).reset();
      else
        to.*member = static_cast<Number>(given && *chosen == shown ? *given : *chosen);
    };
  }

  Take operator()(std::string CameraConfig::*member) const {
    const QString given = QString::fromStdString(watch.*member);
    const auto choices = field.choices();
    if (choices.empty()) {
      auto* edit = described(new QLineEdit(given));
      edit->setPlaceholderText(QString::fromUtf8(field.usual));
      form->addRow(translated(field.label), edit);
      return [=](CameraConfig& to) { to.*member = edit->text().trimmed().toStdString(); };
    }
    auto* box = described(new QComboBox);
    if (given.isEmpty()) box->addItem(QStringLiteral("–"), QString());
    for (const std::string& choice : choices) box->addItem(translated(choice), QString::fromStdString(choice));
    box->setCurrentIndex(box->findData(given));
    form->addRow(translated(field.label), box);
    return [=](CameraConfig& to) { to.*member = box->currentData().toString().toStdString(); };
  }

  Take operator()(std::vector<std::string> CameraConfig::*member) const {
    auto* edit = described(new QPlainTextEdit(texts(watch.*member).join(QLatin1Char('\n'))));
    edit->setTabChangesFocus(true);
    edit->setFixedHeight(6 * edit->fontMetrics().lineSpacing());
    form->addRow(translated(field.label), edit);
    form->addRow(wrapped(mutedLabel(translated(field.words))));
    return [=](CameraConfig& to) {
      (to.*member).clear();
      for (const QString& line : edit->toPlainText().split(QLatin1Char('\n')))
        if (!line.trimmed().isEmpty()) (to.*member).push_back(line.trimmed().toStdString());
    };
  }

  Take operator()(bool CameraConfig::*member) const {
    auto* box = described(new QCheckBox(translated(field.label)));
    box->setChecked(watch.*member);
    form->addRow(box);
    return [=](CameraConfig& to) { to.*member = box->isChecked(); };
  }
};

// The fields under a heading that have a label.
CameraFields fieldsUnder(const char* group) {
  CameraFields fields;
  for (const CameraField& field : monitor::cameraFields())
    if (field.group == std::string(group) && *field.label) fields.push_back(&field);
  return fields;
}

// Adds rows for fields of a watch to a form; returns what gives the watch with what the rows say.
std::function<CameraConfig()> addCameraRows(QFormLayout* form, const CameraConfig& watch, const CameraFields& fields) {
  std::vector<MakeRow::Take> takes;
  for (const CameraField* field : fields) takes.push_back(std::visit(MakeRow{form, watch, *field}, field->member));
  return [watch, takes] {
    CameraConfig result = watch;
    for (const auto& take : takes) take(result);
    return result;
  };
}

// The first mistake in these fields of a watch; empty: none.
QString problemOf(const CameraConfig& watch, const CameraFields& fields) {
  for (const CameraField* field : fields) {
    const auto wrong = [&](const std::string& text) {
      try {
        if (!text.empty()) field->validate(text);
      } catch (const Error& error) {
        return QString::fromUtf8(error.what());
      }
      return QString();
    };
    QString why;
    if (const auto* text = std::get_if<std::string CameraConfig::*>(&field->member)) why = wrong(watch.**text);
    if (const auto* list = std::get_if<std::vector<std::string> CameraConfig::*>(&field->member))
      for (const std::string& text : watch.**list)
        if (why.isEmpty()) why = wrong(text);
    if (!why.isEmpty()) return why;
  }
  try {
    (void)monitor::cameraPlan(watch);
  } catch (const CameraConfigError& error) {  // of another dialog, it is none of this one
    for (const CameraField* field : fields)
      if (field->key == error.key) return QString::fromUtf8(error.what());
  }
  return {};
}

using vision::TimeFrom;

// In the order of the choices; the last choice is none.
constexpr std::optional<TimeFrom> kFrom[] = {std::nullopt, TimeFrom::kExif, TimeFrom::kName, TimeFrom::kList,
                                             TimeFrom::kModified};
constexpr int kList = 3, kNone = 5;

}  // namespace

WatchDialog::WatchDialog(const QString& title, const char* group, const CameraConfig& watch, const QStringList& notes,
                         QWidget* parent)
    : SettingsDialog(title, parent), rows_(addCameraRows(form_, watch, fieldsUnder(group))) {
  for (const QString& note : notes) {
    QLabel* label = wrapped(mutedLabel(note));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form_->addRow(label);
  }
  if (group == std::string(monitor::kAlarmsGroup)) addTest();
  finish([this, fields = fieldsUnder(group)] { return problemOf(this->watch(), fields); });
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->watch()); });
}

// Whether an alarm reaches anybody is known before one rings.
void WatchDialog::addTest() {
  QPushButton* test = pushButton(tr("Test it"), tr("Runs the command once, as for an alarm"));
  QLabel* said = wrapped(namedValue(new QLabel, tr("Result of the test")));
  form_->addRow(test, said);
  connect(test, &QPushButton::clicked, this, [this, test, said] {
    test->setEnabled(false);
    setValue(said, tr("Running…"));
    const auto show = [dialog = QPointer(this), test, said](const QString& text) {
      if (!dialog) return;
      setValue(said, text);
      test->setEnabled(true);
    };
    QThreadPool::globalInstance()->start([show, watch = watch(), went_well = tr("It ran without an error")] {
      std::string why;
      try {
        monitor::EventCommand command(monitor::parseCommand(watch.on_event),
                                      [&](const monitor::Event& event) { why = event.message; }, {.run_s = 10});
        command.add({unixNow(), monitor::EventKind::kAlarm, monitor::Severity::kInfo, "a test"}, watch.source);
        command.finish(20);
      } catch (const Error& error) {
        why = error.what();
      }
      QMetaObject::invokeMethod(qApp, [=] { show(why.empty() ? went_well : QString::fromStdString(why)); });
    });
  });
}

TimesDialog::TimesDialog(const vision::SourceSpec& source, const monitor::CameraConfig& watch, QWidget* parent)
    : SettingsDialog(tr("When were these pictures taken?"), parent), source_(source), thread_(this) {
  from_ = choiceField(tr("Their time"), {tr("EXIF, else the name of the file"), tr("EXIF"), tr("Name of the file"),
                                         tr("A list of names and times"), tr("Date of the file"),
                                         tr("Not known: they count as taken when they are read")});
  list_ = named(new QLineEdit, tr("List of names and times"));
  list_->setPlaceholderText(QStringLiteral("times.csv"));
  auto* browse = pushButton(tr("Browse…"), {}, this, [this] {
    askForFile(this, list_->accessibleName(), QString::fromStdString(source_.target),
               tr("Lists (*.csv *.txt *.tsv);;All files (*)"), [this](const QString& file) { list_->setText(file); });
  });
  zone_ = named(new QLineEdit, tr("Time zone"));
  zone_->setToolTip(QCoreApplication::translate("watch", monitor::cameraField("time-zone").words));
  found_ = wrapped(namedValue(new QLabel, tr("Found")));
  found_->setMinimumHeight(4 * found_->fontMetrics().lineSpacing());
  found_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  form_->addRow(tr("Their time"), from_);
  form_->addRow(tr("List"), fill(new QHBoxLayout, list_, browse));
  form_->addRow(tr("Time zone"), zone_);
  form_->addRow(tr("Found"), found_);
  form_->addRow(wrapped(mutedLabel(tr("Pictures with a time are stored once, at that time, in its order."))));
  form_->addRow(headingLabel(tr("Where were they taken?")));
  place_ = addCameraRows(form_, watch, {&monitor::cameraField("lat"), &monitor::cameraField("lon")});
  form_->addRow(wrapped(mutedLabel(tr("Where the place is known, the sun there tells day from night."))));

  const PictureTimesChoice times = watch.times == "none" ? std::nullopt : std::optional(monitor::timeOptions(watch));
  if (!times) from_->setCurrentIndex(kNone);
  if (times) {
    const auto* const from = std::find(std::begin(kFrom), std::end(kFrom), times->from);
    from_->setCurrentIndex(static_cast<int>(from - kFrom));
    list_->setText(QString::fromStdString(times->list));
  }
  zone_->setText(QString::fromStdString(times.value_or(vision::TimeOptions()).clock().zone()));
  const auto follow = [this, browse] {
    for (QWidget* field : QWidgetList{list_, browse}) field->setEnabled(from_->currentIndex() == kList);
    zone_->setEnabled(from_->currentIndex() != kNone);
    look();
  };
  connect(from_, &QComboBox::activated, this, [this] { touched_ = true; });
  connect(from_, &QComboBox::currentIndexChanged, this, follow);
  for (QLineEdit* edit : {list_, zone_}) connect(edit, &QLineEdit::textChanged, this, &TimesDialog::look);
  finish([this] {
    const monitor::CameraConfig with = place_();
    return with.lat.has_value() == with.lon.has_value() ? QString() : tr("A place has a latitude and a longitude.");
  });
  fitToWindow(this, QSize(620, 460));  // a line for each picture
  follow();
  connect(this, &QDialog::accepted, this, [this] { emit chosen(this->watch()); });
}

PictureTimesChoice TimesDialog::times() const {
  const int index = from_->currentIndex();
  if (index == kNone) return std::nullopt;
  vision::TimeOptions options{.from = kFrom[index]};
  if (index == kList) options.list = list_->text().trimmed().toStdString();
  try {
    options.time_zone.emplace(zone_->text().trimmed().toStdString());
  } catch (const Error&) {  // it is said below; the standard time of this machine counts
  }
  return options;
}

monitor::CameraConfig TimesDialog::watch() const {
  monitor::CameraConfig watch = place_();
  const PictureTimesChoice times = this->times();
  watch.times = times ? toString(*times) : "none";
  watch.time_zone = times && times->time_zone ? times->time_zone->zone() : "";
  const bool by_default = watch.night == "brightness" && !watch.night_brightness && !watch.day_brightness;
  if (watch.lat && watch.lon && by_default) watch.night = "sun";
  return watch;
}

void TimesDialog::show(const QString& text, bool any) {
  if (!any && !touched_ && from_->currentIndex() == 0) return from_->setCurrentIndex(kNone);
  setValue(found_, text, any ? Badge::kNone : Badge::kWarning);
  emit looked();
}

// Listing a folder and reading files may take long.
void TimesDialog::look() {
  thread_.giveUp();
  setValue(found_, {});
  if (from_->currentIndex() == kNone) return show(tr("The time at which each is read"), true);
  try {
    const vision::CameraClock checked(zone_->text().trimmed().toStdString());
  } catch (const Error& error) {
    setValue(found_, QString::fromStdString(error.what()), Badge::kWarning);
    return emit looked();
  }
  const QStringList names = {tr("list"), tr("EXIF"), tr("name"), tr("date of the file")};  // as TimeFrom
  thread_.run([this, names, options = *times(), source = source_, none = tr("no time")] {
    QStringList lines;
    bool any = false;
    try {
      const std::vector<std::string> files = vision::pictureFiles(source);
      vision::PictureTimes times(options);
      times.learn(files);
      std::vector<std::size_t> three = {0, files.size() / 2, files.size() - 1};
      three.erase(std::unique(three.begin(), three.end()), three.end());
      for (const std::size_t i : three) {
        const std::string name = std::filesystem::path(files[i]).filename().string();
        QString text = none;
        if (const auto time = times.of(files[i])) {
          any = true;
          std::string shown = isoTime(times.clock().wall(time->time)).substr(0, 19);
          shown[10] = ' ';
          text = QString::fromStdString(shown + " " + times.clock().offsetText(time->time) + ", ") +
                 names[static_cast<int>(time->from)];
        }
        lines << QString::fromStdString(name) + QStringLiteral(": ") + text;
      }
    } catch (const Error& error) {
      lines = {QString::fromStdString(error.what())};
      any = false;
    }
    thread_.answer([this, text = lines.join(QLatin1Char('\n')), any] { show(text, any); });
  });
}

}  // namespace mpm::gui
