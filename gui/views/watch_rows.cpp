// SPDX-License-Identifier: Apache-2.0
#include "gui/views/watch_rows.h"

#include "gui/views/look.h"
#include "monitor/event_command.h"
#include "monitor/watch/watch_options.h"

namespace mpm::gui {
namespace {

using monitor::Watch;
using monitor::WatchError;
using monitor::WatchField;

QString translated(const std::string& text) { return QCoreApplication::translate("watch", text.c_str()); }

QString suffixOf(const WatchField& field) {
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
  const Watch& watch;
  const WatchField& field;

  using Take = std::function<void(Watch&)>;

  template <typename Widget>
  Widget* described(Widget* widget) const {
    widget->setToolTip(QStringLiteral("<p>%1</p>").arg(translated(field.words).toHtmlEscaped()));
    return named(widget, translated(field.label));
  }

  Take operator()(std::optional<double> Watch::*member) const {
    const std::optional<double> given = watch.*member;
    auto* box =
        described(numberField({}, field.min, field.max, given.value_or(field.start), field.digits, suffixOf(field)));
    auto* on = guarded(form, translated(field.label), given.has_value(), {box});
    return [=, shown = box->value()](Watch& to) {
      const std::optional<double> chosen = box->value();  // a number with more digits than are shown stays
      to.*member = !on->isChecked() ? std::nullopt : given && *chosen == shown ? given : chosen;
    };
  }

  Take operator()(std::string Watch::*member) const {
    const QString given = QString::fromStdString(watch.*member);
    const auto choices = field.choices();
    if (choices.empty()) {
      auto* edit = described(new QLineEdit(given));
      edit->setPlaceholderText(QString::fromUtf8(field.usual));
      form->addRow(translated(field.label), edit);
      return [=](Watch& to) { to.*member = edit->text().trimmed().toStdString(); };
    }
    auto* box = described(new QComboBox);
    if (given.isEmpty()) box->addItem(QStringLiteral("–"), QString());
    for (const std::string& choice : choices) box->addItem(translated(choice), QString::fromStdString(choice));
    box->setCurrentIndex(box->findData(given));
    form->addRow(translated(field.label), box);
    return [=](Watch& to) { to.*member = box->currentData().toString().toStdString(); };
  }

  Take operator()(std::vector<std::string> Watch::*member) const {
    QStringList lines;
    for (const std::string& text : watch.*member) lines << QString::fromStdString(text);
    auto* edit = described(new QPlainTextEdit(lines.join(QLatin1Char('\n'))));
    edit->setTabChangesFocus(true);
    edit->setFixedHeight(6 * edit->fontMetrics().lineSpacing());
    form->addRow(translated(field.label), edit);
    form->addRow(wrapped(mutedLabel(translated(field.words))));
    return [=](Watch& to) {
      (to.*member).clear();
      for (const QString& line : edit->toPlainText().split(QLatin1Char('\n')))
        if (!line.trimmed().isEmpty()) (to.*member).push_back(line.trimmed().toStdString());
    };
  }

  Take operator()(bool Watch::*member) const {
    auto* box = described(new QCheckBox(translated(field.label)));
    box->setChecked(watch.*member);
    form->addRow(box);
    return [=](Watch& to) { to.*member = box->isChecked(); };
  }
};

// The first mistake in these fields of a watch; empty: none.
QString problemOf(const Watch& watch, const WatchRows::Fields& fields) {
  for (const WatchField* field : fields) {
    const auto wrong = [&](const std::string& text) {
      try {
        if (!text.empty()) field->validate(text);
      } catch (const Error& error) {
        return QString::fromUtf8(error.what());
      }
      return QString();
    };
    QString why;
    if (const auto* text = std::get_if<std::string Watch::*>(&field->member)) why = wrong(watch.**text);
    if (const auto* list = std::get_if<std::vector<std::string> Watch::*>(&field->member))
      for (const std::string& text : watch.**list)
        if (why.isEmpty()) why = wrong(text);
    if (!why.isEmpty()) return why;
  }
  try {
    (void)monitor::watchOptions(watch);
  } catch (const WatchError& error) {  // of another dialog, it is none of this one
    for (const WatchField* field : fields)
      if (field->key == error.key) return QString::fromUtf8(error.what());
  }
  return {};
}

}  // namespace

WatchRows::WatchRows(QFormLayout* form, const Watch& watch, const Fields& fields) : watch_(watch) {
  for (const WatchField* field : fields) takes_.push_back(std::visit(MakeRow{form, watch_, *field}, field->member));
}

Watch WatchRows::watch() const {
  Watch watch = watch_;
  for (const auto& take : takes_) take(watch);
  return watch;
}

WatchRows::Fields WatchRows::under(const char* group) {
  Fields fields;
  for (const WatchField& field : monitor::watchFields())
    if (field.group == std::string(group) && *field.label) fields.push_back(&field);
  return fields;
}

WatchDialog::WatchDialog(const QString& title, const char* group, const Watch& watch, const QStringList& notes,
                         QWidget* parent)
    : SettingsDialog(title, parent), rows_(form_, watch, WatchRows::under(group)) {
  for (const QString& note : notes) {
    QLabel* label = wrapped(mutedLabel(note));
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form_->addRow(label);
  }
  if (group == std::string(monitor::kAlarmsGroup)) addTest();
  finish([this, fields = WatchRows::under(group)] { return problemOf(this->watch(), fields); });
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

}  // namespace mpm::gui
